/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the screen follows corrections of the hosts' clocks: instants that keep their place in the trace, the cursor, and
 * what the first line says until the clocks are known.
 */
#include <string.h>

#include "base/log.h"
#include "base/nstime.h"
#include "ui/internal.h"

/* Smaller corrections are not visible. */
#define MOVED_NS NS_PER_MS

/* ---- instants ---- */

/* The host whose clock an instant is stored in: the selected row's, otherwise one that is shown. */
static unsigned host_in_view(struct ui *ui)
{
	const struct pane *p = ui_pane(ui);
	const struct list *l = pane_list((struct pane *)p);

	if (p->n_lists && l->rows.n && l->present && l->selected.host < ui->hosts->len &&
	    ui_host(ui, l->selected.host)->loaded)
		return l->selected.host;
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (ui_host(ui, i)->loaded && !ui_host(ui, i)->hidden)
			return i;
	return 0;
}

struct ui_instant instant_of(struct ui *ui, uint64_t ref_ns)
{
	unsigned host = host_in_view(ui);

	if (host >= ui->hosts->len)
		return (struct ui_instant){ 0 };
	return (struct ui_instant){ true, host, ui_from_ref(ui_host(ui, host), ref_ns) };
}

uint64_t instant_ref(const struct ui *ui, const struct ui_instant *instant)
{
	if (!instant->set || instant->host >= ui->hosts->len)
		return 0;
	return ui_to_ref(ui_host(ui, instant->host), instant->host_ns);
}

/* ---- clocks change ---- */

/* Reports the host whose time has moved most. */
static void say_moved(struct ui *ui)
{
	const struct ui_host_data *most = NULL;
	uint64_t most_ns = 0;
	bool back = false;
	char text[FORMAT_SIZE];

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		uint64_t now_ns = ui_to_ref(host, host->probe_ns);
		uint64_t moved_ns = MAX(now_ns, host->probe_ref_ns) - MIN(now_ns, host->probe_ref_ns);

		if (!host->probe_ns || moved_ns <= most_ns)
			continue;
		most = host;
		most_ns = moved_ns;
		back = now_ns < host->probe_ref_ns;
	}
	if (!most || most_ns < MOVED_NS)
		return;
	format_duration(text, sizeof(text), most_ns, ui->format.ascii);
	log_info("clocks synchronised: %s moved %s by %s", most->info.name, back ? "back" : "on", text);
	ui_say(ui, "clocks synchronised: times of %s moved %s by %s", most->info.name, back ? "back" : "on", text);
}

/* How far the replay has come from its start. */
static uint64_t played(const struct ui *ui)
{
	struct cursor home = ui->cursor;

	cursor_jump(&home, ui_begin(ui, home.begin_ns, ui->expected_end_ns));
	home.end_ns = home.wanted_ns ? home.wanted_ns : home.end_ns;
	return ui->cursor.end_ns > home.end_ns ? ui->cursor.end_ns - home.end_ns : 0;
}

/* The cursor in the new times, in which the shown interval is [from_ns, to_ns[. */
static struct cursor rebased(const struct ui *ui, const struct cursor_grid *grid, uint64_t expected_end_ns,
			     uint64_t from_ns, uint64_t to_ns)
{
	struct cursor c = ui->cursor;

	cursor_rebase(&c, grid, from_ns, to_ns);
	if (!c.moved && (!c.live || ui->options.begin.form != TIMETEXT_NONE)) {
		cursor_jump(&c, ui_begin(ui, grid->begin_ns, expected_end_ns) + played(ui));
		c.moved = false;
	}
	return c;
}

static void show_rebased(struct ui *ui, const struct cursor *c, uint64_t expected_end_ns)
{
	ui->cursor = *c;
	ui->expected_end_ns = expected_end_ns;
	baseline_clocks_changed(ui);
	if (ui->details && pane_is_calls(ui->details))
		pane_events_clocks_changed(ui, ui->details);
	data_forget(ui);
	ui->dirty = true;
}

void ui_clocks_changed(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t known_ns)
{
	const struct cursor_grid grid = {
		.begin_ns = begin_ns,
		.frame_ns = ui->cursor.frame_ns,
		.interval_ns = ui->cursor.interval_ns,
		.known_ns = known_ns,
		.complete = ui->cursor.complete,
	};
	struct cursor c;

	if (!ui->started)
		return;
	c = rebased(ui, &grid, expected_end_ns, instant_ref(ui, &ui->shown_from), instant_ref(ui, &ui->shown_to));
	show_rebased(ui, &c, expected_end_ns);
	say_moved(ui);
}

