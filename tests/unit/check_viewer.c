/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/viewer.h"

#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "unit.h"
#include "viewer/protocol.h"

/*
 * A viewer and a relayd in one thread: the relayd answers by a table of functions, which a test
 * replaces to see what the viewer makes of it.
 */
struct relay;
typedef void answer_fn(struct relay *r, const uint8_t *payload);

struct relay {
	int listener, fd;
	unsigned port;
	struct viewer *viewer;
	GByteArray *in, *out;
	size_t chunk; /* bytes sent at a time; 0: all that there are */
	size_t left;  /* bytes until it hangs up; SIZE_MAX: never */
	bool is_silent; /* at some time: the viewer is not to wait for long */
	bool is_mute;   /* it was asked for what it has no answer to */
	unsigned minor;
	answer_fn *answers[WIRE_COMMANDS];
	unsigned asked[WIRE_COMMANDS];
	unsigned n_streams;    /* of the attach answer: a metadata stream, 1, and data streams from 2 on */
	unsigned n_late;       /* given by the next GET_NEW_STREAMS */
	unsigned n_packets[8]; /* of each data stream; HUP after them */
	unsigned n_hups;       /* once all data streams have hung up, the session is not listed any more */
	unsigned metadata_sent;
	unsigned flags;        /* of the next index */
	bool from_start;
	uint64_t lie, lie2;    /* for the answers that tests put in */
};

enum { PACKET_BYTES = 40000, TIMER_US = 20000 };

static const char session_host[] = "web", session_name[] = "s1";

/* ---- answers ---- */

static void put(struct relay *r, const void *data, size_t len)
{
	g_byte_array_append(r->out, data, (guint)len);
}

static void put32(struct relay *r, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	put(r, &value, sizeof(value));
}

static void answer_connect(struct relay *r, const uint8_t *payload)
{
	const struct wire_connect *asked = (const void *)payload;
	const struct wire_connect w = { 1, GUINT32_TO_BE(2), GUINT32_TO_BE(r->minor), GUINT32_TO_BE(1) };

	ck_assert_uint_eq(GUINT32_FROM_BE(asked->major), 2);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->minor), 15);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->type), 1);
	put(r, &w, sizeof(w));
}

static void put_session(struct relay *r, uint64_t id, const char *host, const char *name, uint32_t timer_us,
			uint32_t clients, uint32_t format)
{
	const struct wire_session session = { GUINT64_TO_BE(id), GUINT32_TO_BE(timer_us), GUINT32_TO_BE(clients),
					      GUINT32_TO_BE(3) };
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

static void answer_list(struct relay *r, const uint8_t *payload)
{
	const bool is_over = r->n_hups > 0 && r->n_hups >= r->n_streams - 1;

	(void)payload;
	put32(r, is_over ? 1 : 2);
	put_session(r, 6, "db", "nightly", 1000000, 1, 1);
	if (!is_over)
		put_session(r, 7, session_host, session_name, TIMER_US, 0, 0);
}

static void answer_empty_list(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, 0);
}

static void answer_create(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, WIRE_CREATED);
}

static void put_stream(struct relay *r, uint64_t id)
{
	struct wire_stream w = { .id = GUINT64_TO_BE(id), .trace = GUINT64_TO_BE(9),
				 .is_metadata = GUINT32_TO_BE(id == 1), .path = "kernel" };

	g_snprintf(w.channel, sizeof(w.channel), id == 1 ? "metadata" : "ch_%u", (unsigned)id - 2);
	put(r, &w, sizeof(w));
}

static void answer_attach(struct relay *r, const uint8_t *payload)
{
	const struct wire_attach *asked = (const void *)payload;

	ck_assert_uint_eq(GUINT64_FROM_BE(asked->session), 7);
	ck_assert_uint_eq(GUINT32_FROM_BE(asked->seek), r->from_start ? WIRE_SEEK_BEGINNING : WIRE_SEEK_LAST);
	put32(r, WIRE_ATTACHED);
	put32(r, r->n_streams);
	/* The metadata stream comes last: order means nothing. */
	for (unsigned i = r->n_streams; i > 0; i--)
		put_stream(r, i);
}

