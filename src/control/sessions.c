/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_directory.h"
#include "control/daemon.h"
#include "control/internal.h"
#include "control/plan.h"

static void session_free(void *data)
{
	struct session *s = data;

	g_free(s->name);
	g_free(s->path);
	g_free(s);
}

static void add_channel_lost(struct lttng_handle *handle, struct session_lost *lost)
{
	struct lttng_channel *channels = NULL;
	const int n = lttng_list_channels(handle, &channels);

	for (int i = 0; i < n; i++) {
		uint64_t events = 0, packets = 0;

		if (!lttng_channel_get_discarded_event_count(&channels[i], &events))
			lost->events += events;
		if (!lttng_channel_get_lost_packet_count(&channels[i], &packets))
			lost->packets += packets;
	}
	free(channels);
}

void session_fill_lost(const char *session, struct session_lost *lost)
{
	struct lttng_domain *domains = NULL;
	const int n = lttng_list_domains(session, &domains);

	*lost = (struct session_lost){ 0 };
	for (int i = 0; i < n; i++) {
		struct lttng_handle *handle = lttng_create_handle(session, &domains[i]);

		if (handle)
			add_channel_lost(handle, lost);
		lttng_destroy_handle(handle);
	}
	free(domains);
}

/* Where a session's snapshots are stored; NULL: unknown. */
static char *snapshot_path(const char *session)
{
	struct lttng_snapshot_output_list *list = NULL;
	const struct lttng_snapshot_output *output;
	char *path = NULL;

	if (lttng_snapshot_list_output(session, &list) < 0)
		return NULL;
	output = lttng_snapshot_output_list_get_next(list);
	if (output)
		path = g_strdup(lttng_snapshot_output_get_ctrl_url(output));
	lttng_snapshot_output_list_destroy(list);
	return path;
}

static int by_name(const void *a, const void *b)
{
	const struct session *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static bool is_foreign(const char *path)
{
	const int fd = *path == '/' ? own_directory_open(path) : -1;
	const bool refused = *path == '/' && fd < 0 && errno == EPERM;

	if (fd >= 0)
		close(fd);
	return refused;
}

GPtrArray *sessions_list(void)
{
	struct lttng_session *list = NULL;
	GPtrArray *sessions;
	int n;

	if (daemon_check())
		return NULL;
	n = lttng_list_sessions(&list);
	if (n < 0) {
		tracer_error(n, NULL);
		return NULL;
	}
	sessions = g_ptr_array_new_with_free_func(session_free);
	for (int i = 0; i < n; i++) {
		struct session *s = g_new0(struct session, 1);

		s->name = g_strdup(list[i].name);
		s->snapshot = list[i].snapshot_mode;
		s->path = s->snapshot ? snapshot_path(s->name) : NULL;
		if (!s->path)
			s->path = g_strdup(list[i].path);
		s->foreign = is_foreign(s->path);
		s->active = list[i].enabled;
		s->live_timer_us = list[i].live_timer_interval;
		session_fill_lost(s->name, &s->lost);
		g_ptr_array_add(sessions, s);
	}
	free(list);
	g_ptr_array_sort(sessions, by_name);
	return sessions;
}

const struct session *sessions_find(const GPtrArray *sessions, const char *name)
{
	const struct session *found = NULL, *foreign = NULL;

	for (unsigned i = 0; i < sessions->len; i++) {
		const struct session *s = g_ptr_array_index(sessions, i);

		if (name ? strcmp(s->name, name) != 0 : !g_str_has_prefix(s->name, RECORD_SESSION_PREFIX))
			continue;
		if (!name && s->foreign) {
			foreign = s;
			continue;
		}
		if (found) {
			error_set("more than one session ('%s', '%s'): give its name", found->name, s->name);
			return NULL;
		}
		found = s;
	}
	if (!found && name)
		error_set("there is no session '%s': 'lttngtop record status' lists those that exist", name);
	else if (!found && foreign)
		error_set("session '%s' may be another user's: give its name if it is meant", foreign->name);
	else if (!found)
		error_set("no session that 'lttngtop record' named was found: give its name");
	return found;
}

bool session_exists(const char *name)
{
	struct lttng_session *list = NULL;
	const int n = lttng_list_sessions(&list);
	bool found = false;

	for (int i = 0; i < n && !found; i++)
		found = !strcmp(list[i].name, name);
	free(list);
	return found;
}

int session_read_created(const char *session, uint64_t *time_s)
{
	struct lttng_session *list = NULL;
	const int n = lttng_list_sessions(&list);
	int code = n < 0 ? n : -LTTNG_ERR_SESS_NOT_FOUND;

	for (int i = 0; i < n && code != LTTNG_OK; i++)
		if (strcmp(list[i].name, session) == 0 && lttng_session_get_creation_time(&list[i], time_s) == LTTNG_OK)
			code = LTTNG_OK;
	free(list);
	return code;
}

enum lt_status session_created(const char *name, uint64_t *time_s)
{
	const int code = session_read_created(name, time_s);

	return code == LTTNG_OK ? LT_OK : tracer_error(code, name);
}

enum lt_status session_refresh(const char *name)
{
	const int code = lttng_regenerate_statedump(name);

	return code < 0 ? tracer_error(code, name) : LT_OK;
}

enum lt_status session_start(const char *name)
{
	const int code = lttng_start_tracing(name);

	return code < 0 ? tracer_error(code, name) : LT_OK;
}

/* The entry of a directory that sorts last among those not in before; NULL: none. */
static char *new_entry(const char *path, GHashTable *before)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	char *newest = NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		if (g_hash_table_contains(before, name) || (newest && strcmp(name, newest) < 0))
			continue;
		g_free(newest);
		newest = g_strdup(name);
	}
	if (dir)
		g_dir_close(dir);
	return newest;
}

static GHashTable *entries(const char *path)
{
	GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GDir *dir = path ? g_dir_open(path, 0, NULL) : NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		g_hash_table_add(set, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	return set;
}

enum lt_status session_snapshot(const char *name, char **path)
{
	char *directory = snapshot_path(name);
	GHashTable *before = entries(directory);
	const enum lt_status status = session_take_snapshot(name);
	char *entry = status || !directory ? NULL : new_entry(directory, before);

	*path = entry ? g_build_filename(directory, entry, NULL) : NULL;
	if (status && directory)
		error_wrap("taking a snapshot of session '%s' into '%s'", name, directory);
	else if (status)
		error_wrap("taking a snapshot of session '%s'", name);
	g_free(entry);
	g_free(directory);
	g_hash_table_destroy(before);
	return status;
}
