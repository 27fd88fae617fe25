/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "merge/merge.h"

#include <glib.h>

struct input {
	struct source *source;
	const struct event *head; /* NULL: to be asked for */
	bool ended;
};

struct merge {
	GArray *inputs;  /* struct input */
	unsigned least;  /* of merge_peek() */
};

struct merge *merge_create(void)
{
	struct merge *m = g_new0(struct merge, 1);

	m->inputs = g_array_new(FALSE, TRUE, sizeof(struct input));
	return m;
}

void merge_destroy(struct merge *m)
{
	if (!m)
		return;
	g_array_free(m->inputs, TRUE);
	g_free(m);
}

unsigned merge_add(struct merge *m, struct source *source)
{
	struct input in = { .source = source };

	g_array_append_val(m->inputs, in);
	return m->inputs->len - 1;
}

unsigned merge_count(const struct merge *m)
{
	return m->inputs->len;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->cpu < b->cpu;
}

enum lt_status merge_peek(struct merge *m, const struct event **ev, unsigned *number)
{
	const struct event *least = NULL;
	bool again = false;

	for (unsigned i = 0; i < m->inputs->len; i++) {
		struct input *in = &g_array_index(m->inputs, struct input, i);

		if (!in->head && !in->ended) {
			switch (source_peek(in->source, &in->head)) {
			case LT_OK:
				break;
			case LT_END:
				in->ended = true;
				continue;
			case LT_ERROR:
				in->ended = true;
				*number = i;
				return LT_ERROR;
			default:
				/* The others are looked at too, or their descriptors would stay readable. */
				again = true;
				continue;
			}
		}
		if (in->head && (!least || before(in->head, least))) {
			least = in->head;
			m->least = i;
		}
	}
	if (again)
		return LT_AGAIN;
	if (!least)
		return LT_END;
	*ev = least;
	*number = m->least;
	return LT_OK;
}

void merge_pop(struct merge *m)
{
	struct input *in = &g_array_index(m->inputs, struct input, m->least);

	in->head = NULL;
	source_next(in->source);
}
