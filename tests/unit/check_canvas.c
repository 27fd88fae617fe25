/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/canvas.h"

#include "ui/keys.h"
#include "ui/overlay.h"
#include "ui/prompt.h"
#include "unit.h"

static void check_row(const struct canvas *c, int y, const char *wanted)
{
	char *text = canvas_row_text(c, y);

	ck_assert_str_eq(text, wanted);
	g_free(text);
}

/* A row with one text at the left of its first columns, and one at the right of the 5 columns that follow. */
static void check_sides(struct canvas *c, int left_width, const char *left, const char *right, const char *wanted)
{
	canvas_clear(c);
	canvas_text_left(c, 0, 0, left_width, STYLE_NORMAL, left);
	canvas_text_right(c, left_width, 0, 5, STYLE_NORMAL, right);
	check_row(c, 0, wanted);
}

START_TEST(text_is_clipped)
{
	struct canvas *c = canvas_create(8, 2, false);

	ck_assert_int_eq(canvas_text(c, 5, 0, STYLE_BOLD, "abcdef", -1), 6);
	check_row(c, 0, "     abc");
	check_row(c, 1, "");
	canvas_text(c, -2, 1, STYLE_BOLD, "abcd", -1);
	check_row(c, 1, "cd");
	canvas_text(c, 0, 2, STYLE_BOLD, "below", -1);
	canvas_text(c, 0, -1, STYLE_BOLD, "above", -1);
	canvas_restyle(c, -5, 0, 100, STYLE_DIM);
	canvas_restyle(c, 0, 7, 3, STYLE_DIM);
	ck_assert_int_eq(canvas_text(c, 0, 0, STYLE_BOLD, "abcdef", 3), 3);
	check_row(c, 0, "abc  abc");
	canvas_destroy(c);
}
END_TEST

START_TEST(text_is_cut_visibly)
{
	struct canvas *c = canvas_create(10, 1, false);

	check_sides(c, 5, "abcdefg", "1234567", "abcd……4567");
	check_sides(c, 5, "abcde", "67", "abcde   67");
	canvas_destroy(c);
}
END_TEST

START_TEST(wide_characters)
{
	struct canvas *c = canvas_create(6, 1, false);

	ck_assert_int_eq(canvas_text_width("日本"), 4);
	canvas_text(c, 0, 0, STYLE_NORMAL, "日本語", -1);
	check_row(c, 0, "日本語");
	/* the remaining half of a wide character becomes blank */
	canvas_char(c, 1, 0, STYLE_NORMAL, 'x');
	check_row(c, 0, " x本語");
	canvas_char(c, 4, 0, STYLE_NORMAL, 'y');
	check_row(c, 0, " x本y");
	/* no wide character is cut in half */
	canvas_clear(c);
	ck_assert_int_eq(canvas_text(c, 0, 0, STYLE_NORMAL, "日本語", 5), 4);
	canvas_text(c, 5, 0, STYLE_NORMAL, "語", -1);
	check_row(c, 0, "日本");
	canvas_destroy(c);
}
END_TEST

