/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/lag.h"

#include <glib.h>
#include <time.h>

#include "base/nstime.h"

/* A host whose records come this much after their time, or before it, has a clock that differs from ours. */
#define CLOCKS_DIFFER_NS (2 * (int64_t)NS_PER_S)

/* 73 years, which includes clocks that start in 1970; differences stay in range. */
#define FARTHEST_NS (INT64_C(1) << 61)

/* Two clocks drift apart by at most this part of the time, 500 ppm. */
enum { DRIFT_PART = 2000 };

uint64_t lag_now_ns(void)
{
	static uint64_t at_zero_ns;
	struct timespec since;
	uint64_t since_ns;

	clock_gettime(CLOCK_BOOTTIME, &since);
	since_ns = (uint64_t)since.tv_sec * NS_PER_S + (uint64_t)since.tv_nsec;
	if (!at_zero_ns)
		at_zero_ns = (uint64_t)g_get_real_time() * NS_PER_US - since_ns;
	return at_zero_ns + since_ns;
}

void lag_forget(struct host_lag *l)
{
	l->least_ns = INT64_MAX;
	l->arrival.n = 0;
}

/* Whether the delay was much shorter up to some moment, and has been the same since then: sets *delay_ns to that. */
static bool has_jumped(struct host_lag *l, int64_t behind_ns, uint64_t now_ns, int64_t *delay_ns)
{
	uint64_t spread_ns;

	if (behind_ns - l->least_ns <= CLOCKS_DIFFER_NS)
		l->arrival.n = 0;
	else if (l->arrival.n || behind_ns - l->behind_ns > CLOCKS_DIFFER_NS)
		clock_arrival_note(&l->arrival, now_ns - (uint64_t)behind_ns, now_ns);
	return l->arrival.n >= CLOCK_ARRIVAL_SECONDS && clock_arrival_delay(&l->arrival, delay_ns, &spread_ns);
}

uint64_t lag_measure(struct host_lag *l, uint64_t host_ns, uint64_t now_ns)
{
	int64_t behind_ns = CLAMP((int64_t)(now_ns - host_ns), -FARTHEST_NS, FARTHEST_NS), delay_ns;

	if (l->least_ns != INT64_MAX)
		l->least_ns += (int64_t)((host_ns - l->at_ns) / DRIFT_PART);
	l->least_ns = MIN(l->least_ns, behind_ns);
	if (has_jumped(l, behind_ns, now_ns, &delay_ns)) {
		l->least_ns = delay_ns;
		l->arrival.n = 0;
	}
	l->at_ns = host_ns;
	l->behind_ns = behind_ns;
	if (ABS(l->least_ns) > CLOCKS_DIFFER_NS)
		behind_ns -= l->least_ns;
	return (uint64_t)MAX(behind_ns, 0);
}
