/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of every column of every table of the model, read from rows with all cells set. */
#include "unit.h"

#include "base/strpool.h"
#include "clock/map_build.h"
#include "view/format.h"
#include "view/internal.h"
#include "view/rows.h"

enum { MS = 1000000, BEGIN = 1000 * MS, END = 2000 * MS, AHEAD = 2000 * MS };

static struct host_state state;
static struct interval iv;
static struct clock_map *map;

/* A cell value of 1, which is a valid string, uid and ID at once; times lie within the interval. */
static uint64_t known_cell(enum cell_type type, unsigned i)
{
	return type == TYPE_TIME ? BEGIN + 100 * MS + i : 1;
}

static void add_rows(uint64_t cell_of(enum cell_type type, unsigned i))
{
	ck_assert_int_eq(strpool_intern_z("a name"), 1);
	for (enum table_id t = 0; t < TABLES; t++) {
		const struct table_desc *desc = &table_descs[t];
		uint64_t *cells = state_cells(&state.tables[t], state_add(&state, t));

		for (unsigned i = 1; i < desc->n_cells; i++)
			cells[i] = cell_of(desc->cells[i].type, i);
	}
}

static void setup(void)
{
	state_init(&state);
	interval_init(&iv);
	interval_begin(&iv, &state, BEGIN, STATE_ALL_TABLES);
	add_rows(known_cell);
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

/* Only times are converted by the clock's map: once, an inode in a column of numbers was, too. */
START_TEST(test_only_times_are_mapped)
{
	struct view_host own = { .name = "db", .source = "/rec", .tracer = "lttng", .iv = &iv }, moved = own;
	unsigned times = 0, others = 0;

	moved.map = map;
	for (unsigned t = 0; t < view_table_count(); t++) {
		struct view_query q = { .table = view_table_get(t), .all = true };
		struct view_rows before, after;

		if (q.table->supply.needs || !(q.table->tables >> q.table->source & 1))
			continue;
		view_rows_init(&before);
		view_rows_init(&after);
		view_rows_build(&before, &q, &own, 1);
		view_rows_build(&after, &q, &moved, 1);
		ck_assert_uint_eq(before.n, after.n);
		/* only threads with a path are in the table paths */
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

/* ---- the type of a cell decides how it is shown ---- */

/* By type: the unit and the kind of value shown, whether it may be unknown, and which value means that. */
static const struct {
	enum column_unit unit;
	enum value_kind kind;
	bool may_be_unknown;
	uint64_t unknown;
} shown[TYPES] = {
	[TYPE_ID] = { COLUMN_ID, VALUE_UINT, false, 0 },
	[TYPE_SIGNED] = { COLUMN_ID, VALUE_INT, true, (uint64_t)-1 },
	[TYPE_INODE] = { COLUMN_ID, VALUE_UINT, true, 0 },
	[TYPE_DEVICE] = { COLUMN_DEVICE, VALUE_UINT, false, 0 },
	[TYPE_TEXT] = { COLUMN_TEXT, VALUE_TEXT, true, STRID_NONE },
	[TYPE_FLAG] = { COLUMN_FLAG, VALUE_BOOL, false, 0 },
	[TYPE_COUNT] = { COLUMN_COUNT, VALUE_UINT, false, 0 },
	[TYPE_BYTES] = { COLUMN_BYTES, VALUE_UINT, false, 0 },
	[TYPE_NS] = { COLUMN_NS, VALUE_UINT, false, 0 },
	[TYPE_LAPSE] = { COLUMN_NS, VALUE_UINT, true, 0 },
	[TYPE_TIME] = { COLUMN_TIME, VALUE_UINT, true, 0 },
};

/* Cells that join rows are unchanged. */
static uint64_t unknown_cell(enum cell_type type, unsigned i)
{
	return type == TYPE_NONE ? known_cell(type, i) : shown[type].unknown;
}

/* Returns the number of columns that show cells. */
static unsigned check_types(const struct view_rows *r, bool known)
{
	unsigned n = 0;

	for (unsigned c = 0; r->n && c < r->n_columns; c++) {
		const struct column *column = &r->columns[c];
		enum cell_type type;
		struct value v;

		if (column->form != FORM_VALUE)
			continue;
		type = column->cells[column->cell].type;
		view_rows_value(r, 0, column, &v);
		ck_assert_msg(type != TYPE_NONE && column->unit == shown[type].unit, "%s.%s", r->table->name,
			      column->name);
		n++;
		/* its own getter may know more: a host has no CPUs only if its kernel was not traced */
		if (!known && v.kind == VALUE_NULL && column->get != view_get_value)
			continue;
		ck_assert_msg(v.kind == (known || !shown[type].may_be_unknown ? shown[type].kind : VALUE_NULL),
			      "%s.%s is of kind %d", r->table->name, column->name, (int)v.kind);
	}
	return n;
}

static unsigned check_tables(bool known)
{
	const struct view_host host = { .name = "db", .source = "/rec", .tracer = "lttng", .iv = &iv };
	unsigned n = 0;

	for (unsigned t = 0; t < view_table_count(); t++) {
		struct view_query q = { .table = view_table_get(t), .all = true };
		struct view_rows rows;

		if (q.table->source == TABLES)
			continue;
		view_rows_init(&rows);
		view_rows_build(&rows, &q, &host, 1);
		n += check_types(&rows, known);
		view_rows_release(&rows);
	}
	return n;
}

START_TEST(test_known_has_its_type)
{
	ck_assert_uint_ge(check_tables(true), 70);
}
END_TEST

START_TEST(test_unknown_is_null)
{
	interval_release(&iv);
	state_release(&state);
	state_init(&state);
	interval_init(&iv);
	interval_begin(&iv, &state, BEGIN, STATE_ALL_TABLES);
	add_rows(unknown_cell);
	interval_end(&iv, &state, END);
	ck_assert_uint_ge(check_tables(false), 60);
}
END_TEST

/* ---- arbitrary cells ---- */

enum { ANY_ROWS = 40, ANY_ROUNDS = 20 };

/* Numbers that coincide, names and uids of other rows, and arbitrary values. */
static uint64_t any(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random % 4 ? *random >> 8 & 7 : *random >> (*random >> 58);
}

static void set_any(struct host_state *s, uint64_t *random)
{
	for (enum table_id t = 0; t < TABLES; t++)
		for (uint32_t row = STATE_NO_ROW; (row = state_next(&s->tables[t], row)) != STATE_NO_ROW;)
			for (unsigned i = 1; i < table_descs[t].n_cells; i++)
				state_cells(&s->tables[t], row)[i] = any(random);
}

static void read_all(const struct view_rows *r)
{
	const struct format format = { .utc = true };
	char text[FORMAT_SIZE];

	for (unsigned i = 0; i < r->n; i++)
		for (unsigned c = 0; c < r->n_columns; c++) {
			struct value v;

			view_rows_value(r, i, &r->columns[c], &v);
			ck_assert_ptr_nonnull(format_value(text, sizeof(text), &v, r->columns[c].unit, 12, &format));
		}
}

/* Reads every table in all its ways; returns the number of rows. */
static unsigned read_tables(const struct view_host *host)
{
	unsigned n = 0;

	for (unsigned k = 0; k < 8 * view_table_count(); k++) {
		struct view_query q = { .table = view_table_get(k / 8), .all = k & 1, .processes = k & 2 };
		struct view_rows rows;

		if (q.table->supply.needs)
			continue;
		q.tree = k & 4 && view_table_has_tree(q.table);
		q.per_cpu = k & 4 && q.table->flags & VIEW_PER_CPU;
		view_rows_init(&rows);
		view_rows_build(&rows, &q, host, 1);
		read_all(&rows);
		n += rows.n;
		view_rows_release(&rows);
	}
	return n;
}

/*
 * A history from a damaged file may contain anything: invalid states, strings that do not exist, threads that are
 * their own parents. No table uses such a value as an index, or loops for ever.
 */
START_TEST(test_any_cells)
{
	for (unsigned round = 1; round <= ANY_ROUNDS; round++) {
		uint64_t random = round * 7919;
		struct host_state s;
		struct interval interval;
		struct view_host host = { .name = "db", .source = "/rec", .tracer = "lttng", .iv = &interval };

		state_init(&s);
		interval_init(&interval);
		for (enum table_id t = 0; t < TABLES; t++)
			for (unsigned i = 0; i < (t == TABLE_HOST ? 1 : ANY_ROWS); i++)
				state_add(&s, t);
		set_any(&s, &random);
		state_frame_begin(&s);
		interval_begin(&interval, &s, BEGIN, STATE_ALL_TABLES);
		set_any(&s, &random);
		interval_end(&interval, &s, END);
		ck_assert_uint_gt(read_tables(&host), 10 * ANY_ROWS);
		interval_release(&interval);
		state_release(&s);
	}
}
END_TEST

UNIT_MAIN_AROUND("view columns", setup, teardown, test_only_times_are_mapped, test_known_has_its_type,
		 test_unknown_is_null, test_any_cells)
