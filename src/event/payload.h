/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_PAYLOAD_H
#define LT_EVENT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

/*
 * The payload of each kind of record. Every member is a multiple of 8 bytes: an integer (int64_t, uint64_t), a comm
 * (char[16], NUL-padded) or a string. A field that the event lacks reads as 0 and its bit in event.present is clear.
 */

/* ---- made by the worker ---- */

enum trace_domain { DOMAIN_KERNEL = 1, DOMAIN_UST = 2, DOMAIN_OTHER = 3 };

struct ev_trace {
	struct event_str hostname; /* "" if the environment has none */
	struct event_str clock;    /* UUID of the clock class as text; "" if it has none */
	struct event_str tracer;   /* "lttng-modules 2.13.9" */
	struct event_str path;     /* in a form that the user can find */
	struct event_str kernel;   /* kernel_release */
	struct event_str procname; /* of the only process that it traces; "" if unknown */
	uint64_t domain;           /* enum trace_domain */
	uint64_t has_tid;          /* events carry a tid context */
	int64_t vpid;              /* PID of that process; -1: unknown */
	uint64_t end_hint_ns;      /* end of the last packet, if known: the recording lasts at least until then */
	uint64_t begin_ns;         /* events before this time are left out, or are no longer available; 0: none */
	uint64_t clock_zero_ns;    /* when its clock was 0, as measured for its session; 0: not known */
};

struct ev_class {
	struct event_str name;
	uint64_t kind; /* kind of this class's records: enum event_kind; EVENT_OTHER if no figure needs them */
};

struct ev_stream {
	uint64_t id;       /* within the source */
	uint64_t begin_ns; /* live: when its first packet began; 0: not known, or not live (EVENT_CPU_START) */
};

struct ev_perf_names {
	struct event_str name; /* as in the trace, without the leading '_': perf_cpu_page_fault */
	uint64_t index;        /* index of the perf word */
	uint64_t per_thread;   /* perf_thread_*: counts for the thread; otherwise for the CPU */
};

/* A part of the bytes for shape_parse(); the parts of a class come in order. */
struct ev_shape {
	struct event_str part;
	uint64_t offset; /* of this part in the whole, in bytes */
	uint64_t total;
};

struct ev_cpu_start {
	int64_t tid; /* prev_tid of the CPU's first sched_switch; 0: idle, EVENT_NO_TID: not known */
	int64_t prio;
	char comm[16];
	uint64_t in_call;  /* enum first_in_call */
	uint64_t is_whole; /* as far as is known, no older packet was overwritten: the CPU came online then */
};

/* Whether the thread was in a system call, deduced from its first events. */
enum first_in_call { FIRST_CALL_UNKNOWN = 0, FIRST_CALL_NO, FIRST_CALL_YES };

struct ev_lost {
	uint64_t events;
	uint64_t packets;
	uint64_t begin_ns; /* lost somewhere in [begin_ns, end_ns] */
	uint64_t end_ns;   /* not always ts_ns: no record may be later than the last event, or earlier than others */
};

/* Precedes the EVENT_LOST of the same loss: it comes with the last event before it, or at the end of its packet. */
struct ev_gap {
	uint64_t end_ns; /* after ts_ns */
};

/* The context fields of event.tid; bit i of present: the trace had member i. */
struct ev_context {
	int64_t pid;
	int64_t ppid;
	int64_t prio;
	int64_t vtid;
	int64_t vpid;
	uint64_t pid_ns;
	uint64_t cgroup_ns;
	uint64_t uid;
	char procname[16];
};

/* Its bits in event.present, in the order of the members. */
enum ev_context_bit {
	CTX_PID,
	CTX_PPID,
	CTX_PRIO,
	CTX_VTID,
	CTX_VPID,
	CTX_PID_NS,
	CTX_CGROUP_NS,
	CTX_UID,
	CTX_PROCNAME
};

/* Values in words of 8 bytes, see event/fields.h. */
struct ev_fields {
	struct event_str parts[4]; /* by enum fields_part */
	uint64_t cut;              /* bool: some values did not fit */
	uint64_t file;             /* where a recording has the event: fields_name_id() of its path; 0: unknown */
	uint64_t packet;           /* the packet's place in the file, in bytes */
	uint64_t at;               /* the event's place in the packet, in bits */
};

struct ev_wanted {
	uint64_t number; /* of the request: job_command.wanted */
};

struct ev_stream_end {
	uint64_t id;
};

