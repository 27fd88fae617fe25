/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "event/tracepoints.h"
#include "reader/emit.h"
#include "reader/common.h"

/* Writes the records that describe a source, before its first event. */

/* ---- classes ---- */

static void announce_class(struct reader *r, const struct reader_class *plan)
{
	struct event *ev = reader_emit(r, EVENT_CLASS, 0, TEXT_MAX);
	struct ev_class *payload = (struct ev_class *)(void *)ev->words;

	ev->class_id = plan->id;
	payload->kind = plan->kind;
	emit_text(ev, offsetof(struct ev_class, name), plan->name, strlen(plan->name));
	emit_end(r->ring, ev);
}

static void announce_perf(struct reader *r)
{
	for (; r->perf_sent < r->perf.n; r->perf_sent++) {
		const char *name = r->perf.names[r->perf_sent];
		struct event *ev = reader_emit(r, EVENT_PERF_NAMES, 0, TEXT_MAX);
		struct ev_perf_names *payload = (struct ev_perf_names *)(void *)ev->words;

		payload->index = r->perf_sent;
		payload->per_thread = g_str_has_prefix(name, "perf_thread_");
		r->perf_of_threads |= payload->per_thread;
		emit_text(ev, offsetof(struct ev_perf_names, name), name, strlen(name));
		emit_end(r->ring, ev);
	}
}

static uint16_t new_class_id(struct reader *r)
{
	return r->n_classes < EVENT_CLASSES_MAX ? (uint16_t)r->n_classes++ : EVENT_NO_CLASS;
}

/* user: struct reader_class **, the class declared last. */
static void declare_class(struct reader *r, const void *key, const struct class_desc *desc, void *user)
{
	const struct reader_class **last = user;
	struct reader_class *plan = reader_find_class(r, key);
	bool is_same = false;
	uint16_t id;

	if (!plan && r->never_waits && !ring_has_room(r->ring)) {
		r->lacks_classes = true;
		return;
	}
	if (!plan) {
		is_same = r->ops->same_class && r->ops->same_class(r, key, &id);
		plan = class_plan_create(desc, is_same ? id : new_class_id(r), r->kernel, &r->perf, *last);
		*last = plan;
		g_hash_table_insert(r->class_index, (gpointer)key, plan);
		if (!is_same && plan->id != EVENT_NO_CLASS)
			announce_class(r, plan);
		announce_perf(r);
		if (r->ops->class_added)
			r->ops->class_added(r, key, plan);
	}
}

void reader_declare_classes(struct reader *r)
{
	const struct reader_class *last = NULL;

	r->lacks_classes = false;
	r->ops->visit_classes(r, declare_class, &last);
}

bool reader_has_switch(struct reader_stream *s)
{
	GHashTableIter iter;
	gpointer plan;

	if (s->asked_group == s->group)
		return s->has_switch;
	s->asked_group = s->group;
	s->has_switch = false;
	g_hash_table_iter_init(&iter, s->reader->class_index);
	while (!s->has_switch && g_hash_table_iter_next(&iter, NULL, &plan)) {
		const struct reader_class *class = plan;

		s->has_switch = class->kind == EVENT_SCHED_SWITCH && class->desc.group == s->group;
	}
	return s->has_switch;
}

void reader_forget_classes(struct reader *r, GHashTable *keys)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, keys);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		g_hash_table_remove(r->class_index, key);
	/* Cached layouts are addresses that may be reused for other types. */
	for (unsigned i = 0; i <= EVENT_CPU_MAX; i++)
		if (r->cpus[i])
			r->cpus[i]->context.layout = NULL;
}

/* ---- the trace ---- */

static char *tracer_text(const struct trace_desc *desc)
{
	const char *name = desc->tracer ? desc->tracer : "";

	if (desc->tracer_major < 0)
		return g_strdup(name);
	return g_strdup_printf("%s %d.%d.%d", name, (int)desc->tracer_major, (int)MAX(desc->tracer_minor, 0),
			       (int)MAX(desc->tracer_patch, 0));
}

