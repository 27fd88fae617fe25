/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A viewer and a relayd in one thread. The relayd answers from a table of functions, which tests replace to see how the
 * viewer copes.
 */
#ifndef LT_RELAY_H
#define LT_RELAY_H

#include "unit.h"

#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "viewer/protocol.h"
#include "viewer/viewer.h"

struct relay;
typedef void answer_fn(struct relay *r, const uint8_t *payload);

struct relay {
	int listener, fd;
	unsigned port;
	struct viewer *viewer;
	GByteArray *in, *out;
	size_t chunk;   /* bytes sent at a time; 0: no limit */
	size_t left;    /* bytes until it hangs up; SIZE_MAX: never */
	bool is_silent; /* at some point; the viewer should not wait for long */
	bool is_mute;   /* it received a request that it has no answer for */
	unsigned minor;
	answer_fn *answers[WIRE_COMMANDS];
	unsigned asked[WIRE_COMMANDS];
	unsigned n_streams;    /* in the answer to attach: a metadata stream, 1, and data streams from 2 on */
	unsigned n_late;       /* added by the next GET_NEW_STREAMS */
	unsigned n_packets[8]; /* for each data stream, followed by HUP */
	unsigned n_hups;       /* once all data streams have hung up, the session is no longer listed */
	unsigned metadata_sent;
	unsigned flags; /* of the next index */
	bool from_start;
	uint64_t wanted;    /* viewer_options.id */
	uint64_t lie, lie2; /* for answers installed by tests */
};

enum { PACKET_BYTES = 40000, TIMER_US = 20000 };

static const char session_host[] = "web", session_name[] = "s1";

/* ---- answers ---- */

static inline void put(struct relay *r, const void *data, size_t len)
{
	g_byte_array_append(r->out, data, (guint)len);
}

static inline void put32(struct relay *r, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	put(r, &value, sizeof(value));
}

static inline void answer_connect(struct relay *r, const uint8_t *payload)
{
	const struct wire_connect *asked = (const void *)payload;
	const struct wire_connect w = { 1, GUINT32_TO_BE(2), GUINT32_TO_BE(r->minor), GUINT32_TO_BE(1) };

	ck_assert_uint_eq(GUINT32_FROM_BE(asked->major), 2);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->minor), 15);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->type), 1);
	put(r, &w, sizeof(w));
}

static inline void put_session_of(struct relay *r, uint64_t id, const char *host, const char *name, uint32_t timer_us,
				  uint32_t clients, uint32_t streams, uint32_t format)
{
	const struct wire_session session = { GUINT64_TO_BE(id), GUINT32_TO_BE(timer_us), GUINT32_TO_BE(clients),
					      GUINT32_TO_BE(streams) };
	struct wire_session_old old = { .session = session };
	struct wire_session_new new = { session, GUINT32_TO_BE(strlen(host)), GUINT32_TO_BE(strlen(name)),
					GUINT32_TO_BE(format) };

	if (r->minor >= 15) {
		put(r, &new, sizeof(new));
		put(r, host, strlen(host));
		put(r, name, strlen(name));
	} else {
		memcpy(old.host, host, MIN(strlen(host), sizeof(old.host)));
		memcpy(old.name, name, MIN(strlen(name), sizeof(old.name)));
		put(r, &old, sizeof(old));
	}
}

static inline void put_session(struct relay *r, uint64_t id, const char *host, const char *name, uint32_t timer_us,
			       uint32_t clients, uint32_t format)
{
	put_session_of(r, id, host, name, timer_us, clients, 3, format);
}

static inline void answer_list(struct relay *r, const uint8_t *payload)
{
	const bool is_over = r->n_hups > 0 && r->n_hups >= r->n_streams - 1;

	(void)payload;
	put32(r, is_over ? 1 : 2);
	put_session(r, 6, "db", "nightly", 1000000, 1, 1);
	if (!is_over)
		put_session(r, 7, session_host, session_name, TIMER_US, 0, 0);
}

/* With a live timer of r->lie microseconds. */
static inline void answer_slow_session(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, 1);
	put_session(r, 7, session_host, session_name, (uint32_t)r->lie, 0, 0);
}

static inline void answer_empty_list(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, 0);
}

