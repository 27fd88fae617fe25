/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "reader/emit.h"
#include "reader/common.h"

static void drop_class(gpointer plan)
{
	class_plan_destroy(plan);
}

static void free_trouble(gpointer data)
{
	struct trouble *t = data;

	g_free(t->where);
	g_free(t->why);
	g_free(t);
}

void reader_init(struct reader *r, const struct reader_ops *ops, const struct reader_args *args,
		 struct ring_producer *ring)
{
	r->ops = ops;
	r->args = *args;
	r->ring = ring;
	r->class_index = g_hash_table_new_full(NULL, NULL, NULL, drop_class);
	r->troubles = g_ptr_array_new_with_free_func(free_trouble);
	r->shaped = g_byte_array_new();
	r->shapes = &r->own_shapes;
	r->choice = args->wanted ? choice_create(args->wanted) : NULL;
	if (r->choice)
		ring_set_room(ring, RING_FIELDS_ROOM);
}

void reader_want(struct reader *r, const char *text)
{
	choice_destroy(r->choice);
	r->choice = choice_create(text);
	ring_set_room(r->ring, r->choice ? RING_FIELDS_ROOM : RING_ROOM);
	/* switches were not followed while nothing was wanted */
	for (unsigned i = 0; i <= EVENT_CPU_MAX; i++)
		if (r->cpus[i])
			r->cpus[i]->running.is_known = false;
}

void reader_add_stream(struct reader *r, struct reader_stream *s)
{
	r->streams = g_renew(struct reader_stream *, r->streams, r->n_streams + 1);
	r->streams[r->n_streams++] = s;
}

char *reader_trouble_text(const struct trouble *t)
{
	return t->others ? g_strdup_printf("%s and %u more: %s", t->where, t->others, t->why)
			 : g_strdup_printf("%s: %s", t->where, t->why);
}

void reader_note_trouble(struct reader *r, const char *where, const char *why)
{
	struct trouble *t;
	char *text;

	if (r->live) {
		text = g_strdup_printf("%s: %s", where, why);
		emit_note(r->ring, EVENT_NOTE, 0, text);
		g_free(text);
		return;
	}
	for (guint i = r->troubles_reported; i < r->troubles->len; i++) {
		t = g_ptr_array_index(r->troubles, i);
		if (strcmp(t->why, why) == 0) {
			t->others++;
			return;
		}
	}
	t = g_new0(struct trouble, 1);
	t->where = g_strdup(where);
	t->why = g_strdup(why);
	g_ptr_array_add(r->troubles, t);
}

/*
 * Files that are still there now were there when the decoder listed them; files that are missing now may have been left
 * out.
 */
static void report_missing(struct reader *r)
{
	const struct extent *found = &r->args.found;
	struct extent now = { 0 };
	char *why;

	for (const char *const *path = r->args.paths; *path; path++)
		extent_add(&now, *path);
	if (now.files < found->files)
		why = g_strdup_printf("%" PRIu64 " of its %" PRIu64 " data files have been removed",
				      found->files - now.files, found->files);
	else if (now.bytes < found->bytes)
		why = g_strdup("its data files have been cut");
	else
		return;
	reader_note_trouble(r, r->args.name, why);
	g_free(why);
}

/* Used if this part has no streams. */
static void write_empty(struct reader *r)
{
	emit_end(r->ring, emit_begin(r->ring, EVENT_READY, 0, 0));
	ring_publish(r->ring);
}

enum lt_status reader_step(struct reader *r)
{
	if (!r->heap) {
		report_missing(r);
		if (r->n_streams > 0)
			reader_write_prologue(r);
		else
			write_empty(r);
	}
	if (reader_run(r)) {
		ring_beat(r->ring);
		return LT_OK;
	}
	/* The notes had the reasons, unless there was no stream in which to send them. */
	if (r->troubles->len > 0) {
		char *first = reader_trouble_text(g_ptr_array_index(r->troubles, 0));

		error_set("%s", r->n_streams > 0 ? "not all of it could be read" : first);
		g_free(first);
		return LT_ERROR;
	}
	return LT_END;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->n_streams; i++)
		r->streams[i]->type->release(r->streams[i]);
	for (unsigned i = 0; i <= EVENT_CPU_MAX; i++)
		g_free(r->cpus[i]);
	for (unsigned i = 0; i < r->perf.n; i++)
		g_free(r->perf.names[i]);
	g_hash_table_destroy(r->class_index);
	g_free(r->contexts);
	choice_destroy(r->choice);
	g_byte_array_free(r->shaped, TRUE);
	g_free(r->streams);
	g_free(r->heap);
	g_ptr_array_free(r->troubles, TRUE);
	r->ops->release(r);
}
