/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for every column of every table of the model, read from rows whose cells are all set. */
#include "unit.h"

#include "base/strpool.h"
#include "clock/map_build.h"
#include "view/rows.h"

enum { MS = 1000000, BEGIN = 1000 * MS, END = 2000 * MS, AHEAD = 2000 * MS };

static struct host_state state;
static struct interval iv;
static struct clock_map *map;

/* A row in each table; its cells are 1, which is a string, a uid and an id at once, its times lie in the interval. */
static void add_rows(void)
{
	ck_assert_int_eq(strpool_intern_z("a name"), 1);
	for (enum table_id t = 0; t < TABLES; t++) {
		const struct table_desc *desc = &table_descs[t];
		uint64_t *cells = state_cells(&state.tables[t], state_add(&state, t));

		for (unsigned i = 1; i < desc->n_cells; i++) {
			uint8_t kind = desc->cells[i].kind;

			cells[i] = kind == CELL_TIME || kind == CELL_MAX_AT ? BEGIN + 100 * MS + i : 1;
		}
	}
}

static void setup(void)
{
	state_init(&state);
	interval_init(&iv);
	interval_begin(&iv, &state, BEGIN, STATE_ALL_TABLES);
	add_rows();
	interval_end(&iv, &state, END);
	map = clock_map_create();
	clock_map_begin_epoch(map);
	clock_map_add(map, BEGIN, BEGIN + (uint64_t)AHEAD, 0);
}

static void teardown(void)
{
	clock_map_destroy(map);
	interval_release(&iv);
	state_release(&state);
	strpool_release();
}

/* Only times are moved by the clock's map: an inode in a column of numbers once was. */
START_TEST(test_only_times_are_mapped)
{
	struct view_host own = { .name = "db", .source = "/rec", .tracer = "lttng", .iv = &iv }, moved = own;
	unsigned times = 0, others = 0;

	moved.map = map;
	for (unsigned t = 0; t < view_table_count(); t++) {
		struct view_query q = { .table = view_table_get(t), .all = true };
		struct view_rows before, after;

		if (q.table->flags & VIEW_OWN || !(q.table->tables >> q.table->source & 1))
			continue;
		view_rows_init(&before);
		view_rows_init(&after);
		view_rows_build(&before, &q, &own, 1);
		view_rows_build(&after, &q, &moved, 1);
		ck_assert_uint_eq(before.n, after.n);
		/* paths are of threads with a path */
		ck_assert_msg(before.n || !strcmp(q.table->name, "paths"), "%s has no row", q.table->name);
		for (unsigned c = 0; before.n && c < q.table->n_columns; c++) {
			const struct column *column = &q.table->columns[c];
			struct value a, b;

			view_rows_value(&before, 0, column, &a);
			view_rows_value(&after, 0, column, &b);
			if (column->unit == COLUMN_TIME) {
				ck_assert_msg(a.kind == VALUE_UINT && b.kind == VALUE_UINT && b.u == a.u + AHEAD,
					      "%s.%s is not moved", q.table->name, column->name);
				times++;
			} else {
				ck_assert_msg(value_compare(&a, &b) == 0, "%s.%s is moved", q.table->name,
					      column->name);
				others++;
			}
		}
		view_rows_release(&before);
		view_rows_release(&after);
	}
	ck_assert_uint_ge(times, 12);
	ck_assert_uint_ge(others, 150);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("view columns");
	SRunner *runner = srunner_create(suite);
	TCase *tc = tcase_create("columns");
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_only_times_are_mapped);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
