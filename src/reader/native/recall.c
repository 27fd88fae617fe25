/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/recall.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "ctf/metadata.h"
#include "reader/native/internal.h"
#include "source/recall.h"

/*
 * The packets that the log of a worker for relayds still has of a session's trace, read as a recording:
 *
 *   log   M1 A1 B1 B2 M2 A2 B3      metadata and packets of the streams A and B
 *          ╲________╱ ╲_____╱
 *           dropped    kept         complete from the later of the ends of A1 and B2
 *
 * The log is not locked: while it is read its worker may add, which is not looked at, and drop what is read.
 */
struct recall_reader {
	struct native_reader base;
	struct reader_ops ops; /* native_reader_ops, except for .release */
	struct recall log;
	uint64_t source, trace;
	uint64_t end;      /* of the log when it was opened */
	uint64_t first_ns; /* the start of the first packet that is kept */
	bool is_later;     /* another trace of the source has an earlier packet */
};

/* A packet of a stream. */
struct place {
	struct recall_entry entry;
	uint64_t begin_ns, end_ns;
	bool is_skipped; /* all of its events are before the range */
};

static struct recall_reader *recall_of(const struct reader_stream *s)
{
	return (struct recall_reader *)(void *)s->reader;
}

/* ---- metadata ---- */

void recall_pack_metadata(GByteArray *out, const void *bytes, size_t len)
{
	const uint64_t own_len = len;
	uLongf packed = compressBound(len);

	g_byte_array_set_size(out, (guint)(sizeof(own_len) + packed));
	memcpy(out->data, &own_len, sizeof(own_len));
	if (compress2(out->data + sizeof(own_len), &packed, bytes, len, Z_BEST_SPEED) == Z_OK)
		g_byte_array_set_size(out, (guint)(sizeof(own_len) + packed));
	else
		g_byte_array_set_size(out, 0);
}

/* A text to be freed; NULL: it is damaged. */
static char *unpack_metadata(const uint8_t *bytes, size_t len)
{
	uint64_t own_len = 0;
	uint8_t *unpacked;
	char *text = NULL;
	uLongf n;

	if (len > sizeof(own_len))
		memcpy(&own_len, bytes, sizeof(own_len));
	if (!own_len || own_len > METADATA_MAX)
		return NULL;
	n = own_len;
	unpacked = g_malloc(own_len);
	if (uncompress(unpacked, &n, bytes + sizeof(own_len), len - sizeof(own_len)) == Z_OK)
		text = metadata_text(unpacked, n);
	g_free(unpacked);
	return text;
}

/* ---- packets ---- */

/* Copies len bytes of the packet to memory of its own. */
static bool copy_packet(const struct recall *log, const struct recall_entry *e, size_t len, struct mapping *m)
{
	void *base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return false;
	*m = (struct mapping){ .data = base, .len = len, .base = base, .size = len };
	if (recall_copy(log, e, base, len))
		return true;
	mapping_close(m);
	return false;
}

static enum lt_status give_up(struct native_cursor *c, const char *why)
{
	mapping_close(&c->map);
	c->why = why;
	return LT_ERROR;
}

/* .offset counts packets here. */
static enum lt_status take_packet(struct native_stream *s, struct packet_head *head)
{
	const struct recall *log = &recall_of(&s->base)->log;
	const struct layout *layout = s->trace->layout;
	struct native_cursor *c = &s->at;
	const struct place *place;
	size_t len;

	do {
		if (c->offset >= s->places->len)
			return LT_END;
		place = &g_array_index(s->places, struct place, c->offset++);
		len = place->is_skipped ? MIN(place->entry.len, PACKET_HEAD_BYTES) : place->entry.len;
		/* one that has been dropped meanwhile is missing, as the next one's number shows */
	} while (!copy_packet(log, &place->entry, len, &c->map));
	c->packet_at = place->entry.position;
	c->is_skipped = place->is_skipped;
	walk_next_packet(&c->walk, c->map.data, 8 * (uint64_t)len, s->slots);
	if (packet_walk_head(layout, &c->walk, head) != LT_OK || head->stream != s->group->stream) {
		error_clear();
		return give_up(c, "not a packet of its stream");
	}
	c->cut = packet_bytes(head, place->entry.len) > place->entry.len ? "it ends early" : NULL;
	return packet_bytes(head, place->entry.len) ? LT_OK : give_up(c, NATIVE_IMPOSSIBLE_SIZE);
}

/* ---- the log ---- */

/* The next entry of the source from *position on, which is then after it. */
static bool next_entry(const struct recall_reader *r, uint64_t *position, struct recall_entry *e)
{
	while (*position < r->end && recall_look(&r->log, *position, e) && e->position >= *position) {
		*position = recall_after(e);
		if (e->source == r->source)
			return true;
	}
	return false;
}

/* The latest. false: there is none. */
static bool find_metadata(const struct recall_reader *r, struct recall_entry *metadata)
{
	struct recall_entry e;
	bool found = false;

	for (uint64_t at = 0; next_entry(r, &at, &e);) {
		if (e.kind != RECALL_METADATA || e.trace != r->trace)
			continue;
		*metadata = e;
		found = true;
	}
	return found;
}

