/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_COMMAND_H
#define LT_WORKER_COMMAND_H

#include "base/status.h"
#include "source/job.h"

/*
 * A checked message from the parent (source/job.h). To be released; members whose ownership was taken must be set to -1
 * before.
 */
struct worker_command {
	struct job_command head;
	char *url, *fields;
	int fds[JOB_FDS]; /* of JOB_LIVE and JOB_LIST; otherwise -1 */
};

/*
 * Receives the next command without waiting. LT_AGAIN: there is none. LT_END: the parent no longer needs a worker.
 * LT_ERROR: it is malformed (error chain). There is something to release only after LT_OK.
 */
enum lt_status worker_take_command(int fd, struct worker_command *command);
void worker_command_release(struct worker_command *command);

#endif
