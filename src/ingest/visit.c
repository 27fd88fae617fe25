/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/visit.h"

#include <string.h>

#include "base/nstime.h"
#include "event/payload.h"
#include "ingest/internal.h"

/* ---- origin of an event ---- */

static void append(GString *origin, const char *what, size_t len)
{
	if (origin->len && len)
		g_string_append_c(origin, ':');
	g_string_append_len(origin, what, (gssize)strnlen(what, len));
}

void input_note_origin(struct input *input, const struct event *ev)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);
	GString *origin;
	char vpid[32];

	if (ev->kind != EVENT_TRACE)
		return;
	if (!input->origins)
		input->origins = g_ptr_array_new_with_free_func(g_free);
	if (ev->trace >= input->origins->len)
		g_ptr_array_set_size(input->origins, ev->trace + 1);
	g_free(g_ptr_array_index(input->origins, ev->trace));
	origin = g_string_new(NULL);
	append(origin, event_text(ev, p->hostname), p->hostname.len);
	append(origin, event_text(ev, p->procname), p->procname.len);
	if (p->vpid >= 0)
		append(origin, vpid, (size_t)g_snprintf(vpid, sizeof(vpid), "(%" G_GINT64_FORMAT ")", p->vpid));
	g_ptr_array_index(input->origins, ev->trace) = g_string_free(origin, FALSE);
}

/* ---- an event and its fields ---- */

static bool is_of(const struct event *fields, const struct event *ev)
{
	return fields->ts_ns == ev->ts_ns && fields->class_id == ev->class_id && fields->cpu == ev->cpu &&
	       fields->trace == ev->trace;
}

static void accuse(const struct input *input, const char *wrong)
{
	if (input->source)
		source_accuse(input->source, wrong);
}

static void hold_fields(struct input *input, const struct event *ev)
{
	const struct shape *shape = shapes_find(&input->shapes, ev);
	const char *wrong = shape ? fields_check(shape, ev) : "fields of an event class that was not declared";

	g_byte_array_set_size(input->fields, 0);
	if (wrong)
		accuse(input, wrong);
	else
		g_byte_array_append(input->fields, (const guint8 *)ev, ev->size);
}

bool input_take_fields(struct input *input, const struct event *ev)
{
	const char *wrong;

	if (ev->kind == EVENT_WANTED) {
		if (event_payload(ev, ev_wanted)->number == input->wanted)
			input->fields_from_ns = input->host ? input->host->last_ns + 1 : 0;
		return true;
	}
	if (ev->kind == EVENT_TRACE && input->fields)
		shapes_forget_trace(&input->shapes, ev->trace);
	if (ev->kind != EVENT_SHAPE && ev->kind != EVENT_FIELDS)
		return false;
	if (!input->fields) {
		input->fields = g_byte_array_new();
		shapes_init(&input->shapes);
	}
	if (ev->kind == EVENT_FIELDS) {
		hold_fields(input, ev);
		return true;
	}
	wrong = shapes_take(&input->shapes, ev);
	if (wrong)
		accuse(input, wrong);
	return true;
}

void input_drop_fields(struct input *input)
{
	g_clear_pointer(&input->origins, g_ptr_array_unref);
	if (!input->fields)
		return;
	g_byte_array_free(input->fields, TRUE);
	input->fields = NULL;
	shapes_release(&input->shapes);
}

void ingest_begin_visit(const struct ingest *in, const struct host *host, const struct input *input,
			const struct event *ev, struct ingest_visit *v)
{
	const struct ingest_visitor *visitor = in->options.visitor;

	*v = (struct ingest_visit){
		.host = host->number,
		.event = ev,
		.ref_ns = clock_to_ref(host->public.map, ev->ts_ns),
	};
	if (input->origins && ev->trace < input->origins->len)
		v->origin = g_ptr_array_index(input->origins, ev->trace);
	if (input->fields && input->fields->len && is_of((const struct event *)(const void *)input->fields->data, ev)) {
		v->fields = (const struct event *)(const void *)input->fields->data;
		v->shape = shapes_find(&input->shapes, v->fields);
	}
	if (visitor->before)
		visitor->before(visitor->user, v);
}

void ingest_end_visit(const struct ingest *in, const struct input *input, const struct ingest_visit *v)
{
	const struct ingest_visitor *visitor = in->options.visitor;

	if (visitor->after)
		visitor->after(visitor->user, v);
	if (v->fields)
		g_byte_array_set_size(input->fields, 0);
}

void ingest_visit_lost(const struct ingest *in, const struct host *host, const struct input *input,
		       const struct event *ev)
{
	const struct ingest_visitor *visitor = in->options.visitor;
	const struct ingest_visit v = {
		.host = host->number,
		.event = ev,
		.ref_ns = clock_to_ref(host->public.map, ev->ts_ns),
	};

	if (visitor && visitor->lost && (in->visited == INGEST_VISIT_ALL || in->visited == host->number) &&
	    kernel_has_trace(input, ev->trace))
		visitor->lost(visitor->user, &v);
}

/* ---- changing the visitor ---- */

void ingest_ask_input(const struct ingest *in, struct input *input)
{
	const struct ingest_visitor *visitor = in->options.visitor;
	const bool asked =
		visitor && in->visited != INGEST_VISIT_ALL && input->host && input->host->number == in->visited;
	char *wanted;

	if (!source_spec_is_live(input->spec) || (!asked && !input->is_asked))
		return;
	wanted = fields_wanted_text(asked ? visitor->wanted : NULL);
	input_want_fields(input, wanted);
	input->is_asked = asked;
	g_free(wanted);
}

