/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_INGEST_KERNEL_H
#define LT_INGEST_KERNEL_H

/*
 * Inside ingest/: events that several sessions have.
 *
 * A host whose kernel several sessions or recordings trace at the same time. Each has the same events,
 * which are to be counted once.
 *
 *   session 1   sched_switch  sched_waking  block_rq_issue        declares most: all of it is taken
 *   session 2   sched_switch                                syscall_entry_read     this one is taken, too
 *
 * Every event class is taken from one of them: of those that run and have the class, from the one that declares most
 * events that some figure needs. A session runs from its first event on. When it has ended, or has had no event for
 * KERNEL_IDLE_NS while another one has, the others are taken instead, and stay so while they run. One event may
 * be missing then.
 *
 * What programs emit is looked at event by event (ingest/programs.h): two sessions may follow two programs.
 */

#include <stdbool.h>

#include "base/nstime.h"
#include "event/event.h"

#define KERNEL_IDLE_NS (2 * NS_PER_S)

/* The tracer writes an event to one session after the other: the times are that much apart at most. */
#define KERNEL_COPY_NS UINT64_C(10000)

struct input;
struct host;
struct kernel_session;

void kernel_session_free(void *session);

/* Before anything else is done about a record of the input that is no event, and whose host is known. */
void kernel_declare(struct input *input, const struct event *ev);

/* Whether the record is to be applied. Cheap. */
bool kernel_takes(struct host *host, struct input *input, const struct event *ev);

/*
 * After that: the context of the event (EVENT_CONTEXT), to be applied before it; NULL: none, or it was already. It
 * must not be on its own: where the event is not taken, its thread may have gone by then. Borrowed until the next call.
 */
const struct event *kernel_context(struct input *input, const struct event *ev);

/* Whether another session of its host is taken rather than one of the input's. */
bool kernel_fills_gaps(const struct input *input);

/* The input's source has ended or broken off. */
void kernel_input_stopped(struct input *input);

/* Forgets what the input declared. */
void kernel_release(struct input *input);

#endif
