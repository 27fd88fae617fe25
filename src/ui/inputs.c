/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources: recordings, live sessions, relayds; their states, and which ones the user wants attached. */
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "ui/internal.h"

enum { HOST_WIDTH_MAX = 16, NAME_WIDTH_MIN = 12, STATE_WIDTH_MIN = 24 };

enum { MENU_INDENT = 4 }; /* of a state below a name */

struct input_data {
	struct ui_input info; /* owns its texts */
	bool wanted;          /* whether the user wants it attached */
};

static struct input_data *input_at(const struct ui *ui, unsigned i)
{
	return &g_array_index(ui->inputs, struct input_data, i);
}

static void release_texts(struct ui_input *input)
{
	g_free((char *)input->name);
	g_free((char *)input->state);
	g_free((char *)input->host);
	g_free((char *)input->target);
}

void inputs_init(struct ui *ui)
{
	ui->inputs = g_array_new(FALSE, TRUE, sizeof(struct input_data));
}

void inputs_release(struct ui *ui)
{
	for (unsigned i = 0; i < ui->inputs->len; i++)
		release_texts(&input_at(ui, i)->info);
	g_array_free(ui->inputs, TRUE);
}

static bool equal(const struct ui_input *a, const struct ui_input *b)
{
	return g_strcmp0(a->name, b->name) == 0 && g_strcmp0(a->state, b->state) == 0 &&
	       g_strcmp0(a->host, b->host) == 0 && a->session == b->session && a->runs == b->runs &&
	       a->detached == b->detached && a->retried == b->retried && a->over == b->over;
}

/* An error's text without the name of its source in quotes, and what precedes it: it is shown next to it. */
static const char *short_state(const char *name, const char *state)
{
	char *quoted = g_strdup_printf("'%s'", name);
	const char *at = strstr(state, quoted);

	if (at)
		at += strlen(quoted);
	g_free(quoted);
	if (!at)
		return state;
	at += strspn(at, ":, ");
	return *at ? at : state;
}

/* With texts of its own. Paths may have any bytes, and parts of URLs come from other machines. */
static struct ui_input copy_input(const struct ui_input *input)
{
	struct ui_input copy = *input;
	char *state = text_sanitised(input->state);

	copy.name = text_sanitised(input->name);
	copy.host = g_strdup(input->host);
	copy.target = input->target ? text_sanitised(input->target) : NULL;
	copy.state = g_strdup(short_state(copy.name, state));
	g_free(state);
	return copy;
}

void ui_set_inputs(struct ui *ui, const struct ui_input *inputs, unsigned n)
{
	bool changed = n != ui->inputs->len;

	for (unsigned i = n; i < ui->inputs->len; i++)
		release_texts(&input_at(ui, i)->info);
	g_array_set_size(ui->inputs, n);
	for (unsigned i = 0; i < n; i++) {
		struct input_data *input = input_at(ui, i);
		struct ui_input copy = copy_input(&inputs[i]);

		if (input->info.id != copy.id)
			input->wanted = false;
		input->info.id = copy.id;
		if (equal(&input->info, &copy)) {
			release_texts(&copy);
			continue;
		}
		changed = true;
		release_texts(&input->info);
		input->info = copy;
	}
	if (!changed)
		return;
	ui->dirty = true;
	if (ui->choosing_hosts)
		hosts_menu_show(ui);
}

bool ui_wanted_input(struct ui *ui, unsigned *id, bool *attach)
{
	for (unsigned i = 0; i < ui->inputs->len; i++)
		if (input_at(ui, i)->wanted) {
			input_at(ui, i)->wanted = false;
			*id = input_at(ui, i)->info.id;
			*attach = input_at(ui, i)->info.detached;
			return true;
		}
	return false;
}

void ui_refuse_input(struct ui *ui, unsigned max_sessions)
{
	ui_say(ui, "the limit of %u attached sessions is reached: detach one first, or raise --max-sessions",
	       max_sessions);
}

/* How much a source has to do with its host being away: one that has ended is no reason while another may continue. */
static int reason_rank(const struct ui_input *input)
{
	return input->over ? 0 : input->retried ? 2 : 1;
}

const char *inputs_why_away(const struct ui *ui, const char *host, bool *retried)
{
	const struct ui_input *reason = NULL;

	for (unsigned i = 0; i < ui->inputs->len; i++) {
		const struct ui_input *input = &input_at(ui, i)->info;

		if (g_strcmp0(input->host, host) == 0 && (!reason || reason_rank(input) > reason_rank(reason)))
			reason = input;
	}
	if (!reason || reason->runs)
		return NULL;
	*retried = reason->retried;
	return reason->state;
}

static bool is_shown(const struct ui *ui, const char *name)
{
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (strcmp(ui_host(ui, i)->info.name, name) == 0)
			return true;
	return false;
}

bool inputs_await_hosts(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->inputs->len; i++) {
		const struct ui_input *input = &input_at(ui, i)->info;

		if (input->session && input->runs && !(input->host && is_shown(ui, input->host)))
			return true;
	}
	return false;
}

/* Below its name, in as many lines as it needs. */
static void add_state(struct overlay *menu, const char *state, int width)
{
	while (*state) {
		const size_t len = utf8_wrap(state, (unsigned)width);
		char *line = g_strdup_printf("%*s%.*s", MENU_INDENT, "", (int)len, state);

		overlay_note(menu, line);
		g_free(line);
		state += len;
		state += strspn(state, " ");
	}
}

