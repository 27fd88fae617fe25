/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/nstime.h"
#include "base/text.h"
#include "event/fields.h"
#include "source/arguments.h"
#include "source/crew.h"
#include "source/recall.h"
#include "source/recall_pool.h"
#include "source/ring.h"
#include "viewer/dial.h"

enum {
	FAREWELL_MS = 2 * MS_PER_S,        /* a worker that has written its last record has this long to exit */
	LOOKS = 20,                        /* at its progress, before it counts as hung: each costs some system calls */
	LOOK_EVERY_MS = 500,               /* longest time between two looks */
	RELAYD_TIMEOUT_MS = 10 * MS_PER_S, /* the default of source_spec.timeout_ms */
	OFFER_AGAIN_MS = 20,               /* retry interval while a worker does not accept its command */
};

/*
 * What wakes the waiter for a source: the dial, the time to offer it to its worker again, the ring, the worker's output
 * and its end. None of these is shared by several sources: the kernel allows only 50 to 100 nested epoll sets to watch
 * the same open file.
 */
enum wake { WAKE_DIAL, WAKE_OFFER, WAKE_RING, WAKE_WORDS, WAKE_EXIT, WAKES };

enum source_state { SOURCE_RUNS, SOURCE_ENDED, SOURCE_BROKEN };

struct source {
	const struct source_spec *spec;
	struct source_spec *own_spec; /* for source_start_list(), else NULL */
	char *fields;                 /* wanted: source_spec.fields, or a later request */
	struct ring_consumer ring;
	enum source_state state;
	struct dial *dial;   /* the relayd is being connected; NULL: a worker reads */
	unsigned timeout_ms; /* of the relayd */
	int connection;      /* to the relayd, to be passed to the worker; -1: there is none */
	int offer_fd;        /* a timer for offering the source again; -1: it was accepted at once */
	struct crew_worker *worker;
	int exit_fd;        /* for a shared worker; -1: not supported by this kernel, or the worker is not shared */
	uint32_t number;    /* a shared worker's number for it; 0: the worker is not shared */
	struct pulse pulse; /* of the worker, while the ring is empty */
	char hangs[48];     /* how, if it does */
	int epoll_fd;       /* watches all of enum wake */
	bool waits;         /* source_peek() has returned LT_AGAIN */
	char *reason;       /* SOURCE_BROKEN: the reason */
	enum failed_cause cause;
	bool is_at_fault; /* FAILED_WORKER: caused by the worker's handling of this source, not of another one */
};

static const char *reader = JOB_ANY_READER;
static uint32_t last_number;

void source_set_worker_program(const char *program)
{
	crew_set_program(program);
}

void source_set_live_workers(unsigned n)
{
	crew_set_most(n);
}

void source_set_recall(uint64_t bytes)
{
	recall_pool_set_bytes(bytes);
}

void source_set_reader(const char *name)
{
	reader = name;
}

/* ---- starting ---- */

static enum lt_status watch(struct source *s, enum wake wake, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = wake } };

	if (s->epoll_fd >= 0 && (fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0))
		return LT_OK;
	return error_set("cannot watch a worker: %s", error_of_errno(errno));
}

/* For a worker that is not shared. */
static enum lt_status watch_worker(struct source *s)
{
	if (watch(s, WAKE_RING, s->ring.fds.wake) != LT_OK || watch(s, WAKE_WORDS, s->worker->child.words_fd) != LT_OK)
		return LT_ERROR;
	return watch(s, WAKE_EXIT, s->worker->child.exit_fd);
}

/* For a shared worker, whose output is read by crew_look(). */
static enum lt_status watch_shared_worker(struct source *s)
{
	s->exit_fd = child_open_exit(&s->worker->child);
	if (s->exit_fd < 0 && s->worker->child.exit_fd >= 0)
		return error_set("cannot watch a worker: %s", error_of_errno(errno));
	return watch(s, WAKE_RING, s->ring.fds.wake) == LT_OK ? watch(s, WAKE_EXIT, s->exit_fd) : LT_ERROR;
}

static enum lt_status start_worker(struct source *s, unsigned part, unsigned parts)
{
	const int fds[] = { s->ring.fds.memory, s->ring.producer_wake, s->spec->recalled.log_fd };
	const unsigned n = s->spec->recalled.log_fd ? 3 : 2;
	char **argv = worker_arguments(s->spec, s->fields, reader, part, parts);

