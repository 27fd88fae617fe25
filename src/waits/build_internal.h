/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_BUILD_INTERNAL_H
#define LT_WAITS_BUILD_INTERNAL_H

#include <glib.h>

#include "base/map64.h"
#include "waits/build.h"

/*
 * Inside the builder: build.c (events), build_rows.c (threads and their rows),
 * build_packets.c (who sent what to whom).
 */

/* What a thread does, as switches, wake-ups and the state dump tell. */
enum status {
	STATUS_UNKNOWN,
	STATUS_WAIT_FORK,
	STATUS_WAIT_CPU,
	STATUS_EXIT,
	STATUS_ZOMBIE,
	STATUS_BLOCKED,
	STATUS_RUN,
	STATUS_DEAD,
	STATUS_WAITING, /* seen so by the state dump */
};

enum { TID_IDLE = 0, TID_KERNEL = -1, TID_NOBODY = -2 };

struct build_thread {
	uint32_t host;
	int32_t tid;
	uint8_t status, old; /* enum status; old: before the last time it was set, to the same or another */
	bool exiting;        /* sched_process_exit was seen */
	bool gone;           /* its life is over */
	bool interrupted;    /* events were lost since it was last seen */
	uint32_t interrupts; /* of its host, when the status was set */
	uint64_t ran_ns;     /* it woke somebody then, which is no vertex: running from the last one to here */
	strid stop;          /* blocked, but by no wait: "stopped", "traced", "idle"; STRID_NONE */
	wait_row row;
	uint32_t life; /* of the row: another's, if it is another */
};

/* A packet received on a row, whose sender is known, and that has become no link yet. */
struct pending_link {
	bool set;
	wait_row from;
	uint32_t from_life;
	uint64_t from_ns, to_ns;
	enum wait_role role; /* of the receiver, in the connection */
};

struct build_row {
	struct wait_who who;
	uint32_t life;     /* how often the number has been used */
	uint64_t first_ns; /* its first vertex, 0 none */
	uint64_t ended_ns; /* its thread was gone, 0 not yet */
	wait_row older;    /* the row of the tid's life before */
	uint32_t older_life;
	struct pending_link pending;
	struct pending_link latest; /* the packet received last, if its sender is known: it may wake several */
};

struct build_cpu {
	int32_t tid; /* it runs since its last switch, TID_NOBODY unknown */
	bool lost;   /* it is unknown as events were lost */
};

struct build_host {
	GArray *cpus;        /* struct build_cpu, by number */
	uint32_t interrupts; /* how often events were lost */
	uint64_t lost_ns;    /* when that was last known to be over */
	uint64_t midway_ns;  /* its record begins here, in the midst of things; 0: it does not */
};

/* Who began a connection: its SYN was seen. */
struct opening {
	uint64_t key;  /* of the two ends, whichever comes first */
	bool by_least; /* the least of the two (build_packets.c) did */
};

/* The last time a task sent something on a flow. */
struct flow {
	uint64_t key;
	wait_row row;
	uint32_t life;
	uint64_t sent_ns;
};

struct build {
	struct wait_graph *graph;
	strid idling;             /* "idle": a thread of the kernel that has no work */
	GArray *hosts;            /* struct build_host */
	GArray *rows;             /* struct build_row, by wait_row */
	GPtrArray *threads;       /* struct build_thread *; one for each tid ever seen */
	struct map64 tids;        /* host, tid -> thread */
	struct map64 idles;       /* host, CPU -> thread */
	struct map64 kernels;     /* host, CPU -> thread */
	struct flow *flows;       /* FLOWS of them, by hash */
	struct opening *openings; /* FLOWS of them, by hash */
	struct matcher *matcher;
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

void build_rows_create(struct build *b);
void build_rows_destroy(struct build *b);

/* The thread that has the tid now, for tid 0 the CPU's idle task; NULL: not known. */
struct build_thread *build_thread_find(struct build *b, unsigned host, int32_t tid, unsigned cpu);

/* The same, made if need be; is_new: it was. */
struct build_thread *build_thread_get(struct build *b, unsigned host, int32_t tid, unsigned cpu, bool *is_new);

/* Whoever receives the CPU's packets in interrupts and softirqs; always running. */
struct build_thread *build_thread_kernel(struct build *b, unsigned host, unsigned cpu);

/* Who runs on the CPU by its last switch; NULL: not known. */
struct build_thread *build_thread_current(struct build *b, unsigned host, unsigned cpu);
struct build_cpu *build_cpu(struct build *b, unsigned host, unsigned cpu);

/* Its life is over: whoever has the tid next is another. Not for idle tasks. Idempotent. */
void build_thread_gone(struct build *b, struct build_thread *t);

void build_thread_set(struct build *b, struct build_thread *t, enum status status);
void build_thread_name(struct build *b, const struct build_thread *t, strid comm, int32_t pid);

/* ---- build_packets.c ---- */

void build_packets_create(struct build *b);
void build_packets_destroy(struct build *b);
void build_packets_restart(struct build *b);

/* The row gets its next vertex: what it received before becomes a link. */
void build_packets_settle(struct build *b, wait_row row);

/* Whether somebody who is woken by what the row received is the client of whom it comes from. */
enum wait_role build_packets_role(const struct build *b, wait_row row);

/* What the row received has woken somebody, who has a vertex now: that is whom it is for. */
void build_packets_redirect(struct build *b, wait_row row, wait_row woken);

/* The packet it received last wakes nobody any more. */
void build_packets_forget(struct build *b, wait_row row);

void build_packet(struct build *b, unsigned host, const struct wait_event *e, const struct clock_packet *packet);

/* ---- build.c ---- */

/* Who runs on the event's CPU, by its last switch or, after a loss, by the event itself; NULL: not known. */
struct build_thread *build_current(struct build *b, unsigned host, const struct wait_event *e);

/* A vertex now that ends an edge with what the thread does at present; returns its row. */
wait_row build_extend(struct build *b, const struct build_thread *t);

#endif
