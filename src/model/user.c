/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-space events: how many each thread emitted. They name their thread by its IDs in its own PID namespace (contexts
 * vtid, vpid, pid_ns, procname). If the kernel is traced too, it is the one of the kernel's threads that matches:
 *
 *   thread row   vtid, vpid, pid_ns: equal, or unknown for one of the two
 *                vtid unknown: its tid is the vtid, its pid the vpid
 *                if several match: the one with that name, then the one outside containers
 *
 *   by_vtid[vtid] ─▶ thread row ◀─▶ thread row ─▶ NO_ROW
 *
 * Without the kernel's events, every emitter becomes a thread. A thread in a container that the kernel's events have
 * not shown yet is unknown: its events count only for their class and the host.
 *
 * Emitters are forgotten with their trace, as its number is reused; and those that have ended if there are very many.
 */
#include "base/nstime.h"
#include "model/parts_internal.h"

#include <string.h>

/* A thread that was not found is looked up again after this time. */
#define RETRY_NS (100 * NS_PER_MS)

/* The thread that emits, as its contexts describe it. */
struct emitter {
	int64_t vtid, vpid; /* vpid -1: unknown */
	uint64_t pid_ns;    /* 0: unknown */
	char comm[16];
	uint32_t row;      /* TABLE_THREAD; NO_ROW: not found */
	uint64_t uid;      /* of that row; if it differs, the row is another thread's by now */
	uint64_t tried_ns; /* when it was last looked up */
};

/* By thread row. */
struct vtid_link {
	uint64_t vtid; /* 0: it is in no chain */
	uint32_t next, previous;
};

enum { SWEEP_FIRST = 1024, EMITTERS_MAX = 65536 };

struct users {
	GArray *emitters;      /* struct emitter */
	guint sweep_at;        /* number of emitters at which to look for unused ones */
	struct map64 by_ids;   /* hash of vtid, vpid, pid_ns -> index */
	struct map64 by_trace; /* (source, trace, vtid) -> index of the emitter with that vtid now */
	struct map64 by_vtid;  /* vtid -> the first row of TABLE_THREAD with it */
	GArray *links;         /* struct vtid_link */
};

void users_create(struct model *m)
{
	m->users = g_new0(struct users, 1);
	m->users->emitters = g_array_new(FALSE, TRUE, sizeof(struct emitter));
	m->users->links = g_array_new(FALSE, TRUE, sizeof(struct vtid_link));
	m->users->sweep_at = SWEEP_FIRST;
}

void users_destroy(struct model *m)
{
	g_array_free(m->users->emitters, TRUE);
	map64_release(&m->users->by_ids);
	map64_release(&m->users->by_trace);
	map64_release(&m->users->by_vtid);
	g_array_free(m->users->links, TRUE);
	g_free(m->users);
}

/* ---- threads by vtid ---- */

static struct vtid_link *link_of(const struct users *u, uint32_t row)
{
	return &g_array_index(u->links, struct vtid_link, row);
}

static uint32_t first_with(const struct users *u, uint64_t vtid)
{
	const uint32_t row = map64_get(&u->by_vtid, vtid);

	return row == MAP64_NONE ? NO_ROW : row;
}

void user_thread_end(struct model *m, uint32_t thread)
{
	struct users *u = m->users;
	struct vtid_link *link;

	if (thread >= u->links->len || !link_of(u, thread)->vtid)
		return;
	link = link_of(u, thread);
	if (link->next != NO_ROW)
		link_of(u, link->next)->previous = link->previous;
	if (link->previous != NO_ROW)
		link_of(u, link->previous)->next = link->next;
	else if (link->next != NO_ROW)
		map64_put(&u->by_vtid, link->vtid, link->next);
	else
		map64_del(&u->by_vtid, link->vtid);
	link->vtid = 0;
}

void user_thread_numbered(struct model *m, uint32_t thread)
{
	const uint64_t vtid = THREAD_ROW(m, thread)->vtid;
	struct users *u = m->users;
	uint32_t next;

	if (thread >= u->links->len)
		g_array_set_size(u->links, thread + 1);
	if (link_of(u, thread)->vtid == vtid)
		return;
	user_thread_end(m, thread);
	if (!vtid || vtid == (uint64_t)-1)
		return;
	next = first_with(u, vtid);
	if (next != NO_ROW)
		link_of(u, next)->previous = thread;
	*link_of(u, thread) = (struct vtid_link){ .vtid = vtid, .next = next, .previous = NO_ROW };
	map64_put(&u->by_vtid, vtid, thread);
}

