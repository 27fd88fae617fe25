/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TRACER_INTERNAL_H
#define LT_ATTACH_TRACER_INTERNAL_H

/* What tracer.c (threads), tracer_calls.c (system calls) and tracer_lines.c (everything else) share. */
#include "attach/tracer.h"
#include "event/fields.h"
#include "ingest/visit.h"

/* What the events of a class are here: kept with their shape. */
enum class_role { CLASS_NOTHING, CLASS_ENTRY, CLASS_EXIT, CLASS_SIGNAL, CLASS_FAULT };

struct class_plan {
	enum class_role role;
	strid name;              /* of the call; STRID_NONE: the event has its number */
	const struct call *call; /* its row, NULL: none */
	bool shown;              /* the filter takes it */
};

/* A call under way. */
struct call_now {
	bool active;
	bool begun; /* an ENTRY was handed over */
	bool shown;
	bool matched; /* a path of it is one that was asked for */
	bool waited;
	uint64_t off_since_ns, off_ns; /* not on a CPU: since, 0 it is on one; in all */
	strid name;
	const struct call *call;
	uint64_t entry_ns, entry_ref_ns;
	GArray *args; /* struct attach_arg */
	int64_t cmd;  /* of fcntl() */
	GArray *culprits;
};

/* A thread whose events came. */
struct traced {
	int32_t tid;
	uint64_t uid; /* of its row in the model, 0 unknown */
	strid comm;
	bool chosen;   /* as it is now */
	bool followed; /* it was made by one that is chosen */
	bool born;     /* its parent was seen to make it, and no call of its own has come yet */
	struct call_now now;
	int64_t exit_code;       /* -1: not known */
	int64_t signal;          /* the last one that ends a process unless it is handled, 0 none */
	int64_t sent, sent_code; /* the last one that was sent to it and has not come; 0 none */
};

struct attach_tracer {
	const struct attach_tracer_options *options;
	struct fields_wanted wanted;
	struct ingest_visitor visitor;
	bool kinds[EVENT_KINDS]; /* of the visitor */
	struct ingest *in;
	GPtrArray *hosts;  /* GHashTable: tid → struct traced */
	bool command_runs; /* that of the options has called execve() */
};

/* The thread, if it is chosen; NULL: it is not, or it is not known. */
struct traced *tracer_thread(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid);

/* The thread, if anything of it is kept; it may not be chosen. */
struct traced *tracer_known(struct attach_tracer *t, unsigned host, int32_t tid);

/* Whose event it is; -1 unknown. */
int32_t tracer_tid(const struct attach_tracer *t, const struct ingest_visit *v);

/* The thread is chosen from now on, whatever it becomes; NULL: it is not known. */
struct traced *tracer_follow(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid);

/* A record of the event for the thread. */
struct attach_record *tracer_record(struct attach_tracer *t, const struct ingest_visit *v, const struct traced *who,
				    enum attach_kind kind);
void tracer_emit(struct attach_tracer *t, struct attach_record *r);

const struct class_plan *tracer_plan(struct attach_tracer *t, const struct ingest_visit *v);

/* ---- tracer_calls.c ---- */
void tracer_call_entry(struct attach_tracer *t, const struct ingest_visit *v, const struct class_plan *plan);
void tracer_call_exit(struct attach_tracer *t, const struct ingest_visit *v, const struct class_plan *plan);

/* The call will not return (CALL_UNFINISHED) or the record is over (CALL_UNKNOWN); v NULL then. */
void tracer_call_end(struct attach_tracer *t, const struct ingest_visit *v, unsigned host, struct traced *who,
		     enum call_status status);
void tracer_call_forget(struct call_now *now);

/* ---- tracer_lines.c ---- */
void tracer_fork(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_exit(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_exec(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_signal_sent(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_signal(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_fault(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_switch(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_wake(struct attach_tracer *t, const struct ingest_visit *v);
void tracer_migrate(struct attach_tracer *t, const struct ingest_visit *v);

#endif
