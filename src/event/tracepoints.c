/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/tracepoints.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "event/payload.h"

/* clang-format off */
#define F(payload, member, names, type) { names, offsetof(struct ev_##payload, member), FIELD_##type }
#define FIELDS(payload) static const struct field_desc fields_##payload[]

FIELDS(sched_switch) = {
	F(sched_switch, prev_tid, "prev_tid prev_pid", INT),
	F(sched_switch, next_tid, "next_tid next_pid", INT),
	F(sched_switch, prev_state, "prev_state", INT),
	F(sched_switch, prev_prio, "prev_prio", INT),
	F(sched_switch, next_prio, "next_prio", INT),
	F(sched_switch, prev_comm, "prev_comm", COMM),
	F(sched_switch, next_comm, "next_comm", COMM),
	F(sched_switch, offline_until_ns, "", MEMBER),
};

FIELDS(wakeup) = {
	F(wakeup, tid, "tid pid", INT),
	F(wakeup, prio, "prio", INT),
	F(wakeup, target_cpu, "target_cpu", INT),
	F(wakeup, comm, "comm", COMM),
};

FIELDS(task) = {
	F(task, tid, "tid pid", INT),
	F(task, prio, "prio newprio", INT),
	F(task, orig_cpu, "orig_cpu", INT),
	F(task, dest_cpu, "dest_cpu", INT),
	F(task, comm, "newcomm comm", COMM),
};

FIELDS(new_task) = {
	F(new_task, parent_tid, "parent_tid", INT),
	F(new_task, parent_pid, "parent_pid", INT),
	F(new_task, child_tid, "child_tid", INT),
	F(new_task, child_pid, "child_pid", INT),
	F(new_task, parent_ns, "parent_ns_inum", INT),
	F(new_task, child_ns, "child_ns_inum", INT),
	F(new_task, child_vtids, "vtids", LEVELS),
	F(new_task, parent_comm, "parent_comm", COMM),
	F(new_task, child_comm, "child_comm", COMM),
};

FIELDS(exec) = {
	F(exec, tid, "tid", INT),
	F(exec, old_tid, "old_tid", INT),
	F(exec, filename, "filename", STR),
};

FIELDS(cpu_hotplug) = {
	F(cpu_hotplug, cpu, "cpu", INT),
	F(cpu_hotplug, state, "state", INT),
};

FIELDS(kill) = {
	F(kill, tid, "tid pid", INT),
	F(kill, number, "sig", INT),
	F(kill, code, "code", INT),
};

FIELDS(irq) = {
	F(irq, irq, "irq", INT),
	F(irq, name, "name", STR),
};

FIELDS(softirq) = {
	F(softirq, vec, "vec", INT),
};

FIELDS(block_rq) = {
	F(block_rq, dev, "dev", INT),
	F(block_rq, sector, "sector", INT),
	F(block_rq, nr_sector, "nr_sector", INT),
	F(block_rq, bytes, "bytes", INT),
	F(block_rq, rwbs, "rwbs", INT),
	F(block_rq, error, "error errors", INT),
};

FIELDS(block_remap) = {
	F(block_remap, dev, "dev", INT),
	F(block_remap, sector, "sector rq_sector", INT),
	F(block_remap, nr_sector, "nr_sector", INT),
	F(block_remap, old_dev, "old_dev", INT),
	F(block_remap, old_sector, "old_sector new_sector nextrq_sector", INT),
	F(block_remap, rwbs, "rwbs", INT),
};

FIELDS(cpu_frequency) = {
	F(cpu_frequency, khz, "state", INT),
	F(cpu_frequency, cpu, "cpu_id", INT),
};

FIELDS(page) = {
	F(page, order, "order", INT),
	F(page, pfn, "pfn", INT),
};

FIELDS(work) = {
	F(work, work, "work", INT),
	F(work, function, "function", INT),
};

FIELDS(inode) = {
	F(inode, ino, "ino", INT),
	F(inode, flags, "flags", INT),
	F(inode, dev, "name", STR),
};

FIELDS(net) = {
	F(net, len, "len", INT),
	F(net, name, "name", STR),
	F(net, ip_version, "network_header transport_fields", IP_HEADER),
	F(net, seq, "seq", INT),
	F(net, ack_seq, "ack_seq", INT),
	F(net, flags, "flags", INT),
};

FIELDS(net_xmit) = {
	F(net_xmit, len, "len", INT),
	F(net_xmit, rc, "rc", INT),
	F(net_xmit, name, "name", STR),
};

