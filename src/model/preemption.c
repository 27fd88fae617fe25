/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads ran while others were ready: TABLE_PREEMPTION. Each CPU logs what it ran last; when a thread stops
 * being ready, the time is charged to what ran on the CPU for which it waited:
 *
 *   CPU 1     ──A──┬──B──┬──────A──────┬──V──        slices, a ring
 *   V ready         ├────────────────────┤            2 culprits: B once, A with the rest
 *
 * A wait is charged in parts if that is needed before it ends: it moves to another CPU, an interval ends (model_cut()),
 * the ring is full. However it is cut, the sum over all culprits is the thread's ready_ns, as both change only in
 * thread_set_state(); and so are the parts, unless it is cut between a sched_waking and the move that follows, or moves
 * are not recorded: then its thread is placed when it runs.
 */
#include "model/parts_internal.h"
#include "model/recent.h"

enum {
	SLICES = 256,     /* remembered for each CPU */
	CHARGED_MAX = 64, /* waiting threads charged per CPU; others may lose overwritten slices to BY_OTHER */
	ROWS_MAX = 8192,
	TALLY = 8,
};

struct culprit {
	uint64_t uid; /* of its row of TABLE_THREAD; BY_UNKNOWN, BY_IDLE, BY_OTHER */
	uint32_t row; /* NO_ROW: there is none */
};

struct cpu_slice {
	uint64_t since_ns; /* until the next slice */
	struct culprit who;
};

struct slices {
	uint64_t n;       /* logged so far; the last SLICES are in the ring */
	uint64_t charged; /* value of n when the waiting threads were last charged */
	struct cpu_slice ring[SLICES];
};

/* The last wait that a row counted. */
struct counted {
	uint64_t since_ns; /* when it started */
	uint64_t ns;       /* how much of it was counted so far */
};

struct preemption {
	struct recent rows;
	GArray *counted; /* struct counted, by row of TABLE_PREEMPTION */
	GArray *ready;   /* uint32_t: rows of the threads that are ready, in any order; see wait_for_cpu.place */
	uint32_t n_ready;
};

#define PREEMPTION_ROW(m, row) STATE_ROW(&(m)->state, PREEMPTION, preemption, row)

