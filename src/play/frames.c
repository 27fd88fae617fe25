/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/frames.h"

#include <glib.h>

#include "base/nstime.h"

/* Events between two checks of the clock: a quarter of a millisecond. */
enum { EVENTS_AT_ONCE = 2048 };

/* From this many on, consecutive frames without events are kept as one. */
enum { HOLE_FRAMES = 3600 };

struct host_frames {
	struct ingest_host *host;
	unsigned number;   /* in ingest */
	uint64_t begin_ns; /* of the current frame */
	uint64_t edge_ns;  /* its end */
	bool ended;
	bool is_interrupted; /* the track's last frame says that the host is no longer recorded */
};

enum { NO_TRACK = ~0u };

struct frames {
	struct ingest *in;
	struct history *history;
	uint64_t origin_ns; /* reference time */
	uint64_t frame_ns;
	bool apart;     /* the hosts' times cannot be compared */
	GArray *hosts;  /* struct host_frames, by track */
	GArray *tracks; /* unsigned, by host in ingest; NO_TRACK: it has not started */
	unsigned n_ended;
};

static struct host_frames *at(const struct frames *f, unsigned i)
{
	return &g_array_index(f->hosts, struct host_frames, i);
}

/* The last grid edge at or before t_ns, which may precede the origin; both in reference time. */
static uint64_t grid_floor(const struct frames *f, uint64_t t_ns)
{
	const uint64_t phase_ns = f->origin_ns % f->frame_ns;

	return t_ns < phase_ns ? 0 : t_ns - (t_ns - phase_ns) % f->frame_ns;
}

/* The same on the host's own clock. */
static uint64_t edge_floor(const struct frames *f, const struct host_frames *host, uint64_t t_ns)
{
	return clock_from_ref(host->host->map, grid_floor(f, clock_to_ref(host->host->map, t_ns)));
}

/*
 * The first edge after t_ns, on the host's own clock. When its map moves, the current edge may come again a little
 * later: then take the one after it.
 */
static uint64_t next_edge(const struct frames *f, const struct host_frames *host, uint64_t t_ns)
{
	const struct clock_map *map = host->host->map;
	uint64_t again_ns = map && t_ns == host->edge_ns ? f->frame_ns / 4 : 0;
	uint64_t edge_ns = grid_floor(f, clock_to_ref(map, t_ns)) + f->frame_ns;

	while (clock_from_ref(map, edge_ns) <= t_ns + again_ns)
		edge_ns += f->frame_ns;
	return clock_from_ref(map, edge_ns);
}

/* ---- hosts ---- */

static unsigned track_of(const struct frames *f, unsigned number)
{
	return number < f->tracks->len ? g_array_index(f->tracks, unsigned, number) : NO_TRACK;
}

static void add_host(struct frames *f, const struct host_frames *host)
{
	const unsigned none = NO_TRACK;

	while (f->tracks->len <= host->number)
		g_array_append_val(f->tracks, none);
	g_array_index(f->tracks, unsigned, host->number) = f->hosts->len;
	g_array_append_val(f->hosts, *host);
}

static void take_in(struct frames *f, unsigned number)
{
	struct host_frames host = { .host = ingest_host(f->in, number), .number = number };

	if (f->origin_ns == TIME_UNKNOWN) {
		f->origin_ns = ingest_begin_ns(f->in);
		history_set_grid(f->history, f->origin_ns, f->frame_ns);
	}
	history_add_track(f->history);
	host.begin_ns = host.host->begin_ns;
	host.edge_ns = next_edge(f, &host, host.begin_ns);
	add_host(f, &host);
}

/* Gives a host a track once its first event is there, which starts its trace. */
static void begin(struct frames *f, unsigned number)
{
	const struct ingest_host *host = ingest_host(f->in, number);
	enum lt_status status = LT_AGAIN;

	if (host->begin_ns == TIME_UNKNOWN)
		status = ingest_advance(f->in, number, 0, EVENTS_AT_ONCE);
	if (host->begin_ns != TIME_UNKNOWN)
		take_in(f, number);
	else if (status == LT_END && host->replaced)
		ingest_forget(f->in, number);
}

/* In the order in which they start. */
static void take_in_all(struct frames *f)
{
	for (unsigned i = 0; i < ingest_host_count(f->in); i++)
		if (track_of(f, i) == NO_TRACK)
			begin(f, i);
}

static struct frames *create(struct ingest *in, struct history *h)
{
	struct frames *f = g_new0(struct frames, 1);

	f->in = in;
	f->history = h;
	f->origin_ns = TIME_UNKNOWN;
	f->hosts = g_array_new(FALSE, TRUE, sizeof(struct host_frames));
	f->tracks = g_array_new(FALSE, TRUE, sizeof(unsigned));
	return f;
}

