/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on critical paths. */
#include "ui/internal.h"

/* The thread that the selected row is or belongs to. */
static bool list_subject(struct ui *ui, struct path_subject *subject)
{
	const struct list *l = pane_list(ui_pane(ui));
	const struct view_row *row = list_selected(l);
	const struct interval_row *found = row ? list_row_thread(l, row) : NULL;
	const struct thread_row *thread;

	if (!found)
		return false;
	thread = INTERVAL_ROW(thread, found);
	*subject = (struct path_subject){
		.host = row->key.host,
		.tid = (int32_t)thread->tid,
		.born_ns = thread->born_ns,
		.exited_ns = thread->exited_ns,
		.alive_ns = thread->exited_ns ? thread->exited_ns - 1 : l->rows.hosts[row->key.host].iv->end_ns - 1,
	};
	return true;
}

void do_path(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);
	struct path_subject subject;

	(void)argument;
	if (pane_is_path(p) ? !pane_path_selected(ui, p, &subject) : !list_subject(ui, &subject)) {
		ui_say(ui, "no thread is selected");
		return;
	}
	pane_destroy(ui->details);
	ui->details = pane_path_create(&subject);
}

void do_segments(struct ui *ui, int argument)
{
	(void)argument;
	pane_path_toggle(ui_pane(ui));
}

void do_compare(struct ui *ui, int argument)
{
	(void)argument;
	if (pane_is_path(ui_pane(ui)))
		pane_path_compare(ui, ui_pane(ui));
	else
		ui_say(ui, "critical paths are compared: w opens that of a thread");
}
