/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_TABLES_H
#define LT_MODEL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "model/cells.h"

/*
 * Every figure of the program: the tables of a host and their cells, each declared once. These lists define the row
 * structures that handlers write (struct thread_row …, all members 64 bits), the descriptions that history reads
 * (table_descs[]), and the columns of view/: their names, units, null rules and meanings.
 *
 *   C(member, KIND, TYPE, "Meaning")                           enum cell_kind, enum cell_type
 *   A(member, states, state member, since member, "Meaning")   CELL_ACCRUAL, TYPE_NS
 *   D(member, TYPE, "What is counted", "what is measured of each")   a distribution of values, struct dist
 *
 * A meaning is the start of a sentence, without the full stop: "Bytes read" becomes "Bytes read." and "Bytes read per
 * second.", "time from a wake-up to the switch-in" becomes "Longest time from a wake-up to the switch-in.". For
 * TYPE_NONE it is a note to developers.
 */

/* A distribution of values: durations, distances; seven cells. */
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
	THREAD_WAITING, /* waiting when the state dump was made; for what and since when is unknown */
	THREAD_NEW,     /* forked, not yet woken */
	THREAD_STOPPED, /* by a signal or a tracer */
	THREAD_ZOMBIE,  /* has exited, but has not been switched out or waited for */
	THREAD_DEAD,
	THREAD_STATES
};

enum thread_flag {
	THREAD_KERNEL = 1 << 0,    /* a kernel thread */
	THREAD_UNSURE = 1 << 1,    /* events were lost after its state was last seen */
	THREAD_PREEMPTED = 1 << 2, /* ready because preempted, not because woken */
	THREAD_IDLES = 1 << 3,     /* blocked as a kernel thread that has no work */
	THREAD_VIRTUAL = 1 << 4,   /* its tid and pid are those in its PID namespace: its program reported them */
};

/* What a running thread does. Time in user mode is the rest of its CPU time and has no cell of its own. */
enum thread_mode {
	MODE_USER = 0, /* or not running */
	MODE_SYSTEM,
	MODE_INTERRUPTED, /* the CPU is handling an interrupt or softirq instead */
};

/* Inodes of the kernel's initial namespaces (include/linux/proc_ns.h). */
#define HOST_CGROUP_NS UINT64_C(0xeffffffb)
#define HOST_PID_NS UINT64_C(0xeffffffc)

enum cpu_state { CPU_UNKNOWN = 0, CPU_IDLE, CPU_BUSY, CPU_OFFLINE };
enum cpu_irq_state { CPU_IRQ_NONE = 0, CPU_IRQ_HARD, CPU_IRQ_SOFT };

/* The means by which one process acts upon another. */
enum relation_kind {
	RELATION_PIPE, /* pipes and fifos */
	RELATION_UNIX,
	RELATION_INET,
	RELATION_SIGNAL,
	RELATION_FUTEX, /* locks, condition variables … of threads */
	RELATION_LOCK,  /* of a file */
	RELATION_CHILD, /* a child exits, its parent waits for that */
	RELATION_EVENTFD,
	RELATION_OTHER, /* a wake-up by unknown means */
	RELATION_KINDS
};

enum host_record { HOST_RECORDED = 0, HOST_UNRECORDED };
enum host_status { HOST_OK = 0, HOST_ENDED, HOST_DEGRADED, HOST_SILENT, HOST_AWAY };

