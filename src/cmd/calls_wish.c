/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/calls_wish.h"

#include "base/error.h"

void calls_wish_init(struct calls_wish *w)
{
	*w = (struct calls_wish){ 0 };
	attach_select_init(&w->select);
	attach_filter_init(&w->filter);
	attach_line_init(&w->line);
	attach_wait_init(&w->wait);
}

void calls_wish_release(struct calls_wish *w)
{
	attach_select_release(&w->select);
	attach_filter_release(&w->filter);
	attach_line_release(&w->line);
	attach_wait_release(&w->wait);
	g_free(w->problem);
}

struct attach_tracer_options calls_wish_tracer(struct calls_wish *w)
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

static void set_filter(struct calls_wish *w, const char *calls)
{
	attach_filter_release(&w->filter);
	attach_filter_init(&w->filter);
	g_clear_pointer(&w->problem, g_free);
	if (*calls && attach_filter_add(&w->filter, calls) != LT_OK) {
		w->problem = g_strdup(error_text());
		error_clear();
	}
}

static void set_threads(struct calls_wish *w, const struct ui_calls_wish *wish)
{
	attach_select_release(&w->select);
	attach_select_init(&w->select);
	w->select.threads = wish->process;
	for (unsigned i = 0; i < wish->n_tids; i++) {
		const struct select_target target = { .tid = wish->tids[i] };

		g_array_append_val(w->select.targets, target);
	}
}

void calls_wish_set(struct calls_wish *w, const struct ui_calls_wish *wish)
{
	w->number = wish->number;
	set_threads(w, wish);
	set_filter(w, wish->calls);
}

void calls_wish_text(struct calls_wish *w, struct ingest *in, const struct attach_record *r, struct calls_line *line)
{
	attach_wait_resolve(&w->wait, in, r);
	attach_line_set(&w->line, in, r, &w->wait);
	line->text = w->line.text->str;
	line->name = w->line.name;
	line->result = w->line.result;
	line->result_end = w->line.result_end;
	line->failed = w->line.failed;
}
