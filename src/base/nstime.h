/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NSTIME_H
#define LT_BASE_NSTIME_H

#include <stdint.h>

/*
 * Times are ns since the epoch in a uint64_t. 0 is a time like any other; one that is not known, or not set, is
 * TIME_UNKNOWN: later than all others, so that MIN() of several times is the earliest that is known.
 */
#define TIME_UNKNOWN UINT64_MAX

/* As times are; a signed offset wants a cast. */
#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

#endif
