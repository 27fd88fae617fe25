/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/live_internal.h"

#include <string.h>

#include "base/error.h"
#include "reader/emit.h"

static const char *text_of(const bt_value *map, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static uint64_t number_of(const bt_value *map, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	return value && bt_value_is_unsigned_integer(value) ? bt_value_integer_unsigned_get(value) : 0;
}

static void write_text(struct event *ev, size_t offset, const char *text)
{
	emit_text(ev, offset, text, strlen(text));
}

static void write_session(struct ring_producer *ring, const bt_value *map)
{
	struct event *ev = emit_begin(ring, EVENT_SESSION, 0, 3 * TEXT_MAX);
	struct ev_session *payload = (struct ev_session *)(void *)ev->words;

	payload->timer_us = number_of(map, "timer-us");
	payload->streams = number_of(map, "stream-count");
	payload->clients = number_of(map, "client-count");
	write_text(ev, offsetof(struct ev_session, hostname), text_of(map, "target-hostname"));
	write_text(ev, offsetof(struct ev_session, name), text_of(map, "session-name"));
	write_text(ev, offsetof(struct ev_session, url), text_of(map, "url"));
	emit_end(ring, ev);
}

/* The relayd's sessions, an array of maps to be put. NULL: an error of the library. */
static const bt_value *query(const bt_component_class_source *class, const char *relay)
{
	bt_value *params = bt_value_map_create();
	bt_query_executor *executor = NULL;
	const bt_value *sessions = NULL;

	if (params && bt_value_map_insert_string_entry(params, "url", relay) == BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
		executor = bt_query_executor_create(bt_component_class_source_as_component_class_const(class),
						    "sessions", params);
	if (executor && bt_query_executor_query(executor, &sessions) != BT_QUERY_EXECUTOR_QUERY_STATUS_OK)
		sessions = NULL;
	bt_query_executor_put_ref(executor);
	bt_value_put_ref(params);
	return sessions;
}

enum lt_status live_list(const char *relay, struct ring_producer *ring, enum failed_cause *cause)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class = live_load_class(&plugin);
	const bt_value *sessions;

	ring_publish(ring);
	sessions = class ? query(class, relay) : NULL;
	if (!sessions)
		return live_library_error(cause);
	for (uint64_t i = 0; i < bt_value_array_get_length(sessions); i++)
		write_session(ring, bt_value_array_borrow_element_by_index_const(sessions, i));
	bt_value_put_ref(sessions);
	bt_plugin_put_ref(plugin);
	return LT_END;
}

enum lt_status live_find_own(const bt_component_class_source *class, const struct source_url *url,
			     enum failed_cause *cause)
{
	const bt_value *sessions = query(class, url->relay);
	enum lt_status status = LT_END;

	if (!sessions)
		return live_library_error(cause);
	for (uint64_t i = 0; i < bt_value_array_get_length(sessions); i++) {
		const bt_value *map = bt_value_array_borrow_element_by_index_const(sessions, i);

		if (strcmp(text_of(map, "target-hostname"), url->target) == 0 &&
		    strcmp(text_of(map, "session-name"), url->session) == 0 && number_of(map, "client-count") > 0)
			status = LT_OK;
	}
	bt_value_put_ref(sessions);
	return status;
}