static inline void answer_create(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, WIRE_CREATED);
}

static inline void put_stream(struct relay *r, uint64_t id)
{
	struct wire_stream w = { .id = GUINT64_TO_BE(id),
				 .trace = GUINT64_TO_BE(9),
				 .is_metadata = GUINT32_TO_BE(id == 1),
				 .path = "kernel" };

	g_snprintf(w.channel, sizeof(w.channel), id == 1 ? "metadata" : "ch_%u", (unsigned)id - 2);
	put(r, &w, sizeof(w));
}

static inline void answer_attach(struct relay *r, const uint8_t *payload)
{
	const struct wire_attach *asked = (const void *)payload;

	ck_assert_uint_eq(GUINT64_FROM_BE(asked->session), 7);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->seek), r->from_start ? WIRE_SEEK_BEGINNING : WIRE_SEEK_LAST);
	put32(r, WIRE_ATTACHED);
	put32(r, r->n_streams);
	/* The metadata stream comes last, as the order must not matter. */
	for (unsigned i = r->n_streams; i > 0; i--)
		put_stream(r, i);
}

static inline void answer_new_streams(struct relay *r, const uint8_t *payload)
{
	uint64_t id;

	memcpy(&id, payload, sizeof(id));
	ck_assert_uint_eq(GUINT64_FROM_BE(id), 7);
	put32(r, WIRE_STREAMS_NEW);
	put32(r, r->n_late);
	for (; r->n_late > 0; r->n_late--)
		put_stream(r, ++r->n_streams);
}

static inline void answer_metadata(struct relay *r, const uint8_t *payload)
{
	static const char *const pieces[] = { "first", "second" };
	const char *piece = r->metadata_sent < 2 ? pieces[r->metadata_sent++] : "";
	const uint32_t status = *piece ? WIRE_METADATA_OK : WIRE_METADATA_NONE;
	const struct wire_metadata w = { GUINT64_TO_BE(strlen(piece)), GUINT32_TO_BE(status) };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, piece, strlen(piece));
}

static inline unsigned stream_of(const uint8_t *payload)
{
	uint64_t id;

	memcpy(&id, payload, sizeof(id));
	return (unsigned)GUINT64_FROM_BE(id);
}

static inline void put_index(struct relay *r, uint32_t status, uint64_t bits, uint64_t content_bits, uint64_t end)
{
	struct wire_index w = { .offset = GUINT64_TO_BE(4096),
				.packet_bits = GUINT64_TO_BE(bits),
				.content_bits = GUINT64_TO_BE(content_bits),
				.begin = GUINT64_TO_BE(100),
				.end = GUINT64_TO_BE(end),
				.discarded = GUINT64_TO_BE(3),
				.class_id = GUINT64_TO_BE(5),
				.status = GUINT32_TO_BE(status),
				.flags = GUINT32_TO_BE(r->flags) };

	r->flags = 0;
	put(r, &w, sizeof(w));
}

static inline void answer_index(struct relay *r, const uint8_t *payload)
{
	const unsigned stream = stream_of(payload);

	if (r->n_packets[stream] > 0) {
		r->n_packets[stream]--;
		put_index(r, WIRE_INDEX_OK, PACKET_BYTES * 8, PACKET_BYTES * 8 - 64, 200);
	} else {
		r->n_hups++;
		put_index(r, WIRE_INDEX_HUP, 0, 0, 0);
	}
}

static inline void answer_packet(struct relay *r, const uint8_t *payload)
{
	const struct wire_get_packet *asked = (const void *)payload;
	const struct wire_packet w = { GUINT32_TO_BE(WIRE_PACKET_OK), GUINT32_TO_BE(PACKET_BYTES), 0 };
	uint8_t bytes[PACKET_BYTES];

	ck_assert_uint_eq(GUINT64_FROM_BE(asked->offset), 4096);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->len), PACKET_BYTES);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + stream_of(payload));
	put(r, &w, sizeof(w));
	put(r, bytes, sizeof(bytes));
}

/* ---- both sides ---- */

