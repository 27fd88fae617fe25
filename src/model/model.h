/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MODEL_H
#define LT_MODEL_MODEL_H

#include <stdint.h>

#include "base/strpool.h"
#include "event/event.h"
#include "model/state.h"

/*
 * The model of one host: applies its events, in order, to its state. Tolerates anything: an event that contradicts the
 * state corrects it.
 */
struct model;

struct model *model_create(void);
void model_destroy(struct model *m);

/* The memory that the models of a run may use together; shared by them. */
struct model_memory {
	size_t limit;    /* 0: no limit */
	unsigned copies; /* copies of each row, here and in readers of the model; 0: one */
	size_t used;     /* by all models, as of the last time each of them looked */
	size_t ending;   /* part of used, by rows that go with the frame */
};

/*
 * Makes the model keep to that limit from now on; borrowed. Beyond it, the threads that were idle longest lose their
 * rows, whose figures stay in the sums: see memory.h.
 */
void model_set_memory(struct model *m, struct model_memory *memory);

/* Whether that has happened: a message for the user, static text; else NULL. */
const char *model_shortage(const struct model *m);

/* Applies the limit to the rows that have ended in an interval of this model that is still open. */
struct interval;
void model_bound_interval(struct model *m, struct interval *iv);

/* The tables; reaping and starting frames is left to the caller. Borrowed for the model's life. */
struct host_state *model_state(struct model *m);

/* By how much the first packets of CPUs may begin after the record: they count as there from the start. */
enum { CPU_START_SKEW_NS = 1000000 };

/*
 * The record starts at t_ns: what is known to run from the start (EVENT_CPU_START) is credited from here. To be called
 * before the first event with a time; optional.
 */
void model_begin(struct model *m, uint64_t t_ns);

/*
 * The CPU's data begins later, as older packets were overwritten, with its EVENT_CPU_START: nothing is known of what it
 * runs until then, and where threads that are ready run. To be called at the start of the record, after what is known
 * of other CPUs was applied; ignored for a CPU that was seen already.
 */
void model_await_cpu(struct model *m, unsigned cpu);

/*
 * Applies one checked record of any kind. source: which of the host's sources it came from (0 …), as the numbers of
 * traces and classes are local to a source.
 */
void model_apply(struct model *m, unsigned source, const struct event *ev);

/*
 * The source has ended: what its traces declared is forgotten, since a monitor may see any number of sessions. A source
 * that starts again declares its traces again; until then it must not apply events.
 */
void model_end_source(struct model *m, unsigned source);

/*
 * The host's events break off (a live session was lost), at t_ns, or at the last event or model_cut() if that is later;
 * others may follow. Counters continue from here, the time in between is credited to nothing, and whatever was running,
 * open or blocked is uncertain until it is seen again.
 */
void model_interrupt(struct model *m, uint64_t t_ns);

/* Whether a CPU is known to run a thread. */
bool model_is_busy(const struct model *m);

/*
 * From now on wait events go to the log (model/waitlog.h), which begins with what the CPUs run now; borrowed, NULL:
 * none. To be called before the first event of the host; otherwise the log lacks what came before.
 */
struct wait_log;
void model_set_wait_log(struct model *m, struct wait_log *log);

/*
 * Names disks that the traces do not name; returns NULL for unknown ones. data is borrowed for the model's life. To be
 * set before the first event of the host.
 */
typedef const char *model_disk_name_fn(const void *data, unsigned major, unsigned minor);
void model_set_disk_names(struct model *m, model_disk_name_fn *name, const void *data);

/*
 * Names kernel functions by the address at which they start; returns NULL for unknown ones. Otherwise as for disks.
 */
typedef const char *model_symbol_fn(const void *data, uint64_t address);
void model_set_symbols(struct model *m, model_symbol_fn *symbol, const void *data);

/*
 * Adds an existing mount, of a network file system or inside one; type and source as in /proc/PID/mountinfo. Later
 * mounts come from events.
 */
void model_add_mount(struct model *m, const char *dir, const char *type, const char *source);

