/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_TABLES_H
#define LT_MODEL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "model/cells.h"

/*
 * Every figure of the program: the tables of a host and their cells, each
 * declared once. From these lists come the row structures that the handlers
 * write (struct thread_row …, all members 64 bits), the descriptions that
 * history reads (table_descs[]), and the columns of view/: their names, units, null
 * rules and meanings.
 *
 *   C(member, KIND, TYPE, "Meaning")                           enum cell_kind, enum cell_type
 *   A(member, states, state member, since member, "Meaning")   CELL_ACCRUAL, TYPE_NS
 *   D(member, "What is counted", "what is measured of each")   a distribution of durations, struct dist
 *
 * A meaning reads as the beginning of a sentence, without the full stop: "Bytes read" becomes "Bytes read." and
 * "Bytes read per second.", "time on the way" "Longest time on the way.". Of TYPE_NONE it is a note for who reads this.
 */

/* What a distribution of durations keeps; seven cells. */
struct dist {
	uint64_t count;
	uint64_t sum;
	uint64_t sq_lo; /* sum of squares, 128 bits */
	uint64_t sq_hi;
	uint64_t min; /* of the interval; UINT64_MAX if none */
	uint64_t max;
	uint64_t max_at;
};

enum thread_state {
	THREAD_UNKNOWN = 0,
	THREAD_RUNNING,
	THREAD_READY, /* runnable, waiting for a CPU */
	THREAD_BLOCKED,
	THREAD_WAITING, /* the state dump saw it wait, since when and for what is unknown */
	THREAD_NEW,     /* forked, not yet woken */
	THREAD_STOPPED, /* by a signal or a tracer */
	THREAD_ZOMBIE,  /* has exited, still to be switched out or waited for */
	THREAD_DEAD,
	THREAD_STATES
};

enum thread_flag {
	THREAD_KERNEL = 1 << 0,    /* a kernel thread */
	THREAD_UNSURE = 1 << 1,    /* events were lost since its state was last seen */
	THREAD_PREEMPTED = 1 << 2, /* ready because preempted, not because woken */
	THREAD_IDLES = 1 << 3,     /* blocked, as a thread of the kernel that has no work */
};

/* What a running thread does. Its program has what the other two leave of its time on a CPU, and no cell of its own. */
enum thread_mode {
	MODE_USER = 0, /* or it does not run */
	MODE_SYSTEM,
	MODE_INTERRUPTED, /* the CPU handles an interrupt or softirq instead */
};

/* Inodes of the namespaces that a kernel starts with (include/linux/proc_ns.h). */
#define HOST_CGROUP_NS UINT64_C(0xeffffffb)
#define HOST_PID_NS UINT64_C(0xeffffffc)

enum cpu_state { CPU_UNKNOWN = 0, CPU_IDLE, CPU_BUSY, CPU_OFFLINE };
enum cpu_irq_state { CPU_IRQ_NONE = 0, CPU_IRQ_HARD, CPU_IRQ_SOFT };

/* By what means one process acts upon another. */
enum relation_kind {
	RELATION_PIPE, /* pipes and fifos */
	RELATION_UNIX,
	RELATION_INET,
	RELATION_SIGNAL,
	RELATION_FUTEX, /* locks, conditions … of threads */
	RELATION_LOCK,  /* of files */
	RELATION_CHILD, /* one ends, its parent waits for that */
	RELATION_EVENTFD,
	RELATION_OTHER, /* a wake-up by means that the trace does not tell */
	RELATION_KINDS
};

enum host_status { HOST_OK = 0, HOST_ENDED, HOST_DEGRADED, HOST_SILENT, HOST_AWAY };

