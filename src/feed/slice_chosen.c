/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/slice_internal.h"

#include <string.h>

#include "event/fields.h"

enum { NO_PACKET = UINT_MAX };

struct slice_trace {
	const struct recording *r;
	char *directory;
	int64_t shift_ns;
	GPtrArray *streams; /* struct chosen_stream *, as .r->streams */
};

struct chosen_stream {
	struct slice_stream base;
	const struct recorded_stream *stream;
	guint first, behind; /* packets that may have events in the interval */
	guint covering;      /* the first of them that does not end before it */
	guint packet;        /* the one that events are chosen of; NO_PACKET: none yet */
	uint8_t *data;       /* its bytes; NULL: it has been skipped */
};

/* A file of a stream. */
struct chosen_file {
	uint64_t id; /* fields_name_id() of its path */
	const char *path;
	struct chosen_stream *stream;
};

struct slice_chosen {
	const stop_flag *stop;
	struct slice_sum *sum;
	GPtrArray *traces; /* struct slice_trace * */
	GHashTable *files; /* &id → struct chosen_file * */
};

/* ---- packets ---- */

static enum lt_status write_whole(struct slice_stream *s)
{
	struct cut_piece piece;

	s->sum->uncut++;
	return cutter_take(&s->cutter, UINT64_MAX, &piece) == CUT_PIECE ? slice_write_piece(s, &piece) : LT_OK;
}

static enum lt_status write_chosen(struct slice_stream *s)
{
	enum cut_outcome outcome;
	enum lt_status status;
	struct cut_piece piece;

	do {
		outcome = cutter_take_chosen(&s->cutter, s->begin, s->end - 1, &piece);
		if (outcome == CUT_HELD)
			return write_whole(s);
		status = outcome == CUT_PIECE ? slice_write_piece(s, &piece) : LT_OK;
	} while (outcome == CUT_PIECE && status == LT_OK);
	return status;
}

/* Writes what was chosen of the packet; all of it if it cannot be stepped through. */
static enum lt_status end_packet(struct chosen_stream *c)
{
	enum lt_status status = LT_OK;

	if (c->data)
		status = c->base.cutter.whole ? write_whole(&c->base) : write_chosen(&c->base);
	if (c->data && status == LT_OK)
		status = slice_write_loss(&c->base, recorded_packet(c->stream, c->packet), c->data);
	g_clear_pointer(&c->data, g_free);
	/* there may be more streams than files that can be open */
	return slice_close_file(&c->base, status);
}

/* Starts with a packet, past those before it. */
static void begin_packet(struct chosen_stream *c, guint packet)
{
	guint i = c->packet == NO_PACKET ? c->first : c->packet + 1;

	for (; i < packet; i++) {
		const struct recorded_packet *p = recorded_packet(c->stream, i);

		cutter_skip(&c->base.cutter, p->seq, p->discarded);
	}
	c->packet = packet;
	c->data = slice_read_packet(&c->base, recorded_packet(c->stream, packet));
}

/*
 * Without its events: the first and the last packet say how long nothing was chosen, and what was lost meanwhile.
 */
static enum lt_status write_empty(struct chosen_stream *c, guint packet)
{
	enum lt_status status = LT_OK;
	struct cut_piece piece;

	begin_packet(c, packet);
	if (c->data && cutter_take_empty(&c->base.cutter, c->base.begin, c->base.end - 1, &piece))
		status = slice_write_piece(&c->base, &piece);
	if (c->data && status == LT_OK)
		status = slice_write_loss(&c->base, recorded_packet(c->stream, packet), c->data);
	g_clear_pointer(&c->data, g_free);
	return slice_close_file(&c->base, status);
}

/* Ends the current packet and starts with this one. */
static enum lt_status move_to_packet(struct chosen_stream *c, guint packet)
{
	enum lt_status status = end_packet(c);

	if (status == LT_OK && c->packet == NO_PACKET && packet > c->covering)
		status = write_empty(c, c->covering);
	if (status == LT_OK)
		begin_packet(c, packet);
	return status;
}

/* The packet there, from the current one on; NO_PACKET: there is none in the interval. */
static guint find_packet(const struct chosen_stream *c, const char *path, uint64_t offset)
{
	for (guint i = c->packet == NO_PACKET ? c->first : c->packet; i < c->behind; i++)
		if (recorded_packet_is_at(recorded_packet(c->stream, i), path, offset))
			return i;
	return NO_PACKET;
}

enum lt_status slice_chosen_take(struct slice_chosen *s, uint64_t file, uint64_t packet, uint64_t at)
{
	const struct chosen_file *f = g_hash_table_lookup(s->files, &file);
	const guint found = f ? find_packet(f->stream, f->path, packet) : NO_PACKET;
	enum lt_status status = LT_OK;

