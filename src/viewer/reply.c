/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nstime.h"
#include "viewer/internal.h"

/* Limits beyond anything that a relayd sends. */
enum {
	STREAMS_MAX = 65536,      /* of a session, at any time, with those that are gone while their packets wait */
	GONE_BYTES_MAX = 1 << 29, /* in these packets */
	TRACE_METADATA_MAX = 64 << 20, /* of a trace, in total */
	MINOR_PREFETCH = 8,            /* older relayds may require something else to be read before a packet */
	AGAIN_US = 5 * US_PER_MS,      /* until a packet is requested again */
};

_Static_assert(sizeof(struct wire_stream) <= CONNECTION_IN, "entries are taken whole");

/* ---- connecting, attaching ---- */

static enum lt_status take_connect(struct viewer *v)
{
	const struct wire_connect *w = viewer_look(v, sizeof(*w));

	if (!w)
		return LT_AGAIN;
	v->minor = MIN(GUINT32_FROM_BE(w->minor), WIRE_MINOR);
	if (GUINT32_FROM_BE(w->major) != WIRE_MAJOR || v->minor < WIRE_MINOR_FIRST)
		return viewer_refuse(v, VIEWER_UNREACHABLE, NOT_A_RELAYD);
	viewer_skip(v, sizeof(*w));
	viewer_finish(v);
	return LT_END;
}

static enum lt_status take_created(struct viewer *v)
{
	const struct wire_word *w = viewer_look(v, sizeof(*w));

	if (!w)
		return LT_AGAIN;
	if (GUINT32_FROM_BE(w->word) != WIRE_CREATED)
		return viewer_refuse(v, VIEWER_PROTOCOL, "the relayd takes no viewer: status %u",
				     GUINT32_FROM_BE(w->word));
	viewer_skip(v, sizeof(*w));
	viewer_finish(v);
	return LT_END;
}

static enum lt_status refuse_attaching(struct viewer *v, uint32_t status)
{
	switch (status) {
	case WIRE_ATTACH_TAKEN:
		return viewer_refuse(v, VIEWER_TAKEN, "taken by another viewer");
	case WIRE_ATTACH_UNKNOWN:
		return viewer_refuse(v, VIEWER_NO_SESSION, "the session is gone");
	case WIRE_ATTACH_NOT_LIVE:
		return viewer_refuse(v, VIEWER_NO_SESSION, "not a live session: created without '--live'");
	default:
		return viewer_refuse(v, VIEWER_PROTOCOL, "the relayd refused the session: status %u", status);
	}
}

/* For WIRE_ATTACH and WIRE_NEW_STREAMS. LT_OK: its streams follow, if there are any. */
static enum lt_status take_streams_head(struct viewer *v, uint32_t *status)
{
	const struct wire_streams *w = viewer_look(v, sizeof(*w));

	if (!w)
		return LT_AGAIN;
	*status = GUINT32_FROM_BE(w->status);
	/* In both answers, 1 means that streams follow. */
	v->entries_left = *status == WIRE_ATTACHED ? GUINT32_FROM_BE(w->count) : 0;
	if (v->entries_left > STREAMS_MAX - MIN(STREAMS_MAX, v->streams->len + v->n_gone))
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "%u streams", v->entries_left);
	viewer_skip(v, sizeof(*w));
	v->part = PART_STREAMS;
	return LT_OK;
}

static enum lt_status take_attached(struct viewer *v, struct viewer_event *event)
{
	uint32_t status;
	const enum lt_status taken = take_streams_head(v, &status);

	if (taken != LT_OK)
		return taken;
	if (status != WIRE_ATTACHED)
		return refuse_attaching(v, status);
	v->state = STATE_ATTACHED;
	v->packet_us = v->list_us = g_get_monotonic_time();
	v->session = (struct viewer_session){
		.id = v->id, .host = v->target, .name = v->name, .timer_us = v->timer_us, .clients = v->clients
	};
	*event = (struct viewer_event){ .kind = VIEWER_ATTACHED, .session = &v->session };
	return LT_OK;
}

static enum lt_status take_new_streams(struct viewer *v)
{
	uint32_t status;
	const enum lt_status taken = take_streams_head(v, &status);

