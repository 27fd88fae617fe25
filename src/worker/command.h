/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_COMMAND_H
#define LT_WORKER_COMMAND_H

#include "base/status.h"
#include "source/job.h"

/* A message of the parent (source/job.h), checked. To be released; what of it was taken over is set to -1 first. */
struct worker_command {
	struct job_command head;
	char *url, *fields;
	int fds[JOB_FDS]; /* of JOB_LIVE and JOB_LIST; else -1 */
};

/*
 * The next one, without waiting. LT_AGAIN: there is none. LT_END: the parent needs no worker any more. LT_ERROR: it
 * makes no sense. Only after LT_OK there is something to be released.
 */
enum lt_status worker_take_command(int fd, struct worker_command *command);
void worker_command_release(struct worker_command *command);

#endif
