/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/list.h"

#include <string.h>

#include "base/utf8.h"
#include "model/interval.h"

/*
 * Lays out the columns of a list and draws its rows. If it is too wide, graphs are dropped first, then long texts are
 * cut, then columns are dropped from the right, whose room the cut texts share; the last to go are those that
 * identify a row, COLUMN_MAIN, the host, the sort column and the last text. On a narrow screen, numbers that identify a
 * row go before the host, the sort column and a figure.
 */
enum {
	GRAPH_MIN = 6,
	GRAPH_MAX = 24,
	HOST_MAX = 16,
	TEXT_WIDTH_MAX = 20,
	MAIN_TEXT_WIDTH_MAX = 21, /* futex(0x7f0123456789) */
	NAME_MAX_WIDTH = 15,
	NAME_MIN_WIDTH = 8,
	NARROW = 60,
	NARROW_TEXT_WIDTH_MAX = 12,
	NARROW_MIN_TEXT = 8,
	BRANCH_WIDTH = 2,
	BRANCHES_MAX = 20
};

/* Rows of several hosts differ in it. */
static bool is_host(const struct column *column)
{
	return !strcmp(column->name, "host") || !strcmp(column->name, "from_host") || !strcmp(column->name, "to_host");
}

static int wanted_width(const struct list *l, const struct column *column)
{
	int width = column->width;

	if (is_host(column)) {
		width = (int)utf8_width(column->header);
		for (unsigned i = 0; i < l->rows.n_hosts; i++)
			width = MAX(width, (int)utf8_width(l->rows.hosts[i].name));
		return MIN(width, HOST_MAX);
	}
	/* for a sign */
	if (l->query.baseline && column_is_figure(column))
		width++;
	return width ? MAX(width, (int)utf8_width(column->header)) : 0;
}

static void add_found(struct list *l, const struct column *column)
{
	if (column && l->n_columns < LIST_COLUMNS)
		l->columns[l->n_columns++] = (struct list_column){ column, 0, wanted_width(l, column), 0 };
}

/* Adds ids inside namespaces, which are not unique, before the host's: VTID TID VPID PID, for processes VPID PID. */
static bool add_virtual(struct list *l, const char *name)
{
	const struct column *column = !strcmp(name, "tid")   ? view_rows_column(&l->rows, "vtid")
				      : !strcmp(name, "pid") ? view_rows_column(&l->rows, "vpid")
							     : NULL;

	if (!column)
		return false;
	add_found(l, column);
	add_found(l, view_rows_column(&l->rows, name));
	return true;
}

static void add_column(struct list *l, const struct list_look *look, const char *name)
{
	const struct column *column = view_column_find(l->table->columns, l->table->n_columns, name);

	if (column && is_host(column) && !look->hosts)
		return;
	if (column && column->flags & COLUMN_IF_KNOWN && !strcmp(name, "container") && !l->rows.containers)
		return;
	if (l->query.processes && !strcmp(name, "tid") && view_rows_column(&l->rows, "pid"))
		return;
	if (!look->virtual_ids || !add_virtual(l, name))
		add_found(l, view_rows_column(&l->rows, name));
}

/* The first column of figures that is not the sort column; -1: there is none. */
static int first_figure(const struct list *l)
{
	for (int i = 0; i < l->n_columns; i++) {
		const struct column *c = l->columns[i].column;

		if (column_is_figure(c) && !(c->flags & COLUMN_SPARE) && strcmp(c->name, l->sort) != 0)
			return i;
	}
	return -1;
}

/* The priority of a column when there is too little room: higher stays longer. */
static int worth(const struct list *l, int i, int width)
{
	const struct column *c = l->columns[i].column;
	const bool sorts = !strcmp(c->name, l->sort);

	if (!c->width)
		return 6000 - i;
	if (width < NARROW) {
		/* the first host is worth most, and names say more than numbers */
		if (is_host(c) && strcmp(c->name, "to_host") != 0)
			return 5000;
		if (c->flags & COLUMN_KEY && !column_right(c))
			return 4000 - i;
		if (sorts || i == first_figure(l))
			return sorts ? 3000 : 2900;
	}
	if (c->flags & COLUMN_SPARE && !sorts)
		return -i;
	if (sorts || is_host(c))
		return 3000 - i;
	if (c->flags & COLUMN_MAIN)
		return 2900 - i;
	return c->flags & COLUMN_KEY ? 2800 - i : 1000 - i;
}

/* In a tree, the branches of its deepest row need room in front of the name. */
static int min_text(const struct list *l, int width)
{
	int text = width < NARROW ? NARROW_MIN_TEXT : LIST_MIN_TEXT, deepest = 0;

	for (unsigned i = 0; i < l->rows.n && l->query.tree; i++)
		deepest = MAX(deepest, l->rows.rows[i].depth);
	return MAX(text, MIN(BRANCH_WIDTH * deepest, BRANCHES_MAX) + NAME_MIN_WIDTH);
}

