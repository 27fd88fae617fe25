/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/input.h"

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "event/payload.h"

/* Between two attempts to attach: 0.5 s, 1 s, 2 s, …; again from the first after it has run for the longest of them */
enum { RETRY_FIRST_US = 500 * US_PER_MS, RETRY_MAX_US = 8 * US_PER_S };

/* Attempts to attach a session again that is not followed, after its worker died. */
enum { TRIES_MAX = 3 };

/* Far more than a prologue has: a worker that never comes to its end must not block the parent. */
enum { PROLOGUE_RECORDS_AT_ONCE = 65536 };

/* One per stream with switches: far more than a recording has. */
enum { STARTS_MAX = 65536 };

struct input *input_create(const struct source_spec *spec, unsigned part, unsigned parts, bool follow)
{
	static unsigned last_id;
	struct input *input = g_new0(struct input, 1);

	input->id = ++last_id;
	input->spec = spec;
	input->part = part;
	input->parts = parts;
	input->session_id = spec->session_id;
	input->follow = follow;
	return input;
}

void input_free(void *data)
{
	struct input *input = data;

	source_stop(input->source);
	source_spec_free(input->again);
	kernel_release(input);
	input_drop_fields(input);
	g_clear_pointer(&input->starts, g_ptr_array_unref);
	g_free(input->why);
	g_free(input);
}

/* The spec with which it is attached again. */
static struct source_spec *spec_again(struct input *input)
{
	if (!input->again)
		input->again = source_spec_copy(input->spec);
	return input->again;
}

void input_want_fields(struct input *input, const char *text)
{
	static uint32_t last_number;
	struct source_spec *spec = spec_again(input);

	g_free(spec->fields);
	spec->fields = g_strdup(text);
	if (input->fields)
		shapes_forget_users(&input->shapes);
	if (!input->source)
		return;
	input->wanted = ++last_number;
	input->fields_from_ns = source_want_fields(input->source, text, input->wanted) ? UINT64_MAX : 0;
}

enum lt_status input_start(struct input *input)
{
	input->state = INPUT_STARTING;
	input->stalled = input->announced = false;
	input->time_ns = 0;
	input->notes = 0;
	input->heard_us = g_get_monotonic_time();
	input->fields_from_ns = 0; /* the worker sends the wanted fields from the start */
	input->next_start_ns = 0;
	if (input->again || input->session_id != input->spec->session_id)
		spec_again(input)->session_id = input->session_id;
	/* the start of a session is not read twice */
	if (input->host && input->spec->from_start)
		spec_again(input)->from_start = false;
	if (source_start(input->again ? input->again : input->spec, input->part, input->parts, &input->source) == LT_OK)
		return LT_OK;
	input->source = NULL;
	input_stopped(input, error_text());
	return LT_ERROR;
}

static bool has_inputs(const struct host *host)
{
	for (guint i = 0; i < host->inputs->len; i++)
		if (g_ptr_array_index(host->inputs, i))
			return true;
	return false;
}

void input_leave_host(struct input *input)
{
	kernel_leave(input);
	merge_remove(input->host->merge, input->number);
	g_ptr_array_index(input->host->inputs, input->number) = NULL;
	input->host->public.replaced |= !has_inputs(input->host);
	input->host = NULL;
}

/* Whether the trace of a source that was started again is the host's as before, by a clock that was not set back. */
static bool is_continued(const struct input *input, const struct event *ev)
{
	return input->host && !input->host->public.replaced &&
	       host_has_trace(input->host, ev, input->spec->host_hint) &&
	       event_payload(ev, ev_trace)->clock_zero_ns >= input->clock_zero_ns;
}

static void announced(struct input *input, GPtrArray *hosts, const struct event *ev)
{
	struct host *host = input->host;

	if (input->announced && !host_has_trace(input->host, ev, input->spec->host_hint)) {
		if (!input->mixed)
			log_warning("%s: contains traces of several hosts: reading them as those of %s",
				    input->spec->name, input->host->public.name);
		input->mixed = true;
		return;
	}
	if (!input->announced && !is_continued(input, ev))
		host = host_of_trace(hosts, ev, input->spec->host_hint, source_spec_is_live(input->spec));
	input->clock_zero_ns = event_payload(ev, ev_trace)->clock_zero_ns;
	host_add_trace(host, ev, input->spec->name);
	if (input->host && input->host != host)
		input_leave_host(input);
	input->announced = true;
	host->public.from_ns = MAX(host->public.from_ns, event_payload(ev, ev_trace)->begin_ns);
	if (!input->host) {
		input->host = host;
		input->number = merge_add(host->merge, input->source);
	} else {
		merge_replace(input->host->merge, input->number, input->source);
	}
	g_ptr_array_set_size(input->host->inputs, MAX((gint)input->host->inputs->len, (gint)input->number + 1));
	g_ptr_array_index(input->host->inputs, input->number) = input;
}

