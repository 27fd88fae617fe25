/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Containers: which thread is in which one, and how they are nested.
 *
 * A container is a PID namespace other than the host's own; for threads in the host's own, a cgroup namespace other
 * than the host's. A thread never leaves its PID namespace: clone(), or unshare() and setns() before a fork, put the
 * child elsewhere, and the event of the fork says where. A row lasts while a thread is in it, as the kernel later
 * reuses its inode number for another one; or until data that its threads wrote is on a disk (dirty.h).
 *
 *   tid 2166 ─ level 0, the host's ─ 2166 ┐
 *              level 1, 4026532318 ─   11 ├ TABLE_VTID: the levels between tid and vtid
 *              level 2, 4026532320 ─    6 ┘ its container, nested in that of level 1: vtid
 */
#include "model/dirty.h"
#include "model/parts_internal.h"

#define CONTAINER_ROW(m, row) STATE_ROW(&(m)->state, CONTAINER, container, row)
#define VTID_ROW(m, row) STATE_ROW(&(m)->state, VTID, vtid, row)

/* ---- the container of a thread ---- */

static uint32_t row_of_inode(struct model *m, uint64_t inode, bool of_cgroup)
{
	uint32_t row = map64_get(&m->containers, inode);
	struct container_row *c;

	if (row != MAP64_NONE)
		return row;
	row = state_add(&m->state, TABLE_CONTAINER);
	map64_put(&m->containers, inode, row);
	c = CONTAINER_ROW(m, row);
	c->inode = inode;
	c->of_cgroup = of_cgroup;
	c->pid = (uint64_t)-1;
	pressure_container_begins(m, row, c->uid);
	return row;
}

/* The thread is no longer one of its threads. Returns the container's row. */
static uint32_t discount(struct model *m, uint32_t thread)
{
	const uint32_t row = thread_info(m, thread)->container;
	struct container_row *c;

	if (row == NO_ROW)
		return NO_ROW;
	pressure_leave(m, thread, row);
	c = CONTAINER_ROW(m, row);
	state_touch(&m->state, TABLE_CONTAINER, row);
	if (--c->threads)
		return row;
	map64_del(&m->containers, c->inode);
	pressure_container_ends(m, row);
	return row;
}

static void end_if_unused(struct model *m, uint32_t container)
{
	if (container != NO_ROW && !CONTAINER_ROW(m, container)->threads && !dirty_keeps_container(m, container))
		state_end(&m->state, TABLE_CONTAINER, container);
}

static void leave(struct model *m, uint32_t thread)
{
	const uint32_t row = discount(m, thread);

	thread_info(m, thread)->container = NO_ROW;
	end_if_unused(m, row);
}

/* The first process is the one with ID 1 in the container; until that is seen, the first one seen. */
static void look_for_first(struct model *m, uint32_t thread)
{
	const struct thread_row *r = THREAD_ROW(m, thread);
	const uint32_t row = thread_info(m, thread)->container;
	struct container_row *c = CONTAINER_ROW(m, row);

	if (c->first_uid && c->first_uid != r->uid && (c->of_cgroup || r->vtid != 1))
		return;
	if (c->first_uid == r->uid && c->comm == r->comm && c->pid == r->pid)
		return;
	c->first_uid = r->uid;
	c->pid = r->pid;
	c->comm = r->comm;
	state_touch(&m->state, TABLE_CONTAINER, row);
}

void container_place(struct model *m, uint32_t thread)
{
	struct thread_row *r = THREAD_ROW(m, thread);
	const bool in_pid_ns = r->pid_ns && r->pid_ns != HOST_PID_NS;
	const uint64_t inode = in_pid_ns ? r->pid_ns : r->cgroup_ns == HOST_CGROUP_NS ? 0 : r->cgroup_ns;
	const uint32_t row = inode ? row_of_inode(m, inode, !in_pid_ns) : NO_ROW;

	if (row != thread_info(m, thread)->container) {
		leave(m, thread);
		thread_info(m, thread)->container = row;
		r->container = row == NO_ROW ? 0 : CONTAINER_ROW(m, row)->uid;
		if (row != NO_ROW) {
			CONTAINER_ROW(m, row)->threads++;
			pressure_enter(m, thread, row);
		}
		state_touch(&m->state, TABLE_THREAD, thread);
	}
	if (row != NO_ROW)
		look_for_first(m, thread);
}

