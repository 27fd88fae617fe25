/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NSTIME_H
#define LT_BASE_NSTIME_H

#include <stdint.h>
#include <time.h>

/*
 * Times are ns since the epoch in a uint64_t. 0 is a valid time; TIME_UNKNOWN is a time that is not known or not set.
 * It is later than all others, so that MIN() of several times is the earliest known one.
 */
#define TIME_UNKNOWN UINT64_MAX

/* Unsigned, like times; cast them for signed offsets. */
#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Signed, like the monotonic clock's time in us and time limits in ms. */
#define US_PER_MS 1000
#define US_PER_S 1000000
#define MS_PER_S 1000

/* The monotonic clock: durations, not times since the epoch. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* For qsort() of times: the earliest first. */
static inline int nstime_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#endif
