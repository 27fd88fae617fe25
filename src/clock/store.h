/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_STORE_H
#define LT_CLOCK_STORE_H

#include "base/pack.h"
#include "clock/sync.h"

/*
 * Clocks that were compared to the end (clock_sync_finish()) as bytes and back: maps, bounds at any time, what is
 * known of each host, and the latest matches but for the headers of their packets. Packets that come later have no
 * partners. Main thread only.
 */
void clock_sync_pack(const struct clock_sync *s, GByteArray *out);

/* Into clocks without hosts. False: these bytes are something else, and s is to be destroyed. */
bool clock_sync_unpack(struct clock_sync *s, struct unpack *in);

#endif
