/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help screen: made of the action table and the columns of the pane. */
#include "ui/internal.h"

static void add_actions(struct overlay *o, enum action_group group)
{
	char keys[64];

	overlay_add(o, STYLE_TITLE, action_group_title(group), NULL);
	for (unsigned i = 0; i < ACTIONS; i++)
		if (action_get(i)->group == group)
			overlay_add(o, STYLE_KEY, action_keys(action_get(i), keys, sizeof(keys)), action_get(i)->help);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

static void add_columns(struct overlay *o, const struct list *l)
{
	char *title = g_strdup_printf("Columns: a row is %s", l->table->row);

	overlay_add(o, STYLE_TITLE, title, NULL);
	overlay_add(o, STYLE_NORMAL, l->table->meaning, NULL);
	g_free(title);
	for (int i = 0; i < l->n_columns; i++)
		overlay_add(o, STYLE_KEY, l->columns[i].column->header, l->columns[i].column->meaning);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

/* What a path is drawn with. */
static void add_states(struct overlay *o)
{
	overlay_add(o, STYLE_TITLE, "Critical path: what it is drawn with", NULL);
	for (unsigned i = 0; i <= WAIT_STATES; i++) {
		bool wire = i == WAIT_STATES;
		enum wait_state state = wire ? WAIT_NETWORK : i;
		char glyph[8] = "", term[32];

		glyph[g_unichar_to_utf8(path_state_glyph(state, wire), glyph)] = '\0';
		g_snprintf(term, sizeof(term), "%s %s", glyph, path_state_label(state, wire));
		overlay_add(o, path_state_style(state, wire), term, path_state_meaning(state, wire));
	}
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

/* What stands in a line of calls. */
static void add_calls(struct overlay *o)
{
	overlay_add(o, STYLE_TITLE, "Calls: a line is a system call, or a signal", NULL);
	overlay_add(o, STYLE_BOLD, "read(5</var/log/a>", "the call; an fd with its file or peer, if that is known");
	overlay_add(o, STYLE_NORMAL, "…) = 8192", "its result; arguments are cut where there is no room");
	overlay_add(o, STYLE_GONE, "-1 ENOENT", "it failed");
	overlay_add(o, STYLE_DIM, "<0.004210>", "how long it took, in seconds");
	overlay_add(o, STYLE_DIM, "[blocked 4.1 ms", "why it took so long: who or what it waited for");
	overlay_add(o, STYLE_NORMAL, "<unfinished ...>", "it did not return in what was read");
	overlay_add(o, STYLE_NORMAL, "<... read resumed>", "it began before what was read");
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

struct overlay *help_create(struct ui *ui)
{
	struct overlay *o = overlay_text("Help (Esc leaves)", 20);
	struct pane *p = ui_pane(ui);

	for (unsigned i = 0; i < ACTION_GROUPS; i++)
		add_actions(o, (enum action_group)i);
	for (unsigned i = 0; i < p->n_lists; i++)
		add_columns(o, &p->lists[i]);
	if (p->type->window)
		add_states(o);
	if (pane_is_calls(p) && !pane_calls_has_events(p))
		add_calls(o);
	overlay_add(o, STYLE_TITLE, "Colours", NULL);
	overlay_add(o, STYLE_NEW, "name", "born in the shown interval");
	overlay_add(o, STYLE_GONE, "name", "ended in the shown interval");
	overlay_add(o, STYLE_TRACING, "name", "of LTTng or lttngtop itself");
	overlay_add(o, STYLE_MARKED, "name", "highlighted with Space");
	overlay_add(o, STYLE_NORMAL, "", NULL);
	overlay_add(o, STYLE_TITLE, "Timeline: how busy the busiest host was", NULL);
	overlay_add(o, STYLE_DIM, "_", "idle");
	overlay_add(o, STYLE_MARKED, "_", "idle or busy, but some host was away");
	overlay_add(o, STYLE_MARKED, "?", "all were away: nothing is known");
	overlay_add(o, STYLE_LOST, "!", "events were lost");
	overlay_add(o, STYLE_DIM, "·", "no record, or not read yet");
	return o;
}
