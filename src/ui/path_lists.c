/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path's segments, its totals, and the totals of two paths side by side, as rows of text. */
#include "base/strpool.h"
#include "base/timetext.h"
#include "ui/path.h"
#include "view/format.h"

/* ---- segments ---- */

/* Rows are more useful than a header where only one or two fit. */
enum { LENGTH_WIDTH = 7, STATE_WIDTH = 14, HEADER_MIN_HEIGHT = 3 };

/* Keeps the selected row visible, and the list full. */
static void scroll_to(unsigned *top, unsigned selected, unsigned n, unsigned h)
{
	if (selected < *top)
		*top = selected;
	if (h && selected >= *top + h)
		*top = selected - h + 1;
	if (*top + h > n)
		*top = n > h ? n - h : 0;
}

/* The columns that the segments' times take: those of the first and the last, as either may need its date. */
static int time_width(const struct path *p, const struct path_look *look)
{
	const struct path_names *names = &look->names;
	const uint64_t times[] = { path_step(p, 0)->segment.begin_ns,
				   path_step(p, p->steps->len - 1)->segment.begin_ns };
	char text[TIMETEXT_SIZE];
	int width = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(times); i++)
		width = MAX(width, canvas_text_width(names->time(names->data, text, sizeof(text), times[i], 6)));
	return width;
}

/* times: the width of the column of times. */
static void draw_step(const struct path *p, struct canvas *c, int x, int y, int w, int times, unsigned i,
		      const struct path_look *look)
{
	const struct path_step *step = path_step(p, i);
	const struct wait_segment *s = &step->segment;
	enum style style = look->stale ? STYLE_DIM : STYLE_NORMAL;
	char time[TIMETEXT_SIZE], length[FORMAT_SIZE];
	GString *text = g_string_new(NULL);
	int at = x + 1;

	canvas_text_right(c, at, y, times, style,
			  look->names.time(look->names.data, time, sizeof(time), s->begin_ns, 6));
	at += times + 1;
	canvas_text_right(c, at, y, LENGTH_WIDTH, style,
			  format_duration(length, sizeof(length), s->end_ns - s->begin_ns, c->ascii));
	at += LENGTH_WIDTH + 1;
	canvas_char(c, at, y, look->stale ? STYLE_DIM : path_state_style(s->state, s->wire),
		    path_state_glyph(s->state, s->wire));
	canvas_text(c, at + 2, y, style, path_state_label(s->state, s->wire), STATE_WIDTH - 2);
	at += STATE_WIDTH + 1;
	path_add_who(text, &step->who, &look->names);
	if (!s->wire && s->state != WAIT_RUNNING) {
		gsize before = text->len;

		path_add_cause(text, s);
		if (text->len > before)
			g_string_insert(text, (gssize)before, ": ");
	}
	canvas_text_left(c, at, y, x + w - at, style, text->str);
	g_string_free(text, TRUE);
	if (i == look->selected)
		canvas_restyle(c, x, y, w, STYLE_SELECTED);
}

static void draw_steps_header(struct canvas *c, int x, int y, int w, int times)
{
	canvas_fill(c, x, y, w, STYLE_HEAD, ' ');
	canvas_text(c, x + 1, y, STYLE_HEAD, "BEGIN", w);
	canvas_text_right(c, x + 2 + times, y, LENGTH_WIDTH, STYLE_HEAD, "LENGTH");
	canvas_text(c, x + 3 + times + LENGTH_WIDTH, y, STYLE_HEAD, "STATE", w);
	canvas_text_left(c, x + 4 + times + LENGTH_WIDTH + STATE_WIDTH, y, w - 4 - times - LENGTH_WIDTH - STATE_WIDTH,
			 STYLE_HEAD, "THREAD");
}

int path_draw_steps(const struct path *p, struct canvas *c, int x, int y, int w, int h, unsigned *top,
		    const struct path_look *look)
{
	const int header = h >= HEADER_MIN_HEIGHT;
	const unsigned n = p->steps->len, rows = (unsigned)MAX(h - header, 0);
	int times;

	if (!rows || !n)
		return 0;
	times = time_width(p, look);
	if (header)
		draw_steps_header(c, x, y, w, times);
	scroll_to(top, look->selected, n, rows);
	for (unsigned i = *top; i < MIN(n, *top + rows); i++)
		draw_step(p, c, x, y + header + (int)(i - *top), w, times, i, look);
	return header;
}

/* ---- totals ---- */

void path_share_text(char *text, size_t size, uint64_t ns, uint64_t of_ns)
{
	double percent = of_ns ? 100.0 * (double)ns / (double)of_ns : 0.0;

	if (ns && percent < 0.05)
		g_strlcpy(text, "<0.1%", size);
	else
		g_snprintf(text, size, "%.1f%%", percent);
}

