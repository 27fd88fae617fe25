/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_LAYOUT_H
#define LT_CTF_LAYOUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "ctf/type.h"

/*
 * The metadata of a trace, of CTF 1.8 or CTF 2, to the extent needed to find the packets of a stream, the events of a
 * packet, and their times. Values of fields are never decoded: ctf/walk.h steps over them.
 */

/* t in ns since the epoch = offset_s × 10^9 + (offset + value) × 10^9 / freq */
struct layout_clock {
	char *name, *uuid; /* NULL: not given */
	uint64_t freq;     /* Hz */
	int64_t offset_s;
	int64_t offset; /* cycles */
	/* CTF 1.8: positions in the text, of the end of the block's '{', and of the two numbers (0, 0: not given). */
	size_t body;
	size_t offset_s_at, offset_s_len;
	size_t offset_at, offset_len;
};

struct layout_event {
	uint64_t id, stream_id;
	char *name;
	struct type *context, *fields; /* NULL: it has none */
	bool has_stream_id;
	bool is_known; /* false: it uses something that is not understood, and its end cannot be found */
};

struct layout_stream {
	uint64_t id;
	struct type *packet_context, *event_header, *event_context; /* NULL: it has none */
	GHashTable *events;                                         /* &id → struct layout_event */
	uint64_t align; /* bits: the greatest alignment in its events, at least 8 */
};

enum layout_format { LAYOUT_CTF_1_8, LAYOUT_CTF_2 };

struct layout {
	enum layout_format format;
	enum bits_order order; /* of numbers that do not specify it */
	bool has_uuid;
	uint8_t uuid[16];                 /* the one in the packets */
	struct type *packet_header;       /* NULL: packets have none */
	GHashTable *env;                  /* char * → char * */
	GHashTable *env_integers;         /* char * → int64_t * */
	size_t env_body;                  /* CTF 1.8: position in the text, after the '{' of env; 0: there is no env */
	size_t hostname_at, hostname_len; /* between the quotes; 0, 0: not given */
	GPtrArray *clocks;                /* struct layout_clock * */
	const struct layout_clock *clock; /* the clock of all times; NULL: there is none, or more than one */
	unsigned n_clocks;                /* number of clocks that times refer to */
	GPtrArray *streams;               /* struct layout_stream * */
	GHashTable *streams_by_id;        /* &id → struct layout_stream */
	GPtrArray *events;                /* struct layout_event * */
	GPtrArray *types;                 /* struct type *, all of them */
	unsigned n_slots;
	unsigned n_unknown; /* events with !is_known */
};

/*
 * Parses metadata text. LT_ERROR: the layout of packets or event headers is not understood. Events whose own layout is
 * not understood are only marked as such. Release with layout_destroy().
 */
enum lt_status layout_parse(const char *text, struct layout **out);

/*
 * As layout_parse(), for metadata to which more may be added: the clock alone is enough. As long as no stream is
 * described, .streams is empty, and nothing but times can be decoded.
 */
enum lt_status layout_parse_growing(const char *text, struct layout **out);

void layout_destroy(struct layout *l);

/* Adds an empty stream, for code that fills the layout. */
struct layout_stream *layout_add_stream(struct layout *l);

/* NULL: there is no stream with that id. */
struct layout_stream *layout_find_stream(const struct layout *l, uint64_t id);

static inline const struct layout_event *layout_find_event(const struct layout_stream *s, uint64_t id)
{
	return g_hash_table_lookup(s->events, &id);
}

/* A string of the trace's environment; NULL: it is not set. */
const char *layout_env(const struct layout *l, const char *key);

/* An integer of the trace's environment; false: it is not set, and *value is untouched. */
bool layout_env_integer(const struct layout *l, const char *key, int64_t *value);

/*
 * Convert between the clock's values and ns since the epoch; saturate at 0. Without a clock, the trace's times are in
 * ns.
 */
uint64_t layout_to_ns(const struct layout *l, uint64_t value);

/* As layout_to_ns(); false: the time is before 1970 or does not fit, and *ns is saturated. */
bool layout_time(const struct layout *l, uint64_t value, uint64_t *ns);
uint64_t layout_from_ns(const struct layout *l, uint64_t ns);

/*
 * The metadata text with every clock set forward by shift_ns, and with that hostname (NULL: the original one), which
 * must not contain characters that a string must escape. The layout itself does not change. To be freed with g_free().
 */
char *layout_edit_text(const struct layout *l, const char *text, int64_t shift_ns, const char *hostname);

#endif
