/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_INTERNAL_H
#define LT_MODEL_INTERNAL_H

/*
 * Shared by the files of model/: the part of a host's state that is not figures, and the handlers. Nothing outside
 * model/ includes this.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cold.h"
#include "base/map64.h"
#include "base/strpool.h"
#include "event/payload.h"
#include "event/syscalls.h"
#include "event/tracepoints.h"
#include "model/buckets.h"
#include "model/model.h"
#include "model/waitlog.h"

#define NO_ROW STATE_NO_ROW

/* ---- what the traces declared ---- */

/* An event class of a trace. */
struct class_info {
	enum event_kind kind;
	strid name;
	struct event_row *counts;        /* TABLE_EVENT; NULL: none of its events has come yet */
	uint32_t event_row;              /* number of that row */
	bool compat;                     /* a system call by its 32-bit number */
	strid call;                      /* system calls: its name, STRID_NONE for …_unknown and exit_syscall */
	const struct syscall_desc *desc; /* of that call; NULL: only its time is used */
};

struct trace_info {
	bool announced;
	bool has_tid;
	bool has_waking; /* declares sched_waking: the other wake-ups do not count */
	strid ttwu;      /* declares sched_ttwu: the name of its class, else STRID_NONE */
	enum trace_domain domain;
	GArray *classes; /* struct class_info, by event.class_id */
	unsigned n_perf;
	strid perf_names[EVENT_PERF_MAX];
	bool perf_per_thread[EVENT_PERF_MAX];
};

/* ---- what runs ---- */

enum { IRQ_DEPTH_MAX = 8, TID_UNKNOWN = -1 };

/* One level of the handlers nested on a CPU. */
struct irq_frame {
	bool soft;
	uint32_t nr;
	uint32_t row; /* TABLE_IRQ */
	uint64_t entry_ns;
};

/* context.h: what a CPU does instead of running its task. */
enum { CONTEXT_DEPTH_MAX = 16 };

enum context_named_by { CONTEXT_NO_NAME, CONTEXT_IRQ_ROW, CONTEXT_DISK_ROW, CONTEXT_NETIF_ROW };

struct context_level {
	uint8_t kind;     /* enum wait_context */
	uint8_t named_by; /* enum context_named_by: the table of row */
	uint32_t nr;
	uint32_t row; /* the row with its name */
};

struct context_stack {
	unsigned depth;
	struct context_level levels[CONTEXT_DEPTH_MAX];
};

struct cpu {
	uint32_t row;     /* TABLE_CPU; NO_ROW: never seen */
	int64_t tid;      /* of the running thread, 0 idle, TID_UNKNOWN */
	uint32_t thread;  /* its TABLE_THREAD row; NO_ROW: idle or unknown */
	int64_t held_tid; /* TID of migration/N while it is unknown if that runs or the CPU is offline, else 0 */
	struct irq_frame irqs[IRQ_DEPTH_MAX];
	unsigned irq_depth;
	struct context_stack contexts;
	uint64_t raised_ns[32]; /* when softirqs were raised that have not been entered yet, 0 none */
	struct perf_last *perf; /* perf.c: last values of the CPU's perf contexts, per trace */
	struct slices *slices;  /* preemption.c: what ran here; NULL: not wanted, or nothing yet */
	int64_t waking_tid;     /* preemption.c: thread it is waking, until its CPU is known; 0 none */
};

/* A reference to a row of TABLE_FILE, which may have ended since. */
struct file_ref {
	uint32_t row;  /* NO_ROW: none */
	uint32_t kind; /* enum fd_kind, as known at that time */
	uint64_t uid;
};

/* A system call in flight. */
struct call_in_flight {
	bool active;
	strid name;
	const struct syscall_desc *desc;
	uint64_t entry_ns;
	uint32_t present; /* of the entry record */
	int64_t fd, fd2, cmd;
	uint64_t flags, arg;
	strid path;
	union {
		strid peer;   /* connect */
		strid source; /* mount; then cmd: it is a network file system, arg: strid of its server */
	};
	uint64_t channel;            /* connect, accept: cell channel of the socket once done, 0 unknown */
	struct file_ref file, file2; /* what fd and fd2 were when the call started */
};

