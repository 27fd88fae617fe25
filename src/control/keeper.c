/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/leave.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"
#include "control/cluster.h"
#include "control/daemon.h"
#include "control/fault.h"
#include "control/private.h"
#include "control/process.h"
#include "control/relay.h"
#include "control/sessions.h"
#include "control/tracer.h"

enum {
	LOOK_MS = 50,                  /* how often to look for signals, which are held */
	END_MS_MAX = 90 * MS_PER_S,    /* a session daemon takes long (daemon.c); one that hangs ends no request */
	COMMAND_MS_MAX = 5 * MS_PER_S, /* how long after SIGTERM the command is killed */
	LINE_MAX_BYTES = TEXT_MAX + 64,
};

/* ---- the keeper ---- */

/* Sends a message to the parent: "store DIRECTORY", "source SOURCE", "error TEXT", "warning TEXT", "command STATUS". */
static void tell(int fd, const char *what, const char *text)
{
	GString *line = g_string_new(NULL);
	ssize_t sent;

	g_string_printf(line, "%s %s", what, text);
	sent = send(fd, line->str, line->len, MSG_NOSIGNAL);
	(void)sent; /* if the parent is gone, keep() notices */
	g_string_free(line, TRUE);
}

/* The parent has the screen and the log file. */
static void forward_warning(const struct log_message *m, void *fd)
{
	if (m->level >= LOG_LEVEL_WARNING)
		tell(*(int *)fd, "warning", m->text);
}

/* Launches the relayd; the room it has limits what is kept. */
static enum lt_status start_relayd(struct private_run *run, struct record_plan *plan)
{
	record_plan_limit(plan, private_place(run, record_plan_buffers_bytes(plan)));
	return private_start_relayd(run);
}

/* Waits for the relayd and stores its address in the plan. */
static enum lt_status await_relayd(struct private_run *run, struct record_plan *plan)
{
	char *relay;

	if (private_await_relayd(run))
		return LT_ERROR;
	relay = g_strdup_printf("net://127.0.0.1:%u:%u", run->control_port, run->data_port);
	g_free(plan->url);
	plan->url = relay_url(relay);
	plan->view_port = run->view_port;
	g_free(relay);
	return LT_OK;
}

/* A filter for the system calls to record, without those of the daemons and of this program. The caller frees it. */
static char *call_filter(const struct keeper_traced *traced)
{
	/* the session daemon renames its threads */
	char *others = g_strdup_printf("$ctx.pid != %d && $ctx.procname != \"lttng*\"", (int)daemon_pid());
	char *filter = NULL;

	if (!traced)
		return others;
	/* until it executes its program it has our name */
	if (traced->children)
		filter = g_strdup_printf("$ctx.pid == %d || (%s)", (int)traced->process.pid, others);
	else
		filter = g_strdup_printf("$ctx.pid == %d", (int)traced->process.pid);
	g_free(others);
	return filter;
}

/* Prepares the session daemon, while the relayd starts, and the session; nothing is recorded yet. */
static enum lt_status set_up_session(struct private_run *run, struct record_plan *plan,
				     const struct keeper_traced *traced)
{
	pid_t daemon;

	if (private_require_daemon(run, record_plan_channel(plan, RECORD_KERNEL), true, &daemon) ||
	    await_relayd(run, plan))
		return LT_ERROR;
	plan->call_filter = call_filter(traced);
	if (private_note_session(run, plan->session) || tracer_probe(plan) || tracer_setup(plan))
		return LT_ERROR;
	private_settle(run);
	return LT_OK;
}

/* The command must not read from the terminal or write to the screen; the keeper itself has nothing more to print. */
static enum lt_status leave_terminal(int output)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const bool has_left = null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
			      dup2(output, STDERR_FILENO) >= 0;
	const int error = errno;

	if (null >= 0)
		close(null);
	return has_left ? LT_OK : error_set("cannot leave the terminal: %s", g_strerror(error));
}

static enum lt_status start_session(struct private_run *run, const struct record_plan *plan, struct process *command)
{
	if (plan->command) {
		if (process_prepare(command, plan->command))
			return LT_ERROR;
		setpgid(command->pid, command->pid); /* its children get signals, too */
		if (private_note_process(run, command->pid))
			return LT_ERROR;
	}
	if (session_start(plan->session))
		return LT_ERROR;
	return plan->command ? process_let_go(command) : LT_OK;
}

static enum lt_status start_here(struct private_run *run, struct record_plan *plan, struct process *command, int output,
				 const struct keeper_traced *traced)
{
	if ((traced && private_note_process(run, traced->process.pid)) || set_up_session(run, plan, traced))
		return LT_ERROR;
	return leave_terminal(output) ? LT_ERROR : start_session(run, plan, command);
}

