/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: duration, errors, and the file each worked on. */
#include "files.h"

#include "model/look.h"

static uint64_t error_count(struct events *e, const char *name, uint64_t error)
{
	const struct state_table *t = &e->m->state.tables[TABLE_SYSERR];
	uint64_t n = 0;

	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;) {
		const struct syserr_row *r = STATE_ROW(&e->m->state, SYSERR, syserr, row);

		if (r->name == strpool_intern_z(name) && r->error == error)
			n += r->count;
	}
	return n;
}

START_TEST(test_call_is_timed)
{
	struct events e;

	begin(&e);
	SYSCALL_ENTRY(&e, 2000, 0, TID, "getpid", .fd = 0);
	ck_assert_str_eq(strpool_text((strid)events_thread(&e, TID)->syscall), "getpid");
	ck_assert_uint_eq(events_thread(&e, TID)->syscall_ns, 2000);
	SYSCALL_EXIT(&e, 2040, 0, TID, "getpid", .ret = 7);
	SYSCALL_ENTRY(&e, 2100, 0, TID, "getpid", .fd = 0);
	SYSCALL_EXIT(&e, 2110, 0, TID, "getpid", .ret = 7);
	ck_assert_uint_eq(events_thread(&e, TID)->syscall, STRID_NONE);
	ck_assert_int_eq((int64_t)events_thread(&e, TID)->syscall_fd, -1);
	ck_assert_uint_eq(events_thread(&e, TID)->syscalls, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->count, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.count, 2);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.sum, 50);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.max_at, 2040);
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->errors, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_thread_shows_fd_of_its_call)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "read", .fd = 5);
	ck_assert_int_eq((int64_t)events_thread(&e, TID)->syscall_fd, 5);
	events_release(&e);
}
END_TEST

START_TEST(test_errors_are_counted)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/a", -ENOENT);
	OPEN(&e, TID, "/b", -ENOENT);
	OPEN(&e, TID, "/c", -EACCES);
	OPEN(&e, TID, "/d", 3);
	CALL(&e, TID, "mmap", INT64_C(-4096), .fd = -1); /* an address, not an error */
	ck_assert_uint_eq(call_stats(&e, TID, "openat")->count, 4);
	ck_assert_uint_eq(call_stats(&e, TID, "openat")->errors, 3);
	ck_assert_uint_eq(error_count(&e, "openat", ENOENT), 2);
	ck_assert_uint_eq(error_count(&e, "openat", EACCES), 1);
	ck_assert_uint_eq(call_stats(&e, TID, "mmap")->errors, 0);
	events_release(&e);
}
END_TEST

START_TEST(test_exit_without_entry_has_no_duration)
{
	struct events e;

	begin(&e);
	EXIT(&e, TID, "pause", .ret = -4);
	ck_assert_uint_eq(call_stats(&e, TID, "pause")->count, 1);
	ck_assert_uint_eq(call_stats(&e, TID, "pause")->time.count, 0);
	ck_assert_uint_eq(events_thread(&e, TID)->syscalls, 1);
	/* nor is it timed by another call's entry */
	ENTRY(&e, TID, "read", .fd = 1);
	EXIT(&e, TID, "write", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "write")->time.count, 0);
	ck_assert_ptr_null(call_stats(&e, TID, "read"));
	EXIT(&e, TID, "read", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.count, 0);
	/* nor by an entry whose exit has already come */
	CALL(&e, TID, "read", 4, .fd = 1);
	EXIT(&e, TID, "read", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.count, 1);
	events_release(&e);
}
END_TEST

/* A call that creates a thread returns twice, but was made once: by the parent. */
START_TEST(test_birth_is_not_a_call_of_the_child)
{
	static const char *const calls[] = { "clone", "clone3", "fork", "vfork" };
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
		EXIT(&e, TID, calls[i], .ret = 0);
		ck_assert_ptr_null(call_stats(&e, TID, calls[i]));
		/* the parent's, whose entry was not seen */
		EXIT(&e, TID, calls[i], .ret = 100 + i);
		ck_assert_uint_eq(call_stats(&e, TID, calls[i])->count, 1);
		/* and one that was */
		CALL(&e, TID, calls[i], 200 + i, .fd = -1);
		ck_assert_uint_eq(call_stats(&e, TID, calls[i])->count, 2);
		ck_assert_uint_eq(call_stats(&e, TID, calls[i])->time.count, 1);
	}
	ck_assert_uint_eq(events_thread(&e, TID)->syscalls, 2 * G_N_ELEMENTS(calls));
	events_release(&e);
}
END_TEST

