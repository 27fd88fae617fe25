/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/monitor/calls_request.h"

#include <string.h>

#include "base/error.h"
#include "play/events_filter.h"

void calls_request_init(struct calls_request *w)
{
	*w = (struct calls_request){ 0 };
	attach_select_init(&w->select);
	attach_filter_init(&w->filter);
	attach_line_init(&w->line);
	attach_wait_init(&w->wait);
}

void calls_request_release(struct calls_request *w)
{
	attach_select_release(&w->select);
	attach_filter_release(&w->filter);
	attach_line_release(&w->line);
	attach_wait_release(&w->wait);
	g_free(w->problem);
}

struct attach_tracer_options calls_request_tracer(struct calls_request *w)
{
	enum { PATHS_AND_PEERS = 2 };

	return (struct attach_tracer_options){
		.select = &w->select,
		.filter = &w->filter,
		.paths = PATHS_AND_PEERS,
		.whole_calls = true,
		.end_ns = UINT64_MAX,
	};
}

/* LT_ERROR: invalid. The word may also be the term that lists have. */
static enum lt_status add_calls(struct attach_filter *f, const char *calls)
{
	static const char term[] = "call:";

	return attach_filter_add(f, g_str_has_prefix(calls, term) ? calls + strlen(term) : calls);
}

enum lt_status calls_request_check(const char *filter, bool events)
{
	struct attach_filter calls;
	struct events_filter view;
	enum lt_status status;

	if (events) {
		events_filter_init(&view);
		status = events_filter_parse(&view, filter);
		events_filter_release(&view);
		return status;
	}
	attach_filter_init(&calls);
	status = add_calls(&calls, filter);
	attach_filter_release(&calls);
	return status;
}

static void set_filter(struct calls_request *w, const char *calls)
{
	attach_filter_release(&w->filter);
	attach_filter_init(&w->filter);
	g_clear_pointer(&w->problem, g_free);
	if (*calls && add_calls(&w->filter, calls) != LT_OK) {
		w->problem = g_strdup(error_text());
		error_clear();
	}
}

static void set_threads(struct calls_request *w, const struct ui_calls_request *request)
{
	attach_select_release(&w->select);
	attach_select_init(&w->select);
	w->select.threads = request->process;
	for (unsigned i = 0; i < request->n_tids; i++) {
		const struct select_target target = { .tid = request->tids[i] };

		g_array_append_val(w->select.targets, target);
	}
}

void calls_request_set(struct calls_request *w, const struct ui_calls_request *request)
{
	w->number = request->number;
	set_threads(w, request);
	set_filter(w, request->calls);
}

void calls_request_text(struct calls_request *w, struct ingest *in, const struct attach_record *r,
			struct calls_line *line)
{
	attach_wait_resolve(&w->wait, in, r);
	attach_line_set(&w->line, in, r, &w->wait);
	line->text = w->line.text->str;
	line->name = w->line.name;
	line->result = w->line.result;
	line->result_end = w->line.result_end;
	line->failed = w->line.failed;
	line->is_rest = r->kind == ATTACH_EXIT && !r->has_entry;
}