uint32_t user_thread_find(const struct model *m, uint64_t vtid, uint64_t pid_ns)
{
	uint32_t row = first_with(m->users, vtid);

	while (row != NO_ROW && STATE_ROW(&m->state, THREAD, thread, row)->pid_ns != pid_ns)
		row = link_of(m->users, row)->next;
	return row;
}

static uint64_t trace_key(unsigned source, const struct event *ev)
{
	return (uint64_t)source << 48 ^ (uint64_t)ev->trace << 32 ^ (uint32_t)ev->tid;
}

static bool may_equal(uint64_t a, uint64_t b, uint64_t unknown)
{
	return a == unknown || b == unknown || a == b;
}

static bool is_same_thread(const struct thread_row *r, const struct emitter *e)
{
	const uint64_t unknown = (uint64_t)-1, vtid = (uint64_t)e->vtid, vpid = (uint64_t)e->vpid;

	if (r->state == THREAD_DEAD || r->flags & THREAD_KERNEL || !may_equal(r->pid_ns, e->pid_ns, 0))
		return false;
	if (r->vtid != unknown)
		return r->vtid == vtid && may_equal(r->vpid, vpid, unknown);
	return r->tid == vtid && may_equal(r->pid, vpid, unknown);
}

/* How well the thread fits; below 0: it is another one. */
static int score_of(struct model *m, const struct emitter *e, uint32_t row)
{
	const struct thread *t = thread_info(m, row);

	if (!t->in_use || !is_same_thread(THREAD_ROW(m, row), e))
		return -1;
	return 2 * (memcmp(t->comm, e->comm, sizeof(e->comm)) == 0) + (THREAD_ROW(m, row)->tid == (uint64_t)e->vtid);
}

/* The kernel's thread; NO_ROW: unknown. */
static uint32_t find_thread(struct model *m, const struct emitter *e)
{
	uint32_t best = thread_find(m, e->vtid);
	int best_score = best == NO_ROW ? -1 : score_of(m, e, best);

	for (uint32_t row = first_with(m->users, (uint64_t)e->vtid); row != NO_ROW;
	     row = link_of(m->users, row)->next) {
		const int score = score_of(m, e, row);

		if (score > best_score || (score >= 0 && score == best_score && row < best)) {
			best_score = score;
			best = row;
		}
	}
	return best_score < 0 ? NO_ROW : best;
}

/* Creates a thread of which only what it emits is known. NO_ROW: the kernel's events must show it first. */
static uint32_t make_thread(struct model *m, const struct emitter *e)
{
	const bool in_container = e->pid_ns && e->pid_ns != HOST_PID_NS;
	uint32_t row;

	if (m->has_kernel && (in_container || thread_find(m, e->vtid) != NO_ROW))
		return NO_ROW;
	row = thread_new(m, e->vtid);
	THREAD_ROW(m, row)->vtid = (uint64_t)e->vtid;
	THREAD_ROW(m, row)->vpid = THREAD_ROW(m, row)->pid = (uint64_t)e->vpid;
	THREAD_ROW(m, row)->pid_ns = e->pid_ns;
	THREAD_ROW(m, row)->flags |= THREAD_VIRTUAL;
	user_thread_numbered(m, row);
	container_place(m, row);
	thread_set_comm(m, row, e->comm);
	return row;
}

static bool is_there(struct model *m, const struct emitter *e)
{
	return e->row != NO_ROW && thread_info(m, e->row)->in_use && THREAD_ROW(m, e->row)->uid == e->uid;
}

static void settle(struct model *m, struct emitter *e)
{
	if (is_there(m, e) || (e->row == NO_ROW && e->tried_ns && m->now_ns - e->tried_ns < RETRY_NS))
		return;
	e->tried_ns = m->now_ns;
	e->row = find_thread(m, e);
	if (e->row == NO_ROW)
		e->row = make_thread(m, e);
	if (e->row != NO_ROW)
		e->uid = THREAD_ROW(m, e->row)->uid;
}

/* ---- forgetting ---- */

static uint64_t ids_key(const struct emitter *ids)
{
	const uint64_t process = map64_mix(ids->pid_ns, (uint64_t)ids->vpid);

	return map64_mix(process, (uint64_t)ids->vtid);
}

