/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_MATCH_TABLE_H
#define LT_CLOCK_MATCH_TABLE_H

#include <glib.h>

#include "base/map64.h"
#include "clock/match.h"

/*
 * The packets that a matcher keeps: first in first out per host, and indexed by two hashes. Each hash leads to a list
 * of its packets, newest first.
 *
 *   by key    the fields that a packet and its copies share on every host
 *   by range  flow, order of magnitude k of its length, and the block of 2^k sequence numbers that contains its first
 *             byte; only TCP with payload. Lists stay short, and a byte is covered by packets of only a few lists.
 *
 * Entries are referred to by number, as the array moves when it grows.
 */
#define NO_ENTRY MAP64_NONE

enum { RANGE_LEAST = 6, RANGE_GREATEST = 16, RANGES };

enum match_list { LIST_KEY, LIST_RANGE, LISTS };

struct match_entry {
	struct clock_packet packet;
	uint64_t ts_ns;
	uint64_t cookie[2];
	uint64_t hash[LISTS];
	struct {
		uint32_t newer, older;
	} link[LISTS];
	uint64_t number; /* sequence number of feeding */
	uint32_t later;  /* next of the same host; in the free list: next free one */
	uint32_t host;
	bool sent;
	bool matched;
	uint8_t range; /* k if it is in LIST_RANGE, else 0 */
};

struct match_host {
	uint32_t first, last; /* oldest and newest entry */
	uint32_t kept;
	uint32_t waiting[2]; /* without a partner; [1]: sent */
};

struct match_table {
	struct match_entry *entries;
	uint32_t n, capacity, free;
	uint32_t kept, most; /* entries in use, and how many there may be */
	uint64_t added;
	struct map64 heads[LISTS];
	uint32_t ranged[RANGES]; /* entries by k */
	struct match_host *hosts;
	unsigned n_hosts;
};

/* What an entry takes at most: map64's load is more than 1/4 once it has grown. */
enum { MATCH_ENTRY_BYTES = sizeof(struct match_entry) + LISTS * 4 * sizeof(struct map64_slot) };

void match_table_init(struct match_table *t, uint32_t most);
void match_table_release(struct match_table *t);

/* Adds an entry (there are fewer than `most`) at the end of its host's list and at the head of its hash lists. */
uint32_t match_table_add(struct match_table *t, unsigned host, uint64_t ts_ns, bool sent,
			 const struct clock_packet *packet, const uint64_t cookie[2]);

/* Removes the host's oldest entry; there must be one. */
void match_table_drop(struct match_table *t, unsigned host);

static inline struct match_entry *match_entry(const struct match_table *t, uint32_t i)
{
	return &t->entries[i];
}

/* The host with the most entries. */
unsigned match_table_fullest(const struct match_table *t);

size_t match_table_bytes(const struct match_table *t);

/*
 * The newest entry in the flow of `packet` with magnitude k whose first byte is in the same block of 2^k numbers as
 * seq.
 */
uint32_t match_table_range(const struct match_table *t, const struct clock_packet *packet, unsigned k, uint32_t seq);

/* Marks the entry as matched. */
void match_table_found(struct match_table *t, uint32_t i);

/* Whether two packets have the same addresses, ports and protocol. */
bool match_same_flow(const struct clock_packet *a, const struct clock_packet *b);

/* Whether two packets agree in all fields that one packet keeps on every host. */
bool match_same_key(const struct clock_packet *a, const struct clock_packet *b);

#endif
