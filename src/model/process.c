/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads: birth, names, exec, exit, reuse of a TID, parents, namespaces. A thread is a row of TABLE_THREAD from its
 * fork (or first sight) until it was switched out for the last time, or until data that it wrote is on a disk
 * (dirty.h); a later thread with its TID has another row.
 */
#include "model/dirty.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

#include <string.h>

enum { TID_KTHREADD = 2 };

static uint32_t add_row(struct model *m, int64_t tid)
{
	uint32_t row = state_add(&m->state, TABLE_THREAD);
	struct thread_row *r = THREAD_ROW(m, row);
	struct thread *t;

	if (row >= m->threads->len)
		g_ptr_array_set_size(m->threads, (gint)row + 1);
	t = g_ptr_array_index(m->threads, row);
	if (!t)
		t = g_ptr_array_index(m->threads, row) = g_new(struct thread, 1);
	*t = (struct thread){
		.in_use = true, .container = NO_ROW, .cpu_wait = { .cpu = -1, .waker = -1 }, .pages = NO_ROW
	};
	r->tid = (uint64_t)tid;
	r->pid = r->ppid = r->prio = r->user_id = r->vtid = r->vpid = r->cpu = r->syscall_fd = (uint64_t)-1;
	return row;
}

uint32_t thread_new(struct model *m, int64_t tid)
{
	uint32_t row = add_row(m, tid);

	map64_put(&m->tids, (uint64_t)tid, row);
	HOST_ROW(m)->threads++;
	touch_host(m);
	lost_seen(m, row);
	return row;
}

uint32_t thread_other(struct model *m)
{
	if (m->other_thread == NO_ROW) {
		m->other_thread = add_row(m, -1);
		THREAD_ROW(m, m->other_thread)->comm = strpool_intern_z("other");
	}
	return m->other_thread;
}

uint32_t thread_find(const struct model *m, int64_t tid)
{
	return map64_get(&m->tids, (uint64_t)tid);
}

uint32_t thread_of_tid(struct model *m, int64_t tid)
{
	uint32_t row = map64_get(&m->tids, (uint64_t)tid);

	if (row != MAP64_NONE)
		return row;
	if (m->unfollowed) {
		/* it is one of those, as its fork was not seen: already counted */
		m->unfollowed--;
		HOST_ROW(m)->threads--;
	}
	return thread_new(m, tid);
}

void thread_set_comm(struct model *m, uint32_t row, const char comm[16])
{
	struct thread *t = thread_info(m, row);

	if (!comm[0] || memcmp(t->comm, comm, sizeof(t->comm)) == 0)
		return;
	memcpy(t->comm, comm, sizeof(t->comm));
	t->runs_softirqs = memcmp(comm, "ksoftirqd/", 10) == 0;
	THREAD_ROW(m, row)->comm = strpool_intern_padded(comm, sizeof(t->comm));
	state_touch(&m->state, TABLE_THREAD, row);
	container_thread_renamed(m, row);
}

void thread_set_state(struct model *m, uint32_t row, enum thread_state state)
{
	struct thread_row *r = THREAD_ROW(m, row);
	uint64_t grown = m->now_ns > r->since_ns ? m->now_ns - r->since_ns : 0;

	if (state == THREAD_READY && lost_in_gap(m))
		state = THREAD_UNKNOWN;
	switch (r->state) {
	case THREAD_RUNNING:
		r->cpu_ns += grown;
		if (state != THREAD_RUNNING)
			mode_leave(m, r);
		break;
	case THREAD_READY:
		if (m->preemption)
			preemption_end(m, row);
		r->ready_ns += grown;
		break;
	case THREAD_BLOCKED:
	case THREAD_WAITING:
		r->blocked_ns += grown;
		break;
	default:
		break;
	}
	r->state = state;
	r->since_ns = m->now_ns;
	if (state != THREAD_UNKNOWN && r->flags & THREAD_UNSURE) {
		r->flags &= ~(uint64_t)THREAD_UNSURE;
		lost_seen(m, row);
	}
	pressure_changed(m, row);
	if (state == THREAD_READY && m->preemption)
		preemption_begin(m, row);
	state_touch(&m->state, TABLE_THREAD, row);
}

