/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/programs.h"

#include <string.h>

#include "unit.h"

/*
 * Two sessions record the events of two threads, A and B. Each letter is an event: upper case in session 1, lower case
 * in session 2. In `wanted`, '*' is an event that must be taken, '-' one that must not.
 */
static void check_taken(const char *had, uint64_t step_ns, bool has_threads, const char *wanted)
{
	static const char source[2]; /* two addresses */
	struct programs p = { 0 };
	uint64_t t_ns = 1000000000;
	char taken[64] = "";

	for (size_t i = 0; had[i]; i++, t_ns += step_ns) {
		const bool second = g_ascii_islower(had[i]);
		const unsigned session = programs_session(&p, (const void *)&source[second], 0);
		const struct event ev = { .ts_ns = t_ns,
					  .tid = has_threads ? g_ascii_tolower(had[i]) : EVENT_NO_TID,
					  .cpu = 3 };

		taken[i] = programs_take(&p, session, 7, &ev) ? '*' : '-';
	}
	ck_assert_str_eq(taken, wanted);
	ck_assert(p.repeats == (strchr(wanted, '-') != NULL));
	programs_release(&p);
}

enum { SHORT_NS = 200, PREEMPTED_NS = 30000000, LONG_NS = 200000000 };

START_TEST(copies_are_counted_once)
{
	check_taken("AaAaAa", SHORT_NS, true, "*-*-*-");
	check_taken("aAaAaA", SHORT_NS, true, "*-*-*-");
	/* the thread lost its CPU between them */
	check_taken("AaAa", PREEMPTED_NS, true, "*-*-");
}
END_TEST

START_TEST(what_one_session_has_is_counted)
{
	check_taken("AAA", SHORT_NS, true, "***");
	/* one session starts later, lost events, or filters */
	check_taken("AAAaAaA", SHORT_NS, true, "***-*-*");
	check_taken("AaaaAaAa", SHORT_NS, true, "*-**-*-*");
	/* they follow one program each, and both follow a third */
	check_taken("AbAb", SHORT_NS, true, "****");
	check_taken("AaBAab", SHORT_NS, true, "*-**--");
	/* too far apart to be copies */
	check_taken("Aa", LONG_NS, true, "**");
}
END_TEST

START_TEST(without_threads_the_cpu_counts)
{
	check_taken("AaAaAa", SHORT_NS, false, "*-*-*-");
	check_taken("Aa", PREEMPTED_NS, false, "**");
}
END_TEST

/* Four sessions have each event, each some microseconds after the other; the fourth one loses every third event. */
START_TEST(copies_of_many_sessions)
{
	enum { SESSIONS = 4, EVENTS = 30, NEXT_COPY_NS = 4000 };
	static const char source[SESSIONS];
	struct programs p = { 0 };
	struct event ev = { .ts_ns = 1000000000, .tid = EVENT_NO_TID, .cpu = 3 };
	unsigned taken = 0;

	for (unsigned i = 0; i < SESSIONS; i++)
		programs_session(&p, (const void *)&source[i], 0);
	for (unsigned n = 0; n < EVENTS; n++)
		for (unsigned session = 0; session < SESSIONS; session++, ev.ts_ns += NEXT_COPY_NS)
			if (session < SESSIONS - 1 || n % 3)
				taken += programs_take(&p, session, 7, &ev);
	ck_assert_uint_eq(taken, EVENTS);
	programs_release(&p);
}
END_TEST

/* Whether copies were recognised by their CPU, not their thread, is known as long as there are any. */
START_TEST(guesses_are_known)
{
	static const char source[2];
	struct programs p = { 0 };
	struct event ev = { .ts_ns = 1000000000, .tid = 1, .cpu = 3 };

	for (unsigned i = 0; i < 2; i++)
		programs_session(&p, (const void *)&source[i], 0);
	for (unsigned i = 0; i < 2; i++)
		programs_take(&p, i, 7, &ev);
	ck_assert(p.repeats && !p.guesses);
	ev.tid = EVENT_NO_TID;
	programs_take(&p, 0, 7, &ev);
	ck_assert(!p.guesses);
	programs_take(&p, 1, 7, &ev);
	ck_assert(p.repeats && p.guesses);
	programs_end(&p, (const void *)source);
	ck_assert(!p.repeats && !p.guesses);
	programs_release(&p);
}
END_TEST