/* clang-format off */
#define HOST_CELLS(C, A, D) \
	C(first_ns, GAUGE, TIME, "Time of the first event") \
	C(last_ns, GAUGE, TIME, "Time of the last event") \
	C(status, GAUGE, NONE, "enum host_status") \
	C(reason, GAUGE, TEXT, "Why it is incomplete or absent; which of several sessions its figures come from") \
	C(events, COUNTER, COUNT, "Events in its traces") \
	C(lost_events, COUNTER, COUNT, "Events that the tracer discarded") \
	C(lost_packets, COUNTER, COUNT, "Packets that the tracer overwrote") \
	C(backward_steps, COUNTER, COUNT, "How often time went back inside a stream") \
	C(late_events, COUNTER, COUNT, "Events that came after their time had been passed") \
	C(cpus, GAUGE, COUNT, "CPUs online at the interval's end") \
	C(threads, GAUGE, COUNT, "Threads alive at the interval's end") \
	C(fds, GAUGE, COUNT, "Open file descriptors known at the interval's end") \
	C(threads_new, COUNTER, COUNT, "Threads born") \
	C(threads_gone, COUNTER, COUNT, "Threads that exited") \
	C(fds_opened, COUNTER, COUNT, "File descriptors made") \
	C(fds_closed, COUNTER, COUNT, "File descriptors closed") \
	C(disk_read_bytes, COUNTER, BYTES, "Bytes read from block devices") \
	C(disk_write_bytes, COUNTER, BYTES, "Bytes written to block devices") \
	C(rx_bytes, COUNTER, BYTES, "Bytes received (loopback excepted)") \
	C(tx_bytes, COUNTER, BYTES, "Bytes sent (loopback excepted)")

#define CPU_CELLS(C, A, D) \
	C(cpu, KEY, ID, "Its number") \
	C(state, GAUGE, NONE, "enum cpu_state") \
	C(since_ns, GAUGE, TIME, "When it came into that state") \
	C(thread_uid, GAUGE, NONE, "the running thread, 0 idle or unknown") \
	C(irq_state, GAUGE, NONE, "enum cpu_irq_state: the innermost handler") \
	C(irq_since_ns, GAUGE, TIME, "Time of the last change of irq_state") \
	A(busy_ns, 1 << CPU_BUSY, state, since_ns, "Time with a thread running") \
	A(idle_ns, 1 << CPU_IDLE, state, since_ns, "Time with the idle task running") \
	A(online_ns, 1 << CPU_BUSY | 1 << CPU_IDLE, state, since_ns, "Time it was online: busy and idle") \
	A(irq_ns, 1 << CPU_IRQ_HARD, irq_state, irq_since_ns, "Time in interrupt handlers, part of busy and idle") \
	A(softirq_ns, 1 << CPU_IRQ_SOFT, irq_state, irq_since_ns, \
	  "Time in softirqs without nested interrupts, part of busy and idle") \
	C(switches, COUNTER, COUNT, "Context switches") \
	C(lost_events, COUNTER, COUNT, "Events discarded on this CPU")

