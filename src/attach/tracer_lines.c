/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens to chosen threads apart from their calls: they are created, end, get signals, run and wait. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "attach/decode.h"
#include "attach/tracer_internal.h"
#include "event/payload.h"
#include "event/task_state.h"

static const struct model *model_of(const struct attach_tracer *t, const struct ingest_visit *v)
{
	return ingest_host(t->in, v->host)->model;
}

static void emit_line(struct attach_tracer *t, const struct ingest_visit *v, const struct traced *who,
		      enum attach_kind kind, char *text)
{
	struct attach_record *r = tracer_record(t, v, who, kind);

	r->text = text;
	tracer_emit(t, r);
}

/* ---- threads come and go ---- */

/* Called when the model has already processed the fork. */
void tracer_fork(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct attach_select *select = t->options->select;
	const struct ev_new_task *p = event_payload(v->event, ev_new_task);
	const struct traced *parent = tracer_known(t, v->host, (int32_t)p->parent_tid);
	struct traced *child;
	const bool is_thread = p->parent_pid > 0 && p->child_pid == p->parent_pid;

	if (!parent || !parent->chosen || !(select->children || (select->threads && is_thread)))
		return;
	child = tracer_follow(t, v, (int32_t)p->child_tid);
	if (!child)
		return;
	emit_line(t, v, child, ATTACH_NEW,
		  g_strdup_printf("%s of %" PRId64, is_thread ? "thread" : "child", p->parent_tid));
}

/*
 * How a process ends. Kept by its PID until its other threads end, to which the kernel now sends SIGKILL: looking for
 * them would take quadratic time, as a host may have many threads, and many processes that end.
 */
struct fate {
	uint64_t at_ns;     /* from here on the process has no new threads */
	int16_t exit_code;  /* -1: by the signal */
	int64_t sent, code; /* the signal, and its si_code */
};

enum { FATES_LEAST = 1024 }; /* from this number on, those of processes that are gone are dropped as it doubles */

static GHashTable *fates_of(const struct attach_tracer *t, unsigned host)
{
	while (t->fates->len <= host)
		g_ptr_array_add(t->fates, g_hash_table_new_full(NULL, NULL, NULL, g_free));
	return g_ptr_array_index(t->fates, host);
}

static gboolean is_gone(gpointer pid, gpointer fate, gpointer pids)
{
	(void)fate;
	return !g_hash_table_contains(pids, pid);
}

/* The first thread of a process may be gone before others are. */
static void drop_fates_of_gone(const struct model *m, GHashTable *fates)
{
	GHashTable *pids = g_hash_table_new(NULL, NULL);

	model_look_pids(m, pids);
	g_hash_table_foreach_remove(fates, is_gone, pids);
	g_hash_table_destroy(pids);
}

static void meet_fate(struct traced *who, const struct fate *fate)
{
	if (fate->exit_code >= 0) {
		who->exit_code = fate->exit_code;
	} else {
		who->sent = fate->sent;
		who->sent_code = fate->code;
	}
}

/* Every thread of its process, chosen or not, ends like this one. */
static void end_process(struct attach_tracer *t, const struct ingest_visit *v, struct traced *who, struct fate fate)
{
	const struct thread_row *row = model_look_thread(model_of(t, v), who->tid);
	GHashTable *fates = fates_of(t, v->host);

	meet_fate(who, &fate);
	if (!row || (int32_t)row->pid <= 0)
		return;
	if (g_hash_table_size(fates) >= t->fates_max) {
		drop_fates_of_gone(model_of(t, v), fates);
		t->fates_max = MAX(FATES_LEAST, 2 * g_hash_table_size(fates));
	}
	fate.at_ns = v->event->ts_ns;
	g_hash_table_insert(fates, GINT_TO_POINTER((int32_t)row->pid), g_memdup2(&fate, sizeof(fate)));
}

/* How the thread's process ends; NULL: unknown. A thread born later belongs to another process. */
static const struct fate *fate_of(const struct attach_tracer *t, const struct ingest_visit *v, int32_t tid)
{
	const struct thread_row *row = model_look_thread(model_of(t, v), tid);
	const int32_t pid = row ? (int32_t)row->pid : 0;
	const struct fate *fate = pid > 0 ? g_hash_table_lookup(fates_of(t, v->host), GINT_TO_POINTER(pid)) : NULL;

	return fate && row->born_ns <= fate->at_ns ? fate : NULL;
}

/* Another thread may have ended its process. */
static void share_fate(const struct attach_tracer *t, const struct ingest_visit *v, struct traced *who)
{
	const struct fate *fate = fate_of(t, v, who->tid);

	if (fate)
		meet_fate(who, fate);
}

