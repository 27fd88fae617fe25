/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on panes and on the program. */
#include <string.h>

#include "base/error.h"
#include "ui/internal.h"
#include "ui/keys.h"
#include "ui/screen.h"
#include "ui/settings.h"

/* Keeps the selection if both panes have rows of the same kind. */
static void carry_selection(const struct pane *from, struct pane *to)
{
	const struct list *l;

	if (!from || !from->n_lists || from == to)
		return;
	l = &from->lists[from->focus];
	for (unsigned i = 0; i < to->n_lists && l->chosen; i++)
		if (l->table->source == to->lists[i].table->source && l->table->source != TABLES) {
			list_select_key(&to->lists[i], &l->selected);
			to->lists[i].follow = l->follow;
		}
}

static void close_details(struct ui *ui)
{
	pane_destroy(ui->details);
	ui->details = g_steal_pointer(&ui->behind);
	if (ui->details)
		ui->details->stale = true;
	ui->dirty = true;
}

void do_pane(struct ui *ui, int argument)
{
	struct pane *from = ui->panes[ui->current], *to;

	while (ui->details)
		close_details(ui);
	ui->current = (enum pane_id)argument;
	to = ui_pane(ui);
	to->stale = true;
	carry_selection(from, to);
}

void do_pane_step(struct ui *ui, int argument)
{
	do_pane(ui, ((int)ui->current + argument + PANES) % PANES);
}

static void pane_chosen(struct ui *ui, int value, bool keep)
{
	(void)keep;
	do_pane(ui, value);
}

/* The key that opens a pane directly; UI_KEY_NONE: none. */
static int pane_key(int pane)
{
	for (unsigned i = 0; i < ACTIONS; i++) {
		const char *keys = action_get(i)->keys;

		if (action_get(i)->run == do_pane && action_get(i)->argument == pane)
			return key_next(&keys);
	}
	return UI_KEY_NONE;
}

void do_pane_menu(struct ui *ui, int argument)
{
	struct overlay *menu = overlay_menu("Panes", pane_chosen);
	char name[16];
	int width = 0;

	(void)argument;
	for (unsigned i = 0; i < PANES; i++)
		width = MAX(width, (int)strlen(pane_type((enum pane_id)i)->title));
	for (unsigned i = 0; i < PANES; i++) {
		const struct pane_type *type = pane_type((enum pane_id)i);
		const int key = pane_key((int)i);
		char *text =
			g_strdup_printf("%1s  %-*s %s", key ? key_text(key, ui->format.ascii, name, sizeof(name)) : "",
					width, type->title, type->about);

		overlay_item(menu, (int)i, -1, text);
		overlay_item_key(menu, key);
		g_free(text);
	}
	overlay_select(menu, (int)ui->current);
	ui_set_overlay(ui, menu);
}

void do_open(struct ui *ui, int argument)
{
	const struct list *l = pane_list(ui_pane(ui));
	const struct interval_row *thread;
	const struct view_row *row;
	const char *instead;
	struct view_key key;

	(void)argument;
	if (ui_pane(ui)->type->body) {
		ui_pane(ui)->type->body->open(ui, ui_pane(ui));
		return;
	}
	if (l->query.sum_by && !ui->details) {
		row = ui_selected_row(ui);
		if (row)
			sum_open(ui, row);
		return;
	}
	row = ui_acting_row(ui);
	if (!row)
		return;
	if (ui_pane(ui)->type->open_row && ui_pane(ui)->type->open_row(ui, l, row))
		return;
	if (ui->details) {
		ui_say(ui, "nothing more to open here; press Esc to go back");
		return;
	}
	thread = list_row_thread(l, row);
	if (!thread) {
		instead = ui_pane(ui)->type->instead[ui_pane(ui)->focus];
		ui_say(ui, "this row has no details%s%s%s", instead ? "; " : "", instead ? instead : "",
		       view_table_has_log(l->table) ? "; l lists its longest durations" : "");
		return;
	}
	key = (struct view_key){ .host = row->key.host, .table = TABLE_THREAD, .uid = thread->b[0] };
	ui->details = pane_details_create(&key);
}

void do_close(struct ui *ui, int argument)
{
	(void)argument;
	if (pane_is_calls(ui_pane(ui)) && ui->search_text->len)
		g_string_truncate(ui->search_text, 0);
	else if (ui->details)
		close_details(ui);
	else if (ui->search_text->len)
		g_string_truncate(ui->search_text, 0);
	else if (ui->baseline->end_ns)
		baseline_end(ui);
	else if (!sum_return(ui))
		containers_return(ui);
}

/* Values of the menu's items: hosts, then sessions; below 0: nothing to choose. */
enum { MENU_HEADING = -1, MENU_SESSIONS = 100000 };

void hosts_show_only(struct ui *ui, unsigned host)
{
	bool alone = ui_visible_hosts(ui) == 1 && !ui_host(ui, host)->hidden;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		ui_host(ui, i)->hidden = !alone && i != host;
	data_forget(ui);
	ui_rebuild(ui);
}

