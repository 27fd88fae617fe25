/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/keyhash.h"
#include "base/nstime.h"
#include "reader/native/internal.h"

#include <string.h>

#include "base/error.h"

enum { DENSE_IDS = 65536 };

/* ---- the clock ---- */

static void init_clock(struct native_clock *c, const struct layout *layout)
{
	const struct layout_clock *l = layout->clock;
	const __int128 base = (__int128)l->offset_s * NS_PER_S + l->offset;

	c->layout = layout;
	c->is_ns = l->freq == NS_PER_S && base >= 0 && base <= INT64_MAX;
	c->base_ns = (uint64_t)base;
}

/* ---- classes ---- */

static bool is_dense(const struct layout_event *e)
{
	return e->is_known && e->id < DENSE_IDS;
}

static void prepare_ids(struct native_group *g)
{
	GHashTableIter iter;
	gpointer value;

	g->by_great_id = g_hash_table_new(keyhash_number, g_int64_equal);
	g_hash_table_iter_init(&iter, g->stream->events);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct layout_event *e = value;

		if (is_dense(e) && e->id >= g->n_ids)
			g->n_ids = e->id + 1;
	}
	g->by_id = g_new0(struct native_class *, g->n_ids + 1);
}

static void release_class(gpointer data)
{
	struct native_class *c = data;

	program_release(&c->context);
	program_release(&c->own_context);
	program_release(&c->perf);
	program_release(&c->own_perf);
	program_release(&c->payload);
	program_release(&c->skip_payload);
	for (unsigned i = 0; i < FIELDS_PARTS; i++)
		program_release(&c->values[i]);
	g_free(c);
}

static void release_group(gpointer data)
{
	struct native_group *g = data;

	program_release(&g->packet);
	g_free(g->by_id);
	g_hash_table_destroy(g->by_great_id);
	g_free(g);
}

/* The number of bytes of the fields before the first perf counter. 0: other wanted values follow it. */
static unsigned bytes_before_counters(const struct type *context, const struct reader_class *plan)
{
	const guint first = plan->common_perf.ops[0].member;
	uint64_t at = 0;

	for (unsigned i = 0; i < plan->common_context.n; i++)
		if (plan->common_context.ops[i].member > first)
			return 0;
	for (guint i = 0; i < first; i++) {
		const struct type *t = type_field(context, i)->type;

		at = type_align(at, t->align) + t->fixed_bits;
	}
	return (unsigned)((at + 7) / 8);
}

static void prepare_caching(struct native_class *c, const struct type *common)
{
	const struct reader_class *plan = c->plan;

	if (!common || !common->is_fixed || common->align < 8 || common->fixed_bits % 8 || c->event->context)
		return;
	if (common->fixed_bits > 8 * CONTEXT_BYTES_MAX)
		return;
	c->context_bytes = (unsigned)(common->fixed_bits / 8);
	c->compared_bytes = plan->has_perf ? bytes_before_counters(common, plan) : c->context_bytes;
}

struct native_class *native_trace_make_class(struct native_trace *t, struct native_group *g,
					     const struct layout_event *event)
{
	const struct type *common = g->stream->event_context;
	struct native_class *c = g_new0(struct native_class, 1);
	struct reader_class *plan = g_hash_table_lookup(t->plans, event);

	c->event = event;
	c->plan = plan;
	plan->code = c;
	program_compile(&c->context, common, &plan->common_context);
	program_compile(&c->own_context, event->context, &plan->specific_context);
	program_compile(&c->perf, common, &plan->common_perf);
	program_compile(&c->own_perf, event->context, &plan->specific_perf);
	program_compile(&c->payload, event->fields, &plan->payload);
	prepare_caching(c, common);
	g_ptr_array_add(t->classes, c);
	if (is_dense(event))
		g->by_id[event->id] = c;
	else
		g_hash_table_insert(g->by_great_id, (gpointer)&event->id, c);
	return c;
}

void native_class_prepare_values(struct native_class *c, struct native_group *g)
{
	c->has_values = true;
	program_compile_values(&c->values[FIELDS_COMMON], g->stream->event_context);
	program_compile_values(&c->values[FIELDS_SPECIFIC], c->event->context);
	program_compile_values(&c->values[FIELDS_PAYLOAD], c->event->fields);
	if (!g->has_packet)
		program_compile_values(&g->packet, g->stream->packet_context);
	g->has_packet = true;
}

