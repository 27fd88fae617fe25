/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_BUILD_INTERNAL_H
#define LT_WAITS_BUILD_INTERNAL_H

#include <glib.h>

#include "base/map64.h"
#include "waits/build.h"

/*
 * Internals of the builder: build.c (events), build_begin.c (the time before the first ones), build_rows.c (threads and
 * their rows), build_packets.c (the senders and receivers of packets), build_work.c (which thread queued the work of
 * another).
 */

/* What a thread does, according to switches, wake-ups and the state dump. */
enum status {
	STATUS_UNKNOWN,
	STATUS_WAIT_FORK,
	STATUS_WAIT_CPU,
	STATUS_EXIT,
	STATUS_ZOMBIE,
	STATUS_BLOCKED,
	STATUS_RUN,
	STATUS_DEAD,
};

enum { TID_IDLE = 0, TID_KERNEL = -1, TID_NOBODY = -2 };

struct build_thread {
	uint32_t host;
	int32_t tid;
	uint8_t status, old; /* enum status; old: the value before it was last set, which may be the same */
	bool exiting;        /* sched_process_exit was seen */
	bool gone;           /* the thread no longer exists */
	uint32_t sure;       /* 1 + its place in the host's list of that name; 0: events were lost since it was seen */
	uint32_t spared;     /* the host's count of losses at the last one that did not concern the thread */
	uint64_t ran_ns;     /* when it last woke a thread, without a vertex: it ran from its last vertex to here */
	strid work;          /* function of the work item that it executes, STRID_NONE: none, or unknown */
	uint64_t given_ns;   /* when it was woken from waiting for work; 0: it has started a work item since */
	wait_row giver;      /* by which row; WAIT_NO_ROW: in an interrupt */
	strid stop;          /* blocked without waiting: "stopped", "traced", "idle"; or STRID_NONE */
	wait_row row;
	uint32_t life; /* the row's when it was assigned; if they differ, the row is another thread's now */
};

/* A packet received on a row, whose sender is known. */
struct pending_link {
	bool set;
	wait_row from, to;
	uint32_t from_life;
	uint64_t from_ns, to_ns;
	uint64_t written_ns; /* its data existed by then: from_ns, or later if the sender may have written it since */
	enum wait_role role; /* the receiver's role in the connection */
};

/* A name that a thread no longer has. */
struct earlier_name {
	strid comm;
	uint64_t until_ns;
};

enum { EARLIER_NAMES = 3 }; /* a thread has its creator's, then often a shell's, before it executes a program */

struct build_row {
	struct wait_who who;
	struct earlier_name earlier[EARLIER_NAMES]; /* the oldest first */
	unsigned n_earlier;
	uint32_t life;     /* number of times this row number has been used */
	uint64_t first_ns; /* its first vertex; 0: none */
	wait_row older;    /* the row of the thread that had the TID before */
	uint32_t older_life;
	struct pending_link pending; /* of the last packet received */
};

struct build_cpu {
	int32_t tid; /* the thread it has run since its last switch; TID_NOBODY: unknown */
	bool lost;   /* tid is unknown because events were lost */
	bool in_gap; /* and more of them are lost until the next interruption */
};

/* The packets that a CPU is delivering, by place (struct wait_event): each may wake several threads. */
struct build_received {
	unsigned n; /* places in use */
	struct pending_link links[WAIT_PLACE_LOCAL + 1];
};

/* A work item that was queued. */
struct queued_work {
	wait_row row; /* by which thread; WAIT_NO_ROW: in an interrupt, or unknown */
	uint32_t life;
	uint64_t t_ns;        /* 0: unknown */
	struct wait_cause by; /* in an interrupt: what brought it, for graph_idle() */
};

struct build_host {
	GArray *cpus;              /* struct build_cpu, by number */
	GPtrArray *sure;           /* struct build_thread *: whose state is known; never gone ones */
	GArray *received;          /* struct build_received, by CPU */
	uint32_t interrupts;       /* number of times events were lost */
	uint64_t lost_ns;          /* the end of the last loss */
	bool in_gap;               /* one of the CPUs is */
	uint64_t midway_ns;        /* build_begin_midway(); 0: it was not called */
	struct queued_work *works; /* WORKS_MAX, by number; NULL: none yet */
};

/* Which end opened a connection, for connections whose SYN was seen. */
struct opening {
	uint64_t key;  /* hash of the two ends, the lesser first */
	bool by_least; /* the lesser of the two (build_packets.c) opened it */
};

/* The last time a task sent something on a flow. */
struct flow {
	uint64_t key;
	wait_row row;
	uint32_t life;
	uint32_t end_seq; /* TCP: of the byte after what it sent */
	uint64_t sent_ns;
};

struct build {
	struct wait_graph *graph;
	strid idling;             /* "idle": a thread of the kernel that has no work */
	GArray *hosts;            /* struct build_host */
	GArray *rows;             /* struct build_row, by wait_row */
	GPtrArray *threads;       /* struct build_thread *; gone ones until their row is another thread's */
	GArray *spare;            /* uint32_t: numbers in threads that are not in use */
	struct map64 tids;        /* host, TID -> thread */
	struct map64 idles;       /* host, CPU -> thread */
	struct map64 kernels;     /* host, CPU -> thread */
	struct flow *flows;       /* FLOWS entries, by hash */
	struct opening *openings; /* FLOWS entries, by hash */
	struct matcher *matcher;
	struct pending_link *receiving; /* of the packet that is being fed, NULL: it was sent */
	uint32_t living, living_max;    /* threads that are not gone; 0: no limit */
	uint64_t links;
	uint64_t now_ns;
};

