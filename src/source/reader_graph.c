/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "source/emit.h"

enum { RECORDS_PER_STEP = 512 };

/* ---- the heap of streams ---- */

static bool comes_before(const struct port *a, const struct port *b)
{
	if (a->item_ns != b->item_ns)
		return a->item_ns < b->item_ns;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->index < b->index;
}

static void sift_down(struct reader *r, unsigned i)
{
	struct port *moving = r->heap[i];

	for (;;) {
		unsigned child = 2 * i + 1;

		if (child >= r->n_heap)
			break;
		if (child + 1 < r->n_heap && comes_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!comes_before(r->heap[child], moving))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moving;
}

static void fill_heap(struct reader *r)
{
	r->heap = g_new(struct port *, r->n_ports + 1);
	for (unsigned i = 0; i < r->n_ports; i++) {
		port_find_item(&r->ports[i]);
		if (r->ports[i].item != ITEM_END)
			r->heap[r->n_heap++] = &r->ports[i];
	}
	for (unsigned i = r->n_heap; i-- > 0;)
		sift_down(r, i);
}

/* ---- records about the source ---- */

static void write_loss(struct reader *r, const struct port *p)
{
	const struct losses *l = &p->losses[p->item_loss];
	struct event *ev = emit_begin(r->ring, EVENT_LOST, p->item_ns, 0);
	struct ev_lost *payload = (struct ev_lost *)(void *)ev->words;

	ev->cpu = p->cpu;
	if (p->item_loss == LOSS_EVENTS)
		payload->events = l->count;
	else
		payload->packets = l->count;
	payload->begin_ns = l->begin_ns;
	emit_end(r->ring, ev);
}

static void note_trouble(struct reader *r, const char *where, const char *why, uint64_t ns)
{
	char *text = g_strdup_printf("'%s': stream '%s': %s", r->args.name, where, why);

	emit_note(r->ring, EVENT_NOTE, ns, text);
	if (r->trouble)
		g_free(text);
	else
		r->trouble = text;
}

static void write_stream_end(struct reader *r, const struct port *p)
{
	struct event *ev;

	if (p->trouble)
		note_trouble(r, p->name, p->trouble, p->item_ns);
	ev = emit_begin(r->ring, EVENT_STREAM_END, p->item_ns, 0);
	ev->cpu = p->cpu;
	((struct ev_stream_end *)(void *)ev->words)->id = p->stream_id;
	emit_end(r->ring, ev);
}

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

static void clock_text(const struct reader *r, char *text, size_t size)
{
	const bt_clock_class *clock;
	bt_uuid uuid = NULL;

	*text = '\0';
	for (unsigned i = 0; i < r->n_ports && !uuid; i++) {
		if (!r->ports[i].stream_class)
			continue;
		clock = bt_stream_class_borrow_default_clock_class_const(r->ports[i].stream_class);
		uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;
	}
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

static void declare_classes(struct reader *r, const bt_trace_class *tc)
{
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

static void write_trace(struct reader *r, const bt_trace *trace)
{
	const char *domain = env_text(trace, "domain"), *hostname = env_text(trace, "hostname");
	const char *kernel = env_text(trace, "kernel_release");
	char *tracer = tracer_text(trace), clock[64];
	struct event *ev = emit_begin(r->ring, EVENT_TRACE, 0, 5 * TEXT_MAX);
	struct ev_trace *payload = (struct ev_trace *)(void *)ev->words;

	clock_text(r, clock, sizeof(clock));
	payload->domain = r->kernel ? DOMAIN_KERNEL : strcmp(domain, "ust") == 0 ? DOMAIN_UST : DOMAIN_OTHER;
	payload->has_tid = r->has_tid;
	payload->begin_hint_ns = r->begin_hint_ns;
	payload->end_hint_ns = r->end_hint_ns;
	emit_text(ev, offsetof(struct ev_trace, hostname), hostname, strlen(hostname));
	emit_text(ev, offsetof(struct ev_trace, clock), clock, strlen(clock));
	emit_text(ev, offsetof(struct ev_trace, tracer), tracer, strlen(tracer));
	emit_text(ev, offsetof(struct ev_trace, path), r->args.name, strlen(r->args.name));
	emit_text(ev, offsetof(struct ev_trace, kernel), kernel, strlen(kernel));
	emit_end(r->ring, ev);
	g_free(tracer);
}

/* ---- the prologue ---- */

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
	ev = emit_begin(r->ring, EVENT_STREAM, first.first_ns, 0);
	ev->cpu = p->cpu;
	((struct ev_stream *)(void *)ev->words)->id = p->stream_id;
	((struct ev_stream *)(void *)ev->words)->first_ns = first.first_ns;
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

static void write_prologue(struct reader *r)
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
		const bt_trace_class *tc = bt_trace_borrow_class_const(trace);
		const char *domain = env_text(trace, "domain");

		r->kernel = strcmp(domain, "kernel") == 0 || (!*domain && declares_kernel_events(tc));
		/* has_tid is known once the classes are resolved, and the trace comes before its classes. */
		r->has_tid = false;
		for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc) && !r->has_tid; i++) {
			const bt_field_class *fc = bt_stream_class_borrow_event_common_context_field_class_const(
				bt_trace_class_borrow_stream_class_by_index_const(tc, i));

			r->has_tid = fc && (bt_field_class_structure_borrow_member_by_name_const(fc, "tid") ||
					    bt_field_class_structure_borrow_member_by_name_const(fc, "_tid"));
		}
		write_trace(r, trace);
		declare_classes(r, tc);
	}
	for (unsigned i = 0; i < r->n_ports; i++)
		write_stream(r, &r->ports[i]);
	emit_end(r->ring, emit_begin(r->ring, EVENT_READY, 0, 0));
	ring_publish(r->ring);
}