/* clang-format off */
#define HOST_CELLS(C, A, D) \
	C(first_ns, GAUGE, TIME, "Time of the first event") \
	C(last_ns, GAUGE, TIME, "Time of the last event") \
	C(status, GAUGE, NONE, "enum host_status") \
	C(reason, GAUGE, TEXT, \
	  "Why the host is incomplete or absent; of several sessions, the one whose figures are shown") \
	C(events, COUNTER, COUNT, "Events in the host's traces") \
	C(lost_events, COUNTER, COUNT, "Events that the tracer discarded") \
	C(lost_packets, COUNTER, COUNT, "Packets that the tracer overwrote, or that are damaged or missing") \
	C(backward_steps, COUNTER, COUNT, "Number of times that time went backwards within a stream") \
	C(late_events, COUNTER, COUNT, \
	  "Events that arrived too late to be counted, or overlap with others because the clock was set") \
	C(cpus, GAUGE, COUNT, "CPUs online at the end of the interval") \
	C(threads, GAUGE, COUNT, "Threads alive at the end of the interval") \
	C(fds, GAUGE, COUNT, "Open file descriptors known at the end of the interval") \
	C(threads_new, COUNTER, COUNT, "Threads created") \
	C(threads_gone, COUNTER, COUNT, "Threads that exited") \
	C(fds_opened, COUNTER, COUNT, "File descriptors opened") \
	C(fds_closed, COUNTER, COUNT, "File descriptors closed") \
	C(disk_read_bytes, COUNTER, BYTES, "Bytes read from block devices, except loop devices") \
	C(disk_write_bytes, COUNTER, BYTES, "Bytes written to block devices, except loop devices") \
	C(rx_bytes, COUNTER, BYTES, "Bytes received by all interfaces but loopback, bridges and veth pairs included") \
	C(tx_bytes, COUNTER, BYTES, "Bytes sent by all interfaces but loopback, bridges and veth pairs included") \
	C(record, GAUGE, NONE, "enum host_record") \
	C(record_since_ns, GAUGE, TIME, "Time since which that has been so; 0: from the start") \
	A(unrecorded_ns, 1 << HOST_UNRECORDED, record, record_since_ns, "Time between parts of its record") \
	C(gap_end_ns, GAUGE, TIME, "Time until which events of a CPU are lost; 0: none were")

#define CPU_CELLS(C, A, D) \
	C(cpu, KEY, ID, "Number of the CPU") \
	C(state, GAUGE, NONE, "enum cpu_state") \
	C(since_ns, GAUGE, TIME, "Time at which it entered that state") \
	C(thread_uid, GAUGE, NONE, "the running thread, 0 idle or unknown") \
	C(irq_state, GAUGE, NONE, "enum cpu_irq_state: the innermost handler") \
	C(irq_since_ns, GAUGE, TIME, "Time of the last change of irq_state") \
	A(busy_ns, 1 << CPU_BUSY, state, since_ns, "Time with a thread running") \
	A(idle_ns, 1 << CPU_IDLE, state, since_ns, "Time with the idle task running") \
	A(online_ns, 1 << CPU_BUSY | 1 << CPU_IDLE, state, since_ns, "Time online, busy or idle") \
	A(irq_ns, 1 << CPU_IRQ_HARD, irq_state, irq_since_ns, "Time in interrupt handlers; part of busy and idle") \
	A(softirq_ns, 1 << CPU_IRQ_SOFT, irq_state, irq_since_ns, \
	  "Time in softirqs, excluding nested interrupts; part of busy and idle") \
	C(switches, COUNTER, COUNT, "Context switches") \
	C(khz, GAUGE, NONE, "its frequency in kHz, 0 not known") \
	C(khz_since_ns, GAUGE, NONE, "when it was last set to that or added to khz_us") \
	C(khz_first_ns, GAUGE, NONE, "since when it is known") \
	C(khz_us, GAUGE, NONE, "sum of kHz * us until khz_since_ns") \
	C(lost_events, COUNTER, COUNT, "Events discarded on this CPU")

