/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which process wakes which, and by what means. A wake-up in a task's own context is the waker's doing: the means
 * follow from what both were doing, the waker's call and the call in which the woken thread waited. A wake-up during
 * the reception of packets is that of the other end of the connection. Signals and waits for children also count
 * without a wake-up.
 */
#include "model/relations.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "model/channels.h"
#include "model/connections.h"
#include "model/context.h"
#include "model/fifos.h"
#include "model/parts_internal.h"

enum { ROWS_MAX = 8192 };

#define RELATION_ROW(m, row) STATE_ROW(&(m)->state, RELATION, relation, row)

void relations_create(struct model *m)
{
	m->relations = g_new0(struct relations, 1);
	recent_init(&m->relations->rows, TABLE_RELATION, ROWS_MAX);
	channels_create(m);
}

void relations_destroy(struct model *m)
{
	channels_destroy(m);
	recent_release(&m->relations->rows);
	g_free(m->relations);
	m->relations = NULL;
}

/* ---- rows ---- */

struct party relations_party(const struct model *m, uint32_t thread)
{
	const struct thread_row *t;
	uint32_t main_thread;

	if (thread == NO_ROW)
		return (struct party){ 0, -1, STRID_NONE };
	t = THREAD_ROW(m, thread);
	if ((int64_t)t->pid > 0 && t->pid != t->tid) {
		main_thread = thread_find(m, (int64_t)t->pid);
		if (main_thread != NO_ROW)
			t = THREAD_ROW(m, main_thread);
	}
	return (struct party){ t->uid, (int64_t)((int64_t)t->pid > 0 ? t->pid : t->tid), (strid)t->comm };
}

static bool is_row_of(const struct relation_row *r, const struct relation *what)
{
	return r->from_uid == what->from.uid && r->to_uid == what->to.uid && r->kind == what->kind &&
	       r->object == what->object && r->flow == what->flow;
}

static struct relation_row *find_row(struct model *m, const struct relation *what, struct recent_hint *hint)
{
	uint64_t key = map64_mix(map64_mix(what->from.uid, what->to.uid), (uint64_t)what->kind << 32 | what->object);
	struct relation_row *r;
	bool made;

	hint->row = recent_row(m, &m->relations->rows, map64_mix(key, what->flow), &made);
	r = RELATION_ROW(m, hint->row);
	hint->uid = r->uid;
	if (made) {
		r->from_uid = what->from.uid;
		r->to_uid = what->to.uid;
		r->kind = what->kind;
		r->object = what->object;
		r->flow = what->flow;
		r->from_pid = (uint64_t)(what->from.uid ? what->from.pid : -1);
		r->to_pid = (uint64_t)(what->to.uid ? what->to.pid : -1);
	}
	return r;
}

struct relation_row *relations_row(struct model *m, const struct relation *what, struct recent_hint *hint)
{
	struct relation_row *r;

	if (recent_knows(m, &m->relations->rows, hint) && is_row_of(RELATION_ROW(m, hint->row), what)) {
		r = RELATION_ROW(m, hint->row);
		recent_again(m, &m->relations->rows, hint->row);
	} else {
		r = find_row(m, what, hint);
	}
	r->from_comm = what->from.comm;
	r->to_comm = what->to.comm;
	return r;
}

/* ---- the means of a wake-up ---- */

static const struct call_in_flight no_call = {
	.fd = -1,
	.fd2 = -1,
	.file = { NO_ROW, 0, 0 },
	.file2 = { NO_ROW, 0, 0 },
};

static const struct call_in_flight *call_of(struct model *m, uint32_t thread)
{
	const struct call_in_flight *call = &thread_info(m, thread)->call;

	return call->active ? call : &no_call;
}

/* The call of a thread that wakes another. Closing a file affects others only after the call's exit. */
static const struct call_in_flight *call_of_waker(struct model *m, uint32_t thread)
{
	const struct call_in_flight *call = &thread_info(m, thread)->call;

	return call->active || (call->desc && call->desc->action == SYSCALL_CLOSE) ? call : &no_call;
}

static inline enum syscall_action action_of(const struct call_in_flight *call)
{
	return call->desc ? call->desc->action : SYSCALL_NAMED;
}

static enum relation_kind kind_of_file(const struct file_ref *file)
{
	switch (file->kind) {
	case FD_PIPE:
	case FD_FIFO:
		return RELATION_PIPE;
	case FD_SOCKET_UNIX:
		return RELATION_UNIX;
	case FD_SOCKET_INET:
		return RELATION_INET;
	case FD_EVENTFD:
		return RELATION_EVENTFD;
	default:
		return RELATION_OTHER;
	}
}