struct frames *frames_create(struct ingest *in, struct history *h, uint64_t frame_ns, bool apart)
{
	struct frames *f = create(in, h);

	f->frame_ns = frame_ns;
	f->apart = apart;
	take_in_all(f);
	return f;
}

void frames_pack(const struct frames *f, GByteArray *out)
{
	pack_u64(out, f->origin_ns);
	pack_u64(out, f->frame_ns);
	pack_u64(out, f->hosts->len);
	for (unsigned i = 0; i < f->hosts->len; i++)
		pack_u64(out, at(f, i)->number);
}

static void unpack_host(struct frames *f, struct unpack *from)
{
	struct host_frames host = { .ended = true };
	uint64_t begin_ns;

	host.number = (unsigned)unpack_upto(from, ingest_host_count(f->in) - 1);
	from->failed |= track_of(f, host.number) != NO_TRACK ||
			!history_range(f->history, f->hosts->len, &begin_ns, &host.begin_ns);
	host.edge_ns = host.begin_ns;
	host.host = ingest_host(f->in, host.number);
	if (!from->failed)
		add_host(f, &host);
}

struct frames *frames_unpack(struct unpack *from, struct ingest *in, struct history *h)
{
	struct frames *f = create(in, h);
	size_t n;

	f->origin_ns = unpack_u64(from);
	f->frame_ns = unpack_u64(from);
	n = unpack_count(from, sizeof(uint64_t));
	from->failed |= !f->frame_ns || !n || n != history_track_count(h);
	while (f->hosts->len < n && !from->failed)
		unpack_host(f, from);
	if (!from->failed) {
		f->n_ended = f->hosts->len;
		return f;
	}
	frames_destroy(f);
	return NULL;
}

uint64_t frames_length_ns(const struct frames *f)
{
	return f->frame_ns;
}

void frames_destroy(struct frames *f)
{
	if (!f)
		return;
	g_array_free(f->hosts, TRUE);
	g_array_free(f->tracks, TRUE);
	g_free(f);
}

unsigned frames_host_count(const struct frames *f)
{
	return f->hosts->len;
}

struct ingest_host *frames_host(const struct frames *f, unsigned i)
{
	return at(f, i)->host;
}

uint64_t frames_origin_ns(const struct frames *f)
{
	return f->origin_ns;
}

/* ---- frames ---- */

typedef void append_fn(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns,
		       uint64_t end_ns);

static void append(struct history *h, unsigned track, struct model *model, uint64_t begin_ns, uint64_t end_ns,
		   append_fn *fn)
{
	struct host_state *s = model_state(model);

	model_list_files(model);
	model_cut(model, end_ns);
	if (end_ns > begin_ns)
		fn(h, track, s, begin_ns, end_ns);
	state_extremes_clear_dirty(s);
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
}

void frames_append(struct history *h, unsigned track, struct model *model, uint64_t begin_ns, uint64_t end_ns)
{
	append(h, track, model, begin_ns, end_ns, history_append);
}

static void start_frame(struct frames *f, struct host_frames *host, uint64_t begin_ns)
{
	host->begin_ns = begin_ns;
	host->edge_ns = next_edge(f, host, begin_ns);
}

static bool is_interrupted(const struct host_frames *host)
{
	return STATE_ROW(model_state(host->host->model), HOST, host, 0)->record == HOST_UNRECORDED;
}

/* Moves the full frame into the history and starts the next one. */
static void close_frame(struct frames *f, unsigned track, uint64_t end_ns)
{
	struct host_frames *host = at(f, track);

	history_set_ahead(f->history, track, (int64_t)(end_ns - clock_to_ref(host->host->map, end_ns)));
	frames_append(f->history, track, host->host->model, host->begin_ns, end_ns);
	host->is_interrupted = is_interrupted(host);
	start_frame(f, host, end_ns);
}

/*
 * Starts the next frame after the gap. If the last one was closed before the break was known, the history learns of it
 * now: otherwise the whole gap would be time of the next frame.
 */
static void skip_gap(struct frames *f, unsigned track, uint64_t end_ns)
{
	struct host_frames *host = at(f, track);

	if (!host->is_interrupted && is_interrupted(host))
		append(f->history, track, host->host->model, host->begin_ns, end_ns, history_append_gap);
	host->is_interrupted = is_interrupted(host);
	start_frame(f, host, end_ns);
}

/* Whether nothing is known about the frame because it lies in the gap before the next event. */
static bool is_in_gap(const struct host_frames *host)
{
	const struct ingest_host *h = host->host;

	return h->gap_begin_ns <= host->begin_ns && h->gap_end_ns >= host->edge_ns;
}