/* CPU lost events until end_ns; the record of that comes at t. */
static void lose(struct events *e, uint64_t t, uint16_t cpu, uint64_t end_ns)
{
	struct ev_lost p = { .events = 1, .end_ns = end_ns };
	struct record r;

	record_init(&r, t, cpu, EVENT_NO_TID, EVENT_LOST);
	events_apply(e, &r, &p, sizeof(p));
}

/* How many of the thread's calls of read() have a duration. */
static uint64_t n_timed(struct events *e)
{
	return call_stats(e, TID, "read")->time.count;
}

/* Its exit, and the entry of a later call of that name, may be among them: then its file is another, too. */
START_TEST(test_call_across_a_loss)
{
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/a", 3);
	ENTRY(&e, TID, "read", .fd = 3);
	lose(&e, now + 5, 0, now + 5);
	EXIT(&e, TID, "read", .ret = 100);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->count, 1);
	ck_assert_uint_eq(n_timed(&e), 0);
	ck_assert_uint_eq(model_look_entered(e.m, TID), now);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 0);
	ck_assert_uint_eq(events_thread(&e, TID)->read_other, 100);
	/* the next one begins where the loss ends */
	lose(&e, now + 10, 0, now + 10);
	CALL(&e, TID, "read", 5, .fd = 3);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.sum, 10);
	ck_assert_uint_eq(model_look_entered(e.m, TID), now - 10);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 5);
	ENTRY(&e, TID, "openat", .fd = AT_FDCWD, .path = str(&rec, "/b"));
	lose(&e, now + 5, 0, now + 5);
	EXIT(&e, TID, "openat", .ret = 4);
	ck_assert_uint_eq(file(&e, TID, 4)->path, STRID_NONE);
	events_release(&e);
}
END_TEST

/* Of the CPUs on which the thread ran during the call: not of others, nor of those it was on before. */
START_TEST(test_call_across_losses_of_several_cpus)
{
	static const struct {
		uint16_t cpu;
		bool timed;
	} cases[] = { { 0, false }, { 1, false }, { 2, false }, { 3, true }, { 4, true }, { EVENT_NO_CPU, false } };

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct events e;

		begin(&e);
		events_switch(&e, 1010, 0, TID, 1, 0, "");
		events_switch(&e, 1020, 4, 0, 0, TID, "seven");
		events_switch(&e, 1030, 4, TID, 1, 0, "");
		events_switch(&e, 1040, 0, 0, 0, TID, "seven");
		SYSCALL_ENTRY(&e, 1100, 0, TID, "read", .fd = 3);
		events_switch(&e, 1200, 0, TID, 1, 0, "");
		events_switch(&e, 1300, 1, 0, 0, TID, "seven");
		events_switch(&e, 1400, 1, TID, 1, 0, "");
		events_switch(&e, 1500, 2, 0, 0, TID, "seven");
		lose(&e, 1600, cases[i].cpu, 1600);
		SYSCALL_EXIT(&e, 1700, 2, TID, "read", .ret = 1);
		ck_assert_msg(n_timed(&e) == cases[i].timed, "CPU %u", cases[i].cpu);
		ck_assert_uint_eq(model_look_entered(e.m, TID), cases[i].timed ? 1100 : 1700);
		events_release(&e);
	}
}
END_TEST

/* A thread that moved where no switch was seen: the events show where it ran. */
START_TEST(test_call_that_moved_unseen)
{
	struct events e;

	begin(&e);
	SYSCALL_ENTRY(&e, 1100, 0, TID, "read", .fd = 3);
	lose(&e, 1200, 1, 1200);
	SYSCALL_EXIT(&e, 1300, 1, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 0);
	SYSCALL_ENTRY(&e, 1400, 1, TID, "read", .fd = 3);
	lose(&e, 1500, 1, 1500);
	SYSCALL_EXIT(&e, 1600, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 0);
	lose(&e, 1700, 1, 1700);
	SYSCALL_ENTRY(&e, 1800, 0, TID, "read", .fd = 3);
	SYSCALL_EXIT(&e, 1900, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 1);
	events_release(&e);
}
END_TEST

/*
 * The last loss of a recording's stream is known before it is over, that of a live one only then: what ends until then
 * is as if nothing were known of it, and earlier losses count meanwhile.
 */
START_TEST(test_loss_that_is_known_early)
{
	struct events e;

	begin(&e);
	SYSCALL_ENTRY(&e, 1100, 0, TID, "read", .fd = 3);
	lose(&e, 1150, 0, 1500);
	SYSCALL_EXIT(&e, 1200, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 1);
	SYSCALL_ENTRY(&e, 1210, 0, TID, "read", .fd = 3);
	lose(&e, 1220, 0, 1220);
	SYSCALL_EXIT(&e, 1230, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 1);
	SYSCALL_ENTRY(&e, 1400, 0, TID, "read", .fd = 3);
	SYSCALL_EXIT(&e, 1500, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 1);
	SYSCALL_ENTRY(&e, 1510, 0, TID, "read", .fd = 3);
	SYSCALL_EXIT(&e, 1520, 0, TID, "read", .ret = 1);
	ck_assert_uint_eq(n_timed(&e), 2);
	events_release(&e);
}
END_TEST

