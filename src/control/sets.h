/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_SETS_H
#define LT_CONTROL_SETS_H

#include <stdint.h>

#include "base/status.h"

/* Sets of kernel tracepoints; each includes the previous ones. */
enum record_set {
	RECORD_SET_NONE,    /* no kernel tracing except events asked for by name */
	RECORD_SET_MINIMAL, /* CPU time and processes */
	RECORD_SET_WAITS,   /* and everything a thread can wait for */
	RECORD_SET_FULL,    /* and system calls: everything the panes show */
	RECORD_SETS,
	/* An addition: recorded with any set, only on request. */
	RECORD_SET_MEMORY = RECORD_SETS, /* pages and page faults */
	RECORD_SET_FREQUENCY,            /* frequencies of CPUs */
	RECORD_SET_WORK,                 /* work items of the kernel */
	RECORD_ALL_SETS,
};

enum record_event_kind {
	RECORD_TRACEPOINT,
	RECORD_SYSCALLS, /* all of them */
	RECORD_KPROBE,
};

/* How often an event occurs, which determines its cost. */
enum record_cost {
	RECORD_COST_START, /* once, when the recording starts */
	RECORD_COST_RARE,
	RECORD_COST_FORK, /* per new thread */
	RECORD_COST_EXEC,
	RECORD_COST_EXIT,   /* per thread that exits */
	RECORD_COST_SWITCH, /* once per context switch or less */
	RECORD_COST_MIGRATION,
	RECORD_COST_WORK, /* per work item of the kernel */
	RECORD_COST_WAKEUP,
	RECORD_COST_IRQ,
	RECORD_COST_DISK, /* per request */
	RECORD_COST_PACKET,
	RECORD_COST_CALL,  /* twice per system call */
	RECORD_COST_ALLOC, /* of pages */
	RECORD_COST_FREE,
	RECORD_COST_FAULT,
	RECORD_COSTS,
};

/* A row of sets.def. */
struct record_set_event {
	enum record_event_kind kind;
	enum record_set set; /* the smallest set it is in, or the addition */
	enum record_cost cost;
	const char *name;
	const char *meaning;
};

struct record_set_context {
	enum record_set set;
	unsigned bytes; /* per event */
	const char *name;
	const char *meaning;
};

/* All rows in file order. */
const struct record_set_event *record_set_events(unsigned *n);
const struct record_set_context *record_set_contexts(unsigned *n);

const char *record_set_name(enum record_set set);    /* of an addition, too */
const char *record_cost_text(enum record_cost cost); /* "once per context switch" */

/*
 * Parses the argument of --set, such as "waits,memory": at most one set (otherwise *set is unchanged) and any number of
 * additions, which are returned as bits 1 << enum record_set. LT_ERROR: an unknown word, or two sets.
 */
enum lt_status record_set_find(const char *words, enum record_set *set, uint32_t *additions);

/* The reverse; returns static text. */
const char *record_set_words(enum record_set set, uint32_t additions);

#endif