static void draw_sum(const struct path *p, struct canvas *c, int x, int y, int w, const struct path_sum *sum,
		     const struct path_look *look)
{
	enum { SHARE_WIDTH = 6, BAR_MIN = 40, BAR_WIDTH = 12 };
	const struct path_lane *lane = path_lane(p, sum->lane);
	enum style style = look->stale ? STYLE_DIM : STYLE_NORMAL;
	char length[FORMAT_SIZE], share[16];
	GString *text = g_string_new(NULL);
	int at = x + 1;

	canvas_text_right(c, at, y, LENGTH_WIDTH, style, format_duration(length, sizeof(length), sum->ns, c->ascii));
	at += LENGTH_WIDTH + 1;
	path_share_text(share, sizeof(share), sum->ns, p->total_ns);
	canvas_text_right(c, at, y, SHARE_WIDTH, style, share);
	at += SHARE_WIDTH + 1;
	canvas_char(c, at, y, look->stale ? STYLE_DIM : path_state_style(sum->state, lane->wire),
		    path_state_glyph(sum->state, lane->wire));
	canvas_text(c, at + 2, y, style, path_state_label(sum->state, lane->wire), STATE_WIDTH - 2);
	at += STATE_WIDTH + 1;
	if (!lane->wire)
		path_add_lane(text, lane, &look->names);
	else
		g_string_append(text, "packets in transit");
	w = x + w - at;
	if (w > BAR_MIN) {
		canvas_bar(c, at + w - BAR_WIDTH, y, BAR_WIDTH, look->stale ? STYLE_DIM : STYLE_STRIP,
			   p->total_ns ? (unsigned)((unsigned __int128)sum->ns * 1000 / p->total_ns) : 0);
		w -= BAR_WIDTH + 1;
	}
	canvas_text_left(c, at, y, w, style, text->str);
	g_string_free(text, TRUE);
}

static void draw_sums_header(struct canvas *c, int x, int y, int w)
{
	canvas_fill(c, x, y, w, STYLE_HEAD, ' ');
	canvas_text_right(c, x + 1, y, LENGTH_WIDTH, STYLE_HEAD, "TOTAL");
	canvas_text_right(c, x + 2 + LENGTH_WIDTH, y, 6, STYLE_HEAD, "SHARE");
	canvas_text(c, x + 9 + LENGTH_WIDTH, y, STYLE_HEAD, "STATE", w);
	canvas_text_left(c, x + 10 + LENGTH_WIDTH + STATE_WIDTH, y, w - 10 - LENGTH_WIDTH - STATE_WIDTH, STYLE_HEAD,
			 "PROCESS");
}

void path_draw_sums(const struct path *p, struct canvas *c, int x, int y, int w, int h, const struct path_look *look)
{
	const int header = h >= HEADER_MIN_HEIGHT, rows = h - header;

	if (header)
		draw_sums_header(c, x, y, w);
	for (int i = 0; i < (int)p->sums->len && i < rows; i++) {
		if (i && i + 1 == rows && i + 1 < (int)p->sums->len) {
			canvas_printf(c, x + 1, y + header + i, STYLE_DIM, "and %u more", p->sums->len - (unsigned)i);
			break;
		}
		draw_sum(p, c, x, y + header + i, w, &g_array_index(p->sums, struct path_sum, (unsigned)i), look);
	}
}

/* ---- two paths ---- */

/* A line of the comparison: a state, or a state of all processes with the same name on a host. */
struct compared_line {
	enum wait_state state;
	bool wire;
	unsigned host; /* PATH_NO_HOST: for the whole path */
	int32_t tid;   /* 1: processes called comm; 0, -1: idle, the kernel */
	strid comm;
	uint64_t ns[2];
};

static void add_to_line(GArray *lines, const struct compared_line *wanted, unsigned side, uint64_t ns)
{
	for (unsigned i = 0; i < lines->len; i++) {
		struct compared_line *line = &g_array_index(lines, struct compared_line, i);

		if (line->state == wanted->state && line->wire == wanted->wire && line->host == wanted->host &&
		    line->tid == wanted->tid && line->comm == wanted->comm) {
			line->ns[side] += ns;
			return;
		}
	}
	g_array_append_val(lines, *wanted);
	g_array_index(lines, struct compared_line, lines->len - 1).ns[side] = ns;
}

static void add_states(GArray *lines, const struct path *const paths[2])
{
	for (unsigned i = 0; i <= WAIT_STATES; i++) {
		bool wire = i == WAIT_STATES;
		struct compared_line line = { .state = wire ? WAIT_NETWORK : i, .wire = wire, .host = PATH_NO_HOST };

		for (unsigned side = 0; side < 2; side++)
			line.ns[side] = wire ? paths[side]->wire_ns : paths[side]->state_ns[i];
		if (line.ns[0] || line.ns[1])
			g_array_append_val(lines, line);
	}
}

static uint64_t difference(const struct compared_line *line)
{
	return MAX(line->ns[0], line->ns[1]) - MIN(line->ns[0], line->ns[1]);
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
	const struct compared_line *x = a, *y = b;

	if (difference(x) != difference(y))
		return difference(x) < difference(y) ? 1 : -1;
	if (x->host != y->host)
		return x->host > y->host ? 1 : -1;
	if (x->comm != y->comm)
		return x->comm > y->comm ? 1 : -1;
	return (int)x->state - (int)y->state;
}

