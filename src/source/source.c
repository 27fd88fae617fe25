/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "source/child.h"
#include "source/job.h"
#include "source/pulse.h"
#include "source/ring.h"

enum {
	FAREWELL_MS = 2000,       /* a worker that said its last record has this long to exit by itself */
	DEATH_US = 1000000,       /* one that was killed has this long to die before it counts as dead */
	LOOKS = 20,               /* at its progress, until it counts as hung: each costs some system calls */
	LOOK_EVERY_MS = 500,      /* at least */
};

/* What wakes who waits for a source. */
enum wake { WAKE_RING, WAKE_WORDS, WAKE_EXIT, WAKES };

enum source_state { SOURCE_RUNS, SOURCE_ENDED, SOURCE_BROKEN };

struct source {
	const struct source_spec *spec;
	struct source_spec *own_spec; /* of source_start_list(), else NULL */
	struct ring_consumer ring;
	enum source_state state;
	struct child child;
	struct pulse pulse; /* of the worker, while the ring is empty */
	int epoll_fd;       /* the ring's socket, the worker's words and its end: enum wake */
	bool waits;         /* source_peek() said LT_AGAIN */
	bool deaf;          /* it closed its standard error, and was killed */
	bool gone;          /* it has exited, or does not although it was killed: nothing comes any more */
	char *reason;       /* SOURCE_BROKEN: why */
	enum failed_cause cause;
	char *sentence;     /* why source_kill() was called, NULL */
	gint64 killed_us;   /* and when, monotonic */
};

static const char *worker_program;
static const char *reader = JOB_ANY_READER;

void source_set_worker_program(const char *program)
{
	worker_program = program;
}

void source_set_reader(const char *name)
{
	reader = name;
}

/* ---- starting ---- */

/* What a worker inherits. */
enum { WORKER_MEMORY = CHILD_FIRST_FD, WORKER_WAKE };

static char **make_arguments(const struct source_spec *spec, unsigned part, unsigned parts, const char *job)
{
	GPtrArray *argv = g_ptr_array_new();
	unsigned number;

	g_ptr_array_add(argv, g_strdup("lttngtop"));
	g_ptr_array_add(argv, g_strdup("--worker"));
	g_ptr_array_add(argv, g_strdup_printf("%d", WORKER_MEMORY));
	g_ptr_array_add(argv, g_strdup_printf("%d", WORKER_WAKE));
	g_ptr_array_add(argv, g_strdup(job));
	if (spec->is_growing) {
		g_ptr_array_add(argv, g_strdup(g_ptr_array_index(spec->paths, 0)));
		g_ptr_array_add(argv, g_strdup_printf("%u", spec->timeout_ms));
		g_ptr_array_add(argv, NULL);
		return (char **)g_ptr_array_free(argv, FALSE);
	}
	if (strcmp(job, JOB_RECORDING) != 0) {
		g_ptr_array_add(argv, g_strdup(spec->url));
		g_ptr_array_add(argv, g_strdup_printf("%u", spec->timeout_ms));
		number = strcmp(job, JOB_LIST) == 0 ? spec->every_ms : spec->from_start;
		g_ptr_array_add(argv, g_strdup_printf("%u", number));
		g_ptr_array_add(argv, NULL);
		return (char **)g_ptr_array_free(argv, FALSE);
	}
	g_ptr_array_add(argv, g_strdup(reader));
	g_ptr_array_add(argv, g_strdup_printf("%u", part));
	g_ptr_array_add(argv, g_strdup_printf("%u", parts));
	g_ptr_array_add(argv, g_strdup(spec->name));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->begin_ns));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->end_ns));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->extent.files));
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, spec->extent.bytes));
	for (guint i = 0; i < spec->paths->len; i++)
		g_ptr_array_add(argv, g_strdup(g_ptr_array_index(spec->paths, i)));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

