/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/window.h"

#include "base/error.h"
#include "clock/map.h"
#include "ingest/internal.h"

/* Hosts may be this part of the window (1/16) apart while reading: events that are ahead wait in memory. */
enum { STEPS = 16 };

/* Before the window, and the window. */
enum { PARTS = 2 };

struct window_host {
	struct window *window;
	unsigned of;       /* its number in the ingest */
	unsigned in_waits; /* its number in the wait graph */
	const struct clock_map *map;
	uint64_t begin_ns, end_ns; /* the time to read, by its own clock */
	uint64_t read_ns;          /* everything before this has been read */
	uint64_t part_ns;          /* start of the part being read */
	unsigned parts;            /* passed to part() */
	bool ended;
};

struct window {
	struct window_options options;
	const struct ingest *of; /* the ingest whose recordings are read again */
	struct ingest *in;       /* the one that reads them */
	struct waits *waits;
	struct window_host *hosts; /* of in, by number; NULL: not known yet */
	unsigned n_hosts;
	GHashTable *origin; /* struct source_spec * of in -> 1 + number of its host in of */
};

/* ---- what to read ---- */

static const struct clock_map *map_of(const struct window *w, unsigned host)
{
	return w->options.maps ? w->options.maps[host] : host_at(w->of, host)->public.map;
}

/* The time to read is [from, until[ of reference time. */
static uint64_t from_ns(const struct window_options *options)
{
	return options->begin_ns - MIN(options->begin_ns, options->before_ns);
}

static uint64_t until_ns(const struct window_options *options)
{
	return options->end_ns + MIN(UINT64_MAX / 2 - options->end_ns, options->after_ns);
}

/* The time from which a host is read, by its own clock; 0: from the start of its recording. */
static uint64_t begin_of(const struct clock_map *map, const struct window_options *options)
{
	return from_ns(options) ? clock_from_ref(map, from_ns(options)) : 0;
}

/* The spec becomes the window's. */
static void add_recording(struct window *w, struct source_spec *spec, unsigned host)
{
	g_ptr_array_add(w->in->specs, spec);
	g_hash_table_insert(w->origin, spec, GUINT_TO_POINTER(host + 1));
}

/* Adds the recordings that a followed directory has by now. */
static void add_growing(struct window *w, const struct source_spec *spec, unsigned host)
{
	GPtrArray *found = g_ptr_array_new();

	if (source_find(g_ptr_array_index(spec->paths, 0), found, NULL) != LT_OK)
		error_clear();
	for (guint i = 0; i < found->len; i++) {
		struct source_spec *each = g_ptr_array_index(found, i);

		each->is_unfinished = true;
		add_recording(w, each, host);
	}
	g_ptr_array_free(found, TRUE);
}

/* Adds what is kept of a live session, together with others of its name. */
static void add_recalled(struct window *w, const struct input *input, unsigned host)
{
	GPtrArray *specs;

	for (guint i = 0; i < w->in->specs->len; i++) {
		const struct source_recalled *r = &((struct source_spec *)g_ptr_array_index(w->in->specs, i))->recalled;

		if (r->log_fd == input->recalled.log_fd && r->source == input->recalled.source)
			return;
	}
	specs = g_ptr_array_new();
	source_recalled_specs(input->spec, input->recalled, specs);
	for (guint i = 0; i < specs->len; i++)
		add_recording(w, g_ptr_array_index(specs, i), host);
	g_ptr_array_free(specs, TRUE);
}

/* Adds the data of one of the ingest's inputs: a recording, or what is kept of a live session. */
static void add_input(struct window *w, const struct input *input, unsigned host)
{
	if (input->spec->is_growing)
		add_growing(w, input->spec, host);
	else if (!input->spec->url)
		add_recording(w, source_spec_copy(input->spec), host);
	else if (input->recalled.log_fd)
		add_recalled(w, input, host);
}

static void add_inputs(struct window *w)
{
	guint host;

	for (guint i = 0; i < w->of->inputs->len; i++) {
		const struct input *input = input_at(w->of, i);

		/* one spec may be read by several workers */
		if (input->part == 0 && input->host && g_ptr_array_find(w->of->hosts, input->host, &host) &&
		    (!w->options.wants_host || w->options.wants_host(w->options.wants_data, host)))
			add_input(w, input, host);
	}
}