/* Marks stay with their character; what joins characters is left out; what follows stays in its column. */
START_TEST(combining_characters)
{
	static const char name[] = "e\xcc\x81te\xe2\x80\x8d\xef\xb8\x8f!"; /* U+0301, U+200D, U+FE0F */
	struct canvas *c = canvas_create(12, 1, false);

	ck_assert_int_eq(canvas_text_width(name), 4);
	ck_assert_int_eq(canvas_text(c, 0, 0, STYLE_NORMAL, name, -1), 4);
	canvas_text_right(c, 4, 0, 6, STYLE_NORMAL, name);
	check_row(c, 0, "e\xcc\x81te!  e\xcc\x81te!");
	/* overwritten with its mark */
	canvas_char(c, 0, 0, STYLE_NORMAL, 'a');
	check_row(c, 0, "ate!  e\xcc\x81te!");
	canvas_clear(c);
	canvas_text_left(c, 0, 0, 4, STYLE_NORMAL, name);
	canvas_text_left(c, 4, 0, 3, STYLE_NORMAL, name);
	canvas_text_right(c, 8, 0, 3, STYLE_NORMAL, name);
	check_row(c, 0, "e\xcc\x81te!e\xcc\x81t… …e!");
	/* none remains alone, where its character is cut or outside */
	canvas_clear(c);
	ck_assert_int_eq(canvas_text(c, 0, 0, STYLE_NORMAL, "\xcc\x81", -1), 0);
	ck_assert_int_eq(canvas_text(c, 11, 0, STYLE_NORMAL, "ハ\xe3\x82\x9a", -1), 2);
	ck_assert_int_eq(canvas_text(c, -1, 0, STYLE_NORMAL, "e\xcc\x81", -1), 1);
	check_row(c, 0, "");
	/* over a wide character, a Korean syllable of three parts, and more than there is room for */
	canvas_text(c, 0, 0, STYLE_NORMAL, "ハ\xe3\x82\x9a\u1112\u1161\u11abo\u0301\u0302\u0303.", -1);
	check_row(c, 0, "ハ\xe3\x82\x9a\u1112\u1161\u11abo\u0301\u0302.");
	canvas_char(c, 1, 0, STYLE_NORMAL, 'x');
	check_row(c, 0, " x\u1112\u1161\u11abo\u0301\u0302.");
	canvas_destroy(c);
	c = canvas_create(12, 1, true);
	canvas_text(c, 0, 0, STYLE_NORMAL, name, -1);
	check_row(c, 0, "ete!");
	canvas_destroy(c);
}
END_TEST

START_TEST(nothing_but_text_reaches_the_grid)
{
	struct canvas *c = canvas_create(20, 1, false);

	canvas_text(c, 0, 0, STYLE_NORMAL,
		    "a\x1b[2J\r\n\x07\xff"
		    "b",
		    -1);
	check_row(c, 0, "a?[2J????b");
	canvas_destroy(c);
}
END_TEST

START_TEST(ascii_likenesses)
{
	struct canvas *c = canvas_create(20, 3, true);

	canvas_text(c, 0, 0, STYLE_NORMAL, "×2 µs … ├─ é 日", -1);
	check_row(c, 0, "x2 us ~ |- ? ??");
	canvas_bar(c, 0, 1, 10, STYLE_NORMAL, 500);
	check_row(c, 1, "#####");
	canvas_box(c, 0, 0, 12, 3, "Box");
	check_row(c, 0, "+- Box ----+ ??");
	check_row(c, 2, "+----------+");
	canvas_destroy(c);
}
END_TEST

/* Text has the same width with and without ASCII: nothing is cut that fits, and ends are where they are expected. */
START_TEST(ascii_widths)
{
	struct canvas *c = canvas_create(12, 1, true);
	struct prompt p;

	ck_assert_int_eq(canvas_text(c, 0, 0, STYLE_NORMAL, "日e\xcc\x81é", -1), canvas_text_width("日e\xcc\x81é"));
	check_row(c, 0, "??e?");
	check_sides(c, 6, "日本語", "日本", "?????? ????");
	check_sides(c, 5, "日本語", "", "????~");
	canvas_clear(c);
	prompt_init(&p);
	prompt_start(&p, "Find:", "日本", NULL, NULL);
	ck_assert_int_eq(prompt_draw(&p, c, 0), 10);
	check_row(c, 0, "Find: ????");
	prompt_release(&p);
	canvas_destroy(c);
}
END_TEST

START_TEST(bars)
{
	struct canvas *c = canvas_create(10, 1, false);

	canvas_bar(c, 0, 0, 10, STYLE_NORMAL, 0);
	check_row(c, 0, "");
	/* any amount above zero is visible */
	canvas_bar(c, 0, 0, 10, STYLE_NORMAL, 1);
	check_row(c, 0, "▏");
	canvas_bar(c, 0, 0, 10, STYLE_NORMAL, 550);
	check_row(c, 0, "█████▌");
	canvas_bar(c, 0, 0, 10, STYLE_NORMAL, 5000);
	check_row(c, 0, "██████████");
	ck_assert_uint_eq(canvas_column_glyph(0), ' ');
	ck_assert_uint_eq(canvas_column_glyph(1), 0x2581);
	ck_assert_uint_eq(canvas_column_glyph(999), 0x2588);
	ck_assert_uint_eq(canvas_column_glyph(2000), 0x2588);
	canvas_destroy(c);
}
END_TEST

