/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_TRACEPOINTS_H
#define LT_EVENT_TRACEPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "event/payload.h"

/* The figures that are incomplete if the trace lacks a tracepoint (bits). */
enum need {
	NEED_CPU = 1 << 0,
	NEED_SCHED = 1 << 1,
	NEED_PROCESS = 1 << 2,
	NEED_IRQ = 1 << 3,
	NEED_DISK = 1 << 4,
	NEED_NET = 1 << 5,
	NEED_SYSCALL = 1 << 6,
	NEED_DUMP = 1 << 7,
	NEED_PAGES = 1 << 8,
	NEED_FAULTS = 1 << 9,
};

/* How the reader converts a field of the event into words of the payload. */
enum field_type {
	FIELD_INT,       /* integer, boolean or enumeration: one word */
	FIELD_COMM,      /* text of at most 16 bytes, inline: two words */
	FIELD_STR,       /* text: a struct event_str, its bytes after the words; names "": filled in differently */
	FIELD_LEVELS,    /* sequence of integers: PID_LEVELS_MAX words, 0 after the last one (vtids) */
	FIELD_INT_PAIR,  /* array of two integers: two words (fildes) */
	FIELD_ARGS,      /* array of six integers: six words */
	FIELD_ADDR,      /* sequence of IPv4 bytes or IPv6 groups: two words, network byte order */
	FIELD_IP_HEADER, /* variant network_header, or transport_fields: ip_version … udp_len of struct ev_net */
	FIELD_MEMBER,    /* filled in by the reader in another way, never looked up */
};

struct field_desc {
	const char *names; /* alternatives separated by spaces, without leading '_' */
	uint16_t offset;   /* in the payload struct, bytes */
	uint8_t type;      /* enum field_type */
};

struct tracepoint_desc {
	const char *names; /* as in tracepoints.def */
	uint32_t need;     /* bits of enum need */
	uint16_t n_words;  /* of the payload */
	uint16_t n_fields;
	const struct field_desc *fields;
};

enum { TRACEPOINT_FIELDS_MAX = 16 };

extern const struct tracepoint_desc tracepoint_table[EVENT_KINDS];

/* The row of a kind, including the worker's own kinds (whose names are NULL). kind < EVENT_KINDS. */
static inline const struct tracepoint_desc *tracepoint_desc(enum event_kind kind)
{
	return &tracepoint_table[kind];
}

/* The least number of words that a record of the kind has: a record has that many, or all of them. */
static inline uint16_t tracepoint_least_words(enum event_kind kind)
{
	return kind == EVENT_SYSCALL_ENTRY  ? SYSCALL_ENTRY_LEAST_WORDS
	       : kind == EVENT_SYSCALL_EXIT ? SYSCALL_EXIT_LEAST_WORDS
					    : tracepoint_desc(kind)->n_words;
}

/* Whether events of the kind come from a kprobe, uprobe or function probe, and are counted by name as such. */
bool tracepoint_is_probe(enum event_kind kind);

/* Whether events of the kind are system call entries. */
static inline bool tracepoint_enters_call(enum event_kind kind)
{
	return kind == EVENT_SYSCALL_ENTRY || kind == EVENT_MOUNT_ENTRY;
}

/*
 * The kind of the events with that name; EVENT_OTHER if no figure needs them. For system calls *rest, if rest is not
 * NULL, is the call's name inside name ("" for exit_syscall), else NULL.
 */
enum event_kind tracepoint_find(const char *name, const char **rest);

#endif