static inline void relay_init(struct relay *r)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	*r = (struct relay){
		.fd = -1,
		.in = g_byte_array_new(),
		.out = g_byte_array_new(),
		.left = SIZE_MAX,
		.minor = 13,
		.n_streams = 3,
		.n_packets = { [2] = 3, [3] = 1, [4] = 1 },
		.answers = {
			[WIRE_CONNECT] = answer_connect, [WIRE_LIST] = answer_list, [WIRE_CREATE] = answer_create,
			[WIRE_ATTACH] = answer_attach, [WIRE_NEW_STREAMS] = answer_new_streams,
			[WIRE_METADATA] = answer_metadata, [WIRE_NEXT_INDEX] = answer_index,
			[WIRE_PACKET] = answer_packet,
		},
	};
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(r->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(r->listener, 1), 0);
	ck_assert_int_eq(getsockname(r->listener, (struct sockaddr *)&address, &len), 0);
	r->port = ntohs(address.sin_port);
}

static inline void relay_hang_up(struct relay *r)
{
	close(r->fd);
	close(r->listener);
	r->fd = r->listener = -1;
}

static inline void relay_release(struct relay *r)
{
	viewer_destroy(r->viewer);
	relay_hang_up(r);
	g_byte_array_free(r->in, TRUE);
	g_byte_array_free(r->out, TRUE);
}

/* Of a viewer of the session; name NULL: of the list of sessions. */
static inline struct viewer_options relay_options(const struct relay *r, const char *name)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(r->port),
					     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct viewer_options options = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
						.target = name ? session_host : NULL,
						.session = name,
						.id = r->wanted,
						.from_start = r->from_start,
						.timeout_ms = r->is_silent ? 300 : 0 };

	ck_assert(connect(options.fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EINPROGRESS);
	return options;
}

static inline void relay_view(struct relay *r, const char *name)
{
	const struct viewer_options options = relay_options(r, name);

	r->viewer = viewer_create(&options);
}

static inline void relay_answer(struct relay *r)
{
	while (r->in->len >= sizeof(struct wire_head)) {
		const struct wire_head *head = (const void *)r->in->data;
		const size_t size = sizeof(*head) + GUINT64_FROM_BE(head->size);
		const uint32_t command = GUINT32_FROM_BE(head->command);

		ck_assert_uint_lt(command, WIRE_COMMANDS);
		if (r->in->len < size)
			return;
		r->asked[command]++;
		r->is_mute |= !r->answers[command];
		if (!r->is_mute)
			r->answers[command](r, r->in->data + sizeof(*head));
		g_byte_array_remove_range(r->in, 0, (guint)size);
	}
}

/* Lets the relayd do what it can. */
static inline void relay_step(struct relay *r)
{
	size_t len;
	uint8_t bytes[4096];
	ssize_t n;

	if (r->fd < 0 && r->listener >= 0)
		r->fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (r->fd < 0)
		return;
	while ((n = recv(r->fd, bytes, sizeof(bytes), 0)) > 0)
		g_byte_array_append(r->in, bytes, (guint)n);
	relay_answer(r);
	len = MIN(r->chunk ? MIN(r->chunk, r->out->len) : r->out->len, r->left);
	n = send(r->fd, r->out->data, len, MSG_NOSIGNAL);
	if (n > 0)
		g_byte_array_remove_range(r->out, 0, (guint)n);
	if (r->left != SIZE_MAX && n > 0)
		r->left -= (size_t)n;
	if (r->left == 0)
		relay_hang_up(r);
}

/* The viewer's next event, with the relayd running in between. */
static inline enum lt_status next(struct relay *r, struct viewer_event *event)
{
	enum lt_status status;

	while ((status = viewer_next(r->viewer, event)) == LT_AGAIN) {
		struct pollfd fds[] = {
			{ viewer_fd(r->viewer), (short)viewer_events(r->viewer), 0 },
			{ r->fd >= 0 ? r->fd : r->listener, (short)(POLLIN | (r->out->len ? POLLOUT : 0)), 0 },
		};
		const int64_t due_us = viewer_due_us(r->viewer), now_us = g_get_monotonic_time();

		ck_assert_int_ne(due_us, INT64_MAX);
		poll(fds, 2, (int)CLAMP((due_us - now_us + 999) / 1000, 0, 1000));
		relay_step(r);
	}
	return status;
}

