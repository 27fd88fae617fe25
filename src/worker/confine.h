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
 *   - TCP connections only to the relayd's port, where the kernel has Landlock for that (6.7).
 *
 * A worker of a recording has no sockets but those it inherited; one that follows what is being written may watch files
 * besides. One of a live session opens connections at any time:
 * the list has TCP, and UDP for resolving names.
 * AF_UNIX is refused with an error, as resolvers try it first: services of the machine listen there.
 *
 * Sanitizers and coverage write files and trace processes: a build with them is not confined, nor is
 * its address space.
 */
bool confine_is_built(void);

enum confine_kind { CONFINE_RECORDING, CONFINE_FOLLOW, CONFINE_LIVE };

/*
 * For good. port: of the relayd, 0 for recordings.
 * A kernel built without filters of system calls leaves the other means. LT_ERROR: it has them and refused ours.
 */
enum lt_status confine(enum confine_kind kind, unsigned port);

#endif