#define THREAD_CELLS(C, A, D) \
	C(tid, KEY, SIGNED, "Thread id") \
	C(born_ns, GAUGE, TIME, "When it was forked; null before the record") \
	C(exited_ns, GAUGE, TIME, "When it exited; null if it had not at the interval's end") \
	C(pid, GAUGE, SIGNED, "Process id") \
	C(ppid, GAUGE, SIGNED, "Process id of the parent") \
	C(comm, GAUGE, TEXT, "Name of the thread, the last one in the interval") \
	C(prio, GAUGE, SIGNED, "Priority: 20 is nice 0, below 0 real time") \
	C(vtid, GAUGE, SIGNED, "Thread id in its own pid namespace") \
	C(vpid, GAUGE, SIGNED, "Process id in its own pid namespace") \
	C(pid_ns, GAUGE, INODE, "Inode of its pid namespace") \
	C(cgroup_ns, GAUGE, INODE, "Inode of its cgroup namespace") \
	C(container, GAUGE, NONE, "uid of its TABLE_CONTAINER row, 0 none: the host's own namespaces, or unknown") \
	C(files_id, GAUGE, NONE, "its fd table: TABLE_FILE rows with this files_id") \
	C(flags, GAUGE, NONE, "enum thread_flag") \
	C(cpu, GAUGE, SIGNED, "CPU it ran on last") \
	C(state, GAUGE, NONE, "enum thread_state") \
	C(since_ns, GAUGE, TIME, "When it came into that state") \
	C(syscall, GAUGE, TEXT, "System call it is in at the interval's end") \
	C(syscall_fd, GAUGE, SIGNED, "File descriptor that call works on") \
	C(syscall_ns, GAUGE, TIME, "When it entered that call") \
	A(cpu_ns, 1 << THREAD_RUNNING, state, since_ns, "Time on a CPU") \
	A(ready_ns, 1 << THREAD_READY, state, since_ns, "Time it could have run but waited for a CPU") \
	A(blocked_ns, 1 << THREAD_BLOCKED | 1 << THREAD_WAITING, state, since_ns, \
	  "Time blocked on something other than a CPU") \
	C(mode, GAUGE, NONE, "enum thread_mode") \
	C(mode_ns, GAUGE, NONE, "since when; 0 in MODE_USER") \
	A(system_ns, 1 << MODE_SYSTEM, mode, mode_ns, \
	  "CPU time in system calls; all of a kernel thread's but interrupts. Null where calls were not recorded") \
	A(interrupted_ns, 1 << MODE_INTERRUPTED, mode, mode_ns, \
	  "CPU time taken from it by interrupts and softirqs; those that ksoftirqd runs are its own work") \
	C(switches, COUNTER, COUNT, "How often it was switched in") \
	C(migrations, COUNTER, COUNT, "How often it moved to another CPU") \
	C(syscalls, COUNTER, COUNT, "System calls that ended") \
	C(read_disk, COUNTER, BYTES, "Bytes read from files (not /proc, /sys, /dev, network file systems)") \
	C(read_net, COUNTER, BYTES, "Bytes read from internet and packet sockets") \
	C(read_pipe, COUNTER, BYTES, "Bytes read from pipes, fifos and unix sockets") \
	C(read_other, COUNTER, BYTES, "Bytes read from anything else and unknown files") \
	C(read_netfs, COUNTER, BYTES, "Bytes read from files of network file systems") \
	C(write_disk, COUNTER, BYTES, "Bytes written to files (not /proc, /sys, /dev)") \
	C(write_net, COUNTER, BYTES, "Bytes written to internet and packet sockets") \
	C(write_pipe, COUNTER, BYTES, "Bytes written to pipes, fifos and unix sockets") \
	C(write_other, COUNTER, BYTES, "Bytes written to anything else and unknown files") \
	C(write_netfs, COUNTER, BYTES, "Bytes written to files of network file systems") \
	C(disk_read_bytes, COUNTER, BYTES, \
	  "Bytes that disks read for it, by system calls, page faults or ahead of them, when they have") \
	C(disk_write_bytes, COUNTER, BYTES, \
	  "Bytes that disks wrote for it, when they have, with what was written back for it") \
	C(disk_writeback_bytes, COUNTER, BYTES, \
	  "Part of disk_write_bytes that kernel threads wrote back: probably what it had written to files, oldest " \
	  "first; if that cannot be told it is with the kernel thread and in no row's part") \
	C(disk_requests, COUNTER, COUNT, "Reads and writes of disks that it began, when they are done") \
	C(disk_wait_ns, COUNTER, NS, \
	  "Time from when these requests were queued until they were done; of requests that were under way together " \
	  "the sum") \
	C(user_events, COUNTER, COUNT, "Events that its program emitted") \
	D(latency, "Wake-ups that led to a switch-in", "time from a wake-up to the switch-in") \
	D(slice, "Time slices that ended", "time from a switch-in to the switch-out")

/* Which end of a connection a socket is. */
enum socket_side { SIDE_UNKNOWN = 0, SIDE_CONNECTED, SIDE_ACCEPTED };

#define FILE_CELLS(C, A, D) \
	C(files_id, KEY, NONE, "the fd table it is in") \
	C(pid, KEY, SIGNED, "Process that owns the table of the file descriptor") \
	C(fd, KEY, SIGNED, "Its number") \
	C(path, GAUGE, TEXT, "Path as the event or the state dump recorded it; null if unknown") \
	C(peer, GAUGE, TEXT, "Address of a socket's peer; the server of a file of a network file system") \
	C(client, GAUGE, TEXT, "Address without port of the peer of a socket that was accepted") \
	C(side, GAUGE, NONE, "enum socket_side") \
	C(kind, GAUGE, NONE, "enum fd_kind") \
	C(opened_ns, GAUGE, TIME, "When it was made; null before the record") \
	C(closed_ns, GAUGE, TIME, "When it was closed; null if it was open at the interval's end") \
	C(cloexec, GAUGE, FLAG, "Whether exec closes it") \
	C(channel, GAUGE, NONE, "number of the pipe or of the end of a connection, 0 unknown") \
	C(read_bytes, COUNTER, BYTES, "Bytes read through it") \
	C(write_bytes, COUNTER, BYTES, "Bytes written through it")

