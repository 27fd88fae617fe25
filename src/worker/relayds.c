/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/relayds.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "reader/native/live.h"
#include "source/recall.h"
#include "source/source.h"
#include "worker/command.h"
#include "worker/end.h"
#include "worker/list.h"

enum {
	BEAT_MS = 250,     /* longest time between two heartbeats of a source */
	STEPS_AT_ONCE = 8, /* of one source, some hundred records each, before the others' turn */
	HEARD_AT_ONCE = 64,
	COMMANDS_AT_ONCE = 64,
};

/*
 * A descriptor in the epoll set. The set identifies a task by its number, not its address: as long as the parent still
 * holds the same connection, it remains in the set for a moment after it was closed here, and must not wake a task
 * then.
 */
struct waker {
	uint64_t name; /* see name_of(); 0: the commands */
	int fd;
	uint32_t events; /* 0: not in the set */
};

/* A session that is read, or a list of sessions. */
struct task {
	uint32_t number;
	struct ring_producer ring;
	struct native_live *live; /* either this or the list */
	struct worker_list *list;
	struct waker relayd, room;
	int64_t due_us; /* monotonic: its next step, unless something wakes it */
	bool is_ready;  /* its next step is due now */
	/* The result for its last record, which may have to wait for room. */
	bool is_over;
	enum lt_status status;
	enum failed_cause cause;
	char *reason;
};

struct relayds {
	int commands_fd;
	int epoll_fd;
	GPtrArray *tasks;  /* struct task * */
	struct recall log; /* of the latest data; not open: none is kept */
};

/* ---- tasks ---- */

/* Tasks are numbered from 1. */
static uint64_t name_of(uint32_t number, bool is_room)
{
	return (uint64_t)number << 1 | is_room;
}

static struct task *find_task(const struct relayds *r, uint64_t name)
{
	for (guint i = 0; i < r->tasks->len; i++) {
		struct task *t = g_ptr_array_index(r->tasks, i);

		if (t->number == name >> 1)
			return t;
	}
	return NULL;
}

static void set_waker(const struct relayds *r, struct waker *w, uint32_t events)
{
	struct epoll_event event = { .events = events, .data = { .u64 = w->name } };

	if (events == w->events)
		return;
	epoll_ctl(r->epoll_fd, !events ? EPOLL_CTL_DEL : w->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &event);
	w->events = events;
}

static void task_free(gpointer data)
{
	struct task *t = data;

	native_live_destroy(t->live);
	worker_list_destroy(t->list);
	ring_producer_release(&t->ring);
	g_free(t->reason);
	g_free(t);
}

/* The connection then belongs to the task. */
static enum lt_status open_task(struct task *t, struct worker_command *command)
{
	struct viewer_options options = {
		.fd = command->fds[JOB_CONNECTION],
		.id = command->head.session,
		.from_start = command->head.from_start,
		.timeout_ms = command->head.timeout_ms,
	};
	struct source_url url;
	enum lt_status status = source_parse_url(command->url, &url);

	if (status == LT_OK) {
		command->fds[JOB_CONNECTION] = -1;
		options.target = url.target;
		options.session = url.session;
		if (command->head.kind == JOB_LIST)
			t->list = worker_list_create(&options, url.relay, command->head.every_ms, &t->ring);
		else
			t->live = native_live_create(&options, command->head.stall_ms, command->url, command->fields,
						     &t->ring);
	}
	source_url_release(&url);
	return status;
}

static const struct viewer *viewer_of(const struct task *t)
{
	return t->live ? native_live_viewer(t->live) : worker_list_viewer(t->list);
}

/* LT_ERROR: the parent's side of its ring is unusable. */
static enum lt_status start_task(struct relayds *r, struct worker_command *command)
{
	const struct ring_fds fds = { command->fds[JOB_MEMORY], command->fds[JOB_WAKE] };
	struct task *t = g_new0(struct task, 1);

	command->fds[JOB_MEMORY] = command->fds[JOB_WAKE] = -1;
	t->number = command->head.number;
	if (ring_producer_open(&t->ring, fds) != LT_OK || open_task(t, command) != LT_OK) {
		task_free(t);
		return LT_ERROR;
	}
	t->relayd = (struct waker){ .name = name_of(t->number, false), .fd = viewer_fd(viewer_of(t)) };
	if (t->live && r->log.shared)
		native_live_recall(t->live, &r->log);
	t->room = (struct waker){ .name = name_of(t->number, true), .fd = t->ring.fds.wake };
	t->is_ready = true;
	set_waker(r, &t->room, EPOLLIN);
	g_ptr_array_add(r->tasks, t);
	return LT_OK;
}

static void stop_task(struct relayds *r, uint32_t number)
{
	for (guint i = 0; i < r->tasks->len; i++)
		if (((struct task *)g_ptr_array_index(r->tasks, i))->number == number) {
			g_ptr_array_remove_index_fast(r->tasks, i);
			return;
		}
}

/* ---- commands ---- */

static void want_fields(const struct relayds *r, const struct worker_command *command)
{
	struct task *t = find_task(r, name_of(command->head.number, false));

	if (!t || !t->live)
		return;
	native_live_want(t->live, command->fields, command->head.wanted);
	t->is_ready = true;
}

static enum lt_status take_command(struct relayds *r)
{
	struct worker_command command;
	enum lt_status status = worker_take_command(r->commands_fd, &command);

