/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_WORKER_H
#define LT_WORKER_WORKER_H

#include <stdbool.h>

/* Whether recordings can be read by a reader with that name, or by "auto". */
bool worker_has_reader(const char *name);

/* The worker's main function: argv after "--worker" (source/job.h). Returns the process's exit status. */
int worker_main(int argc, char **argv);

#endif