#define DISK_CELLS(C, A, D) \
	C(dev, KEY, DEVICE, "Kernel device number: major * 2^20 + minor") \
	C(name, GAUGE, TEXT, "Its name; null if the trace does not have it") \
	C(reads, COUNTER, COUNT, "Read requests completed") \
	C(writes, COUNTER, COUNT, "Write requests completed") \
	C(read_bytes, COUNTER, BYTES, "Bytes read") \
	C(write_bytes, COUNTER, BYTES, "Bytes written") \
	C(queue, GAUGE, COUNT, "Requests issued and not completed at the interval's end") \
	C(waiting, GAUGE, COUNT, "Requests inserted and not issued at the interval's end") \
	C(queue_max, MAX, COUNT, "Most requests issued and not completed at a time") \
	D(latency, "Requests completed whose issue was seen", "time from issue to completion") \
	D(read_queue, "Reads issued whose insertion was seen", "time from insertion to issue of a read") \
	D(write_queue, "Writes issued whose insertion was seen", "time from insertion to issue of a write") \
	D(read_device, "Reads completed whose issue was seen", "time from issue to completion of a read") \
	D(write_device, "Writes completed whose issue was seen", "time from issue to completion of a write")

#define NETIF_CELLS(C, A, D) \
	C(name, KEY, TEXT, "Name of the interface") \
	C(rx_packets, COUNTER, COUNT, "Packets received") \
	C(rx_bytes, COUNTER, BYTES, "Bytes received") \
	C(tx_packets, COUNTER, COUNT, "Packets sent") \
	C(tx_bytes, COUNTER, BYTES, "Bytes sent")

#define IRQ_CELLS(C, A, D) \
	C(soft, KEY, FLAG, "Whether it is a softirq") \
	C(nr, KEY, ID, "Number of the irq, or vector of the softirq") \
	C(cpu, KEY, ID, "CPU it ran on") \
	C(name, GAUGE, TEXT, "Name of the handler or of the softirq") \
	C(count, COUNTER, COUNT, "How often the handler ran (exits)") \
	D(time, "Runs whose entry was seen", "time from entry to exit of a run whose entry was seen") \
	D(raise, "Entries of softirqs whose raise was seen", "time from the raise of a softirq to its entry")

#define SYSCALL_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, TEXT, "Name of the system call") \
	C(count, COUNTER, COUNT, "Calls that ended") \
	C(errors, COUNTER, COUNT, "How many calls failed") \
	D(time, "Calls that ended and whose entry was seen", "time from entry to exit of a call whose entry was seen")

#define SYSERR_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, TEXT, "Name of the system call") \
	C(error, KEY, ID, "errno") \
	C(count, COUNTER, COUNT, "How often it failed like that")

#define PERF_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(counter, KEY, TEXT, "Name of the perf context") \
	C(value, COUNTER, COUNT, "How much the counter grew while the thread ran")

#define PAGES_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread that ran, 0 none or unknown") \
	C(allocated_pages, COUNTER, COUNT, \
	  "Pages that the kernel allocated while it ran, interrupts included; null where kmem_mm_page_alloc was not " \
	  "recorded") \
	C(freed_pages, COUNTER, COUNT, \
	  "Pages that were freed while it ran, whoever had allocated them; null where kmem_mm_page_free was not " \
	  "recorded") \
	C(allocations, COUNTER, COUNT, "Allocations, each of one or more contiguous pages") \
	C(frees, COUNTER, COUNT, "How often one or more contiguous pages were freed") \
	C(failures, COUNTER, COUNT, "Allocations for which the kernel had no pages") \
	C(user_faults, COUNTER, COUNT, \
	  "Page faults of its program; null where x86_exceptions_page_fault_user was not recorded") \
	C(kernel_faults, COUNTER, COUNT, \
	  "Page faults of the kernel, as when a system call reads or writes its memory; null where " \
	  "x86_exceptions_page_fault_kernel was not recorded")

