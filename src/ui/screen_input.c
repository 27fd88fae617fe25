/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/screen_input.h"

#include <curses.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/nstime.h"
#include "ui/keys.h"
#include "ui/mouse_report.h"
#include "ui/screen.h"

/* curses numbers keys of its own from KEY_MAX on: those that only this terminal's description has. */
enum {
	KEY_OWN_CTRL_LEFT = 0x7000,
	KEY_OWN_CTRL_RIGHT,
	KEY_OWN_SGR_MOUSE,
	KEY_OWN_X10_MOUSE,
	KEY_OWN_PASTE_BEGIN,
	KEY_OWN_PASTE_END
};

/* In place of bytes that are not a character of the locale. */
#define INVALID_KEY 0xfffd

static struct {
	bool pasting, paste_gap; /* between the brackets around pasted text; at a line break in it */
	bool in_sequence;        /* of a key that is not known, after its first parameter */
	bool in_string;          /* of an answer, whose end is Esc \\ or BEL */
	mbstate_t partial;       /* the bytes of a character that have come so far */
	struct mouse_report report;
	struct screen_mouse event;
	gint64 clicked_us;
} input;

/*
 * Keys that terminfo names differently, or not at all. In the mode that curses selects, PuTTY and others send Esc, O
 * and a letter for each digit and sign of the keypad.
 */
static void define_extra_keys(void)
{
	static const char keypad_keys[][2] = {
		{ 'p', '0' }, { 'q', '1' }, { 'r', '2' }, { 's', '3' }, { 't', '4' }, { 'u', '5' },
		{ 'v', '6' }, { 'w', '7' }, { 'x', '8' }, { 'y', '9' }, { 'j', '*' }, { 'k', '+' },
		{ 'm', '-' }, { 'n', '.' }, { 'o', '/' }, { 'X', '=' },
	};

	define_key("\033[1;5D", KEY_OWN_CTRL_LEFT);
	define_key("\033[1;5C", KEY_OWN_CTRL_RIGHT);
	define_key("\033O5D", KEY_OWN_CTRL_LEFT);
	define_key("\033O5C", KEY_OWN_CTRL_RIGHT);
	define_key("\033[5D", KEY_OWN_CTRL_LEFT);
	define_key("\033[5C", KEY_OWN_CTRL_RIGHT);
	define_key("\033Od", KEY_OWN_CTRL_LEFT);
	define_key("\033Oc", KEY_OWN_CTRL_RIGHT);
	for (unsigned i = 0; i < G_N_ELEMENTS(keypad_keys); i++)
		define_key((const char[]){ '\033', 'O', keypad_keys[i][0], 0 }, keypad_keys[i][1]);
}

/* Defines a key unless the terminal's description has one with a meaning that sends the same. */
static void define_missing_key(const char *sent, int key)
{
	const int known = key_defined(sent);

	if (known == 0 || (known >= KEY_MAX && known < KEY_OWN_CTRL_LEFT))
		define_key(sent, key);
}

/*
 * What terminals commonly send, for one that is not what TERM says: PuTTY says xterm, but sends other function keys,
 * Home and End; any terminal sends other arrows until curses has switched its mode again after ^Z.
 */
