/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "ctf/metadata.h"
#include "reader/native/live_internal.h"

/*
 * However little is added, all of the metadata is read again: not before this many times as long has passed as it took.
 */
enum { REST_FACTOR = 9 };

static struct live_trace *trace_of(struct reader *r)
{
	return (struct live_trace *)(void *)r;
}

static bool describe(struct reader *r, struct trace_desc *desc)
{
	return native_trace_describe(live_trace_newest(trace_of(r)), desc);
}

static void visit_classes(struct reader *r, class_visit_fn *visit, void *user)
{
	native_trace_visit(live_trace_newest(trace_of(r)), r, visit, user);
}

/* Identifies a class as the metadata grows. */
static char *name_of_class(const struct layout_event *e)
{
	return g_strdup_printf("%" PRIu64 " %" PRIu64, e->stream_id, e->id);
}

static bool same_class(struct reader *r, const void *key, uint16_t *id)
{
	char *name = name_of_class(key);
	const guint found = GPOINTER_TO_UINT(g_hash_table_lookup(trace_of(r)->ids, name));

	g_free(name);
	*id = (uint16_t)(found - 1);
	return found != 0;
}

static void class_added(struct reader *r, const void *key, struct reader_class *plan)
{
	struct live_trace *t = trace_of(r);

	native_trace_add_class(live_trace_newest(t), key, plan);
	g_hash_table_insert(t->ids, name_of_class(key), GUINT_TO_POINTER(plan->id + 1u));
}

static void free_version(gpointer version)
{
	native_trace_release(version);
	g_free(version);
}

/* The streams belong to the session. */
static void release(struct reader *r)
{
	struct live_trace *t = trace_of(r);

	g_ptr_array_free(t->versions, TRUE);
	g_hash_table_destroy(t->ids);
	g_byte_array_free(t->metadata, TRUE);
	if (t->packed_metadata)
		g_byte_array_free(t->packed_metadata, TRUE);
	g_free(t->flaw);
	g_free(t);
}

static const struct reader_ops live_ops = {
	.describe = describe,
	.visit_classes = visit_classes,
	.same_class = same_class,
	.class_added = class_added,
	.release = release,
};

struct live_trace *live_trace_get(struct native_live *l, uint64_t id)
{
	const struct reader_args args = { .name = l->name, .wanted = l->fields, .parts = 1, .end_ns = UINT64_MAX };
	struct live_trace *t;

	guint number = l->traces->len;

	for (guint i = l->traces->len; i-- > 0;) {
		t = g_ptr_array_index(l->traces, i);
		if (t && t->id == id)
			return t;
		if (!t)
			number = i;
	}
	if (number == EVENT_TRACES_MAX)
		return NULL;
	t = g_new0(struct live_trace, 1);
	t->id = id;
	t->metadata = g_byte_array_new();
	t->versions = g_ptr_array_new_with_free_func(free_version);
	t->ids = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, NULL);
	reader_init(&t->base, &live_ops, &args, l->ring);
	t->base.trace = (uint16_t)number;
	t->base.shapes = &l->shapes;
	t->base.live = true;
	t->base.never_waits = l->viewer != NULL;
	if (number == l->traces->len)
		g_ptr_array_add(l->traces, t);
	else
		g_ptr_array_index(l->traces, number) = t;
	return t;
}

void live_trace_settle(struct native_live *l, struct live_trace *t)
{
	if (t->n_streams || t->n_metadata || !t->had_streams)
		return;
	live_recall_end(l, t);
	g_ptr_array_index(l->traces, t->base.trace) = NULL;
	l->n_metadata -= t->metadata->len;
	live_trace_destroy(t);
}

void live_trace_destroy(gpointer trace)
{
	reader_close(trace);
}

/* ---- metadata ---- */

/* Drops versions that are not in use, except the newest. */
static void drop_versions(struct live_trace *t)
{
	for (guint i = t->versions->len; i-- > 1;) {
		struct live_version *before = g_ptr_array_index(t->versions, i - 1);

		if (before->users)
			continue;
		reader_forget_classes(&t->base, before->base.plans);
		g_ptr_array_remove_index(t->versions, i - 1);
	}
}

void live_trace_hold(struct native_trace *version)
{
	if (version)
		((struct live_version *)(void *)version)->users++;
}

void live_trace_let_go(struct live_trace *t, struct native_trace *version)
{
	if (version && --((struct live_version *)(void *)version)->users == 0)
		drop_versions(t);
}

enum lt_status live_trace_add(struct native_live *l, struct live_trace *t, const uint8_t *bytes, size_t len)
{
	if (len > LIVE_METADATA_MAX - l->n_metadata)
		return error_set("more than %d bytes of metadata", LIVE_METADATA_MAX);
	l->n_metadata += len;
	g_byte_array_append(t->metadata, bytes, (guint)len);
	t->has_grown = true;
	return LT_OK;
}

static enum lt_status read_metadata(struct live_trace *t)
{
	char *text = metadata_text(t->metadata->data, t->metadata->len);
	struct live_version *version = g_new0(struct live_version, 1);
	struct layout *layout = NULL;
	enum lt_status status = layout_parse_growing(text, &layout);

	g_free(text);
	if (status == LT_OK)
		status = native_trace_init(&version->base, layout);
	if (status == LT_OK) {
		g_ptr_array_add(t->versions, version);
		drop_versions(t);
		/* The clock is enough for beacons, but not for packets. */
		return layout->streams->len ? LT_OK : error_set("metadata: no stream is described");
	}
	if (layout)
		native_trace_release(&version->base);
	g_free(version);
	return LT_ERROR;
}

/* Once after each growth, however often more is waited for. */
static void read_again(struct live_trace *t)
{
	const int64_t since_us = g_get_monotonic_time();
	int64_t now_us;

	t->has_grown = false;
	g_clear_pointer(&t->flaw, g_free);
	if (read_metadata(t) == LT_OK) {
		t->is_declared = false;
	} else {
		t->flaw = g_strdup(error_text());
		error_clear();
	}
	now_us = g_get_monotonic_time();
	t->rest_us = now_us + REST_FACTOR * (now_us - since_us);
}

enum lt_status live_trace_update(struct live_trace *t)
{
	if (t->has_grown && g_get_monotonic_time() < t->rest_us)
		return LT_AGAIN;
	if (t->has_grown)
		read_again(t);
	if (t->flaw)
		return error_set("%s", t->flaw);
	if (!live_trace_newest(t))
		return error_set("it has no metadata");
	if (t->is_declared)
		return LT_OK;
	if (t->base.never_waits && !ring_has_room(t->base.ring))
		return LT_AGAIN;
	if (t->is_known)
		reader_declare_classes(&t->base);
	else
		reader_write_trace(&t->base);
	t->is_known = true;
	t->is_declared = !t->base.lacks_classes;
	return t->is_declared ? LT_OK : LT_AGAIN;
}
