/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meters of a host's CPUs: busy, offline, or not known; why a host has no figures; and figures without any time. */
#include <string.h>

#include "events.h"
#include "play/frames.h"
#include "ui/details.h"
#include "ui/internal.h"
#include "ui/keys.h"
#include "unit.h"

#define SECOND UINT64_C(1000000000)

static struct ui ui;

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, SECOND);
	for (unsigned cpu = 0; cpu < 3; cpu++)
		events_switch(e, SECOND + 1000 + cpu, cpu, 0, 0, 5 + cpu, "busy");
}

/* The line is freed by the caller. */
static char *draw_line(int width)
{
	char *text;

	ui.canvas = canvas_create(width, 1, false);
	host_lines_draw(&ui, 0, 1);
	text = canvas_row_text(ui.canvas, 0);
	canvas_destroy(ui.canvas);
	return text;
}

static void expect_line(int width, const char *part)
{
	char *text = draw_line(width);

	ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part);
	g_free(text);
}

/* Of the host's trace; NULL: none. */
static const char *missing;

/* The host's line in the second frame, in the middle of which an event is seen: wide, and narrow. */
static void expect(struct events *e, bool is_seen, const char *wide, const char *narrow)
{
	struct ui_host_data host = {
		.info = { .name = "web", .live = true, .missing = &missing, .n_missing = missing != NULL },
		.loaded = true,
	};
	struct history *h = history_create(1 << 20);

	ui = (struct ui){ .history = h, .hosts = g_array_new(FALSE, TRUE, sizeof(host)) };
	history_add_track(h);
	frames_append(h, 0, e->m, SECOND, 2 * SECOND);
	if (is_seen)
		EVENT(e, 2 * SECOND + SECOND / 2, 0, 5, IRQ_ENTRY, irq, .irq = 1);
	frames_append(h, 0, e->m, 2 * SECOND, 3 * SECOND);
	history_load_init(&host.load);
	ck_assert_int_eq(history_load(h, 0, 2 * SECOND, 3 * SECOND, STATE_ALL_TABLES, &host.load), LT_OK);
	g_array_append_val(ui.hosts, host);
	expect_line(160, wide);
	expect_line(70, narrow);
	g_array_free(ui.hosts, TRUE);
	history_load_release(&host.load);
	history_destroy(h);
}

/* What needs only one of two events is known without the other. */
START_TEST(test_missing_events)
{
	static const char *const cases[][2] = {
		{ "block_rq_issue", "disk ↓0     ↑0      net ↓0     ↑0" },
		{ "block_rq_complete", "disk -  net ↓0     ↑0" },
		{ "net_dev_queue", "net ↓0     ↑-" },
		{ "net_if_receive_skb", "net ↓-     ↑0" },
	};
	struct events e;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		begin(&e);
		missing = cases[i][0];
		expect(&e, true, cases[i][1], "disk");
		missing = NULL;
		events_release(&e);
	}
}
END_TEST

START_TEST(test_offline)
{
	struct ev_sched_switch p = { .prev_tid = 6, .next_tid = 17, .offline_until_ns = 10 * SECOND };
	struct events e;
	struct record r;

	begin(&e);
	record_init(&r, SECOND + 2000, 1, 6, EVENT_SCHED_SWITCH);
	strcpy(p.next_comm, "migration/1");
	events_add(&e, &r, &p, sizeof(p));
	expect(&e, true, "1[ offline  ] 2[██████████]", "█-█");
	events_release(&e);
}
END_TEST

/* After a gap, or lost events, a CPU is not known until its next event. */
START_TEST(test_not_known)
{
	struct events e;

	begin(&e);
	model_interrupt(e.m, SECOND + 3000);
	expect(&e, true, "0[██████████] 1[ unknown  ] 2[ unknown  ]", "█??");
	events_release(&e);
}
END_TEST

/* Without any recorded time there are no rates. */
START_TEST(test_no_rates)
{
	struct events e;

	begin(&e);
	model_interrupt(e.m, SECOND + 3000);
	expect(&e, false, "disk ↓-     ↑-      net ↓-     ↑-", "disk ↓- ↑-");
	events_release(&e);
}
END_TEST

