/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <string.h>

#include "base/error.h"
#include "base/relay_url.h"
#include "base/text.h"

#define PATH_PREFIX "/host/"

bool source_is_url(const char *source)
{
	return relay_url_is_one(source);
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
		return error_set("the name of the %s is missing", !*path || slash == path ? "traced host" : "session");
	if (strchr(slash + 1, '/'))
		return error_set("a session whose name contains '/' cannot be named by a URL");
	url->target = g_strndup(path, slash - path);
	url->session = g_strdup(slash + 1);
	return LT_OK;
}

/* Takes ownership of the parsed URL's parts. */
static void take_relay(struct source_url *url, struct relay_url *relay)
{
	if (relay->ports[0] == RELAY_VIEW_PORT)
		relay->ports[0] = 0; /* so that each relayd has a single URL */
	url->port = relay->ports[0] ? relay->ports[0] : RELAY_VIEW_PORT;
	url->family = relay->family;
	url->relay = relay_url_text(relay);
	url->host = g_steal_pointer(&relay->host);
}

enum lt_status source_parse_url(const char *text, struct source_url *url)
{
	const char *scheme_end = strstr(text, "://");
	struct relay_url relay = { 0 };
	char shown[256];
	enum lt_status status;

	*url = (struct source_url){ 0 };
	if (!source_is_url(text) || !scheme_end || scheme_end != strchr(text, ':')) {
		status = error_set("a URL is net://HOST[:PORT][/host/TARGET/SESSION]");
	} else {
		status = relay_url_parse(text, 1, &relay);
		if (status == LT_OK) {
			take_relay(url, &relay);
			status = parse_path(relay.rest, url);
		}
	}
	relay_url_release(&relay);
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
