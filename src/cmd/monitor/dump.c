/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that the screen requests as text: rereads a window of the recordings with all fields, as for the pane of
 * system calls (calls.c).
 *
 *   ui_wanted_calls() ──▶ reread ──▶ visit() ──▶ lines ──▶ ui_set_calls()
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "cmd/monitor/monitor.h"
#include "event/fields.h"
#include "ingest/visit.h"
#include "out/dump.h"
#include "play/events_filter.h"
#include "sidecar/sidecar.h"
#include "ui/lines.h"

enum { LINES_SHARE = 8 }; /* fraction of --wait-memory for texts */

struct monitor_dump {
	struct monitor *m;
	struct reread *reread;
	unsigned number; /* of the request; 0: there was none */
	GArray *hosts;   /* unsigned: wanted hosts by their number on the screen */
	struct events_filter filter;
	char *problem; /* with the filter; NULL: none */
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	struct window *window;                /* being read, or read last */
	uint64_t begin_ns, end_ns, around_ns; /* requested */
	uint64_t reading_begin_ns, reading_end_ns;
	uint64_t shown_begin_ns, shown_end_ns;
	uint64_t first_ns;                 /* nothing earlier than this is available; 0: no such limit */
	struct calls_lines *lines, *shown; /* being read; on the screen. NULL: nothing */
	struct dump *dump;
};

/* ---- which events ---- */

/* By the host's number in the ingest. */
static bool wants_host(void *data, unsigned host)
{
	const struct monitor_dump *d = data;
	const struct ingest_host *h = ingest_host(d->m->shown.in, host);
	const unsigned screen = monitor_screen_number(d->m, h);

	for (guint i = 0; i < d->hosts->len; i++)
		if (g_array_index(d->hosts, unsigned, i) == screen)
			return view_filter_host(&d->filter.terms, h->name);
	return false;
}

/* By its number in the window. */
static bool is_wanted_host(struct monitor_dump *d, unsigned host)
{
	const unsigned of = window_host_of(d->window, ingest_host(window_ingest(d->window), host)->wait);

	return of != WINDOW_NO_HOST && wants_host(d, of);
}

/* The line followed by the probed function, if known; the caller frees it. NULL: unchanged. */
static char *with_symbol(const struct monitor_dump *d, const struct ingest_visit *v, const char *text)
{
	const unsigned of = window_host_of(d->window, ingest_host(window_ingest(d->window), v->host)->wait);
	const struct sidecar *sidecar = ingest_host(d->m->shown.in, of)->sidecar;
	struct field_value ip;
	const char *symbol;
	uint64_t offset;

	if (v->event->kind != EVENT_PROBE || !sidecar || !fields_find(v->shape, v->fields, "ip", &ip))
		return NULL;
	symbol = sidecar_symbol(sidecar, ip.u, &offset);
	return symbol ? g_strdup_printf("%s <%s+0x%" PRIx64 ">", text, symbol, offset) : NULL;
}

static void visit(void *user, const struct ingest_visit *v)
{
	struct monitor_dump *d = user;
	struct calls_line line = { .at_ns = v->ref_ns, .tid = v->event->tid };
	struct event_seen seen;
	const char *text, *end;
	char *named;

	if (!v->fields || v->ref_ns < d->reading_begin_ns || v->ref_ns >= d->reading_end_ns ||
	    v->ref_ns < d->lines->dropped_before_ns || v->ref_ns >= d->lines->dropped_after_ns ||
	    !is_wanted_host(d, v->host))
		return;
	seen = event_see(ingest_host(window_ingest(d->window), v->host), v);
	if (!events_filter_wants(&d->filter, &seen))
		return;
	text = dump_line(d->dump, &(struct dump_event){
					  .fields = v->fields,
					  .shape = v->shape,
					  .origin = v->origin,
					  .host = seen.host->name,
					  .ns = v->ref_ns,
				  });
	named = with_symbol(d, v, text);
	text = named ? named : text;
	seen.line = text;
	end = strstr(text, ": {");
	line.text = (char *)text;
	line.name = end ? (uint32_t)(end - text) : 0;
	if (events_filter_wants(&d->filter, &seen))
		lines_add(d->lines, &line);
	g_free(named);
}

/* ---- reading ---- */

static void tell(struct monitor_dump *d)
{
	const struct ui_calls calls = {
		.number = d->number,
		.lines = d->shown,
		.begin_ns = d->shown_begin_ns,
		.end_ns = d->shown_end_ns,
		.first_ns = d->shown ? d->first_ns : 0,
		.later_ns = UINT64_MAX,
		.percent = reread_percent(d->reread),
		.problem = d->problem ? d->problem : reread_problem(d->reread),
	};

	ui_set_calls(d->m->ui, &calls);
}

