/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_WAITLOG_H
#define LT_MODEL_WAITLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strpool.h"
#include "clock/match.h"

/*
 * What the wake-up graph (waits/) needs of a host's events: the model writes
 * one struct wait_event for each switch, wake-up, fork, exit, packet … while it
 * applies the host's records, as it alone knows names, calls, files and
 * interrupt contexts at that moment. The log keeps them in order until they are
 * taken; hosts are put into one order only behind it.
 */

/* What a thread is doing, on its own row or on a path: the states of CONTRACT, in the reports' order. */
enum wait_state {
	WAIT_RUNNING = 0,
	WAIT_PREEMPTED,
	WAIT_INTERRUPTED,
	WAIT_TIMER,
	WAIT_BLOCK_DEVICE,
	WAIT_NETWORK,
	WAIT_USER_INPUT,
	WAIT_IPI,
	WAIT_BLOCKED, /* nothing in the trace explains it */
	WAIT_UNKNOWN,
	WAIT_STATES
};

/* "running", "block_device" … : the name in reports; "unknown" for anything else. */
const char *wait_state_name(enum wait_state state);

enum wait_event_kind {
	WAIT_EVENT_SWITCH = 1,  /* tid is switched in, from_tid out with prev_state */
	WAIT_EVENT_WAKE,        /* tid is woken */
	WAIT_EVENT_FORK,        /* tid is made, by from_tid */
	WAIT_EVENT_EXIT,        /* tid exits */
	WAIT_EVENT_RENAME,      /* tid executes another program, or is renamed */
	WAIT_EVENT_STATUS,      /* the state dump saw tid in prev_state (enum of lttng_statedump_process_state) */
	WAIT_EVENT_NET_SOFTIRQ, /* softirq NET_TX or NET_RX is entered */
	WAIT_EVENT_SEND,        /* a packet leaves */
	WAIT_EVENT_RECEIVE,     /* a packet comes in */
	WAIT_EVENT_INTERRUPT,   /* events were lost, or the host was away: nothing before is continued */
};

/* In which context of its CPU an event happened; innermost. */
enum wait_context {
	WAIT_CONTEXT_TASK = 0,
	WAIT_CONTEXT_HRTIMER,
	WAIT_CONTEXT_IRQ,       /* irq_handler_entry; nr: irq number */
	WAIT_CONTEXT_DO_IRQ,    /* function probe do_IRQ; no number */
	WAIT_CONTEXT_SOFTIRQ,   /* nr: vector */
	WAIT_CONTEXT_IPI,       /* x86_irq_vectors_*; nr: 0 */
	WAIT_CONTEXT_RECEIVING, /* a packet is being received (…receive_skb…_entry); below: what it runs in */
};

/* Whether a thread that waits for another is served by it, or waits for work: accounting charges the former. */
enum wait_role {
	WAIT_ROLE_NONE = 0, /* neither, or not known */
	WAIT_ROLE_CLIENT,   /* it connected, or a thread of the kernel works for it */
	WAIT_ROLE_SERVER,   /* the other one connected to it */
};

struct wait_event {
	uint64_t ts_ns;   /* by the host's own clock; never goes back within a host */
	uint8_t kind;     /* enum wait_event_kind */
	uint8_t context;  /* enum wait_context */
	uint8_t below;    /* the context below WAIT_CONTEXT_RECEIVING */
	uint8_t vec;      /* softirq vector of context or below; NET_SOFTIRQ: the one entered */
	uint16_t cpu;     /* INTERRUPT: WAIT_ALL_CPUS, the host was away; else events of that one were lost */
	bool new_task;    /* WAKE: by sched_wakeup_new */
	uint8_t role;     /* WAKE in a task: enum wait_role of tid, as far as files and calls tell */
	uint8_t state;    /* WAKE: enum wait_state, what tid has been waiting for, as far as the context tells */
	int32_t tid, pid; /* pid -1 unknown */
	int32_t from_tid, from_pid; /* WAKE, SEND, RECEIVE: who runs on the CPU as the event itself tells, else -1 */
	strid comm, from_comm;
	int32_t prev_state; /* SWITCH: the kernel's; STATUS: the dump's */
	int32_t fd;         /* WAKE, SWITCH: that this call works on, -1 none */
	strid cause;        /* WAKE: name of the irq, disk, interface … it was woken by, STRID_NONE unknown */
	strid call;         /* WAKE: the system call tid is in, SWITCH: from_tid; STRID_NONE none or unknown */
	strid object;       /* the same call: path or peer it works on */
	uint32_t packet;    /* SEND, RECEIVE: index into the log's packets, WAIT_NO_PACKET: headers not known */
};

enum { WAIT_ALL_CPUS = 0xffff };

#define WAIT_NO_PACKET UINT32_MAX

struct wait_log {
	struct wait_event *events;
	uint32_t n_events, events_capacity;
	struct clock_packet *packets; /* of these events */
	uint32_t n_packets, packets_capacity;
};

void wait_log_init(struct wait_log *log);
void wait_log_release(struct wait_log *log);

/* Forgets what was taken, keeps the memory. */
void wait_log_clear(struct wait_log *log);

#endif
