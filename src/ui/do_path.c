/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on critical paths. */
#include "ui/internal.h"

static void set_subject(struct path_subject *subject, unsigned host, const struct interval_row *row, uint64_t end_ns)
{
	const struct thread_row *thread = INTERVAL_ROW(thread, row);

	*subject = (struct path_subject){
		.host = host,
		.tid = (int32_t)thread->tid,
		.born_ns = thread->born_ns,
		.exited_ns = thread->exited_ns,
		.alive_ns = (thread->exited_ns ? thread->exited_ns : end_ns) - 1,
	};
}

/* The thread that the selected row is or belongs to; of details the one they are of. Says so if there is none. */
static bool list_subject(struct ui *ui, struct path_subject *subject)
{
	const struct pane *p = ui_pane(ui);
	const struct list *l = &p->lists[p->focus];
	const struct view_row *row = ui->details ? NULL : ui_acting_row(ui);
	const struct interval_row *thread = NULL;

	if (ui->details) {
		const struct ui_host_data *host = ui_host(ui, p->entity.host);

		thread = host->loaded ? interval_find(&host->load.interval, TABLE_THREAD, p->entity.uid) : NULL;
		if (thread)
			set_subject(subject, p->entity.host, thread, host->load.interval.end_ns);
		else
			ui_say(ui, "this thread does not live in this interval");
	} else if (row) {
		thread = list_row_thread(l, row);
		if (thread)
			set_subject(subject, row->key.host, thread, view_row_host(&l->rows, row)->iv->end_ns);
		else
			ui_say(ui, "this row does not belong to a thread");
	}
	return thread;
}

void do_path(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);
	struct path_subject subject;

	(void)argument;
	if (pane_is_path(p) && !pane_path_selected(ui, p, &subject)) {
		ui_say(ui, "no thread is selected");
		return;
	}
	if (!pane_is_path(p) && !list_subject(ui, &subject))
		return;
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
	const struct pane *p = ui_pane(ui);

	(void)argument;
	if (pane_is_path(p))
		pane_path_compare(ui, ui_pane(ui));
	else if (ui->base->end_ns)
		base_end(ui);
	else if (p->type->window)
		ui_say(ui, "of critical paths one thread's are compared: w opens them");
	else
		base_begin(ui);
}
