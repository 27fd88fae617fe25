/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the shown interval from the history, for the lists and the header. */
#include "ui/internal.h"
#include "view/missing.h"

/* Tables that the header needs. */
#define HEADER_TABLES (1u << TABLE_HOST | 1u << TABLE_CPU)

/*
 * Shortens an interval that starts or ends while the host was away to the time it was present. Returns whether it did.
 */
static bool leave_out_gaps(const struct history *h, unsigned track, uint64_t *begin_ns, uint64_t *end_ns)
{
	enum { MANY = 64 };
	struct frame_summary frames[MANY];
	unsigned n = history_summaries(h, track, *begin_ns, *end_ns, frames, MANY);
	struct frame_summary last;
	const bool ends_in_gap = history_summaries(h, track, *end_ns - 1, *end_ns, &last, 1) && last.gap;
	unsigned i = 0;

	while (i < n && frames[i].gap)
		*begin_ns = frames[i++].end_ns;
	if (i < n && ends_in_gap)
		*end_ns = last.begin_ns;
	return i || ends_in_gap;
}

/*
 * The frame edge for an edge of the interval, in the host's time. Frames are cut on the host's own clock, so that edges
 * may be a little beside; in a longer frame, which was merged or in which its clock was corrected, the interval grows.
 */
static uint64_t edge_for(const struct ui *ui, const struct history *h, unsigned track, uint64_t host_ns, bool begins)
{
	const uint64_t before_ns = history_edge_floor(h, track, host_ns);
	const uint64_t after_ns = history_edge_ceil(h, track, host_ns);
	const uint64_t beside_ns = ui->cursor.frame_ns / 2;

	if (before_ns > host_ns || after_ns < host_ns)
		return host_ns;
	if (host_ns - before_ns <= MIN(beside_ns, after_ns - host_ns))
		return before_ns;
	if (after_ns - host_ns <= beside_ns)
		return after_ns;
	return begins ? before_ns : after_ns;
}

/* The history that has the interval, or will have it. */
static const struct history *history_with(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns)
{
	const struct ui_preview *p = &ui->preview;

	return preview_is_shown(ui) && begin_ns == p->begin_ns && end_ns == p->end_ns ? p->history : ui->history;
}

/* What a host has of an interval, in its own time; empty: nothing. */
struct host_part {
	uint64_t begin_ns, end_ns; /* frame edges */
	bool gap;                  /* nothing, because it was away */
};

/* The host's part of [begin_ns, end_ns[, in reference time. */
static struct host_part part_of(const struct ui *ui, const struct ui_host_data *host, uint64_t begin_ns,
				uint64_t end_ns)
{
	const struct history *h = history_with(ui, begin_ns, end_ns);
	const unsigned track = host->info.track;
	struct host_part part = { 0 };
	uint64_t first_ns, last_ns;
	bool was_away;

	if (!history_range(h, track, &first_ns, &last_ns))
		return part;
	begin_ns = MAX(ui_from_ref(host, begin_ns), first_ns);
	end_ns = MIN(ui_from_ref(host, end_ns), last_ns);
	if (begin_ns >= end_ns)
		return part;
	/* before rounding, which would stretch a gap */
	was_away = leave_out_gaps(h, track, &begin_ns, &end_ns);
	part.begin_ns = edge_for(ui, h, track, begin_ns, true);
	part.end_ns = edge_for(ui, h, track, end_ns, false);
	/* inside one frame */
	if (part.begin_ns >= part.end_ns && !was_away) {
		part.begin_ns = history_edge_floor(h, track, begin_ns);
		part.end_ns = history_edge_ceil(h, track, end_ns);
	}
	part.gap = was_away && part.begin_ns >= part.end_ns;
	return part;
}

bool data_load_host(const struct ui *ui, const struct ui_host_data *host, uint64_t begin_ns, uint64_t end_ns,
		    uint32_t tables, struct history_load *load, bool *gap)
{
	const struct host_part part = part_of(ui, host, begin_ns, end_ns);
	const bool loaded =
		part.begin_ns < part.end_ns && history_load(history_with(ui, begin_ns, end_ns), host->info.track,
							    part.begin_ns, part.end_ns, tables, load) == LT_OK;

	*gap = part.gap;
	if (!loaded)
		history_load_clear(load);
	return loaded;
}

struct view_host data_view_host(const struct ui_host_data *host, const struct interval *iv)
{
	return (struct view_host){
		.name = host->info.name,
		.source = host->info.source,
		.tracer = host->info.tracer,
		.sidecar = host->info.sidecar,
		.record_ns = host->info.begin_ns,
		.iv = iv,
		.map = host->info.map,
		.clock = host->info.clock < 0 ? UINT_MAX : (unsigned)host->info.clock,
		.gone = host->gone,
		.missing = host->info.missing,
		.n_missing = host->gone ? 0 : host->info.n_missing,
	};
}

uint32_t data_host_lacks(const struct ui_host_data *host)
{
	const struct view_host view = data_view_host(host, NULL);

	return view_host_lacks(&view);
}

static void list_hosts(struct ui *ui)
{
	g_array_set_size(ui->view_hosts, 0);
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		struct view_host view =
			data_view_host(host, host->loaded && !host->hidden ? &host->load.interval : NULL);

		g_array_append_val(ui->view_hosts, view);
	}
}

