/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sessions at full speed next to quiet ones, all read by one worker. The worker is this program, which watches
 * each of its rounds, from one epoll_wait() to the next. Data in a quiet session's socket at the end of a round must
 * be read in the next one, and no round may be longer than one turn of each session. Rounds are counted, not timed.
 */
#include <dlfcn.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "source/job.h"
#include "source/ring.h"
#include "source/source.h"
#include "unit.h"
#include "viewer/protocol.h"
#include "worker/relayds.h"

enum {
	SESSIONS = 32, /* the first and the last are busy; one epoll_wait() can report all of them */
	TIMES = 5,     /* each quiet one has this number of events */
	TIMER_US = 20000,
	WAIT_MS = 10,
	BUSY_EVENTS = 300000, /* in a packet: a worker needs dozens of turns for it */
	/* Limits of a turn: steps of a source, and records per step (worker/relayds.c, reader/native/live_merge.c). */
	TURN_RECORDS = 8 * 512,
	FEW_RECORDS = 64, /* extra records: declarations of the session, the time */
	UNFAIR = 9,       /* exit status */
};

/* ---- the worker ---- */

/* A session as seen by its worker. */
struct seen {
	bool is_busy;
	int connection;
	const struct ring_shared *ring; /* and its buffer */
	uint64_t committed;             /* bytes, at the end of the previous round */
	unsigned reads;                 /* from the connection */
	unsigned reads_before;          /* the same, at the end of the previous round */
	bool had_bytes;                 /* there were bytes to read then */
};

static struct seen seen[SESSIONS];
static unsigned n_seen;

static void *original(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void end_unfair(const struct seen *s, const char *why)
{
	fprintf(stderr, "session %d, %s: %s\n", (int)(s - seen), s->is_busy ? "busy" : "quiet", why);
	_exit(UNFAIR);
}

/* Counts records. Padding before the end of the buffer, which may be large, is not a record. */
static unsigned records_between(const struct ring_shared *ring, uint64_t begin, uint64_t end)
{
	const char *buffer = (const char *)ring + RING_HEADER_BYTES;
	unsigned n = 0;

	while (begin < end) {
		const struct event *ev = (const void *)(buffer + (begin & (ring->capacity - 1)));

		n += ev->kind != EVENT_NONE;
		begin += ev->size;
	}
	return n;
}

static void look_at(struct seen *s)
{
	const uint64_t committed = atomic_load(&s->ring->committed);
	int bytes = 0;

	if (committed - s->committed > s->ring->capacity ||
	    records_between(s->ring, s->committed, committed) > TURN_RECORDS + FEW_RECORDS)
		end_unfair(s, "a turn of more records than one has");
	if (!s->is_busy && s->had_bytes && s->reads == s->reads_before)
		end_unfair(s, "nobody reads what it has");
	s->committed = committed;
	s->reads_before = s->reads;
	s->had_bytes = ioctl(s->connection, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Replaces the library's function. The end of a round. */
int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	static int (*wait)(int, struct epoll_event *, int, int);

	if (!wait)
		*(void **)&wait = original("epoll_wait");
	for (unsigned i = 0; i < n_seen; i++)
		look_at(&seen[i]);
	return wait(fd, events, most, timeout);
}

ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
	static ssize_t (*receive)(int, void *, size_t, int);

	if (!receive)
		*(void **)&receive = original("recv");
	for (unsigned i = 0; i < n_seen; i++)
		seen[i].reads += seen[i].connection == fd;
	return receive(fd, bytes, len, flags);
}

/* A new session comes. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	static ssize_t (*receive)(int, struct msghdr *, int);
	const struct job_command *command = message->msg_iov->iov_base;
	const struct cmsghdr *head;
	int fds[JOB_FDS];
	ssize_t n;

	if (!receive)
		*(void **)&receive = original("recvmsg");
	n = receive(fd, message, flags);
	head = n > 0 ? CMSG_FIRSTHDR(message) : NULL;
	if (!head || command->kind != JOB_LIVE || n_seen == SESSIONS)
		return n;
	memcpy(fds, CMSG_DATA(head), sizeof(fds));
	seen[n_seen++] = (struct seen){
		.is_busy = command->text[command->url_len - 1] == 'y', /* ".../busy", ".../quiet" */
		.connection = fds[JOB_CONNECTION],
		.ring = mmap(NULL, RING_HEADER_BYTES + RING_LIVE_CAPACITY, PROT_READ, MAP_SHARED, fds[JOB_MEMORY], 0),
	};
	return n;
}

