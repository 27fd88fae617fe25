/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/live.h"

#include "base/error.h"
#include "reader/emit.h"
#include "reader/native/live_internal.h"

void native_live_init(struct native_live *l, const char *name, const char *fields, struct ring_producer *ring)
{
	l->ring = ring;
	l->name = g_strdup(name);
	l->fields = g_strdup(fields);
	l->traces = g_ptr_array_new_with_free_func(live_trace_destroy);
	l->streams = g_ptr_array_new_with_free_func(live_stream_destroy);
	l->heap = g_ptr_array_new();
	l->until_ns = UINT64_MAX;
}

void native_live_release(struct native_live *l)
{
	g_ptr_array_free(l->heap, TRUE);
	g_ptr_array_free(l->streams, TRUE);
	g_ptr_array_free(l->traces, TRUE);
	g_free(l->name);
	g_free(l->fields);
	g_free(l->wanted);
}

void native_live_want(struct native_live *l, const char *fields, uint32_t number)
{
	g_free(l->wanted);
	l->wanted = g_strdup(fields);
	l->wanted_number = number;
}

static void report_lack(struct native_live *l)
{
	char *note;

	if (!l->lacks_traces || l->lack_reported)
		return;
	l->lack_reported = true;
	note = g_strdup_printf("it has more than %d traces at a time: further ones are left out", EVENT_TRACES_MAX);
	emit_note(l->ring, EVENT_NOTE, 0, note);
	g_free(note);
}

void native_live_apply_requests(struct native_live *l)
{
	struct event *ev;

	if (!ring_has_room(l->ring))
		return;
	report_lack(l);
	if (!l->wanted)
		return;
	g_free(l->fields);
	l->fields = l->wanted;
	l->wanted = NULL;
	for (guint i = 0; i < l->traces->len; i++)
		if (g_ptr_array_index(l->traces, i))
			reader_want(g_ptr_array_index(l->traces, i), l->fields);
	ev = emit_begin(l->ring, EVENT_WANTED, 0, 0);
	((struct ev_wanted *)(void *)ev->words)->number = l->wanted_number;
	emit_end(l->ring, ev);
}

struct native_live *native_live_create(const struct viewer_options *options, unsigned stall_ms, const char *name,
				       const char *fields, struct ring_producer *ring)
{
	struct native_live *l = g_new0(struct native_live, 1);

	native_live_init(l, name, fields, ring);
	l->patience_ms = options->timeout_ms ? options->timeout_ms : VIEWER_TIMEOUT_MS;
	l->stall_us = (int64_t)stall_ms * US_PER_MS;
	l->viewer = viewer_create(options);
	return l;
}

void native_live_destroy(struct native_live *l)
{
	if (!l)
		return;
	for (guint i = 0; i < l->traces->len; i++)
		if (g_ptr_array_index(l->traces, i))
			live_recall_end(l, g_ptr_array_index(l->traces, i));
	native_live_release(l);
	viewer_destroy(l->viewer);
	g_free(l);
}

void native_live_recall(struct native_live *l, struct recall *log)
{
	l->recall = log;
	l->recall_source = fields_name_id(l->name);
}

const struct viewer *native_live_viewer(const struct native_live *l)
{
	return l->viewer;
}

enum failed_cause native_live_cause(const struct viewer *v)
{
	static const enum failed_cause causes[] = {
		[VIEWER_PROTOCOL] = FAILED_OTHER, [VIEWER_UNREACHABLE] = FAILED_UNREACHABLE,
		[VIEWER_GONE] = FAILED_GONE,      [VIEWER_NO_SESSION] = FAILED_NO_SESSION,
		[VIEWER_TAKEN] = FAILED_TAKEN,
	};

	return causes[viewer_cause(v)];
}

/* ---- data from the viewer ---- */

