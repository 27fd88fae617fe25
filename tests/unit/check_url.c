/* SPDX-License-Identifier: GPL-2.0-or-later */
/* URLs of relayds and of live sessions. */
#include "unit.h"

#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/relay_url.h"
#include "source/source.h"

static void expect_url(const char *text, const char *relay, const char *target, const char *session)
{
	struct source_url url;

	ck_assert(source_is_url(text));
	ck_assert_msg(source_parse_url(text, &url) == LT_OK, "%s: %s", text, error_text());
	ck_assert_str_eq(url.relay, relay);
	ck_assert_int_eq(url.family, strncmp(text, "net4", 4) == 0   ? AF_INET
				     : strncmp(text, "net6", 4) == 0 ? AF_INET6
								     : AF_UNSPEC);
	ck_assert_pstr_eq(url.target, target);
	ck_assert_pstr_eq(url.session, session);
	source_url_release(&url);
}

static void expect_error(const char *text, const char *reason)
{
	struct source_url url;

	ck_assert_msg(source_parse_url(text, &url) == LT_ERROR, "%s", text);
	ck_assert_msg(strstr(error_text(), reason) != NULL, "%s: %s", text, error_text());
	ck_assert_ptr_null(url.relay);
	source_url_release(&url);
}

START_TEST(test_relays)
{
	expect_url("net://localhost", "net://localhost", NULL, NULL);
	expect_url("net://localhost/", "net://localhost", NULL, NULL);
	expect_url("net4://10.0.0.1:5344", "net4://10.0.0.1", NULL, NULL);
	expect_url("net6://localhost:1", "net6://localhost:1", NULL, NULL);
	expect_url("net://[::1]", "net://[::1]", NULL, NULL);
	expect_url("net6://[fe80::1%eth0]:5345/", "net6://[fe80::1%eth0]:5345", NULL, NULL);
	expect_url("net://web:65535/", "net://web:65535", NULL, NULL);
	ck_assert(!source_is_url("net"));
	ck_assert(!source_is_url("/net://localhost"));
	ck_assert(!source_is_url("recording"));
}
END_TEST

START_TEST(test_addresses)
{
	struct source_url url;

	ck_assert_int_eq(source_parse_url("net://[fe80::1%eth0]:99/host/a/b", &url), LT_OK);
	ck_assert_str_eq(url.host, "fe80::1%eth0");
	ck_assert_uint_eq(url.port, 99);
	source_url_release(&url);
	ck_assert_int_eq(source_parse_url("net6://web", &url), LT_OK);
	ck_assert_str_eq(url.host, "web");
	ck_assert_uint_eq(url.port, RELAY_VIEW_PORT);
	source_url_release(&url);
}
END_TEST

START_TEST(test_sessions)
{
	expect_url("net://localhost/host/web/s1", "net://localhost", "web", "s1");
	expect_url("net4://r:1/host/web.example/auto-20261120", "net4://r:1", "web.example", "auto-20261120");
	expect_url("net://[::1]:5344/host/web/s1", "net://[::1]", "web", "s1");
	/* Every character stands for itself. */
	expect_url("net://r/host/h%20st/a b:%2f?\\\"", "net://r", "h%20st", "a b:%2f?\\\"");
}
END_TEST

START_TEST(test_errors)
{
	expect_error("net:", "a URL is net://HOST");
	expect_error("net:/host", "a URL is net://HOST");
	expect_error("recording", "a URL is net://HOST");
	expect_error("http://localhost", "a URL is net://HOST");
	expect_error("net://", "the host is missing");
	expect_error("net://:5344", "the host is missing");
	expect_error("net://h:", "'' is not a port");
	expect_error("net://h:0", "'0' is not a port");
	expect_error("net://h:65536", "'65536' is not a port");
	expect_error("net://h:12x", "'12x' is not a port");
	expect_error("net://h:1:2", "'1:2' is not a port");
	expect_error("net://[::1", "']' is missing");
	expect_error("net://[]", "the host is missing");
	expect_error("net://[::1]x", "':PORT' or nothing");
	expect_error("net://::1", "an IPv6 address must be in brackets, as in [::1]");
	expect_error("net://fe80::1%eth0/host/a/b", "an IPv6 address must be in brackets");
	expect_error("net://2001:db8::1:5344", "an IPv6 address must be in brackets");
	expect_error("net://host::1", "':1' is not a port");
	expect_error("net://h/web/s1", "'/host/TARGET/SESSION' or nothing");
	expect_error("net://h/host/", "the name of the traced host is missing");
	expect_error("net://h/host/web", "the name of the session is missing");
	expect_error("net://h/host//s1", "the name of the traced host is missing");
	expect_error("net://h/host/web/", "the name of the session is missing");
	expect_error("net://h/host/web/a/b", "contains '/'");
	expect_error("net://a b", "the host contains a character");
	expect_error("net://-oProxyCommand=x", "the host contains a character");
	/* Shown without the escape sequence that a terminal would interpret. */
	expect_error("net://\x1b[31m:x", "\\x1b[31m");
}
END_TEST

START_TEST(test_spec)
{
	struct source_spec *spec;
	struct source_url url;

	ck_assert_int_eq(source_parse_url("net4://r:5344/host/web/s 1", &url), LT_OK);
	spec = source_live_spec(&url);
	ck_assert_str_eq(spec->url, "net4://r/host/web/s 1");
	ck_assert_str_eq(spec->name, spec->url);
	ck_assert_str_eq(spec->host_hint, "web");
	ck_assert_uint_eq(spec->paths->len, 0);
	source_spec_free(spec);
	source_url_release(&url);
}
END_TEST

UNIT_MAIN("url", test_relays, test_addresses, test_sessions, test_errors, test_spec)