/* Called when all events before the edge have been applied; the next event may be far away. */
static void reached_edge(struct frames *f, unsigned track)
{
	struct host_frames *host = at(f, track);
	const struct ingest_host *h = host->host;
	uint64_t edge_ns = host->edge_ns;

	if (!is_in_gap(host))
		close_frame(f, track, edge_ns);
	if (h->gap_end_ns >= edge_ns && h->gap_begin_ns < edge_ns) {
		skip_gap(f, track, MAX(edge_floor(f, host, h->gap_end_ns), edge_ns));
	} else if (h->next_ns > edge_ns && (h->next_ns - edge_ns) / f->frame_ns > HOLE_FRAMES) {
		close_frame(f, track, edge_floor(f, host, h->next_ns));
	}
}

/* Shows everything known about an absent host although its frame is not full. */
static void close_frame_of_away(struct frames *f, unsigned track)
{
	const struct ingest_host *h = at(f, track)->host;

	if (h->away && h->end_ns > at(f, track)->begin_ns)
		close_frame(f, track, h->end_ns);
}

/* Reference time up to which the host is in the history. */
static uint64_t known_of(const struct host_frames *host)
{
	return clock_to_ref(host->host->map, host->begin_ns);
}

/* The host's progress: the host with the least is read next. */
static uint64_t progress(const struct frames *f, const struct host_frames *host)
{
	return f->apart ? host->begin_ns - host->host->begin_ns : known_of(host);
}

/*
 * The number of the ready host with the least progress, preferring hosts that have not started; NO_TRACK: none is
 * ready.
 */
static unsigned choose_host(const struct frames *f)
{
	unsigned n, least = NO_TRACK;
	const unsigned *ready = ingest_ready(f->in, &n);
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		const unsigned track = track_of(f, ready[i]);
		const uint64_t at_ns = track == NO_TRACK ? 0 : progress(f, at(f, track));

		if (least == NO_TRACK || at_ns < least_ns || (at_ns == least_ns && ready[i] < least)) {
			least = ready[i];
			least_ns = at_ns;
		}
	}
	return least;
}

/* Only the history keeps a replaced host: in the long run there may be any number of them. */
static void end_host(struct frames *f, unsigned track)
{
	struct host_frames *host = at(f, track);

	close_frame(f, track, MAX(host->host->end_ns, host->begin_ns));
	f->n_ended += !host->ended;
	host->ended = true;
	if (!host->host->replaced)
		return;
	history_end_track(f->history, track);
	ingest_forget(f->in, host->number);
}

static void advance_host(struct frames *f, unsigned track)
{
	struct host_frames *host = at(f, track);

	switch (ingest_advance(f->in, host->number, host->edge_ns, EVENTS_AT_ONCE)) {
	case LT_OK:
		reached_edge(f, track);
		break;
	case LT_END:
		if (!host->ended || !host->host->replaced)
			end_host(f, track);
		break;
	default:
		/* LT_AGAIN can also mean that enough events were applied */
		close_frame_of_away(f, track);
		break;
	}
}

void frames_clocks_changed(struct frames *f)
{
	f->origin_ns = ingest_begin_ns(f->in);
	if (f->origin_ns != TIME_UNKNOWN)
		history_set_grid(f->history, f->origin_ns, f->frame_ns);
	for (unsigned i = 0; i < f->hosts->len; i++) {
		const struct ingest_host *h = at(f, i)->host;
		const uint64_t known_ns = MAX(h->end_ns, h->still ? h->gap_begin_ns : 0);

		/* a frame that ended before what was applied would have figures of later times */
		at(f, i)->edge_ns = next_edge(f, at(f, i), MAX(at(f, i)->begin_ns, MAX(h->applied_ns, known_ns)));
	}
}

enum lt_status frames_advance(struct frames *f, uint64_t budget_ns)
{
	gint64 until_us = g_get_monotonic_time() + (gint64)(budget_ns / NS_PER_US);
	unsigned number;

	while ((number = choose_host(f)) != NO_TRACK) {
		if (track_of(f, number) == NO_TRACK)
			begin(f, number);
		else
			advance_host(f, track_of(f, number));
		if (g_get_monotonic_time() >= until_us)
			break;
	}
	ingest_ready(f->in, &number);
	if (number)
		return LT_OK;
	return f->n_ended < f->hosts->len || ingest_is_live(f->in) ? LT_AGAIN : LT_END;
}

static bool holds_nobody_up(const struct ingest_host *host)
{
	return host->away || host->waited_for || host->silent;
}

uint64_t frames_known_ns(const struct frames *f)
{
	uint64_t known_ns = UINT64_MAX, end_ns = 0;

	for (unsigned i = 0; i < f->hosts->len; i++) {
		end_ns = MAX(end_ns, known_of(at(f, i)));
		if (!at(f, i)->ended && !holds_nobody_up(at(f, i)->host))
			known_ns = MIN(known_ns, known_of(at(f, i)));
	}
	return known_ns == UINT64_MAX ? end_ns : known_ns;
}
