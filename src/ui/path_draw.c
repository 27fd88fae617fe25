/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws a path's time axis: one lane per process, a ruler, the cursor. */
#include <string.h>

#include "base/nstime.h"
#include "base/timetext.h"
#include "ui/path.h"

enum { LABEL_MIN = 12, LABEL_MAX = 28, STATES = WAIT_STATES + 1 };

/* The layout of the axis: the contents of each column in each row. */
struct axis {
	const struct path *path;
	unsigned rows;
	unsigned n_shown; /* lanes with their own row; the others share the last one */
	unsigned *row_of; /* per lane */
	int x, width;     /* position and width of the bars */
	uint64_t *ns;     /* [row][column][state], with the wire after the states */
};

static uint64_t *axis_cell(const struct axis *a, unsigned row, int column)
{
	return &a->ns[((size_t)row * (size_t)a->width + (size_t)column) * STATES];
}

static uint64_t column_time(const struct axis *a, int column)
{
	const struct path *p = a->path;

	return p->begin_ns +
	       (uint64_t)((unsigned __int128)(p->end_ns - p->begin_ns) * (unsigned)column / (unsigned)a->width);
}

static int time_column(const struct axis *a, uint64_t t_ns)
{
	const struct path *p = a->path;

	if (t_ns <= p->begin_ns)
		return 0;
	return (int)MIN((unsigned __int128)(t_ns - p->begin_ns) * (unsigned)a->width / (p->end_ns - p->begin_ns),
			(unsigned __int128)(a->width - 1));
}

/* Whether this lane gets a row: the subject's always does, others if few enough lanes have more time. */
static bool lane_is_shown(const struct path *p, unsigned lane, unsigned max)
{
	unsigned greater = 0;

	if (!lane)
		return true;
	for (unsigned i = 1; i < p->lanes->len; i++)
		greater += path_lane(p, i)->total_ns > path_lane(p, lane)->total_ns ||
			   (path_lane(p, i)->total_ns == path_lane(p, lane)->total_ns && i < lane);
	return greater + 1 < max;
}

static void choose_rows(struct axis *a, unsigned max)
{
	const struct path *p = a->path;
	unsigned n = p->lanes->len, own = n <= max ? n : max - 1;

	for (unsigned i = 0; i < n; i++) {
		if (n <= max || lane_is_shown(p, i, own))
			a->row_of[i] = a->n_shown++;
		else
			a->row_of[i] = UINT_MAX;
	}
	a->rows = a->n_shown + (a->n_shown < n);
	for (unsigned i = 0; i < n; i++)
		if (a->row_of[i] == UINT_MAX)
			a->row_of[i] = a->n_shown;
}

static void fill_cells(struct axis *a)
{
	const struct path *p = a->path;

	a->ns = g_new0(uint64_t, (size_t)a->rows * (size_t)a->width * STATES);
	for (unsigned i = 0; i < p->steps->len; i++) {
		const struct path_step *step = path_step(p, i);
		const struct wait_segment *s = &step->segment;
		int last = time_column(a, s->end_ns - 1);

		for (int x = time_column(a, s->begin_ns); x <= last; x++) {
			uint64_t from = MAX(column_time(a, x), s->begin_ns);
			uint64_t to = MIN(column_time(a, x + 1), s->end_ns);

			/* what is shorter than a column remains visible */
			axis_cell(a, a->row_of[step->lane], x)[s->wire ? WAIT_STATES : s->state] +=
				to > from ? to - from : 1;
		}
	}
}

static char *row_label(const struct axis *a, unsigned row, const struct path_look *look)
{
	const struct path *p = a->path;
	GString *s = g_string_new(NULL);

	if (row == a->n_shown) {
		g_string_printf(s, "%u more", p->lanes->len - a->n_shown);
		return g_string_free(s, FALSE);
	}
	for (unsigned i = 0; i < p->lanes->len; i++)
		if (a->row_of[i] == row)
			path_add_lane(s, path_lane(p, i), &look->names);
	return g_string_free(s, FALSE);
}

static int label_width(const struct axis *a, const struct canvas *c, const struct path_look *look)
{
	int width = LABEL_MIN;

	for (unsigned i = 0; i < a->rows; i++) {
		char *label = row_label(a, i, look);

		width = MAX(width, canvas_text_width(label));
		g_free(label);
	}
	return MIN(width, MIN(LABEL_MAX, c->w / 3));
}

/* Draws one column: its most frequent state; running as high as its share. */
static void draw_cell(const struct axis *a, struct canvas *c, unsigned row, int column, int y,
		      const struct path_look *look)
{
	const uint64_t *ns = axis_cell(a, row, column);
	uint64_t length = MAX(column_time(a, column + 1) - column_time(a, column), 1), all = 0;
	unsigned most = 0;
	gunichar glyph;

	for (unsigned i = 0; i < STATES; i++) {
		all += ns[i];
		if (ns[i] > ns[most])
			most = i;
	}
	if (!all)
		return;
	glyph = path_state_glyph(most % WAIT_STATES, most == WAIT_STATES);
	if (most == WAIT_RUNNING)
		glyph = canvas_column_glyph((unsigned)CLAMP(all * 1000 / length, 1, 1000));
	canvas_char(c, a->x + column, y,
		    look->stale ? STYLE_DIM : path_state_style(most % WAIT_STATES, most == WAIT_STATES), glyph);
}

static void draw_lane(const struct axis *a, struct canvas *c, unsigned row, int y, const struct path_look *look)
{
	char *label = row_label(a, row, look);

	canvas_text_left(c, 1, y, a->x - 2,
			 row && !look->stale ? STYLE_NORMAL
			 : look->stale       ? STYLE_DIM
					     : STYLE_BOLD,
			 label);
	g_free(label);
	for (int x = 0; x < a->width; x++)
		draw_cell(a, c, row, x, y, look);
}

