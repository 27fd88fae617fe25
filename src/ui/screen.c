/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "ui/crash.h"
#include "ui/palette.h"
#include "ui/screen_input.h"

/* its macros are common words */
#include <term.h>

static struct {
	SCREEN *term;
	bool ascii, mouse, brackets;
	void (*curses_stop)(int signal_number);
	int caret_x, caret_y;
	struct canvas_cell *shown; /* what curses has drawn, w × h */
	int w, h;
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

/* Not by stdio: a terminal that is gone would be an error of the standard output. */
static void send_text(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		errno = 0;
}

/*
 * What curses does not do. Mouse reports in SGR form: where characters are UTF-8, the older form, which curses may have
 * chosen, ends at column 95. Brackets around what is pasted, so that it is not taken for keys.
 */
static void set_modes(bool on)
{
	if (screen.mouse)
		send_text(on ? "\033[?1006h" : "\033[?1006l");
	if (screen.brackets)
		send_text(on ? "\033[?2004h" : "\033[?2004l");
}

/* ^Z: the function of curses leaves the terminal to the shell, and returns when the program is continued. */
static void on_stop(int signal_number)
{
	const int saved = errno;

	set_modes(false);
	screen.curses_stop(signal_number);
	set_modes(true);
	errno = saved;
}

static void handle_stop(void)
{
	struct sigaction action;

	/* the handler stays when the screen is closed */
	if (sigaction(SIGTSTP, NULL, &action) < 0 || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL ||
	    action.sa_handler == on_stop)
		return;
	screen.curses_stop = action.sa_handler;
	action.sa_handler = on_stop;
	sigaction(SIGTSTP, &action, NULL);
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

/* Ctrl-S is a key: what holds up the output holds up the program, even its end. endwin() undoes it. */
static void never_hold_output(void)
{
	struct termios modes;

	if (tcgetattr(STDOUT_FILENO, &modes) < 0)
		return;
	modes.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
	def_prog_mode();
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
	never_hold_output();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	palette_init(!options->no_color && !(no_color && no_color[0]));
	screen.mouse = !options->no_mouse && capability("kmous") && !is_linux_console();
	/*
	 * curses turns the reports on and off, also when the program is stopped and continued, but does not get to see
	 * them: after one that it was not asked for, such as a release, get_wch() waits for the next input although it
	 * must not.
	 */
	if (screen.mouse)
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	screen.brackets = capability("kmous") && !is_linux_console(); /* like xterm */
	set_modes(true);
	handle_stop();
	screen_input_open(screen.mouse, screen.brackets);
	/* keys typed from now on are ours; nothing has been drawn yet */
	wnoutrefresh(stdscr);
	return LT_OK;
}

void screen_close(void)
{
	if (!screen.term)
		return;
	if (screen.mouse)
		mousemask(0, NULL);
	set_modes(false);
	screen.mouse = screen.brackets = false;
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
	/* the shell may have turned them off while the program was stopped by SIGSTOP */
	set_modes(true);
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
	wchar_t text[1 + CANVAS_MARKS + 1] = { known ? (wchar_t)cell->ch : '?' };
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
	for (int i = 0; known && i < CANVAS_MARKS && wcwidth((wchar_t)cell->marks[i]) == 0; i++)
		text[1 + i] = (wchar_t)cell->marks[i];
	attributes = palette_get(style, &pair);

	setcchar(&out, text, attributes, pair, NULL);
	mvadd_wch(y, x, &out);
	if (!known && width > 1) {
		setcchar(&out, L" ", attributes, pair, NULL);
		add_wch(&out);
	}
}

static bool is_same(const struct canvas_cell *a, const struct canvas_cell *b)
{
	return a->ch == b->ch && a->style == b->style && memcmp(a->marks, b->marks, sizeof(a->marks)) == 0;
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
			if (row[x].ch && !is_same(&old[x], &row[x]))
				show_cell(&row[x], x, y, x + 1 < c->w && !row[x + 1].ch ? 2 : 1);
		memcpy(old, row, sizeof(*row) * (size_t)c->w);
	}
	if (screen.caret_x >= 0)
		move(screen.caret_y, screen.caret_x);
	refresh();
}
