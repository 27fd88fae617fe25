/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line per host: CPU meters, tasks, open files, rates of disks and network. */
#include <inttypes.h>
#include <string.h>

#include "base/nstime.h"
#include "ui/internal.h"
#include "view/missing.h"

enum { SEGMENT_SIZE = 48, ABSENT_SIZE = 256 };

enum line_group { LINE_CPU, LINE_TASKS, LINE_FDS, LINE_DISK, LINE_NET, LINE_GROUPS };

enum { METER_CPUS = 64, BAR_WIDTH = 10, HOST_WIDTH_MAX = 16 };

/* In place of how busy a CPU was. */
enum { METER_OFFLINE = -1, METER_UNKNOWN = -2 };

#define FADES_AFTER_NS (60 * NS_PER_S)

struct host_line {
	unsigned n_cpus;
	int permille[METER_CPUS]; /* per CPU, or METER_… */
	int busy_permille;        /* of all CPUs, or METER_UNKNOWN */
	char text[LINE_GROUPS][SEGMENT_SIZE];
};

static void read_cpus(const struct ui_host_data *host, struct host_line *line)
{
	const struct interval *iv = &host->load.interval;
	const struct interval_table *t = &iv->tables[TABLE_CPU];
	const bool known = !(data_host_lacks(host) & VIEW_LACKS_SWITCHES);
	uint64_t busy_all = 0, online_all = 0;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct cpu_row *row = INTERVAL_ROW(cpu, &t->rows[i]);
		uint64_t busy = INTERVAL_VALUE(iv, CPU, cpu, &t->rows[i], busy_ns);
		uint64_t online = INTERVAL_VALUE(iv, CPU, cpu, &t->rows[i], online_ns);

		busy_all += busy;
		online_all += online;
		if (row->cpu >= METER_CPUS)
			continue;
		while (line->n_cpus <= row->cpu)
			line->permille[line->n_cpus++] = METER_UNKNOWN;
		if (online && known)
			line->permille[row->cpu] = (int)(busy * 1000 / online);
		else if (row->state == CPU_OFFLINE)
			line->permille[row->cpu] = METER_OFFLINE;
	}
	if (!known)
		line->busy_permille = METER_UNKNOWN;
	else
		line->busy_permille = online_all ? (int)(busy_all * 1000 / online_all) : 0;
}

/* "-": nothing of the time was recorded, or no event of that kind: 0 ns. */
static const char *rate_text(char *text, size_t size, uint64_t bytes, uint64_t duration_ns)
{
	if (!duration_ns)
		return "-";
	return format_bytes(text, size, (double)bytes * (double)NS_PER_S / (double)duration_ns);
}

/* No event of that kind was recorded. */
static void unknown_text(char *text, const char *label)
{
	g_snprintf(text, SEGMENT_SIZE, "%s -", label);
}

/* compact: no wider than needed. */
static void rates_text(char *text, const char *label, uint64_t in, uint64_t in_ns, uint64_t out, uint64_t out_ns,
		       bool compact)
{
	char a[16], b[16];

	g_snprintf(text, SEGMENT_SIZE, compact ? "%s ↓%s ↑%s" : "%s ↓%-5s ↑%-5s", label,
		   rate_text(a, sizeof(a), in, in_ns), rate_text(b, sizeof(b), out, out_ns));
}

static void changes_text(char *text, const char *label, uint64_t now, uint64_t more, uint64_t less, bool compact)
{
	char changes[32], n[16];

	g_snprintf(changes, sizeof(changes), compact ? " +%" PRIu64 "−%" PRIu64 : " +%" PRIu64 " −%" PRIu64, more,
		   less);
	g_snprintf(text, SEGMENT_SIZE, "%s %s%s%*s", label, format_count(n, sizeof(n), now, 6), changes,
		   compact ? 0 : MAX(0, 8 - canvas_text_width(changes)), "");
}

