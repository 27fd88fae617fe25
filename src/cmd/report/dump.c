/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report dump: writes the events themselves, with all their fields. */
#include "cmd/report/report.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/report/events.h"

static void write_event(void *user, const struct dump_event *event)
{
	dump_event(user, event);
	if (output_has_failed())
		report_stop = 1;
}

static void flush(void *user)
{
	(void)user;
	if (output_flush() != LT_OK)
		report_stop = 1;
}

static enum lt_status check_options(const struct report *r)
{
	const struct options *o = r->options;

	if (o->words->len < 2)
		return error_set("no source given");
	if (o->csv || o->dot)
		return error_set("%s does not apply to dump", o->csv ? "--csv" : "--dot");
	if (o->report_interval || o->per_cpu)
		return error_set("%s does not apply to dump", o->report_interval ? "--interval" : "--per-cpu");
	if (o->json && o->babeltrace)
		return error_set("--json and --babeltrace cannot be used together");
	return report_refuse_choice(o, "dump");
}

/* Unless it was said already: that no host is shown, or that the interval is outside the recording. */
static void say_none(const struct report_events *e)
{
	char *none;

	if (!e->any || e->n_taken || !e->chooses || !e->report->n_names || e->report->interrupted)
		return;
	none = report_events_none(e);
	log_warning("%s", none);
	g_free(none);
}

static int write_events(void *user, uint64_t known_end_ns)
{
	struct report_events *e = user;

	if (report_events_times(e, known_end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	if (report_events_read(e) != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "report");
	if (output_flush())
		return cmd_fail(LT_EXIT_FAILURE, "");
	say_none(e);
	return report_is_incomplete(e->report) ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

int report_dump(struct report *r)
{
	const struct options *o = r->options;
	struct report_events e;
	struct dump *dump;
	int status;

	if (report_events_init(&e, r) != LT_OK || check_options(r) != LT_OK || report_set_clocks(r) != LT_OK) {
		report_events_release(&e);
		return cmd_fail(LT_EXIT_USAGE, "report");
	}
	dump = dump_create(stdout, o->json ? DUMP_JSON : o->babeltrace ? DUMP_BABELTRACE : DUMP_TEXT, o->utc);
	e.needs_threads = o->json;
	e.limit = o->limit;
	e.take = write_event;
	e.user = dump;
	e.visitor.idle = flush;
	report_events_apply(&e);
	report_end_on_interrupt(r);
	status = report_read_sources(r, "report", write_events, &e);
	dump_destroy(dump);
	report_events_release(&e);
	clocks_destroy(r->clocks);
	view_filter_release(&r->filter);
	return status;
}
