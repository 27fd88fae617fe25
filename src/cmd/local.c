/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop --local`, `lttngtop cluster`, and what `lttngtop` without words does. */
#include "cmd/local.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/doctor.h"
#include "control/checks.h"
#include "control/facts.h"
#include "control/keeper.h"
#include "control/plan.h"
#include "control/process.h"
#include "source/source.h"

#define LOCAL_RELAY "net://localhost"

enum { RELAY_MS = 1000, LOOK_EVERY_MS = 20 };

static const uint64_t live_timer_ns = 200000000;
static const uint64_t disk_bytes = UINT64_C(256) << 20;

static int fail(int status, enum command_bit command)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), error_text(), strlen(error_text()));
	fprintf(stderr, "lttngtop: %s\n", text);
	if (status == LT_EXIT_USAGE)
		fprintf(stderr, "Try 'lttngtop%s --help'.\n",
			command == COMMAND_REPORT  ? " report" :
			command == COMMAND_CLUSTER ? " cluster" :
						     "");
	return status;
}

/* ---- without words ---- */

/* Whether a relayd on this machine answers, and has a live session. */
static bool relay_has_sessions(void)
{
	const gint64 end_us = g_get_monotonic_time() + RELAY_MS * INT64_C(1000);
	const struct event *ev;
	enum lt_status status = LT_AGAIN;
	struct source *source;
	bool found = false;

	if (source_start_list(LOCAL_RELAY, RELAY_MS, 0, &source) != LT_OK)
		return false;
	while (g_get_monotonic_time() < end_us && (status == LT_OK || status == LT_AGAIN)) {
		struct pollfd fd = {.fd = source_fd(source), .events = POLLIN};

		status = source_peek(source, &ev);
		if (status == LT_AGAIN)
			poll(&fd, 1, LOOK_EVERY_MS);
		if (status != LT_OK)
			continue;
		found |= ev->kind == EVENT_SESSION && event_payload(ev, ev_session)->timer_us > 0;
		source_next(source);
	}
	source_stop(source);
	error_clear();
	return found;
}

/* What this machine lacks, NULL: it can be traced. To be freed. */
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

enum lt_status local_choose(struct options *o)
{
	GPtrArray *missing;

	if (o->words->len) {
		const char *first = g_ptr_array_index(o->words, 0);

		o->local = !source_is_url(first) && !g_file_test(first, G_FILE_TEST_IS_DIR);
		return LT_OK;
	}
	if (relay_has_sessions()) {
		g_ptr_array_add(o->words, (char *)LOCAL_RELAY);
		return LT_OK;
	}
	missing = find_missing();
	if (!missing) {
		o->local = true;
		return LT_OK;
	}
	print_missing(missing);
	g_ptr_array_free(missing, TRUE);
	fputs("\nOther ways to start:\n"
	      "  lttngtop RECORDING        replay a directory that LTTng has written\n"
	      "  lttngtop net://HOST       the live sessions of a relayd; there is none on this machine\n"
	      "  lttngtop --local --ust 'EVENT'  events of programs on this machine\n"
	      "  lttngtop --help\n",
	      stderr);
	return LT_ERROR;
}

/* ---- what is recorded ---- */

enum lt_status local_check(const struct options *o, enum command_bit command)
{
	const char *name = NULL;

	if (o->local || (command != COMMAND_MONITOR && command != COMMAND_REPORT))
		return LT_OK;
	if (o->set)
		name = "set";
	else if (o->ust->len)
		name = "ust";
	else if (o->buffer_size)
		name = "buffer-size";
	else if (o->record_pid->len)
		name = "pid";
	return name ? error_set("option '--%s' needs --local", name) : LT_OK;
}

/* NULL: wrong usage. The words behind "--" are the command; those before it are no sources. */
static struct record_plan *make_plan(const struct options *o, enum command_bit command)
{
	const unsigned first = command == COMMAND_REPORT;
	const bool only_programs = o->ust->len && !o->record_pid->len;
	const unsigned n_command = o->words->len - o->n_words;
	char **words = g_new0(char *, n_command + 1);
	struct record_request request = {
		.live = "net://127.0.0.1",
		.live_timer_ns = live_timer_ns,
		.set = o->set || only_programs ? o->set : "waits",
		.buffer_bytes = o->buffer_size,
		.ust = o->ust,
		.pids = o->record_pid,
		.hosts = o->cluster_host,
		.command = words,
	};
	struct record_plan *plan = NULL;

	for (unsigned i = 0; i < n_command; i++)
		words[i] = g_ptr_array_index(o->words, o->n_words + i);
	if (command == COMMAND_CLUSTER && (o->words->len || o->local))
		error_set("cluster takes no SOURCE, COMMAND or --local; machines are named with --host");
	else if (command == COMMAND_CLUSTER && !o->cluster_host->len)
		error_set("no machine given: --host USER@HOST");
	else if (o->n_words > first)
		error_set("'%s': --local takes no SOURCE; a command stands behind '--'",
			  (const char *)g_ptr_array_index(o->words, first));
	else
		plan = record_plan_create(&request);
	g_free(words);
	if (plan)
		record_plan_limit(plan, disk_bytes);
	return plan;
}

/* ---- the command's output ---- */

/* Where it goes: where there is a screen, into a file without a name, else to stderr. -1: see the error chain. */
static int open_output(enum command_bit command)
{
	char *path;
	int fd;

	if (command == COMMAND_REPORT)
		return STDERR_FILENO;
	fd = g_file_open_tmp("lttngtop.XXXXXX", &path, NULL);
	if (fd < 0) {
		error_set("cannot make a file in '%s': %s", g_get_tmp_dir(), g_strerror(errno));
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
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, stderr);
	close(fd);
}

/* ---- running ---- */

/* The tracing could not be started: why, and where that is a machine's fault, what it lacks. */
static int fail_start(const struct record_plan *plan, enum command_bit command)
{
	const bool is_kernel = !plan->hosts->len && record_plan_channel(plan, RECORD_KERNEL);
	GPtrArray *missing = is_kernel ? find_missing() : NULL;

	fail(LT_EXIT_FAILURE, command);
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
		return fail(LT_EXIT_FAILURE, command);
	if (isatty(STDERR_FILENO))
		fputs(plan->hosts->len ? "lttngtop: starting to trace these machines ...\n" :
					 "lttngtop: starting to trace this machine ...\n",
		      stderr);
	process_hold_signals();
	started = keeper_start(&keeper, plan, output, &source);
	process_release_signals();
	if (started) {
		print_output(output);
		return fail_start(plan, command);
	}
	log_info("system calls of lttngtop and of LTTng's daemons are left out; their CPU time is shown");
	g_ptr_array_set_size(o->words, (int)o->n_words);
	g_ptr_array_add(o->words, source);
	o->from_start = true;
	status = run(o);
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
		return fail(LT_EXIT_USAGE, command);
	if (command != COMMAND_REPORT && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		error_set("the monitor needs a terminal; 'lttngtop report TABLE --local' writes to files and pipes");
		status = fail(LT_EXIT_FAILURE, command);
	} else if (plan->command && (status = process_check(plan->command[0]))) {
		fail(status, command);
	} else {
		status = run_plan(plan, o, command, run);
	}
	record_plan_destroy(plan);
	return status;
}