static enum lt_status watch(struct source *s)
{
	const int fds[WAKES] = {
		[WAKE_RING] = s->ring.fds.wake, [WAKE_WORDS] = s->child.words_fd, [WAKE_EXIT] = s->child.exit_fd,
	};

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (uint32_t i = 0; i < WAKES; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = i } };

		if (s->epoll_fd < 0 || (fds[i] >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fds[i], &event) < 0))
			return error_set("cannot watch a worker: %s", strerror(errno));
	}
	return LT_OK;
}

static enum lt_status spawn(struct source *s, unsigned part, unsigned parts, const char *job)
{
	const char *program = worker_program ? worker_program : "/proc/self/exe";
	const int fds[] = { s->ring.fds.memory, s->ring.producer_wake };
	char **argv = make_arguments(s->spec, part, parts, job);
	const enum lt_status status = child_start(&s->child, program, argv, fds, G_N_ELEMENTS(fds));

	g_strfreev(argv);
	return status;
}

static enum lt_status start(struct source *s, const struct source_spec *spec, unsigned part, unsigned parts,
			    const char *job, struct source **out)
{
	s->spec = spec;
	s->child = (struct child){ .exit_fd = -1, .words_fd = -1 };
	s->epoll_fd = -1;
	if (ring_create(&s->ring, spec->url ? RING_LIVE_CAPACITY : RING_CAPACITY) != LT_OK ||
	    spawn(s, part, parts, job) != LT_OK || watch(s) != LT_OK) {
		error_wrap("reading '%s'", spec->name);
		source_stop(s);
		return LT_ERROR;
	}
	*out = s;
	return LT_OK;
}

enum lt_status source_start(const struct source_spec *spec, unsigned part, unsigned parts, struct source **out)
{
	const char *job = spec->url ? JOB_LIVE : spec->is_growing ? JOB_FOLLOW : JOB_RECORDING;

	return start(g_new0(struct source, 1), spec, part, parts, job, out);
}

enum lt_status source_start_list(const char *relay, unsigned timeout_ms, unsigned every_ms, struct source **out)
{
	struct source *s = g_new0(struct source, 1);
	struct source_spec *spec = g_new0(struct source_spec, 1);

	spec->name = g_strdup(relay);
	spec->url = g_strdup(relay);
	spec->timeout_ms = timeout_ms;
	spec->every_ms = every_ms;
	spec->paths = g_ptr_array_new_with_free_func(g_free);
	spec->end_ns = UINT64_MAX;
	s->own_spec = spec;
	return start(s, spec, 0, 1, JOB_LIST, out);
}

/* ---- ending ---- */

static enum lt_status broken(struct source *s)
{
	return error_set("%s", s->reason);
}

/* The source gives nothing any more; reason is taken over. */
static enum lt_status break_off(struct source *s, enum failed_cause cause, char *reason)
{
	child_kill(&s->child);
	s->state = SOURCE_BROKEN;
	s->cause = cause;
	s->reason = reason;
	return broken(s);
}

static enum lt_status report_death(struct source *s)
{
	const int exit_status = s->child.exit_status;
	char words[2 * CHILD_WORDS], how[128];

	if (s->sentence)
		return break_off(s, FAILED_WORKER,
				 g_strdup_printf("worker for '%s' was ended: %s", s->spec->name, s->sentence));
	text_sanitise(words, sizeof(words), s->child.last_words, s->child.last_words_len);
	if (WIFSIGNALED(exit_status))
		g_snprintf(how, sizeof(how), "signal %d (%s)", WTERMSIG(exit_status), strsignal(WTERMSIG(exit_status)));
	else
		g_snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(exit_status));
	return break_off(s, FAILED_WORKER, g_strdup_printf("worker for '%s' died: %s%s%s", s->spec->name, how,
							   *words ? ": " : "", words));
}

static enum lt_status report_failure(struct source *s, const struct event *ev)
{
	const struct ev_failed *failed = event_payload(ev, ev_failed);
	const enum failed_cause cause = failed->cause < FAILED_WORKER ? failed->cause : FAILED_OTHER;
	char reason[1024];

