/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "attach/tracer_internal.h"
#include "event/payload.h"
#include "event/tracepoints.h"

static void traced_free(gpointer data)
{
	struct traced *who = data;

	tracer_call_forget(&who->now);
	g_free(who);
}

static bool is_seen(enum event_kind kind, bool sched);
static void before(void *tracer, const struct ingest_visit *v);
static void after(void *tracer, const struct ingest_visit *v);
static void lost(void *tracer, const struct ingest_visit *v);

struct attach_tracer *attach_tracer_create(const struct attach_tracer_options *options)
{
	struct attach_tracer *t = g_new0(struct attach_tracer, 1);

	calls_init();
	t->options = options;
	fields_wanted_init(&t->wanted);
	attach_select_want(options->select, &t->wanted, options->sched);
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++)
		t->kinds[kind] = is_seen((enum event_kind)kind, options->sched);
	t->visitor = (struct ingest_visitor){
		.wanted = &t->wanted,
		.kinds = t->kinds,
		.before = before,
		.after = after,
		.lost = lost,
		.user = t,
	};
	t->hosts = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
	t->fates = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
	t->text = g_string_new(NULL);
	return t;
}

void attach_tracer_destroy(struct attach_tracer *t)
{
	if (!t)
		return;
	g_ptr_array_free(t->hosts, TRUE);
	g_ptr_array_free(t->fates, TRUE);
	g_string_free(t->text, TRUE);
	fields_wanted_release(&t->wanted);
	g_free(t);
}

const struct ingest_visitor *attach_tracer_visitor(const struct attach_tracer *t)
{
	return &t->visitor;
}

void attach_tracer_set_ingest(struct attach_tracer *t, struct ingest *in)
{
	t->in = in;
}

enum lt_status attach_tracer_advance(struct attach_tracer *t, struct ingest *in, uint64_t until_ns,
				     const stop_flag *stop)
{
	attach_tracer_set_ingest(t, in);
	return ingest_advance_in_order(in, until_ns, stop);
}

static GHashTable *threads_of(struct attach_tracer *t, unsigned host)
{
	while (t->hosts->len <= host)
		g_ptr_array_add(t->hosts, g_hash_table_new_full(NULL, NULL, NULL, traced_free));
	return g_ptr_array_index(t->hosts, host);
}

struct traced *tracer_known(struct attach_tracer *t, unsigned host, int32_t tid)
{
	return g_hash_table_lookup(threads_of(t, host), GINT_TO_POINTER(tid));
}

int32_t tracer_tid(const struct attach_tracer *t, const struct ingest_visit *v)
{
	if (v->event->tid >= 0)
		return v->event->tid;
	return (int32_t)model_look_running(ingest_host(t->in, v->host)->model, v->event->cpu);
}

/* The tid has been reused by another thread. */
static void begin_thread(struct traced *who)
{
	tracer_call_forget(&who->now);
	*who = (struct traced){ .tid = who->tid, .exit_code = -1 };
}

/* What the choice of a thread depends on. The state dump and the thread's own calls change it. */
static struct traits traits_of(const struct attach_tracer *t, const struct model *m, const struct thread_row *row)
{
	const struct attach_select *select = t->options->select;
	struct traits traits = { .comm = STRID_NONE, .leader_comm = STRID_NONE };
	const struct thread_row *leader;

	if (!row)
		return traits;
	traits = (struct traits){
		.uid = row->uid,
		.pid = (int64_t)row->pid,
		.pid_ns = row->pid_ns,
		.cgroup_ns = row->cgroup_ns,
		.comm = (strid)row->comm,
		.leader_comm = STRID_NONE,
	};
	if (select->names->len && (select->threads || select->children)) {
		leader = model_look_thread(m, traits.pid);
		traits.leader_comm = leader ? (strid)leader->comm : STRID_NONE;
	}
	return traits;
}

static bool are_same(const struct traits *a, const struct traits *b)
{
	return a->uid == b->uid && a->comm == b->comm && a->pid == b->pid && a->leader_comm == b->leader_comm &&
	       a->pid_ns == b->pid_ns && a->cgroup_ns == b->cgroup_ns;
}

struct traced *tracer_thread(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid)
{
	const struct ingest_host *host = ingest_host(t->in, v->host);
	const struct thread_row *row = model_look_thread(host->model, tid);
	const struct traits traits = traits_of(t, host->model, row);
	struct traced *who;