START_TEST(names_and_traces_are_told_apart)
{
	static const char source[2];
	struct programs p = { 0 };
	const struct event ev = { .ts_ns = 5, .tid = 1 };

	ck_assert_uint_eq(programs_session(&p, (const void *)source, 0), 0);
	ck_assert_uint_eq(programs_session(&p, (const void *)source, 1), 1);
	ck_assert_uint_eq(programs_session(&p, (const void *)&source[1], 0), 2);
	ck_assert_uint_eq(programs_session(&p, (const void *)source, 1), 1);
	ck_assert_uint_eq(p.n_sessions, 3);
	ck_assert(programs_take(&p, 0, 1, &ev));
	ck_assert(programs_take(&p, 1, 2, &ev));
	ck_assert(!programs_take(&p, 1, 1, &ev));
	ck_assert(!programs_take(&p, 2, 1, &ev));
	programs_release(&p);
}
END_TEST

/* Sessions that have ended do not count: those that run are told apart, however many there were. */
START_TEST(sessions_come_and_go)
{
	static const char source[200];
	struct programs p = { 0 };
	struct event ev = { .ts_ns = 5, .tid = 1 };

	programs_session(&p, (const void *)source, 0);
	for (unsigned i = 1; i < sizeof(source); i++) {
		const unsigned number = programs_session(&p, (const void *)&source[i], 0);

		ck_assert_uint_eq(number, 1);
		ck_assert_uint_eq(p.n_sessions, 2);
		ck_assert(programs_take(&p, 0, 1, &ev));
		ck_assert(!programs_take(&p, number, 1, &ev));
		ev.ts_ns += SHORT_NS;
		programs_end(&p, (const void *)&source[i]);
		ck_assert_uint_eq(p.n_sessions, 1);
		ck_assert(!p.repeats);
	}
	programs_release(&p);
}
END_TEST

/* The copy of an event that comes from a session with the number of another one, which had the event. */
START_TEST(number_of_another)
{
	static const char source[3];
	struct programs p = { 0 };
	const struct event ev = { .ts_ns = 5, .tid = 1 };

	ck_assert_uint_eq(programs_session(&p, (const void *)source, 0), 0);
	ck_assert_uint_eq(programs_session(&p, (const void *)&source[1], 0), 1);
	ck_assert(programs_take(&p, 1, 1, &ev));
	programs_end(&p, (const void *)&source[1]);
	ck_assert_uint_eq(programs_session(&p, (const void *)&source[2], 0), 1);
	ck_assert(!programs_take(&p, 1, 1, &ev));
	programs_release(&p);
}
END_TEST

/* Memory is bounded, whatever threads come. */
START_TEST(threads_come_and_go)
{
	static const char source[2];
	struct programs p = { 0 };
	struct event ev = { .ts_ns = 5 };

	programs_session(&p, (const void *)source, 0);
	programs_session(&p, (const void *)&source[1], 0);
	for (ev.tid = 0; ev.tid < 1000000; ev.tid++) {
		ck_assert(programs_take(&p, 0, 1, &ev));
		ck_assert(!programs_take(&p, 1, 1, &ev));
	}
	ck_assert_uint_le(p.events->len, 1 << 16);
	programs_release(&p);
}
END_TEST

UNIT_MAIN("programs", copies_are_counted_once, what_one_session_has_is_counted, without_threads_the_cpu_counts,
	  copies_of_many_sessions, guesses_are_known, names_and_traces_are_told_apart, sessions_come_and_go,
	  number_of_another, threads_come_and_go)
