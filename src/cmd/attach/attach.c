/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lttngtop attach: prints what chosen threads do. Sources are read as for reports; each event passes through
 * attach/tracer.h, and its record waits until the wait graph knows why the call waited.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/json.h"
#include "attach/summary.h"
#include "attach/text.h"
#include "attach/tracer.h"
#include "base/error.h"
#include "base/nstime.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/attach/command.h"
#include "cmd/attach/containers.h"
#include "cmd/attach/missing.h"
#include "cmd/attach/options.h"
#include "cmd/report/report.h"
#include "play/sync_options.h"

enum {
	STEP_NS = 100 * NS_PER_MS, /* of trace time, between two writes */
	CLOCKS_MARGIN_NS =
		100 * NS_PER_MS, /* by which the clocks of a live host may move while a call is in progress */
};

struct attach {
	const struct options *options;
	struct options local; /* COMMAND: options for reading its source */
	struct attach_command command;
	struct report report; /* sources and hosts */
	struct attach_select select;
	struct attach_containers containers;
	struct attach_filter filter;
	struct attach_tracer_options tracer_options;
	struct attach_tracer *tracer;
	struct attach_text_options text_options;
	struct attach_text *text;       /* NULL: JSON, or only a summary */
	struct attach_summary *summary; /* NULL: none */
	struct attach_wait wait;
	GQueue records; /* struct attach_record: not yet written */
	FILE *out;
	bool any;         /* a chosen thread had an event */
	bool called;      /* it made a selected call */
	bool wrote_calls; /* which is wanted */
};

/* ---- writing ---- */

static void on_record(void *user, struct attach_record *r)
{
	struct attach *a = user;

	a->any |= r->kind != ATTACH_LOST;
	g_queue_push_tail(&a->records, r);
}

/* Whether the record's result and wait match the options. */
static bool is_wanted(const struct attach *a, const struct attach_record *r)
{
	if (r->kind != ATTACH_EXIT)
		return true;
	if (a->options->waits && r->off_ns <= a->options->waits)
		return false;
	return (a->filter.statuses & r->status) != 0;
}

/* For the reason in errno. */
static enum lt_status cannot_write(const struct attach *a)
{
	const char *why = g_strerror(errno), *file = a->options->attach_output;

	if (file)
		return error_set("cannot write '%s': %s", file, why);
	return error_set("cannot write to standard %s: %s", a->out == stdout ? "output" : "error", why);
}

static enum lt_status write_record(struct attach *a, struct attach_record *r)
{
	struct ingest *in = a->report.in;
	const bool is_call = r->kind == ATTACH_EXIT;
	enum lt_status status = LT_OK;

	a->called |= is_call;
	if (!is_wanted(a, r))
		return LT_OK;
	a->wrote_calls |= is_call;
	if (a->summary)
		attach_summary_add(a->summary, r);
	if (a->options->summary_only)
		return LT_OK;
	attach_wait_resolve(&a->wait, in, r);
	if (a->options->json)
		status = attach_json_write(a->out, in, r, &a->wait) ? LT_OK : cannot_write(a);
	else
		attach_text_write(a->text, in, r, &a->wait);
	return status;
}

/* Converts the record's times again: the hosts' clocks may have been estimated, or moved, since it was read. */
static void renew_times(const struct attach *a, struct attach_record *r)
{
	const struct clock_map *map = ingest_host(a->report.in, r->host)->map;

	r->ref_ns = clock_to_ref(map, r->ts_ns);
	r->entry_ref_ns = r->has_entry ? clock_to_ref(map, r->entry_ns) : r->ref_ns;
}

/* The first record not yet written; NULL: none. */
static struct attach_record *next_record(struct attach *a)
{
	struct attach_record *r = g_queue_peek_head(&a->records);

	if (r)
		renew_times(a, r);
	return r;
}

/* Writes records before this reference time, as soon as the causes of their waits are known. */
static enum lt_status write_records(struct attach *a, uint64_t until_ns)
{
	const struct waits *waits = ingest_waits(a->report.in);
	enum lt_status status = LT_OK;
	struct attach_record *r;

	if (waits && until_ns != UINT64_MAX)
		until_ns = MIN(until_ns, waits_now(waits));
	while (status == LT_OK && (r = next_record(a)) && r->ref_ns < until_ns) {
		status = write_record(a, r);
		attach_record_free(g_queue_pop_head(&a->records));
	}
	if (status == LT_OK && a->text)
		status = attach_text_flush(a->text);
	else if (status == LT_OK && fflush(a->out))
		status = cannot_write(a);
	return status;
}

static void write_summary(struct attach *a)
{
	if (!a->summary)
		return;
	if (a->options->json)
		attach_summary_write_json(a->summary, a->out);
	else
		attach_summary_write(a->summary, a->out);
}

/* ---- reading ---- */

