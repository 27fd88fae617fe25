/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host's clock: the latencies of its packets over time, on the hosts' own clocks and on the corrected ones. */
#include <string.h>

#include "sidecar/sidecar.h"
#include "ui/internal.h"

enum { LABEL_WIDTH = 10, CHART_MIN = 4 };

struct clock_pane {
	unsigned host; /* on the screen */
};

/* ---- the packets ---- */

/* A packet: when it was sent, how long it took. */
struct dot {
	uint64_t at_ns;        /* reference time */
	int64_t latency_ns[2]; /* on the hosts' own clocks, on the corrected ones */
	bool to;               /* sent by the host, not to it */
};

static const struct ui_host_data *host_of_clock(const struct ui *ui, unsigned clock)
{
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (ui_host(ui, i)->info.clock == (int)clock)
			return ui_host(ui, i);
	return NULL;
}

static void add_dot(const struct ui *ui, GArray *dots, const struct clock_match *m, unsigned clock)
{
	const struct ui_host_data *from = host_of_clock(ui, m->from), *to = host_of_clock(ui, m->to);
	struct dot dot = { .to = m->from == clock };

	if (!from || !to || m->ambiguous || (m->from != clock && m->to != clock))
		return;
	dot.at_ns = ui_to_ref(from, m->sent_ns);
	dot.latency_ns[0] = (int64_t)(m->received_ns - m->sent_ns);
	dot.latency_ns[1] = (int64_t)(ui_to_ref(to, m->received_ns) - dot.at_ns);
	g_array_append_val(dots, dot);
}

static GArray *collect(const struct ui *ui, unsigned host)
{
	GArray *dots = g_array_new(FALSE, TRUE, sizeof(struct dot));
	const struct clock_match **matches = g_new(const struct clock_match *, CLOCK_MATCHES_KEPT);
	unsigned n = 0;

	if (ui->clocks && ui_host(ui, host)->info.clock >= 0)
		n = clock_sync_matches(ui->clocks, matches, CLOCK_MATCHES_KEPT);
	for (unsigned i = 0; i < n; i++)
		add_dot(ui, dots, matches[i], (unsigned)ui_host(ui, host)->info.clock);
	g_free(matches);
	return dots;
}

/* ---- a chart ---- */

struct chart {
	const GArray *dots;
	unsigned side; /* index into latency_ns */
	uint64_t begin_ns, end_ns;
	int64_t low_ns, high_ns; /* range of the rows; dots outside it are drawn at the edge */
	int x, y, w, h;
};