void ingest_set_visitor(struct ingest *in, const struct ingest_visitor *visitor, unsigned host)
{
	in->options.visitor = visitor;
	in->visited = host;
	for (guint i = 0; i < in->inputs->len; i++)
		ingest_ask_input(in, input_at(in, i));
}

uint64_t ingest_visited_from(const struct ingest *in)
{
	uint64_t from_ns = 0;

	for (guint i = 0; i < in->inputs->len; i++)
		if (input_at(in, i)->is_asked && input_at(in, i)->source)
			from_ns = MAX(from_ns, input_at(in, i)->fields_from_ns);
	return from_ns;
}

/* ---- all hosts in time order ---- */

enum { RECORDS_AT_ONCE = 65536, WAIT_MS = 100 };

/* By less than this, clocks that are not synchronised are assumed to be apart. */
#define GAP_NS (60 * NS_PER_S)

enum next_state { NEXT_UNKNOWN, NEXT_KNOWN, NEXT_SILENT, NEXT_DONE };

/* A host's next event. */
struct next {
	enum next_state state;
	uint64_t ref_ns; /* NEXT_KNOWN: reference time, not before this */
};

static void advance_host(struct ingest *in, unsigned i, uint64_t until_ns, struct next *next)
{
	const struct ingest_host *h = ingest_host(in, i);

	switch (ingest_advance(in, i, until_ns, RECORDS_AT_ONCE)) {
	case LT_OK:
		next->state = NEXT_KNOWN;
		next->ref_ns = clock_to_ref(h->map, h->next_ns);
		break;
	case LT_END:
		next->state = NEXT_DONE;
		break;
	default:
		next->state = ingest_is_mute(host_at(in, i)) ? NEXT_SILENT : NEXT_UNKNOWN;
		break;
	}
}

/* Updates a host's next event. Applies only records without a time. */
static void look_at_host(struct ingest *in, unsigned i, struct next *next)
{
	if (next->state == NEXT_KNOWN)
		next->ref_ns = clock_to_ref(ingest_host(in, i)->map, ingest_host(in, i)->next_ns); /* maps move */
	else if (next->state != NEXT_DONE)
		advance_host(in, i, MAX(ingest_host(in, i)->applied_ns, 1), next);
}

/*
 * The host whose event is next, and until when; -1: a host must be waited for, or none has events before until_ns.
 * Silent hosts are waited for only if there is nothing else.
 */
static int find_next(const GArray *nexts, uint64_t until_ns, uint64_t *bound_ns, bool *wait)
{
	uint64_t least_ns = until_ns;
	bool known = false, silent = false;
	int found = -1;

	*bound_ns = until_ns;
	*wait = false;
	for (guint i = 0; i < nexts->len; i++) {
		const struct next *n = &g_array_index(nexts, struct next, i);

		*wait |= n->state == NEXT_UNKNOWN;
		known |= n->state == NEXT_KNOWN;
		silent |= n->state == NEXT_SILENT;
		if (n->state != NEXT_KNOWN || n->ref_ns >= *bound_ns)
			continue;
		if (n->ref_ns < least_ns) {
			*bound_ns = least_ns;
			least_ns = n->ref_ns;
			found = (int)i;
		} else {
			*bound_ns = n->ref_ns;
		}
	}
	*wait |= silent && !known;
	return *wait ? -1 : found;
}

static uint64_t host_time(const struct ingest_host *h, uint64_t ref_ns)
{
	return ref_ns == UINT64_MAX ? ref_ns : clock_from_ref(h->map, ref_ns);
}

/*
 * Moves hosts that have no event for a long time up to until_ns, so that the wait graph does not wait for them. Others
 * stay: their clocks may be behind, and what they sent may be received earlier.
 */
static void pass_time(struct ingest *in, GArray *nexts, uint64_t until_ns)
{
	for (guint i = 0; i < nexts->len; i++) {
		struct next *next = &g_array_index(nexts, struct next, i);
		const struct ingest_host *h = ingest_host(in, i);

		if (next->state == NEXT_KNOWN && next->ref_ns > until_ns && next->ref_ns - until_ns > GAP_NS)
			advance_host(in, i, MIN(host_time(h, until_ns), h->next_ns), next);
	}
}

static bool all_done(const GArray *nexts)
{
	for (guint i = 0; i < nexts->len; i++)
		if (g_array_index(nexts, struct next, i).state != NEXT_DONE)
			return false;
	return true;
}

enum lt_status ingest_advance_in_order(struct ingest *in, uint64_t until_ns, const stop_flag *stop)
{
	GArray *nexts = g_array_new(FALSE, TRUE, sizeof(struct next));
	enum lt_status status = LT_OK;
	uint64_t bound_ns;
	bool wait;

	for (;;) {
		int i;

		if (stop && *stop) {
			status = LT_INTERRUPTED;
			break;
		}
		g_array_set_size(nexts, ingest_host_count(in));
		for (guint k = 0; k < nexts->len; k++)
			look_at_host(in, k, &g_array_index(nexts, struct next, k));
		i = find_next(nexts, until_ns, &bound_ns, &wait);
		if (wait) {
			if (in->options.visitor && in->options.visitor->idle)
				in->options.visitor->idle(in->options.visitor->user);
			ingest_watch(in);
			ingest_wait(in, WAIT_MS);
		} else if (i >= 0) {
			const struct ingest_host *h = ingest_host(in, (unsigned)i);

			advance_host(in, (unsigned)i, MAX(host_time(h, bound_ns), h->next_ns + 1),
				     &g_array_index(nexts, struct next, i));
		} else {
			pass_time(in, nexts, until_ns);
			break;
		}
	}
	if (status == LT_OK && all_done(nexts))
		status = LT_END;
	g_array_free(nexts, TRUE);
	return status;
}
