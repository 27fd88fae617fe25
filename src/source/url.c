/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/text.h"

#define PATH_PREFIX "/host/"

bool source_is_url(const char *source)
{
	return g_str_has_prefix(source, "net:") || g_str_has_prefix(source, "net4:") ||
	       g_str_has_prefix(source, "net6:");
}

/* Takes HOST or [ADDRESS] off the front of text; *end is behind it. */
static char *take_host(const char *text, size_t len, const char **end)
{
	const bool is_address = len > 0 && *text == '[';
	const char *close = memchr(text, is_address ? ']' : ':', len);

	*end = close ? close + is_address : text + len;
	if (is_address)
		return close ? g_strndup(text + 1, (size_t)(close - text) - 1) : NULL;
	return g_strndup(text, (size_t)(*end - text));
}

/* HOST[:PORT], len bytes long. */
static enum lt_status parse_relay(const char *scheme, const char *text, size_t len, struct source_url *url)
{
	const char *rest;
	char *host = take_host(text, len, &rest);
	const bool has_colon = host && strchr(host, ':');
	const size_t rest_len = len - (size_t)(rest - text);
	char *port = rest_len > 0 && *rest == ':' ? g_strndup(rest + 1, rest_len - 1) : NULL;
	guint64 number = SOURCE_DEFAULT_PORT;
	enum lt_status status = LT_OK;

	if (!host)
		status = error_set("']' is missing behind the address");
	else if (!*host)
		status = error_set("the host is missing");
	else if (rest_len > 0 && !port)
		status = error_set("':PORT' or nothing must follow the address");
	else if (port && !g_ascii_string_to_unsigned(port, 10, 1, 65535, &number, NULL))
		status = error_set("'%s' is not a port from 1 to 65535", port);
	if (status == LT_OK) {
		GString *relay = g_string_new(NULL);

		g_string_append_printf(relay, has_colon ? "%s://[%s]" : "%s://%s", scheme, host);
		if (number != SOURCE_DEFAULT_PORT)
			g_string_append_printf(relay, ":%u", (unsigned)number);
		url->relay = g_string_free(relay, FALSE);
		url->host = g_strdup(host);
		url->port = (unsigned)number;
	}
	g_free(host);
	g_free(port);
	return status;
}

/* What follows HOST[:PORT]: nothing, '/' or '/host/TARGET/SESSION'. */
static enum lt_status parse_path(const char *path, struct source_url *url)
{
	const char *slash;

	if (!*path || strcmp(path, "/") == 0)
		return LT_OK;
	if (!g_str_has_prefix(path, PATH_PREFIX))
		return error_set("'/host/TARGET/SESSION' or nothing must follow the host and port");
	path += strlen(PATH_PREFIX);
	slash = strchr(path, '/');
	if (!slash || slash == path || !slash[1])
		return error_set("the name of the %s is missing", !slash || slash == path ? "traced host" : "session");
	if (strchr(slash + 1, '/'))
		return error_set("a session whose name contains '/' cannot be named by a URL");
	url->target = g_strndup(path, slash - path);
	url->session = g_strdup(slash + 1);
	return LT_OK;
}

enum lt_status source_parse_url(const char *text, struct source_url *url)
{
	const char *rest = strstr(text, "://"), *path;
	char shown[256], scheme[8];
	enum lt_status status;

	*url = (struct source_url){ 0 };
	if (!source_is_url(text) || !rest || rest != strchr(text, ':')) {
		status = error_set("a URL is net://HOST[:PORT][/host/TARGET/SESSION]");
	} else {
		g_snprintf(scheme, sizeof(scheme), "%.*s", (int)(rest - text), text);
		url->family = rest[-1] == '4' ? AF_INET : rest[-1] == '6' ? AF_INET6 : AF_UNSPEC;
		rest += strlen("://");
		path = rest + strcspn(rest, "/");
		status = parse_relay(scheme, rest, path - rest, url);
		if (status == LT_OK)
			status = parse_path(path, url);
	}
	if (status == LT_OK)
		return LT_OK;
	source_url_release(url);
	text_sanitise(shown, sizeof(shown), text, strlen(text));
	return error_wrap("'%s'", shown);
}

void source_url_release(struct source_url *url)
{
	g_free(url->relay);
	g_free(url->host);
	g_free(url->target);
	g_free(url->session);
	*url = (struct source_url){ 0 };
}

struct source_spec *source_live_spec(const struct source_url *url)
{
	struct source_spec *spec = g_new0(struct source_spec, 1);

	spec->url = g_strdup_printf("%s" PATH_PREFIX "%s/%s", url->relay, url->target, url->session);
	spec->name = g_strdup(spec->url);
	spec->host_hint = g_strdup(url->target);
	spec->end_ns = UINT64_MAX;
	spec->paths = g_ptr_array_new_with_free_func(g_free);
	return spec;
}