static enum lt_status start_hosts(struct private_run *run, struct record_plan *plan, struct cluster *cluster,
				  int output, int fd)
{
	private_settle(run);
	plan->call_filter = g_strdup("$ctx.procname != \"lttng*\"");
	if (fault_check(plan) || await_relayd(run, plan) ||
	    cluster_start(cluster, plan, run->control_port, run->data_port, fd))
		return LT_ERROR;
	return leave_terminal(output);
}

/* Whether the command has ended. If so, sends its status to the parent and stops recording. */
static bool reap(const struct record_plan *plan, struct process *command, int fd)
{
	struct session_lost lost;
	char text[16];
	int status;

	if (!command->pid || waitpid(command->pid, &status, WNOHANG) != command->pid)
		return false;
	command->pid = 0;
	session_stop(plan->session, &lost);
	g_snprintf(text, sizeof(text), "%d", process_exit_status(status));
	tell(fd, "command", text);
	return true;
}

/*
 * Opens a descriptor that becomes readable when the traced process, which is not our child, ends. Does nothing without
 * one.
 */
static enum lt_status open_traced(const struct keeper_traced *traced, int *fd)
{
	if (traced)
		*fd = (int)syscall(SYS_pidfd_open, traced->process.pid, 0);
	return traced && *fd < 0 ? error_set("cannot watch the command: %s", g_strerror(errno)) : LT_OK;
}

/* Opens a descriptor for the held signals. */
static enum lt_status open_signals(int *fd)
{
	sigset_t held;

	process_fill_held(&held);
	*fd = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
	return *fd < 0 ? error_set("cannot wait for signals: %s", g_strerror(errno)) : LT_OK;
}

/* The traced process has ended: stop recording; all recorded data has reached the relayd. */
static void end_recording(const struct record_plan *plan, struct pollfd *traced)
{
	struct session_lost lost;

	session_stop(plan->session, &lost);
	traced->fd = -1;
}

/* Runs until the parent is gone or asks to end. */
static void keep(const struct private_run *run, const struct record_plan *plan, struct process *command,
		 struct cluster *cluster, int traced, int signals, int fd)
{
	struct signalfd_siginfo info;
	struct pollfd fds[3] = { { .fd = fd, .events = POLLIN },
				 { .fd = signals, .events = POLLIN },
				 { .fd = traced, .events = POLLIN } };
	bool done = false;

	while (!done) {
		if (poll(fds, G_N_ELEMENTS(fds), cluster_watch(cluster) ? LOOK_MS : -1) < 0)
			continue;
		done = fds[0].revents;
		if (fds[2].revents)
			end_recording(plan, &fds[2]);
		while (read(signals, &info, sizeof(info)) == sizeof(info))
			done |= info.ssi_signo == SIGTERM;
		reap(plan, command, fd);
		waitpid(run->relayd, NULL, WNOHANG); /* if it has died, the monitor still has what it read */
	}
}

static void end_command(const struct record_plan *plan, struct process *command, int fd)
{
	process_cancel(command);
	if (command->pid)
		kill(-command->pid, SIGTERM);
	for (unsigned ms = 0; command->pid && !reap(plan, command, fd); ms += LOOK_MS) {
		if (ms >= COMMAND_MS_MAX)
			kill(-command->pid, SIGKILL);
		g_usleep(LOOK_MS * US_PER_MS);
	}
}

static void be_keeper(struct record_plan *plan, int output, const struct keeper_traced *traced, int fd)
{
	struct private_run run;
	struct process command = { .gate = -1 };
	struct cluster cluster = { .links = NULL };
	char *source = NULL;
	int traced_end = -1, signals;

	setsid();
	log_set_forward(forward_warning, &fd);
	if (traced)
		close(traced->process.gate); /* held by the caller alone: if that dies, so does the process */
	if (open_traced(traced, &traced_end) || open_signals(&signals)) {
		tell(fd, "error", error_text());
		return;
	}
	if (private_open(&run, getppid()) || start_relayd(&run, plan) ||
	    (plan->hosts->len ? start_hosts(&run, plan, &cluster, output, fd)
			      : start_here(&run, plan, &command, output, traced))) {
		tell(fd, "error", error_text());
	} else {
		source = record_plan_source(plan);
		tell(fd, "store", run.store);
		tell(fd, "source", source);
		keep(&run, plan, &command, &cluster, traced_end, signals, fd);
	}
	end_command(plan, &command, fd);
	cluster_end(&cluster);
	private_close(&run);
	g_free(source);
}

/* ---- the parent ---- */

/* Receives the next message. LT_AGAIN: not within wait_ms. LT_END: the keeper is gone. */
static enum lt_status hear(const struct keeper *keeper, GString *line, int wait_ms)
{
	struct pollfd readable = { .fd = keeper->fd, .events = POLLIN };
	char bytes[LINE_MAX_BYTES];
	ssize_t n;
	int ready;

