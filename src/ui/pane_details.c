/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread and its process at the end of the shown interval: ids, state, parents, figures; its files and calls. */
#include "event/syscalls.h"
#include "ui/details.h"
#include "ui/internal.h"
#include "view/missing.h"

enum details_list { DETAILS_BLOCKING, DETAILS_FILES, DETAILS_SYSCALLS };

/* Below a height of ALL_LINES_HEIGHT, lines take all rows once the user has turned to them. */
enum { LABEL_WIDTH = 10, STATE_ROWS_MAX = 2, ALL_LINES_HEIGHT = 12 };

static const struct interval *details_interval(const struct ui *ui, const struct pane *p)
{
	const struct ui_host_data *host = ui_host(ui, p->entity.host);

	return host->loaded ? &host->load.interval : NULL;
}

static const struct interval_row *details_row(const struct ui *ui, const struct pane *p)
{
	const struct interval *iv = details_interval(ui, p);

	return iv ? interval_find(iv, TABLE_THREAD, p->entity.uid) : NULL;
}

static void details_adjust(struct ui *ui, struct pane *p, unsigned list, struct view_query *query)
{
	const struct interval_row *row = details_row(ui, p);
	const struct thread_row *t = row ? INTERVAL_ROW(thread, row) : NULL;

	view_filter_clear(&p->filter);
	view_filter_add_host(&p->filter, ui_host(ui, p->entity.host)->info.name);
	query->filter = &p->filter;
	query->only = NULL;
	query->tree = false;
	query->all = list == DETAILS_FILES;
	if (list == DETAILS_FILES) {
		/* without a table, nothing matches */
		p->filter.files_id = t && t->files_id ? t->files_id : UINT64_MAX;
	} else if (ui->processes && t && (int64_t)t->pid >= 0) {
		view_filter_add_pid(&p->filter, (int64_t)t->pid);
	} else {
		view_filter_add_tid(&p->filter, t ? (int64_t)t->tid : -2);
	}
}

/* ---- lines at the top ---- */

/* Draws the text in as many rows as it needs, up to max_rows. Returns their number. */
static int draw_line(struct details *h, const char *label, const char *text, int max_rows)
{
	const int line = h->n++;
	int rows;

	if (line < h->first || h->next)
		return 0;
	rows = MIN(canvas_wrapped_rows(text, h->ui->canvas->w - LABEL_WIDTH - 2), MIN(max_rows, h->bottom - h->y));
	if (rows <= 0) {
		h->next = line;
		return 0;
	}
	if (!h->measures) {
		canvas_text(h->ui->canvas, 1, h->y, STYLE_DIM, label, LABEL_WIDTH - 1);
		canvas_text_wrapped(h->ui->canvas, 1 + LABEL_WIDTH, h->y, rows, STYLE_NORMAL, text);
	}
	h->y += rows;
	return rows;
}

void details_line(struct details *h, const char *label, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int rows;

	va_start(ap, fmt);
	g_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rows = draw_line(h, label, text, 1 + h->spare);
	h->spare -= MAX(rows - 1, 0);
}

const char *details_time(const struct details *h, char *buffer, size_t size, uint64_t host_ns, unsigned digits)
{
	return ui_time(h->ui, buffer, size, ui_to_ref(h->host, host_ns), digits, UI_DATE_IF_OTHER);
}

const char *details_duration(const struct details *h, char *buffer, uint64_t ns)
{
	return format_duration(buffer, FORMAT_SIZE, ns, h->ui->format.ascii);
}

const char *details_share(const struct details *h, char *buffer, uint64_t ns)
{
	const uint64_t recorded_ns = interval_recorded_ns(h->iv);

	if (!recorded_ns)
		return "-";
	g_snprintf(buffer, FORMAT_SIZE, "%.1f%%", 100 * (double)ns / (double)recorded_ns);
	return buffer;
}

/* "5 → 10.0.0.3:5432": the file that the thread's call uses. */
static void describe_fd(const struct details *h, const struct thread_row *t, char *text, size_t size)
{
	const struct interval_table *files = &h->iv->tables[TABLE_FILE];
	strid name = STRID_NONE;

	*text = '\0';
	if ((int64_t)t->syscall_fd < 0)
		return;
	for (uint32_t i = files->n_rows; i-- > 0 && !name;) {
		const struct file_row *file = INTERVAL_ROW(file, &files->rows[i]);

		if (file->files_id == t->files_id && file->fd == t->syscall_fd && !file->closed_ns)
			name = (strid)(file->peer && file->kind != FD_NETFS ? file->peer : file->path);
	}
	g_snprintf(text, size, "fd %" PRId64 "%s%s", (int64_t)t->syscall_fd,
		   name ? h->ui->format.ascii ? " -> " : " → " : "", name ? strpool_text(name) : "");
}