/* Ends everything that belongs to the row. */
static void end_parts(struct model *m, uint32_t row)
{
	files_thread_end(m, row);
	syscalls_thread_end(m, row);
	perf_thread_end(m, row);
	user_thread_end(m, row);
	pages_thread_end(m, row);
	container_thread_end(m, row);
	map64_del(&m->tids, THREAD_ROW(m, row)->tid);
	buckets_end(m, TABLE_THREAD, row);
	lost_thread_end(m, row);
	thread_info(m, row)->in_use = false;
}

void thread_end(struct model *m, uint32_t row)
{
	struct thread_row *r = THREAD_ROW(m, row);
	bool kept;

	cpu_lose_thread(m, row);
	thread_set_state(m, row, THREAD_DEAD);
	if (!r->exited_ns)
		r->exited_ns = m->now_ns;
	if (r->tid == r->pid)
		relations_process_end(m, row);
	kept = dirty_keep(m, row);
	end_parts(m, row);
	if (!kept)
		state_end(&m->state, TABLE_THREAD, row);
	HOST_ROW(m)->threads--;
	HOST_ROW(m)->threads_gone++;
	touch_host(m);
}

void thread_forget(struct model *m, uint32_t row)
{
	cpu_lose_thread(m, row);
	thread_set_state(m, row, THREAD_UNKNOWN);
	m->forgetting = true;
	end_parts(m, row);
	state_end(&m->state, TABLE_THREAD, row);
	m->forgetting = false;
	m->unfollowed++;
}

/* Flags of the call by which the parent creates a thread: known from clone(), but not from clone3(); 0: unknown. */
static uint64_t clone_flags(const struct model *m, uint32_t parent)
{
	const struct thread *t = parent == NO_ROW ? NULL : g_ptr_array_index(m->threads, parent);
	const bool clones = t && t->call.active && t->call.desc && t->call.desc->action == SYSCALL_CLONE;

	return clones ? t->call.flags : 0;
}

static bool shares_files(const struct model *m, uint32_t parent, const struct ev_new_task *p)
{
	return (p->child_pid && p->child_pid == p->parent_pid) || clone_flags(m, parent) & CLONE_FILES;
}

/* The new process is not a child of the thread's, but one more of its parent's. */
static bool makes_sibling(const struct model *m, uint32_t parent)
{
	return clone_flags(m, parent) & CLONE_PARENT;
}

void apply_fork(struct model *m, const struct apply *a)
{
	const struct ev_new_task *p = event_payload(a->ev, ev_new_task);
	uint32_t parent = NO_ROW, child;
	const struct thread_row *pr = NULL;
	struct thread_row *r;
	bool new_process;

	if (p->child_tid <= 0 || p->child_tid == p->parent_tid)
		return;
	child = thread_find(m, p->child_tid);
	if (child != NO_ROW)
		thread_end(m, child); /* its exit was not recorded */
	if (p->parent_tid > 0) {
		parent = thread_of_tid(m, p->parent_tid);
		thread_set_comm(m, parent, p->parent_comm);
		pr = THREAD_ROW(m, parent);
	}
	child = thread_new(m, p->child_tid);
	r = THREAD_ROW(m, child);
	r->born_ns = m->now_ns;
	thread_set_state(m, child, THREAD_NEW);
	thread_info(m, child)->inside = INSIDE_KERNEL;
	thread_set_comm(m, child, p->child_comm);
	new_process = p->child_pid == p->child_tid;
	r->pid = p->child_pid > 0 ? (uint64_t)p->child_pid : (uint64_t)-1;
	if (pr) {
		r->ppid = new_process && !makes_sibling(m, parent)
				  ? (p->parent_pid > 0 ? (uint64_t)p->parent_pid : pr->pid)
				  : pr->ppid;
		r->prio = pr->prio;
		r->user_id = pr->user_id;
		r->exe = pr->exe;
		if (pr->tid == TID_KTHREADD || (pr->flags & THREAD_KERNEL && !new_process))
			r->flags |= THREAD_KERNEL;
	}
	container_fork(m, parent, child, p);
	files_fork(m, parent, child, shares_files(m, parent, p));
	if (new_process && parent != NO_ROW)
		mounts_fork(m, parent, child);
	HOST_ROW(m)->threads_new++;
	touch_host(m);
}