/* Entries before another exit, or the end of what was recorded, are not those of the last exit. */
START_TEST(test_entries_that_cannot_be_of_the_exit)
{
	struct events e;

	begin(&e);
	ck_assert_uint_eq(model_look_entered(e.m, TID), 0);
	EXIT(&e, TID, "read", .ret = 1);
	ck_assert_uint_eq(model_look_entered(e.m, TID), 0);
	EXIT(&e, TID, "write", .ret = 1);
	EXIT(&e, TID, "read", .ret = 1);
	ck_assert_uint_eq(model_look_entered(e.m, TID), now - 10);
	model_interrupt(e.m, now += 10);
	EXIT(&e, TID, "read", .ret = 1);
	ck_assert_uint_eq(model_look_entered(e.m, TID), now - 10);
	ck_assert_uint_eq(model_look_entered(e.m, 999), 0);
	events_release(&e);
}
END_TEST

/* Events that programs' own traces lost are no calls, wake-ups or switches. */
START_TEST(test_call_across_a_loss_of_a_user_trace)
{
	struct ev_lost lost = { .events = 3 };
	struct record r;
	struct events e;

	begin(&e);
	events_trace(&e, 1, DOMAIN_UST);
	ENTRY(&e, TID, "openat", .fd = AT_FDCWD, .path = str(&rec, "/b"));
	record_init(&r, now += 10, 0, EVENT_NO_TID, EVENT_LOST);
	lost.end_ns = now;
	r.ev.trace = 1;
	events_apply(&e, &r, &lost, sizeof(lost));
	EXIT(&e, TID, "openat", .ret = 4);
	ck_assert_uint_eq(call_stats(&e, TID, "openat")->time.count, 1);
	ck_assert_str_eq(strpool_text((strid)file(&e, TID, 4)->path), "/b");
	ck_assert(!(events_thread(&e, TID)->flags & THREAD_UNSURE));
	ck_assert_uint_eq(HOST_ROW(e.m)->lost_events, 3);
	events_release(&e);
}
END_TEST

START_TEST(test_entry_without_exit_is_dropped)
{
	struct events e;

	begin(&e);
	ENTRY(&e, TID, "rt_sigreturn", .fd = 0);
	ENTRY(&e, TID, "getpid", .fd = 0);
	EXIT(&e, TID, "getpid", .ret = 7);
	ck_assert_ptr_null(call_stats(&e, TID, "rt_sigreturn"));
	ck_assert_uint_eq(call_stats(&e, TID, "getpid")->time.sum, 10);
	events_release(&e);
}
END_TEST

/* Old tracers: one exit event for all calls, without a name. */
START_TEST(test_nameless_exit_is_of_the_call_in_flight)
{
	struct ev_syscall_entry in = { .nr = -1, .fd = 3 };
	struct ev_syscall_exit out = { .nr = -1, .ret = 12 };
	struct events e;
	struct record r;

	begin(&e);
	e.present = 0xff & ~1u; /* no number */
	record_init(&r, 2000, 0, TID, EVENT_SYSCALL_ENTRY);
	events_call(&e, &r, "sys_", "read", &in, sizeof(in));
	record_init(&r, 2030, 0, TID, EVENT_SYSCALL_EXIT);
	events_call(&e, &r, "exit_", "syscall", &out, sizeof(out));
	ck_assert_uint_eq(call_stats(&e, TID, "read")->time.sum, 30);
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 12);
	events_release(&e);
}
END_TEST

static void unknown_call(struct events *e, int64_t nr, int64_t ret, struct ev_syscall_entry in)
{
	struct ev_syscall_exit out = { .nr = nr, .ret = ret };
	struct record r;

	in.nr = nr;
	record_init(&r, now += 10, 0, TID, EVENT_SYSCALL_ENTRY);
	events_call(e, &r, "syscall_entry_", "unknown", &in, sizeof(in));
	record_init(&r, now += 10, 0, TID, EVENT_SYSCALL_EXIT);
	events_call(e, &r, "syscall_exit_", "unknown", &out, sizeof(out));
}