/* Sets .user: for metadata a trace, for data a stream; NULL: the stream is left out, and its data is dropped. */
static void take_stream(struct native_live *l, struct viewer_stream *stream)
{
	struct live_trace *t = live_trace_get(l, stream->trace);

	l->lacks_traces |= !t;
	if (!t)
		return;
	if (stream->is_metadata) {
		stream->user = t;
		t->n_metadata++;
		t->metadata_stream = stream;
		return;
	}
	stream->user = live_stream_create(l, t, stream);
	g_ptr_array_add(l->streams, stream->user);
}

/* A packet needs metadata that is incomplete so far: it may come in several portions. LT_ERROR: no more will come. */
static enum lt_status wait_for_metadata(struct live_stream *s)
{
	struct live_trace *t = s->trace;

	if (!t->metadata_stream)
		return error_wrap("damaged metadata");
	error_clear();
	if (!t->flawed_us)
		t->flawed_us = g_get_monotonic_time();
	viewer_want_metadata(t->metadata_stream, true);
	return LT_OK;
}

/* Looks at new data of a stream, or at the packets that wait for metadata. */
static enum lt_status look_at(struct native_live *l, struct live_stream *s)
{
	const bool has_packet = !g_queue_is_empty(&s->packets);
	const enum lt_status status = live_trace_update(s->trace);

	l->is_full = status == LT_AGAIN;
	if (l->is_full)
		return LT_OK;
	if (status != LT_OK && has_packet)
		return wait_for_metadata(s);
	if (status != LT_OK)
		error_clear();
	if (status == LT_OK && s->trace->flawed_us) {
		s->trace->flawed_us = 0;
		if (s->trace->metadata_stream)
			viewer_want_metadata(s->trace->metadata_stream, false);
	}
	live_stream_note_time(s);
	live_merge_wake(l, s);
	return LT_OK;
}

/* The same for all streams, or for those of one trace. */
static enum lt_status look_at_all(struct native_live *l, const struct live_trace *only)
{
	enum lt_status status = LT_OK;

	for (guint i = l->streams->len; i-- > 0 && status == LT_OK && !l->is_full;) {
		struct live_stream *s = g_ptr_array_index(l->streams, i);

		if (!only || s->trace == only)
			status = look_at(l, s);
	}
	return status;
}

static enum lt_status lose_metadata(struct native_live *l, const struct viewer_stream *stream)
{
	struct live_trace *t = stream->user;

	if (!t)
		return LT_OK;
	t->n_metadata--;
	if (t->metadata_stream == stream)
		t->metadata_stream = NULL;
	if (t->flawed_us && !t->metadata_stream) {
		const enum lt_status status = live_trace_update(t);

		if (status == LT_ERROR)
			return error_wrap("damaged metadata");
		l->is_full |= status == LT_AGAIN;
	}
	live_trace_settle(l, t);
	return LT_OK;
}

/* LT_ERROR: packets have waited too long. */
static enum lt_status check_patience(const struct native_live *l)
{
	const int64_t since_us = g_get_monotonic_time() - (int64_t)l->patience_ms * US_PER_MS;

	for (guint i = 0; i < l->traces->len; i++) {
		struct live_trace *t = g_ptr_array_index(l->traces, i);

		if (t && t->flawed_us && t->flawed_us <= since_us && live_trace_update(t) == LT_ERROR)
			return error_wrap("the metadata is damaged, or was not completed for %g s",
					  (double)l->patience_ms / MS_PER_S);
	}
	return LT_OK;
}

static enum lt_status take_metadata(struct native_live *l, struct live_trace *t, const struct viewer_event *event)
{
	enum lt_status status;

	if (!t)
		return LT_OK;
	status = live_trace_add(l, t, event->bytes, event->len);
	return status == LT_OK && t->flawed_us && !l->is_full ? look_at_all(l, t) : status;
}

/* Which of the sessions with its name it is. */
static void write_session(struct native_live *l, const struct viewer_session *session)
{
	struct event *ev = emit_begin(l->ring, EVENT_SESSION, 0, 0);
	struct ev_session *payload = (struct ev_session *)(void *)ev->words;

	payload->id = session->id;
	payload->timer_us = session->timer_us;
	payload->clients = session->clients;
	emit_end(l->ring, ev);
}