/* The first line of a thread's details. */
static void expect_details(const struct interval *iv, const char *use)
{
	const struct ui_host_data host = { .info = { .name = "web" } };
	struct details d = { .ui = &ui, .host = &host, .iv = iv, .bottom = 20 };
	char *text;

	ui = (struct ui){ .canvas = canvas_create(160, 20, false) };
	details_use(&d, &iv->tables[TABLE_THREAD].rows[0]);
	text = canvas_row_text(ui.canvas, 0);
	ck_assert_msg(strstr(text, use) != NULL, "'%s' lacks '%s'", text, use);
	g_free(text);
	canvas_destroy(ui.canvas);
}

/* Nor are there shares of it. */
START_TEST(test_no_shares)
{
	struct history *h = history_create(1 << 20);
	struct history_load load;
	struct events e;

	begin(&e);
	history_add_track(h);
	frames_append(h, 0, e.m, SECOND, 2 * SECOND);
	model_interrupt(e.m, 2 * SECOND);
	frames_append(h, 0, e.m, 2 * SECOND, 3 * SECOND);
	history_load_init(&load);
	ck_assert_int_eq(history_load(h, 0, SECOND, 2 * SECOND, STATE_ALL_TABLES, &load), LT_OK);
	expect_details(&load.interval, " 100.0%  1.00s on a CPU");
	ck_assert_int_eq(history_load(h, 0, 2 * SECOND, 3 * SECOND, STATE_ALL_TABLES, &load), LT_OK);
	expect_details(&load.interval, " -  0 on a CPU");
	history_load_release(&load);
	history_destroy(h);
	events_release(&e);
}
END_TEST

/* A host without data in the shown interval [begin, end[, and which of its frames the history has. */
static void expect_absent(struct ui_host info, unsigned first, unsigned frames, const char *text)
{
	struct ui_host_data host = { .info = info };
	struct history *h = history_create(1 << 20);
	struct events e;
	char *line;

	begin(&e);
	history_add_track(h);
	for (unsigned i = 0; i < frames; i++)
		frames_append(h, 0, e.m, (first + i) * SECOND, (first + i + 1) * SECOND);
	ui = (struct ui){
		.history = h,
		.hosts = g_array_new(FALSE, TRUE, sizeof(host)),
		.inputs = g_array_new(FALSE, FALSE, 1), /* none */
		.shown_begin_ns = 2 * SECOND,
		.shown_end_ns = 3 * SECOND,
	};
	g_array_append_val(ui.hosts, host);
	line = draw_line(80);
	ck_assert_msg(g_str_has_suffix(line, text), "'%s' does not end with '%s'", line, text);
	g_free(line);
	g_array_free(ui.inputs, TRUE);
	g_array_free(ui.hosts, TRUE);
	history_destroy(h);
	events_release(&e);
}

/* Why a host has no figures. */
START_TEST(test_absent)
{
	const uint64_t half = SECOND / 2;

	expect_absent((struct ui_host){ .name = "web", .begin_ns = SECOND }, 0, 0, "no data yet");
	expect_absent((struct ui_host){ .name = "web", .begin_ns = SECOND }, 1, 1, "no data yet");
	expect_absent((struct ui_host){ .name = "web", .begin_ns = SECOND }, 3, 2, "no longer in the history");
	expect_absent((struct ui_host){ .name = "web", .begin_ns = SECOND, .end_ns = 2 * SECOND + half, .ended = true },
		      0, 0, "no longer in the history");
	expect_absent((struct ui_host){ .name = "web", .begin_ns = SECOND, .end_ns = 2 * SECOND, .ended = true }, 0, 0,
		      "recorded until 00:00:02.000");
	expect_absent(
		(struct ui_host){
			.name = "web", .begin_ns = SECOND, .end_ns = 2 * SECOND, .live = true, .ended = true },
		0, 0, "session ended at 00:00:02.000");
	expect_absent((struct ui_host){ .name = "web", .begin_ns = 3 * SECOND, .end_ns = 4 * SECOND, .ended = true }, 0,
		      0, "recorded from 00:00:03.000");
}
END_TEST

