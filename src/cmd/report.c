/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lttngtop report TABLE: reads the sources once, cuts the record of each host at
 * the edges of the intervals, at event level, and writes the rows of each interval as soon
 * as all hosts have reached its end.
 */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "ingest/ingest.h"
#include "out/writer.h"
#include "view/table.h"

#define STEP_NS UINT64_C(1000000000) /* of trace time between two reaps of ended rows */

enum { MISSING_MAX = 64, PROGRESS_AFTER_US = 1000000, PROGRESS_EVERY_US = 200000 };

/* A host that was read; of one that is not shown only the times count. */
struct report_host {
	struct ingest_host *source;
	struct interval iv;
	bool open;    /* iv was begun and not ended */
	bool done;    /* the record was read to its end */
	int shown;    /* its number among the shown hosts, -1: it is none */
};

struct report {
	const struct options *options;
	const struct view_table *table;
	struct view_filter filter;
	struct view_query query;
	struct ingest *in;
	struct report_host *hosts;
	unsigned n_hosts;
	uint64_t at_ns;         /* all hosts have been applied up to here */
	bool interrupted;
	struct view_rows rows;
	struct view_host *shown;
	const char **names;     /* of the shown */
	unsigned n_shown;
	const struct column **columns;
	unsigned n_columns;
	struct writer *writer;
	int64_t started_us, progress_us; /* when the last progress was shown, 0 none is */
};

static volatile bool stop;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	stop = true;
}

/* SIGINT, and the end of duration_ns (0: none), end the report where it is; a second SIGINT at once. */
static void end_on_interrupt(uint64_t duration_ns)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART };
	struct itimerval timer = {
		.it_value = { (time_t)(duration_ns / 1000000000), (suseconds_t)(duration_ns % 1000000000 / 1000) },
	};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- what was asked for ---- */

/* Tables that later versions have. */
static bool is_later_table(const char *name)
{
	static const char *const later[] = { "sync", "critical-path", "critical-totals", "blocking", "accounting" };

	for (size_t i = 0; i < G_N_ELEMENTS(later); i++)
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}

static enum lt_status find_table(struct report *r)
{
	const struct options *o = r->options;
	const char *name = g_ptr_array_index(o->words, 0);
	const struct view_table *table = view_table_find(name);

	if (is_later_table(name))
		return error_set("table '%s' is not part of this version", name);
	if (!table || !(table->flags & VIEW_REPORT))
		return error_set("no table '%s'", name);
	r->table = table;
	return LT_OK;
}

static enum lt_status check_options(const struct report *r)
{
	const struct options *o = r->options;

	if (o->words->len < 2)
		return error_set("no source given");
	if (o->json && o->csv)
		return error_set("--json and --csv exclude each other");
	if (o->per_cpu && !(r->table->flags & VIEW_PER_CPU))
		return error_set("--per-cpu means nothing for table '%s'", r->table->name);
	if ((o->tid->len || o->pid->len || o->comm->len) && !view_table_of_threads(r->table))
		return error_set("--tid, --pid and --comm mean nothing for table '%s'", r->table->name);
	return LT_OK;
}

static void set_query(struct report *r)
{
	const struct options *o = r->options;

	for (guint i = 0; i < o->host->len; i++)
		view_filter_add_host(&r->filter, g_ptr_array_index(o->host, i));
	for (guint i = 0; i < o->comm->len; i++)
		view_filter_add_comm(&r->filter, g_ptr_array_index(o->comm, i));
	for (guint i = 0; i < o->tid->len; i++)
		view_filter_add_tid(&r->filter, g_array_index(o->tid, int32_t, i));
	for (guint i = 0; i < o->pid->len; i++)
		view_filter_add_pid(&r->filter, g_array_index(o->pid, int32_t, i));
	r->query.table = r->table;
	r->query.per_cpu = o->per_cpu;
	r->query.filter = &r->filter;
	r->columns = g_new(const struct column *, r->table->n_columns);
	for (unsigned i = 0; i < r->table->n_columns; i++)
		if (r->table->columns[i].flags & COLUMN_IN_REPORT)
			r->columns[r->n_columns++] = &r->table->columns[i];
}

/* ---- reading ---- */

/* Opens the sources; LT_ERROR: not one could be read, the error chain has the last reason. */
static enum lt_status open_sources(const struct options *o, struct ingest **out)
{
	struct ingest_options options = { .workers = o->workers, .stall_limit_ns = o->stall_limit };
	struct ingest *in = ingest_create(&options);
	enum lt_status status = LT_ERROR;
	unsigned opened = 0;