/* ---- their traces: numbered events without fields ---- */

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 32; align = 8; signed = 0; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = 0; } := uint64_t;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	"	packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
	"env { hostname = \"h\"; domain = \"kernel\"; tracer_name = \"lttng-modules\"; tracer_major = 2;\n"
	"	tracer_minor = 13; };\n"
	"clock { name = monotonic; freq = 1000000000; offset = 0; };\n"
	"typealias integer { size = 64; align = 8; signed = 0; map = clock.monotonic.value; } := time_t;\n"
	"stream { id = 0; event.header := struct { uint32_t id; time_t timestamp; };\n"
	"	packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint64_t content_size;\n"
	"		uint64_t packet_size; uint64_t events_discarded; uint32_t cpu_id; }; };\n"
	"event { name = \"tick\"; id = 0; stream_id = 0; fields := struct { }; };\n";

struct trace_packet {
	uint32_t magic, stream_id;
	uint64_t begin, end, content_bits, packet_bits, discarded;
	uint32_t cpu;
} __attribute__((packed));

struct trace_event {
	uint32_t id;
	uint64_t time;
} __attribute__((packed));

static void put_events(GByteArray *out, uint64_t begin, unsigned n)
{
	const uint64_t bits = 8 * (sizeof(struct trace_packet) + n * sizeof(struct trace_event));
	const struct trace_packet head = {
		.magic = 0xc1fc1fc1, .begin = begin, .end = begin + n, .content_bits = bits, .packet_bits = bits
	};

	g_byte_array_append(out, (const void *)&head, sizeof(head));
	for (unsigned i = 0; i < n; i++) {
		const struct trace_event event = { .time = begin + i };

		g_byte_array_append(out, (const void *)&event, sizeof(event));
	}
}

/* ---- the relayd, in a thread ---- */

struct session {
	/* used by the relayd */
	int listener, fd;
	GByteArray *in, *out;
	bool has_metadata; /* it has been sent */
	size_t sent;       /* bytes of .out */
	uint64_t now;      /* cycles; the start of its next packet */
	/* used by the test */
	struct source_spec *spec;
	struct source *source;
	unsigned seen; /* number of events */
	/* used by both */
	atomic_uint wanted; /* number of events to provide by now; a busy session always has more */
};

static struct session sessions[SESSIONS];
static atomic_bool is_over;

static void put(struct session *s, const void *data, size_t len)
{
	g_byte_array_append(s->out, data, (guint)len);
}

static void put32(struct session *s, uint32_t value)
{
	value = GUINT32_TO_BE(value);
	put(s, &value, sizeof(value));
}

static bool is_busy(const struct session *s)
{
	return s == &sessions[0] || s == &sessions[SESSIONS - 1];
}

static const char *name_of(const struct session *s)
{
	return is_busy(s) ? "busy" : "quiet";
}

static void answer_list(struct session *s)
{
	struct wire_session_old w = { .session.timer_us = GUINT32_TO_BE(TIMER_US), .host = "h" };

	g_strlcpy(w.name, name_of(s), sizeof(w.name));
	put32(s, 1);
	put(s, &w, sizeof(w));
}

static void answer_attach(struct session *s)
{
	put32(s, WIRE_ATTACHED);
	put32(s, 2);
	for (unsigned i = 0; i < 2; i++) {
		struct wire_stream w = { .id = GUINT64_TO_BE(i + 1),
					 .trace = GUINT64_TO_BE(1),
					 .is_metadata = GUINT32_TO_BE(i == 0),
					 .path = "kernel" };

		g_strlcpy(w.channel, i == 0 ? "metadata" : "ch_0", sizeof(w.channel));
		put(s, &w, sizeof(w));
	}
}