static struct source_spec *spec_at(const struct window *w, guint i)
{
	return g_ptr_array_index(w->in->specs, i);
}

/* The number in the ingest of the host that the spec belongs to. */
static unsigned origin_of(const struct window *w, const struct source_spec *spec)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(w->origin, spec)) - 1;
}

/* Limits what is read to the window, unless all of it is little. */
static void limit(struct window *w)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < w->in->specs->len; i++)
		bytes += spec_at(w, i)->extent.bytes;
	if (bytes <= w->options.small_bytes)
		w->options.before_ns = w->options.begin_ns;
	for (guint i = 0; i < w->in->specs->len && !w->options.whole; i++) {
		struct source_spec *spec = spec_at(w, i);
		const struct clock_map *map = map_of(w, origin_of(w, spec));

		spec->begin_ns = begin_of(map, &w->options);
		spec->end_ns = clock_from_ref(map, until_ns(&w->options));
		spec->end_ns = MAX(spec->end_ns, spec->begin_ns + 1);
	}
}

struct window *window_open(const struct ingest *of, const struct window_options *options)
{
	struct window *w = g_new0(struct window, 1);
	struct ingest_options each = {
		.model_memory = of->options.model_memory,
		.row_copies = of->options.row_copies,
		.waits = &w->options.waits,
		.visitor = options->visitor,
	};

	w->of = of;
	w->options = *options;
	w->waits = each.graph = waits_create(&options->waits);
	if (!w->options.before_ns)
		w->options.before_ns = WINDOW_MARGIN_NS;
	if (!w->options.after_ns)
		w->options.after_ns = WINDOW_MARGIN_NS;
	w->options.end_ns = MIN(w->options.end_ns, UINT64_MAX / 2);
	w->in = ingest_create(&each);
	w->origin = g_hash_table_new(NULL, NULL);
	add_inputs(w);
	if (!w->in->specs->len) {
		window_close(w);
		error_set("no recording can be read again");
		return NULL;
	}
	limit(w);
	/* a window is short: starting more workers than recordings would take longer than reading */
	w->in->options.workers = w->in->specs->len;
	return w;
}

void window_close(struct window *w)
{
	if (!w)
		return;
	ingest_destroy(w->in);
	waits_destroy(w->waits);
	g_hash_table_destroy(w->origin);
	g_free(w->hosts);
	g_free(w);
}

/* ---- reading ---- */

/* The number in w->of of host i of w->in: the host of the same recording. */
static unsigned host_of(const struct window *w, unsigned i)
{
	const struct host *host = host_at(w->in, i);

	for (guint j = 0; j < w->in->inputs->len; j++) {
		const struct input *input = input_at(w->in, j);

		if (input->host == host)
			return origin_of(w, input->spec);
	}
	return WINDOW_NO_HOST;
}

/* Its end is only an estimate. */
static void set_whole(struct window_host *h, const struct ingest_host *host)
{
	h->begin_ns = h->read_ns = host->begin_ns == TIME_UNKNOWN ? 0 : host->begin_ns;
	h->end_ns = MAX(host->end_hint_ns, h->begin_ns + 1);
}

/* recorded_ns: the start of the host's recording. */
static void set_part(struct window_host *h, const struct window_options *options, uint64_t recorded_ns)
{
	h->begin_ns = h->read_ns = begin_of(h->map, options);
	if (recorded_ns != TIME_UNKNOWN)
		h->begin_ns = h->read_ns = MAX(h->begin_ns, recorded_ns);
	h->end_ns = MAX(clock_from_ref(h->map, until_ns(options)), h->begin_ns + 1);
}

/* If the reading does not start after the recording's own start, nothing was left out before it. */
static bool begins_midway(const struct window *w, const struct window_host *h)
{
	return !w->options.whole && h->begin_ns > host_at(w->of, h->of)->public.begin_ns;
}

