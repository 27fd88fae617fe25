/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/session.h"

#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"

/* A stream being sent. */
struct feed_stream {
	const struct recorded_stream *recorded;
	const struct layout *layout;
	struct producer_stream producer;
	struct cutter cutter;
	guint next;    /* the next packet to start */
	uint8_t *data; /* bytes of the packet being cut; NULL: none */
};

struct trace {
	struct recording *recording;
	struct producer_stream metadata;
	struct feed_stream *streams;
	guint n_streams;
};

struct fed_session *fed_session_create(char *hostname, char *name, struct recording *first)
{
	struct fed_session *s = g_new0(struct fed_session, 1);

	s->hostname = hostname;
	s->name = name;
	s->recordings = g_ptr_array_new();
	s->traces = g_ptr_array_new();
	fed_session_add(s, first);
	return s;
}

void fed_session_add(struct fed_session *s, struct recording *r)
{
	struct trace *t = g_new0(struct trace, 1);

	t->recording = r;
	t->metadata.is_metadata = true;
	t->n_streams = r->streams->len;
	t->streams = g_new0(struct feed_stream, t->n_streams);
	for (guint i = 0; i < t->n_streams; i++) {
		t->streams[i].recorded = g_ptr_array_index(r->streams, i);
		t->streams[i].layout = r->layout;
		cutter_init(&t->streams[i].cutter, r->layout);
	}
	s->damaged += r->damaged;
	g_ptr_array_add(s->recordings, r);
	g_ptr_array_add(s->traces, t);
}

void fed_session_destroy(struct fed_session *s)
{
	if (!s)
		return;
	if (s->is_open)
		producer_close(&s->producer);
	for (guint i = 0; i < s->traces->len; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);

		for (guint k = 0; k < t->n_streams; k++) {
			cutter_release(&t->streams[k].cutter);
			g_free(t->streams[k].data);
		}
		g_free(t->streams);
		g_free(t);
		recording_close(g_ptr_array_index(s->recordings, i));
	}
	g_ptr_array_free(s->traces, TRUE);
	g_ptr_array_free(s->recordings, TRUE);
	g_free(s->hostname);
	g_free(s->name);
	g_free(s);
}

uint64_t fed_session_begin_ns(const struct fed_session *s)
{
	uint64_t begin_ns = UINT64_MAX;

	for (guint i = 0; i < s->recordings->len; i++)
		begin_ns = MIN(begin_ns, ((struct recording *)g_ptr_array_index(s->recordings, i))->begin_ns);
	return begin_ns;
}

uint64_t fed_session_end_ns(const struct fed_session *s)
{
	uint64_t end_ns = 0;

	for (guint i = 0; i < s->recordings->len; i++)
		end_ns = MAX(end_ns, ((struct recording *)g_ptr_array_index(s->recordings, i))->end_ns);
	return end_ns;
}

/* ---- opening ---- */

static enum lt_status wrap(const struct fed_session *s, enum lt_status status)
{
	return status == LT_ERROR ? error_wrap("session '%s/%s'", s->hostname, s->name) : status;
}

/*
 * Streams of several files or chunks may share a name, those of several traces a path, but the relayd needs unique
 * ones.
 */
static char *unique(GHashTable *used, const char *name)
{
	char *text = g_strdup(name);

	for (unsigned n = 2; !g_hash_table_add(used, g_strdup(text)); n++) {
		g_free(text);
		text = g_strdup_printf("%s-%u", name, n);
	}
	return text;
}

static enum lt_status add_streams(struct fed_session *s, struct trace *t, const char *path)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	enum lt_status status = LT_OK;

	for (guint i = 0; i < t->n_streams && !status; i++) {
		char *name = unique(names, t->streams[i].recorded->name);

		status = producer_add_stream(&s->producer, path, name, &t->streams[i].producer);
		g_free(name);
	}
	g_hash_table_destroy(names);
	return status ? status : producer_add_stream(&s->producer, path, "metadata", &t->metadata);
}

static bool is_ctf2(const struct fed_session *s)
{
	return ((const struct recording *)g_ptr_array_index(s->recordings, 0))->layout->format == LAYOUT_CTF_2;
}

/*
 * The relayd of LTTng 2.13.4 (Ubuntu 22.04) writes all sessions of a session daemon into the same files, those of the
 * first: each has a daemon of its own, as hosts have.
 */