	if (taken != LT_OK)
		return taken;
	if (status < WIRE_STREAMS_NEW || status > WIRE_STREAMS_CLOSED)
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "status %u of new streams", status);
	v->asks_streams = false;
	/* It no longer knows the session, which is as good as closed. */
	if (status == WIRE_STREAMS_CLOSED || status == WIRE_STREAMS_ERROR)
		v->is_closed = true;
	return LT_END;
}

/* ---- streams ---- */

static struct viewer_stream *find_stream(const struct viewer *v, uint64_t id)
{
	for (guint i = 0; i < v->streams->len; i++) {
		struct viewer_stream *s = g_ptr_array_index(v->streams, i);

		if (s->id == id)
			return s;
	}
	return NULL;
}

/* Connects a new stream with the others of its trace. */
static void join_trace(struct viewer *v, struct viewer_stream *s)
{
	for (guint i = 0; i < v->streams->len; i++) {
		struct viewer_stream *other = g_ptr_array_index(v->streams, i);
		struct viewer_stream *data = s->is_metadata ? other : s, *metadata = s->is_metadata ? s : other;

		if (other->trace != s->trace || data->is_metadata || !metadata->is_metadata || data->metadata)
			continue;
		data->metadata = metadata;
		data->has_met_metadata = true;
		metadata->n_data++;
	}
	v->n_data += !s->is_metadata;
}

static enum lt_status take_stream(struct viewer *v, struct viewer_event *event)
{
	const struct wire_stream *w;
	struct viewer_stream *s;

	if (v->entries_left == 0) {
		viewer_finish(v);
		return LT_END;
	}
	w = viewer_look(v, sizeof(*w));
	if (!w)
		return LT_AGAIN;
	v->entries_left--;
	viewer_skip(v, sizeof(*w));
	if (find_stream(v, GUINT64_FROM_BE(w->id)))
		return LT_END;
	s = g_new0(struct viewer_stream, 1);
	s->id = GUINT64_FROM_BE(w->id);
	s->trace = GUINT64_FROM_BE(w->trace);
	s->is_metadata = w->is_metadata != 0;
	s->path = g_strndup(w->path, sizeof(w->path));
	s->channel = g_strndup(w->channel, sizeof(w->channel));
	s->viewer = v;
	join_trace(v, s);
	g_ptr_array_add(v->streams, s);
	*event = (struct viewer_event){ .kind = VIEWER_STREAM, .stream = s };
	return LT_OK;
}

/*
 * Packets of streams that are gone wait for the time of others; LT_ERROR: there are too many bytes of them, as if one
 * stream that never has anything held up an endless series of others.
 */
static enum lt_status lose_stream(struct viewer *v, struct viewer_stream *s, struct viewer_event *event)
{
	if (v->gone_bytes + s->held_bytes > GONE_BYTES_MAX)
		return viewer_refuse(v, VIEWER_PROTOCOL,
				     VIEWER_NONSENSE "streams that end, with %zu bytes that wait for others",
				     v->gone_bytes + s->held_bytes);
	g_ptr_array_remove_fast(v->streams, s);
	s->is_gone = true;
	v->n_gone++;
	v->gone_bytes += s->held_bytes;
	if (s->metadata)
		s->metadata->n_data--;
	v->n_data -= !s->is_metadata;
	for (guint i = 0; s->is_metadata && i < v->streams->len; i++) {
		struct viewer_stream *other = g_ptr_array_index(v->streams, i);

		if (other->metadata == s)
			other->metadata = NULL;
	}
	s->metadata = NULL;
	*event = (struct viewer_event){ .kind = VIEWER_STREAM_GONE, .stream = s };
	return LT_OK;
}

/* ---- metadata ---- */

static enum lt_status take_metadata_head(struct viewer *v, struct viewer_stream *s, struct viewer_event *event)
{
	const struct wire_metadata *w = viewer_look(v, sizeof(*w));
	uint64_t len;
	uint32_t status;

	if (!w)
		return LT_AGAIN;
	status = GUINT32_FROM_BE(w->status);
	len = GUINT64_FROM_BE(w->len);
	if (status < WIRE_METADATA_OK || status > WIRE_METADATA_ERROR || (status != WIRE_METADATA_OK && len > 0))
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "status %u of metadata", status);
	if (len > TRACE_METADATA_MAX - s->n_bytes)
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "%" G_GUINT64_FORMAT " bytes of metadata",
				     len);
	viewer_skip(v, sizeof(*w));
	if (len > 0) {
		g_byte_array_set_size(v->body, (guint)len);
		viewer_connection_expect(&v->connection, v->body->data, len);
		v->part = PART_METADATA;
		return LT_END;
	}
	viewer_finish(v);
	if (status != WIRE_METADATA_ERROR || s->requests > 0)
		return LT_END;
	return lose_stream(v, s, event);
}

