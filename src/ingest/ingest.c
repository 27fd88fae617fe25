/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/ingest.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "ingest/internal.h"

enum {
	STALL_LIMIT_S = 10, /* the default of ingest_options.stall_limit_ns */
	SAY_WAITING_US = 5 * US_PER_S,
	GONE_AFTER_STALLS = 3, /* a relayd without an answer for this many of them is gone */
};

/* Starting a worker takes longer than reading this much. */
#define WORKER_BYTES (UINT64_C(16) << 20)

struct ingest *ingest_create(const struct ingest_options *options)
{
	struct ingest *in = g_new0(struct ingest, 1);

	in->options = *options;
	in->visited = INGEST_VISIT_ALL;
	if (!in->options.workers) {
		/* one CPU is left to this process, which is busier than its workers */
		in->options.workers = MAX(g_get_num_processors(), 2) - 1;
		in->is_frugal = true;
	}
	if (!in->options.stall_limit_ns)
		in->options.stall_limit_ns = STALL_LIMIT_S * NS_PER_S;
	in->specs = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	in->inputs = g_ptr_array_new_with_free_func(input_free);
	in->sessions = g_hash_table_new(g_str_hash, g_str_equal);
	in->relays = g_ptr_array_new_with_free_func(relay_free);
	in->lists = g_ptr_array_new_with_free_func(relay_free);
	in->hosts = g_ptr_array_new_with_free_func(host_free);
	in->husks = g_ptr_array_new_with_free_func((GDestroyNotify)model_destroy);
	in->ready = g_array_new(FALSE, FALSE, sizeof(unsigned));
	in->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (options->model_memory) {
		/* names need little, paths more; the rest is for rows */
		strpool_set_limit(options->model_memory / 16, options->model_memory / 4);
		in->memory.limit = options->model_memory - options->model_memory / 16 - options->model_memory / 4;
		in->memory.copies = options->row_copies;
	}
	in->refused_names = strpool_full();
	in->options.waits = NULL; /* belongs to the caller */
	if (options->waits && !options->survey && !options->graph)
		in->waits = waits_create(options->waits);
	return in;
}

void ingest_destroy(struct ingest *in)
{
	if (!in)
		return;
	g_ptr_array_free(in->relays, TRUE);
	g_ptr_array_free(in->lists, TRUE);
	g_hash_table_destroy(in->sessions);
	g_ptr_array_free(in->inputs, TRUE);
	g_ptr_array_free(in->hosts, TRUE);
	g_ptr_array_free(in->husks, TRUE);
	g_array_free(in->ready, TRUE);
	g_free(in->refusal);
	g_ptr_array_free(in->specs, TRUE);
	waits_destroy(in->waits);
	close(in->epoll_fd);
	g_free(in);
}

void ingest_only_survey(struct ingest *in)
{
	in->options.survey = true;
	ingest_drop_waits(in);
}

/* ---- sources ---- */

static unsigned stall_limits_ms(const struct ingest *in, unsigned n)
{
	return (unsigned)MIN(n * in->options.stall_limit_ns / NS_PER_MS, UINT_MAX);
}

static enum lt_status open_growing(struct ingest *in, const char *directory)
{
	const guint first = in->specs->len;
	const enum lt_status status = source_growing_specs(directory, in->specs);

	for (guint i = first; i < in->specs->len; i++)
		((struct source_spec *)g_ptr_array_index(in->specs, i))->stall_ms = stall_limits_ms(in, 1);
	return status;
}

static enum lt_status open_directory(struct ingest *in, const char *directory)
{
	unsigned left_out = 0;
	enum lt_status status;

	if (in->options.growing)
		return open_growing(in, directory);
	status = source_find(directory, in->specs, &left_out);
	if (left_out)
		in->broken = true;
	return status;
}

struct source_spec *ingest_add_session(struct ingest *in, const struct source_url *url, uint64_t id)
{
	struct source_spec *spec = source_live_spec(url);

	spec->session_id = id;
	spec->from_start = in->options.from_start;
	spec->timeout_ms = stall_limits_ms(in, GONE_AFTER_STALLS);
	spec->stall_ms = stall_limits_ms(in, 1);
	g_ptr_array_add(in->specs, spec);
	return spec;
}

/* Whether the session was given before: it is read once. */
static bool is_open(const struct ingest *in, const struct source_url *url)
{
	struct source_spec *spec = source_live_spec(url);
	bool found = false;

	for (guint i = 0; i < in->specs->len; i++)
		found |= g_strcmp0(((struct source_spec *)g_ptr_array_index(in->specs, i))->url, spec->url) == 0;
	source_spec_free(spec);
	return found;
}