static void add_programs(GArray *lines, const struct path *const paths[2])
{
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < paths[side]->sums->len; i++) {
			const struct path_sum *sum = &g_array_index(paths[side]->sums, struct path_sum, i);
			const struct path_lane *lane = path_lane(paths[side], sum->lane);
			struct compared_line line = {
				.state = sum->state,
				.host = lane->who.host,
				.tid = CLAMP(lane->who.tid, -1, 1),
				.comm = lane->who.tid > 0 ? lane->who.comm : STRID_NONE,
			};

			if (!lane->wire)
				add_to_line(lines, &line, side, sum->ns);
		}
	g_array_sort(lines, compare_lines);
}

enum { FIGURE_WIDTH = 9 };

static void draw_figures(struct canvas *c, int x, int y, const uint64_t ns[2], enum style style)
{
	uint64_t more = MAX(ns[0], ns[1]) - MIN(ns[0], ns[1]);
	char text[FORMAT_SIZE], change[FORMAT_SIZE + 4];

	for (unsigned side = 0; side < 2; side++)
		canvas_text_right(c, x + (FIGURE_WIDTH + 1) * (int)side, y, FIGURE_WIDTH, ns[side] ? style : STYLE_DIM,
				  format_duration(text, sizeof(text), ns[side], c->ascii));
	g_snprintf(change, sizeof(change), "%s%s",
		   !more           ? ""
		   : ns[1] > ns[0] ? "+"
				   : "−",
		   format_duration(text, sizeof(text), more, c->ascii));
	canvas_text_right(c, x + 2 * (FIGURE_WIDTH + 1), y, FIGURE_WIDTH + 1,
			  !more                 ? STYLE_DIM
			  : style == STYLE_BOLD ? style
			  : ns[1] > ns[0]       ? STYLE_GONE
						: STYLE_NEW,
			  change);
}

static void draw_line(struct canvas *c, int y, const struct compared_line *line, const struct path_look *look)
{
	int x = 1 + STATE_WIDTH;
	GString *text = g_string_new(NULL);

	canvas_char(c, 1, y, path_state_style(line->state, line->wire), path_state_glyph(line->state, line->wire));
	canvas_text(c, 3, y, STYLE_NORMAL, path_state_label(line->state, line->wire), STATE_WIDTH - 2);
	draw_figures(c, x, y, line->ns, STYLE_NORMAL);
	x += 3 * (FIGURE_WIDTH + 1) + 2;
	if (line->host == PATH_NO_HOST) {
		g_string_append(text, line->wire ? "packets in transit" : "in all");
	} else {
		const struct wait_who who = { .host = line->host, .tid = line->tid, .comm = line->comm };

		path_add_program(text, &who, &look->names);
	}
	canvas_text_left(c, x, y, c->w - x, line->host == PATH_NO_HOST ? STYLE_DIM : STYLE_NORMAL, text->str);
	g_string_free(text, TRUE);
}

void path_draw_comparison(const struct path *first, const struct path *second, struct canvas *c, int y, int h,
			  const struct path_look *look)
{
	const struct path *const paths[2] = { first, second };
	const uint64_t total[2] = { first->total_ns, second->total_ns };
	GArray *states = g_array_new(FALSE, TRUE, sizeof(struct compared_line));
	GArray *programs = g_array_new(FALSE, TRUE, sizeof(struct compared_line));
	int x = 1 + STATE_WIDTH, bottom = y + h;

	add_states(states, paths);
	add_programs(programs, paths);
	canvas_fill(c, 0, y, c->w, STYLE_HEAD, ' ');
	canvas_text(c, 1, y, STYLE_HEAD, "STATE", -1);
	canvas_text_right(c, x, y, FIGURE_WIDTH, STYLE_HEAD, "FIRST");
	canvas_text_right(c, x + FIGURE_WIDTH + 1, y, FIGURE_WIDTH, STYLE_HEAD, "THIS");
	canvas_text_right(c, x + 2 * (FIGURE_WIDTH + 1), y, FIGURE_WIDTH + 1, STYLE_HEAD, "CHANGE");
	canvas_text_left(c, x + 3 * (FIGURE_WIDTH + 1) + 2, y, c->w - x - 3 * (FIGURE_WIDTH + 1) - 2, STYLE_HEAD,
			 "PROGRAM");
	y++;
	for (unsigned i = 0; i < states->len && y + 1 < bottom; i++)
		draw_line(c, y++, &g_array_index(states, struct compared_line, i), look);
	if (y < bottom) {
		canvas_text(c, 3, y, STYLE_BOLD, "total", -1);
		draw_figures(c, x, y++, total, STYLE_BOLD);
	}
	for (unsigned i = 0; i < programs->len && y + 1 < bottom; i++)
		draw_line(c, ++y, &g_array_index(programs, struct compared_line, i), look);
	g_array_free(states, TRUE);
	g_array_free(programs, TRUE);
}