#define THREAD_CELLS(C, A, D) \
	C(tid, KEY, SIGNED, "Thread ID") \
	C(born_ns, GAUGE, TIME, "Time of its fork; null if before tracing started") \
	C(exited_ns, GAUGE, TIME, "Time of its exit; null if still alive at the end of the interval") \
	C(pid, GAUGE, SIGNED, "Process ID") \
	C(ppid, GAUGE, SIGNED, "Process ID of the parent") \
	C(comm, GAUGE, TEXT, "Name of the thread, its last one in the interval") \
	C(prio, GAUGE, SIGNED, "Priority; 20 is nice 0, below 0 is real-time") \
	C(user_id, GAUGE, SIGNED, "Real user ID in the host's own user namespace, its last one in the interval") \
	C(exe, GAUGE, TEXT, "Path of the program that its process executed last, as passed to exec") \
	C(vtid, GAUGE, SIGNED, "Thread ID in its own PID namespace") \
	C(vpid, GAUGE, SIGNED, "Process ID in its own PID namespace") \
	C(pid_ns, GAUGE, INODE, "Inode of its PID namespace") \
	C(cgroup_ns, GAUGE, INODE, "Inode of its cgroup namespace") \
	C(container, GAUGE, NONE, "uid of its TABLE_CONTAINER row, 0 none: the host's own namespaces, or unknown") \
	C(files_id, GAUGE, NONE, "its fd table: TABLE_FILE rows with this files_id") \
	C(flags, GAUGE, NONE, "enum thread_flag") \
	C(cpu, GAUGE, SIGNED, "CPU on which it last ran") \
	C(state, GAUGE, NONE, "enum thread_state") \
	C(since_ns, GAUGE, TIME, "Time at which it entered that state") \
	C(syscall, GAUGE, TEXT, "System call that it is in at the end of the interval") \
	C(syscall_fd, GAUGE, SIGNED, "File descriptor used by that call") \
	C(syscall_ns, GAUGE, TIME, "Time at which it entered that call") \
	A(cpu_ns, 1 << THREAD_RUNNING, state, since_ns, "Time on a CPU") \
	A(ready_ns, 1 << THREAD_READY, state, since_ns, \
	  "Time ready to run, waiting for a CPU, after a wake-up or a preemption") \
	A(blocked_ns, 1 << THREAD_BLOCKED | 1 << THREAD_WAITING, state, since_ns, \
	  "Time blocked on something other than a CPU") \
	C(mode, GAUGE, NONE, "enum thread_mode") \
	C(mode_ns, GAUGE, NONE, "time of the last change of mode; 0 in MODE_USER") \
	A(system_ns, 1 << MODE_SYSTEM, mode, mode_ns, \
	  "CPU time in system calls; for kernel threads, all except interrupts. Null where system calls were not " \
	  "recorded") \
	A(interrupted_ns, 1 << MODE_INTERRUPTED, mode, mode_ns, \
	  "CPU time taken from it by interrupts and softirqs, except softirqs run by ksoftirqd") \
	C(switches, COUNTER, COUNT, "Number of times it was switched in") \
	C(migrations, COUNTER, COUNT, "Number of times it moved to another CPU") \
	C(syscalls, COUNTER, COUNT, "System calls completed") \
	C(read_disk, COUNTER, BYTES, "Bytes read from files (not /proc, /sys, network file systems) and disks") \
	C(read_net, COUNTER, BYTES, "Bytes read from internet and packet sockets") \
	C(read_pipe, COUNTER, BYTES, "Bytes read from pipes, fifos and unix sockets") \
	C(read_other, COUNTER, BYTES, "Bytes read from anything else, including unknown files") \
	C(read_netfs, COUNTER, BYTES, "Bytes read from files on network file systems") \
	C(write_disk, COUNTER, BYTES, "Bytes written to files (not /proc, /sys, network file systems) and disks") \
	C(write_net, COUNTER, BYTES, "Bytes written to internet and packet sockets") \
	C(write_pipe, COUNTER, BYTES, "Bytes written to pipes, fifos and unix sockets") \
	C(write_other, COUNTER, BYTES, "Bytes written to anything else, including unknown files") \
	C(write_netfs, COUNTER, BYTES, "Bytes written to files on network file systems") \
	C(disk_read_bytes, COUNTER, BYTES, \
	  "Bytes read from disks on its behalf, by system calls, page faults or read-ahead, counted at completion") \
	C(disk_write_bytes, COUNTER, BYTES, \
	  "Bytes written to disks on its behalf, including writeback, counted at completion") \
	C(disk_writeback_bytes, COUNTER, BYTES, \
	  "Part of disk_write_bytes that kernel threads wrote back. It is attributed to the threads that probably " \
	  "wrote the data, oldest first or, with writeback_mark_inode_dirty and writeback_single_inode, by inode, " \
	  "even if they have ended; pages are taken to have 4096 bytes. What cannot be attributed counts as written " \
	  "by the kernel thread, and is not in this column") \
	C(disk_requests, COUNTER, COUNT, "Disk reads and writes issued on its behalf, counted at completion") \
	C(disk_wait_ns, COUNTER, NS, \
	  "Time from queueing to completion of these requests, added up even where they overlap") \
	C(user_events, COUNTER, COUNT, "User-space events emitted") \
	D(latency, NS, "Wake-ups followed by a switch-in", "time from a wake-up to the switch-in") \
	D(slice, NS, "Time slices that ended", "time from a switch-in to the switch-out")

