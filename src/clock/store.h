/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_STORE_H
#define LT_CLOCK_STORE_H

#include "base/pack.h"
#include "clock/sync.h"

/*
 * Serialises clocks after clock_sync_finish(): maps, bounds at any time, the results for each host, and the latest
 * matches without the headers of their packets. Packets fed after unpacking do not match earlier ones. Main thread
 * only.
 */
void clock_sync_pack(const struct clock_sync *s, GByteArray *out);

/* Unpacks into clocks without hosts. False: the bytes are not valid, and s must be destroyed. */
bool clock_sync_unpack(struct clock_sync *s, struct unpack *in);

#endif
