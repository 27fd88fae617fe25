/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor's sources: opens them and reads in slices so short that keys are handled at once. Recordings of several
 * hosts are read twice, the first time for their clocks:
 *
 *   shown  every host on its own clock ──▶ clocks_finish()
 *   next                                   cut with the final clocks ──▶ becomes what is shown
 *
 * What the first reading finds is shown, marked as provisional, until the second reading has reached the same time. So
 * the clocks used to cut an interval never depend on timing.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/strpool.h"
#include "cmd/monitor/monitor.h"
#include "control/keeper.h"
#include "play/sync_options.h"
#include "source/source.h"
#include "ui/cursor.h"

#define SLICE_NS (8 * NS_PER_MS)
#define SLICE_BESIDE_PREVIEW_NS NS_PER_MS
#define LIVE_FRAME_NS NS_PER_S

enum { PUBLISH_EVERY_US = 50 * US_PER_MS, START_US = 100 * US_PER_MS, START_LOOK_MS = 10 };

/* Copies of a row: one in the model, one at the end of the history, two while it is thinned, two for the screen. */
enum { MONITOR_COPIES = 6 };

/* The first reading's share of the memory for the history; the second reading may fill that, too. */
enum { PROVISIONAL_SHARE = 4 };

/* The share of the memory for critical paths that a host's events take while they wait for a host that is behind. */
enum { WAIT_QUEUE_SHARE = 8 };

bool monitor_recalls(const struct options *o)
{
	if (o->follow)
		return true;
	for (guint i = 0; o->recall_memory && i < o->words->len; i++)
		if (source_is_url(g_ptr_array_index(o->words, i)))
			return true;
	return false;
}

enum lt_status monitor_create_clocks(struct monitor *m)
{
	const struct options *o = m->options;

	return sync_options_clocks(o,
				   o->no_sync                ? CLOCKS_RAW
				   : sync_options_live(o, 0) ? CLOCKS_MOVE
							     : CLOCKS_AWAIT,
				   &m->clocks);
}

static struct ingest *create_ingest(const struct monitor *m, bool own_time)
{
	const struct options *o = m->options;
	const struct waits_options waits = {
		.retention_ns = sync_options_live(o, 0) ? o->wait_retention : 0,
		.memory_bytes = o->wait_memory,
		.queue_bytes = sync_options_live(o, 0) ? o->wait_memory / WAIT_QUEUE_SHARE : 0,
	};
	struct ingest_options options = {
		.workers = o->workers,
		.model_memory = o->model_memory,
		.row_copies = MONITOR_COPIES,
		.follow = true,
		.from_start = o->from_start,
		.growing = o->follow,
		.stall_limit_ns = o->stall_limit,
		.store = o->keeper ? o->keeper->store : NULL,
		.max_sessions = o->max_sessions,
		.max_lag_ns = o->max_lag,
		.clocks = m->clocks,
		.own_time = own_time,
		.waits = sync_options_live(o, 0) ? &waits : NULL,
	};

	return ingest_create(&options);
}

/* Returns how many sources could be opened; failures were reported when they were first opened. */
static unsigned open_words(const struct monitor *m, struct ingest *in, bool again)
{
	const struct options *o = m->options;
	unsigned opened = 0;

	for (guint i = 0; i < o->words->len; i++) {
		if (ingest_open(in, g_ptr_array_index(o->words, i)) == LT_OK)
			opened++;
		else if (!again)
			log_error("%s", error_text());
	}
	error_clear();
	return opened;
}

/* Determines what is to be done about the sources' clocks. */
static void choose_stage(struct monitor *m)
{
	if (!m->options->no_sync && ingest_is_live(m->shown.in)) {
		m->stage = STAGE_MOVING;
	} else if (!m->options->no_sync && ingest_host_count(m->shown.in) > 1 && m->cache.restored) {
		m->stage = STAGE_FINAL;
	} else if (!m->options->no_sync && ingest_host_count(m->shown.in) > 1) {
		m->stage = STAGE_COMPARING;
		/* its links between hosts would be wrong */
		ingest_drop_waits(m->shown.in);
	} else {
		m->stage = STAGE_ALONE;
		clocks_finish(m->clocks);
	}
}

/* Continues starting the sources. LT_AGAIN: the first event of a recording has not arrived yet. */
static enum lt_status start_sources(struct monitor *m)
{
	enum lt_status status = m->cache.restored ? LT_OK : ingest_start_some(m->shown.in);

	if (status == LT_ERROR)
		return ingest_is_refused(m->shown.in) ? status : error_set("no source could be read");
	/* live hosts may come later */
	if (status == LT_OK && !ingest_is_live(m->shown.in))
		status = sync_options_check_hosts(m->options, m->shown.in);
	if (status == LT_OK)
		choose_stage(m);
	m->starting = status == LT_AGAIN;
	return status;
}