/* ---- typing ---- */

static GString *typed;
static int answers;

static void on_change(struct ui *ui, const char *text)
{
	(void)ui;
	g_string_assign(typed, text);
}

static bool on_done(struct ui *ui, const char *text)
{
	(void)ui;
	answers++;
	g_string_assign(typed, text ? text : "gave up");
	return strcmp(typed->str, "wrong") != 0;
}

static void type(struct prompt *p, const char *text)
{
	for (; *text; text = g_utf8_next_char(text))
		prompt_key(p, NULL, (int)g_utf8_get_char(text));
}

START_TEST(prompt_edits)
{
	struct canvas *c = canvas_create(20, 1, false);
	struct prompt p;

	typed = g_string_new(NULL);
	answers = 0;
	prompt_init(&p);
	prompt_start(&p, "Find:", "ab", on_change, on_done);
	type(&p, "cé");
	ck_assert_str_eq(typed->str, "abcé");
	prompt_key(&p, NULL, UI_KEY_LEFT);
	prompt_key(&p, NULL, UI_KEY_LEFT);
	prompt_key(&p, NULL, UI_KEY_BACKSPACE);
	ck_assert_str_eq(typed->str, "acé");
	prompt_key(&p, NULL, UI_KEY_DELETE);
	ck_assert_str_eq(typed->str, "aé");
	ck_assert_int_eq(prompt_draw(&p, c, 0), 7);
	check_row(c, 0, "Find: aé");
	prompt_key(&p, NULL, UI_KEY_ENTER);
	ck_assert_int_eq(answers, 1);
	ck_assert(!p.active);
	prompt_start(&p, "Find:", "", on_change, on_done);
	prompt_key(&p, NULL, UI_KEY_ESC);
	ck_assert_str_eq(typed->str, "gave up");
	prompt_start(&p, "Find:", "", on_change, on_done);
	prompt_key(&p, NULL, UI_KEY_BACKSPACE);
	ck_assert_int_eq(answers, 3);
	/* what is refused stays to be corrected */
	prompt_start(&p, "Find:", "wrong", on_change, on_done);
	prompt_key(&p, NULL, UI_KEY_ENTER);
	ck_assert(p.active);
	prompt_key(&p, NULL, UI_KEY_BACKSPACE);
	prompt_key(&p, NULL, UI_KEY_ENTER);
	ck_assert(!p.active);
	ck_assert_str_eq(typed->str, "wron");
	prompt_release(&p);
	g_string_free(typed, TRUE);
	canvas_destroy(c);
}
END_TEST

static void check_prompt(const struct prompt *p, struct canvas *c, const char *wanted, int caret)
{
	canvas_clear(c);
	ck_assert_int_eq(prompt_draw(p, c, 0), caret);
	check_row(c, 0, wanted);
}

/* An ellipsis stands for what is left out; the caret is visible, and on a character of the text or after its end. */
START_TEST(prompt_is_cut_visibly)
{
	struct canvas *c = canvas_create(20, 1, false);
	struct prompt p;

	prompt_init(&p);
	prompt_start(&p, "Find:", "0123456789012", NULL, on_done);
	check_prompt(&p, c, "Find: 0123456789012", 19);
	prompt_key(&p, NULL, '3');
	check_prompt(&p, c, "Find: …234567890123", 19);
	prompt_key(&p, NULL, UI_KEY_LEFT);
	check_prompt(&p, c, "Find: …234567890123", 18);
	prompt_key(&p, NULL, UI_KEY_HOME);
	check_prompt(&p, c, "Find: 012345678901…", 6);
	for (int i = 0; i < 11; i++)
		prompt_key(&p, NULL, UI_KEY_RIGHT);
	check_prompt(&p, c, "Find: 012345678901…", 17);
	prompt_key(&p, NULL, UI_KEY_RIGHT);
	check_prompt(&p, c, "Find: …234567890123", 17);
	prompt_start(&p, "Find:", "日本日本日本日本日本日本", NULL, on_done);
	check_prompt(&p, c, "Find: …日本日本日本", 19);
	prompt_key(&p, NULL, UI_KEY_HOME);
	check_prompt(&p, c, "Find: 日本日本日本…", 6);
	/* wherever the caret is, however narrow the screen */
	for (int w = 7; w < 40; w++) {
		canvas_resize(c, w, 1);
		prompt_key(&p, NULL, UI_KEY_HOME);
		for (int i = 0; i < 12; i++) {
			const int caret = prompt_draw(&p, c, 0);

			ck_assert_int_ge(caret, 6);
			ck_assert_int_lt(caret, w);
			prompt_key(&p, NULL, UI_KEY_RIGHT);
		}
	}
	prompt_release(&p);
	canvas_destroy(c);
}
END_TEST

