/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_PARTS_INTERNAL_H
#define LT_MODEL_PARTS_INTERNAL_H

/* What the files of model/ do for each other, by file; those with more of it have headers of their own. */

#include "model/internal.h"

/* ---- process.c: threads ---- */

/* Adds a thread seen for the first time, nothing known about it. A previous thread with the TID keeps its row. */
uint32_t thread_new(struct model *m, int64_t tid);

/* The row of the thread that has this TID now; created (born before the record) if unknown. tid > 0. */
uint32_t thread_of_tid(struct model *m, int64_t tid);

/* The same without creating one: NO_ROW. */
uint32_t thread_find(const struct model *m, int64_t tid);

/* Sets its name if the 16 bytes are not empty. */
void thread_set_comm(struct model *m, uint32_t row, const char comm[16]);

/* The thread has executed a program, path as passed to exec; STRID_NONE: unknown. */
void thread_set_exe(struct model *m, uint32_t row, strid path);

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

/*
 * For threads in nested containers: the one that has that ID in a namespace around its own, NO_ROW: none is known; and
 * the thread's ID at an intermediate level, NULL: unknown.
 */
uint32_t container_thread_outside(const struct model *m, uint64_t ns, uint64_t vtid);
const struct vtid_row *container_vtid(const struct model *m, uint32_t thread, uint64_t level);

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

/* It is no longer known which of its requests there are. */
void pressure_forget_requests(struct model *m, uint32_t thread);

/* A container (its row and uid) appears, or has lost its last thread; a thread enters or leaves it. */
void pressure_container_begins(struct model *m, uint32_t container, uint64_t uid);
void pressure_container_ends(struct model *m, uint32_t container);
void pressure_enter(struct model *m, uint32_t thread, uint32_t container);
void pressure_leave(struct model *m, uint32_t thread, uint32_t container);

/* ---- cpu.c: what each CPU runs ---- */

LT_COLD struct cpu *cpu_make(struct model *m, unsigned number);

/*
 * The CPU with that number; created if unknown: online, what it runs since the start of the record not known. Valid
 * until another one is created: a handler that calls this does not use its apply.cpu afterwards.
 */
static inline struct cpu *cpu_of_number(struct model *m, unsigned number)
{
	struct cpu *cpu = number < m->cpus->len ? &g_array_index(m->cpus, struct cpu, number) : NULL;

	return cpu && cpu->row != NO_ROW ? cpu : cpu_make(m, number);
}

/* Its bit in thread.cpus. */
static inline uint64_t cpu_bit(const struct model *m, const struct cpu *cpu)
{
	return UINT64_C(1) << CPU_ROW((struct model *)m, cpu->row)->cpu % 64;
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

/* Nothing is recorded of it from now until its next event: that time is credited to nothing. */
void cpu_interrupt(struct model *m, struct cpu *cpu);

/* It is offline from now until its next event. */
void cpu_offline(struct model *m, struct cpu *cpu);

/* The record starts: credits what is running from here on. */
void cpus_begin(struct model *m, uint64_t begin_ns);

/* If the thread runs on a CPU, unsettles that CPU: the thread was seen elsewhere or is gone. */
void cpu_lose_thread(struct model *m, uint32_t thread);

handler_fn apply_stream, apply_cpu_start;

/* ---- sched.c ---- */

/*
 * Whether the thread, which is about to be switched in, has waited for the CPU since it was switched out to sleep; its
 * state is still that of a sleeper.
 */
bool sched_was_ready(struct model *m, uint32_t thread);

/* Whether it switches another thread out than the one whose TID it names. cpu: before it is settled. */
bool sched_is_of_another(const struct model *m, const struct cpu *cpu, const struct ev_sched_switch *p);

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

/* Logs the name that the row's thread has from now on; the event is borrowed until the next one is logged. */
struct wait_event *waitlog_named(struct model *m, const struct apply *a, uint32_t row);

/* What runs on the CPU, if that is known, and since when: as the log begins, or as it becomes known. */
void waitlog_runs(struct model *m, const struct cpu *cpu);

/* A work item (work.c). number: from when it is queued until it starts, else NO_WORK. function: only if it starts. */
void waitlog_work(struct model *m, const struct apply *a, enum wait_event_kind kind, int32_t number, strid function);

/* Nothing continues across this point; cpu NULL: on any CPU. */
void waitlog_interrupt(struct model *m, const struct cpu *cpu);

/* ---- lost.c ---- */
handler_fn apply_lost, apply_gap, apply_backward;

/* Whether a CPU is in a gap, or its data begins later: a thread that is ready may run there. */
static inline bool lost_in_gap(const struct model *m)
{
	return m->now_ns < HOST_ROW(m)->gap_end_ns || m->awaited;
}

/* The CPU's data begins. */
void lost_cpu_begins(struct model *m, struct cpu *cpu);

/* A thread's state was seen, for the first time or again since events were lost. */
void lost_seen(struct model *m, uint32_t thread);

/* The first event after an interruption. */
void lost_record_resumes(struct model *m);

/*
 * Whether a CPU on which the thread ran during its call lost events since the entry: its exit, and the entry of a later
 * call, may be among them.
 */
LT_COLD bool lost_in_call(struct model *m, uint32_t thread);

/* A thread is gone. */
void lost_thread_end(struct model *m, uint32_t thread);

/* A state dump starts, or ends: threads that it should have named and has not are gone. */
void lost_dump_start(struct model *m, const struct apply *a);
void lost_dump_end(struct model *m, const struct apply *a);

/* Some events since begin_ns were not applied: a state dump that was not over by then is not complete. */
void lost_of_dump(struct model *m, uint64_t begin_ns);

/* ---- syscalls.c: timing and errors of every call; passes its effect to files.c ---- */
void syscalls_create(struct model *m);
void syscalls_destroy(struct model *m);
void syscalls_thread_end(struct model *m, uint32_t thread);

/* The row of a thread's call, and of an error of it; created if there is none. */
uint32_t syscalls_row(struct model *m, uint32_t thread, strid name);
uint32_t syscalls_error_row(struct model *m, uint32_t thread, strid name, int64_t error);

/* The path that the thread's call was given, from its directory if that is known; STRID_NONE: there is none. */
strid syscalls_path(struct model *m, uint32_t thread);

/* Stops following the call the thread is in: its exit will not be seen. */
void syscalls_forget(struct model *m, uint32_t thread);

/* The name of a 32-bit program's call by its number, if the tracer has none for it; STRID_NONE: not known. */
strid syscalls_compat_name(const struct model *m, int64_t nr);

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

/* The name of the server whose file the thread's call works on or names; else_cause if there is none. */
strid files_server(struct model *m, uint32_t thread, strid else_cause);

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
	struct wait_for_cpu *w = &thread_info(m, thread)->cpu_wait;

	w->cpu = cpu >= 0 && cpu < EVENT_CPU_MAX ? (int32_t)cpu : -1;
	w->waker = -1;
}