static gint compare_ns(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * From the least value, or 0, to about what nine out of ten packets take: a few late ones would squeeze the rest into
 * one row.
 */
static void choose_span(struct chart *c)
{
	GArray *sorted = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t tenth_ns;

	for (unsigned i = 0; i < c->dots->len; i++)
		g_array_append_val(sorted, g_array_index(c->dots, struct dot, i).latency_ns[c->side]);
	g_array_sort(sorted, compare_ns);
	c->low_ns = g_array_index(sorted, int64_t, 0);
	c->high_ns = g_array_index(sorted, int64_t, sorted->len - 1);
	tenth_ns = g_array_index(sorted, int64_t, sorted->len * 9 / 10);
	if (c->low_ns > 0 && c->low_ns < c->high_ns / 2)
		c->low_ns = 0;
	if (tenth_ns > c->low_ns && (c->high_ns - c->low_ns) / 4 > tenth_ns - c->low_ns)
		c->high_ns = tenth_ns + (tenth_ns - c->low_ns) / 4;
	if (c->high_ns <= c->low_ns)
		c->high_ns = c->low_ns + 1;
	g_array_free(sorted, TRUE);
}

static int row_of(const struct chart *c, int64_t latency_ns)
{
	double share = (double)(c->high_ns - latency_ns) / (double)(c->high_ns - c->low_ns);

	return CLAMP((int)(share * (c->h - 1) + 0.5), 0, c->h - 1);
}

static int column_of(const struct chart *c, uint64_t at_ns)
{
	if (at_ns <= c->begin_ns)
		return 0;
	return (int)MIN((unsigned __int128)(at_ns - c->begin_ns) * (unsigned)c->w / (c->end_ns - c->begin_ns),
			(unsigned __int128)(c->w - 1));
}

static const char *signed_duration(char *text, size_t size, int64_t ns, bool ascii)
{
	char length[FORMAT_SIZE];

	g_snprintf(text, size, "%s%s", ns < 0 ? "−" : "",
		   format_duration(length, sizeof(length), ns < 0 ? (uint64_t)-ns : (uint64_t)ns, ascii));
	return text;
}

static void draw_label(struct canvas *canvas, const struct chart *c, int row, int64_t ns)
{
	char text[FORMAT_SIZE + 4];

	canvas_text_right(canvas, 0, c->y + row, LABEL_WIDTH - 1, STYLE_DIM,
			  signed_duration(text, sizeof(text), ns, canvas->ascii));
}

static void draw_dot(struct canvas *canvas, const struct chart *c, const struct dot *dot)
{
	int64_t latency_ns = dot->latency_ns[c->side];
	int x = c->x + column_of(c, dot->at_ns), y = c->y + row_of(c, latency_ns);
	const struct canvas_cell *there = canvas_at(canvas, x, y);
	gunichar mark = dot->to ? '>' : '<';
	/* only with corrected clocks does a negative latency mean a contradiction */
	enum style style = c->side && latency_ns < 0 ? STYLE_LOST : dot->to ? STYLE_METER_LOW : STYLE_STRIP;

	if ((there->ch == '>' || there->ch == '<' || there->ch == 'x') && there->ch != mark)
		mark = 'x';
	if (there->style == STYLE_LOST)
		style = STYLE_LOST;
	canvas_char(canvas, x, y, style, mark);
}

static void draw_chart(const struct ui *ui, struct chart *c, const char *title)
{
	struct canvas *canvas = ui->canvas;

	canvas_text(canvas, LABEL_WIDTH, c->y - 1, STYLE_BOLD, title, canvas->w - LABEL_WIDTH);
	choose_span(c);
	for (int y = 0; y < c->h; y++)
		canvas_char(canvas, c->x - 1, c->y + y, STYLE_FRAME, 0x2502);
	draw_label(canvas, c, 0, c->high_ns);
	if (c->h > 1)
		draw_label(canvas, c, c->h - 1, c->low_ns);
	if (c->low_ns < 0 && c->high_ns > 0) {
		int zero = row_of(c, 0);

		canvas_fill(canvas, c->x, c->y + zero, c->w, STYLE_FRAME, 0x2500);
		if (zero && zero < c->h - 1)
			draw_label(canvas, c, zero, 0);
	}
	for (unsigned i = 0; i < c->dots->len; i++)
		draw_dot(canvas, c, &g_array_index(c->dots, struct dot, i));
}

/* ---- the pane ---- */

/* Returns the number of lines used. */
static int draw_facts(struct ui *ui, unsigned host, const GArray *dots, int y)
{
	enum { ROWS_MAX = 2 };
	const struct ui_host_data *h = ui_host(ui, host);
	const uint64_t host_ns = ui_from_ref(h, ui->shown_end_ns);
	struct clock_host_info info = clock_sync_info_at(ui->clocks, (unsigned)h->info.clock, host_ns);
	const struct ui_host_data *ref = info.ref < 0 ? NULL : host_of_clock(ui, (unsigned)info.ref);
	char offset[FORMAT_SIZE + 4], bound[FORMAT_SIZE];
	GString *s = g_string_new(NULL);
	unsigned negative = 0;
	int x = 1, rows;

	for (unsigned i = 0; i < dots->len; i++)
		negative += g_array_index(dots, struct dot, i).latency_ns[1] < 0;
	x += canvas_printf(ui->canvas, x, y, STYLE_BOLD, "%s", h->info.name) + 1;
	if (negative)
		x += canvas_printf(ui->canvas, x, y, STYLE_LOST, " %u negative ", negative) + 1;
	g_string_append(s, clock_state_name(info.state));
	if (info.by_arrival)
		g_string_append_printf(s, ", by arrival ±%s",
				       format_duration(bound, sizeof(bound), info.arrival_half_ns, ui->format.ascii));
	if (info.obstacle)
		g_string_append_printf(s, ": %s", clock_obstacle_text(info.obstacle));
	if (ref && ref != h) {
		int64_t offset_ns = clock_sync_offset(ui->clocks, (unsigned)h->info.clock, host_ns);

		g_string_append_printf(s, ", %s%s to the time of %s", offset_ns < 0 ? "" : "+",
				       signed_duration(offset, sizeof(offset), offset_ns, ui->format.ascii),
				       ref->info.name);
		if (info.has_bound)
			g_string_append_printf(s, " within %s",
					       format_duration(bound, sizeof(bound), info.bound_ns, ui->format.ascii));
		g_string_append_printf(s, ", drift %+.2f ppm", info.drift_ppm);
	}
	rows = MIN(canvas_wrapped_rows(s->str, ui->canvas->w - x - 1), ROWS_MAX);
	canvas_text_wrapped(ui->canvas, x, y, rows, STYLE_NORMAL, s->str);
	g_string_free(s, TRUE);
	return rows;
}

static void draw_charts(struct ui *ui, const GArray *dots, int y, int h)
{
	struct canvas *canvas = ui->canvas;
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE];
	struct chart c = {
		.dots = dots,
		.x = LABEL_WIDTH,
		.w = canvas->w - LABEL_WIDTH - 1,
		.begin_ns = UINT64_MAX,
	};
	int each = (h - 1) / 2 - 1;

	for (unsigned i = 0; i < dots->len; i++) {
		c.begin_ns = MIN(c.begin_ns, g_array_index(dots, struct dot, i).at_ns);
		c.end_ns = MAX(c.end_ns, g_array_index(dots, struct dot, i).at_ns + 1);
	}
	if (each >= CHART_MIN) {
		c.y = y + 1;
		c.h = each;
		draw_chart(ui, &c, "latency on the hosts' own clocks");
		y += each + 1;
		h -= each + 1;
	}
	c.side = 1;
	c.y = y + 1;
	c.h = MAX(h - 2, 1);
	draw_chart(ui, &c, "latency on the corrected clocks");
	canvas_text(canvas, LABEL_WIDTH, c.y + c.h, STYLE_DIM,
		    ui_time(ui, begin, sizeof(begin), c.begin_ns, 3, UI_DATE_IF_OTHER), -1);
	canvas_text_right(canvas, LABEL_WIDTH, c.y + c.h, c.w, STYLE_DIM,
			  ui_time(ui, end, sizeof(end), c.end_ns, 3, UI_DATE_IF_OTHER));
}

