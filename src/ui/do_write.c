/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shown list into a file. */
#include "base/error.h"
#include "ui/internal.h"

static void say_written(struct ui *ui, const struct ui_export *what)
{
	unsigned n = what->rows->n;

	ui_say(ui, "%u row%s of %s written to %s", n, n == 1 ? "" : "s", what->table, what->path);
}

static void write_done(struct ui *ui, const char *path)
{
	struct list *l = pane_list(ui_pane(ui));
	const struct list_look look = { .hosts = true, .virtual_ids = ui->virtual_ids };
	const struct column *columns[LIST_COLUMNS];
	const struct view_host *hosts = (const struct view_host *)(const void *)ui->view_hosts->data;
	struct ui_export what = {
		.path = path,
		.table = l->table->name,
		.begin_ns = ui->shown_begin_ns,
		.end_ns = ui->shown_end_ns,
		.rows = &l->rows,
		.columns = columns,
		.lost = view_hosts_lost(hosts, ui->view_hosts->len),
		.format = ui->format,
	};
	const struct ui_window *w = ui->window;
	const char **names;

	if (ui_pane(ui)->type->window) {
		what.begin_ns = w->begin_ns;
		what.end_ns = w->end_ns;
	}
	if (!path || !*path)
		return;
	names = g_new0(const char *, ui->hosts->len);
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!ui_host(ui, i)->hidden)
			names[what.n_hosts++] = ui_host(ui, i)->info.name;
	what.hosts = names;
	what.n_columns = list_all_columns(l, &look, columns);
	if (ui->options.export(&what) == LT_OK) {
		say_written(ui, &what);
	} else {
		ui_say(ui, "%s", error_text());
		error_clear();
	}
	g_free(names);
}

void do_write(struct ui *ui, int argument)
{
	char *name = g_strdup_printf("%s.txt", pane_list(ui_pane(ui))->table->name);

	(void)argument;
	ui_prompt(ui, "Write to (.txt .csv .json):", name, NULL, write_done);
	g_free(name);
}
