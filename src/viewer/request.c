/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/internal.h"

static void ask(struct viewer *v, enum wire_command command, struct viewer_stream *stream, const void *payload,
		size_t len)
{
	const struct wire_head head = { .size = GUINT64_TO_BE(len), .command = GUINT32_TO_BE(command) };
	struct viewer_request *r = g_new0(struct viewer_request, 1);

	/* The relayd's silence counts from here. */
	if (v->requests.length == 0)
		v->connection.moved_us = g_get_monotonic_time();
	r->command = command;
	r->stream = stream;
	r->serial = ++v->serial;
	if (stream)
		stream->requests++;
	g_queue_push_tail(&v->requests, r);
	viewer_connection_put(&v->connection, &head, sizeof(head));
	viewer_connection_put(&v->connection, payload, len);
}

void viewer_finish(struct viewer *v)
{
	struct viewer_request *r = g_queue_pop_head(&v->requests);

	if (r->stream)
		r->stream->requests--;
	v->part = PART_HEAD;
	g_free(r);
}

void viewer_ask_connect(struct viewer *v)
{
	const struct wire_connect hello = {
		.viewer = UINT64_MAX,
		.major = GUINT32_TO_BE(WIRE_MAJOR),
		.minor = GUINT32_TO_BE(WIRE_MINOR),
		.type = GUINT32_TO_BE(WIRE_FOR_COMMANDS),
	};

	ask(v, WIRE_CONNECT, NULL, &hello, sizeof(hello));
}

void viewer_ask_list(struct viewer *v)
{
	ask(v, WIRE_LIST, NULL, "", 0);
	v->asks_list = true;
	v->list_us = g_get_monotonic_time();
}

void viewer_ask_attach(struct viewer *v)
{
	const struct wire_attach attach = {
		.session = GUINT64_TO_BE(v->id),
		.seek = GUINT32_TO_BE(v->from_start ? WIRE_SEEK_BEGINNING : WIRE_SEEK_LAST),
	};

	ask(v, WIRE_CREATE, NULL, "", 0);
	ask(v, WIRE_ATTACH, NULL, &attach, sizeof(attach));
}

void viewer_ask_new_streams(struct viewer *v)
{
	const uint64_t id = GUINT64_TO_BE(v->id);

	ask(v, WIRE_NEW_STREAMS, NULL, &id, sizeof(id));
	v->asked_streams = v->serial;
	v->asks_streams = true;
	v->streams_us = g_get_monotonic_time();
}

void viewer_ask_metadata(struct viewer *v, struct viewer_stream *metadata)
{
	const uint64_t id = GUINT64_TO_BE(metadata->id);

	ask(v, WIRE_METADATA, metadata, &id, sizeof(id));
	metadata->asked = v->serial;
}

void viewer_ask_index(struct viewer *v, struct viewer_stream *s)
{
	const uint64_t id = GUINT64_TO_BE(s->id);

	ask(v, WIRE_NEXT_INDEX, s, &id, sizeof(id));
}

void viewer_ask_packet(struct viewer *v, struct viewer_stream *s)
{
	const struct wire_get_packet get = {
		.stream = GUINT64_TO_BE(s->id),
		.offset = GUINT64_TO_BE(s->offset),
		.len = GUINT32_TO_BE((uint32_t)(s->bits / 8)),
	};

	s->packet_due = false;
	ask(v, WIRE_PACKET, s, &get, sizeof(get));
}
