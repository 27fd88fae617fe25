/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "base/nstime.h"
#include "ui/crash.h"
#include "ui/keys.h"
#include "ui/mouse_report.h"
#include "ui/palette.h"

/* its macros are common words */
#include <term.h>

enum {
	KEY_OWN_CTRL_LEFT = KEY_MAX + 1,
	KEY_OWN_CTRL_RIGHT,
	KEY_OWN_SGR_MOUSE,
	KEY_OWN_X10_MOUSE,
	KEY_OWN_PASTE_BEGIN,
	KEY_OWN_PASTE_END
};

/* In place of bytes that are not a character of the locale. */
#define INVALID_KEY 0xfffd

static struct {
	SCREEN *term;
	bool ascii, mouse, brackets;
	bool pasting, paste_gap; /* between the brackets around pasted text; at a line break in it */
	int caret_x, caret_y;
	struct canvas_cell *shown; /* what curses has drawn, w × h */
	int w, h;
	mbstate_t partial; /* the bytes of a character that have come so far */
	struct mouse_report report;
	struct screen_mouse event;
	gint64 clicked_us;
} screen;

static bool locale_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/*
 * Its fonts have at most 512 characters: no blocks of an eighth, but for whole and half ones. It does not report the
 * mouse: curses would connect to gpm.
 */
static bool is_linux_console(void)
{
	const char *term = getenv("TERM");

	return !strcmp(term, "linux") || g_str_has_prefix(term, "linux-");
}

/* Keys that terminfo names differently, or not at all. */
static void define_extra_keys(void)
{
	define_key("\033[1;5D", KEY_OWN_CTRL_LEFT);
	define_key("\033[1;5C", KEY_OWN_CTRL_RIGHT);
	define_key("\033O5D", KEY_OWN_CTRL_LEFT);
	define_key("\033O5C", KEY_OWN_CTRL_RIGHT);
	define_key("\033[5D", KEY_OWN_CTRL_LEFT);
	define_key("\033[5C", KEY_OWN_CTRL_RIGHT);
}

/* A terminfo string; NULL: the terminal has none. */
static const char *capability(const char *name)
{
	const char *s = tigetstr(name);

	return s == (const char *)-1 ? NULL : s;
}

static enum lt_status check_terminal(void)
{
	const char *term = getenv("TERM");
	bool moves;
	int known;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set("the monitor needs a terminal; use 'report' for files and pipes");
	if (!term || !*term)
		return error_set("TERM is not set: set it to the type of the terminal, for example 'xterm-256color'");
	if (setupterm(term, STDOUT_FILENO, &known) != OK && known == 0)
		return error_set("terminal '%s' is unknown here: install its terminfo, or try TERM=xterm-256color",
				 term);
	if (known != 1)
		return error_set("cannot use terminal '%s'", term);
	moves = capability("cup");
	del_curterm(cur_term);
	if (!moves)
		return error_set("cannot use terminal '%s': its cursor cannot be moved; 'report' works on any terminal",
				 term);
	return LT_OK;
}

/*
 * Where characters are UTF-8, the older form ends at column 95; curses may have chosen it. Not by stdio: a terminal
 * that is gone would be an error of the standard output.
 */
static void set_sgr_mouse(bool on)
{
	static const char set[] = "\033[?1006h", reset[] = "\033[?1006l";

	if (write(STDOUT_FILENO, on ? set : reset, sizeof(set) - 1) < 0)
		errno = 0;
}

/*
 * curses turns the reports on and off, also when the program is stopped and continued, but does not get to see them:
 * after one that it was not asked for, such as a release, get_wch() waits for the next input although it must not.
 */
static void open_mouse(void)
{
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	set_sgr_mouse(true);
	define_key("\033[<", KEY_OWN_SGR_MOUSE);
	define_key("\033[M", KEY_OWN_X10_MOUSE);
}

/* Has the terminal put brackets around what is pasted, so that it is not taken for keys. */
static void set_paste_brackets(bool on)
{
	static const char set[] = "\033[?2004h", reset[] = "\033[?2004l";

	if (write(STDOUT_FILENO, on ? set : reset, sizeof(set) - 1) < 0)
		errno = 0;
}

static void open_paste_brackets(void)
{
	set_paste_brackets(true);
	define_key("\033[200~", KEY_OWN_PASTE_BEGIN);
	define_key("\033[201~", KEY_OWN_PASTE_END);
}

