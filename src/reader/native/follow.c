/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/follow.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "reader/emit.h"
#include "reader/native/follow_internal.h"

enum {
	WALK_SHARE = 10,      /* the pause before the next walk, in durations of a walk */
	QUIET_US = US_PER_S,  /* after the metadata is closed, other files may still be written for a moment */
	REPORT_US = US_PER_S, /* how often the parent is informed that records exist, but wait for other streams */
};

struct native_follow *native_follow_create(const char *directory, unsigned patience_ms, const char *fields,
					   struct ring_producer *ring)
{
	struct native_follow *f = g_new0(struct native_follow, 1);

	native_live_init(&f->live, directory, fields, ring);
	f->directory = directory;
	f->patience_us = (int64_t)patience_ms * US_PER_MS;
	f->traces = g_ptr_array_new_with_free_func(followed_trace_free);
	f->directories = g_ptr_array_new_with_free_func(followed_directory_free);
	f->files = g_hash_table_new_full(followed_id_hash, followed_id_equal, NULL, followed_file_free);
	f->visited = g_hash_table_new_full(followed_id_hash, followed_id_equal, g_free, NULL);
	f->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	g_queue_init(&f->times);
	return f;
}

void native_follow_destroy(struct native_follow *f)
{
	if (!f)
		return;
	/* the descriptors belong to the files */
	for (guint i = 0; i < f->live.streams->len; i++)
		followed_stream_end(g_ptr_array_index(f->live.streams, i));
	native_live_release(&f->live);
	g_hash_table_destroy(f->files);
	g_hash_table_destroy(f->visited);
	g_ptr_array_free(f->directories, TRUE);
	g_ptr_array_free(f->traces, TRUE);
	g_queue_clear_full(&f->times, g_free);
	if (f->inotify_fd >= 0)
		close(f->inotify_fd);
	g_free(f);
}

void native_follow_want(struct native_follow *f, const char *fields, uint32_t number)
{
	native_live_want(&f->live, fields, number);
}

void native_follow_read_rest(struct native_follow *f)
{
	f->is_told_to_end = true;
}

void native_follow_note(struct followed_trace *t, const char *where, const char *why)
{
	reader_note_trouble(&t->live->base, where, why);
}

/* ---- looking for changes ---- */

static void look_at_files(struct native_follow *f)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, f->files);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		followed_file_look(f, value);
}

/* A trace is announced when it has a packet: then its metadata is usable. */
static void read_metadata(struct native_follow *f)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, f->files);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct followed_file *file = value;
		struct live_trace *live = file->trace->live;

		if (!live->has_grown || (!live->is_known && !file->size))
			continue;
		if (f->is_over)
			live->rest_us = 0;
		/* Incomplete metadata is read again when it has grown. */
		live_trace_update(live);
		error_clear();
	}
}

static void walk(struct native_follow *f)
{
	if (f->now_us < f->walk_us && !f->is_told_to_end)
		return;
	f->is_over |= !native_follow_walk(f);
	f->walk_us = f->now_us + WALK_SHARE * (g_get_monotonic_time() - f->now_us);
}

/* ---- the known time ---- */

/* Records seen before the patience started are not held back for streams that have been silent since. */
static void move_time(struct native_follow *f)
{
	const struct followed_time *last = g_queue_peek_tail(&f->times), *first;

	if (f->newest_ns > (last ? last->ns : f->live.from_ns)) {
		struct followed_time *now = g_new(struct followed_time, 1);

		*now = (struct followed_time){ f->now_us, f->newest_ns };
		g_queue_push_tail(&f->times, now);
	}
	while ((first = g_queue_peek_head(&f->times)) != NULL && f->now_us - first->us >= f->patience_us) {
		f->live.from_ns = MAX(f->live.from_ns, first->ns);
		g_free(g_queue_pop_head(&f->times));
	}
}

/*
 * The metadata of a process may be written long after its packets, which cannot be read before that. If the session is
 * rotated, the metadata of the next archive may be readable earlier, while its packets come later.
 */
static bool is_awaited(const struct native_follow *f, const struct followed_directory *d)
{
	/* once traces are refused, it would get none */
	return !d->trace && !f->has_refused_trace && f->now_us - d->found_us < f->patience_us;
}

static void look_at_directories(struct native_follow *f)
{
	f->live.until_ns = UINT64_MAX;
	f->is_incomplete = false;
	for (guint i = 0; i < f->directories->len; i++) {
		const struct followed_directory *d = g_ptr_array_index(f->directories, i);

		if (!is_awaited(f, d))
			continue;
		f->live.until_ns = MIN(f->live.until_ns, d->since_ns);
		f->is_incomplete = true;
	}
}

/* A file without a packet may belong to any stream. */
static void wait_for_new_files(struct native_follow *f)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, f->files);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct followed_file *file = value;

		if (!file->stream && !file->is_done && !file->is_removed && (!file->trace->has_ended || file->complete))
			f->live.until_ns = MIN(f->live.until_ns, file->since_ns);
	}
}

/* ---- the end ---- */

