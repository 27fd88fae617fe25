/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop --local`, `lttngtop cluster`, and `lttngtop` without arguments. */
#include "cmd/record/local.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/record/doctor.h"
#include "cmd/record/relay_list.h"
#include "cmd/record/sidecar.h"
#include "control/checks.h"
#include "control/cost.h"
#include "control/facts.h"
#include "control/glance.h"
#include "control/keeper.h"
#include "control/plan.h"
#include "control/process.h"
#include "source/source.h"
#include "ui/chooser.h"
#include "ui/crash.h"

static const uint64_t relay_limit_ns = NS_PER_S, relay_update_limit_ns = 200 * NS_PER_MS;
static const uint64_t live_timer_ns = 200 * NS_PER_MS;

enum { ROWS_MAX = 65536 }; /* of the menu */

static const char *name_of(enum command_bit command)
{
	return command == COMMAND_REPORT ? "report" : command == COMMAND_CLUSTER ? "cluster" : "";
}

/* ---- without arguments ---- */

/*
 * The live sessions of this machine's relayd; none if it does not answer (*answers). *n_stored: how many others it has.
 * The caller frees the array.
 */
static GPtrArray *live_sessions(uint64_t limit_ns, bool *answers, unsigned *n_stored)
{
	GPtrArray *sessions = relay_list_new();
	struct source_url url;

	*answers = source_parse_url(LOCAL_RELAY, &url) == LT_OK && relay_list_ask(&url, limit_ns, sessions) == LT_OK;
	if (!*answers)
		error_clear();
	source_url_release(&url);
	*n_stored = sessions->len;
	for (guint i = sessions->len; i-- > 0;)
		if (!((struct relay_session *)g_ptr_array_index(sessions, i))->timer_ns)
			g_ptr_array_remove_index(sessions, i);
	*n_stored -= sessions->len;
	return sessions;
}

/* Makes the marked rows the sources; if all are marked, the relayd itself, so that later sessions are shown, too. */
static void open_marked(struct options *o, const GPtrArray *sessions, const struct chooser *chooser)
{
	for (guint i = 0; i < sessions->len; i++) {
		const struct relay_session *s = g_ptr_array_index(sessions, i);

		if (chooser->rows[i].marked)
			g_ptr_array_add(o->words, (char *)g_intern_string(s->url));
	}
	if (o->words->len == sessions->len) {
		g_ptr_array_set_size(o->words, 0);
		g_ptr_array_add(o->words, (char *)LOCAL_RELAY);
	}
}

static struct chooser_row row_of(const struct relay_session *s)
{
	return (struct chooser_row){ .host = s->host, .session = s->name, .state = relay_session_state(s) };
}

/*
 * Asks the relayd again: rows keep their places, those of sessions that are not there any more say so. Their number is
 * bounded, as a relayd may have new ones every time.
 */
static void update_sessions(struct chooser *chooser, void *data)
{
	GPtrArray *sessions = data, *now;
	GHashTable *places = g_hash_table_new(g_str_hash, g_str_equal); /* URL -> its number in now, plus 1 */
	unsigned n_stored;
	bool answers;

	now = live_sessions(relay_update_limit_ns, &answers, &n_stored);
	for (guint i = 0; i < now->len; i++)
		g_hash_table_insert(places, ((struct relay_session *)g_ptr_array_index(now, i))->url,
				    GUINT_TO_POINTER(i + 1));
	for (guint i = 0; i < sessions->len; i++) {
		const struct relay_session *old = g_ptr_array_index(sessions, i);
		const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(places, old->url));

		chooser->rows[i].state = at        ? relay_session_state(g_ptr_array_index(now, at - 1))
					 : answers ? "gone"
						   : "no answer";
		g_hash_table_remove(places, old->url);
	}
	chooser->rows = g_renew(struct chooser_row, chooser->rows, sessions->len + now->len);
	for (guint i = 0; i < now->len && sessions->len < ROWS_MAX; i++) {
		struct relay_session *s = g_ptr_array_index(now, i);

		if (!g_hash_table_contains(places, s->url))
			continue;
		chooser->rows[chooser->n++] = row_of(s);
		g_ptr_array_add(sessions, s);
		now->pdata[i] = NULL;
	}
	g_hash_table_destroy(places);
	g_ptr_array_free(now, TRUE);
}

static enum lt_status choose_sessions(struct options *o, GPtrArray *sessions)
{
	const struct screen_options screen = { .ascii = o->ascii, .no_color = o->no_color, .no_mouse = true };
	struct chooser chooser = {
		.title = "Live sessions of the relayd on this machine",
		.n = (int)sessions->len,
		.update = update_sessions,
		.data = sessions,
	};
	enum lt_status status;

	chooser.rows = g_new0(struct chooser_row, sessions->len);
	for (guint i = 0; i < sessions->len; i++)
		chooser.rows[i] = row_of(g_ptr_array_index(sessions, i));
	crash_install();
	status = chooser_run(&chooser, &screen);
	if (status == LT_OK)
		open_marked(o, sessions, &chooser);
	g_free(chooser.rows);
	return status;
}

/* Opens sessions of this machine's relayd: those that the user chooses, or all if there is no choice. */
static int open_sessions(struct options *o, GPtrArray *sessions)
{
	if (sessions->len == 1 || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		g_ptr_array_add(o->words, (char *)LOCAL_RELAY);
		return -1;
	}
	switch (choose_sessions(o, sessions)) {
	case LT_OK:
		return -1;
	case LT_END:
		return LT_EXIT_OK;
	case LT_INTERRUPTED:
		return 128 + SIGHUP;
	default:
		return cmd_fail(LT_EXIT_FAILURE, "");
	}
}

/* What this machine needs for being traced; NULL: nothing. The caller frees it. */
static GPtrArray *find_missing(void)
{
	GHashTable *facts = facts_ask(NULL);
	GPtrArray *checks = facts ? checks_make(facts, true) : NULL;

	if (facts)
		g_hash_table_destroy(facts);
	if (!checks || !checks_pass(checks))
		return checks;
	g_ptr_array_free(checks, TRUE);
	return NULL;
}

static void print_missing(const GPtrArray *checks)
{
	fputs("lttngtop: the kernel of this machine cannot be traced yet:\n", stderr);
	doctor_print(stderr, checks, true);
	fputs("'lttngtop doctor' shows all checks.\n", stderr);
}

/* Whether the monitor's words are a COMMAND, all after "--", rather than sources. */
static bool is_command(const struct options *o)
{
	const char *first = o->words->len && !o->n_words ? g_ptr_array_index(o->words, 0) : NULL;

	return first && !source_is_url(first) && !g_file_test(first, G_FILE_TEST_IS_DIR);
}

int local_choose(struct options *o)
{
	GPtrArray *missing, *sessions;
	unsigned n_stored;
	char *stored;
	bool answers;
	int status = -1;

	if (o->words->len) {
		o->local = is_command(o);
		return -1;
	}
	sessions = live_sessions(relay_limit_ns, &answers, &n_stored);
	if (sessions->len)
		status = open_sessions(o, sessions);
	g_ptr_array_free(sessions, TRUE);
	if (o->words->len || status >= 0)
		return status;
	missing = glance_can_trace() ? NULL : find_missing();
	if (!missing) {
		o->local = true;
		return -1;
	}
	print_missing(missing);
	g_ptr_array_free(missing, TRUE);
	stored = source_stored_text(n_stored);
	fprintf(stderr,
		"\nOther ways to start:\n"
		"  lttngtop RECORDING        replay a directory that LTTng has written\n"
		"  lttngtop net://HOST       the live sessions of a relayd; %s%s%s\n"
		"  lttngtop --local --ust 'EVENT'  events of programs on this machine\n"
		"  lttngtop --help\n",
		answers ? "that of this machine has none" : "there is none on this machine", stored ? "; " : "",
		stored ? stored : "");
	g_free(stored);
	return LT_EXIT_FAILURE;
}

/* ---- what to record ---- */

enum lt_status local_check(const struct options *o, enum command_bit command)
{
	const char *name = NULL;

	if (o->local || (command == COMMAND_MONITOR ? is_command(o) : command != COMMAND_REPORT))
		return LT_OK;
	if (o->set)
		name = "set";
	else if (o->ust->len)
		name = "ust";
	else if (o->buffer_size)
		name = "buffer-size";
	else if (o->record_pid->len)
		name = "pid";
	if (!name)
		return LT_OK;
	return error_set("option '--%s' needs '--local'%s", name, command == COMMAND_MONITOR ? " or a COMMAND" : "");
}

static bool has_terminal(enum command_bit command)
{
	return command == COMMAND_REPORT || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
}

/* The default: the larger set, unless it would cost too much at the current load of this machine. */
static struct record_plan *make_default_plan(struct record_request *request, enum command_bit command)
{
	struct record_plan *plan;
	struct cost_estimate e;

	request->set = "waits";
	plan = record_plan_create(request);
	if (!plan || plan->hosts->len || request->pids->len)
		return plan; /* their load is unknown */
	if (!has_terminal(command) || !glance_can_trace())
		return plan; /* it will fail: what it would have cost does not matter */
	e = cost_estimate(record_plan_channel(plan, RECORD_KERNEL));
	if (cost_is_low(&e, g_get_num_processors()))
		return plan;
	log_warning("'--set waits' would cost more than %.0f %% of the CPUs (%.0f events/s): only CPU time and "
		    "processes are recorded, as by '--set minimal'",
		    COST_LOW_SHARE * 100, e.events_per_s);
	record_plan_destroy(plan);
	request->set = "minimal";
	return record_plan_create(request);
}

/* NULL: wrong usage. Words after "--" are the command; words before it are not allowed. */
static struct record_plan *make_plan(const struct options *o, enum command_bit command)
{
	const unsigned first = command == COMMAND_REPORT;
	const bool only_programs = o->ust->len && !o->record_pid->len;
	const unsigned n_command = o->words->len - o->n_words;
	char **words = g_new0(char *, n_command + 1);
	struct record_request request = {
		.live = "net://127.0.0.1",
		.live_timer_ns = live_timer_ns,
		.set = o->set,
		.buffer_bytes = o->buffer_size,
		.ust = o->ust,
		.pids = o->record_pid,
		.hosts = o->cluster_host,
		.command = words,
	};
	struct record_plan *plan = NULL;

	for (unsigned i = 0; i < n_command; i++)
		words[i] = g_ptr_array_index(o->words, o->n_words + i);
	if (command == COMMAND_CLUSTER && o->words->len)
		error_set("cluster takes no SOURCE or COMMAND: name the machines with --host");
	else if (command == COMMAND_CLUSTER && !o->cluster_host->len)
		error_set("no machine given: use --host USER@HOST");
	else if (o->n_words > first)
		error_set("'%s': --local takes no SOURCE; put a command after '--'",
			  (const char *)g_ptr_array_index(o->words, first));
	else
		plan = o->set || only_programs ? record_plan_create(&request) : make_default_plan(&request, command);
	g_free(words);
	return plan;
}

/* ---- the command's output ---- */

/*
 * The descriptor for the command's output: an unnamed file if there is a screen, otherwise stderr. -1: see the error
 * chain.
 */
static int open_output(enum command_bit command)
{
	char *path;
	int fd;

	if (command == COMMAND_REPORT)
		return STDERR_FILENO;
	fd = g_file_open_tmp("lttngtop.XXXXXX", &path, NULL);
	if (fd < 0) {
		error_set("cannot create a file in '%s': %s", g_get_tmp_dir(), g_strerror(errno));
		return -1;
	}
	unlink(path);
	g_free(path);
	return fd;
}

static void print_output(int fd)
{
	char bytes[4096];
	ssize_t n;

	if (fd == STDERR_FILENO)
		return;
	lseek(fd, 0, SEEK_SET);
	/* not by stderr, which may be converted */
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && output_write(STDERR_FILENO, bytes, (size_t)n))
		;
	close(fd);
}

/* ---- running ---- */

int local_fail_start(const struct record_plan *plan, enum command_bit command)
{
	const bool is_kernel = !plan->hosts->len && record_plan_channel(plan, RECORD_KERNEL);
	GPtrArray *missing = is_kernel ? find_missing() : NULL;

	cmd_fail(LT_EXIT_FAILURE, name_of(command));
	if (missing) {
		print_missing(missing);
		g_ptr_array_free(missing, TRUE);
	}
	return LT_EXIT_FAILURE;
}

static int run_plan(struct record_plan *plan, struct options *o, enum command_bit command,
		    int (*run)(const struct options *o))
{
	const int output = open_output(command);
	struct keeper keeper;
	char *source = NULL;
	enum lt_status started;
	int status;

	if (output < 0)
		return cmd_fail(LT_EXIT_FAILURE, name_of(command));
	if (isatty(STDERR_FILENO))
		fputs(plan->hosts->len ? "lttngtop: starting to trace these machines ...\n"
				       : "lttngtop: starting to trace this machine ...\n",
		      stderr);
	if (plan->hosts->len)
		record_sidecar_add(plan);
	process_hold_signals();
	started = keeper_start(&keeper, plan, output, NULL, &source);
	process_release_signals();
	if (started) {
		print_output(output);
		return local_fail_start(plan, command);
	}
	log_info("system calls of lttngtop and LTTng's daemons are not recorded; their CPU time is shown");
	g_ptr_array_set_size(o->words, (int)o->n_words);
	g_ptr_array_add(o->words, source);
	o->from_start = true;
	o->keeper = &keeper;
	status = run(o);
	o->keeper = NULL;
	keeper_end(&keeper);
	print_output(output);
	g_free(source);
	return keeper.command_status >= 0 && status < 128 ? keeper.command_status : status;
}

int local_run(struct options *o, enum command_bit command, int (*run)(const struct options *o))
{
	struct record_plan *plan = make_plan(o, command);
	int status;

	if (!plan)
		return cmd_fail(LT_EXIT_USAGE, name_of(command));
	if (!has_terminal(command)) {
		error_set("the monitor needs a terminal; use 'lttngtop %s' for files and pipes",
			  command == COMMAND_CLUSTER ? "record --host" : "report TABLE --local");
		status = cmd_fail(LT_EXIT_FAILURE, name_of(command));
	} else if (plan->command && (status = process_check(plan->command[0]))) {
		cmd_fail(status, name_of(command));
	} else {
		status = run_plan(plan, o, command, run);
	}
	record_plan_destroy(plan);
	return status;
}
