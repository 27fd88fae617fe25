/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_FILES_H
#define LT_UNIT_FILES_H

/*
 * Threads that make system calls, for the tests of model/{syscalls,files,fdcalls,fdkind,io}.c: a thread gets a CPU of
 * its own, calls enter and return 10 ns apart, and the state of an fd is looked up afterwards.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "events.h"
#include "model/files.h"

enum { TID = 7, CHILD = 8, CLONE_FILES_FLAG = 0x400 };

/* Process 7 with a single thread on CPU 0 and a known pid. */
static uint64_t now;

static inline void begin(struct events *e)
{
	events_init(e);
	now = 1000;
	events_switch(e, now, 0, 0, 0, TID, "seven");
	events_thread(e, TID)->pid = TID;
}

/* ---- making calls ---- */

#define ENTRY(e, tid, name, ...) SYSCALL_ENTRY(e, now += 10, cpu_of(e, tid), tid, name, __VA_ARGS__)
#define EXIT(e, tid, name, ...) SYSCALL_EXIT(e, now += 10, cpu_of(e, tid), tid, name, __VA_ARGS__)

/* Every thread in these tests has its own CPU. */
static inline unsigned cpu_of(struct events *e, int64_t tid)
{
	unsigned cpu = (unsigned)(tid - TID);

	if (thread_find(e->m, tid) == NO_ROW || events_thread(e, tid)->state != THREAD_RUNNING)
		events_switch(e, now, cpu, 0, 0, tid, "");
	return cpu;
}

/* A call with its arguments and its result. */
#define CALL(e, tid, name, result, ...)              \
	do {                                         \
		ENTRY(e, tid, name, __VA_ARGS__);    \
		EXIT(e, tid, name, .ret = (result)); \
	} while (0)

#define OPEN(e, tid, file, result, ...) \
	CALL(e, tid, "openat", result, .fd = AT_FDCWD, .path = str(&rec, file), __VA_ARGS__)

static inline void fork_to(struct events *e, int64_t parent, int64_t child, int64_t child_pid)
{
	EVENT(e, now += 10, cpu_of(e, parent), parent, FORK, new_task, .parent_tid = parent,
	      .parent_pid = (int64_t)events_thread(e, parent)->pid, .child_tid = child, .child_pid = child_pid);
}

/* The thread exits and is switched out for the last time. */
static inline void die(struct events *e, int64_t tid)
{
	unsigned cpu = cpu_of(e, tid);

	EVENT(e, now += 10, cpu, tid, EXIT, task, .tid = tid);
	EVENT(e, now += 10, cpu, tid, FREE, task, .tid = tid);
}

/* ---- examining the state ---- */

static inline uint32_t life(struct events *e, int64_t tid, int64_t fd)
{
	struct fd_table *t = thread_info(e->m, thread_find(e->m, tid))->files;

	return t ? files_find(e->m, t, fd) : NO_ROW;
}

static inline bool is_open(struct events *e, int64_t tid, int64_t fd)
{
	return life(e, tid, fd) != NO_ROW;
}

static inline struct file_row *file(struct events *e, int64_t tid, int64_t fd)
{
	uint32_t row = life(e, tid, fd);

	ck_assert_msg(row != NO_ROW, "fd %d of %d is not open", (int)fd, (int)tid);
	return FILE_ROW(e->m, row);
}

static inline const char *path(struct events *e, int64_t tid, int64_t fd)
{
	return strpool_text((strid)file(e, tid, fd)->path);
}

static inline const char *kind(struct events *e, int64_t tid, int64_t fd)
{
	return fd_kind_name((enum fd_kind)file(e, tid, fd)->kind);
}

static inline const struct host_row *host(struct events *e)
{
	return HOST_ROW(e->m);
}

static inline const struct syscall_row *call_stats(struct events *e, int64_t tid, const char *name)
{
	const struct state_table *t = &e->m->state.tables[TABLE_SYSCALL];

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		const struct syscall_row *r = STATE_ROW(&e->m->state, SYSCALL, syscall, row);

		if (r->thread_uid == events_thread(e, tid)->uid && r->name == strpool_intern_z(name))
			return r;
	}
	return NULL;
}

/* ---- the state dump ---- */

#define DUMP_PROCESS(e, in_tid, in_pid, table) \
	EVENT(e, now += 10, 0, TID, DUMP_PROCESS, dump_process, .tid = in_tid, .pid = in_pid, .file_table = table)
#define DUMP_FD(e, table, number, mode, bits, name)                                                                    \
	EVENT(e, now += 10, 0, TID, DUMP_FD, dump_fd, .file_table = table, .fd = number, .flags = bits, .fmode = mode, \
	      .filename = str(&rec, name))

#endif