/* A live host that has ended, and of which the history has nothing any more. */
START_TEST(test_gone)
{
	struct ui_host_data host = { .info = { .name = "web", .live = true, .ended = true } };

	ui = (struct ui){ .hosts = g_array_new(FALSE, TRUE, sizeof(host)) };
	g_array_append_val(ui.hosts, host);
	ck_assert_uint_eq(host_lines_count(&ui), 1);
	ck_assert_uint_eq(ui_visible_hosts(&ui), 1);
	ui_host(&ui, 0)->gone = true;
	ck_assert_uint_eq(host_lines_count(&ui), 0);
	ck_assert_uint_eq(ui_visible_hosts(&ui), 0);
	g_array_free(ui.hosts, TRUE);
}
END_TEST

/* How far the shown interval is behind, while data comes a second at a time. */
START_TEST(test_behind)
{
	static const struct {
		uint64_t behind_ns;
		const char *word;
	} cases[] = {
		{ SECOND / 10, " LIVE −1s " }, { SECOND, " LIVE −1s " },           { 19 * SECOND / 10, " LIVE −2s " },
		{ 2 * SECOND, " LIVE −2s " },  { 28 * SECOND / 10, " LIVE −3s " }, { 120 * SECOND, " LIVE −120s " },
	};
	const struct ui_host_data host = { .info = { .name = "web", .live = true } };
	char *text;

	ui = (struct ui){
		.canvas = canvas_create(160, 1, false),
		.hosts = g_array_new(FALSE, TRUE, sizeof(host)),
		.inputs = g_array_new(FALSE, FALSE, 1), /* none */
		.cursor = { .mode = CURSOR_PLAYING, .live = true, .speed = 1, .end_ns = SECOND },
	};
	g_array_append_val(ui.hosts, host);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		ui.cursor.known_ns = ui.cursor.end_ns + cases[i].behind_ns;
		canvas_fill(ui.canvas, 0, 0, 160, STYLE_NORMAL, ' ');
		header_draw(&ui, 0, 1);
		text = canvas_row_text(ui.canvas, 0);
		ck_assert_msg(g_str_has_prefix(text, cases[i].word), "'%s', not '%s'", text, cases[i].word);
		g_free(text);
	}
	g_array_free(ui.inputs, TRUE);
	g_array_free(ui.hosts, TRUE);
	canvas_destroy(ui.canvas);
}
END_TEST

/* The first line once everything has been read, with hosts of which one may be gone. */
START_TEST(test_gone_not_counted)
{
	struct ui_host_data host = { .info = { .name = "web", .live = true, .ended = true } };
	char *text;

	ui = (struct ui){
		.canvas = canvas_create(160, 1, false),
		.hosts = g_array_new(FALSE, TRUE, sizeof(host)),
		.inputs = g_array_new(FALSE, FALSE, 1), /* none */
		.cursor = { .mode = CURSOR_STICKING, .live = true, .complete = true },
	};
	g_array_append_val(ui.hosts, host);
	host.info.trouble = "damaged";
	g_array_append_val(ui.hosts, host);
	for (int gone = 0; gone < 2; gone++) {
		ui_host(&ui, 1)->gone = gone;
		canvas_fill(ui.canvas, 0, 0, 160, STYLE_NORMAL, ' ');
		header_draw(&ui, 0, 1);
		text = canvas_row_text(ui.canvas, 0);
		ck_assert_msg(strstr(text, gone ? "1 host " : "2 hosts ") != NULL, "'%s'", text);
		ck_assert_msg((strstr(text, "incomplete") == NULL) == gone, "'%s'", text);
		g_free(text);
	}
	g_array_free(ui.inputs, TRUE);
	g_array_free(ui.hosts, TRUE);
	canvas_destroy(ui.canvas);
}
END_TEST

static char *exported;

static enum lt_status note_export(const struct ui_export *what)
{
	char **names = g_new0(char *, what->n_hosts + 1);

	for (unsigned i = 0; i < what->n_hosts; i++)
		names[i] = (char *)what->hosts[i];
	exported = g_strjoinv(" ", names);
	g_free(names);
	return LT_OK;
}

static void expect_exported(const char *hosts)
{
	do_write(&ui, 0);
	ck_assert(ui.prompt.done(&ui, "list.txt"));
	ck_assert_str_eq(exported, hosts);
	g_clear_pointer(&exported, g_free);
}

