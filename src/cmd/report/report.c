/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lttngtop report TABLE: reads the sources once, cuts each host's trace at the edges of the intervals, event by event,
 * and writes the rows of each interval as soon as all hosts have reached its end.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/similar.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/manual_items.h"
#include "cmd/report/report.h"
#include "cmd/report/unmatched.h"
#include "event/tracepoints.h"
#include "play/sync_options.h"
#include "source/source.h"
#include "view/missing.h"

stop_flag report_stop;
volatile sig_atomic_t report_signal;

static void on_interrupt(int signal_number)
{
	report_signal = signal_number;
	report_stop = 1;
}

void report_end_on_signal(int number)
{
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART };

	sigaction(number, &action, NULL);
}

void report_end_on_interrupt(const struct report *r)
{
	const uint64_t ns = r->options->duration;
	const uint64_t us = ns ? MAX(ns / NS_PER_US, 1) : 0; /* 0: no timer */
	const struct itimerval timer = { .it_value = { (time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S) } };

	report_end_on_signal(SIGINT);
	sync_options_warn_recorded(r->options, r->first_source);
	if (!sync_options_live(r->options, r->first_source))
		return;
	report_end_on_signal(SIGALRM);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- checking options ---- */

enum lt_status report_unknown_table(const char *name)
{
	struct similar s = { .word = name };
	char *instead;

	if (source_is_url(name) || g_file_test(name, G_FILE_TEST_EXISTS))
		return error_set("no table given before '%s'", name);
	instead = manual_instead_of(name);
	if (instead) {
		error_set("unknown table '%s': %s", name, instead);
		g_free(instead);
		return LT_ERROR;
	}
	for (unsigned i = 0; i < view_table_count(); i++)
		if (view_table_get(i)->flags & VIEW_REPORT)
			similar_offer(&s, view_table_get(i)->name);
	similar_offer(&s, REPORT_DUMP);
	similar_offer(&s, REPORT_SLICE);
	return error_set("unknown table '%s'%s", name, similar_hint(&s, ""));
}

static enum lt_status find_table(struct report *r)
{
	const struct options *o = r->options;
	const char *name = g_ptr_array_index(o->words, 0);
	const struct view_table *table = view_table_find(name);

	if (strcmp(name, REPORT_INSTANCES) == 0)
		return error_set("'%s' is what --log prints of another table, such as 'report sched --log'", name);
	if (!table || !(table->flags & VIEW_REPORT))
		return report_unknown_table(name);
	r->table = table;
	return LT_OK;
}

static enum lt_status check_options(const struct report *r)
{
	const struct options *o = r->options;
	const bool is_path = report_needs(r) & VIEW_PATH;

	if (o->words->len < 2)
		return error_set("no source given");
	if (o->json + o->csv + o->dot > 1)
		return error_set("only one of --json, --csv and --dot can be used");
	if (o->dot && strcmp(r->table->name, "relations") != 0)
		return error_set("--dot does not apply to table '%s'", r->table->name);
	if (o->dot && o->sum_by)
		return error_set("--dot and --sum-by cannot be used together");
	if (o->per_cpu && !(r->table->flags & VIEW_PER_CPU))
		return error_set("--per-cpu does not apply to table '%s'", r->table->name);
	if ((o->tid->len || o->pid->len || o->comm->len) && !view_table_of_processes(r->table) && !is_path)
		return error_set("--tid, --pid and --comm do not apply to table '%s'", r->table->name);
	if (o->tid->len && !view_table_of_threads(r->table) && !is_path)
		return error_set("--tid does not apply to table '%s'", r->table->name);
	if (o->babeltrace)
		return error_set("--babeltrace does not apply to table '%s'", r->table->name);
	if (o->slice_output)
		return error_set("--output does not apply to table '%s'", r->table->name);
	if (report_needs(r) & VIEW_CLOCKS && o->no_sync)
		return error_set("--no-sync does not apply to table '%s'", r->table->name);
	return LT_OK;
}

enum lt_status report_set_clocks(struct report *r)
{
	const struct options *o = r->options;
	enum lt_status status = LT_OK;

	r->live = sync_options_live(o, r->first_source);
	r->clocks_use = o->no_sync ? CLOCKS_RAW : r->live ? CLOCKS_MOVE : CLOCKS_AWAIT;
	if (!o->no_sync || report_needs(r) & VIEW_MATCHES)
		status = sync_options_clocks(o, r->clocks_use, &r->clocks);
	r->waits.retention_ns = o->wait_retention;
	r->waits.memory_bytes = o->wait_memory;
	return status;
}

/* ---- the command ---- */

/* For a table without rows: names the options that selected threads or other things, one of which may be misspelt. */
static void say_unmatched(const struct report *r)
{
	const struct options *o = r->options;
	const struct {
		const char *name;
		bool given;
	} options[] = {
		{ "--tid", o->tid->len },     { "--pid", o->pid->len }, { "--comm", o->comm->len },
		{ "--where", o->where->len }, { "--min", o->min->len }, { "--max", o->max->len },
	};
	const struct view_filter *filter = r->query.filter;
	GString *given = g_string_new(NULL);
	char *why = unmatched_why(filter);

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].given)
			g_string_append_printf(given, "%s%s", given->len ? " and " : "", options[i].name);
	if (given->len && (o->tid->len || o->pid->len || o->comm->len || unmatched_has_names(filter)))
		log_warning("no row matches %s%s", given->str, why);
	g_string_free(given, TRUE);
	g_free(why);
}