/* ---- the same recordings, cut again ---- */

/* Hosts are sorted by name in both readings; one that could not be read again is missing from the second. */
static unsigned host_number(const struct ui *ui, const struct ui_cut *cut, unsigned old)
{
	for (unsigned i = 0; old < ui->hosts->len && i < cut->n_hosts; i++)
		if (strcmp(ui_host(ui, old)->info.name, cut->hosts[i].name) == 0)
			return i;
	return UINT_MAX;
}

static uint64_t ref_in_cut(const struct ui *ui, const struct ui_cut *cut, const struct ui_instant *instant)
{
	unsigned host = host_number(ui, cut, instant->host);

	return clock_to_ref(host == UINT_MAX ? NULL : cut->hosts[host].map, instant->host_ns);
}

static void renumber(const struct ui *ui, const struct ui_cut *cut, struct ui_instant *instant)
{
	instant->host = host_number(ui, cut, instant->host);
}

/* Rows are named by their host's number: what names some is closed, or starts again with the first row. */
static void forget_rows(struct ui *ui)
{
	pane_destroy(ui->details);
	pane_destroy(ui->behind);
	ui->details = ui->behind = NULL;
	g_hash_table_remove_all(ui->marked);
	g_hash_table_remove_all(ui->collapsed);
	same_rows_forget(ui, NULL);
	ui->only_marked = false;
	for (unsigned i = 0; i < PANES; i++)
		for (unsigned k = 0; ui->panes[i] && k < ui->panes[i]->n_lists; k++)
			ui->panes[i]->lists[k].chosen = ui->panes[i]->lists[k].follow = false;
}

/* Replaces the hosts but keeps the user's choices. */
static void replace_hosts(struct ui *ui, const struct ui_cut *cut)
{
	GArray *hosts = g_array_new(FALSE, TRUE, sizeof(struct ui_host_data));
	bool same = true;

	for (unsigned i = 0; i < UI_BOOKMARKS; i++)
		renumber(ui, cut, &ui->bookmarks[i]);
	renumber(ui, cut, &ui->mark);
	renumber(ui, cut, &ui->baseline->from);
	renumber(ui, cut, &ui->baseline->to);
	g_array_set_size(hosts, cut->n_hosts);
	for (unsigned i = 0; i < cut->n_hosts; i++)
		history_load_init(&g_array_index(hosts, struct ui_host_data, i).load);
	for (unsigned old = 0; old < ui->hosts->len; old++) {
		struct ui_host_data *host = ui_host(ui, old);
		unsigned i = host_number(ui, cut, old);

		same &= i == old;
		if (i != UINT_MAX) {
			g_array_index(hosts, struct ui_host_data, i).hidden = host->hidden;
			g_array_index(hosts, struct ui_host_data, i).probe_ns = host->probe_ns;
			g_array_index(hosts, struct ui_host_data, i).probe_ref_ns = host->probe_ref_ns;
		}
		history_load_release(&host->load);
	}
	for (unsigned i = 0; i < cut->n_hosts; i++)
		g_array_index(hosts, struct ui_host_data, i).info = cut->hosts[i];
	g_array_free(ui->hosts, TRUE);
	ui->hosts = hosts;
	if (!same)
		forget_rows(ui);
}

bool ui_cut_again(struct ui *ui, const struct ui_cut *cut)
{
	uint64_t span_ns = cut->expected_end_ns > cut->begin_ns ? cut->expected_end_ns - cut->begin_ns : 0;
	uint64_t wanted_ns = ui->cursor.sized ? ui->cursor.interval_ns : ui_first_interval(ui, span_ns, cut->frame_ns);
	const struct cursor_grid grid = {
		.begin_ns = cut->begin_ns,
		.frame_ns = cut->frame_ns,
		.interval_ns = cursor_interval_for(cut->frame_ns, wanted_ns),
		.known_ns = cut->known_ns,
		.complete = cut->complete,
	};
	struct cursor c = rebased(ui, &grid, cut->expected_end_ns, ref_in_cut(ui, cut, &ui->shown_from),
				  ref_in_cut(ui, cut, &ui->shown_to));

	if (!cursor_has_arrived(&c))
		return false;
	replace_hosts(ui, cut);
	ui->history = cut->history;
	show_rebased(ui, &c, cut->expected_end_ns);
	ui_rebuild(ui);
	if (c.moved)
		say_moved(ui);
	ui_say_begin_outside(ui);
	return true;
}

/* ---- on the first line ---- */

