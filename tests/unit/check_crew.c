/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that read several live sessions, seen from the parent: which sessions share one, and what happens to the
 * rest.
 */
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "event/payload.h"
#include "reader/emit.h"
#include "source/crew.h"
#include "source/job.h"
#include "source/source.h"
#include "unit.h"
#include "worker/command.h"

enum { MANY = 300, HANG_MS = 300, MOST_TASKS = MANY };

/* ---- fake workers: the session's name says what to do ---- */

struct task {
	struct ring_producer ring;
	char *url;
	uint32_t number;
};

/* Waits for the next command. Its connection stays open. */
static bool take_command(int fd, struct task *t, enum job_kind *kind)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct worker_command command;
	enum lt_status status = LT_OK;

	if (poll(&wait, 1, -1) != 1 || worker_take_command(fd, &command) != LT_OK)
		return false;
	*kind = command.head.kind;
	t->number = command.head.number;
	if (*kind != JOB_STOP) {
		t->url = g_steal_pointer(&command.url);
		status = ring_producer_open(&t->ring,
					    (struct ring_fds){ command.fds[JOB_MEMORY], command.fds[JOB_WAKE] });
		memset(command.fds, -1, sizeof(command.fds));
	}
	worker_command_release(&command);
	return status == LT_OK;
}

/* Reports its process and its number of tasks for each task; the third task of a "crash" ends it. */
static int fake_worker(int commands_fd)
{
	static struct task tasks[MOST_TASKS];
	enum job_kind kind;
	unsigned n = 0;

	while (n < MOST_TASKS && take_command(commands_fd, &tasks[n], &kind)) {
		struct event *ev;

		if (kind == JOB_STOP) {
			const uint32_t stopped = tasks[n].number;

			for (unsigned i = 0; i < n; i++)
				if (tasks[i].number != stopped) {
					emit_end(&tasks[i].ring, emit_begin(&tasks[i].ring, EVENT_OTHER, stopped, 0));
					ring_publish(&tasks[i].ring);
				}
			continue;
		}
		if (g_str_has_suffix(tasks[n].url, "deaf"))
			for (;;)
				pause();
		ev = emit_begin(&tasks[n].ring, EVENT_OTHER, (uint64_t)getpid(), 0);
		emit_end(&tasks[n].ring, ev);
		ring_publish(&tasks[n].ring);
		n++;
		for (unsigned i = 0; n == 3 && i < n; i++)
			if (g_str_has_suffix(tasks[i].url, "crash")) {
				ring_set_at_work(&tasks[i].ring, true);
				raise(SIGKILL);
			}
	}
	return 0;
}

/* ---- helpers ---- */

static int listener;
static unsigned port;

/* Connections wait in the listener's queue: no one answers here. One CPU, so that all sessions share a worker. */
static void set_up(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(address);
	struct rlimit files;
	cpu_set_t set;
	int cpu = 0;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 4096), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	port = ntohs(address.sin_port);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

struct session {
	struct source_spec *spec;
	struct source *source;
};

static struct session start(const char *name, bool alone)
{
	char *text = g_strdup_printf("net://127.0.0.1:%u/host/h/%s", port, name);
	struct session s;
	struct source_url url;

	ck_assert_int_eq(source_parse_url(text, &url), LT_OK);
	s.spec = source_live_spec(&url);
	s.spec->alone = alone;
	source_url_release(&url);
	g_free(text);
	ck_assert_int_eq(source_start(s.spec, 0, 1, &s.source), LT_OK);
	return s;
}

static void stop(struct session *s)
{
	source_stop(s->source);
	source_spec_free(s->spec);
}

/* Its next status other than LT_AGAIN; *ts: the record's time. */
static enum lt_status await(struct session *s, uint64_t *ts)
{
	struct pollfd p = { .fd = source_fd(s->source), .events = POLLIN };
	const struct event *ev;
	enum lt_status status;

	while ((status = source_peek(s->source, &ev)) == LT_AGAIN)
		ck_assert_int_eq(poll(&p, 1, 30000), 1);
	if (status == LT_OK) {
		*ts = ev->ts_ns;
		source_next(s->source);
	}
	return status;
}

/* The process of its worker. */
static uint64_t worker_of(struct session *s)
{
	uint64_t pid = 0;

	ck_assert_int_eq(await(s, &pid), LT_OK);
	return pid;
}

/* As the monitor does: its loop polls the set of all sources. */
static void watch_all(const struct session *s, unsigned n)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	const int loop = epoll_create1(EPOLL_CLOEXEC), set = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(loop, EPOLL_CTL_ADD, set, &event), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(epoll_ctl(set, EPOLL_CTL_ADD, source_fd(s[i].source), &event), 0);
}

/* ---- tests ---- */

START_TEST(test_shared)
{
	struct session a, b, c;
	uint64_t ts, pid;

	set_up();
	a = start("a", false);
	pid = worker_of(&a);
	b = start("b", false);
	c = start("c", true);
	ck_assert_uint_eq(worker_of(&b), pid);
	ck_assert_uint_ne(worker_of(&c), pid);
	/* one of two is stopped: the other one continues */
	stop(&b);
	ck_assert_int_eq(await(&a, &ts), LT_OK);
	/* stopping the last one ends the worker */
	stop(&a);
	stop(&c);
	source_wait_for_workers();
	ck_assert_uint_eq(source_reap(), 0);
}
END_TEST

