/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_INTERNAL_H
#define LT_MODEL_INTERNAL_H

/*
 * Shared by the files of model/: the part of a host's state that is not figures. parts_internal.h has their functions.
 * Nothing outside model/ includes either.
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

enum { IRQ_DEPTH_MAX = 8, TID_UNKNOWN = -1, HELD_BY_NONE = -2 };

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
	uint64_t completed_ns; /* when the idle CPU last completed a request, 0 never */
	uint32_t completed_by; /* its TABLE_DISK row */
	struct context_level levels[CONTEXT_DEPTH_MAX];
};

/* lost.c: when events were last lost. */
struct loss_times {
	uint64_t last_ns; /* when the latest loss that is over ended, 0 none */
	uint64_t next_ns; /* when another one will have ended */
};

struct cpu {
	uint32_t row;    /* TABLE_CPU; NO_ROW: never seen */
	int64_t tid;     /* of the running thread, 0 idle, TID_UNKNOWN */
	uint32_t thread; /* its TABLE_THREAD row; NO_ROW: idle or unknown */
	/*
	 * TID of migration/N while it is unknown if that runs or the CPU is offline; HELD_BY_NONE after an
	 * interruption: what is seen next has not run since then; else 0.
	 */
	int64_t held_tid;
	bool begun;         /* its EVENT_CPU_START was applied, since the last interruption */
	bool awaited;       /* lost.c: it will come; nothing is known of what it runs until then */
	uint64_t stream_ns; /* live: when the first of its streams began; 0: not known */
	struct loss_times lost;
	uint64_t gap_end_ns; /* until then, nothing is known of what it runs; 0: it always was */
	struct irq_frame irqs[IRQ_DEPTH_MAX];
	unsigned irq_depth;
	struct context_stack contexts;
	uint64_t raised_ns[32];    /* when softirqs were raised that have not been entered yet, 0 none */
	struct perf_last *perf;    /* perf.c: last values of the CPU's perf contexts, per trace */
	struct slices *slices;     /* preemption.c: what ran here; NULL: not wanted, or nothing yet */
	struct received *received; /* received.h; NULL: it has received nothing */
	int64_t waking_tid;        /* preemption.c: thread it is waking, until that one's CPU is known; 0 none */
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
	uint32_t present;   /* of the entry record */
	uint32_t given_len; /* of a SYSCALL_PATH: length of its path, in thread.given */
	int64_t fd, fd2, cmd;
	uint64_t flags, arg;
	strid path; /* of a SYSCALL_PATH, only once syscalls_path() was asked for it */
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
	int32_t waker;       /* CPU that is waking it if that one's waking_tid says so too; -1 none */
	uint32_t place;      /* its index in preemption.c's list while it is ready */
	uint64_t charged_ns; /* up to when its wait has been charged */
	uint32_t by[16];     /* rows of TABLE_PREEMPTION that may be those of the culprits charged last, by uid % 16 */
	struct ran_instead most; /* who ran longest in this wait or the last one, up to where it is charged */
};

/* Whether a thread is inside the kernel, apart from interrupts: mode.c. */
enum thread_inside { INSIDE_UNKNOWN = 0, INSIDE_PROGRAM, INSIDE_KERNEL };