	for (guint i = 1; i < o->words->len; i++) {
		if (ingest_open(in, g_ptr_array_index(o->words, i)) == LT_OK)
			opened++;
		else
			log_error("%s", error_text());
	}
	if (opened)
		status = ingest_start(in, &stop);
	if (status == LT_OK) {
		*out = in;
		return LT_OK;
	}
	ingest_destroy(in);
	return error_set(status == LT_INTERRUPTED ? "ended before the first event came" : "no source could be read");
}

/* Names come from traces and directories. */
static const char *printable(const char *text)
{
	return text ? strpool_text(strpool_intern_z(text)) : NULL;
}

static void set_hosts(struct report *r)
{
	r->n_hosts = ingest_host_count(r->in);
	r->hosts = g_new0(struct report_host, r->n_hosts);
	r->shown = g_new0(struct view_host, r->n_hosts);
	r->names = g_new0(const char *, r->n_hosts);
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = &r->hosts[i];

		h->source = ingest_host(r->in, i);
		h->shown = -1;
		interval_init(&h->iv);
		if (!view_filter_host(&r->filter, h->source->name))
			continue;
		h->shown = (int)r->n_shown;
		r->names[r->n_shown] = printable(h->source->name);
		r->shown[r->n_shown++] = (struct view_host){
			.name = printable(h->source->name),
			.source = printable(h->source->source),
			.tracer = printable(h->source->tracer),
		};
	}
	if (!r->n_shown)
		log_warning("no host of that name");
}

static void release_hosts(struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++)
		interval_release(&r->hosts[i].iv);
	for (unsigned i = 0; i < r->n_shown; i++)
		g_free((void *)r->shown[i].missing);
	g_free(r->hosts);
	g_free(r->shown);
	g_free(r->names);
}

/* Ended rows go into the interval, if one is open, and leave the model. */
static void reap(struct report_host *h)
{
	struct host_state *state = model_state(h->source->model);

	state_reap(state, h->open ? interval_retire : NULL, &h->iv);
	state_frame_begin(state);
}

static uint64_t record_end(const struct report *r)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < r->n_hosts; i++)
		end_ns = MAX(end_ns, r->hosts[i].source->end_ns);
	return end_ns;
}

static bool all_done(const struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++)
		if (!r->hosts[i].done)
			return false;
	return true;
}

/* ---- progress, on a terminal and when it takes long ---- */

static void clear_progress(struct report *r)
{
	if (r->progress_us)
		fputs("\r\033[K", stderr);
	r->progress_us = 0;
}

static void show_progress(struct report *r)
{
	uint64_t begin_ns = ingest_begin_ns(r->in), end_ns = 0;
	int64_t now_us = g_get_monotonic_time();
	double done;

	if (!isatty(STDERR_FILENO) || now_us - r->started_us < PROGRESS_AFTER_US ||
	    now_us - r->progress_us < PROGRESS_EVERY_US)
		return;
	for (unsigned i = 0; i < r->n_hosts; i++)
		end_ns = MAX(end_ns, r->hosts[i].source->end_hint_ns);
	if (end_ns <= begin_ns)
		return;
	done = (double)(r->at_ns - begin_ns) / (double)(end_ns - begin_ns);
	fprintf(stderr, "\rreading: %3.0f %%", 100 * MIN(done, 1));
	fflush(stderr);
	r->progress_us = now_us;
}

/*
 * Applies all hosts' events before until_ns, a step at a time for all, so
 * that an interrupt finds them side by side. Where nothing happens (a hole of years is
 * a matter of one wrong time) the steps grow.
 */
static void advance(struct report *r, uint64_t until_ns)
{
	uint64_t step_ns = STEP_NS;

	while (r->at_ns < until_ns && !r->interrupted && !all_done(r)) {
		uint64_t next_ns = until_ns - r->at_ns <= step_ns ? until_ns : r->at_ns + step_ns;
		bool busy = false;

		for (unsigned i = 0; i < r->n_hosts && !r->interrupted; i++) {
			struct report_host *h = &r->hosts[i];
			uint64_t before_ns = h->source->end_ns;
			enum lt_status status;

			if (h->done)
				continue;
			status = ingest_advance_wait(r->in, i, next_ns, &stop);
			h->done = status == LT_END;
			r->interrupted = status == LT_INTERRUPTED;
			busy = busy || h->source->end_ns != before_ns;
			reap(h);
			show_progress(r);
		}
		r->at_ns = next_ns;
		step_ns = busy ? STEP_NS : MIN(2 * step_ns, UINT64_MAX / 4);
	}
}

