/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_WORKER_H
#define LT_WORKER_WORKER_H

#include <stdbool.h>

/* Whether recordings can be read by a reader of that name, or "auto". */
bool worker_has_reader(const char *name);

/* The worker's main function: argv after "--worker" (source/job.h). The exit status of the process. */
int worker_main(int argc, char **argv);

#endif