/*
 * Waits this long for the first events, which usually suffices for the first screen to be complete and for errors to be
 * printed without a screen.
 */
static enum lt_status start_at_once(struct monitor *m)
{
	const gint64 end_us = g_get_monotonic_time() + START_US;
	enum lt_status status;

	while ((status = start_sources(m)) == LT_AGAIN && g_get_monotonic_time() < end_us)
		ingest_wait(m->shown.in, START_LOOK_MS);
	return status == LT_AGAIN ? LT_OK : status;
}

enum lt_status monitor_open_sources(struct monitor *m)
{
	const struct options *o = m->options;
	const bool own_time = !o->no_sync && !sync_options_live(o, 0);
	unsigned opened;

	sync_options_warn_recorded(o, 0);
	m->shown.in = create_ingest(m, own_time);
	opened = open_words(m, m->shown.in, false);
	if (opened && monitor_open_cached(m) == LT_ERROR) {
		monitor_release_reading(&m->shown);
		clocks_destroy(m->clocks);
		monitor_create_clocks(m);
		m->shown.in = create_ingest(m, own_time);
		opened = open_words(m, m->shown.in, true);
	}
	return opened ? start_at_once(m) : error_set("no source could be read");
}

uint64_t monitor_expected_end(const struct reading *r)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < ingest_host_count(r->in); i++) {
		const struct ingest_host *host = ingest_host(r->in, i);

		end_ns = MAX(end_ns, clock_to_ref(host->map, host->ended ? host->end_ns : host->end_hint_ns));
	}
	return end_ns;
}

/* Once its hosts are known: lets their events go into a history, unless it came from the cache. */
static void start_reading(const struct monitor *m, struct reading *r)
{
	uint64_t begin_ns = ingest_begin_ns(r->in), end_ns = monitor_expected_end(r);
	bool provisional = m->stage == STAGE_COMPARING;

	r->missing = g_array_new(FALSE, TRUE, sizeof(struct missing));
	if (r->frames)
		return;
	r->history =
		history_create(provisional ? m->options->history_size / PROVISIONAL_SHARE : m->options->history_size);
	r->frame_ns = !m->live && end_ns > begin_ns ? cursor_frame_for(end_ns - begin_ns) : LIVE_FRAME_NS;
	r->frames = frames_create(r->in, r->history, r->frame_ns, provisional);
}

struct reread *monitor_reread_create(struct monitor *m, struct reread_options options)
{
	options.loop = m->loop;
	options.of = m->shown.in;
	if (!options.memory_bytes)
		options.memory_bytes = m->options->wait_memory;
	return reread_create(&options);
}

static void allow_reread(struct monitor *m)
{
	m->reread = monitor_reread_create(m, (struct reread_options){ .changed = monitor_publish_window, .data = m });
	m->calls = monitor_calls_create(m);
	m->dump = monitor_dump_create(m);
	m->longest = monitor_longest_create(m);
}

/* Live, what is kept is too little for critical paths, whose graph is built as data comes. */
static void allow_recall(struct monitor *m)
{
	m->live_calls = monitor_live_calls_create(m);
	if (!monitor_recalls(m->options))
		return;
	m->calls = monitor_calls_create(m);
	m->dump = monitor_dump_create(m);
	m->longest = monitor_longest_create(m);
}

void monitor_start_reading(struct monitor *m)
{
	m->live = ingest_is_live(m->shown.in);
	start_reading(m, &m->shown);
	m->epochs = monitor_count_epochs(m);
	if (m->live)
		allow_recall(m);
	else if (m->stage != STAGE_COMPARING)
		allow_reread(m);
	if (!m->live)
		m->preview = monitor_preview_create(m);
	if (!m->options->no_sync)
		ui_set_clocks(m->ui, clocks_sync(m->clocks));
	ui_set_history(m->ui, m->shown.history);
	ev_io_set(&m->sources, ingest_fd(m->shown.in), EV_READ);
	monitor_show_new_hosts(m);
	/* the first screen is complete */
	if (m->cache.restored) {
		m->shown.complete = true;
		monitor_publish_known(m);
	}
}

void monitor_release_reading(struct reading *r)
{
	frames_destroy(r->frames);
	for (guint i = 0; r->missing && i < r->missing->len; i++) {
		g_free(g_array_index(r->missing, struct missing, i).names);
		g_free(g_array_index(r->missing, struct missing, i).lacks);
	}
	if (r->missing)
		g_array_free(r->missing, TRUE);
	ingest_destroy(r->in);
	history_destroy(r->history);
	*r = (struct reading){ 0 };
}