static void answer_new_streams(struct relay *r, const uint8_t *payload)
{
	uint64_t id;

	memcpy(&id, payload, sizeof(id));
	ck_assert_uint_eq(GUINT64_FROM_BE(id), 7);
	put32(r, WIRE_STREAMS_NEW);
	put32(r, r->n_late);
	for (; r->n_late > 0; r->n_late--)
		put_stream(r, ++r->n_streams);
}

static void answer_metadata(struct relay *r, const uint8_t *payload)
{
	static const char *const pieces[] = { "first", "second" };
	const char *piece = r->metadata_sent < 2 ? pieces[r->metadata_sent++] : "";
	const uint32_t status = *piece ? WIRE_METADATA_OK : WIRE_METADATA_NONE;
	const struct wire_metadata w = { GUINT64_TO_BE(strlen(piece)), GUINT32_TO_BE(status) };

	(void)payload;
	put(r, &w, sizeof(w));
	put(r, piece, strlen(piece));
}

static unsigned stream_of(const uint8_t *payload)
{
	uint64_t id;

	memcpy(&id, payload, sizeof(id));
	return (unsigned)GUINT64_FROM_BE(id);
}

static void put_index(struct relay *r, uint32_t status, uint64_t bits, uint64_t content_bits, uint64_t end)
{
	struct wire_index w = { .offset = GUINT64_TO_BE(4096), .packet_bits = GUINT64_TO_BE(bits),
				.content_bits = GUINT64_TO_BE(content_bits), .begin = GUINT64_TO_BE(100),
				.end = GUINT64_TO_BE(end), .discarded = GUINT64_TO_BE(3), .class_id = GUINT64_TO_BE(5),
				.status = GUINT32_TO_BE(status), .flags = GUINT32_TO_BE(r->flags) };

	r->flags = 0;
	put(r, &w, sizeof(w));
}

static void answer_index(struct relay *r, const uint8_t *payload)
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

static void answer_packet(struct relay *r, const uint8_t *payload)
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

static void relay_init(struct relay *r)
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

static void relay_hang_up(struct relay *r)
{
	close(r->fd);
	close(r->listener);
	r->fd = r->listener = -1;
}

static void relay_release(struct relay *r)
{
	viewer_destroy(r->viewer);
	relay_hang_up(r);
	g_byte_array_free(r->in, TRUE);
	g_byte_array_free(r->out, TRUE);
}

static void relay_view(struct relay *r, const char *name)
{
	const struct viewer_options options = { .family = AF_UNSPEC, .host = "127.0.0.1", .port = r->port,
						.target = name ? session_host : NULL, .session = name,
						.from_start = r->from_start, .timeout_ms = r->is_silent ? 300 : 0 };

	r->viewer = viewer_create(&options);
}

static void relay_answer(struct relay *r)
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

/* What the relayd can do now. */
static void relay_step(struct relay *r)
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

/* The viewer's next event, the relayd running beside it. */
static enum lt_status next(struct relay *r, struct viewer_event *event)
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

/* The same where nothing is due. */
static enum lt_status next_at_rest(struct relay *r, struct viewer_event *event)
{
	enum lt_status status;

	while ((status = viewer_next(r->viewer, event)) == LT_AGAIN)
		relay_step(r);
	return status;
}

/* One word per event; what the viewer owns is freed. */
static char *describe(struct viewer_event *e)
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

static GString *run(struct relay *r, const char *name, enum lt_status *status)
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

static void expect(struct relay *r, const char *name, enum lt_status wanted, const char *wanted_words)
{
	enum lt_status status;
	GString *words = run(r, name, &status);

	ck_assert_msg(status == wanted, "status %d: %s; %s", status, words->str, error_text());
	ck_assert_str_eq(words->str, wanted_words);
	g_string_free(words, TRUE);
	relay_release(r);
}