static void expect_dumped(unsigned n, const unsigned *hosts)
{
	struct ui_calls_request request;

	ui.details = pane_events_create(&ui);
	ck_assert(ui_wanted_calls(&ui, &request));
	ck_assert_uint_eq(request.n_hosts, n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(request.hosts[i], hosts[i]);
	g_clear_pointer(&ui.details, pane_destroy);
}

/* Neither are its events dumped, nor is its name written to a file with others' rows. */
START_TEST(test_gone_not_written)
{
	static const char *const names[] = { "client", "web", "db" };

	ui = (struct ui){
		.hosts = g_array_new(FALSE, TRUE, sizeof(struct ui_host_data)),
		.filter_text = g_string_new(NULL),
		.search_text = g_string_new(NULL),
		.started = true,
		.options.export = note_export,
	};
	prompt_init(&ui.prompt);
	baseline_init(&ui);
	ui.panes[ui.current] = pane_create(pane_type(ui.current));
	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		const struct ui_host_data host = { .info = { .name = names[i], .live = true, .ended = i == 1 } };

		g_array_append_val(ui.hosts, host);
	}
	ui_host(&ui, 2)->hidden = true;
	expect_dumped(2, (const unsigned[]){ 0, 1 });
	expect_exported("client web");
	ui_host(&ui, 1)->gone = true;
	expect_dumped(1, (const unsigned[]){ 0 });
	expect_exported("client");
	ui_host(&ui, 2)->hidden = false;
	expect_dumped(2, (const unsigned[]){ 0, 2 });
	expect_exported("client db");
	pane_destroy(ui.panes[ui.current]);
	baseline_release(&ui);
	prompt_release(&ui.prompt);
	g_string_free(ui.filter_text, TRUE);
	g_string_free(ui.search_text, TRUE);
	g_array_free(ui.hosts, TRUE);
}
END_TEST

/* A session that has ended: whether another one of the host is waited for. */
START_TEST(test_over)
{
	struct ui_host info = { .name = "web", .begin_ns = SECOND, .live = true, .away = true, .over = true };

	expect_absent(info, 1, 1, "session ended at 00:00:02");
	info.awaited = true;
	expect_absent(info, 1, 1, "session ended at 00:00:02; waiting for another one");
}
END_TEST

/* Why a host is away: one of its sessions that has ended is no reason while another one may continue. */
START_TEST(test_why_away)
{
	static const struct ui_input inputs[] = {
		{ .id = 1,
		  .name = "net://r/1",
		  .state = "the session has ended",
		  .host = "web",
		  .session = true,
		  .over = true },
		{ .id = 2, .name = "net://r/2", .state = "detached", .host = "web", .session = true, .detached = true },
		{ .id = 3, .name = "net://r/3", .state = "refused", .host = "web", .session = true, .retried = true },
		{ .id = 4, .name = "net://r/4", .state = "attached", .host = "db", .session = true, .runs = true },
	};
	bool retried;

	ui = (struct ui){ .dirty = false };
	inputs_init(&ui);
	ck_assert_ptr_null(inputs_why_away(&ui, "web", &retried));
	for (unsigned n = 1; n <= 3; n++) {
		ui_set_inputs(&ui, inputs, n);
		ck_assert_str_eq(inputs_why_away(&ui, "web", &retried), inputs[n - 1].state);
		ck_assert_int_eq(retried, n == 3);
	}
	ui_set_inputs(&ui, inputs, 4);
	ck_assert_str_eq(inputs_why_away(&ui, "web", &retried), "refused");
	ck_assert_ptr_null(inputs_why_away(&ui, "db", &retried));
	inputs_release(&ui);
}
END_TEST

static void choose_nothing(struct ui *chosen, int value, bool keep)
{
	(void)chosen;
	(void)value;
	(void)keep;
}