static enum lt_status take_metadata(struct viewer *v, struct viewer_stream *s, struct viewer_event *event)
{
	if (!viewer_connection_body_is_there(&v->connection))
		return LT_AGAIN;
	viewer_finish(v);
	s->n_bytes += v->body->len;
	*event = (struct viewer_event){
		.kind = VIEWER_METADATA, .stream = s, .bytes = v->body->data, .len = v->body->len
	};
	return LT_OK;
}

/* ---- indexes and packets ---- */

/* Handles the flags about the whole session in an answer about a data stream, to request r. */
static void heed_flags(struct viewer *v, const struct viewer_request *r, uint32_t flags)
{
	struct viewer_stream *metadata = r->stream->metadata;

	if (flags & WIRE_FLAG_METADATA && metadata && !viewer_asked_since(metadata->asked, r))
		viewer_ask_metadata(v, metadata);
	if (flags & WIRE_FLAG_STREAMS && !viewer_asked_since(v->asked_streams, r))
		viewer_ask_new_streams(v);
}

static enum lt_status take_packet_index(struct viewer *v, struct viewer_stream *s, const struct wire_index *w)
{
	s->offset = GUINT64_FROM_BE(w->offset);
	s->bits = GUINT64_FROM_BE(w->packet_bits);
	s->content_bits = GUINT64_FROM_BE(w->content_bits);
	s->begin = GUINT64_FROM_BE(w->begin);
	s->end = GUINT64_FROM_BE(w->end);
	s->discarded = GUINT64_FROM_BE(w->discarded);
	s->class_id = GUINT64_FROM_BE(w->class_id);
	if (s->bits == 0 || s->bits % 8 != 0 || s->content_bits > s->bits)
		return viewer_refuse(v, VIEWER_PROTOCOL,
				     VIEWER_NONSENSE "a packet of %" G_GUINT64_FORMAT " bits, %" G_GUINT64_FORMAT
						     " used",
				     s->bits, s->content_bits);
	if (s->bits / 8 > VIEWER_PACKET_MAX)
		return viewer_refuse(v, VIEWER_PROTOCOL,
				     "a packet of %" G_GUINT64_FORMAT " bytes is too large, %d is the most",
				     s->bits / 8, VIEWER_PACKET_MAX);
	s->held++;
	viewer_ask_packet(v, s);
	viewer_saw_packet(s);
	/* The next index may switch the relayd to the next file, but not before it has read this packet. */
	if (v->minor >= MINOR_PREFETCH && viewer_may_hold_more(v, s) && s->due_us <= s->packet_us)
		viewer_ask_index(v, s);
	return LT_END;
}

static enum lt_status take_beacon(struct viewer_stream *s, uint64_t until, struct viewer_event *event)
{
	if (s->has_beacon && until <= s->beacon) {
		viewer_saw_nothing(s);
		return LT_END;
	}
	s->has_beacon = true;
	s->beacon = until;
	viewer_saw_beacon(s);
	*event = (struct viewer_event){ .kind = VIEWER_BEACON, .stream = s, .until = until };
	return LT_OK;
}

static enum lt_status take_index(struct viewer *v, struct viewer_event *event)
{
	const struct wire_index *got = viewer_look(v, sizeof(*got));
	struct viewer_stream *s;
	struct wire_index w;

	if (!got)
		return LT_AGAIN;
	w = *got;
	viewer_skip(v, sizeof(w));
	s = ((struct viewer_request *)g_queue_peek_head(&v->requests))->stream;
	heed_flags(v, g_queue_peek_head(&v->requests), GUINT32_FROM_BE(w.flags));
	viewer_finish(v);
	switch (GUINT32_FROM_BE(w.status)) {
	case WIRE_INDEX_OK:
		return take_packet_index(v, s, &w);
	case WIRE_INDEX_INACTIVE:
		return take_beacon(s, GUINT64_FROM_BE(w.end), event);
	case WIRE_INDEX_RETRY:
		viewer_saw_nothing(s);
		return LT_END;
	case WIRE_INDEX_HUP:
	case WIRE_INDEX_ERROR: /* it no longer knows the stream */
	case WIRE_INDEX_EOF:
		return lose_stream(v, s, event);
	default:
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "status %u of an index",
				     GUINT32_FROM_BE(w.status));
	}
}