static void read_host(const struct ui_host_data *host, const struct host_row *row, struct host_line *line, bool compact)
{
	const uint64_t duration_ns = interval_recorded_ns(&host->load.interval);
	const uint32_t lacks = data_host_lacks(host);

	line->n_cpus = 0;
	read_cpus(host, line);
	changes_text(line->text[LINE_TASKS], "tasks", row->threads, HOST_VALUE(host, threads_new),
		     HOST_VALUE(host, threads_gone), compact);
	if (lacks & VIEW_LACKS_CALLS)
		unknown_text(line->text[LINE_FDS], "fds");
	else
		changes_text(line->text[LINE_FDS], "fds", row->fds, HOST_VALUE(host, fds_opened),
			     HOST_VALUE(host, fds_closed), compact);
	if (lacks & VIEW_LACKS_DISK_DONE)
		unknown_text(line->text[LINE_DISK], "disk");
	else
		rates_text(line->text[LINE_DISK], "disk", HOST_VALUE(host, disk_read_bytes), duration_ns,
			   HOST_VALUE(host, disk_write_bytes), duration_ns, compact);
	if (lacks & VIEW_LACKS_SENT && lacks & VIEW_LACKS_RECEIVED)
		unknown_text(line->text[LINE_NET], "net");
	else
		rates_text(line->text[LINE_NET], "net", HOST_VALUE(host, rx_bytes),
			   lacks & VIEW_LACKS_RECEIVED ? 0 : duration_ns, HOST_VALUE(host, tx_bytes),
			   lacks & VIEW_LACKS_SENT ? 0 : duration_ns, compact);
}

static enum style meter_style(int permille)
{
	return permille > 900 ? STYLE_METER_HIGH : permille > 600 ? STYLE_METER_MID : STYLE_METER_LOW;
}

/* A bar per CPU if there is room, otherwise a column. */
static int draw_meters(struct canvas *c, int x, int y, const struct host_line *line, bool bars)
{
	int from = x;

	for (unsigned i = 0; i < line->n_cpus; i++) {
		int permille = line->permille[i];

		if (!bars) {
			canvas_char(c, x++, y, permille < 0 ? STYLE_DIM : meter_style(permille),
				    permille == METER_OFFLINE   ? '-'
				    : permille == METER_UNKNOWN ? '?'
								: canvas_column_glyph((unsigned)permille));
			continue;
		}
		x += canvas_printf(c, x, y, STYLE_DIM, "%u", i);
		canvas_text(c, x, y, STYLE_DIM,
			    permille == METER_OFFLINE   ? "[ offline  ]"
			    : permille == METER_UNKNOWN ? "[ unknown  ]"
							: "[",
			    -1);
		if (permille >= 0) {
			canvas_bar(c, x + 1, y, BAR_WIDTH, meter_style(permille), (unsigned)permille);
			canvas_char(c, x + 1 + BAR_WIDTH, y, STYLE_DIM, ']');
		}
		x += BAR_WIDTH + 3;
	}
	return x - from;
}

/* Labels are dimmed, numbers are not. */
static void draw_group(struct canvas *c, int x, int y, const char *text)
{
	const char *blank = strchr(text, ' ');
	char *label = g_strndup(text, blank ? (gsize)(blank - text) : strlen(text));
	int used = canvas_text(c, x, y, STYLE_DIM, label, -1);

	if (blank)
		canvas_text(c, x + used, y, STYLE_NORMAL, blank, -1);
	g_free(label);
}

/* How far the host is known. */
static bool known_until(const struct ui *ui, const struct ui_host_data *host, uint64_t *last_ns)
{
	uint64_t first_ns;

	*last_ns = host->info.still ? host->info.end_ns : host->info.begin_ns;
	return host->info.still || history_range(ui->history, host->info.track, &first_ns, last_ns);
}

static void away_text(const struct ui *ui, const struct ui_host_data *host, char *text, size_t size)
{
	bool retried = false;
	const char *why = host->info.away ? inputs_why_away(ui, host->info.name, &retried) : NULL;
	char time[TIMETEXT_SIZE];
	uint64_t last_ns;

	known_until(ui, host, &last_ns);
	ui_time(ui, time, sizeof(time), ui_to_ref(host, last_ns), 0, UI_DATE_IF_OTHER);
	if (host->info.over) {
		g_snprintf(text, size, "session ended at %s%s", time,
			   host->info.awaited ? "; waiting for another one" : "");
		return;
	}
	g_snprintf(text, size, "%s since %s%s%s%s",
		   host->info.away         ? "away"
		   : host->info.waited_for ? "no data"
		   : host->info.still      ? "no events"
					   : "silent",
		   time, why ? ": " : "", why ? why : "", retried ? "; retrying" : "");
}