/*
 * Draws "clock synchronised, within 0.2 ms  kernel 6.1.0-49-amd64  CPUs 8  boot id 6f7c…", what is long and says little
 * last; returns the number of lines used.
 */
static int draw_machine(struct ui *ui, const struct sidecar *sidecar, int y)
{
	const struct sidecar_facts facts = sidecar ? sidecar_facts(sidecar) : (struct sidecar_facts){ 0 };
	const char *const labels[] = { "clock", "kernel", "CPUs", "boot id" };
	const char *const texts[] = { facts.clock, facts.kernel, facts.cpus, facts.boot_id };
	int x = 1;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		if (!texts[i] || x >= ui->canvas->w - 1)
			continue;
		x += canvas_text(ui->canvas, x, y, STYLE_DIM, labels[i], ui->canvas->w - x - 1) + 1;
		canvas_text_left(ui->canvas, x, y, ui->canvas->w - x - 1, STYLE_NORMAL, texts[i]);
		x += canvas_text_width(texts[i]) + 2;
	}
	return x > 1;
}

/* Draws in full what the list of hosts may have had to cut; returns the number of lines used, at most max. */
static int draw_reasons(struct ui *ui, const struct ui_host *host, int y, int max)
{
	bool retried = false;
	const char *why = host->away ? inputs_why_away(ui, host->name, &retried) : NULL;
	const char *texts[] = { host->trouble, host->note, why };
	const int width = ui->canvas->w - 2;
	int used = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		int rows;

		if (!texts[i] || used >= max)
			continue;
		rows = MIN(canvas_wrapped_rows(texts[i], width), max - used);
		canvas_text_wrapped(ui->canvas, 1, y + used, rows, STYLE_MARKED, texts[i]);
		used += rows;
	}
	return used;
}