/*
 * The packet is not available. It is requested again if something else must be read first; otherwise its file is gone,
 * as after "lttng clear", and the packet with it.
 */
static enum lt_status miss_packet(struct viewer *v, uint32_t status, uint32_t flags)
{
	struct viewer_stream *s = ((struct viewer_request *)g_queue_peek_head(&v->requests))->stream;

	if (status < WIRE_PACKET_OK || status > WIRE_PACKET_EOF)
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "status %u of a packet", status);
	heed_flags(v, g_queue_peek_head(&v->requests), flags);
	viewer_finish(v);
	if (s->requests == 0 && (status == WIRE_PACKET_RETRY || flags & (WIRE_FLAG_METADATA | WIRE_FLAG_STREAMS))) {
		s->packet_due = true;
		s->due_us = g_get_monotonic_time() + AGAIN_US;
	} else {
		s->held--;
	}
	return LT_END;
}

static enum lt_status take_packet_head(struct viewer *v, struct viewer_stream *s)
{
	const struct wire_packet *w = viewer_look(v, sizeof(*w));
	uint32_t status, len, flags;

	if (!w)
		return LT_AGAIN;
	status = GUINT32_FROM_BE(w->status);
	len = GUINT32_FROM_BE(w->len);
	flags = GUINT32_FROM_BE(w->flags);
	if (len != (status == WIRE_PACKET_OK ? s->bits / 8 : 0))
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "%u bytes instead of a packet of %u", len,
				     (unsigned)(s->bits / 8));
	viewer_skip(v, sizeof(*w));
	if (status != WIRE_PACKET_OK)
		return miss_packet(v, status, flags);
	v->packet = g_try_malloc(sizeof(*v->packet) + len);
	if (!v->packet)
		return viewer_refuse(v, VIEWER_PROTOCOL, "out of memory for a packet of %u bytes", len);
	*v->packet = (struct viewer_packet){
		.stream = s,
		.content_bits = s->content_bits,
		.begin = s->begin,
		.end = s->end,
		.discarded = s->discarded,
		.class_id = s->class_id,
		.len = len,
	};
	viewer_connection_expect(&v->connection, v->packet->bytes, len);
	v->part = PART_PACKET;
	return LT_END;
}

static enum lt_status take_packet(struct viewer *v, struct viewer_event *event)
{
	if (!viewer_connection_body_is_there(&v->connection))
		return LT_AGAIN;
	viewer_finish(v);
	*event = (struct viewer_event){ .kind = VIEWER_PACKET, .stream = v->packet->stream, .packet = v->packet };
	v->held_bytes += v->packet->len;
	v->packet->stream->held_bytes += v->packet->len;
	v->packet_us = g_get_monotonic_time();
	v->packet = NULL;
	return LT_OK;
}

/* ---- all answers ---- */

static enum lt_status take_head(struct viewer *v, const struct viewer_request *r, struct viewer_event *event)
{
	switch (r->command) {
	case WIRE_CONNECT:
		return take_connect(v);
	case WIRE_LIST:
		return viewer_take_list_head(v);
	case WIRE_CREATE:
		return take_created(v);
	case WIRE_ATTACH:
		return take_attached(v, event);
	case WIRE_NEW_STREAMS:
		return take_new_streams(v);
	case WIRE_METADATA:
		return take_metadata_head(v, r->stream, event);
	case WIRE_NEXT_INDEX:
		return take_index(v, event);
	case WIRE_PACKET:
		return take_packet_head(v, r->stream);
	default:
		g_assert_not_reached();
	}
}

enum lt_status viewer_take_reply(struct viewer *v, struct viewer_event *event)
{
	const struct viewer_request *r = g_queue_peek_head(&v->requests);

	if (!r)
		return viewer_look(v, 1) ? viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "an answer to nothing")
					 : LT_AGAIN;
	switch (v->part) {
	case PART_SESSIONS:
		return viewer_take_sessions(v, event);
	case PART_STREAMS:
		return take_stream(v, event);
	case PART_METADATA:
		return take_metadata(v, r->stream, event);
	case PART_PACKET:
		return take_packet(v, event);
	default:
		return take_head(v, r, event);
	}
}