	s->worker = s->spec->is_growing ? crew_start_steered(argv, fds, n) : crew_start(argv, fds, n);
	g_strfreev(argv);
	ring_give_away(&s->ring);
	return s->worker ? watch_worker(s) : LT_ERROR;
}

/* The parent connects to the relayd, because workers cannot make connections. */
static enum lt_status start_dialing(struct source *s)
{
	struct source_url url;
	enum lt_status status = source_parse_url(s->spec->url, &url);

	if (status == LT_OK) {
		s->timeout_ms = s->spec->timeout_ms ? s->spec->timeout_ms : RELAYD_TIMEOUT_MS;
		s->dial = dial_create(url.family, url.host, url.port, s->timeout_ms);
		status = s->dial ? watch(s, WAKE_DIAL, dial_fd(s->dial)) : LT_ERROR;
		s->waits = true;
	}
	source_url_release(&url);
	return status;
}

static enum lt_status start(struct source *s, const struct source_spec *spec, unsigned part, unsigned parts,
			    struct source **out)
{
	enum lt_status status;

	s->spec = spec;
	s->fields = g_strdup(spec->fields ? spec->fields : JOB_NO_FIELDS);
	s->connection = s->offer_fd = s->exit_fd = -1;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	status = ring_create(&s->ring, spec->url ? RING_LIVE_CAPACITY : RING_CAPACITY);
	if (status == LT_OK)
		status = spec->url ? start_dialing(s) : start_worker(s, part, parts);
	if (status != LT_OK) {
		error_wrap("reading '%s'", spec->name);
		source_stop(s);
		return LT_ERROR;
	}
	*out = s;
	return LT_OK;
}

enum lt_status source_start(const struct source_spec *spec, unsigned part, unsigned parts, struct source **out)
{
	return start(g_new0(struct source, 1), spec, part, parts, out);
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
	return start(s, spec, 0, 1, out);
}

/* ---- ending ---- */

static enum lt_status broken(struct source *s)
{
	return error_set("%s", s->reason);
}

/* The source returns no more records; takes ownership of reason. */
static enum lt_status break_off(struct source *s, enum failed_cause cause, char *reason)
{
	s->state = SOURCE_BROKEN;
	s->cause = cause;
	s->reason = reason;
	return broken(s);
}

/* The reason is in the error chain. The name may be so long that it would leave no room for that. */
static enum lt_status break_off_reading(struct source *s, enum failed_cause cause)
{
	char name[256];

	text_sanitise(name, sizeof(name), s->spec->name, strlen(s->spec->name));
	return break_off(s, cause, g_strdup_printf("reading '%s': %s", name, error_text()));
}

static enum lt_status report_death(struct source *s)
{
	char *how = crew_describe_end(s->worker), *reason = g_strdup_printf("worker for '%s' %s", s->spec->name, how);

	g_free(how);
	s->is_at_fault = ring_was_at_work(&s->ring);
	return break_off(s, FAILED_WORKER, reason);
}

/* The worker misbehaves, so nothing else that it reads can be trusted either. */
static enum lt_status report_nonsense(struct source *s, const char *wrong)
{
	crew_end(s->worker, "it wrote nonsense");
	s->is_at_fault = true;
	return break_off(s, FAILED_WORKER, g_strdup_printf("worker for '%s' wrote nonsense: %s", s->spec->name, wrong));
}

static enum lt_status report_failure(struct source *s, const struct event *ev)
{
	const struct ev_failed *failed = event_payload(ev, ev_failed);
	const enum failed_cause cause = failed->cause < FAILED_WORKER ? failed->cause : FAILED_OTHER;
	char reason[1024];

	text_sanitise(reason, sizeof(reason), event_text(ev, failed->text), failed->text.len);
	if (cause == FAILED_OVERLAP) /* it names directories itself */
		return break_off(s, cause, g_strdup(reason));
	return break_off(s, cause, g_strdup_printf("reading '%s': %s", s->spec->name, reason));
}

/* Retries later, because the worker does not accept the source yet. */
static enum lt_status offer_again(struct source *s)
{
	const struct timespec every = { .tv_nsec = OFFER_AGAIN_MS * NS_PER_MS };
	const struct itimerspec timer = { .it_value = every, .it_interval = every };
	uint64_t times;

