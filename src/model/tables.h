/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_TABLES_H
#define LT_MODEL_TABLES_H

#include <stdint.h>

#include "model/cells.h"

/*
 * Every figure of the program: the tables of a host and their cells, each
 * declared once. From these lists come the row structures that the handlers
 * write (struct thread_row …, all members 64 bits) and the descriptions that
 * history, view and reports read (table_descs[]).
 *
 *   C(member, KIND, UNIT, "meaning")
 *   A(member, states, state member, since member, "meaning")   CELL_ACCRUAL
 *   D(member, "of what")                                       a distribution, struct dist
 */

/* What a distribution of durations keeps; seven cells. */
struct dist {
	uint64_t count;
	uint64_t sum;
	uint64_t sq_lo; /* sum of squares, 128 bits */
	uint64_t sq_hi;
	uint64_t min;   /* of the interval; UINT64_MAX if none */
	uint64_t max;
	uint64_t max_at;
};

enum thread_state {
	THREAD_UNKNOWN = 0,
	THREAD_RUNNING,
	THREAD_READY,    /* runnable, waiting for a CPU */
	THREAD_BLOCKED,
	THREAD_WAITING,  /* the state dump saw it wait, since when and for what is unknown */
	THREAD_NEW,      /* forked, not yet woken */
	THREAD_STOPPED,  /* by a signal or a tracer */
	THREAD_ZOMBIE,   /* has exited, still to be switched out or waited for */
	THREAD_DEAD,
	THREAD_STATES
};

enum thread_flag {
	THREAD_KERNEL = 1 << 0,   /* a kernel thread */
	THREAD_UNSURE = 1 << 1,   /* events were lost since its state was last seen */
	THREAD_PREEMPTED = 1 << 2, /* ready because preempted, not because woken */
	THREAD_IDLES = 1 << 3,    /* blocked, as a thread of the kernel that has no work */
};

/* Inodes of the namespaces that a kernel starts with (include/linux/proc_ns.h). */
#define HOST_CGROUP_NS UINT64_C(0xeffffffb)
#define HOST_PID_NS UINT64_C(0xeffffffc)

enum cpu_state { CPU_UNKNOWN = 0, CPU_IDLE, CPU_BUSY, CPU_OFFLINE };
enum cpu_irq_state { CPU_IRQ_NONE = 0, CPU_IRQ_HARD, CPU_IRQ_SOFT };

/* By what means one process acts upon another. */
enum relation_kind {
	RELATION_PIPE,    /* pipes and fifos */
	RELATION_UNIX,
	RELATION_INET,
	RELATION_SIGNAL,
	RELATION_FUTEX,   /* locks, conditions … of threads */
	RELATION_LOCK,    /* of files */
	RELATION_CHILD,   /* one ends, its parent waits for that */
	RELATION_EVENTFD,
	RELATION_OTHER,   /* a wake-up by means that the trace does not tell */
	RELATION_KINDS
};

enum host_status { HOST_OK = 0, HOST_ENDED, HOST_DEGRADED, HOST_SILENT, HOST_AWAY };

#define HOST_CELLS(C, A, D) \
	C(first_ns, TIME, NS, "time of the first event") \
	C(last_ns, TIME, NS, "time of the last event") \
	C(status, GAUGE, NONE, "enum host_status") \
	C(reason, STRING, NONE, "why the host is degraded") \
	C(events, COUNTER, COUNT, "events in the trace") \
	C(lost_events, COUNTER, COUNT, "events the tracer discarded") \
	C(lost_packets, COUNTER, COUNT, "packets the tracer overwrote") \
	C(backward_steps, COUNTER, COUNT, "how often time went back inside a stream") \
	C(late_events, COUNTER, COUNT, "events that came after their time had been passed") \
	C(cpus, GAUGE, COUNT, "CPUs online") \
	C(threads, GAUGE, COUNT, "threads alive") \
	C(fds, GAUGE, COUNT, "open file descriptors known") \
	C(threads_new, COUNTER, COUNT, "threads born") \
	C(threads_gone, COUNTER, COUNT, "threads exited") \
	C(fds_opened, COUNTER, COUNT, "file descriptors made") \
	C(fds_closed, COUNTER, COUNT, "file descriptors closed") \
	C(disk_read_bytes, COUNTER, BYTES, "completed by block devices") \
	C(disk_write_bytes, COUNTER, BYTES, "completed by block devices") \
	C(rx_bytes, COUNTER, BYTES, "received by interfaces, loopback excepted") \
	C(tx_bytes, COUNTER, BYTES, "sent by interfaces, loopback excepted")