/* A round step that keeps ticks at least width columns apart. */
static uint64_t tick_length(const struct axis *a, int width)
{
	uint64_t span_ns = a->path->end_ns - a->path->begin_ns, step_ns = 1;
	unsigned factors[] = { 2, 5, 10 }, i = 0;
	uint64_t decade = 1;

	while ((unsigned __int128)step_ns * (unsigned)a->width < (unsigned __int128)span_ns * (unsigned)width) {
		step_ns = decade * factors[i++ % 3];
		if (i % 3 == 0)
			decade *= 10;
	}
	return step_ns;
}

static void tick_text(char *text, size_t size, uint64_t ns, bool ascii)
{
	static const struct {
		uint64_t ns;
		const char *unit, *ascii;
	} units[] = { { NS_PER_S, "s", "s" }, { NS_PER_MS, "ms", "ms" }, { NS_PER_US, "µs", "us" }, { 1, "ns", "ns" } };
	unsigned i = 0;

	while (i + 1 < G_N_ELEMENTS(units) && ns % units[i].ns)
		i++;
	g_snprintf(text, size, "+%" G_GUINT64_FORMAT "%s", (guint64)(ns / units[i].ns),
		   ascii ? units[i].ascii : units[i].unit);
}

/* Draws ticks at regular steps, and the cursor below the selected segment. */
static void draw_ruler(const struct axis *a, struct canvas *c, int y, const struct path_look *look)
{
	const struct path *p = a->path;
	char text[TIMETEXT_SIZE];
	uint64_t step_ns;

	/* the first time is the longest text */
	look->names.time(look->names.data, text, sizeof(text), p->begin_ns, 3);
	step_ns = tick_length(a, 2 + canvas_text_width(text));
	for (uint64_t t = 0; t < p->end_ns - p->begin_ns; t += step_ns) {
		int x = time_column(a, p->begin_ns + t);

		canvas_char(c, a->x + x, y, STYLE_DIM, 0x2502);
		if (t)
			tick_text(text, sizeof(text), t, c->ascii);
		if (x + 1 + canvas_text_width(text) <= a->width)
			canvas_text(c, a->x + x + 1, y, STYLE_DIM, text, -1);
	}
	if (look->selected < p->steps->len) {
		const struct wait_segment *s = &path_step(p, look->selected)->segment;
		int from = time_column(a, s->begin_ns), to = time_column(a, s->end_ns - 1);

		/* a narrow segment gets an arrow unless that would hide part of a time */
		if (to - from < 2 && !canvas_is_text(c, a->x + from, y))
			canvas_char(c, a->x + from, y, STYLE_CURSOR, 0x25b2);
		canvas_restyle(c, a->x + from, y, to - from + 1, STYLE_CURSOR);
	}
}

int path_draw_axis(const struct path *p, struct canvas *c, int y, int max, const struct path_look *look)
{
	struct axis a = { .path = p };

	if (max < 2 || c->w < 2 * LABEL_MIN || p->end_ns <= p->begin_ns)
		return 0;
	a.row_of = g_new0(unsigned, MAX(p->lanes->len, 1));
	choose_rows(&a, (unsigned)max - 1);
	a.x = label_width(&a, c, look) + 2;
	a.width = c->w - a.x - 1;
	fill_cells(&a);
	for (unsigned row = 0; row < a.rows; row++)
		draw_lane(&a, c, row, y + (int)row, look);
	if (look->selected < p->steps->len) {
		const struct path_step *step = path_step(p, look->selected);
		int from = time_column(&a, step->segment.begin_ns), to = time_column(&a, step->segment.end_ns - 1);

		canvas_restyle(c, a.x + from, y + (int)a.row_of[step->lane], to - from + 1, STYLE_CURSOR);
	}
	draw_ruler(&a, c, y + (int)a.rows, look);
	g_free(a.row_of);
	g_free(a.ns);
	return (int)a.rows + 1;
}

static uint64_t state_total(const struct path *p, unsigned i)
{
	return i == WAIT_STATES ? p->wire_ns : p->state_ns[i];
}

/* The state with the most time that is not drawn yet; STATES: none is left. */
static unsigned next_state(const struct path *p, const bool *drawn)
{
	unsigned most = STATES;

	for (unsigned i = 0; i < STATES; i++)
		if (!drawn[i] && state_total(p, i) && (most == STATES || state_total(p, i) > state_total(p, most)))
			most = i;
	return most;
}

void path_draw_legend(const struct path *p, struct canvas *c, int y, const struct path_look *look)
{
	bool drawn[STATES] = { false };
	int x = 1;

	for (unsigned i = next_state(p, drawn); i < STATES; i = next_state(p, drawn)) {
		bool wire = i == WAIT_STATES;
		enum wait_state state = i % WAIT_STATES;
		const char *label = path_state_label(state, wire);
		char share[16];

		drawn[i] = true;
		path_share_text(share, sizeof(share), state_total(p, i), p->total_ns);
		if (x + 3 + (int)strlen(label) + (int)strlen(share) > c->w)
			break;
		canvas_char(c, x, y, look->stale ? STYLE_DIM : path_state_style(state, wire),
			    path_state_glyph(state, wire));
		x += 2 + canvas_text(c, x + 2, y, STYLE_DIM, label, -1) + 1;
		x += canvas_text(c, x, y, look->stale ? STYLE_DIM : STYLE_NORMAL, share, -1) + 2;
	}
}