/* All packets have been seen: cuts the recordings again. */
static void begin_cutting(struct monitor *m)
{
	clocks_finish(m->clocks);
	m->stage = STAGE_CUTTING;
	m->next.in = create_ingest(m, false);
	open_words(m, m->next.in, true);
	ev_io_stop(m->loop, &m->sources);
	ev_io_set(&m->sources, ingest_fd(m->next.in), EV_READ);
	monitor_publish_clocks_stage(m);
}

/* Paths are dropped without asking the history: those of the distant past may go before it does. */
static void forget_paths(struct monitor *m)
{
	if (!strpool_round_due())
		return;
	strpool_round_begin();
	ingest_keep_paths(m->shown.in);
	if (m->next.in)
		ingest_keep_paths(m->next.in);
	reread_keep_paths(m->reread);
	monitor_calls_keep_paths(m->calls);
	monitor_dump_keep_paths(m->dump);
	monitor_longest_keep_paths(m->longest);
	monitor_preview_keep_paths(m->preview);
	ui_keep_paths(m->ui);
	strpool_round_end();
}

/*
 * Updates the screen for live hosts, of which there may be many, only as often as visible; the next slice comes when
 * the next update is due.
 */
static void publish_in_time(struct monitor *m)
{
	const gint64 now_us = g_get_monotonic_time(), rest_us = m->published_us + PUBLISH_EVERY_US - now_us;

	if (m->live && !m->shown.complete && !ingest_announced(m->shown.in) && rest_us > 0) {
		ev_timer_stop(m->loop, &m->retry);
		ev_timer_set(&m->retry, (double)rest_us / US_PER_S, m->retry.repeat);
		ev_timer_start(m->loop, &m->retry);
		return;
	}
	m->published_us = now_us;
	monitor_publish_known(m);
}

static enum lt_status shown_slice(struct monitor *m)
{
	enum lt_status status;

	ingest_watch(m->shown.in);
	status = frames_advance(m->shown.frames,
				monitor_preview_is_reading(m->preview) ? SLICE_BESIDE_PREVIEW_NS : SLICE_NS);
	forget_paths(m);
	m->shown.complete = status == LT_END;
	publish_in_time(m);
	if (!m->shown.complete || m->stage != STAGE_COMPARING)
		return status;
	begin_cutting(m);
	return LT_OK;
}

/* The recordings were readable a moment ago. What is shown stays, marked as provisional. */
static enum lt_status give_up_next(struct monitor *m)
{
	log_error("%s", "the recordings cannot be read again: intervals stay cut on the hosts' own clocks");
	ev_io_stop(m->loop, &m->sources);
	monitor_release_reading(&m->next);
	monitor_publish_clocks_stage(m);
	return LT_END;
}

const char *monitor_lacks_reread(const struct monitor *m)
{
	return m->stage == STAGE_CUTTING && !m->next.in ? "the recordings cannot be read again"
							: "clocks are synchronised once everything has been read";
}

static enum lt_status next_slice(struct monitor *m)
{
	struct reading *r = &m->next;
	enum lt_status status = r->frames ? LT_OK : ingest_start_some(r->in);

	if (status == LT_AGAIN)
		return LT_AGAIN;
	if (status != LT_OK)
		return give_up_next(m);
	if (!r->frames)
		start_reading(m, r);
	ingest_watch(r->in);
	status = frames_advance(r->frames, SLICE_NS);
	forget_paths(m);
	r->complete = status == LT_END;
	if (!monitor_show_next(m)) {
		monitor_publish_clocks_stage(m);
		return status;
	}
	m->stage = STAGE_FINAL;
	allow_reread(m);
	m->preview = monitor_preview_create(m);
	monitor_publish_known(m);
	return status;
}

/* The screen is up, waiting for the recordings' first events. */
static enum lt_status starting_slice(struct monitor *m)
{
	const enum lt_status status = start_sources(m);

	if (status == LT_OK)
		monitor_start_reading(m);
	else
		monitor_publish_inputs(m);
	m->failed = status == LT_ERROR;
	return status;
}

struct reading *monitor_current(struct monitor *m)
{
	return m->next.in ? &m->next : &m->shown;
}

enum lt_status monitor_read_slice(struct monitor *m)
{
	enum lt_status status;

	if (m->starting)
		return starting_slice(m);
	/* a reading for the clocks, or a preview, may have said what the recordings lack */
	log_skip_known(!m->live);
	status = m->next.in ? next_slice(m) : shown_slice(m);
	log_skip_known(false);
	return status;
}