/* Without an alternate screen: moves to the last line and clears it for the shell's prompt. */
static char *last_line_string(void)
{
	const char *move = capability("cup"), *clear = capability("el");

	if (capability("rmcup") || !move || !clear)
		return NULL;
	return g_strconcat(tiparm(move, LINES - 1, 0), clear, NULL);
}

/* LINES and COLUMNS of the environment may be another terminal's: only one that does not know its size needs them. */
static void choose_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		return;
	use_env(FALSE);
	use_tioctl(TRUE);
}

enum lt_status screen_open(const struct screen_options *options)
{
	const char *no_color = getenv("NO_COLOR");
	char *last_line;

	if (check_terminal() != LT_OK)
		return LT_ERROR;
	crash_save_terminal();
	choose_size();
	if (!getenv("ESCDELAY"))
		set_escdelay(25);
	screen.term = newterm(NULL, stdout, stdin);
	if (!screen.term)
		return error_set("cannot use terminal '%s'", getenv("TERM"));
	endwin(); /* until it was called once, curses writes after every movement of the cursor, not once a frame */
	screen.ascii = options->ascii || !locale_is_utf8() || is_linux_console();
	screen.caret_x = -1;
	last_line = last_line_string();
	crash_terminal_strings(tigetstr("sgr0"), tigetstr("cnorm"), tigetstr("rmkx"), tigetstr("rmcup"), last_line);
	g_free(last_line);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	define_extra_keys();
	curs_set(0);
	palette_init(!options->no_color && !(no_color && no_color[0]));
	screen.mouse = !options->no_mouse && capability("kmous") && !is_linux_console();
	if (screen.mouse)
		open_mouse();
	screen.brackets = capability("kmous") && !is_linux_console(); /* like xterm */
	if (screen.brackets)
		open_paste_brackets();
	/* keys typed from now on are ours; nothing has been drawn yet */
	wnoutrefresh(stdscr);
	return LT_OK;
}

void screen_close(void)
{
	if (!screen.term)
		return;
	if (screen.mouse) {
		mousemask(0, NULL);
		set_sgr_mouse(false);
	}
	if (screen.brackets)
		set_paste_brackets(false);
	curs_set(1);
	if (!capability("rmcup")) {
		move(LINES - 1, 0);
		clrtoeol();
		refresh();
	}
	endwin();
	delscreen(screen.term);
	screen.term = NULL;
	crash_forget_terminal();
	g_clear_pointer(&screen.shown, g_free);
}

bool screen_is_ascii(void)
{
	return screen.ascii;
}

bool screen_has_color(void)
{
	return palette_has_color();
}

void screen_set_color(bool on)
{
	palette_init(on);
	screen_redraw();
}

void screen_resize(int *w, int *h)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resize_term(size.ws_row, size.ws_col);
	getmaxyx(stdscr, *h, *w);
	/* the shell may have turned it off while the program was stopped */
	if (screen.brackets)
		set_paste_brackets(true);
	screen_redraw();
}

void screen_redraw(void)
{
	g_clear_pointer(&screen.shown, g_free);
	clearok(curscr, TRUE);
}

void screen_caret(int x, int y)
{
	if (screen.caret_x < 0 && x >= 0)
		curs_set(1);
	else if (screen.caret_x >= 0 && x < 0)
		curs_set(0);
	screen.caret_x = x;
	screen.caret_y = y;
}

/* ▁ … ▏ */
static bool is_block(gunichar ch)
{
	return ch >= 0x2581 && ch <= 0x258f;
}

/*
 * Draws a character of width columns. curses asks the C library for its width: where that differs from ours, as for
 * characters that one of the two does not know yet, the rest of the row would be displaced.
 */
static void show_cell(const struct canvas_cell *cell, int x, int y, int width)
{
	const bool known = wcwidth((wchar_t)cell->ch) == width;
	wchar_t text[2] = { known ? (wchar_t)cell->ch : '?', 0 };
	enum style style = (enum style)cell->style;
	attr_t attributes;
	short pair;
	cchar_t out;

	/* a bar in reverse video, or in the background colour, would be a hole */
	if (style == STYLE_CURSOR && is_block(cell->ch)) {
		style = STYLE_CURSOR_BAR;
		if (!palette_has_color())
			text[0] = 0x2592; /* ▒ */
	}
	attributes = palette_get(style, &pair);

	setcchar(&out, text, attributes, pair, NULL);
	mvadd_wch(y, x, &out);
	if (!known && width > 1) {
		setcchar(&out, L" ", attributes, pair, NULL);
		add_wch(&out);
	}
}

