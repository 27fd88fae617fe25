/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host's side-car knows about its threads and the host; the user and the program of a thread, which the trace
 * may know, too; and which threads do the tracing.
 */
#include <inttypes.h>
#include <stddef.h>

#include "base/strpool.h"
#include "base/text.h"
#include "sidecar/sidecar.h"
#include "view/internal.h"

/* The main thread of t, if main_thread is it. */
static const struct thread_row *own_main(const struct thread_row *t, const struct thread_row *main_thread)
{
	if (t->tid == t->pid)
		return t;
	/* a thread is no older than its process: one that seems to be belongs to an earlier process with that pid */
	return main_thread && main_thread->tid == t->pid && t->born_ns >= main_thread->born_ns ? main_thread : NULL;
}

/* Whether the PIDs of the two are numbers of the same namespace, as far as is known. */
static bool has_pids_of(const struct thread_row *t, const struct sidecar_process *p)
{
	const uint64_t pid_ns = t->flags & THREAD_VIRTUAL ? t->pid_ns : HOST_PID_NS;

	return !pid_ns || pid_ns == (p->pid_ns ? p->pid_ns : HOST_PID_NS);
}

const struct sidecar_process *view_process_of(const struct view_host *host, const struct thread_row *t,
					      const struct thread_row *main_thread)
{
	const struct thread_row *main = own_main(t, main_thread);
	const struct sidecar_process *p;

	if (!host->sidecar || !main || (int64_t)t->pid <= 0 || t->flags & THREAD_KERNEL)
		return NULL;
	p = sidecar_process(host->sidecar, (int64_t)t->pid, main->born_ns, host->record_ns);
	return p && has_pids_of(t, p) ? p : NULL;
}

int64_t view_user_of(const struct view_host *host, const struct thread_row *t, const struct thread_row *main_thread)
{
	const struct thread_row *main = own_main(t, main_thread);
	const struct sidecar_process *p;

	if ((int64_t)t->user_id >= 0)
		return (int64_t)t->user_id;
	if (main && (int64_t)main->user_id >= 0)
		return (int64_t)main->user_id;
	p = view_process_of(host, t, main);
	return p ? p->uid : -1;
}

const char *view_exe_of(const struct view_host *host, const struct thread_row *t, const struct thread_row *main_thread)
{
	const struct thread_row *main = own_main(t, main_thread);
	const struct sidecar_process *p;

	if (t->exe)
		return strpool_text((strid)t->exe);
	if (main && main->exe)
		return strpool_text((strid)main->exe);
	p = view_process_of(host, t, main);
	return p ? p->exe : NULL;
}

/* The name of a user, or its number if the side-car does not have it; valid until the next strpool_round_end(). */
static const char *user_name(const struct view_host *host, int64_t user)
{
	const char *name = host->sidecar ? sidecar_user(host->sidecar, user) : NULL;
	char number[24];

	if (name)
		return name;
	return strpool_text(strpool_intern_path(number, (size_t)g_snprintf(number, sizeof(number), "%" PRId64, user)));
}

bool view_term_has_user(const struct view_node *term, const struct view_host *host, const struct thread_row *t,
			const struct thread_row *main_thread)
{
	const int64_t user = view_user_of(host, t, main_thread);

	if (user < 0)
		return false;
	return term->number_given ? user == term->number : text_glob(term->glob, user_name(host, user));
}

/* The main thread of a thread's process, if known. */
static const struct thread_row *main_thread_of(const struct view_rows *r, uint32_t host, const struct interval *iv,
					       const struct thread_row *t)
{
	const struct interval_row *row = view_main_of(&r->internal->indexes[host], iv, t);

	return row ? INTERVAL_ROW(thread, row) : NULL;
}

static bool has_tracer_name(const struct thread_row *t)
{
	return g_str_has_prefix(strpool_text((strid)t->comm), "lttng");
}

bool view_is_tracing(const struct thread_row *t, const struct thread_row *main_thread)
{
	/* the session daemon renames its threads */
	return has_tracer_name(t) || (main_thread && main_thread->tid == t->pid && has_tracer_name(main_thread));
}

/* of: the rows that this one belongs to, which may be the baseline. */
static bool is_tracing(const struct view_rows *of, const struct view_row *row)
{
	const struct interval_row *thread = view_row_thread(of, row);
	const struct thread_row *t = thread ? INTERVAL_ROW(thread, thread) : NULL;

	return t && view_is_tracing(t, main_thread_of(of, row->key.host, of->hosts[row->key.host].iv, t));
}

bool view_row_is_tracing(const struct view_rows *r, const struct view_row *row)
{
	return is_tracing(row->of_baseline ? r->baseline : r, row);
}

void view_get_tracing(const struct view_cell *at, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = is_tracing(at->rows, at->row);
}

/* The thread of a row, and its main thread or NULL. false: the row has none. */
static bool threads_at(const struct view_cell *at, const struct thread_row **t, const struct thread_row **main)
{
	const struct interval_row *thread = view_row_thread(at->rows, at->row);

	if (!thread)
		return false;
	*t = INTERVAL_ROW(thread, thread);
	*main = main_thread_of(at->rows, at->row->key.host, at->host->iv, *t);
	return true;
}

static const struct sidecar_process *process_at(const struct view_cell *at)
{
	const struct thread_row *t, *main;

	return at->host->sidecar && threads_at(at, &t, &main) ? view_process_of(at->host, t, main) : NULL;
}

static int64_t user_at(const struct view_cell *at)
{
	const struct thread_row *t, *main;

	return threads_at(at, &t, &main) ? view_user_of(at->host, t, main) : -1;
}

void view_get_process_uid(const struct view_cell *at, struct value *v)
{
	v->i = user_at(at);
	v->kind = v->i >= 0 ? VALUE_INT : VALUE_NULL;
}

void view_get_process_user(const struct view_cell *at, struct value *v)
{
	const int64_t user = user_at(at);

	value_set_text(v, user >= 0 ? user_name(at->host, user) : NULL);
}

void view_get_process_exe(const struct view_cell *at, struct value *v)
{
	const struct thread_row *t, *main;

	value_set_text(v, threads_at(at, &t, &main) ? view_exe_of(at->host, t, main) : NULL);
}

void view_get_process_cmdline(const struct view_cell *at, struct value *v)
{
	const struct sidecar_process *p = process_at(at);

	value_set_text(v, p ? p->cmdline : NULL);
}

void view_get_process_cgroup(const struct view_cell *at, struct value *v)
{
	const struct sidecar_process *p = process_at(at);

	value_set_text(v, p ? p->cgroup : NULL);
}

static struct sidecar_facts facts_of(const struct view_cell *at)
{
	return at->host->sidecar ? sidecar_facts(at->host->sidecar) : (struct sidecar_facts){ 0 };
}

void view_get_host_kernel(const struct view_cell *at, struct value *v)
{
	value_set_text(v, facts_of(at).kernel);
}

void view_get_host_boot_id(const struct view_cell *at, struct value *v)
{
	value_set_text(v, facts_of(at).boot_id);
}

void view_get_host_clock(const struct view_cell *at, struct value *v)
{
	value_set_text(v, facts_of(at).clock);
}
