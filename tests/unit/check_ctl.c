/* SPDX-License-Identifier: GPL-2.0-or-later */
/* liblttng-ctl is loaded when it is first called, and may be absent. */
#include "unit.h"

#include <glib.h>
#include <lttng/lttng.h>
#include <string.h>

#include "base/error.h"
#include "control/ctl.h"
#include "control/daemon.h"
#include "control/sessions.h"

static bool is_mapped(const char *library)
{
	char *maps = NULL;
	bool is;

	ck_assert(g_file_get_contents("/proc/self/maps", &maps, NULL, NULL));
	is = strstr(maps, library) != NULL;
	g_free(maps);
	return is;
}

START_TEST(test_loaded_by_first_call)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_KERNEL };
	struct lttng_handle *handle;

	ck_assert(!is_mapped("liblttng-ctl") && !is_mapped("libxml2"));
	handle = lttng_create_handle("s1", &domain);
	ck_assert(is_mapped("liblttng-ctl"));
	ck_assert_ptr_nonnull(handle);
	ck_assert_str_eq(handle->session_name, "s1");
	lttng_destroy_handle(handle);
	ck_assert_str_eq(lttng_strerror(-LTTNG_ERR_SESS_NOT_FOUND), "Session name not found");
}
END_TEST

START_TEST(test_absent)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_KERNEL };
	uint64_t time_s;

	ctl_set_library("liblttng-ctl.so.none");
	ck_assert_int_eq(lttng_session_daemon_alive(), 0);
	ck_assert_ptr_null(lttng_create_handle("s1", &domain));
	lttng_destroy_handle(NULL);
	ck_assert_int_eq(session_created("s1", &time_s), LT_ERROR);
	ck_assert_msg(strstr(error_text(), "liblttng-ctl cannot be loaded"), "%s", error_text());
}
END_TEST

/* The reason is the loader's own; no daemon is started that nobody could reach. */
START_TEST(test_absent_reason)
{
	static const char expected[] = "liblttng-ctl cannot be loaded: liblttng-ctl.so.none: cannot open ";
	pid_t started;

	ctl_set_library("liblttng-ctl.so.none");
	g_setenv("LTTNG_SESSIOND_PATH", "/nowhere/sessiond", TRUE);
	ck_assert_int_eq(daemon_check(), LT_ERROR);
	ck_assert_msg(g_str_has_prefix(error_text(), expected), "%s", error_text());
	error_clear();
	ck_assert_int_eq(daemon_require(false, true, &started), LT_ERROR);
	ck_assert_msg(g_str_has_prefix(error_text(), expected), "%s", error_text());
	ck_assert_int_eq(started, 0);
}
END_TEST

UNIT_MAIN("ctl", test_loaded_by_first_call, test_absent, test_absent_reason)