/* ---- intervals ---- */

static void open_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = &r->hosts[i];
		const struct ingest_host *source = h->source;

		if (h->shown < 0 || !source->begin_ns || source->begin_ns >= end_ns ||
		    (h->done && source->end_ns <= begin_ns))
			continue;
		interval_begin(&h->iv, model_state(source->model), MAX(begin_ns, source->begin_ns),
			       view_query_tables(&r->query));
		h->open = true;
	}
}

/* The first of a tracepoint's names. */
static const char *first_word(const char *names)
{
	return strpool_text(strpool_intern(names, strcspn(names, " ")));
}

static void set_missing(struct view_host *host, const struct model *model)
{
	const char *names[MISSING_MAX];
	unsigned n = MIN(model_missing(model, names, MISSING_MAX), MISSING_MAX);
	const char **missing = g_new(const char *, n);

	for (unsigned i = 0; i < n; i++)
		missing[i] = first_word(names[i]);
	g_free((void *)host->missing);
	host->missing = missing;
	host->n_missing = n;
}

/* The shown hosts' intervals end at end_ns, or where their records do. */
static void close_intervals(struct report *r, uint64_t end_ns)
{
	for (unsigned i = 0; i < r->n_hosts; i++) {
		struct report_host *h = &r->hosts[i];
		bool cut = h->done || r->interrupted;
		uint64_t to_ns = cut ? MIN(end_ns, h->source->end_ns) : end_ns;

		if (h->shown < 0)
			continue;
		r->shown[h->shown].iv = NULL;
		if (!h->open)
			continue;
		h->open = false;
		if (to_ns <= h->iv.begin_ns)
			continue;
		interval_end(&h->iv, model_state(h->source->model), to_ns);
		r->shown[h->shown].iv = &h->iv;
		set_missing(&r->shown[h->shown], h->source->model);
	}
}

static enum lt_status write_page(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	struct writer_page page = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.rows = &r->rows,
		.columns = r->columns,
		.n_columns = r->n_columns,
		.hosts = r->names,
		.n_hosts = r->n_shown,
		.lost = view_hosts_lost(r->shown, r->n_shown),
	};

	view_rows_build(&r->rows, &r->query, r->shown, r->n_shown);
	clear_progress(r);
	return writer_page(r->writer, &page);
}

/* From begin_ns to end_ns or to the end of the record, interval by interval. */
static enum lt_status write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t length_ns = r->options->interval ? r->options->interval : UINT64_MAX;
	enum lt_status status = LT_OK;
	bool first = true, last = false;

	while (!last && status == LT_OK) {
		uint64_t edge_ns = end_ns - begin_ns <= length_ns ? end_ns : begin_ns + length_ns;

		open_intervals(r, begin_ns, edge_ns);
		advance(r, edge_ns);
		last = edge_ns == end_ns;
		if (r->interrupted || (all_done(r) && record_end(r) <= edge_ns)) {
			last = true;
			edge_ns = CLAMP(record_end(r), begin_ns, edge_ns);
		}
		close_intervals(r, edge_ns);
		if (first || edge_ns > begin_ns)
			status = write_page(r, begin_ns, edge_ns);
		first = false;
		begin_ns = edge_ns;
	}
	return status;
}

/* ---- which part of the record ---- */

/* Reads the sources once only to learn where the record ends. */
static enum lt_status find_end(const struct options *o, uint64_t *end_ns)
{
	struct report r = { .options = o, .started_us = g_get_monotonic_time() };
	enum lt_status status;

	/* the second run says what is wrong */
	log_set_stderr_level(LOG_LEVEL_ERROR + 1);
	status = open_sources(o, &r.in);
	if (status == LT_OK) {
		view_filter_init(&r.filter);
		set_hosts(&r);
		r.at_ns = ingest_begin_ns(r.in);
		advance(&r, UINT64_MAX);
		*end_ns = record_end(&r);
		clear_progress(&r);
		release_hosts(&r);
		view_filter_release(&r.filter);
		ingest_destroy(r.in);
	}
	log_set_stderr_level(LOG_LEVEL_WARNING);
	return status;
}

/* LT_ERROR: the interval makes no sense. Clipped to the record as far as it is known. */
static enum lt_status resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct options *o = r->options;
	uint64_t record_ns = ingest_begin_ns(r->in);

	*begin_ns = record_ns;
	*end_ns = UINT64_MAX;
	if (o->begin.form)
		*begin_ns = timetext_resolve(&o->begin, record_ns, known_end_ns, o->utc);
	if (o->end.form)
		*end_ns = timetext_resolve(&o->end, record_ns, known_end_ns, o->utc);
	if (*end_ns < *begin_ns && o->begin.form)
		return error_set("the end is before the begin");
	*begin_ns = MAX(*begin_ns, record_ns);
	*end_ns = MAX(*end_ns, record_ns);
	return LT_OK;
}

