/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host's side-car knows about its threads and the host, and which threads do the tracing. */
#include <stddef.h>

#include "base/strpool.h"
#include "sidecar/sidecar.h"
#include "view/internal.h"

const struct sidecar_process *view_process_of(const struct sidecar *sidecar, uint64_t record_ns,
					      const struct thread_row *t, const struct thread_row *main_thread)
{
	if (!sidecar || (int64_t)t->pid <= 0 || t->flags & THREAD_KERNEL)
		return NULL;
	if (t->tid == t->pid)
		main_thread = t;
	/* a thread is no older than its process: one that seems to be belongs to an earlier process with that pid */
	if (!main_thread || main_thread->tid != t->pid || t->born_ns < main_thread->born_ns)
		return NULL;
	return sidecar_process(sidecar, (int64_t)t->pid, main_thread->born_ns, record_ns);
}

/* The main thread of a thread's process, if known. */
static const struct thread_row *main_thread_of(const struct view_rows *r, uint32_t host, const struct interval *iv,
					       const struct thread_row *t)
{
	const struct interval_row *row = view_main_thread(&r->internal->indexes[host], iv, t->pid);

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

static const struct sidecar_process *process_at(const struct view_cell *at)
{
	const struct interval_row *thread = view_row_thread(at->rows, at->row);
	const struct thread_row *t = thread ? INTERVAL_ROW(thread, thread) : NULL;

	if (!t || !at->host->sidecar)
		return NULL;
	return view_process_of(at->host->sidecar, at->host->record_ns, t,
			       main_thread_of(at->rows, at->row->key.host, at->host->iv, t));
}

void view_get_process_uid(const struct view_cell *at, struct value *v)
{
	const struct sidecar_process *p = process_at(at);

	v->kind = p && p->uid >= 0 ? VALUE_INT : VALUE_NULL;
	v->i = p ? p->uid : 0;
}

void view_get_process_user(const struct view_cell *at, struct value *v)
{
	const struct sidecar_process *p = process_at(at);

	value_set_text(v, p && p->uid >= 0 ? sidecar_user(at->host->sidecar, p->uid) : NULL);
}

void view_get_process_exe(const struct view_cell *at, struct value *v)
{
	const struct sidecar_process *p = process_at(at);

	value_set_text(v, p ? p->exe : NULL);
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
