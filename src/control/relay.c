/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/relay.h"

#include <errno.h>
#include <glib.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "base/relay_url.h"

enum { PROBE_MS = 5 * MS_PER_S };

/* On success the caller releases *url. */
static enum lt_status parse(const char *text, struct relay_url *url)
{
	char *full = strstr(text, "://") ? g_strdup(text) : g_strdup_printf("net://%s", text);
	enum lt_status status = relay_url_parse(full, RELAY_URL_PORTS, url);

	if (status == LT_OK && *url->rest && strcmp(url->rest, "/") != 0) {
		relay_url_release(url);
		status = error_set("unexpected text after the ports");
	}
	url->rest = NULL;
	g_free(full);
	return status ? error_wrap("'%s' is not a valid relayd URL: expected net://HOST[:CONTROL[:DATA]]", text)
		      : LT_OK;
}

char *relay_url(const char *text)
{
	struct relay_url url;
	char *full;

	if (parse(text, &url))
		return NULL;
	full = relay_url_text(&url);
	relay_url_release(&url);
	return full;
}

char *relay_url_of_session(const char *path)
{
	const char *start = strstr(path, "://");
	char *authority, *url;

	if (!start || !g_str_has_prefix(path, "tcp"))
		return NULL;
	start += strlen("://");
	authority = g_strndup(start, strcspn(start, "/ "));
	url = relay_url(authority);
	g_free(authority);
	return url;
}

char *relay_host(const char *text)
{
	struct relay_url url;
	char *host;

	if (parse(text, &url))
		return g_strdup("");
	host = relay_url_host(&url);
	relay_url_release(&url);
	return host;
}

/* 0, or an errno value if there is no connection. */
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

/* LT_ERROR: the host has no address, or none accepts a connection at that port. */
static enum lt_status probe(const struct relay_url *url, unsigned port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char service[8];
	struct addrinfo *list = NULL;
	int found, error = ECONNREFUSED;

	g_snprintf(service, sizeof(service), "%u", port);
	found = getaddrinfo(url->host, service, &hints, &list);
	for (const struct addrinfo *a = list; !found && a && error; a = a->ai_next)
		error = try_connect(a);
	if (found)
		return error_set("cannot resolve host '%s': %s", url->host, gai_strerror(found));
	freeaddrinfo(list);
	return error ? error_set("%s", g_strerror(error)) : LT_OK;
}

enum lt_status relay_probe(const char *text)
{
	struct relay_url url;
	enum lt_status status;

	if (parse(text, &url))
		return LT_ERROR;
	status = probe(&url, url.ports[0] ? url.ports[0] : RELAY_CONTROL_PORT);
	relay_url_release(&url);
	return status ? error_wrap("cannot reach relayd '%s'", text) : LT_OK;
}

enum lt_status relay_probe_view(const char *text, unsigned view_port)
{
	struct relay_url url;
	char *host;
	enum lt_status status;

	if (parse(text, &url))
		return LT_ERROR;
	host = relay_url_host(&url);
	status = probe(&url, view_port);
	if (status)
		status = error_wrap("no relayd accepts viewers at '%s:%u'", host, view_port);
	g_free(host);
	relay_url_release(&url);
	return status;
}
