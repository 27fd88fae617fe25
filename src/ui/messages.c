/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The quality of the data, and the messages of this run. */
#include "base/log.h"
#include "base/strpool.h"
#include "base/timetext.h"
#include "sidecar/sidecar.h"
#include "ui/internal.h"

static void add_count(struct overlay *o, const char *what, uint64_t n)
{
	char count[32], text[64];

	if (!n)
		return;
	format_count(count, sizeof(count), n, 0);
	g_snprintf(text, sizeof(text), "%s up to the end of this interval", count);
	overlay_add(o, STYLE_LOST, what, text);
}

static void add_missing(struct overlay *o, const struct ui_host *host)
{
	GString *names;

	if (!host->n_missing)
		return;
	names = g_string_new(NULL);
	for (unsigned i = 0; i < host->n_missing; i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "", host->missing[i]);
	overlay_add(o, STYLE_DIM, "not recorded", names->str);
	g_string_free(names, TRUE);
}

static void add_machine(struct overlay *o, const struct sidecar *sidecar)
{
	const struct sidecar_facts facts = sidecar ? sidecar_facts(sidecar) : (struct sidecar_facts){ 0 };

	if (facts.kernel)
		overlay_add(o, STYLE_DIM, "kernel", facts.kernel);
	if (facts.boot_id)
		overlay_add(o, STYLE_DIM, "boot id", facts.boot_id);
	if (facts.clock)
		overlay_add(o, STYLE_DIM, "clock", facts.clock);
	if (facts.cpus)
		overlay_add(o, STYLE_DIM, "CPUs", facts.cpus);
}

/* Counts everything up to the end of the shown interval. */
static void add_host(struct ui *ui, struct overlay *o, const struct ui_host_data *host)
{
	const struct host_row *row = ui_host_row(host) ? ui_host_row(host) : &host->past;
	char begin[TIMETEXT_SIZE], end[TIMETEXT_SIZE], text[2 * TIMETEXT_SIZE + 8];
	const uint64_t begin_ns = ui_to_ref(host, host->info.begin_ns), end_ns = ui_to_ref(host, host->info.end_ns);

	overlay_add(o, STYLE_TITLE, host->info.name, NULL);
	if (host->info.source)
		overlay_add(o, STYLE_DIM, "source", host->info.source);
	if (host->info.tracer && *host->info.tracer)
		overlay_add(o, STYLE_DIM, "tracer", host->info.tracer);
	add_machine(o, host->info.sidecar);
	g_snprintf(text, sizeof(text), "%s to %s", ui_time(ui, begin, sizeof(begin), begin_ns, 9, UI_DATE_FULL),
		   ui_time(ui, end, sizeof(end), end_ns, 9,
			   timetext_same_day(begin_ns, end_ns, ui->options.utc) ? UI_DATE_NONE : UI_DATE_FULL));
	overlay_add(o, STYLE_DIM, host->info.ended ? "recorded" : "recorded so far", text);
	if (host->info.trouble)
		overlay_add(o, STYLE_LOST, "incomplete", host->info.trouble);
	if (host->info.note)
		overlay_add(o, STYLE_NORMAL, "note", host->info.note);
	add_missing(o, &host->info);
	add_count(o, "events lost", row->lost_events);
	add_count(o, "packets lost", row->lost_packets);
	add_count(o, "backward steps", row->backward_steps);
	add_count(o, "late events", row->late_events);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

static void add_memory(const struct ui *ui, struct overlay *o)
{
	char used[16], limit[16], text[64];

	g_snprintf(text, sizeof(text), "%s of %s bytes",
		   format_bytes(used, sizeof(used), (double)history_bytes(ui->history)),
		   format_bytes(limit, sizeof(limit), (double)history_limit(ui->history)));
	overlay_add(o, STYLE_TITLE, "Memory", NULL);
	overlay_add(o, STYLE_DIM, "history", text);
	add_count(o, "names dropped", strpool_full());
	add_count(o, "older paths dropped", strpool_forgotten());
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

/* Those of a warning's weight, or the others. */
static void add_messages(const struct ui *ui, struct overlay *o, bool warnings)
{
	unsigned n = 0;

	overlay_add(o, STYLE_TITLE, warnings ? "Warnings and errors" : "Other messages", NULL);
	for (unsigned i = 0; i < log_count(); i++) {
		const struct log_message *m = log_get(i);
		char time[TIMETEXT_SIZE], repeated[sizeof(m->text) + 32];

		if ((m->level >= LOG_LEVEL_WARNING) != warnings)
			continue;
		g_snprintf(repeated, sizeof(repeated), m->repeated > 1 ? "%s (%u times)" : "%s", m->text, m->repeated);
		overlay_add(o, warnings ? STYLE_LOST : STYLE_DIM,
			    ui_time(ui, time, sizeof(time), m->wall_ns, 3, UI_DATE_NONE), repeated);
		n++;
	}
	if (!n)
		overlay_add(o, STYLE_DIM, "none", NULL);
	overlay_add(o, STYLE_NORMAL, "", NULL);
}

/* The number of the last one, which may repeat the one before it. */
static uint64_t newest_number(void)
{
	return log_count() ? log_get(log_count() - 1)->number : 0;
}

static void fill(struct ui *ui, struct overlay *o)
{
	ui->messages_shown = newest_number();
	add_messages(ui, o, true);
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (!ui_host(ui, i)->gone)
			add_host(ui, o, ui_host(ui, i));
	if (ui->history) /* NULL until the recordings are open */
		add_memory(ui, o);
	add_messages(ui, o, false);
}

void messages_show(struct ui *ui)
{
	ui_set_overlay(ui, overlay_text("Messages and data quality (Esc closes)", 16));
	fill(ui, ui->overlay);
	ui->reading_messages = true;
}

void ui_show_warnings(struct ui *ui)
{
	const struct log_message *newest = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < log_count(); i++) {
		const struct log_message *m = log_get(i);

		if (m->level < LOG_LEVEL_WARNING || m->number <= ui->warned)
			continue;
		newest = m;
		n++;
	}
	if (!newest)
		return;
	ui->warned = newest->number;
	if (n > 1)
		ui_say(ui, "%u warnings, which L shows; the last: %s", n, newest->text);
	else
		ui_say(ui, "%s", newest->text);
}

void messages_update(struct ui *ui)
{
	if (!ui->reading_messages || newest_number() == ui->messages_shown)
		return;
	overlay_clear(ui->overlay);
	fill(ui, ui->overlay);
	ui->dirty = true;
}
