/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/attach/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/nstime.h"
#include "cli/fail.h"
#include "cmd/record/local.h"
#include "cmd/report/report.h"
#include "control/plan.h"
#include "control/process.h"

static const uint64_t live_timer_ns = 200 * NS_PER_MS;

/* Larger than for 'record': the events are read on the machine that produces them, which may have few CPUs. */
static const uint64_t buffers_bytes = UINT64_C(128) << 20;
enum { BUFFER_BYTES_MIN = 8 << 20, BUFFER_BYTES_MAX = 32 << 20 };

static volatile sig_atomic_t running; /* a PID; 0: not started yet, or waited for */

/* ---- signals ---- */

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

/* Forwards a signal; the terminal's own signals have also been sent to COMMAND. */
static void hand_on(int number, siginfo_t *info, void *context)
{
	const int error = errno;

	(void)context;
	if (!running || has_ended(running))
		report_stop = 1;
	else if (info->si_code != SI_KERNEL || number == SIGHUP)
		kill(running, number);
	errno = error;
}

static void install_handlers(void)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_sigaction = hand_on, .sa_flags = SA_RESTART | SA_SIGINFO };

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- the tracing ---- */

static uint64_t default_buffer(void)
{
	return CLAMP(buffers_bytes / g_get_num_processors(), BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
}

static struct record_plan *make_plan(const struct options *o)
{
	GPtrArray *events = g_ptr_array_new();
	const struct record_request request = {
		.live = "net://127.0.0.1",
		.live_timer_ns = live_timer_ns,
		.set = "full",
		.buffer_bytes = o->buffer_size ? o->buffer_size : default_buffer(),
		.events = events,
	};
	struct record_plan *plan;

	if (o->sched)
		g_ptr_array_add(events, (char *)"x86_exceptions_page_fault_*"); /* a pattern may match nothing */
	plan = record_plan_create(&request);
	g_ptr_array_free(events, TRUE);
	return plan;
}

static enum lt_status prepare(struct attach_command *c, const struct options *o)
{
	char **argv = g_new0(char *, o->words->len - o->n_words + 1);
	enum lt_status status;

	for (guint i = o->n_words; i < o->words->len; i++)
		argv[i - o->n_words] = g_ptr_array_index(o->words, i);
	status = process_prepare(&c->traced.process, argv);
	g_free(argv);
	return status;
}

int attach_command_start(struct attach_command *c, const struct options *o)
{
	int status = process_check(g_ptr_array_index(o->words, o->n_words));
	enum lt_status started;

	*c = (struct attach_command){ .traced = { .children = o->follow_forks > 0 } };
	if (status)
		return cmd_fail(status, "attach");
	c->plan = make_plan(o);
	if (!c->plan)
		return cmd_fail(LT_EXIT_USAGE, "attach");
	process_hold_signals();
	started = prepare(c, o);
	if (!started)
		started = keeper_start(&c->keeper, c->plan, STDERR_FILENO, &c->traced, &c->source);
	if (started)
		process_cancel(&c->traced.process);
	else
		install_handlers();
	process_release_signals();
	if (!started)
		return -1;
	status = local_fail_start(c->plan, COMMAND_ATTACH);
	record_plan_destroy(c->plan);
	return status;
}

void attach_command_let_go(struct attach_command *c)
{
	running = c->traced.process.pid;
	process_let_go(&c->traced.process); /* a signal may have killed it at its gate: its status will show that */
}

static int await_command(struct attach_command *c)
{
	const pid_t pid = c->traced.process.pid;
	int status = 0;

	if (c->traced.process.gate >= 0) { /* it never ran */
		process_cancel(&c->traced.process);
		return LT_EXIT_OK;
	}
	while (!has_ended(pid)) {
		siginfo_t info;

		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	}
	running = 0; /* after the wait another process may get its number */
	waitpid(pid, &status, 0);
	return process_exit_status(status);
}

int attach_command_end(struct attach_command *c, int status)
{
	const int own = await_command(c);

	keeper_end(&c->keeper);
	record_plan_destroy(c->plan);
	g_free(c->source);
	return own || status == LT_EXIT_INCOMPLETE ? own : status;
}