static void prepare(void *data, struct window_options *options)
{
	struct monitor_dump *d = data;

	lines_destroy(d->lines);
	thread_containers_forget(&d->filter.containers);
	d->lines = lines_create(d->around_ns, NULL);
	d->lines->bytes_max = d->m->options->wait_memory / LINES_SHARE;
	d->reading_begin_ns = d->begin_ns;
	d->reading_end_ns = d->end_ns;
	options->begin_ns = d->begin_ns;
	options->end_ns = d->end_ns;
	options->whole = false;
	options->wants_host = wants_host;
	options->wants_data = d;
	options->visitor = &d->visitor;
}

static void on_opened(void *data, struct window *w)
{
	((struct monitor_dump *)data)->window = w;
}

/* From when on all of the hosts were read, reference time; 0: from the wanted time on, or earlier. */
static uint64_t first_of(struct monitor_dump *d)
{
	uint64_t first_ns = 0;
	bool any = false;

	for (unsigned i = 0; i < ingest_host_count(window_ingest(d->window)); i++) {
		if (!is_wanted_host(d, i))
			continue;
		any = true;
		first_ns = MAX(first_ns, window_first_ns(d->window, i, d->reading_begin_ns));
	}
	return any ? first_ns : d->reading_end_ns;
}

static void on_changed(void *data)
{
	struct monitor_dump *d = data;
	struct calls_lines *old = NULL;
	uint64_t begin_ns, end_ns;

	if (d->lines && reread_done(d->reread, &begin_ns, &end_ns) == d->window && d->window) {
		old = d->shown;
		d->shown = d->lines;
		d->first_ns = first_of(d);
		d->shown_begin_ns = MAX(d->reading_begin_ns, d->first_ns);
		d->shown_end_ns = d->reading_end_ns;
		d->lines = NULL;
		d->window = NULL;
		reread_drop(d->reread);
	}
	tell(d);
	lines_destroy(old);
}

/* ---- the request ---- */

static void set_filter(struct monitor_dump *d, const char *text)
{
	g_clear_pointer(&d->problem, g_free);
	events_filter_clear(&d->filter);
	if (events_filter_parse(&d->filter, text) != LT_OK) {
		d->problem = g_strdup(error_text());
		error_clear();
	}
}

/* Other events are wanted: drops the current ones. */
static void set_request(struct monitor_dump *d, const struct ui_calls_request *request)
{
	struct calls_lines *old = d->shown;

	reread_forget(d->reread);
	d->number = request->number;
	g_array_set_size(d->hosts, 0);
	g_array_append_vals(d->hosts, request->hosts, request->n_hosts);
	set_filter(d, request->calls);
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

void monitor_apply_dump_request(struct monitor *m)
{
	struct monitor_dump *d = m->dump;
	struct ui_calls_request request;

	if (!ui_wanted_calls(m->ui, &request) || !request.events) {
		forget(d);
		return;
	}
	if (request.number != d->number)
		set_request(d, &request);
	d->begin_ns = request.begin_ns;
	d->end_ns = request.end_ns;
	d->around_ns = request.around_ns;
	reread_want(d->reread, d->problem ? 0 : request.begin_ns, d->problem ? 0 : request.end_ns);
	tell(d);
}

/* The request is then as good as new. */
void monitor_dump_forget(struct monitor_dump *d)
{
	forget(d);
}

/* ---- making ---- */

struct monitor_dump *monitor_dump_create(struct monitor *m)
{
	struct monitor_dump *d = g_new0(struct monitor_dump, 1);
	d->m = m;
	d->reread = monitor_reread_create(
		m,
		(struct reread_options){ .changed = on_changed, .prepare = prepare, .opened = on_opened, .data = d });
	d->hosts = g_array_new(FALSE, FALSE, sizeof(unsigned));
	events_filter_init(&d->filter);
	fields_wanted_init(&d->wanted);
	d->wanted.classes = WANTED_ALL;
	d->visitor = (struct ingest_visitor){ .wanted = &d->wanted, .before = visit, .user = d };
	d->dump = dump_create(NULL, DUMP_TEXT, m->options->utc);
	return d;
}

void monitor_dump_keep_paths(const struct monitor_dump *d)
{
	if (d)
		reread_keep_paths(d->reread);
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
	events_filter_release(&d->filter);
	g_array_free(d->hosts, TRUE);
	g_free(d->problem);
	g_free(d);
}
