/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/relay_url.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/text.h"

static const char scheme_end[] = "://";

static const struct {
	const char *name;
	int family;
} schemes[] = { { "net", AF_UNSPEC }, { "net4", AF_INET }, { "net6", AF_INET6 } };

bool relay_url_is_one(const char *text)
{
	const size_t len = strcspn(text, ":");

	for (size_t i = 0; text[len] && i < G_N_ELEMENTS(schemes); i++)
		if (strlen(schemes[i].name) == len && strncmp(text, schemes[i].name, len) == 0)
			return true;
	return false;
}

/* Advances *text past "SCHEME://". */
static enum lt_status parse_scheme(const char **text, struct relay_url *url)
{
	const char *end = strstr(*text, scheme_end);

	for (size_t i = 0; end && i < G_N_ELEMENTS(schemes); i++) {
		if (strlen(schemes[i].name) == (size_t)(end - *text) && g_str_has_prefix(*text, schemes[i].name)) {
			url->scheme = schemes[i].name;
			url->family = schemes[i].family;
			*text = end + strlen(scheme_end);
			return LT_OK;
		}
	}
	return error_set("it must start with net://, net4:// or net6://");
}

/* Whether all up to a '/' is an IPv6 address, perhaps with a zone: its colons would be taken for those of ports. */
static bool is_bare_ipv6(const char *text)
{
	char *address = g_strndup(text, strcspn(text, "/%"));
	struct in6_addr parsed;
	const bool is_one = inet_pton(AF_INET6, address, &parsed) == 1;

	g_free(address);
	return is_one;
}

/* Advances *text past HOST or [ADDRESS]. */
static enum lt_status parse_host(const char **text, struct relay_url *url)
{
	const bool is_address = **text == '[';
	const char *host = *text + is_address;
	const size_t len = strcspn(host, is_address ? "]/" : ":/");

	if (is_address && host[len] != ']')
		return error_set("']' is missing after the address");
	if (is_bare_ipv6(*text))
		return error_set("an IPv6 address must be in brackets, as in [::1]");
	if (!len)
		return error_set("the host is missing");
	*text = host + len + is_address;
	if (**text && **text != ':' && **text != '/')
		return error_set("':PORT' or nothing must follow the address");
	url->host = g_strndup(host, len);
	if (*host == '-' || strspn(host, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-:%") < len)
		return error_set("the host contains a character that is not allowed in names or addresses");
	return LT_OK;
}

/* Advances *text past the ports; the last one allowed takes everything up to a '/'. */
static enum lt_status parse_ports(const char **text, unsigned max_ports, struct relay_url *url)
{
	for (unsigned i = 0; i < max_ports && **text == ':'; i++) {
		const size_t len = strcspn(*text + 1, i + 1 == max_ports ? "/" : ":/");
		char *port = g_strndup(*text + 1, len);
		guint64 number = 0;
		enum lt_status status = LT_OK;

		if (!g_ascii_string_to_unsigned(port, 10, 1, G_MAXUINT16, &number, NULL)) {
			char shown[64];

			text_sanitise(shown, sizeof(shown), port, len);
			status = error_set("'%s' is not a port from 1 to %d", shown, G_MAXUINT16);
		}
		g_free(port);
		if (status)
			return status;
		url->ports[i] = (unsigned)number;
		*text += 1 + len;
	}
	return LT_OK;
}

enum lt_status relay_url_parse(const char *text, unsigned max_ports, struct relay_url *url)
{
	g_assert(max_ports >= 1 && max_ports <= RELAY_URL_PORTS);
	*url = (struct relay_url){ 0 };
	if (parse_scheme(&text, url) || parse_host(&text, url) || parse_ports(&text, max_ports, url)) {
		relay_url_release(url);
		return LT_ERROR;
	}
	url->rest = text;
	return LT_OK;
}

void relay_url_release(struct relay_url *url)
{
	g_free(url->host);
	*url = (struct relay_url){ 0 };
}

char *relay_url_host(const struct relay_url *url)
{
	return strchr(url->host, ':') ? g_strdup_printf("[%s]", url->host) : g_strdup(url->host);
}

char *relay_url_text(const struct relay_url *url)
{
	char *host = relay_url_host(url);
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s%s%s", url->scheme, scheme_end, host);
	for (unsigned i = 0; i < RELAY_URL_PORTS && url->ports[i]; i++)
		g_string_append_printf(text, ":%u", url->ports[i]);
	g_free(host);
	return g_string_free(text, FALSE);
}