#define CPU_CELLS(C, A, D) \
	C(cpu, KEY, NONE, "number") \
	C(state, GAUGE, NONE, "enum cpu_state") \
	C(since_ns, TIME, NS, "time of the last change of state") \
	C(thread_uid, GAUGE, NONE, "the running thread, 0 idle or unknown") \
	C(irq_state, GAUGE, NONE, "enum cpu_irq_state: the innermost handler") \
	C(irq_since_ns, TIME, NS, "time of the last change of irq_state") \
	A(busy_ns, 1 << CPU_BUSY, state, since_ns, "time with a thread running") \
	A(idle_ns, 1 << CPU_IDLE, state, since_ns, "time with the idle task running") \
	A(online_ns, 1 << CPU_BUSY | 1 << CPU_IDLE, state, since_ns, "busy and idle") \
	A(irq_ns, 1 << CPU_IRQ_HARD, irq_state, irq_since_ns, "time in interrupt handlers") \
	A(softirq_ns, 1 << CPU_IRQ_SOFT, irq_state, irq_since_ns, "time in softirqs without nested interrupts") \
	C(switches, COUNTER, COUNT, "context switches") \
	C(lost_events, COUNTER, COUNT, "events discarded on this CPU")

#define THREAD_CELLS(C, A, D) \
	C(tid, KEY, NONE, "thread id") \
	C(born_ns, TIME, NS, "time of its fork, 0 before the record") \
	C(exited_ns, TIME, NS, "time of its exit, 0 not yet") \
	C(pid, GAUGE, NONE, "process (thread group) id; int64_t, -1 unknown") \
	C(ppid, GAUGE, NONE, "parent's pid; int64_t, -1 unknown") \
	C(comm, STRING, NONE, "name") \
	C(prio, GAUGE, NONE, "kernel priority; int64_t, -1 unknown") \
	C(vtid, GAUGE, NONE, "thread id in its pid namespace; -1 unknown") \
	C(vpid, GAUGE, NONE, "process id in its pid namespace; -1 unknown") \
	C(pid_ns, GAUGE, NONE, "inode of its pid namespace, 0 unknown") \
	C(cgroup_ns, GAUGE, NONE, "inode of its cgroup namespace, 0 unknown") \
	C(container, GAUGE, NONE, "uid of its TABLE_CONTAINER row, 0 none: the host's own namespaces, or unknown") \
	C(files_id, GAUGE, NONE, "its fd table: TABLE_FILE rows with this files_id") \
	C(flags, GAUGE, NONE, "enum thread_flag") \
	C(cpu, GAUGE, NONE, "CPU it last ran on; int64_t, -1 unknown") \
	C(state, GAUGE, NONE, "enum thread_state") \
	C(since_ns, TIME, NS, "time of the last change of state") \
	C(syscall, STRING, NONE, "system call it is in") \
	C(syscall_fd, GAUGE, NONE, "fd of that call; int64_t, -1 none") \
	C(syscall_ns, TIME, NS, "when it entered that call") \
	A(cpu_ns, 1 << THREAD_RUNNING, state, since_ns, "time on a CPU") \
	A(ready_ns, 1 << THREAD_READY, state, since_ns, "runnable, waiting for a CPU") \
	A(blocked_ns, 1 << THREAD_BLOCKED | 1 << THREAD_WAITING, state, since_ns, "blocked") \
	C(switches, COUNTER, COUNT, "how often it was switched in") \
	C(migrations, COUNTER, COUNT, "how often it moved to another CPU") \
	C(syscalls, COUNTER, COUNT, "system calls made (exits)") \
	C(read_disk, COUNTER, BYTES, "read from files") \
	C(read_net, COUNTER, BYTES, "read from internet and packet sockets") \
	C(read_pipe, COUNTER, BYTES, "read from pipes, fifos and unix sockets") \
	C(read_other, COUNTER, BYTES, "read from anything else") \
	C(write_disk, COUNTER, BYTES, "written to files") \
	C(write_net, COUNTER, BYTES, "written to internet and packet sockets") \
	C(write_pipe, COUNTER, BYTES, "written to pipes, fifos and unix sockets") \
	C(write_other, COUNTER, BYTES, "written to anything else") \
	C(user_events, COUNTER, COUNT, "events that its program emitted") \
	D(latency, "wake-up to switch-in")

