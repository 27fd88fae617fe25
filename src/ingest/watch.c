/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks after the sources: hosts and sessions that come, go and come back,
 * workers that are silent or hang, and hosts that fall behind.
 */
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "ingest/internal.h"

enum {
	HANG_LIMIT_MS = 10 * MS_PER_S,   /* a worker silent for this long while its ring has room is killed */
	WATCH_EVERY_US = 50 * US_PER_MS, /* look after all inputs and hosts, with new data or without */
	PAUSE_LEAST_US = US_PER_S,       /* not looking after them for longer means that it could not */
	ASK_EVERY_US = US_PER_S,         /* check all inputs for data, in case a wake-up was missed */
	HEARD_AT_ONCE = 64,
	STORE_LEAST_BYTES = 1 << 20, /* with less room the disk is full: a packet may be this large */
	WAITED_FOR_PARTS = 5,        /* ingest_host.waited_for after this part of the stall limit: 1/5 */
	AWAITED_MAX = 32,            /* hosts without a session, whose next one is that of the same host */
	ROOM_SHARE = 8,              /* fewer of them while less than 1/8 of the models' memory is free */
};

/* Whether --max-sessions sessions are attached, or were until they broke off. */
static bool is_full(const struct ingest *in)
{
	return in->options.max_sessions && in->n_attached >= in->options.max_sessions;
}

/* The first session left out is reported, and makes the figures incomplete. */
static void leave_untaken(struct ingest *in, struct input *input)
{
	input->state = INPUT_UNTAKEN;
	if (!in->untaken)
		log_warning("%u live sessions are attached: ignoring further ones (--max-sessions)",
			    in->options.max_sessions);
	in->untaken = in->broken = true;
}

/* A session that breaks off keeps its place for the next attempt. That of one which the user leaves is the user's. */
static void leave_place(struct ingest *in, struct input *input)
{
	if (!input->has_place || (input_is_retried(input) && !input->session_over))
		return;
	input->has_place = false;
	in->n_attached--;
	in->has_vacancy |= input->state != INPUT_DETACHED;
}

static bool take_place(struct ingest *in, struct input *input)
{
	if (!input->spec->url || input->has_place)
		return true;
	if (is_full(in))
		return false;
	input->has_place = true;
	in->n_attached++;
	return true;
}

void ingest_start_input(struct ingest *in, struct input *input)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data = { .ptr = input } };

	if (!take_place(in, input)) {
		leave_untaken(in, input);
		return;
	}
	if (input_start(input) == LT_OK) {
		epoll_ctl(in->epoll_fd, EPOLL_CTL_ADD, source_fd(input->source), &event);
		return;
	}
	log_error("%s", error_text());
	in->broken = true;
	leave_place(in, input);
}

/* Attaches the first ones of those left out in the places of sessions that have ended. */
static void fill_vacancies(struct ingest *in)
{
	for (guint i = 0; i < in->inputs->len && in->has_vacancy && !is_full(in); i++)
		if (input_at(in, i)->state == INPUT_UNTAKEN)
			ingest_start_input(in, input_at(in, i));
	in->has_vacancy = false;
}

/* ---- hosts that come, go and come back ---- */

static bool any_runs(const struct host *host)
{
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source)
			return true;
	}
	return false;
}

bool ingest_may_come_back(const struct host *host)
{
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->state != INPUT_ENDED)
			return true;
	}
	return false;
}

/*
 * A relayd whose disk is full ends its sessions as if their tracers had ended them, and no longer knows them.
 * Returns that reason, to be freed by the caller; NULL: the disk has room.
 */
static char *explain_full_disk(const struct ingest *in, const struct input *input)
{
	struct statvfs fs;
	uint64_t left;

	if (!in->options.store || !input->spec->url || input->state == INPUT_DETACHED ||
	    statvfs(in->options.store, &fs) < 0)
		return NULL;
	left = (geteuid() ? fs.f_bavail : fs.f_bfree) * (uint64_t)fs.f_frsize;
	if (left >= STORE_LEAST_BYTES)
		return NULL;
	return g_strdup_printf("the relayd's disk is full, in '%s': "
			       "free some space there, or trace less (--set, --pid)",
			       in->options.store);
}