struct fd_table;

/* The row of TABLE_BLOCKING, _RELATION or _PREEMPTION used last, likely to be used again; uid 0: none. See recent.h. */
struct recent_hint {
	uint32_t row;
	uint64_t uid;
};

/* A wait of a thread and where it was counted: the next one is mostly like it, or like the one before. */
struct wait_memo {
	uint32_t state; /* enum wait_state */
	strid call;
	int64_t fd;
	uint64_t file_uid;
	strid object;   /* name of that file, or of the peer that connect() waits for */
	uint64_t futex; /* that futex() waits for: its address in the process */
	struct recent_hint row;
};

/* The same for the wake-up of a thread by another one. */
struct wake_memo {
	uint64_t waker_uid;
	strid waker_call, call;
	uint64_t waker_file, file; /* uids */
	uint64_t futex;            /* that it waited for: its address in the process */
	bool counts;               /* the wake-up itself is counted */
	struct recent_hint row;
};

/* A thread that ran while another one was ready. */
struct ran_instead {
	int32_t tid; /* 0 the idle task, -1 unknown */
	strid comm;
	uint64_t ns; /* for how long */
};

/* How a thread waits for a CPU (THREAD_READY); see preemption.c. */
struct wait_for_cpu {
	int32_t cpu;         /* CPU that it waits for, -1 unknown */
	uint32_t place;      /* its index in preemption.c's list while it is ready */
	uint64_t charged_ns; /* up to when its wait has been charged */
	struct {
		uint64_t uid;            /* of the culprit */
		struct recent_hint hint; /* to the row of TABLE_PREEMPTION */
	} by[4];                         /* culprits charged last, by uid % 4 */
	struct ran_instead most;         /* who ran longest in this wait or the last one, up to where it is charged */
};

/* Whether a thread is inside the kernel, apart from interrupts: mode.c. */
enum thread_inside { INSIDE_UNKNOWN = 0, INSIDE_PROGRAM, INSIDE_KERNEL };

/* State of a thread that is not a figure; belongs to a row of TABLE_THREAD. */
struct thread {
	bool in_use;
	bool kept;          /* dirty.c: it ended, but its row has not yet */
	bool runs_softirqs; /* its name is ksoftirqd/N */
	uint8_t inside;     /* enum thread_inside */
	char comm[16];      /* raw bytes of its name, to detect changes cheaply */
	uint64_t ns_level;  /* of its own PID namespace, 0 the host's or unknown */
	uint32_t container; /* container.c: row of TABLE_CONTAINER, NO_ROW none */
	uint64_t woken_ns;  /* first wake-up while blocked, 0 none */
	uint64_t slice_ns;  /* when it was last seen switched in, 0 never */
	struct call_in_flight call;
	struct fd_table *files;       /* NULL: unknown */
	struct wait_memo waited[2];   /* blocking.c: its last waits, the latest first */
	struct wake_memo woken[2];    /* relations.c: its last wake-ups, the latest first */
	struct wait_for_cpu cpu_wait; /* preemption.c */
	uint64_t wrote_ns;            /* dirty.c: when a disk was last asked to write for it, 0 never */
	uint64_t wrote_ahead;         /* bytes of that in its current call, not yet written to a file */
	uint64_t owed;                /* dirty.c: bytes of its debts */
	uint64_t repaid_ns;           /* when some of them were last written back for it, 0 never */
	uint64_t dirties_ns, dirties; /* dirty.c: when it last dirtied a page, 0 never; of which inode */
	uint16_t batch;               /* dirty.c: of what it writes back now, 0 none */
	struct perf_last *perf;       /* perf.c: last values of its own perf contexts, per trace */
	uint32_t pages;               /* pages.c: its row of TABLE_PAGES, NO_ROW none */
	strid cwd;                    /* mounts.c: working directory, in a process' main thread; STRID_NONE unknown */
	uint8_t cwd_kind;             /* enum fd_kind of cwd */
	uint32_t requests;            /* pressure.c: disk requests that it started and that are not completed */
	uint8_t pressure;             /* pressure.c: enum pressure_kind, as currently counted */
	bool uninterruptible;         /* its current or last sleep is uninterruptible */
};

