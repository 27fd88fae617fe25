/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that the screen wants as text: a window of the recordings is read again, for all their fields, as for the
 * pane of system calls (monitor_calls.c).
 *
 *   ui_wanted_calls() ──▶ reread ──▶ visit() ──▶ lines ──▶ ui_set_calls()
 */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/monitor.h"
#include "ingest/visit.h"
#include "model/look.h"
#include "out/dump.h"
#include "ui/lines.h"
#include "view/filter.h"

enum { LINES_SHARE = 8 }; /* of --wait-memory, for texts */

struct monitor_dump {
	struct monitor *m;
	struct reread *reread;
	unsigned number;              /* of the wish; 0: there was none */
	GArray *hosts;                /* unsigned: on the screen, those that are wanted */
	struct view_filter filter;
	char *problem;                /* with the filter, NULL: none */
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	struct window *window;        /* being read, or read last */
	uint64_t begin_ns, end_ns, around_ns; /* wanted */
	uint64_t reading_begin_ns, reading_end_ns;
	uint64_t shown_begin_ns, shown_end_ns;
	struct lines *lines, *shown;  /* of what is read; what the screen has. NULL: nothing */
	struct dump *dump;
};

/* ---- which events ---- */

/* By the number of a host of the window. */
static bool is_wanted_host(const struct monitor_dump *d, unsigned host)
{
	const unsigned of = window_host_of(d->window, ingest_host(window_ingest(d->window), host)->wait);
	unsigned screen;

	if (of == WINDOW_NO_HOST)
		return false;
	screen = monitor_screen_number(d->m, ingest_host(d->m->shown.in, of));
	for (guint i = 0; i < d->hosts->len; i++)
		if (g_array_index(d->hosts, unsigned, i) == screen)
			return view_filter_host(&d->filter, ingest_host(d->m->shown.in, of)->name);
	return false;
}

static bool has_number(const GArray *numbers, int64_t number)
{
	for (guint i = 0; numbers && i < numbers->len; i++)
		if (g_array_index(numbers, int64_t, i) == number)
			return true;
	return !numbers || !numbers->len;
}

static bool has_name(const GPtrArray *globs, const char *name)
{
	for (guint i = 0; globs && i < globs->len; i++)
		if (name && text_glob(g_ptr_array_index(globs, i), name))
			return true;
	return !globs || !globs->len;
}

/* The thread that runs where the event happens. */
static bool is_wanted_thread(const struct monitor_dump *d, const struct ingest_visit *v)
{
	const struct model *m = ingest_host(window_ingest(d->window), v->host)->model;
	const struct view_filter *f = &d->filter;
	const struct thread_row *thread;
	int64_t tid = v->event->tid;

	if (tid == EVENT_NO_TID && v->event->cpu != EVENT_NO_CPU)
		tid = model_look_running(m, v->event->cpu);
	thread = model_look_thread(m, tid);
	return has_number(f->tids, tid) && has_number(f->pids, thread && thread->pid > 0 ? (int64_t)thread->pid : -1) &&
	       has_name(f->comms, thread ? strpool_text((strid)thread->comm) : NULL);
}

static bool has_texts(const struct monitor_dump *d, const char *line)
{
	for (guint i = 0; d->filter.texts && i < d->filter.texts->len; i++)
		if (!view_text_contains(line, g_ptr_array_index(d->filter.texts, i)))
			return false;
	return true;
}

static void visit(void *user, const struct ingest_visit *v)
{
	struct monitor_dump *d = user;
	struct line line = { .at_ns = v->ref_ns, .tid = v->event->tid };
	const char *text, *end;

	if (!v->fields || v->ref_ns < d->reading_begin_ns || v->ref_ns >= d->reading_end_ns ||
	    v->ref_ns < d->lines->dropped_before_ns || v->ref_ns >= d->lines->dropped_after_ns ||
	    !is_wanted_host(d, v->host) || !is_wanted_thread(d, v))
		return;
	text = dump_line(d->dump, &(struct dump_event){
					  .fields = v->fields,
					  .shape = v->shape,
					  .origin = v->origin,
					  .host = ingest_host(window_ingest(d->window), v->host)->name,
					  .ns = v->ref_ns,
				  });
	if (!has_texts(d, text))
		return;
	end = strstr(text, ": {");
	line.text = (char *)text;
	line.name = end ? (uint32_t)(end - text) : 0;
	lines_add(d->lines, &line);
}

/* ---- reading ---- */

