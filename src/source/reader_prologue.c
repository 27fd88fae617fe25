/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <string.h>

#include "config.h"
#include "source/emit.h"

/* What a source says of itself before its first event. */

static const char *env_text(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static int64_t env_integer(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_signed_integer(value) ? bt_value_integer_signed_get(value) : -1;
}

static char *tracer_text(const bt_trace *trace)
{
	const int64_t major = env_integer(trace, "tracer_major");

	if (major < 0)
		return g_strdup(env_text(trace, "tracer_name"));
	return g_strdup_printf("%s %d.%d.%d", env_text(trace, "tracer_name"), (int)major,
			       (int)MAX(env_integer(trace, "tracer_minor"), 0),
			       (int)MAX(env_integer(trace, "tracer_patchlevel"), 0));
}

static const bt_clock_class *find_clock(const struct reader *r)
{
	const bt_clock_class *clock = NULL;

	for (unsigned i = 0; i < r->n_ports && !clock; i++)
		if (r->ports[i].stream_class)
			clock = bt_stream_class_borrow_default_clock_class_const(r->ports[i].stream_class);
	return clock;
}

static void clock_text(const struct reader *r, const bt_clock_class *clock, char *text, size_t size)
{
	bt_uuid uuid = clock && r->mip_version == 0 ? bt_clock_class_get_uuid(clock) : NULL;

	*text = '\0';
#ifdef HAVE_MIP_1
	if (clock && r->mip_version > 0 && bt_clock_class_get_uid(clock))
		g_strlcpy(text, bt_clock_class_get_uid(clock), size);
#endif
	for (unsigned i = 0; uuid && i < 16; i++)
		g_snprintf(text + strlen(text), size - strlen(text), "%02x%s", uuid[i],
			   i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

/* An old trace may not name its domain: then its events tell. */
static bool declares_kernel_events(const bt_trace_class *tc)
{
	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc); i++) {
		const bt_stream_class *sc = bt_trace_class_borrow_stream_class_by_index_const(tc, i);

		for (uint64_t j = 0; j < bt_stream_class_get_event_class_count(sc); j++) {
			const bt_event_class *ec = bt_stream_class_borrow_event_class_by_index_const(sc, j);
			const char *name = bt_event_class_get_name(ec);

			if (name && tracepoint_find(name, NULL) != EVENT_OTHER)
				return true;
		}
	}
	return false;
}

static bool has_member_tid(const bt_field_class *context)
{
	return context && (bt_field_class_structure_borrow_member_by_name_const(context, "tid") ||
			   bt_field_class_structure_borrow_member_by_name_const(context, "_tid"));
}

/* Known before the classes are resolved, because the trace is told before its classes. */
static bool declares_tid(const bt_trace_class *tc)
{
	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc); i++) {
		const bt_stream_class *sc = bt_trace_class_borrow_stream_class_by_index_const(tc, i);

		if (has_member_tid(bt_stream_class_borrow_event_common_context_field_class_const(sc)))
			return true;
		for (uint64_t j = 0; j < bt_stream_class_get_event_class_count(sc); j++) {
			const bt_event_class *ec = bt_stream_class_borrow_event_class_by_index_const(sc, j);

			if (has_member_tid(bt_event_class_borrow_specific_context_field_class_const(ec)))
				return true;
		}
	}
	return false;
}

void reader_declare_classes(struct reader *r, const bt_trace *trace)
{
	const bt_trace_class *tc = bt_trace_borrow_class_const(trace);

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc); i++) {
		const bt_stream_class *sc = bt_trace_class_borrow_stream_class_by_index_const(tc, i);
		bool has_switch = false;

		for (uint64_t j = 0; j < bt_stream_class_get_event_class_count(sc); j++) {
			const bt_event_class *ec = bt_stream_class_borrow_event_class_by_index_const(sc, j);

			has_switch |= reader_class(r, ec)->kind == EVENT_SCHED_SWITCH;
		}
		for (unsigned k = 0; k < r->n_ports; k++)
			if (r->ports[k].stream_class == sc)
				r->ports[k].has_switch = has_switch;
	}
}