/* The least width of the columns; *texts: how many can be wider. */
static int total_width(const struct list *l, int *texts)
{
	int total = -1;

	*texts = 0;
	for (int i = 0; i < l->n_columns; i++) {
		*texts += !l->columns[i].width;
		total += 1 + (l->columns[i].width ? l->columns[i].width : l->min_text);
	}
	return total;
}

/* A cut text is better than none. */
static void narrow_texts(struct list *l, int width)
{
	int texts;

	for (int i = 0; i < l->n_columns && total_width(l, &texts) > width; i++) {
		struct list_column *c = &l->columns[i];
		const int max = c->column->flags & COLUMN_MAIN ? MAIN_TEXT_WIDTH_MAX : TEXT_WIDTH_MAX;

		if (c->column->unit == COLUMN_TEXT)
			c->width = MIN(c->width, width < NARROW ? NARROW_TEXT_WIDTH_MAX : max);
	}
}

/* Cuts names in columns that are to stay, if that is too much; returns whether it did. */
static bool cut_names(struct list *l, int too_much)
{
	bool any = false;

	for (int i = 0; i < l->n_columns && too_much > 0; i++) {
		struct list_column *c = &l->columns[i];
		const int less = MIN(too_much, c->width - NAME_MIN_WIDTH);

		if (c->column->flags & COLUMN_MAIN && wanted_width(l, c->column) <= NAME_MAX_WIDTH && less > 0) {
			c->width -= less;
			too_much -= less;
			any = true;
		}
	}
	return any;
}

static void drop_columns(struct list *l, int width)
{
	int texts;

	while (l->n_columns > 1 && total_width(l, &texts) > width) {
		int least = 0;

		for (int i = 1; i < l->n_columns; i++)
			if (worth(l, i, width) < worth(l, least, width))
				least = i;
		/* figures go before that, other columns after */
		if (!column_is_figure(l->columns[least].column) && cut_names(l, total_width(l, &texts) - width))
			continue;
		memmove(&l->columns[least], &l->columns[least + 1],
			sizeof(l->columns[0]) * (size_t)(l->n_columns - least - 1));
		l->n_columns--;
	}
}

/* Room that dropped columns leave goes to texts that were cut, except what a thread's name at the end needs. */
static void widen_texts(struct list *l, int width)
{
	int texts, room = width - total_width(l, &texts);

	room -= texts * (NAME_MAX_WIDTH - LIST_MIN_TEXT);
	for (int i = 0; i < l->n_columns && room > 0 && width >= NARROW; i++) {
		struct list_column *c = &l->columns[i];
		const int more = MIN(room, wanted_width(l, c->column) - c->width);

		if (c->column->unit == COLUMN_TEXT && c->width && more > 0) {
			c->width += more;
			room -= more;
		}
	}
}

static bool is_chosen(const struct list *l, const char *name)
{
	for (int i = 0; i < l->n_columns; i++)
		if (!strcmp(l->columns[i].column->name, name))
			return true;
	return false;
}

/* What the rows of a sum have in common, and their number. */
static void add_common(struct list *l, const struct list_look *look)
{
	bool all = false;

	for (unsigned i = 0; i < l->rows.n_columns && !all; i++) {
		add_column(l, look, l->rows.columns[i].name);
		all = !strcmp(l->rows.columns[i].name, "rows");
	}
}

/* Whatever was added after a text that takes the remaining space goes before it. at: the text's place. */
static void move_text_last(struct list *l, int at)
{
	const struct list_column text = l->columns[at];

	memmove(&l->columns[at], &l->columns[at + 1], sizeof(text) * (size_t)(l->n_columns - at - 1));
	l->columns[l->n_columns - 1] = text;
}

static void choose_columns(struct list *l, const struct list_look *look)
{
	int last;

	l->n_columns = 0;
	if (l->query.sum_by)
		add_common(l, look);
	for (unsigned i = 0; i < l->names->len; i++)
		if (!l->query.sum_by || !is_chosen(l, g_ptr_array_index(l->names, i)))
			add_column(l, look, g_ptr_array_index(l->names, i));
	last = l->n_columns - 1;
	/* automatic columns, one per counter */
	for (unsigned i = l->table->n_columns; i < l->rows.n_columns && !l->query.sum_by; i++)
		add_column(l, look, l->rows.columns[i].name);
	/* the order that the user chose would be a riddle without its column */
	if ((l->sorted || l->reverse) && !is_chosen(l, l->sort))
		add_column(l, look, l->sort);
	if (last >= 0 && !l->columns[last].width)
		move_text_last(l, last);
}

