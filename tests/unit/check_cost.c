/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The estimated cost of a recording, and the measured one. */
#include "unit.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "control/cost.h"

static struct record_plan *plan(const char *set)
{
	const struct record_request request = { .session = "s", .output = "/nowhere", .live_timer_ns = 1, .set = set };
	struct record_plan *p = record_plan_create(&request);

	ck_assert_msg(p, "%s", error_text());
	return p;
}

static struct cost_estimate estimate(const char *set, const struct cost_part *parts, unsigned n)
{
	struct record_plan *p = plan(set);
	const struct cost_estimate e = cost_of_parts(record_plan_channel(p, RECORD_KERNEL), parts, n);

	record_plan_destroy(p);
	return e;
}

/*
 * Worked out by hand: sched_switch and four events of a task's lifetime, two of them at its exit, each with 8 bytes of
 * header and 24 of contexts.
 */
START_TEST(test_minimal)
{
	const struct cost_part part = { .us = 500000,
					.counts = { [RECORD_COST_SWITCH] = 500,
						    [RECORD_COST_FORK] = 5,
						    [RECORD_COST_EXEC] = 3,
						    [RECORD_COST_EXIT] = 4,
						    [RECORD_COST_IRQ] = 2500,
						    [RECORD_COST_CALL] = 500000 } };
	const struct cost_estimate e = estimate("minimal", &part, 1);

	ck_assert_double_eq_tol(e.events_per_s, 1000 + 10 + 6 + 2 * 8, 1e-6);
	ck_assert_double_eq_tol(e.bytes_per_s, 1000 * (32 + 56) + 32 * (32 + 48), 1e-6);
	ck_assert(!e.calls);
	ck_assert_double_eq_tol(e.least_events_per_s, e.events_per_s, 1e-6);
	ck_assert_double_eq_tol(e.most_events_per_s, e.events_per_s, 1e-6);
}
END_TEST

/* Worked out by hand: 100 switches in 50 ms, none in 50 ms, 20 in 100 ms; a part that took longer weighs more. */
START_TEST(test_parts)
{
	const struct cost_part parts[] = { { .us = 50000, .counts = { [RECORD_COST_SWITCH] = 100 } },
					   { .us = 50000 },
					   { .us = 100000, .counts = { [RECORD_COST_SWITCH] = 20 } } };
	const struct cost_estimate e = estimate("minimal", parts, 3);

	ck_assert_double_eq_tol(e.events_per_s, 600, 1e-6);
	ck_assert_double_eq_tol(e.bytes_per_s, 600 * (32 + 56), 1e-6);
	ck_assert_double_eq_tol(e.least_events_per_s, 0, 1e-6);
	ck_assert_double_eq_tol(e.most_events_per_s, 2000, 1e-6);
}
END_TEST

/*
 * What /proc/stat, /proc/diskstats and /proc/net/dev of recorded machines with two CPUs counted between their
 * snapshots, and how many events of the set babeltrace2 prints in that time.
 */
static const struct {
	const char *recording;
	unsigned interrupts, switches, tasks, softirqs, requests, packets, events;
} recorded[] = {
	{ "disk-io, db", 9452, 7266, 128, 8625, 2038, 81, 58602 },
	{ "disk-io with Linux 6.12, db", 17327, 9524, 127, 15485, 2347, 80, 98443 },
	{ "three-tier, web", 1546, 906, 3, 1393, 89, 228, 8611 },
	{ "three-tier, client", 1645, 923, 16, 1621, 88, 62, 9262 },
	{ "three-tier with Linux 6.12, client", 1939, 1036, 16, 1767, 125, 64, 10419 },
	{ "locks-pipes, web", 3079, 2387, 89, 3237, 125, 0, 18924 },
	{ "web-cold-hot, web", 880, 715, 6, 891, 183, 30, 5655 },
};

/* The estimate of a steady load is met within a tenth, where its counters are those of the same time. */
START_TEST(test_recorded)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(recorded); i++) {
		char *text = g_strdup_printf("cpu  9 9 9\ncpu0 4 4 4\ncpu1 5 5 5\nintr %u 1 2\nctxt %u\nbtime 7\n"
					     "processes %u\nprocs_running 3\nsoftirq %u 1 2\n",
					     recorded[i].interrupts, recorded[i].switches, recorded[i].tasks,
					     recorded[i].softirqs);
		struct cost_part part = { .us = 1000000,
					  .counts = { [RECORD_COST_DISK] = recorded[i].requests,
						      [RECORD_COST_PACKET] = recorded[i].packets / 2 } };
		struct cost_estimate e;

		cost_count_stat(text, part.counts);
		e = estimate("waits", &part, 1);
		ck_assert_msg(fabs(e.events_per_s - recorded[i].events) < 0.1 * recorded[i].events,
			      "%s: %.0f events, recorded are %u", recorded[i].recording, e.events_per_s,
			      recorded[i].events);
		g_free(text);
	}
}
END_TEST

/* One CPU has no migrations; two have some. */
START_TEST(test_one_cpu)
{
	uint64_t one[RECORD_COSTS] = { 0 }, two[RECORD_COSTS] = { 0 };

	cost_count_stat("cpu  1 1\ncpu0 1 1\nctxt 1000\n", one);
	cost_count_stat("cpu  1 1\ncpu0 1 1\ncpu7 1 1\nctxt 1000\n", two);
	ck_assert_uint_eq(one[RECORD_COST_SWITCH], 1000);
	ck_assert_uint_eq(one[RECORD_COST_MIGRATION], 0);
	ck_assert_uint_gt(two[RECORD_COST_MIGRATION], 0);
	ck_assert_uint_lt(two[RECORD_COST_MIGRATION], 100);
}
END_TEST

