/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a worker makes progress: a slow one does not hang. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "source/pulse.h"

enum { LIMIT_MS = 10000, STEP_MS = 100 };

#define MS UINT64_C(1000000)

/* ---- looks ---- */

/* How long after its last beat a process that behaves as `step` says is given up; 0: not within an hour. */
static uint64_t given_up_after_ms(void (*step)(struct pulse_look *look), unsigned step_ms)
{
	struct pulse_look look = { .now_ns = 5000 * MS, .beat_ns = 4000 * MS, .cpu_ns = 1 };
	struct pulse p = { 0 };

	for (uint64_t ms = 0; ms <= 3600000; ms += step_ms) {
		if (pulse_feel(&p, &look, LIMIT_MS))
			return ms;
		look.now_ns += step_ms * MS;
		step(&look);
	}
	return 0;
}

static void blocked(struct pulse_look *look)
{
	(void)look;
}

static void waits_for_cpu(struct pulse_look *look)
{
	look->runnable = true;
}

static void works_a_little(struct pulse_look *look)
{
	look->cpu_ns += 1000;
}

static void spins(struct pulse_look *look)
{
	look->cpu_ns += STEP_MS * MS / 2;
	look->runnable = true;
}

static void beats(struct pulse_look *look)
{
	look->beat_ns++;
}

static void beats_and_works(struct pulse_look *look)
{
	look->beat_ns++;
	look->cpu_ns += STEP_MS * MS;
}

START_TEST(test_what_counts)
{
	ck_assert_uint_eq(given_up_after_ms(blocked, STEP_MS), LIMIT_MS + STEP_MS);
	ck_assert_uint_eq(given_up_after_ms(waits_for_cpu, STEP_MS), 0);
	ck_assert_uint_eq(given_up_after_ms(works_a_little, STEP_MS), 0);
	ck_assert_uint_eq(given_up_after_ms(beats, STEP_MS), 0);
	ck_assert_uint_eq(given_up_after_ms(beats_and_works, STEP_MS), 0);
	/* it has a CPU half of the time */
	ck_assert_uint_eq(given_up_after_ms(spins, STEP_MS), 2 * PULSE_SPIN * LIMIT_MS + STEP_MS);
}
END_TEST

/* After a long time without looking, it is not certain that nothing happened: several looks are needed. */
START_TEST(test_seldom_looks)
{
	const unsigned rare_ms = 60000;

	ck_assert_uint_eq(given_up_after_ms(blocked, rare_ms), (LIMIT_MS / PULSE_LOOK_MAX_MS + 1) * rare_ms);
}
END_TEST

/* After one sign of progress, the time counts from the start. */
START_TEST(test_starts_again)
{
	struct pulse_look look = { .now_ns = 1 * MS };
	struct pulse p = { 0 };

	for (int sign = 0; sign < 3; sign++) {
		for (unsigned ms = 0; ms < LIMIT_MS; ms += STEP_MS, look.now_ns += STEP_MS * MS)
			ck_assert(!pulse_feel(&p, &look, LIMIT_MS));
		look.runnable = sign == 0;
		look.cpu_ns += sign == 1;
		look.beat_ns += sign == 2;
		ck_assert(!pulse_feel(&p, &look, LIMIT_MS));
		look.runnable = false;
	}
}
END_TEST

/* ---- processes ---- */

static pid_t start(bool burns)
{
	__attribute__((unused)) volatile unsigned n = 0;
	pid_t pid = fork();

	if (pid == 0) {
		while (burns) /* NOLINT(bugprone-infinite-loop): until it is killed */
			n++;
		for (;;)
			pause();
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Looks until it has that state; if it never does, Check ends the test. */
static void wait_until(pid_t pid, bool runnable)
{
	struct pulse_look a = { 0 }, b = { 0 };

	do {
		usleep(1000);
		b = a;
		pulse_look_at(&a, pid);
	} while (a.runnable != runnable || a.cpu_ns == 0 || (!runnable && a.cpu_ns != b.cpu_ns));
}

/* Looks as often as necessary; returns the number of looks after which it is given up. */
static unsigned looks_until_given_up(pid_t pid, unsigned most)
{
	struct pulse_look look = { .now_ns = 1 };
	struct pulse p = { 0 };

	for (unsigned n = 0; n < most; n++, look.now_ns += STEP_MS * MS) {
		pulse_look_at(&look, pid);
		if (pulse_feel(&p, &look, LIMIT_MS))
			return n;
	}
	return most;
}

START_TEST(test_processes)
{
	const unsigned at_limit = LIMIT_MS / STEP_MS + 1;
	pid_t pid = start(false);

	wait_until(pid, false);
	ck_assert_uint_eq(looks_until_given_up(pid, 1000), at_limit);
	end(pid);
	pid = start(true);
	wait_until(pid, true);
	ck_assert_uint_eq(looks_until_given_up(pid, 1000), 1000);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	wait_until(pid, false);
	ck_assert_uint_eq(looks_until_given_up(pid, 1000), at_limit);
	end(pid);
}
END_TEST

/* Its PID is 0 then, which stands for the caller elsewhere. */
START_TEST(test_process_that_is_gone)
{
	struct pulse_look look = { .cpu_ns = 1, .runnable = true };

	pulse_look_at(&look, 0);
	ck_assert_uint_eq(look.cpu_ns, 0);
	ck_assert(!look.runnable);
}
END_TEST

UNIT_MAIN("pulse", test_what_counts, test_seldom_looks, test_starts_again, test_processes, test_process_that_is_gone)