unsigned list_all_columns(struct list *l, const struct list_look *look, const struct column **columns)
{
	/* clicks refer to what is on the screen */
	struct list shown = *l;
	unsigned n;

	choose_columns(l, look);
	n = (unsigned)l->n_columns;
	for (unsigned i = 0; i < n; i++)
		columns[i] = l->columns[i].column;
	memcpy(l->columns, shown.columns, sizeof(l->columns));
	l->n_columns = shown.n_columns;
	return n;
}

static void lay_out(struct list *l, const struct list_look *look, int width)
{
	int texts, spare, x = 0;

	choose_columns(l, look);
	l->min_text = min_text(l, width);
	narrow_texts(l, width);
	drop_columns(l, width);
	widen_texts(l, width);
	spare = width - total_width(l, &texts);
	for (int i = 0; i < l->n_columns; i++) {
		struct list_column *c = &l->columns[i];

		if (!c->width) {
			c->width = l->min_text + spare / texts;
			spare -= spare / texts--;
		} else if (c->column->unit == COLUMN_PERCENT && !l->query.baseline && texts && spare > GRAPH_MIN + 28) {
			c->graph = MIN(spare - 28, GRAPH_MAX);
			spare -= c->graph;
		}
		c->width = MIN(c->width, MAX(width - x, 0));
		c->x = x;
		x += c->width + c->graph + 1;
	}
	/* a text at the end has what is left */
	if (l->n_columns && !column_right(l->columns[l->n_columns - 1].column))
		l->columns[l->n_columns - 1].width = MAX(width - l->columns[l->n_columns - 1].x, 0);
}

/* Draws the title at the right edge, if the header of the last column leaves room. */
static void draw_title(const struct list *l, struct canvas *c, int y, const char *title)
{
	const struct list_column *last = l->n_columns ? &l->columns[l->n_columns - 1] : NULL;

	if (!title || !last || column_right(last->column))
		return;
	if (last->x + canvas_text_width(last->column->header) + 3 + canvas_text_width(title) <= c->w)
		canvas_text_right(c, 0, y, c->w - 1, STYLE_HEAD, title);
}

static void draw_head(const struct list *l, struct canvas *c, int y, const struct list_look *look)
{
	canvas_fill(c, 0, y, c->w, STYLE_HEAD, ' ');
	for (int i = 0; i < l->n_columns; i++) {
		const struct list_column *col = &l->columns[i];
		bool sorted = !strcmp(col->column->name, l->sort);
		enum style style = sorted && look->focus ? STYLE_HEAD_SORT : STYLE_HEAD;
		int width = col->width, room = width - (int)utf8_width(col->column->header);

		if (column_right(col->column))
			canvas_text_right(c, col->x, y, width, style, col->column->header);
		else
			canvas_text_left(c, col->x, y, width, style, col->column->header);
		if (!sorted)
			continue;
		if (column_right(col->column) && (room > 0 || col->x > 0))
			canvas_char(c, col->x + MAX(room, 0) - 1, y, style, l->reverse ? 0x25b2 : 0x25bc);
		else if (room > 0)
			canvas_char(c, col->x + width - room, y, style, l->reverse ? 0x25b2 : 0x25bc);
	}
	draw_title(l, c, y, look->title);
}

/*
 * Draws the tree in front of a name: a line for each ancestor that has more siblings. open: one bit per depth, whether
 * a line continues there. Levels that would leave no room for the name are not drawn.
 */
static int draw_branch(struct canvas *c, const struct view_row *row, uint64_t open, int x, int y, int width)
{
	const int room = width - NAME_MIN_WIDTH;
	int used = 0;

	for (int d = 1; d < row->depth && used + 2 * BRANCH_WIDTH <= room; d++, used += BRANCH_WIDTH)
		if (d < 64 && open >> d & 1)
			canvas_char(c, x + used, y, STYLE_DIM, 0x2502);
	if (row->depth && used + BRANCH_WIDTH <= room) {
		canvas_char(c, x + used, y, STYLE_DIM, row->last ? 0x2514 : 0x251c);
		canvas_char(c, x + used + 1, y, STYLE_DIM, 0x2500);
		used += BRANCH_WIDTH;
	}
	if (row->hidden && used + 6 < width)
		used += canvas_printf(c, x + used, y, STYLE_DIM, "+%u ", row->hidden);
	return used;
}

/* The colour that shows a row's state. */
static enum style row_style(const struct list *l, const struct view_row *row)
{
	const struct interval *iv = l->rows.hosts[row->key.host].iv;
	const struct interval_row *thread = list_row_thread(l, row);
	const struct thread_row *t;