/* The viewer fails with this cause and a text that contains part. */
static void expect_failure(struct relay *r, enum viewer_cause cause, const char *part)
{
	enum lt_status status;
	struct viewer_event event;
	GString *words = run(r, session_name, &status);

	ck_assert_msg(status == LT_ERROR, "status %d: %s", status, words->str);
	ck_assert_msg(strstr(error_text(), part) != NULL, "'%s', not '%s'", error_text(), part);
	ck_assert_msg(viewer_cause(r->viewer) == cause, "cause %d: %s", viewer_cause(r->viewer), error_text());
	/* And so it stays. */
	error_clear();
	ck_assert_int_eq(viewer_next(r->viewer, &event), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), part));
	ck_assert_int_eq(viewer_fd(r->viewer), -1);
	ck_assert_int_eq(viewer_due_us(r->viewer), INT64_MAX);
	g_string_free(words, TRUE);
	relay_release(r);
}

/* ---- the list ---- */

START_TEST(test_list)
{
	static const unsigned minors[] = { 4, 13, 15, 16, UINT32_MAX };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(minors); i++) {
		for (unsigned chunk = 0; chunk < 2; chunk++) {
			relay_init(&r);
			r.minor = minors[i];
			r.chunk = chunk;
			expect(&r, NULL, LT_OK, minors[i] < 15 ?
			       "session:db/nightly/1000000/1/0 session:web/s1/20000/0/0 listed" :
			       "session:db/nightly/1000000/1/1 session:web/s1/20000/0/0 listed");
		}
	}
}
END_TEST

START_TEST(test_list_again)
{
	enum lt_status status;
	struct viewer_event event;
	struct relay r;

	relay_init(&r);
	g_string_free(run(&r, NULL, &status), TRUE);
	ck_assert_int_eq(viewer_next(r.viewer, &event), LT_AGAIN);
	r.answers[WIRE_LIST] = answer_empty_list;
	viewer_list_again(r.viewer);
	viewer_list_again(r.viewer);
	ck_assert_int_eq(next(&r, &event), LT_OK);
	ck_assert_int_eq(event.kind, VIEWER_LISTED);
	ck_assert_uint_eq(r.asked[WIRE_CONNECT], 1);
	ck_assert_uint_eq(r.asked[WIRE_LIST], 2);
	put32(&r, 1);
	ck_assert_int_eq(next_at_rest(&r, &event), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "an answer to nothing"));
	relay_release(&r);
}
END_TEST

static void answer_long_names(struct relay *r, const uint8_t *payload)
{
	char *name = g_strnfill(4096, 'n');

	(void)payload;
	put32(r, 2);
	put_session(r, 1, name, name, 1, 0, 0);
	put_session(r, 2, "", "", 1, 0, 0);
	g_free(name);
}

START_TEST(test_list_long_names)
{
	char *name = g_strnfill(4096, 'n'), *old_host = g_strndup(name, 64), *old_name = g_strndup(name, 255);
	char *wanted = g_strdup_printf("session:%s/%s/1/0/0 session://1/0/0 listed", name, name);
	char *old = g_strdup_printf("session:%s/%s/1/0/0 session://1/0/0 listed", old_host, old_name);
	struct relay r;

	for (unsigned minor = 13; minor <= 15; minor += 2) {
		relay_init(&r);
		r.minor = minor;
		r.answers[WIRE_LIST] = answer_long_names;
		expect(&r, NULL, LT_OK, minor == 15 ? wanted : old);
	}
	g_free(name);
	g_free(old_host);
	g_free(old_name);
	g_free(wanted);
	g_free(old);
}
END_TEST

/* ---- a session ---- */

#define OPENED "attached:s1 stream3:ch_1 stream2:ch_0 stream1:metadata! metadata:first "

START_TEST(test_session)
{
	static const unsigned minors[] = { 4, 13, 15 };
	struct relay r;

	for (unsigned i = 0; i < 2 * G_N_ELEMENTS(minors); i++) {
		relay_init(&r);
		r.minor = minors[i / 2];
		r.chunk = i % 2 ? 997 : 0;
		r.from_start = i % 2;
		r.n_packets[2] = 2;
		r.n_packets[3] = 0;
		/* The last of the metadata is asked for when nothing else is to be read. */
		expect(&r, session_name, LT_END, OPENED "gone3 packet2 packet2 gone2 metadata:second");
	}
}
END_TEST