/* Each set costs as much as the smaller ones, and more. */
START_TEST(test_sets)
{
	struct cost_part part = { .us = 1000000 };
	struct cost_estimate minimal, waits, full;

	for (unsigned i = 0; i < RECORD_COSTS; i++)
		part.counts[i] = 100;
	minimal = estimate("minimal", &part, 1);
	waits = estimate("waits", &part, 1);
	full = estimate("full", &part, 1);
	ck_assert_double_lt(minimal.events_per_s, waits.events_per_s);
	ck_assert_double_lt(waits.events_per_s, full.events_per_s);
	ck_assert_double_lt(waits.bytes_per_s / waits.events_per_s, full.bytes_per_s / full.events_per_s);
	ck_assert(!waits.calls && full.calls);
}
END_TEST

/* Pages and faults, two events each, cost something if requested; nothing else does. */
START_TEST(test_additions)
{
	const struct cost_part part = {
		.us = 1000000,
		.counts = { [RECORD_COST_ALLOC] = 1000, [RECORD_COST_FREE] = 900, [RECORD_COST_FAULT] = 10 }
	};
	const struct cost_estimate without = estimate("minimal", &part, 1), with = estimate("minimal,memory", &part, 1);

	ck_assert_double_eq_tol(without.events_per_s, 0, 1e-6);
	ck_assert_double_eq_tol(with.events_per_s, 1900 + 2 * 10, 1e-6);
	ck_assert_double_eq_tol(with.bytes_per_s, 1900 * (32 + 24) + 2 * 10 * (32 + 17), 1e-6);
}
END_TEST

/* Worked out by hand: 4.5 us each; a twentieth of two CPUs is 0.1 s per second. */
START_TEST(test_low)
{
	ck_assert(cost_is_low(&(struct cost_estimate){ .events_per_s = 22000 }, 2));
	ck_assert(!cost_is_low(&(struct cost_estimate){ .events_per_s = 23000 }, 2));
	ck_assert(cost_is_low(&(struct cost_estimate){ .events_per_s = 23000 }, 4));
	ck_assert(cost_is_low(&(struct cost_estimate){ 0 }, 1));
}
END_TEST

/* At the current load, whatever that is, the result is a number. */
START_TEST(test_now)
{
	struct record_plan *p = plan("full");
	const struct cost_estimate e = cost_estimate(record_plan_channel(p, RECORD_KERNEL));

	ck_assert(isfinite(e.events_per_s) && e.events_per_s >= 0 && e.events_per_s < 1e9);
	ck_assert_double_ge(e.bytes_per_s, e.events_per_s * 8);
	ck_assert(e.least_events_per_s <= e.events_per_s && e.events_per_s <= e.most_events_per_s);
	record_plan_destroy(p);
}
END_TEST

/* More precise than the ticks of times(): a loop of some ms is measured. */
START_TEST(test_process)
{
	struct timespec before, now;
	const uint64_t at_first = cost_process_ns("self");
	uint64_t own_ns, found_ns;

	ck_assert(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before));
	do {
		ck_assert(!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now));
		own_ns = (uint64_t)(now.tv_sec - before.tv_sec) * 1000000000 + (uint64_t)(now.tv_nsec - before.tv_nsec);
	} while (own_ns < 20000000);
	found_ns = cost_process_ns("self") - at_first;
	ck_assert_uint_ge(found_ns, 15000000); /* it is updated at each tick, of 4 ms */
	ck_assert_uint_lt(found_ns, 1000000000);
	ck_assert_uint_eq(cost_process_ns("0"), 0);
}
END_TEST

START_TEST(test_size)
{
	char *below = g_build_filename("cost.d", "a", NULL), *file = g_build_filename(below, "f", NULL);

	ck_assert(!g_mkdir_with_parents(below, 0777));
	ck_assert(g_file_set_contents(file, "12345", 5, NULL));
	ck_assert(g_file_set_contents("cost.d/g", "123", 3, NULL));
	ck_assert_uint_eq(cost_size_bytes("cost.d"), 8);
	ck_assert_uint_eq(cost_size_bytes("cost.d/nowhere"), 0);
	g_unlink(file);
	g_unlink("cost.d/g");
	g_rmdir(below);
	g_rmdir("cost.d");
	g_free(file);
	g_free(below);
}
END_TEST

/* A child of this process with the name of a consumer daemon; uid: its user. */
static pid_t start_named(uid_t uid)
{
	int fds[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prctl(PR_SET_NAME, "lttng-consumerd") || (uid != getuid() && setuid(uid)))
			_exit(1);
		close(fds[0]);
		close(fds[1]);
		pause();
		_exit(1);
	}
	ck_assert_int_gt(pid, 0);
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 0); /* until it is ready */
	close(fds[0]);
	return pid;
}

/* Any user can give a process this name: it counts only if it belongs to the session daemon. */
START_TEST(test_consumer)
{
	pid_t pid = start_named(getuid());
	char *name = g_strdup_printf("%d", (int)pid), *own = g_strdup_printf("%d", (int)getpid());

	ck_assert(cost_is_consumer(name, getpid()));
	ck_assert(!cost_is_consumer(name, getppid()));
	ck_assert(cost_is_consumer(name, 0));
	ck_assert(!cost_is_consumer(own, getppid()) && !cost_is_consumer(own, 0));
	ck_assert(!cost_is_consumer("0", 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	g_free(name);
	if (geteuid() == 0) {
		pid = start_named(65534);
		name = g_strdup_printf("%d", (int)pid);
		ck_assert(!cost_is_consumer(name, 0));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		g_free(name);
	}
	g_free(own);
}
END_TEST

UNIT_MAIN("cost", test_minimal, test_parts, test_recorded, test_one_cpu, test_sets, test_additions, test_low, test_now,
	  test_process, test_consumer, test_size)