/* pressure.c: how a thread counts for the pressure on its host and container. */
enum pressure_kind { PRESSURE_IDLE = 0, PRESSURE_RUNS, PRESSURE_READY, PRESSURE_IO, PRESSURE_KINDS };

/* A host or a container: how many of its threads are of each kind. */
struct pressure_group {
	uint32_t row;       /* TABLE_PRESSURE, NO_ROW none */
	uint64_t container; /* uid, 0: the host */
	uint64_t state;     /* enum pressure_state, as in the row */
	uint64_t n[PRESSURE_KINDS];
};

/* The thread that asks a disk for something, if it still exists. */
struct asker {
	uint64_t thread_uid; /* 0: unknown */
	uint32_t thread;
	bool back;      /* it dirtied what a kernel thread writes back */
	uint16_t batch; /* dirty.c: of a kernel thread that writes back: of which inode, 0 unknown */
};

/* dirty.c: bytes that a thread wrote to files and that are not on a disk yet. */
struct debt {
	struct asker who;
	uint64_t since_ns, bytes;
	uint64_t inode; /* key of its device and number, 0 unknown */
};

enum { DEBTS_MAX = 1024, BATCHES_MAX = 256 };

/* What a kernel thread wrote back of one inode. */
struct written_batch {
	uint64_t inode; /* 0: not known yet */
	bool is_device; /* of the block device itself: data of the file system */
	uint16_t number;
};

/* Debts, the oldest first, and the threads that ended with some. */
struct dirty {
	struct debt debts[DEBTS_MAX];
	uint32_t first, n;
	uint32_t kept[DEBTS_MAX]; /* rows of TABLE_THREAD */
	uint32_t n_kept;
	uint64_t looked_ns; /* when it was last checked which of them to keep */
	bool sees_pages;    /* events show which thread dirties a page: calls do not count */
	bool sees_inodes;   /* events show the inode of each page dirtied in a call */
	struct written_batch batches[BATCHES_MAX];
	uint16_t n_batches; /* begun, modulo 2^16 */
};

/* The PID namespace that the state dump described last: of which thread, and its level. */
struct dumped_ns {
	int64_t tid;
	uint64_t level, inode;
};

struct model {
	struct host_state state;
	uint32_t host_row;
	struct host_row *host;          /* that row */
	uint64_t begin_ns;              /* start of the record, 0 unknown */
	uint64_t now_ns;                /* time of the event being applied */
	uint64_t lost_ns;               /* when events were last lost, 0 never */
	bool has_kernel;                /* one of the traces is the kernel's */
	bool some_sure;                 /* some thread's state was seen since then */
	struct wait_log *wait_log;      /* destination of wait events, NULL: none; borrowed */
	GPtrArray *sources;             /* GPtrArray of struct trace_info, by source then trace */
	struct map64 events;            /* name -> TABLE_EVENT row */
	uint32_t declared[EVENT_KINDS]; /* number of traces that declare the tracepoint */
	GArray *cpus;                   /* struct cpu, by number */
	struct map64 tids;              /* tid -> TABLE_THREAD row of the thread that has it now */
	GPtrArray *threads;             /* struct thread *, by row number */
	struct model_memory *memory;    /* memory.h; NULL: no limit */
	size_t room_from, room; /* memory.h: nothing to do while the bytes are in [room_from, room_from + room] */
	size_t used, ending;    /* its part of memory->used and ->ending */
	size_t retired_bytes;   /* bytes of the interval's ended rows */
	/* rows in place of those that did not fit, NO_ROW none: */
	uint32_t other_thread, other_file, other_preemption, other_connection;
	struct pressure_group pressure; /* pressure.c: of the host */
	GArray *pressures;              /* the same by row of TABLE_CONTAINER; NULL: not computed */
	uint32_t idle_pages;            /* pages.c: the row without a thread, NO_ROW none */
	uint32_t other_waits[WAIT_STATES], other_relations[RELATION_KINDS]; /* the same of TABLE_BLOCKING, _RELATION */
	uint64_t folded;                                                    /* number of rows that did not fit */
	uint64_t unfollowed;                                                /* living threads whose rows have ended */
	bool forgetting;                                                    /* fds are being forgotten, not closed */
	size_t fds_bytes;                                                   /* bytes of fd tables, without their rows */
	bool inherited;                                                     /* some fds may not have rows yet */
	bool lists_files;                                                   /* model_set_figures(): TABLE_FILE */
	bool counts_calls;                                                  /* the same: TABLE_SYSCALL, _SYSERR */
	uint64_t dump_end_ns; /* when the last state dump ended, 0 never */
	bool dumped;          /* a task of a state dump was seen */