/* The kernel names a program after the last part of its path, cut to 15 bytes. */
static void comm_of_path(char comm[16], const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	const char *base = slash ? slash + 1 : path;

	len -= (size_t)(base - path);
	memset(comm, 0, 16);
	memcpy(comm, base, MIN(len, 15));
}

/* The thread becomes its process' first: there, the process' ID is also its own. */
static void inherit_namespaces(struct model *m, uint32_t row, uint32_t from)
{
	const struct thread_row *f = THREAD_ROW(m, from);
	struct thread_row *r = THREAD_ROW(m, row);

	if ((int64_t)r->vpid < 0)
		r->vtid = r->vpid = f->vpid;
	if (!r->pid_ns)
		r->pid_ns = f->pid_ns;
	if (!r->cgroup_ns)
		r->cgroup_ns = f->cgroup_ns;
	user_thread_numbered(m, row);
	container_place(m, row);
}

static bool has_exited(const struct thread_row *r)
{
	return r->exited_ns || r->state == THREAD_ZOMBIE;
}

/*
 * A thread that is not its process' first takes over the first one's TID: the old row ends here, the new one continues
 * with its files, its working directory and its CPU. The first one has exited, but may have yet to be switched out for
 * the last time: see sched_is_of_another().
 */
static uint32_t take_over_tid(struct model *m, const struct apply *a, uint32_t old, int64_t tid)
{
	uint32_t row = thread_find(m, tid);
	const struct thread *in_directory = thread_info(m, row != NO_ROW ? row : old);
	const strid cwd = in_directory->cwd;
	const uint8_t cwd_kind = in_directory->cwd_kind;
	struct thread_row *r;

	if (row != NO_ROW && has_exited(THREAD_ROW(m, row)))
		thread_end(m, row);
	row = thread_of_tid(m, tid);
	r = THREAD_ROW(m, row);
	r->pid = (uint64_t)tid;
	r->ppid = THREAD_ROW(m, old)->ppid;
	r->user_id = THREAD_ROW(m, old)->user_id;
	r->prio = THREAD_ROW(m, old)->prio;
	inherit_namespaces(m, row, old);
	thread_info(m, row)->inside = INSIDE_KERNEL;
	thread_info(m, row)->cwd = cwd;
	thread_info(m, row)->cwd_kind = cwd_kind;
	if (a->cpu) {
		thread_set_state(m, old, THREAD_ZOMBIE);
		cpu_run(m, a->cpu, tid, row);
	}
	if (!thread_info(m, row)->files)
		files_fork(m, old, row, true);
	thread_end(m, old);
	return row;
}

void thread_set_exe(struct model *m, uint32_t row, strid path)
{
	THREAD_ROW(m, row)->exe = path;
	state_touch(&m->state, TABLE_THREAD, row);
}