/* A live host that is absent: old figures would look current. */
static bool absent_now(const struct ui *ui, const struct ui_host_data *host)
{
	return ui->cursor.live && ui->cursor.mode == CURSOR_STICKING && (host->info.away || host->info.silent);
}

bool host_is_away(const struct ui *ui, const struct ui_host_data *host)
{
	uint64_t last_ns;

	return (host->info.away || host->info.silent) && (absent_now(ui, host) || !known_until(ui, host, &last_ns) ||
							  ui->shown_begin_ns >= ui_to_ref(host, last_ns));
}

/* The history had data of it for the shown interval, which is not before its start or after its end. */
static bool is_dropped(const struct ui *ui, const struct ui_host_data *host)
{
	uint64_t first_ns, last_ns;

	if (!history_range(ui->history, host->info.track, &first_ns, &last_ns))
		return host->info.ended;
	return ui_to_ref(host, first_ns) >= ui->shown_end_ns;
}

static void absent_text(const struct ui *ui, const struct ui_host_data *host, char *text, size_t size)
{
	char time[TIMETEXT_SIZE];

	if (host->hidden)
		g_strlcpy(text, "hidden; press H to show it", size);
	else if (host->gap && !absent_now(ui, host))
		g_strlcpy(text, "no data for this interval", size);
	else if (ui_to_ref(host, host->info.begin_ns) >= ui->shown_end_ns)
		g_snprintf(text, size, "recorded from %s",
			   ui_time(ui, time, sizeof(time), ui_to_ref(host, host->info.begin_ns), 3, UI_DATE_IF_OTHER));
	else if (host_is_away(ui, host))
		away_text(ui, host, text, size);
	else if (host->info.ended && ui_to_ref(host, host->info.end_ns) <= ui->shown_begin_ns)
		g_snprintf(text, size, host->info.live ? "session ended at %s" : "recorded until %s",
			   ui_time(ui, time, sizeof(time), ui_to_ref(host, host->info.end_ns), 3, UI_DATE_IF_OTHER));
	else if (host->info.user_space)
		g_strlcpy(text, "   -  only user-space events: see pane 0 (Events)", size);
	else if (is_dropped(ui, host))
		g_strlcpy(text, "no longer in the history", size);
	else
		g_strlcpy(text, "no data yet", size);
}

/* Whether its figures are shown; otherwise absent_text() says why not. */
static bool has_figures(const struct ui_host_data *host)
{
	return ui_host_row(host) && !host->hidden && !host->info.user_space;
}

static int name_width(const struct ui *ui, const unsigned *order, unsigned n)
{
	int width = 4;

	for (unsigned i = 0; i < n; i++)
		width = MAX(width, canvas_text_width(ui_host(ui, order[i])->info.name));
	return MIN(width, HOST_WIDTH_MAX);
}

/* The common layout of all host lines. */
struct host_layout {
	int name, cpus, gap;
	int width[LINE_GROUPS];
	bool bars; /* a bar per CPU, otherwise a column */
};

static int by_name(const void *a, const void *b, void *data)
{
	const struct ui *ui = data;

	return strcmp(ui_host(ui, *(const unsigned *)a)->info.name, ui_host(ui, *(const unsigned *)b)->info.name);
}

/* Nothing of the host is left, or the newest data is shown, and the host ended some time ago. */
static bool is_faded(const struct ui *ui, const struct ui_host_data *host)
{
	const struct ui_host *info = &host->info;

	if (host->gone)
		return true;
	return ui->cursor.live && ui->cursor.mode == CURSOR_STICKING && info->live && (info->ended || info->over) &&
	       !ui_host_row(host) && ui->shown_begin_ns > ui_to_ref(host, info->end_ns) + FADES_AFTER_NS;
}

unsigned host_lines_count(const struct ui *ui)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		n += !is_faded(ui, ui_host(ui, i));
	return n;
}

/* The numbers of hosts with a line, sorted by name instead of by arrival. Free with g_free(). */
static unsigned *sort_hosts(struct ui *ui)
{
	unsigned *order = g_new(unsigned, ui->hosts->len), n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!is_faded(ui, ui_host(ui, i)))
			order[n++] = i;
	g_qsort_with_data(order, (gint)n, sizeof(*order), by_name, ui);
	return order;
}