void container_thread_renamed(struct model *m, uint32_t thread)
{
	if (thread_info(m, thread)->container != NO_ROW)
		look_for_first(m, thread);
}

/* ---- nesting ---- */

/* level 0: unknown. Values already known stay. */
static void set_place(struct model *m, uint64_t inode, uint64_t level, uint64_t parent)
{
	const uint32_t row = map64_get(&m->containers, inode);
	struct container_row *c = row == MAP64_NONE ? NULL : CONTAINER_ROW(m, row);
	uint32_t outer;

	if (!c || c->of_cgroup || (c->parent && (c->level || !level)))
		return;
	c->level = c->level ? c->level : level;
	if (!c->parent) {
		outer = map64_get(&m->containers, parent);
		c->parent = parent;
		c->parent_uid = outer == MAP64_NONE ? 0 : CONTAINER_ROW(m, outer)->uid;
	}
	state_touch(&m->state, TABLE_CONTAINER, row);
}

/* The inode of the namespace that contains that one; 0: unknown. */
static uint64_t parent_of(const struct model *m, uint64_t inode)
{
	const uint32_t row = map64_get(&m->containers, inode);

	return row == MAP64_NONE ? 0 : CONTAINER_ROW(m, row)->parent;
}

/* ---- IDs at the levels in between ---- */

static uint64_t vtid_key(uint32_t thread, uint64_t level)
{
	return (uint64_t)thread << 32 | level;
}

/* The kernel's inodes and IDs have 32 bits. */
static uint64_t named_key(uint64_t ns, uint64_t vtid)
{
	return ns << 32 | (uint32_t)vtid;
}

uint32_t container_thread_outside(const struct model *m, uint64_t ns, uint64_t vtid)
{
	const uint32_t thread = map64_get(&m->outside, named_key(ns, vtid));

	return thread == MAP64_NONE ? NO_ROW : thread;
}

const struct vtid_row *container_vtid(const struct model *m, uint32_t thread, uint64_t level)
{
	const uint32_t row = map64_get(&m->vtids, vtid_key(thread, level));

	return row == MAP64_NONE ? NULL : VTID_ROW(m, row);
}

static void forget_outside(struct model *m, uint32_t thread, const struct vtid_row *r)
{
	if (container_thread_outside(m, r->ns, r->vtid) == thread)
		map64_del(&m->outside, named_key(r->ns, r->vtid));
}

static void set_vtid(struct model *m, uint32_t thread, uint64_t level, uint64_t ns, uint64_t vtid)
{
	uint32_t row = map64_get(&m->vtids, vtid_key(thread, level));

	if (row == MAP64_NONE) {
		row = state_add(&m->state, TABLE_VTID);
		map64_put(&m->vtids, vtid_key(thread, level), row);
		VTID_ROW(m, row)->thread_uid = THREAD_ROW(m, thread)->uid;
		VTID_ROW(m, row)->level = level;
	}
	forget_outside(m, thread, VTID_ROW(m, row));
	VTID_ROW(m, row)->ns = ns;
	VTID_ROW(m, row)->vtid = vtid;
	if (ns)
		map64_put(&m->outside, named_key(ns, vtid), thread);
	state_touch(&m->state, TABLE_VTID, row);
}

