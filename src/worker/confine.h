/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_CONFINE_H
#define LT_WORKER_CONFINE_H

#include <stdbool.h>

#include "base/status.h"

/*
 * A worker decodes data from other machines, in part with a library that was not written for hostile data. If it is
 * taken over, the process can do little harm, because it gives up everything that reading does not need:
 *
 *   - no new privileges, no core files, at most 2 GiB of memory (64 GiB of address space with mapped files; on s390x,
 *     shared memory counts only as address space), no new processes, limits on open files and on the size of a file;
 *   - only the system calls that reading needs (seccomp); any other one ends it, and is reported. Files can only be
 *     opened for reading, and by one that reads from relayds not at all;
 *   - no TCP connections, if the kernel's Landlock supports that (6.7), in case there is a socket.
 *
 * A worker has only the sockets that it was given: its ring's and, if it reads from relayds, the connections made by
 * the parent. One that follows a growing recording may also watch files.
 *
 * Builds with sanitizers or coverage write files and trace processes: they are not confined, and their memory is not
 * limited.
 */
bool confine_is_built(void);

enum confine_kind { CONFINE_RECORDING, CONFINE_FOLLOW, CONFINE_RELAYDS };

/*
 * Permanent. On a kernel built without system call filters the other measures still apply. LT_ERROR: the kernel has
 * filters but refused ours (error chain).
 */
enum lt_status confine(enum confine_kind kind);

#endif
