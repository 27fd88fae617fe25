/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads waited for. A wait lasts from the switch that took a thread off its CPU blocked to the wake-up (without
 * one: to the switch-in). It is counted at its full length when it ends, by the call the thread was in, the file of
 * that call and the kind of thing that ended it.
 */
#include <inttypes.h>

#include "model/fifos.h"
#include "model/files.h"
#include "model/parts_internal.h"
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

/* Clients use a new port for each connection: an accepted socket is named without it. */
static strid name_of_file(const struct file_row *file)
{
	return (strid)(file->client ? file->client : file->path ? file->path : file->peer);
}

uint64_t call_futex(const struct call_in_flight *call)
{
	const bool is_futex = call->active && call->desc && call->desc->action == SYSCALL_FUTEX;

	return is_futex && call->present >> ENTRY_ARG & 1 ? call->arg : 0;
}

strid futex_name(uint64_t address)
{
	char text[sizeof("0x0123456789abcdef")];

	if (!address)
		return STRID_NONE;
	return strpool_intern_path(text, (size_t)g_snprintf(text, sizeof(text), "0x%" PRIx64, address));
}

/* What a wait is counted by: the keys of its row. */
struct wait {
	uint64_t thread_uid;
	enum wait_state state;
	strid call;
	int64_t fd;
	strid object;
};

static bool is_row_of(const struct blocking_row *r, const struct wait *w)
{
	return r->thread_uid == w->thread_uid && r->state == w->state && r->syscall == w->call &&
	       (int64_t)r->fd == w->fd && r->object == w->object;
}

static void find_row(struct model *m, const struct wait *w, struct recent_hint *hint)
{
	struct blocking_row *r;
	uint64_t key;
	bool made;

	if (recent_knows(m, m->blocking, hint) && is_row_of(BLOCKING_ROW(m, hint->row), w))
		return;
	key = map64_mix(map64_mix(w->thread_uid, w->state), (uint64_t)w->call << 32 | w->object);
	hint->row = recent_row(m, m->blocking, map64_mix(key, (uint64_t)w->fd), &made);
	r = BLOCKING_ROW(m, hint->row);
	hint->uid = r->uid;
	if (made) {
		r->thread_uid = w->thread_uid;
		r->state = w->state;
		r->syscall = w->call;
		r->fd = (uint64_t)w->fd;
		r->object = w->object;
	}
}

/* What the call waits for: call, fd, file_uid and object, or futex of the memo. */
static struct wait_memo describe(struct model *m, uint32_t thread, enum wait_state state)
{
	const struct call_in_flight *call = &thread_info(m, thread)->call;
	struct wait_memo memo = { .state = state, .fd = -1 };
	strid path, fifo;
	uint32_t file;

	if (!call->active)
		return memo;
	memo.call = call->name;
	if (call->fd >= 0 && call->desc && call->desc->action != SYSCALL_WAIT_ANY) {
		memo.fd = call->fd;
		memo.file_uid = call->file.uid;
		file = memo.file_uid ? files_resolve(m, call->file) : NO_ROW;
		/* a socket has no peer until connect() has succeeded, or a packet has shown it */
		memo.object = call->peer ? call->peer : file != NO_ROW ? name_of_file(FILE_ROW(m, file)) : STRID_NONE;
	} else {
		memo.futex = call_futex(call);
	}
	path = syscalls_path(m, thread);
	/* until somebody opens its other end */
	if (path && call->desc && call->desc->action == SYSCALL_OPEN && (fifo = fifos_opened(m, thread, call)))
		path = fifo;
	if (path) {
		/* its fd, if it has one, is a directory */
		memo.fd = -1;
		memo.file_uid = 0;
		memo.object = path;
	}
	return memo;
}

static bool is_same(const struct model *m, const struct wait_memo *a, const struct wait_memo *b)
{
	return a->state == b->state && a->call == b->call && a->fd == b->fd && a->file_uid == b->file_uid &&
	       a->object == b->object && a->futex == b->futex && recent_knows(m, m->blocking, &b->row);
}

/* Moves the memo of a wait like this one to the front, creating it if needed. Returns the row. */
static uint32_t recall(struct model *m, const struct thread_row *t, struct thread *info, struct wait_memo this)
{
	struct wait_memo *memo = info->waited;
	struct wait w = { t->uid, (enum wait_state)this.state, this.call, this.fd, this.object };

	if (is_same(m, &this, &memo[0]))
		return memo[0].row.row;
	if (is_same(m, &this, &memo[1])) {
		this.row = memo[1].row;
	} else {
		if (this.futex)
			w.object = futex_name(this.futex);
		this.row = memo[0].row;
		find_row(m, &w, &this.row);
	}
	memo[1] = memo[0];
	memo[0] = this;
	return this.row.row;
}

void blocking_wait_ended(struct model *m, uint32_t thread, enum wait_state state, strid cause)
{
	const struct thread_row *t = THREAD_ROW(m, thread);
	struct thread *info = thread_info(m, thread);
	const uint64_t ns = m->now_ns > t->since_ns ? m->now_ns - t->since_ns : 0;
	struct blocking_row *r;
	uint32_t row;

	if (!m->blocking)
		return;
	row = recall(m, t, info, describe(m, thread, state));
	r = BLOCKING_ROW(m, row);
	recent_again(m, m->blocking, row);
	r->cause = cause;
	/* it has no buckets: there are too many rows */
	dist_add(&r->time, ns, m->now_ns);
	if (m->log_dist == bucket_dist(TABLE_BLOCKING, CELL(blocking, time.count)))
		model_log_instance(m, TABLE_BLOCKING, row, ns, thread, cause);
}
