/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/private.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/nstime.h"
#include "control/daemon.h"
#include "control/place.h"
#include "control/private_notes.h"
#include "control/process.h"
#include "control/relay.h"
#include "control/sessions.h"

#define DISK_DIRECTORY "/var/tmp"

enum {
	RELAYD_TRIES = 5, /* another program may take the ports in between */
	START_MS_MAX = 20 * MS_PER_S,
	DAEMON_END_MS_MAX = 60 * MS_PER_S,
	POLL_MS = 20,
	OPEN_FILES = 16, /* for nftw() */
	LOCK_TRIES = 10,
	LOCK_SAY_MS = 100 * POLL_MS,
};

/* ---- directories ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_tree(const char *dir)
{
	nftw(dir, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static char *base_path(void)
{
	const char *runtime = g_getenv("XDG_RUNTIME_DIR");
	char *name, *path;

	if (geteuid() == 0)
		return g_strdup("/run/lttngtop");
	if (runtime && *runtime == '/' && access(runtime, W_OK | X_OK) == 0) /* not another user's, as after su */
		return g_build_filename(runtime, "lttngtop", NULL);
	name = g_strdup_printf("lttngtop-%u", (unsigned)geteuid());
	path = g_build_filename(g_get_tmp_dir(), name, NULL);
	g_free(name);
	return path;
}

