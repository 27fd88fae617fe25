/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest durations of a row: a menu of single ones, whose times Enter shows. Figures only have the longest of
 * them; for the others, whoever drives the screen reads the events again (ui_wanted_longest()).
 */
#include <inttypes.h>
#include <string.h>

#include "base/strpool.h"
#include "model/buckets.h"
#include "ui/internal.h"
#include "view/dist.h"

struct ui_longest_asked {
	struct ui_longest_request request; /* tids: see below */
	GArray *tids;                      /* int32_t */
	char *title;
	uint64_t count; /* of all durations in the interval */
	GArray *list;   /* struct ui_longest_one: its items */
};

void longest_init(struct ui *ui)
{
	ui->longest = g_new0(struct ui_longest_asked, 1);
	ui->longest->tids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	ui->longest->list = g_array_new(FALSE, FALSE, sizeof(struct ui_longest_one));
}

void longest_release(struct ui *ui)
{
	g_array_free(ui->longest->tids, TRUE);
	g_array_free(ui->longest->list, TRUE);
	g_free(ui->longest->title);
	g_free(ui->longest);
}

/* ---- which durations ---- */

/* The table's distribution of durations: the one that it is sorted by, else the first. NULL: it has none. */
static const struct column *find_distribution(const struct list *l)
{
	const struct column *sort = l->query.sort, *first = NULL;

	for (unsigned i = 0; i < l->table->n_columns; i++) {
		const struct column *c = &l->table->columns[i];

		if (!view_column_is_logged(l->table, c))
			continue;
		if (sort && sort->form >= FORM_COUNT && sort->cells == c->cells && sort->cell == c->cell)
			return c;
		if (!first)
			first = c;
	}
	return first;
}

/*
 * Whether the interval has waits of the same kind, on the same fd, for another file: an fd whose file is not known when
 * the interval is read again may be of either.
 */
static bool has_namesake(const struct interval *iv, const struct interval_row *row)
{
	const struct interval_table *t = &iv->tables[TABLE_BLOCKING];
	const struct blocking_row *wanted = INTERVAL_ROW(blocking, row);

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct blocking_row *r = INTERVAL_ROW(blocking, &t->rows[i]);

		if (r->thread_uid == wanted->thread_uid && r->state == wanted->state && r->syscall == wanted->syscall &&
		    r->fd == wanted->fd && r->object != wanted->object)
			return true;
	}
	return false;
}

/* The threads whose durations are meant: none if the row does not belong to any. */
static void list_tids(struct ui_longest_asked *a, const struct list *l, const struct view_row *row)
{
	const struct interval_table *t = &view_row_host(&l->rows, row)->iv->tables[TABLE_THREAD];
	const struct interval_row *of = list_row_thread(l, row);
	const struct thread_row *thread = of ? INTERVAL_ROW(thread, of) : NULL;
	const bool of_process = l->query.processes || l->query.sum_by == VIEW_SUM_PROCESS;
	int32_t tid;

	g_array_set_size(a->tids, 0);
	if (!thread)
		return;
	tid = (int32_t)thread->tid;
	g_array_append_val(a->tids, tid);
	for (uint32_t i = 0; of_process && i < t->n_rows; i++) {
		const struct thread_row *other = INTERVAL_ROW(thread, &t->rows[i]);

		tid = (int32_t)other->tid;
		if (other->pid == thread->pid && other->tid != thread->tid)
			g_array_append_val(a->tids, tid);
	}
}

/* "postgres 722 (db), openat: longest time from entry to exit of the call" */
static char *title_of(const struct list *l, const struct view_row *row, const struct column *c)
{
	const struct column *name = view_rows_column(&l->rows, l->table->source == TABLE_BLOCKING ? "what" : "name");
	const struct interval_row *of = list_row_thread(l, row);
	const char *meaning = c->cells[c->cell + 1].meaning;
	GString *s = g_string_new(NULL);
	struct value v = { .kind = VALUE_NULL };

	if (name && name->unit == COLUMN_TEXT)
		view_rows_value(&l->rows, (unsigned)(row - l->rows.rows), name, &v);
	if (of)
		g_string_printf(s, "%s %" PRId64, strpool_text((strid)INTERVAL_ROW(thread, of)->comm),
				(int64_t)INTERVAL_ROW(thread, of)->tid);
	else if (v.kind == VALUE_TEXT)
		g_string_assign(s, v.text);
	g_string_append_printf(s, " (%s)", view_row_host_name(&l->rows, row));
	if (of && v.kind == VALUE_TEXT)
		g_string_append_printf(s, ", %s", v.text);
	/* what follows a comma would not fit */
	g_string_append_printf(s, ": longest %.*s", (int)strcspn(meaning, ","), meaning);
	return g_string_free(s, FALSE);
}

