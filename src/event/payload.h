/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_PAYLOAD_H
#define LT_EVENT_PAYLOAD_H

#include <stdint.h>

#include "event/event.h"

/*
 * The payload of each kind of record. Every member is a multiple of 8 bytes:
 * an integer (int64_t, uint64_t), a comm (char[16], NUL-padded) or a string.
 * A field the event did not have reads 0 and its bit in event.present is clear.
 */

/* ---- made by the worker ---- */

enum trace_domain { DOMAIN_KERNEL = 1, DOMAIN_UST = 2, DOMAIN_OTHER = 3 };

struct ev_trace {
	struct event_str hostname; /* "" if the environment has none */
	struct event_str clock;    /* clock class UUID as text, "" if none */
	struct event_str tracer;   /* "lttng-modules 2.13.9" */
	struct event_str path;     /* as the user can find it */
	struct event_str kernel;   /* kernel_release */
	struct event_str procname; /* of the one process that it traces, "" if it does not say so */
	uint64_t domain;           /* enum trace_domain */
	uint64_t has_tid;          /* events carry a tid context */
	int64_t vpid;              /* of that process, -1: it does not say */
	uint64_t end_hint_ns;      /* end of the last packet, as far as it is known: the record is at least so long */
};

struct ev_class {
	struct event_str name;
	uint64_t kind; /* what records of this class are: enum event_kind, EVENT_OTHER if nobody asked */
};

struct ev_stream {
	uint64_t id; /* within the source */
};

struct ev_perf_names {
	struct event_str name; /* as in the trace, without leading '_': perf_cpu_page_fault */
	uint64_t index;        /* which perf word */
	uint64_t per_thread;   /* perf_thread_*: counts of the thread, else of the CPU */
};

/* A part of the bytes that shape_parse() takes; those of a class follow each other. */
struct ev_shape {
	struct event_str part;
	uint64_t offset; /* of it in the whole */
	uint64_t total;
};

struct ev_cpu_start {
	int64_t tid; /* prev of the CPU's first sched_switch, 0 idle */
	int64_t prio;
	char comm[16];
	uint64_t in_call; /* enum first_in_call */
};

/* Whether it was in a system call, as its first events show. */
enum first_in_call { FIRST_CALL_UNKNOWN = 0, FIRST_CALL_NO, FIRST_CALL_YES };

struct ev_lost {
	uint64_t events;
	uint64_t packets;
	uint64_t begin_ns; /* somewhere in [begin_ns, ts_ns] */
};

struct ev_backward {
	uint64_t by_ns;
};

/* The context fields of event.tid; bit i of present: member i was in the trace. */
struct ev_context {
	int64_t pid;
	int64_t ppid;
	int64_t prio;
	int64_t vtid;
	int64_t vpid;
	int64_t vppid;
	uint64_t pid_ns;
	uint64_t cgroup_ns;
	uint64_t user_ns;
	uint64_t mnt_ns;
	uint64_t net_ns;
	uint64_t uid;
	char procname[16];
};

/* Bits of present of it, in the order of the members. */
enum ev_context_bit {
	CTX_PID,
	CTX_PPID,
	CTX_PRIO,
	CTX_VTID,
	CTX_VPID,
	CTX_VPPID,
	CTX_PID_NS,
	CTX_CGROUP_NS,
	CTX_PROCNAME = 12
};

