/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_RELAY_URL_H
#define LT_BASE_RELAY_URL_H

#include <stdbool.h>

#include "base/status.h"

/*
 * SCHEME://HOST[:PORT[:PORT]], as LTTng names a relayd: the scheme is net, net4 or net6; HOST is a name or an address,
 * with brackets around an IPv6 address.
 */
enum { RELAY_CONTROL_PORT = 5342, RELAY_DATA_PORT = 5343, RELAY_VIEW_PORT = 5344 }; /* the defaults of lttng-relayd */

enum { RELAY_URL_PORTS = 2 };

struct relay_url {
	const char *scheme;              /* static */
	int family;                      /* AF_UNSPEC, AF_INET, AF_INET6 */
	char *host;                      /* without brackets */
	unsigned ports[RELAY_URL_PORTS]; /* 0: not given */
	const char *rest;                /* the remaining text after the URL: "" or "/…"; borrowed */
};

/* Whether text starts like such a URL, so that it is not a file name: "net:", "net4:", "net6:". */
bool relay_url_is_one(const char *text);

/*
 * max_ports: how many ports are allowed. LT_ERROR: text is not such a URL; the reason does not quote all of it, and
 * *url is empty. Release *url in either case.
 */
enum lt_status relay_url_parse(const char *text, unsigned max_ports, struct relay_url *url);

void relay_url_release(struct relay_url *url);

/* HOST, with brackets if it is an IPv6 address; to be freed. */
char *relay_url_host(const struct relay_url *url);

/* The URL with the ports that were given, without the rest; to be freed. */
char *relay_url_text(const struct relay_url *url);

#endif