void preemption_create(struct model *m)
{
	struct preemption *p = m->preemption = g_new0(struct preemption, 1);

	recent_init(&p->rows, TABLE_PREEMPTION, ROWS_MAX);
	p->counted = g_array_new(FALSE, TRUE, sizeof(struct counted));
	p->ready = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void preemption_destroy(struct model *m)
{
	for (guint i = 0; i < m->cpus->len; i++)
		g_clear_pointer(&g_array_index(m->cpus, struct cpu, i).slices, g_free);
	recent_release(&m->preemption->rows);
	g_array_free(m->preemption->counted, TRUE);
	g_array_free(m->preemption->ready, TRUE);
	g_free(m->preemption);
	m->preemption = NULL;
}

/* ---- rows ---- */

/* The thread's cells, unless it is gone. */
static const struct thread_row *thread_of(const struct model *m, const struct culprit *who)
{
	const struct state_table *t = &m->state.tables[TABLE_THREAD];

	return who->row != NO_ROW && t->flags[who->row] & ROW_ALIVE && THREAD_ROW(m, who->row)->uid == who->uid
		       ? THREAD_ROW(m, who->row)
		       : NULL;
}

static void name_other(struct preemption_row *r)
{
	r->by_tid = r->by_pid = (uint64_t)-1;
	if (r->by_uid == BY_IDLE)
		r->by_tid = 0;
	if (r->by_uid != BY_UNKNOWN)
		r->by_comm = strpool_intern_z(r->by_uid == BY_IDLE ? "idle" : "other");
}

static uint32_t find_row(struct model *m, uint64_t uid, struct culprit who)
{
	struct preemption *p = m->preemption;
	uint64_t key = map64_mix(uid, who.uid);
	uint32_t row = map64_get(&p->rows.rows, key);
	struct preemption_row *r;
	bool made;

	if (row != MAP64_NONE)
		return row;
	/* rather than ending rows in use for pairs that would come back and end others */
	if (who.row != NO_ROW && !recent_has_room(m, &p->rows))
		key = map64_mix(uid, who.uid = BY_OTHER);
	row = recent_row(m, &p->rows, key, &made);
	if (!made)
		return row;
	r = PREEMPTION_ROW(m, row);
	r->thread_uid = uid;
	r->by_uid = who.uid;
	if (who.uid == BY_UNKNOWN || who.uid == BY_IDLE || who.uid == BY_OTHER)
		name_other(r);
	if (row >= p->counted->len)
		g_array_set_size(p->counted, row + 1);
	g_array_index(p->counted, struct counted, row) = (struct counted){ 0 };
	return row;
}

static bool is_row_of(const struct model *m, uint32_t row, uint64_t uid, uint64_t by)
{
	const struct state_table *t = &m->state.tables[TABLE_PREEMPTION];

	return row < t->n_rows && (t->flags[row] & (ROW_ALIVE | ROW_ENDED)) == ROW_ALIVE &&
	       PREEMPTION_ROW(m, row)->by_uid == by && PREEMPTION_ROW(m, row)->thread_uid == uid;
}

static uint32_t row_of(struct model *m, uint32_t victim, struct culprit who)
{
	struct wait_for_cpu *w = &thread_info(m, victim)->cpu_wait;
	const uint64_t uid = THREAD_ROW(m, victim)->uid;
	uint32_t *row = &w->by[who.uid % G_N_ELEMENTS(w->by)];

	if (!is_row_of(m, *row, uid, who.uid))
		*row = find_row(m, uid, who);
	return *row;
}

/* The culprit has run for ns of the victim's wait until now. */
static void note_most(struct model *m, uint32_t victim, int64_t tid, uint64_t comm, uint64_t ns)
{
	struct ran_instead *most = &thread_info(m, victim)->cpu_wait.most;

	if (ns <= most->ns)
		return;
	*most = (struct ran_instead){ (int32_t)tid, (strid)comm, ns };
}

/* The culprit ran for ns during the victim's wait, in one go or not. */
static void charge(struct model *m, uint32_t victim, struct culprit who, uint64_t ns)
{
	const uint64_t since_ns = THREAD_ROW(m, victim)->since_ns;
	const struct thread_row *thread = thread_of(m, &who);
	struct preemption_row *r;
	struct counted *counted;
	uint32_t row;

	if (!thread && who.row != NO_ROW)
		who = (struct culprit){ BY_OTHER, NO_ROW };
	row = row_of(m, victim, who);
	r = PREEMPTION_ROW(m, row);
	recent_again(m, &m->preemption->rows, row);
	if (thread && r->by_uid == who.uid) {
		r->by_tid = thread->tid;
		r->by_pid = thread->pid;
		r->by_comm = thread->comm;
	}
	counted = &g_array_index(m->preemption->counted, struct counted, row);
	if (counted->since_ns != since_ns) {
		*counted = (struct counted){ .since_ns = since_ns };
		r->count++;
	}
	counted->ns += ns;
	r->total_ns += ns;
	r->max_ns = MAX(r->max_ns, counted->ns);
	if (thread && r->by_uid != who.uid)
		note_most(m, victim, (int64_t)thread->tid, thread->comm, ns); /* it has no row of its own */
	else
		note_most(m, victim, (int64_t)r->by_tid, r->by_comm, counted->ns);
}

/* ---- what CPUs ran ---- */

/* A few culprits, so that alternating ones are charged once. */
struct tally {
	unsigned n;
	const struct culprit *who[TALLY];
	uint64_t ns[TALLY];
};

static void tally_charge(struct model *m, uint32_t victim, struct tally *t)
{
	while (t->n) {
		t->n--;
		charge(m, victim, *t->who[t->n], t->ns[t->n]);
	}
}

static inline void tally_add(struct model *m, uint32_t victim, struct tally *t, const struct culprit *who, uint64_t ns)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (t->who[i]->uid == who->uid) {
			t->ns[i] += ns;
			return;
		}
	}
	if (t->n == TALLY)
		tally_charge(m, victim, t);
	t->who[t->n] = who;
	t->ns[t->n++] = ns;
}

