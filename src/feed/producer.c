/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/producer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ctf/metadata.h"

/* All integers on the wire are big-endian, without padding between them. */
enum producer_command {
	ADD_STREAM = 1,
	CREATE_SESSION = 2,
	GET_VERSION = 5,
	SEND_METADATA = 6,
	CLOSE_STREAM = 7,
	SEND_INDEX = 13,
	STREAMS_SENT = 16,
	ROTATE_STREAMS = 18,
	CREATE_CHUNK = 19,
	CLOSE_CHUNK = 20,
};

enum {
	PROTOCOL_MAJOR = 2,
	PROTOCOL_MINOR = 13, /* the lowest that suffices */
	PROTOCOL_MINOR_CTF2 = 15,
	RELAY_OK = 10,
	FORMAT_CTF_1_8 = 1,
	FORMAT_CTF_2 = 2,
	CHUNK = 0, /* a session has one trace chunk */
	PATH_BYTES_MAX = 65536,
	WAIT_MS = 100,
};

/* A metadata packet: its own header, text, padding. */
enum { METADATA_MAGIC = 0x75d11d57, METADATA_PACKET = 4096, METADATA_HEADER = 37, FRAGMENTS_BYTES = 65536 };

static void put8(GByteArray *m, uint8_t value)
{
	g_byte_array_append(m, &value, 1);
}

static void put32(GByteArray *m, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	g_byte_array_append(m, (const guint8 *)&value, sizeof(value));
}

static void put64(GByteArray *m, uint64_t value)
{
	value = GUINT64_TO_BE(value);
	g_byte_array_append(m, (const guint8 *)&value, sizeof(value));
}

/* Including the NUL. */
static void put_text(GByteArray *m, const char *text)
{
	g_byte_array_append(m, (const guint8 *)text, (guint)strlen(text) + 1);
}

/* Sends a command with this payload, which it frees. */
static void send_command(struct producer *p, enum producer_command command, GByteArray *payload)
{
	GByteArray *head = g_byte_array_new();

	put64(head, 0); /* circuit */
	put64(head, payload->len);
	put32(head, command);
	put32(head, 0); /* version of the command */
	connection_put(&p->control, head->data, head->len);
	connection_put(&p->control, payload->data, payload->len);
	g_byte_array_free(head, TRUE);
	g_byte_array_free(payload, TRUE);
}

static enum lt_status get32(struct producer *p, uint32_t *value)
{
	enum lt_status status = connection_get(&p->control, value, sizeof(*value));

	*value = GUINT32_FROM_BE(*value);
	return status;
}

static enum lt_status get64(struct producer *p, uint64_t *value)
{
	enum lt_status status = connection_get(&p->control, value, sizeof(*value));

	*value = GUINT64_FROM_BE(*value);
	return status;
}

static enum lt_status refused(const struct producer *p, const char *what, uint32_t code)
{
	return error_set("%s refuses %s (code %" PRIu32 ")", p->control.peer, what, code);
}

static enum lt_status get_answer(struct producer *p, const char *what)
{
	enum lt_status status;
	uint32_t code = 0;

	status = get32(p, &code);
	if (status)
		return status == LT_ERROR ? error_wrap("%s", what) : status;
	return code == RELAY_OK ? LT_OK : refused(p, what, code);
}

/* Skips a path invented by the relayd, which is not needed. */
static enum lt_status get_path(struct producer *p)
{
	uint32_t len = 0;
	enum lt_status status = get32(p, &len);
	char *path;

	if (status)
		return status;
	if (len > PATH_BYTES_MAX)
		return error_set("%s sends an invalid reply", p->control.peer);
	path = g_malloc(len + 1);
	status = connection_get(&p->control, path, len);
	g_free(path);
	return status;
}

/* ---- opening ---- */

void producer_init(struct producer *p, unsigned timeout_ms, const stop_flag *stop)
{
	memset(p, 0, sizeof(*p));
	connection_init(&p->control, timeout_ms, stop);
	connection_init(&p->data, timeout_ms, stop);
}

void producer_close(struct producer *p)
{
	connection_close(&p->control);
	connection_close(&p->data);
}

enum lt_status producer_open(struct producer *p, int family, const char *host, unsigned control_port,
			     unsigned data_port)
{
	GByteArray *m = g_byte_array_new();
	uint32_t major = 0, minor = 0;
	enum lt_status status;

	put32(m, PROTOCOL_MAJOR);
	put32(m, PROTOCOL_MINOR_CTF2);
	status = connection_open(&p->control, family, host, control_port);
	if (status) {
		g_byte_array_free(m, TRUE);
		return status;
	}
	send_command(p, GET_VERSION, m);
	status = get32(p, &major);
	if (!status)
		status = get32(p, &minor);
	if (status)
		return status;
	if (major != PROTOCOL_MAJOR || minor < PROTOCOL_MINOR)
		return error_set("%s speaks protocol %" PRIu32 ".%" PRIu32 ", but %d.%d or a later %d.x is needed",
				 p->control.peer, major, minor, PROTOCOL_MAJOR, PROTOCOL_MINOR, PROTOCOL_MAJOR);
	p->minor = MIN(minor, PROTOCOL_MINOR_CTF2);
	return connection_open(&p->data, family, host, data_port);
}

