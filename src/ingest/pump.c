/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pump itself: from a host's merge into its model, up to a time. */
#include "base/error.h"
#include "base/strpool.h"
#include "event/payload.h"
#include "ingest/internal.h"

/* Per worker, which may never stop writing them. */
enum { NOTES_MAX = 16 };

static void take_note(struct host *host, struct input *input, const struct event *ev)
{
	char *text;

	if (input->notes > NOTES_MAX)
		return;
	text = input->notes < NOTES_MAX ? source_text(ev, event_payload(ev, ev_note)->text)
					: g_strdup("further messages are left out");
	if (host_trouble(host, text))
		input->notes++;
	g_free(text);
}

static void source_said(struct ingest *in, struct host *host, struct input *input, const struct event *ev)
{
	if (ev->kind == EVENT_TRACE) {
		host_set_tracer(host, ev);
		in->announced = true;
	}
	if (ev->kind != EVENT_NOTE)
		return;
	in->broken = true;
	take_note(host, input, ev);
}

/* One source of the host's merge has ended (why NULL) or broken off. */
static void source_stopped(struct ingest *in, struct host *host, unsigned number, const char *why)
{
	ingest_source_stopped(in, g_ptr_array_index(host->inputs, number), why);
}

/* Whether the record is an event, or the context of one that follows. */
static bool is_event(const struct event *ev)
{
	return ev->kind >= EVENT_OTHER || ev->kind == EVENT_CONTEXT;
}

/* Applies a record that is not an event: a worker's report about its source. */
static void apply_word(struct ingest *in, struct host *host, struct input *input, const struct event *ev)
{
	if (input_take_fields(input, ev))
		return;
	if (ev->kind == EVENT_BEACON)
		host_no_event(host, ev->ts_ns);
	host->last_ns = MAX(host->last_ns, ev->ts_ns);
	kernel_declare(input, ev);
	input_note_origin(input, ev);
	if (!kernel_takes(host, input, ev))
		return;
	if (!in->options.survey)
		model_apply(host->public.model, input->number, ev);
	if (ev->kind == EVENT_LOST)
		ingest_visit_lost(in, host, input, ev);
	source_said(in, host, input, ev);
}

/* Applies an event, or the context of one. */
static void apply_event(struct ingest *in, struct host *host, struct input *input, const struct event *ev)
{
	struct ingest_host *h = &host->public;
	const struct event *context;
	struct ingest_visit visit;
	bool visited, counts;

	if (ev->ts_ns < host->last_ns) {
		/* from a source that was skipped for a while, or added late */
		if (ev->kind >= EVENT_OTHER && kernel_takes(host, input, ev))
			model_late(h->model, 1, true);
		return;
	}
	host->last_ns = ev->ts_ns;
	if (host_is_traced_twice(host) && !kernel_takes(host, input, ev))
		return;
	if (input->unapplied) {
		context = kernel_context(input, ev);
		if (context && !in->options.survey)
			model_apply(h->model, input->number, context);
	}
	if (in->options.clocks && ingest_is_packet(ev))
		ingest_add_packet(in, host, ev);
	visited = ingest_is_visited(in, host, input, ev);
	if (visited)
		ingest_begin_visit(in, host, input, ev, &visit);
	/* a part of the machine's side-car is not an event of the machine */
	counts = ev->kind != EVENT_MESSAGE || !host_hear(host, ev);
	if (!in->options.survey && counts)
		model_apply(h->model, input->number, ev);
	if (visited)
		ingest_end_visit(in, input, &visit);
	if (ev->kind < EVENT_OTHER)
		return;
	h->end_ns = ev->ts_ns + 1;
	if (h->still)
		host_is_back_at_work(host);
}

/*
 * Applies a run from the merge, at most *n records, and subtracts their number from *n. LT_OK: the next record is not
 * before until_ns.
 */
