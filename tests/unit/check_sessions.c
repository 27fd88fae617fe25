/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which session a request without a name is about. */
#include "unit.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "control/sessions.h"

static struct session own = { .name = (char *)"lttngtop-own", .path = (char *)"/tmp/own" };
static struct session foreign = { .name = (char *)"lttngtop-other", .path = (char *)"/tmp/other", .foreign = true };
static struct session plain = { .name = (char *)"auto-1", .path = (char *)"/tmp/auto" };

static GPtrArray *list_of(struct session *one, struct session *other)
{
	GPtrArray *list = g_ptr_array_new();

	g_ptr_array_add(list, one);
	if (other)
		g_ptr_array_add(list, other);
	return list;
}

START_TEST(test_no_name)
{
	GPtrArray *list = list_of(&plain, &own);

	ck_assert_ptr_eq(sessions_find(list, NULL), &own);
	g_ptr_array_free(list, TRUE);
	list = list_of(&own, &own);
	ck_assert_ptr_null(sessions_find(list, NULL));
	ck_assert_ptr_nonnull(strstr(error_text(), "more than one"));
	g_ptr_array_free(list, TRUE);
	list = list_of(&plain, NULL);
	ck_assert_ptr_null(sessions_find(list, NULL));
	ck_assert_ptr_eq(sessions_find(list, "auto-1"), &plain);
	g_ptr_array_free(list, TRUE);
}
END_TEST

/* Root is shown those of all users: only a name chooses another user's. */
START_TEST(test_other_users)
{
	GPtrArray *list = list_of(&foreign, &own);

	ck_assert_ptr_eq(sessions_find(list, NULL), &own);
	ck_assert_ptr_eq(sessions_find(list, "lttngtop-other"), &foreign);
	g_ptr_array_free(list, TRUE);
	list = list_of(&foreign, &plain);
	ck_assert_ptr_null(sessions_find(list, NULL));
	ck_assert_str_eq(error_text(), "session 'lttngtop-other' may be another user's: give its name if it is meant");
	g_ptr_array_free(list, TRUE);
}
END_TEST

UNIT_MAIN("sessions", test_no_name, test_other_users)
