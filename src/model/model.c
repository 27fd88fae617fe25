/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of a host: what its traces declare, and how an event passes through it: the event is counted by its class,
 * its CPU is settled, its perf counters are credited, then its tracepoint's handler runs.
 */
#include "model/model.h"

#include <string.h>

#include "model/connections.h"
#include "model/context.h"
#include "model/fifos.h"
#include "model/parts_internal.h"
#include "model/received.h"
#include "model/memory.h"
#include "model/mounts.h"

/* For COUNTED tracepoints, if there are any: counts the event for the running thread. */
G_GNUC_UNUSED static inline void count_event_of_thread(struct model *m, const struct apply *a, unsigned cell)
{
	if (a->thread == NO_ROW)
		return;
	state_cells(&m->state.tables[TABLE_THREAD], a->thread)[cell]++;
	state_touch(&m->state, TABLE_THREAD, a->thread);
}

#define TRACEPOINT(kind, payload, need, names)
#define HANDLED(kind, payload, handler, need, names)
#define COUNTED(kind, payload, member, need, names)                      \
	static void apply_##kind(struct model *m, const struct apply *a) \
	{                                                                \
		count_event_of_thread(m, a, CELL(thread, member));       \
	}
#include "event/tracepoints.def"

static handler_fn *const handlers[EVENT_KINDS] = {
#define TRACEPOINT(kind, payload, need, names)
#define HANDLED(kind, payload, handler, need, names) [EVENT_##kind] = apply_##handler,
#define COUNTED(kind, payload, member, need, names) [EVENT_##kind] = apply_##kind,
#include "event/tracepoints.def"
};

static void trace_info_free(void *data)
{
	struct trace_info *trace = data;

	if (!trace)
		return;
	g_array_free(trace->classes, TRUE);
	g_free(trace);
}

static void traces_free(void *data)
{
	g_ptr_array_free(data, TRUE);
}

struct model *model_create(void)
{
	struct model *m = g_new0(struct model, 1);

	m->other_thread = m->other_file = m->other_preemption = m->other_connection = m->idle_pages = NO_ROW;
	m->other_netif = m->other_irq = NO_ROW;
	for (unsigned i = 0; i < WAIT_STATES; i++)
		m->other_waits[i] = NO_ROW;
	for (unsigned i = 0; i < RELATION_KINDS; i++)
		m->other_relations[i] = NO_ROW;
	state_init(&m->state);
	m->host_row = state_add(&m->state, TABLE_HOST);
	m->host = STATE_ROW(&m->state, HOST, host, m->host_row);
	m->sources = g_ptr_array_new_with_free_func(traces_free);
	m->cpus = g_array_new(FALSE, TRUE, sizeof(struct cpu));
	m->threads = g_ptr_array_new_with_free_func(g_free);
	m->sure = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	syscalls_create(m);
	mounts_create(m);
	fifos_create(m);
	block_create(m);
	net_create(m);
	perf_create(m);
	users_create(m);
	buckets_create(m);
	m->bucket_tables = STATE_ALL_TABLES;
	model_set_figures(m, MODEL_ALL_FIGURES);
	return m;
}

void model_destroy(struct model *m)
{
	if (!m)
		return;
	model_set_memory(m, NULL);
	model_set_wait_log(m, NULL);
	model_set_figures(m, 0);
	fifos_destroy(m);
	mounts_destroy(m);
	block_destroy(m);
	perf_destroy(m);
	users_destroy(m);
	works_destroy(m);
	buckets_destroy(m);
	map64_release(&m->events);
	map64_release(&m->tids);
	syscalls_destroy(m);
	net_destroy(m);
	map64_release(&m->irqs);
	map64_release(&m->irq_names);
	map64_release(&m->containers);
	map64_release(&m->vtids);
	map64_release(&m->outside);
	g_ptr_array_free(m->sources, TRUE);
	g_ptr_array_free(m->threads, TRUE);
	g_array_free(m->sure, TRUE);
	g_clear_pointer(&m->losses, g_array_unref);
	for (guint i = 0; i < m->cpus->len; i++)
		received_free(&g_array_index(m->cpus, struct cpu, i));
	g_array_free(m->cpus, TRUE);
	state_release(&m->state);
	g_free(m);
}

struct host_state *model_state(struct model *m)
{
	return &m->state;
}

void model_begin(struct model *m, uint64_t t_ns)
{
	m->begin_ns = t_ns;
	m->now_ns = t_ns;
	cpus_begin(m, t_ns);
}