START_TEST(test_crash)
{
	static const char *const names[] = { "a", "crash", "c" };
	struct session s[3], again;
	uint64_t pid = 0, ts;

	set_up();
	for (unsigned i = 0; i < 3; i++) {
		s[i] = start(names[i], false);
		pid = worker_of(&s[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(await(&s[i], &ts), LT_ERROR);
		ck_assert_ptr_nonnull(strstr(error_text(), "died: signal 9"));
		ck_assert_ptr_nonnull(strstr(error_text(), names[i]));
		ck_assert_int_eq(source_failed_cause(s[i].source), FAILED_WORKER);
		ck_assert_int_eq(source_is_at_fault(s[i].source), i == 1);
	}
	/* read by a new worker, while sources of the old one still exist */
	again = start("a", false);
	ck_assert_uint_ne(worker_of(&again), pid);
	for (unsigned i = 0; i < 3; i++)
		stop(&s[i]);
	stop(&again);
	source_wait_for_workers();
}
END_TEST

/*
 * More commands than its socket can hold, and the worker takes none: the parent does not block, and gives it up in
 * time.
 */
START_TEST(test_takes_no_commands)
{
	struct session *s = g_new0(struct session, MANY);
	const struct event *ev;
	bool hangs = false;
	uint64_t ts;

	set_up();
	for (unsigned i = 0; i < MANY; i++)
		s[i] = start("deaf", false);
	watch_all(s, MANY);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(source_peek(s[i].source, &ev), LT_AGAIN);
	for (unsigned i = 0; i < MANY / 2; i++)
		stop(&s[i]);
	while (!hangs) {
		hangs = source_hangs(s[MANY - 1].source, HANG_MS);
		usleep(10000);
	}
	source_kill(s[MANY - 1].source, "it hangs");
	for (unsigned i = MANY / 2; i < MANY; i++) {
		ck_assert_int_eq(await(&s[i], &ts), LT_ERROR);
		ck_assert_ptr_nonnull(strstr(error_text(), "was ended: it hangs"));
		stop(&s[i]);
	}
	source_wait_for_workers();
	g_free(s);
}
END_TEST

/* A session that cannot be passed to the worker breaks off alone. */
START_TEST(test_cannot_be_passed)
{
	char *long_name = g_strnfill(JOB_URL_MAX, 'x');
	struct session a, b, c;
	uint64_t pid, ts;

	set_up();
	a = start("a", false);
	pid = worker_of(&a);
	b = start(long_name, false);
	ck_assert_int_eq(await(&b, &ts), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "its name is too long"));
	ck_assert(!source_is_at_fault(b.source));
	ck_assert_int_eq(await(&b, &ts), LT_ERROR);
	c = start("c", false);
	ck_assert_uint_eq(worker_of(&c), pid);
	stop(&b);
	/* one of the other two is stopped: the last one continues */
	stop(&c);
	ck_assert_int_eq(await(&a, &ts), LT_OK);
	stop(&a);
	source_wait_for_workers();
	g_free(long_name);
}
END_TEST

/* However many sessions there are, they share the wanted number of workers. */
START_TEST(test_many)
{
	struct session *s = g_new0(struct session, MANY);
	uint64_t pids[2];

	set_up();
	source_set_live_workers(G_N_ELEMENTS(pids));
	for (unsigned i = 0; i < MANY; i++)
		s[i] = start("a", false);
	watch_all(s, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		const uint64_t pid = worker_of(&s[i]);

		if (i < G_N_ELEMENTS(pids))
			pids[i] = pid;
		else
			ck_assert_uint_eq(pid, pids[i % G_N_ELEMENTS(pids)]);
	}
	ck_assert_uint_ne(pids[0], pids[1]);
	for (unsigned i = 0; i < MANY; i++)
		stop(&s[i]);
	source_wait_for_workers();
	g_free(s);
}
END_TEST

/* A worker that is gone is not looked at again: it cannot be said to hang. */
START_TEST(test_gone)
{
	char *argv[] = { (char *)"false", NULL };
	struct crew_worker *w;
	uint64_t looked_ns;
	char *end;

	crew_set_program("/bin/false");
	w = crew_start(argv, NULL, 0);
	ck_assert_ptr_nonnull(w);
	looked_ns = crew_look(w, 0)->now_ns;
	while (!crew_is_gone(w))
		usleep(1000);
	ck_assert_uint_eq(crew_look(w, 0)->now_ns, looked_ns);
	end = crew_describe_end(w);
	ck_assert_str_eq(end, "died: exit status 1");
	g_free(end);
	crew_leave(w, 0);
}
END_TEST

int main(int argc, char **argv)
{
	static const TTest *tests[6];

	if (argc > 3 && strcmp(argv[1], "--worker") == 0 && strcmp(argv[3], JOB_RELAYDS) == 0)
		return fake_worker(atoi(argv[2]));
	tests[0] = test_shared;
	tests[1] = test_crash;
	tests[2] = test_takes_no_commands;
	tests[3] = test_cannot_be_passed;
	tests[4] = test_many;
	tests[5] = test_gone;
	return unit_run("crew", NULL, NULL, tests, 6);
}