static void on_logged(void *data, const struct model_logged *value)
{
	const struct window_host *h = data;
	const struct window_log *log = h->window->options.log;

	log->logged(log->data, (unsigned)(h - h->window->hosts), value);
}

static void set_figures(struct window_host *h, struct model *m)
{
	const struct window_log *log = h->window->options.log;

	if (h->window->options.part)
		return;
	/* its rows are not used */
	model_set_figures(m, MODEL_PEERS | (log ? log->tables : 0));
	model_set_buckets(m, 0);
	if (!log)
		return;
	model_set_log(m, log->dist, 0);
	model_pass_log(m, on_logged, h);
}

static void add_hosts(struct window *w)
{
	w->n_hosts = ingest_host_count(w->in);
	w->hosts = g_new0(struct window_host, w->n_hosts);
	for (unsigned i = 0; i < w->n_hosts; i++) {
		struct window_host *h = &w->hosts[i];

		h->window = w;
		h->of = host_of(w, i);
		h->map = map_of(w, h->of);
		h->in_waits = waits_add_host(w->waits, h->map);
		ingest_host(w->in, i)->wait = h->in_waits;
		ingest_host(w->in, i)->map = h->map;
		set_figures(h, ingest_host(w->in, i)->model);
		if (w->options.whole)
			set_whole(h, ingest_host(w->in, i));
		else
			set_part(h, &w->options, host_at(w->of, h->of)->public.begin_ns);
		h->part_ns = h->begin_ns;
		if (begins_midway(w, h))
			waits_begin_midway(w->waits, h->in_waits, from_ns(&w->options));
	}
}

static double host_progress(const struct window_host *h)
{
	if (h->ended || h->end_ns <= h->begin_ns)
		return 1;
	return (double)(h->read_ns - h->begin_ns) / (double)(h->end_ns - h->begin_ns);
}

/* The host that is furthest behind; NULL: all have ended. */
static struct window_host *last_host(const struct window *w)
{
	struct window_host *last = NULL;

	for (unsigned i = 0; i < w->n_hosts; i++)
		if (!w->hosts[i].ended && (!last || host_progress(&w->hosts[i]) < host_progress(last)))
			last = &w->hosts[i];
	return last;
}

static bool has_part(const struct window *w, const struct window_host *h)
{
	return w->options.part && h->parts < PARTS;
}

/* The end of the part being read; UINT64_MAX: there is none. */
static uint64_t part_end(const struct window *w, const struct window_host *h)
{
	const struct window_options *o = &w->options;

	return has_part(w, h) ? clock_from_ref(h->map, h->parts ? o->end_ns : o->begin_ns) : UINT64_MAX;
}

/* Passes on the part being read, up to end_ns, unless it is empty. */
static void pass_part(struct window *w, struct window_host *h, uint64_t end_ns)
{
	if (end_ns > h->part_ns)
		w->options.part(w->options.part_data, (unsigned)(h - w->hosts), h->part_ns, end_ns);
	h->part_ns = MAX(h->part_ns, end_ns);
	h->parts++;
}

/* Passes on the parts that end at or before to_ns. */
static void pass_parts(struct window *w, struct window_host *h, uint64_t to_ns)
{
	while (has_part(w, h) && part_end(w, h) <= to_ns)
		pass_part(w, h, part_end(w, h));
}

/* All has been read of a host: what ends with its recording, if that does not continue after the window. */
static void end_host(struct window *w, struct window_host *h)
{
	const bool goes_on = host_at(w->of, h->of)->public.end_hint_ns > h->end_ns;
	const uint64_t end_ns = goes_on ? h->end_ns : ingest_host(w->in, h - w->hosts)->end_ns;

	if (!goes_on)
		waits_end(w->waits, h->in_waits, end_ns);
	if (end_ns == TIME_UNKNOWN)
		return;
	pass_parts(w, h, end_ns);
	if (has_part(w, h))
		pass_part(w, h, end_ns);
}

/* The time up to which it is read next. */
static uint64_t next_step(const struct window *w, const struct window_host *h)
{
	const uint64_t step_ns =
		MIN(h->read_ns + (h->end_ns - h->begin_ns) / STEPS + 1, MAX(part_end(w, h), h->read_ns + 1));

	if (step_ns < h->end_ns)
		return step_ns;
	return w->options.whole ? UINT64_MAX : h->end_ns;
}

