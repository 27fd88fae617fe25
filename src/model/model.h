/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MODEL_H
#define LT_MODEL_MODEL_H

#include <stdint.h>

#include "event/event.h"
#include "model/state.h"

/*
 * The model of one host: applies its events, in order, to its state. Tolerates
 * anything: an event that contradicts the state corrects it.
 */
struct model;

struct model *model_create(void);
void model_destroy(struct model *m);

/* What the models of a run may take together; shared by them. */
struct model_memory {
	size_t limit;    /* 0: no bound */
	unsigned copies; /* how often a row is kept, here and by whoever reads the model; 0: once */
	size_t used;     /* by all of them, when each last looked */
	size_t ending;   /* of that, by rows that go with the frame */
};

/*
 * From now on the model keeps to that bound; borrowed. Beyond it the threads that were inactive the longest lose
 * their rows, whose figures stay in the sums: see memory.h.
 */
void model_set_memory(struct model *m, struct model_memory *memory);

/* Whether that has happened: what to say of it, static text; else NULL. */
const char *model_shortage(const struct model *m);

/* The same for the rows that ended in an interval of this model, which is still open. */
struct interval;
void model_bound_interval(struct model *m, struct interval *iv);

/* The tables; the caller reaps and begins frames, the model never does. Borrowed for the model's life. */
struct host_state *model_state(struct model *m);

/*
 * The record begins at t_ns: what is known to run from the beginning (EVENT_CPU_START)
 * is credited from here. Before the first event with a time; optional.
 */
void model_begin(struct model *m, uint64_t t_ns);

/*
 * Applies one checked record of any kind. source: which of the host's sources it
 * came from (0 …), as trace and class numbers count within a source.
 */
void model_apply(struct model *m, unsigned source, const struct event *ev);

/*
 * The host's events break off, at t_ns or at the last one if that is later (a live session was lost); others
 * may follow later. Counters go on from here, time in between is nobody's, and
 * what was running, open and blocked is unsure until it is seen again.
 */
void model_interrupt(struct model *m, uint64_t t_ns);

/* Whether some CPU runs a thread, as far as is known. */
bool model_is_busy(const struct model *m);

/*
 * From now on wait events go to the log (model/waitlog.h); borrowed, NULL: nowhere.
 * Before the first event of the host, or it lacks what was before.
 */
struct wait_log;
void model_set_wait_log(struct model *m, struct wait_log *log);

/*
 * Names of disks that the traces do not name: NULL for one that is not known. data is borrowed for the model's life.
 * Before the first event of the host.
 */
typedef const char *model_disk_name_fn(const void *data, unsigned major, unsigned minor);
void model_set_disk_names(struct model *m, model_disk_name_fn *name, const void *data);

/*
 * A mount that is there: of a network file system, or in one; type and source as /proc/PID/mountinfo has them. The
 * events tell those that come later.
 */
void model_add_mount(struct model *m, const char *dir, const char *type, const char *source);

/* Tells the string pool which paths it holds: strpool_round_begin(). */
void model_keep_paths(const struct model *m);

/* Figures that are not rows of a table of their own; bits beside those of the tables. */
enum model_figures {
	MODEL_FDS = 1 << TABLES,         /* fds of TABLE_HOST, read_… and write_… of TABLE_THREAD */
	MODEL_PEERS = 1 << (TABLES + 1), /* what an fd or a call works on, for look.h and the wait log */
};

#define MODEL_ALL_FIGURES (STATE_ALL_TABLES | MODEL_FDS | MODEL_PEERS)

/*
 * What is computed: bits 1 << enum table_id and MODEL_…, all at first. Not having TABLE_SYSCALL and _SYSERR,
 * _BLOCKING, _RELATION, _PREEMPTION, _CONNECTION or any of the fds saves time; figures of other tables do not depend on
 * that. With TABLE_FILE every life of an fd gets a row in the end; without it those do that are used, and at
 * model_list_files() those that go on, which is what a history needs. Before the first event of the host.
 */
void model_set_figures(struct model *m, uint32_t figures);

/* Fds that were inherited and not used so far have no rows: now they get them. Before TABLE_FILE is read. */
void model_list_files(struct model *m);

/*
 * An interval or frame is to begin or end at t_ns (0: at the last event), all events before have been applied: what is
 * counted only when it ends is counted up to that time. Also before rows are reaped that it is counted for.
 */
void model_cut(struct model *m, uint64_t t_ns);

/*
 * Of which tables (1 << enum table_id) the distributions are spread into buckets, of all as at first; others have no
 * rows in TABLE_BUCKET. Before the first event of the host.
 */
void model_set_buckets(struct model *m, uint32_t tables);

/*
 * From now on each value of at least min_ns of that distribution (bucket_dist() of model/buckets.h, 0: of none, as at
 * first) gets a row of TABLE_INSTANCE, which ends at once. Before the first event of the host.
 */
void model_set_log(struct model *m, uint64_t dist, uint64_t min_ns);

/* n events came too late to be applied. */
void model_late(struct model *m, uint64_t n);

/* How the host is, for its row: reason may be NULL. At the time of its last event. */
void model_set_status(struct model *m, enum host_status status, const char *reason);

/* Whether some trace of this host declares a tracepoint, or another that tells the same. */
bool model_declares(const struct model *m, enum event_kind kind);

/* Whether a state dump is recorded, and none was seen: tasks and files that were there before are not known. */
bool model_lacks_dump(const struct model *m);

/* Some trace of it does, in a model that no trace is read into: a host that was read in another run. */
void model_set_declares(struct model *m, enum event_kind kind);

/*
 * The tracepoints that some figure needs and no trace of this host declares:
 * writes at most max names (static text, today's name; the first word of a list
 * of alternatives, ended by a space or NUL) and returns how many there are.
 */
unsigned model_missing(const struct model *m, const char **names, unsigned max);

#endif
