/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_OVERLAP_H
#define LT_SOURCE_OVERLAP_H

#include "base/status.h"

/*
 * Whether directories of one trace contain parts of the same packets. Copies of whole packets count once; which events
 * of other packets are copies is not known:
 *
 *   recording          [. . . .][. . . .][. . . .]
 *   its last snapshot           [. . . .][. . . .]      copies
 *   a slice                  [. .][. . .]               parts
 *
 * Compares the heads of packets, and only where files of one stream overlap in time. To be called for directories that
 * are complete. LT_ERROR: they overlap; the error chain names two of them. What cannot be read is ignored here.
 */
enum lt_status overlap_check(const char *const *directories, unsigned n);

#endif