/* ---- the sink component ---- */

static bt_component_class_initialize_method_status sink_init(bt_self_component_sink *self,
							      bt_self_component_sink_configuration *configuration,
							      const bt_value *params, void *data)
{
	struct reader *r = data;
	char name[16];

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), r);
	for (unsigned i = 0; i < r->n_ports; i++) {
		g_snprintf(name, sizeof(name), "%u", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *p = &r->ports[i];

		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i), &p->iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
			/* One file that cannot be opened does not take the others with it. */
			p->exhausted = true;
			p->trouble = reader_take_error();
		}
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void write_item(struct reader *r, struct port *p)
{
	switch (p->item) {
	case ITEM_EVENT:
		reader_write_event(r, p);
		break;
	case ITEM_LOST:
		write_loss(r, p);
		break;
	case ITEM_STREAM_END:
		write_stream_end(r, p);
		break;
	case ITEM_END:
		break;
	}
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (!r->heap) {
		write_prologue(r);
		fill_heap(r);
	}
	for (unsigned i = 0; i < RECORDS_PER_STEP && r->n_heap > 0; i++) {
		struct port *p = r->heap[0];

		write_item(r, p);
		port_drop_item(p);
		port_find_item(p);
		if (p->item == ITEM_END)
			r->heap[0] = r->heap[--r->n_heap];
		if (r->n_heap > 0)
			sift_down(r, 0);
	}
	/* A stream that broke off left its error on the thread; it was told. */
	bt_current_thread_clear_error();
	if (r->n_heap > 0)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	r->done = true;
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static const bt_component_class_sink *make_sink_class(void)
{
	bt_component_class_sink *class = bt_component_class_sink_create("records", sink_consume);

	if (!class)
		return NULL;
	bt_component_class_sink_set_initialize_method(class, sink_init);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
	return class;
}

/* ---- opening ---- */

static enum lt_status library_error(const char *what)
{
	char *reason = reader_take_error();

	error_set("%s: %s", what, reason);
	g_free(reason);
	return LT_ERROR;
}

static bt_value *make_params(const char *const *paths)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (!params || bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) !=
			       BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
		return params;
	for (; *paths; paths++)
		bt_value_array_append_string_element(inputs, *paths);
	return params;
}

/* When the packets begin and end: how long the record is, known before it is read. */
static void query_range(struct reader *r, const bt_component_class_source *class, const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class), "babeltrace.trace-infos", params);
	const bt_value *traces = NULL, *streams, *range, *value;

	if (executor && bt_query_executor_query(executor, &traces) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
	    bt_value_array_get_length(traces) > 0) {
		streams = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(traces, 0), "stream-infos");
		for (uint64_t i = 0; streams && i < bt_value_array_get_length(streams); i++) {
			int64_t begin, end;

			range = bt_value_map_borrow_entry_value_const(
				bt_value_array_borrow_element_by_index_const(streams, i), "range-ns");
			value = range ? bt_value_map_borrow_entry_value_const(range, "begin") : NULL;
			begin = value ? bt_value_integer_signed_get(value) : 0;
			value = range ? bt_value_map_borrow_entry_value_const(range, "end") : NULL;
			end = value ? bt_value_integer_signed_get(value) : 0;
			if (begin > 0 && (!r->begin_hint_ns || (uint64_t)begin < r->begin_hint_ns))
				r->begin_hint_ns = begin;
			if (end > 0 && (uint64_t)end > r->end_hint_ns)
				r->end_hint_ns = end;
		}
	}
	bt_value_put_ref(traces);
	bt_query_executor_put_ref(executor);
	bt_current_thread_clear_error();
}

/*
 * The CPU a stream belongs to, from the number its name ends with: all streams
 * of a CPU go to the same worker. A name without one stands for itself.
 */
static unsigned cpu_key(const char *name, unsigned index)
{
	size_t end = strlen(name), begin = end;

	while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
		begin--;
	return begin < end ? (unsigned)strtoul(name + begin, NULL, 10) : index;
}