	if (tid <= 0)
		return NULL;
	who = tracer_known(t, v->host, tid);
	if (!who) {
		who = g_new0(struct traced, 1);
		who->tid = tid;
		who->exit_code = -1;
		g_hash_table_insert(threads_of(t, v->host), GINT_TO_POINTER(tid), who);
		attach_select_meet(t->options->select, host->name, tid);
	} else if (row && are_same(&who->traits, &traits)) {
		return who->chosen ? who : NULL;
	}
	if (row && who->traits.uid && who->traits.uid != traits.uid)
		begin_thread(who);
	who->traits = traits;
	who->chosen =
		who->followed || attach_select_thread(t->options->select, v->host, host->name, host->model, tid, row);
	t->any_chosen |= who->chosen;
	return who->chosen ? who : NULL;
}

bool attach_tracer_chose(const struct attach_tracer *t)
{
	return t->any_chosen;
}

struct traced *tracer_follow(struct attach_tracer *t, const struct ingest_visit *v, int32_t tid)
{
	struct traced *who;

	tracer_thread(t, v, tid);
	who = tracer_known(t, v->host, tid);
	if (who)
		who->followed = who->chosen = true;
	return who;
}

struct attach_record *tracer_record(struct attach_tracer *t, const struct ingest_visit *v, const struct traced *who,
				    enum attach_kind kind)
{
	const struct thread_row *row = model_look_thread(ingest_host(t->in, v->host)->model, who->tid);
	struct attach_record *r = g_new0(struct attach_record, 1);

	r->kind = kind;
	r->ts_ns = v->event->ts_ns;
	r->ref_ns = v->ref_ns;
	r->host = v->host;
	r->tid = who->tid;
	r->pid = row ? (int32_t)row->pid : -1;
	r->comm = row ? (strid)row->comm : who->traits.comm;
	return r;
}

void tracer_emit(struct attach_tracer *t, struct attach_record *r)
{
	if (r->ref_ns < t->options->begin_ns || r->ref_ns >= t->options->end_ns)
		attach_record_free(r);
	else
		t->options->emit(t->options->user, r);
}

/* ---- classes ---- */