/* The file of the call that others may wait for, if there is one. */
static const struct file_ref *shared_file(const struct call_in_flight *call)
{
	return kind_of_file(&call->file) == RELATION_OTHER && call->file2.row != NO_ROW ? &call->file2 : &call->file;
}

static bool locks_file(const struct call_in_flight *call)
{
	enum { OFD_SETLKW = 38 };

	switch (action_of(call)) {
	case SYSCALL_FLOCK:
		return true;
	case SYSCALL_FCNTL:
		return call->cmd == F_SETLK || call->cmd == F_SETLKW || call->cmd == OFD_SETLKW;
	default:
		return false;
	}
}

static strid path_of(const struct model *m, const struct file_ref *ref)
{
	uint32_t file = files_resolve(m, *ref);
	const struct channel *ch = NULL;

	/* a fifo may have been opened by different paths */
	if (file != NO_ROW && FILE_ROW(m, file)->kind == FD_FIFO)
		ch = channel_find(m->relations->channels, FILE_ROW(m, file)->channel);
	if (ch)
		return ch->object;
	return file == NO_ROW ? STRID_NONE : (strid)FILE_ROW(m, file)->path;
}

/* "SIGUSR1" */
static strid signal_name(int64_t number)
{
	const char *name = number > 0 && number < NSIG ? sigabbrev_np((int)number) : NULL;
	char text[24];

	if (name)
		g_snprintf(text, sizeof(text), "SIG%s", name);
	else
		g_snprintf(text, sizeof(text), "signal %" G_GINT64_FORMAT, (gint64)number);
	return strpool_intern_z(text);
}

/* The fifo that both open, one after the other has waited for that; STRID_NONE. */
static strid met_at(struct model *m, uint32_t waker, uint32_t woken)
{
	const struct call_in_flight *by = &thread_info(m, waker)->call;
	const struct call_in_flight *in = &thread_info(m, woken)->call;
	strid fifo;

	if (!by->active || !in->active || action_of(by) != SYSCALL_OPEN || action_of(in) != SYSCALL_OPEN)
		return STRID_NONE;
	fifo = fifos_opened(m, woken, in);
	return fifo == fifos_opened(m, waker, by) ? fifo : STRID_NONE;
}

/* Whether it waits for any of several things: files, signals, a time. */
static bool waits_for_any(const struct call_in_flight *call)
{
	return call->name && (action_of(call) == SYSCALL_WAIT_ANY || call->fd < 0);
}

/* The means by which a running thread woke another. */
static void find_means(struct model *m, uint32_t waker, uint32_t woken, struct relation *what)
{
	const struct call_in_flight *by = call_of_waker(m, waker), *in = call_of(m, woken);
	const struct thread_row *w = THREAD_ROW(m, waker), *s = THREAD_ROW(m, woken);
	const struct file_ref *by_file = shared_file(by), *in_file = shared_file(in);
	enum relation_kind by_kind = kind_of_file(by_file), in_kind = kind_of_file(in_file);
	bool exits = w->exited_ns || action_of(by) == SYSCALL_EXIT;
	bool closes = exits || action_of(by) == SYSCALL_CLOSE;
	strid met;

	what->kind = RELATION_OTHER;
	what->object = in->name;
	if (action_of(in) == SYSCALL_FUTEX && (action_of(by) == SYSCALL_FUTEX || exits)) {
		/* an exiting thread wakes the one that joins it */
		what->kind = RELATION_FUTEX;
		what->object = futex_name(call_futex(in));
	} else if (action_of(in) == SYSCALL_WAIT_CHILD || action_of(in) == SYSCALL_WAIT_ID ||
		   action_of(in) == SYSCALL_CLONE || (exits && in->name && s->pid == w->ppid && w->pid != s->pid)) {
		/* in clone: until the child of vfork() has executed a program or exited */
		if (exits || action_of(by) == SYSCALL_EXEC)
			what->kind = RELATION_CHILD;
		what->object = what->kind == RELATION_CHILD ? STRID_NONE : in->name;
	} else if (locks_file(in) && (locks_file(by) || closes)) {
		what->kind = RELATION_LOCK;
		what->object = path_of(m, &in->file);
	} else if (action_of(by) == SYSCALL_KILL) {
		what->kind = RELATION_SIGNAL;
		what->object = signal_name(by->cmd);
	} else if (in_kind != RELATION_OTHER && (by_kind == in_kind || closes)) {
		what->kind = in_kind;
		what->object = path_of(m, in_file);
		if (by_kind == RELATION_UNIX && action_of(by) == SYSCALL_WRITE && action_of(in) == SYSCALL_READ)
			channels_join(m, files_resolve(m, *by_file), files_resolve(m, *in_file));
	} else if ((met = met_at(m, waker, woken))) {
		what->kind = RELATION_PIPE;
		what->object = met;
	} else if (by_kind != RELATION_OTHER && waits_for_any(in)) {
		what->kind = by_kind;
		what->object = path_of(m, by_file);
	}
	/* these have names that only the kernel uses */
	if (what->kind == RELATION_UNIX || what->kind == RELATION_EVENTFD)
		what->object = STRID_NONE;
}

