/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "control/ctl.h"
#include "control/sessions.h"
#include "control/process.h"

#define TRACING_GROUP "tracing"
#define ROOT_DIRECTORY "/var/run/lttng"
#define PID_FILE "lttng-sessiond.pid"

/* It loads the tracer's modules first and unloads them last, which has taken more than 20 s on a busy machine. */
enum { START_MS_MAX = 60 * MS_PER_S, END_MS_MAX = 60 * MS_PER_S, POLL_MS = 10 };

static bool is_alive(void)
{
	return lttng_session_daemon_alive() == 1;
}

/* Without the library, a daemon that runs seems not to. */
static enum lt_status load_library(void)
{
	const char *reason = ctl_load();

	return reason ? error_set("liblttng-ctl cannot be loaded: %s; 'lttngtop doctor' prints what to do", reason)
		      : LT_OK;
}

/* Whether root's session daemon would accept requests from us. */
static bool may_use_root_daemon(void)
{
	const struct group *group;
	gid_t *gids;
	int n;
	bool found = false;

	if (geteuid() == 0)
		return true;
	group = getgrnam(TRACING_GROUP);
	n = getgroups(0, NULL);
	if (!group || n <= 0)
		return group && getegid() == group->gr_gid;
	gids = g_new(gid_t, n);
	n = getgroups(n, gids);
	for (int i = 0; i < n; i++)
		found |= gids[i] == group->gr_gid;
	g_free(gids);
	return found || getegid() == group->gr_gid;
}

/* 0: there is no such file, or it has no pid. */
static pid_t read_pid(const char *file)
{
	char *text = NULL, *end;
	pid_t pid = 0;

	if (g_file_get_contents(file, &text, NULL, NULL))
		pid = process_parse_pid(text, &end);
	g_free(text);
	return pid;
}

static bool root_daemon_runs(void)
{
	const pid_t pid = read_pid(ROOT_DIRECTORY "/" PID_FILE);

	return pid && (kill(pid, 0) == 0 || errno == EPERM);
}

bool daemon_is_refused(void)
{
	return !may_use_root_daemon() && root_daemon_runs();
}

bool daemon_is_of_root(void)
{
	return geteuid() == 0 || (may_use_root_daemon() && root_daemon_runs());
}

/* Where a user's session daemon has its directory .lttng. */
static const char *lttng_home(void)
{
	const char *home = g_getenv("LTTNG_HOME");

	return home ? home : g_get_home_dir();
}

/* The path of a runtime file of the session daemon that this user asks. The caller frees it. */
static char *daemon_file(const char *name)
{
	if (daemon_is_of_root())
		return g_build_filename(ROOT_DIRECTORY, name, NULL);
	return g_build_filename(lttng_home(), ".lttng", name, NULL);
}

pid_t daemon_pid(void)
{
	char *file = daemon_file(PID_FILE);
	const pid_t pid = read_pid(file);

	g_free(file);
	return pid;
}

/* Whether a daemon is running or starting: taking the lock is the first thing it does. */
static bool is_locked(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	char *file = daemon_file("lttng-sessiond.lck");
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	bool locked = false;

	if (fd >= 0) {
		locked = !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
		close(fd);
	}
	g_free(file);
	return locked;
}

/* A daemon that is just starting, perhaps because the machine is, loads the tracer's modules before it answers. */
static bool await_daemon(void)
{
	for (unsigned ms = 0; ms < START_MS_MAX && is_locked() && !process_is_interrupted(); ms += POLL_MS) {
		if (is_alive())
			return true;
		g_usleep(POLL_MS * US_PER_MS);
	}
	return is_alive();
}

/* Its pid file is removed last; the process itself may remain a zombie if nobody reaps it. */
static void await_end(pid_t pid)
{
	for (unsigned ms = 0; ms < END_MS_MAX && daemon_pid() == pid; ms += POLL_MS)
		g_usleep(POLL_MS * US_PER_MS);
}

/* An interrupt from the terminal must not kill the daemon halfway: we could not know whether one is left. */
static void leave_group(void *unused)
{
	setsid();
	process_unblock_signals(unused);
}

const char *daemon_spawn_reason(const GError *error)
{
	return g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT)
		       ? "not found; 'lttngtop doctor' prints what to install"
		       : error->message;
}

/* The daemon's own words are not known: once it is a daemon it would keep a pipe open. */
static enum lt_status explain_start(const char *program)
{
	char *directory = daemon_file("");
	const int needed = access(directory, F_OK) == 0 || access(lttng_home(), W_OK) == 0 ? 0 : errno;

