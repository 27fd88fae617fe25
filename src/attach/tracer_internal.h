/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TRACER_INTERNAL_H
#define LT_ATTACH_TRACER_INTERNAL_H

/* Shared by tracer.c (threads), tracer_calls.c (system calls) and tracer_lines.c (everything else) only. */
#include "attach/tracer.h"
#include "event/fields.h"
#include "ingest/visit.h"

/* What the events of a class mean here. */
enum class_role { CLASS_NOTHING, CLASS_ENTRY, CLASS_EXIT, CLASS_SIGNAL, CLASS_FAULT };

/* What a call ends. */
enum class_ends { ENDS_NOTHING, ENDS_THREAD, ENDS_PROCESS };

struct tracer_class {
	enum class_role role;
	strid name;              /* of the call; STRID_NONE: the event has its number */
	bool compat;             /* a 32-bit program's, whose calls have other numbers */
	const struct call *call; /* NULL: there is no row for it */
	bool shown;              /* selected by the filter */
	bool renames;            /* the call may give its thread another name */
	enum class_ends ends;    /* its entry does */
};

/* A call in progress. */
struct call_now {
	bool active;
	bool held;  /* the thread is not chosen yet, but this call may give it a name that is */
	bool begun; /* an ENTRY was emitted */
	bool shown;
	bool matched; /* one of its paths is selected */
	bool waited;
	uint64_t off_since_ns, off_ns; /* off the CPU since, 0 if on one; total time off the CPU */
	strid name;
	const struct call *call;
	uint64_t entry_ns, entry_ref_ns;
	GArray *args; /* struct attach_arg */
	int64_t cmd;  /* of fcntl(); -1: unknown */
};

struct traits {
	uint64_t uid; /* of the thread's row in the model; 0: unknown */
	int64_t pid;
	uint64_t pid_ns, cgroup_ns;
	strid comm;
	strid leader_comm; /* of its process; STRID_NONE: unknown, or it makes no difference */
};

/* A thread that has had events. */
struct traced {
	int32_t tid;
	struct traits traits; /* when the choice was made */
	bool chosen;          /* currently */
	bool followed;        /* created by a chosen thread */
	struct call_now now;
	int16_t exit_code; /* of the thread, or of its process: 0 to 255; -1: unknown */
	int64_t signal;    /* the last signal whose default action ends a process; 0: none */
	int64_t sent,
		sent_code; /* the last signal sent to it that has not arrived, or that ends its process; 0: none */
};

struct attach_tracer {
	const struct attach_tracer_options *options;
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	bool kinds[EVENT_KINDS]; /* for the visitor */
	struct ingest *in;
	GPtrArray *hosts;  /* GHashTable: tid → struct traced */
	GPtrArray *fates;  /* GHashTable: pid → how the process ends, tracer_lines.c */
	guint fates_max;   /* number of them at which some are dropped */
	GString *text;     /* what is being decoded */
	bool command_runs; /* the command in the options has called execve() */
	bool any_chosen;
};

/* The thread if it is chosen; NULL: it is not, or it is unknown. */
struct traced *tracer_thread(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid);

/* The thread, chosen or not, if anything is known about it. */
struct traced *tracer_known(struct attach_tracer *t, unsigned host, int32_t tid);

/* The thread an event belongs to; -1: unknown. */
int32_t tracer_tid(const struct attach_tracer *t, const struct ingest_visit *v);

/* Chooses the thread for good, whatever it becomes; NULL: it is unknown. */
struct traced *tracer_follow(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid);

/* A new record of the event for the thread. */
struct attach_record *tracer_record(struct attach_tracer *t, const struct ingest_visit *v, const struct traced *who,
				    enum attach_kind kind);
void tracer_emit(struct attach_tracer *t, struct attach_record *r);

/* ---- tracer_calls.c ---- */
void tracer_call_entry(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan);
void tracer_call_exit(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan);

/*
 * Ends a call that will not return (CALL_UNFINISHED), whose exit is not known for certain (CALL_UNKNOWN), or that is in
 * progress when the trace ends (CALL_UNKNOWN; v is NULL).
 */
void tracer_call_end(struct attach_tracer *t, const struct ingest_visit *v, unsigned host, struct traced *who,
		     enum call_status status);
void tracer_call_forget(struct call_now *now);

/* ---- tracer_lines.c ---- */
void tracer_fork(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_exit_code(struct attach_tracer *t, const struct ingest_visit *v, enum class_ends ends);
void tracer_exit(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_exec(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_signal_sent(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_signal(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_fault(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_lost(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_switch(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_wake(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_migrate(struct attach_tracer *t, const struct ingest_visit *v);

#endif
