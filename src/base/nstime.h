/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NSTIME_H
#define LT_BASE_NSTIME_H

#include <stdint.h>

/*
 * Times are ns since the epoch in a uint64_t. 0 is a valid time; TIME_UNKNOWN is a time that is not known or not set.
 * It is later than all others, so that MIN() of several times is the earliest known one.
 */
#define TIME_UNKNOWN UINT64_MAX

/* Unsigned, like times; cast them for signed offsets. */
#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

#endif
