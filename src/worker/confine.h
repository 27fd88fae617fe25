/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_CONFINE_H
#define LT_WORKER_CONFINE_H

#include <stdbool.h>

#include "base/status.h"

/*
 * What a worker decodes comes from other machines, some of it by a library that was not written for that. Should it be
 * taken over, the process can do little: it gives up everything that reading does not need.
 *
 *   - no new privileges, no core files, no more than 2 GiB of address space, no process of its own, limits of open
 *     files and of the size of a file;
 *   - only the system calls that reading needs (seccomp); any other ends it, and says which it was. Files
 *     can be opened for reading only;
 *   - no TCP connections, where the kernel has Landlock for that (6.7), should a socket be at hand.
 *
 * A worker has no sockets but those it was given: its ring's, and one that reads from relayds the connections
 * that the parent has made. One that follows what is being written may watch files besides.
 *
 * Sanitizers and coverage write files and trace processes: a build with them is not confined, nor is
 * its address space.
 */
bool confine_is_built(void);

enum confine_kind { CONFINE_RECORDING, CONFINE_FOLLOW, CONFINE_RELAYDS };

/*
 * For good. A kernel built without filters of system calls leaves the other means. LT_ERROR: it has them and refused
 * ours.
 */
enum lt_status confine(enum confine_kind kind);

#endif