static void define_usual_keys(void)
{
	static const struct {
		const char *sent;
		int key;
	} keys[] = {
		{ "\033[A", KEY_UP },
		{ "\033OA", KEY_UP },
		{ "\033[B", KEY_DOWN },
		{ "\033OB", KEY_DOWN },
		{ "\033[C", KEY_RIGHT },
		{ "\033OC", KEY_RIGHT },
		{ "\033[D", KEY_LEFT },
		{ "\033OD", KEY_LEFT },
		{ "\033[H", KEY_HOME },
		{ "\033OH", KEY_HOME },
		{ "\033[1~", KEY_HOME },
		{ "\033[7~", KEY_HOME },
		{ "\033[F", KEY_END },
		{ "\033OF", KEY_END },
		{ "\033[4~", KEY_END },
		{ "\033[8~", KEY_END },
		{ "\033[3~", KEY_DC },
		{ "\033[5~", KEY_PPAGE },
		{ "\033[6~", KEY_NPAGE },
		{ "\033[Z", KEY_BTAB },
		{ "\033OM", KEY_ENTER },
		{ "\033OP", KEY_F(1) },
		{ "\033OQ", KEY_F(2) },
		{ "\033OR", KEY_F(3) },
		{ "\033OS", KEY_F(4) },
		{ "\033[11~", KEY_F(1) },
		{ "\033[12~", KEY_F(2) },
		{ "\033[13~", KEY_F(3) },
		{ "\033[14~", KEY_F(4) },
		{ "\033[15~", KEY_F(5) },
		{ "\033[17~", KEY_F(6) },
		{ "\033[18~", KEY_F(7) },
		{ "\033[19~", KEY_F(8) },
		{ "\033[20~", KEY_F(9) },
		{ "\033[21~", KEY_F(10) },
		{ "\033[23~", KEY_F(11) },
		{ "\033[24~", KEY_F(12) },
		/* the Linux console */
		{ "\033[[A", KEY_F(1) },
		{ "\033[[B", KEY_F(2) },
		{ "\033[[C", KEY_F(3) },
		{ "\033[[D", KEY_F(4) },
		{ "\033[[E", KEY_F(5) },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
		define_missing_key(keys[i].sent, keys[i].key);
}

void screen_input_open(bool mouse, bool brackets)
{
	define_extra_keys();
	define_usual_keys();
	if (mouse) {
		define_key("\033[<", KEY_OWN_SGR_MOUSE);
		define_key("\033[M", KEY_OWN_X10_MOUSE);
	}
	if (brackets) {
		define_key("\033[200~", KEY_OWN_PASTE_BEGIN);
		define_key("\033[201~", KEY_OWN_PASTE_END);
	}
}

static int function_key(wint_t key)
{
	static const struct {
		int curses, own;
	} keys[] = {
		{ KEY_UP, UI_KEY_UP },
		{ KEY_DOWN, UI_KEY_DOWN },
		{ KEY_LEFT, UI_KEY_LEFT },
		{ KEY_RIGHT, UI_KEY_RIGHT },
		{ KEY_OWN_CTRL_LEFT, UI_KEY_CTRL_LEFT },
		{ KEY_OWN_CTRL_RIGHT, UI_KEY_CTRL_RIGHT },
		{ KEY_PPAGE, UI_KEY_PAGE_UP },
		{ KEY_NPAGE, UI_KEY_PAGE_DOWN },
		{ KEY_HOME, UI_KEY_HOME },
		{ KEY_END, UI_KEY_END },
		/* so a vt220 calls the keys in their place */
		{ KEY_FIND, UI_KEY_HOME },
		{ KEY_SELECT, UI_KEY_END },
		{ KEY_BTAB, UI_KEY_BACK_TAB },
		{ KEY_BACKSPACE, UI_KEY_BACKSPACE },
		{ KEY_DC, UI_KEY_DELETE },
		{ KEY_ENTER, UI_KEY_ENTER },
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
		if ((int)key == keys[i].curses)
			return keys[i].own;
	if (key >= KEY_F(1) && key <= KEY_F(12))
		return UI_KEY_F1 + (int)key - KEY_F(1);
	return UI_KEY_UNKNOWN;
}

/* ---- the mouse, pasted text ---- */

static void set_mouse(const struct mouse_action *a)
{
	const gint64 now_us = g_get_monotonic_time();
	const bool twice = !a->wheel && input.event.y == a->y && now_us - input.clicked_us < 400 * US_PER_MS;

	if (!a->wheel)
		input.clicked_us = twice ? 0 : now_us;
	input.event = (struct screen_mouse){ .x = a->x, .y = a->y, .wheel = a->wheel, .twice = twice };
}

/* Whether the input is the last of a report with a meaning; false, with key 0: it was another part of one. */
static bool take_mouse(int got, wint_t *key)
{
	struct mouse_action action;
	enum mouse_result result = MOUSE_BROKEN;

	if (got == KEY_CODE_YES && (*key == KEY_OWN_SGR_MOUSE || *key == KEY_OWN_X10_MOUSE)) {
		mouse_report_begin(&input.report, *key == KEY_OWN_SGR_MOUSE ? MOUSE_SGR : MOUSE_X10);
		result = MOUSE_MORE;
	} else if (input.report.form && got == OK) {
		result = mouse_report_add(&input.report, *key, &action);
	} else {
		input.report.form = MOUSE_NONE;
	}
	if (result == MOUSE_ACTED)
		set_mouse(&action);
	if (result != MOUSE_BROKEN)
		*key = 0;
	return result == MOUSE_ACTED;
}

/* Whether nothing has come after the key. */
static bool is_last_key(void)
{
	const int next = getch();

	if (next != ERR)
		ungetch(next);
	return next == ERR;
}

/* Clears the key if it is a bracket around pasted text. Within, line breaks and the like are a blank between words. */
static void take_paste(int got, wint_t *key)
{
	const bool code = got == KEY_CODE_YES;

	if (code && (*key == KEY_OWN_PASTE_BEGIN || *key == KEY_OWN_PASTE_END)) {
		input.pasting = *key == KEY_OWN_PASTE_BEGIN;
		input.paste_gap = false;
		*key = 0;
	} else if (input.pasting && !code && *key == UI_KEY_ESC && is_last_key()) {
		input.pasting = false; /* it was typed: the second bracket is lost */
	} else if (input.pasting && (code || *key < ' ' || *key == 0x7f)) {
		input.paste_gap = true;
		*key = 0;
	} else if (input.paste_gap) {
		unget_wch((wchar_t)*key);
		input.paste_gap = false;
		*key = ' ';
	}
}

/* ---- sequences of keys that nobody knows, and late answers to another program ---- */

static bool is_parameter(wint_t key)
{
	return key >= ' ' && key <= '?';
}

static bool is_final(wint_t key)
{
	return key >= '@' && key <= '~';
}

/*
 * Whether an answer such as "Esc ] 11 ; rgb:…" (a colour), "Esc P > | …" (a version) or "Esc _ G …" (of kitty) begins
 * like that: a key with Alt is not followed by such a character at once.
 */
static bool begins_string(int first, int next)
{
	const bool digit = next >= '0' && next <= '9';

	return (first == ']' && digit) || (first == 'P' && (digit || next == '>' || next == '!')) ||
	       (first == '_' && next == 'G');
}

/*
 * After an Esc: whether it begins a sequence such as "Esc [ 1 ; 6 q", whose characters do not count as keys, or is in
 * the end of a string, "Esc \". "Esc [" alone, with nothing after it yet, was typed as Alt-[.
 */
static bool begin_sequence(void)
{
	const bool was_in_string = input.in_string;
	const int first = getch();

	input.in_sequence = input.in_string = false;
	if (was_in_string && first == '\\')
		return true;
	if (first == '[' || first == 'O' || first == ']' || first == 'P' || first == '_') {
		const int next = getch();
		const bool controls = first == '[' || first == 'O';

		input.in_string = begins_string(first, next);
		input.in_sequence = controls && next > 0 && is_parameter((wint_t)next);
		if (input.in_string || input.in_sequence || (controls && next > 0 && is_final((wint_t)next)))
			return true;
		if (next != ERR)
			ungetch(next);
	}
	if (first != ERR)
		ungetch(first);
	return false;
}

/* Whether the key is a part of such a sequence: see "Format of a control function" in ECMA-48, 5.4. */
static bool take_sequence(int got, wint_t key)
{
	if (got == OK && key == UI_KEY_ESC && !input.pasting)
		return begin_sequence();
	if (input.in_string) {
		input.in_string = got == OK && key >= ' ';
		return input.in_string || (got == OK && key == '\a');
	}
	if (!input.in_sequence)
		return false;
	input.in_sequence = got == OK && is_parameter(key);
	return input.in_sequence || (got == OK && is_final(key));
}

/* ---- characters ---- */

/* Adds a byte; false: the character is not complete. */
static bool add_byte(char byte, wint_t *key)
{
	const bool alone = mbsinit(&input.partial);
	wchar_t character = 0;
	size_t len = mbrtowc(&character, &byte, 1, &input.partial);

	if (len == (size_t)-2)
		return false;
	if (len == (size_t)-1) {
		input.partial = (mbstate_t){ 0 };
		/* what came before it is invalid, it may be not */
		if (!alone)
			return add_byte(byte, key);
		character = INVALID_KEY;
	}
	*key = (wint_t)character;
	return true;
}

/* As get_wch(), which also drops the keys that come with an invalid byte. */
static int read_key(wint_t *key)
{
	int got;

	do {
		got = getch();
		if (got == ERR)
			return ERR;
		if (got > UCHAR_MAX) {
			input.partial = (mbstate_t){ 0 };
			*key = (wint_t)got;
			return KEY_CODE_YES;
		}
	} while (!add_byte((char)got, key));
	return OK;
}

int screen_key(void)
{
	wint_t key;
	int got;

	do {
		got = read_key(&key);
		if (got != ERR && take_mouse(got, &key))
			return UI_KEY_MOUSE;
		if (got == OK && key == INVALID_KEY) {
			if (MB_CUR_MAX == 1)
				return UI_KEY_FOREIGN;
			key = 0;
		}
		if (got != ERR && key && take_sequence(got, key))
			key = 0;
		if (got != ERR && key)
			take_paste(got, &key);
	} while (got != ERR && !key);
	switch (got) {
	case KEY_CODE_YES:
		return function_key(key);
	case OK:
		if (key == '\r')
			return UI_KEY_ENTER;
		if (key == 0x7f || key == '\b')
			return UI_KEY_BACKSPACE;
		return (int)key;
	default:
		return UI_KEY_NONE;
	}
}

bool screen_is_pasting(void)
{
	return input.pasting;
}

bool screen_ended(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	int waiting = 0;

	if (poll(&p, 1, 0) <= 0)
		return false;
	if (p.revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	/* readable but with nothing to read: end of file */
	return ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0 || !waiting;
}

struct screen_mouse screen_mouse(void)
{
	return input.event;
}