/* Frees the rows that have ended: names and paths are in the events passed on. */
static void forget_ended(struct host_state *s)
{
	state_reap(s, NULL, NULL);
	state_frame_begin(s);
}

/* Reads a step of the host, at most max_events. */
static enum lt_status advance(struct window *w, struct window_host *h, uint64_t max_events)
{
	const uint64_t step_ns = next_step(w, h);
	enum lt_status status = ingest_advance(w->in, h - w->hosts, step_ns, max_events);

	ingest_pass_waits(w->waits, h->in_waits, host_at(w->in, h - w->hosts));
	if (!w->options.part)
		forget_ended(model_state(host_at(w->in, h - w->hosts)->public.model));
	if (status == LT_AGAIN)
		return status;
	h->read_ns = step_ns;
	h->ended = status == LT_END || step_ns >= h->end_ns;
	if (status == LT_END)
		end_host(w, h);
	else
		pass_parts(w, h, step_ns);
	h->ended |= w->options.part && h->parts == PARTS;
	/* past the end, so that the whole window is complete however its end was rounded */
	waits_watermark(w->waits, h->in_waits, !h->ended ? step_ns : w->options.whole ? UINT64_MAX : h->end_ns + 2);
	return LT_OK;
}

/* Starts the reading, without waiting for the workers. */
static enum lt_status start(struct window *w)
{
	enum lt_status status = ingest_start_some(w->in);

	if (status == LT_OK)
		add_hosts(w);
	return status;
}

enum lt_status window_run(struct window *w, uint64_t max_events)
{
	enum { LOOKS = 4 };
	struct window_host *h;
	enum lt_status status;

	if (!w->hosts && (status = start(w)) != LT_OK)
		return status == LT_ERROR ? error_set("no part of the window could be read") : status;
	ingest_watch(w->in);
	for (unsigned i = 0; (h = last_host(w)) != NULL && i < LOOKS; i++) {
		const uint64_t end_ns = ingest_host(w->in, h - w->hosts)->end_ns;

		status = advance(w, h, MAX(max_events / LOOKS, 1));
		waits_run(w->waits);
		if (status == LT_AGAIN && ingest_host(w->in, h - w->hosts)->end_ns == end_ns)
			return LT_AGAIN;
	}
	return h ? LT_OK : LT_END;
}

/* ---- results ---- */

struct ingest *window_ingest(const struct window *w)
{
	return w->in;
}

int window_fd(const struct window *w)
{
	return ingest_fd(w->in);
}

double window_progress(const struct window *w)
{
	double sum = 0;

	for (unsigned i = 0; i < w->n_hosts; i++)
		sum += host_progress(&w->hosts[i]);
	return w->n_hosts ? sum / w->n_hosts : 0;
}

struct waits *window_waits(struct window *w)
{
	return w->waits;
}

void window_keep_paths(const struct window *w)
{
	ingest_keep_paths(w->in);
	waits_keep_paths(w->waits);
}

unsigned window_host(const struct window *w, unsigned i)
{
	for (unsigned j = 0; j < w->n_hosts; j++)
		if (w->hosts[j].of == i)
			return w->hosts[j].in_waits;
	return WINDOW_NO_HOST;
}

unsigned window_host_of(const struct window *w, unsigned host)
{
	for (unsigned j = 0; j < w->n_hosts; j++)
		if (w->hosts[j].in_waits == host)
			return w->hosts[j].of;
	return WINDOW_NO_HOST;
}

uint64_t window_first_ns(const struct window *w, unsigned i, uint64_t begin_ns)
{
	const struct ingest_host *host = ingest_host(w->in, i);
	const uint64_t from_ns = clock_to_ref(host->map, host->from_ns);

	return from_ns > begin_ns ? from_ns : 0;
}

const char *window_trouble(const struct window *w)
{
	for (unsigned i = 0; i < w->n_hosts; i++)
		if (ingest_host(w->in, i)->trouble)
			return ingest_host(w->in, i)->trouble;
	return NULL;
}