/* Who ran longest in the thread's wait for a CPU that ends now; .ns 0: it did not wait. */
struct ran_instead preemption_most(struct model *m, uint32_t thread);

enum { WAKEUP_TARGET_CPU = 2 }; /* its bit in event.present, of sched_waking too */

/* It has waited for its CPU until now; for which one from now on, is to be seen. */
void preemption_charge(struct model *m, uint32_t thread);

/* The event is its sched_waking, or the sched_wakeup of a thread that had one. */
void preemption_wakes(struct model *m, const struct apply *a, uint32_t thread);
void preemption_woken(struct model *m, const struct apply *a, const struct ev_wakeup *p);

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

/* The thread's wait4() returned the end of that process, by its ID in the thread's PID namespace. */
void relations_child_waited(struct model *m, uint32_t parent, int64_t pid);

/* A call of the kill() family succeeded: signal call->cmd to call->arg, a process or thread, by such an ID. */
void relations_killed(struct model *m, uint32_t thread, const struct call_in_flight *call);

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

/* accept() on the file listening created the other one; addr and port are the peer's. */
void channels_accept(struct model *m, uint32_t thread, uint32_t listening, uint32_t file, bool v6,
		     const uint64_t addr[2], uint64_t port);

/* The same if it did not return the address; id: call->channel. */
void channels_accept_unseen(struct model *m, uint32_t thread, uint32_t listening, uint32_t file, uint64_t id);

/* Bytes passed through a file whose cell channel is not 0. */
void channels_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);
void channels_written(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);

void channels_packet_sent(struct model *m, const struct apply *a, const struct ev_net *p);
void channels_packet_received(struct model *m, const struct ev_net *p);

/* ---- work.c: work items of the kernel ---- */

void works_destroy(struct model *m);

/* ---- user.c: user-space events and the threads that emit them ---- */

void users_create(struct model *m);
void users_destroy(struct model *m);

/* The thread has another vtid than before. */
void user_thread_numbered(struct model *m, uint32_t thread);
void user_thread_end(struct model *m, uint32_t thread);

/* The thread with that ID in that PID namespace, NO_ROW: none is known. */
uint32_t user_thread_find(const struct model *m, uint64_t vtid, uint64_t pid_ns);

/* The emitter of the next events of that TID in that trace: an EVENT_CONTEXT with the IDs in its PID namespace. */
void user_context(struct model *m, unsigned source, const struct event *ev);

/* That trace number belongs to another trace from now on: forgets who emitted in it. */
void user_forget_trace(struct model *m, unsigned source, unsigned trace);

/* Counts it for its thread. */
void user_event(struct model *m, unsigned source, const struct event *ev);

/* ---- block.c, disks.c, net.c, irq.c, perf.c, pages.c ---- */
void block_create(struct model *m);
void block_destroy(struct model *m);
void net_create(struct model *m);
void net_destroy(struct model *m);

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
void perf_create(struct model *m);
void perf_destroy(struct model *m);

#endif
