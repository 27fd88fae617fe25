/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/crew.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "base/text.h"
#include "source/recall_pool.h"

enum {
	DEATH_US = US_PER_S, /* a worker that does not die within this time after being killed counts as dead */
	CREW_FDS_MAX = 4,
	LEAD_MAX = 4, /* sources more than another worker that a worker may have because it has their past */
};

static const char *worker_program;
static unsigned most;      /* 0: one per CPU */
static GPtrArray *relayds; /* struct crew_worker: workers for relayds; NULL: there are none */

void crew_set_program(const char *program)
{
	worker_program = program;
}

void crew_set_most(unsigned n)
{
	most = n;
}

/* The CPUs that this process may run on. */
static unsigned count_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : g_get_num_processors();
}

static unsigned limit(void)
{
	return most ? most : count_cpus();
}

/* ---- starting ---- */

/*
 * This program's path. A process started as /proc/self/exe is called "exe" until it names itself, and its system calls
 * are attributed to others. If another file now has that path, uses the link, which still leads to this program.
 */
static const char *own_program(void)
{
	static const char link[] = "/proc/self/exe";
	static char path[PATH_MAX];
	const ssize_t n = readlink(link, path, sizeof(path) - 1);
	struct stat mine, there;

	path[MAX(n, 0)] = '\0';
	return n > 0 && !stat(path, &there) && !stat(link, &mine) && there.st_dev == mine.st_dev &&
			       there.st_ino == mine.st_ino
		       ? path
		       : link;
}

struct crew_worker *crew_start(char *const *argv, const int *fds, unsigned n)
{
	const char *program = worker_program ? worker_program : own_program();
	struct crew_worker *w = g_new0(struct crew_worker, 1);

	w->commands_fd = w->log = -1;
	w->sources = 1;
	if (child_start(&w->child, program, argv, fds, n) == LT_OK)
		return w;
	g_free(w);
	return NULL;
}

struct crew_worker *crew_start_steered(char *const *argv, const int *fds, unsigned n)
{
	int pair[2], all[CREW_FDS_MAX];
	struct crew_worker *w;

	g_assert(n < CREW_FDS_MAX);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		error_set("cannot create sockets: %s", error_of_errno(errno));
		return NULL;
	}
	for (unsigned i = 0; i < n; i++)
		all[i] = fds[i];
	all[n] = pair[1];
	w = crew_start(argv, all, n + 1);
	close(pair[1]);
	if (w)
		w->commands_fd = pair[0];
	else
		close(pair[0]);
	return w;
}

static struct crew_worker *start_for_relayds(int preferred_log)
{
	char commands[16], log[16], job[] = JOB_RELAYDS, name[] = JOB_CALLED_LIVE, option[] = "--worker";
	char *argv[] = { name, option, commands, job, log, NULL };
	const int taken = recall_pool_take(preferred_log, limit()), log_fd = recall_pool_writing_fd(taken);
	const unsigned n = log_fd >= 0;
	struct crew_worker *w;

	g_snprintf(log, sizeof(log), "%d", n ? CHILD_FIRST_FD : -1);
	g_snprintf(commands, sizeof(commands), "%d", CHILD_FIRST_FD + (int)n);
	w = crew_start_steered(argv, &log_fd, n);
	if (!w) {
		recall_pool_leave(taken);
		return NULL;
	}
	w->log = taken;
	if (!relayds)
		relayds = g_ptr_array_new();
	g_ptr_array_add(relayds, w);
	return w;
}

static bool is_usable(struct crew_worker *w)
{
	return !w->is_reserved && !w->sentence && !crew_is_gone(w);
}

struct crew_worker *crew_join(bool alone, int preferred_log)
{
	struct crew_worker *least = NULL, *preferred = NULL;
	unsigned n = 0;

	for (guint i = 0; !alone && relayds && i < relayds->len; i++) {
		struct crew_worker *w = g_ptr_array_index(relayds, i);

		if (!is_usable(w))
			continue;
		n++;
		if (!least || w->sources < least->sources)
			least = w;
		if (preferred_log >= 0 && w->log == preferred_log)
			preferred = w;
	}
	if (preferred && preferred->sources <= least->sources + LEAD_MAX) {
		least = preferred;
	} else if (n < limit()) {
		least = start_for_relayds(preferred_log);
		if (least)
			least->is_reserved = alone;
		return least;
	}
	least->sources++;
	return least;
}

/* ---- commands ---- */