/* An old trace may lack its domain; then its events show whether it is a kernel trace. */
static void look_for_kernel(struct reader *r, const void *key, const struct class_desc *desc, void *user)
{
	const enum event_kind kind = desc->name ? tracepoint_find(desc->name, NULL) : EVENT_OTHER;

	(void)key;
	(void)user;
	r->kernel |= kind != EVENT_OTHER && kind != EVENT_MESSAGE;
}

static bool has_member_tid(const struct type *context)
{
	return context && (type_find_field(context, "tid", G_MAXUINT) || type_find_field(context, "_tid", G_MAXUINT));
}

/* Must be known before the classes are resolved, because EVENT_TRACE precedes the classes. */
static void look_for_tid(struct reader *r, const void *key, const struct class_desc *desc, void *user)
{
	(void)key;
	(void)user;
	r->has_tid |= has_member_tid(desc->common) || has_member_tid(desc->specific);
}

static void put_text(struct event *ev, size_t offset, const char *text)
{
	emit_text(ev, offset, text ? text : "", text ? strlen(text) : 0);
}

static void write_trace(struct reader *r, const struct trace_desc *desc)
{
	const bool is_ust = desc->domain && strcmp(desc->domain, "ust") == 0;
	struct event *ev = reader_emit(r, EVENT_TRACE, 0, 6 * TEXT_MAX);
	struct ev_trace *payload = (struct ev_trace *)(void *)ev->words;
	char *tracer = tracer_text(desc);

	payload->domain = r->kernel ? DOMAIN_KERNEL : is_ust ? DOMAIN_UST : DOMAIN_OTHER;
	payload->has_tid = r->has_tid;
	payload->vpid = desc->vpid;
	payload->end_hint_ns = r->end_hint_ns;
	payload->begin_ns = r->args.begin_ns;
	payload->clock_zero_ns = desc->clock_zero_ns;
	put_text(ev, offsetof(struct ev_trace, hostname), desc->hostname);
	put_text(ev, offsetof(struct ev_trace, clock), desc->clock);
	put_text(ev, offsetof(struct ev_trace, tracer), tracer);
	put_text(ev, offsetof(struct ev_trace, path), r->args.name);
	put_text(ev, offsetof(struct ev_trace, kernel), desc->kernel);
	put_text(ev, offsetof(struct ev_trace, procname), desc->procname);
	emit_end(r->ring, ev);
	g_free(tracer);
	r->shapes->total -= r->shapes->of_trace[r->trace];
	r->shapes->of_trace[r->trace] = 0;
}

bool reader_write_trace(struct reader *r)
{
	struct trace_desc desc = { .tracer_major = -1, .tracer_minor = -1, .tracer_patch = -1, .vpid = -1 };

	if (!r->ops->describe(r, &desc))
		return false;
	r->kernel = desc.domain && strcmp(desc.domain, "kernel") == 0;
	if (!desc.domain || !*desc.domain)
		r->ops->visit_classes(r, look_for_kernel, NULL);
	r->is_of_process = desc.vpid >= 0;
	r->ops->visit_classes(r, look_for_tid, NULL);
	write_trace(r, &desc);
	reader_declare_classes(r);
	return true;
}

/* ---- the streams ---- */

static bool stop_at_first_packet(struct reader_stream *s, const struct message *m, void *user)
{
	(void)user;
	if (m->kind == MESSAGE_PACKET_BEGIN && m->has_time)
		s->first_packet_ns = m->ns;
	if (m->kind == MESSAGE_PACKET_BEGIN)
		s->is_whole = m->is_first;
	return m->kind != MESSAGE_PACKET_BEGIN;
}

struct first_events {
	bool any;
	bool found;
	enum first_in_call in_call;
	struct ev_sched_switch sched;
};

/*
 * Whether the CPU was in a system call, from entries, exits and the state dump, which runs in a call of the session
 * daemon.
 */