/* ---- the menu ---- */

static void chosen(struct ui *ui, int value, bool keep)
{
	const struct ui_longest_asked *a = ui->longest;
	const struct ui_longest_one *one;
	char time[TIMETEXT_SIZE], length[FORMAT_SIZE];

	(void)keep;
	if (value <= 0 || (guint)value > a->list->len)
		return;
	one = &g_array_index(a->list, struct ui_longest_one, value - 1);
	cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, one->begin_ns);
	ui_say(ui, "at %s, for %s", ui_time(ui, time, sizeof(time), one->begin_ns, 9, UI_DATE_IF_DAYS),
	       format_duration(length, sizeof(length), one->length_ns, ui->format.ascii));
}

/* What the title does not say: how a time slice ended, who ran before a woken thread, whether a disk was read. */
static char *cause_of(const struct ui_longest_asked *a, const struct ui_longest_one *one)
{
	const enum table_id table = bucket_dist_table(a->request.dist);
	const char *cause = one->cause ? strpool_text(one->cause) : "";

	if (!*cause || table == TABLE_SYSCALL || table == TABLE_IRQ)
		return NULL;
	if (a->request.dist == bucket_dist(TABLE_THREAD, CELL(thread, latency.count)))
		return g_strconcat("after ", cause, NULL);
	if (table == TABLE_BLOCKING)
		return g_strconcat("ended by ", cause, NULL);
	/* where no state dump was read again, the disk has only a number here */
	return g_strdup(table == TABLE_DISK && strrchr(cause, ' ') ? strrchr(cause, ' ') + 1 : cause);
}

static void add_item(const struct ui *ui, struct overlay *menu, int i)
{
	const struct ui_longest_asked *a = ui->longest;
	const struct ui_longest_one *one = &g_array_index(a->list, struct ui_longest_one, i);
	char time[TIMETEXT_SIZE], length[FORMAT_SIZE], fit[FORMAT_SIZE], *cause = cause_of(a, one);
	GString *s = g_string_new(NULL);

	format_duration(length, sizeof(length), one->length_ns, ui->format.ascii);
	g_string_printf(s, "%s  %s", format_fit(fit, sizeof(fit), length, 7, true, &ui->format),
			ui_time(ui, time, sizeof(time), one->begin_ns, 9, UI_DATE_IF_OTHER));
	if (a->tids->len != 1 && one->tid >= 0)
		g_string_append_printf(s, "  %s %" PRId32, one->comm ? strpool_text(one->comm) : "?", one->tid);
	if (cause)
		g_string_append_printf(s, "  %s", cause);
	overlay_item(menu, i + 1, -1, s->str);
	g_string_free(s, TRUE);
	g_free(cause);
}

static void add_note(struct overlay *menu, char *text)
{
	overlay_item(menu, 0, -1, text);
	g_free(text);
}

/* Those that belong to the row's figures and are not in what was read. */
static char *missing_of(const struct ui *ui, uint64_t found)
{
	const struct ui_longest_asked *a = ui->longest;
	GString *s = g_string_new(NULL);
	char length[FORMAT_SIZE];

	g_string_printf(s, "%" PRIu64 " of %" PRIu64 " cannot be read again", a->count - found, a->count);
	if (!a->list->len || g_array_index(a->list, struct ui_longest_one, 0).length_ns < a->request.longest_ns)
		g_string_append_printf(
			s, ", among them the longest, %s",
			format_duration(length, sizeof(length), a->request.longest_ns, ui->format.ascii));
	return g_string_free(s, FALSE);
}

