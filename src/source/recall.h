/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_RECALL_H
#define LT_SOURCE_RECALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The latest packets of live sessions, so that a window of the past can be read again: viewers ask a relayd for each
 * packet only once. A log in memory that the parent creates; one worker for relayds adds to it, and drops the oldest
 * entries when there are more bytes than the limit, while others read.
 *
 *      tail                                        head
 *   ────┼───────────┬──────────┬───────────┬─────────┼────   positions since the log was created; the entry at
 *       │ metadata  │ packet   │ packet    │ packet  │       position p is at byte p % capacity
 *
 * An entry is not split: if it does not fit at the end of the memory, the rest of that is a gap.
 *
 * The worker decodes data from other machines and may be hostile: whoever reads the log treats every byte as foreign,
 * copies before it checks, and has a descriptor that cannot write. The worker does not rely on what is in there.
 */
struct recall_shared {
	uint64_t magic, capacity;
	_Atomic uint64_t head, tail; /* by the worker */
	_Atomic uint64_t limit;      /* by the parent; bytes */
};

enum recall_kind { RECALL_GAP, RECALL_METADATA, RECALL_PACKET };

struct recall_entry {
	uint64_t position;  /* its own */
	uint64_t kind;      /* enum recall_kind */
	uint64_t source;    /* the session: fields_name_id() of its URL, whichever worker reads it */
	uint64_t trace;     /* one of the session's, whichever relayd numbered it */
	uint64_t stream;    /* likewise, of a packet; 0: none */
	uint64_t before_ns; /* end of the stream's packet before, by the trace's clock; 0: there was none */
	uint64_t len;       /* bytes that follow */
};

struct recall {
	struct recall_shared *shared; /* NULL: not open */
	uint8_t *entries;
	uint64_t capacity;
	/* of the one that writes: what is shared is only a copy */
	uint64_t head, tail;
	uint64_t limit;   /* at the last call of recall_add() */
	uint64_t removed; /* the memory of entries before this position is free, or is in use again */
};

enum { RECALL_BYTES_MIN = 64 * 1024 };

/* A new log for up to that many bytes, with its entries' headers. -1: see the error chain. */
int recall_create(uint64_t bytes);

/* Another descriptor for it, which cannot write. -1: see the error chain. */
int recall_open_again(int fd);

/* Limits the bytes of entries, from its worker's next entry on. LT_ERROR: see the error chain. */
enum lt_status recall_set_limit(int fd, uint64_t bytes);

/* How many bytes of entries it has, as its worker says. */
uint64_t recall_used(int fd);

/*
 * Maps the log at the descriptor, which is borrowed only for this call. LT_ERROR: it is not a log (error chain). Only
 * one process at a time should write; if an old one still does, what both write may be lost.
 */
enum lt_status recall_open(struct recall *r, int fd, bool writes);
void recall_close(struct recall *r);

/* ---- its worker ---- */

/* Adds an entry with these bytes, whose position is set. false: it is larger than half of the limit. */
bool recall_add(struct recall *r, struct recall_entry *e, const void *bytes);

/* Whether an entry is among the oldest quarter of the bytes that a full log keeps, or is no longer kept. */
bool recall_is_old(const struct recall *r, uint64_t position);

/* ---- readers ---- */

/* The position after the last entry so far. */
uint64_t recall_end(const struct recall *r);

/*
 * The next entry from a position on, whose own position is higher or the same. false: there is none, or the log is
 * damaged from there on.
 */
bool recall_look(const struct recall *r, uint64_t position, struct recall_entry *e);

/* The position after the entry. */
uint64_t recall_after(const struct recall_entry *e);

/* Copies the first len bytes of an entry found by recall_look(). false: it has fewer, or is no longer kept. */
bool recall_copy(const struct recall *r, const struct recall_entry *e, void *to, size_t len);

/* Whether entries have been dropped; for tests. */
bool recall_is_cut(const struct recall *r);

/* ---- the parent as a reader ---- */

/*
 * The traces of a source that the log at the descriptor has packets of, at most max: those with the latest packets, in
 * the order of these. Returns their number; 0 also if it is not a log.
 */
unsigned recall_traces(int fd, uint64_t source, uint64_t *traces, unsigned max);

#endif