/* Which end of a connection a socket is. */
enum socket_side { SIDE_UNKNOWN = 0, SIDE_CONNECTED, SIDE_ACCEPTED };

#define FILE_CELLS(C, A, D) \
	C(files_id, KEY, NONE, "the fd table it is in") \
	C(pid, KEY, NONE, "process that owns the table") \
	C(fd, KEY, NONE, "number") \
	C(path, STRING, NONE, "path, as the event or the state dump told") \
	C(peer, STRING, NONE, "address of a socket's peer") \
	C(client, STRING, NONE, "address without port of the peer of a socket that was accepted") \
	C(side, GAUGE, NONE, "enum socket_side") \
	C(kind, GAUGE, NONE, "enum fd_kind") \
	C(opened_ns, TIME, NS, "when it was made, 0 before the record") \
	C(closed_ns, TIME, NS, "when it was closed, 0 not yet") \
	C(cloexec, GAUGE, NONE, "closed by exec") \
	C(channel, GAUGE, NONE, "number of the pipe or of the end of a connection, 0 unknown") \
	C(read_bytes, COUNTER, BYTES, "read through it") \
	C(write_bytes, COUNTER, BYTES, "written through it")

#define DISK_CELLS(C, A, D) \
	C(dev, KEY, NONE, "kernel device number: major << 20 | minor") \
	C(name, STRING, NONE, "name") \
	C(reads, COUNTER, COUNT, "read requests completed") \
	C(writes, COUNTER, COUNT, "write requests completed") \
	C(read_bytes, COUNTER, BYTES, "read") \
	C(write_bytes, COUNTER, BYTES, "written") \
	C(queue, GAUGE, COUNT, "requests issued and not yet completed") \
	C(waiting, GAUGE, COUNT, "requests inserted and not yet issued") \
	C(queue_max, MAX, COUNT, "highest queue while it changed in the interval") \
	D(latency, "issue to completion")

#define NETIF_CELLS(C, A, D) \
	C(name, KEY, NONE, "strid") \
	C(rx_packets, COUNTER, COUNT, "packets received") \
	C(rx_bytes, COUNTER, BYTES, "bytes received") \
	C(tx_packets, COUNTER, COUNT, "packets sent") \
	C(tx_bytes, COUNTER, BYTES, "bytes sent")

#define IRQ_CELLS(C, A, D) \
	C(soft, KEY, NONE, "0 interrupt, 1 softirq") \
	C(nr, KEY, NONE, "irq number or softirq vector") \
	C(cpu, KEY, NONE, "CPU") \
	C(name, STRING, NONE, "name of the handler or softirq") \
	C(count, COUNTER, COUNT, "handlers run (exits)") \
	D(time, "entry to exit") \
	D(raise, "softirqs: raise to entry")

#define SYSCALL_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, NONE, "strid") \
	C(count, COUNTER, COUNT, "calls (exits)") \
	C(errors, COUNTER, COUNT, "calls that returned an error") \
	D(time, "entry to exit")

#define SYSERR_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, NONE, "strid of the call") \
	C(error, KEY, NONE, "errno") \
	C(count, COUNTER, COUNT, "how often")

#define PERF_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(counter, KEY, NONE, "strid of the counter's name") \
	C(value, COUNTER, COUNT, "what the counter grew while the thread ran")

#define BLOCKING_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(state, KEY, NONE, "enum wait_state: what it turned out to wait for") \
	C(syscall, KEY, NONE, "strid of the system call it was in, STRID_NONE none") \
	C(fd, KEY, NONE, "fd of that call; int64_t, -1 none") \
	C(object, KEY, NONE, "strid of the path or peer of that fd") \
	C(cause, STRING, NONE, "who or what ended the last one") \
	D(time, "waits that ended")