static void answer_metadata(struct session *s)
{
	const uint64_t len = s->has_metadata ? 0 : strlen(metadata);
	const uint32_t status = len ? WIRE_METADATA_OK : WIRE_METADATA_NONE;
	const struct wire_metadata w = { GUINT64_TO_BE(len), GUINT32_TO_BE(status) };

	s->has_metadata = true;
	put(s, &w, sizeof(w));
	put(s, metadata, len);
}

static unsigned events_of(const struct session *s)
{
	return is_busy(s) ? BUSY_EVENTS : 1;
}

static uint64_t packet_len(const struct session *s)
{
	return sizeof(struct trace_packet) + events_of(s) * sizeof(struct trace_event);
}

static void answer_index(struct session *s)
{
	const bool has_packet = is_busy(s) || s->now < atomic_load(&s->wanted);
	struct wire_index w = { .status = GUINT32_TO_BE(WIRE_INDEX_RETRY) };

	if (has_packet) {
		w.status = GUINT32_TO_BE(WIRE_INDEX_OK);
		w.packet_bits = w.content_bits = GUINT64_TO_BE(8 * packet_len(s));
		w.begin = GUINT64_TO_BE(s->now);
		w.end = GUINT64_TO_BE(s->now + events_of(s));
	}
	put(s, &w, sizeof(w));
}

static void answer_packet(struct session *s)
{
	const struct wire_packet w = { GUINT32_TO_BE(WIRE_PACKET_OK), GUINT32_TO_BE((uint32_t)packet_len(s)), 0 };

	put(s, &w, sizeof(w));
	put_events(s->out, s->now, events_of(s));
	s->now += events_of(s);
}

static void answer(struct session *s, uint32_t command)
{
	const struct wire_connect hello = { 1, GUINT32_TO_BE(2), GUINT32_TO_BE(4), GUINT32_TO_BE(WIRE_FOR_COMMANDS) };

	switch (command) {
	case WIRE_CONNECT:
		put(s, &hello, sizeof(hello));
		break;
	case WIRE_LIST:
		answer_list(s);
		break;
	case WIRE_CREATE:
		put32(s, WIRE_CREATED);
		break;
	case WIRE_ATTACH:
		answer_attach(s);
		break;
	case WIRE_METADATA:
		answer_metadata(s);
		break;
	case WIRE_NEXT_INDEX:
		answer_index(s);
		break;
	case WIRE_PACKET:
		answer_packet(s);
		break;
	default:
		put32(s, WIRE_STREAMS_NONE);
		put32(s, 0);
	}
}

/* false: there is nothing to do for it. */
static bool serve(struct session *s)
{
	const struct wire_head *head;
	uint8_t bytes[4096];
	ssize_t n;
	size_t len;

	if (s->fd < 0)
		s->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (s->fd < 0)
		return false;
	n = recv(s->fd, bytes, sizeof(bytes), 0);
	if (n > 0)
		g_byte_array_append(s->in, bytes, (guint)n);
	/* One command at a time, so that no packet of a busy session is made before it is requested. */
	head = (const void *)s->in->data;
	if (s->out->len == 0 && s->in->len >= sizeof(*head) &&
	    s->in->len >= (len = sizeof(*head) + GUINT64_FROM_BE(head->size))) {
		answer(s, GUINT32_FROM_BE(head->command));
		g_byte_array_remove_range(s->in, 0, (guint)len);
	}
	if (s->out->len == 0)
		return n > 0;
	n = send(s->fd, s->out->data + s->sent, s->out->len - s->sent, MSG_NOSIGNAL);
	if (n <= 0)
		return false;
	s->sent += (size_t)n;
	if (s->sent < s->out->len)
		return true;
	s->sent = 0;
	g_byte_array_set_size(s->out, 0);
	return true;
}

static void *run_relayd(void *unused)
{
	struct pollfd fds[SESSIONS];

	while (!atomic_load(&is_over)) {
		bool any = false;

		for (unsigned i = 0; i < SESSIONS; i++) {
			struct session *s = &sessions[i];

			any |= serve(s);
			fds[i] = (struct pollfd){ .fd = s->fd < 0 ? s->listener : s->fd,
						  .events = s->out->len ? POLLOUT : POLLIN };
		}
		if (!any)
			poll(fds, SESSIONS, WAIT_MS);
	}
	return unused;
}