void ingest_source_stopped(struct ingest *in, struct input *input, const char *why)
{
	struct host *host = input->host;
	char *reason = explain_full_disk(in, input);
	const bool is_disk_full = reason != NULL;
	bool is_trouble;

	if (!reason)
		reason = g_strdup(why);
	if (input->source) /* its worker may keep the descriptor open for longer than there is the input */
		epoll_ctl(in->epoll_fd, EPOLL_CTL_DEL, source_fd(input->source), NULL);
	input_stopped(input, reason);
	leave_place(in, input);
	why = reason;
	is_trouble = why && (!input->session_over || is_disk_full);
	/* that a session no longer exists is its normal end; one that does not exist yet: ingest_broken() */
	if (why && !input->session_over && (input->existed || !input->follow))
		in->broken = true;
	if (!host) {
		/* of all sessions that a relayd lists, some have ended before they are attached */
		if (why && input->breaks <= 1 && input->session_over)
			log_write(input->relay && input->follow ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR, "%s: %s",
				  input->spec->name, input->why);
		else if (why && input->breaks <= 1 && !in->refusal)
			log_error("%s", reason);
	} else if ((input->state == INPUT_WAITING || input->state == INPUT_DETACHED) && !any_runs(host)) {
		if (!input->follow && is_trouble)
			host_trouble(host, reason);
		if (g_strcmp0(host->away_why, input_describe(input)) != 0)
			log_info("%s: %s", host->public.name, input_describe(input));
		/* what ran did so to the end of the record */
		model_interrupt(host->public.model, host->public.begin_ns == TIME_UNKNOWN ? 0 : host->public.end_ns);
		host_set_away(host, input_describe(input));
	} else if (is_trouble) {
		host_trouble(host, reason);
	}
	if (host && !host->public.live && kernel_rests(host))
		host_pause(host);
	if (host)
		ingest_set_ready(in, host, true); /* its other sources need not wait for this one */
	g_free(reason);
}

/* ---- no longer waiting ---- */

static char *not_awaited(const char *name)
{
	return g_strdup_printf("reading '%s': gave up waiting for it", name);
}

static void give_up_relays(struct ingest *in, const GPtrArray *relays)
{
	for (guint i = 0; i < relays->len; i++) {
		struct relay *relay = g_ptr_array_index(relays, i);
		char *why = not_awaited(relay->url);

		in->left_live |= !relay->answered;
		relay_give_up(relay, why);
		g_free(why);
	}
}

bool ingest_leave_live(struct ingest *in)
{
	if (!in->hosts->len)
		return false;
	give_up_relays(in, in->relays);
	give_up_relays(in, in->lists);
	for (guint i = 0; i < in->inputs->len; i++) {
		struct input *input = input_at(in, i);
		char *why;

		if (!source_spec_is_live(input->spec) || !input->source)
			continue;
		if (input->in_merge) { /* ingest_end_quiet() ends it */
			in->left_live |= input->host->public.begin_ns == TIME_UNKNOWN;
			continue;
		}
		why = not_awaited(input->spec->name);
		ingest_source_stopped(in, input, why);
		input->state = INPUT_ENDED;
		in->left_live = true;
		g_free(why);
	}
	return in->left_live;
}

bool ingest_read_rest(struct ingest *in)
{
	bool any = false;

	if (in->relays->len || in->lists->len)
		return false;
	for (guint i = 0; i < in->inputs->len; i++) {
		struct input *input = input_at(in, i);

		if (!input->spec->is_growing || !input->source)
			continue;
		source_read_rest(input->source);
		any = true;
	}
	return any;
}

bool ingest_end_quiet(struct ingest *in, struct host *host)
{
	bool any = false;

	for (guint i = 0; i < host->inputs->len; i++) {
		struct input *input = g_ptr_array_index(host->inputs, i);

		if (!input || !input->in_merge || !source_spec_is_live(input->spec) ||
		    merge_hears(host->merge, input->number))
			continue;
		ingest_source_stopped(in, input, NULL);
		input->state = INPUT_ENDED;
		any = true;
	}
	return any;
}

static void set_back(struct ingest *in, struct input *input)
{
	if (input->host->public.away || input->host->public.ended)
		host_name_again(input->host, in->hosts);
	if (input->host->public.away && input->session_over)
		lag_forget(&input->host->lag); /* another session, whose clock may have another offset */
	host_set_back(input->host, source_spec_is_live(input->spec));
}