void tracer_exit_code(struct attach_tracer *t, const struct ingest_visit *v, enum class_ends ends)
{
	const int32_t tid = tracer_tid(t, v);
	struct traced *who;
	int64_t code;

	tracer_thread(t, v, tid);
	who = tracer_known(t, v->host, tid);
	if (!who || !decode_integer(v->shape, v->fields, "error_code", &code))
		return;
	if (ends == ENDS_PROCESS)
		end_process(t, v, who, (struct fate){ .exit_code = code & 0xff });
	else
		who->exit_code = code & 0xff;
}

void tracer_exit(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_task *p = event_payload(v->event, ev_task);
	const int32_t tid = (int32_t)p->tid;
	struct traced *who;
	GString *text;

	/* its name may have changed since its last call, and its end may be its first event */
	tracer_thread(t, v, tid);
	who = tracer_known(t, v->host, tid);
	if (!who)
		return;
	if (who->now.active)
		tracer_call_end(t, v, v->host, who, CALL_UNFINISHED);
	share_fate(t, v, who);
	if (who->chosen) {
		text = g_string_new(NULL);
		if (who->exit_code >= 0) {
			g_string_printf(text, "exited with %d", who->exit_code);
		} else if (who->signal) {
			g_string_append(text, "killed by ");
			consts_append_signal(text, who->signal);
		} else {
			g_string_append(text, "exited");
		}
		emit_line(t, v, who, ATTACH_GONE, g_string_free(text, FALSE));
	}
	g_hash_table_remove(g_ptr_array_index(t->hosts, v->host), GINT_TO_POINTER(tid));
}

static bool is_target(const struct attach_tracer *t, const struct ingest_visit *v, int32_t tid)
{
	const struct ingest_host *host = ingest_host(t->in, v->host);

	return attach_select_target(t->options->select, host->name, host->model, tid,
				    model_look_thread(host->model, tid));
}

/*
 * A thread other than the first takes over the process's id when it executes a program. One that -p chose is followed,
 * but if only chosen threads' fields are recorded, the calls that it makes under its new id are not.
 */
void tracer_exec(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_exec *p = event_payload(v->event, ev_exec);
	struct traced *old = tracer_known(t, v->host, (int32_t)p->old_tid);
	struct traced *who;
	bool is_chosen, unseen;

	if (p->old_tid == p->tid || p->old_tid <= 0 || !old || (!old->chosen && !old->now.held))
		return;
	is_chosen = old->chosen && is_target(t, v, (int32_t)p->old_tid);
	unseen = is_chosen && fields_wanted_has_threads(&t->wanted) && !is_target(t, v, (int32_t)p->tid);
	if (old->chosen)
		emit_line(t, v, old, ATTACH_GONE,
			  g_strdup_printf("continues as %" PRId64 " after execve%s", p->tid,
					  unseen ? "; -f shows its calls" : ""));
	tracer_thread(t, v, (int32_t)p->tid);
	who = tracer_known(t, v->host, (int32_t)p->tid);
	if (!who)
		return;
	tracer_call_forget(&who->now);
	who->now = old->now;
	who->followed = who->followed || old->followed || is_chosen;
	who->chosen = who->chosen || who->followed;
	old->now = (struct call_now){ 0 };
	g_hash_table_remove(g_ptr_array_index(t->hosts, v->host), GINT_TO_POINTER((int32_t)p->old_tid));
}

/* ---- signals ---- */

static bool ends_process(int64_t number)
{
	return number != SIGCHLD && number != SIGCONT && number != SIGURG && number != SIGWINCH && number != SIGSTOP &&
	       number != SIGTSTP && number != SIGTTIN && number != SIGTTOU;
}

