/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of the monitor between two drawings. */
#include "views.h"

#include <glib.h>

#include "ui/list.h"

enum { COUNTERS = 30, WIDTH = 200, HEIGHT = 10 };

static const struct list_look look = { .empty = "" };

/* Builds the rows of the interval from begin() to now, of this many hosts. */
static void build_list(struct list *l, unsigned n_hosts)
{
	struct view_query q = { .table = NULL };

	end();
	list_build(l, &q, shown, n_hosts, NULL);
}

/* Whether it is one of the columns that the rows have now, not of those that they had. */
static bool is_current(const struct list *l, const struct column *column)
{
	for (unsigned i = 0; i < l->rows.n_columns; i++)
		if (column == &l->rows.columns[i])
			return true;
	return false;
}

/* Keys and clicks refer to the columns drawn last, also if the rows were built again since. */
START_TEST(test_columns_after_build)
{
	struct thread_row *thread = add_thread(0, 10, 10, 1, "sh");
	struct canvas *c = canvas_create(WIDTH, HEIGHT, false);
	struct list l;

	list_init(&l, view_table_find("counters"));
	begin();
	add_perf(thread, "perf_cpu_cycles", 1);
	build_list(&l, 2);
	list_draw(&l, c, 0, HEIGHT, &look);
	ck_assert_str_eq(l.columns[l.n_columns - 2].column->name, "perf_cpu_cycles");
	ck_assert_ptr_nonnull(list_column_at(&l, 1));

	for (unsigned i = 0; i < COUNTERS; i++) {
		char *name = g_strdup_printf("perf_cpu_%u", i);

		add_perf(thread, name, 1);
		g_free(name);
	}
	build_list(&l, 2);
	ck_assert_uint_eq(l.rows.n_columns, l.table->n_columns + COUNTERS + 1);
	ck_assert_int_gt(l.n_columns, 0);
	for (int i = 0; i < l.n_columns; i++)
		ck_assert_msg(is_current(&l, l.columns[i].column), "column %d", i);

	/* counters of hosts that are hidden are no longer columns */
	list_draw(&l, c, 0, HEIGHT, &look);
	build_list(&l, 0);
	for (int i = 0; i < l.n_columns; i++)
		ck_assert_msg(is_current(&l, l.columns[i].column), "column %d", i);
	ck_assert_int_le(l.n_columns, (int)l.table->n_columns);
	canvas_destroy(c);
	list_release(&l);
}
END_TEST

/* As with the report's --columns: rows that are idle but for a column that was added are listed. */
START_TEST(test_added_column)
{
	struct thread_row *thread = add_thread(0, 10, 10, 1, "hog");
	struct list l;

	list_init(&l, view_table_find("sched"));
	begin();
	thread->slice.count = 1;
	build_list(&l, 2);
	ck_assert_uint_eq(l.rows.n, 0);
	list_toggle_column(&l, "slice_count");
	build_list(&l, 2);
	ck_assert_uint_eq(l.rows.n, 1);
	list_toggle_column(&l, "slice_count");
	build_list(&l, 2);
	ck_assert_uint_eq(l.rows.n, 0);
	list_release(&l);
}
END_TEST

/* The selected sum, of the list's present interval; NULL: it is not there. */
static const char *selected_sum(struct list *l, unsigned *n_rows)
{
	struct view_query q = { .sum_by = l->sum_by };
	const struct view_row *row;
	struct value comm;

	end();
	list_build(l, &q, shown, 2, NULL);
	row = list_selected(l);
	if (!row)
		return NULL;
	*n_rows = row->summed;
	view_rows_value(&l->rows, l->index, view_rows_column(&l->rows, "comm"), &comm);
	return comm.text;
}

/* A sum remains selected while one of its threads runs, whichever that is. */
START_TEST(test_selected_sum)
{
	struct thread_row *first = add_thread(0, 10, 10, 1, "sh");
	struct thread_row *second = add_thread(0, 11, 11, 1, "sh");
	struct thread_row *other = add_thread(0, 12, 12, 1, "cat");
	struct list_place place;
	unsigned n = 0;
	struct list l;

	list_init(&l, view_table_find("cpu"));
	list_sum_by(&l, VIEW_SUM_COMM);
	begin();
	first->switches = 1;
	second->switches = 1;
	other->switches = 3;
	selected_sum(&l, &n);
	ck_assert_uint_eq(l.rows.n, 2);
	list_select(&l, 0);
	if (strcmp(selected_sum(&l, &n), "sh") != 0)
		list_select(&l, 1);
	ck_assert_str_eq(selected_sum(&l, &n), "sh");
	ck_assert_uint_eq(n, 2);

	begin();
	second->switches++;
	other->switches++;
	ck_assert_str_eq(selected_sum(&l, &n), "sh");
	ck_assert_uint_eq(n, 1);

	begin();
	other->switches++;
	ck_assert_ptr_null(selected_sum(&l, &n));

	begin();
	first->switches++;
	other->switches++;
	ck_assert_str_eq(selected_sum(&l, &n), "sh");

	/* and if it was opened meanwhile */
	place = list_place(&l);
	list_sum_by(&l, VIEW_SUM_NONE);
	selected_sum(&l, &n);
	list_select(&l, 0);
	list_sum_by(&l, VIEW_SUM_COMM);
	list_return(&l, &place);
	begin();
	second->switches++;
	other->switches++;
	ck_assert_str_eq(selected_sum(&l, &n), "sh");
	list_release(&l);
}
END_TEST

static unsigned count(const struct list *l, const char *name)
{
	unsigned n = 0;

	for (guint i = 0; i < l->names->len; i++)
		n += strcmp(g_ptr_array_index(l->names, i), name) == 0;
	return n;
}

START_TEST(test_replaced_column)
{
	struct list l;

	list_init(&l, view_table_find("cpu"));
	ck_assert_uint_eq(count(&l, "cpu_percent"), 1);
	list_replace_column(&l, "cpu_percent", "host_percent");
	ck_assert_uint_eq(count(&l, "cpu_percent"), 0);
	ck_assert_uint_eq(count(&l, "host_percent"), 1);
	/* both are shown: neither comes twice, and only the order changes */
	list_toggle_column(&l, "cpu_percent");
	list_set_sort(&l, "host_percent", false);
	list_replace_column(&l, "host_percent", "cpu_percent");
	ck_assert_uint_eq(count(&l, "cpu_percent"), 1);
	ck_assert_uint_eq(count(&l, "host_percent"), 1);
	ck_assert_str_eq(l.sort, "cpu_percent");
	list_release(&l);
}
END_TEST

UNIT_MAIN_AROUND("list", setup, teardown, test_columns_after_build, test_added_column, test_selected_sum,
		 test_replaced_column)