void inputs_add_items(const struct ui *ui, struct overlay *menu, const char *heading, int heading_value,
		      int first_value)
{
	const int width = ui->canvas->w - 4 - MENU_INDENT;
	bool any = false, fits;

	for (unsigned i = 0; i < ui->inputs->len; i++) {
		const struct ui_input *input = &input_at(ui, i)->info;
		char *text;

		if (!input->session)
			continue;
		if (!any)
			overlay_item(menu, heading_value, -1, heading);
		any = true;
		text = g_strdup_printf("%s: %s", input->name, input->state);
		fits = canvas_text_width(text) <= width;
		overlay_item(menu, first_value + (int)input->id, !input->detached, fits ? text : input->name);
		if (!fits)
			add_state(menu, input->state, MAX(width, 8));
		g_free(text);
	}
}

void input_toggle(struct ui *ui, unsigned id)
{
	for (unsigned i = 0; i < ui->inputs->len; i++)
		input_at(ui, i)->wanted |= input_at(ui, i)->info.id == id;
}

/* ---- as lines ---- */

/* The parts of a recording are shown as one while they are in the same state. */
static bool repeats(const struct ui *ui, unsigned i)
{
	return i > 0 && equal(&input_at(ui, i - 1)->info, &input_at(ui, i)->info);
}

bool inputs_are_read(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->inputs->len; i++)
		if (input_at(ui, i)->info.session || strcmp(input_at(ui, i)->info.state, "read") != 0)
			return false;
	return true;
}

char *inputs_files(const struct ui *ui)
{
	const char *name = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < ui->inputs->len; i++) {
		const struct ui_input *input = &input_at(ui, i)->info;

		if (!input->file || (name && strcmp(name, input->name) == 0))
			continue;
		name = input->name;
		n++;
	}
	if (n < 2)
		return g_strdup(name);
	return g_strdup_printf("%u recordings", n);
}

static enum style state_style(const struct ui_input *input)
{
	if (input->runs || !strcmp(input->state, "read"))
		return strcmp(input->state, "silent") ? STYLE_NORMAL : STYLE_LOST;
	return input->detached ? STYLE_DIM : STYLE_MARKED;
}

/* Until its host has announced its name, the one in its URL. */
static const char *host_text(const struct ui_input *input)
{
	return input->host ? input->host : input->target ? input->target : "?";
}

/* Draws the state in as many rows as it needs, up to max; returns their number. */
static int draw_state(struct canvas *c, int x, int y, int max, const struct ui_input *input)
{
	char *text = g_strconcat(input->state, input->retried ? "; retrying" : "", NULL);
	const int rows = MIN(canvas_wrapped_rows(text, c->w - x - 1), max);

	canvas_text_wrapped(c, x, y, rows, state_style(input), text);
	g_free(text);
	return rows;
}

/* The inputs that get lines, as struct ui_input *: sessions that have ended last. The caller frees the array. */
static GPtrArray *list_lines(const struct ui *ui)
{
	GPtrArray *lines = g_ptr_array_new();

	for (int over = 0; over < 2; over++)
		for (unsigned i = 0; i < ui->inputs->len; i++)
			if (input_at(ui, i)->info.over == over && !repeats(ui, i))
				g_ptr_array_add(lines, &input_at(ui, i)->info);
	return lines;
}

static int draw_lines(struct ui *ui, const GPtrArray *lines, int y, int max, int max_wrapped)
{
	struct canvas *c = ui->canvas;
	/* rows for what does not fit into one */
	int spare = MAX(max_wrapped - 1 - (int)lines->len, 0);
	int host = 4, name = 6, state, row = y + 1;

	for (unsigned i = 0; i < lines->len; i++) {
		const struct ui_input *input = g_ptr_array_index(lines, i);

		host = MAX(host, canvas_text_width(host_text(input)));
		name = MAX(name, canvas_text_width(input->name));
	}
	host = MIN(host, HOST_WIDTH_MAX);
	name = MIN(name, MAX(c->w - host - STATE_WIDTH_MIN - 2, NAME_WIDTH_MIN));
	state = c->w - host - name - 2;
	canvas_fill(c, 0, y, c->w, STYLE_HEAD, ' ');
	canvas_text_left(c, 0, y, host, STYLE_HEAD, "HOST");
	canvas_text_left(c, host + 1, y, name, STYLE_HEAD, "SOURCE");
	canvas_text_left(c, host + name + 2, y, state, STYLE_HEAD, "STATE");
	for (int i = 0; i < (int)lines->len; i++) {
		const struct ui_input *input = g_ptr_array_index(lines, i);

		if (i + 2 == max && i + 1 < (int)lines->len) {
			canvas_printf(c, host + 1, row++, STYLE_DIM, "and %d more", (int)lines->len - i);
			break;
		}
		canvas_text_left(c, 0, row, host, input->host ? STYLE_BOLD : STYLE_DIM, host_text(input));
		canvas_text_left(c, host + 1, row, name, STYLE_NORMAL, input->name);
		state = draw_state(c, host + name + 2, row, 1 + spare, input);
		spare -= state - 1;
		row += state;
	}
	return row - y;
}

int inputs_draw(struct ui *ui, int y, int max, int max_wrapped)
{
	GPtrArray *lines = list_lines(ui);
	const int drawn = lines->len && max > 1 ? draw_lines(ui, lines, y, max, max_wrapped) : 0;

	g_ptr_array_free(lines, TRUE);
	return drawn;
}
