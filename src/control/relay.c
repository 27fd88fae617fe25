/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/relay.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

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
	static const char *const schemes[] = {"net", "net4", "net6"};
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

char *relay_host(const char *url)
{
	const char *host = strstr(url, scheme_end) + strlen(scheme_end);

	return g_strndup(host, host_len(host));
}
