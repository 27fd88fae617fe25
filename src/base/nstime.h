/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NSTIME_H
#define LT_BASE_NSTIME_H

#include <stdint.h>

/*
 * Times are ns since the epoch in a uint64_t. 0 is a time like any other; one that is not known, or not set, is
 * TIME_UNKNOWN: later than all others, so that MIN() of several times is the earliest that is known.
 */
#define TIME_UNKNOWN UINT64_MAX

#endif
