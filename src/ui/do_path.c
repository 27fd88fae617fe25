/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions on critical paths. */
#include "ui/internal.h"
#include "ui/path.h"

static void set_subject(struct path_subject *subject, unsigned host, const struct interval_row *row, uint64_t end_ns)
{
	const struct thread_row *thread = INTERVAL_ROW(thread, row);

	*subject = (struct path_subject){
		.host = host,
		.tid = (int32_t)thread->tid,
		.pid = (int32_t)thread->pid,
		.comm = (strid)thread->comm,
		.born_ns = thread->born_ns,
		.exited_ns = thread->exited_ns,
		.alive_ns = (thread->exited_ns ? thread->exited_ns : end_ns) - 1,
	};
}

/* Unless it is already shown. */
static void go_to(struct ui *ui, uint64_t at_ns)
{
	uint64_t begin_ns, end_ns;

	ui_interval(ui, &begin_ns, &end_ns);
	if (at_ns >= begin_ns && at_ns < end_ns)
		return;
	cursor_pause(&ui->cursor, true);
	cursor_jump(&ui->cursor, at_ns);
}

/* The thread that the selected row is or belongs to; in details, the thread shown. Reports if there is none. */
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
			ui_say(ui, "this thread does not exist in this interval");
	} else if (row) {
		thread = list_row_thread(l, row);
		if (thread)
			set_subject(subject, row->key.host, thread, view_row_host(&l->rows, row)->iv->end_ns);
		else
			ui_say(ui, "this row does not belong to a thread");
	}
	return thread;
}

/* In a path, the thread of the selected segment; in calls, the one that made the selected call, whose time is shown. */
static bool pane_subject(struct ui *ui, struct path_subject *subject)
{
	const struct pane *p = ui_pane(ui);
	uint64_t at_ns;

	if (!pane_is_path(p) && !pane_is_calls(p))
		return list_subject(ui, subject);
	if (pane_is_calls(p) && pane_calls_has_events(p)) {
		ui_say(ui, "these lines are events: press Esc, then w on a thread");
		return false;
	}
	if (pane_is_path(p) && pane_path_selected(ui, p, subject))
		return true;
	if (pane_is_calls(p) && pane_calls_selected(ui, p, subject, &at_ns)) {
		go_to(ui, at_ns);
		return true;
	}
	ui_say(ui, "no thread is selected");
	return false;
}

/* Whether details of a thread are shown. */
static bool shows_thread(const struct ui *ui)
{
	return ui->details && !pane_is_path(ui->details) && !pane_is_calls(ui->details);
}

/* Another pane is about to be shown over the current one. back: Esc returns to what is shown now. */
static void leave(struct ui *ui, bool back)
{
	if (back) {
		pane_destroy(ui->behind);
		ui->behind = ui->details;
	} else {
		pane_destroy(ui->details);
	}
	ui->details = NULL;
}

void do_path(struct ui *ui, int argument)
{
	struct path_subject subject;

	(void)argument;
	if (!pane_subject(ui, &subject))
		return;
	leave(ui, shows_thread(ui) || pane_is_calls(ui_pane(ui)));
	ui->details = pane_path_create(&subject);
}

void do_attach(struct ui *ui, int argument)
{
	struct path_subject subject;

	(void)argument;
	if (!pane_subject(ui, &subject))
		return;
	/* a path's thread: these calls replace those from which it was opened */
	if (ui->behind && pane_is_calls(ui->behind))
		g_clear_pointer(&ui->behind, pane_destroy);
	leave(ui, shows_thread(ui));
	ui->details = pane_calls_create(ui, &subject);
}

void do_dump(struct ui *ui, int argument)
{
	uint64_t begin_ns, end_ns;

	(void)argument;
	ui_interval(ui, &begin_ns, &end_ns);
	if (begin_ns >= end_ns) {
		ui_say(ui, "nothing is shown yet whose events could be read");
		return;
	}
	if (ui->cursor.live && !ui->options.recalls) {
		ui_say(ui, "nothing is kept (--recall-memory 0): use lttngtop report dump --duration 5s SOURCE");
		return;
	}
	pane_destroy(ui->behind);
	ui->behind = NULL;
	pane_destroy(ui->details);
	ui->details = pane_events_create(ui);
}

void do_segments(struct ui *ui, int argument)
{
	struct pane *p = ui_pane(ui);

	(void)argument;
	if (pane_is_path(p))
		pane_path_toggle(p);
	else if (p->head_first || p->head_next)
		p->head_first = p->head_next;
	else
		ui_say(ui, "works only in a critical path, and in details that do not fit");
}

void do_compare(struct ui *ui, int argument)
{
	const struct pane *p = ui_pane(ui);

	(void)argument;
	if (ui->compared && p->type->window) {
		path_destroy(ui->compared);
		ui->compared = NULL;
		ui_say(ui, "comparison off");
	} else if (pane_is_path(p))
		pane_path_compare(ui, ui_pane(ui));
	else if (ui->baseline->end_ns)
		baseline_end(ui);
	else if (p->type->window)
		ui_say(ui, "open one thread's path with w, then compare");
	else
		baseline_begin(ui);
}