	if (s->offer_fd >= 0) {
		(void)!read(s->offer_fd, &times, sizeof(times));
		return LT_AGAIN;
	}
	s->offer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->offer_fd < 0 || timerfd_settime(s->offer_fd, 0, &timer, NULL) < 0)
		return error_set("cannot wait for a worker: %s", error_of_errno(errno));
	return watch(s, WAKE_OFFER, s->offer_fd) == LT_OK ? LT_AGAIN : LT_ERROR;
}

/*
 * Connected: from here on a worker reads, as soon as it accepts the command. LT_AGAIN: not yet. LT_ERROR: it cannot be
 * passed on, which is the fault of neither the worker nor its other sources.
 */
static enum lt_status hand_over(struct source *s)
{
	const struct job_command command = {
		.kind = s->own_spec ? JOB_LIST : JOB_LIVE,
		.number = s->number,
		.timeout_ms = s->timeout_ms,
		.stall_ms = s->spec->stall_ms,
		.from_start = s->spec->from_start,
		.every_ms = s->spec->every_ms,
		.session = s->spec->session_id,
	};
	const int fds[JOB_FDS] = {
		[JOB_MEMORY] = s->ring.fds.memory,
		[JOB_WAKE] = s->ring.producer_wake,
		[JOB_CONNECTION] = s->connection,
	};
	enum lt_status status = crew_give(s->worker, &command, s->spec->url, s->fields, fds);

	if (status != LT_OK)
		return status == LT_AGAIN ? offer_again(s) : status;
	close_fd(&s->offer_fd);
	close_fd(&s->connection);
	ring_give_away(&s->ring);
	return LT_OK;
}

static enum lt_status join_crew(struct source *s)
{
	const uint64_t session = fields_name_id(s->spec->url);

	s->worker = crew_join(s->spec->alone, recall_pool_home(session));
	s->number = ++last_number;
	if (!s->worker)
		return LT_ERROR;
	if (!s->own_spec)
		recall_pool_set_home(session, s->worker->log);
	return watch_shared_worker(s);
}

/* LT_OK: there is a worker, and .connection for it. LT_AGAIN: not yet. LT_ERROR: the source is broken. */
static enum lt_status go_on_dialing(struct source *s)
{
	enum failed_cause cause = FAILED_UNREACHABLE;
	enum lt_status status = dial_next(s->dial, &s->connection);

	if (status == LT_AGAIN)
		return status;
	dial_destroy(s->dial);
	s->dial = NULL;
	if (status == LT_OK) {
		cause = FAILED_WORKER;
		status = join_crew(s);
	}
	if (status == LT_OK)
		return LT_OK;
	return break_off_reading(s, cause);
}

/*
 * Handles what has come since the ring was found empty; descriptors that are not readable are not touched. LT_ERROR:
 * the source is broken.
 */
static enum lt_status wake_up(struct source *s)
{
	struct epoll_event events[WAKES];
	const int n = epoll_wait(s->epoll_fd, events, WAKES, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.u32 == WAKE_RING)
			ring_woken(&s->ring);
		else if (events[i].data.u32 == WAKE_WORDS)
			crew_hear(s->worker);
		else if (events[i].data.u32 == WAKE_EXIT)
			crew_is_gone(s->worker);
	}
	if (s->worker->deaf && s->worker->child.exit_fd >= 0)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->worker->child.words_fd, NULL);
	if (s->worker->child.exit_fd < 0 || s->worker->sentence)
		crew_is_gone(s->worker);
	if (s->worker->gone)
		ring_inherit(&s->ring);
	else if (s->connection >= 0 && hand_over(s) == LT_ERROR)
		return break_off_reading(s, FAILED_WORKER);
	return LT_OK;
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
	if (s->dial && (status = go_on_dialing(s)) != LT_OK)
		return status;
	if (s->waits && wake_up(s) != LT_OK)
		return LT_ERROR;
	status = ring_peek(&s->ring, ev, &wrong);
	s->waits = status == LT_AGAIN;
	if (status == LT_AGAIN)
		return s->worker->gone ? report_death(s) : LT_AGAIN;
	if (status != LT_OK)
		return report_nonsense(s, wrong);
	if ((*ev)->kind == EVENT_FAILED)
		return report_failure(s, *ev);
	if ((*ev)->kind == EVENT_END) {
		s->state = SOURCE_ENDED;
		return LT_END;
	}
	return LT_OK;
}

bool source_is_at_fault(const struct source *s)
{
	return s->is_at_fault;
}

enum failed_cause source_failed_cause(const struct source *s)
{
	return s->cause;
}

