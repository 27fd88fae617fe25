/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "config.h"
#include "reader/babeltrace2/internal.h"

static void destroy_type(gpointer data)
{
	type_destroy(data);
}

void lib_knowledge_init(struct lib_knowledge *k, unsigned mip_version)
{
	*k = (struct lib_knowledge){ .mip_version = mip_version };
	k->types = g_ptr_array_new_with_free_func(destroy_type);
	k->of_classes = g_hash_table_new(NULL, NULL);
}

void lib_knowledge_release(struct lib_knowledge *k)
{
	bt_trace_put_ref(k->trace);
	if (k->types)
		g_ptr_array_free(k->types, TRUE);
	if (k->of_classes)
		g_hash_table_destroy(k->of_classes);
}

static const char *env_text(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static int64_t env_integer(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_signed_integer(value) ? bt_value_integer_signed_get(value) : -1;
}

/* The functions that may be called depend on the version of the graph. */
static void set_clock_text(struct lib_knowledge *k, const bt_clock_class *clock)
{
	bt_uuid uuid = clock && k->mip_version == 0 ? bt_clock_class_get_uuid(clock) : NULL;

	*k->clock = '\0';
#if HAVE_MIP_1
	if (clock && k->mip_version > 0 && bt_clock_class_get_uid(clock))
		g_strlcpy(k->clock, bt_clock_class_get_uid(clock), sizeof(k->clock));
#endif
	for (unsigned i = 0; uuid && i < 16; i++)
		g_snprintf(k->clock + strlen(k->clock), sizeof(k->clock) - strlen(k->clock), "%02x%s", uuid[i],
			   i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

bool lib_describe(struct lib_knowledge *k, const bt_clock_class *clock, struct trace_desc *desc)
{
	const bt_trace *trace = k->trace;
	int64_t zero_ns = 0;

	if (!trace)
		return false;
	set_clock_text(k, clock);
	if (clock && !lib_clock_ns(clock, 0, &zero_ns))
		zero_ns = 0;
	*desc = (struct trace_desc){
		.hostname = env_text(trace, "hostname"),
		.domain = env_text(trace, "domain"),
		.tracer = env_text(trace, "tracer_name"),
		.kernel = env_text(trace, "kernel_release"),
		.procname = env_text(trace, "procname"),
		.vpid = env_integer(trace, "vpid"),
		.tracer_major = env_integer(trace, "tracer_major"),
		.tracer_minor = env_integer(trace, "tracer_minor"),
		.tracer_patch = env_integer(trace, "tracer_patchlevel"),
		.clock = k->clock,
		.clock_zero_ns = (uint64_t)MAX(zero_ns, 0),
	};
	return true;
}

static int compare_streams(gconstpointer a, gconstpointer b)
{
	const uint64_t x = bt_stream_class_get_id(*(const bt_stream_class *const *)a);
	const uint64_t y = bt_stream_class_get_id(*(const bt_stream_class *const *)b);

	return x < y ? -1 : x > y;
}

static int compare_events(gconstpointer a, gconstpointer b)
{
	const uint64_t x = bt_event_class_get_id(*(const bt_event_class *const *)a);
	const uint64_t y = bt_event_class_get_id(*(const bt_event_class *const *)b);

	return x < y ? -1 : x > y;
}

static void visit_stream_class(struct lib_knowledge *k, const bt_stream_class *sc, struct reader *r,
			       class_visit_fn *visit, void *user)
{
	GPtrArray *events = g_ptr_array_new();

	for (uint64_t i = 0; i < bt_stream_class_get_event_class_count(sc); i++)
		g_ptr_array_add(events, (gpointer)bt_stream_class_borrow_event_class_by_index_const(sc, i));
	g_ptr_array_sort(events, compare_events);
	for (guint i = 0; i < events->len; i++) {
		const bt_event_class *ec = g_ptr_array_index(events, i);
		const struct class_desc desc = {
			.name = bt_event_class_get_name(ec),
			.payload = lib_type(k, bt_event_class_borrow_payload_field_class_const(ec)),
			.common = lib_type(k, bt_stream_class_borrow_event_common_context_field_class_const(sc)),
			.packet = lib_type(k, bt_stream_class_borrow_packet_context_field_class_const(sc)),
			.specific = lib_type(k, bt_event_class_borrow_specific_context_field_class_const(ec)),
			.group = sc,
		};

		visit(r, ec, &desc, user);
	}
	g_ptr_array_free(events, TRUE);
}

/* Sorted, because the library's order varies between versions. */
void lib_visit_classes(struct lib_knowledge *k, struct reader *r, class_visit_fn *visit, void *user)
{
	const bt_trace_class *tc = bt_trace_borrow_class_const(k->trace);
	GPtrArray *streams = g_ptr_array_new();

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(tc); i++)
		g_ptr_array_add(streams, (gpointer)bt_trace_class_borrow_stream_class_by_index_const(tc, i));
	g_ptr_array_sort(streams, compare_streams);
	for (guint i = 0; i < streams->len; i++)
		visit_stream_class(k, g_ptr_array_index(streams, i), r, visit, user);
	g_ptr_array_free(streams, TRUE);
}