/* The same when nothing is due. */
static inline enum lt_status next_at_rest(struct relay *r, struct viewer_event *event)
{
	enum lt_status status;

	while ((status = viewer_next(r->viewer, event)) == LT_AGAIN)
		relay_step(r);
	return status;
}

/* One word per event; frees what the viewer owns. */
static inline char *describe(struct viewer_event *e)
{
	const unsigned stream = e->stream ? (unsigned)e->stream->id : 0;

	switch (e->kind) {
	case VIEWER_SESSION:
		return g_strdup_printf("session:%s/%s/%u/%u/%d", e->session->host, e->session->name,
				       e->session->timer_us, e->session->clients, e->session->is_ctf2);
	case VIEWER_LISTED:
		return g_strdup("listed");
	case VIEWER_ATTACHED:
		return g_strdup_printf("attached:%s", e->session->name);
	case VIEWER_STREAM:
		ck_assert_str_eq(e->stream->path, "kernel");
		ck_assert_uint_eq(e->stream->trace, 9);
		return g_strdup_printf("stream%u:%s%s", stream, e->stream->channel, e->stream->is_metadata ? "!" : "");
	case VIEWER_METADATA:
		return g_strdup_printf("metadata:%.*s", (int)e->len, (const char *)e->bytes);
	case VIEWER_PACKET:
		ck_assert_uint_eq(e->packet->len, PACKET_BYTES);
		ck_assert_uint_eq(e->packet->content_bits, PACKET_BYTES * 8 - 64);
		ck_assert_uint_eq(e->packet->begin, 100);
		ck_assert_uint_eq(e->packet->end, 200);
		ck_assert_uint_eq(e->packet->discarded, 3);
		ck_assert_uint_eq(e->packet->class_id, 5);
		for (unsigned i = 0; i < PACKET_BYTES; i++)
			if (e->packet->bytes[i] != (uint8_t)(i * 7 + stream))
				ck_abort_msg("byte %u of a packet is wrong", i);
		viewer_packet_free(e->packet);
		return g_strdup_printf("packet%u", stream);
	case VIEWER_BEACON:
		return g_strdup_printf("beacon%u:%u", stream, (unsigned)e->until);
	case VIEWER_STREAM_GONE:
		viewer_stream_free(e->stream);
		return g_strdup_printf("gone%u", stream);
	}
	return NULL;
}

static inline GString *run(struct relay *r, const char *name, enum lt_status *status)
{
	GString *words = g_string_new(NULL);
	struct viewer_event event;

	relay_view(r, name);
	while ((*status = next(r, &event)) == LT_OK) {
		char *word = describe(&event);

		g_string_append_printf(words, "%s%s", words->len ? " " : "", word);
		g_free(word);
		if (event.kind == VIEWER_LISTED)
			break;
	}
	return words;
}

static inline void expect(struct relay *r, const char *name, enum lt_status wanted, const char *wanted_words)
{
	enum lt_status status;
	GString *words = run(r, name, &status);

	ck_assert_msg(status == wanted, "status %d: %s; %s", status, words->str, error_text());
	ck_assert_str_eq(words->str, wanted_words);
	g_string_free(words, TRUE);
	relay_release(r);
}

/* Expects the viewer to fail with this cause and a text that contains part. */
static inline void expect_failure(struct relay *r, enum viewer_cause cause, const char *part)
{
	enum lt_status status;
	struct viewer_event event;
	GString *words = run(r, session_name, &status);

	ck_assert_msg(status == LT_ERROR, "status %d: %s", status, words->str);
	ck_assert_msg(strstr(error_text(), part) != NULL, "'%s', not '%s'", error_text(), part);
	ck_assert_msg(viewer_cause(r->viewer) == cause, "cause %d: %s", viewer_cause(r->viewer), error_text());
	/* and it must stay failed */
	error_clear();
	ck_assert_int_eq(viewer_next(r->viewer, &event), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), part));
	ck_assert_int_eq(viewer_fd(r->viewer), -1);
	ck_assert_uint_eq(viewer_events(r->viewer), 0);
	ck_assert_int_eq(viewer_due_us(r->viewer), INT64_MAX);
	g_string_free(words, TRUE);
	relay_release(r);
}

#endif
