/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/frames.h"

#include <glib.h>

/* Events between two looks at the clock: a quarter of a millisecond. */
enum { EVENTS_AT_ONCE = 2048 };

struct host_frames {
	struct ingest_host *host;
	unsigned track;
	uint64_t begin_ns; /* of the frame that is being filled */
	uint64_t edge_ns;  /* its end */
	bool ended;
	bool waits;        /* had nothing in this round */
};

struct frames {
	struct ingest *in;
	struct history *history;
	uint64_t origin_ns, frame_ns;
	struct host_frames *hosts;
	unsigned n;
};

static uint64_t next_edge(const struct frames *f, uint64_t t_ns)
{
	return f->origin_ns + ((t_ns - f->origin_ns) / f->frame_ns + 1) * f->frame_ns;
}

struct frames *frames_create(struct ingest *in, struct history *h, uint64_t frame_ns)
{
	struct frames *f = g_new0(struct frames, 1);

	f->in = in;
	f->history = h;
	f->origin_ns = ingest_begin_ns(in);
	f->frame_ns = frame_ns;
	f->n = ingest_host_count(in);
	f->hosts = g_new0(struct host_frames, f->n);
	history_set_grid(h, f->origin_ns, frame_ns);
	for (unsigned i = 0; i < f->n; i++) {
		struct host_frames *host = &f->hosts[i];

		host->host = ingest_host(in, i);
		host->track = history_add_track(h);
		host->begin_ns = MAX(host->host->begin_ns, f->origin_ns);
		host->edge_ns = next_edge(f, host->begin_ns);
	}
	return f;
}

void frames_destroy(struct frames *f)
{
	if (!f)
		return;
	g_free(f->hosts);
	g_free(f);
}

/* The frame is full: into the history, and on to the next. */
static void close_frame(struct frames *f, struct host_frames *host, uint64_t end_ns)
{
	struct host_state *s = model_state(host->host->model);

	if (end_ns > host->begin_ns)
		history_append(f->history, host->track, s, host->begin_ns, end_ns);
	state_extremes_clear_dirty(s);
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
	host->begin_ns = end_ns;
	host->edge_ns = next_edge(f, end_ns);
}

/* The host that is farthest behind, NULL: none has anything now. */
static struct host_frames *choose_host(struct frames *f)
{
	struct host_frames *least = NULL;

	for (unsigned i = 0; i < f->n; i++) {
		struct host_frames *host = &f->hosts[i];

		if (!host->ended && !host->waits && (!least || host->begin_ns < least->begin_ns))
			least = host;
	}
	return least;
}

static void advance_host(struct frames *f, struct host_frames *host)
{
	uint64_t before_ns = host->host->end_ns;

	switch (ingest_advance(f->in, (unsigned)(host - f->hosts), host->edge_ns, EVENTS_AT_ONCE)) {
	case LT_OK:
		close_frame(f, host, host->edge_ns);
		break;
	case LT_END:
		close_frame(f, host, MAX(host->host->end_ns, host->begin_ns));
		host->ended = true;
		break;
	default:
		/* AGAIN is also said when enough events were applied */
		host->waits = host->host->end_ns == before_ns;
		break;
	}
}

enum lt_status frames_advance(struct frames *f, uint64_t budget_ns)
{
	gint64 until_us = g_get_monotonic_time() + (gint64)(budget_ns / 1000);
	struct host_frames *host;
	bool waits = false;

	for (unsigned i = 0; i < f->n; i++)
		f->hosts[i].waits = false;
	while ((host = choose_host(f))) {
		advance_host(f, host);
		if (g_get_monotonic_time() >= until_us)
			break;
	}
	for (unsigned i = 0; i < f->n; i++)
		if (!f->hosts[i].ended && !f->hosts[i].waits)
			return LT_OK;
		else
			waits |= f->hosts[i].waits;
	return waits ? LT_AGAIN : LT_END;
}

uint64_t frames_known_ns(const struct frames *f)
{
	uint64_t known_ns = UINT64_MAX, end_ns = f->origin_ns;

	for (unsigned i = 0; i < f->n; i++) {
		end_ns = MAX(end_ns, f->hosts[i].begin_ns);
		if (!f->hosts[i].ended)
			known_ns = MIN(known_ns, f->hosts[i].begin_ns);
	}
	return known_ns == UINT64_MAX ? end_ns : known_ns;
}