static enum lt_status create(struct fed_session *s, const struct fed_session_target *target)
{
	uint8_t uuid[16];
	const struct producer_session session = { .hostname = s->hostname,
						  .name = s->name,
						  .live_timer_us = target->live_timer_ns / NS_PER_US,
						  .uuid = uuid,
						  .is_ctf2 = is_ctf2(s) };
	GHashTable *paths;
	enum lt_status status;

	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
		return error_set("cannot get random numbers");
	status = producer_open(&s->producer, target->family, target->host, target->control_port, target->data_port);
	if (!status)
		status = producer_create_session(&s->producer, &session);
	paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < s->traces->len && !status; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);
		char *path = unique(paths, t->recording->path);

		status = add_streams(s, t, path);
		g_free(path);
	}
	g_hash_table_destroy(paths);
	return status ? status : producer_publish(&s->producer);
}

enum lt_status fed_session_open(struct fed_session *s, const struct fed_session_target *target)
{
	enum lt_status status;

	producer_init(&s->producer, target->timeout_ms, target->stop);
	s->is_open = true;
	status = create(s, target);
	s->is_published = status == LT_OK;
	return wrap(s, status);
}

static uint64_t shifted(uint64_t ns, int64_t by_ns)
{
	if (ns == UINT64_MAX)
		return ns;
	return by_ns < 0 && ns < (uint64_t)-by_ns ? 0 : ns + (uint64_t)by_ns;
}

uint64_t fed_session_to_shared(const struct fed_session *s, uint64_t recorded_ns)
{
	return shifted(recorded_ns, s->sync_ns);
}

uint64_t fed_session_from_shared(const struct fed_session *s, uint64_t shared_ns)
{
	return shifted(shared_ns, -s->sync_ns);
}

void fed_session_send_metadata(struct fed_session *s, int64_t shift_ns)
{
	s->shift_ns = shift_ns;
	for (guint i = 0; i < s->traces->len; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);
		const struct recording *r = t->recording;
		char *text = layout_edit_text(r->layout, r->text, shift_ns, s->is_renamed ? s->hostname : NULL);

		if (is_ctf2(s))
			producer_send_fragments(&s->producer, &t->metadata, text);
		else
			producer_send_metadata(&s->producer, &t->metadata, r->layout->uuid, text);
		g_free(text);
	}
}

/* ---- streaming ---- */

static struct producer_index index_of(const struct feed_stream *st, const struct cut_piece *p)
{
	return (struct producer_index){ .size = 8 * (uint64_t)p->size,
					.content = p->content_bits,
					.begin = p->begin,
					.end = p->end,
					.discarded = p->discarded,
					.stream_id = st->recorded->id,
					.instance_id = st->recorded->instance,
					.seq = p->seq };
}

static void send_piece(struct fed_session *s, struct feed_stream *st, const struct cut_piece *p)
{
	const struct producer_index index = index_of(st, p);

	producer_send_packet(&s->producer, &st->producer, &index, p->data, p->size);
	s->packets++;
	s->events += p->events;
	s->bytes += p->size;
}

static void send_beacon(struct fed_session *s, struct feed_stream *st, uint64_t until)
{
	const struct producer_index like = { .stream_id = st->recorded->id, .instance_id = st->recorded->instance };

	if (!st->producer.packets || until <= st->cutter.told)
		return;
	producer_send_beacon(&s->producer, &st->producer, &like, until);
	cutter_set_silent_until(&st->cutter, until);
}

/* Loads the next packet. Skips unreadable packets with a warning. */
static void begin_packet(struct fed_session *s, struct feed_stream *st)
{
	const struct recorded_packet *p = recorded_packet(st->recorded, st->next++);
	const char *name = st->recorded->name;

	st->data = recording_read(p);
	switch (st->data ? cutter_begin(&st->cutter, st->data, p->size) : LT_ERROR) {
	case LT_OK:
		return;
	case LT_AGAIN:
		if (!s->uncut++)
			log_warning("session '%s/%s', stream '%s': a packet is fed uncut: %s", s->hostname, s->name,
				    name, error_text());
		return;
	case LT_END:
		log_warning("session '%s/%s', stream '%s': a packet is truncated", s->hostname, s->name, name);
		s->damaged++;
		return;
	default:
		log_warning("session '%s/%s', stream '%s': a packet is skipped: %s", s->hostname, s->name, name,
			    error_text());
		s->damaged++;
		g_free(st->data);
		st->data = NULL;
		return;
	}
}