/* Sets a session in that state, and returns the menu of sessions in 60 columns; the caller frees it. */
static char *draw_menu(const char *name, const char *state)
{
	const struct ui_input input = { .id = 1, .name = name, .state = state, .session = true };
	struct overlay *menu = overlay_menu("Hosts", choose_nothing);
	GString *text = g_string_new(NULL);

	ui_set_inputs(&ui, &input, 1);
	inputs_add_items(&ui, menu, "Sessions", -1, 100);
	canvas_fill(ui.canvas, 0, 0, 60, STYLE_NORMAL, ' ');
	overlay_draw(menu, ui.canvas, 0, 12);
	for (int y = 0; y < 12; y++) {
		char *row = canvas_row_text(ui.canvas, y);

		g_string_append_printf(text, "%s\n", row);
		g_free(row);
	}
	overlay_destroy(menu);
	return g_string_free(text, FALSE);
}

static void expect_menu(const char *name, const char *state, const char *first, const char *second)
{
	char *text = draw_menu(name, state);

	ck_assert_msg(strstr(text, first) != NULL, "'%s' lacks '%s'", text, first);
	ck_assert_msg(strstr(text, second) != NULL, "'%s' lacks '%s'", text, second);
	g_free(text);
}

/* The state of a session, without its name but whole. */
START_TEST(test_states)
{
	ui = (struct ui){ .canvas = canvas_create(60, 12, false) };
	inputs_init(&ui);
	expect_menu("d", "the session has ended", "d: the session has ended", "");
	expect_menu("d", "reading 'd': damaged metadata", "d: damaged metadata", "");
	expect_menu("net://relay/host/web/s1",
		    "no such session since the relayd was away: run 'lttngtop record' on that host again",
		    "no such session since the relayd was away: run", "'lttngtop record' on that host again");
	inputs_release(&ui);
	canvas_destroy(ui.canvas);
}
END_TEST

/* Lines of a state are passed over, and drawn with the session to which they belong. */
START_TEST(test_states_not_selected)
{
	static const struct ui_input inputs[] = {
		{ .id = 1, .name = "net://r/1", .state = "attached", .session = true, .runs = true },
		{ .id = 2,
		  .name = "net://r/2",
		  .session = true,
		  .state = "no such session since the relayd was away: "
			   "run 'lttngtop record' on that host again" },
	};
	struct overlay *menu = overlay_menu("Hosts", choose_nothing);
	char *row;

	ui = (struct ui){ .canvas = canvas_create(60, 12, false) };
	inputs_init(&ui);
	ui_set_inputs(&ui, inputs, 2);
	overlay_item(menu, 0, -1, "web");
	inputs_add_items(&ui, menu, "Sessions", -1, 100);
	overlay_item(menu, 5, -1, "more");
	overlay_select(menu, 102);
	overlay_key(menu, &ui, UI_KEY_DOWN);
	ck_assert_int_eq(overlay_selected(menu), 5);
	overlay_key(menu, &ui, UI_KEY_UP);
	ck_assert_int_eq(overlay_selected(menu), 102);
	overlay_check(menu, 0, true);
	overlay_draw(menu, ui.canvas, 0, 12);
	row = canvas_row_text(ui.canvas, 5);
	ck_assert_msg(strstr(row, "    no such") != NULL, "'%s'", row);
	g_free(row);
	overlay_key(menu, &ui, UI_KEY_UP);
	ck_assert_int_eq(overlay_mouse(menu, &ui, 5, 0), OVERLAY_STAYS);
	ck_assert_int_eq(overlay_selected(menu), 101);
	overlay_clear(menu);
	inputs_add_items(&ui, menu, "Sessions", -1, 100);
	overlay_key(menu, &ui, UI_KEY_END);
	ck_assert_int_eq(overlay_selected(menu), 102);
	canvas_fill(ui.canvas, 0, 0, 60, STYLE_NORMAL, ' ');
	overlay_draw(menu, ui.canvas, 0, 5); /* room for three lines */
	row = canvas_row_text(ui.canvas, 3);
	ck_assert_msg(strstr(row, "on that host again") != NULL, "'%s'", row);
	g_free(row);
	overlay_destroy(menu);
	inputs_release(&ui);
	canvas_destroy(ui.canvas);
}
END_TEST

UNIT_MAIN("host_lines", test_missing_events, test_offline, test_not_known, test_no_rates, test_no_shares, test_absent,
	  test_gone, test_behind, test_gone_not_counted, test_gone_not_written, test_over, test_why_away, test_states,
	  test_states_not_selected)