void apply_exec(struct model *m, const struct apply *a)
{
	const struct ev_exec *p = event_payload(a->ev, ev_exec);
	uint32_t row, old;
	char comm[16];

	if (p->tid <= 0)
		return;
	old = p->old_tid > 0 && p->old_tid != p->tid ? thread_find(m, p->old_tid) : NO_ROW;
	row = old != NO_ROW ? take_over_tid(m, a, old, p->tid) : thread_of_tid(m, p->tid);
	if (p->filename.len) {
		comm_of_path(comm, event_text(a->ev, p->filename), p->filename.len);
		thread_set_comm(m, row, comm);
	}
	m->execs_seen = true;
	thread_set_exe(m, row, strpool_intern_path(event_text(a->ev, p->filename), p->filename.len));
	if (THREAD_ROW(m, row)->flags & THREAD_KERNEL) {
		/* a program that the kernel starts: inside the kernel until its first call */
		thread_info(m, row)->inside = INSIDE_KERNEL;
		THREAD_ROW(m, row)->flags &= ~(uint64_t)THREAD_KERNEL;
	}
	files_exec(m, row);
}

/* It keeps running until it is switched out. */
void apply_exit(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);
	uint32_t row = p->tid > 0 ? thread_of_tid(m, p->tid) : NO_ROW;

	if (row == NO_ROW)
		return;
	thread_set_comm(m, row, p->comm);
	THREAD_ROW(m, row)->exited_ns = m->now_ns;
	state_touch(&m->state, TABLE_THREAD, row);
}

void apply_free(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);
	uint32_t row = p->tid > 0 ? thread_find(m, p->tid) : NO_ROW;

	if (row == NO_ROW)
		return;
	/* else another thread has its TID by now */
	if (has_exited(THREAD_ROW(m, row)))
		thread_end(m, row);
}

void apply_rename(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);

	if (p->tid > 0)
		thread_set_comm(m, thread_of_tid(m, p->tid), p->comm);
}

void apply_setprio(struct model *m, const struct apply *a)
{
	const struct ev_task *p = event_payload(a->ev, ev_task);
	uint32_t row = p->tid > 0 ? thread_of_tid(m, p->tid) : NO_ROW;

	if (row == NO_ROW)
		return;
	THREAD_ROW(m, row)->prio = (uint64_t)p->prio;
	state_touch(&m->state, TABLE_THREAD, row);
}

static void set_kernel(struct model *m, uint32_t row)
{
	struct thread_row *r = THREAD_ROW(m, row);

	if (r->flags & THREAD_KERNEL)
		return;
	r->flags |= THREAD_KERNEL;
	mode_update_thread(m, row);
}

/* The state for a status of lttng_statedump_process_state. */
static enum thread_state state_of_status(int64_t status)
{
	enum { WAIT_FORK = 1, WAIT_CPU = 2, EXIT = 3, ZOMBIE = 4, WAIT = 5, DEAD = 7 };

	switch (status) {
	case WAIT_FORK: /* reported for every runnable thread that is not in a real-time queue */
	case WAIT_CPU:
		return THREAD_READY;
	case WAIT:
		return THREAD_WAITING;
	case EXIT:
	case ZOMBIE:
	case DEAD:
		return THREAD_ZOMBIE;
	default:
		return THREAD_UNKNOWN;
	}
}

void apply_dump_process(struct model *m, const struct apply *a)
{
	const struct ev_dump_process *p = event_payload(a->ev, ev_dump_process);
	const enum thread_state state = state_of_status(p->status);
	struct thread_row *r;
	uint32_t row;

	if (p->tid <= 0)
		return;
	row = thread_of_tid(m, p->tid);
	thread_info(m, row)->dumped_ns = m->dump.named_ns = m->now_ns;
	r = THREAD_ROW(m, row);
	r->pid = (uint64_t)p->pid;
	r->ppid = (uint64_t)p->ppid;
	if (!r->comm)
		thread_set_comm(m, row, p->name);
	/* all without user memory have that type, zombies of programs too */
	if (p->type == 1 && state != THREAD_ZOMBIE)
		set_kernel(m, row);
	if (p->vtid > 0)
		container_dump(m, row,
			       &(struct ev_dump_ns){ .tid = p->tid,
						     .vtid = p->vtid,
						     .vpid = p->vpid,
						     .ns_level = p->ns_level,
						     .ns_inum = p->ns_inum });
	/* if switches were seen, they are more reliable */
	if (r->state == THREAD_UNKNOWN && state != THREAD_UNKNOWN)
		thread_set_state(m, row, state);
	if (r->state == THREAD_WAITING)
		mode_has_waited(thread_info(m, row));
	if (p->file_table)
		files_dump_table(m, row, p->file_table);
	state_touch(&m->state, TABLE_THREAD, row);
}

