/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes keys, and runs their actions. */
#include "ui/internal.h"
#include "ui/keys.h"
#include "ui/screen.h"

bool ui_suits_pane(struct ui *ui, const struct action *action)
{
	const struct pane *p = ui_pane(ui);

	return action->where & (p->type->body ? p->type->body->where : p->n_lists ? WHERE_LIST : WHERE_TEXT);
}

void ui_run(struct ui *ui, const struct action *action)
{
	if (!ui_suits_pane(ui, action)) {
		ui_say(ui, action->where & WHERE_LIST ? "does not work in this pane" : "works only in a critical path");
		return;
	}
	action->run(ui, action->argument);
	ui->dirty = true;
}

void ui_prompt(struct ui *ui, const char *label, const char *text, prompt_change_fn *change, prompt_done_fn *done)
{
	prompt_start(&ui->prompt, label, text, change, done);
	ui->dirty = true;
}

static void say_no_action(struct ui *ui, int key)
{
	char name[16];

	if (key == UI_KEY_UNKNOWN || key == UI_KEY_FOREIGN || (key >= 0 && key < ' '))
		ui_say(ui, "this key does nothing here; %s",
		       ui->overlay ? "press Esc to go back" : "press F1 for help");
	else if (key_is_text(key) || key == UI_KEY_DELETE || (key >= UI_KEY_F1 && key <= UI_KEY_F12))
		ui_say(ui, "%s does nothing here; %s", key_text(key, ui->format.ascii, name, sizeof(name)),
		       ui->overlay ? "press Esc to go back" : "press F1 for help");
}

static void overlay_did(struct ui *ui, const struct overlay *overlay, int key, enum overlay_result result)
{
	/* the chosen item may have opened another one */
	if (result == OVERLAY_CLOSES && ui->overlay == overlay)
		ui_set_overlay(ui, NULL);
	else if (result == OVERLAY_IGNORES)
		say_no_action(ui, key);
}

/* Handles the letter after m or '. */
static void bookmark_letter(struct ui *ui, int key)
{
	bool set = ui->pending == 'm';
	char time[TIMETEXT_SIZE];
	uint64_t begin_ns, end_ns;
	struct ui_instant *mark;

	ui->pending = 0;
	if (key == UI_KEY_ESC || key == UI_KEY_BACKSPACE)
		return;
	if (key < 'a' || key > 'z') {
		ui_say(ui, "a bookmark must be a letter from a to z");
		return;
	}
	mark = &ui->bookmarks[key - 'a'];
	if (set) {
		*mark = instant_of(ui, ui->shown_begin_ns);
		ui_say(ui, "bookmark %c at %s", key,
		       ui_time(ui, time, sizeof(time), ui->shown_begin_ns, 3, UI_DATE_IF_DAYS));
	} else if (mark->set) {
		cursor_pause(&ui->cursor, true);
		cursor_jump(&ui->cursor, instant_ref(ui, mark));
		cursor_interval(&ui->cursor, &begin_ns, &end_ns);
		if (instant_ref(ui, mark) < begin_ns)
			time_say_outside(ui, &(struct timetext){ .form = TIMETEXT_TIME_OF_DAY }, instant_ref(ui, mark));
	} else {
		ui_say(ui, "no bookmark %c", key);
	}
}

bool ui_can_run(const struct ui *ui, const struct action *action)
{
	return ui->started || action == action_get(ACTION_HELP) || action == action_get(ACTION_MESSAGES) ||
	       action == action_get(ACTION_QUIT) || action == action_get(ACTION_HOSTS_MENU);
}

void dispatch_key(struct ui *ui, int key)
{
	const struct overlay *overlay;
	const struct action *action = action_find(key);

	if (action == action_get(ACTION_REDRAW)) {
		ui_run(ui, action); /* whatever else is shown stays */
		return;
	}
	ui->message[0] = '\0';
	ui->dirty = true;
	if (ui->started)
		ui_refresh(ui);
	if (key == UI_KEY_MOUSE) {
		overlay = ui->overlay;
		overlay_did(ui, overlay, key, mouse_event(ui));
	} else if (screen_is_pasting() && !ui->prompt.active) {
		ui_say(ui, "pasted text is ignored here; it can be pasted into a search (/) or a filter (F4)");
	} else if (ui->prompt.active) {
		prompt_key(&ui->prompt, ui, key);
	} else if (ui->pending) {
		bookmark_letter(ui, key);
	} else if (ui->overlay) {
		overlay_did(ui, ui->overlay, key, overlay_key(ui->overlay, ui, key));
	} else if (action && !ui_can_run(ui, action)) {
		ui_say(ui, "nothing to show yet: waiting for the first events");
	} else if (action) {
		ui_run(ui, action);
	} else {
		say_no_action(ui, key);
	}
}