	if (status != LT_OK)
		return status;
	if (command.head.kind == JOB_STOP)
		stop_task(r, command.head.number);
	else if (command.head.kind == JOB_WANT)
		want_fields(r, &command);
	else
		status = start_task(r, &command);
	worker_command_release(&command);
	return status;
}

/* ---- reading ---- */

static void set_over(struct relayds *r, struct task *t, enum lt_status status, enum failed_cause cause)
{
	t->is_over = true;
	t->status = status;
	t->cause = cause;
	t->reason = g_strdup(error_text());
	set_waker(r, &t->relayd, 0);
}

/* false: the task is finished. */
static bool report_end(struct task *t)
{
	if (!ring_has_room(&t->ring))
		return true;
	error_set("%s", t->reason);
	worker_say_end(&t->ring, t->status, t->cause);
	return false;
}

static void wait_for_relayd(const struct relayds *r, struct task *t)
{
	const bool is_stuck = t->list && worker_list_is_full(t->list);

	set_waker(r, &t->relayd, is_stuck ? 0 : viewer_events(viewer_of(t)));
	t->due_us = is_stuck ? INT64_MAX : t->live ? native_live_due_us(t->live) : worker_list_due_us(t->list);
}

/* Runs its share of a round; false: the task is finished. */
static bool run_task(struct relayds *r, struct task *t)
{
	enum failed_cause cause = FAILED_OTHER;
	enum lt_status status = LT_OK;

	t->is_ready = false;
	t->due_us = INT64_MAX;
	if (t->is_over)
		return report_end(t);
	error_clear();
	ring_set_at_work(&t->ring, true);
	for (unsigned i = 0; i < STEPS_AT_ONCE && status == LT_OK; i++)
		status = t->live ? native_live_step(t->live, &cause) : worker_list_step(t->list, &cause);
	ring_set_at_work(&t->ring, false);
	if (status == LT_OK) {
		t->is_ready = true;
	} else if (status == LT_AGAIN) {
		wait_for_relayd(r, t);
	} else {
		set_over(r, t, status, cause);
		return report_end(t);
	}
	return true;
}

/* Waits until something wakes a task or until until_us, when the first one is due. LT_OK: there may be commands. */
static enum lt_status wait_for_any(struct relayds *r, int64_t until_us)
{
	const int64_t left_us = until_us - g_get_monotonic_time();
	struct epoll_event events[HEARD_AT_ONCE];
	const int n = epoll_wait(r->epoll_fd, events, HEARD_AT_ONCE,
				 (int)CLAMP((left_us + US_PER_MS - 1) / US_PER_MS, 0, BEAT_MS));
	enum lt_status status = LT_AGAIN;

	for (int i = 0; i < n; i++) {
		const uint64_t name = events[i].data.u64;
		struct task *t = find_task(r, name);

		if (!name)
			status = LT_OK;
		if (!t)
			continue;
		t->is_ready = true;
		if (name == t->room.name)
			ring_room_woken(&t->ring);
	}
	return status;
}

/* Runs the tasks whose turn it is; returns when the next one is due. */
static int64_t run_round(struct relayds *r)
{
	const int64_t now_us = g_get_monotonic_time();
	int64_t next_us = INT64_MAX;

	for (guint i = r->tasks->len; i-- > 0;) {
		struct task *t = g_ptr_array_index(r->tasks, i);

		if ((t->is_ready || t->due_us <= now_us) && !run_task(r, t))
			g_ptr_array_remove_index_fast(r->tasks, i);
		else
			next_us = MIN(next_us, t->is_ready ? now_us : t->due_us);
	}
	return next_us;
}

static void beat_all(const struct relayds *r)
{
	for (guint i = 0; i < r->tasks->len; i++) {
		struct task *t = g_ptr_array_index(r->tasks, i);

		ring_beat(&t->ring);
		if (t->live)
			native_live_keep_recalled(t->live);
	}
}

static void run(struct relayds *r)
{
	enum lt_status status = LT_OK;
	int64_t beat_us = 0;

	while (status == LT_OK || status == LT_AGAIN) {
		const int64_t next_us = run_round(r), now_us = g_get_monotonic_time();

		if (now_us >= beat_us) {
			beat_all(r);
			beat_us = now_us + BEAT_MS * US_PER_MS;
		}
		status = wait_for_any(r, next_us);
		for (unsigned i = 0; i < COMMANDS_AT_ONCE && status == LT_OK; i++)
			status = take_command(r);
	}
	if (status == LT_ERROR)
		fprintf(stderr, "%s\n", error_text());
}

void worker_relayds(int commands_fd, int log_fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct relayds r = {
		.commands_fd = commands_fd,
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.tasks = g_ptr_array_new_with_free_func(task_free),
	};

	if (log_fd >= 0 && recall_open(&r.log, log_fd, true) != LT_OK)
		fprintf(stderr, "%s\n", error_text());
	if (r.epoll_fd >= 0 && epoll_ctl(r.epoll_fd, EPOLL_CTL_ADD, commands_fd, &event) == 0)
		run(&r);
	else
		fprintf(stderr, "cannot wait for commands: %s\n", strerror(errno));
	g_ptr_array_free(r.tasks, TRUE);
	recall_close(&r.log);
	close(r.epoll_fd);
}