/* Every byte on its own, in the small parts: packets would take too long. */
START_TEST(test_session_by_bytes)
{
	struct relay r;

	for (unsigned minor = 13; minor <= 15; minor += 2) {
		relay_init(&r);
		r.minor = minor;
		r.chunk = 1;
		r.n_streams = 2;
		r.n_packets[2] = 0;
		expect(&r, session_name, LT_END,
		       "attached:s1 stream2:ch_0 stream1:metadata! metadata:first gone2 metadata:second");
	}
}
END_TEST

static void answer_flagged_index(struct relay *r, const uint8_t *payload)
{
	if (stream_of(payload) == 2 && r->n_packets[2] == 1)
		r->flags = WIRE_FLAG_METADATA | WIRE_FLAG_STREAMS;
	answer_index(r, payload);
}

START_TEST(test_metadata_comes_before_the_packet)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_late = 0;
	r.n_packets[2] = 2;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first packet2 "
					 "metadata:second packet2 gone2");
}
END_TEST

static void answer_streams_once(struct relay *r, const uint8_t *payload)
{
	/* Not in answer to the first request, which comes without a flag. */
	if (r->asked[WIRE_NEXT_INDEX] > 0) {
		r->n_late = r->n_streams == 2;
		r->n_packets[3] = 1;
	}
	answer_new_streams(r, payload);
}

START_TEST(test_new_stream)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_NEW_STREAMS] = answer_streams_once;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first metadata:second "
					 "stream3:ch_1 packet2 gone2 packet3 gone3");
}
END_TEST

/* Streams that were announced before, as some relayds do. */
static void answer_same_streams(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, r->n_hups == 0 ? WIRE_STREAMS_NEW : WIRE_STREAMS_NONE);
	put32(r, 2);
	for (unsigned i = 2; r->n_hups == 0 && i > 0; i--)
		put_stream(r, i);
}

START_TEST(test_same_streams)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_NEW_STREAMS] = answer_same_streams;
	r.answers[WIRE_NEXT_INDEX] = answer_flagged_index;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first metadata:second "
					 "packet2 gone2");
}
END_TEST

static void answer_streams_closed(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, (uint32_t)r->lie);
	put32(r, 77); /* means nothing */
}

START_TEST(test_closed)
{
	struct relay r;

	for (unsigned status = WIRE_STREAMS_ERROR; status <= WIRE_STREAMS_CLOSED; status++) {
		relay_init(&r);
		r.n_streams = 2;
		r.lie = status;
		r.answers[WIRE_NEW_STREAMS] = answer_streams_closed;
		/* What the streams have is read nevertheless. */
		expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
						 "packet2 packet2 packet2 gone2");
		relay_init(&r);
		r.n_streams = 0;
		r.lie = status;
		r.answers[WIRE_NEW_STREAMS] = answer_streams_closed;
		expect(&r, session_name, LT_END, "attached:s1");
	}
}
END_TEST

static void answer_no_metadata(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { 0, GUINT32_TO_BE(WIRE_METADATA_NONE) };

	if (r->asked[WIRE_METADATA] > 3)
		answer_metadata(r, payload);
	else
		put(r, &w, sizeof(w));
}

/* Nothing can be read before there is metadata. */
START_TEST(test_metadata_is_late)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.answers[WIRE_METADATA] = answer_no_metadata;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
					 "packet2 packet2 packet2 gone2 metadata:second");
}
END_TEST

static void answer_metadata_gone(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { 0, GUINT32_TO_BE(WIRE_METADATA_ERROR) };

	if (r->metadata_sent == 0)
		answer_metadata(r, payload);
	else
		put(r, &w, sizeof(w));
}

START_TEST(test_metadata_stream_ends)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 1;
	r.answers[WIRE_METADATA] = answer_metadata_gone;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
					 "packet2 gone2 gone1");
}
END_TEST

/* The first time a packet is asked for something else must be read first; the last one is gone. */
static void answer_missing_packet(struct relay *r, const uint8_t *payload)
{
	const bool is_first = r->asked[WIRE_PACKET] == 1;
	const uint32_t flags = is_first ? WIRE_FLAG_METADATA : 0;
	const struct wire_packet w = { GUINT32_TO_BE((uint32_t)r->lie), 0, GUINT32_TO_BE(flags) };

	if (is_first || r->asked[WIRE_PACKET] == 3)
		put(r, &w, sizeof(w));
	else
		answer_packet(r, payload);
}