/* Which end of a connection a socket is. */
enum socket_side { SIDE_UNKNOWN = 0, SIDE_CONNECTED, SIDE_ACCEPTED };

#define FILE_CELLS(C, A, D) \
	C(files_id, KEY, NONE, "the fd table it is in") \
	C(pid, KEY, SIGNED, "Process that owns the file descriptor") \
	C(fd, KEY, SIGNED, "Number of the file descriptor") \
	C(path, GAUGE, TEXT, "Path as recorded by the event or the state dump; null if unknown") \
	C(peer, GAUGE, TEXT, "Peer address of a socket; for a file on a network file system, its server") \
	C(client, GAUGE, TEXT, "Peer address, without port, of an accepted socket") \
	C(side, GAUGE, NONE, "enum socket_side") \
	C(kind, GAUGE, NONE, "enum fd_kind") \
	C(opened_ns, GAUGE, TIME, "Time of its creation; null if before tracing started") \
	C(closed_ns, GAUGE, TIME, "Time of its closing; null if still open at the end of the interval") \
	C(cloexec, GAUGE, FLAG, "Whether it is closed on exec") \
	C(channel, GAUGE, NONE, "number of the pipe or of the end of a connection, 0 unknown") \
	C(read_bytes, COUNTER, BYTES, "Bytes read through it") \
	C(write_bytes, COUNTER, BYTES, "Bytes written through it")

#define DISK_CELLS(C, A, D) \
	C(dev, KEY, DEVICE, "Kernel device number: major * 2^20 + minor") \
	C(name, GAUGE, TEXT, "Name of the device; null if it is not in the trace") \
	C(reads, COUNTER, COUNT, "Read requests completed") \
	C(writes, COUNTER, COUNT, \
	  "Write requests completed. As in /proc/diskstats, an fsync with nothing to write counts as one, though it " \
	  "is never issued and so has no latency") \
	C(read_bytes, COUNTER, BYTES, "Bytes read") \
	C(write_bytes, COUNTER, BYTES, "Bytes written") \
	C(queue, GAUGE, COUNT, "Requests in flight (issued but not completed) at the end of the interval") \
	C(waiting, GAUGE, COUNT, "Requests inserted but not issued at the end of the interval") \
	C(queue_max, MAX, COUNT, "Largest number of requests in flight") \
	C(errors, COUNTER, COUNT, \
	  "Reads, writes, discards and flushes that the device failed; they count as completed, too") \
	D(latency, NS, "Completed requests whose issue was seen", \
	  "time from issue to completion, reads and writes alike") \
	D(read_queue, NS, "Issued reads whose insertion was seen", "time from insertion to issue of a read") \
	D(write_queue, NS, "Issued writes whose insertion was seen", "time from insertion to issue of a write") \
	D(read_device, NS, "Completed reads whose issue was seen", "time from issue to completion of a read") \
	D(write_device, NS, "Completed writes whose issue was seen", "time from issue to completion of a write") \
	D(distance, BYTES, "Issued requests that followed another one", \
	  "distance on the disk between the end of a request and the start of the next one; 0 if they are adjacent")

#define NETIF_CELLS(C, A, D) \
	C(name, KEY, TEXT, "Name of the interface") \
	C(rx_packets, COUNTER, COUNT, "Packets received") \
	C(rx_bytes, COUNTER, BYTES, "Bytes received") \
	C(tx_packets, COUNTER, COUNT, "Packets sent") \
	C(tx_bytes, COUNTER, BYTES, "Bytes sent")

