/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_BUILD_H
#define LT_WAITS_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/match.h"
#include "waits/graph.h"
#include "waits/waits.h"

/*
 * Builds the graph from wait events: which thread runs on which CPU, since when a thread is blocked, which
 * thread wakes which, and which rows a packet links. The events of all hosts come merged by reference time;
 * the states of a host's threads depend on that host's events alone.
 *
 *   switch     a vertex on both threads; the edge that ends there has the state the thread was in
 *   wake-up    in a task: a link from the waker; elsewhere the context is the reason
 *   packets    a vertex where it was sent, one where it was received, and a link between them once they are
 *              matched: to the receiver, or, if a thread is woken first, to that thread
 *
 * Rows: one for each thread (a new one when a TID is reused), one for each CPU's idle task, and one for each
 * CPU for the packets it receives in interrupts and softirqs ("kernel").
 */
struct build;

/*
 * packet_bytes: memory for packets. row_bytes: memory for rows with vertices or without, as part of the graph's: beyond
 * it, the threads that were idle longest are taken for gone. 0: no limit.
 */
struct build *build_create(struct wait_graph *g, size_t packet_bytes, size_t row_bytes);
void build_destroy(struct build *b);

/* Hosts are numbered 0, 1 … in the order in which they are added. */
void build_add_host(struct build *b);

/*
 * The host's events are a part, from t_ns (reference time) on, of a longer recording: the state that a thread's
 * first event ends is taken to have lasted since t_ns. Call it before the host's first event.
 */
void build_begin_midway(struct build *b, unsigned host, uint64_t t_ns);

/* t_ns: the event's reference time, not before the previous event's. packet: NULL if the event has none. */
void build_event(struct build *b, unsigned host, uint64_t t_ns, const struct wait_event *e,
		 const struct clock_packet *packet);

/* Call it when the graph was cleared: later packets match none from before. Rows and thread states stay. */
void build_restart(struct build *b);

/* The number of packets that became links so far. */
uint64_t build_links(const struct build *b);

/* strpool_keep() for the names that threads have or had. */
void build_keep_paths(const struct build *b);

/* The number of threads: one for each row in use. */
uint32_t build_threads(const struct build *b);

/* Memory for packets. */
size_t build_packet_bytes(const struct build *b);

/* These answer waits_who(), waits_who_at(), waits_find(), waits_next() and waits_first_ns() in waits.h. */
struct wait_who build_who(const struct build *b, wait_row row);
struct wait_who build_who_at(const struct build *b, wait_row row, uint64_t t_ns);
wait_row build_find(const struct build *b, unsigned host, int32_t tid, uint64_t t_ns);
wait_row build_next(const struct build *b, wait_row row, bool threads_only);
uint64_t build_first_ns(const struct build *b, wait_row row);

#endif
