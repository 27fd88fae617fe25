/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help screen, made from the action table and the pane's columns. */
#include "ui/internal.h"
#include "ui/legend.h"
#include "ui/mouse.h"

static void add_actions(struct overlay *o, bool ascii, enum action_group group)
{
	char keys[64];

	overlay_add(o, STYLE_TITLE, action_group_title(group), NULL);
	for (unsigned i = 0; i < ACTIONS; i++)
		if (action_get(i)->group == group)
			overlay_add(o, STYLE_KEY, action_keys(action_get(i), ascii, keys, sizeof(keys)),
				    action_get(i)->help);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

static void add_mouse(struct overlay *o)
{
	const struct mouse_help *help;

	overlay_add(o, STYLE_TITLE, "Mouse: clicks, unless --no-mouse is given", NULL);
	for (unsigned i = 0; (help = mouse_help_get(i)); i++)
		overlay_add(o, STYLE_KEY, help->where, help->help);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

static void add_legend(struct overlay *o)
{
	const struct legend *legend;

	overlay_add(o, STYLE_TITLE, "First lines: state, interval, totals, hosts", NULL);
	for (unsigned i = 0; (legend = legend_get(i)); i++)
		overlay_add(o, STYLE_KEY, legend->term, legend->meaning);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

static bool has_rates(const struct list *l)
{
	for (int i = 0; i < l->n_columns; i++) {
		const enum column_unit unit = l->columns[i].column->unit;

		if (unit == COLUMN_RATE || unit == COLUMN_BYTE_RATE)
			return true;
	}
	return false;
}

/* The screen shows '-' where reports have null. To be freed. */
static char *column_meaning(const struct column *column)
{
	GString *text = g_string_new(column->meaning);

	g_string_replace(text, "null", "'-'", 0);
	return g_string_free(text, FALSE);
}

char *help_column(const struct column *column, int width)
{
	char *meaning = column_meaning(column), *text = g_strdup_printf("%-*s %s", width, column->header, meaning);

	g_free(meaning);
	return text;
}

static void add_columns(struct overlay *o, const struct list *l)
{
	char *title = g_strdup_printf("Columns: a row is %s", l->table->row);

	overlay_add(o, STYLE_TITLE, title, NULL);
	overlay_add(o, STYLE_NORMAL, l->table->meaning, NULL);
	g_free(title);
	if (has_rates(l))
		overlay_add(o, STYLE_NORMAL,
			    "Rates per second refer to the part of the interval in which the host was recorded.", NULL);
	for (int i = 0; i < l->n_columns; i++) {
		char *meaning = column_meaning(l->columns[i].column);

		overlay_add(o, STYLE_KEY, l->columns[i].column->header, meaning);
		g_free(meaning);
	}
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

/* Explains the symbols of a path. */
static void add_states(struct overlay *o)
{
	overlay_add(o, STYLE_TITLE, "Critical path: its symbols", NULL);
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

/* Explains the parts of a call's line. */
static void add_calls(struct overlay *o)
{
	overlay_add(o, STYLE_TITLE, "Pane Attach: one line per system call or signal", NULL);
	overlay_add(o, STYLE_BOLD, "read(5</var/log/a>", "the call; fds with their file or peer, if known");
	overlay_add(o, STYLE_NORMAL, "…) = 8192", "its result; arguments are cut if there is no room");
	overlay_add(o, STYLE_GONE, "-1 ENOENT", "it failed");
	overlay_add(o, STYLE_DIM, "<0.004210>", "how long it took, in seconds");
	overlay_add(o, STYLE_DIM, "[blocked 4.1 ms", "why it took that long: what it waited for");
	overlay_add(o, STYLE_NORMAL, "<unfinished ...>", "it had not returned when reading stopped");
	overlay_add(o, STYLE_NORMAL, "<... read resumed>", "it started before reading did");
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

struct overlay *help_create(struct ui *ui)
{
	struct overlay *o = overlay_text("Help (Esc closes)", 20);
	struct pane *p = ui_pane(ui);

	for (unsigned i = 0; i < ACTION_GROUPS; i++)
		add_actions(o, ui->format.ascii, (enum action_group)i);
	add_mouse(o);
	add_legend(o);
	for (unsigned i = 0; i < p->n_lists; i++)
		add_columns(o, &p->lists[i]);
	if (p->type->window)
		add_states(o);
	if (pane_is_calls(p) && !pane_calls_has_events(p))
		add_calls(o);
	overlay_add(o, STYLE_TITLE, "Colours", NULL);
	overlay_add(o, STYLE_NEW, "name", "born in the shown interval");
	overlay_add(o, STYLE_GONE, "name", "ended in the shown interval");
	overlay_add(o, STYLE_TRACING, "name", "belongs to LTTng or lttngtop");
	overlay_add(o, STYLE_MARKED, "name", "highlighted with Space");
	overlay_add(o, STYLE_NORMAL, "", NULL);
	overlay_add(o, STYLE_TITLE, "Timeline: how busy the busiest host was", NULL);
	overlay_add(o, STYLE_DIM, "_", "idle");
	overlay_add(o, STYLE_MARKED, "_ ▃", "idle or busy, but some host was away");
	overlay_add(o, STYLE_MARKED, "?", "all hosts were away, or not recorded with sched_switch");
	overlay_add(o, STYLE_LOST, "!", "events were lost");
	overlay_add(o, STYLE_DIM, "·", "nothing recorded, or not read yet");
	return o;
}