#define RELATION_CELLS(C, A, D) \
	C(from_uid, KEY, NONE, "uid of the main thread of the process that acts, 0 not known here") \
	C(to_uid, KEY, NONE, "the same of the process it acts upon") \
	C(kind, KEY, NONE, "enum relation_kind") \
	C(object, KEY, NONE, "strid of what it goes through, STRID_NONE without name") \
	C(flow, KEY, NONE, "the other process is elsewhere: hash of the connection and its direction; else 0") \
	C(from_pid, KEY, NONE, "int64_t, -1 not known") \
	C(to_pid, KEY, NONE, "int64_t, -1 not known") \
	C(from_comm, STRING, NONE, "name") \
	C(to_comm, STRING, NONE, "name") \
	C(count, COUNTER, COUNT, "transfers, signals, locks, children …") \
	C(bytes, COUNTER, BYTES, "what one wrote and the other read; between hosts: what this host's process did") \
	D(wait, "waits of the other's that it ended")

#define CONTAINER_CELLS(C, A, D) \
	C(inode, KEY, NONE, "of its namespace") \
	C(of_cgroup, KEY, NONE, "1: a cgroup namespace, of threads in the host's pid namespace; 0: a pid namespace") \
	C(parent, GAUGE, NONE, "inode of the pid namespace it is in, 0 unknown") \
	C(level, GAUGE, NONE, "how deep it is nested: 1 in the host's own namespace; 0 unknown") \
	C(first_uid, GAUGE, NONE, "uid of its first process' main thread") \
	C(pid, GAUGE, NONE, "that process; int64_t, -1 unknown") \
	C(comm, STRING, NONE, "its name") \
	C(threads, GAUGE, COUNT, "threads in it")

#define VTID_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(level, KEY, NONE, "of a pid namespace between the host's own, 0, and the thread's own") \
	C(vtid, GAUGE, NONE, "thread id in there")

#define EVENT_CELLS(C, A, D) \
	C(name, KEY, NONE, "strid") \
	C(used, GAUGE, NONE, "1: some figure comes from it") \
	C(probe, GAUGE, NONE, "1: a kprobe, uprobe or function probe") \
	C(count, COUNTER, COUNT, "events")

#define CELL_MEMBER(member, kind, unit, meaning) uint64_t member;
#define ACCRUAL_MEMBER(member, states, state, since, meaning) uint64_t member;
#define DIST_MEMBER(member, meaning) struct dist member;
#define ROW_STRUCT(name, LIST) \
	struct name##_row { \
		uint64_t uid; \
		LIST(CELL_MEMBER, ACCRUAL_MEMBER, DIST_MEMBER) \
	}

ROW_STRUCT(host, HOST_CELLS);
ROW_STRUCT(cpu, CPU_CELLS);
ROW_STRUCT(thread, THREAD_CELLS);
ROW_STRUCT(file, FILE_CELLS);
ROW_STRUCT(disk, DISK_CELLS);
ROW_STRUCT(netif, NETIF_CELLS);
ROW_STRUCT(irq, IRQ_CELLS);
ROW_STRUCT(syscall, SYSCALL_CELLS);
ROW_STRUCT(syserr, SYSERR_CELLS);
ROW_STRUCT(perf, PERF_CELLS);
ROW_STRUCT(blocking, BLOCKING_CELLS);
ROW_STRUCT(relation, RELATION_CELLS);
ROW_STRUCT(container, CONTAINER_CELLS);
ROW_STRUCT(vtid, VTID_CELLS);
ROW_STRUCT(event, EVENT_CELLS);

/* The number of a cell: CELL(thread, cpu_ns), CELL(irq, time.sum). */
#define CELL(table, member) (offsetof(struct table##_row, member) / sizeof(uint64_t))

/* Adds one value, seen at at_ns. */
static inline void dist_add(struct dist *d, uint64_t value, uint64_t at_ns)
{
	unsigned __int128 sq = (unsigned __int128)value * value;

	d->count++;
	d->sum += value;
	sq += (unsigned __int128)d->sq_hi << 64 | d->sq_lo;
	d->sq_lo = (uint64_t)sq;
	d->sq_hi = (uint64_t)(sq >> 64);
	if (value < d->min)
		d->min = value;
	if (value >= d->max) {
		d->max = value;
		d->max_at = at_ns;
	}
}

#endif
