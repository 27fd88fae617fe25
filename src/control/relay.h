/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_RELAY_H
#define LT_CONTROL_RELAY_H

#include "base/relay_url.h"
#include "base/status.h"

/*
 * The relayd that tracers stream to: net://HOST[:CONTROL[:DATA]], also net4:// and net6://, with IPv6 addresses in
 * brackets; HOST alone is enough. Returns the URL in the form that lttng expects, which the caller frees; NULL:
 * invalid, see the error chain.
 */
char *relay_url(const char *text);

/*
 * The same for the destination that lttng prints for a session: "tcp4://HOST:CONTROL/… [data: DATA]". NULL: not a
 * relayd.
 */
char *relay_url_of_session(const char *path);

/* The HOST of relay_url()'s result, including brackets. The caller frees it. */
char *relay_host(const char *url);

/* Whether a relayd's control port accepts a connection from here and answers within seconds. LT_ERROR: it does not. */
enum lt_status relay_probe(const char *url);

/* Whether its port for viewers accepts a connection. */
enum lt_status relay_probe_view(const char *url, unsigned port);

#endif