void container_thread_end(struct model *m, uint32_t thread)
{
	const uint64_t levels = thread_info(m, thread)->ns_level;

	if (thread_info(m, thread)->kept)
		discount(m, thread);
	else
		leave(m, thread);
	for (uint64_t level = 1; level < levels; level++) {
		const uint32_t row = map64_get(&m->vtids, vtid_key(thread, level));

		if (row == MAP64_NONE)
			continue;
		forget_outside(m, thread, VTID_ROW(m, row));
		map64_del(&m->vtids, vtid_key(thread, level));
		state_end(&m->state, TABLE_VTID, row);
	}
}

void container_kept_end(struct model *m, uint32_t thread)
{
	const uint32_t row = thread_info(m, thread)->container;

	thread_info(m, thread)->container = NO_ROW;
	end_if_unused(m, row);
}

/* ---- events ---- */

void container_fork(struct model *m, uint32_t parent, uint32_t child, const struct ev_new_task *p)
{
	struct thread_row *pr = parent == NO_ROW ? NULL : THREAD_ROW(m, parent);
	struct thread_row *r = THREAD_ROW(m, child);
	unsigned level = 0;
	uint64_t ns;

	while (level + 1 < PID_LEVELS_MAX && p->child_vtids[level + 1] > 0)
		level++;
	if (p->child_vtids[level] > 0)
		r->vtid = (uint64_t)p->child_vtids[level];
	user_thread_numbered(m, child);
	thread_info(m, child)->ns_level = level;
	r->pid_ns = p->child_ns;
	if (pr) {
		if (p->parent_ns && !pr->pid_ns) {
			pr->pid_ns = p->parent_ns;
			state_touch(&m->state, TABLE_THREAD, parent);
			container_place(m, parent);
		}
		r->vpid = r->pid == r->tid ? r->vtid : pr->vpid;
		r->pid_ns = p->child_ns ? p->child_ns : pr->pid_ns;
		r->cgroup_ns = pr->cgroup_ns;
	}
	container_place(m, child);
	/* a new namespace is nested in its creator's; setns() may have crossed several */
	set_place(m, r->pid_ns, level, r->vtid == 1 && r->pid_ns != p->parent_ns ? p->parent_ns : 0);
	ns = r->pid_ns;
	while (level > 1) {
		ns = parent_of(m, ns);
		level--;
		set_vtid(m, child, level, ns, (uint64_t)p->child_vtids[level]);
	}
}

/* The event before or after it, of the same thread, names its parent: they come innermost first. */
static void relate(struct model *m, int64_t tid, uint64_t level, uint64_t inode)
{
	const struct dumped_ns last = m->dumped_ns;

	m->dumped_ns = (struct dumped_ns){ .tid = tid, .level = level, .inode = inode };
	if (last.tid == tid && last.level == level + 1)
		set_place(m, last.inode, last.level, inode);
	else if (last.tid == tid && last.level + 1 == level)
		set_place(m, inode, level, last.inode);
	else
		set_place(m, inode, level, 0);
}

void container_dump(struct model *m, uint32_t thread, const struct ev_dump_ns *p)
{
	struct thread *t = thread_info(m, thread);
	struct thread_row *r = THREAD_ROW(m, thread);

	if (p->ns_level >= PID_LEVELS_MAX)
		return;
	if (p->ns_level >= t->ns_level) {
		if (p->ns_level > t->ns_level && t->ns_level)
			set_vtid(m, thread, t->ns_level, r->pid_ns, r->vtid);
		t->ns_level = p->ns_level;
		r->vtid = (uint64_t)p->vtid;
		user_thread_numbered(m, thread);
		r->vpid = (uint64_t)p->vpid;
		r->pid_ns = p->ns_inum ? p->ns_inum : r->pid_ns;
		state_touch(&m->state, TABLE_THREAD, thread);
		container_place(m, thread);
	} else if (p->ns_level) {
		set_vtid(m, thread, p->ns_level, p->ns_inum, (uint64_t)p->vtid);
	}
	relate(m, p->tid, p->ns_level, p->ns_inum);
}