/* In a world-writable directory others could create it first. */
static bool is_ours_alone(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

static enum lt_status make_base(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_set("cannot create directory '%s': %s", path, g_strerror(errno));
	if (is_ours_alone(path))
		return LT_OK;
	/* another user's cannot be removed; root's place is root's */
	return error_set("'%s' is not a directory that only this user can access: remove it%s", path,
			 geteuid() ? ", or set XDG_RUNTIME_DIR to such a directory" : "");
}

/*
 * Takes a directory's lock, which is held until the fd is closed; -1: see errno: another process holds it, or has just
 * removed the directory (ESTALE).
 */
static int take_lock(const char *dir, int how)
{
	char *path = g_build_filename(dir, "lock", NULL);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat taken, there;
	int reason = 0;

	if (fd >= 0 && (flock(fd, how) || fstat(fd, &taken) || stat(path, &there)))
		reason = errno;
	else if (fd >= 0 && taken.st_ino != there.st_ino)
		reason = ESTALE;
	if (reason) {
		close(fd);
		errno = reason;
		fd = -1;
	}
	g_free(path);
	return fd;
}

/* ---- remains of other runs ---- */

/*
 * Removes the session of a run. Returns whether it is gone, as it is if its session daemon is. Another daemon, as with
 * another LTTNG_HOME, does not know it.
 */
static bool end_session(const char *dir, const char *session)
{
	char *created = noted_read(dir, "created"), *daemon = noted_read(dir, "daemon");
	const char *at = daemon;
	guint64 started = 0;
	bool gone = false;
	pid_t pid = 0;

	if (at && !noted_parse(&at, &pid, &started))
		started = 0;
	if (started && !noted_lives(pid, started))
		gone = true;
	else if (!started || daemon_pid() == pid)
		gone = session_discard_created(session, created ? g_ascii_strtoull(created, NULL, 10) : 0);
	if (!started && !session_gave_up())
		gone = true; /* or else it would be noted for ever */
	g_free(daemon);
	g_free(created);
	return gone;
}

/*
 * Ends and removes everything of a run that is dead or ending: its session, its processes, its directory. What names a
 * session that has not been removed stays for a later run.
 */
static void clear_run(const char *dir)
{
	char *session = noted_read(dir, "session"), *processes = noted_read(dir, "processes");
	char *store = noted_read(dir, "store");
	char *relayd = g_build_filename(dir, "relayd", NULL);
	const bool all = !session || end_session(dir, session);
	const char *at = processes;
	guint64 started;
	pid_t pid;

	while (at && noted_parse(&at, &pid, &started))
		noted_end(pid, started);
	if (store && is_ours_alone(store))
		remove_tree(store);
	remove_tree(all ? dir : relayd);
	g_free(relayd);
	g_free(store);
	g_free(processes);
	g_free(session);
}

static void clear_dead_runs(const char *base)
{
	GDir *entries = g_dir_open(base, 0, NULL);
	const char *name;

	while (entries && !session_gave_up() && (name = g_dir_read_name(entries))) {
		char *dir = g_build_filename(base, name, NULL);
		int lock = g_ascii_isdigit(*name) ? take_lock(dir, LOCK_EX | LOCK_NB) : -1;

		if (lock >= 0)
			clear_run(dir);
		close_fd(&lock);
		g_free(dir);
	}
	if (entries)
		g_dir_close(entries);
}

/* The last run ends a session daemon that a run has started. */
static void end_daemon(const char *base)
{
	char *text = noted_read(base, "sessiond"), *path = g_build_filename(base, "sessiond", NULL);
	const char *at = text;
	guint64 started;
	pid_t pid;

	if (text && noted_parse(&at, &pid, &started)) {
		const bool is_asked = daemon_pid() == pid; /* not another one, as with another LTTNG_HOME */

		if (is_asked && noted_lives(pid, started))
			daemon_end(pid);
		/* its pid file is removed just before it exits */
		for (unsigned ms = 0;
		     ms < DAEMON_END_MS_MAX && is_asked && noted_lives(pid, started) && daemon_pid() != pid;
		     ms += POLL_MS)
			g_usleep(POLL_MS * US_PER_MS);
		if (!noted_lives(pid, started))
			unlink(path);
	}
	g_free(path);
	g_free(text);
}

/* ---- a run ---- */

/*
 * Waits for other runs that start or end, until a held signal comes, after this time at the earliest, or the process
 * that it is named after is gone.
 */
static enum lt_status lock_base(struct private_run *run, pid_t named_after, unsigned at_least_ms)
{
	/* the last run may remove the directory meanwhile */
	for (unsigned tries = 0, ms = 0; tries < LOCK_TRIES;) {
		if (make_base(run->base))
			return LT_ERROR;
		run->base_lock = take_lock(run->base, LOCK_EX | LOCK_NB);
		if (run->base_lock >= 0)
			return LT_OK;
		if (errno != EWOULDBLOCK) {
			tries++;
			continue;
		}
		if ((process_is_interrupted() && ms >= at_least_ms) ||
		    (named_after != getpid() && named_after != getppid()))
			return error_set("interrupted while another lttngtop was starting or ending");
		if (ms == LOCK_SAY_MS)
			log_warning("waiting for another lttngtop that starts or ends tracing");
		g_usleep(POLL_MS * US_PER_MS);
		ms += POLL_MS;
	}
	return error_set("cannot lock '%s': %s", run->base, g_strerror(errno));
}

/* Creates the directory of a run. What a killed one of the same pid has left may have to stay. */
static enum lt_status make_dir(struct private_run *run, pid_t named_after)
{
	run->dir = g_strdup_printf("%s/%d", run->base, (int)named_after);
	if (!mkdir(run->dir, 0700))
		return LT_OK;
	if (errno == EEXIST) {
		g_free(run->dir);
		run->dir = g_strdup_printf("%s/%d-XXXXXX", run->base, (int)named_after);
		if (g_mkdtemp(run->dir))
			return LT_OK;
	}
	error_set("cannot create directory '%s': %s", run->dir, g_strerror(errno));
	g_clear_pointer(&run->dir, g_free);
	return LT_ERROR;
}

enum lt_status private_open(struct private_run *run, pid_t named_after)
{
	*run = (struct private_run){ .base = base_path(), .base_lock = -1, .lock = -1 };
	if (lock_base(run, named_after, 0))
		return LT_ERROR;
	clear_dead_runs(run->base);
	if (session_gave_up())
		return error_set("interrupted while the session of a killed lttngtop was being removed");
	if (make_dir(run, named_after))
		return LT_ERROR;
	run->lock = take_lock(run->dir, LOCK_EX);
	if (run->lock >= 0)
		return LT_OK;
	error_set("cannot lock '%s': %s", run->dir, error_of_errno(errno));
	remove_tree(run->dir);
	g_clear_pointer(&run->dir, g_free);
	return LT_ERROR;
}

/* Creates a directory on a disk; NULL: not possible. */
static char *make_store(const struct private_run *run)
{
	char *template = g_strdup(DISK_DIRECTORY "/lttngtop-XXXXXX");

	if (g_mkdtemp(template) && noted_append(run->dir, "store", template) == LT_OK)
		return template;
	rmdir(template);
	g_free(template);
	return NULL;
}

uint64_t private_place(struct private_run *run, uint64_t buffers_bytes)
{
	const struct place_room here = place_room(run->dir);
	struct relay_place place = place_choose(here, place_room(DISK_DIRECTORY), buffers_bytes);

	run->store = place.on_disk ? make_store(run) : NULL;
	if (!run->store) {
		place = place_choose(here, (struct place_room){ 0 }, buffers_bytes);
		run->store = g_strdup(run->dir);
	}
	return place.bytes;
}

/* Finds free ports on the loopback. */
static bool find_ports(unsigned *ports, unsigned n)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool found;

	found = fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) &&
		!getsockname(fd, (struct sockaddr *)&address, &size);
	if (found)
		*ports = ntohs(address.sin_port);
	found = found && (n == 1 || find_ports(ports + 1, n - 1)); /* this one stays taken meanwhile */
	if (fd >= 0)
		close(fd);
	return found;
}