/* Creates or destroys a part of the model that exists only if a figure that needs it is wanted. */
static void set_part(struct model *m, bool wanted, bool is_there, void (*create)(struct model *),
		     void (*destroy)(struct model *))
{
	if (wanted && !is_there)
		create(m);
	if (!wanted && is_there)
		destroy(m);
}

void model_set_figures(struct model *m, uint32_t figures)
{
	enum {
		CALLS = 1 << TABLE_SYSCALL | 1 << TABLE_SYSERR,
		BLOCKING = 1 << TABLE_BLOCKING,
		PREEMPTION = 1 << TABLE_PREEMPTION,
		/* a connection shows which end is the service, and the address of a socket that has been accepted */
		CONNECTIONS = 1 << TABLE_CONNECTION | 1 << TABLE_RELATION | MODEL_PEERS,
		PRESSURE = 1 << TABLE_PRESSURE,
		/* the kind and the peer of a socket may be known only from packets; the peer is the object of a wait */
		RELATIONS = 1 << TABLE_RELATION | 1 << TABLE_FILE | BLOCKING | CONNECTIONS | MODEL_FDS | MODEL_PEERS,
	};

	m->lists_files = figures & 1 << TABLE_FILE;
	m->counts_calls = figures & CALLS;
	set_part(m, figures & RELATIONS, m->files, files_create, files_destroy);
	set_part(m, figures & BLOCKING, m->blocking, blocking_create, blocking_destroy);
	set_part(m, figures & RELATIONS, m->relations, relations_create, relations_destroy);
	/* waits for a CPU are explained by it */
	set_part(m, figures & PREEMPTION || m->wait_log, m->preemption, preemption_create, preemption_destroy);
	set_part(m, figures & CONNECTIONS, m->connections, connections_create, connections_destroy);
	set_part(m, figures & PRESSURE, m->pressures, pressure_create, pressure_destroy);
}

void model_set_buckets(struct model *m, uint32_t tables)
{
	m->bucket_tables = tables;
}

void model_late(struct model *m, uint64_t n, bool missed)
{
	HOST_ROW(m)->late_events += n;
	touch_host(m);
	if (missed)
		lost_of_dump(m, 0);
}

void model_set_status(struct model *m, enum host_status status, const char *reason)
{
	HOST_ROW(m)->status = status;
	HOST_ROW(m)->reason = reason ? strpool_intern_z(reason) : STRID_NONE;
	touch_host(m);
}

bool model_declares(const struct model *m, enum event_kind kind)
{
	return m->declared[kind] || (kind == EVENT_SCHED_WAKING && m->declared[EVENT_SCHED_WAKEUP]);
}

bool model_lacks_dump(const struct model *m)
{
	return m->declared[EVENT_DUMP_PROCESS] && !m->dump.named_ns && !m->dump_end_ns;
}

void model_set_declares(struct model *m, enum event_kind kind)
{
	m->declared[kind]++;
}

unsigned model_missing(const struct model *m, const char **names, unsigned max)
{
	unsigned n = 0;

	for (int kind = EVENT_PROBE + 1; kind < EVENT_KINDS; kind++) {
		if (!tracepoint_desc(kind)->need || model_declares(m, (enum event_kind)kind))
			continue;
		if (n < max)
			names[n] = tracepoint_desc(kind)->names;
		n++;
	}
	return n;
}

/* ---- what the traces declare ---- */

static GArray *new_classes(void)
{
	return g_array_new(FALSE, TRUE, sizeof(struct class_info));
}

static LT_COLD struct trace_info *make_trace(struct model *m, unsigned source, unsigned number)
{
	GPtrArray *traces;
	struct trace_info *trace;

	while (source >= m->sources->len)
		g_ptr_array_add(m->sources, g_ptr_array_new_with_free_func(trace_info_free));
	traces = g_ptr_array_index(m->sources, source);
	if (number >= traces->len)
		g_ptr_array_set_size(traces, (gint)number + 1);
	trace = g_new0(struct trace_info, 1);
	trace->classes = new_classes();
	g_ptr_array_index(traces, number) = trace;
	return trace;
}

static struct trace_info *trace_of(struct model *m, unsigned source, unsigned number)
{
	const GPtrArray *traces = source < m->sources->len ? g_ptr_array_index(m->sources, source) : NULL;
	struct trace_info *trace = traces && number < traces->len ? g_ptr_array_index(traces, number) : NULL;

	return trace ? trace : make_trace(m, source, number);
}