/* Reads the records that precede the merge. */
static void read_prologue(struct ingest *in, struct input *input)
{
	struct host *before = input->host;
	const enum lt_status status = input_read_prologue(input, in->hosts);

	in->announced = true;
	ingest_look_for_namesakes(in, input);
	if (before && before != input->host)
		ingest_set_ready(in, before, true); /* it may have ended by losing this input */
	if (input->host)
		model_set_memory(input->host->public.model, &in->memory);
	if (input->host && !in->options.survey)
		host_add_sidecars(input->host, input->spec);
	if (status == LT_ERROR && !in->refusal && source_failed_cause(input->source) == FAILED_OVERLAP)
		in->refusal = g_strdup(error_text());
	if (status == LT_END || status == LT_ERROR)
		ingest_source_stopped(in, input, status == LT_ERROR ? error_text() : NULL);
	else if (status == LT_OK && input->host) /* a part without streams names no host */
		set_back(in, input);
	if (status == LT_AGAIN)
		return;
	ingest_register_hosts(in);
	ingest_ask_input(in, input);
	if (input->host)
		ingest_set_ready(in, input->host, true);
}

/* The input's source has new data. */
static void hear(struct ingest *in, struct input *input)
{
	if (input->in_merge && input->host)
		ingest_set_ready(in, input->host, true);
	else if (input->source && !input->in_merge)
		read_prologue(in, input);
}

static void hear_all(struct ingest *in)
{
	struct epoll_event events[HEARD_AT_ONCE];
	int n;

	do {
		n = epoll_wait(in->epoll_fd, events, HEARD_AT_ONCE, 0);
		for (int i = 0; i < n; i++)
			hear(in, events[i].data.ptr);
	} while (n == HEARD_AT_ONCE);
}

/* While this process itself was stopped (Ctrl-Z), no source could be heard. */
static void allow_for_pause(struct ingest *in, int64_t now_us)
{
	const int64_t pause_us = in->watched_us ? now_us - in->watched_us : 0;

	for (guint i = 0; i < in->inputs->len && pause_us > PAUSE_LEAST_US; i++)
		input_at(in, i)->heard_us = MIN(input_at(in, i)->heard_us + pause_us, now_us);
}

/* Checks a live source for silence: beacons come even if there are no events. */
static void watch_live(struct ingest *in, struct input *input)
{
	int64_t now_us = g_get_monotonic_time(), limit_us = (int64_t)(in->options.stall_limit_ns / NS_PER_US);

	if (input->spec->is_growing)
		limit_us *= 2; /* its worker itself waits up to the limit for each stream */

	if (merge_hears(input->host->merge, input->number)) {
		input->heard_us = input->host->heard_us = now_us;
		input->stalled = false;
	} else if (!input->stalled && now_us - input->heard_us > limit_us) {
		input->stalled = true;
		log_warning("%s: silent: skipped until data arrives again", input->spec->name);
		merge_leave_out(input->host->merge, input->number);
		ingest_set_ready(in, input->host, true);
	}
}

bool ingest_is_mute(const struct host *host)
{
	unsigned n = 0;

	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source && !input->stalled)
			return false;
		n += input && input->source;
	}
	return n > 0;
}

/* Whether a source of the host has been waited for long enough to show it. */
static bool is_waited_for(const struct ingest *in, const struct host *host)
{
	const int64_t limit_us = (int64_t)(in->options.stall_limit_ns / NS_PER_US / WAITED_FOR_PARTS);
	const int64_t since_us = g_get_monotonic_time() - limit_us;

	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source && input->spec->url && input->in_merge && !input->stalled &&
		    input->heard_us < since_us)
			return true;
	}
	return false;
}

static bool is_over(const struct host *host)
{
	if (!host->public.away)
		return false;
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && !input->session_over)
			return false;
	}
	return true;
}

/* Whether relayds that list their sessions no longer list any of the host. */
static bool is_unlisted(const struct host *host)
{
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && (input->source || !input->is_listed || !input->is_absent))
			return false;
	}
	return true;
}

/*
 * Whether a live host of the same hostname started after this one's last event, by their clocks or as their data came,
 * because a clock may start anywhere: the same machine, rebooted; or continues it with a clock that was set back.
 */
static bool is_rebooted(const struct ingest *in, const struct host *host)
{
	for (guint i = 0; i < in->hosts->len; i++) {
		const struct host *other = host_at(in, i);

		if (!other->public.live || other->public.away || other->public.replaced ||
		    other->public.begin_ns == TIME_UNKNOWN || strcmp(other->hostname, host->hostname) != 0)
			continue;
		if (other->public.begin_ns >= host->public.end_ns || other->begun_us > host->heard_us ||
		    (other->n_others > host->n_others && strcmp(other->clock, host->clock) == 0))
			return true;
	}
	return false;
}

/* No more data comes: its next sessions may have other names, and are those of another host. */
static void end_for_good(struct ingest *in, struct host *host)
{
	host->public.replaced = true;
	for (guint i = 0; i < host->inputs->len; i++) {
		struct input *input = g_ptr_array_index(host->inputs, i);

		if (input)
			input->state = INPUT_ENDED;
	}
	ingest_set_ready(in, host, true); /* ingest_advance() ends it */
}