/* Whether the wake-up itself is counted; for other kinds, transfers, signals and children are. */
static bool counts_by_wakeup(struct model *m, uint32_t woken, enum relation_kind kind)
{
	enum syscall_action in = action_of(call_of(m, woken));

	switch (kind) {
	case RELATION_FUTEX:
	case RELATION_LOCK:
	case RELATION_EVENTFD:
	case RELATION_OTHER:
		return true;
	case RELATION_CHILD:
		return in == SYSCALL_WAIT_ID || in == SYSCALL_CLONE;
	default:
		return false;
	}
}

/* Whether the calls and files of the two threads determine the means, and nothing else does. */
static bool is_lasting(enum relation_kind kind)
{
	return kind == RELATION_PIPE || kind == RELATION_UNIX || kind == RELATION_INET || kind == RELATION_FUTEX ||
	       kind == RELATION_EVENTFD;
}

static void count_wakeup(struct model *m, const struct wake_memo *memo, uint64_t waited_ns)
{
	struct relation_row *r = RELATION_ROW(m, memo->row.row);

	recent_again(m, &m->relations->rows, memo->row.row);
	dist_add(&r->wait, waited_ns, m->now_ns);
	r->count += memo->counts;
}

static bool is_same(const struct model *m, const struct wake_memo *a, const struct wake_memo *b)
{
	return a->waker_uid == b->waker_uid && a->waker_call == b->waker_call && a->call == b->call &&
	       a->waker_file == b->waker_file && a->file == b->file && a->futex == b->futex &&
	       recent_knows(m, &m->relations->rows, &b->row);
}

/* A running thread wakes another: moves the memo of a wake-up like this one, with its row, to the front. */
static void woken_by_thread(struct model *m, uint32_t waker, uint32_t woken)
{
	const struct call_in_flight *by = call_of_waker(m, waker), *in = call_of(m, woken);
	struct wake_memo *memo = thread_info(m, woken)->woken;
	struct wake_memo this = {
		.waker_uid = THREAD_ROW(m, waker)->uid,
		.waker_call = by->name,
		.waker_file = by->file.uid,
		.call = in->name,
		.file = in->file.uid,
		.futex = call_futex(in),
		.row = memo[0].row,
	};
	struct relation what;

	if (is_same(m, &this, &memo[0]))
		return;
	if (is_same(m, &this, &memo[1])) {
		this = memo[1];
	} else {
		what = (struct relation){ .from = relations_party(m, waker), .to = relations_party(m, woken) };
		find_means(m, waker, woken, &what);
		this.counts = counts_by_wakeup(m, woken, what.kind);
		relations_row(m, &what, &this.row);
		if (!is_lasting(what.kind) || action_of(in) == SYSCALL_OPEN)
			this.waker_uid = 0;
	}
	memo[1] = memo[0];
	memo[0] = this;
}

/* A packet wakes it. False: it is not known which. */
static bool woken_by_packet(struct model *m, const struct apply *a, uint32_t woken, uint64_t waited_ns)
{
	struct wake_memo *memo = thread_info(m, woken)->woken;
	struct channel_end end;
	struct relation what;

	if (!channels_woken_by(m, a, woken, &end))
		return false;
	connections_waited(m, end.out_flow, waited_ns);
	what = (struct relation){
		.from = end.peer,
		.to = relations_party(m, woken),
		.kind = RELATION_INET,
		.object = end.object,
		.flow = end.flow,
	};
	relations_row(m, &what, &memo->row);
	memo->waker_uid = 0;
	memo->counts = false;
	return true;
}