/* The fields of each system call that fill these members are in event/syscalls.def. */
FIELDS(syscall_entry) = {
	F(syscall_entry, nr, "", MEMBER),
	F(syscall_entry, fd, "", MEMBER),
	F(syscall_entry, fd2, "", MEMBER),
	F(syscall_entry, cmd, "", MEMBER),
	F(syscall_entry, flags, "", MEMBER),
	F(syscall_entry, arg, "", MEMBER),
	F(syscall_entry, path, "", STR),
	F(syscall_entry, family, "", MEMBER),
	F(syscall_entry, port, "", MEMBER),
	F(syscall_entry, addr, "", MEMBER),
	F(syscall_entry, args, "", MEMBER),
};

FIELDS(mount) = {
	F(mount, source, "dev_name", STR),
	F(mount, directory, "dir_name", STR),
	F(mount, type, "type", STR),
	F(mount, flags, "flags", INT),
};

FIELDS(syscall_exit) = {
	F(syscall_exit, nr, "id", INT),
	F(syscall_exit, ret, "ret", INT),
	F(syscall_exit, fd0, "fildes socket usockvec", INT_PAIR),
	F(syscall_exit, family, "family", INT),
	F(syscall_exit, port, "sport", INT),
	F(syscall_exit, addr, "v4addr v6addr", ADDR),
};

FIELDS(dump_process) = {
	F(dump_process, tid, "tid", INT),
	F(dump_process, pid, "pid", INT),
	F(dump_process, ppid, "ppid", INT),
	F(dump_process, type, "type", INT),
	F(dump_process, status, "status", INT),
	F(dump_process, file_table, "file_table_address", INT),
	F(dump_process, vtid, "vtid", INT),
	F(dump_process, vpid, "vpid", INT),
	F(dump_process, ns_level, "ns_level", INT),
	F(dump_process, ns_inum, "ns_inum", INT),
	F(dump_process, name, "name", COMM),
};

FIELDS(dump_ns) = {
	F(dump_ns, tid, "tid", INT),
	F(dump_ns, vtid, "vtid", INT),
	F(dump_ns, vpid, "vpid", INT),
	F(dump_ns, ns_level, "ns_level", INT),
	F(dump_ns, ns_inum, "ns_inum", INT),
};

FIELDS(dump_fd) = {
	F(dump_fd, file_table, "file_table_address", INT),
	F(dump_fd, pid, "pid", INT),
	F(dump_fd, fd, "fd", INT),
	F(dump_fd, flags, "flags", INT),
	F(dump_fd, fmode, "fmode", INT),
	F(dump_fd, filename, "filename", STR),
};

FIELDS(dump_disk) = {
	F(dump_disk, dev, "dev", INT),
	F(dump_disk, name, "diskname", STR),
};

FIELDS(dump_netif) = {
	F(dump_netif, name, "name", STR),
};

FIELDS(dump_irq) = {
	F(dump_irq, irq, "irq", INT),
	F(dump_irq, name, "name", STR),
	F(dump_irq, action, "action", STR),
};

FIELDS(message) = {
	F(message, text, "msg", STR),
};

/* The strings of the worker's own records, for event_check(). */
FIELDS(trace) = {
	F(trace, hostname, "", STR),
	F(trace, clock, "", STR),
	F(trace, tracer, "", STR),
	F(trace, path, "", STR),
	F(trace, kernel, "", STR),
	F(trace, procname, "", STR),
};

FIELDS(class) = {
	F(class, name, "", STR),
};

FIELDS(perf_names) = {
	F(perf_names, name, "", STR),
};

FIELDS(shape) = {
	F(shape, part, "", STR),
};

FIELDS(fields) = {
	F(fields, parts[0], "", STR),
	F(fields, parts[1], "", STR),
	F(fields, parts[2], "", STR),
	F(fields, parts[3], "", STR),
};

FIELDS(note) = {
	F(note, text, "", STR),
};

FIELDS(failed) = {
	F(failed, text, "", STR),
};

FIELDS(session) = {
	F(session, hostname, "", STR),
	F(session, name, "", STR),
	F(session, url, "", STR),
};
/* clang-format on */

FIELDS(none) = {};

FIELDS(probe) = {
	F(probe, ip, "ip", INT),
};

