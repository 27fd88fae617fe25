/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "config.h"
#include "ctf/metadata.h"
#include "reader/babeltrace2/babeltrace2.h"
#include "reader/babeltrace2/internal.h"
#include "source/source.h"

/* A recording: the library's graph, driven by the streams' requests for messages. */

struct lib_reader {
	struct reader base;
	struct lib_knowledge knowledge;
	bt_graph *graph;
	const bt_plugin *plugin;
	const bt_component_class_sink *sink_class;
};

static struct lib_reader *bt(struct reader *r)
{
	return (struct lib_reader *)(void *)r;
}

static struct lib_stream *stream_of(const struct lib_reader *b, unsigned i)
{
	return (struct lib_stream *)(void *)b->base.streams[i];
}

/* ---- the sink component ---- */

static bt_component_class_initialize_method_status sink_init(bt_self_component_sink *self,
							     bt_self_component_sink_configuration *configuration,
							     const bt_value *params, void *data)
{
	struct lib_reader *b = data;
	char name[16];

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), b);
	for (unsigned i = 0; i < b->base.n_streams; i++) {
		g_snprintf(name, sizeof(name), "%u", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(bt_self_component_sink *self)
{
	struct lib_reader *b = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (unsigned i = 0; i < b->base.n_streams; i++)
		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			    &stream_of(b, i)->iterator) != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			/* A file that cannot be opened does not affect the others. */
			b->base.streams[i]->trouble = lib_take_error();
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/*
 * Called once, to have the graph configured. The iterators are used from outside, which the library allows while the
 * graph exists.
 */
static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	(void)self;
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
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

/* ---- streams ---- */

/*
 * A number for the CPU that a stream belongs to, from the number at the end of its port's name, or else a hash of the
 * name: all streams of a CPU must go to the same worker. It depends on nothing else, because workers may list the files
 * at different times, and some files may disappear in between.
 */
static uint64_t cpu_key(const char *name)
{
	size_t end = strlen(name), begin = end;

	while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
		begin--;
	if (begin < end)
		return g_ascii_strtoull(name + begin, NULL, 10);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	return g_str_hash(name);
}

/* Chooses this part's output ports of the source, each of which is a stream. */
static void add_streams(struct lib_reader *b, const bt_component_source *source, const bt_port_output **chosen)
{
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++) {
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(source, i);
		const char *name = bt_port_get_name(bt_port_output_as_port_const(port));
		struct lib_stream *s;

		if (!reader_takes(&b->base, cpu_key(name)))
			continue;
		s = g_new0(struct lib_stream, 1);
		lib_stream_init(s, &b->base);
		s->base.name = g_strdup(name);
		chosen[b->base.n_streams] = port;
		reader_add_stream(&b->base, &s->base);
	}
}

static enum lt_status library_error(const char *what)
{
	char *reason = lib_take_error();

	error_set("%s: %s", what, reason);
	g_free(reason);
	return LT_ERROR;
}

static enum lt_status connect_streams(struct lib_reader *b, const bt_component_source *source)
{
	const bt_port_output **chosen =
		g_new(const bt_port_output *, bt_component_source_get_output_port_count(source) + 1);
	const bt_component_sink *sink;
	enum lt_status status = LT_OK;

	add_streams(b, source, chosen);
	if (b->base.n_streams > 0 && bt_graph_add_sink_component_with_initialize_method_data(
					     b->graph, b->sink_class, "records", NULL, b, BT_LOGGING_LEVEL_NONE,
					     &sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = library_error("cannot build the graph");
	for (unsigned i = 0; i < b->base.n_streams && status == LT_OK; i++)
		if (bt_graph_connect_ports(b->graph, chosen[i],
					   bt_component_sink_borrow_input_port_by_index_const(sink, i),
					   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			status = library_error("cannot connect a stream");
	if (b->base.n_streams > 0 && status == LT_OK && bt_graph_run_once(b->graph) != BT_GRAPH_RUN_ONCE_STATUS_OK)
		status = library_error("cannot run the graph");
	bt_current_thread_clear_error();
	g_free(chosen);
	return status;
}

/* ---- opening ---- */

static bt_value *make_params(const char *const *paths)
{
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (!params ||
	    bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
		return params;
	for (; *paths; paths++)
		bt_value_array_append_string_element(inputs, *paths);
	return params;
}

static enum lt_status add_source(struct lib_reader *b, const bt_component_class_source *class,
				 const bt_component_source **source)
{
	bt_value *params = make_params(b->base.args.paths);
	enum lt_status status = LT_OK;

	b->graph = bt_graph_create(b->knowledge.mip_version);
	if (!params || !b->graph ||
	    bt_graph_add_source_component(b->graph, class, "ctf", params, BT_LOGGING_LEVEL_NONE, source) !=
		    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = library_error("babeltrace2 cannot open it");
	else if (b->base.args.begin_ns == 0 && b->base.args.end_ns == UINT64_MAX)
		b->base.end_hint_ns = lib_query_end(class, params);
	bt_value_put_ref(params);
	return status;
}

static bool library_reads_ctf2(void)
{
#if HAVE_MIP_1
	return bt_get_maximal_mip_version() >= 1;
#else
	return false;
#endif
}

/* Recordings in CTF 2 need a graph of a version that supports their types. */
static enum lt_status choose_mip_version(const struct reader_args *args, unsigned *mip_version)
{
	char *text = metadata_read(*args->paths, 1);
	const bool ctf2 = text && metadata_is_ctf2(text);

	g_free(text);
	if (ctf2 && !library_reads_ctf2())
		return error_set(
			"it is a CTF 2 recording, which babeltrace2 %u.%u.%u cannot read: " METADATA_CTF2_ADVICE,
			bt_version_get_major(), bt_version_get_minor(), bt_version_get_patch());
	*mip_version = ctf2;
	return LT_OK;
}

/* The library opens every visible file beside the metadata as a stream. */
static enum lt_status check_sidecars(const char *const *paths)
{
	enum lt_status status = LT_OK;

	for (; *paths && status == LT_OK; paths++) {
		char *sidecar = source_sidecar_of(*paths), *directory = realpath(*paths, NULL);
		char *where = sidecar ? g_path_get_dirname(sidecar) : NULL;

		if (where && g_strcmp0(where, directory) == 0)
			status = error_set("babeltrace2 takes '%s' for a stream: move it away, or use another reader",
					   sidecar);
		g_free(where);
		free(directory);
		g_free(sidecar);
	}
	return status;
}

static enum lt_status build(struct lib_reader *b)
{
	const bt_component_class_source *class;
	const bt_component_source *source;
	enum lt_status status;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &b->plugin) !=
	    BT_PLUGIN_FIND_STATUS_OK)
		return library_error("cannot load babeltrace2's plugin 'ctf'");
	class = bt_plugin_borrow_source_component_class_by_name_const(b->plugin, "fs");
	b->sink_class = make_sink_class();
	if (!class || !b->sink_class)
		return library_error("cannot build the graph");
	status = add_source(b, class, &source);
	return status == LT_OK ? connect_streams(b, source) : status;
}

/* ---- the reader ---- */

/* Any stream that has begun has the trace and its clock. */
static bool describe(struct reader *r, struct trace_desc *desc)
{
	struct lib_reader *b = bt(r);
	const bt_clock_class *clock = NULL;

	for (unsigned i = 0; i < r->n_streams; i++) {
		const struct lib_stream *s = stream_of(b, i);

		if (!s->class)
			continue;
		if (!b->knowledge.trace) {
			b->knowledge.trace = s->trace;
			bt_trace_get_ref(s->trace);
		}
		if (!clock)
			clock = bt_stream_class_borrow_default_clock_class_const(s->class);
	}
	return lib_describe(&b->knowledge, clock, desc);
}

static void visit_classes(struct reader *r, class_visit_fn *visit, void *user)
{
	lib_visit_classes(&bt(r)->knowledge, r, visit, user);
}

static void release(struct reader *r)
{
	struct lib_reader *b = bt(r);

	bt_graph_put_ref(b->graph);
	bt_component_class_sink_put_ref(b->sink_class);
	bt_plugin_put_ref(b->plugin);
	lib_knowledge_release(&b->knowledge);
	g_free(b);
}

static const struct reader_ops ops = {
	.describe = describe,
	.visit_classes = visit_classes,
	.release = release,
};

static enum lt_status lib_open(const struct reader_args *args, struct ring_producer *ring, struct reader **out)
{
	unsigned mip_version = 0;
	struct lib_reader *b;
	enum lt_status status = choose_mip_version(args, &mip_version);

	if (status == LT_OK)
		status = check_sidecars(args->paths);
	if (status != LT_OK)
		return status;
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	b = g_new0(struct lib_reader, 1);
	reader_init(&b->base, &ops, args, ring);
	lib_knowledge_init(&b->knowledge, mip_version);
	status = build(b);
	if (status != LT_OK) {
		reader_close(&b->base);
		return status;
	}
	*out = &b->base;
	return LT_OK;
}

const struct reader_type reader_babeltrace2 = { .name = "babeltrace2", .open = lib_open };