/* Whether nothing changed in the host's frame at that time: it may be an hour long, but its figures are of any part. */
static bool is_still(const struct ui *ui, const struct ui_host_data *host, uint64_t host_ns)
{
	struct frame_summary frame;

	return history_summaries(ui->history, host->info.track, host_ns, host_ns + 1, &frame, 1) && frame.still;
}

/*
 * Widens an interval once to the frames that hosts have of it. Merged frames may be longer than it, and so may be the
 * frame in which a host's clock was corrected; frames that are merely shifted a little do not count.
 */
static void widen_once(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	const uint64_t asked_begin_ns = *begin_ns, asked_end_ns = *end_ns, beside_ns = ui->cursor.frame_ns / 2;
	const uint64_t longest_ns = asked_end_ns - asked_begin_ns + beside_ns / 2;

	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		const struct host_part part = part_of(ui, host, asked_begin_ns, asked_end_ns);
		uint64_t host_begin_ns, host_end_ns, shift_ns;

		if (host->hidden || part.begin_ns >= part.end_ns)
			continue;
		host_begin_ns = ui_to_ref(host, part.begin_ns);
		host_end_ns = ui_to_ref(host, part.end_ns);
		shift_ns = host_end_ns - host_begin_ns > longest_ns ? 0 : beside_ns;
		if (host_begin_ns + shift_ns < asked_begin_ns && !is_still(ui, host, part.begin_ns))
			*begin_ns = MIN(*begin_ns, host_begin_ns);
		if (host_end_ns >= asked_end_ns + shift_ns && !is_still(ui, host, part.end_ns - 1))
			*end_ns = MAX(*end_ns, host_end_ns);
	}
}

void data_widen(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns)
{
	enum { PASSES_MAX = 16 }; /* the frames of hosts seldom overlap each other more than once */
	uint64_t before_ns = 0;

	for (int i = 0; i < PASSES_MAX && *end_ns - *begin_ns != before_ns; i++) {
		before_ns = *end_ns - *begin_ns;
		widen_once(ui, begin_ns, end_ns);
	}
}

/* What was lost of a host does not depend on whether it continues. */
static void load_past(const struct ui *ui, struct ui_host_data *host, uint64_t begin_ns)
{
	const struct interval_table *t = &host->load.interval.tables[TABLE_HOST];
	const unsigned track = host->info.track;
	const uint64_t before_ns = host->past_ns;
	uint64_t first_ns;

	if (host->loaded || !history_range(ui->history, track, &first_ns, &host->past_ns) ||
	    host->past_ns > ui_from_ref(host, begin_ns))
		host->past_ns = 0;
	if (host->past_ns && host->past_ns == before_ns)
		return;
	host->past = (struct host_row){ 0 };
	if (!host->past_ns)
		return;
	if (history_load(ui->history, track, host->past_ns - 1, host->past_ns, 1u << TABLE_HOST, &host->load) ==
		    LT_OK &&
	    t->n_rows)
		host->past = *INTERVAL_ROW(host, &t->rows[0]);
	history_load_clear(&host->load);
}

static bool is_gone(const struct ui *ui, const struct ui_host_data *host)
{
	uint64_t first_ns, last_ns;

	return host->info.live && host->info.ended &&
	       !history_range(ui->history, host->info.track, &first_ns, &last_ns);
}

bool data_load(struct ui *ui)
{
	uint32_t tables = HEADER_TABLES | pane_tables(ui, ui_pane(ui));
	const unsigned preview = preview_is_shown(ui) ? ui->preview.number : 0;
	GArray *chosen = NULL;
	uint64_t begin_ns, end_ns;
	bool different;

	ui_interval(ui, &begin_ns, &end_ns);
	if (!ui->cursor.live && !ui->cursor.complete)
		tables |= 1u << TABLE_THREAD; /* chosen ones are looked up when another reading is shown: same_rows.c */
	if (preview != ui->loaded_preview || ui->missed)
		tables |= 1u << TABLE_THREAD;
	if (preview != ui->loaded_preview) {
		data_forget(ui);
		chosen = same_rows_note(ui);
	}
	different = baseline_load(ui, tables);
	if (begin_ns == ui->loaded_begin_ns && end_ns == ui->loaded_end_ns && (tables & ui->loaded_tables) == tables)
		return different;
	if (!chosen && ui->missed)
		chosen = same_rows_missed(ui);
	ui->loaded_begin_ns = begin_ns;
	ui->loaded_end_ns = end_ns;
	ui->loaded_tables = tables;
	ui->loaded_preview = preview;
	if (!preview)
		data_widen(ui, &begin_ns, &end_ns);
	ui->shown_begin_ns = begin_ns;
	ui->shown_end_ns = end_ns;
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		struct ui_host_data *host = ui_host(ui, i);

		host->loaded = data_load_host(ui, host, begin_ns, end_ns, tables, &host->load, &host->gap);
		load_past(ui, host, begin_ns);
		host->gone = is_gone(ui, host);
	}
	if (chosen)
		same_rows_find(ui, chosen);
	list_hosts(ui);
	return true;
}

void data_forget(struct ui *ui)
{
	ui->loaded_tables = 0;
	ui->baseline->tables = 0;
	window_forget(ui);
}

static bool is_shown(const struct ui_host_data *host)
{
	return !host->hidden && !host->gone;
}

unsigned ui_visible_hosts(const struct ui *ui)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		n += is_shown(ui_host(ui, i));
	return n;
}

GArray *data_shown_hosts(const struct ui *ui)
{
	GArray *shown = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (is_shown(ui_host(ui, i)))
			g_array_append_val(shown, i);
	return shown;
}