/* Charges [from_ns, end_ns[ of the wait to what the CPU ran, the last slice first. */
static void charge_slices(struct model *m, uint32_t victim, const struct slices *s, uint64_t from_ns, uint64_t end_ns)
{
	const uint64_t kept = s ? s->n - MIN(s->n, SLICES) : 0;
	const struct culprit lost = { kept ? BY_OTHER : BY_UNKNOWN, NO_ROW };
	struct tally tally;

	tally.n = 0;
	for (uint64_t i = s ? s->n : 0; i > kept && end_ns > from_ns; i--) {
		const struct cpu_slice *slice = &s->ring[(i - 1) % SLICES];
		uint64_t begin_ns = MAX(slice->since_ns, from_ns);

		if (begin_ns >= end_ns)
			continue;
		tally_add(m, victim, &tally, &slice->who, end_ns - begin_ns);
		end_ns = begin_ns;
	}
	if (end_ns > from_ns)
		tally_add(m, victim, &tally, &lost, end_ns - from_ns);
	tally_charge(m, victim, &tally);
}

/* Charges the part of the thread's wait that was not charged yet, up to a time. */
static void charge_until(struct model *m, uint32_t victim, uint64_t end_ns)
{
	struct wait_for_cpu *w = &thread_info(m, victim)->cpu_wait;
	const struct cpu *cpu = NULL;

	if (end_ns <= w->charged_ns)
		return;
	if (w->cpu >= 0 && (guint)w->cpu < m->cpus->len)
		cpu = &g_array_index(m->cpus, struct cpu, w->cpu);
	charge_slices(m, victim, cpu ? cpu->slices : NULL, w->charged_ns, end_ns);
	w->charged_ns = end_ns;
}

/* To be called before overwriting a slice that a waiting thread may still need. */
static void charge_waiting(struct model *m, const struct cpu *cpu)
{
	const struct cpu *first = &g_array_index(m->cpus, struct cpu, 0);
	const GArray *ready = m->preemption->ready;
	unsigned n = 0;

	for (uint32_t i = 0; i < m->preemption->n_ready && n < CHARGED_MAX; i++) {
		uint32_t row = g_array_index(ready, uint32_t, i);

		if (thread_info(m, row)->cpu_wait.cpu != cpu - first)
			continue;
		charge_until(m, row, m->now_ns);
		n++;
	}
	cpu->slices->charged = cpu->slices->n;
}

static struct culprit who_runs(const struct model *m, const struct cpu *cpu)
{
	if (cpu->thread != NO_ROW)
		return (struct culprit){ THREAD_ROW(m, cpu->thread)->uid, cpu->thread };
	return (struct culprit){ cpu->tid == 0 ? BY_IDLE : BY_UNKNOWN, NO_ROW };
}

void preemption_runs(struct model *m, struct cpu *cpu)
{
	struct slices *s = cpu->slices;

	if (!s)
		s = cpu->slices = g_new0(struct slices, 1);
	if (s->n - s->charged == SLICES - 1)
		charge_waiting(m, cpu);
	s->ring[s->n++ % SLICES] = (struct cpu_slice){ m->now_ns, who_runs(m, cpu) };
}

void preemption_ran_since(struct model *m, struct cpu *cpu, uint64_t since_ns)
{
	(void)m;
	if (cpu->slices && cpu->slices->n)
		cpu->slices->ring[(cpu->slices->n - 1) % SLICES].since_ns = since_ns;
}

/* ---- threads ---- */

void preemption_begin(struct model *m, uint32_t thread)
{
	struct preemption *p = m->preemption;
	struct wait_for_cpu *w = &thread_info(m, thread)->cpu_wait;

	w->charged_ns = m->now_ns;
	w->most.ns = 0;
	w->place = p->n_ready++;
	if (p->n_ready > p->ready->len)
		g_array_set_size(p->ready, 2 * p->n_ready);
	g_array_index(p->ready, uint32_t, w->place) = thread;
}