static enum first_in_call call_before(enum event_kind kind)
{
	if (tracepoint_enters_call(kind))
		return FIRST_CALL_NO;
	return kind == EVENT_SYSCALL_EXIT || (kind >= EVENT_DUMP_START && kind <= EVENT_DUMP_CPU) ? FIRST_CALL_YES
												  : FIRST_CALL_UNKNOWN;
}

/*
 * Reads up to the stream's first sched_switch. If events were lost before it, its prev_tid says nothing of the start.
 */
static bool stop_at_first_switch(struct reader_stream *s, const struct message *m, void *user)
{
	struct first_events *first = user;
	uint32_t present = 0;

	if (m->kind == MESSAGE_PACKET_BEGIN || m->kind == MESSAGE_PACKET_END)
		return true;
	if (m->kind != MESSAGE_EVENT)
		return !first->any;
	first->any = true;
	if (!first->in_call)
		first->in_call = call_before(m->plan->kind);
	if (m->plan->kind != EVENT_SCHED_SWITCH)
		return reader_has_switch(s);
	first->found = m->plan->payload.n &&
		       s->type->read_payload(s, m->plan, &first->sched, &present, NULL) == READ_OK && present & 1;
	return false;
}

static void write_stream(struct reader *r, struct reader_stream *s)
{
	struct first_events first = { .any = false };
	struct ev_cpu_start *start;
	struct event *ev;

	/* without thread IDs in the events, nothing else shows what ran before the switch */
	stream_read_ahead(s, !r->has_tid, stop_at_first_switch, &first);
	ev = emit_begin(r->ring, EVENT_STREAM, 0, 0);
	ev->cpu = s->cpu;
	((struct ev_stream *)(void *)ev->words)->id = s->index;
	emit_end(r->ring, ev);
	if (!reader_has_switch(s) || s->cpu == EVENT_NO_CPU)
		return;
	/* of a stream that is not read from its start, the first packet says nothing */
	ev = emit_begin(r->ring, EVENT_CPU_START, s->first_packet_ns >= r->args.begin_ns ? s->first_packet_ns : 0, 0);
	ev->cpu = s->cpu;
	start = (struct ev_cpu_start *)(void *)ev->words;
	start->tid = first.found ? first.sched.prev_tid : EVENT_NO_TID;
	start->in_call = first.in_call;
	start->is_whole = s->is_whole;
	if (first.found) {
		start->prio = first.sched.prev_prio;
		memcpy(start->comm, first.sched.prev_comm, sizeof(start->comm));
	}
	emit_end(r->ring, ev);
}

static int compare_streams(const void *a, const void *b)
{
	const struct reader_stream *s = *(const struct reader_stream *const *)a,
				   *t = *(const struct reader_stream *const *)b;

	if (s->class_id != t->class_id)
		return s->class_id < t->class_id ? -1 : 1;
	if (s->cpu != t->cpu)
		return s->cpu < t->cpu ? -1 : 1;
	return strcmp(s->name, t->name);
}

/* Sorts by properties of the streams, independently of the order in which a directory or a library lists them. */
static void sort_streams(struct reader *r)
{
	qsort(r->streams, r->n_streams, sizeof(struct reader_stream *), compare_streams);
	for (unsigned i = 0; i < r->n_streams; i++)
		r->streams[i]->index = i;
}

void reader_write_prologue(struct reader *r)
{
	for (unsigned i = 0; i < r->n_streams; i++)
		stream_read_ahead(r->streams[i], false, stop_at_first_packet, NULL);
	sort_streams(r);
	if (r->ops->set_end_hint)
		r->ops->set_end_hint(r);
	reader_write_trace(r);
	for (unsigned i = 0; i < r->n_streams; i++) {
		if (r->streams[i]->has_clock)
			stream_skip_to(r->streams[i], r->args.begin_ns);
		write_stream(r, r->streams[i]);
	}
	emit_end(r->ring, emit_begin(r->ring, EVENT_READY, 0, 0));
	ring_publish(r->ring);
}
