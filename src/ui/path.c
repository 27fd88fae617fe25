/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/path.h"

#include "base/strpool.h"

/* ---- lanes ---- */

/* Whether two threads share a process; the kernel's rows of all CPUs count as one, and so do the idle tasks. */
static bool same_process(const struct wait_who *a, const struct wait_who *b)
{
	if (a->host != b->host)
		return false;
	if (a->tid <= 0 || b->tid <= 0)
		return a->tid == b->tid;
	if (a->pid < 0 || b->pid < 0)
		return a->tid == b->tid;
	return a->pid == b->pid;
}

static unsigned find_lane(const struct path *p, const struct wait_who *who, bool wire)
{
	for (unsigned i = 0; i < p->lanes->len; i++) {
		const struct path_lane *lane = path_lane(p, i);

		if (lane->wire == wire && (wire || same_process(&lane->who, who)))
			return i;
	}
	return UINT_MAX;
}

static void add_lane(struct path *p, const struct wait_who *who, bool wire)
{
	struct path_lane lane = { .who = *who, .wire = wire };
	unsigned at = 0;

	if (find_lane(p, who, wire) != UINT_MAX)
		return;
	/* after the last lane of its host, a new host after all others; the wire last */
	for (unsigned i = 0; i < p->lanes->len; i++)
		if (!path_lane(p, i)->wire && (wire || path_lane(p, i)->who.host == who->host))
			at = i + 1;
	if (!at)
		for (at = p->lanes->len; at > 0 && path_lane(p, at - 1)->wire;)
			at--;
	g_array_insert_val(p->lanes, at, lane);
}

/* ---- sums ---- */

static void add_sum(struct path *p, unsigned lane, enum wait_state state, uint64_t ns)
{
	struct path_sum sum = { .lane = lane, .state = state, .ns = ns };

	for (unsigned i = 0; i < p->sums->len; i++) {
		struct path_sum *old = &g_array_index(p->sums, struct path_sum, i);

		if (old->lane == lane && old->state == state) {
			old->ns += ns;
			return;
		}
	}
	g_array_append_val(p->sums, sum);
}

static gint compare_sums(gconstpointer a, gconstpointer b)
{
	const struct path_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->lane != y->lane ? (x->lane > y->lane ? 1 : -1) : (int)x->state - (int)y->state;
}

static void add_up(struct path *p)
{
	for (unsigned i = 0; i < p->steps->len; i++) {
		struct path_step *step = &g_array_index(p->steps, struct path_step, i);
		const struct wait_segment *s = &step->segment;
		uint64_t ns = s->end_ns - s->begin_ns;

		step->lane = find_lane(p, &step->who, s->wire);
		g_array_index(p->lanes, struct path_lane, step->lane).total_ns += ns;
		add_sum(p, step->lane, s->state, ns);
		p->total_ns += ns;
		if (s->wire)
			p->wire_ns += ns;
		else
			p->state_ns[s->state] += ns;
	}
	p->unexplained_ns = p->state_ns[WAIT_BLOCKED] + p->state_ns[WAIT_UNKNOWN];
	g_array_sort(p->sums, compare_sums);
}

struct path *path_create(const struct wait_path *answer, const struct wait_who *subject, path_who_fn *who,
			 const void *data)
{
	static const struct wait_who nobody = { .host = PATH_NO_HOST };
	struct path *p = g_new0(struct path, 1);

	p->refs = 1;
	p->subject = *subject;
	p->begin_ns = answer->begin_ns;
	p->end_ns = answer->end_ns;
	p->open = answer->open;
	p->steps = g_array_sized_new(FALSE, TRUE, sizeof(struct path_step), answer->n);
	p->lanes = g_array_new(FALSE, TRUE, sizeof(struct path_lane));
	p->sums = g_array_new(FALSE, TRUE, sizeof(struct path_sum));
	add_lane(p, subject, false);
	for (uint32_t i = 0; i < answer->n; i++) {
		const struct wait_segment *s = &answer->segments[i];
		struct path_step step = {
			.segment = *s,
			.who = s->row == WAIT_NO_ROW ? *subject : who(data, s->row),
			.from = s->from == WAIT_NO_ROW ? nobody : who(data, s->from),
		};

		if (s->end_ns <= s->begin_ns)
			continue;
		add_lane(p, &step.who, s->wire);
		g_array_append_val(p->steps, step);
	}
	add_up(p);
	return p;
}

/* The lanes' names are those of the subject and of steps. */
void path_keep_names(const struct path *p)
{
	strpool_keep(p->subject.comm);
	for (unsigned i = 0; i < p->steps->len; i++) {
		const struct path_step *step = path_step(p, i);

		strpool_keep(step->who.comm);
		strpool_keep(step->from.comm);
		strpool_keep(step->segment.cause.name);
		strpool_keep(step->segment.cause.object);
	}
}

struct path *path_ref(struct path *p)
{
	p->refs++;
	return p;
}

void path_destroy(struct path *p)
{
	if (!p || --p->refs)
		return;
	g_array_free(p->steps, TRUE);
	g_array_free(p->lanes, TRUE);
	g_array_free(p->sums, TRUE);
	g_free(p);
}

unsigned path_find(const struct path *p, uint64_t t_ns)
{
	unsigned low = 0, high = p->steps->len;

	/* the last one that starts at or before t */
	while (low + 1 < high) {
		unsigned middle = (low + high) / 2;

		if (path_step(p, middle)->segment.begin_ns <= t_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}