/* Appends the name of si_code; for codes of the kernel's own signals it depends on the signal. */
static void append_code(GString *text, int64_t number, int64_t code)
{
	enum const_set_id set = CONSTS_si_code;

	static const struct {
		int number;
		enum const_set_id set;
	} sets[] = {
		{ SIGCHLD, CONSTS_cld_code }, { SIGSEGV, CONSTS_segv_code }, { SIGBUS, CONSTS_bus_code },
		{ SIGILL, CONSTS_ill_code },  { SIGFPE, CONSTS_fpe_code },   { SIGTRAP, CONSTS_trap_code },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		if (sets[i].number == number && code > 0 && code < SI_KERNEL)
			set = sets[i].set;
	consts_append(text, consts_set(set), (uint64_t)code);
}

void tracer_signal_sent(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_kill *p = event_payload(v->event, ev_kill);
	struct traced *who;

	if (!ends_process(p->number))
		return;
	tracer_thread(t, v, (int32_t)p->tid);
	who = tracer_known(t, v->host, (int32_t)p->tid);
	if (!who)
		return;
	who->sent = p->number;
	who->sent_code = p->code;
}

/*
 * The thread that the signal was sent to: this one or, if it was sent to the process, the first one. NULL: unknown.
 * number 0: any signal.
 */
static struct traced *target_of(struct attach_tracer *t, const struct ingest_visit *v, struct traced *who,
				int64_t number)
{
	const struct thread_row *row = model_look_thread(model_of(t, v), who->tid);
	struct traced *first = row ? tracer_known(t, v->host, (int32_t)row->pid) : NULL;

	if (who->sent && (!number || who->sent == number))
		return who;
	return first && first->sent && (!number || first->sent == number) ? first : NULL;
}

void tracer_signal(struct attach_tracer *t, const struct ingest_visit *v)
{
	const int32_t tid = tracer_tid(t, v);
	const struct traced *chosen = tracer_thread(t, v, tid);
	struct traced *who = tracer_known(t, v->host, tid), *sent;
	int64_t number, code = 0, handler = -1;
	GString *text;

	if (!who || !decode_integer(v->shape, v->fields, "sig", &number))
		return;
	decode_integer(v->shape, v->fields, "code", &code);
	decode_integer(v->shape, v->fields, "sa_handler", &handler);
	if (number == SIGKILL) {
		share_fate(t, v, who);
		if (who->exit_code >= 0)
			return;                 /* exit_group() ends the other threads this way */
		sent = target_of(t, v, who, 0); /* and any other signal, too */
		number = sent ? sent->sent : number;
		code = sent ? sent->sent_code : code;
	} else if (handler == 0 && ends_process(number)) {
		end_process(t, v, who, (struct fate){ .exit_code = -1, .sent = number, .code = code });
	} else {
		sent = target_of(t, v, who, number);
		if (sent)
			sent->sent = 0;
	}
	if (handler == 0 && ends_process(number))
		who->signal = number;
	if (!chosen)
		return;
	text = g_string_new(NULL);
	if (!consts_append_signal(text, number))
		g_string_append_printf(text, "signal %" PRId64, number);
	g_string_append(text, " {si_signo=");
	consts_append_signal_number(text, number);
	g_string_append(text, ", si_code=");
	append_code(text, number, code);
	g_string_append_c(text, '}');
	emit_line(t, v, who, ATTACH_SIGNAL, g_string_free(text, FALSE));
}

/* ---- running and waiting ---- */

static strid comm_of(const char comm[16])
{
	return strpool_intern_padded(comm, 16);
}

static char *thread_text(int64_t tid, const char comm[16])
{
	if (tid == 0)
		return g_strdup("the idle task");
	return g_strdup_printf("%s/%" PRId64, strpool_text(comm_of(comm)), tid);
}

static const char *state_text(enum task_state state)
{
	static const char *const texts[] = {
		[TASK_READY] = "preempted", [TASK_BLOCKED] = "blocked", [TASK_IDLING] = "idle",
		[TASK_PARKED] = "parked",   [TASK_STOPPED] = "stopped", [TASK_TRACED] = "traced",
		[TASK_ENDED] = "ended",
	};

	return texts[state];
}

static void switch_line(struct attach_tracer *t, const struct ingest_visit *v, int64_t tid, bool in,
			const struct ev_sched_switch *p)
{
	const struct traced *who = tracer_thread(t, v, (int32_t)tid);
	char *other, *text;

	if (!who)
		return;
	other = in ? thread_text(p->prev_tid, p->prev_comm) : thread_text(p->next_tid, p->next_comm);
	if (in)
		text = g_strdup_printf("switched in on CPU %u, after %s", v->event->cpu, other);
	else
		text = g_strdup_printf("switched out, %s; %s runs", state_text(task_state_of(p->prev_state, false)),
				       other);
	emit_line(t, v, who, ATTACH_SCHED, text);
	g_free(other);
}

void tracer_switch(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_sched_switch *p = event_payload(v->event, ev_sched_switch);
	struct traced *prev = p->prev_tid > 0 ? tracer_known(t, v->host, (int32_t)p->prev_tid) : NULL;
	struct traced *next = p->next_tid > 0 ? tracer_known(t, v->host, (int32_t)p->next_tid) : NULL;
	const struct thread_row *row;

	if (next && next->now.off_since_ns) {
		next->now.off_ns += v->event->ts_ns - next->now.off_since_ns;
		next->now.off_since_ns = 0;
	}
	if (prev && prev->now.active) {
		prev->now.waited = true;
		prev->now.off_since_ns = v->event->ts_ns;
	}
	if (!t->options->sched)
		return;
	switch_line(t, v, p->prev_tid, false, p);
	switch_line(t, v, p->next_tid, true, p);
	/* its end was seen before, but this line made it known again */
	row = p->prev_tid > 0 ? model_look_thread(model_of(t, v), p->prev_tid) : NULL;
	if (row && task_state_of(p->prev_state, row->exited_ns) == TASK_ENDED)
		g_hash_table_remove(g_ptr_array_index(t->hosts, v->host), GINT_TO_POINTER((int32_t)p->prev_tid));
}

void tracer_wake(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_wakeup *p = event_payload(v->event, ev_wakeup);
	const int32_t by = tracer_tid(t, v);
	const struct traced *who;
	const struct thread_row *row;

	/* the second of the pair adds nothing */
	if (v->event->kind == EVENT_SCHED_WAKEUP && model_declares(model_of(t, v), EVENT_SCHED_WAKING))
		return;
	who = tracer_thread(t, v, by);
	if (who) {
		char *woken = thread_text(p->tid, p->comm);

		emit_line(t, v, who, ATTACH_SCHED, g_strdup_printf("wakes %s", woken));
		g_free(woken);
	}
	who = tracer_thread(t, v, (int32_t)p->tid);
	if (!who)
		return;
	row = model_look_thread(model_of(t, v), by);
	if (by > 0 && row)
		emit_line(t, v, who, ATTACH_SCHED,
			  g_strdup_printf("woken while %s/%" PRId32 " runs on CPU %u", strpool_text((strid)row->comm),
					  by, v->event->cpu));
	else
		emit_line(t, v, who, ATTACH_SCHED, g_strdup_printf("woken on CPU %u", v->event->cpu));
}

void tracer_migrate(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct ev_task *p = event_payload(v->event, ev_task);
	const struct traced *who = tracer_thread(t, v, (int32_t)p->tid);

	if (who)
		emit_line(t, v, who, ATTACH_SCHED,
			  g_strdup_printf("migrated from CPU %" PRId64 " to %" PRId64, p->orig_cpu, p->dest_cpu));
}

void tracer_fault(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct traced *who = tracer_thread(t, v, tracer_tid(t, v));
	int64_t address;

	if (!who)
		return;
	if (decode_integer(v->shape, v->fields, "address", &address))
		emit_line(t, v, who, ATTACH_SCHED, g_strdup_printf("page fault at 0x%" PRIx64, (uint64_t)address));
	else
		emit_line(t, v, who, ATTACH_SCHED, g_strdup("page fault"));
}

/* ---- losses ---- */

static char *lost_text(const struct attach_record *r)
{
	GString *text = g_string_new(NULL);

	if (r->lost_events)
		g_string_append_printf(text, "%" PRIu64 " event%s", r->lost_events, r->lost_events == 1 ? "" : "s");
	if (r->lost_packets)
		g_string_append_printf(text, "%s%" PRIu64 " packet%s of events", r->lost_events ? " and " : "",
				       r->lost_packets, r->lost_packets == 1 ? "" : "s");
	g_string_append(text, " lost");
	if (r->cpu != EVENT_NO_CPU)
		g_string_append_printf(text, " on CPU %u", r->cpu);
	g_string_append(text, " in the last ");
	attach_append_seconds(text, r->duration_ns);
	g_string_append(text, " s");
	return g_string_free(text, FALSE);
}

void tracer_lost(struct attach_tracer *t, const struct ingest_visit *v)
{
	const struct attach_select *select = t->options->select;
	const struct ingest_host *host = ingest_host(t->in, v->host);
	const struct ev_lost *p = event_payload(v->event, ev_lost);
	struct attach_record *r;

	if (!attach_select_host(select, host->name) || (select->command && !t->command_runs))
		return;
	r = g_new0(struct attach_record, 1);
	r->kind = ATTACH_LOST;
	r->ts_ns = v->event->ts_ns;
	r->ref_ns = v->ref_ns;
	r->host = v->host;
	r->tid = r->pid = -1;
	r->has_entry = true;
	r->entry_ns = MIN(p->begin_ns, r->ts_ns);
	r->entry_ref_ns = clock_to_ref(host->map, r->entry_ns);
	r->duration_ns = r->ts_ns - r->entry_ns;
	r->cpu = v->event->cpu;
	r->lost_events = p->events;
	r->lost_packets = p->packets;
	r->text = lost_text(r);
	tracer_emit(t, r);
}
