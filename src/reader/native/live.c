/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/live.h"

#include "base/error.h"
#include "reader/native/live_internal.h"

struct native_live *native_live_create(const struct viewer_options *options, const char *name,
				       struct ring_producer *ring)
{
	struct native_live *l = g_new0(struct native_live, 1);

	l->viewer = viewer_create(options);
	l->ring = ring;
	l->name = g_strdup(name);
	l->traces = g_ptr_array_new_with_free_func(live_trace_destroy);
	l->streams = g_ptr_array_new_with_free_func(live_stream_destroy);
	l->heap = g_ptr_array_new();
	return l;
}

void native_live_destroy(struct native_live *l)
{
	if (!l)
		return;
	g_ptr_array_free(l->heap, TRUE);
	g_ptr_array_free(l->streams, TRUE);
	g_ptr_array_free(l->traces, TRUE);
	viewer_destroy(l->viewer);
	g_free(l->name);
	g_free(l);
}

const struct viewer *native_live_viewer(const struct native_live *l)
{
	return l->viewer;
}

enum failed_cause native_live_cause(const struct viewer *v)
{
	static const enum failed_cause causes[] = {
		[VIEWER_PROTOCOL] = FAILED_OTHER,
		[VIEWER_UNREACHABLE] = FAILED_UNREACHABLE,
		[VIEWER_GONE] = FAILED_GONE,
		[VIEWER_NO_SESSION] = FAILED_NO_SESSION,
		[VIEWER_TAKEN] = FAILED_TAKEN,
	};

	return causes[viewer_cause(v)];
}

/* ---- what the viewer brings ---- */

static enum lt_status take_stream(struct native_live *l, struct viewer_stream *stream)
{
	struct live_trace *t = live_trace_get(l, stream->trace);

	if (!t)
		return error_set("more than %u traces in one session", EVENT_TRACES_MAX);
	if (stream->is_metadata) {
		stream->user = t;
		return LT_OK;
	}
	stream->user = live_stream_create(l, t, stream);
	g_ptr_array_add(l->streams, stream->user);
	return LT_OK;
}

static enum lt_status take_packet(struct native_live *l, struct viewer_packet *packet)
{
	struct live_stream *s = packet->stream->user;

	g_queue_push_tail(&s->packets, packet);
	if (live_trace_update(s->trace) != LT_OK)
		return LT_ERROR;
	live_merge_wake(l, s);
	return LT_OK;
}

static void take_beacon(struct native_live *l, struct live_stream *s, uint64_t until)
{
	s->beacon = until;
	s->has_beacon = true;
	/* Metadata that is not complete yet will be. */
	if (live_trace_update(s->trace) != LT_OK)
		error_clear();
	live_stream_note_time(s);
	live_merge_wake(l, s);
}

static void lose_stream(struct native_live *l, struct viewer_stream *stream)
{
	struct live_stream *s = stream->user;

	if (stream->is_metadata) {
		viewer_stream_free(stream);
		return;
	}
	s->is_gone = true;
	live_merge_wake(l, s);
}

static enum lt_status take(struct native_live *l, const struct viewer_event *event)
{
	switch (event->kind) {
	case VIEWER_STREAM:
		return take_stream(l, event->stream);
	case VIEWER_METADATA:
		return live_trace_add(event->stream->user, event->bytes, event->len);
	case VIEWER_PACKET:
		return take_packet(l, event->packet);
	case VIEWER_BEACON:
		take_beacon(l, event->stream->user, event->until);
		return LT_OK;
	case VIEWER_STREAM_GONE:
		lose_stream(l, event->stream);
		return LT_OK;
	default:
		return LT_OK;
	}
}

enum lt_status native_live_step(struct native_live *l, enum failed_cause *cause)
{
	struct viewer_event event;
	enum lt_status status;

	if (live_merge_run(l)) {
		ring_beat(l->ring);
		return LT_OK;
	}
	status = viewer_next(l->viewer, &event);
	if (status == LT_OK) {
		*cause = FAILED_OTHER;
		status = take(l, &event);
		ring_beat(l->ring);
		return status;
	}
	if (status == LT_ERROR)
		*cause = native_live_cause(l->viewer);
	if (status != LT_ERROR || l->is_ready)
		live_merge_settle(l);
	ring_publish(l->ring);
	return status;
}