START_TEST(test_missing_packets)
{
	struct relay r;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 2;
	r.minor = 4;
	r.lie = WIRE_PACKET_ERROR;
	r.answers[WIRE_PACKET] = answer_missing_packet;
	expect(&r, session_name, LT_END, "attached:s1 stream2:ch_0 stream1:metadata! metadata:first "
					 "metadata:second packet2 gone2");
}
END_TEST

/* ---- time ---- */

/* A new beacon once per timer, the old one in between; nothing at all for every third request. */
static void answer_beacon(struct relay *r, const uint8_t *payload)
{
	const uint64_t beacon = (uint64_t)g_get_monotonic_time() / (uint64_t)r->lie;

	(void)payload;
	put_index(r, r->asked[WIRE_NEXT_INDEX] % 3 ? WIRE_INDEX_INACTIVE : WIRE_INDEX_RETRY, 0, 0, beacon);
}

static void answer_slow_session(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, 1);
	put_session(r, 7, session_host, session_name, (uint32_t)r->lie, 0, 0);
}

/* Few requests per timer, and each beacon once. */
START_TEST(test_beacons)
{
	struct viewer_event event;
	uint64_t last = 0;
	struct relay r;
	unsigned n = 0;

	relay_init(&r);
	r.n_streams = 2;
	r.lie = 100000;
	r.answers[WIRE_LIST] = answer_slow_session;
	r.answers[WIRE_NEXT_INDEX] = answer_beacon;
	relay_view(&r, session_name);
	while (n < 12) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind != VIEWER_BEACON)
			continue;
		ck_assert_uint_gt(event.until, last);
		last = event.until;
		n++;
	}
	/* About 3 are needed; polled every 10 ms it would be 10. */
	ck_assert_msg(r.asked[WIRE_NEXT_INDEX] <= 6 * n, "%u requests", r.asked[WIRE_NEXT_INDEX]);
	relay_release(&r);
}
END_TEST

/* No more packets than are taken. */
START_TEST(test_packets_are_held)
{
	struct viewer_packet *held[3];
	struct viewer_event event;
	struct relay r;
	unsigned n = 0;

	relay_init(&r);
	r.n_streams = 2;
	r.n_packets[2] = 100;
	relay_view(&r, session_name);
	while (n < 2) {
		ck_assert_int_eq(next(&r, &event), LT_OK);
		if (event.kind == VIEWER_PACKET)
			held[n++] = event.packet;
	}
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(viewer_next(r.viewer, &event), LT_AGAIN);
		relay_step(&r);
	}
	ck_assert_uint_eq(r.asked[WIRE_PACKET], 2);
	viewer_packet_free(held[0]);
	ck_assert_int_eq(next(&r, &event), LT_OK);
	ck_assert_int_eq(event.kind, VIEWER_PACKET);
	held[0] = event.packet;
	ck_assert_uint_eq(r.asked[WIRE_PACKET], 3);
	viewer_packet_free(held[0]);
	viewer_packet_free(held[1]);
	relay_release(&r);
}
END_TEST

/* ---- refusals and lies ---- */

static void answer_status(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put32(r, (uint32_t)r->lie);
	put32(r, (uint32_t)r->lie2);
}

static void refused(enum wire_command command, uint32_t status, uint32_t count, enum viewer_cause cause,
		    const char *part)
{
	struct relay r;

	relay_init(&r);
	r.answers[command] = answer_status;
	r.lie = status;
	r.lie2 = count;
	expect_failure(&r, cause, part);
}

