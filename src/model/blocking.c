/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads waited for. A wait is from the switch that took a thread off
 * its CPU blocked to the wake-up (without one: to the switch-in), and is counted
 * with its whole length when it ends, by the call it was in, the file of that
 * call and what kind of thing ended it.
 */
#include "model/files.h"
#include "model/recent.h"

enum { ROWS_MAX = 8192 };

#define BLOCKING_ROW(m, row) STATE_ROW(&(m)->state, BLOCKING, blocking, row)

void blocking_create(struct model *m)
{
	m->blocking = g_new0(struct recent, 1);
	recent_init(m->blocking, TABLE_BLOCKING, ROWS_MAX);
}

void blocking_destroy(struct model *m)
{
	recent_release(m->blocking);
	g_free(m->blocking);
	m->blocking = NULL;
}

/* Clients of a server come from ever new ports: what a socket was accepted from counts without it. */
static strid name_of_file(const struct file_row *file)
{
	return (strid)(file->client ? file->client : file->path ? file->path : file->peer);
}

/* What a wait is counted under: the keys of its row. */
struct wait {
	uint64_t thread_uid;
	enum wait_state state;
	strid call;
	int64_t fd;
	strid object;
};

static struct wait describe(const struct model *m, const struct thread_row *t, const struct call_in_flight *call,
			    enum wait_state state)
{
	struct wait w = { .thread_uid = t->uid, .state = state, .fd = -1 };
	uint32_t file;

	if (!call->active)
		return w;
	w.call = call->name;
	if (!call->desc || call->desc->action == SYSCALL_WAIT_ANY || call->fd < 0)
		return w;
	w.fd = call->fd;
	file = files_resolve(m, call->file);
	if (file != NO_ROW)
		w.object = name_of_file(FILE_ROW(m, file));
	return w;
}

static bool is_row_of(const struct blocking_row *r, const struct wait *w)
{
	return r->thread_uid == w->thread_uid && r->state == w->state && r->syscall == w->call &&
	       (int64_t)r->fd == w->fd && r->object == w->object;
}

static struct blocking_row *row_of(struct model *m, const struct wait *w, struct recent_hint *hint)
{
	struct blocking_row *r;
	uint64_t key;
	bool made;

	if (recent_knows(m, m->blocking, hint) && is_row_of(BLOCKING_ROW(m, hint->row), w)) {
		recent_again(m, m->blocking, hint->row);
		return BLOCKING_ROW(m, hint->row);
	}
	key = recent_mix(recent_mix(w->thread_uid, w->state), (uint64_t)w->call << 32 | w->object);
	hint->row = recent_row(m, m->blocking, recent_mix(key, (uint64_t)w->fd), &made);
	r = BLOCKING_ROW(m, hint->row);
	hint->uid = r->uid;
	if (made) {
		r->thread_uid = w->thread_uid;
		r->state = w->state;
		r->syscall = w->call;
		r->fd = (uint64_t)w->fd;
		r->object = w->object;
	}
	return r;
}

void blocking_wait_ended(struct model *m, uint32_t thread, enum wait_state state, strid cause)
{
	const struct thread_row *t = THREAD_ROW(m, thread);
	struct thread *info = thread_info(m, thread);
	const struct wait w = describe(m, t, &info->call, state);
	struct blocking_row *r = row_of(m, &w, &info->blocking);

	r->cause = cause;
	dist_add(&r->time, m->now_ns > t->since_ns ? m->now_ns - t->since_ns : 0, m->now_ns);
}