static void end_rebooted(struct ingest *in, struct host *host)
{
	if (is_unlisted(host) && is_rebooted(in, host))
		end_for_good(in, host);
}

static bool is_short_of_memory(const struct model_memory *memory)
{
	return memory->limit && memory->used > memory->limit - memory->limit / ROOM_SHARE;
}

/*
 * Hosts may come and go for weeks, and most never return: ends the one without a session that was heard least recently
 * if there are too many of them, or if they need the memory of others.
 */
static void end_oldest(struct ingest *in)
{
	struct host *oldest = NULL;
	unsigned n = 0;

	for (guint i = 0; i < in->hosts->len; i++) {
		struct host *host = host_at(in, i);

		if (host->public.replaced || !host->public.away || !is_unlisted(host))
			continue;
		if (!oldest || host->heard_us < oldest->heard_us)
			oldest = host;
		n++;
	}
	if (n > AWAITED_MAX || (n > 1 && is_short_of_memory(&in->memory)))
		end_for_good(in, oldest);
}

static bool any_stalled(const struct host *host)
{
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source && input->stalled)
			return true;
	}
	return false;
}

/* Passes to the clocks when the worker's latest data arrived, whether it has been applied or not. */
static void watch_arrival(struct ingest *in, struct input *input)
{
	const uint64_t time_ns = source_time_ns(input->source);

	if (!in->options.clocks || !input->host || !input->host->registered || time_ns == input->time_ns)
		return;
	input->time_ns = time_ns;
	clocks_arrival(in->options.clocks, input->host->public.clock, time_ns, (uint64_t)g_get_real_time() * NS_PER_US);
}

static void watch_input(struct ingest *in, struct input *input)
{
	const char *hangs;

	if (input_is_retried(input) && g_get_monotonic_time() >= input->retry_us)
		ingest_start_input(in, input);
	if (!input->source)
		return;
	if (source_spec_is_live(input->spec) && input->in_merge) {
		watch_live(in, input);
		watch_arrival(in, input);
	}
	hangs = source_hangs(input->source, HANG_LIMIT_MS);
	if (hangs)
		source_kill(input->source, hangs);
}

/* Measures the lag of a live host. A host from which nothing comes does not lag, but is waited for. */
static void watch_lag(struct ingest *in, struct host *host)
{
	struct ingest_host *h = &host->public;

	if (!h->live || h->away || h->waited_for || h->silent || host->back || !host->last_ns) {
		h->lag_ns = 0;
		return;
	}
	if (host->last_ns == host->lag.at_ns)
		return;
	h->lag_ns = lag_measure(&host->lag, host->last_ns, lag_now_ns());
	if (!in->options.max_lag_ns || h->lag_ns <= in->options.max_lag_ns)
		return;
	for (guint i = 0; i < host->inputs->len; i++) {
		struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source && input->follow)
			ingest_source_stopped(in, input, "too far behind: started again at the end");
	}
	lag_forget(&host->lag); /* there it is as late as usual */
}

void ingest_watch(struct ingest *in)
{
	const int64_t now_us = g_get_monotonic_time();
	const bool ask = now_us - in->asked_us >= ASK_EVERY_US;

	hear_all(in);
	if (now_us - in->watched_us < WATCH_EVERY_US)
		return;
	allow_for_pause(in, now_us);
	in->watched_us = now_us;
	source_reap();
	ingest_poll_relays(in);
	if (in->options.follow)
		fill_vacancies(in);
	for (guint i = 0; i < in->inputs->len; i++) {
		watch_input(in, input_at(in, i));
		if (ask)
			hear(in, input_at(in, i));
	}
	if (ask)
		in->asked_us = now_us;
	ingest_register_hosts(in);
	if (in->options.clocks)
		clocks_update(in->options.clocks);
	end_oldest(in);
	for (guint i = 0; i < in->hosts->len; i++) {
		if (host_at(in, i)->public.replaced && host_at(in, i)->public.ended)
			continue;
		host_at(in, i)->public.waited_for = is_waited_for(in, host_at(in, i));
		host_at(in, i)->public.over = is_over(host_at(in, i));
		if (host_at(in, i)->public.over)
			end_rebooted(in, host_at(in, i));
		host_set_stalled(host_at(in, i), any_stalled(host_at(in, i)));
		watch_lag(in, host_at(in, i));
		host_look_for_dump(host_at(in, i));
		host_refresh_sidecar(host_at(in, i));
		ingest_release_shared(in, host_at(in, i));
	}
}