struct ev_note {
	struct event_str text;
};

/* Why a source broke off: only the causes that are handled differently. */
enum failed_cause {
	FAILED_OTHER = 0,   /* damage and anything else */
	FAILED_NO_SESSION,  /* the relayd does not have a session of that name */
	FAILED_TAKEN,       /* another viewer is attached to the session */
	FAILED_UNREACHABLE, /* no connection: refused, unknown host, or the protocol is not spoken there */
	FAILED_GONE,        /* the connection broke, because the relayd went away */
	FAILED_OVERLAP,     /* its directories contain the same part of a recording: source/overlap.h */
	FAILED_WORKER,      /* never in a record: the worker died, was killed or wrote nonsense */
	FAILED_CAUSES
};

struct ev_failed {
	struct event_str text;
	uint64_t cause; /* enum failed_cause */
};

/*
 * Several sessions of a relayd may have the same host and name, and so the same URL: one with the kernel's events and
 * one with those of programs, or one per session daemon. A live source sends one record, when it has attached: its
 * session.
 */
struct ev_session {
	uint64_t id;               /* the relayd's number of it, until the relayd ends */
	struct event_str hostname; /* of the traced host */
	struct event_str name;
	struct event_str url; /* of the session, for source_parse_url() */
	uint64_t timer_us;    /* live timer; 0: not a live session */
	uint64_t streams;
	uint64_t clients; /* viewers attached; if there is one, another is refused */
};

/* ---- tracepoints ---- */

struct ev_sched_switch {
	int64_t prev_tid;
	int64_t next_tid;
	int64_t prev_state;
	int64_t prev_prio;
	int64_t next_prio;
	char prev_comm[16];
	char next_comm[16];
	/*
	 * Set if next is migration/N and the CPU's next event, at this time, shows another task: the CPU was offline
	 * until then. 0: it was not offline. Present only if the source could look ahead (a recording).
	 */
	uint64_t offline_until_ns;
};

enum { SWITCH_OFFLINE_UNTIL = 7 }; /* its bit in event.present */

struct ev_wakeup {
	int64_t tid;
	int64_t prio;
	int64_t target_cpu;
	char comm[16];
};

/* Limit on nested PID namespaces (the kernel's MAX_PID_NS_LEVEL), including the host's own. */
enum { PID_LEVELS_MAX = 33 };

struct ev_new_task { /* not ev_fork: libev has that name */
	int64_t parent_tid;
	int64_t parent_pid;
	int64_t child_tid;
	int64_t child_pid;
	uint64_t parent_ns; /* inodes of their PID namespaces */
	uint64_t child_ns;
	int64_t child_vtids[PID_LEVELS_MAX]; /* TIDs by level, from the host's to that in child_ns; 0 after the last */
	char parent_comm[16];
	char child_comm[16];
};

struct ev_exec {
	int64_t tid;
	int64_t old_tid;
	struct event_str filename;
};

struct ev_task { /* exit, free, wait, migrate, setprio, rename */
	int64_t tid;
	int64_t prio;
	int64_t orig_cpu;
	int64_t dest_cpu;
	char comm[16];
};

struct ev_cpu_hotplug {
	int64_t cpu;
	int64_t state;
};

struct ev_kill {
	int64_t tid;    /* the thread that it is sent to */
	int64_t number; /* signal number */
	int64_t code;   /* SI_USER … */
};

struct ev_irq {
	int64_t irq;
	struct event_str name;
};

struct ev_softirq {
	uint64_t vec;
};

struct ev_block_rq {
	uint64_t dev;
	uint64_t sector;
	uint64_t nr_sector; /* 512-byte sectors */
	uint64_t bytes;
	uint64_t rwbs;
	int64_t error;
};

struct ev_block_remap {
	uint64_t dev;
	uint64_t sector;
	uint64_t nr_sector;
	uint64_t old_dev;
	uint64_t old_sector; /* split: new_sector; elv_merge: nextrq_sector */
	uint64_t rwbs;
};

struct ev_cpu_frequency {
	uint64_t khz;
	int64_t cpu; /* the CPU with the new frequency, not the one that recorded the event */
};

struct ev_page {
	uint64_t order; /* 2^order contiguous pages */
	uint64_t pfn;   /* of the first one */
};

struct ev_work {           /* addresses in the kernel */
	uint64_t work;     /* of the item */
	uint64_t function; /* that executes it; 0: not in the event */
};