#define IRQ_CELLS(C, A, D) \
	C(soft, KEY, FLAG, "Whether it is a softirq") \
	C(nr, KEY, SIGNED, "IRQ number, or softirq vector; null for all those beyond the first 16384") \
	C(cpu, KEY, ID, "CPU on which it ran") \
	C(name, GAUGE, TEXT, "Name of the handler or of the softirq") \
	C(count, COUNTER, COUNT, "Number of times the handler ran, counted at its exit") \
	D(time, NS, "Handler runs whose entry was seen", "time from entry to exit of the handler") \
	D(raise, NS, "Softirq entries whose raise was seen", "time from the raise of a softirq to its entry")

#define SYSCALL_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, TEXT, "Name of the system call") \
	C(count, COUNTER, COUNT, "Calls completed") \
	C(errors, COUNTER, COUNT, "Calls that failed") \
	D(time, NS, "Completed calls whose entry was seen", "time from entry to exit of the call")

#define SYSERR_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(name, KEY, TEXT, "Name of the system call") \
	C(error, KEY, ID, "errno") \
	C(count, COUNTER, COUNT, "Calls that failed with this error")

#define PERF_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(counter, KEY, TEXT, "Name of the perf context") \
	C(value, COUNTER, COUNT, "Increase of the counter while the thread ran")

/* Bits of pressure_row.state: whose time is lost. */
enum pressure_state {
	PRESSURE_CPU_SOME = 1 << 0,
	PRESSURE_CPU_FULL = 1 << 1,
	PRESSURE_IO_SOME = 1 << 2,
	PRESSURE_IO_FULL = 1 << 3,
};

/* Masks of those of the 16 values of pressure_row.state that have the bit. */
#define PRESSURE_WITH_CPU_SOME 0xaaaa
#define PRESSURE_WITH_CPU_FULL 0xcccc
#define PRESSURE_WITH_IO_SOME 0xf0f0
#define PRESSURE_WITH_IO_FULL 0xff00

#define PRESSURE_CELLS(C, A, D) \
	C(container, KEY, NONE, "uid of its TABLE_CONTAINER row, 0: the whole host") \
	C(state, GAUGE, NONE, "enum pressure_state") \
	C(since_ns, GAUGE, TIME, "When it came into that state") \
	A(cpu_some_ns, PRESSURE_WITH_CPU_SOME, state, since_ns, \
	  "Time in which at least one thread could have run but waited for a CPU; null where wake-ups were not " \
	  "recorded") \
	A(cpu_full_ns, PRESSURE_WITH_CPU_FULL, state, since_ns, \
	  "Part of it in which no thread of the container ran; null for a host") \
	A(io_some_ns, PRESSURE_WITH_IO_SOME, state, since_ns, \
	  "Time in which at least one thread waited for a disk; null where no disk requests were recorded") \
	A(io_full_ns, PRESSURE_WITH_IO_FULL, state, since_ns, \
	  "Part of it in which no thread ran or could have run; null where no disk requests were recorded")

#define PAGES_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread that ran, 0 none or unknown") \
	C(allocated_pages, COUNTER, COUNT, \
	  "Pages allocated by the kernel while it ran, including in interrupts; null where kmem_mm_page_alloc was " \
	  "not recorded") \
	C(freed_pages, COUNTER, COUNT, \
	  "Pages freed while it ran, regardless of which thread had allocated them; null where kmem_mm_page_free was " \
	  "not recorded") \
	C(allocations, COUNTER, COUNT, "Allocations, each of one or more contiguous pages") \
	C(frees, COUNTER, COUNT, "Number of times that one or more contiguous pages were freed") \
	C(failures, COUNTER, COUNT, "Allocations for which the kernel had no pages") \
	C(user_faults, COUNTER, COUNT, \
	  "Page faults in user mode; null where x86_exceptions_page_fault_user was not recorded") \
	C(kernel_faults, COUNTER, COUNT, \
	  "Page faults in the kernel, for instance when a system call accesses the thread's memory; null where " \
	  "x86_exceptions_page_fault_kernel was not recorded")

