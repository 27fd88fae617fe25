/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop record`: sets up tracing with the events the monitor needs, until stopped or while a command runs. */
#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/record/record.h"
#include "cmd/record/sidecar.h"
#include "control/commands.h"
#include "control/cost.h"
#include "control/daemon.h"
#include "control/plan.h"
#include "control/private.h"
#include "control/process.h"
#include "control/redump.h"
#include "control/relay.h"
#include "control/remote.h"
#include "control/sessions.h"
#include "control/tracer.h"

/* Whether the recording is fetched from other hosts when it has ended. */
static bool is_fetched(const struct record_plan *plan)
{
	return plan->hosts->len && plan->mode != RECORD_LIVE;
}

/* How to view it; live, only if the relayd accepts viewers, otherwise what is wrong. */
static void print_view(FILE *out, const struct record_plan *plan)
{
	char *source;

	if (plan->mode == RECORD_LIVE && relay_probe_view(plan->url, plan->view_port)) {
		log_say("%s; use --live-port to give its port", error_text());
		return;
	}
	source = record_plan_source(plan);
	record_print_view(out, source);
	g_free(source);
}

static void print_started(FILE *out, const struct record_plan *plan)
{
	static const char *const ways[] = {
		[RECORD_TO_DISK] = "into",
		[RECORD_SNAPSHOT] = "in memory, snapshots go into",
		[RECORD_LIVE] = "to",
	};
	const char *output = is_fetched(plan) ? plan->output : NULL;

	log_print(out, "session '%s' records %s%s %s", plan->session,
		  is_fetched(plan) ? "on other hosts, fetched " : "", ways[plan->mode],
		  plan->mode == RECORD_LIVE ? plan->url : plan->output);
	if (plan->mode != RECORD_SNAPSHOT && !is_fetched(plan))
		print_view(out, plan);
	if (!plan->command && plan->mode == RECORD_SNAPSHOT)
		record_print_verb(out, "take a snapshot", "snapshot", plan->hosts, output, plan->session);
	if (!plan->command)
		record_print_verb(out, "stop it", "stop", plan->hosts, output, plan->session);
}

/* LTTng, which names no relayd, has failed: adds whether there is one, which may have stopped meanwhile. */
static enum lt_status explain_relayd(const struct record_plan *plan)
{
	const bool is_asked = plan->mode == RECORD_LIVE && !process_is_interrupted();
	char *reason = g_strdup(error_text());

	return error_join(reason, is_asked ? relay_probe(plan->url) : LT_OK);
}

/* Waits for an answer of the daemon, as long as nothing that must be removed exists. */
static void await_answer(const struct record_plan *plan)
{
	process_admit_signals(true);
	session_exists(plan->session);
	process_admit_signals(false);
}

/*
 * If this process is killed, nobody can know of the session that was to end with the command: the next run ends it, and
 * the session daemon if that was started for it. A session without a command is meant to stay.
 */
static enum lt_status require_daemon(const struct record_plan *plan, const struct private_run *run, bool may_start,
				     pid_t *daemon)
{
	const bool kernel = record_plan_channel(plan, RECORD_KERNEL);

	return run->dir && plan->command ? private_require_daemon(run, kernel, may_start, daemon)
					 : daemon_require(kernel, may_start, daemon);
}

static void note_session(const struct record_plan *plan, const struct private_run *run)
{
	if (run->dir && plan->command && private_note_created(run, plan->session))
		error_clear(); /* it can be recorded all the same */
}

static enum lt_status setup(struct record_plan *plan, const struct private_run *run, bool may_start, pid_t *daemon)
{
	enum lt_status status;

	if (is_fetched(plan) && tracer_probe_output(plan))
		return LT_ERROR;
	if (plan->hosts->len && plan->mode == RECORD_LIVE)
		record_sidecar_add(plan);
	if (plan->hosts->len)
		return remote_setup(plan);
	if (require_daemon(plan, run, may_start, daemon))
		return LT_ERROR;
	if (!*daemon)
		await_answer(plan);
	status = tracer_probe(plan);
	if (!status && tracer_setup(plan))
		return explain_relayd(plan);
	if (!status)
		note_session(plan, run);
	if (!status && plan->mode == RECORD_LIVE)
		record_sidecar_prepare(plan);
	return status;
}

static void discard(const struct record_plan *plan)
{
	if (plan->hosts->len)
		remote_discard(plan);
	else
		session_discard(plan->session);
}

/* The session could not be started: says why, if the reason is its directory, of which the tracer names none. */
static void explain_output(const char *directory)
{
	const bool is_new = !g_file_test(directory, G_FILE_TEST_EXISTS);

	if (g_mkdir_with_parents(directory, 0770)) {
		error_set("cannot create directory '%s': %s", directory, g_strerror(errno));
	} else {
		record_wrap_output(directory);
		if (is_new)
			g_rmdir(directory);
	}
}

/* Starts the recording; the command's process then still waits to be let go. LT_ERROR: the session has been removed. */
static enum lt_status start(struct record_plan *plan, struct process *command)
{
	if (plan->command && process_prepare(command, plan->command))
		goto error;
	if (plan->track_command && tracer_track(plan, command->pid))
		goto error;
	if (plan->hosts->len)
		return remote_start(plan) ? explain_relayd(plan) : LT_OK;
	if (!session_start(plan->session))
		return LT_OK;
	if (plan->mode == RECORD_TO_DISK)
		explain_output(plan->output);
	if (plan->mode == RECORD_LIVE) {
		error_wrap("starting session '%s'", plan->session);
		explain_relayd(plan);
	}
error:
	discard(plan);
	return LT_ERROR;
}

/* The counterpart of finish() for other hosts. */
static enum lt_status finish_remotely(const struct record_plan *plan)
{
	const char *output = is_fetched(plan) ? plan->output : NULL;
	GPtrArray *stopped = g_ptr_array_new(), *fetched = g_ptr_array_new();
	enum lt_status status =
		plan->mode == RECORD_SNAPSHOT ? remote_snapshot(plan->hosts, plan->session, NULL) : LT_OK;
	char *failed;

	if (status)
		error_wrap("taking a snapshot of session '%s'", plan->session);
	failed = status ? g_strdup(error_text()) : NULL;
	status = remote_stop(plan->hosts, plan->session, stopped);
	if (output) {
		char *unstopped = status ? g_strdup(error_text()) : NULL;

		status = error_join(unstopped, record_fetch(stderr, stopped, plan->session, output, fetched));
	}
	if (status)
		record_print_rest(stderr, plan->hosts, output ? fetched : stopped, plan->session, output);
	g_ptr_array_free(fetched, TRUE);
	g_ptr_array_free(stopped, TRUE);
	return error_join(failed, status);
}

/* The session daemon, and every session with it, was gone before the command had ended. */
static enum lt_status explain_daemon(const struct record_plan *plan)
{
	error_set("the session daemon ended before the command");
	if (plan->mode == RECORD_TO_DISK)
		return error_add("what had been recorded by then is in '%s'", plan->output);
	if (plan->mode == RECORD_LIVE)
		return error_add("the relayd keeps what it received");
	return error_add("what session '%s' had in memory is lost", plan->session);
}

/* There is no snapshot: removes what only describes it. */
static void remove_output(const struct record_plan *plan, bool is_new)
{
	if (record_sidecar_remove(plan->output) && is_new)
		g_rmdir(plan->output);
}

/* After the command: stops the session and prints where the recording is. */
static enum lt_status finish(const struct record_plan *plan, bool new_output)
{
	struct session_lost lost = { 0 };
	enum lt_status status;
	char *path = NULL;

	if (plan->hosts->len)
		return finish_remotely(plan);
	if (plan->mode == RECORD_SNAPSHOT && session_snapshot(plan->session, &path)) {
		if (session_gave_up())
			return error_add("the session still records: once this is fixed, run 'lttngtop record stop %s'",
					 plan->session);
		if (daemon_check())
			return explain_daemon(plan);
		discard(plan);
		remove_output(plan, new_output);
		return error_add("the session was removed, and what it had in memory is lost");
	}
	status = record_stop(plan->session, plan->url, &lost);
	if (status) {
		g_free(path);
		if (status == LT_INTERRUPTED)
			return LT_ERROR;
		if (daemon_check())
			return explain_daemon(plan);
		return plan->mode == RECORD_TO_DISK ? record_wrap_output(plan->output) : LT_ERROR;
	}
	if (plan->mode == RECORD_SNAPSHOT)
		record_sidecar_update(plan->output, true, NULL, NULL);
	/* What a flight recorder overwrites does not count as lost. */
	if (plan->mode != RECORD_SNAPSHOT)
		record_print_lost(&lost);
	if (plan->mode == RECORD_TO_DISK)
		record_print_cost(stderr, plan->output, true);
	if (plan->mode != RECORD_LIVE) {
		log_print(stderr, "recorded into %s", path ? path : plan->output);
		record_print_result(stderr, path ? path : plan->output);
	}
	g_free(path);
	return LT_OK;
}

static void print_estimate(FILE *out, const struct cost_estimate *e)
{
	if (e->events_per_s > 0)
		log_print(out, "expected at the current load: about %.0f events/s (%.0f to %.0f), %.2f MB/s%s",
			  e->events_per_s, e->least_events_per_s, e->most_events_per_s, e->bytes_per_s / 1e6,
			  e->calls ? ", plus two events per system call" : "");
}

/* Starts the process that repeats the state dump and sends what else late viewers need; 0: there is none. */
static pid_t repeat_dump(const struct record_plan *plan)
{
	const struct redump_also also = record_sidecar_stream(plan);
	pid_t pid;

	if (plan->hosts->len || plan->mode != RECORD_LIVE)
		return 0;
	if (!plan->statedump_ns) {
		record_sidecar_send();
		return 0;
	}
	pid = redump_start(plan->session, plan->statedump_ns, &also);
	if (!pid)
		log_warning("the state dump is not repeated: %s", error_text());
	return pid;
}

/* Nothing was recorded: prints the reason and, after a signal, that nothing is left. */
static int fail(const struct record_plan *plan, bool elsewhere)
{
	if (process_is_interrupted() && !session_gave_up())
		error_add("nothing is left of session '%s'%s", plan->session,
			  elsewhere ? " on the hosts that answered" : "");
	return cmd_fail(LT_EXIT_FAILURE, "record");
}

static void add_what_is_left(const struct record_plan *plan)
{
	const char *where = plan->hosts->len ? " from the hosts that answered" : "";

	if (plan->mode == RECORD_LIVE)
		error_add("session '%s' was removed%s; the relayd keeps what it received", plan->session, where);
	else if (plan->mode == RECORD_TO_DISK && !plan->hosts->len)
		error_add("session '%s' was removed; what it had recorded is in '%s'", plan->session, plan->output);
	else
		error_add("session '%s' and what it had recorded were removed%s", plan->session, where);
}

/* What the error describes happened after the start, but before anybody could know how to stop the session. */
static int end_at_once(const struct record_plan *plan, pid_t redump, bool new_output)
{
	char *why = g_strdup(error_text());

	redump_end(redump);
	discard(plan);
	error_set("%s", why);
	g_free(why);
	if (!session_gave_up())
		add_what_is_left(plan);
	if (!plan->hosts->len && plan->mode == RECORD_SNAPSHOT)
		remove_output(plan, new_output);
	return cmd_fail(LT_EXIT_FAILURE, "record");
}

/* Called with signals held: makes a whole recording, or starts one. */
static int record(struct record_plan *plan, struct private_run *run, bool may_start, pid_t *daemon)
{
	enum lt_status ready;
	struct process command = { .gate = -1 };
	int status = LT_EXIT_OK;
	struct cost_estimate estimate = { 0 };
	struct sidecar_cost cost = { 0 };
	const unsigned n_hosts = plan->hosts->len;
	const bool new_output = plan->output && !g_file_test(plan->output, G_FILE_TEST_EXISTS);
	int recorded; /* the status if COMMAND succeeds */
	pid_t redump;

	if (!plan->hosts->len && record_plan_channel(plan, RECORD_KERNEL))
		estimate = cost_estimate(record_plan_channel(plan, RECORD_KERNEL));
	ready = setup(plan, run, may_start, daemon);
	private_settle(run);
	if (ready)
		return fail(plan, n_hosts);
	if (start(plan, &command)) {
		process_cancel(&command);
		return fail(plan, n_hosts);
	}
	recorded = plan->hosts->len < n_hosts ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
	redump = repeat_dump(plan);
	cost.events_per_s = (uint64_t)estimate.events_per_s;
	cost.bytes_per_s = (uint64_t)estimate.bytes_per_s;
	cost.consumer_before_ns = MAX(cost_consumer_ns(), 1);
	record_sidecar_start(plan, command.pid, &cost);
	if (process_is_interrupted()) {
		process_cancel(&command);
		error_set("interrupted");
		return end_at_once(plan, redump, new_output);
	}
	print_started(plan->command ? stderr : stdout, plan);
	print_estimate(plan->command ? stderr : stdout, &estimate);
	/* a signal may follow, which ends only this process */
	if (!plan->command && output_flush())
		return end_at_once(plan, redump, new_output);
	if (!plan->command)
		return recorded;
	status = process_run(&command);
	redump_end(redump);
	if (finish(plan, new_output)) {
		cmd_fail(LT_EXIT_FAILURE, "record");
		return status ? status : LT_EXIT_FAILURE;
	}
	return status ? status : recorded;
}

/* Ends what killed runs have left; it is recorded without notes, too. LT_ERROR: a signal came. */
static enum lt_status open_run(struct private_run *run, const struct record_plan *plan)
{
	*run = (struct private_run){ .base_lock = -1, .lock = -1 };
	if (plan->hosts->len || !private_open(run, getpid()))
		return LT_OK;
	if (process_is_interrupted())
		return LT_ERROR;
	log_info("%s", error_text());
	error_clear();
	return LT_OK;
}

static void close_run(struct private_run *run)
{
	if (run->dir)
		private_forget_session(run);
	if (run->base)
		private_close(run);
}

static int run(struct record_plan *plan, bool may_start)
{
	struct private_run run;
	pid_t daemon = 0;
	int status;

	if (plan->command && (status = process_check(plan->command[0])))
		return cmd_fail(status, "record");
	process_hold_signals();
	status = open_run(&run, plan) ? cmd_fail(LT_EXIT_FAILURE, "record") : record(plan, &run, may_start, &daemon);
	close_run(&run);
	if (daemon && (plan->command || status != LT_EXIT_OK))
		daemon_end(daemon);
	else if (daemon)
		log_print(stdout, "started lttng-sessiond, process ID %d", (int)daemon);
	process_release_signals();
	return status;
}

static enum lt_status check_options(const struct options *o)
{
	static const char *const of_live[] = { "live-timer", "statedump-period" };

	if (o->output && !*o->output)
		return error_set("option '--output': '' is not a directory's name");
	for (size_t i = 0; i < G_N_ELEMENTS(of_live); i++)
		if (!o->live && options_given(o, of_live[i]))
			return error_set("option '--%s' needs '--live'", of_live[i]);
	return LT_OK;
}

static int record_new(const struct options *o, char *const *command)
{
	const struct record_request request = {
		.session = o->session,
		.live = o->live,
		.live_timer_ns = o->live_timer,
		.statedump_ns = o->statedump_period,
		.view_port = o->live_port,
		.output = o->output,
		.snapshot = o->snapshot,
		.set = o->record_set,
		.buffer_bytes = o->buffer_size,
		.events = o->event,
		.contexts = o->context,
		.perf = o->perf,
		.kprobes = o->kprobe,
		.ust = o->ust,
		.hosts = o->record_host,
		.pids = o->record_pid,
		.vpids = o->vpid,
		.track_command = o->track_command,
		.unsafe = o->unsafe,
		.command = command,
		.session_is_taken = o->dry_run || o->record_host->len ? NULL : session_exists,
	};
	struct record_plan *plan = record_plan_create(&request);
	int status = LT_EXIT_OK;
	char *script;

	if (!plan)
		return cmd_fail(LT_EXIT_USAGE, "record");
	if (o->dry_run) {
		script = commands_script(plan);
		fputs(script, stdout);
		g_free(script);
	} else {
		status = run(plan, !o->no_sessiond);
	}
	record_plan_destroy(plan);
	return status;
}

int cmd_record(const struct options *o)
{
	const char *name = o->n_words ? g_ptr_array_index(o->words, 0) : NULL;
	const struct record_verb *verb = name ? record_verb_find(name) : NULL;
	char **command;
	int result;

	if (verb)
		return record_verb_run(verb, o);
	if (name)
		error_set("unknown word '%s': use stop, status, snapshot or refresh, or put a command after "
			  "'--'",
			  name);
	if (name || check_options(o) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "record");

	command = g_new0(char *, o->words->len + 1);
	for (unsigned i = 0; i < o->words->len; i++)
		command[i] = g_ptr_array_index(o->words, i);
	result = record_new(o, command);
	g_free(command);
	return result;
}