	do {
		ready = poll(&readable, 1, wait_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return LT_AGAIN;
	n = recv(keeper->fd, bytes, sizeof(bytes), 0);
	g_string_truncate(line, 0);
	g_string_append_len(line, bytes, MAX(n, 0));
	return n > 0 ? LT_OK : LT_END;
}

/* The text after the keyword of a message; NULL: it has another keyword. */
static const char *text_of(const GString *line, const char *what)
{
	return g_str_has_prefix(line->str, what) && line->str[strlen(what)] == ' ' ? line->str + strlen(what) + 1
										   : NULL;
}

/* Takes a message that may come at any time. Returns whether it is one. */
static bool take(struct keeper *keeper, const GString *line)
{
	if (text_of(line, "warning"))
		log_warning("%s", text_of(line, "warning"));
	else if (text_of(line, "command"))
		keeper->command_status = (int)strtol(text_of(line, "command"), NULL, 10);
	else
		return false;
	return true;
}

/* Waits for the source or an error. */
static enum lt_status await_source(struct keeper *keeper, char **source)
{
	GString *line = g_string_new(NULL);
	enum lt_status status;

	while ((status = hear(keeper, line, LOOK_MS)) != LT_END) {
		if (status == LT_AGAIN && process_is_interrupted())
			break;
		if (status == LT_AGAIN || take(keeper, line))
			continue;
		if (!text_of(line, "store"))
			break;
		keeper->store = g_strdup(text_of(line, "store"));
	}
	if (status == LT_OK && text_of(line, "source"))
		*source = g_strdup(text_of(line, "source"));
	else if (status == LT_AGAIN)
		status = LT_INTERRUPTED;
	else if (status == LT_OK && text_of(line, "error"))
		status = error_set("%s", text_of(line, "error"));
	else
		status = error_set("the process that sets up tracing died unexpectedly");
	g_string_free(line, TRUE);
	return status;
}

enum lt_status keeper_start(struct keeper *keeper, struct record_plan *plan, int output,
			    const struct keeper_traced *traced, char **source)
{
	enum lt_status status;
	int fds[2];

	*keeper = (struct keeper){ .fd = -1, .command_status = -1 };
	g_free(plan->session);
	/* processes of other machines may have the same number */
	plan->session = plan->hosts->len ? g_strdup_printf("cluster-%s-%d", g_get_host_name(), (int)getpid())
					 : g_strdup_printf("local-%d", (int)getpid());
	if (record_session_check(plan->session))
		return LT_ERROR;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return error_set("cannot create a socket pair: %s", g_strerror(errno));
	keeper->pid = fork();
	if (keeper->pid == 0) {
		close(fds[0]);
		be_keeper(plan, output, traced, fds[1]);
		leave(0);
	}
	close(fds[1]);
	if (keeper->pid < 0) {
		close(fds[0]);
		return error_set("cannot create a process: %s", g_strerror(errno));
	}
	keeper->fd = fds[0];
	status = await_source(keeper, source);
	if (status) {
		char *reason = g_strdup(error_text());

		kill(keeper->pid, SIGTERM); /* it may be halfway through the setup */
		keeper_end(keeper);
		error_set("%s", reason);
		g_free(reason);
	}
	return status;
}

bool keeper_hear(struct keeper *keeper)
{
	GString *line = g_string_new(NULL);
	enum lt_status status;

	while ((status = hear(keeper, line, 0)) == LT_OK)
		take(keeper, line);
	g_string_free(line, TRUE);
	return status != LT_END;
}

void keeper_end(struct keeper *keeper)
{
	GString *line = g_string_new(NULL);
	enum lt_status status;
	bool is_warned = false;
	int earlier = 0;

	shutdown(keeper->fd, SHUT_WR);
	for (unsigned ms = 0; (status = hear(keeper, line, LOOK_MS)) != LT_END && ms < END_MS_MAX; ms += LOOK_MS) {
		if (status == LT_OK) {
			if (!is_warned && text_of(line, "warning")) {
				is_warned = true;
				earlier = process_take_signal(); /* before the message, which may be answered at once */
			}
			take(keeper, line);
			ms = 0;
		}
		/* it has said what it waits for */
		if (is_warned && process_is_interrupted())
			kill(keeper->pid, SIGTERM);
	}
	if (status != LT_END) {
		kill(keeper->pid, SIGKILL);
		log_warning(
			"LTTng does not answer: its daemons may still run; end lttng-consumerd and lttng-sessiond with "
			"'kill -9', and the next 'lttngtop --local' removes what is left");
	}
	waitpid(keeper->pid, NULL, 0);
	close(keeper->fd);
	keeper->fd = -1;
	g_clear_pointer(&keeper->store, g_free);
	g_string_free(line, TRUE);
	if (earlier)
		raise(earlier);
}
