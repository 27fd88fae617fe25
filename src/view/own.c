/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/own.h"

#include "view/internal.h"

void view_own_init(struct view_own *own)
{
	own->rows = g_ptr_array_new_with_free_func(g_free);
}

void view_own_clear(struct view_own *own)
{
	g_ptr_array_set_size(own->rows, 0);
}

void view_own_release(struct view_own *own)
{
	g_ptr_array_free(own->rows, TRUE);
}

void *view_own_add(struct view_own *own, size_t size, unsigned host)
{
	uint64_t *cells = g_malloc0(size);

	g_ptr_array_add(own->rows, cells);
	cells[0] = own->rows->len;
	cells[1] = host;
	return cells;
}