static bool has_ended(const struct feed_stream *st)
{
	return !st->data && st->next == st->recorded->packets->len;
}

/* LT_END: the stream has no more packets; it has no beacon then. */
static enum lt_status advance_stream(struct fed_session *s, struct feed_stream *st, uint64_t limit)
{
	struct cut_piece piece;

	for (;;) {
		if (has_ended(st))
			return LT_END;
		if (!st->data) {
			if (recorded_packet(st->recorded, st->next)->begin > limit) {
				send_beacon(s, st, limit);
				return LT_OK;
			}
			begin_packet(s, st);
			continue;
		}
		switch (cutter_take(&st->cutter, limit, &piece)) {
		case CUT_PIECE:
			send_piece(s, st, &piece);
			break;
		case CUT_SILENT:
			send_beacon(s, st, limit);
			return LT_OK;
		case CUT_HELD:
			return LT_OK;
		case CUT_DONE:
			g_free(st->data);
			st->data = NULL;
			break;
		}
	}
}

/* While others of the session continue, the time of streams that have ended does, too. */
static void advance_ended(struct fed_session *s, uint64_t limit_ns)
{
	for (guint i = 0; i < s->traces->len; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);
		const uint64_t limit = layout_from_ns(t->recording->layout, limit_ns);

		for (guint k = 0; k < t->n_streams; k++)
			if (has_ended(&t->streams[k]))
				send_beacon(s, &t->streams[k], limit);
	}
}

enum lt_status fed_session_advance(struct fed_session *s, uint64_t limit_ns)
{
	enum lt_status status = LT_END;

	for (guint i = 0; i < s->traces->len; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);
		const uint64_t limit = layout_from_ns(t->recording->layout, limit_ns);

		for (guint k = 0; k < t->n_streams; k++)
			if (advance_stream(s, &t->streams[k], limit) != LT_END)
				status = LT_OK;
	}
	if (status != LT_END)
		advance_ended(s, limit_ns);
	return status;
}

uint64_t fed_session_next_ns(struct fed_session *s)
{
	uint64_t next_ns = UINT64_MAX;

	for (guint i = 0; i < s->traces->len; i++) {
		const struct trace *t = g_ptr_array_index(s->traces, i);

		for (guint k = 0; k < t->n_streams; k++) {
			const struct feed_stream *st = &t->streams[k];
			uint64_t clock;

			if (st->data)
				clock = cutter_next_clock(&st->cutter);
			else if (st->next < st->recorded->packets->len)
				clock = recorded_packet(st->recorded, st->next)->begin;
			else
				continue;
			next_ns = MIN(next_ns, layout_to_ns(t->recording->layout, clock));
		}
	}
	return next_ns;
}

/* All streams, those with data first. */
static GPtrArray *list_streams(struct fed_session *s, guint *n_data)
{
	GPtrArray *streams = g_ptr_array_new();

	for (guint i = 0; i < s->traces->len; i++) {
		struct trace *t = g_ptr_array_index(s->traces, i);

		for (guint k = 0; k < t->n_streams; k++)
			g_ptr_array_add(streams, &t->streams[k].producer);
	}
	*n_data = streams->len;
	for (guint i = 0; i < s->traces->len; i++)
		g_ptr_array_add(streams, &((struct trace *)g_ptr_array_index(s->traces, i))->metadata);
	return streams;
}

enum lt_status fed_session_finish(struct fed_session *s)
{
	guint n_data;
	GPtrArray *streams = list_streams(s, &n_data);
	struct producer_stream *const *list = (struct producer_stream *const *)(void *)streams->pdata;
	enum lt_status status = producer_finish(&s->producer, list, streams->len);

	if (!status)
		status = producer_close_streams(&s->producer, list, n_data);
	s->is_finished = status == LT_OK;
	g_ptr_array_free(streams, TRUE);
	return wrap(s, status);
}

unsigned fed_session_least_streams(const struct fed_session *s)
{
	return s->traces->len;
}

enum lt_status fed_session_close(struct fed_session *s)
{
	guint n_data;
	GPtrArray *streams = list_streams(s, &n_data);
	struct producer_stream *const *list = (struct producer_stream *const *)(void *)streams->pdata;
	enum lt_status status = producer_close_streams(&s->producer, list + n_data, streams->len - n_data);

	g_ptr_array_free(streams, TRUE);
	producer_close(&s->producer);
	s->is_open = false;
	s->is_done = true;
	return wrap(s, status);
}
