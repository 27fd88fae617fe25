/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report: tables with rows that do not come from the model: sync, matches, latencies and the wait graph's. */
#include <string.h>

#include "base/log.h"
#include "cmd/report/report.h"

static void on_match(void *data, const struct clock_match *match)
{
	struct report *r = data;
	struct view_match m = view_match_of(match);

	g_array_append_val(r->matches, m);
}

void report_derived_init(struct report *r)
{
	view_derived_init(&r->derived_rows);
	r->paths = g_array_new(FALSE, FALSE, sizeof(struct wait_path));
	r->subjects = g_array_new(FALSE, FALSE, sizeof(wait_row));
	r->matches = g_array_new(FALSE, FALSE, sizeof(struct view_match));
	r->query.derived = &r->derived_rows;
	r->subject = -1;
	if (report_needs(r) & VIEW_MATCHES)
		clock_sync_on_match(clocks_sync(r->clocks), on_match, r);
}

void report_derived_release(struct report *r)
{
	view_derived_release(&r->derived_rows);
	report_subjects_clear(r);
	g_array_free(r->paths, TRUE);
	g_array_free(r->subjects, TRUE);
	g_array_free(r->matches, TRUE);
}

/*
 * Warns, once, about what is missing in the figures: data for which memory was too small; live, data that came before
 * the clocks were known and is not ordered with what came later; data older than --wait-retention.
 */
static void warn_cut(struct report *r, uint64_t begin_ns)
{
	const struct waits *waits = ingest_waits(r->in);
	const struct waits_info info = waits_info(waits);
	const uint64_t from_ns = waits_now(waits) - info.graph.retention_ns;
	const bool expired = r->options->wait_retention && info.graph.horizon_ns > begin_ns;
	char when[TIMETEXT_SIZE];

	if (from_ns <= begin_ns || !(info.graph.cut || info.epoch || expired))
		return;
	/* too little memory is reported even after the rest */
	if (r->warned_cut && (r->dropped || !info.graph.cut))
		return;
	log_warning("data before %s %s", timetext_format(when, sizeof(when), from_ns, 9, true, r->options->utc),
		    info.graph.cut ? "was dropped: --wait-memory is too small"
		    : expired      ? "was dropped: --wait-retention is too short"
				   : "is missing: it arrived before the hosts' clocks were known");
	r->warned_cut = true;
	r->dropped = info.graph.cut > 0;
}

enum lt_status report_derived_collect(struct report *r, uint64_t begin_ns, uint64_t end_ns)
{
	const unsigned needs = report_needs(r);
	struct account *accounts = NULL;
	struct view_sources from = {
		.hosts = r->shown,
		.n_hosts = r->n_shown,
		.filter = &r->filter,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.whole = r->all_read,
		.clocks = r->clocks ? clocks_sync(r->clocks) : NULL,
		.matches = r->matches,
	};

	view_derived_clear(&r->derived_rows);
	if (report_needs_waits(r)) {
		from.waits = ingest_waits(r->in);
		warn_cut(r, begin_ns);
	}
	if (needs & VIEW_PATH) {
		if (report_subjects_find(r, begin_ns, end_ns) != LT_OK)
			return LT_ERROR;
		from.paths = (const struct wait_path *)(const void *)r->paths->data;
		from.subjects = (const wait_row *)(const void *)r->subjects->data;
		from.one_subject = r->subject >= 0;
		from.n_paths = r->paths->len;
	}
	if (needs & VIEW_ACCOUNTS)
		from.accounts = accounts = waits_accounting(from.waits, begin_ns, end_ns, &from.n_accounts, NULL);
	r->table->supply.collect(&r->derived_rows, &from);
	g_free(accounts);
	/* live data is shown once */
	if (r->live)
		g_array_set_size(r->matches, 0);
	return LT_OK;
}