/* syscall_entry_unknown: the number identifies the call, and the rest comes from its raw arguments. */
START_TEST(test_unknown_call_is_known_by_number)
{
	enum { NR_CLOSE_RANGE = 436, NR_COPY_FILE_RANGE = 326 };
	struct events e;

	begin(&e);
	CALL(&e, TID, "fadvise64", -EBADF, .fd = 9); /* a call of that name is only in the tracer's table for x86-64 */
	OPEN(&e, TID, "/in", 3);
	OPEN(&e, TID, "/out", 4);
	OPEN(&e, TID, "/more", 5);
	unknown_call(&e, NR_COPY_FILE_RANGE, 90, (struct ev_syscall_entry){ .args = { 3, 0, 0xdead00000004, 0, 100 } });
	ck_assert_uint_eq(file(&e, TID, 3)->read_bytes, 90);
	ck_assert_uint_eq(file(&e, TID, 4)->write_bytes, 90);
	ck_assert_uint_eq(call_stats(&e, TID, "copy_file_range")->time.count, 1);
	unknown_call(&e, NR_CLOSE_RANGE, 0, (struct ev_syscall_entry){ .args = { 4, UINT32_MAX, 0 } });
	ck_assert(is_open(&e, TID, 3));
	ck_assert(!is_open(&e, TID, 4));
	ck_assert(!is_open(&e, TID, 5));
	/* an unknown number is not an index */
	unknown_call(&e, INT64_C(1) << 40, 0, (struct ev_syscall_entry){ .fd = 0 });
	ck_assert_uint_eq(call_stats(&e, TID, "unknown")->count, 1);
	events_release(&e);
}
END_TEST

/* Other machines have other numbers, except for those of newer calls. */
START_TEST(test_unknown_call_of_another_machine)
{
	enum { NR_CLOSE = 3, NR_CLOSE_RANGE = 436 };
	struct events e;

	begin(&e);
	OPEN(&e, TID, "/in", 3);
	OPEN(&e, TID, "/more", 5);
	unknown_call(&e, NR_CLOSE, 0, (struct ev_syscall_entry){ .args = { 3 } });
	ck_assert(is_open(&e, TID, 3));
	ck_assert_uint_eq(call_stats(&e, TID, "unknown")->time.count, 1);
	ck_assert_ptr_null(call_stats(&e, TID, "close"));
	ck_assert_ptr_null(model_look_call_name(e.m, NR_CLOSE, false));
	unknown_call(&e, NR_CLOSE_RANGE, 0, (struct ev_syscall_entry){ .args = { 4, UINT32_MAX, 0 } });
	ck_assert(!is_open(&e, TID, 5));
	ck_assert_uint_eq(call_stats(&e, TID, "close_range")->time.count, 1);
	ck_assert_str_eq(model_look_call_name(e.m, NR_CLOSE_RANGE, false), "close_range");
	events_release(&e);
}
END_TEST

START_TEST(test_statistics_end_with_the_thread)
{
	const struct state_table *t;
	struct events e;

	begin(&e);
	t = &e.m->state.tables[TABLE_SYSCALL];
	fork_to(&e, TID, CHILD, CHILD);
	CALL(&e, CHILD, "read", -EBADF, .fd = 9);
	CALL(&e, CHILD, "write", 1, .fd = 1);
	CALL(&e, TID, "read", 1, .fd = 0);
	ck_assert_uint_eq(t->n_alive, 3);
	die(&e, CHILD);
	ck_assert_uint_eq(t->n_ended, 2);
	ck_assert_uint_eq(e.m->state.tables[TABLE_SYSERR].n_ended, 1);
	state_reap(&e.m->state, NULL, NULL);
	/* the next thread with the same rows starts from nothing */
	fork_to(&e, TID, CHILD, CHILD);
	CALL(&e, CHILD, "read", -EBADF, .fd = 9);
	ck_assert_uint_eq(call_stats(&e, CHILD, "read")->count, 1);
	ck_assert_uint_eq(error_count(&e, "read", EBADF), 1);
	CALL(&e, TID, "write", 1, .fd = 1);
	ck_assert_uint_eq(call_stats(&e, TID, "read")->count, 1);
	die(&e, CHILD);
	ck_assert_uint_eq(t->n_ended, 1);
	events_release(&e);
}
END_TEST

UNIT_MAIN("syscalls", test_call_is_timed, test_thread_shows_fd_of_its_call, test_errors_are_counted,
	  test_exit_without_entry_has_no_duration, test_birth_is_not_a_call_of_the_child,
	  test_entry_without_exit_is_dropped, test_nameless_exit_is_of_the_call_in_flight,
	  test_unknown_call_is_known_by_number, test_unknown_call_of_another_machine,
	  test_statistics_end_with_the_thread, test_call_across_a_loss, test_call_across_losses_of_several_cpus,
	  test_call_that_moved_unseen, test_loss_that_is_known_early, test_entries_that_cannot_be_of_the_exit,
	  test_call_across_a_loss_of_a_user_trace)
