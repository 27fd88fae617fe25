/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/live_internal.h"

#include <unistd.h>

#include "base/error.h"

enum {
	AGAIN_WAIT_US = 10000, /* asking costs a round trip per stream */
	BATCHES_PER_STEP = 16,
	CHECK_AGAINS = 50,     /* so many of them later: is a session without streams still there? */
};

struct live {
	struct live_streams streams;
	struct source_url url;
	const bt_component_class_source *class;
	bt_graph *graph;
	unsigned idle; /* how often in a row there was nothing, and no stream */
	bt_message_iterator *iterator;
	bool attached; /* to the session: the first messages, or none yet, came */
	bool closed;   /* the session was */
};

/* ---- the sink component ---- */

static bt_component_class_initialize_method_status sink_init(bt_self_component_sink *self,
							      bt_self_component_sink_configuration *configuration,
							      const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), data);
	if (bt_self_component_sink_add_input_port(self, "in", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* Creating the iterator connects to the relayd and looks for the session. */
static bt_component_class_sink_graph_is_configured_method_status sink_configured(bt_self_component_sink *self)
{
	struct live *l = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (bt_message_iterator_create_from_sink_component(
		    self, bt_self_component_sink_borrow_input_port_by_index(self, 0), &l->iterator) ==
	    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
}

/* Takes what there is. The first call attaches to the session. */
static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct live *l = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	bt_message_array_const messages;
	uint64_t n;

	for (unsigned batch = 0; batch < BATCHES_PER_STEP; batch++) {
		switch (bt_message_iterator_next(l->iterator, &messages, &n)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			l->attached = true;
			for (uint64_t i = 0; i < n; i++) {
				live_take_message(&l->streams, messages[i]);
				bt_message_put_ref(messages[i]);
			}
			/* Damaged data may leave an error behind a success. */
			bt_current_thread_clear_error();
			break;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
			l->attached = true;
			bt_current_thread_clear_error();
			live_settle(&l->streams);
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			live_settle(&l->streams);
			l->closed = true;
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
		default:
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
		}
	}
	live_tell_time(&l->streams);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

/* ---- the graph ---- */

const bt_component_class_source *live_load_class(const bt_plugin **plugin)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, plugin) != BT_PLUGIN_FIND_STATUS_OK)
		return NULL;
	return bt_plugin_borrow_source_component_class_by_name_const(*plugin, "lttng-live");
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

/* A session that is not there fails: whether and when to try again is for the parent to say. */
static bt_value *make_params(const char *url)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (params && bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
			      BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK) {
		bt_value_array_append_string_element(inputs, url);
		bt_value_map_insert_string_entry(params, "session-not-found-action", "fail");
	}
	return params;
}

static bool build(struct live *l, const bt_component_class_sink *sink_class, const char *url)
{
	bt_value *params = make_params(url);
	const bt_component_source *source;
	const bt_component_sink *sink;
	bool ok;

	l->graph = bt_graph_create(0);
	ok = params && l->graph &&
	     bt_graph_add_source_component(l->graph, l->class, "live", params, BT_LOGGING_LEVEL_NONE, &source) ==
		     BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	     bt_graph_add_sink_component_with_initialize_method_data(l->graph, sink_class, "records", NULL, l,
								     BT_LOGGING_LEVEL_NONE, &sink) ==
		     BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	     bt_graph_connect_ports(l->graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
				    bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				    NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
	bt_value_put_ref(params);
	return ok;
}

/*
 * A session without open streams was closed, or has none yet. The library does
 * not always notice: the relayd says so only when the metadata was asked for
 * once more at the end. It lists no session that was closed.
 */
static enum lt_status check_session(struct live *l, enum failed_cause *cause)
{
	l->idle = l->streams.n_open > 0 ? 0 : l->idle + 1;
	return l->idle > 0 && l->idle % CHECK_AGAINS == 0 ? live_find_own(l->class, &l->url, cause) : LT_OK;
}

static enum lt_status run(struct live *l, struct ring_producer *ring, enum failed_cause *cause)
{
	enum lt_status status;

	while (!l->streams.too_many) {
		switch (bt_graph_run_once(l->graph)) {
		case BT_GRAPH_RUN_ONCE_STATUS_OK:
			ring_beat(ring);
			break;
		case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
			/* Whatever there is must be seen before the worker sleeps. */
			ring_publish(ring);
			usleep(AGAIN_WAIT_US);
			status = check_session(l, cause);
			if (status != LT_OK)
				return status;
			break;
		default:
			if (l->closed)
				return LT_END;
			if (l->attached)
				live_settle(&l->streams);
			return live_library_error(cause);
		}
	}
	return error_set("more than %u traces in one session", EVENT_TRACES_MAX);
}

/*
 * Nothing is freed: the process ends, and the library would take leave of the
 * relayd, which hangs if the relayd does.
 */
enum lt_status live_read(const char *url, struct ring_producer *ring, enum failed_cause *cause)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_sink *sink_class = make_sink_class();
	static struct live one; /* a worker reads one session */
	struct live *l = &one;

	live_streams_init(&l->streams, url, ring);
	ring_publish(ring);
	if (source_parse_url(url, &l->url) != LT_OK)
		return LT_ERROR;
	l->class = live_load_class(&plugin);
	if (!l->class || !sink_class || !build(l, sink_class, url))
		return live_library_error(cause);
	return run(l, ring, cause);
}