static void now_runs(struct input *input)
{
	if (input->state != INPUT_RUNNING)
		input->ran_us = g_get_monotonic_time();
	input->state = INPUT_RUNNING;
	input->existed = true;
	input->tries = 0;
	input->relayd_left = false;
	g_clear_pointer(&input->why, g_free);
}

static void hold_start(struct input *input, const struct event *ev)
{
	const size_t bytes = sizeof(*ev) + sizeof(struct ev_cpu_start);
	struct event *start;

	if (!input->starts) {
		input->starts = g_ptr_array_new_with_free_func(g_free);
		input->has_begun = false;
	}
	if (input->starts->len >= STARTS_MAX) {
		source_accuse(input->source, "starts of more streams than a source has");
		return;
	}
	/* without what a worker may have added to the record */
	start = g_memdup2(ev, bytes);
	start->size = bytes;
	start->n_perf = 0;
	g_ptr_array_add(input->starts, start);
}

/* Tracers open the first packets before a recording starts; other programs may open one with its first event. */
static bool begins_later(const struct input *input, const struct event *ev, uint64_t t_ns, uint64_t until_ns)
{
	if (!input->has_begun)
		return ev->ts_ns > t_ns && ev->ts_ns - t_ns > CPU_START_SKEW_NS;
	return ev->ts_ns > t_ns || ev->ts_ns >= until_ns;
}

static void apply_starts(struct input *input, uint64_t t_ns, uint64_t until_ns)
{
	for (guint i = 0; i < input->starts->len;) {
		struct event *ev = g_ptr_array_index(input->starts, i);

		if (begins_later(input, ev, t_ns, until_ns)) {
			i++;
			continue;
		}
		if (!input->has_begun)
			ev->ts_ns = t_ns;
		model_apply(input->host->public.model, input->number, ev);
		g_ptr_array_remove_index(input->starts, i);
	}
}

/* The rest is of CPUs whose data begins later, or of their later streams. */
static void await_cpus(struct input *input)
{
	for (guint i = 0; i < input->starts->len && !input->has_begun; i++) {
		const struct event *ev = g_ptr_array_index(input->starts, i);

		if (!event_payload(ev, ev_cpu_start)->is_whole)
			model_await_cpu(input->host->public.model, ev->cpu);
	}
	input->has_begun = true;
	if (!input->starts->len)
		g_clear_pointer(&input->starts, g_ptr_array_unref);
}

static uint64_t next_start_ns(const struct input *input)
{
	uint64_t next_ns = UINT64_MAX;

	for (guint i = 0; input->starts && i < input->starts->len; i++)
		next_ns = MIN(next_ns, ((const struct event *)g_ptr_array_index(input->starts, i))->ts_ns);
	return next_ns;
}

void input_begin(const struct input *input, uint64_t t_ns, uint64_t until_ns)
{
	const GPtrArray *all = input->host->inputs;
	uint64_t next_ns = UINT64_MAX;
	struct input *part;

	for (guint i = 0; i < all->len; i++) {
		part = g_ptr_array_index(all, i);
		if (part && part->spec == input->spec && part->starts)
			apply_starts(part, t_ns, until_ns);
	}
	for (guint i = 0; i < all->len; i++) {
		part = g_ptr_array_index(all, i);
		if (!part || part->spec != input->spec || !part->starts)
			continue;
		await_cpus(part);
		next_ns = MIN(next_ns, next_start_ns(part));
	}
	for (guint i = 0; i < all->len; i++) {
		part = g_ptr_array_index(all, i);
		if (part && part->spec == input->spec)
			part->next_start_ns = next_ns;
	}
}

enum lt_status input_read_prologue(struct input *input, GPtrArray *hosts)
{
	const struct event *ev;
	enum lt_status status;
	bool done = false;

