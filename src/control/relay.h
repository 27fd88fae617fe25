/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_RELAY_H
#define LT_CONTROL_RELAY_H

#include "base/relay_url.h"
#include "base/status.h"

/*
 * Where tracers stream to: net://HOST[:CONTROL[:DATA]], also net4:// and
 * net6://; an IPv6 address stands in brackets. HOST alone is enough. Returns the
 * URL as lttng wants it, which the caller frees; NULL: no such URL, see the error chain.
 */
char *relay_url(const char *text);

/* The same of where lttng says that a session goes: "tcp4://HOST:CONTROL/… [data: DATA]". NULL: not to a relayd. */
char *relay_url_of_session(const char *path);

/* HOST of what relay_url() returned, with its brackets. The caller frees it. */
char *relay_host(const char *url);

/* Whether a relayd's control port takes a connection from here, within a few seconds. LT_ERROR: no. */
enum lt_status relay_probe(const char *url);

/* The same of its port for viewers. */
enum lt_status relay_probe_view(const char *url, unsigned port);

#endif
