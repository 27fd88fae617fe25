/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who the thread is: its ids, also in its containers, its parents, its program, and when it lived. */
#include "sidecar/sidecar.h"
#include "ui/details.h"
#include "ui/internal.h"
#include "view/containers.h"

enum { ANCESTORS = 16 };

static void add_ids(struct details *h, const struct thread_row *t)
{
	GString *s = g_string_new(NULL);

	g_string_printf(s, "tid %" PRIu64 "  pid %" PRId64 "  ppid %" PRId64, t->tid, (int64_t)t->pid,
			(int64_t)t->ppid);
	if ((int64_t)t->prio >= 0)
		g_string_append_printf(s, "  prio %" PRId64, (int64_t)t->prio);
	if ((int64_t)t->vtid > 0 && t->vtid != t->tid)
		g_string_append_printf(s, "  vtid %" PRId64 "  vpid %" PRId64, (int64_t)t->vtid, (int64_t)t->vpid);
	if (t->pid_ns)
		g_string_append_printf(s, "  pid_ns %" PRIu64, t->pid_ns);
	if (t->cgroup_ns)
		g_string_append_printf(s, "  cgroup_ns %" PRIu64, t->cgroup_ns);
	details_line(h, "IDs", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_id(GString *s, int64_t id)
{
	if (id < 0)
		g_string_append_c(s, '?');
	else
		g_string_append_printf(s, "%" PRId64, id);
}

/* Its containers, and its IDs in each of them. */
static void add_levels(struct details *h, const struct thread_row *t)
{
	const struct view_host host = data_view_host(h->host, h->iv);
	GArray *levels = view_thread_levels(&host, t);
	GString *in = g_string_new(NULL), *ids = g_string_new(NULL);

	for (guint i = levels->len; i-- > 1;) {
		const struct view_level *level = &g_array_index(levels, struct view_level, i);

		g_string_append_printf(in, "%s%s", in->len ? " in " : "", level->name ? level->name : "?");
	}
	for (guint i = 0; i < levels->len; i++) {
		const struct view_level *level = &g_array_index(levels, struct view_level, i);

		if (level->tid < 0)
			continue;
		g_string_append_printf(ids, "%s%s ", ids->len ? ", " : "", level->name ? level->name : "?");
		append_id(ids, level->tid);
		g_string_append_c(ids, '/');
		append_id(ids, level->pid);
	}
	if (levels->len > 1) {
		details_line(h, "container", "%s", in->str);
		details_line(h, "tid/pid", "%s", ids->str);
	}
	g_string_free(in, TRUE);
	g_string_free(ids, TRUE);
	g_array_unref(levels);
}

/*
 * The main thread of a process, whose pid is one in the PID namespace of t's; if it was used again, of the one that
 * exists at the end of the interval.
 */
static const struct thread_row *find_process(const struct interval *iv, const struct thread_row *t, int64_t pid)
{
	const struct interval_table *table = &iv->tables[TABLE_THREAD];
	const struct thread_row *ended = NULL;

	for (uint32_t i = table->n_rows; i-- > 0;) {
		const struct thread_row *row = INTERVAL_ROW(thread, &table->rows[i]);

		if ((int64_t)row->tid != pid || (int64_t)row->pid != pid || view_pids_of(row) != view_pids_of(t))
			continue;
		if (row->state != THREAD_DEAD)
			return row;
		if (!ended)
			ended = row;
	}
	return ended;
}

static void add_parents(struct details *h, const struct thread_row *t)
{
	GString *s = g_string_new(NULL);
	int64_t pid = (int64_t)t->ppid;

	for (int i = 0; i < ANCESTORS && pid > 0; i++) {
		const struct thread_row *parent = find_process(h->iv, t, pid);

		g_string_append_printf(s, "%s%s %" PRId64, s->len ? " ← " : "",
				       parent ? strpool_text((strid)parent->comm) : "?", (int64_t)pid);
		pid = parent ? (int64_t)parent->ppid : 0;
	}
	if (s->len)
		details_line(h, "parents", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_owner(GString *s, const char *what, int64_t id, const char *name)
{
	if (id < 0)
		return;
	g_string_append_printf(s, name ? "%s%s (%s %" PRId64 ")" : "%s%s%s %" PRId64, s->len ? ", group " : "",
			       name ? name : "", what, id);
}

/* "eva (uid 1000), group dev (gid 100)" */
static void add_owner(struct details *h, int64_t uid, int64_t gid)
{
	const struct sidecar *sidecar = h->host->info.sidecar;
	GString *s = g_string_new(NULL);

	append_owner(s, "uid", uid, sidecar ? sidecar_user(sidecar, uid) : NULL);
	append_owner(s, "gid", gid, sidecar ? sidecar_group(sidecar, gid) : NULL);
	if (s->len)
		details_line(h, "user", "%s", s->str);
	g_string_free(s, TRUE);
}

/* What the trace and the side-car know about the process. */
static void add_program(struct details *h, const struct thread_row *t)
{
	const struct view_host host = data_view_host(h->host, h->iv);
	const struct thread_row *main_thread = find_process(h->iv, t, (int64_t)t->pid);
	const struct sidecar_process *p = view_process_of(&host, t, main_thread);
	const char *exe = view_exe_of(&host, t, main_thread);

	if (p && p->cmdline)
		details_line(h, "command", "%s", p->cmdline);
	if (exe)
		details_line(h, "exe", "%s", exe);
	add_owner(h, view_user_of(&host, t, main_thread), p ? p->gid : -1);
	if (p && p->cgroup)
		details_line(h, "cgroup", "%s", p->cgroup);
}

static void add_life(struct details *h, const struct thread_row *t)
{
	char born[TIMETEXT_SIZE] = "before the trace", exited[TIMETEXT_SIZE];

	if (t->born_ns)
		details_time(h, born, sizeof(born), t->born_ns, 9);
	if (t->exited_ns)
		details_line(h, "lifetime", "born %s, exited %s", born,
			     details_time(h, exited, sizeof(exited), t->exited_ns, 9));
	else
		details_line(h, "lifetime", "born %s", born);
}

void details_who(struct details *h, const struct thread_row *t)
{
	add_ids(h, t);
	if (t->container)
		add_levels(h, t);
	add_parents(h, t);
	add_program(h, t);
	if (view_is_tracing(t, find_process(h->iv, t, (int64_t)t->pid)))
		details_line(h, "tracing", "belongs to LTTng or lttngtop, runs because this machine is traced");
	add_life(h, t);
}
