/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_LIVE_INTERNAL_H
#define LT_SOURCE_LIVE_INTERNAL_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map64.h"
#include "reader/babeltrace2/internal.h"
#include "reader/live.h"
#include "source/source.h"

/*
 * Reading a live session with babeltrace2: a graph of one source.ctf.lttng-live
 * component and our sink. The component merges the session's streams itself and
 * has one port; its messages are sorted out to their streams here.
 *
 *   live_reader.c  the graph, attaching, waiting
 *   live_stream.c  messages to records: traces, streams, losses, watermark
 *   live_errors.c  what the library's errors mean
 *   live_list.c    which sessions there are
 */

/* What is known of a trace. */
struct live_trace {
	struct reader base;
	struct lib_knowledge knowledge;
	const bt_clock_class *clock;
};

/* An event that waits for others of the same time. */
struct held {
	struct lib_stream *port;
	const bt_message *msg;
};

struct live_streams {
	struct ring_producer *ring;
	const char *url;
	GPtrArray *traces;        /* struct live_trace *, by trace number */
	GPtrArray *streams;       /* struct lib_stream *, by stream id */
	GPtrArray *bt_streams;    /* const bt_stream *, likewise: kept, so that no address comes back */
	struct map64 stream_index; /* bt_stream * → stream id */
	struct lib_stream *last;        /* stream of the last message */
	const bt_stream *last_bt;
	GArray *held;             /* struct held: the events of held_ns, not yet written */
	uint64_t held_ns;
	uint64_t now_ns;          /* no message before it will follow */
	uint64_t last_ns;         /* time of the last record that has one */
	unsigned n_losses;        /* pending ones, of all streams */
	unsigned n_open;          /* streams that began and have not ended */
	bool ready;               /* EVENT_READY was written */
	bool too_many;            /* more traces than records can number */
};

/* ---- live_errors.c ---- */

/* Takes the library's error into the error chain, in words for the user. Returns LT_ERROR. */
enum lt_status live_library_error(enum failed_cause *cause);

/* ---- live_reader.c ---- */

/* The component class; *plugin, to be put, keeps it alive. NULL: the library's error is set. */
const bt_component_class_source *live_load_class(const bt_plugin **plugin);

/* ---- live_list.c ---- */

/*
 * Asks the relayd, on a connection of its own, whether it offers the session url->session of url->target
 * with a viewer attached, which then is this process. LT_OK, LT_END: it does not; LT_ERROR.
 */
enum lt_status live_find_own(const bt_component_class_source *class, const struct source_url *url,
			     enum failed_cause *cause);

/* ---- live_stream.c ---- */

/* Never released: see live_read(). */
void live_streams_init(struct live_streams *l, const char *url, struct ring_producer *ring);

/* Writes the records of a message, which stays the caller's. */
void live_take_message(struct live_streams *l, const bt_message *msg);

/* Tells by EVENT_BEACON how far the time has come, unless events will tell. */
void live_tell_time(struct live_streams *l);

/* No more messages for now: writes what was held back, and how far the time has come. */
void live_settle(struct live_streams *l);

#endif
