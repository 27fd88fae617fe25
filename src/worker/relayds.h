/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_RELAYDS_H
#define LT_WORKER_RELAYDS_H

/*
 * Reads from relayds what the parent says (source/job.h), until it closes commands_fd: any number of sessions and
 * lists side by side, each with a connection and a ring of its own. Each gets a bounded share of each round, and
 * one whose ring is full waits alone.
 */
void worker_relayds(int commands_fd);

#endif