void screen_show(const struct canvas *c)
{
	int w, h;
	bool all;

	getmaxyx(stdscr, h, w);
	all = !screen.shown || screen.w != c->w || screen.h != c->h;
	if (all) {
		g_free(screen.shown);
		screen.shown = g_new0(struct canvas_cell, (size_t)c->w * (size_t)c->h);
		screen.w = c->w;
		screen.h = c->h;
		erase();
	}
	for (int y = 0; y < MIN(c->h, h); y++) {
		struct canvas_cell *old = screen.shown + y * c->w;
		const struct canvas_cell *row = canvas_at(c, 0, y);

		for (int x = 0; x < MIN(c->w, w); x++)
			if (row[x].ch && (old[x].ch != row[x].ch || old[x].style != row[x].style))
				show_cell(&row[x], x, y, x + 1 < c->w && !row[x + 1].ch ? 2 : 1);
		memcpy(old, row, sizeof(*row) * (size_t)c->w);
	}
	if (screen.caret_x >= 0)
		move(screen.caret_y, screen.caret_x);
	refresh();
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

static void set_mouse(const struct mouse_action *a)
{
	const gint64 now_us = g_get_monotonic_time();
	const bool twice = !a->wheel && screen.event.y == a->y && now_us - screen.clicked_us < 400 * US_PER_MS;

	if (!a->wheel)
		screen.clicked_us = twice ? 0 : now_us;
	screen.event = (struct screen_mouse){ .x = a->x, .y = a->y, .wheel = a->wheel, .twice = twice };
}

/* Whether the input is the last of a report with a meaning; false, with key 0: it was another part of one. */
static bool take_mouse(int got, wint_t *key)
{
	struct mouse_action action;
	enum mouse_result result = MOUSE_BROKEN;

	if (got == KEY_CODE_YES && (*key == KEY_OWN_SGR_MOUSE || *key == KEY_OWN_X10_MOUSE)) {
		mouse_report_begin(&screen.report, *key == KEY_OWN_SGR_MOUSE ? MOUSE_SGR : MOUSE_X10);
		result = MOUSE_MORE;
	} else if (screen.report.form && got == OK) {
		result = mouse_report_add(&screen.report, *key, &action);
	} else {
		screen.report.form = MOUSE_NONE;
	}
	if (result == MOUSE_ACTED)
		set_mouse(&action);
	if (result != MOUSE_BROKEN)
		*key = 0;
	return result == MOUSE_ACTED;
}

/* Clears the key if it is a bracket around pasted text. Within, line breaks and the like are a blank between words. */
static void take_paste(int got, wint_t *key)
{
	const bool code = got == KEY_CODE_YES;

	if (code && (*key == KEY_OWN_PASTE_BEGIN || *key == KEY_OWN_PASTE_END)) {
		screen.pasting = *key == KEY_OWN_PASTE_BEGIN;
		screen.paste_gap = false;
		*key = 0;
	} else if (screen.pasting && !code && *key == UI_KEY_ESC) {
		screen.pasting = false; /* it was typed: the second bracket is lost */
	} else if (screen.pasting && (code || *key < ' ' || *key == 0x7f)) {
		screen.paste_gap = true;
		*key = 0;
	} else if (screen.paste_gap) {
		unget_wch((wchar_t)*key);
		screen.paste_gap = false;
		*key = ' ';
	}
}

/* Adds a byte; false: the character is not complete. */
static bool add_byte(char byte, wint_t *key)
{
	const bool alone = mbsinit(&screen.partial);
	wchar_t character = 0;
	size_t len = mbrtowc(&character, &byte, 1, &screen.partial);

	if (len == (size_t)-2)
		return false;
	if (len == (size_t)-1) {
		screen.partial = (mbstate_t){ 0 };
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
			screen.partial = (mbstate_t){ 0 };
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
		if (got == OK && key == INVALID_KEY)
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
	return screen.pasting;
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
	return screen.event;
}