/* The call's name after the prefixes that various versions of the tracer use; NULL: not an event of that kind. */
static const char *call_of_class(const char *name, enum class_role role)
{
	static const struct {
		const char *prefix;
		enum class_role role;
	} prefixes[] = {
		{ "syscall_entry_", CLASS_ENTRY }, { "compat_syscall_entry_", CLASS_ENTRY },
		{ "syscall_exit_", CLASS_EXIT },   { "compat_syscall_exit_", CLASS_EXIT },
		{ "sys_", CLASS_ENTRY },           { "compat_sys_", CLASS_ENTRY },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (prefixes[i].role == role && g_str_has_prefix(name, prefixes[i].prefix))
			return name + strlen(prefixes[i].prefix);
	return NULL;
}

static void plan_call(struct attach_tracer *t, struct tracer_class *plan, const char *name)
{
	plan->shown = true; /* a call known by number only is examined when it comes */
	if (!name || strcmp(name, "unknown") == 0)
		return;
	plan->name = strpool_intern_z(name);
	plan->call = calls_find(name);
	plan->shown = attach_filter_call(t->options->filter, name, plan->call);
}

static enum class_ends ends_of(strid call)
{
	const char *name = strpool_text(call);

	return strcmp(name, "exit_group") == 0 ? ENDS_PROCESS : strcmp(name, "exit") == 0 ? ENDS_THREAD : ENDS_NOTHING;
}

static const struct tracer_class *plan_of(struct attach_tracer *t, const struct ingest_visit *v)
{
	struct tracer_class *plan = v->shape->user;

	if (plan)
		return plan;
	plan = g_new0(struct tracer_class, 1);
	v->shape->user = plan;
	v->shape->free_user = g_free;
	if (tracepoint_enters_call(v->event->kind) || v->event->kind == EVENT_SYSCALL_EXIT) {
		plan->role = tracepoint_enters_call(v->event->kind) ? CLASS_ENTRY : CLASS_EXIT;
		plan->compat = g_str_has_prefix(v->shape->name, "compat_");
		plan_call(t, plan, call_of_class(v->shape->name, plan->role));
		plan->renames = t->options->select->names->len && fields_wanted_renames(v->shape->name);
		plan->ends = plan->role == CLASS_ENTRY ? ends_of(plan->name) : ENDS_NOTHING;
	} else if (strcmp(v->shape->name, "signal_deliver") == 0) {
		plan->role = CLASS_SIGNAL;
	} else if (t->options->sched && strstr(v->shape->name, "page_fault") && !strstr(v->shape->name, "exit")) {
		plan->role = CLASS_FAULT;
	}
	return plan;
}

/* ---- events ---- */

static bool wants(const struct attach_tracer *t, const struct ingest_visit *v)
{
	return !t->options->wants_host || t->options->wants_host(t->options->user, v->host);
}

/* Events whose typed records before() and after() need, whatever fields are requested. */
static bool is_seen(enum event_kind kind, bool sched)
{
	switch (kind) {
	case EVENT_SCHED_SWITCH:
	case EVENT_EXIT:
	case EVENT_EXEC:
	case EVENT_SIGNAL_GENERATE:
	case EVENT_FORK:
		return true;
	case EVENT_SCHED_WAKING:
	case EVENT_SCHED_WAKEUP:
	case EVENT_SCHED_MIGRATE:
		return sched;
	default:
		return false;
	}
}

static void before(void *tracer, const struct ingest_visit *v)
{
	struct attach_tracer *t = tracer;

	if (!wants(t, v))
		return;
	switch (v->event->kind) {
	case EVENT_SCHED_SWITCH:
		tracer_switch(t, v);
		break;
	case EVENT_EXIT:
		tracer_exit(t, v);
		break;
	case EVENT_EXEC:
		tracer_exec(t, v);
		break;
	case EVENT_SIGNAL_GENERATE:
		tracer_signal_sent(t, v);
		break;
	case EVENT_SCHED_WAKING:
	case EVENT_SCHED_WAKEUP:
		if (t->options->sched)
			tracer_wake(t, v);
		break;
	case EVENT_SCHED_MIGRATE:
		if (t->options->sched)
			tracer_migrate(t, v);
		break;
	default:
		break;
	}
}

static void after(void *tracer, const struct ingest_visit *v)
{
	struct attach_tracer *t = tracer;
	const struct tracer_class *plan;

	if (!wants(t, v))
		return;
	if (v->event->kind == EVENT_FORK)
		tracer_fork(t, v);
	if (!v->fields)
		return;
	plan = plan_of(t, v);
	switch (plan->role) {
	case CLASS_ENTRY:
		tracer_call_entry(t, v, plan);
		break;
	case CLASS_EXIT:
		tracer_call_exit(t, v, plan);
		break;
	case CLASS_SIGNAL:
		tracer_signal(t, v);
		break;
	case CLASS_FAULT:
		tracer_fault(t, v);
		break;
	case CLASS_NOTHING:
		break;
	}
}

static void lost(void *tracer, const struct ingest_visit *v)
{
	struct attach_tracer *t = tracer;

	/* what was lost before the first event, while the sources were opened, is before the first line */
	if (t->in && wants(t, v))
		tracer_lost(t, v);
}

uint64_t attach_tracer_oldest(const struct attach_tracer *t)
{
	uint64_t oldest_ns = UINT64_MAX;
	GHashTableIter iter;
	gpointer who;

	for (guint i = 0; i < t->hosts->len; i++) {
		g_hash_table_iter_init(&iter, g_ptr_array_index(t->hosts, i));
		while (g_hash_table_iter_next(&iter, NULL, &who)) {
			const int32_t tid = ((struct traced *)who)->tid;
			const struct call_now *now = &((struct traced *)who)->now;

			/* a call that has not returned: exits under a name that is not chosen may not be seen */
			if (now->active && model_look_call(ingest_host(t->in, i)->model, tid) == now->entry_ns)
				oldest_ns = MIN(oldest_ns, now->entry_ref_ns);
		}
	}
	return oldest_ns;
}

void attach_tracer_finish(struct attach_tracer *t)
{
	for (guint i = 0; t->in && i < t->hosts->len; i++) {
		GHashTableIter iter;
		gpointer data;

		g_hash_table_iter_init(&iter, g_ptr_array_index(t->hosts, i));
		while (g_hash_table_iter_next(&iter, NULL, &data)) {
			struct traced *who = data;

			if (who->now.active)
				tracer_call_end(t, NULL, i, who, CALL_UNKNOWN);
		}
	}
}