void user_forget_trace(struct model *m, unsigned source, unsigned trace)
{
	const struct map64 *by_trace = &m->users->by_trace;
	const struct event none = { .trace = (uint16_t)trace };
	const uint64_t of_trace = trace_key(source, &none);
	GArray *keys;

	if (!by_trace->count)
		return;
	keys = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (uint32_t i = 0; i <= by_trace->mask; i++)
		if (by_trace->slots[i].value != MAP64_NONE && by_trace->slots[i].key >> 32 == of_trace >> 32)
			g_array_append_val(keys, by_trace->slots[i].key);
	for (guint i = 0; i < keys->len; i++)
		map64_del(&m->users->by_trace, g_array_index(keys, uint64_t, i));
	g_array_free(keys, TRUE);
}

/* Emitters in use by a trace are kept; while there are too many, only those that may still emit. */
static bool is_needed(struct model *m, const struct emitter *e, bool too_many)
{
	return !too_many || is_there(m, e) || (e->row == NO_ROW && m->now_ns - e->tried_ns < RETRY_NS);
}

static void sweep(struct model *m)
{
	struct users before = *m->users;
	const bool too_many = before.by_trace.count > EMITTERS_MAX;
	struct users *u = m->users;
	uint32_t *numbers = g_new(uint32_t, before.emitters->len);

	memset(numbers, 0xff, before.emitters->len * sizeof(*numbers)); /* MAP64_NONE */
	u->emitters = g_array_new(FALSE, TRUE, sizeof(struct emitter));
	u->by_ids = u->by_trace = (struct map64){ 0 };
	/* in another order each time: nothing may depend on their numbers */
	for (uint32_t i = 0; before.by_trace.slots && i <= before.by_trace.mask; i++) {
		const struct map64_slot *slot = &before.by_trace.slots[i];
		const struct emitter *e;

		if (slot->value == MAP64_NONE)
			continue;
		e = &g_array_index(before.emitters, struct emitter, slot->value);
		if (numbers[slot->value] == MAP64_NONE && is_needed(m, e, too_many)) {
			numbers[slot->value] = u->emitters->len;
			map64_put(&u->by_ids, ids_key(e), u->emitters->len);
			g_array_append_val(u->emitters, *e);
		}
		if (numbers[slot->value] != MAP64_NONE)
			map64_put(&u->by_trace, slot->key, numbers[slot->value]);
	}
	u->sweep_at = MAX(SWEEP_FIRST, 2 * u->emitters->len);
	g_free(numbers);
	g_array_free(before.emitters, TRUE);
	map64_release(&before.by_ids);
	map64_release(&before.by_trace);
}

/* ---- events ---- */

static struct emitter *emitter_of(struct users *u, const struct emitter *ids, uint32_t *index)
{
	const uint64_t key = ids_key(ids);

	*index = map64_get(&u->by_ids, key);
	if (*index == MAP64_NONE) {
		*index = u->emitters->len;
		g_array_append_val(u->emitters, *ids);
		map64_put(&u->by_ids, key, *index);
	}
	return &g_array_index(u->emitters, struct emitter, *index);
}

void user_context(struct model *m, unsigned source, const struct event *ev)
{
	const struct ev_context *p = event_payload(ev, ev_context);
	struct emitter ids = { .vtid = ev->tid, .vpid = -1, .row = NO_ROW }, *e;
	uint32_t index;

	if (ev->tid <= 0)
		return;
	if (event_has(ev, CTX_VPID) && p->vpid > 0)
		ids.vpid = p->vpid;
	if (event_has(ev, CTX_PID_NS))
		ids.pid_ns = p->pid_ns;
	if (m->users->emitters->len >= m->users->sweep_at)
		sweep(m);
	e = emitter_of(m->users, &ids, &index);
	memcpy(e->comm, p->procname, sizeof(e->comm));
	map64_put(&m->users->by_trace, trace_key(source, ev), index);
	settle(m, e);
	/* the kernel's name is more recent: a program's tracer keeps the one it saw first */
	if (e->row != NO_ROW && !m->has_kernel)
		thread_set_comm(m, e->row, e->comm);
}

void user_event(struct model *m, unsigned source, const struct event *ev)
{
	const uint32_t index = ev->tid > 0 ? map64_get(&m->users->by_trace, trace_key(source, ev)) : MAP64_NONE;
	struct emitter *e;

	if (index == MAP64_NONE)
		return;
	e = &g_array_index(m->users->emitters, struct emitter, index);
	settle(m, e);
	if (e->row == NO_ROW)
		return;
	THREAD_ROW(m, e->row)->user_events++;
	state_touch(&m->state, TABLE_THREAD, e->row);
}