#define BLOCKING_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(state, KEY, NONE, "enum wait_state: what the thread turned out to wait for") \
	C(syscall, KEY, TEXT, \
	  "System call in which the thread waited; null if none, as in a page fault or a kernel thread") \
	C(fd, KEY, SIGNED, \
	  "File descriptor used by that call; null if there is none, as in a call that names a path, or if it is one " \
	  "of several, as in poll, and it is not known which") \
	C(object, KEY, TEXT, \
	  "Path of that descriptor, or the one that the call names; for a socket, the peer's address and port, " \
	  "without the port if it was accepted; for a futex, its address in the process's memory; null if unknown") \
	C(cause, GAUGE, TEXT, \
	  "What ended the last of these waits: a thread, disk, interface, IRQ or the server of a network file system") \
	D(time, NS, "Waits that ended in the interval", \
	  "time from the switch-out to the wake-up of a wait, including any part before the interval")

#define RELATION_CELLS(C, A, D) \
	C(from_uid, KEY, NONE, "uid of the main thread of the process that acts, 0 if it is not known here") \
	C(to_uid, KEY, NONE, "the same for the process acted upon") \
	C(kind, KEY, NONE, "enum relation_kind") \
	C(object, KEY, TEXT, \
	  "For inet the service's address and port, those with the lower port if it is unknown which end serves; " \
	  "for a pipe its name, for a lock the file, for a signal its name, for a futex its address in the memory " \
	  "of the process that waited, for other kinds the system call that waited; null if unknown") \
	C(flow, KEY, NONE, "hash of the connection and its direction if the other process is on another host, else 0") \
	C(from_pid, KEY, SIGNED, \
	  "Process that acts: writes, wakes, signals, unlocks or exits; null if unknown") \
	C(to_pid, KEY, SIGNED, \
	  "Process acted upon: reads, is woken, or waits for its child; null if unknown") \
	C(from_comm, GAUGE, TEXT, "Name of that process, its last one in the interval") \
	C(to_comm, GAUGE, TEXT, "Name of that process, its last one in the interval") \
	C(count, COUNTER, COUNT, \
	  "Number of reads of the other's data (side sent: writes), signals, or children waited for; for futex, " \
	  "lock, eventfd and other: of waits ended") \
	C(bytes, COUNTER, BYTES, \
	  "Bytes that one wrote and the other read; side sent: bytes written, side received: bytes read") \
	D(wait, NS, "Number of times it ended a wait of the other process's threads", \
	  "time that the other process's threads waited for it")

/* Values of preemption_row.by_uid that are not the uid of a thread. */
#define BY_UNKNOWN UINT64_C(0)         /* unknown which thread, or on which CPU the other waited */
#define BY_IDLE UINT64_MAX             /* none: the CPU was leaving idle */
#define BY_OTHER (UINT64_MAX - 1)      /* several threads, not distinguished */

#define PREEMPTION_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread that waited for a CPU") \
	C(by_uid, KEY, NONE, "uid of the thread that ran there, or BY_UNKNOWN, BY_IDLE, BY_OTHER") \
	C(by_tid, KEY, SIGNED, \
	  "Thread that ran on the CPU meanwhile; 0: none, the CPU was idle; null: unknown, or several threads") \
	C(by_pid, GAUGE, SIGNED, "Process of that thread; null if unknown") \
	C(by_comm, GAUGE, TEXT, \
	  "Name of that thread, its last one in the interval; idle: the CPU was idle; other: several threads, not " \
	  "distinguished; null: unknown which thread ran, or which CPU the other one waited for") \
	C(count, COUNTER, COUNT, "Waits for a CPU during which it ran, each counted when it first ran") \
	C(total_ns, COUNTER, NS, \
	  "Time that it ran, including interrupts, while the other thread waited for that CPU") \
	C(max_ns, MAX, NS, "Longest such time in one wait, including any part before the interval")
