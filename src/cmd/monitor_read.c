/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's sources: opened, surveyed for their clocks, read in slices so short that keys are answered at once. */
#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "cmd/monitor.h"
#include "cmd/sync_options.h"
#include "ui/cursor.h"

#define SLICE_NS UINT64_C(8000000)
#define LIVE_FRAME_NS UINT64_C(1000000000)

/* A row is kept by the model, by the end of the history, twice while that is thinned, and twice for the screen. */
enum { MONITOR_COPIES = 6 };

/* So long may the first look at the clocks last before something is shown; then they are known when all is read. */
#define SURVEY_US G_TIME_SPAN_SECOND * 3

enum lt_status monitor_create_clocks(struct monitor *m)
{
	const struct options *o = m->options;

	return sync_options_clocks(o, o->no_sync ? CLOCKS_RAW : sync_options_live(o, 0) ? CLOCKS_MOVE : CLOCKS_AWAIT,
				   &m->clocks);
}

enum lt_status monitor_open_sources(struct monitor *m, bool graph, bool again)
{
	const struct options *o = m->options;
	const struct waits_options waits = {
		.retention_ns = sync_options_live(o, 0) ? o->wait_retention : 0,
		.memory_bytes = o->wait_memory,
		.totals = true,
	};
	struct ingest_options options = {
		.workers = o->workers,
		.model_memory = o->model_memory,
		.row_copies = MONITOR_COPIES,
		.follow = true,
		.stall_limit_ns = o->stall_limit,
		.max_sessions = o->max_sessions,
		.max_lag_ns = o->max_lag,
		.clocks = m->clocks,
		.waits = graph ? &waits : NULL,
	};
	unsigned opened = 0;

	if (!o->words->len)
		return error_set("no source given");
	m->in = ingest_create(&options);
	for (guint i = 0; i < o->words->len; i++) {
		if (ingest_open(m->in, g_ptr_array_index(o->words, i)) == LT_OK)
			opened++;
		else if (!again)
			log_error("%s", error_text());
	}
	error_clear();
	if (!opened || ingest_start(m->in, NULL) != LT_OK)
		return error_set("no source could be read");
	/* live hosts may come later */
	return ingest_is_live(m->in) ? LT_OK : sync_options_check_hosts(o, m->in);
}

void monitor_choose_stage(struct monitor *m)
{
	const struct options *o = m->options;

	m->stage = STAGE_FINAL;
	if (o->no_sync)
		m->stage = STAGE_ALONE;
	else if (ingest_is_live(m->in))
		m->stage = STAGE_MOVING;
	else if (ingest_host_count(m->in) < 2)
		m->stage = STAGE_ALONE;
	else
		m->survey = survey_create(o->words, o->workers, m->clocks);
	if (m->survey) {
		m->stage = STAGE_SURVEY;
		m->survey_until_us = g_get_monotonic_time() + SURVEY_US;
	} else if (m->stage == STAGE_ALONE || m->stage == STAGE_FINAL) {
		clocks_finish(m->clocks);
	}
}

uint64_t monitor_expected_end(struct monitor *m)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < ingest_host_count(m->in); i++) {
		const struct ingest_host *host = ingest_host(m->in, i);

		end_ns = MAX(end_ns, clock_to_ref(host->map, host->ended ? host->end_ns : host->end_hint_ns));
	}
	return end_ns;
}

void monitor_start_reading(struct monitor *m)
{
	uint64_t begin_ns = ingest_begin_ns(m->in), end_ns = monitor_expected_end(m);

	m->live = ingest_is_live(m->in);
	m->frame_ns = !m->live && end_ns > begin_ns ? cursor_frame_for(end_ns - begin_ns) : LIVE_FRAME_NS;
	m->frames = frames_create(m->in, m->history, m->frame_ns);
	m->epochs = monitor_count_epochs(m);
	if (!m->live)
		m->reread = reread_create(m->loop, m->in, m->options->wait_memory, monitor_tell_window, m);
	if (!m->options->no_sync)
		ui_set_clocks(m->ui, clocks_sync(m->clocks));
	ev_io_set(&m->sources, ingest_fd(m->in), EV_READ);
	monitor_show_new_hosts(m);
}

/* The recordings are too long to be read twice before anything is shown. */
static void give_up_survey(struct monitor *m)
{
	ingest_destroy(m->in);
	clocks_destroy(m->clocks);
	m->clocks = NULL;
	m->stage = STAGE_AT_END;
	if (monitor_create_clocks(m) != LT_OK || monitor_open_sources(m, false, true) != LT_OK)
		log_error("%s", error_text());
}

/* Returns what survey_run() does. */
static enum lt_status survey_slice(struct monitor *m)
{
	enum lt_status status = survey_run(m->survey, SLICE_NS);

	if (status != LT_END && g_get_monotonic_time() < m->survey_until_us) {
		ui_set_survey(m->ui, survey_percent(m->survey));
		return status;
	}
	ev_io_stop(m->loop, &m->sources);
	survey_destroy(m->survey);
	m->survey = NULL;
	if (status == LT_END) {
		clocks_finish(m->clocks);
		m->stage = STAGE_FINAL;
	} else {
		give_up_survey(m);
	}
	monitor_start_reading(m);
	return LT_OK;
}

/* The history is not asked: paths of the far past may go before it does. */
static void forget_paths(struct monitor *m)
{
	if (!strpool_round_due())
		return;
	strpool_round_begin();
	ingest_keep_paths(m->in);
	strpool_round_end();
}

static enum lt_status reading_slice(struct monitor *m)
{
	enum lt_status status;

	if (m->live)
		ingest_watch(m->in);
	status = frames_advance(m->frames, SLICE_NS);
	forget_paths(m);
	m->complete = status == LT_END;
	if (m->complete && m->stage == STAGE_AT_END) {
		clocks_finish(m->clocks);
		m->stage = STAGE_FINAL;
	}
	monitor_tell_known(m);
	return status;
}

enum lt_status monitor_read_slice(struct monitor *m)
{
	return m->survey ? survey_slice(m) : reading_slice(m);
}