static enum lt_status open_url(struct ingest *in, const char *text)
{
	struct source_url url;
	enum lt_status status = source_parse_url(text, &url);

	if (status == LT_OK && url.session && !is_open(in, &url))
		ingest_add_session(in, &url, 0);
	else if (status == LT_OK && !url.session)
		ingest_watch_relay(in, url.relay);
	source_url_release(&url);
	return status;
}

enum lt_status ingest_open(struct ingest *in, const char *source)
{
	enum lt_status status;

	if (!source_is_url(source))
		status = open_directory(in, source);
	else if (in->options.without_live)
		status = error_set("reading '%s': gave up waiting for it", source);
	else
		status = open_url(in, source);
	if (status == LT_ERROR)
		in->broken = true;
	return status;
}

/*
 * The number of workers for a source. A recording gets a share of them according to its size; if the user did not set
 * a number, a small recording gets only one.
 */
static unsigned share(const struct ingest *in, const struct source_spec *spec)
{
	uint64_t total = 0;
	unsigned n;

	if (source_spec_is_live(spec) || spec->recalled.log_fd)
		return 1;
	for (guint i = 0; i < in->specs->len; i++)
		total += ((struct source_spec *)g_ptr_array_index(in->specs, i))->extent.bytes;
	if (!total)
		return 1;
	n = (unsigned)((double)in->options.workers * (double)spec->extent.bytes / (double)total + 0.5);
	if (in->is_frugal && n > 1 + spec->extent.bytes / WORKER_BYTES)
		n = (unsigned)(1 + spec->extent.bytes / WORKER_BYTES);
	return MAX(n, 1);
}

/* The host of the same recording in another ingest; NULL: it has none there. */
static const struct ingest_host *same_host(const struct ingest *like, const struct source_spec *spec)
{
	for (guint i = 0; i < like->inputs->len && spec->paths->len; i++) {
		const struct input *input = input_at(like, i);

		if (input->host && input->spec->paths->len &&
		    strcmp(g_ptr_array_index(input->spec->paths, 0), g_ptr_array_index(spec->paths, 0)) == 0)
			return &input->host->public;
	}
	return NULL;
}

/* 1 ns more at each end, because maps round. Callers that need exact limits check each event. */
static void limit_spec(struct ingest *in, struct source_spec *spec, const struct clock_map *map, uint64_t begin_ns,
		       uint64_t end_ns, bool models)
{
	const uint64_t from_ns = begin_ns ? clock_from_ref(map, begin_ns) : 0;
	const uint64_t until_ns = end_ns == UINT64_MAX ? UINT64_MAX : clock_from_ref(map, end_ns) + 1;
	struct fields_wanted wanted;

	if (!models) {
		spec->begin_ns = from_ns - MIN(from_ns, 1);
		spec->end_ns = MAX(until_ns, spec->begin_ns + 1);
	} else if (in->options.visitor) {
		wanted = *in->options.visitor->wanted;
		wanted.begin_ns = from_ns - MIN(from_ns, 1);
		wanted.end_ns = until_ns;
		spec->fields = fields_wanted_text(&wanted);
	}
}

void ingest_limit(struct ingest *in, const struct ingest *like, uint64_t begin_ns, uint64_t end_ns, bool models)
{
	for (guint i = 0; i < in->specs->len; i++) {
		struct source_spec *spec = g_ptr_array_index(in->specs, i);
		const struct ingest_host *host = source_spec_is_live(spec) ? NULL : same_host(like, spec);

		if (host)
			limit_spec(in, spec, host->map, begin_ns, end_ns, models);
	}
}

void ingest_start_spec(struct ingest *in, struct source_spec *spec)
{
	const unsigned parts = share(in, spec);

	if (in->options.visitor && in->visited == INGEST_VISIT_ALL && !in->options.survey && !spec->fields)
		spec->fields = fields_wanted_text(in->options.visitor->wanted);

	for (unsigned part = 0; part < parts; part++) {
		struct input *input = input_create(spec, part, parts, spec->url && in->options.follow);

		g_ptr_array_add(in->inputs, input);
		if (spec->url) {
			input->namesake = g_hash_table_lookup(in->sessions, spec->url);
			g_hash_table_replace(in->sessions, spec->url, input);
		}
		ingest_start_input(in, input);
	}
}

static bool known(const struct input *input)
{
	return input->in_merge || !input->source;
}

