/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_INGEST_H
#define LT_INGEST_INGEST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/model.h"

/*
 * The pump: opens the sources, merges each host's records in time order and
 * applies them to the host's model, as far as it is told to. Reports and the
 * monitor drive it alike; it knows neither.
 *
 * Hosts are independent of each other: each has its own merge and its own
 * clock, and none waits for another. Main thread only.
 */
struct ingest;

struct ingest_options {
	unsigned workers; /* worker processes wanted in all, 0: one per CPU; every recording gets at least one */
};

struct ingest_host {
	char *name;          /* "web", "localhost#2" */
	char *source;        /* path or URL it comes from; several joined by ", " */
	char *tracer;        /* "lttng-modules 2.13.9" */
	struct model *model;
	uint64_t begin_ns;   /* of its record: the first event; 0 not known yet */
	uint64_t end_ns;     /* last event applied + 1 ns; final once ended */
	uint64_t end_hint_ns; /* end of its last packet: about how long it will be; 0 unknown */
	uint64_t applied_ns; /* everything before this time has been applied */
	bool ended;          /* its sources gave all they had */
	char *trouble;       /* why it is incomplete (a worker broke off …), NULL: it is not */
};

struct ingest *ingest_create(const struct ingest_options *options);
void ingest_destroy(struct ingest *in);

/*
 * Opens a SOURCE of the command line. LT_ERROR: it cannot be read at all (the
 * reason in the error chain); other sources go on.
 */
enum lt_status ingest_open(struct ingest *in, const char *source);

/*
 * Starts the workers and waits until every host is known with the time of its
 * first event. LT_ERROR: not one source could be read. Hosts are sorted by name.
 */
enum lt_status ingest_start(struct ingest *in);

unsigned ingest_host_count(const struct ingest *in);
struct ingest_host *ingest_host(struct ingest *in, unsigned i);

/* The earliest begin of all hosts: where every grid of intervals starts. */
uint64_t ingest_begin_ns(const struct ingest *in);

/*
 * Applies host i's events before until_ns, at most max_events of them (0: no
 * bound). LT_OK: all before until_ns are applied. LT_END: and the host has no
 * more. LT_AGAIN: max_events reached, or the sources have nothing now (then wait).
 */
enum lt_status ingest_advance(struct ingest *in, unsigned i, uint64_t until_ns, uint64_t max_events);

/* The same, waiting for the workers as long as it takes. LT_INTERRUPTED: *stop became true. */
enum lt_status ingest_advance_wait(struct ingest *in, unsigned i, uint64_t until_ns, const volatile bool *stop);

/* Descriptors to wait on: readable when a source has something new. */
unsigned ingest_fds(const struct ingest *in, int *fds, unsigned max);

/* Looks after the workers: ends those that hang, reports those that died. Call about once a second. */
void ingest_watch(struct ingest *in);

/* Whether anything was lost, corrupt or unreadable so far: exit status 3. */
bool ingest_incomplete(const struct ingest *in);

#endif