static void set_up_relayd(void *unused)
{
	process_unblock_signals(unused);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static enum lt_status spawn_relayd(struct private_run *run, int log)
{
	char *control = g_strdup_printf("--control-port=tcp://127.0.0.1:%u", run->control_port);
	char *data = g_strdup_printf("--data-port=tcp://127.0.0.1:%u", run->data_port);
	char *live = g_strdup_printf("--live-port=tcp://127.0.0.1:%u", run->view_port);
	char *output = g_strdup_printf("--output=%s/relayd", run->store);
	char *argv[] = { (char *)"lttng-relayd", control, data, live, output, NULL };
	GError *error = NULL;
	enum lt_status status = LT_OK;

	if (!g_spawn_async_with_fds(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, set_up_relayd,
				    NULL, &run->relayd, -1, log, log, &error)) {
		status = error_set("cannot start lttng-relayd: %s", daemon_spawn_reason(error));
		g_error_free(error);
	}
	g_free(control);
	g_free(data);
	g_free(live);
	g_free(output);
	return status;
}

/* The relayd opens its ports one by one, in no particular order. */
static bool listens(const struct private_run *run)
{
	const unsigned ports[] = { run->control_port, run->data_port, run->view_port };
	bool all = true;

	for (unsigned i = 0; i < G_N_ELEMENTS(ports) && all; i++)
		all = relay_probe_view("net://127.0.0.1", ports[i]) == LT_OK;
	return all;
}

/* Waits until the relayd accepts sessions and viewers; LT_AGAIN: it has exited. */
static enum lt_status await_relayd(struct private_run *run)
{
	const guint64 started = noted_start(run->relayd);

	for (unsigned ms = 0; ms < START_MS_MAX; ms += POLL_MS) {
		if (!noted_lives(run->relayd, started))
			return LT_AGAIN;
		if (listens(run))
			return LT_OK;
		if (process_is_interrupted())
			break;
		g_usleep(POLL_MS * US_PER_MS);
	}
	noted_end(run->relayd, started);
	return error_set("lttng-relayd was started but does not answer");
}

static enum lt_status fail_relayd(const struct private_run *run)
{
	char *text = noted_read(run->dir, "relayd.log");
	const char *last = text ? strrchr(g_strchomp(text), '\n') : NULL;

	error_set("lttng-relayd failed to start: %s", last ? last + 1 : text ? text : "it printed no reason");
	g_free(text);
	return LT_ERROR;
}

enum lt_status private_start_relayd(struct private_run *run)
{
	char *path = g_build_filename(run->dir, "relayd.log", NULL);
	const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	enum lt_status status;
	unsigned ports[3];

	if (log < 0) {
		status = error_set("cannot create file '%s': %s", path, g_strerror(errno));
	} else if (!find_ports(ports, G_N_ELEMENTS(ports))) {
		status = error_set("no free port on the loopback interface");
	} else {
		run->control_port = ports[0];
		run->data_port = ports[1];
		run->view_port = ports[2];
		status = spawn_relayd(run, log);
		if (!status && private_note_process(run, run->relayd)) {
			noted_end(run->relayd, noted_start(run->relayd));
			status = LT_ERROR;
		}
	}
	if (log >= 0)
		close(log);
	g_free(path);
	return status;
}

enum lt_status private_await_relayd(struct private_run *run)
{
	enum lt_status status = await_relayd(run);

	for (unsigned i = 1; i < RELAYD_TRIES && status == LT_AGAIN; i++)
		status = private_start_relayd(run) ? LT_ERROR : await_relayd(run);
	return status == LT_AGAIN ? fail_relayd(run) : status;
}

enum lt_status private_require_daemon(const struct private_run *run, bool kernel, bool may_start, pid_t *started)
{
	enum lt_status status = LT_OK;

	if (daemon_require(kernel, may_start, started))
		return LT_ERROR;
	if (*started) {
		char *path = g_build_filename(run->base, "sessiond", NULL);

		unlink(path);
		g_free(path);
		status = noted_add_process(run->base, "sessiond", *started);
		if (status)
			daemon_end(*started);
	}
	return status;
}

void private_settle(struct private_run *run)
{
	close_fd(&run->base_lock);
}

/* Removes the directory of all runs if this was the last one. The lock must be held. */
static void remove_base(const char *base)
{
	GDir *entries = g_dir_open(base, 0, NULL);
	bool others = false;
	const char *name;

	while (entries && (name = g_dir_read_name(entries)))
		others |= strcmp(name, "lock") != 0;
	if (!entries)
		return;
	g_dir_close(entries);
	if (!others)
		remove_tree(base);
}

void private_close(struct private_run *run)
{
	/* others get a moment even after a signal; without the lock, the daemon and the directory are left to them */
	if (run->base_lock < 0 && run->dir && lock_base(run, getpid(), LOCK_SAY_MS))
		error_clear();
	if (run->dir)
		clear_run(run->dir);
	if (run->base_lock >= 0) {
		end_daemon(run->base);
		remove_base(run->base);
	}
	close_fd(&run->lock);
	close_fd(&run->base_lock);
	g_clear_pointer(&run->store, g_free);
	g_clear_pointer(&run->dir, g_free);
	g_clear_pointer(&run->base, g_free);
}