	if (*s->stop)
		return LT_INTERRUPTED;
	if (found == NO_PACKET) {
		s->sum->unknown++;
		return LT_OK;
	}
	if (found != f->stream->packet)
		status = move_to_packet(f->stream, found);
	if (f->stream->data && !cutter_choose(&f->stream->base.cutter, at) && !f->stream->base.cutter.whole)
		s->sum->unknown++;
	return status;
}

/* Also a stream of which nothing was chosen: it may have lost such events. */
static enum lt_status end_stream(struct chosen_stream *c)
{
	enum lt_status status = end_packet(c);

	if (c->covering == c->behind)
		return status; /* it has no packet in the interval */
	if (status == LT_OK && c->packet == NO_PACKET)
		status = write_empty(c, c->covering);
	if (status == LT_OK && c->packet + 1 < c->behind)
		status = write_empty(c, c->behind - 1);
	return status;
}

static bool is_chosen_of(const struct slice_trace *t)
{
	for (guint i = 0; i < t->streams->len; i++)
		if (((const struct chosen_stream *)g_ptr_array_index(t->streams, i))->packet != NO_PACKET)
			return true;
	return false;
}

enum lt_status slice_chosen_finish(struct slice_chosen *s, struct slice_trace *t, bool *is_written)
{
	enum lt_status status = LT_OK;

	*is_written = is_chosen_of(t);
	for (guint i = 0; i < t->streams->len && *is_written && status == LT_OK; i++)
		status = *s->stop ? LT_INTERRUPTED : end_stream(g_ptr_array_index(t->streams, i));
	if (status == LT_OK && *is_written)
		status = slice_write_metadata(t->r, t->directory, t->shift_ns);
	return status;
}

/* ---- traces ---- */

static void free_stream(gpointer data)
{
	struct chosen_stream *c = data;

	slice_close_file(&c->base, LT_ERROR);
	cutter_release(&c->base.cutter);
	g_free(c->base.path);
	g_free(c->data);
	g_free(c);
}

static void free_trace(gpointer data)
{
	struct slice_trace *t = data;

	g_ptr_array_free(t->streams, TRUE);
	g_free(t->directory);
	g_free(t);
}

static void add_files(struct slice_chosen *s, struct chosen_stream *c)
{
	for (guint i = 0; i < c->stream->paths->len; i++) {
		struct chosen_file *f = g_new(struct chosen_file, 1);

		f->path = g_ptr_array_index(c->stream->paths, i);
		f->id = fields_name_id(f->path);
		f->stream = c;
		g_hash_table_insert(s->files, &f->id, f);
	}
}

static struct chosen_stream *add_stream(struct slice_chosen *s, const struct slice_trace *trace,
					const struct recorded_stream *stream, const struct slice_range *range)
{
	struct chosen_stream *c = g_new0(struct chosen_stream, 1);
	const struct recording *r = trace->r;

	c->base.r = r;
	c->base.sum = s->sum;
	c->base.begin = slice_cycle(r->layout, range->begin_ns);
	c->base.end = slice_cycle(r->layout, range->end_ns);
	c->base.path = g_build_filename(trace->directory, stream->name, NULL);
	cutter_init(&c->base.cutter, r->layout);
	c->stream = stream;
	c->packet = NO_PACKET;
	c->first = slice_begin_stream(&c->base, stream);
	for (c->behind = c->first; c->behind < stream->packets->len; c->behind++)
		if (recorded_packet(stream, c->behind)->begin >= c->base.end)
			break;
	c->covering = c->first;
	if (c->first < c->behind && recorded_packet(stream, c->first)->end < c->base.begin)
		c->covering++;
	return c;
}

struct slice_trace *slice_chosen_add(struct slice_chosen *s, const struct recording *r, const char *directory,
				     const struct slice_range *range)
{
	struct slice_trace *t = g_new0(struct slice_trace, 1);

	t->r = r;
	t->directory = g_strdup(directory);
	t->shift_ns = range->shift_ns;
	t->streams = g_ptr_array_new_with_free_func(free_stream);
	for (guint i = 0; i < r->streams->len; i++) {
		struct chosen_stream *stream = add_stream(s, t, g_ptr_array_index(r->streams, i), range);

		g_ptr_array_add(t->streams, stream);
		add_files(s, stream);
	}
	g_ptr_array_add(s->traces, t);
	return t;
}

struct slice_chosen *slice_chosen_create(const stop_flag *stop, struct slice_sum *sum)
{
	struct slice_chosen *s = g_new0(struct slice_chosen, 1);

	s->stop = stop;
	s->sum = sum;
	s->traces = g_ptr_array_new_with_free_func(free_trace);
	s->files = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return s;
}

void slice_chosen_destroy(struct slice_chosen *s)
{
	if (!s)
		return;
	g_hash_table_destroy(s->files);
	g_ptr_array_free(s->traces, TRUE);
	g_free(s);
}
