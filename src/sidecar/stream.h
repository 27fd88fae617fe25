/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_STREAM_H
#define LT_SIDECAR_STREAM_H

#include <stdbool.h>

#include "base/status.h"
#include "sidecar/write.h"

/*
 * The side-car of a live session: a relayd takes traces only, so its machine sends it as user-space events, in parts.
 * Each is a side-car of its own, of a few processes or names, behind SIDECAR_MESSAGE. They go through lttng-ust's
 * tracef(), which is looked for when it is needed: where it is not installed there is no side-car.
 *
 *     lttng_ust_tracef:event: { msg = "lttngtop.json {"host":"web","processes":[{"pid":7,…},…]}" }
 *
 * What is read of them: sidecar_hear() in sidecar.h.
 */
#define SIDECAR_EVENT "lttng_ust_tracef:event"
#define SIDECAR_FILTER "msg == \"lttngtop.json *\""

/* How long a new process waits for the session daemon, in ms; lttng-ust's own variable. */
#define SIDECAR_REGISTER_TIMEOUT "LTTNG_UST_REGISTER_TIMEOUT"
#define SIDECAR_REGISTER_TIMEOUT_MS "10000"

struct sidecar_stream;

/*
 * Makes this process one that emits events, with threads of lttng-ust's own: it should be a child that ends with
 * _exit(). about: its symbols; borrowed. NULL: not possible, see the error chain.
 */
struct sidecar_stream *sidecar_stream_open(const struct sidecar_about *about);

/* Sends all that there is; or processes that came since, some µs for each that there is. */
void sidecar_stream_all(struct sidecar_stream *s);
void sidecar_stream_new(struct sidecar_stream *s);

/*
 * Of a machine without this program: a POSIX shell script of functions, `tell all` and `tell news`, which send the
 * lines of a listing (write.h) behind SIDECAR_LINES, at most 1024 bytes in an event: by the kernel's own
 * SIDECAR_KERNEL_EVENT, which whoever writes to /proc/lttng-logger causes, or by tracef(), where there is a python3.
 * Where that cannot be they do nothing. To be run by a shell of its own: it changes its environment and descriptor 3.
 * symbols: as in struct sidecar_about. The caller frees it.
 */
#define SIDECAR_KERNEL_EVENT "lttng_logger"
#define SIDECAR_LINES_FILTER "msg == \"lttngtop.list*\""
char *sidecar_stream_script(const char *const *symbols, bool kernel);

/* Sends all once, from a child process, which it waits for. LT_ERROR: it could not (error chain). */
enum lt_status sidecar_stream_once(void);

#endif