#define BLOCKING_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(state, KEY, NONE, "enum wait_state: what it turned out to wait for") \
	C(syscall, KEY, TEXT, "System call it waited in; null: none, as in a page fault or a kernel thread") \
	C(fd, KEY, SIGNED, \
	  "File descriptor that call works on; null: none, or one of several as in poll, where it is not known which") \
	C(object, KEY, TEXT, \
	  "Path of that descriptor; the peer's address and port of a socket, the address alone if it was accepted; " \
	  "the address of a futex in the process's memory; null if unknown") \
	C(cause, GAUGE, TEXT, "Who or what ended the last of these waits: the thread, disk, interface or irq") \
	D(time, "Waits that ended in the interval", \
	  "time from the switch-out to the wake-up of a wait, including any part before the interval")

#define RELATION_CELLS(C, A, D) \
	C(from_uid, KEY, NONE, "uid of the main thread of the process that acts, 0 not known here") \
	C(to_uid, KEY, NONE, "the same of the process it acts upon") \
	C(kind, KEY, NONE, "enum relation_kind") \
	C(object, KEY, TEXT, \
	  "Of inet the address and port of the service, of pipe its name if it has one, of lock the file, of signal " \
	  "its name, of other the call that waited; else null") \
	C(flow, KEY, NONE, "the other process is elsewhere: hash of the connection and its direction; else 0") \
	C(from_pid, KEY, SIGNED, \
	  "The process that acts: writes, wakes, signals, unlocks, ends; null if unknown") \
	C(to_pid, KEY, SIGNED, \
	  "The process it acts upon: reads, is woken, waits for its child; null if unknown") \
	C(from_comm, GAUGE, TEXT, "Its name, the last one in the interval") \
	C(to_comm, GAUGE, TEXT, "Its name, the last one in the interval") \
	C(count, COUNTER, COUNT, \
	  "How often: reads of what the other wrote (sent: writes), signals, children waited for; of futex, lock, " \
	  "eventfd, other the waits ended") \
	C(bytes, COUNTER, BYTES, "Bytes that one wrote and the other read; sent: written, received: read") \
	D(wait, "How often it ended a wait of the other process's threads", \
	  "time that the other process's threads waited for it")

/* Who else ran, instead of a cell uid of a thread: preemption_row.by_uid. */
#define BY_UNKNOWN UINT64_C(0)         /* it is not known who, or on which CPU the thread waited */
#define BY_IDLE UINT64_MAX             /* nobody: the CPU was on its way out of idling */
#define BY_OTHER (UINT64_MAX - 1)      /* threads that are not told apart */

#define PREEMPTION_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread that waited for a CPU") \
	C(by_uid, KEY, NONE, "uid of the thread that ran there, or BY_UNKNOWN, BY_IDLE, BY_OTHER") \
	C(by_tid, KEY, SIGNED, \
	  "Thread that ran on the CPU meanwhile; 0: none, the CPU was idle; null: unknown, or several") \
	C(by_pid, GAUGE, SIGNED, "Its process; null if unknown") \
	C(by_comm, GAUGE, TEXT, \
	  "Its name, the last one in the interval; idle: the CPU was; other: several threads that are not told " \
	  "apart; null: it is not known who ran, or where the other one waited") \
	C(count, COUNTER, COUNT, "Waits for a CPU in which it ran; one counts where it first did") \
	C(total_ns, COUNTER, NS, \
	  "Time that it ran, interrupts in between included, while the other waited for that CPU") \
	C(max_ns, MAX, NS, "Most of that time in one wait, including any part before the interval")
enum connection_flag {
	CONNECTION_HERE = 1 << 0,    /* it sent something that had not been received here before: this is its host */
	CONNECTION_PASSING = 1 << 1, /* its packets were seen to be passed on by this host; unless it is here, too */
	CONNECTION_RECEIVED_UNSEEN = 1 << 2, /* what it received is not in the trace, or without its headers */
	CONNECTION_SENT_UNSEEN = 1 << 3,     /* the same of what it sent */
};

