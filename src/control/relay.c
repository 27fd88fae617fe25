/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/relay.h"

#include <errno.h>
#include <glib.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

enum { CONTROL_PORT = 5342, PROBE_MS = 5000 };

static const char scheme_end[] = "://";

/* How many bytes of text are a host name or address. */
static size_t host_len(const char *text)
{
	const char *end;

	if (*text != '[')
		return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
	end = text + 1 + strspn(text + 1, "0123456789abcdefABCDEF:.%");
	return *end == ']' && end > text + 1 ? (size_t)(end + 1 - text) : 0;
}

/* ":PORT" at *text; moves *text behind it. */
static bool take_port(const char **text)
{
	char *end;
	guint64 port;

	if (**text != ':' || !g_ascii_isdigit((*text)[1]))
		return false;
	port = g_ascii_strtoull(*text + 1, &end, 10);
	*text = end;
	return port >= 1 && port <= 65535;
}

char *relay_url(const char *text)
{
	static const char *const schemes[] = { "net", "net4", "net6" };
	const char *start = strstr(text, scheme_end);
	const char *p;
	char *scheme = start ? g_strndup(text, (gsize)(start - text)) : g_strdup("net");
	char *url = NULL;
	bool good = false;

	start = start ? start + strlen(scheme_end) : text;
	for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++)
		good |= !strcmp(scheme, schemes[i]);
	p = start + host_len(start);
	good = good && p > start && *start != '-';
	for (unsigned i = 0; i < 2 && good && *p == ':'; i++)
		good = take_port(&p);
	if (good && (!*p || !strcmp(p, "/")))
		url = g_strdup_printf("%s%s%.*s", scheme, scheme_end, (int)(p - start), start);
	else
		error_set("'%s' is not a relayd such as net://HOST[:CONTROL[:DATA]]", text);
	g_free(scheme);
	return url;
}

char *relay_url_of_session(const char *path)
{
	const char *start = strstr(path, scheme_end);
	char *authority, *url;

	if (!start || !g_str_has_prefix(path, "tcp"))
		return NULL;
	start += strlen(scheme_end);
	authority = g_strndup(start, strcspn(start, "/ "));
	url = relay_url(authority);
	g_free(authority);
	return url;
}

char *relay_host(const char *url)
{
	const char *host = strstr(url, scheme_end) + strlen(scheme_end);

	return g_strndup(host, host_len(host));
}

/* 0, or why there is no connection. */
static int try_connect(const struct addrinfo *address)
{
	const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol);
	struct pollfd writable = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen)) {
		error = errno;
		if (error == EINPROGRESS && poll(&writable, 1, PROBE_MS) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
		else if (error == EINPROGRESS)
			error = ETIMEDOUT;
	}
	close(fd);
	return error;
}

/* LT_ERROR: the host has no address, or none takes a connection at that port. */
static enum lt_status probe(const char *url, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char *host = relay_host(url);
	char *name = *host == '[' ? g_strndup(host + 1, strlen(host) - 2) : g_strdup(host);
	struct addrinfo *list = NULL;
	const int found = getaddrinfo(name, port, &hints, &list);
	int error = ECONNREFUSED;

	for (const struct addrinfo *a = list; !found && a && error; a = a->ai_next)
		error = try_connect(a);
	if (!found)
		freeaddrinfo(list);
	g_free(name);
	g_free(host);
	if (found)
		return error_set("cannot find the relayd '%s': %s", url, gai_strerror(found));
	return error ? error_set("%s", g_strerror(error)) : LT_OK;
}

enum lt_status relay_probe(const char *url)
{
	char *host = relay_host(url), *port;
	const char *after = strstr(url, scheme_end) + strlen(scheme_end) + strlen(host);
	enum lt_status status;

	port = g_strdup_printf("%d", *after == ':' ? (int)strtol(after + 1, NULL, 10) : CONTROL_PORT);
	status = probe(url, port);
	g_free(port);
	g_free(host);
	return status ? error_wrap("cannot reach the relayd '%s'", url) : LT_OK;
}

enum lt_status relay_probe_view(const char *url, unsigned view_port)
{
	char *port = g_strdup_printf("%u", view_port), *host = relay_host(url);
	enum lt_status status = probe(url, port);

	if (status)
		status = error_wrap("no relayd takes viewers at %s:%u", host, view_port);
	g_free(host);
	g_free(port);
	return status;
}
