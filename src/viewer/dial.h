/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_DIAL_H
#define LT_VIEWER_DIAL_H

#include "base/status.h"

/*
 * Establishes a TCP connection to a relayd: looks up the host's addresses, in a thread because a resolver may take any
 * time, and tries one after the other. Nothing here blocks. Main thread only.
 *
 *   addresses found ──▶ first address ──▶ next address ──▶ … connected
 */
struct dial;

/*
 * family: AF_UNSPEC, AF_INET, AF_INET6. host: a name or an address, without brackets. timeout_ms covers everything.
 * NULL: too many files are open or watched, or memory is short (error chain).
 */
struct dial *dial_create(int family, const char *host, unsigned port, unsigned timeout_ms);

/* NULL is allowed. */
void dial_destroy(struct dial *d);

/*
 * LT_OK: *fd is connected and non-blocking, and belongs to the caller. LT_AGAIN: not yet; call again when dial_fd()
 * becomes readable. LT_ERROR: not a single address answers, or there is none (error chain). Must not be called after
 * LT_OK or LT_ERROR.
 */
enum lt_status dial_next(struct dial *d, int *fd);

/* The descriptor to watch (poll, epoll) after LT_AGAIN, the same until dial_destroy(). */
int dial_fd(const struct dial *d);

#endif