/* LT_END: nothing of it is kept. */
static enum lt_status read_trace(struct recall_reader *r)
{
	struct recall_entry e;
	struct mapping bytes;
	struct layout *layout;
	enum lt_status status;
	char *text;

	if (!find_metadata(r, &e) || !copy_packet(&r->log, &e, e.len, &bytes))
		return LT_END;
	text = unpack_metadata(bytes.data, bytes.len);
	mapping_close(&bytes);
	if (!text)
		return error_set("damaged metadata");
	status = layout_parse(text, &layout);
	g_free(text);
	return status == LT_OK ? native_trace_init(&r->base.trace, layout) : LT_ERROR;
}

static struct native_stream *stream_of(struct recall_reader *r, GHashTable *streams, const struct recall_entry *e,
				       const struct packet_head *head)
{
	struct native_stream *s = g_hash_table_lookup(streams, &e->stream);
	char name[32];

	if (s)
		return s->group->stream == head->stream ? s : NULL;
	g_snprintf(name, sizeof(name), "stream %" PRIu64, e->stream);
	s = native_add_stream(&r->base, head, name);
	s->take_packet = take_packet;
	s->places = g_array_new(FALSE, TRUE, sizeof(struct place));
	g_hash_table_insert(streams, g_memdup2(&e->stream, sizeof(e->stream)), s);
	return s;
}

static void add_packet(struct recall_reader *r, GHashTable *streams, const struct recall_entry *e)
{
	const struct native_clock *clock = &r->base.trace.clock;
	struct reader_args *args = &r->base.base.args;
	struct place place = { .entry = *e };
	uint8_t bytes[PACKET_HEAD_BYTES];
	const size_t len = MIN(e->len, sizeof(bytes));
	struct packet_head head;
	struct native_stream *s;

	if (!recall_copy(&r->log, e, bytes, len) ||
	    packet_read_head(r->base.trace.layout, bytes, len, &head) != LT_OK ||
	    !native_clock_ns(clock, head.values[PACKET_TIMESTAMP_BEGIN], &place.begin_ns) ||
	    !native_clock_ns(clock, head.values[PACKET_TIMESTAMP_END], &place.end_ns)) {
		error_clear();
		return;
	}
	r->base.base.end_hint_ns = MAX(r->base.base.end_hint_ns, place.end_ns);
	s = stream_of(r, streams, e, &head);
	if (!s)
		return;
	/* the first one that is kept */
	if (!s->places->len)
		args->begin_ns = MAX(args->begin_ns, e->before_ns);
	r->first_ns = MIN(r->first_ns, place.begin_ns);
	g_array_append_val(s->places, place);
}

/* As in recordings: a packet's events may be later than its end, up to the start of the next one. */
static void skip_packets(const struct native_stream *s, uint64_t begin_ns)
{
	for (guint i = 0; i + 1 < s->places->len; i++) {
		struct place *place = &g_array_index(s->places, struct place, i);

		place->is_skipped = place->end_ns < begin_ns && (place + 1)->begin_ns < begin_ns;
	}
}

static void find_packets(struct recall_reader *r)
{
	GHashTable *streams = g_hash_table_new_full(keyhash_number, g_int64_equal, g_free, NULL);
	struct recall_entry e;

	for (uint64_t at = 0; next_entry(r, &at, &e);) {
		if (e.kind != RECALL_PACKET)
			continue;
		if (e.trace == r->trace)
			add_packet(r, streams, &e);
		else if (!r->base.base.n_streams)
			r->is_later = true;
	}
	/* a trace that began later lacks nothing before its start */
	if (r->base.base.n_streams && !r->is_later)
		r->base.base.args.begin_ns = MAX(r->base.base.args.begin_ns, r->first_ns);
	for (unsigned i = 0; i < r->base.base.n_streams; i++)
		skip_packets((struct native_stream *)(void *)r->base.base.streams[i], r->base.base.args.begin_ns);
	g_hash_table_destroy(streams);
}

static void release(struct reader *base)
{
	recall_close(&((struct recall_reader *)(void *)base)->log);
	native_reader_ops.release(base);
}

enum lt_status native_recall_open(const struct reader_args *args, int fd, uint64_t source, uint64_t trace,
				  struct ring_producer *ring, struct reader **out)
{
	struct recall_reader *r = g_new0(struct recall_reader, 1);
	enum lt_status status;

	r->source = source;
	r->trace = trace;
	r->first_ns = UINT64_MAX;
	r->ops = native_reader_ops;
	r->ops.release = release;
	reader_init(&r->base.base, &r->ops, args, ring);
	status = recall_open(&r->log, fd, false);
	if (status == LT_OK) {
		r->end = recall_end(&r->log);
		status = read_trace(r);
	}
	if (status == LT_OK)
		find_packets(r);
	if (status == LT_OK || status == LT_END) {
		*out = &r->base.base;
		return LT_OK;
	}
	reader_close(&r->base.base);
	return LT_ERROR;
}
