/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With which errors calls failed: rows of TABLE_SYSERR, for a row of calls or a sum of such rows. */
#include <stddef.h>
#include <string.h>

#include "view/internal.h"

/* ---- by thread and call ---- */

static int compare_errors(const void *pa, const void *pb)
{
	const struct view_error *a = pa, *b = pb;

	if (a->thread_uid != b->thread_uid)
		return a->thread_uid < b->thread_uid ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return a->error < b->error ? -1 : a->error > b->error;
}

void view_index_errors(struct view_index *index, const struct interval *iv)
{
	const struct interval_table *t = &iv->tables[TABLE_SYSERR];

	g_array_set_size(index->errors, 0);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct syserr_row *row = INTERVAL_ROW(syserr, &t->rows[i]);
		struct view_error e = {
			.thread_uid = row->thread_uid,
			.call = (strid)row->name,
			.error = (uint32_t)row->error,
			.count = INTERVAL_VALUE(iv, SYSERR, syserr, &t->rows[i], count),
		};

		if (e.count)
			g_array_append_val(index->errors, e);
	}
	g_array_sort(index->errors, compare_errors);
}

void view_errors_add(struct view_rows *r, struct view_row *into, const struct view_row *from)
{
	const struct interval_row *row;

	if (r->table->source != TABLE_SYSCALL)
		return;
	row = interval_find(r->hosts[from->key.host].iv, TABLE_SYSCALL, from->row.b[0]);
	if (row)
		into->calls = view_link_put(r->internal, from->key.host, row, into->calls);
	into->calls = view_link_add(r->internal, into->calls, from->calls);
}

/* ---- names ---- */

/* The kernel's own codes (include/linux/errno.h), which a trace may show as a call's result. */
static const char *kernel_error_name(uint32_t error)
{
	switch (error) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 515:
		return "ENOIOCTLCMD";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	case 517:
		return "EPROBE_DEFER";
	case 518:
		return "EOPENSTALE";
	case 519:
		return "ENOPARAM";
	case 524:
		return "ENOTSUPP";
	case 529:
		return "EIOCBQUEUED";
	default:
		return NULL;
	}
}

static const char *error_name(struct view_rows_internal *in, uint32_t error)
{
	const char *name = error <= INT32_MAX ? strerrorname_np((int)error) : NULL;
	char *text;

	if (!name)
		name = kernel_error_name(error);
	if (name)
		return name;
	text = g_strdup_printf("E%u", error);
	g_ptr_array_add(in->texts, text);
	return text;
}

/* ---- the column ---- */

static void count(GArray *all, uint32_t error, uint64_t n)
{
	for (guint i = 0; i < all->len; i++) {
		struct view_error *e = &g_array_index(all, struct view_error, i);

		if (e->error == error) {
			e->count += n;
			return;
		}
	}
	g_array_append_vals(all, &(struct view_error){ .error = error, .count = n }, 1);
}

/* Those of one call of a thread. */
static void collect(GArray *all, const struct view_index *index, const struct syscall_row *row)
{
	const struct view_error *errors = (const struct view_error *)(const void *)index->errors->data;
	guint low = 0, high = index->errors->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;

		if (errors[mid].thread_uid < row->thread_uid ||
		    (errors[mid].thread_uid == row->thread_uid && errors[mid].call < row->name))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < index->errors->len && errors[low].thread_uid == row->thread_uid && errors[low].call == row->name;
	     low++)
		count(all, errors[low].error, errors[low].count);
}

void view_get_errors(const struct view_cell *at, struct value *v)
{
	struct view_rows_internal *in = at->rows->internal;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct view_error));

	collect(all, &in->indexes[at->row->key.host], INTERVAL_ROW(syscall, &at->row->row));
	for (uint32_t i = at->row->calls; i != VIEW_NO_LINK;) {
		const struct view_link *link = view_link_at(in, i);

		collect(all, &in->indexes[link->host], INTERVAL_ROW(syscall, link->row));
		i = link->next;
	}
	g_array_sort(all, compare_errors);
	for (guint i = 0; i < all->len; i++) {
		const struct view_error *e = &g_array_index(all, struct view_error, i);

		g_array_append_vals(
			in->items,
			&(struct value_item){ error_name(in, e->error), (int64_t)MIN(e->count, (uint64_t)INT64_MAX) },
			1);
	}
	g_array_free(all, TRUE);
	v->kind = VALUE_OBJECT;
	v->list.n = in->items->len;
	v->list.items = (const struct value_item *)(const void *)in->items->data;
}