/* Reads the figures of hosts order[0 … n-1]; returns the remaining columns, negative if they do not fit. */
static int read_hosts(const struct ui *ui, const unsigned *order, struct host_line *lines, unsigned n,
		      struct host_layout *layout, bool compact)
{
	int room;

	*layout = (struct host_layout){ .name = name_width(ui, order, n), .gap = compact ? 1 : 2 };
	for (unsigned i = 0; i < n; i++) {
		const struct ui_host_data *host = ui_host(ui, order[i]);

		if (!has_figures(host))
			continue;
		read_host(host, ui_host_row(host), &lines[i], compact);
		layout->cpus = MAX(layout->cpus, (int)lines[i].n_cpus);
		for (int g = LINE_TASKS; g < LINE_GROUPS; g++)
			layout->width[g] = MAX(layout->width[g], canvas_text_width(lines[i].text[g]));
	}
	room = ui->canvas->w - layout->name - 2 - 5;
	for (int g = LINE_TASKS; g < LINE_GROUPS; g++)
		room -= layout->width[g] + layout->gap;
	layout->bars = layout->cpus && room >= layout->cpus * (BAR_WIDTH + 4);
	/* columns for the CPUs of big machines only if nothing else needs the room */
	if (!layout->bars && layout->cpus > 8 && room < layout->cpus)
		layout->cpus = 0;
	return room - layout->cpus;
}

static void draw_host(const struct ui *ui, const struct ui_host_data *host, const struct host_line *line,
		      const struct host_layout *layout, int y)
{
	struct canvas *c = ui->canvas;
	int x = layout->name + 2;
	bool absent = host->info.away || host->info.silent;
	char text[ABSENT_SIZE];

	canvas_text_left(c, 1, y, layout->name,
			 host->info.trouble ? STYLE_LOST
			 : absent           ? STYLE_MARKED
					    : STYLE_BOLD,
			 host->info.name);
	if (!has_figures(host) || absent_now(ui, host)) {
		absent_text(ui, host, text, sizeof(text));
		canvas_text_left(c, x, y, c->w - x, absent ? STYLE_MARKED : STYLE_DIM, text);
		return;
	}
	if (layout->cpus)
		draw_meters(c, x, y, line, layout->bars);
	x += layout->bars ? layout->cpus * (BAR_WIDTH + 4) : layout->cpus;
	if (line->busy_permille == METER_UNKNOWN)
		x += canvas_text(c, x, y, STYLE_DIM, "    -", -1) + layout->gap;
	else
		x += canvas_printf(c, x, y, STYLE_NORMAL, "%4d%%", (line->busy_permille + 5) / 10) + layout->gap;
	for (int g = LINE_TASKS; g < LINE_GROUPS; g++) {
		if (x + canvas_text_width(line->text[g]) > c->w)
			break;
		draw_group(c, x, y, line->text[g]);
		x += layout->width[g] + layout->gap;
	}
	/* on a narrow screen only the Hosts pane shows it */
	if (host->info.note && x + canvas_text_width(host->info.note) <= c->w)
		canvas_text(c, x, y, STYLE_MARKED, host->info.note, -1);
}

int host_lines_draw(struct ui *ui, int y, unsigned n)
{
	struct host_line *lines = g_new0(struct host_line, n);
	unsigned *order = sort_hosts(ui);
	struct host_layout layout;

	if (read_hosts(ui, order, lines, n, &layout, false) < 0)
		read_hosts(ui, order, lines, n, &layout, true);
	for (unsigned i = 0; i < n; i++)
		draw_host(ui, ui_host(ui, order[i]), &lines[i], &layout, y + (int)i);
	g_free(order);
	g_free(lines);
	ui->hosts_y = y;
	ui->host_lines = n;
	return (int)n;
}

int host_lines_at(struct ui *ui, int y)
{
	const int line = y - ui->hosts_y;
	unsigned *order;
	int host = -1;

	if (line < 0 || line >= (int)MIN(ui->host_lines, host_lines_count(ui)))
		return -1;
	order = sort_hosts(ui);
	host = (int)order[line];
	g_free(order);
	return host;
}