void ingest_wait(const struct ingest *in, int timeout_ms)
{
	struct pollfd fd = { .fd = in->epoll_fd, .events = POLLIN };

	poll(&fd, 1, timeout_ms);
}

/* ---- start ---- */

/*
 * If sessions are followed, live sources need not be known at the start; nor need directories in which no tracer has
 * declared its events for as long as a silent source is waited for, if others have.
 */
static bool may_come_later(const struct ingest *in, const struct input *input)
{
	const int64_t limit_us = (int64_t)(in->options.stall_limit_ns / NS_PER_US);

	if (in->hosts->len && input->spec->is_growing && g_get_monotonic_time() - in->started_us > limit_us)
		return true;
	return in->options.follow && source_spec_is_live(input->spec);
}

/* Whether all relays have answered, or failed to. */
static bool all_answered(const GPtrArray *relays)
{
	for (guint i = 0; i < relays->len; i++)
		if (!((struct relay *)g_ptr_array_index(relays, i))->answered)
			return false;
	return true;
}

/* Whether everything that ingest_start() waits for is known. */
static bool all_known(const struct ingest *in)
{
	for (guint i = 0; i < in->inputs->len; i++)
		if (!known(input_at(in, i)) && !may_come_later(in, input_at(in, i)))
			return false;
	return in->options.follow || (all_answered(in->relays) && all_answered(in->lists));
}

/* Whether new hosts may still come. */
static bool more_may_come(const struct ingest *in)
{
	return in->options.follow && (in->relays->len || ingest_is_live(in));
}

/*
 * Whether the first event of each recording is known, and that of each session if all sessions have ended. false: a
 * worker has not come to one of them yet.
 */
static bool all_begun(struct ingest *in)
{
	enum { RECORDS_AT_ONCE = 65536 };
	const bool is_live = ingest_is_live(in);
	bool all = true;

	for (guint i = 0; i < in->hosts->len; i++) {
		const struct ingest_host *h = &host_at(in, i)->public;

		if (!(h->live && is_live) && h->begin_ns == TIME_UNKNOWN)
			all &= ingest_advance(in, i, 0, RECORDS_AT_ONCE) != LT_AGAIN;
	}
	return all;
}

/* Waits for the first event of each live host, or for the end of its session. */
static enum lt_status await_first_events(struct ingest *in, const stop_flag *stop)
{
	for (guint i = 0; i < in->hosts->len; i++) {
		struct ingest_host *h = &host_at(in, i)->public;
		enum lt_status status = LT_OK;

		while (h->live && h->begin_ns == TIME_UNKNOWN && status == LT_OK)
			status = ingest_advance_wait(in, i, 0, stop);
		if (status == LT_INTERRUPTED)
			return status;
	}
	return LT_OK;
}

static bool has_listed_session(const struct ingest *in, const struct relay *relay)
{
	const size_t len = strlen(relay->url);

	for (guint i = 0; i < in->inputs->len; i++) {
		const struct input *input = input_at(in, i);

		if (input->is_listed && g_str_has_prefix(input->spec->url, relay->url) && input->spec->url[len] == '/')
			return true;
	}
	return false;
}

/* Logs relayds that answered but have no live session: they count as sources that cannot be read. */
static void report_empty_relays(struct ingest *in)
{
	for (guint i = 0; i < in->relays->len; i++) {
		const struct relay *relay = g_ptr_array_index(in->relays, i);

		if (relay->why || has_listed_session(in, relay))
			continue;
		log_error("%s: no live session found%s%s", relay->url, relay->stored ? "; " : "",
			  relay->stored ? relay->stored : "");
		in->broken = true;
	}
}

/* Logs recordings that were read to their end and have nothing but metadata. */
static void report_empty_recordings(const struct ingest *in)
{
	const struct source_spec *last = NULL;

	for (guint i = 0; i < in->inputs->len; i++) {
		const struct input *input = input_at(in, i);

		if (input->spec->url || input->state != INPUT_ENDED || input->host || input->why || input->spec == last)
			continue;
		log_error("'%s' has metadata but no events", input->spec->name);
		last = input->spec;
	}
}

enum lt_status ingest_start_some(struct ingest *in)
{
	for (guint i = 0; i < in->specs->len && !in->started; i++)
		ingest_start_spec(in, g_ptr_array_index(in->specs, i));
	if (!in->started)
		in->started_us = g_get_monotonic_time();
	in->started = true;
	ingest_watch(in);
	if (in->refusal)
		return error_set("%s", in->refusal);
	if (!all_known(in))
		return LT_AGAIN;
	if (!in->named)
		hosts_name(in->hosts);
	in->named = true;
	ingest_register_hosts(in);
	if (!all_begun(in))
		return LT_AGAIN;
	if (in->hosts->len || more_may_come(in))
		return LT_OK;
	report_empty_recordings(in);
	return LT_ERROR;
}