void preemption_end(struct model *m, uint32_t thread)
{
	struct preemption *p = m->preemption;
	const uint32_t place = thread_info(m, thread)->cpu_wait.place;
	uint32_t last;

	charge_until(m, thread, m->now_ns);
	last = g_array_index(p->ready, uint32_t, --p->n_ready);
	g_array_index(p->ready, uint32_t, place) = last;
	thread_info(m, last)->cpu_wait.place = place;
}

struct ran_instead preemption_most(struct model *m, uint32_t thread)
{
	const struct wait_for_cpu *w = &thread_info(m, thread)->cpu_wait;

	return w->charged_ns == m->now_ns ? w->most : (struct ran_instead){ .tid = -1 };
}

void preemption_charge(struct model *m, uint32_t thread)
{
	charge_until(m, thread, m->now_ns);
}

/*
 * A CPU that wakes a thread may move it before it enters any queue, between its sched_waking and its sched_wakeup,
 * which the other CPU may report: it has waited there since the former.
 */
static bool is_being_woken(struct model *m, uint32_t thread)
{
	const int32_t waker = thread_info(m, thread)->cpu_wait.waker;

	return waker >= 0 && (guint)waker < m->cpus->len &&
	       g_array_index(m->cpus, struct cpu, waker).waking_tid == (int64_t)THREAD_ROW(m, thread)->tid;
}

/* Its CPU is known from now on. The CPU that was waking it until now; NULL: none was. */
static const struct cpu *end_waking(struct model *m, uint32_t thread)
{
	struct cpu *waker;

	if (!is_being_woken(m, thread))
		return NULL;
	waker = &g_array_index(m->cpus, struct cpu, thread_info(m, thread)->cpu_wait.waker);
	waker->waking_tid = 0;
	return waker;
}

void preemption_wakes(struct model *m, const struct apply *a, uint32_t thread)
{
	if (!a->cpu)
		return;
	a->cpu->waking_tid = (int64_t)THREAD_ROW(m, thread)->tid;
	thread_info(m, thread)->cpu_wait.waker = (int32_t)(a->cpu - &g_array_index(m->cpus, struct cpu, 0));
}

void preemption_woken(struct model *m, const struct apply *a, const struct ev_wakeup *p)
{
	const struct cpu *waker;
	uint32_t thread;

	if (a->cpu && a->cpu->waking_tid == p->tid && m->declared[EVENT_SCHED_MIGRATE]) {
		a->cpu->waking_tid = 0; /* nothing else is new, and this is frequent */
		return;
	}
	thread = p->tid > 0 ? thread_find(m, p->tid) : NO_ROW;
	if (thread == NO_ROW || THREAD_ROW(m, thread)->state != THREAD_READY)
		return;
	waker = end_waking(m, thread);
	if (!event_has(a->ev, WAKEUP_TARGET_CPU) || thread_info(m, thread)->cpu_wait.cpu == p->target_cpu)
		return;
	/* its move was not seen */
	if (!waker)
		preemption_charge(m, thread);
	preemption_place(m, thread, p->target_cpu);
}

void preemption_move(struct model *m, const struct apply *a, uint32_t thread, int64_t cpu)
{
	const struct cpu *waker = end_waking(m, thread);

	if (!waker || waker != a->cpu)
		preemption_charge(m, thread);
	preemption_place(m, thread, cpu);
}

/* ---- ends of intervals ---- */

void model_cut(struct model *m, uint64_t t_ns)
{
	const uint64_t until_ns = t_ns ? t_ns : m->now_ns;

	m->cut_ns = MAX(m->cut_ns, until_ns);
	if (!m->preemption)
		return;
	for (uint32_t i = 0; i < m->preemption->n_ready; i++)
		charge_until(m, g_array_index(m->preemption->ready, uint32_t, i), until_ns);
}