START_TEST(test_refusals)
{
	struct relay r;

	refused(WIRE_CREATE, 2, 0, VIEWER_PROTOCOL, "the relayd takes no viewer: status 2");
	refused(WIRE_ATTACH, WIRE_ATTACH_TAKEN, 0, VIEWER_TAKEN, "another viewer is attached");
	refused(WIRE_ATTACH, WIRE_ATTACH_UNKNOWN, 9, VIEWER_NO_SESSION, "the session is gone");
	refused(WIRE_ATTACH, WIRE_ATTACH_NOT_LIVE, 0, VIEWER_NO_SESSION, "not a live session");
	refused(WIRE_ATTACH, WIRE_ATTACH_SEEK, 0, VIEWER_PROTOCOL, "status 5");
	refused(WIRE_ATTACH, 0, 0, VIEWER_PROTOCOL, "status 0");
	refused(WIRE_ATTACH, 1, UINT32_MAX, VIEWER_PROTOCOL, "4294967295 streams");
	refused(WIRE_NEW_STREAMS, 1, 65535, VIEWER_PROTOCOL, "65535 streams");
	refused(WIRE_NEW_STREAMS, 0, 0, VIEWER_PROTOCOL, "status 0 of new streams");
	refused(WIRE_NEW_STREAMS, 5, 0, VIEWER_PROTOCOL, "status 5 of new streams");
	refused(WIRE_LIST, UINT32_MAX, 0, VIEWER_PROTOCOL, "4294967295 sessions");
	relay_init(&r);
	r.answers[WIRE_LIST] = answer_empty_list;
	expect_failure(&r, VIEWER_NO_SESSION, "no such session");
	relay_init(&r);
	r.answers[WIRE_LIST] = answer_slow_session;
	expect_failure(&r, VIEWER_NO_SESSION, "not a live session: created without '--live'");
}
END_TEST

static void answer_wrong_name(struct relay *r, const uint8_t *payload)
{
	const struct wire_session_new w = { .host_len = GUINT32_TO_BE((uint32_t)r->lie),
					    .name_len = GUINT32_TO_BE((uint32_t)r->lie2) };

	(void)payload;
	put32(r, 1);
	put(r, &w, sizeof(w));
}

START_TEST(test_wrong_names)
{
	static const uint32_t lengths[][2] = { { UINT32_MAX, 1 }, { 1, UINT32_MAX }, { 4097, 0 }, { 0, 4097 } };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
		relay_init(&r);
		r.minor = 15;
		r.answers[WIRE_LIST] = answer_wrong_name;
		r.lie = lengths[i][0];
		r.lie2 = lengths[i][1];
		expect_failure(&r, VIEWER_PROTOCOL, "a name of");
	}
}
END_TEST

static void answer_other_protocol(struct relay *r, const uint8_t *payload)
{
	const struct wire_connect w = { 1, GUINT32_TO_BE((uint32_t)r->lie), GUINT32_TO_BE((uint32_t)r->lie2), 0 };

	(void)payload;
	put(r, &w, sizeof(w));
}

START_TEST(test_other_protocol)
{
	static const uint32_t versions[][2] = { { 1, 15 }, { 3, 0 }, { 0, 0 }, { 2, 3 }, { UINT32_MAX, UINT32_MAX } };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(versions); i++) {
		relay_init(&r);
		r.answers[WIRE_CONNECT] = answer_other_protocol;
		r.lie = versions[i][0];
		r.lie2 = versions[i][1];
		expect_failure(&r, VIEWER_UNREACHABLE, "another protocol");
	}
}
END_TEST

static void answer_wrong_metadata(struct relay *r, const uint8_t *payload)
{
	const struct wire_metadata w = { GUINT64_TO_BE(r->lie), GUINT32_TO_BE((uint32_t)r->lie2) };

	(void)payload;
	put(r, &w, sizeof(w));
}

static void answer_wrong_index(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put_index(r, WIRE_INDEX_OK, r->lie, r->lie2, 200);
}

static void answer_wrong_status(struct relay *r, const uint8_t *payload)
{
	(void)payload;
	put_index(r, (uint32_t)r->lie, 8, 8, 200);
}

static void answer_wrong_packet(struct relay *r, const uint8_t *payload)
{
	const struct wire_packet w = { GUINT32_TO_BE((uint32_t)r->lie), GUINT32_TO_BE((uint32_t)r->lie2), 0 };

	(void)payload;
	put(r, &w, sizeof(w));
}

static void lied(enum wire_command command, answer_fn *answer, uint64_t lie, uint64_t lie2, const char *part)
{
	struct relay r;

	relay_init(&r);
	r.answers[command] = answer;
	r.lie = lie;
	r.lie2 = lie2;
	expect_failure(&r, VIEWER_PROTOCOL, part);
}

