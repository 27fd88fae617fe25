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

/* The file a call waits for, NO_ROW: none, or one of several. */
static uint32_t waited_file(const struct model *m, const struct call_in_flight *call)
{
	return call->fd < 0 ? NO_ROW : files_resolve(m, call->file);
}

/* Clients of a server come from ever new ports: what a socket was accepted from counts without it. */
static strid name_of_file(const struct file_row *file)
{
	return (strid)(file->client ? file->client : file->path ? file->path : file->peer);
}

void blocking_wait_ended(struct model *m, uint32_t thread, enum wait_state state, strid cause)
{
	const struct thread_row *t = THREAD_ROW(m, thread);
	const struct call_in_flight *call = &thread_info(m, thread)->call;
	uint64_t waited_ns = m->now_ns > t->since_ns ? m->now_ns - t->since_ns : 0;
	uint32_t file = NO_ROW, row;
	strid name = STRID_NONE, object = STRID_NONE;
	struct blocking_row *r;
	int64_t fd = -1;
	uint64_t key;
	bool made;

	if (call->active) {
		name = call->name;
		if (call->desc && call->desc->action != SYSCALL_WAIT_ANY) {
			fd = call->fd >= 0 ? call->fd : -1;
			file = waited_file(m, call);
		}
	}
	if (file != NO_ROW)
		object = name_of_file(FILE_ROW(m, file));
	key = recent_mix(recent_mix(recent_mix(t->uid, state), (uint64_t)name << 32 | object), (uint64_t)fd);
	row = recent_use(m, m->blocking, key, &made);
	r = BLOCKING_ROW(m, row);
	if (made) {
		r->thread_uid = t->uid;
		r->state = state;
		r->syscall = name;
		r->fd = (uint64_t)fd;
		r->object = object;
	}
	r->count++;
	r->total_ns += waited_ns;
	if (waited_ns >= r->max_ns) {
		r->max_ns = waited_ns;
		r->max_at = m->now_ns;
	}
	r->cause = cause;
}