void ui_set_clocks(struct ui *ui, const struct clock_sync *clocks)
{
	ui->clocks = clocks;
}

void ui_set_clocks_stage(struct ui *ui, enum ui_clocks_stage stage, unsigned percent)
{
	if (stage == ui->clocks_stage && percent == ui->clocks_percent)
		return;
	ui->clocks_stage = stage;
	ui->clocks_percent = percent;
	ui->growing = true;
}

/* How far apart the hosts' own clocks are according to the latest packets; 0: unknown. */
static uint64_t spread(const struct ui *ui)
{
	const struct clock_match **matches = g_new(const struct clock_match *, CLOCK_MATCHES_KEPT);
	unsigned n = ui->clocks ? clock_sync_matches(ui->clocks, matches, CLOCK_MATCHES_KEPT) : 0;
	uint64_t spread_ns = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct clock_match *m = matches[i];

		if (!m->ambiguous)
			spread_ns = MAX(spread_ns, MAX(m->sent_ns, m->received_ns) - MIN(m->sent_ns, m->received_ns));
	}
	g_free(matches);
	return spread_ns;
}

/*
 * Live: whether the clock of a host that is present cannot be compared with the others; *half_ns: how exact arrival
 * times are, 0: unknown.
 */
static bool any_apart(const struct ui *ui, uint64_t *half_ns)
{
	unsigned n = 0, apart = 0;

	*half_ns = 0;

	for (unsigned i = 0; ui->cursor.live && ui->clocks && i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		struct clock_host_info info;

		if (host->info.clock < 0 || host->info.away || host->info.silent || host->hidden ||
		    (host->info.ended && !ui->cursor.complete))
			continue;
		info = clock_sync_info(ui->clocks, (unsigned)host->info.clock);
		n++;
		apart += info.state == CLOCK_ABSENT || info.state == CLOCK_INCOMPLETE;
		if (info.by_arrival)
			*half_ns = MAX(*half_ns, info.arrival_half_ns);
	}
	return n > 1 && apart;
}

/* Texts while it is not known how far times may be off, from longest to shortest. */
static void unsure_texts(const struct ui *ui, char texts[CLOCKS_TEXTS][FORMAT_SIZE * 4])
{
	static const char *const longest[] = {
		[UI_CLOCKS_SYNCHRONISING] = "clocks: being synchronised",
		[UI_CLOCKS_APART] = "clocks: not corrected",
		[UI_CLOCKS_KNOWN] = "clocks: not all synchronised yet",
	};
	const size_t size = FORMAT_SIZE * 4;

	if (ui->clocks_stage == UI_CLOCKS_CUTTING)
		g_snprintf(texts[0], size, "clocks: synchronised, correcting times: %u%%", ui->clocks_percent);
	else
		g_strlcpy(texts[0], longest[ui->clocks_stage], size);
	g_strlcpy(texts[1], "clocks unsure", size);
	g_strlcpy(texts[2], "clocks ?", size);
	g_strlcpy(texts[3], "±?", size);
}

void clocks_texts(const struct ui *ui, char texts[CLOCKS_TEXTS][FORMAT_SIZE * 4])
{
	enum ui_clocks_stage stage = ui->clocks_stage;
	const size_t size = FORMAT_SIZE * 4;
	char times[FORMAT_SIZE];
	uint64_t spread_ns;

	for (unsigned i = 0; i < CLOCKS_TEXTS; i++)
		texts[i][0] = '\0';
	if (stage == UI_CLOCKS_KNOWN && !any_apart(ui, &spread_ns))
		return;
	if (stage != UI_CLOCKS_KNOWN)
		spread_ns = spread(ui);
	if (!spread_ns) {
		unsure_texts(ui, texts);
		return;
	}
	format_duration(times, sizeof(times), spread_ns, ui->format.ascii);
	if (stage == UI_CLOCKS_CUTTING)
		g_snprintf(texts[0], size, "clocks: synchronised, correcting times ±%s: %u%%", times,
			   ui->clocks_percent);
	else if (stage == UI_CLOCKS_APART)
		g_snprintf(texts[0], size, "clocks: not corrected, times ±%s", times);
	else if (stage == UI_CLOCKS_KNOWN)
		g_snprintf(texts[0], size, "clocks: by arrival, times ±%s", times);
	else
		g_snprintf(texts[0], size, "clocks: being synchronised, times ±%s", times);
	g_snprintf(texts[1], size, "clocks: times ±%s", times);
	g_snprintf(texts[2], size, "clocks ±%s", times);
	g_snprintf(texts[3], size, "±%s", times);
}
