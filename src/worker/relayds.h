/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_RELAYDS_H
#define LT_WORKER_RELAYDS_H

/*
 * Reads from relayds as directed by the parent (source/job.h), until that closes commands_fd: any number of sessions
 * and lists side by side, each with its own connection and ring. Each gets a bounded share of each round; one whose
 * ring is full does not delay the others. log_fd: of the log that keeps the latest data; -1: none is kept.
 */
void worker_relayds(int commands_fd, int log_fd);

#endif