/* Stores the data of the event; *s receives its stream, NULL: it has none, or one that is left out. */
static enum lt_status take(struct native_live *l, const struct viewer_event *event, struct live_stream **s)
{
	enum lt_status status = LT_OK;

	*s = event->stream && !event->stream->is_metadata ? event->stream->user : NULL;
	switch (event->kind) {
	case VIEWER_ATTACHED:
		l->is_attached = true;
		if (l->stall_us)
			l->stall_us += event->session->timer_us;
		write_session(l, event->session);
		return LT_OK;
	case VIEWER_STREAM:
		*s = NULL;
		take_stream(l, event->stream);
		return LT_OK;
	case VIEWER_METADATA:
		return take_metadata(l, event->stream->user, event);
	case VIEWER_PACKET:
		live_merge_note_data(l);
		if (*s)
			g_queue_push_tail(&(*s)->packets, event->packet);
		else
			viewer_packet_free(event->packet);
		return LT_OK;
	case VIEWER_BEACON:
		live_merge_note_data(l);
		if (!*s)
			return LT_OK;
		(*s)->beacon = event->until;
		(*s)->has_beacon = true;
		return LT_OK;
	case VIEWER_STREAM_GONE:
		if (*s) {
			(*s)->is_gone = true;
			return LT_OK;
		}
		if (event->stream->is_metadata)
			status = lose_metadata(l, event->stream);
		viewer_stream_free(event->stream);
		return status;
	default:
		return LT_OK;
	}
}

int64_t native_live_due_us(const struct native_live *l)
{
	int64_t due_us = viewer_due_us(l->viewer);

	for (guint i = 0; i < l->traces->len; i++) {
		const struct live_trace *t = g_ptr_array_index(l->traces, i);

		if (t && t->has_grown && t->rest_us > l->now_us)
			due_us = MIN(due_us, t->rest_us);
	}
	return due_us;
}

bool native_live_is_full(const struct native_live *l)
{
	return l->is_full;
}

/* Takes one event from the viewer. */
static enum lt_status receive(struct native_live *l, enum failed_cause *cause)
{
	struct viewer_event event;
	struct live_stream *s;
	enum lt_status status = viewer_next(l->viewer, &event);

	if (status == LT_ERROR)
		*cause = native_live_cause(l->viewer);
	if (status != LT_OK)
		return status;
	*cause = FAILED_OTHER;
	status = take(l, &event, &s);
	return status == LT_OK && s && !l->is_full ? look_at(l, s) : status;
}

enum lt_status native_live_step(struct native_live *l, enum failed_cause *cause)
{
	enum lt_status status;

	live_merge_start_step(l);
	native_live_apply_requests(l);
	/* Before any packet is taken: those that came while the ring was full may need metadata that came then. */
	if (l->is_full && ring_has_room(l->ring)) {
		*cause = FAILED_OTHER;
		l->is_full = false;
		status = look_at_all(l, NULL);
		if (status != LT_OK)
			return status;
	}
	if (!l->is_full && live_merge_run(l) == LT_OK) {
		ring_beat(l->ring);
		return LT_OK;
	}
	status = receive(l, cause);
	if (status == LT_OK) {
		ring_beat(l->ring);
		return LT_OK;
	}
	if (status == LT_AGAIN && check_patience(l) != LT_OK) {
		*cause = FAILED_OTHER;
		status = LT_ERROR;
	}
	/* The end, or a failure, is reported after everything before it has been written. */
	l->is_full |= !ring_has_room(l->ring);
	if (l->is_full) {
		ring_publish(l->ring);
		return LT_AGAIN;
	}
	if (l->is_attached && (status != LT_ERROR || l->is_ready))
		live_merge_settle(l);
	ring_publish(l->ring);
	return status;
}