static enum lt_status create_chunk(struct producer *p)
{
	GByteArray *m = g_byte_array_new();

	put64(m, CHUNK);
	put64(m, (uint64_t)time(NULL));
	put32(m, 0); /* no name of its own */
	send_command(p, CREATE_CHUNK, m);
	return get_answer(p, "to create a trace chunk");
}

enum lt_status producer_create_session(struct producer *p, const struct producer_session *session)
{
	enum lt_status status;
	uint32_t code = 0;
	GByteArray *m;

	if (session->is_ctf2 && p->minor < PROTOCOL_MINOR_CTF2)
		return error_set("%s speaks protocol %d.%" PRIu32 ", but CTF 2 needs %d.%d (LTTng 2.15): %s",
				 p->control.peer, PROTOCOL_MAJOR, p->minor, PROTOCOL_MAJOR, PROTOCOL_MINOR_CTF2,
				 METADATA_CTF2_ADVICE);
	m = g_byte_array_new();
	put32(m, (uint32_t)strlen(session->name) + 1);
	put32(m, (uint32_t)strlen(session->hostname) + 1);
	put32(m, 1); /* no base path: the text "" */
	put32(m, (uint32_t)session->live_timer_us);
	put8(m, 0); /* no snapshot */
	put8(m, 0); /* the name has no date */
	g_byte_array_append(m, session->uuid, 16);
	put64(m, 1); /* the session daemon's first */
	put64(m, (uint64_t)time(NULL));
	put8(m, 0); /* no current chunk */
	put64(m, 0);
	if (p->minor >= PROTOCOL_MINOR_CTF2)
		put32(m, session->is_ctf2 ? FORMAT_CTF_2 : FORMAT_CTF_1_8);
	put_text(m, session->name);
	put_text(m, session->hostname);
	put_text(m, "");
	send_command(p, CREATE_SESSION, m);
	status = get64(p, &p->session_id);
	if (!status)
		status = get32(p, &code);
	if (!status && code != RELAY_OK)
		status = refused(p, "to create the session", code);
	if (!status)
		status = get_path(p);
	return status ? status : create_chunk(p);
}

enum lt_status producer_add_stream(struct producer *p, const char *path, const char *name, struct producer_stream *s)
{
	GByteArray *m = g_byte_array_new();
	enum lt_status status;
	uint32_t code = 0;

	put32(m, (uint32_t)strlen(name) + 1);
	put32(m, (uint32_t)strlen(path) + 1);
	put64(m, 0); /* no limit on the size of files */
	put64(m, 0); /* nor on their number */
	put64(m, CHUNK);
	put_text(m, name);
	put_text(m, path);
	send_command(p, ADD_STREAM, m);
	s->packets = s->next_seq = 0;
	status = get64(p, &s->handle);
	if (!status)
		status = get32(p, &code);
	return !status && code != RELAY_OK ? refused(p, "to create a stream", code) : status;
}

/* The header is in the byte order of whoever writes it. */
static void put_metadata_packet(GByteArray *m, const uint8_t uuid[16], const char *text, size_t len)
{
	const uint32_t magic = METADATA_MAGIC, checksum = 0, content = 8 * (uint32_t)(METADATA_HEADER + len),
		       size = 8 * METADATA_PACKET;
	const uint8_t rest[] = { 0, 0, 0, 1, 8 }; /* compression, encryption, checksum: none; CTF 1.8 */
	const guint begin = m->len;

	g_byte_array_append(m, (const guint8 *)&magic, 4);
	g_byte_array_append(m, uuid, 16);
	g_byte_array_append(m, (const guint8 *)&checksum, 4);
	g_byte_array_append(m, (const guint8 *)&content, 4);
	g_byte_array_append(m, (const guint8 *)&size, 4);
	g_byte_array_append(m, rest, sizeof(rest));
	g_byte_array_append(m, (const guint8 *)text, (guint)len);
	g_byte_array_set_size(m, begin + METADATA_PACKET);
	memset(m->data + begin + METADATA_HEADER + len, 0, METADATA_PACKET - METADATA_HEADER - len);
}

void producer_send_metadata(struct producer *p, struct producer_stream *s, const uint8_t uuid[16], const char *text)
{
	size_t left = strlen(text);

	while (left) {
		const size_t len = MIN(left, METADATA_PACKET - METADATA_HEADER);
		GByteArray *m = g_byte_array_new();

		put64(m, s->handle);
		put32(m, 0); /* padding that is not sent */
		put_metadata_packet(m, uuid, text, len);
		send_command(p, SEND_METADATA, m);
		text += len;
		left -= len;
	}
}

/* Sends whole fragments only, so that viewers never get part of one. */
void producer_send_fragments(struct producer *p, struct producer_stream *s, const char *text)
{
	while (*text) {
		const char *end = text;
		GByteArray *m = g_byte_array_new();

		do {
			end = strchrnul(end + 1, METADATA_SEPARATOR);
		} while (*end && (size_t)(end - text) < FRAGMENTS_BYTES);
		put64(m, s->handle);
		put32(m, 0); /* padding that is not sent */
		g_byte_array_append(m, (const guint8 *)text, (guint)(end - text));
		send_command(p, SEND_METADATA, m);
		text = end;
	}
}