#define ROW(payload, need, names)                                                                                   \
	{                                                                                                           \
		names, need, sizeof(struct ev_##payload) / 8, sizeof(fields_##payload) / sizeof(struct field_desc), \
			fields_##payload                                                                            \
	}
#define ROW_WITHOUT_TEXT(payload)                                        \
	{                                                                \
		NULL, 0, sizeof(struct ev_##payload) / 8, 0, fields_none \
	}

const struct tracepoint_desc tracepoint_table[EVENT_KINDS] = {
	[EVENT_NONE] = ROW(none, 0, NULL),
	[EVENT_TRACE] = ROW(trace, 0, NULL),
	[EVENT_CLASS] = ROW(class, 0, NULL),
	[EVENT_STREAM] = ROW_WITHOUT_TEXT(stream),
	[EVENT_PERF_NAMES] = ROW(perf_names, 0, NULL),
	[EVENT_SHAPE] = ROW(shape, 0, NULL),
	[EVENT_CPU_START] = ROW_WITHOUT_TEXT(cpu_start),
	[EVENT_READY] = ROW(none, 0, NULL),
	[EVENT_SESSION] = ROW(session, 0, NULL),
	[EVENT_LISTED] = ROW(none, 0, NULL),
	[EVENT_LOST] = ROW_WITHOUT_TEXT(lost),
	[EVENT_GAP] = ROW_WITHOUT_TEXT(gap),
	[EVENT_BACKWARD] = ROW(none, 0, NULL),
	[EVENT_CONTEXT] = ROW_WITHOUT_TEXT(context),
	[EVENT_FIELDS] = ROW(fields, 0, NULL),
	[EVENT_WANTED] = ROW_WITHOUT_TEXT(wanted),
	[EVENT_STREAM_END] = ROW_WITHOUT_TEXT(stream_end),
	[EVENT_BEACON] = ROW(none, 0, NULL),
	[EVENT_NOTE] = ROW(note, 0, NULL),
	[EVENT_END] = ROW(none, 0, NULL),
	[EVENT_FAILED] = ROW(failed, 0, NULL),
	[EVENT_OTHER] = ROW(none, 0, NULL),
	[EVENT_PROBE] = ROW(none, 0, NULL),
#define TRACEPOINT(kind, payload, need, names) [EVENT_##kind] = ROW(payload, need, names),
#include "event/tracepoints.def"
};

bool tracepoint_is_probe(enum event_kind kind)
{
	return kind == EVENT_PROBE || tracepoint_table[kind].fields == fields_probe;
}

static struct {
	GHashTable *kinds;            /* name → kind, for names without '*' */
	enum event_kind with_rest[4]; /* rows with names that have one */
	unsigned n_with_rest;
} known;

static void learn_names(enum event_kind kind)
{
	char **names = g_strsplit(tracepoint_table[kind].names, " ", -1);

	for (char **name = names; *name; name++)
		if (**name && !strchr(*name, '*'))
			g_hash_table_insert(known.kinds, g_strdup(*name), GINT_TO_POINTER(kind));
	g_strfreev(names);
	if (!strchr(tracepoint_table[kind].names, '*'))
		return;
	g_assert(known.n_with_rest < G_N_ELEMENTS(known.with_rest));
	known.with_rest[known.n_with_rest++] = kind;
}

/* Whether name starts with one of names, up to its '*'; *rest is the part that the '*' matches. */
static bool begins(const char *names, const char *name, const char **rest)
{
	for (const char *end; *names; names = end + strspn(end, " ")) {
		end = names + strcspn(names, " ");
		if (end[-1] == '*' && strncmp(names, name, end - names - 1) == 0) {
			*rest = name + (end - names - 1);
			return true;
		}
	}
	return false;
}

enum event_kind tracepoint_find(const char *name, const char **rest)
{
	enum event_kind kind;
	const char *found = NULL;

	if (!known.kinds) {
		known.kinds = g_hash_table_new(g_str_hash, g_str_equal);
		for (int k = EVENT_PROBE + 1; k < EVENT_KINDS; k++)
			learn_names(k);
	}
	kind = GPOINTER_TO_INT(g_hash_table_lookup(known.kinds, name));
	for (unsigned i = 0; (!kind || kind == EVENT_MOUNT_ENTRY) && !found && i < known.n_with_rest; i++)
		if (begins(tracepoint_table[known.with_rest[i]].names, name, &found) && !kind)
			kind = known.with_rest[i];
	if (kind == EVENT_SYSCALL_EXIT && !found)
		found = "";
	if (rest)
		*rest = found;
	return kind ? kind : EVENT_OTHER;
}