	text_sanitise(reason, sizeof(reason), event_text(ev, failed->text), failed->text.len);
	return break_off(s, cause, g_strdup_printf("reading '%s': %s", s->spec->name, reason));
}

/* What it has said. One that closes its standard error exits, or does what no worker does. */
static void hear_worker(struct source *s)
{
	if (s->deaf || child_hear(&s->child))
		return;
	s->deaf = true;
	if (s->child.exit_fd >= 0)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->child.words_fd, NULL);
	child_kill(&s->child);
}

static void look_for_end(struct source *s)
{
	if (child_exited(&s->child)) {
		hear_worker(s);
		ring_inherit(&s->ring);
		s->gone = true;
	}
}

/* Takes what has come since the ring was found empty; what was not readable is not touched. */
static void wake_up(struct source *s)
{
	struct epoll_event events[WAKES];
	const int n = epoll_wait(s->epoll_fd, events, WAKES, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.u32 == WAKE_RING)
			ring_woken(&s->ring);
		else if (events[i].data.u32 == WAKE_WORDS)
			hear_worker(s);
		else
			look_for_end(s);
	}
	if (s->child.exit_fd < 0)
		look_for_end(s);
	if (s->sentence && g_get_monotonic_time() > s->killed_us + DEATH_US)
		s->gone = true;
}

/* ---- reading ---- */

enum lt_status source_peek(struct source *s, const struct event **ev)
{
	const char *wrong = NULL;
	enum lt_status status;

	if (s->state == SOURCE_BROKEN)
		return broken(s);
	if (s->state == SOURCE_ENDED)
		return LT_END;
	if (s->waits)
		wake_up(s);
	status = ring_peek(&s->ring, ev, &wrong);
	s->waits = status == LT_AGAIN;
	if (status == LT_AGAIN)
		return s->gone ? report_death(s) : LT_AGAIN;
	if (status != LT_OK)
		return break_off(s, FAILED_WORKER,
				 g_strdup_printf("worker for '%s' wrote nonsense: %s", s->spec->name, wrong));
	if ((*ev)->kind == EVENT_FAILED)
		return report_failure(s, *ev);
	if ((*ev)->kind == EVENT_END) {
		s->state = SOURCE_ENDED;
		return LT_END;
	}
	return LT_OK;
}

enum failed_cause source_failed_cause(const struct source *s)
{
	return s->cause;
}

void source_next(struct source *s)
{
	ring_next(&s->ring);
}

int source_fd(const struct source *s)
{
	return s->epoll_fd;
}

const struct source_spec *source_spec(const struct source *s)
{
	return s->spec;
}

bool source_hangs(struct source *s, unsigned limit_ms)
{
	const uint64_t look_every_ms = MIN(limit_ms / LOOKS, LOOK_EVERY_MS);
	struct pulse_look look = { .beat_ns = ring_beat_ns(&s->ring) };
	struct timespec ts;

	if (s->state != SOURCE_RUNS || !ring_is_empty(&s->ring)) {
		s->pulse = (struct pulse){ 0 };
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	look.now_ns = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	if (s->pulse.last.now_ns && look.now_ns - s->pulse.last.now_ns < look_every_ms * 1000000)
		return false;
	pulse_look_at(&look, s->child.pid);
	return pulse_feel(&s->pulse, &look, limit_ms);
}

void source_kill(struct source *s, const char *reason)
{
	if (s->state != SOURCE_RUNS)
		return;
	if (!s->sentence)
		s->sentence = g_strdup(reason);
	s->killed_us = g_get_monotonic_time();
	child_kill(&s->child);
}

void source_stop(struct source *s)
{
	if (!s)
		return;
	child_release(&s->child, s->state == SOURCE_ENDED ? FAREWELL_MS : 0);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	ring_consumer_release(&s->ring);
	g_free(s->reason);
	g_free(s->sentence);
	source_spec_free(s->own_spec);
	g_free(s);
}

unsigned source_reap(void)
{
	return children_reap();
}

void source_wait_for_workers(void)
{
	children_wait(FAREWELL_MS + 500);
}