static enum lt_status apply_run(struct ingest *in, struct host *host, const struct merge_run *run, uint64_t until_ns,
				uint64_t *n)
{
	struct input *input = g_ptr_array_index(host->inputs, run->number);
	struct ingest_host *h = &host->public;
	const struct event *ev = run->ev;
	enum lt_status status = LT_AGAIN;

	do {
		if ((h->begin_ns == TIME_UNKNOWN || host->back || host->paused) && is_event(ev))
			host_next_event(host, ev->ts_ns);
		if (input->starts && ev->ts_ns >= input->next_start_ns && is_event(ev) && !in->options.survey)
			input_begin(input, ev->ts_ns, until_ns);
		if (h->begin_ns != TIME_UNKNOWN && ev->ts_ns >= until_ns) {
			host_no_event(host, until_ns);
			h->applied_ns = until_ns;
			h->next_ns = ev->ts_ns;
			status = LT_OK;
			break;
		}
		if (is_event(ev))
			apply_event(in, host, input, ev);
		else
			apply_word(in, host, input, ev);
		ev = event_next(ev);
	} while (--*n && ev != run->end && ev->ts_ns < run->until_ns);
	merge_pop(host->merge, ev);
	return status;
}

/* *dry: LT_AGAIN means that the sources have nothing, not that max_records was reached. */
static enum lt_status advance(struct ingest *in, struct host *host, uint64_t until_ns, uint64_t max_records, bool *dry)
{
	struct ingest_host *h = &host->public;
	struct merge_run run;

	*dry = true;
	while (max_records) {
		switch (merge_peek(host->merge, &run)) {
		case LT_OK:
			if (apply_run(in, host, &run, until_ns, &max_records) == LT_OK)
				return LT_OK;
			break;
		case LT_ERROR:
			source_stopped(in, host, run.number, error_text());
			break;
		case LT_END:
			if (run.number != MERGE_NONE) {
				source_stopped(in, host, run.number, NULL);
				break;
			}
			if (ingest_may_come_back(host))
				return LT_AGAIN;
			host_end(host);
			h->applied_ns = until_ns;
			return LT_END;
		default:
			if (!in->left_live || !ingest_end_quiet(in, host))
				return LT_AGAIN;
		}
	}
	*dry = false;
	return LT_AGAIN;
}

void ingest_forget(struct ingest *in, unsigned i)
{
	host_forget(host_at(in, i), in->husks);
}

/* If names did not fit, they belong to the host that was just advanced. */
static void note_shortage(struct ingest *in, struct host *host)
{
	const char *rows = model_shortage(host->public.model);

	if (rows && !host->lacks_rows) {
		host->lacks_rows = true;
		host_trouble(host, rows);
	}
	if (strpool_full() == in->refused_names)
		return;
	in->refused_names = strpool_full();
	if (!host->lacks_names)
		host_trouble(host, "names did not fit into --model-memory and are missing");
	host->lacks_names = true;
}

void ingest_note_shortage(struct ingest *in)
{
	for (guint i = 0; i < in->hosts->len; i++)
		note_shortage(in, host_at(in, i));
}

enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_records)
{
	struct host *host = host_at(in, i);
	bool dry;
	enum lt_status status = advance(in, host, until_ns, max_records, &dry);

	ingest_set_ready(in, host, status == LT_OK || (status == LT_AGAIN && !dry));
	note_shortage(in, host);
	ingest_advance_shared(in, host);
	return status;
}

enum lt_status ingest_advance_first(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t quiet_ns,
				    const stop_flag *stop)
{
	enum { RECORDS_BETWEEN_LOOKS = 65536 };
	enum lt_status status;

	for (;;) {
		uint64_t before_ns = ingest_host(in, i)->end_ns;

		if (stop && *stop)
			return LT_INTERRUPTED;
		status = ingest_advance(in, i, until_ns, RECORDS_BETWEEN_LOOKS);
		if (status != LT_AGAIN)
			return status;
		if (ingest_host(in, i)->begin_ns == TIME_UNKNOWN && host_at(in, i)->last_ns >= quiet_ns)
			return LT_OK;
		if (ingest_host(in, i)->end_ns == before_ns) {
			ingest_watch(in);
			if (ingest_is_mute(host_at(in, i)))
				return LT_AGAIN;
			if (!host_at(in, i)->ready)
				ingest_wait(in, 100);
		}
	}
}

enum lt_status ingest_advance_wait(struct ingest *in, unsigned i, uint64_t until_ns, const stop_flag *stop)
{
	return ingest_advance_first(in, i, until_ns, UINT64_MAX, stop);
}

int ingest_fd(const struct ingest *in)
{
	return in->epoll_fd;
}