bool source_want_fields(struct source *s, const char *fields, uint32_t number)
{
	g_free(s->fields);
	s->fields = g_strdup(fields);
	/* not passed to its worker yet, or the worker does not take commands */
	if (!s->worker || s->connection >= 0 || s->worker->commands_fd < 0)
		return false;
	crew_want(s->worker, s->number, fields, number);
	return true;
}

void source_read_rest(struct source *s)
{
	if (s->worker)
		crew_read_rest(s->worker, s->number);
}

char *source_text(const struct event *ev, struct event_str str)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), event_text(ev, str), str.len);
	return g_strdup(text);
}

void source_next(struct source *s)
{
	ring_next(&s->ring);
}

enum lt_status source_take(struct source *s, const struct event **ev, const struct event **end)
{
	const enum lt_status status = source_peek(s, ev);

	if (status == LT_OK)
		*end = ring_next_all(&s->ring);
	return status;
}

int source_fd(const struct source *s)
{
	return s->epoll_fd;
}

uint64_t source_time_ns(const struct source *s)
{
	return ring_time_ns(&s->ring);
}

const struct source_spec *source_spec(const struct source *s)
{
	return s->spec;
}

struct source_recalled source_recalled(const struct source *s)
{
	if (!s->worker || !s->number || s->worker->log < 0)
		return (struct source_recalled){ 0 };
	return (struct source_recalled){ .log_fd = recall_pool_reading_fd(s->worker->log),
					 .source = fields_name_id(s->spec->url) };
}

void source_recalled_specs(const struct source_spec *live, struct source_recalled recalled, GPtrArray *specs)
{
	uint64_t traces[SOURCE_RECALLED_MAX];
	const unsigned n = recall_traces(recalled.log_fd, recalled.source, traces, SOURCE_RECALLED_MAX);

	for (unsigned i = 0; i < n; i++) {
		struct source_spec *spec = source_spec_copy(live);

		g_clear_pointer(&spec->url, g_free);
		spec->session_id = 0;
		spec->recalled = recalled;
		spec->recalled.trace = traces[i];
		/* the whole log, which is not known by trace, counts once */
		spec->extent.bytes = i ? 0 : recall_used(recalled.log_fd);
		g_ptr_array_add(specs, spec);
	}
}

void source_forget_session(const char *url)
{
	recall_pool_forget_home(fields_name_id(url));
}

const char *source_hangs(struct source *s, unsigned limit_ms)
{
	const unsigned look_every_ms = MIN(limit_ms / LOOKS, LOOK_EVERY_MS);
	struct pulse_look look;

	if (s->dial)
		return NULL;
	if (s->state != SOURCE_RUNS || !ring_is_empty(&s->ring)) {
		s->pulse = (struct pulse){ 0 };
		return NULL;
	}
	look = *crew_look(s->worker, look_every_ms);
	if (look.now_ns == s->pulse.last.now_ns)
		return NULL;
	look.beat_ns = ring_beat_ns(&s->ring);
	switch (pulse_feel(&s->pulse, &look, limit_ms)) {
	case PULSE_BLOCKED:
		g_snprintf(s->hangs, sizeof(s->hangs), "no heartbeat for %g s", limit_ms / 1e3);
		return s->hangs;
	case PULSE_SPINS:
		g_snprintf(s->hangs, sizeof(s->hangs), "no progress in %g s of CPU time", PULSE_SPIN * limit_ms / 1e3);
		return s->hangs;
	default:
		return NULL;
	}
}

void source_accuse(struct source *s, const char *wrong)
{
	if (s->state == SOURCE_RUNS)
		report_nonsense(s, wrong);
}

void source_kill(struct source *s, const char *reason)
{
	if (s->state != SOURCE_RUNS)
		return;
	if (s->worker)
		crew_end(s->worker, reason);
	else
		break_off(s, FAILED_WORKER, g_strdup_printf("reading '%s': %s", s->spec->name, reason));
}

void source_stop(struct source *s)
{
	if (!s)
		return;
	dial_destroy(s->dial);
	if (s->connection < 0 && s->worker && s->number && s->state != SOURCE_ENDED)
		crew_take_back(s->worker, s->number);
	crew_leave(s->worker, s->state == SOURCE_ENDED ? FAREWELL_MS : 0);
	close_fd(&s->connection);
	close_fd(&s->offer_fd);
	close_fd(&s->exit_fd);
	close_fd(&s->epoll_fd);
	ring_consumer_release(&s->ring);
	g_free(s->reason);
	g_free(s->fields);
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