/* The events that are missing where columns that are shown are null for that: enum need. */
static uint32_t columns_need(const struct report *r)
{
	uint32_t lacks = 0, columns = 0;

	for (unsigned i = 0; i < r->n_shown; i++)
		lacks |= view_host_lacks(&r->shown[i]);
	for (unsigned i = 0; i < r->n_columns; i++)
		columns |= view_column_lacks(r->columns[i]);
	lacks &= columns;
	return (lacks & VIEW_LACKS_SWITCHES ? NEED_CPU : 0) |
	       (lacks & (VIEW_LACKS_IRQS | VIEW_LACKS_HARD_IRQS) ? NEED_IRQ : 0);
}

/*
 * Says what was not recorded, so that it is not mistaken for what did not happen: of a table without rows, or with
 * columns that are null for that. outside: there is no event in the interval, which has been said.
 */
static void say_missing(const struct report *r, bool outside)
{
	const struct view_table *table = r->needs ? r->needs : r->table;
	const uint32_t needs = r->any_rows ? columns_need(r) : table->needs;
	char *text = view_missing_text(needs, r->shown, r->n_shown, &r->filter);

	if (!text && !r->any_rows && report_needs(r) & VIEW_PATH)
		text = g_strdup(report_subjects_missing(r));
	if (!text && !r->any_rows && !r->recorded && r->n_names && !outside)
		text = g_strdup(r->table->unrecorded);
	if (text)
		log_say("%s", text);
	if (r->any_rows)
		unmatched_warn(r->query.filter);
	else if (!text && r->n_names)
		say_unmatched(r);
	g_free(text);
}

/*
 * If packets were recorded without headers, tables of the hosts' clocks have nothing to work with. Returns whether that
 * is the case.
 */
static bool warn_bare_packets(const struct report *r)
{
	bool any = false;

	if (!(report_needs(r) & (VIEW_CLOCKS | VIEW_MATCHES)))
		return false;
	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct ingest_host *host = r->hosts[i]->source;
		const enum clock_obstacle obstacle = clock_sync_info(clocks_sync(r->clocks), host->clock).obstacle;

		if (obstacle != CLOCK_NO_HEADERS)
			continue;
		log_warning("%s: %s: record with 'ethtool -K INTERFACE gro on', or pass --offset", host->name,
			    clock_obstacle_text(obstacle));
		any = true;
	}
	return any;
}

/* Whether it has been read up to a time in which events were being lost. */
static bool is_losing(const struct report *r, const struct report_host *h, const struct host_row *host)
{
	return !h->done && r->at_ns != UINT64_MAX && host->gap_end_ns >= report_host_time(h, r->at_ns);
}

/* What the host has lost so far. */
static struct view_lost lost_so_far(const struct report *r, const struct report_host *h)
{
	const struct state_table *t = &model_state(h->source->model)->tables[TABLE_HOST];
	struct view_lost lost = { 0 };

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct host_row *host = (const struct host_row *)(const void *)state_cells(t, row);