static void write_trace(struct reader *r, const bt_trace *trace, const bt_clock_class *clock_class)
{
	const char *domain = env_text(trace, "domain"), *hostname = env_text(trace, "hostname");
	const char *kernel = env_text(trace, "kernel_release");
	char *tracer = tracer_text(trace), clock[64];
	struct event *ev = reader_emit(r, EVENT_TRACE, 0, 5 * TEXT_MAX);
	struct ev_trace *payload = (struct ev_trace *)(void *)ev->words;

	clock_text(r, clock_class, clock, sizeof(clock));
	payload->domain = r->kernel ? DOMAIN_KERNEL : strcmp(domain, "ust") == 0 ? DOMAIN_UST : DOMAIN_OTHER;
	payload->has_tid = r->has_tid;
	payload->end_hint_ns = r->end_hint_ns;
	emit_text(ev, offsetof(struct ev_trace, hostname), hostname, strlen(hostname));
	emit_text(ev, offsetof(struct ev_trace, clock), clock, strlen(clock));
	emit_text(ev, offsetof(struct ev_trace, tracer), tracer, strlen(tracer));
	emit_text(ev, offsetof(struct ev_trace, path), r->args.name, strlen(r->args.name));
	emit_text(ev, offsetof(struct ev_trace, kernel), kernel, strlen(kernel));
	emit_end(r->ring, ev);
	g_free(tracer);
}

void reader_write_trace(struct reader *r, const bt_trace *trace, const bt_clock_class *clock)
{
	const bt_trace_class *tc = bt_trace_borrow_class_const(trace);
	const char *domain = env_text(trace, "domain");

	r->kernel = strcmp(domain, "kernel") == 0 || (!*domain && declares_kernel_events(tc));
	r->has_tid = declares_tid(tc);
	write_trace(r, trace, clock);
	reader_declare_classes(r, trace);
}

static bool stop_at_first_packet(struct port *p, const bt_message *msg, void *user)
{
	(void)p;
	(void)user;
	return bt_message_get_type(msg) != BT_MESSAGE_TYPE_PACKET_BEGINNING;
}

struct first_events {
	uint64_t first_ns;
	bool any;
	bool found;
	int64_t prev_tid, prev_prio;
	char prev_comm[16];
};

/* Up to the stream's first sched_switch; events lost on the way make its prev no witness. */
static bool stop_at_first_switch(struct port *p, const bt_message *msg, void *user)
{
	struct first_events *first = user;
	const struct class_plan *plan;
	struct ev_sched_switch words = { 0 };
	const bt_event *event;
	bt_message_type type = bt_message_get_type(msg);

	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS || type == BT_MESSAGE_TYPE_DISCARDED_PACKETS)
		return !first->any;
	if (type != BT_MESSAGE_TYPE_EVENT)
		return true;
	if (!first->any)
		first->first_ns = message_event_ns(p, msg, 0);
	first->any = true;
	event = bt_message_event_borrow_event_const(msg);
	plan = reader_class(p->reader, bt_event_borrow_class_const(event));
	if (plan->kind != EVENT_SCHED_SWITCH)
		return p->has_switch;
	if (plan->payload.n &&
	    plan_read(&plan->payload, bt_event_borrow_payload_field_const(event), &words, NULL) & 1) {
		first->found = true;
		first->prev_tid = words.prev_tid;
		first->prev_prio = words.prev_prio;
		memcpy(first->prev_comm, words.prev_comm, sizeof(words.prev_comm));
	}
	return false;
}

static void write_stream(struct reader *r, struct port *p)
{
	struct first_events first = { 0 };
	struct ev_cpu_start *start;
	struct event *ev;

	port_read_ahead(p, stop_at_first_switch, &first);
	ev = emit_begin(r->ring, EVENT_STREAM, 0, 0);
	ev->cpu = p->cpu;
	((struct ev_stream *)(void *)ev->words)->id = p->stream_id;
	emit_end(r->ring, ev);
	if (!first.found || p->cpu == EVENT_NO_CPU)
		return;
	ev = emit_begin(r->ring, EVENT_CPU_START, first.first_ns, 0);
	ev->cpu = p->cpu;
	start = (struct ev_cpu_start *)(void *)ev->words;
	start->tid = first.prev_tid;
	start->prio = first.prev_prio;
	memcpy(start->comm, first.prev_comm, sizeof(start->comm));
	emit_end(r->ring, ev);
}

void reader_write_prologue(struct reader *r)
{
	const bt_trace *trace = NULL;

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->ports[i];

		port_read_ahead(p, stop_at_first_packet, NULL);
		if (!trace && p->count > 0 &&
		    bt_message_get_type(p->queue[p->head]) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
			trace = bt_stream_borrow_trace_const(
				bt_message_stream_beginning_borrow_stream_const(p->queue[p->head]));
	}
	if (trace) {
		if (!r->end_hint_ns)
			reader_read_indexes(r, find_clock(r));
		reader_write_trace(r, trace, find_clock(r));
	}
	for (unsigned i = 0; i < r->n_ports; i++) {
		if (r->ports[i].has_clock)
			port_skip_to(&r->ports[i], r->args.range.begin_ns);
		write_stream(r, &r->ports[i]);
	}
	emit_end(r->ring, emit_begin(r->ring, EVENT_READY, 0, 0));
	ring_publish(r->ring);
}
