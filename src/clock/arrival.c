/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/arrival.h"

#include <glib.h>

#include "base/nstime.h"

/* Between the two halves of the ring; a larger change means another speed, or a busy machine. */
#define STEADY_NS ((int64_t)(250 * NS_PER_MS))

/* How far below all others a delay is after a step of the host's clock; a busy machine varies by less. */
#define SET_FORWARD_NS ((int64_t)(2 * NS_PER_S))

enum { SECONDS_LEAST = 4 };

/* 73 years before or after ours: a clock that starts in 1970 is accepted, and differences stay in range. */
#define FARTHEST_NS (INT64_C(1) << 61)

static unsigned slot(unsigned n)
{
	return n % CLOCK_ARRIVAL_SECONDS;
}

static int64_t least_of(const struct clock_arrival *a, unsigned from, unsigned to)
{
	int64_t least_ns = INT64_MAX;

	for (unsigned n = from; n < to; n++)
		least_ns = MIN(least_ns, a->seconds[slot(n)].least_ns);
	return least_ns;
}

static unsigned oldest(const struct clock_arrival *a)
{
	return a->n - MIN(a->n, CLOCK_ARRIVAL_SECONDS);
}

static void keep(struct clock_arrival *a, uint64_t second, int64_t delay_ns)
{
	a->seconds[slot(a->n)].second = second;
	a->seconds[slot(a->n)].least_ns = delay_ns;
	a->n++;
}

bool clock_arrival_note(struct clock_arrival *a, uint64_t host_ns, uint64_t now_ns)
{
	const int64_t delay_ns = CLAMP((int64_t)(now_ns - host_ns), -FARTHEST_NS, FARTHEST_NS);
	const uint64_t second = now_ns / NS_PER_S;
	const bool is_new = !a->n || a->seconds[slot(a->n - 1)].second != second;

	if (a->n && delay_ns < least_of(a, oldest(a), a->n) - SET_FORWARD_NS)
		a->n = 0;
	if (is_new || !a->n)
		keep(a, second, delay_ns);
	else
		a->seconds[slot(a->n - 1)].least_ns = MIN(a->seconds[slot(a->n - 1)].least_ns, delay_ns);
	return is_new;
}

bool clock_arrival_delay(const struct clock_arrival *a, int64_t *delay_ns, uint64_t *spread_ns)
{
	const unsigned from = oldest(a), kept = a->n - from, middle = a->n - kept / 2;
	int64_t before_ns, after_ns, apart_ns;

	if (kept < SECONDS_LEAST)
		return false;
	before_ns = least_of(a, from, middle);
	after_ns = least_of(a, middle, a->n);
	apart_ns = before_ns - after_ns;
	if (apart_ns > STEADY_NS || apart_ns < -STEADY_NS || ABS(after_ns) >= FARTHEST_NS - STEADY_NS)
		return false;
	*delay_ns = MIN(before_ns, after_ns);
	*spread_ns = (uint64_t)ABS(apart_ns);
	return true;
}

bool clock_arrival_is_recent(const struct clock_arrival *a, uint64_t now_ns, unsigned seconds)
{
	return a->n && now_ns / NS_PER_S - a->seconds[slot(a->n - 1)].second <= seconds;
}
