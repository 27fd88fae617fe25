/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lttngtop feed: replays recordings as live sessions of a relayd. The URL of each session goes to stdout, one per line,
 * as soon as it can be viewed; everything else goes to stderr.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/relay_url.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "feed/feed.h"
#include "play/feed_sync.h"
#include "source/overlap.h"

enum { PROGRESS_EVERY_US = 200 * US_PER_MS };

struct feed_command {
	const struct options *options;
	struct relay_url relay; /* of --to */
	struct feed_options feed;
	int64_t shown_us; /* when progress was last shown; 0: none on the screen */
	bool tty;
};

static stop_flag stop;

static void on_signal(int signal_number)
{
	stop = signal_number;
}

/* ---- checking options ---- */

static enum lt_status parse_target(struct feed_command *r, const char *text)
{
	struct fed_session_target *t = &r->feed.target;
	const unsigned *ports = r->relay.ports;

	if (relay_url_parse(text, RELAY_URL_PORTS, &r->relay))
		return error_wrap("'%s'", text);
	t->family = r->relay.family;
	t->host = r->relay.host;
	t->control_port = ports[0] ? ports[0] : RELAY_CONTROL_PORT;
	t->data_port = ports[1] ? ports[1] : RELAY_DATA_PORT;
	if (*r->relay.rest && strcmp(r->relay.rest, "/") != 0)
		return error_set("'%s': unexpected text after the ports", text);
	return LT_OK;
}

static enum lt_status check_name(const char *option, const char *text, bool is_host)
{
	if (!text || feed_plan_is_name(text, is_host))
		return LT_OK;
	return error_set("option '%s': '%s' is too long or has characters that a session's URL cannot contain", option,
			 text);
}

static enum lt_status parse_options(struct feed_command *r, const struct options *o)
{
	struct fed_session_target *t = &r->feed.target;

	if (!o->to)
		return error_set("no relayd given: use --to net://HOST:CONTROL:DATA");
	if (parse_target(r, o->to))
		return error_wrap("option '--to'");
	if (check_name("--hostname", o->hostname, true) || check_name("--session", o->feed_session, false))
		return LT_ERROR;
	if (o->feed_live_timer < NS_PER_US || o->feed_live_timer / NS_PER_US > UINT32_MAX)
		return error_set("option '--live-timer': must be between 1us and %us", UINT32_MAX / US_PER_S);
	t->live_timer_ns = o->feed_live_timer / NS_PER_US * NS_PER_US;
	t->timeout_ms = (unsigned)CLAMP(o->feed_timeout / NS_PER_MS, 1, INT_MAX);
	t->stop = &stop;
	r->feed.live_port = o->live_port;
	r->feed.speed = o->feed_speed;
	r->feed.now = o->now;
	r->feed.wait = !o->no_wait;
	return LT_OK;
}

/* ---- progress ---- */

static void print_url(const struct feed_command *r, FILE *out, const struct fed_session *s)
{
	char *host = relay_url_host(&r->relay);

	fprintf(out, "%s://%s", r->relay.scheme, host);
	if (r->feed.live_port != RELAY_VIEW_PORT)
		fprintf(out, ":%u", r->feed.live_port);
	fprintf(out, "/host/%s/%s", s->hostname, s->name);
	g_free(host);
}

static void clear_progress(struct feed_command *r)
{
	if (r->shown_us)
		fputs("\r\033[K", stderr);
	r->shown_us = 0;
}

static void announce(void *user, const struct fed_session *s)
{
	struct feed_command *r = user;

	clear_progress(r);
	print_url(r, stdout, s);
	putchar('\n');
	output_flush(); /* a failure is reported at the end */
}

static void count(const GPtrArray *sessions, uint64_t *events, uint64_t *bytes, unsigned *ended)
{
	*events = *bytes = *ended = 0;
	for (guint i = 0; i < sessions->len; i++) {
		const struct fed_session *s = g_ptr_array_index(sessions, i);

		*events += s->events;
		*bytes += s->bytes;
		*ended += s->is_done;
	}
}