	for (unsigned n = 0; !done; n++) {
		if (n == PROLOGUE_RECORDS_AT_ONCE)
			return LT_AGAIN;
		status = source_peek(input->source, &ev);
		if (status != LT_OK)
			return status;
		input->heard_us = g_get_monotonic_time();
		if (ev->kind == EVENT_TRACE) {
			announced(input, hosts, ev);
			input->recalled = source_recalled(input->source);
		}
		if (ev->kind == EVENT_SESSION)
			input->session_id = event_payload(ev, ev_session)->id;
		if (input->host)
			kernel_declare(input, ev);
		input_note_origin(input, ev);
		if (ev->kind == EVENT_CPU_START)
			hold_start(input, ev);
		else if (!input_take_fields(input, ev) && input->host)
			model_apply(input->host->public.model, input->number, ev);
		if (ev->kind == EVENT_READY)
			now_runs(input);
		/* a part without streams has no trace, and ends at once */
		done = input->host && ev->kind == (source_spec_is_live(input->spec) ? EVENT_TRACE : EVENT_READY);
		source_next(input->source);
	}
	now_runs(input);
	input->in_merge = true;
	return LT_OK;
}

static int64_t backoff_us(unsigned breaks)
{
	return breaks > 4 ? RETRY_MAX_US : MIN((int64_t)RETRY_FIRST_US << breaks, RETRY_MAX_US);
}

/* Why it stopped and, if known, what to do about it; the caller frees the text. */
static char *explain_stop(struct input *input, const char *why)
{
	const bool left = input->state == INPUT_DETACHED; /* its session may continue */
	const enum failed_cause cause = why && input->source ? source_failed_cause(input->source) : FAILED_OTHER;

	if (cause == FAILED_GONE || cause == FAILED_UNREACHABLE)
		input->relayd_left = true;
	input->is_absent = (!why && !left) || cause == FAILED_NO_SESSION;
	/* it has ended, and no new one of its name has been created */
	input->session_over = (!why && !left) || (cause == FAILED_NO_SESSION && !input->relayd_left && input->existed);
	if (input->session_over)
		return source_spec_is_live(input->spec) ? g_strdup("the session has ended") : NULL;
	if (cause != FAILED_NO_SESSION || !input->relayd_left)
		return g_strdup(why);
	return g_strdup_printf("%s since the relayd was away: run 'lttngtop record' on that host again", why);
}

/* One that breaks off each time soon after it was attached, as with damaged data, does not run. */
static bool has_run_well(const struct input *input, const char *why)
{
	if (!why)
		return input->announced;
	return input->state == INPUT_RUNNING && g_get_monotonic_time() - input->ran_us >= RETRY_MAX_US;
}

void input_stopped(struct input *input, const char *why)
{
	char *reason = explain_stop(input, why);
	const bool lost_worker =
		why && input->spec->url && input->source && source_failed_cause(input->source) == FAILED_WORKER;

	if (has_run_well(input, why))
		input->breaks = 0;
	input->broken = input->broken || why;
	if (lost_worker && source_is_at_fault(input->source))
		spec_again(input)->alone = true;
	if (input->host && input->source)
		merge_replace(input->host->merge, input->number, NULL);
	source_stop(input->source);
	input->source = NULL;
	input_drop_fields(input);
	input->in_merge = false;
	kernel_input_stopped(input);
	if (input->host)
		model_end_source(input->host->public.model, input->number);
	g_free(input->why);
	input->why = reason;
	input->stopped_us = g_get_monotonic_time();
	/* its worker may have died because of another session, while this one continues */
	if (input->state != INPUT_DETACHED)
		input->state = input->follow || (lost_worker && input->tries < TRIES_MAX) ? INPUT_WAITING : INPUT_ENDED;
	input->tries++;
	input->retry_us = g_get_monotonic_time() + backoff_us(input->breaks++);
}

bool input_is_retried(const struct input *input)
{
	return input->state == INPUT_WAITING && !(input->is_listed && input->is_absent);
}

const char *input_describe(const struct input *input)
{
	switch (input->state) {
	case INPUT_STARTING:
		return input->spec->url ? "attaching" : "opening";
	case INPUT_RUNNING:
		if (input->stalled)
			return "silent";
		if (input->spec->url)
			return kernel_fills_gaps(input) ? "attached, fills gaps" : "attached";
		return "reading";
	case INPUT_DETACHED:
		return "detached";
	case INPUT_UNTAKEN:
		return "not attached (--max-sessions)";
	default:
		return input->why ? input->why : "read";
	}
}