enum connection_flag {
	CONNECTION_HERE = 1 << 0,    /* it sent something not received here before: this is its host */
	CONNECTION_PASSING = 1 << 1, /* this host forwards its packets, unless CONNECTION_HERE is set too */
	CONNECTION_RECEIVED_UNSEEN = 1 << 2, /* received packets are not in the trace, or lack headers */
	CONNECTION_SENT_UNSEEN = 1 << 3,     /* the same for sent packets */
	CONNECTION_ROLE_UNKNOWN = 1 << 4,    /* which end is the server: there are no requests and replies */
};

/* One end of a TCP connection, as the packets on its host show it: model/connections.h. */
#define CONNECTION_CELLS(C, A, D) \
	C(thread_uid, GAUGE, NONE, "uid of the main thread of the process at this end, 0 unknown") \
	C(local, KEY, TEXT, "Address and port of this end") \
	C(peer, KEY, TEXT, "Address and port of the other end") \
	C(opening, GAUGE, NONE, "first sequence numbers of both ends, the client's in the high half; 0 unknown") \
	C(pid, GAUGE, SIGNED, "Last process at this end to use the connection; null if unknown") \
	C(comm, GAUGE, TEXT, "Name of that process when it started to use the connection") \
	C(side, GAUGE, NONE, "enum socket_side: which end sent the first SYN; 0 unknown") \
	C(flags, GAUGE, NONE, "enum connection_flag") \
	C(begin_ns, GAUGE, TIME, \
	  "Time at which the first SYN was sent or received here; null if before tracing started") \
	C(handshake_ns, GAUGE, LAPSE, \
	  "Time from the first SYN to the answer received: the peer's SYN (client), or the ACK of this end's SYN " \
	  "(server)") \
	C(first_byte_ns, GAUGE, LAPSE, "Time from the first SYN to the first data received") \
	C(end_ns, GAUGE, TIME, \
	  "Time at which it was reset or both ends had closed it; null if still open at the end of the interval, or " \
	  "if it was not reset and packets of one direction are not in the trace") \
	C(reset, GAUGE, FLAG, "Whether a reset ended it") \
	C(sent_packets, COUNTER, COUNT, "Packets sent, before segmentation offload") \
	C(received_packets, COUNTER, COUNT, "Packets received, after receive offload") \
	C(sent_bytes, COUNTER, BYTES, "Bytes of data sent, without retransmissions") \
	C(received_bytes, COUNTER, BYTES, "Bytes of data received, without retransmissions") \
	C(retransmits, COUNTER, COUNT, "Packets sent that repeated data, a SYN or a FIN") \
	C(request_ns, COUNTER, NS, "Total time from the first to the last data of a request") \
	C(reply_ns, COUNTER, NS, "Total time from the first to the last data of a reply") \
	D(answer, NS, "Answered requests: data from the client, followed by data from the server", \
	  "time from the last data of a request to the first data of its reply, as this end sees it") \
	C(waits, COUNTER, COUNT, "Waits of threads that its packets ended") \
	C(waited_ns, COUNTER, NS, \
	  "Part of these waits after the connection's first packet, including time before the interval")

#define CONTAINER_CELLS(C, A, D) \
	C(inode, KEY, ID, "Inode of its namespace") \
	C(of_cgroup, KEY, FLAG, \
	  "Whether this is a cgroup namespace of threads in the host's PID namespace, not a PID namespace") \
	C(parent, GAUGE, INODE, "Inode of the PID namespace that contains it") \
	C(parent_uid, GAUGE, NONE, "uid of that namespace's row; 0: the host's own, or it had no row then") \
	C(level, GAUGE, NONE, "how deep it is nested: 1 in the host's own namespace; 0 unknown") \
	C(first_uid, GAUGE, NONE, "uid of its first process' main thread") \
	C(pid, GAUGE, SIGNED, "Its first process, by its PID on the host") \
	C(comm, GAUGE, TEXT, "Name of that process") \
	C(threads, GAUGE, COUNT, "Threads in it")

#define VTID_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "the thread's uid") \
	C(level, KEY, ID, "Level of a PID namespace between the host's own, 0, and the thread's own") \
	C(ns, GAUGE, INODE, "Inode of that namespace; 0 if unknown") \
	C(vtid, GAUGE, SIGNED, "Thread ID in that namespace")

