/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEWER_DIAL_H
#define LT_VIEWER_DIAL_H

#include "base/status.h"

/*
 * A TCP connection to a relayd in the making: the host's addresses are looked up, by a thread as a resolver
 * may take any time, and tried one after the other. Nothing here waits. Main thread only.
 *
 *   addresses found ──▶ first address ──▶ next address ──▶ … connected
 */
struct dial;

/* family: AF_UNSPEC, AF_INET, AF_INET6. host: a name or an address, without brackets. All of it within timeout_ms. */
struct dial *dial_create(int family, const char *host, unsigned port, unsigned timeout_ms);

/* NULL is allowed. */
void dial_destroy(struct dial *d);

/*
 * LT_OK: *fd is connected, does not block, and is the caller's. LT_AGAIN: not yet, dial_fd() becomes readable when
 * there is something to do. LT_ERROR: not one address answers, or there is none (error chain). Not to be called after
 * LT_OK and LT_ERROR.
 */
enum lt_status dial_next(struct dial *d, int *fd);

/* To be watched (poll, epoll) after LT_AGAIN. The same one until dial_destroy(). -1: it could not be made. */
int dial_fd(const struct dial *d);

#endif