/* fds: NULL, or JOB_FDS descriptors. */
static bool send_command(const struct crew_worker *w, struct job_command *command, const char *url, const char *fields,
			 const int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(JOB_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec parts[] = {
		{ command, sizeof(*command) },
		{ (char *)url, command->url_len },
		{ (char *)fields, command->fields_len },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = G_N_ELEMENTS(parts) };
	ssize_t n;

	if (fds) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.head = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(JOB_FDS * sizeof(int)),
		};
		memcpy(CMSG_DATA(&control.head), fds, JOB_FDS * sizeof(int));
	}
	do {
		n = sendmsg(w->commands_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n >= 0;
}

/* A command that has not been sent to the worker yet. */
struct pending {
	struct job_command command;
	char *fields;
};

static void pending_free(gpointer data)
{
	struct pending *p = data;

	g_free(p->fields);
	g_free(p);
}

/* Commands that the worker does not accept now stay pending: until then, data of a source to be stopped is not read. */
static void send_pending(struct crew_worker *w)
{
	while (w->pending) {
		struct pending *p = g_ptr_array_index(w->pending, 0);

		if (!send_command(w, &p->command, "", p->fields, NULL))
			return;
		g_ptr_array_remove_index(w->pending, 0);
		if (!w->pending->len)
			g_clear_pointer(&w->pending, g_ptr_array_unref);
	}
}

/* Replaces pending commands about the same source. */
static void add_pending(struct crew_worker *w, enum job_kind kind, uint32_t number, const char *fields, uint32_t wanted)
{
	struct pending *p = g_new0(struct pending, 1);

	p->command = (struct job_command){
		.kind = kind,
		.number = number,
		.wanted = wanted,
		.fields_len = (uint32_t)strlen(fields),
	};
	p->fields = g_strdup(fields);
	if (!w->pending)
		w->pending = g_ptr_array_new_with_free_func(pending_free);
	for (guint i = w->pending->len; i-- > 0;)
		if (((struct pending *)g_ptr_array_index(w->pending, i))->command.number == number)
			g_ptr_array_remove_index(w->pending, i);
	g_ptr_array_add(w->pending, p);
	send_pending(w);
}

enum lt_status crew_give(struct crew_worker *w, const struct job_command *command, const char *url, const char *fields,
			 const int *fds)
{
	struct job_command own = *command;

	send_pending(w);
	own.url_len = (uint32_t)strlen(url);
	own.fields_len = (uint32_t)strlen(fields);
	if (own.url_len > JOB_URL_MAX || own.fields_len > FIELDS_WANTED_TEXT_MAX)
		return error_set("its name is too long");
	if (send_command(w, &own, url, fields, fds))
		return LT_OK;
	/* ETOOMANYREFS: too many descriptors are in flight. EPIPE: it has exited, which is reported in time. */
	if (errno == EAGAIN || errno == ETOOMANYREFS || errno == EPIPE || errno == ECONNRESET)
		return LT_AGAIN;
	return error_set("cannot give it to a worker: %s", error_of_errno(errno));
}

void crew_take_back(struct crew_worker *w, uint32_t number)
{
	if (w->gone || w->sources == 1)
		return;
	add_pending(w, JOB_STOP, number, "", 0);
}

void crew_want(struct crew_worker *w, uint32_t number, const char *fields, uint32_t wanted)
{
	if (!w->gone && w->commands_fd >= 0)
		add_pending(w, JOB_WANT, number, fields, wanted);
}

void crew_read_rest(struct crew_worker *w, uint32_t number)
{
	if (!w->gone && w->commands_fd >= 0)
		add_pending(w, JOB_REST, number, "", 0);
}

/* ---- ending ---- */

void crew_hear(struct crew_worker *w)
{
	if (w->deaf || child_hear(&w->child))
		return;
	/* A worker that closes its standard error is exiting, or misbehaves. */
	w->deaf = true;
	child_kill(&w->child);
}

bool crew_is_gone(struct crew_worker *w)
{
	if (!w->gone && child_exited(&w->child)) {
		crew_hear(w);
		w->gone = true;
	}
	if (w->sentence && g_get_monotonic_time() > w->killed_us + DEATH_US)
		w->gone = true;
	return w->gone;
}

void crew_end(struct crew_worker *w, const char *why)
{
	if (!w->sentence)
		w->sentence = g_strdup(why);
	w->killed_us = g_get_monotonic_time();
	child_kill(&w->child);
}

char *crew_describe_end(const struct crew_worker *w)
{
	const int exit_status = w->child.exit_status;
	char words[2 * CHILD_WORDS], how[128];

	if (w->sentence)
		return g_strdup_printf("was ended: %s", w->sentence);
	text_sanitise(words, sizeof(words), w->child.last_words, w->child.last_words_len);
	if (WIFSIGNALED(exit_status))
		g_snprintf(how, sizeof(how), "signal %d (%s)", WTERMSIG(exit_status), strsignal(WTERMSIG(exit_status)));
	else
		g_snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(exit_status));
	return g_strdup_printf("died: %s%s%s", how, *words ? ": " : "", words);
}

void crew_leave(struct crew_worker *w, unsigned patience_ms)
{
	if (!w || --w->sources > 0)
		return;
	child_release(&w->child, patience_ms);
	recall_pool_leave(w->log);
	if (w->commands_fd >= 0)
		close(w->commands_fd);
	if (relayds && g_ptr_array_remove_fast(relayds, w) && relayds->len == 0)
		g_clear_pointer(&relayds, g_ptr_array_unref);
	g_clear_pointer(&w->pending, g_ptr_array_unref);
	g_free(w->sentence);
	g_free(w);
}

/* ---- its pulse ---- */

const struct pulse_look *crew_look(struct crew_worker *w, unsigned every_ms)
{
	const uint64_t now_ns = monotonic_ns();

	if (!w->gone && (!w->look.now_ns || now_ns - w->look.now_ns >= (uint64_t)every_ms * NS_PER_MS)) {
		pulse_look_at(&w->look, w->child.pid);
		w->look.now_ns = now_ns;
		crew_hear(w);
		send_pending(w);
	}
	return &w->look;
}
