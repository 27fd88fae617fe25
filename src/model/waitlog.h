/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_WAITLOG_H
#define LT_MODEL_WAITLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strpool.h"
#include "clock/match.h"

/*
 * What the wake-up graph (waits/) needs from a host's events: the model writes one struct wait_event for each switch,
 * wake-up, fork, exit, packet … while it applies the host's records, as only the model knows names, calls, files and
 * interrupt contexts at that moment. The log keeps them in order until they are taken; hosts are merged only after
 * that.
 */

/* What a thread is doing, on its own row or on a path; in the order of the reports. */
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

/* "running", "disk" … : the name in a path on the screen, which filters know, too. */
const char *wait_state_label(enum wait_state state);

enum wait_event_kind {
	WAIT_EVENT_RUNS = 1,    /* tid has been running on its CPU since since_ns */
	WAIT_EVENT_SWITCH,      /* tid is switched in, from_tid (-1: unknown) out with prev_state */
	WAIT_EVENT_WAKE,        /* tid is woken */
	WAIT_EVENT_FORK,        /* tid is created, by from_tid */
	WAIT_EVENT_EXIT,        /* tid exits */
	WAIT_EVENT_RENAME,      /* tid (if set, until now from_tid) executes another program, or is renamed */
	WAIT_EVENT_STATUS,      /* the state dump saw tid in status (enum of lttng_statedump_process_state) */
	WAIT_EVENT_NET_SOFTIRQ, /* softirq NET_TX or NET_RX is entered */
	WAIT_EVENT_SEND,        /* a packet leaves */
	WAIT_EVENT_RECEIVE,     /* a packet comes in */
	WAIT_EVENT_WORK_QUEUED, /* a work item is queued */
	WAIT_EVENT_WORK_START,  /* a thread of a work queue starts to execute one */
	WAIT_EVENT_WORK_END,    /* and has done so */
	WAIT_EVENT_INTERRUPT,   /* events were lost, or the host was away: nothing continues across this */
};

/* The context of its CPU in which an event happened; the innermost. */
enum wait_context {
	WAIT_CONTEXT_TASK = 0,
	WAIT_CONTEXT_HRTIMER,   /* or the interrupt of the CPU's own timer */
	WAIT_CONTEXT_IRQ,       /* irq_handler_entry; nr: IRQ number */
	WAIT_CONTEXT_DO_IRQ,    /* function probe do_IRQ; no number */
	WAIT_CONTEXT_SOFTIRQ,   /* nr: vector */
	WAIT_CONTEXT_IPI,       /* x86_irq_vectors_*; nr: 0 */
	WAIT_CONTEXT_RECEIVING, /* a packet is being received (…receive_skb…_entry); below: the context it runs in */
};

/* Whether a thread that waits for another is its client, or waits for work: accounting charges the former. */
enum wait_role {
	WAIT_ROLE_NONE = 0, /* neither, or unknown */
	WAIT_ROLE_CLIENT,   /* it connected, or a kernel thread works for it */
	WAIT_ROLE_SERVER,   /* the other one connected to it */
};

struct wait_event {
	uint64_t ts_ns;             /* by the host's own clock; never goes back within a host */
	uint8_t kind;               /* enum wait_event_kind */
	uint8_t context;            /* enum wait_context */
	uint8_t below;              /* the context below WAIT_CONTEXT_RECEIVING */
	uint8_t vec;                /* softirq vector of context or below; NET_SOFTIRQ: the one entered */
	uint16_t cpu;               /* INTERRUPT: whose events were lost; WAIT_ALL_CPUS: the host was away */
	bool new_task;              /* WAKE: by sched_wakeup_new */
	bool was_ready;             /* SWITCH: tid was woken as it was last switched out */
	uint8_t role;               /* WAKE in a task: enum wait_role of tid, from files and calls */
	uint8_t state;              /* WAKE, WORK_QUEUED: enum wait_state, what the context explains */
	uint8_t place;              /* RECEIVE, WAKE: below, of the packet */
	bool of_kernel;             /* WAKE: tid is a thread of the kernel */
	int32_t tid, pid;           /* pid -1 unknown */
	int32_t from_tid, from_pid; /* WAKE, SEND, RECEIVE: runs on the CPU, by the event itself; else -1 */
	strid comm, from_comm;
	union {
		int32_t prev_state; /* SWITCH: the kernel's, of from_tid */
		int32_t status;     /* STATUS: the dump's */
		int32_t work;       /* WORK_…: number of the item, or NO_WORK */
		int32_t goes_on;    /* INTERRUPT: 1: until the CPU's next one */
	};
	union {
		struct {
			int32_t by_tid; /* SWITCH: ran longest while tid waited for the CPU; 0 idle, -1 unknown */
			strid by_comm;  /* its name */
		};
		uint64_t since_ns; /* RUNS: by the host's own clock, not after ts_ns */
	};
	int32_t fd;      /* WAKE, SWITCH: fd used by that call, -1 none */
	strid cause;     /* WAKE, WORK_QUEUED: the IRQ, disk, interface …; WORK_START: function; STRID_NONE unknown */
	strid call;      /* WAKE: system call of tid, SWITCH: of from_tid; STRID_NONE none or unknown */
	strid object;    /* path or peer used by that call */
	uint32_t packet; /* SEND, RECEIVE: index into the log's packets, WAIT_NO_PACKET: headers unknown */
};

enum { WAIT_ALL_CPUS = 0xffff };

/*
 * Places of the packets that a CPU is delivering: a wake-up names the place of the packet that caused it. A packet
 * takes the place of an earlier one that has been delivered, or belongs to the same connection.
 */
enum {
	WAIT_PLACES = 16,
	WAIT_PLACE_LOCAL = WAIT_PLACES, /* of the last inet_sock_local_in */
	WAIT_NO_PLACE = 0xff,
};

#define WAIT_NO_PACKET UINT32_MAX

/* Work items are numbered below WORKS_MAX from when they are queued until they start. */
enum { WORKS_MAX = 1024, NO_WORK = -1 };

struct wait_log {
	struct wait_event *events;
	uint32_t n_events, events_capacity;
	struct clock_packet *packets; /* of these events */
	uint32_t n_packets, packets_capacity;
};

void wait_log_init(struct wait_log *log);
void wait_log_release(struct wait_log *log);

/* Forgets all events, keeps the memory. */
void wait_log_clear(struct wait_log *log);

#endif