static void add_state(struct details *h, const struct thread_row *t, uint64_t at_ns)
{
	static const char *const words[THREAD_STATES] = {
		[THREAD_UNKNOWN] = "unknown", [THREAD_RUNNING] = "running", [THREAD_READY] = "ready",
		[THREAD_BLOCKED] = "blocked", [THREAD_WAITING] = "waiting", [THREAD_NEW] = "new, not yet woken",
		[THREAD_STOPPED] = "stopped", [THREAD_ZOMBIE] = "zombie",   [THREAD_DEAD] = "exited",
	};
	char since[TIMETEXT_SIZE], length[FORMAT_SIZE], fd[256];
	const char *call = strpool_text((strid)t->syscall);
	const uint64_t length_ns = at_ns - MIN(t->since_ns, at_ns);
	const bool ended = t->state == THREAD_ZOMBIE || t->state == THREAD_DEAD;
	const bool known = ended || !(data_host_lacks(h->host) & VIEW_LACKS_SWITCHES);
	GString *s = g_string_new(known && t->state < THREAD_STATES ? words[t->state] : "unknown");

	if (known && t->state == THREAD_RUNNING && (int64_t)t->cpu >= 0)
		g_string_append_printf(s, " on CPU %" PRId64, (int64_t)t->cpu);
	if (known && t->state == THREAD_READY && t->flags & THREAD_PREEMPTED)
		g_string_append(s, ", preempted");
	describe_fd(h, t, fd, sizeof(fd));
	if (*call && t->state != THREAD_DEAD)
		g_string_append_printf(s, " in %s(%s)", call, fd);
	if (known && t->state == THREAD_WAITING)
		g_string_append_printf(s, " since before tracing started (at least %s)",
				       details_duration(h, length, length_ns));
	else if (known && t->since_ns && t->state != THREAD_DEAD)
		g_string_append_printf(s, " for %s, since %s", details_duration(h, length, length_ns),
				       details_time(h, since, sizeof(since), t->since_ns, 6));
	if (t->flags & THREAD_UNSURE)
		g_string_append(s, " (uncertain: events were lost)");
	if (t->flags & THREAD_KERNEL)
		g_string_append(s, "; a kernel thread");
	draw_line(h, "state", s->str, STATE_ROWS_MAX);
	g_string_free(s, TRUE);
}

static void add_lines(struct details *h, const struct interval_row *row)
{
	const struct thread_row *t = INTERVAL_ROW(thread, row);

	add_state(h, t, h->iv->end_ns);
	details_use(h, row);
	details_who(h, t);
	details_process(h, t);
	details_waits(h, row);
	details_counters(h, t->uid);
	details_pressure(h, t);
}

/*
 * Draws the lines from p->head_first on for which there is room, and below them how many there are after these. The
 * first ones leave room for lists; those that the user has turned to may go down to row last - 1.
 */
static void draw_lines(struct details *h, struct pane *p, const struct interval_row *row, int last)
{
	struct details measured = *h;
	bool hint;

	measured.measures = true;
	measured.bottom = G_MAXINT;
	add_lines(&measured, row);
	hint = measured.y > h->bottom && h->bottom > h->y + 1;
	h->first = hint && p->head_first < measured.n ? p->head_first : 0;
	if (h->first)
		h->bottom = last;
	h->bottom -= hint;
	h->spare = MAX(h->bottom - measured.y, 0);
	add_lines(h, row);
	p->head_first = h->first;
	p->head_next = h->next;
	if (hint && h->next)
		canvas_printf(h->ui->canvas, 1 + LABEL_WIDTH, h->y++, STYLE_DIM, "%d more line%s: press s",
			      measured.n - h->next, measured.n - h->next == 1 ? "" : "s");
	else if (hint)
		canvas_text(h->ui->canvas, 1 + LABEL_WIDTH, h->y++, STYLE_DIM, "press s for the first lines", -1);
}

static int details_head(struct ui *ui, struct pane *p, int y, int max)
{
	const struct interval_row *row = details_row(ui, p);
	struct details h = {
		.ui = ui,
		.host = ui_host(ui, p->entity.host),
		.iv = details_interval(ui, p),
		.y = y,
		.bottom = y + MAX(max - 8, max / 2), /* most of the room is for the lists below */
	};

	if (row)
		g_strlcpy(p->name, strpool_text((strid)INTERVAL_ROW(thread, row)->comm), sizeof(p->name));
	canvas_printf(ui->canvas, 1, h.y, STYLE_BOLD, "%s", *p->name ? p->name : "thread");
	canvas_printf(ui->canvas, 2 + canvas_text_width(*p->name ? p->name : "thread"), h.y, STYLE_DIM, "on %s",
		      ui_host(ui, p->entity.host)->info.name);
	h.y++;
	if (!row) {
		p->head_first = p->head_next = 0;
		details_line(&h, "", "does not exist in this interval");
		return h.y - y;
	}
	draw_lines(&h, p, row, max < ALL_LINES_HEIGHT ? y + max : h.bottom);
	return h.y - y;
}

static const struct pane_type details_type = {
	.title = "Details",
	.tables = { "blocking", "files", "syscalls" },
	.titles = { NULL, "files of the process", NULL },
	.empty = { "no wait ended in this interval", "no known file descriptors",
		   "no system call ended in this interval" },
	.reads = 1u << TABLE_THREAD | 1u << TABLE_PERF | 1u << TABLE_PREEMPTION | 1u << TABLE_CONTAINER |
		 1u << TABLE_VTID | 1u << TABLE_PAGES | 1u << TABLE_PRESSURE,
	.adjust = details_adjust,
	.head = details_head,
};

struct pane *pane_details_create(const struct view_key *key)
{
	static const char *const same[] = { "host", "tid", "pid", "comm" };
	struct pane *p = pane_create(&details_type);

	p->entity = *key;
	/* whether it is open is more useful than showing bytes twice */
	list_replace_column(&p->lists[DETAILS_FILES], "read_rate", "read_bytes");
	list_toggle_column(&p->lists[DETAILS_FILES], "read_rate");
	list_toggle_column(&p->lists[DETAILS_FILES], "write_rate");
	list_toggle_column(&p->lists[DETAILS_FILES], "open");
	/* already shown at the top */
	for (unsigned i = 0; i < p->n_lists; i++)
		for (unsigned k = 0; k < G_N_ELEMENTS(same); k++)
			if (list_shows_column(&p->lists[i], same[k]))
				list_toggle_column(&p->lists[i], same[k]);
	return p;
}
