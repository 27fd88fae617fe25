/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/derived.h"

#include "view/internal.h"

void view_derived_init(struct view_derived *derived)
{
	derived->rows = g_ptr_array_new_with_free_func(g_free);
}

void view_derived_clear(struct view_derived *derived)
{
	g_ptr_array_set_size(derived->rows, 0);
}

void view_derived_release(struct view_derived *derived)
{
	g_ptr_array_free(derived->rows, TRUE);
}

void *view_derived_add(struct view_derived *derived, size_t size, unsigned host)
{
	uint64_t *cells = g_malloc0(size);

	g_ptr_array_add(derived->rows, cells);
	cells[0] = derived->rows->len;
	cells[1] = host;
	return cells;
}