/* ---- the test ---- */

static void start(struct session *s)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(address);
	struct source_url url;
	char *text;

	s->fd = -1;
	s->now = is_busy(s) ? 1 : 0;
	s->in = g_byte_array_new();
	s->out = g_byte_array_new();
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(s->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(s->listener, 1), 0);
	ck_assert_int_eq(getsockname(s->listener, (struct sockaddr *)&address, &len), 0);
	text = g_strdup_printf("net://127.0.0.1:%u/host/h/%s", ntohs(address.sin_port), name_of(s));
	ck_assert_int_eq(source_parse_url(text, &url), LT_OK);
	s->spec = source_live_spec(&url);
	ck_assert_int_eq(source_start(s->spec, 0, 1, &s->source), LT_OK);
	source_url_release(&url);
	g_free(text);
}

/* Reads the available records; returns whether there were events. */
static bool read_session(struct session *s)
{
	const unsigned before = s->seen;
	const struct event *ev;
	enum lt_status status;

	while ((status = source_peek(s->source, &ev)) == LT_OK && s->seen < before + TURN_RECORDS) {
		s->seen += ev->kind == EVENT_OTHER;
		source_next(s->source);
	}
	ck_assert_msg(status == LT_OK || status == LT_AGAIN, "%s", error_text());
	return s->seen > before;
}

static void wait_for_any(void)
{
	struct pollfd fds[SESSIONS];

	for (unsigned i = 0; i < SESSIONS; i++)
		fds[i] = (struct pollfd){ .fd = source_fd(sessions[i].source), .events = POLLIN };
	poll(fds, SESSIONS, WAIT_MS);
}

/* Reads all sessions once; returns the number of quiet ones that had an event. */
static unsigned read_all(void)
{
	unsigned came = 0, any = 0;

	for (unsigned i = 0; i < SESSIONS; i++) {
		struct session *s = &sessions[i];

		if (!read_session(s))
			continue;
		any++;
		came += !is_busy(s);
		if (!is_busy(s) && s->seen < TIMES)
			atomic_fetch_add(&s->wanted, 1);
	}
	if (!any)
		wait_for_any();
	return came;
}

/* Runs until each busy session has had this many more events. */
static unsigned read_busy(unsigned events)
{
	struct session *first = &sessions[0], *last = &sessions[SESSIONS - 1];
	const unsigned until[] = { first->seen + events, last->seen + events };
	unsigned came = 0;

	while (first->seen < until[0] || last->seen < until[1])
		came += read_all();
	return came;
}

static void stop(struct session *s)
{
	source_stop(s->source);
	source_spec_free(s->spec);
	close(s->listener);
	close(s->fd);
	g_byte_array_free(s->in, TRUE);
	g_byte_array_free(s->out, TRUE);
}

START_TEST(test_quiet_beside_busy)
{
	unsigned came;
	GThread *relayd;

	source_set_live_workers(1);
	for (unsigned i = 0; i < SESSIONS; i++)
		start(&sessions[i]);
	relayd = g_thread_new("relayd", run_relayd, NULL);
	ck_assert_uint_eq(read_busy(BUSY_EVENTS / 2), 0);
	for (unsigned i = 0; i < SESSIONS; i++)
		atomic_store(&sessions[i].wanted, 1);
	came = read_busy(BUSY_EVENTS);
	while (came < (SESSIONS - 2) * TIMES)
		came += read_all();
	ck_assert_uint_eq(came, (SESSIONS - 2) * TIMES);
	atomic_store(&is_over, true);
	g_thread_join(relayd);
	for (unsigned i = 0; i < SESSIONS; i++)
		stop(&sessions[i]);
	source_wait_for_workers();
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = { test_quiet_beside_busy };

	if (argc > 4 && strcmp(argv[1], "--worker") == 0 && strcmp(argv[3], JOB_RELAYDS) == 0) {
		worker_relayds(atoi(argv[2]), atoi(argv[4]));
		return 0;
	}
	return unit_run("fairness", NULL, NULL, tests, 1);
}
