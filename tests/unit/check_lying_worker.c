/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker taken over by its trace or relayd may say at most: this program is that worker, too. */
#include "own_worker.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "event/payload.h"
#include "reader/emit.h"

enum {
	HOSTNAMES = 500,
	STARTS = 1u << 20,
	NOTES = 400, /* fewer than the log keeps */
	NOTES_SHOWN_MAX = 20,
};

/* The worker finds in its environment which lie the test wants. */
#define LIE "LIE"
#define LIE_HOSTS "hosts"
#define LIE_EARLY_FIELDS "fields before it is ready"
#define LIE_FIELDS "fields"
#define LIE_STARTS "starts"
#define LIE_NOTES "notes"

static void announce(struct ring_producer *ring, unsigned number)
{
	struct event *ev = emit_begin(ring, EVENT_TRACE, 0, 3 * TEXT_MAX);
	struct ev_trace *trace = (void *)ev->words;
	char name[32];

	trace->domain = DOMAIN_KERNEL;
	snprintf(name, sizeof(name), "host%u", number);
	emit_text(ev, offsetof(struct ev_trace, hostname), name, strlen(name));
	emit_end(ring, ev);
}

/* Announces traces of ever new hosts, all in one source. */
static void lie_about_hosts(struct ring_producer *ring)
{
	for (unsigned i = 0; i < HOSTNAMES; i++)
		announce(ring, i);
	emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
	ring_publish(ring);
	pause();
}

/* Writes fields of a class that was never declared, and everything else at once: its ring says that all was well. */
static void lie_about_fields(struct ring_producer *ring, bool early)
{
	announce(ring, 0);
	if (early)
		emit_end(ring, emit_begin(ring, EVENT_FIELDS, 1, 0));
	emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
	if (!early)
		emit_end(ring, emit_begin(ring, EVENT_FIELDS, 1, 0));
	emit_end(ring, emit_begin(ring, EVENT_OTHER, 1, 0));
	emit_end(ring, emit_begin(ring, EVENT_END, 1, 0));
	ring_publish(ring);
}

/* Writes ever more starts of CPUs, which the parent holds until it is ready: never. */
static void lie_about_starts(struct ring_producer *ring)
{
	announce(ring, 0);
	for (unsigned i = 0; i < STARTS; i++) {
		struct event *ev = emit_begin(ring, EVENT_CPU_START, 0, 0);

		ev->cpu = 0;
		emit_end(ring, ev);
	}
	emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
	emit_end(ring, emit_begin(ring, EVENT_END, 1, 0));
	ring_publish(ring);
}

/* Writes ever more notes, in turn two texts, with a control sequence. */
static void lie_about_damage(struct ring_producer *ring)
{
	announce(ring, 0);
	emit_end(ring, emit_begin(ring, EVENT_READY, 0, 0));
	for (unsigned i = 0; i < NOTES; i++)
		emit_note(ring, EVENT_NOTE, 1, i % 2 ? "damage\x1b[2J" : "harm\x1b[2J");
	emit_end(ring, emit_begin(ring, EVENT_END, 1, 0));
	ring_publish(ring);
}

static int lie(const char *ring_fd, const char *wake_fd)
{
	const char *wanted = getenv(LIE);
	struct ring_producer ring;

	if (ring_producer_open(&ring, (struct ring_fds){ atoi(ring_fd), atoi(wake_fd) }) != LT_OK || !wanted)
		return EXIT_FAILURE;
	if (strcmp(wanted, LIE_HOSTS) == 0)
		lie_about_hosts(&ring);
	else if (strcmp(wanted, LIE_STARTS) == 0)
		lie_about_starts(&ring);
	else if (strcmp(wanted, LIE_NOTES) == 0)
		lie_about_damage(&ring);
	else
		lie_about_fields(&ring, strcmp(wanted, LIE_EARLY_FIELDS) == 0);
	return EXIT_SUCCESS;
}

/* A source is of one host. */
START_TEST(test_one_host)
{
	struct ingest *in;

	setenv(LIE, LIE_HOSTS, true);
	in = own_worker_start();
	ck_assert_uint_eq(ingest_host_count(in), 1);
	ck_assert_str_eq(ingest_host(in, 0)->name, "host0");
	ingest_destroy(in);
}
END_TEST

static struct ingest *read_all(const char *what)
{
	struct ingest *in;

	setenv(LIE, what, true);
	in = own_worker_start();
	ck_assert_uint_eq(ingest_host_count(in), 1);
	while (ingest_advance_wait(in, 0, UINT64_MAX, NULL) != LT_END)
		;
	ck_assert(ingest_broken(in));
	ck_assert_ptr_nonnull(ingest_host(in, 0)->trouble);
	return in;
}

static void expect_accused(const char *what, const char *wrong)
{
	struct ingest *in = read_all(what);

	ck_assert_ptr_nonnull(strstr(ingest_host(in, 0)->trouble, wrong));
	ingest_destroy(in);
}

/* What contradicts what was written before is reported although the worker has ended by then, normally. */
START_TEST(test_accused_at_its_end)
{
	const char *wrong = "wrote nonsense: fields of an event class that was not declared";

	expect_accused(LIE_FIELDS, wrong);
	expect_accused(LIE_EARLY_FIELDS, wrong);
}
END_TEST

/* The parent does not hold more starts of CPUs than the streams of a source can have. */
START_TEST(test_starts_are_bounded)
{
	expect_accused(LIE_STARTS, "wrote nonsense: starts of more streams than a source has");
}
END_TEST

/* Nor does it flood the log and the terminal with notes, or reach the screen with control characters. */
START_TEST(test_notes_are_bounded)
{
	struct ingest *in = read_all(LIE_NOTES);

	ck_assert_str_eq(ingest_host(in, 0)->trouble, "harm\\x1b[2J");
	ck_assert_uint_ge(log_count(), 2);
	ck_assert_uint_le(log_count(), NOTES_SHOWN_MAX);
	ck_assert_str_eq(log_get(0)->text, "host0: harm\\x1b[2J");
	ck_assert_str_eq(log_get(log_count() - 1)->text, "host0: further messages are left out");
	ingest_destroy(in);
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = { test_one_host, test_accused_at_its_end, test_starts_are_bounded,
				       test_notes_are_bounded };

	return own_worker_main(argc, argv, lie, "lying_worker", tests, G_N_ELEMENTS(tests));
}