/* Marks the paths and short-lived names of the string pool that it holds: see strpool_round_begin(). */
void model_keep_paths(const struct model *m);

/* Figures that are not rows of a table of their own; used along with the bits of tables. */
enum model_figures {
	MODEL_FDS = 1 << TABLES,         /* fds of TABLE_HOST, read_… and write_… of TABLE_THREAD */
	MODEL_PEERS = 1 << (TABLES + 1), /* what fds and calls work on, for look.h and the wait log */
};

#define MODEL_ALL_FIGURES (STATE_ALL_TABLES | MODEL_FDS | MODEL_PEERS)

/*
 * Sets what is computed: bits 1 << enum table_id and MODEL_…, initially all. Leaving out TABLE_SYSCALL and _SYSERR,
 * _BLOCKING, _RELATION, _PREEMPTION, _CONNECTION, _PRESSURE or all of the fds saves time; figures of other tables do
 * not depend on it. With TABLE_FILE every life of an fd eventually gets a row; without it only those that are used and,
 * at model_list_files(), those still open, which is what a history needs. To be called before the first event of the
 * host.
 */
void model_set_figures(struct model *m, uint32_t figures);

/* Gives rows to fds that were inherited and have not been used. To be called before TABLE_FILE is read. */
void model_list_files(struct model *m);

/*
 * An interval or frame is about to start or end at t_ns (0: at the last event), and all earlier events have been
 * applied: counts up to that time what otherwise counts only when it ends. Also needed before the rows that it counts
 * for are reaped.
 */
void model_cut(struct model *m, uint64_t t_ns);

/*
 * Keeps the times of losses from now on, for a recording that is read as a whole before it is cut; and what was lost in
 * [begin_ns, end_ns[; goes_on: more is being lost at its end, and counted later. To be called before the first event of
 * the host.
 */
void model_keep_losses(struct model *m);
void model_lost(const struct model *m, uint64_t begin_ns, uint64_t end_ns, uint64_t *events, uint64_t *packets,
		bool *goes_on);

/*
 * Sets the tables (1 << enum table_id) whose distributions are spread into buckets, initially all; others have no rows
 * in TABLE_BUCKET. To be called before the first event of the host.
 */
void model_set_buckets(struct model *m, uint32_t tables);

/*
 * From now on each value of at least min_ns of that distribution (bucket_dist() of model/buckets.h; 0, the default:
 * none) gets a row of TABLE_INSTANCE, which ends at once. To be called before the first event of the host.
 */
void model_set_log(struct model *m, uint64_t dist, uint64_t min_ns);

/* A value of the distribution that is logged; pointers are valid during the call. */
struct model_logged {
	const uint64_t *cells;           /* of the row whose distribution it is */
	const struct thread_row *thread; /* that it happened to; NULL: none */
	uint64_t begin_ns, length_ns;
	strid cause; /* what it was, or who held it up */
};

typedef void model_logged_fn(void *data, const struct model_logged *value);

/* Passes these values on instead of adding rows for them. */
void model_pass_log(struct model *m, model_logged_fn *logged, void *data);

/* Counts n events that are not applied. missed: they came too late; otherwise another session has that time's. */
void model_late(struct model *m, uint64_t n, bool missed);

/* Sets the host's status in its row, as of its last event; reason may be NULL. */
void model_set_status(struct model *m, enum host_status status, const char *reason);

/* Whether a trace of this host declares a tracepoint, or another one with the same information. */
bool model_declares(const struct model *m, enum event_kind kind);

/* Whether state dumps are recorded but none was seen: tasks and files that existed before are unknown. */
bool model_lacks_dump(const struct model *m);

/* Makes model_declares() true in a model without traces: that of a host that was read in another run. */
void model_set_declares(struct model *m, enum event_kind kind);

/*
 * The tracepoints that some figure needs and no trace of this host declares: writes at most max names (static text,
 * today's name; the first word of a list of alternatives, terminated by a space or NUL) and returns how many there are.
 */
unsigned model_missing(const struct model *m, const char **names, unsigned max);

#endif
