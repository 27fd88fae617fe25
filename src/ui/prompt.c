/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/prompt.h"

#include "base/utf8.h"
#include "ui/internal.h"
#include "ui/keys.h"

enum { PROMPT_BYTES_MAX = 4096 }; /* bytes; as long as a path may be */

void prompt_init(struct prompt *p)
{
	*p = (struct prompt){ .text = g_string_new(NULL) };
}

void prompt_release(struct prompt *p)
{
	g_string_free(p->text, TRUE);
}

void prompt_start(struct prompt *p, const char *label, const char *text, prompt_change_fn *change, prompt_done_fn *done)
{
	p->active = true;
	p->label = label;
	g_string_assign(p->text, text);
	p->caret = p->text->len;
	p->change = change;
	p->done = done;
}

static void finish(struct prompt *p, struct ui *ui, bool accept)
{
	/* inactive meanwhile: the function may start another prompt */
	p->active = false;
	if (!p->done(ui, accept ? p->text->str : NULL) && accept)
		p->active = true;
}

static size_t previous_char(const struct prompt *p)
{
	const char *at = g_utf8_find_prev_char(p->text->str, p->text->str + p->caret);

	return at ? (size_t)(at - p->text->str) : 0;
}

static size_t next_char(const struct prompt *p)
{
	return (size_t)(g_utf8_next_char(p->text->str + p->caret) - p->text->str);
}

/* Where the word before the caret starts, without the blanks that follow it. */
static size_t word_start(const struct prompt *p)
{
	size_t at = p->caret;

	while (at && p->text->str[at - 1] == ' ')
		at--;
	while (at && p->text->str[at - 1] != ' ')
		at--;
	return at;
}

static void changed(struct prompt *p, struct ui *ui)
{
	if (p->change)
		p->change(ui, p->text->str);
}

static void erase(struct prompt *p, struct ui *ui, size_t from, size_t to)
{
	g_string_erase(p->text, (gssize)from, (gssize)(to - from));
	p->caret = from;
	changed(p, ui);
}

void prompt_key(struct prompt *p, struct ui *ui, int key)
{
	enum {
		CTRL_A = 1,
		CTRL_B = 2,
		CTRL_D = 4,
		CTRL_E = 5,
		CTRL_F = 6,
		CTRL_G = 7,
		CTRL_K = 11,
		CTRL_U = 21,
		CTRL_W = 23
	};
	char bytes[8];

	switch (key) {
	case UI_KEY_ENTER:
		finish(p, ui, true);
		return;
	case UI_KEY_ESC:
	case CTRL_G:
		finish(p, ui, false);
		return;
	case UI_KEY_BACKSPACE:
		if (!p->text->len)
			finish(p, ui, false);
		else if (p->caret)
			erase(p, ui, previous_char(p), p->caret);
		return;
	case UI_KEY_DELETE:
	case CTRL_D:
		if (p->caret < p->text->len)
			erase(p, ui, p->caret, next_char(p));
		return;
	case CTRL_U:
		erase(p, ui, 0, p->caret);
		return;
	case CTRL_K:
		erase(p, ui, p->caret, p->text->len);
		return;
	case CTRL_W:
		erase(p, ui, word_start(p), p->caret);
		return;
	case UI_KEY_LEFT:
	case CTRL_B:
		p->caret = previous_char(p);
		return;
	case UI_KEY_RIGHT:
	case CTRL_F:
		if (p->caret < p->text->len)
			p->caret = next_char(p);
		return;
	case UI_KEY_HOME:
	case CTRL_A:
		p->caret = 0;
		return;
	case UI_KEY_END:
	case CTRL_E:
		p->caret = p->text->len;
		return;
	case UI_KEY_FOREIGN:
		ui_say(ui, "this character is not in the locale's character set");
		return;
	default:
		break;
	}
	if (!key_is_text(key) || !g_unichar_isprint((gunichar)key) || p->text->len >= PROMPT_BYTES_MAX)
		return;
	bytes[g_unichar_to_utf8((gunichar)key, bytes)] = '\0';
	g_string_insert(p->text, (gssize)p->caret, bytes);
	p->caret = next_char(p);
	changed(p, ui);
}

int prompt_draw(const struct prompt *p, struct canvas *c, int y)
{
	char *before = g_strndup(p->text->str, p->caret);
	int x = canvas_text(c, 0, y, STYLE_BOLD, p->label, -1) + 1;
	int caret = canvas_text_width(before), width = canvas_text_width(p->text->str);
	int room = c->w - x - 1, start = x;
	const char *text = p->text->str;

	g_free(before);
	/* a long text scrolls so that the caret stays visible, before the ellipsis for what does not fit */
	while (caret > 0 && caret > (width > room ? room - 2 : room)) {
		const int skipped = (int)utf8_char_width(utf8_next(&text));

		caret -= skipped;
		width -= skipped;
		if (x == start) {
			x++;
			room--;
		}
	}
	if (x > start)
		canvas_char(c, start, y, STYLE_NORMAL, 0x2026);
	canvas_text_left(c, x, y, room, STYLE_NORMAL, text);
	return MIN(x + caret, c->w - 1);
}
