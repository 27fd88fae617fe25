/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named pipes: what shows that a path is a fifo's, and who meets there. */
#include "files.h"

#include <sys/stat.h>

#include "model/fifos.h"
#include "model/interval.h"

enum { OTHER = 9, SEEKABLE = 0x1f };

#define SEEK(e, tid, number, result) CALL(e, tid, "lseek", result, .fd = number)
#define MKNOD(e, tid, name, type, result) \
	CALL(e, tid, "mknodat", result, .fd = AT_FDCWD, .path = str(&rec, name), .cmd = (type) | 0644)
#define UNLINK(e, tid, name, result) CALL(e, tid, "unlinkat", result, .fd = AT_FDCWD, .path = str(&rec, name))

/* The kind of a file that is opened now. */
static const char *kind_of(struct events *e, int64_t tid, const char *name)
{
	OPEN(e, tid, name, 40, .flags = 0);
	return kind(e, tid, 40);
}

START_TEST(test_made)
{
	struct events e;

	begin(&e);
	MKNOD(&e, TID, "/run/f", S_IFIFO, -EEXIST);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "file");
	MKNOD(&e, TID, "/run/f", S_IFSOCK, 0);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "file");
	UNLINK(&e, TID, "/run/f", 0);
	MKNOD(&e, TID, "/run/f", S_IFIFO, 0);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "fifo");
	ck_assert_str_eq(kind_of(&e, CHILD, "//run/./f"), "fifo");
	ck_assert_str_eq(kind_of(&e, TID, "/run/f2"), "file");
	ck_assert_str_eq(kind_of(&e, TID, "f"), "file");
	CALL(&e, TID, "chdir", 0, .path = str(&rec, "/run"));
	ck_assert_str_eq(kind_of(&e, TID, "f"), "fifo");
	UNLINK(&e, TID, "f", -EPERM);
	ck_assert_str_eq(kind_of(&e, TID, "f"), "fifo");
	UNLINK(&e, TID, "f", 0);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "file");
	OPEN(&e, TID, "/run", 5, .flags = O_DIRECTORY);
	CALL(&e, TID, "mknodat", 0, .fd = 5, .path = str(&rec, "g"), .cmd = S_IFIFO);
	ck_assert_str_eq(kind_of(&e, TID, "/run/g"), "fifo");
	CALL(&e, TID, "rename", 0, .path = str(&rec, "/run/g"));
	ck_assert_str_eq(kind_of(&e, TID, "/run/g"), "file");
	events_release(&e);
}
END_TEST

START_TEST(test_unseekable)
{
	static const char *const others[] = { "/dev/tty", "/proc/kmsg", "/sys/kernel/tracing/trace_pipe",
					      "/root/dev/tty" };
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/run/f", 3, .flags = 0);
	OPEN(&e, CHILD, "/run/f", 4, .flags = O_WRONLY);
	OPEN(&e, TID, "/run/g", 5, .flags = 0);
	SEEK(&e, TID, 3, -EINVAL);
	ck_assert_str_eq(kind(&e, TID, 3), "file");
	SEEK(&e, TID, 3, -ESPIPE);
	ck_assert_str_eq(kind(&e, TID, 3), "fifo");
	ck_assert_str_eq(kind(&e, CHILD, 4), "fifo"); /* opened earlier */
	ck_assert_str_eq(kind(&e, TID, 5), "file");
	ck_assert_str_eq(kind_of(&e, CHILD, "/run/f"), "fifo");
	CALL(&e, TID, "pread64", -ESPIPE, .fd = 5, .arg = 10);
	ck_assert_str_eq(kind(&e, TID, 5), "fifo");
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		OPEN(&e, TID, others[i], 6, .flags = 0);
		SEEK(&e, TID, 6, -ESPIPE);
		ck_assert_str_ne(kind(&e, TID, 6), "fifo");
	}
	OPEN(&e, TID, "relative", 7, .flags = 0);
	OPEN(&e, CHILD, "relative", 8, .flags = 0); /* in another directory, for all one knows */
	SEEK(&e, TID, 7, -ESPIPE);
	ck_assert_str_eq(kind(&e, TID, 7), "fifo");
	ck_assert_str_eq(kind(&e, CHILD, 8), "file");
	SEEK(&e, TID, 99, -ESPIPE);
	ck_assert(!is_open(&e, TID, 99));
	events_release(&e);
}
END_TEST

/* The same path in another PID namespace may be another file. */
START_TEST(test_places)
{
	struct events e;

	begin(&e);
	events_thread(&e, TID)->pid_ns = HOST_PID_NS;
	cpu_of(&e, CHILD);
	events_thread(&e, CHILD)->pid_ns = 4026532000;
	MKNOD(&e, TID, "/run/f", S_IFIFO, 0);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "fifo");
	ck_assert_str_eq(kind_of(&e, CHILD, "/run/f"), "file");
	SEEK(&e, CHILD, 40, -ESPIPE);
	ck_assert_str_eq(kind(&e, CHILD, 40), "fifo");
	ck_assert_uint_ne(file(&e, CHILD, 40)->channel, file(&e, TID, 40)->channel);
	ck_assert_str_eq(kind_of(&e, OTHER, "/run/f"), "fifo"); /* on the host, as far as is known */
	ck_assert_uint_eq(file(&e, OTHER, 40)->channel, file(&e, TID, 40)->channel);
	events_release(&e);
}
END_TEST