static inline struct build_row *build_row(const struct build *b, wait_row row)
{
	return &g_array_index(b->rows, struct build_row, row);
}

static inline struct build_host *build_host(const struct build *b, unsigned host)
{
	return &g_array_index(b->hosts, struct build_host, host);
}

/* ---- build_rows.c ---- */

void build_rows_create(struct build *b, size_t memory_bytes); /* 0: no limit */
void build_rows_destroy(struct build *b);

/* Ends the threads that were idle longest if there are too many. Call it between events. */
void build_rows_limit(struct build *b);

/* The thread that has the TID now; for TID 0, the CPU's idle task. NULL: unknown. */
struct build_thread *build_thread_find(struct build *b, unsigned host, int32_t tid, unsigned cpu);

/* The same, created if there is none; *is_new: it was created. */
struct build_thread *build_thread_get(struct build *b, unsigned host, int32_t tid, unsigned cpu, bool *is_new);

/* The pseudo-thread that receives the CPU's packets in interrupts and softirqs; always running. */
struct build_thread *build_thread_kernel(struct build *b, unsigned host, unsigned cpu);

/* The thread on the CPU according to its last switch; NULL: unknown. */
struct build_thread *build_thread_current(struct build *b, unsigned host, unsigned cpu);

/* Created if need be; valid until the next call for this host. */
struct build_cpu *build_cpu(struct build *b, unsigned host, unsigned cpu);

/* The thread no longer exists; the next one with its TID is another. Not for idle tasks. Idempotent. */
void build_thread_gone(struct build *b, struct build_thread *t);

/* The thread is seen: its state is known until events are lost. Idempotent. */
void build_thread_sure(struct build *b, struct build_thread *t);

/* The opposite; the last of the host's list takes its place. Idempotent. */
void build_thread_unsure(struct build *b, struct build_thread *t);

void build_thread_set(struct build_thread *t, enum status status);

/*
 * The thread is blocked, and the switch that says how was not seen. A kworker is taken to be without work, as nearly
 * always: it is not known to have waited for the disk or timer whose interrupt wakes it.
 */
void build_thread_asleep(struct build *b, struct build_thread *t);

void build_thread_name(struct build *b, const struct build_thread *t, strid comm, int32_t pid);

/* ---- build_begin.c ---- */

/* WAIT_EVENT_RUNS: what a CPU ran when its record began. */
void build_runs(struct build *b, unsigned host, const struct wait_event *e);

/* If the host's events start midway: the status that the thread's first event ends has lasted since then. */
void build_since_begin(struct build *b, struct build_thread *t, enum status status);

/* The state dump saw the thread wait, for an unknown time. */
void build_begin_blocked(struct build *b, struct build_thread *t);

/* ---- build_packets.c ---- */

void build_packets_create(struct build *b, size_t memory_bytes);
void build_packets_destroy(struct build *b);
void build_packets_restart(struct build *b);

/* Call it before the row's next vertex is added: the packet received before becomes a link. */
void build_packets_settle(struct build *b, wait_row row);

/* The packet that the wake-up names, received on this row; NULL: none, or its sender is unknown. */
const struct pending_link *build_packets_waking(const struct build *b, unsigned host, const struct wait_event *e,
						wait_row row);

/*
 * That packet woke a thread, which has a vertex now: links the packet to that thread, which was asleep since asleep_ns
 * (0: unknown). waited: its last edge is a wait, and not one for work.
 */
void build_packets_redirect(struct build *b, const struct pending_link *packet, wait_row woken, uint64_t asleep_ns,
			    bool waited);

/*
 * Where the packet that the event's CPU receives is received: in its thread or, if that is interrupted or idle, in the
 * kernel's. NULL: unknown.
 */
struct build_thread *build_receiver(struct build *b, unsigned host, const struct wait_event *e);

/* The packets that the CPU received will not wake any more threads. */
void build_packets_forget(const struct build *b, unsigned host, unsigned cpu);

void build_packet(struct build *b, unsigned host, const struct wait_event *e, const struct clock_packet *packet);

/* ---- build_work.c ---- */

void build_work_queued(struct build *b, unsigned host, const struct wait_event *e);
void build_work_start(struct build *b, unsigned host, const struct wait_event *e);
void build_work_end(struct build *b, unsigned host, const struct wait_event *e);

/* ---- build.c ---- */

/* The thread on the event's CPU by its last switch or, after lost events, by the event itself; NULL: unknown. */
struct build_thread *build_current(struct build *b, unsigned host, const struct wait_event *e);

/* What brought work in an interrupt, for graph_idle(). */
struct wait_cause build_brought_by(const struct wait_event *e);

/* Adds a vertex now; the edge that ends there has the thread's present state. Returns its row. */
wait_row build_extend(struct build *b, const struct build_thread *t);

/* Lets a link start at the thread's row now. A running thread needs no vertex for it, which saves most vertices. */
void build_source(struct build *b, struct build_thread *t);

#endif