static void host_chosen(struct ui *ui, int value, bool keep)
{
	struct ui_host_data *host;

	if (value < 0)
		return;
	if (value >= MENU_SESSIONS) {
		input_toggle(ui, (unsigned)(value - MENU_SESSIONS));
		return;
	}
	if (!keep) { /* Enter */
		hosts_show_only(ui, (unsigned)value);
		return;
	}
	host = ui_host(ui, (unsigned)value);
	if (!host->hidden && ui_visible_hosts(ui) == 1) {
		ui_say(ui, "at least one host must stay visible");
		return;
	}
	host->hidden = !host->hidden;
	overlay_check(ui->overlay, value, !host->hidden);
	data_forget(ui);
	ui_rebuild(ui);
}

void hosts_menu_show(struct ui *ui)
{
	struct overlay *menu = overlay_menu("Hosts: Space shows or hides one, Enter shows only that one", host_chosen);
	int selected = ui->choosing_hosts ? overlay_selected(ui->overlay) : 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!ui_host(ui, i)->gone)
			overlay_item(menu, (int)i, !ui_host(ui, i)->hidden, ui_host(ui, i)->info.name);
	inputs_add_items(ui, menu, "Sessions: Space attaches or detaches", MENU_HEADING, MENU_SESSIONS);
	overlay_select(menu, selected);
	ui_set_overlay(ui, menu);
	ui->choosing_hosts = true;
}

void do_hosts_menu(struct ui *ui, int argument)
{
	(void)argument;
	hosts_menu_show(ui);
}

/* ---- setup ---- */

enum { SETUP_SAVE = 1000, SETUP_HOSTS, SETUP_COLOR, SETUP_PERCENT, SETUP_LONGER, SETUP_SHORTER, SETUP_LIST };

static void save_settings(struct ui *ui)
{
	if (settings_save(ui->options.settings, ui) == LT_OK)
		ui_say(ui, "settings saved to %s", settings_path(ui->options.settings));
	else
		ui_say(ui, "%s", error_text());
}

static void toggle_column(struct list *l, int value)
{
	if (value < (int)l->table->n_columns)
		list_toggle_column(l, l->table->columns[value].name);
}

static void setup_show(struct ui *ui);

static void setup_chosen(struct ui *ui, int value, bool keep)
{
	switch (value) {
	case SETUP_SAVE:
		save_settings(ui);
		return;
	case SETUP_LIST:
		break;
	case SETUP_HOSTS:
		ui->show_hosts = !ui->show_hosts;
		break;
	case SETUP_COLOR:
		screen_set_color(!screen_has_color());
		ui->color_chosen = true;
		break;
	case SETUP_PERCENT:
		do_percent(ui, 0);
		break;
	case SETUP_LONGER:
	case SETUP_SHORTER:
		time_change_length(ui, value == SETUP_LONGER ? 1 : -1);
		keep = true;
		break;
	default:
		toggle_column(pane_list(ui_pane(ui)), value);
	}
	ui_rebuild(ui);
	if (keep)
		setup_show(ui);
}

static void setup_show(struct ui *ui)
{
	struct overlay *menu = overlay_menu("Setup: Space changes, Esc closes", setup_chosen);
	int selected = ui->overlay ? overlay_selected(ui->overlay) : SETUP_HOSTS;
	struct pane *p = ui_pane(ui);
	const struct view_table *table = p->n_lists ? pane_list(p)->table : NULL;
	char length[32], *text;
	int width = 0;

	overlay_item(menu, SETUP_HOSTS, ui->show_hosts, "a line per host above the timeline");
	overlay_item(menu, SETUP_COLOR, screen_has_color(), "colours");
	overlay_item(menu, SETUP_PERCENT, ui->host_percent, "CPU time in percent of the whole host");
	if (ui->started) {
		timetext_format_duration(length, sizeof(length), ui->cursor.interval_ns);
		text = g_strdup_printf("    longer interval than %s", length);
		overlay_item(menu, SETUP_LONGER, -1, text);
		g_free(text);
		text = g_strdup_printf("    shorter interval than %s", length);
		overlay_item(menu, SETUP_SHORTER, -1, text);
		g_free(text);
	}
	overlay_item(menu, SETUP_SAVE, -1, "    Save: keep this, and the columns and order of all panes");
	if (table && p->n_lists > 1) {
		text = g_strdup_printf("    columns of the list %s, which has the selection:", table->name);
		overlay_item(menu, SETUP_LIST, -1, text);
		g_free(text);
	}
	for (unsigned i = 0; table && i < table->n_columns; i++)
		width = MAX(width, canvas_text_width(table->columns[i].header));
	for (unsigned i = 0; table && i < table->n_columns; i++) {
		const struct column *c = &table->columns[i];

		text = help_column(c, width);
		overlay_item(menu, (int)i, list_shows_column(pane_list(p), c->name), text);
		g_free(text);
	}
	overlay_select(menu, selected);
	ui_set_overlay(ui, menu);
}

void do_setup(struct ui *ui, int argument)
{
	(void)argument;
	setup_show(ui);
}

void do_help(struct ui *ui, int argument)
{
	(void)argument;
	ui_set_overlay(ui, help_create(ui));
}

void do_messages(struct ui *ui, int argument)
{
	(void)argument;
	messages_show(ui);
}

void do_redraw(struct ui *ui, int argument)
{
	(void)ui;
	(void)argument;
	screen_redraw();
}

void do_quit(struct ui *ui, int argument)
{
	(void)argument;
	ui->quit = true;
}