/* An end of a TCP connection, as the packets of its host show it: model/connections.h. */
#define CONNECTION_CELLS(C, A, D) \
	C(thread_uid, GAUGE, NONE, "uid of the main thread of the process at this end, 0 unknown") \
	C(local, KEY, TEXT, "Address and port of this end") \
	C(peer, KEY, TEXT, "Address and port of the other end") \
	C(opening, GAUGE, NONE, "first sequence numbers of both ends, of who connects in the high half; 0 unknown") \
	C(pid, GAUGE, SIGNED, "Process at this end that used it last; null if unknown") \
	C(comm, GAUGE, TEXT, "Its name when it began to use it") \
	C(side, GAUGE, NONE, "enum socket_side: who sent the first SYN; 0 unknown") \
	C(flags, GAUGE, NONE, "enum connection_flag") \
	C(begin_ns, GAUGE, TIME, "When the first SYN was sent or received here; null before the record") \
	C(handshake_ns, GAUGE, LAPSE, "Time from the first SYN to the SYN or ACK that answers it") \
	C(first_byte_ns, GAUGE, LAPSE, "Time from the first SYN to the first data received") \
	C(end_ns, GAUGE, TIME, \
	  "When both ends had closed it, or it was reset; null if it was open at the interval's end") \
	C(reset, GAUGE, FLAG, "Whether a reset ended it") \
	C(sent_packets, COUNTER, COUNT, "Packets sent, before segmentation offload") \
	C(received_packets, COUNTER, COUNT, "Packets received, after receive offload") \
	C(sent_bytes, COUNTER, BYTES, "Bytes of data sent, each once") \
	C(received_bytes, COUNTER, BYTES, "Bytes of data received, each once") \
	C(retransmits, COUNTER, COUNT, "Packets sent whose data, SYN or FIN had been sent before") \
	C(request_ns, COUNTER, NS, "Time from the first to the last data of each request") \
	C(reply_ns, COUNTER, NS, "Time from the first to the last data of each reply") \
	D(answer, "Requests that were answered: data of the client, then data of the server", \
	  "time from the last data of a request to the first of its reply, as this end sees it") \
	C(waits, COUNTER, COUNT, "Waits of threads that a packet of it ended") \
	C(waited_ns, COUNTER, NS, "How long these took since its first packet, including any part before the interval")

#define CONTAINER_CELLS(C, A, D) \
	C(inode, KEY, ID, "Number (inode) of its namespace") \
	C(of_cgroup, KEY, FLAG, \
	  "Whether that is a cgroup namespace, of threads in the host's pid namespace, and not a pid namespace") \
	C(parent, GAUGE, INODE, "Inode of the pid namespace it is in") \
	C(level, GAUGE, NONE, "how deep it is nested: 1 in the host's own namespace; 0 unknown") \
	C(first_uid, GAUGE, NONE, "uid of its first process' main thread") \
	C(pid, GAUGE, SIGNED, "Its first process, as the host numbers it") \
	C(comm, GAUGE, TEXT, "Name of that process") \
	C(threads, GAUGE, COUNT, "Threads in it")

#define VTID_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(level, KEY, ID, "Of a pid namespace between the host's own, 0, and the thread's own") \
	C(vtid, GAUGE, SIGNED, "Thread id in there")

#define EVENT_CELLS(C, A, D) \
	C(name, KEY, TEXT, "Name of the event class") \
	C(used, GAUGE, FLAG, "Whether some figure comes from it") \
	C(probe, GAUGE, FLAG, "Whether it is a kprobe, uprobe or function probe") \
	C(count, COUNTER, COUNT, "Events of this class")

/* The values of a distribution that fell into 16 buckets that follow each other: model/buckets.h. */
#define BUCKET_CELLS(C, A, D) \
	C(owner_uid, KEY, NONE, "uid of the row whose distribution it is") \
	C(dist, KEY, NONE, "which: bucket_dist() of that row's table and the first cell") \
	C(call, KEY, TEXT, "Of a row of TABLE_SYSCALL: the call") \
	C(part, KEY, NONE, "number of its first bucket / BUCKETS_IN_ROW") \
	C(first, COUNTER, COUNT, "Values in that bucket") \
	C(n1, COUNTER, COUNT, "In the one behind it") \
	C(n2, COUNTER, COUNT, "And so on") \
	C(n3, COUNTER, COUNT, "") C(n4, COUNTER, COUNT, "") C(n5, COUNTER, COUNT, "") C(n6, COUNTER, COUNT, "") \
	C(n7, COUNTER, COUNT, "") C(n8, COUNTER, COUNT, "") C(n9, COUNTER, COUNT, "") C(n10, COUNTER, COUNT, "") \
	C(n11, COUNTER, COUNT, "") C(n12, COUNTER, COUNT, "") C(n13, COUNTER, COUNT, "") C(n14, COUNTER, COUNT, "") \
	C(n15, COUNTER, COUNT, "")

