/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Previews: the interval that a user jumps to in a recording that has not been read up to there. Reads it, and a moment
 * before it, into a history of its own.
 *
 *   ui_wanted_preview() ──▶ reread ──▶ on_part() ──▶ history ──▶ ui_set_preview()
 */
#include "cmd/monitor/monitor.h"

enum {
	GRAPH_BYTES = 1 << 20, /* the window's graph is not used */
	HISTORY_SHARE = 4,     /* of --history-size */
};

struct monitor_preview {
	struct monitor *m;
	struct reread *reread;
	uint64_t begin_ns, end_ns; /* the interval, reference time; both 0: none is wanted */
	struct history *history;   /* of that interval; NULL: none yet */
	struct window *window;     /* being read; NULL: none */
};

/* The host's number on the screen is that of its track. */
static void on_part(void *data, unsigned i, uint64_t begin_ns, uint64_t end_ns)
{
	const struct monitor_preview *p = data;
	struct ingest_host *host = ingest_host(window_ingest(p->window), i);
	const unsigned of = window_host_of(p->window, host->wait);
	const unsigned track = monitor_screen_number(p->m, ingest_host(p->m->shown.in, of));

	if (track < history_track_count(p->history))
		frames_append(p->history, track, host->model, begin_ns, end_ns);
}

static void prepare(void *data, struct window_options *options)
{
	struct monitor_preview *p = data;

	options->begin_ns = p->begin_ns;
	options->end_ns = p->end_ns;
	options->whole = false;
	options->part = on_part;
	options->part_data = p;
}

static void on_opened(void *data, struct window *w)
{
	struct monitor_preview *p = data;

	p->window = w;
	p->history = history_create(p->m->options->history_size / HISTORY_SHARE);
	for (unsigned i = 0; i < frames_host_count(p->m->shown.frames); i++)
		history_add_track(p->history);
}

/* If it cannot be read, the main reading says why. */
static void on_changed(void *data)
{
	struct monitor_preview *p = data;
	uint64_t begin_ns, end_ns; /* of the window */

	if (reread_problem(p->reread))
		p->window = NULL;
	if (!p->window || reread_done(p->reread, &begin_ns, &end_ns) != p->window)
		return;
	p->window = NULL;
	reread_drop(p->reread);
	ui_set_preview(p->m->ui, p->history, p->begin_ns, p->end_ns);
}

static void forget(struct monitor_preview *p)
{
	reread_forget(p->reread);
	p->window = NULL;
	p->begin_ns = p->end_ns = 0;
	if (!p->history)
		return;
	ui_set_preview(p->m->ui, NULL, 0, 0);
	history_destroy(p->history);
	p->history = NULL;
}

void monitor_apply_preview_request(struct monitor *m)
{
	struct monitor_preview *p = m->preview;
	uint64_t begin_ns, end_ns;

	if (!ui_wanted_preview(m->ui, &begin_ns, &end_ns))
		begin_ns = end_ns = 0;
	if (begin_ns == p->begin_ns && end_ns == p->end_ns)
		return;
	forget(p);
	p->begin_ns = begin_ns;
	p->end_ns = end_ns;
	reread_want(p->reread, begin_ns, end_ns);
}

bool monitor_preview_is_reading(const struct monitor_preview *p)
{
	return p && p->window;
}

struct monitor_preview *monitor_preview_create(struct monitor *m)
{
	struct monitor_preview *p = g_new0(struct monitor_preview, 1);

	p->m = m;
	p->reread = monitor_reread_create(m, (struct reread_options){ .memory_bytes = GRAPH_BYTES,
								      .changed = on_changed,
								      .prepare = prepare,
								      .opened = on_opened,
								      .data = p });
	return p;
}

void monitor_preview_keep_paths(const struct monitor_preview *p)
{
	if (p)
		reread_keep_paths(p->reread);
}

void monitor_preview_destroy(struct monitor_preview *p)
{
	if (!p)
		return;
	forget(p);
	reread_destroy(p->reread);
	g_free(p);
}
