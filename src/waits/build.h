/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_BUILD_H
#define LT_WAITS_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/match.h"
#include "waits/graph.h"
#include "waits/waits.h"

/*
 * From wait events to the graph: who runs where, who is blocked since when, who
 * wakes whom, which packet joins which rows. Events come in one order of reference
 * time, of all hosts; what a host's events say of its threads depends on that host alone.
 *
 *   switch     a vertex on both threads; the edge each ends has the state the thread was in
 *   wake-up    in a task: a link from the waker; elsewhere the context is the reason
 *   packets    a vertex where it was sent, one where it was received, a link between them once they are
 *              matched: to the receiver, or, if somebody is woken first, to whom it wakes
 *
 * Rows: one for each thread and life of a tid, one for each CPU's idle task, one for each CPU for what
 * it receives in interrupts and softirqs ("kernel").
 */
struct build;

struct build *build_create(struct wait_graph *g);
void build_destroy(struct build *b);

/* Hosts are numbered 0, 1 … in the order in which they are added. */
void build_add_host(struct build *b);

/*
 * The host's record is cut out of a longer one, from t_ns on (reference time): what a thread's first event
 * ends, it has been doing since then. Before its first event.
 */
void build_begin_midway(struct build *b, unsigned host, uint64_t t_ns);

/* t_ns: the event's reference time, never less than that of the one before. packet: NULL if it has none. */
void build_event(struct build *b, unsigned host, uint64_t t_ns, const struct wait_event *e,
		 const struct clock_packet *packet);

/* The graph was cleared: no packet before is matched with one that follows. Rows and what threads do stay. */
void build_restart(struct build *b);

/* How many packets became links so far. */
uint64_t build_links(const struct build *b);

struct wait_who build_who(const struct build *b, wait_row row);
wait_row build_find(const struct build *b, unsigned host, int32_t tid, uint64_t t_ns);
wait_row build_next(const struct build *b, wait_row row, bool threads_only);

/* The row's first vertex since the graph was cleared, 0: none. */
uint64_t build_first_ns(const struct build *b, wait_row row);

#endif
