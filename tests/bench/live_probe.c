/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads live sessions as the monitor does, up to the models, and reports the lag of
 * the events. Prints a line per second, then one for the whole run:
 *
 *	second SECOND EVENTS LAG_MS             the greatest lag in it
 *	all EVENTS SECONDS WORST_MS MEDIAN_MS CPU_S
 *
 *	LTTNGTOP=build/lttngtop live_probe SECONDS SPEED BATCH URL...
 *
 * The lag of an event is the time from when it was due until it was applied to its host's model, from which the
 * history's next interval is made. It is due by the clock of a session that a feed started to play at SPEED
 * with its first event. BATCH events are applied at a time, and the lag of the last one counts; if BATCH is 1, every
 * event's does. The first two seconds (attaching) do not count. CPU time includes this process and its workers.
 */
#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "ingest/ingest.h"
#include "source/source.h"

enum { ATTACHING_S = 2, WAIT_MS = 50, BIN_US = 100, BINS = 100000, FRAME_NS = 1000000000 };

struct probe {
	struct ingest *in;
	double speed;
	uint64_t batch;
	uint64_t begun_ns;      /* wall time of the first event */
	uint64_t *frame_end_ns; /* by host */
	uint64_t bins[BINS];    /* lags of BIN_US each */
	uint64_t n_lags, worst_ns;
	uint64_t second, second_worst_ns, second_events;
};

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t events_of(const struct probe *p)
{
	uint64_t events = 0;

	for (unsigned i = 0; i < ingest_host_count(p->in); i++) {
		const struct host_state *s = model_state(ingest_host(p->in, i)->model);

		events += STATE_ROW(s, HOST, host, state_next(&s->tables[TABLE_HOST], STATE_NO_ROW))->events;
	}
	return events;
}

static uint64_t lag_of(const struct probe *p, const struct ingest_host *h)
{
	const double due = (double)(h->end_ns - 1 - h->begin_ns) / p->speed;
	const double now = (double)wall_ns() - (double)h->begin_ns;

	return now > due ? (uint64_t)(now - due) : 0;
}

static void note_lag(struct probe *p, uint64_t lag_ns)
{
	p->second_worst_ns = MAX(p->second_worst_ns, lag_ns);
	if (wall_ns() - p->begun_ns < (uint64_t)ATTACHING_S * 1000000000)
		return;
	p->worst_ns = MAX(p->worst_ns, lag_ns);
	p->bins[MIN(lag_ns / 1000 / BIN_US, BINS - 1)]++;
	p->n_lags++;
}

/* Ends the history's interval: rows that ended are removed. */
static void next_frame(struct probe *p, unsigned host)
{
	const struct ingest_host *h = ingest_host(p->in, host);
	struct host_state *s = model_state(h->model);

	if (h->end_ns < p->frame_end_ns[host])
		return;
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
	p->frame_end_ns[host] = h->end_ns + FRAME_NS;
}

/* Applies what one host has now; false: nothing. */
static bool advance(struct probe *p, unsigned host)
{
	const struct ingest_host *h = ingest_host(p->in, host);
	bool any = false;

	for (;;) {
		const uint64_t before_ns = h->end_ns;
		const enum lt_status status = ingest_advance(p->in, host, UINT64_MAX, p->batch);

		if (h->end_ns != before_ns) {
			if (!p->begun_ns)
				p->begun_ns = wall_ns();
			note_lag(p, lag_of(p, h));
			next_frame(p, host);
			any = true;
		}
		if (status != LT_AGAIN || h->end_ns == before_ns)
			return any;
	}
}

static void tell_second(struct probe *p)
{
	const uint64_t second = p->begun_ns ? (wall_ns() - p->begun_ns) / 1000000000 : 0;
	uint64_t events;

	if (second == p->second)
		return;
	events = events_of(p);
	printf("second %" PRIu64 " %" PRIu64 " %.1f\n", p->second, events - p->second_events,
	       (double)p->second_worst_ns / 1e6);
	p->second = second;
	p->second_events = events;
	p->second_worst_ns = 0;
}

static double median_ms(const struct probe *p)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < BINS; i++) {
		seen += p->bins[i];
		if (seen * 2 > p->n_lags)
			return (i + 0.5) * BIN_US / 1000;
	}
	return 0;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double cpu_s(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return seconds_of(u.ru_utime) + seconds_of(u.ru_stime);
}

static void run(struct probe *p, uint64_t seconds)
{
	struct pollfd fd = { .fd = ingest_fd(p->in), .events = POLLIN };

	while (!ingest_is_over(p->in) && p->second < seconds) {
		bool any = false;

		ingest_watch(p->in);
		for (unsigned i = 0; i < ingest_host_count(p->in); i++)
			any |= advance(p, i);
		tell_second(p);
		if (!any)
			poll(&fd, 1, WAIT_MS);
	}
}

int main(int argc, char **argv)
{
	const struct ingest_options options = { 0 };
	struct probe *p = g_new0(struct probe, 1);
	uint64_t events;
	double took_s;

	if (argc < 5) {
		fprintf(stderr, "usage: LTTNGTOP=PROGRAM live_probe SECONDS SPEED BATCH URL...\n");
		return 2;
	}
	source_set_worker_program(getenv("LTTNGTOP"));
	p->speed = g_ascii_strtod(argv[2], NULL);
	p->batch = g_ascii_strtoull(argv[3], NULL, 10);
	p->in = ingest_create(&options);
	for (int i = 4; i < argc; i++)
		if (ingest_open(p->in, argv[i]) != LT_OK)
			g_error("%s", error_text());
	if (ingest_start(p->in, NULL) != LT_OK)
		g_error("%s", error_text());
	p->frame_end_ns = g_new0(uint64_t, (gsize)argc);
	run(p, g_ascii_strtoull(argv[1], NULL, 10));
	events = events_of(p);
	took_s = p->begun_ns ? (double)(wall_ns() - p->begun_ns) / 1e9 : 0;
	ingest_destroy(p->in);
	printf("all %" PRIu64 " %.3f %.1f %.1f %.3f\n", events, took_s, (double)p->worst_ns / 1e6, median_ms(p),
	       cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN));
	g_free(p->frame_end_ns);
	g_free(p);
	return 0;
}