/* As readline has them. */
START_TEST(prompt_control_keys)
{
	enum { A = 1, B, D = 4, E, F, K = 11, U = 21, W = 23 };
	static const struct {
		const char *text;
		int keys[8];
		const char *result;
	} cases[] = {
		{ "comm:web cpu%>5", { W }, "comm:web " },
		{ "comm:web  ", { W }, "" },
		{ "a é日 c", { B, B, W }, "a  c" },
		{ "one two", { A, W }, "one two" },
		{ "one two", { A, F, F, F, K }, "one" },
		{ "one", { K }, "one" },
		{ "one", { B, U }, "e" },
		{ "one", { A, D }, "ne" },
		{ "one", { D }, "one" },
		{ "one", { A, B, F, D, E, B, D }, "o" },
	};
	struct prompt p;

	typed = g_string_new(NULL);
	prompt_init(&p);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		prompt_start(&p, "Find:", cases[i].text, on_change, on_done);
		for (unsigned k = 0; cases[i].keys[k]; k++)
			prompt_key(&p, NULL, cases[i].keys[k]);
		prompt_key(&p, NULL, UI_KEY_ENTER);
		ck_assert_str_eq(typed->str, cases[i].result);
	}
	prompt_release(&p);
	g_string_free(typed, TRUE);
}
END_TEST

START_TEST(prompt_long_text)
{
	struct prompt p;

	typed = g_string_new(NULL);
	prompt_init(&p);
	prompt_start(&p, "Write to:", "", on_change, on_done);
	for (int i = 0; i < 1000; i++)
		type(&p, "/é");
	ck_assert_uint_eq(typed->len, 3000);
	prompt_release(&p);
	g_string_free(typed, TRUE);
}
END_TEST

static int chosen;

static void on_chosen(struct ui *ui, int value, bool keep)
{
	(void)ui;
	chosen = keep ? -value : value;
}

START_TEST(menu_chooses)
{
	struct overlay *o = overlay_menu("Menu", on_chosen);
	struct canvas *c = canvas_create(30, 8, false);

	for (int i = 1; i <= 9; i++) {
		char *text = g_strdup_printf("item %d", i);

		overlay_item(o, i, i == 9 ? 1 : -1, text);
		g_free(text);
	}
	overlay_draw(o, c, 0, 7);
	check_row(c, 1, "│ item 1     │");
	ck_assert_int_eq(overlay_key(o, NULL, UI_KEY_END), OVERLAY_STAYS);
	overlay_draw(o, c, 0, 7);
	check_row(c, 5, "│ [x] item 9 │");
	ck_assert_int_eq(overlay_key(o, NULL, ' '), OVERLAY_STAYS);
	ck_assert_int_eq(chosen, -9);
	overlay_key(o, NULL, UI_KEY_UP);
	ck_assert_int_eq(overlay_key(o, NULL, UI_KEY_ENTER), OVERLAY_CLOSES);
	ck_assert_int_eq(chosen, 8);
	ck_assert_int_eq(overlay_key(o, NULL, 'y'), OVERLAY_IGNORES);
	ck_assert_int_eq(overlay_key(o, NULL, UI_KEY_ESC), OVERLAY_CLOSES);
	overlay_destroy(o);
	canvas_destroy(c);
}
END_TEST

UNIT_MAIN("canvas", text_is_clipped, text_is_cut_visibly, wide_characters, nothing_but_text_reaches_the_grid,
	  ascii_likenesses, ascii_widths, bars, combining_characters, prompt_edits, prompt_is_cut_visibly,
	  prompt_control_keys, prompt_long_text, menu_chooses)
