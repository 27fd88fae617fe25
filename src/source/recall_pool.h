/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_RECALL_POOL_H
#define LT_SOURCE_RECALL_POOL_H

#include <stdint.h>

/*
 * Inside source/: the logs of the latest data (source/recall.h), one for each worker for relayds that runs. A log
 * outlives its worker, because what it has is still wanted when the sessions have ended: the next worker adds to it. A
 * session that is attached again preferably goes to the log that has its past. The memory is shared evenly. Main
 * thread only.
 */

/* For all logs together, in bytes; 0, the default: there are none. Call it before the first worker starts. */
void recall_pool_set_bytes(uint64_t bytes);

/* A log for one more worker: the preferred one if no worker has it. most: of logs. -1: there is none. */
int recall_pool_take(int preferred, unsigned most);

/* Its worker has ended, or will in a moment: it has no session any more. log may be -1. */
void recall_pool_leave(int log);

/* The descriptor for the worker that adds to the log, and the one for those that read. */
int recall_pool_writing_fd(int log);
int recall_pool_reading_fd(int log);

/* The log that a session was last added to, until it is forgotten; -1: none. source: see struct recall_entry. */
int recall_pool_home(uint64_t source);
void recall_pool_set_home(uint64_t source, int log);
void recall_pool_forget_home(uint64_t source);

#endif