void relations_wake(struct model *m, const struct apply *a, uint32_t woken, const struct context *c, uint64_t waited_ns)
{
	if (!m->relations)
		return;
	if (c->kind != WAIT_CONTEXT_TASK) {
		if (context_explains(c) != WAIT_NETWORK || !woken_by_packet(m, a, woken, waited_ns))
			return;
	} else if (a->thread != NO_ROW && a->thread != woken) {
		woken_by_thread(m, a->thread, woken);
	} else {
		return;
	}
	count_wakeup(m, thread_info(m, woken)->woken, waited_ns);
}

/* ---- processes that calls name ---- */

/* The PID namespace whose IDs the thread's calls pass and return, 0: the host's, or unknown. */
static uint64_t container_ns(const struct model *m, uint32_t thread)
{
	const uint64_t ns = THREAD_ROW(m, thread)->pid_ns;

	return ns == HOST_PID_NS ? 0 : ns;
}

/* The thread that has that ID for another one; NO_ROW: unknown. */
static uint32_t thread_named(const struct model *m, uint32_t caller, int64_t tid)
{
	const uint64_t ns = container_ns(m, caller);
	uint32_t thread;

	if (tid <= 0)
		return NO_ROW;
	if (!ns)
		return thread_find(m, tid);
	thread = user_thread_find(m, (uint64_t)tid, ns);
	return thread == NO_ROW ? container_thread_outside(m, ns, (uint64_t)tid) : thread;
}

/* ---- signals ---- */

static void count_signal(struct model *m, uint32_t sender, uint32_t target, int64_t number)
{
	struct relation what = { .from = relations_party(m, sender), .kind = RELATION_SIGNAL };
	struct recent_hint hint = { 0, 0 };

	if (target == NO_ROW)
		return;
	what.to = relations_party(m, target);
	what.object = signal_name(number);
	relations_row(m, &what, &hint)->count++;
}

void apply_signal_generate(struct model *m, const struct apply *a)
{
	const struct ev_kill *p = event_payload(a->ev, ev_kill);
	const struct context c = context_now(m, a->cpu);

	/* from an interrupt or the kernel it has no sender; SIGCHLD repeats what wait4() reports more exactly */
	if (m->relations && c.kind == WAIT_CONTEXT_TASK && a->thread != NO_ROW && p->number != SIGCHLD)
		count_signal(m, a->thread, p->tid > 0 ? thread_find(m, p->tid) : NO_ROW, p->number);
}

void relations_killed(struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	/* kill() with signal 0 only checks whether the process exists */
	if (m->relations && !m->declared[EVENT_SIGNAL_GENERATE] && call->cmd > 0)
		count_signal(m, thread, thread_named(m, thread, (int32_t)call->arg), call->cmd);
}

/* ---- children ---- */

static void add_gone(struct model *m, uint32_t thread, uint64_t pid_ns, uint64_t vpid)
{
	struct relations *r = m->relations;

	r->gone[r->n_gone++ % G_N_ELEMENTS(r->gone)] = (struct gone){
		.party = relations_party(m, thread),
		.vpid = (int64_t)vpid > 0 ? vpid : 0,
		.pid_ns = pid_ns,
	};
}

void relations_process_end(struct model *m, uint32_t thread)
{
	const struct thread_row *t = THREAD_ROW(m, thread);
	const struct vtid_row *v;

	if (!m->relations)
		return;
	add_gone(m, thread, t->pid_ns, t->vtid);
	for (uint64_t level = 1; level < thread_info(m, thread)->ns_level; level++)
		if ((v = container_vtid(m, thread, level)))
			add_gone(m, thread, v->ns, v->vtid);
}

void relations_child_waited(struct model *m, uint32_t parent, int64_t pid)
{
	struct relation what = { .to = relations_party(m, parent), .kind = RELATION_CHILD };
	struct recent_hint hint = { 0, 0 };
	const struct relations *r = m->relations;
	const uint32_t child = thread_named(m, parent, pid);
	const uint64_t ns = container_ns(m, parent);

	if (!r || pid <= 0)
		return;
	for (unsigned i = 1; i <= MIN(r->n_gone, G_N_ELEMENTS(r->gone)) && !what.from.uid; i++) {
		const struct gone *gone = &r->gone[(r->n_gone - i) % G_N_ELEMENTS(r->gone)];

		if (ns ? gone->pid_ns == ns && gone->vpid == (uint64_t)pid : gone->party.pid == pid)
			what.from = gone->party;
	}
	/* the parent may be faster than the child's last switch */
	if (child != NO_ROW && THREAD_ROW(m, child)->exited_ns)
		what.from = relations_party(m, child);
	if (what.from.uid)
		relations_row(m, &what, &hint)->count++;
}
