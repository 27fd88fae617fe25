/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a live session, read again: the events of the recording that it was, as far as complete. */
#include "unit.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/metadata.h"
#include "event/payload.h"
#include "reader/native/internal.h"
#include "reader/native/native.h"
#include "reader/native/recall.h"
#include "source/recall.h"

enum { RING = 64 << 20, LOG = 64 << 20, SOURCE = 5, TRACE = 6, STREAMS = 2 };

/* A packet of the recording. */
struct packet {
	unsigned stream;
	uint64_t begin_ns, end_ns, before_ns;
	const uint8_t *bytes;
	size_t len;
};

/* What was read: when and what. */
struct seen {
	GArray *times; /* uint64_t, of events */
	uint64_t begin_ns;
	unsigned lost, notes;
};

static char *directory;
static gchar *metadata, *files[STREAMS];
static gsize metadata_len, lens[STREAMS];
static struct layout *layout;
static struct native_trace trace;
static GArray *packets; /* struct packet, by the time of their ends */
static struct recall recall_log;
static int log_fd;

/* ---- the recording ---- */

static int by_end(gconstpointer a, gconstpointer b)
{
	const struct packet *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static void load_packets(unsigned stream)
{
	struct packet_head head;
	uint64_t before_ns = 0;

	for (size_t at = 0; at < lens[stream];) {
		struct packet p = { .stream = stream,
				    .bytes = (const uint8_t *)files[stream] + at,
				    .before_ns = before_ns };

		ck_assert_int_eq(packet_read_head(layout, p.bytes, lens[stream] - at, &head), LT_OK);
		ck_assert(native_clock_ns(&trace.clock, head.values[PACKET_TIMESTAMP_BEGIN], &p.begin_ns));
		ck_assert(native_clock_ns(&trace.clock, head.values[PACKET_TIMESTAMP_END], &p.end_ns));
		p.len = packet_bytes(&head, lens[stream] - at);
		at += p.len;
		before_ns = p.end_ns;
		g_array_append_val(packets, p);
	}
}

static void setup(void)
{
	const char *build = getenv("BUILD");
	char *path, *text;

	directory = g_strdup_printf("%s/traces/rpc-hog-local/web/kernel", build ? build : "build");
	path = g_build_filename(directory, "metadata", NULL);
	ck_assert_msg(g_file_get_contents(path, &metadata, &metadata_len, NULL), "%s", path);
	g_free(path);
	text = metadata_text((const uint8_t *)metadata, metadata_len);
	ck_assert_int_eq(layout_parse(text, &layout), LT_OK);
	g_free(text);
	ck_assert_int_eq(native_trace_init(&trace, layout), LT_OK);
	packets = g_array_new(FALSE, FALSE, sizeof(struct packet));
	for (unsigned i = 0; i < STREAMS; i++) {
		path = g_strdup_printf("%s/ch_%u", directory, i);
		ck_assert(g_file_get_contents(path, &files[i], &lens[i], NULL));
		g_free(path);
		load_packets(i);
	}
	g_array_sort(packets, by_end);
	ck_assert_uint_ge(packets->len, 8);
	log_fd = recall_create(LOG);
	ck_assert_int_eq(recall_open(&recall_log, log_fd, true), LT_OK);
}

static void teardown(void)
{
	recall_close(&recall_log);
	close(log_fd);
	g_array_free(packets, TRUE);
	native_trace_release(&trace);
	for (unsigned i = 0; i < STREAMS; i++)
		g_free(files[i]);
	g_free(metadata);
	g_free(directory);
}

static const struct packet *packet_at(guint i)
{
	return &g_array_index(packets, struct packet, i);
}

/* ---- the log ---- */

static void add_metadata(void)
{
	struct recall_entry e = { .kind = RECALL_METADATA, .source = SOURCE, .trace = TRACE };
	GByteArray *packed = g_byte_array_new();

	recall_pack_metadata(packed, metadata, metadata_len);
	ck_assert_uint_lt(packed->len, metadata_len / 4);
	e.len = packed->len;
	ck_assert(recall_add(&recall_log, &e, packed->data));
	g_byte_array_free(packed, TRUE);
}

/* The packet as one of another trace, or of another session. */
static void add_foreign(const struct packet *p, uint64_t source, uint64_t number)
{
	struct recall_entry e = { .kind = RECALL_PACKET, .source = source, .trace = number, .len = p->len };

	ck_assert(recall_add(&recall_log, &e, p->bytes));
}

/* Neither another session's packet nor another trace's is read. */
static void add_packet(const struct packet *p)
{
	struct recall_entry e = {
		.kind = RECALL_PACKET,
		.source = SOURCE,
		.trace = TRACE,
		.stream = 10 + p->stream,
		.before_ns = p->before_ns,
		.len = p->len,
	};

	add_foreign(p, SOURCE + 1, TRACE);
	ck_assert(recall_add(&recall_log, &e, p->bytes));
	add_foreign(p, SOURCE, TRACE + 1);
}

/* ---- reading ---- */

static void see(struct seen *s, const struct event *ev)
{
	if (ev->kind == EVENT_TRACE)
		s->begin_ns = event_payload(ev, ev_trace)->begin_ns;
	if (ev->kind == EVENT_LOST)
		s->lost++;
	if (ev->kind == EVENT_NOTE)
		s->notes++;
	if (ev->kind >= EVENT_OTHER)
		g_array_append_val(s->times, ev->ts_ns);
}

/* From what is kept, or from the recording. */
static struct seen read_again(bool kept, uint64_t begin_ns, uint64_t end_ns)
{
	const char *const paths[] = { kept ? NULL : directory, NULL };
	const struct reader_args args = {
		.name = "again", .paths = paths, .parts = 1, .begin_ns = begin_ns, .end_ns = end_ns
	};
	struct seen s = { .times = g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
	struct ring_consumer consumer;
	struct ring_producer producer;
	struct reader *reader = NULL;
	const struct event *ev;
	const char *wrong;
	enum lt_status status;

	ck_assert_int_eq(ring_create(&consumer, RING), LT_OK);
	ck_assert_int_eq(ring_producer_open(&producer,
					    (struct ring_fds){ dup(consumer.fds.memory), dup(consumer.producer_wake) }),
			 LT_OK);
	status = kept ? native_recall_open(&args, log_fd, SOURCE, TRACE, &producer, &reader)
		      : reader_native.open(&args, &producer, &reader);
	ck_assert_int_eq(status, LT_OK);
	while (status == LT_OK) {
		status = reader_step(reader);
		ring_publish(&producer);
		while (ring_peek(&consumer, &ev, &wrong) == LT_OK) {
			see(&s, ev);
			ring_next(&consumer);
		}
		ring_woken(&consumer);
	}
	ck_assert_int_eq(status, LT_END);
	reader_close(reader);
	ring_producer_release(&producer);
	ring_consumer_release(&consumer);
	return s;
}

static void check_same(const struct seen *kept, const struct seen *recorded)
{
	ck_assert_uint_eq(kept->times->len, recorded->times->len);
	ck_assert_mem_eq(kept->times->data, recorded->times->data, kept->times->len * sizeof(uint64_t));
	ck_assert_uint_eq(kept->notes, 0);
}

static void release(struct seen *s)
{
	g_array_free(s->times, TRUE);
}

/* Compares what is kept from that time on with the recording. */
static void check_kept(uint64_t begin_ns, uint64_t from_ns, unsigned lost)
{
	struct seen kept = read_again(true, begin_ns, UINT64_MAX), recorded = read_again(false, from_ns, UINT64_MAX);

	ck_assert_uint_eq(kept.begin_ns, from_ns);
	ck_assert_uint_gt(kept.times->len, 100);
	check_same(&kept, &recorded);
	ck_assert_uint_eq(kept.lost, lost);
	release(&kept);
	release(&recorded);
}

START_TEST(test_all)
{
	const uint64_t first_ns = MIN(packet_at(0)->begin_ns, packet_at(1)->begin_ns);
	const uint64_t middle_ns = packet_at(packets->len / 2)->begin_ns + 1;
	struct seen kept, recorded;

	add_metadata();
	for (guint i = 0; i < packets->len; i++)
		add_packet(packet_at(i));
	check_kept(0, first_ns, 0);
	check_kept(middle_ns, middle_ns, 0);
	kept = read_again(true, first_ns, middle_ns);
	recorded = read_again(false, first_ns, middle_ns);
	check_same(&kept, &recorded);
	ck_assert_uint_gt(kept.times->len, 100);
	release(&kept);
	release(&recorded);
}
END_TEST

/* The oldest packets have been dropped: it is complete from the end of the last of them. */
START_TEST(test_dropped)
{
	const guint dropped = packets->len / 3;
	uint64_t from_ns = 0;

	add_metadata();
	for (guint i = 0; i < packets->len; i++) {
		if (i < dropped)
			from_ns = MAX(from_ns, packet_at(i)->end_ns);
		else
			add_packet(packet_at(i));
	}
	check_kept(0, from_ns, 0);
}
END_TEST

/* A stream without packets for a long time does not make the others' past incomplete. */
START_TEST(test_rare_stream)
{
	guint last = packets->len - 1;
	struct seen kept;
	uint64_t first_ns = UINT64_MAX;

	add_metadata();
	while (packet_at(last)->stream != 0)
		last--;
	for (guint i = 0; i < packets->len; i++) {
		struct packet p = *packet_at(i);

		if (p.stream == 0 && i != last)
			continue;
		if (p.stream == 0)
			p.before_ns = packet_at(0)->begin_ns;
		first_ns = MIN(first_ns, p.begin_ns);
		add_packet(&p);
	}
	kept = read_again(true, 0, UINT64_MAX);
	ck_assert_uint_eq(kept.begin_ns, MAX(first_ns, packet_at(0)->begin_ns));
	ck_assert_uint_gt(kept.times->len, 100);
	ck_assert_uint_lt(g_array_index(kept.times, uint64_t, 0), packet_at(last)->begin_ns);
	release(&kept);
}
END_TEST

/* A packet that is missing in the midst is lost, and nothing is wrong. */
START_TEST(test_gap)
{
	const guint missing = packets->len / 2;
	struct seen kept;

	add_metadata();
	for (guint i = 0; i < packets->len; i++)
		if (i != missing)
			add_packet(packet_at(i));
	kept = read_again(true, 0, UINT64_MAX);
	ck_assert_uint_eq(kept.lost, 1);
	ck_assert_uint_eq(kept.notes, 0);
	release(&kept);
}
END_TEST

/* A trace that began after another one of its session lacks nothing before its start. */
START_TEST(test_later)
{
	struct seen kept, recorded;

	add_metadata();
	add_foreign(packet_at(0), SOURCE, TRACE + 1);
	for (guint i = 0; i < packets->len; i++)
		add_packet(packet_at(i));
	kept = read_again(true, 1, UINT64_MAX);
	recorded = read_again(false, 1, UINT64_MAX);
	ck_assert_uint_eq(kept.begin_ns, 1);
	check_same(&kept, &recorded);
	release(&kept);
	release(&recorded);
}
END_TEST

/* Without metadata nothing can be read: it is not a failure. */
START_TEST(test_nothing)
{
	struct seen kept = read_again(true, 0, UINT64_MAX);

	ck_assert_uint_eq(kept.times->len, 0);
	release(&kept);
	for (guint i = 0; i < packets->len; i++)
		add_packet(packet_at(i));
	kept = read_again(true, 0, UINT64_MAX);
	ck_assert_uint_eq(kept.times->len, 0);
	release(&kept);
	/* it may come later than the packets */
	add_metadata();
	kept = read_again(true, 0, UINT64_MAX);
	ck_assert_uint_gt(kept.times->len, 100);
	release(&kept);
}
END_TEST

UNIT_MAIN_AROUND("recalled", setup, teardown, test_all, test_dropped, test_rare_stream, test_gap, test_later,
		 test_nothing)