void model_end_source(struct model *m, unsigned source)
{
	const GPtrArray *traces = source < m->sources->len ? g_ptr_array_index(m->sources, source) : NULL;

	for (guint i = 0; traces && i < traces->len; i++) {
		struct trace_info *trace = g_ptr_array_index(traces, i);

		if (!trace)
			continue;
		/* the names of perf counters stay, because they are columns */
		g_array_free(trace->classes, TRUE);
		trace->classes = new_classes();
	}
}

static void declare_trace(struct model *m, unsigned source, struct trace_info *trace, const struct event *ev)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);

	/* in a session that is attached again, or whose traces end, numbers are reused for other traces */
	user_forget_trace(m, source, ev->trace);
	g_array_set_size(trace->classes, 0);
	if (trace->n_perf)
		perf_forget(m);
	trace->n_perf = 0;
	trace->has_waking = false;
	trace->ttwu = STRID_NONE;
	trace->announced = true;
	trace->domain = (enum trace_domain)p->domain;
	trace->has_tid = p->has_tid;
	m->has_kernel |= trace->domain == DOMAIN_KERNEL;
}

static void declare_perf(struct trace_info *trace, const struct event *ev)
{
	const struct ev_perf_names *p = event_payload(ev, ev_perf_names);

	if (p->index >= EVENT_PERF_MAX)
		return;
	trace->perf_names[p->index] = strpool_intern(event_text(ev, p->name), p->name.len);
	trace->perf_per_thread[p->index] = p->per_thread;
	trace->n_perf = MAX(trace->n_perf, (unsigned)p->index + 1);
}

/* For a system call: its name without the prefix, and what it does. */
static void declare_call(struct model *m, struct class_info *class, const char *name)
{
	const char *call = NULL;

	class->compat = g_str_has_prefix(name, "compat_");
	if (tracepoint_find(name, &call) != class->kind || !call || !*call || strcmp(call, "unknown") == 0)
		return;
	class->call = strpool_intern_z(call);
	class->desc = syscall_find(call);
	/*
	 * Calls that the tracer has no name for are only recorded along with all others, and this is the one that its
	 * tables have for x86-64 under this name, and for no other machine whose numbers are below 424.
	 */
	m->is_x86_64 |= !class->compat && strcmp(call, "fadvise64") == 0;
}

static void declare_class(struct model *m, struct trace_info *trace, const struct event *ev)
{
	const struct ev_class *p = event_payload(ev, ev_class);
	struct class_info *class;

	if (ev->class_id == EVENT_NO_CLASS || p->kind < EVENT_OTHER || p->kind >= EVENT_KINDS)
		return;
	while (ev->class_id >= trace->classes->len) {
		struct class_info none = { .kind = EVENT_OTHER };

		g_array_append_val(trace->classes, none);
	}
	class = &g_array_index(trace->classes, struct class_info, ev->class_id);
	class->kind = (enum event_kind)p->kind;
	class->name = strpool_intern(event_text(ev, p->name), p->name.len);
	if (p->kind == EVENT_SCHED_WAKING)
		trace->has_waking = true;
	if (p->kind == EVENT_SCHED_WAKEUP && strcmp(strpool_text(class->name), "sched_ttwu") == 0)
		trace->ttwu = class->name;
	if (tracepoint_enters_call(p->kind) || p->kind == EVENT_SYSCALL_EXIT)
		declare_call(m, class, strpool_text(class->name));
	m->declared[p->kind]++;
}

/* ---- applying events ---- */

/* The first event of the class. is_used: a figure uses its events, whatever their kind. */
static LT_COLD void begin_class(struct model *m, struct class_info *class, bool is_used)
{
	struct event_row *r;

	class->event_row = map64_get(&m->events, class->name);
	if (class->event_row == MAP64_NONE) {
		class->event_row = state_add(&m->state, TABLE_EVENT);
		map64_put(&m->events, class->name, class->event_row);
		r = STATE_ROW(&m->state, EVENT, event, class->event_row);
		r->name = class->name;
		r->probe = tracepoint_is_probe(class->kind);
		r->used = is_used || handlers[class->kind] || context_uses(class->kind) || r->probe;
	}
	class->counts = STATE_ROW(&m->state, EVENT, event, class->event_row);
}

static void count_event(struct model *m, const struct event *ev, const struct trace_info *trace,
			struct class_info *class)
{
	struct host_row *host = HOST_ROW(m);