/* Lets the loop skip stretches without events. */
static uint64_t next_event(const struct attach *a)
{
	uint64_t next_ns = UINT64_MAX;

	for (unsigned i = 0; i < ingest_host_count(a->report.in); i++) {
		const struct ingest_host *h = ingest_host(a->report.in, i);

		if (!h->ended && h->next_ns)
			next_ns = MIN(next_ns, clock_to_ref(h->map, h->next_ns));
	}
	return next_ns;
}

/* Lets the wait graph drop what no call that is in progress or not yet written needs. */
static void forget_waits(struct attach *a)
{
	struct waits *waits = ingest_waits(a->report.in);
	uint64_t needed_ns;

	if (!waits)
		return;
	needed_ns = MIN(waits_now(waits), attach_tracer_oldest(a->tracer));
	for (GList *l = a->records.head; l; l = l->next)
		needed_ns = MIN(needed_ns, attach_wait_needs(l->data));
	if (needed_ns > CLOCKS_MARGIN_NS)
		waits_forget(waits, needed_ns - CLOCKS_MARGIN_NS);
}

/* Frees ended rows and unused paths. */
static void forget(struct attach *a)
{
	struct ingest *in = a->report.in;

	forget_waits(a);
	for (unsigned i = 0; i < ingest_host_count(in); i++) {
		struct host_state *state = model_state(ingest_host(in, i)->model);

		state_reap(state, NULL, NULL);
		state_frame_begin(state);
	}
	thread_containers_forget(&a->containers.threads);
	if (!strpool_round_due())
		return;
	strpool_round_begin();
	ingest_keep_paths(in);
	strpool_round_end();
}

/* Reads and writes up to until_ns. LT_ERROR: the output cannot be written; otherwise as ingest_advance(). */
static enum lt_status read_up_to(struct attach *a, uint64_t until_ns)
{
	uint64_t *at_ns = &a->report.at_ns;
	enum lt_status status = LT_OK;

	while (status == LT_OK && *at_ns < until_ns) {
		*at_ns = until_ns - *at_ns > STEP_NS ? *at_ns + STEP_NS : until_ns;
		do
			status = attach_tracer_advance(a->tracer, a->report.in, *at_ns, &report_stop);
		while (status == LT_INTERRUPTED && report_reads_rest(&a->report));
		if (status == LT_OK && write_records(a, *at_ns) != LT_OK)
			return LT_ERROR;
		forget(a);
		if (!a->report.live && next_event(a) != UINT64_MAX)
			*at_ns = MIN(MAX(*at_ns, next_event(a)), until_ns);
	}
	return status;
}

static enum lt_status read_all(struct attach *a, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t *at_ns = &a->report.at_ns;
	enum lt_status status = LT_OK;

	*at_ns = report_record_begin(&a->report);
	if (a->options->begin.form) {
		status = read_up_to(a, begin_ns);
		report_leave_out_lost(&a->report);
	}
	*at_ns = MAX(*at_ns, begin_ns);
	if (status == LT_OK)
		status = read_up_to(a, end_ns);
	if (status == LT_ERROR)
		return LT_ERROR;
	a->report.interrupted = status == LT_INTERRUPTED;
	for (unsigned i = 0; i < a->report.n_hosts; i++)
		a->report.hosts[i]->done = status == LT_END;
	/* no host has more events before the end, not even one whose last event was long before it */
	if (ingest_waits(a->report.in))
		waits_finish(ingest_waits(a->report.in));
	attach_tracer_finish(a->tracer);
	return write_records(a, UINT64_MAX);
}