	if (row->of_baseline || (l->table->source == TABLE_FILE && INTERVAL_ROW(file, &row->row)->closed_ns))
		return STYLE_GONE;
	if (!thread || l->query.sum_by > VIEW_SUM_PROCESS)
		return STYLE_NORMAL;
	t = INTERVAL_ROW(thread, thread);
	if (t->exited_ns && t->exited_ns < iv->end_ns)
		return STYLE_GONE;
	if (view_row_is_tracing(&l->rows, row))
		return STYLE_TRACING;
	if (t->born_ns >= iv->begin_ns)
		return STYLE_NEW;
	return STYLE_NORMAL;
}

static void draw_cell(const struct list *l, struct canvas *c, unsigned i, const struct list_column *col, int y,
		      const struct list_look *look, uint64_t open)
{
	const struct view_row *row = &l->rows.rows[i];
	enum style style = STYLE_NORMAL;
	int x = col->x, width = col->width;
	struct format format = look->format;
	char text[512];
	struct value value;

	format.sign = l->query.baseline && column_is_figure(col->column);
	view_rows_value(&l->rows, i, col->column, &value);
	format_value(text, sizeof(text), &value, col->column->unit, (unsigned)width, &format);
	if (!value_nonzero(&value) && column_right(col->column) && col->column->unit != COLUMN_ID)
		style = STYLE_DIM;
	else if (!column_right(col->column) && col->column->width == 0)
		style = row_style(l, row);
	if (l->query.tree && col->column->flags & COLUMN_INDENT) {
		int used = draw_branch(c, row, open, x, y, width);

		x += used;
		width -= used;
	}
	if (column_right(col->column))
		canvas_text_right(c, x, y, width, style, text);
	else
		canvas_text_left(c, x, y, width, style, text);
	if (col->graph && value.kind == VALUE_REAL) {
		unsigned permille = (unsigned)CLAMP(value.real * 10, 0, 1000);

		canvas_bar(c, x + width + 1, y, col->graph - 1,
			   permille > 900   ? STYLE_METER_HIGH
			   : permille > 600 ? STYLE_METER_MID
					    : STYLE_METER_LOW,
			   permille);
	}
}

/* Highlights what is searched for in a row, whatever the case of ASCII letters: like text_contains(). */
static void mark_matches(struct canvas *c, int y, const char *search)
{
	char *text = canvas_row_text(c, y);
	const int width = canvas_text_width(search);
	int x = 0;

	for (const char *at = text; *at; x += (int)utf8_char_width(utf8_next(&at)))
		if (g_ascii_strncasecmp(at, search, strlen(search)) == 0)
			canvas_restyle(c, x, y, width, STYLE_MATCH);
	g_free(text);
}

static void draw_row(const struct list *l, struct canvas *c, unsigned i, int y, const struct list_look *look,
		     uint64_t open)
{
	const struct view_row *row = &l->rows.rows[i];
	bool selected = look->focus && l->present && i == l->index;

	for (int k = 0; k < l->n_columns; k++)
		draw_cell(l, c, i, &l->columns[k], y, look, open);
	if (look->marked && g_hash_table_contains(look->marked, &row->key))
		canvas_restyle(c, 0, y, c->w, STYLE_MARKED);
	if (selected)
		canvas_restyle(c, 0, y, c->w, STYLE_SELECTED);
	if (look->search && *look->search)
		mark_matches(c, y, look->search);
}

/* Sets the bit of the row's depth to whether a sibling follows. */
static uint64_t open_after(uint64_t open, const struct view_row *row)
{
	if (row->depth >= 64)
		return open;
	open &= (UINT64_C(1) << row->depth) - 1;
	return row->last ? open : open | UINT64_C(1) << row->depth;
}

void list_draw(struct list *l, struct canvas *c, int y, int h, const struct list_look *look)
{
	uint64_t open = 0;

	lay_out(l, look, c->w);
	draw_head(l, c, y, look);
	l->y = y + 1;
	l->h = h - 1;
	if (l->h <= 0)
		return;
	if (l->top + (unsigned)l->h > l->rows.n)
		l->top = l->rows.n > (unsigned)l->h ? l->rows.n - (unsigned)l->h : 0;
	if (!l->rows.n && look->empty)
		canvas_text_wrapped(c, 1, l->y, l->h, STYLE_DIM, look->empty);
	if (l->query.tree)
		for (unsigned i = 0; i < l->top; i++)
			open = open_after(open, &l->rows.rows[i]);
	for (unsigned i = l->top; i < MIN(l->rows.n, l->top + (unsigned)l->h); i++) {
		draw_row(l, c, i, l->y + (int)(i - l->top), look, open);
		open = open_after(open, &l->rows.rows[i]);
	}
}
