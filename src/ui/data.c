/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shown interval out of the history, for the lists and the header. */
#include "ui/internal.h"

/* What the header reads. */
#define HEADER_TABLES (1u << TABLE_HOST | 1u << TABLE_CPU)

/* An interval that begins or ends while the host was away is as long as it was there. */
static void leave_out_gaps(const struct ui *ui, const struct ui_host_data *host, uint64_t *begin_ns, uint64_t *end_ns)
{
	enum { MANY = 64 };
	struct frame_summary frames[MANY];
	unsigned n = history_summaries(ui->history, host->info.track, *begin_ns, *end_ns, frames, MANY);
	unsigned i = 0;

	while (i < n && frames[i].gap)
		*begin_ns = frames[i++].end_ns;
	if (n < MANY && i < n && frames[n - 1].gap)
		*end_ns = frames[n - 1].begin_ns;
}

static void load_host(struct ui *ui, struct ui_host_data *host, uint64_t begin_ns, uint64_t end_ns, uint32_t tables)
{
	uint64_t first_ns, last_ns;

	host->loaded = false;
	host->gap = false;
	if (!history_range(ui->history, host->info.track, &first_ns, &last_ns))
		return;
	begin_ns = MAX(begin_ns, first_ns);
	end_ns = MIN(end_ns, last_ns);
	if (begin_ns >= end_ns)
		return;
	leave_out_gaps(ui, host, &begin_ns, &end_ns);
	if (begin_ns >= end_ns) {
		host->gap = true;
		return;
	}
	host->loaded = history_load(ui->history, host->info.track, begin_ns, end_ns, tables, &host->load) == LT_OK;
}

static void list_hosts(struct ui *ui)
{
	g_array_set_size(ui->view_hosts, 0);
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		struct view_host view = {
			.name = host->info.name,
			.source = host->info.source,
			.tracer = host->info.tracer,
			.iv = host->loaded && !host->hidden ? &host->load.interval : NULL,
			.missing = host->info.missing,
			.n_missing = host->info.n_missing,
		};

		g_array_append_val(ui->view_hosts, view);
	}
}

/* Frames that were thinned are longer than the interval asked for. */
static void find_shown(struct ui *ui)
{
	uint64_t end_ns = 0;

	ui->shown_begin_ns = ui->loaded_begin_ns;
	ui->shown_end_ns = ui->loaded_end_ns;
	for (unsigned i = 0; i < ui->hosts->len; i++) {
		const struct ui_host_data *host = ui_host(ui, i);
		uint64_t first_ns, last_ns;

		if (!host->loaded || !history_range(ui->history, host->info.track, &first_ns, &last_ns))
			continue;
		ui->shown_begin_ns = MIN(ui->shown_begin_ns, host->load.interval.begin_ns);
		end_ns = MAX(end_ns, last_ns < ui->loaded_end_ns ? ui->loaded_end_ns : host->load.interval.end_ns);
	}
	if (end_ns)
		ui->shown_end_ns = end_ns;
}

bool data_load(struct ui *ui)
{
	uint32_t tables = HEADER_TABLES | pane_tables(ui, ui_pane(ui));
	uint64_t begin_ns, end_ns;

	cursor_interval(&ui->cursor, &begin_ns, &end_ns);
	if (begin_ns == ui->loaded_begin_ns && end_ns == ui->loaded_end_ns &&
	    (tables & ui->loaded_tables) == tables)
		return false;
	ui->loaded_begin_ns = begin_ns;
	ui->loaded_end_ns = end_ns;
	ui->loaded_tables = tables;
	for (unsigned i = 0; i < ui->hosts->len; i++)
		load_host(ui, ui_host(ui, i), begin_ns, end_ns, tables);
	list_hosts(ui);
	find_shown(ui);
	return true;
}

void data_forget(struct ui *ui)
{
	ui->loaded_tables = 0;
}

unsigned ui_visible_hosts(const struct ui *ui)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ui->hosts->len; i++)
		n += !ui_host(ui, i)->hidden;
	return n;
}