enum lt_status producer_publish(struct producer *p)
{
	send_command(p, STREAMS_SENT, g_byte_array_new());
	return get_answer(p, "to publish the streams");
}

/* ---- packets ---- */

static void send_index(struct producer *p, const struct producer_stream *s, uint64_t number,
		       const struct producer_index *i)
{
	GByteArray *m = g_byte_array_new();

	put64(m, s->handle);
	put64(m, number);
	put64(m, i->size);
	put64(m, i->content);
	put64(m, i->begin);
	put64(m, i->end);
	put64(m, i->discarded);
	put64(m, i->stream_id);
	put64(m, i->instance_id);
	put64(m, i->seq);
	if (!p->pending)
		p->control.moved_us = g_get_monotonic_time();
	send_command(p, SEND_INDEX, m);
	p->pending++;
}

void producer_send_packet(struct producer *p, struct producer_stream *s, const struct producer_index *index,
			  const uint8_t *data, size_t size)
{
	GByteArray *m = g_byte_array_new();

	put64(m, 0); /* circuit */
	put64(m, s->handle);
	put64(m, s->packets);
	put32(m, (uint32_t)size);
	put32(m, 0); /* padding that is not sent */
	connection_put(&p->data, m->data, m->len);
	connection_put(&p->data, data, size);
	g_byte_array_free(m, TRUE);
	send_index(p, s, s->packets++, index);
	s->next_seq = index->seq + 1;
}

void producer_send_beacon(struct producer *p, struct producer_stream *s, const struct producer_index *like,
			  uint64_t until)
{
	struct producer_index i = { .end = until, .stream_id = like->stream_id, .instance_id = like->instance_id };

	send_index(p, s, s->packets - 1, &i);
}

enum lt_status producer_move(struct producer *p)
{
	enum lt_status status = connection_move(&p->control);
	uint32_t code;

	if (!status)
		status = connection_move(&p->data);
	/* a relayd that refuses a packet then closes its connections */
	while (p->pending && connection_take(&p->control, &code, sizeof(code))) {
		p->pending--;
		if (GUINT32_FROM_BE(code) != RELAY_OK)
			return refused(p, "to take a packet", GUINT32_FROM_BE(code));
	}
	if (status)
		return status;
	/* The reply may have to wait for the packet's data. */
	if (connection_backlog(&p->data))
		return connection_check(&p->data, true);
	return connection_check(&p->control, p->pending || connection_backlog(&p->control));
}

/* ---- the end ---- */

static enum lt_status settle(struct producer *p)
{
	struct pollfd fds[2];

	while (p->pending || producer_backlog(p)) {
		if (producer_move(p))
			return LT_ERROR;
		if (!p->pending && !producer_backlog(p))
			break;
		connection_watch(&p->control, &fds[0]);
		connection_watch(&p->data, &fds[1]);
		poll(fds, 2, WAIT_MS);
	}
	return LT_OK;
}

/*
 * Each stream ends before the packet that would come next. The relayd compares with the packets' own sequence numbers,
 * and their data may still be in transit: given a smaller number it would end the stream wherever it is.
 */
static enum lt_status rotate(struct producer *p, struct producer_stream *const *streams, unsigned n)
{
	GByteArray *m = g_byte_array_new();

	put32(m, n);
	put8(m, 0); /* no new chunk */
	put64(m, 0);
	for (unsigned i = 0; i < n; i++) {
		put64(m, streams[i]->handle);
		put64(m, streams[i]->next_seq);
	}
	send_command(p, ROTATE_STREAMS, m);
	return get_answer(p, "to end the streams");
}

static enum lt_status close_chunk(struct producer *p)
{
	GByteArray *m = g_byte_array_new();
	enum lt_status status;

	put64(m, CHUNK);
	put64(m, (uint64_t)time(NULL));
	put8(m, 0); /* nothing is done with it */
	put32(m, 0);
	send_command(p, CLOSE_CHUNK, m);
	status = get_answer(p, "to close the trace chunk");
	return status ? status : get_path(p);
}

enum lt_status producer_finish(struct producer *p, struct producer_stream *const *streams, unsigned n)
{
	static const stop_flag never;
	enum lt_status status;

	/* Ends properly even after a signal; bounded by the timeout. */
	p->control.stop = &never;
	status = settle(p);
	if (!status)
		status = rotate(p, streams, n);
	return status ? status : close_chunk(p);
}

enum lt_status producer_close_streams(struct producer *p, struct producer_stream *const *streams, unsigned n)
{
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < n && !status; i++) {
		GByteArray *m = g_byte_array_new();

		put64(m, streams[i]->handle);
		put64(m, streams[i]->packets - 1); /* number of the last one; -1: none */
		send_command(p, CLOSE_STREAM, m);
		status = get_answer(p, "to close a stream");
	}
	return status;
}
