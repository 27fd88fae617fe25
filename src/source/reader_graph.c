/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "config.h"
#include "source/emit.h"
#include "ctf/metadata.h"
#include "source/shadow.h"

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

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct reader *r = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (!r->heap)
		reader_write_prologue(r);
	r->done = !reader_run(r);
	/* A stream that broke off left its error on the thread; it was told. */
	bt_current_thread_clear_error();
	return r->done ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END :
			 BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
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

/*
 * The CPU a stream belongs to, from the number its name ends with: all streams of a CPU go to the same worker. A name
 * without one stands for itself. It depends on nothing else: workers may list the files at different times, and some
 * may go in between.
 */
static unsigned cpu_key(const char *name)
{
	size_t end = strlen(name), begin = end;

	while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
		begin--;
	if (begin < end)
		return (unsigned)strtoul(name + begin, NULL, 10);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	return g_str_hash(name);
}

/* Chooses this part's output ports of the source; fills ports and n_ports. */
static void choose_ports(struct reader *r, const bt_component_source *source, const bt_port_output **chosen)
{
	const uint64_t n = bt_component_source_get_output_port_count(source);

	r->ports = g_new0(struct port, n + 1);
	for (uint64_t i = 0; i < n; i++) {
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(source, i);
		const char *name = bt_port_get_name(bt_port_output_as_port_const(port));

		if (cpu_key(name) % r->args.parts != r->args.part)
			continue;
		chosen[r->n_ports] = port;
		r->ports[r->n_ports] = (struct port){
			.reader = r,
			.index = i,
			.stream_id = i,
			.cpu = EVENT_NO_CPU,
			.last_tid = EVENT_NO_TID,
			.name = g_strdup(name),
		};
		r->n_ports++;
	}
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

/* Whether the library can open a trace of these directories; *why, to be freed, if not. */
static bool can_open(const struct reader *r, const bt_component_class_source *class, const char *const *paths,
		     char **why)
{
	bt_value *params = make_params(paths);
	bt_graph *graph = bt_graph_create(r->mip_version);
	const bool ok = params && graph &&
			bt_graph_add_source_component(graph, class, "ctf", params, BT_LOGGING_LEVEL_NONE, NULL) ==
				BT_GRAPH_ADD_COMPONENT_STATUS_OK;

	*why = ok ? NULL : reader_take_error();
	bt_graph_put_ref(graph);
	bt_value_put_ref(params);
	return ok;
}

/* Whether the library can open the file, or its copy, as the only one of the trace. */
static bool can_open_single(struct reader *r, const bt_component_class_source *class, const char *file,
			    const char *copy, char **why)
{
	struct shadow *single = shadow_create_single(file, copy);
	char *reason = NULL;
	const bool ok = !single || can_open(r, class, (const char *const *)single->paths, &reason);

	*why = ok ? NULL : shadow_original_text(single, reason);
	g_free(reason);
	ring_publish(r->ring);
	shadow_destroy(single);
	return ok;
}

/* A file the library refuses: keeps its whole packets if that helps, else leaves it out. Whether it kept any. */
static bool keep_or_leave_out(struct reader *r, const bt_component_class_source *class, guint i, const char *why)
{
	const char *file = g_ptr_array_index(r->shadow->files, i);
	char *copy = shadow_copy_whole_packets(r->shadow, i), *still = NULL;
	const bool kept = copy && can_open_single(r, class, file, copy, &still);

	shadow_replace(r->shadow, i, kept ? copy : NULL);
	reader_note_trouble(r, file, kept ? "its last packet is cut off" : why);
	g_free(copy);
	g_free(still);
	return kept;
}

/* Whether the library can make anything of the metadata of each directory. */
static bool metadata_is_well(struct reader *r, const bt_component_class_source *class)
{
	for (guint i = 0; i < r->shadow->originals->len; i++) {
		char *file = g_build_filename(g_ptr_array_index(r->shadow->originals, i), " ", NULL), *why = NULL;
		const bool ok = can_open_single(r, class, file, NULL, &why);

		if (!ok)
			reader_note_trouble(r, g_ptr_array_index(r->shadow->originals, i), "damaged metadata");
		g_free(file);
		g_free(why);
		if (!ok)
			return false;
	}
	return true;
}

/*
 * The library refuses a trace for one damaged file of it. Tries each file
 * alone. True if anything was done about it and any file is left.
 */
static bool leave_out_damaged(struct reader *r, const bt_component_class_source *class)
{
	unsigned bad = 0, left_out = 0;

	if (!metadata_is_well(r, class))
		return false;
	for (guint i = 0; i < r->shadow->files->len; i++) {
		char *why = NULL;

		if (can_open_single(r, class, g_ptr_array_index(r->shadow->files, i), NULL, &why))
			continue;
		bad++;
		left_out += !keep_or_leave_out(r, class, i, why);
		g_free(why);
	}
	return bad > 0 && left_out < r->shadow->files->len;
}

static const bt_component_source *try_source(struct reader *r, const bt_component_class_source *class,
					     const char *const *paths)
{
	bt_value *params = make_params(paths);
	const bt_component_source *source = NULL;

	/* A graph that refused a component takes no other. */
	bt_graph_put_ref(r->graph);
	r->graph = bt_graph_create(r->mip_version);
	if (params && r->graph &&
	    bt_graph_add_source_component(r->graph, class, "ctf", params, BT_LOGGING_LEVEL_NONE, &source) ==
		    BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	    slice_is_all(&r->args.range) && !reader_has_indexes(r))
		reader_query_range(r, class, params);
	bt_value_put_ref(params);
	return source;
}

/* Adds the source component to the graph, reading the shadow if there is one, damaged files left out. */
static const bt_component_source *add_source(struct reader *r, const bt_component_class_source *class)
{
	const bt_component_source *source;
	const char *const *paths = r->args.paths;
	char *why;

	r->shadow = shadow_create(paths, &r->args.range);
	if (r->shadow)
		paths = (const char *const *)r->shadow->paths;
	source = try_source(r, class, paths);
	if (source)
		return source;
	why = reader_take_error();
	if (r->shadow && leave_out_damaged(r, class))
		source = try_source(r, class, paths);
	if (!source && r->troubles->len == 0)
		reader_note_trouble(r, r->args.name, why);
	g_free(why);
	bt_current_thread_clear_error();
	return source;
}

static bool library_reads_ctf2(void)
{
#ifdef HAVE_MIP_1
	return bt_get_maximal_mip_version() >= 1;
#else
	return false;
#endif
}

/* Recordings in CTF 2 need a graph that has its types. */
static enum lt_status choose_mip_version(struct reader *r)
{
	char *text = metadata_read(*r->args.paths, 1);
	const bool ctf2 = text && metadata_is_ctf2(text);

	g_free(text);
	if (ctf2 && !library_reads_ctf2())
		return error_set(
			"it is a CTF 2 recording, which babeltrace2 %u.%u.%u cannot read: " METADATA_CTF2_ADVICE,
			bt_version_get_major(), bt_version_get_minor(), bt_version_get_patch());
	r->mip_version = ctf2;
	return LT_OK;
}

/* What is still there now was there when the library listed the files; what is not may have been left out. */
static void tell_missing(struct reader *r)
{
	const struct extent *found = &r->args.found;
	struct extent now = { 0 };
	char *why;

	for (const char *const *path = r->args.paths; *path; path++)
		extent_add(&now, *path);
	if (now.files < found->files)
		why = g_strdup_printf("%" PRIu64 " of its %" PRIu64 " data files have been removed",
				      found->files - now.files, found->files);
	else if (now.bytes < found->bytes)
		why = g_strdup("its data files have been cut");
	else
		return;
	reader_note_trouble(r, r->args.name, why);
	g_free(why);
}

static enum lt_status build(struct reader *r)
{
	const bt_component_class_source *class;
	const bt_component_source *source;
	const bt_plugin *plugin = NULL;
	enum lt_status status = choose_mip_version(r);

	if (status != LT_OK)
		return status;
	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
	    BT_PLUGIN_FIND_STATUS_OK)
		return library_error("cannot load babeltrace2's plugin 'ctf'");
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	r->sink_class = make_sink_class();
	if (!class || !r->sink_class)
		status = library_error("cannot build the graph");
	else if (!(source = add_source(r, class)))
		status = error_set("%s", (const char *)g_ptr_array_index(r->troubles, 0));
	else
		status = connect_ports(r, source);
	if (status == LT_OK)
		tell_missing(r);
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
	r->troubles = g_ptr_array_new_with_free_func(g_free);
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

		ring_beat(r->ring);
		if (status == BT_GRAPH_RUN_ONCE_STATUS_OK)
			return LT_OK;
		if (!r->done)
			return library_error("reading broke off");
	}
	/* What it was, the notes have told, unless there was no stream to tell it among. */
	if (r->troubles->len > 0)
		return error_set("%s", r->heap ? "not all of it could be read" :
						 (const char *)g_ptr_array_index(r->troubles, 0));
	return LT_END;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n_ports; i++)
		port_release(&r->ports[i]);
	bt_graph_put_ref(r->graph);
	shadow_destroy(r->shadow);
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
	g_ptr_array_free(r->troubles, TRUE);
	g_free(r);
}