/* State of a thread that is not a figure; belongs to a row of TABLE_THREAD. */
struct thread {
	bool in_use;
	bool kept;           /* dirty.c: it ended, but its row has not yet */
	bool runs_softirqs;  /* its name is ksoftirqd/N */
	bool missed;         /* lost.c: the last state dump has not named it, nor has an event shown it since */
	uint8_t inside;      /* enum thread_inside */
	char comm[16];       /* raw bytes of its name, to detect changes cheaply */
	uint64_t ns_level;   /* of its own PID namespace, 0 the host's or unknown */
	uint32_t container;  /* container.c: row of TABLE_CONTAINER, NO_ROW none */
	uint64_t woken_ns;   /* first wake-up while blocked, 0 none */
	uint64_t early_ns;   /* last wake-up by another thread while it ran, in its current or last slice, 0 none */
	uint64_t slice_ns;   /* when it was last seen switched in, 0 never */
	uint64_t left_ns;    /* when it last left a call, 0 never */
	uint64_t entered_ns; /* the call that its last exit ended was not entered before; 0: that is not known */
	uint64_t cpus;       /* where it ran since it entered its call: bit N % 64 for CPU N */
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
	uint32_t perfs;               /* perf.c: 1 + its first row of TABLE_PERF, 0 none */
	uint32_t pages;               /* pages.c: its row of TABLE_PAGES, NO_ROW none */
	strid cwd;                    /* mounts.c: working directory, in a process' main thread; STRID_NONE unknown */
	uint8_t cwd_kind;             /* enum fd_kind of cwd */
	uint32_t requests;            /* pressure.c: disk requests that it started and that are not completed */
	uint8_t pressure;             /* pressure.c: enum pressure_kind, as currently counted */
	bool uninterruptible;         /* its current or last sleep is uninterruptible */
	uint32_t sure;                /* lost.c: 1 + its place in model.sure, 0 none */
	uint64_t dumped_ns;           /* when a state dump last named it, 0 never */
	uint32_t given_size;          /* syscalls.c: bytes allocated for given */
	char *given;                  /* the path of its last SYSCALL_PATH, not terminated; NULL none yet */
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
	bool is_device; /* of the block device itself: mostly data of the file system */
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

/* lost.c: what was lost until t_ns. */
struct loss {
	uint64_t t_ns;
	uint64_t events, packets;
	uint64_t gap_end_ns; /* as in the host's row */
};

/* lost.c: the state dump that started last. */
struct last_dump {
	const struct trace_info *trace;
	uint64_t start_ns; /* 0: none, or a part of it was lost */
	uint64_t end_ns;   /* UINT64_MAX: it has not ended */
	uint64_t named_ns; /* when any dump last named a thread, 0 never */
};

struct model {
	struct host_state state;
	uint32_t host_row;
	struct host_row *host;     /* that row */
	uint64_t begin_ns;         /* start of the record, 0 unknown; UINT64_MAX: interrupted */
	uint64_t now_ns;           /* time of the event being applied */
	uint64_t cut_ns;           /* when a frame or interval last started or ended */
	uint64_t lost_ns;          /* when events of the kernel were last lost, 0 never */
	uint64_t lost_until_ns;    /* latest end of a loss, on any CPU, 0 never */
	struct loss_times lost;    /* on CPUs that are not known */
	unsigned awaited;          /* number of CPUs whose data begins later */
	uint64_t unexplained_ns;   /* when a CPU last ran a thread without switch or loss, 0 never */
	bool has_kernel;           /* one of the traces is the kernel's */
	bool is_x86_64;            /* the host has the numbers of event/syscall_numbers.def */
	GArray *losses;            /* struct loss, in order of time; NULL: model_keep_losses() was not called */
	GArray *sure;              /* uint32_t: rows of the threads whose state was seen since then, in any order */
	struct wait_log *wait_log; /* destination of wait events, NULL: none; borrowed */
	GPtrArray *sources;        /* GPtrArray of struct trace_info, by source then trace */
	struct map64 events;       /* name -> TABLE_EVENT row */
	uint32_t declared[EVENT_KINDS]; /* number of traces that declare the tracepoint */
	GArray *cpus;                   /* struct cpu, by number */
	struct map64 tids;              /* tid -> TABLE_THREAD row of the thread that has it now */
	GPtrArray *threads;             /* struct thread *, by row number */
	struct model_memory *memory;    /* memory.h; NULL: no limit */
	size_t room_from, room; /* memory.h: nothing to do while the bytes are in [room_from, room_from + room] */
	size_t used, ending;    /* its part of memory->used and ->ending */
	size_t retired_bytes;   /* bytes of the interval's ended rows */
	/* rows in place of those that did not fit, NO_ROW none: */
	uint32_t other_thread, other_file, other_preemption, other_connection, other_netif, other_irq;
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
	struct last_dump dump;
	bool execs_seen; /* sched_process_exec was seen */

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
	struct netifs *netifs;           /* net.c */
	struct map64 irqs;               /* irq.c: (soft, nr, cpu) -> TABLE_IRQ row */
	struct map64 irq_names;          /* irq.c: IRQ number -> strid */
	struct buckets *buckets;         /* buckets.c */
	uint32_t bucket_tables;          /* model_set_buckets() */
	uint64_t log_dist, log_min_ns;   /* model_set_log() */
	model_logged_fn *logged;         /* model_pass_log(); NULL: rows are added */
	void *log_data;
	uint64_t unlogged;       /* number of rows of TABLE_INSTANCE that did not fit */
	struct users *users;     /* user.c */
	struct works *works;     /* work.c; NULL: nothing yet */
	struct map64 containers; /* container.c: inode -> TABLE_CONTAINER row */
	struct map64 vtids;      /* container.c: (thread row, level) -> TABLE_VTID row */
	struct map64 outside;    /* container.c: (inode, ID) of rows of TABLE_VTID -> thread row */
	struct dumped_ns dumped_ns;
	struct map64 perfs; /* perf.c: (thread row, counter) -> TABLE_PERF row */
	GArray *perf_links; /* uint32_t, by row of TABLE_PERF: as thread.perfs, the thread's next one */
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
			model_log_instance(m, TABLE_##TABLE, row, value, thread, cause);                 \
	} while (0)

/* Passes the value on or adds a row of TABLE_INSTANCE, unless it is too small to be logged. */
void model_log_instance(struct model *m, enum table_id table, uint32_t row, uint64_t value, uint32_t thread,
			strid cause);

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

#endif