/* ---- the trace ---- */

static int64_t env_integer(const struct layout *l, const char *key)
{
	int64_t value = -1;

	layout_env_integer(l, key, &value);
	return value;
}

enum lt_status native_trace_init(struct native_trace *t, struct layout *layout)
{
	*t = (struct native_trace){ .layout = layout };
	t->groups = g_ptr_array_new_with_free_func(release_group);
	t->plans = g_hash_table_new(NULL, NULL);
	t->classes = g_ptr_array_new_with_free_func(release_class);
	if (!layout->clock) {
		error_set("%s", layout->n_clocks > 1 ? "it has several clocks" : "its events have no time");
		return LT_AGAIN;
	}
	init_clock(&t->clock, layout);
	for (guint i = 0; i < layout->streams->len; i++) {
		struct native_group *g = g_new0(struct native_group, 1);

		g->stream = g_ptr_array_index(layout->streams, i);
		prepare_ids(g);
		native_header_recognise(g);
		g_ptr_array_add(t->groups, g);
	}
	return LT_OK;
}

void native_trace_release(struct native_trace *t)
{
	if (t->groups)
		g_ptr_array_free(t->groups, TRUE);
	if (t->plans)
		g_hash_table_destroy(t->plans);
	if (t->classes)
		g_ptr_array_free(t->classes, TRUE);
	layout_destroy(t->layout);
}

struct native_group *native_trace_group(const struct native_trace *t, const struct layout_stream *stream)
{
	for (guint i = 0; i < t->groups->len; i++) {
		struct native_group *g = g_ptr_array_index(t->groups, i);

		if (g->stream == stream)
			return g;
	}
	return NULL;
}

bool native_trace_describe(const struct native_trace *t, struct trace_desc *desc)
{
	const struct layout *l = t->layout;

	desc->hostname = layout_env(l, "hostname");
	desc->domain = layout_env(l, "domain");
	desc->tracer = layout_env(l, "tracer_name");
	desc->kernel = layout_env(l, "kernel_release");
	desc->procname = layout_env(l, "procname");
	desc->vpid = env_integer(l, "vpid");
	desc->tracer_major = env_integer(l, "tracer_major");
	desc->tracer_minor = env_integer(l, "tracer_minor");
	desc->tracer_patch = env_integer(l, "tracer_patchlevel");
	desc->clock = l->clock->uuid;
	if (!native_clock_ns(&t->clock, 0, &desc->clock_zero_ns))
		desc->clock_zero_ns = 0;
	return true;
}

static const struct type *structure(const struct type *t)
{
	return t && t->kind == TYPE_STRUCT ? t : NULL;
}

static int by_id(gconstpointer a, gconstpointer b)
{
	const struct layout_event *x = *(struct layout_event *const *)a, *y = *(struct layout_event *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_stream_id(gconstpointer a, gconstpointer b)
{
	const struct layout_stream *x = *(struct layout_stream *const *)a, *y = *(struct layout_stream *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void visit_stream(const struct layout_stream *s, struct reader *r, class_visit_fn *visit, void *user)
{
	GPtrArray *events = g_ptr_array_new();
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, s->events);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (((struct layout_event *)value)->is_known)
			g_ptr_array_add(events, value);
	g_ptr_array_sort(events, by_id);
	for (guint i = 0; i < events->len; i++) {
		const struct layout_event *e = g_ptr_array_index(events, i);
		const struct class_desc desc = {
			.name = e->name,
			.payload = structure(e->fields),
			.common = structure(s->event_context),
			.specific = structure(e->context),
			.packet = structure(s->packet_context),
			.group = s,
		};

		visit(r, e, &desc, user);
	}
	g_ptr_array_free(events, TRUE);
}

void native_trace_visit(struct native_trace *t, struct reader *r, class_visit_fn *visit, void *user)
{
	GPtrArray *streams = g_ptr_array_new();

	for (guint i = 0; i < t->layout->streams->len; i++)
		g_ptr_array_add(streams, g_ptr_array_index(t->layout->streams, i));
	g_ptr_array_sort(streams, by_stream_id);
	for (guint i = 0; i < streams->len; i++)
		visit_stream(g_ptr_array_index(streams, i), r, visit, user);
	g_ptr_array_free(streams, TRUE);
}

void native_trace_add_class(struct native_trace *t, const void *key, struct reader_class *plan)
{
	g_hash_table_insert(t->plans, (gpointer)key, plan);
}