static int compare_unsigned(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* Chooses this part's output ports of the source; fills ports and n_ports. */
static void choose_ports(struct reader *r, const bt_component_source *source, const bt_port_output **chosen)
{
	const uint64_t n = bt_component_source_get_output_port_count(source);
	unsigned *keys = g_new(unsigned, n + 1), *sorted = g_new(unsigned, n + 1), n_keys = 0;

	r->ports = g_new0(struct port, n + 1);
	for (uint64_t i = 0; i < n; i++)
		keys[i] = cpu_key(bt_port_get_name(bt_port_output_as_port_const(
					  bt_component_source_borrow_output_port_by_index_const(source, i))), i);
	memcpy(sorted, keys, n * sizeof(*keys));
	qsort(sorted, n, sizeof(*sorted), compare_unsigned);
	for (uint64_t i = 0; i < n; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			sorted[n_keys++] = sorted[i];
	for (uint64_t i = 0; i < n; i++) {
		const unsigned *key = bsearch(&keys[i], sorted, n_keys, sizeof(*sorted), compare_unsigned);
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(source, i);

		if ((unsigned)(key - sorted) % r->args.parts != r->args.part)
			continue;
		chosen[r->n_ports] = port;
		r->ports[r->n_ports] = (struct port){
			.reader = r,
			.index = i,
			.stream_id = i,
			.cpu = EVENT_NO_CPU,
			.last_tid = EVENT_NO_TID,
			.name = g_strdup(bt_port_get_name(bt_port_output_as_port_const(port))),
		};
		r->n_ports++;
	}
	g_free(keys);
	g_free(sorted);
}

static enum lt_status connect_ports(struct reader *r, const bt_component_source *source)
{
	const uint64_t n = bt_component_source_get_output_port_count(source);
	const bt_port_output **chosen = g_new(const bt_port_output *, n + 1);
	const bt_component_sink *sink;
	enum lt_status status = LT_OK;

	choose_ports(r, source, chosen);
	if (r->n_ports == 0) {
		r->done = true;
	} else if (bt_graph_add_sink_component_with_initialize_method_data(
			   r->graph, r->sink_class, "records", NULL, r, BT_LOGGING_LEVEL_NONE, &sink) !=
		   BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
		status = library_error("cannot build the graph");
	} else {
		for (unsigned i = 0; i < r->n_ports && status == LT_OK; i++)
			if (bt_graph_connect_ports(r->graph, chosen[i],
						   bt_component_sink_borrow_input_port_by_index_const(sink, i),
						   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
				status = library_error("cannot connect a stream");
	}
	g_free(chosen);
	return status;
}

static enum lt_status build(struct reader *r)
{
	const bt_component_class_source *class;
	const bt_component_source *source;
	const bt_plugin *plugin = NULL;
	bt_value *params;
	enum lt_status status;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
	    BT_PLUGIN_FIND_STATUS_OK)
		return library_error("cannot load babeltrace2's plugin 'ctf'");
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	r->sink_class = make_sink_class();
	r->graph = bt_graph_create(0);
	params = make_params(r->args.paths);
	if (!class || !r->sink_class || !r->graph || !params)
		status = library_error("cannot build the graph");
	else if (bt_graph_add_source_component(r->graph, class, "ctf", params, BT_LOGGING_LEVEL_NONE, &source) !=
		 BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = library_error("cannot read the trace");
	else {
		query_range(r, class, params);
		status = connect_ports(r, source);
	}
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return status;
}

static void drop_class(gpointer plan)
{
	class_plan_destroy(plan);
}

enum lt_status reader_open(const struct reader_args *args, struct ring_producer *ring, struct reader **out)
{
	struct reader *r = g_new0(struct reader, 1);
	enum lt_status status;

	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	r->args = *args;
	r->ring = ring;
	r->classes = g_ptr_array_new_with_free_func(drop_class);
	r->contexts = g_new0(struct context_slot, CONTEXT_SLOTS);
	status = build(r);
	if (status != LT_OK) {
		reader_close(r);
		return status;
	}
	if (r->done) {
		emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
		ring_publish(ring);
	}
	*out = r;
	return LT_OK;
}

enum lt_status reader_step(struct reader *r)
{
	if (!r->done) {
		bt_graph_run_once_status status = bt_graph_run_once(r->graph);

		ring_publish(r->ring);
		if (status == BT_GRAPH_RUN_ONCE_STATUS_OK)
			return LT_OK;
		if (!r->done)
			return library_error("reading broke off");
	}
	if (r->trouble)
		return error_set("%s", r->trouble);
	return LT_END;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n_ports; i++)
		port_release(&r->ports[i]);
	bt_graph_put_ref(r->graph);
	bt_component_class_sink_put_ref(r->sink_class);
	for (unsigned i = 0; i <= EVENT_CPU_MAX; i++)
		g_free(r->cpus[i]);
	for (unsigned i = 0; i < r->perf.n; i++)
		g_free(r->perf.names[i]);
	g_ptr_array_free(r->classes, TRUE);
	map64_release(&r->class_index);
	g_free(r->contexts);
	g_free(r->ports);
	g_free(r->heap);
	g_free(r->trouble);
	g_free(r);
}