	g_free(directory);
	if (needed && !daemon_is_of_root())
		return error_set(
			"no session daemon is running, and '%s' fails to start: it cannot create a directory in "
			"'%s': %s; set LTTNG_HOME to another one",
			program, lttng_home(), g_strerror(needed));
	return error_set("no session daemon is running, and '%s' fails to start: run it by hand to see why", program);
}

/* Its process is of no use. before: the pid in its file before it was started, which may be that of anything now. */
static enum lt_status end_unreachable(const char *program, pid_t before)
{
	const pid_t pid = daemon_pid();

	if (pid && pid != before && kill(pid, SIGTERM) == 0)
		await_end(pid);
	return error_set("'%s' starts, but does not answer: it may be another version of LTTng than liblttng-ctl",
			 program);
}

static enum lt_status start(pid_t *started)
{
	const char *path = g_getenv("LTTNG_SESSIOND_PATH");
	char *argv[] = { (char *)(path ? path : "lttng-sessiond"), (char *)"--daemonize", NULL };
	const pid_t before = daemon_pid();
	GError *error = NULL;
	int status = 0;

	if (!g_spawn_sync(NULL, argv, NULL,
			  G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, leave_group,
			  NULL, NULL, NULL, &status, &error)) {
		error_set("no session daemon is running, and '%s' cannot be started: %s", argv[0],
			  daemon_spawn_reason(error));
		g_error_free(error);
		return LT_ERROR;
	}
	if (status)
		return explain_start(argv[0]);
	if (!is_alive())
		return end_unreachable(argv[0], before);
	*started = daemon_pid();
	return LT_OK;
}

enum lt_status daemon_check(void)
{
	if (load_library())
		return LT_ERROR;
	if (is_alive())
		return LT_OK;
	if (daemon_is_refused())
		return error_set(
			"root's session daemon is running, but this user may not use it: use sudo, or join group "
			"'" TRACING_GROUP "'");
	return error_set("no session daemon is running: see lttng-sessiond(8)");
}

/* Whether a process is a consumer daemon of a session daemon that has not noticed its end. */
static bool is_dead_consumer(const char *pid, pid_t daemon)
{
	static const char mark[] = "(lttng-consumerd) Z ";
	char *path = g_build_filename("/proc", pid, "stat", NULL), *text = NULL;
	const char *found = g_file_get_contents(path, &text, NULL, NULL) ? strstr(text, mark) : NULL;
	const bool is = found && g_ascii_strtoll(found + strlen(mark), NULL, 10) == daemon;

	g_free(text);
	g_free(path);
	return is;
}

bool daemon_consumer_died(void)
{
	const pid_t daemon = daemon_pid();
	GDir *dir = daemon ? g_dir_open("/proc", 0, NULL) : NULL;
	const char *name;
	bool died = false;

	while (dir && !died && (name = g_dir_read_name(dir)))
		died = g_ascii_isdigit(*name) && is_dead_consumer(name, daemon);
	if (dir)
		g_dir_close(dir);
	return died;
}

enum lt_status daemon_require(bool kernel, bool may_start, pid_t *started)
{
	*started = 0;
	if (kernel && !may_use_root_daemon() && !getgrnam(TRACING_GROUP))
		return error_set("only root can trace the kernel, because this machine has no group '" TRACING_GROUP
				 "' for other users: use sudo");
	if (kernel && !may_use_root_daemon())
		return error_set("only root and members of group '" TRACING_GROUP
				 "' can trace the kernel: use sudo, or run 'sudo usermod -aG " TRACING_GROUP
				 " $USER' and log in again");
	if (load_library())
		return LT_ERROR;
	if (is_alive() || await_daemon())
		return LT_OK;
	if (kernel && geteuid() != 0)
		return error_set(
			"root's session daemon is not running: start it with 'sudo lttng-sessiond --daemonize'");
	if (!may_start)
		return error_set("no session daemon is running: start one with 'lttng-sessiond --daemonize'");
	return start(started);
}

void daemon_end(pid_t started)
{
	struct lttng_session *sessions = NULL;
	const int n = session_gave_up() ? -1 : lttng_list_sessions(&sessions);

	free(sessions);
	if (started > 0 && n == 0 && daemon_pid() == started && kill(started, SIGTERM) == 0)
		await_end(started);
}