static void hear_of_closed_metadata(struct native_follow *f)
{
	_Alignas(struct inotify_event) char events[4096];
	ssize_t n;

	while (f->inotify_fd >= 0 && (n = read(f->inotify_fd, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const struct inotify_event *)(const void *)(events + at);

			for (guint i = 0; i < f->directories->len; i++) {
				struct followed_directory *d = g_ptr_array_index(f->directories, i);

				if (!d->closed_us && d->watch == event->wd && event->mask & IN_CLOSE_WRITE)
					d->closed_us = f->now_us;
			}
			f->news_us = f->now_us;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
}

static void find_last_archives(struct native_follow *f)
{
	for (guint i = 0; i < f->traces->len; i++)
		((struct followed_trace *)g_ptr_array_index(f->traces, i))->last = NULL;
	for (guint i = 0; i < f->directories->len; i++) {
		const struct followed_directory *d = g_ptr_array_index(f->directories, i);

		if (d->trace && (!d->trace->last || d->written_ns > d->trace->last->written_ns))
			d->trace->last = d;
	}
}

/* Whether the metadata of its last archive was closed at least that long ago. */
static bool is_closed(const struct native_follow *f, const struct followed_trace *t, int64_t since_us)
{
	return !t->last || (t->last->closed_us && f->now_us - t->last->closed_us >= since_us);
}

/* A rotation, too, closes the metadata, but the next archive is found soon after that. */
static void find_ended_processes(struct native_follow *f)
{
	find_last_archives(f);
	for (guint i = 0; i < f->traces->len; i++) {
		struct followed_trace *t = g_ptr_array_index(f->traces, i);

		t->has_ended = t->is_of_process && is_closed(f, t, QUIET_US) && f->now_us - t->news_us >= QUIET_US;
	}
}

static bool is_over(const struct native_follow *f)
{
	bool any = false;

	for (guint i = 0; i < f->traces->len; i++) {
		const struct followed_trace *t = g_ptr_array_index(f->traces, i);

		if (t->is_of_process)
			continue;
		if (!is_closed(f, t, 0))
			return false;
		any = true;
	}
	return any && f->now_us - f->news_us >= QUIET_US;
}

static void note_what_is_cut(struct native_follow *f)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, f->files);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct followed_file *file = value;

		if (file->stream && file->size > file->complete)
			native_follow_note(file->trace, file->path, "its last packet is not complete");
	}
	for (guint i = 0; f->traces->len && i < f->directories->len; i++) {
		const struct followed_directory *d = g_ptr_array_index(f->directories, i);

		if (!d->trace && !f->has_refused_trace)
			native_follow_note(g_ptr_array_index(f->traces, 0), d->path,
					   "its metadata is not readable yet");
	}
}

/* ---- streams ---- */

static void wake_streams(struct native_follow *f)
{
	for (guint i = f->live.streams->len; i-- > 0;) {
		struct followed_stream *s = g_ptr_array_index(f->live.streams, i);

		if (followed_stream_is_gone(s))
			followed_stream_end(s);
		live_merge_wake(&f->live, &s->base);
	}
}

/* Stops waiting: the remaining records are written first, then the ends of the streams. */
static void read_the_rest(struct native_follow *f)
{
	f->is_incomplete = false;
	read_metadata(f);
	look_at_files(f);
	note_what_is_cut(f);
	wake_streams(f);
	f->live.from_ns = f->live.until_ns = UINT64_MAX;
}

static void end_streams(struct native_follow *f)
{
	for (guint i = f->live.streams->len; i-- > 0;) {
		struct followed_stream *s = g_ptr_array_index(f->live.streams, i);

		followed_stream_end(s);
		live_merge_wake(&f->live, &s->base);
	}
}

static bool knows_a_trace(const struct native_follow *f)
{
	for (guint i = 0; i < f->traces->len; i++)
		if (((const struct followed_trace *)g_ptr_array_index(f->traces, i))->live->is_known)
			return true;
	return false;
}

static void look_around(struct native_follow *f)
{
	f->now_us = g_get_monotonic_time();
	walk(f);
	hear_of_closed_metadata(f);
	find_ended_processes(f);
	look_at_directories(f);
	look_at_files(f);
	read_metadata(f);
	move_time(f);
	wait_for_new_files(f);
	f->is_over |= f->is_told_to_end || is_over(f);
	if (f->is_over)
		read_the_rest(f);
	else
		wake_streams(f);
}

/* Without a message the source would appear to hang. */
static void report_waiting(struct native_follow *f)
{
	if (!f->live.heap->len || !f->live.last_ns || f->now_us - f->reported_us < REPORT_US)
		return;
	f->reported_us = f->now_us;
	emit_end(f->live.ring, emit_begin(f->live.ring, EVENT_BEACON, f->live.last_ns, 0));
}

bool native_follow_is_full(const struct native_follow *f)
{
	return f->live.is_full;
}

enum lt_status native_follow_step(struct native_follow *f)
{
	native_live_apply_requests(&f->live);
	f->live.is_full = false;
	if (live_merge_run(&f->live) == LT_OK) {
		f->reported_us = f->now_us;
		ring_beat(f->live.ring);
		return LT_OK;
	}
	if (f->live.is_full)
		return LT_AGAIN;
	if (!f->has_looked && !f->is_over) {
		f->has_looked = true;
		look_around(f);
		return LT_OK;
	}
	if (f->is_over && f->live.streams->len > 0) {
		end_streams(f);
		return LT_OK;
	}
	f->has_looked = false;
	live_merge_settle(&f->live);
	report_waiting(f);
	ring_publish(f->live.ring);
	if (!f->is_over)
		return LT_AGAIN;
	return knows_a_trace(f) ? LT_END : error_set("no readable trace in '%s'", f->directory);
}