/* A value of the distribution that is logged (model_set_log()); the row ends at once. */
#define INSTANCE_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread it happened to, 0 none") \
	C(begin_ns, GAUGE, TIME, "When it began") \
	C(length_ns, GAUGE, NS, "How long it took") \
	C(cause, GAUGE, TEXT, \
	  "Name of the call or handler; the disk; of a wake-up who held the CPU, null if it was idle; of a slice why " \
	  "it ended")
/* clang-format on */

#define CELL_MEMBER(member, kind, type, meaning) uint64_t member;
#define ACCRUAL_MEMBER(member, states, state, since, meaning) uint64_t member;
#define DIST_MEMBER(member, counted, measured) struct dist member;
#define ROW_STRUCT(name, LIST)                                 \
	struct name##_row {                                    \
		uint64_t uid;                                  \
		LIST(CELL_MEMBER, ACCRUAL_MEMBER, DIST_MEMBER) \
	}

#define CELL_DESC(member, kind, type, meaning) { #member, meaning, CELL_##kind, TYPE_##type, 0, 0, 0 },
#define DIST_DESC(member, counted, measured)                                    \
	{ #member ".count", counted, CELL_COUNTER, TYPE_COUNT, 0, 0, 0 },       \
		{ #member ".sum", measured, CELL_COUNTER, TYPE_NS, 0, 0, 0 },   \
		{ #member ".sq_lo", measured, CELL_SQ_LO, TYPE_NONE, 0, 0, 0 }, \
		{ #member ".sq_hi", measured, CELL_SQ_HI, TYPE_NONE, 0, 0, 0 }, \
		{ #member ".min", measured, CELL_MIN, TYPE_NS, 0, 0, 0 },       \
		{ #member ".max", measured, CELL_MAX, TYPE_NS, 0, 0, 0 },       \
		{ #member ".max_at", measured, CELL_MAX_AT, TYPE_TIME, 0, 0, 0 },
/* Defines name_cells[], the description of struct name_row. */
#define ROW_CELLS(name, LIST)                                                                                 \
	const struct cell_desc name##_cells[] = { CELL_DESC(uid, KEY, NONE,                                   \
							    "unique among the rows that this table ever had") \
							  LIST(CELL_DESC, ACCRUAL_DESC, DIST_DESC) };         \
	_Static_assert(sizeof(name##_cells) / sizeof(struct cell_desc) == sizeof(struct name##_row) / 8,      \
		       "a description for every cell");                                                       \
	_Static_assert(sizeof(struct name##_row) / 8 <= CELLS_MAX, "a cell fits into a 64-bit mask")

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
ROW_STRUCT(pages, PAGES_CELLS);
ROW_STRUCT(blocking, BLOCKING_CELLS);
ROW_STRUCT(relation, RELATION_CELLS);
ROW_STRUCT(preemption, PREEMPTION_CELLS);
ROW_STRUCT(connection, CONNECTION_CELLS);
ROW_STRUCT(container, CONTAINER_CELLS);
ROW_STRUCT(vtid, VTID_CELLS);
ROW_STRUCT(event, EVENT_CELLS);
ROW_STRUCT(bucket, BUCKET_CELLS);
ROW_STRUCT(instance, INSTANCE_CELLS);

extern const struct cell_desc host_cells[], cpu_cells[], thread_cells[], file_cells[], disk_cells[], netif_cells[];
extern const struct cell_desc irq_cells[], syscall_cells[], syserr_cells[], perf_cells[], blocking_cells[];
extern const struct cell_desc relation_cells[], container_cells[], vtid_cells[], event_cells[], bucket_cells[];
extern const struct cell_desc instance_cells[], preemption_cells[], connection_cells[], pages_cells[];

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