START_TEST(test_lies)
{
	lied(WIRE_METADATA, answer_wrong_metadata, UINT64_MAX, 1, "bytes of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, (64 << 20) + 1, 1, "67108865 bytes of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 5, 2, "status 2 of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 0, 0, "status 0 of metadata");
	lied(WIRE_METADATA, answer_wrong_metadata, 0, 4, "status 4 of metadata");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 0, 0, "a packet of 0 bits");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 9, 0, "a packet of 9 bits");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, 64, 65, "a packet of 64 bits, 65 used");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, UINT64_MAX - 7, 0, "is too large");
	lied(WIRE_NEXT_INDEX, answer_wrong_index, (UINT64_C(67108864) + 1) * 8, 0, "is too large, 67108864 is");
	lied(WIRE_NEXT_INDEX, answer_wrong_status, 0, 0, "status 0 of an index");
	lied(WIRE_NEXT_INDEX, answer_wrong_status, 7, 0, "status 7 of an index");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, 39999, "39999 bytes instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, UINT32_MAX, "instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_OK, 0, "0 bytes instead of a packet of 40000");
	lied(WIRE_PACKET, answer_wrong_packet, WIRE_PACKET_ERROR, 1, "1 bytes instead");
	lied(WIRE_PACKET, answer_wrong_packet, 0, 0, "status 0 of a packet");
	lied(WIRE_PACKET, answer_wrong_packet, 5, 0, "status 5 of a packet");
}
END_TEST

/* ---- it goes, or says nothing ---- */

/* After any number of bytes. */
START_TEST(test_hangs_up)
{
	/* of the connect answer; the list; the session; the attach answer and its streams; an index; a packet */
	static const size_t steps[] = { 0, 1, 19, 20, 21, 24, 100, 702, 703, 706, 707, 714, 715, 5000, 13827, 13828,
					13840, 13850, 14000, 30000 };
	struct relay r;

	for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
		relay_init(&r);
		r.left = steps[i];
		if (steps[i] < 20)
			expect_failure(&r, VIEWER_UNREACHABLE, "what answers is not an lttng-relayd");
		else
			expect_failure(&r, VIEWER_GONE, "the relayd went away");
	}
}
END_TEST

START_TEST(test_is_silent)
{
	struct relay r;

	for (unsigned command = WIRE_CONNECT; command < WIRE_DETACH; command++) {
		relay_init(&r);
		r.is_silent = true;
		r.answers[command] = NULL;
		expect_failure(&r, command == WIRE_CONNECT ? VIEWER_UNREACHABLE : VIEWER_GONE,
			       "the relayd does not answer for 0.3 s");
	}
}
END_TEST

START_TEST(test_unreachable)
{
	struct viewer_event event;
	struct relay r;

	relay_init(&r);
	relay_view(&r, session_name);
	relay_hang_up(&r);
	while (viewer_next(r.viewer, &event) == LT_AGAIN)
		poll(NULL, 0, 1);
	ck_assert_int_eq(viewer_cause(r.viewer), VIEWER_UNREACHABLE);
	ck_assert_str_eq(error_text(), "cannot connect: Connection refused");
	relay_release(&r);
	relay_init(&r);
	r.viewer = viewer_create(&(struct viewer_options){ .host = "name.invalid", .port = 1 });
	ck_assert_int_eq(viewer_next(r.viewer, &event), LT_ERROR);
	ck_assert_int_eq(viewer_cause(r.viewer), VIEWER_UNREACHABLE);
	ck_assert_ptr_nonnull(strstr(error_text(), "cannot find the address of the host"));
	relay_release(&r);
}
END_TEST

UNIT_MAIN("viewer", test_list, test_list_again, test_list_long_names, test_session, test_session_by_bytes,
	  test_metadata_comes_before_the_packet, test_new_stream, test_same_streams, test_closed, test_metadata_is_late,
	  test_metadata_stream_ends, test_missing_packets, test_beacons, test_packets_are_held, test_refusals,
	  test_wrong_names, test_other_protocol, test_lies, test_hangs_up, test_is_silent, test_unreachable)