	/* owned by the files that use them */
	struct syscalls *syscalls;       /* syscalls.c */
	struct files *files;             /* files.c; NULL, like others below: not wanted */
	struct mounts *mounts;           /* mounts.c */
	struct fifos *fifos;             /* fifos.c */
	struct block *block;             /* block.h */
	struct bios *bios;               /* bios.c */
	struct dirty dirty;              /* dirty.c */
	struct recent *blocking;         /* blocking.c: rows of TABLE_BLOCKING */
	struct relations *relations;     /* relations.c */
	struct preemption *preemption;   /* preemption.c */
	struct connections *connections; /* connections.c */
	struct map64 netifs;             /* net.c: name -> TABLE_NETIF row and kind of link */
	struct map64 irqs;               /* irq.c: (soft, nr, cpu) -> TABLE_IRQ row */
	struct map64 irq_names;          /* irq.c: IRQ number -> strid */
	struct buckets *buckets;         /* buckets.c */
	uint32_t bucket_tables;          /* model_set_buckets() */
	uint64_t log_dist, log_min_ns;   /* model_set_log() */
	uint64_t unlogged;               /* number of rows of TABLE_INSTANCE that did not fit */
	struct users *users;             /* user.c */
	struct works *works;             /* work.c; NULL: nothing yet */
	struct map64 containers;         /* container.c: inode -> TABLE_CONTAINER row */
	struct map64 vtids;              /* container.c: (thread row, level) -> TABLE_VTID row */
	struct dumped_ns dumped_ns;
	struct map64 perfs; /* perf.c: (thread row, counter) -> TABLE_PERF row */
};

/* An event being applied. */
struct apply {
	const struct event *ev;
	const struct trace_info *trace;
	const struct class_info *class; /* NULL for the worker's own records */
	struct cpu *cpu;                /* NULL: the record has no CPU */
	uint32_t thread;                /* row of the thread the event happened in; NO_ROW: idle or unknown */
};

typedef void handler_fn(struct model *m, const struct apply *a);

/* Handlers of tracepoints; each is in the file whose data it changes. */
#define TRACEPOINT(kind, payload, need, names)
#define HANDLED(kind, payload, handler, need, names) handler_fn apply_##handler;
#define COUNTED(kind, payload, member, need, names)
#include "event/tracepoints.def"

/* Accessors; the row pointer is valid for the life of the row. */
#define THREAD_ROW(m, row) STATE_ROW(&(m)->state, THREAD, thread, row)
#define CPU_ROW(m, row) STATE_ROW(&(m)->state, CPU, cpu, row)
#define FILE_ROW(m, row) STATE_ROW(&(m)->state, FILE, file, row)
#define HOST_ROW(m) ((m)->host)

static inline struct thread *thread_info(struct model *m, uint32_t row)
{
	return g_ptr_array_index(m->threads, row);
}

/*
 * Adds a value to a distribution of a row, at m->now_ns. thread: the row of the thread it happened to, NO_ROW: none;
 * cause: strid, what it was or who held it up. These two are only evaluated if the distribution is logged.
 *
 *	DIST_ADD(m, IRQ, irq, row, raise, ns, a->thread, name);
 */