/* ---- the command ---- */

static int fail(int status)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), error_text(), strlen(error_text()));
	fprintf(stderr, "lttngtop: %s\n", text);
	if (status == LT_EXIT_USAGE)
		fputs("Try 'lttngtop report --help'.\n", stderr);
	return status;
}

static bool is_incomplete(const struct report *r)
{
	struct view_lost lost = { 0, 0 };
	bool incomplete = ingest_incomplete(r->in);

	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct state_table *t = &model_state(r->hosts[i].source->model)->tables[TABLE_HOST];

		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
			const struct host_row *host = (const struct host_row *)(const void *)state_cells(t, row);

			lost.events += host->lost_events;
			lost.packets += host->lost_packets;
		}
		incomplete = incomplete || r->hosts[i].source->trouble;
	}
	if (lost.events || lost.packets)
		fprintf(stderr, "lttngtop: incomplete: the tracer lost %" PRIu64 " events and %" PRIu64 " packets\n",
			lost.events, lost.packets);
	else if (incomplete)
		fputs("lttngtop: incomplete: not everything could be read\n", stderr);
	return incomplete || lost.events || lost.packets;
}

static int run(struct report *r)
{
	const struct options *o = r->options;
	uint64_t begin_ns, end_ns, known_end_ns = 0;
	bool needs_end = o->begin.form == TIMETEXT_BEFORE_END || o->end.form == TIMETEXT_BEFORE_END;
	enum lt_status status;
	int exit_status;

	if (needs_end && find_end(o, &known_end_ns) != LT_OK)
		return fail(LT_EXIT_FAILURE);
	if (open_sources(o, &r->in) != LT_OK)
		return fail(LT_EXIT_FAILURE);
	set_hosts(r);
	r->at_ns = ingest_begin_ns(r->in);
	if (resolve_times(r, known_end_ns, &begin_ns, &end_ns) != LT_OK) {
		exit_status = fail(LT_EXIT_USAGE);
	} else {
		advance(r, begin_ns);
		if (all_done(r))
			begin_ns = MIN(begin_ns, record_end(r));
		status = write_intervals(r, begin_ns, MAX(begin_ns, end_ns));
		clear_progress(r);
		exit_status = status != LT_OK ? fail(LT_EXIT_FAILURE) :
			      is_incomplete(r) ? LT_EXIT_INCOMPLETE :
						 LT_EXIT_OK;
	}
	release_hosts(r);
	ingest_destroy(r->in);
	return exit_status;
}

int cmd_report(const struct options *o)
{
	struct report r = { .options = o, .started_us = g_get_monotonic_time() };
	struct writer_options writer = {
		.form = o->json ? WRITER_JSON : o->csv ? WRITER_CSV : WRITER_TEXT,
		.out = stdout,
		.intervals = o->interval != 0,
		.format = { .ascii = !g_get_charset(NULL), .utc = o->utc },
	};
	int status;

	if (find_table(&r) != LT_OK || check_options(&r) != LT_OK)
		return fail(LT_EXIT_USAGE);
	end_on_interrupt(o->duration);
	view_filter_init(&r.filter);
	view_rows_init(&r.rows);
	set_query(&r);
	writer.table = r.table->name;
	r.writer = writer_create(&writer);
	status = run(&r);
	writer_destroy(r.writer);
	g_free(r.columns);
	view_rows_release(&r.rows);
	view_filter_release(&r.filter);
	return status;
}

/* A table with all its columns. */
static void help_table(struct help *h, const struct view_table *table)
{
	char *text = g_strdup_printf("%s: a row is %s", table->name, table->row);

	help_subsection(h, text);
	g_free(text);
	help_paragraph(h, table->meaning);
	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (!(column->flags & COLUMN_IN_REPORT))
			continue;
		text = g_strdup_printf("%s (%s)", column->meaning, column_unit_name(column->unit));
		help_item(h, column->name, text);
		g_free(text);
	}
}

void cmd_report_help(struct help *h)
{
	help_section(h, "Tables");
	for (unsigned i = 0; i < view_table_count(); i++) {
		const struct view_table *table = view_table_get(i);

		if (!(table->flags & VIEW_REPORT))
			continue;
		if (h->brief)
			help_item(h, table->name, table->meaning);
		else
			help_table(h, table);
	}
}