#define EVENT_CELLS(C, A, D) \
	C(name, KEY, TEXT, "Name of the event class") \
	C(used, GAUGE, FLAG, "Whether any figure is computed from it") \
	C(probe, GAUGE, FLAG, "Whether it is a kprobe, uprobe or function probe") \
	C(count, COUNTER, COUNT, "Events of this class")

/* Counts of 16 adjacent buckets of a distribution: model/buckets.h. */
#define BUCKET_CELLS(C, A, D) \
	C(owner_uid, KEY, NONE, "uid of the row whose distribution it is") \
	C(dist, KEY, NONE, "which: bucket_dist() of that row's table and the first cell") \
	C(call, KEY, TEXT, "for a row of TABLE_SYSCALL: the call") \
	C(part, KEY, NONE, "number of its first bucket / BUCKETS_IN_ROW") \
	C(first, COUNTER, COUNT, "Values in that bucket") \
	C(n1, COUNTER, COUNT, "Values in the next bucket") \
	C(n2, COUNTER, COUNT, "And so on") \
	C(n3, COUNTER, COUNT, "") C(n4, COUNTER, COUNT, "") C(n5, COUNTER, COUNT, "") C(n6, COUNTER, COUNT, "") \
	C(n7, COUNTER, COUNT, "") C(n8, COUNTER, COUNT, "") C(n9, COUNTER, COUNT, "") C(n10, COUNTER, COUNT, "") \
	C(n11, COUNTER, COUNT, "") C(n12, COUNTER, COUNT, "") C(n13, COUNTER, COUNT, "") C(n14, COUNTER, COUNT, "") \
	C(n15, COUNTER, COUNT, "")

/* One value of the distribution that is logged (model_set_log()); the row ends at once. */
#define INSTANCE_CELLS(C, A, D) \
	C(thread_uid, KEY, NONE, "uid of the thread it happened to, 0 none") \
	C(begin_ns, GAUGE, TIME, "Time at which it started") \
	C(length_ns, GAUGE, NS, "Duration") \
	C(cause, GAUGE, TEXT, \
	  "Name of the call or handler; the disk; for a wake-up, the thread that held the CPU, null if it was idle; " \
	  "for a slice, why it ended; for a wait, what ended it, as in table blocking") \
	C(syscall, GAUGE, TEXT, "System call in which the thread waited; null if none") \
	C(fd, GAUGE, SIGNED, "File descriptor used by that call; null as in table blocking") \
	C(object, GAUGE, TEXT, \
	  "Path of that descriptor, or the one that the call names; peer of the socket; address of the futex; null " \
	  "if unknown")
/* clang-format on */

#define CELL_MEMBER(member, kind, type, meaning) uint64_t member;
#define ACCRUAL_MEMBER(member, states, state, since, meaning) uint64_t member;
#define DIST_MEMBER(member, type, counted, measured) struct dist member;
#define ROW_STRUCT(name, LIST)                                 \
	struct name##_row {                                    \
		uint64_t uid;                                  \
		LIST(CELL_MEMBER, ACCRUAL_MEMBER, DIST_MEMBER) \
	}

#define CELL_DESC(member, kind, type, meaning) { #member, meaning, CELL_##kind, TYPE_##type, 0, 0, 0 },
#define DIST_DESC(member, type, counted, measured)                                \
	{ #member ".count", counted, CELL_COUNTER, TYPE_COUNT, 0, 0, 0 },         \
		{ #member ".sum", measured, CELL_COUNTER, TYPE_##type, 0, 0, 0 }, \
		{ #member ".sq_lo", measured, CELL_SQ_LO, TYPE_NONE, 0, 0, 0 },   \
		{ #member ".sq_hi", measured, CELL_SQ_HI, TYPE_NONE, 0, 0, 0 },   \
		{ #member ".min", measured, CELL_MIN, TYPE_##type, 0, 0, 0 },     \
		{ #member ".max", measured, CELL_MAX, TYPE_##type, 0, 0, 0 },     \
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
ROW_STRUCT(pressure, PRESSURE_CELLS);
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
extern const struct cell_desc pressure_cells[];

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