/* Values in words of 8 bytes, see event/fields.h. */
struct ev_fields {
	struct event_str parts[4]; /* by enum fields_part */
	uint64_t cut;              /* bool: there was more than fits */
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

/* Why a source broke off, as far as it makes a difference to what is to be done about it. */
enum failed_cause {
	FAILED_OTHER = 0,   /* damage and anything else */
	FAILED_NO_SESSION,  /* the relayd has no session of that name */
	FAILED_TAKEN,       /* another viewer is attached to the session */
	FAILED_UNREACHABLE, /* no connection: refused, no such host, nothing that speaks the protocol */
	FAILED_GONE,        /* the connection broke: the relayd went away */
	FAILED_WORKER,      /* no record says so: the worker died, was killed or wrote nonsense */
	FAILED_CAUSES
};

struct ev_failed {
	struct event_str text;
	uint64_t cause; /* enum failed_cause */
};

/* Sessions of the same host and name (one per tracing daemon) are one. */
struct ev_session {
	struct event_str hostname; /* of the traced host */
	struct event_str name;
	struct event_str url; /* of the session, as source_parse_url() takes it */
	uint64_t timer_us;    /* live timer; 0: not a live session */
	uint64_t streams;
	uint64_t clients; /* viewers attached: another one will be refused */
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
	 * Next is migration/N and the CPU's next event, at this time, shows another
	 * task: it was offline from here to there. 0: it was not. Present only if the
	 * source could look ahead (a recording).
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

/* How deep pid namespaces can be in each other (the kernel's MAX_PID_NS_LEVEL), the host's own too. */
enum { PID_LEVELS_MAX = 33 };

struct ev_new_task { /* not ev_fork: libev has that name */
	int64_t parent_tid;
	int64_t parent_pid;
	int64_t child_tid;
	int64_t child_pid;
	uint64_t parent_ns; /* inodes of their pid namespaces */
	uint64_t child_ns;
	int64_t child_vtids[PID_LEVELS_MAX]; /* its ids by level: the host's, …, in child_ns; 0 behind the last */
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
	int64_t tid;    /* of the thread it is for */
	int64_t number; /* of the signal */
	int64_t code;   /* SI_USER … */
};

struct ev_irq {
	int64_t irq;
	struct event_str name;
};

struct ev_softirq {
	uint64_t vec;
};

struct ev_hrtimer {
	uint64_t hrtimer;
	uint64_t function;
};

struct ev_block_rq {
	uint64_t dev;
	uint64_t sector;
	uint64_t nr_sector; /* 512-byte sectors */
	uint64_t bytes;
	uint64_t rwbs;
	int64_t tid;
	int64_t error;
	char comm[16];
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
	int64_t cpu; /* which one has it now, not where the event was */
};

struct ev_page {
	uint64_t order; /* 2^order contiguous pages */
	uint64_t pfn;   /* of the first one */
};

struct ev_net {
	uint64_t skbaddr;
	uint64_t len;
	struct event_str name;
	/*
	 * TCP, UDP over IPv4, IPv6. ip_version 0: the event has no IP header; if flags is not 0 it has
	 * a TCP header's seq, ack_seq and flags alone: inet_sock_local_*, and net_dev_queue and
	 * netif_receive_skb of old builds (transport_fields). Those flags are 16 bits with the data offset.
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
};

struct ev_net_xmit {
	uint64_t skbaddr;
	uint64_t len;
	int64_t rc; /* 0: the driver took it */
	struct event_str name;
};

struct ev_syscall_entry {
	int64_t nr;  /* field id of syscall_entry_unknown, else -1 */
	int64_t fd;  /* the fd the call works on (in-fd of splice, sendfile …) */
	int64_t fd2; /* out-fd, newfd, second fd */
	int64_t cmd; /* fcntl cmd, socket family, epoll op, futex op … */
	uint64_t flags;
	uint64_t arg; /* count, fcntl arg, max fd … */
	struct event_str path;
	uint64_t family; /* of a socket address */
	uint64_t port;
	uint64_t addr[2]; /* as in ev_net */
	uint64_t args[6]; /* raw arguments of syscall_entry_unknown */
};

struct ev_mount { /* the entry of mount(), which has more texts than those of other calls */
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

struct ev_dump_process {
	int64_t tid;
	int64_t pid;
	int64_t ppid;
	int64_t type; /* 0 user, 1 kernel thread */
	int64_t mode;
	int64_t submode;
	int64_t status; /* 0 unknown, 1 wait fork, 2 wait CPU, 3 exit, 4 zombie, 5 wait, 6 run, 7 dead */
	int64_t cpu;
	uint64_t file_table;
	int64_t vtid; /* before 2.13 in this event */
	int64_t vpid;
	int64_t vppid;
	uint64_t ns_level;
	uint64_t ns_inum;
	char name[16];
};

struct ev_dump_ns {
	int64_t tid;
	int64_t vtid;
	int64_t vpid;
	int64_t vppid;
	uint64_t ns_level;
	uint64_t ns_inum;
};

struct ev_dump_fd {
	uint64_t file_table;
	int64_t pid; /* before 2.13 */
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
	uint64_t ipv4;
};

struct ev_dump_irq {
	int64_t irq;
	struct event_str name;
	struct event_str action;
};

struct ev_dump_cpu {
	int64_t cpu;
	struct event_str architecture;
};

struct ev_none { /* no payload */
	uint64_t unused[0];
};

struct ev_probe { /* of a function probe */
	uint64_t ip;
};

struct ev_message {
	struct event_str text;
};

#endif