	if (host->events++ == 0)
		host->first_ns = ev->ts_ns;
	host->last_ns = ev->ts_ns;
	if (host->record == HOST_UNRECORDED)
		lost_record_resumes(m);
	touch_host(m);
	if (!class)
		return;
	if (!class->counts)
		begin_class(m, class, trace->domain != DOMAIN_KERNEL && ev->tid > 0);
	class->counts->count++;
	state_touch(&m->state, TABLE_EVENT, class->event_row);
}

/* The thread that the event shows running on its CPU; TID_UNKNOWN if it does not show one. */
static int64_t shown_tid(const struct model *m, const struct cpu *cpu, const struct event *ev,
			 const struct trace_info *trace)
{
	if (ev->kind != EVENT_SCHED_SWITCH)
		return trace->has_tid ? ev->tid : TID_UNKNOWN;
	if (sched_is_of_another(m, cpu, event_payload(ev, ev_sched_switch)))
		return TID_UNKNOWN;
	return event_payload(ev, ev_sched_switch)->prev_tid;
}

static void apply_event(struct model *m, unsigned source, struct trace_info *trace, const struct event *ev)
{
	struct class_info *class = ev->class_id < trace->classes->len
					   ? &g_array_index(trace->classes, struct class_info, ev->class_id)
					   : NULL;
	struct apply a = { .ev = ev, .trace = trace, .class = class, .thread = NO_ROW };
	bool logs;

	m->now_ns = MAX(m->now_ns, ev->ts_ns); /* a worker that lies must not turn time back */
	count_event(m, ev, trace, class);
	if (trace->domain != DOMAIN_KERNEL) {
		user_event(m, source, ev);
		return;
	}
	if (ev->cpu != EVENT_NO_CPU) {
		a.cpu = cpu_of_number(m, ev->cpu);
		cpu_settle(m, a.cpu, shown_tid(m, a.cpu, ev, trace));
		a.thread = a.cpu->thread;
	}
	if (ev->n_perf)
		perf_apply(m, &a);
	logs = m->wait_log && waitlog_uses(ev->kind);
	if (logs)
		waitlog_before(m, &a);
	if (handlers[ev->kind])
		handlers[ev->kind](m, &a);
	if (context_uses(ev->kind))
		context_apply(&a);
	if (logs)
		waitlog_behind(m, &a);
}

static void apply_about_cpu(struct model *m, const struct trace_info *trace, const struct event *ev, handler_fn *fn)
{
	struct apply a = { .ev = ev, .trace = trace, .thread = NO_ROW };

	m->now_ns = MAX(m->now_ns, ev->ts_ns);
	if (ev->cpu != EVENT_NO_CPU) {
		a.cpu = cpu_of_number(m, ev->cpu);
		a.thread = a.cpu->thread;
	}
	fn(m, &a);
}

/* Any record that is not an event. */
static LT_COLD void apply_word(struct model *m, unsigned source, struct trace_info *trace, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_TRACE:
		declare_trace(m, source, trace, ev);
		break;
	case EVENT_CLASS:
		declare_class(m, trace, ev);
		break;
	case EVENT_PERF_NAMES:
		declare_perf(trace, ev);
		break;
	case EVENT_CPU_START:
		if (ev->cpu != EVENT_NO_CPU)
			apply_about_cpu(m, trace, ev, apply_cpu_start);
		break;
	case EVENT_STREAM:
		if (ev->cpu != EVENT_NO_CPU && trace->domain == DOMAIN_KERNEL && event_payload(ev, ev_stream)->begin_ns)
			apply_about_cpu(m, trace, ev, apply_stream);
		break;
	case EVENT_LOST:
		apply_about_cpu(m, trace, ev, apply_lost);
		break;
	case EVENT_GAP:
		if (ev->cpu != EVENT_NO_CPU && trace->domain == DOMAIN_KERNEL)
			apply_about_cpu(m, trace, ev, apply_gap);
		break;
	case EVENT_BACKWARD:
		apply_about_cpu(m, trace, ev, apply_backward);
		break;
	case EVENT_CONTEXT:
		user_context(m, source, ev);
		break;
	default:
		break; /* about the source: does not concern the model */
	}
}

void model_apply(struct model *m, unsigned source, const struct event *ev)
{
	struct trace_info *trace = trace_of(m, source, ev->trace);

	memory_check(m);
	if (ev->kind >= EVENT_OTHER)
		apply_event(m, source, trace, ev);
	else if (ev->kind == EVENT_CONTEXT && trace->domain == DOMAIN_KERNEL)
		apply_about_cpu(m, trace, ev, apply_context);
	else
		apply_word(m, source, trace, ev);
}