		lost.events += host->lost_events;
		lost.packets += host->lost_packets;
		lost.goes_on |= is_losing(r, h, host);
	}
	return lost;
}

void report_leave_out_lost(struct report *r)
{
	for (unsigned i = 0; i < r->n_hosts; i++)
		r->hosts[i]->before = lost_so_far(r, r->hosts[i]);
}

/* The same for everything outside of the interval, once all has been read. */
static void leave_out_others(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	report_leave_out_lost(r);
	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct view_lost lost = report_lost_between(r, r->hosts[i], begin_ns, end_ns);

		r->hosts[i]->before.events -= lost.events;
		r->hosts[i]->before.packets -= lost.packets;
	}
}

bool report_say_incomplete(struct view_lost lost, bool unread)
{
	const bool any = view_any_lost(&lost);
	char *text = view_lost_text(&lost);

	if (any)
		log_say("incomplete: lost: %s", text);
	else if (unread)
		log_say("incomplete: not everything could be read");
	g_free(text);
	return any || unread;
}

bool report_is_incomplete(struct report *r)
{
	struct view_lost lost = { .goes_on = r->losing };
	bool incomplete = ingest_broken(r->in);

	report_add_hosts(r);
	for (unsigned i = 0; i < r->n_hosts; i++) {
		const struct view_lost all = lost_so_far(r, r->hosts[i]);

		lost.events += all.events - r->hosts[i]->before.events;
		lost.packets += all.packets - r->hosts[i]->before.packets;
		lost.goes_on |= all.goes_on;
		incomplete = incomplete || r->hosts[i]->source->trouble;
	}
	incomplete = report_say_incomplete(lost, incomplete);
	incomplete |= warn_bare_packets(r);
	incomplete |= r->dropped;
	return incomplete;
}

/* Whether reading may go on to the end whatever the clocks are. */
static bool cuts_at_end(const struct options *o)
{
	return !o->end.form || o->end.form == TIMETEXT_BEFORE_END;
}

/* LT_AGAIN: they have been surveyed, and must be opened again. */
static enum lt_status open_or_survey(struct report *r, bool needs_end, bool needs_clocks, uint64_t *known_end_ns)
{
	const struct options *o = r->options;

	/* what is read completely before it is cut needs no survey */
	if ((report_needs(r) && !r->live) || !needs_end) {
		if (report_open(r, false) != LT_OK)
			return LT_ERROR;
		if (!needs_clocks || ingest_host_count(r->in) < 2)
			return LT_OK;
		if (report_needs(r) && !o->follow && cuts_at_end(o) && ingest_hold_waits(r->in))
			return LT_OK;
		/* with a visitor, workers send all fields of the events, which the survey does not need */
		if (r->visitor) {
			ingest_destroy(r->in);
			r->in = NULL;
		}
	}
	return report_survey(r, known_end_ns) == LT_OK ? LT_AGAIN : LT_ERROR;
}

static enum lt_status open_for_good(struct report *r, uint64_t *known_end_ns)
{
	const struct options *o = r->options;
	bool needs_end = o->begin.form == TIMETEXT_BEFORE_END || o->end.form == TIMETEXT_BEFORE_END;
	bool needs_clocks = !r->live && r->clocks && !o->no_sync &&
			    (r->visitor || report_needs_waits(r) ||
			     (!report_needs(r) && (o->begin.form || o->end.form || o->report_interval)));
	enum lt_status status;

	if (!needs_end && !needs_clocks)
		return report_open(r, false);
	/* problems are reported by the last reading, or by one that fails */
	log_mute_stderr();
	status = open_or_survey(r, needs_end, needs_clocks, known_end_ns);
	if (status != LT_AGAIN) {
		log_unmute_stderr();
		return status;
	}
	log_unmute_without();
	return report_open(r, false);
}

int report_read_sources(struct report *r, const char *subcommand, report_read_fn *read, void *user)
{
	uint64_t known_end_ns = 0;
	int status;

	if (open_for_good(r, &known_end_ns) != LT_OK)
		return cmd_fail(r->refused ? LT_EXIT_USAGE : LT_EXIT_FAILURE, subcommand);
	report_set_hosts(r);
	status = read(user, known_end_ns);
	report_release_hosts(r);
	ingest_destroy(r->in);
	if (r->live || !r->interrupted || (status != LT_EXIT_OK && status != LT_EXIT_INCOMPLETE))
		return status;
	log_warning("interrupted: the rest was not read");
	return 128 + report_signal;
}