START_TEST(test_dumped)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/run/initctl", 3, .flags = 0);
	OPEN(&e, TID, "/run/file", 4, .flags = 0);
	EVENT(&e, now += 10, 0, TID, DUMP_FD, dump_fd, .pid = TID, .fd = 3, .fmode = 0x2e0003,
	      .filename = str(&rec, "/run/initctl"));
	EVENT(&e, now += 10, 0, TID, DUMP_FD, dump_fd, .pid = TID, .fd = 4, .fmode = SEEKABLE,
	      .filename = str(&rec, "/run/file"));
	ck_assert_str_eq(kind(&e, TID, 3), "fifo");
	ck_assert_str_eq(kind(&e, TID, 4), "file");
	ck_assert_str_eq(kind_of(&e, CHILD, "/run/initctl"), "fifo");
	events_release(&e);
}
END_TEST

static const struct relation_row *relation(struct events *e)
{
	const struct state_table *t = &e->m->state.tables[TABLE_RELATION];
	const uint32_t row = state_next(t, NO_ROW);

	ck_assert_uint_eq(t->n_alive, 1);
	return STATE_ROW(&e->m->state, RELATION, relation, row);
}

/* Opening waits for the other end; what is written arrives there; the next fifo of that name is another. */
START_TEST(test_meeting)
{
	const struct relation_row *r;
	const struct blocking_row *b;
	struct events e;

	begin(&e);
	cpu_of(&e, CHILD);
	events_thread(&e, CHILD)->pid = CHILD;
	MKNOD(&e, TID, "/run/f", S_IFIFO, 0);
	CALL(&e, CHILD, "chdir", 0, .path = str(&rec, "/run"));
	ENTRY(&e, TID, "openat", .fd = AT_FDCWD, .path = str(&rec, "/run/f"), .flags = O_WRONLY);
	events_switch(&e, now += 10, 0, TID, 1, 0, "");
	ENTRY(&e, CHILD, "openat", .fd = AT_FDCWD, .path = str(&rec, "f"));
	EVENT(&e, now += 10, 1, CHILD, SCHED_WAKING, wakeup, .tid = TID);
	EXIT(&e, CHILD, "openat", .ret = 3);
	events_switch(&e, now += 10, 0, 0, 0, TID, "seven");
	EXIT(&e, TID, "openat", .ret = 4);
	r = relation(&e);
	ck_assert_uint_eq(r->kind, RELATION_PIPE);
	ck_assert_str_eq(strpool_text((strid)r->object), "/run/f");
	ck_assert_uint_eq(r->wait.count, 1);
	ck_assert_uint_eq(r->count, 0);
	b = STATE_ROW(&e.m->state, BLOCKING, blocking, state_next(&e.m->state.tables[TABLE_BLOCKING], NO_ROW));
	ck_assert_str_eq(strpool_text((strid)b->object), "/run/f");
	ck_assert_uint_eq(file(&e, TID, 4)->channel, file(&e, CHILD, 3)->channel);
	UNLINK(&e, TID, "/run/f", 0);
	MKNOD(&e, TID, "/run/f", S_IFIFO, 0);
	ck_assert_str_eq(kind_of(&e, TID, "/run/f"), "fifo");
	ck_assert_uint_ne(file(&e, TID, 40)->channel, file(&e, TID, 4)->channel);
	events_release(&e);
}
END_TEST

/* Whether a file that was opened before its path is seen to be a new fifo's becomes one, too. */
static bool is_looked_for(struct events *e)
{
	static unsigned n;
	char name[32];

	snprintf(name, sizeof(name), "/run/new%u", n++);
	OPEN(e, CHILD, name, 4, .flags = 0);
	OPEN(e, TID, name, 3, .flags = 0);
	SEEK(e, TID, 3, -ESPIPE);
	return strcmp(kind(e, CHILD, 4), "fifo") == 0;
}

START_TEST(test_bounded)
{
	struct events e;
	char name[32];

	begin(&e);
	for (unsigned i = 0; is_looked_for(&e); i++) {
		ck_assert_uint_lt(i, 4096);
		snprintf(name, sizeof(name), "/run/%u", i);
		OPEN(&e, TID, name, 3, .flags = 0);
		SEEK(&e, TID, 3, -ESPIPE);
		ck_assert_str_eq(kind(&e, TID, 3), "fifo");
	}
	ck_assert_uint_eq(e.m->fifos->n, FIFOS_MAX);
	ck_assert_str_eq(kind_of(&e, TID, name), "fifo");
	ck_assert_str_eq(kind_of(&e, TID, "/run/0"), "file");
	/* after enough other events, files that were opened earlier are looked for again */
	for (unsigned i = 0; i < 1000; i++)
		SEEK(&e, TID, 40, 0);
	ck_assert(is_looked_for(&e));
	events_release(&e);
}
END_TEST

UNIT_MAIN("fifos", test_made, test_unseekable, test_places, test_dumped, test_meeting, test_bounded)