#define DIST_ADD(m, TABLE, type, row, member, value, thread, cause)                                      \
	do {                                                                                             \
		model_dist_add(m, &STATE_ROW(&(m)->state, TABLE, type, row)->member, TABLE_##TABLE, row, \
			       CELL(type, member.count), value);                                         \
		if ((m)->log_dist == bucket_dist(TABLE_##TABLE, CELL(type, member.count)))               \
			model_log_instance(m, value, thread, cause);                                     \
	} while (0)

/* Adds a row of TABLE_INSTANCE, unless the value is too small to be logged. */
void model_log_instance(struct model *m, uint64_t value, uint32_t thread, strid cause);

static inline void model_dist_add(struct model *m, struct dist *d, enum table_id table, uint32_t row, unsigned cell,
				  uint64_t value)
{
	dist_add(d, value, m->now_ns);
	if (m->bucket_tables >> table & 1)
		buckets_count(m, table, row, cell, value);
}

static inline void touch_host(struct model *m)
{
	state_touch(&m->state, TABLE_HOST, m->host_row);
}

/* ---- process.c: threads ---- */

/* Adds a thread seen for the first time, nothing known about it. A previous thread with the TID keeps its row. */
uint32_t thread_new(struct model *m, int64_t tid);

/* The row of the thread that has this TID now; created (born before the record) if unknown. tid > 0. */
uint32_t thread_of_tid(struct model *m, int64_t tid);

/* The same without creating one: NO_ROW. */
uint32_t thread_find(const struct model *m, int64_t tid);

/* Sets its name if the 16 bytes are not empty. */
void thread_set_comm(struct model *m, uint32_t row, const char comm[16]);

/* Changes its state at m->now_ns, crediting the time in the old one. */
void thread_set_state(struct model *m, uint32_t row, enum thread_state state);

/* The row that stands for threads without one: no TID, named "other". Created on first use. */
uint32_t thread_other(struct model *m);

/* Ends the row of a thread that is still alive; it gets a new one when seen again. It must not be running. */
void thread_forget(struct model *m, uint32_t row);

/* Ends its row and everything that depends on it with this frame; the TID is free. */
void thread_end(struct model *m, uint32_t row);

handler_fn apply_context;

/* ---- mode.c: how the running thread spends its time ---- */

/* The CPU's thread has been switched in, or its mode may have changed: credits the time since the last change. */
void mode_update(struct model *m, const struct cpu *cpu);

/* The same where it is not known whether, and on which CPU, it runs. */
void mode_update_thread(struct model *m, uint32_t row);

/* It no longer runs. */
void mode_leave(struct model *m, struct thread_row *r);

/* The CPU's active handlers have changed. */
static inline void mode_handlers_changed(struct model *m, const struct cpu *cpu)
{
	if (cpu->thread != NO_ROW)
		mode_update(m, cpu);
}

/*
 * The thread enters the kernel by a call, or has left it. The caller touches its row. The body is mode_update() reduced
 * to this case, which occurs at every call.
 */
static inline void mode_set_inside(struct model *m, const struct cpu *cpu, uint32_t row, enum thread_inside inside)
{
	struct thread_row *r = THREAD_ROW(m, row);

	thread_info(m, row)->inside = (uint8_t)inside;
	if (!cpu || cpu->thread != row || r->mode == MODE_INTERRUPTED || r->flags & THREAD_KERNEL)
		return;
	if (r->mode == MODE_SYSTEM)
		r->system_ns += m->now_ns - r->mode_ns;
	r->mode = inside == INSIDE_KERNEL ? MODE_SYSTEM : MODE_USER;
	r->mode_ns = inside == INSIDE_KERNEL ? m->now_ns : 0;
}

/* It is seen to wait, or to have waited: it does that in the kernel. */
static inline void mode_has_waited(struct thread *t)
{
	if (t->inside == INSIDE_UNKNOWN)
		t->inside = INSIDE_KERNEL;
}

/* ---- container.c: which threads are in which containers ---- */

/* To be called after a change to the thread's namespaces or vtid. */
void container_place(struct model *m, uint32_t thread);

/* To be called after a change of its name: a container is named after its first process. */
void container_thread_renamed(struct model *m, uint32_t thread);

/* A child was forked: sets its IDs and namespaces. parent may be NO_ROW. */
void container_fork(struct model *m, uint32_t parent, uint32_t child, const struct ev_new_task *p);

/* The state dump describes one of the PID namespaces that the thread is in. */
void container_dump(struct model *m, uint32_t thread, const struct ev_dump_ns *p);

/* The thread leaves its container. */
void container_thread_end(struct model *m, uint32_t thread);

/* The row of a thread that ended before, and was kept for what it wrote (dirty.h), ends. */
void container_kept_end(struct model *m, uint32_t thread);

/* ---- pressure.c: how long hosts and containers lack CPUs or wait for disks; if m->pressures ---- */
void pressure_create(struct model *m);
void pressure_destroy(struct model *m);

/* The thread's state has changed, or its uninterruptible or requests. */
void pressure_changed(struct model *m, uint32_t thread);

/* A disk request that it started is queued (by 1) or done (by -1). */
void pressure_request(struct model *m, uint32_t thread, int by);

/* It is no longer known which requests there are. */
void pressure_forget_requests(struct model *m);

/* A container (its row and uid) appears, or has lost its last thread; a thread enters or leaves it. */
void pressure_container_begins(struct model *m, uint32_t container, uint64_t uid);
void pressure_container_ends(struct model *m, uint32_t container);
void pressure_enter(struct model *m, uint32_t thread, uint32_t container);
void pressure_leave(struct model *m, uint32_t thread, uint32_t container);

/* ---- cpu.c: what each CPU runs ---- */

LT_COLD struct cpu *cpu_make(struct model *m, unsigned number);

/* The CPU with that number; created if unknown: online, what it runs since the start of the record not known. */
static inline struct cpu *cpu_of_number(struct model *m, unsigned number)
{
	struct cpu *cpu = number < m->cpus->len ? &g_array_index(m->cpus, struct cpu, number) : NULL;

	return cpu && cpu->row != NO_ROW ? cpu : cpu_make(m, number);
}

/*
 * From now on the CPU runs this thread (tid 0, NO_ROW: idle). Credits the time in the old state; the caller must have
 * set the old thread's own state. If it was unknown what ran so far (start of the record, after a loss), nothing is
 * credited to it.
 */
void cpu_run(struct model *m, struct cpu *cpu, int64_t tid, uint32_t thread);

LT_COLD void cpu_settle_anew(struct model *m, struct cpu *cpu, int64_t tid);

/*
 * The thread seen running on the CPU has been running since the CPU's last change: settles what was unknown or assumed
 * otherwise. Called with the TID of every event (for a switch: its prev); cheap if it is as assumed.
 */
static inline void cpu_settle(struct model *m, struct cpu *cpu, int64_t tid)
{
	if (cpu->tid != tid && tid >= 0)
		cpu_settle_anew(m, cpu, tid);
}

/* It is unknown what it runs from now on; the thread seen next is credited from now. */
void cpu_unsettle(struct model *m, struct cpu *cpu);

/* It is offline from now until its next event. */
void cpu_offline(struct model *m, struct cpu *cpu);

/* The record starts: credits what is running from here on. */
void cpus_begin(struct model *m, uint64_t begin_ns);

/* If the thread runs on a CPU, unsettles that CPU: the thread was seen elsewhere or is gone. */
void cpu_lose_thread(struct model *m, uint32_t thread);

handler_fn apply_cpu_start;

/* ---- waitlog.c: only if m->wait_log ---- */

/* Whether the wake-up graph needs anything from events of this kind. */
static inline bool waitlog_uses(enum event_kind kind)
{
	switch (kind) {
	case EVENT_SCHED_SWITCH:
	case EVENT_SCHED_WAKING:
	case EVENT_SCHED_WAKEUP:
	case EVENT_SCHED_WAKEUP_NEW:
	case EVENT_FORK:
	case EVENT_EXEC:
	case EVENT_EXIT:
	case EVENT_RENAME:
	case EVENT_DUMP_PROCESS:
	case EVENT_SOFTIRQ_ENTRY:
	case EVENT_NET_QUEUE:
	case EVENT_NET_RECEIVE:
	case EVENT_SOCK_SEND:
	case EVENT_SOCK_RECEIVE:
		return true;
	default:
		return false;
	}
}

/* Log such an event for the graph, before and after its handler runs: the second may complete what the first logged. */
void waitlog_before(struct model *m, const struct apply *a);
void waitlog_behind(struct model *m, const struct apply *a);

/* A work item (work.c). number: from when it is queued until it starts, else NO_WORK. function: only if it starts. */
void waitlog_work(struct model *m, const struct apply *a, enum wait_event_kind kind, int32_t number, strid function);

/* Nothing continues across this point; cpu NULL: on any CPU. */
void waitlog_interrupt(struct model *m, const struct cpu *cpu);

/* ---- lost.c ---- */
handler_fn apply_lost, apply_backward;

/* ---- syscalls.c: timing and errors of every call; passes its effect to files.c ---- */
void syscalls_create(struct model *m);
void syscalls_destroy(struct model *m);
void syscalls_thread_end(struct model *m, uint32_t thread);

/* The row of a thread's call, and of an error of it; created if there is none. */
uint32_t syscalls_row(struct model *m, uint32_t thread, strid name);
uint32_t syscalls_error_row(struct model *m, uint32_t thread, strid name, int64_t error);

/* Stops following the call the thread is in: its exit will not be seen. */
void syscalls_forget(struct model *m, uint32_t thread);

/* ---- files.c: fd tables; io.c: bytes ---- */
void files_create(struct model *m);
void files_destroy(struct model *m);

/* A child was forked: it shares the parent's table or gets a copy. parent may be NO_ROW. */
void files_fork(struct model *m, uint32_t parent, uint32_t child, bool share);

/* The thread executes a new program: its table is no longer shared, O_CLOEXEC fds are closed. */
void files_exec(struct model *m, uint32_t thread);

/* The thread is gone: its table ends with its last user. */
void files_thread_end(struct model *m, uint32_t thread);

/* The state dump gives the process' table, by its kernel address. */
void files_dump_table(struct model *m, uint32_t thread, uint64_t address);

/* The name of the server whose file the thread's call works on or opens; else_cause if there is none. */
strid files_server(const struct model *m, uint32_t thread, strid else_cause);

/* strpool_keep() for the fds that have no row. */
void files_keep_paths(const struct model *m);

/* A call starts: notes what its fds are, as they may be closed before it ends. */
void files_syscall_entry(struct model *m, uint32_t thread, struct call_in_flight *call);

/* A call of thread returned ret, < 0 on error: applies what it did to fds, counts bytes moved. call->desc is set. */
void files_syscall_exit(struct model *m, const struct apply *a, uint32_t thread, const struct call_in_flight *call,
			int64_t ret);

/* ---- blocking.c: what threads waited for ---- */
void blocking_create(struct model *m);
void blocking_destroy(struct model *m);

/* The thread stops being THREAD_BLOCKED now: state is why it was (WAIT_UNKNOWN: unknown), cause what ended that. */
void blocking_wait_ended(struct model *m, uint32_t thread, enum wait_state state, strid cause);

/* The address of the futex that the call is about, in the memory of its process; 0: none, or it is unknown. */
uint64_t call_futex(const struct call_in_flight *call);

/* The name of a futex by its address: "0x7f63ba981a20"; STRID_NONE: unknown. */
strid futex_name(uint64_t address);

/* ---- preemption.c: what ran while threads were ready ---- */
void preemption_create(struct model *m);
void preemption_destroy(struct model *m);

/* The CPU runs something else from now on; what it runs now has been running since a time at which that was unknown. */
void preemption_runs(struct model *m, struct cpu *cpu);
void preemption_ran_since(struct model *m, struct cpu *cpu, uint64_t since_ns);

/* The thread has become THREAD_READY; it is about to leave that state. */
void preemption_begin(struct model *m, uint32_t thread);
void preemption_end(struct model *m, uint32_t thread);

/* The thread, ready or about to be, waits for that CPU, -1 unknown, and has done so since its last move. */
static inline void preemption_place(struct model *m, uint32_t thread, int64_t cpu)
{
	thread_info(m, thread)->cpu_wait.cpu = cpu >= 0 && cpu < EVENT_CPU_MAX ? (int32_t)cpu : -1;
}

/* Who ran longest in the thread's wait for a CPU that ends now; .ns 0: it did not wait. */
struct ran_instead preemption_most(struct model *m, uint32_t thread);

/* It moved there now. */
void preemption_move(struct model *m, const struct apply *a, uint32_t thread, int64_t cpu);

/* ---- relations.c: which processes communicate and wake each other ---- */
void relations_create(struct model *m);
void relations_destroy(struct model *m);

/* The event wakes the thread, which waited for waited_ns, in that context of the CPU. */
struct context;
void relations_wake(struct model *m, const struct apply *a, uint32_t woken, const struct context *c,
		    uint64_t waited_ns);

/* The main thread of a process, its last one, is about to end. */
void relations_process_end(struct model *m, uint32_t thread);

/* The thread's wait4() returned the end of that process. */
void relations_child_waited(struct model *m, uint32_t parent, int64_t pid);

/* A call of the kill() family succeeded: signal call->cmd to process or thread call->arg. */
void relations_killed(struct model *m, uint32_t thread, const struct call_in_flight *call);

/* "SIGUSR1" */
strid relations_signal_name(int64_t number);

/*
 * ---- channels.c, sockets.c: contents of pipes and sockets. Files: TABLE_FILE rows, NO_ROW allowed when created. ----
 */
void channels_pipe(struct model *m, uint32_t read_end, uint32_t write_end);
void channels_socketpair(struct model *m, uint32_t file, uint32_t other);

/*
 * The pipe or fifo is known by its name: in the state dump, or a path. place: PID namespace in which it has that name,
 * 0: the host's.
 */
void channels_named(struct model *m, uint32_t file, strid name, uint64_t place);

/* The next one of that name is another. */
void channels_forget_name(struct model *m, strid name, uint64_t place);

/* connect() starts: returns the number for cell channel once it has succeeded. addr in network byte order. */
uint64_t channels_connect(struct model *m, uint32_t thread, bool v6, const uint64_t addr[2], uint64_t port);

/* accept() created the file; addr and port are the peer's. */
void channels_accept(struct model *m, uint32_t thread, uint32_t file, bool v6, const uint64_t addr[2], uint64_t port);

/* The same if it did not return the address; id: call->channel. */
void channels_accept_unseen(struct model *m, uint32_t thread, uint32_t file, uint64_t id);

/* Bytes passed through a file whose cell channel is not 0. */
void channels_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);
void channels_written(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);

void channels_packet_sent(struct model *m, const struct apply *a, const struct ev_net *p);
void channels_packet_received(struct model *m, const struct apply *a, const struct ev_net *p);

/* ---- work.c: work items of the kernel ---- */

void works_destroy(struct model *m);

/* ---- user.c: user-space events and the threads that emit them ---- */

void users_create(struct model *m);
void users_destroy(struct model *m);

/* The emitter of the next events of that TID in that trace: an EVENT_CONTEXT with the IDs in its PID namespace. */
void user_context(struct model *m, unsigned source, const struct event *ev);

/* That trace number belongs to another trace from now on: forgets who emitted in it. */
void user_forget_trace(struct model *m, unsigned source, unsigned trace);

/* Counts it for its thread. */
void user_event(struct model *m, unsigned source, const struct event *ev);

/* ---- block.c, disks.c, net.c, irq.c, perf.c, pages.c ---- */
void block_create(struct model *m);
void block_destroy(struct model *m);

/* Whether path is that of a block device ("/dev/vda"), by the trace or by its name: files.c asks for I/O classes. */
bool block_is_device(const struct model *m, const char *path);

/* Whether dev is the number of that disk, or of one of its partitions that is known. */
bool block_is_on(const struct model *m, uint64_t dev, uint64_t disk);

/* No handler is active on this CPU: it switched threads, or events were lost. */
void irq_reset_cpu(struct model *m, struct cpu *cpu);

/*
 * Credits the growth of ev's perf contexts since the last event of the CPU (or thread) to the thread that ran in
 * between: a->thread, before a switch takes effect.
 */
void perf_apply(struct model *m, const struct apply *a);
uint32_t perf_row(struct model *m, uint32_t thread, strid counter);
void perf_thread_end(struct model *m, uint32_t thread);

/* The row of a thread, NO_ROW: the one without a thread; created if there is none. */
uint32_t pages_row(struct model *m, uint32_t thread);
void pages_thread_end(struct model *m, uint32_t thread);

/* Makes the next value of every counter a first one again. */
void perf_forget(struct model *m);
void perf_destroy(struct model *m);

#endif
