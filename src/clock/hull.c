/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/hull.h"

#include <glib.h>
#include <string.h>

bool hull_is_flat(int kind, const struct window_point *a, const struct window_point *b, const struct window_point *c)
{
	hull_wide turn = (hull_wide)(b->x - a->x) * (c->d - a->d) - (hull_wide)(b->d - a->d) * (c->x - a->x);

	return kind == HULL_OF_LOWER ? turn >= 0 : turn <= 0;
}

void points_insert(struct points *h, uint32_t at, struct window_point p)
{
	if (h->n == h->capacity) {
		h->capacity = h->capacity ? h->capacity * 2 : 4;
		h->p = g_renew(struct window_point, h->p, h->capacity);
	}
	memmove(&h->p[at + 1], &h->p[at], (h->n - at) * sizeof(*h->p));
	h->p[at] = p;
	h->n++;
}

static void points_remove(struct points *h, uint32_t at)
{
	memmove(&h->p[at], &h->p[at + 1], (h->n - at - 1) * sizeof(*h->p));
	h->n--;
}

void hull_insert(struct points *h, int kind, struct window_point p)
{
	uint32_t at = h->n;

	while (at > 0 && h->p[at - 1].x >= p.x)
		at--;
	if (at < h->n && h->p[at].x == p.x) {
		if (kind == HULL_OF_LOWER ? h->p[at].d >= p.d : h->p[at].d <= p.d)
			return;
		h->p[at] = p;
	} else if (at > 0 && at < h->n && hull_is_flat(kind, &h->p[at - 1], &p, &h->p[at])) {
		return;
	} else {
		points_insert(h, at, p);
	}
	while (at >= 2 && hull_is_flat(kind, &h->p[at - 2], &h->p[at - 1], &h->p[at]))
		points_remove(h, --at);
	while (at + 2 < h->n && hull_is_flat(kind, &h->p[at], &h->p[at + 1], &h->p[at + 2]))
		points_remove(h, at + 1);
}