/* After some time reports the first session that has not been attached, as it may never be. Returns whether it did. */
static bool say_waiting(const struct ingest *in)
{
	if (g_get_monotonic_time() - in->started_us < SAY_WAITING_US)
		return false;
	for (guint i = 0; i < in->inputs->len; i++) {
		const struct input *input = input_at(in, i);

		if (!input->spec->url || input->state != INPUT_STARTING)
			continue;
		log_warning("waiting for an answer from '%s'; Ctrl-C ends this", input->spec->name);
		return true;
	}
	return false;
}

enum lt_status ingest_start(struct ingest *in, const stop_flag *stop)
{
	enum lt_status status;
	bool said = false;

	while ((status = ingest_start_some(in)) == LT_AGAIN) {
		if (stop && *stop)
			return LT_INTERRUPTED;
		said = said || say_waiting(in);
		ingest_wait(in, 100);
	}
	if (!ingest_is_live(in)) /* else they may still get sessions */
		report_empty_relays(in);
	if (status == LT_OK)
		return more_may_come(in) ? LT_OK : await_first_events(in, stop);
	return LT_ERROR;
}

unsigned ingest_host_count(const struct ingest *in)
{
	return in->hosts->len;
}

struct ingest_host *ingest_host(struct ingest *in, unsigned i)
{
	return &host_at(in, i)->public;
}

void ingest_set_ready(struct ingest *in, struct host *host, bool ready)
{
	unsigned last;

	if (!host->registered || ready == (host->ready != 0))
		return;
	if (ready) {
		g_array_append_val(in->ready, host->number);
		host->ready = in->ready->len;
		return;
	}
	last = g_array_index(in->ready, unsigned, in->ready->len - 1);
	host_at(in, last)->ready = host->ready;
	g_array_index(in->ready, unsigned, host->ready - 1) = last;
	g_array_set_size(in->ready, in->ready->len - 1);
	host->ready = 0;
}

const unsigned *ingest_ready(const struct ingest *in, unsigned *n)
{
	*n = in->ready->len;
	return (const unsigned *)(const void *)in->ready->data;
}

uint64_t ingest_begin_ns(const struct ingest *in)
{
	uint64_t begin_ns = TIME_UNKNOWN;

	for (guint i = 0; i < in->hosts->len; i++) {
		const struct ingest_host *h = &host_at(in, i)->public;

		if (h->begin_ns != TIME_UNKNOWN)
			begin_ns = MIN(begin_ns, clock_to_ref(h->map, h->begin_ns));
	}
	return begin_ns;
}

void ingest_keep_paths(const struct ingest *in)
{
	for (guint i = 0; i < in->hosts->len; i++)
		model_keep_paths(host_at(in, i)->public.model);
	if (in->waits)
		waits_keep_paths(in->waits);
}

struct waits *ingest_waits(const struct ingest *in)
{
	return in->options.graph ? in->options.graph : in->waits;
}

bool ingest_announced(struct ingest *in)
{
	const bool announced = in->announced;

	in->announced = false;
	return announced;
}

bool ingest_is_live(const struct ingest *in)
{
	if (in->relays->len && in->options.follow)
		return true;
	for (guint i = 0; i < in->inputs->len; i++)
		if (source_spec_is_live(input_at(in, i)->spec) && input_at(in, i)->state != INPUT_ENDED &&
		    input_at(in, i)->state != INPUT_UNTAKEN)
			return true;
	return false;
}

bool ingest_is_over(const struct ingest *in)
{
	for (guint i = 0; i < in->inputs->len; i++)
		if (input_at(in, i)->source)
			return false;
	/* a session that was short may have had a namesake */
	return !ingest_is_live(in) && all_answered(in->lists) && source_reap() == 0;
}

bool ingest_is_refused(const struct ingest *in)
{
	return in->refusal != NULL;
}

bool ingest_broken(const struct ingest *in)
{
	bool broken = in->broken;

	for (guint i = 0; i < in->inputs->len; i++)
		broken |= !input_at(in, i)->existed && input_at(in, i)->why && !input_at(in, i)->session_over;
	for (guint i = 0; i < in->relays->len; i++) {
		const struct relay *relay = g_ptr_array_index(in->relays, i);

		broken |= relay->why && !relay->has_listed;
	}
	return broken;
}
