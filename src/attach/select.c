/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/select.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "event/wanted.h"

static void clear_target(gpointer data)
{
	g_free(((struct select_target *)data)->host);
}

static void clear_name(gpointer data)
{
	g_free(((struct select_name *)data)->glob);
}

void attach_select_init(struct attach_select *s)
{
	*s = (struct attach_select){ 0 };
	s->targets = g_array_new(FALSE, FALSE, sizeof(struct select_target));
	g_array_set_clear_func(s->targets, clear_target);
	s->names = g_array_new(FALSE, FALSE, sizeof(struct select_name));
	g_array_set_clear_func(s->names, clear_name);
	s->hosts = g_ptr_array_new_with_free_func(g_free);
}

void attach_select_release(struct attach_select *s)
{
	g_array_free(s->targets, TRUE);
	g_array_free(s->names, TRUE);
	g_ptr_array_free(s->hosts, TRUE);
}

static enum lt_status add_thread(struct attach_select *s, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct select_target target = { 0 };
	guint64 tid;

	if (!g_ascii_string_to_unsigned(colon ? colon + 1 : text, 10, 1, INT32_MAX, &tid, NULL) || colon == text)
		return error_set("'%s' is not a thread: expected TID or HOST:TID; -n NAME chooses by name", text);
	target.tid = (int32_t)tid;
	target.host = colon ? g_strndup(text, (gsize)(colon - text)) : NULL;
	g_array_append_val(s->targets, target);
	return LT_OK;
}

enum lt_status attach_select_add(struct attach_select *s, const char *list)
{
	char **words = g_strsplit_set(list, ", \t\n", -1);
	enum lt_status status = LT_OK;
	const guint before = s->targets->len;
	bool any = false;

	for (char **word = words; *word && status == LT_OK; word++) {
		any = any || **word;
		status = **word ? add_thread(s, *word) : LT_OK;
	}
	g_strfreev(words);
	if (status != LT_OK)
		g_array_set_size(s->targets, before);
	return any ? status
		   : error_set("'%s' is not a thread: expected TID or HOST:TID; -n NAME chooses by name", list);
}

void attach_select_add_name(struct attach_select *s, const char *glob)
{
	struct select_name name = { .glob = g_strdup(glob) };

	g_array_append_val(s->names, name);
}

bool attach_select_is_one(const struct attach_select *s)
{
	return s->targets->len + (s->command != 0) == 1 && !s->names->len && !s->contains && !s->children &&
	       !s->threads;
}

static bool any_matches(const GPtrArray *globs, const char *text)
{
	for (guint i = 0; i < globs->len; i++)
		if (text_glob(g_ptr_array_index(globs, i), text))
			return true;
	return false;
}

bool attach_select_host(const struct attach_select *s, const char *host)
{
	return !s->hosts->len || any_matches(s->hosts, host);
}

void attach_select_meet(const struct attach_select *s, const char *host_name, int32_t tid)
{
	for (guint i = 0; i < s->targets->len; i++) {
		struct select_target *target = &g_array_index(s->targets, struct select_target, i);

		if (target->tid == tid && (!target->host || text_glob(target->host, host_name)))
			target->is_met = true;
	}
}

/* Whether a thread of that name is chosen. Marks all names that match. */
static bool meet_name(const struct attach_select *s, strid comm)
{
	const char *text = strpool_text(comm);
	bool any = false;

	for (guint i = 0; i < s->names->len; i++) {
		struct select_name *name = &g_array_index(s->names, struct select_name, i);

		if (text_glob(name->glob, text))
			any = name->is_met = true;
	}
	return any;
}

/* Whether the thread or, where threads belong together, its process has a chosen name. */
static bool has_name(const struct attach_select *s, const struct model *m, int32_t tid, const struct thread_row *row)
{
	if (!s->names->len || !row)
		return false;
	if (meet_name(s, (strid)row->comm))
		return true;
	if ((!s->threads && !s->children) || (int64_t)row->pid == tid)
		return false;
	row = model_look_thread(m, (int64_t)row->pid);
	return row && meet_name(s, (strid)row->comm);
}

/* Whether a target is this thread or, where threads belong together, one of its process. */
static bool is_target(const struct attach_select *s, const struct select_target *target, const struct model *m,
		      int32_t tid, const struct thread_row *row)
{
	const struct thread_row *of;

	if (target->tid == tid)
		return true;
	if (!s->children && !s->threads)
		return false;
	if (!row || (int64_t)row->pid <= 0)
		return false;
	if ((int64_t)row->pid == target->tid)
		return true;
	of = model_look_thread(m, target->tid);
	return of && of->pid == row->pid;
}

bool attach_select_target(const struct attach_select *s, const char *host_name, const struct model *m, int32_t tid,
			  const struct thread_row *row)
{
	for (guint i = 0; i < s->targets->len; i++) {
		const struct select_target *target = &g_array_index(s->targets, struct select_target, i);

		if ((!target->host || text_glob(target->host, host_name)) && is_target(s, target, m, tid, row))
			return true;
	}
	return false;
}

bool attach_select_thread(const struct attach_select *s, unsigned host, const char *host_name, const struct model *m,
			  int32_t tid, const struct thread_row *row)
{
	bool contained;

	if (!attach_select_host(s, host_name))
		return false;
	/* asked first, as it marks the container */
	contained = row && s->contains && s->contains(s->user, host, row);
	return has_name(s, m, tid, row) || attach_select_target(s, host_name, m, tid, row) || contained;
}

void attach_select_want(const struct attach_select *s, struct fields_wanted *wanted, bool all)
{
	wanted->classes = WANTED_CALLS_AND_SCHED;
	/* only this process knows which other threads belong to them */
	if (all || s->children || s->threads || s->contains)
		return;
	if (s->command)
		g_array_append_val(wanted->tids, s->command);
	for (guint i = 0; i < s->targets->len; i++)
		g_array_append_val(wanted->tids, g_array_index(s->targets, struct select_target, i).tid);
	for (guint i = 0; i < s->names->len; i++)
		g_ptr_array_add(wanted->names, g_strdup(g_array_index(s->names, struct select_name, i).glob));
	wanted->renames = s->names->len > 0;
	wanted->ends = true;
}