static enum lt_status check_hosts(struct report *r)
{
	if (sync_options_check_hosts(r->options, r->in) != LT_OK)
		return LT_ERROR;
	return report_needs(r) & VIEW_PATH ? report_subjects_check(r) : LT_OK;
}

/* Queries to the wait graph may end long before the trace does. */
static uint64_t early_end(const struct report *r)
{
	const struct timetext *end = &r->options->end;

	if (!report_needs_waits(r) || !end->form || end->form == TIMETEXT_BEFORE_END)
		return UINT64_MAX;
	return timetext_resolve(end, report_record_begin(r), 0, r->options->utc);
}

static int write_report(void *user, uint64_t known_end_ns)
{
	struct report *r = user;
	uint64_t begin_ns, end_ns;
	enum lt_status status;
	bool outside;

	if (check_hosts(r) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	if (report_needs(r) && !r->live) {
		report_read_all(r, early_end(r));
		known_end_ns = report_record_end(r);
	}
	if (report_resolve_times(r, known_end_ns, &begin_ns, &end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	report_advance(r, begin_ns);
	if (r->all_read)
		leave_out_others(r, begin_ns, end_ns);
	else
		report_leave_out_lost(r);
	outside = report_warn_outside(r, begin_ns, known_end_ns);
	if (report_all_done(r))
		begin_ns = MIN(begin_ns, report_record_end(r));
	status = report_write_intervals(r, begin_ns, MAX(begin_ns, end_ns));
	report_clear_progress(r);
	ingest_note_shortage(r->in);
	if (status != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "report");
	say_missing(r, outside);
	return report_is_incomplete(r) ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

static int run(struct report *r)
{
	report_end_on_interrupt(r);
	return report_read_sources(r, "report", write_report, r);
}

/* A column or its use is wrong: the help of the table lists its columns. */
static int fail_columns(const struct report *r)
{
	char *command = g_strdup_printf("report %s", r->table->name);
	int status = cmd_fail(LT_EXIT_USAGE, command);

	g_free(command);
	return status;
}

int cmd_report(const struct options *o)
{
	struct report r = { .options = o, .first_source = 1, .started_us = g_get_monotonic_time() };
	struct writer_options writer = {
		.form = o->json  ? WRITER_JSON
			: o->csv ? WRITER_CSV
			: o->dot ? WRITER_DOT
				 : WRITER_TEXT,
		.out = stdout,
		.intervals = o->report_interval != 0,
		.columns_named = o->report_columns,
		.format = { .ascii = !g_get_charset(NULL), .utc = o->utc },
	};
	int status;

	if (strcmp(g_ptr_array_index(o->words, 0), REPORT_DUMP) == 0)
		return report_dump(&r);
	if (strcmp(g_ptr_array_index(o->words, 0), REPORT_SLICE) == 0)
		return report_slice(&r);
	if (find_table(&r) != LT_OK || report_choose_log(&r) != LT_OK || check_options(&r) != LT_OK ||
	    report_set_clocks(&r) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	view_filter_init(&r.filter);
	view_filter_init(&r.rows_filter);
	view_filter_init(&r.having);
	view_rows_init(&r.rows);
	report_derived_init(&r);
	r.shares = g_ptr_array_new_with_free_func((GDestroyNotify)view_share_destroy);
	r.query.figures = r.figures = g_ptr_array_new();
	writer.table = r.table->name;
	r.writer = writer_create(&writer);
	if (report_choose(&r) == LT_OK && report_choose_spread(&r) == LT_OK)
		status = run(&r);
	else
		status = fail_columns(&r);
	writer_destroy(r.writer);
	g_free(r.columns);
	g_ptr_array_free(r.shares, TRUE);
	g_ptr_array_free(r.figures, TRUE);
	report_derived_release(&r);
	clocks_destroy(r.clocks);
	view_rows_release(&r.rows);
	view_filter_release(&r.filter);
	view_filter_release(&r.rows_filter);
	view_filter_release(&r.having);
	g_clear_pointer(&r.sum_columns, g_array_unref);
	return status;
}
