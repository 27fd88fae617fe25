/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/internal.h"

/* For this the library parses the metadata and all packet headers once more. */

static uint64_t end_of_trace(const bt_value *trace)
{
	const bt_value *streams = bt_value_map_borrow_entry_value_const(trace, "stream-infos");
	uint64_t end_ns = 0;

	for (uint64_t i = 0; streams && i < bt_value_array_get_length(streams); i++) {
		const bt_value *range = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(streams, i), "range-ns");
		const bt_value *end = range ? bt_value_map_borrow_entry_value_const(range, "end") : NULL;
		const int64_t ns = end ? bt_value_integer_signed_get(end) : 0;

		if (ns > 0 && (uint64_t)ns > end_ns)
			end_ns = (uint64_t)ns;
	}
	return end_ns;
}

uint64_t lib_query_end(const bt_component_class_source *class, const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class), "babeltrace.trace-infos", params);
	const bt_value *traces = NULL;
	uint64_t end_ns = 0;

	if (executor && bt_query_executor_query(executor, &traces) == BT_QUERY_EXECUTOR_QUERY_STATUS_OK &&
	    bt_value_array_get_length(traces) > 0)
		end_ns = end_of_trace(bt_value_array_borrow_element_by_index_const(traces, 0));
	bt_value_put_ref(traces);
	bt_query_executor_put_ref(executor);
	bt_current_thread_clear_error();
	return end_ns;
}
