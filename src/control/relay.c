/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/relay.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "base/relay_url.h"
#include "viewer/dial.h"

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

/* The request for the protocol's version, with which every session on a relayd starts; big-endian. */
static const uint8_t version_request[] = {
	[15] = 8, /* bytes after this header */
	[19] = 5, /* the command */
	[27] = 2,
	[31] = 4 /* our version: a relayd refuses another major one */
};

/* Whether it answers, if only by hanging up: the reason is then found by the tracer. */
static bool answers(int fd)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	send(fd, version_request, sizeof(version_request), MSG_NOSIGNAL);
	return poll(&readable, 1, PROBE_MS) == 1;
}

static enum lt_status connect_to(const struct relay_url *url, unsigned port, int *fd)
{
	struct dial *dial = dial_create(url->family, url->host, port, PROBE_MS);
	enum lt_status status = dial ? LT_AGAIN : LT_ERROR;

	while (status == LT_AGAIN && (status = dial_next(dial, fd)) == LT_AGAIN) {
		struct pollfd p = { .fd = dial_fd(dial), .events = POLLIN };

		poll(&p, 1, PROBE_MS);
	}
	dial_destroy(dial);
	return status;
}

/* LT_ERROR: no relayd accepts a connection at that port of the host or, if it must answer, does so in time. */
static enum lt_status probe(const struct relay_url *url, unsigned port, bool must_answer)
{
	enum lt_status status;
	int fd;

	status = connect_to(url, port, &fd);
	if (status)
		return status;
	if (must_answer && !answers(fd))
		status = error_set("it accepts connections, but does not answer for %d s", PROBE_MS / (int)MS_PER_S);
	close(fd);
	return status;
}

enum lt_status relay_probe(const char *text)
{
	struct relay_url url;
	enum lt_status status;

	if (parse(text, &url))
		return LT_ERROR;
	status = probe(&url, url.ports[0] ? url.ports[0] : RELAY_CONTROL_PORT, true);
	relay_url_release(&url);
	return status ? error_wrap("cannot reach relayd '%s' from this machine", text) : LT_OK;
}

enum lt_status relay_probe_view(const char *text, unsigned view_port)
{
	struct relay_url url;
	char *host;
	enum lt_status status;

	if (parse(text, &url))
		return LT_ERROR;
	host = relay_url_host(&url);
	status = probe(&url, view_port, false);
	if (status)
		status = error_wrap("no relayd accepts viewers at '%s:%u'", host, view_port);
	g_free(host);
	relay_url_release(&url);
	return status;
}
