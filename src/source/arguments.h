/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_ARGUMENTS_H
#define LT_SOURCE_ARGUMENTS_H

#include "source/child.h"
#include "source/source.h"

/* The descriptors inherited by a worker that is not shared; it has either the third or the fourth. */
enum { WORKER_MEMORY = CHILD_FIRST_FD, WORKER_WAKE, WORKER_COMMANDS, WORKER_LOG = WORKER_COMMANDS };

/* The arguments of such a worker (source/job.h), from its name on, to be freed with g_strfreev(). */
char **worker_arguments(const struct source_spec *spec, const char *fields, const char *reader, unsigned part,
			unsigned parts);

#endif
