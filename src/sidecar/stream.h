/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_STREAM_H
#define LT_SIDECAR_STREAM_H

#include <stdbool.h>

#include "base/status.h"
#include "sidecar/write.h"

/*
 * The side-car of a live session. Because a relayd only accepts traces, the machine sends its side-car as user-space
 * events, in parts. Each part is a side-car of its own, of a few processes or names, after SIDECAR_MESSAGE. They are
 * emitted with lttng-ust's tracef(), which is looked up at run time: without lttng-ust there is no side-car.
 *
 *     lttng_ust_tracef:event: { msg = "lttngtop.json {"host":"web","processes":[{"pid":7,…},…]}" }
 *
 * Readers pass them to sidecar_hear() (sidecar.h).
 */
#define SIDECAR_EVENT "lttng_ust_tracef:event"
#define SIDECAR_FILTER "msg == \"lttngtop.json *\""

/* How long a new process waits for the session daemon, in ms; the variable belongs to lttng-ust. */
#define SIDECAR_REGISTER_TIMEOUT "LTTNG_UST_REGISTER_TIMEOUT"
#define SIDECAR_REGISTER_TIMEOUT_MS "10000"

struct sidecar_stream;

/*
 * Makes this process emit events, which starts threads of lttng-ust: it should be a child that ends with _exit().
 * about: its symbols; borrowed. NULL: not possible, see the error chain.
 */
struct sidecar_stream *sidecar_stream_open(const struct sidecar_about *about);

/* Sends everything; or only processes that are new, which takes some µs for each process that exists. */
void sidecar_stream_all(struct sidecar_stream *s);
void sidecar_stream_new(struct sidecar_stream *s);

/*
 * For machines without this program: a POSIX shell script of functions, `tell all` and `tell news`, which send the
 * lines of a listing (write.h) after SIDECAR_LINES, at most 1024 bytes per event. They use the kernel's
 * SIDECAR_KERNEL_EVENT, caused by writing to /proc/lttng-logger, or tracef() if python3 is installed. If neither is
 * possible they do nothing. Run it in a shell of its own: it changes the environment and descriptor 3. symbols: as in
 * struct sidecar_about. The caller frees the text.
 */
#define SIDECAR_KERNEL_EVENT "lttng_logger"
#define SIDECAR_LINES_FILTER "msg == \"lttngtop.list*\""
char *sidecar_stream_script(const char *const *symbols, bool kernel);

/* Sends everything once from a child process, and waits for it. LT_ERROR: it failed (error chain). */
enum lt_status sidecar_stream_once(void);

#endif
