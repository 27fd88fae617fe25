/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that the user has chosen, in another reading of the same recording: ui/same_rows.c. */
#include "ui/internal.h"
#include "unit.h"

enum { TID = 7, OTHERS = 3 };

static struct ui ui;
static struct host_state state;

/* Shows a reading in which the thread comes after so many others; returns its number there. */
static uint64_t read_again(unsigned others, uint64_t born_ns)
{
	struct ui_host_data *host = ui_host(&ui, 0);
	struct thread_row *row;

	if (host->loaded) {
		interval_release(&host->load.interval);
		state_release(&state);
	}
	state_init(&state);
	interval_init(&host->load.interval);
	for (unsigned i = 0; i <= others; i++) {
		row = STATE_ROW(&state, THREAD, thread, state_add(&state, TABLE_THREAD));
		row->tid = i == others ? TID : TID + 1 + i;
		row->born_ns = i == others ? born_ns : 0;
	}
	interval_begin(&host->load.interval, &state, 1000, STATE_ALL_TABLES);
	interval_end(&host->load.interval, &state, 2000);
	host->loaded = true;
	return row->uid;
}

static bool is_marked(uint64_t uid)
{
	const struct view_key key = { 0, TABLE_THREAD, uid };

	return g_hash_table_contains(ui.marked, &key);
}

static void begin(void)
{
	struct ui_host_data host = { .loaded = false };

	ui = (struct ui){ .hosts = g_array_new(FALSE, TRUE, sizeof(host)) };
	ui.marked = g_hash_table_new_full(view_key_hash, view_key_equal_hash, g_free, NULL);
	ui.collapsed = g_hash_table_new_full(view_key_hash, view_key_equal_hash, g_free, NULL);
	g_array_append_val(ui.hosts, host);
}

static void end(void)
{
	interval_release(&ui_host(&ui, 0)->load.interval);
	state_release(&state);
	g_hash_table_destroy(ui.marked);
	g_hash_table_destroy(ui.collapsed);
	g_array_free(ui.hosts, TRUE);
}

/* Marks the thread in the first reading; whether it is marked in the second. */
static bool stays_marked(uint64_t born_first_ns, uint64_t born_second_ns)
{
	struct view_key *key = g_new0(struct view_key, 1);
	GArray *chosen;
	uint64_t uid;
	bool stays;

	begin();
	*key = (struct view_key){ 0, TABLE_THREAD, read_again(OTHERS, born_first_ns) };
	g_hash_table_add(ui.marked, key);
	chosen = same_rows_note(&ui);
	uid = read_again(0, born_second_ns);
	same_rows_find(&ui, chosen);
	stays = is_marked(uid);
	ck_assert_uint_eq(g_hash_table_size(ui.marked), stays);
	end();
	return stays;
}

/* It is the same thread if its birth is the same, or is not known in a reading that starts later. */
START_TEST(test_births)
{
	ck_assert(stays_marked(0, 0));
	ck_assert(stays_marked(500, 500));
	ck_assert(stays_marked(0, 500));
	ck_assert(stays_marked(500, 0));
	ck_assert(!stays_marked(500, 600)); /* its TID was used again */
}
END_TEST

/* Details to which Esc returns while their thread is missed show it once it is there. */
START_TEST(test_details_behind)
{
	struct pane *details;
	GArray *chosen;
	uint64_t uid;

	begin();
	ui.started = true;
	ui.search_text = g_string_new(NULL);
	ui.cursor = (struct cursor){ .mode = CURSOR_STICKING, .interval_ns = 1000 };
	ui.expected_end_ns = 5000;
	ui.details = pane_create(pane_type(0));
	ui.behind = details = pane_create(pane_type(0));
	details->entity = (struct view_key){ 0, TABLE_THREAD, read_again(OTHERS, 500) };
	chosen = same_rows_note(&ui);
	read_again(0, 600); /* another thread */
	same_rows_find(&ui, chosen);
	ck_assert_uint_eq(details->entity.uid, 0);
	do_close(&ui, 0);
	ck_assert_ptr_eq(ui.details, details);
	chosen = same_rows_missed(&ui);
	uid = read_again(1, 500);
	same_rows_find(&ui, chosen);
	ck_assert_ptr_eq(ui.details, details);
	ck_assert_uint_eq(details->entity.uid, uid);
	same_rows_release(&ui);
	pane_destroy(details);
	g_string_free(ui.search_text, TRUE);
	end();
}
END_TEST

UNIT_MAIN("same rows", test_births, test_details_behind)
