/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <unistd.h>

#include "ctf/index.h"
#include "source/shadow.h"

/*
 * When the packets end: how long the record is, known before it is read. From
 * LTTng's index files, which costs nothing, or else from the library, which
 * parses the metadata and all packet headers once more.
 */

static void widen(struct reader *r, int64_t end_ns)
{
	if (end_ns > 0 && (uint64_t)end_ns > r->end_hint_ns)
		r->end_hint_ns = end_ns;
}

bool reader_has_indexes(const struct reader *r)
{
	for (guint i = 0; r->shadow && i < r->shadow->files->len; i++) {
		char *path = index_path(g_ptr_array_index(r->shadow->files, i));
		const bool ok = access(path, R_OK) == 0;

		g_free(path);
		if (!ok)
			return false;
	}
	return r->shadow != NULL;
}

static void read_index(struct reader *r, const bt_clock_class *clock, const char *path)
{
	GArray *packets = g_array_new(FALSE, FALSE, sizeof(struct index_packet));
	const struct index_packet *all;
	int64_t end_ns;

	if (index_read(path, packets) && packets->len > 0) {
		all = &g_array_index(packets, struct index_packet, 0);
		if (bt_clock_class_cycles_to_ns_from_origin(clock, all[packets->len - 1].end, &end_ns) ==
		    BT_CLOCK_CLASS_CYCLES_TO_NS_FROM_ORIGIN_STATUS_OK)
			widen(r, end_ns);
	}
	g_array_free(packets, TRUE);
	bt_current_thread_clear_error();
}

void reader_read_indexes(struct reader *r, const bt_clock_class *clock)
{
	for (guint i = 0; clock && r->shadow && i < r->shadow->files->len; i++) {
		char *path = index_path(g_ptr_array_index(r->shadow->files, i));

		read_index(r, clock, path);
		g_free(path);
	}
}

void reader_query_range(struct reader *r, const bt_component_class_source *class, const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class), "babeltrace.trace-infos", params);
	const bt_value *traces = NULL, *streams, *range, *value;

	if (executor && bt_query_executor_query(executor, &traces) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
	    bt_value_array_get_length(traces) > 0) {
		streams = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(traces, 0), "stream-infos");
		for (uint64_t i = 0; streams && i < bt_value_array_get_length(streams); i++) {
			range = bt_value_map_borrow_entry_value_const(
				bt_value_array_borrow_element_by_index_const(streams, i), "range-ns");
			value = range ? bt_value_map_borrow_entry_value_const(range, "end") : NULL;
			widen(r, value ? bt_value_integer_signed_get(value) : 0);
		}
	}
	bt_value_put_ref(traces);
	bt_query_executor_put_ref(executor);
	bt_current_thread_clear_error();
}
