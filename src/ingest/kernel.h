/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_KERNEL_H
#define LT_INGEST_KERNEL_H

/*
 * Internal to ingest/: events that several sessions have.
 *
 * If several sessions or recordings trace a host's kernel at the same time, each has the same events, which must be
 * counted once.
 *
 *   session 1   sched_switch  sched_waking  block_rq_issue        declares most: all of these are taken
 *   session 2   sched_switch                                syscall_entry_read     this one is taken, too
 *
 * Every event class is taken from only one session: of those that run and have the class, the one that declares the
 * most events that a figure needs. A session runs from its first event on. When it has ended, or has had no event for
 * KERNEL_IDLE_NS while another one has, the others are taken instead, and remain so while they run. One event may
 * be missing at that moment.
 *
 * Events of programs are compared one by one (ingest/programs.h), because two sessions may follow two programs.
 */

#include <stdbool.h>

#include "base/nstime.h"
#include "event/event.h"

#define KERNEL_IDLE_NS (2 * NS_PER_S)

/* The tracer writes an event to one session after the other; the times of the copies differ by at most this. */
#define KERNEL_COPY_NS (10 * NS_PER_US)

struct input;
struct host;
struct kernel_session;

void kernel_session_free(void *session);

/* Call it first for each record that is not an event, of an input whose host is known. */
void kernel_declare(struct input *input, const struct event *ev);

/* Whether the trace of that number, in which the input has events, is one of a kernel. */
bool kernel_has_trace(const struct input *input, unsigned trace);

/* Whether the record must be applied. Cheap. */
bool kernel_takes(struct host *host, struct input *input, const struct event *ev);

/*
 * If kernel_takes() returned true: the event's context (EVENT_CONTEXT), to be applied before the event; NULL: it has
 * none, or it was applied already. Contexts are held back while several sessions trace the kernel, until an event of
 * their thread is taken, because the thread of one that is not may be gone by then. To be called for a context that is
 * applied itself, too: it replaces the one that is held. Valid until the next call for the input.
 */
const struct event *kernel_context(struct input *input, const struct event *ev);

/* Whether the input's session only fills gaps of another session of its host, which is preferred. */
bool kernel_fills_gaps(const struct input *input);

/* Whether every session that has had an event has ended, but not the host. */
bool kernel_rests(const struct host *host);

/* The input's source has ended or broken off. */
void kernel_input_stopped(struct input *input);

/* Forgets what the input declared. */
void kernel_release(struct input *input);

/* The same, and forgets its sessions, too: it leaves its host. */
void kernel_leave(struct input *input);

#endif