void apply_dump_pid_ns(struct model *m, const struct apply *a)
{
	const struct ev_dump_ns *p = event_payload(a->ev, ev_dump_ns);
	uint32_t row = p->tid > 0 ? thread_of_tid(m, p->tid) : NO_ROW;

	if (row != NO_ROW)
		container_dump(m, row, p);
}

void apply_dump_cgroup_ns(struct model *m, const struct apply *a)
{
	const struct ev_dump_ns *p = event_payload(a->ev, ev_dump_ns);
	uint32_t row = p->tid > 0 ? thread_of_tid(m, p->tid) : NO_ROW;

	if (row == NO_ROW)
		return;
	THREAD_ROW(m, row)->cgroup_ns = p->ns_inum;
	state_touch(&m->state, TABLE_THREAD, row);
	container_place(m, row);
}

/* The main thread of a process may never run: until its own user is known, it has that of another thread. */
static void set_user(struct model *m, uint32_t row, uint64_t user_id)
{
	struct thread_row *r = THREAD_ROW(m, row), *main;
	uint32_t main_row;

	if (r->user_id == user_id)
		return;
	r->user_id = user_id;
	main_row = r->pid != r->tid ? thread_find(m, (int64_t)r->pid) : NO_ROW;
	main = main_row != NO_ROW ? THREAD_ROW(m, main_row) : NULL;
	if (!main || (int64_t)main->user_id >= 0)
		return;
	main->user_id = user_id;
	state_touch(&m->state, TABLE_THREAD, main_row);
}

void apply_context(struct model *m, const struct apply *a)
{
	const struct ev_context *p = event_payload(a->ev, ev_context);
	struct thread_row *r;
	uint64_t named;
	uint32_t row;

	if (a->ev->tid <= 0)
		return;
	row = thread_of_tid(m, a->ev->tid);
	r = THREAD_ROW(m, row);
	if (event_has(a->ev, CTX_PID))
		r->pid = (uint64_t)p->pid;
	if (event_has(a->ev, CTX_PPID))
		r->ppid = (uint64_t)p->ppid;
	if (event_has(a->ev, CTX_PRIO))
		r->prio = (uint64_t)p->prio;
	/* an exiting thread leaves its namespaces before its last event: 0 */
	if (event_has(a->ev, CTX_VTID) && p->vtid > 0)
		r->vtid = (uint64_t)p->vtid;
	user_thread_numbered(m, row);
	if (event_has(a->ev, CTX_VPID) && p->vpid > 0)
		r->vpid = (uint64_t)p->vpid;
	if (event_has(a->ev, CTX_PID_NS) && p->pid_ns)
		r->pid_ns = p->pid_ns;
	if (event_has(a->ev, CTX_CGROUP_NS) && p->cgroup_ns)
		r->cgroup_ns = p->cgroup_ns;
	if (event_has(a->ev, CTX_UID))
		set_user(m, row, p->uid);
	if (r->ppid == TID_KTHREADD || r->tid == TID_KTHREADD)
		set_kernel(m, row);
	container_place(m, row);
	named = r->comm;
	thread_set_comm(m, row, p->procname);
	if (m->wait_log && named && r->comm != named)
		waitlog_named(m, a, row);
	state_touch(&m->state, TABLE_THREAD, row);
}