/* What is not in the list. */
static void add_notes(const struct ui *ui, struct overlay *menu, const struct ui_longest *told)
{
	const struct ui_longest_asked *a = ui->longest;
	char time[TIMETEXT_SIZE];

	if (told->problem) {
		add_note(menu, g_strdup(told->problem));
		return;
	}
	if (!told->complete) {
		add_note(menu, g_strdup_printf("reading %u%%", told->percent));
		return;
	}
	if (told->found > a->list->len)
		add_note(menu, g_strdup_printf("and %" PRIu64 " shorter ones", told->found - a->list->len));
	if (told->first_ns)
		add_note(menu, g_strdup_printf("what came before %s is no longer kept",
					       ui_time(ui, time, sizeof(time), told->first_ns, 3, UI_DATE_IF_OTHER)));
	else if (told->found < a->count)
		add_note(menu, missing_of(ui, told->found));
}

/* Opens the menu, or replaces it. */
static void show_menu(struct ui *ui, const struct ui_longest *told)
{
	struct ui_longest_asked *a = ui->longest;
	const int selected = ui->listing_longest ? MAX(overlay_selected(ui->overlay), 1) : 1;
	struct overlay *menu = overlay_menu(a->title, chosen);

	g_array_set_size(a->list, 0);
	if (told->complete)
		g_array_append_vals(a->list, told->list, told->n);
	for (guint i = 0; i < a->list->len; i++)
		add_item(ui, menu, (int)i);
	add_notes(ui, menu, told);
	overlay_select(menu, selected);
	ui_set_overlay(ui, menu);
	ui->listing_longest = true;
}

/* ---- asking ---- */

void do_longest(struct ui *ui, int argument)
{
	struct ui_longest_asked *a = ui->longest;
	const struct list *l = pane_list(ui_pane(ui));
	const struct column *c = find_distribution(l);
	const struct view_row *row;
	const struct ui_host_data *host;
	struct dist dist;

	(void)argument;
	if (!c) {
		ui_say(ui, "l works in Latency, Syscalls, Blocking and Devices (disks, interrupts)");
		return;
	}
	if (ui->cursor.live && !ui->options.recalls) {
		ui_say(ui, "nothing is kept (--recall-memory 0)");
		return;
	}
	row = ui_acting_row(ui);
	if (!row)
		return;
	if (row->hidden) {
		ui_say(ui, "this row sums up a branch of %u rows: press c to expand it", row->hidden + 1);
		return;
	}
	dist = view_dist(view_row_host(&l->rows, row)->iv, (enum table_id)l->table->source, &row->row, c->cell);
	if (row->of_baseline || !dist.count) {
		ui_say(ui, "none ended in this interval: %s", c->cells[c->cell + 1].meaning);
		return;
	}
	host = ui_host(ui, row->key.host);
	list_tids(a, l, row);
	g_free(a->title);
	a->title = title_of(l, row, c);
	a->count = dist.count;
	a->request = (struct ui_longest_request){
		.number = a->request.number + 1,
		.host = row->key.host,
		.dist = bucket_dist((enum table_id)l->table->source, c->cell),
		.tables = l->table->tables,
		.begin_ns = host->load.interval.begin_ns,
		.end_ns = host->load.interval.end_ns,
		.longest_ns = dist.max,
	};
	/* threads are compared by their tids */
	if (l->table->source != TABLE_THREAD)
		a->request.row = alike_of((enum table_id)l->table->source, row->row.b, !l->rows.per_cpu);
	if (l->table->source == TABLE_BLOCKING)
		a->request.row.any_unknown = !has_namesake(view_row_host(&l->rows, row)->iv, &row->row);
	show_menu(ui, &(struct ui_longest){ 0 });
}

bool ui_wanted_longest(struct ui *ui, struct ui_longest_request *request)
{
	const struct ui_longest_asked *a = ui->longest;

	if (!ui->listing_longest)
		return false;
	*request = a->request;
	request->tids = (const int32_t *)(const void *)a->tids->data;
	request->n_tids = a->tids->len;
	return true;
}

void ui_set_longest(struct ui *ui, const struct ui_longest *longest)
{
	if (ui->listing_longest && longest->number == ui->longest->request.number)
		show_menu(ui, longest);
}