static void show_progress(void *user, const struct feed_progress *p)
{
	struct feed_command *r = user;
	const int64_t now_us = g_get_monotonic_time();
	uint64_t events, bytes;
	unsigned ended;

	if (!r->tty || now_us - r->shown_us < PROGRESS_EVERY_US)
		return;
	clear_progress(r);
	r->shown_us = now_us;
	count(p->sessions, &events, &bytes, &ended);
	switch (p->phase) {
	case FEED_CONNECTING:
		fprintf(stderr, "connecting to %s", r->relay.host);
		break;
	case FEED_WAITING:
		fputs("waiting for a viewer of ", stderr);
		print_url(r, stderr, p->waiting);
		break;
	case FEED_STREAMING:
		fprintf(stderr, "feeding: %.1f of %.1f s, %" PRIu64 " events, %.1f MB, %u of %u sessions ended",
			(double)(MIN(p->at_ns, p->end_ns) - p->begin_ns) / (double)NS_PER_S,
			(double)(p->end_ns - p->begin_ns) / (double)NS_PER_S, events, (double)bytes / 1e6, ended,
			p->sessions->len);
		break;
	case FEED_DRAINING:
		fputs("everything has been sent; waiting for the viewer of ", stderr);
		print_url(r, stderr, p->waiting);
		fputs(" to read it", stderr);
		break;
	}
	fflush(stderr);
}

/* ---- running ---- */

/* Returns how many of the traces cannot be fed, which is reported. */
static unsigned find_traces(const struct options *o, GPtrArray *specs)
{
	unsigned left_out = 0;

	for (guint i = 0; i < o->words->len; i++) {
		unsigned some = 0;

		if (source_find(g_ptr_array_index(o->words, i), specs, &some)) {
			log_error("%s", error_text());
			left_out++;
		}
		left_out += some;
	}
	return left_out;
}

static enum lt_status check_traces(const GPtrArray *specs)
{
	enum lt_status status = LT_OK;

	for (guint i = 0; i < specs->len && status == LT_OK; i++) {
		const GPtrArray *paths = ((const struct source_spec *)g_ptr_array_index(specs, i))->paths;

		status = overlap_check((const char *const *)paths->pdata, paths->len);
	}
	return status;
}

static bool is_incomplete(const struct feed_plan *plan)
{
	for (guint i = 0; i < plan->sessions->len; i++)
		if (((struct fed_session *)g_ptr_array_index(plan->sessions, i))->damaged)
			return true;
	return plan->left_out || plan->damaged;
}

/* A second signal ends the program at once. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int run_plan(struct feed_command *r, const struct feed_plan *plan)
{
	uint64_t events, bytes;
	unsigned ended;
	enum lt_status status;

	catch_signals();
	status = r->options->feed_sync ? feed_sync(r->options, plan->sessions, &stop) : LT_OK;
	if (!status)
		status = feed_run(&r->feed, plan->sessions);
	clear_progress(r);
	if (status == LT_ERROR) {
		log_error("%s", error_text());
		return LT_EXIT_FAILURE;
	}
	count(plan->sessions, &events, &bytes, &ended);
	log_info("%u sessions, %" PRIu64 " events, %" PRIu64 " bytes sent", plan->sessions->len, events, bytes);
	if (status == LT_INTERRUPTED) {
		log_info("ended by signal %d", (int)stop);
		return 128 + (int)stop;
	}
	return is_incomplete(plan) ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

static int feed_traces(struct feed_command *r)
{
	const struct options *o = r->options;
	GPtrArray *specs = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)source_spec_free);
	const unsigned left_out = find_traces(o, specs);
	struct feed_plan plan;
	int status;

	if (check_traces(specs) != LT_OK) {
		g_ptr_array_free(specs, TRUE);
		return cmd_fail(LT_EXIT_USAGE, "feed");
	}
	if (feed_plan_make(&plan, specs, o->hostname, o->feed_session) != LT_OK) {
		log_error("%s", error_text());
		status = LT_EXIT_FAILURE;
	} else {
		plan.left_out += left_out;
		status = run_plan(r, &plan);
	}
	feed_plan_release(&plan);
	g_ptr_array_free(specs, TRUE);
	return status;
}

int cmd_feed(const struct options *o)
{
	struct feed_command r = { .options = o,
				  .feed = { .opened = announce, .progress = show_progress },
				  .tty = isatty(STDERR_FILENO) };
	int status;

	r.feed.user = &r;
	if (parse_options(&r, o)) {
		relay_url_release(&r.relay);
		return cmd_fail(LT_EXIT_USAGE, "feed");
	}
	status = feed_traces(&r);
	relay_url_release(&r.relay);
	return status;
}