static int write_calls(void *user, uint64_t known_end_ns)
{
	struct attach *a = user;
	struct report *r = &a->report;
	uint64_t begin_ns, end_ns;

	a->containers.in = r->in;
	if (attach_has_command(a->options))
		attach_command_let_go(&a->command);
	if (sync_options_check_hosts(a->options, r->in) != LT_OK ||
	    report_resolve_times(r, known_end_ns, &begin_ns, &end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "attach");
	a->tracer_options.begin_ns = a->options->begin.form ? begin_ns : 0;
	a->tracer_options.end_ns = end_ns;
	a->text_options.many_hosts = ingest_host_count(r->in) > 1;
	if (read_all(a, begin_ns, end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "attach");
	write_summary(a);
	attach_say_missing(&(struct attach_missing){
		.outside = report_warn_outside(r, begin_ns, known_end_ns),
		.options = a->options,
		.in = r->in,
		.select = &a->select,
		.containers = &a->containers,
		.chose = attach_tracer_chose(a->tracer),
		.any = a->any,
		.by_status = a->filter.statuses != CALL_ANY,
		.left_out = a->called && !a->wrote_calls,
	});
	return report_is_incomplete(r) ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

static int read_report(struct attach *a)
{
	a->tracer = attach_tracer_create(&a->tracer_options);
	a->report.visitor = attach_tracer_visitor(a->tracer);
	return report_read_sources(&a->report, "attach", write_calls, a);
}

/* ---- the command ---- */

static enum lt_status open_output(struct attach *a)
{
	const struct options *o = a->options;

	if (o->attach_output && !(attach_has_files(o) && !o->summary_only)) {
		a->out = fopen(o->attach_output, o->output_append ? "ae" : "we");
		if (!a->out)
			return error_set("cannot write '%s': %s", o->attach_output, g_strerror(errno));
	} else {
		/* like strace: standard output belongs to COMMAND */
		a->out =
			attach_has_command(o) ? output_open(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), o->json) : stdout;
		if (!a->out)
			return error_set("cannot write to standard error: %s", g_strerror(errno));
	}
	a->text_options = (struct attach_text_options){
		.out = a->out,
		.file = o->attach_output,
		.per_thread = attach_has_files(o),
		.append = o->output_append,
		.column = o->columns,
		.comm = o->decode_pids,
		.one_thread = attach_select_is_one(&a->select),
		.stamp = (enum attach_stamp)MIN(o->timestamps, (unsigned)STAMP_EPOCH),
		.relative = o->relative,
		.spent = o->syscall_times,
		.whole = o->whole,
		.color = o->color,
		.utc = o->utc,
		.paths = o->wait_paths,
		.quiet = o->quiet,
	};
	if (!o->json && !o->summary_only)
		a->text = attach_text_create(&a->text_options);
	return LT_OK;
}

static int close_output(struct attach *a, int status)
{
	attach_text_destroy(a->text);
	if (a->out == stdout || !a->out || !fclose(a->out))
		return status;
	cannot_write(a);
	return cmd_fail(LT_EXIT_FAILURE, "attach");
}

static enum lt_status prepare(struct attach *a)
{
	const struct options *o = a->options;

	if (o->summary_only || o->summary) {
		a->summary = attach_summary_create();
		if (o->summary_sort && attach_summary_set_sort(a->summary, o->summary_sort) != LT_OK)
			return error_wrap("option '-S'");
		if (o->summary_columns && attach_summary_set_columns(a->summary, o->summary_columns) != LT_OK)
			return error_wrap("option '-U'");
	}
	if (attach_choose_threads(o, &a->select, &a->containers) != LT_OK ||
	    attach_choose_calls(o, &a->filter) != LT_OK || attach_check_options(o) != LT_OK)
		return LT_ERROR;
	a->report.no_waits = o->summary_only || o->no_waits;
	a->tracer_options = (struct attach_tracer_options){
		.select = &a->select,
		.filter = &a->filter,
		.paths = o->decode_fds,
		.ascii = !o->json && !g_get_charset(NULL),
		.whole_calls = attach_filter_waits(&a->filter) || o->waits || o->json || o->summary_only,
		.sched = o->sched,
		.end_ns = UINT64_MAX,
		.emit = on_record,
		.user = a,
	};
	return LT_OK;
}

static int run(struct attach *a)
{
	if (report_set_clocks(&a->report) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "attach");
	if (open_output(a) != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "attach");
	return close_output(a, read_report(a));
}

/* The source is this machine, traced from before COMMAND starts until it has ended. */
static int run_command(struct attach *a)
{
	int status = attach_command_start(&a->command, a->options);

	if (status >= 0)
		return status;
	a->select.command = a->command.traced.process.pid;
	a->local = *a->options;
	a->local.words = g_ptr_array_new();
	g_ptr_array_add(a->local.words, a->command.source);
	a->local.n_words = 1;
	a->local.from_start = true;
	a->local.keeper = &a->command.keeper;
	a->report.options = &a->local;
	status = attach_command_end(&a->command, run(a));
	g_ptr_array_free(a->local.words, TRUE);
	return status;
}

int cmd_attach(const struct options *o)
{
	struct attach a = {
		.options = o,
		.report = { .options = o, .started_us = g_get_monotonic_time() },
	};
	int status;

	attach_select_init(&a.select);
	attach_filter_init(&a.filter);
	attach_wait_init(&a.wait);
	g_queue_init(&a.records);
	view_filter_init(&a.report.filter);
	a.report.query.table = view_table_find("events"); /* no rows are made of it */
	if (prepare(&a) != LT_OK) {
		status = cmd_fail(LT_EXIT_USAGE, "attach");
	} else if (attach_has_command(o)) {
		status = run_command(&a);
	} else {
		report_end_on_interrupt(&a.report);
		status = run(&a);
	}
	g_queue_clear_full(&a.records, (GDestroyNotify)attach_record_free);
	attach_tracer_destroy(a.tracer);
	attach_summary_destroy(a.summary);
	clocks_destroy(a.report.clocks);
	view_filter_release(&a.report.filter);
	attach_wait_release(&a.wait);
	attach_filter_release(&a.filter);
	attach_containers_release(&a.containers);
	attach_select_release(&a.select);
	return status;
}