static void tell(struct monitor_dump *d)
{
	const struct ui_calls calls = {
		.number = d->number,
		.lines = d->shown,
		.begin_ns = d->shown_begin_ns,
		.end_ns = d->shown_end_ns,
		.percent = reread_percent(d->reread),
		.problem = d->problem ? d->problem : reread_problem(d->reread),
	};

	ui_set_calls(d->m->ui, &calls);
}

static void prepare(void *data, struct window_options *options)
{
	struct monitor_dump *d = data;

	lines_destroy(d->lines);
	d->lines = lines_create(d->around_ns, NULL);
	d->lines->bytes_max = d->m->options->wait_memory / LINES_SHARE;
	d->reading_begin_ns = d->begin_ns;
	d->reading_end_ns = d->end_ns;
	options->begin_ns = d->begin_ns;
	options->end_ns = d->end_ns;
	options->whole = false;
	options->visitor = &d->visitor;
}

static void on_opened(void *data, struct window *w)
{
	((struct monitor_dump *)data)->window = w;
}

static void on_changed(void *data)
{
	struct monitor_dump *d = data;
	struct lines *old = NULL;
	uint64_t begin_ns, end_ns;

	if (d->lines && reread_done(d->reread, &begin_ns, &end_ns) == d->window && d->window) {
		old = d->shown;
		d->shown = d->lines;
		d->shown_begin_ns = d->reading_begin_ns;
		d->shown_end_ns = d->reading_end_ns;
		d->lines = NULL;
		d->window = NULL;
		reread_drop(d->reread);
	}
	tell(d);
	lines_destroy(old);
}

/* ---- the wish ---- */

static void set_filter(struct monitor_dump *d, const char *text)
{
	g_clear_pointer(&d->problem, g_free);
	view_filter_clear(&d->filter);
	if (view_filter_parse(&d->filter, text) != LT_OK) {
		d->problem = g_strdup(error_text());
		error_clear();
	} else if ((d->filter.containers && d->filter.containers->len) || (d->filter.trees && d->filter.trees->len)) {
		d->problem = g_strdup("container: and tree: do not apply to events; F4 changes the filter");
	}
}

/* Other events: what there is are not these. */
static void set_wish(struct monitor_dump *d, const struct ui_calls_wish *wish)
{
	struct lines *old = d->shown;

	reread_forget(d->reread);
	d->number = wish->number;
	g_array_set_size(d->hosts, 0);
	g_array_append_vals(d->hosts, wish->hosts, wish->n_hosts);
	set_filter(d, wish->calls);
	d->shown = NULL;
	tell(d);
	lines_destroy(old);
}

static void forget(struct monitor_dump *d)
{
	const struct ui_calls none = { .number = d->number };

	if (!d->number)
		return;
	reread_want(d->reread, 0, 0);
	ui_set_calls(d->m->ui, &none);
	lines_destroy(d->shown);
	d->shown = NULL;
	d->number = 0;
}

void monitor_obey_dump_wish(struct monitor *m)
{
	struct monitor_dump *d = m->dump;
	struct ui_calls_wish wish;

	if (!ui_wanted_calls(m->ui, &wish) || !wish.events) {
		forget(d);
		return;
	}
	if (wish.number != d->number)
		set_wish(d, &wish);
	d->begin_ns = wish.begin_ns;
	d->end_ns = wish.end_ns;
	d->around_ns = wish.around_ns;
	reread_want(d->reread, d->problem ? 0 : wish.begin_ns, d->problem ? 0 : wish.end_ns);
}

/* ---- making ---- */

struct monitor_dump *monitor_dump_create(struct monitor *m)
{
	struct monitor_dump *d = g_new0(struct monitor_dump, 1);
	const struct reread_options options = {
		.loop = m->loop,
		.of = m->shown.in,
		.memory_bytes = m->options->wait_memory,
		.changed = on_changed,
		.prepare = prepare,
		.opened = on_opened,
		.data = d,
	};

	d->m = m;
	d->reread = reread_create(&options);
	d->hosts = g_array_new(FALSE, FALSE, sizeof(unsigned));
	view_filter_init(&d->filter);
	fields_wanted_init(&d->wanted);
	d->wanted.classes = WANTED_ALL;
	d->visitor = (struct ingest_visitor){ .wanted = &d->wanted, .before = visit, .user = d };
	d->dump = dump_create(NULL, DUMP_TEXT, m->options->utc);
	return d;
}

void monitor_dump_destroy(struct monitor_dump *d)
{
	if (!d)
		return;
	reread_destroy(d->reread);
	lines_destroy(d->lines);
	lines_destroy(d->shown);
	dump_destroy(d->dump);
	fields_wanted_release(&d->wanted);
	view_filter_release(&d->filter);
	g_array_free(d->hosts, TRUE);
	g_free(d->problem);
	g_free(d);
}
