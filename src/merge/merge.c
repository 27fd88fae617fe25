/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "merge/merge.h"

#include <glib.h>

struct merge_input {
	struct source *source;
	const struct event *head, *end; /* records taken but not consumed; equal: it must be asked */
	bool ended;
	bool removed;  /* the number is free */
	bool left_out; /* not waited for */
	bool heard;    /* it has delivered something since the last merge_hears() */
};

struct merge {
	GArray *inputs;    /* struct merge_input */
	unsigned least;    /* input of the last merge_peek() */
	uint64_t until_ns; /* records of that input before this precede all others; 0: ask all inputs */
};

struct merge *merge_create(void)
{
	struct merge *m = g_new0(struct merge, 1);

	m->inputs = g_array_new(FALSE, TRUE, sizeof(struct merge_input));
	return m;
}

void merge_destroy(struct merge *m)
{
	if (!m)
		return;
	g_array_free(m->inputs, TRUE);
	g_free(m);
}

static struct merge_input *input(const struct merge *m, unsigned number)
{
	return &g_array_index(m->inputs, struct merge_input, number);
}

unsigned merge_add(struct merge *m, struct source *source)
{
	unsigned number = 0;

	while (number < m->inputs->len && !input(m, number)->removed)
		number++;
	if (number == m->inputs->len)
		g_array_set_size(m->inputs, number + 1);
	merge_replace(m, number, source);
	return number;
}

void merge_remove(struct merge *m, unsigned number)
{
	merge_replace(m, number, NULL);
	input(m, number)->removed = true;
}

void merge_replace(struct merge *m, unsigned number, struct source *source)
{
	*input(m, number) = (struct merge_input){ .source = source, .ended = !source };
	m->until_ns = 0;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->cpu < b->cpu;
}

static bool has_any(const struct merge_input *in)
{
	return in->head != in->end;
}

/* That it sends other fields from now on is said by its worker, even if nothing comes from a relayd. */
static bool delivers(const struct merge_input *in)
{
	const struct event *ev = in->head;

	while (ev != in->end && ev->kind == EVENT_WANTED)
		ev = event_next(ev);
	return ev != in->end;
}

static enum lt_status take(struct merge_input *in)
{
	enum lt_status status = source_take(in->source, &in->head, &in->end);

	if (status != LT_OK)
		in->head = in->end = NULL;
	else if (delivers(in))
		in->heard = true;
	return status;
}

static enum lt_status ask(struct merge_input *in)
{
	enum lt_status status = take(in);

	if (status == LT_OK && delivers(in))
		in->left_out = false;
	if (status == LT_END || status == LT_ERROR)
		in->ended = true;
	return status;
}

/* Consecutive records often come from one source: whether its next one precedes all records of the others. */
static bool goes_on(struct merge *m)
{
	struct merge_input *in = input(m, m->least);

	return (has_any(in) || take(in) == LT_OK) && in->head->ts_ns < m->until_ns;
}

/* Asks all sources for their next records. */
static enum lt_status peek_all(struct merge *m, unsigned *number)
{
	const struct event *least = NULL;
	uint64_t second_ns = UINT64_MAX;
	bool wait = false, more = false;

	m->until_ns = 0;
	for (unsigned i = 0; i < m->inputs->len; i++) {
		struct merge_input *in = input(m, i);
		enum lt_status status = has_any(in) || in->ended ? LT_OK : ask(in);

		if (status == LT_END || status == LT_ERROR) {
			*number = i;
			return status;
		}
		/* Also asks the others, because their descriptors would otherwise stay readable. */
		wait = wait || (status == LT_AGAIN && !in->left_out);
		more = more || status == LT_AGAIN;
		if (!has_any(in))
			continue;
		if (!least || before(in->head, least)) {
			second_ns = least ? least->ts_ns : UINT64_MAX;
			least = in->head;
			m->least = i;
		} else {
			second_ns = MIN(second_ns, in->head->ts_ns);
		}
	}
	if (wait || (more && !least))
		return LT_AGAIN;
	*number = MERGE_NONE;
	if (!least)
		return LT_END;
	m->until_ns = more ? 0 : second_ns;
	return LT_OK;
}

enum lt_status merge_peek(struct merge *m, struct merge_run *run)
{
	enum lt_status status = m->until_ns && goes_on(m) ? LT_OK : peek_all(m, &run->number);
	const struct merge_input *in;

	if (status == LT_OK) {
		in = input(m, m->least);
		*run = (struct merge_run){ in->head, in->end, m->until_ns, m->least };
	}
	return status;
}

void merge_pop(struct merge *m, const struct event *next)
{
	input(m, m->least)->head = next;
}

bool merge_hears(struct merge *m, unsigned number)
{
	struct merge_input *in = input(m, number);
	bool heard = in->heard || has_any(in) || in->ended;

	in->heard = false;
	return heard;
}

void merge_leave_out(struct merge *m, unsigned number)
{
	input(m, number)->left_out = true;
	m->until_ns = 0;
}