static void clock_draw(struct ui *ui, struct pane *p, int y, int h)
{
	const struct clock_pane *s = p->state;
	const char *name = ui_host(ui, s->host)->info.name;
	GArray *dots = collect(ui, s->host);
	int x = 1, used = draw_machine(ui, ui_host(ui, s->host)->info.sidecar, y);

	used += draw_reasons(ui, &ui_host(ui, s->host)->info, y + used, h / 2);
	y += used;
	h -= used;
	if (!ui->clocks || ui_host(ui, s->host)->info.clock < 0) {
		canvas_text(ui->canvas, 1, y, STYLE_DIM,
			    ui->hosts->len == 1 ? "one host: no clock to synchronise with"
						: "every host has its own clock",
			    -1);
	} else {
		used = draw_facts(ui, s->host, dots, y);
		y += used;
		h -= used + 1;
		x += canvas_text(ui->canvas, x, y, STYLE_METER_LOW, ">", -1);
		x += canvas_printf(ui->canvas, x, y, STYLE_DIM, " sent by %s   ", name);
		x += canvas_text(ui->canvas, x, y, STYLE_STRIP, "<", -1);
		canvas_printf(ui->canvas, x, y++, STYLE_DIM, " sent to %s   x both; the latest %u packets", name,
			      dots->len);
		if (dots->len && h >= CHART_MIN)
			draw_charts(ui, dots, y, h);
		else if (!dots->len)
			canvas_text(ui->canvas, 1, y + 1, STYLE_DIM, "none of its packets was seen by another host",
				    -1);
	}
	g_array_free(dots, TRUE);
}

static void clock_update(struct ui *ui, struct pane *p)
{
	struct clock_pane *s = p->state;

	/* up and down cycle through the hosts */
	s->host = (s->host + ui->hosts->len) % ui->hosts->len;
}

static void clock_move(struct pane *p, int by)
{
	struct clock_pane *s = p->state;

	s->host += by < 0 ? -1u : by > 0;
}

static void clock_open(struct ui *ui, struct pane *p)
{
	(void)p;
	ui_say(ui, "nothing more to open here; press Esc to go back");
}

static char *clock_status(struct ui *ui, struct pane *p)
{
	const struct clock_pane *s = p->state;

	return g_strdup_printf("%u/%u", s->host + 1, ui->hosts->len);
}

static bool clock_click(struct pane *p, int x, int y)
{
	(void)p;
	(void)x;
	(void)y;
	return false;
}

static void clock_release(struct pane *p)
{
	g_free(p->state);
}

static int clock_page(const struct pane *p)
{
	(void)p;
	return 1;
}

static const struct pane_body clock_body = {
	.where = WHERE_CHART,
	.update = clock_update,
	.draw = clock_draw,
	.move = clock_move,
	.open = clock_open,
	.status = clock_status,
	.click = clock_click,
	.release = clock_release,
	.page = clock_page,
};

static const struct pane_type clock_type = {
	.title = "Clock",
	.body = &clock_body,
};

struct pane *pane_clock_create(unsigned host)
{
	struct pane *p = pane_create(&clock_type);
	struct clock_pane *s = g_new0(struct clock_pane, 1);

	s->host = host;
	p->state = s;
	return p;
}