struct ev_inode { /* of a file, or of a block device itself */
	uint64_t ino;
	uint64_t flags;       /* I_DIRTY_* that it gets; 0 else */
	struct event_str dev; /* "MAJOR:MINOR" of the disk that it is on */
};

struct ev_net {
	uint64_t len;
	struct event_str name;
	/*
	 * TCP and UDP over IPv4 and IPv6. ip_version 0: the event has no IP header. If flags is not 0 then, it has only
	 * seq, ack_seq and flags of a TCP header: inet_sock_local_*, and net_dev_queue and netif_receive_skb of old
	 * builds (transport_fields). Those flags have 16 bits and include the data offset.
	 */
	uint64_t ip_version;
	uint64_t protocol;
	uint64_t saddr[2]; /* network byte order, IPv4 in the first 4 bytes */
	uint64_t daddr[2];
	uint64_t sport;
	uint64_t dport;
	uint64_t seq;
	uint64_t ack_seq;
	uint64_t flags;
	uint64_t ip_id;
	uint64_t tot_len;      /* IPv6: payload_len */
	uint64_t header_words; /* ihl << 8 | TCP data_offset */
	uint64_t frag_off;     /* IPv4: flags and offset, see packet_fragment_offset() */
	uint64_t udp_len;      /* of the whole datagram, with the UDP header */
};

struct ev_net_xmit {
	uint64_t len;
	int64_t rc; /* 0: the driver accepted it */
	struct event_str name;
};

/*
 * The records of system calls end before .family or .fd0 if the event has none of the fields from there on, as most do:
 * they are half of all events, and would take twice as much memory. tracepoint_least_words(), checked by event_check().
 */
struct ev_syscall_entry {
	int64_t nr;  /* field id of syscall_entry_unknown; otherwise -1 */
	int64_t fd;  /* the fd that the call works on (the input of splice, sendfile …) */
	int64_t fd2; /* output fd, newfd, second fd */
	int64_t cmd; /* fcntl cmd, socket family, epoll op, futex op … */
	uint64_t flags;
	uint64_t arg; /* count, fcntl arg, max fd … */
	struct event_str path;
	uint64_t family; /* of a socket address */
	uint64_t port;
	uint64_t addr[2]; /* as in ev_net */
	uint64_t args[6]; /* raw arguments of syscall_entry_unknown */
};

struct ev_mount { /* entry of mount(), which has more texts than other calls */
	struct event_str source;
	struct event_str directory;
	struct event_str type;
	uint64_t flags; /* MS_… */
};

struct ev_syscall_exit {
	int64_t nr; /* as in the entry */
	int64_t ret;
	int64_t fd0; /* pipe, socketpair */
	int64_t fd1;
	uint64_t family; /* peer address of accept */
	uint64_t port;
	uint64_t addr[2];
};

enum {
	SYSCALL_ENTRY_LEAST_WORDS = offsetof(struct ev_syscall_entry, family) / 8,
	SYSCALL_EXIT_LEAST_WORDS = offsetof(struct ev_syscall_exit, fd0) / 8,
};

struct ev_dump_process {
	int64_t tid;
	int64_t pid;
	int64_t ppid;
	int64_t type;   /* 0 user, 1 kernel thread */
	int64_t status; /* 0 unknown, 1 wait fork, 2 wait CPU, 3 exit, 4 zombie, 5 wait, 6 run, 7 dead */
	uint64_t file_table;
	int64_t vtid; /* in this event only before 2.13 */
	int64_t vpid;
	uint64_t ns_level;
	uint64_t ns_inum;
	char name[16];
};

struct ev_dump_ns {
	int64_t tid;
	int64_t vtid;
	int64_t vpid;
	uint64_t ns_level;
	uint64_t ns_inum;
};

struct ev_dump_fd {
	uint64_t file_table;
	int64_t pid; /* only before 2.13 */
	int64_t fd;
	uint64_t flags;
	uint64_t fmode;
	struct event_str filename;
};

struct ev_dump_disk {
	uint64_t dev;
	struct event_str name;
};

struct ev_dump_netif {
	struct event_str name;
};

struct ev_dump_irq {
	int64_t irq;
	struct event_str name;
	struct event_str action;
};

struct ev_none { /* no payload */
	uint64_t unused[0];
};

struct ev_probe { /* a function probe */
	uint64_t ip;
};

struct ev_message {
	struct event_str text;
};

#endif
