/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/reread.h"

#include <glib.h>

#include "base/error.h"
#include "base/log.h"

/* Wait this long after the last key; poll a reading at this interval in case a wake-up is missed. */
#define REST_S 0.08
#define LOOK_S 0.1

enum { EVENTS_AT_ONCE = 8192 };

struct reread {
	struct reread_options options;
	struct ev_loop *loop;
	const struct clock_map **maps; /* of the ingest's hosts */
	uint64_t begin_ns, end_ns;     /* wanted; 0: nothing */
	struct window *reading, *done;
	uint64_t reading_begin_ns, reading_end_ns, done_begin_ns, done_end_ns;
	bool is_whole;  /* the current or last reading covers all of the recordings */
	bool overflows; /* all of them would not fit into memory_bytes */
	unsigned percent;
	char *problem;
	ev_timer rest, look;
	ev_io ready;
	ev_idle more;
};

static void stop(struct reread *r)
{
	ev_timer_stop(r->loop, &r->rest);
	ev_timer_stop(r->loop, &r->look);
	ev_idle_stop(r->loop, &r->more);
	ev_io_stop(r->loop, &r->ready);
	window_close(r->reading);
	r->reading = NULL;
	r->percent = 0;
}

static void fail(struct reread *r)
{
	g_free(r->problem);
	r->problem = g_strdup(error_text());
	error_clear();
	stop(r);
	r->options.changed(r->options.data);
}

static void start_soon(struct reread *r)
{
	ev_now_update(r->loop);
	ev_timer_set(&r->rest, REST_S, 0.);
	ev_timer_start(r->loop, &r->rest);
}

/* The old window is freed only after the screen knows the new one. */
static void finish(struct reread *r)
{
	const uint64_t kept_ns = waits_info(window_waits(r->reading)).graph.horizon_ns;
	struct window *old = r->done;

	r->done = r->reading;
	r->done_begin_ns = r->is_whole ? kept_ns : r->reading_begin_ns;
	r->done_end_ns = r->reading_end_ns;
	r->reading = NULL;
	stop(r);
	if (r->is_whole && kept_ns > r->begin_ns) {
		r->overflows = true;
		start_soon(r);
	}
	r->options.changed(r->options.data);
	window_close(old);
}

static enum lt_status read_on(struct reread *r)
{
	enum lt_status status;

	log_skip_known(true);
	status = window_run(r->reading, EVENTS_AT_ONCE);
	log_skip_known(false);
	return status;
}

static void go_on(struct reread *r)
{
	const enum lt_status status = read_on(r);
	unsigned percent = (unsigned)(window_progress(r->reading) * 100);

	switch (status) {
	case LT_OK:
		ev_io_stop(r->loop, &r->ready);
		ev_idle_start(r->loop, &r->more);
		break;
	case LT_AGAIN:
		ev_idle_stop(r->loop, &r->more);
		ev_io_start(r->loop, &r->ready);
		break;
	case LT_END:
		finish(r);
		return;
	default:
		fail(r);
		return;
	}
	if (percent == r->percent)
		return;
	r->percent = percent;
	r->options.changed(r->options.data);
}

static void on_more(struct ev_loop *loop, ev_idle *w, int events)
{
	(void)loop;
	(void)events;
	go_on(w->data);
}

static void on_ready(struct ev_loop *loop, ev_io *w, int events)
{
	(void)loop;
	(void)events;
	go_on(w->data);
}

static void on_look(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)events;
	go_on(w->data);
}

/* Reads everything if it fits, otherwise a quarter more at both ends so that a step sideways is covered. */
static void on_rest(struct ev_loop *loop, ev_timer *w, int events)
{
	struct reread *r = w->data;
	uint64_t more_ns = (r->end_ns - r->begin_ns) / 4;
	unsigned n = ingest_host_count(r->options.of);
	struct window_options options = {
		.begin_ns = r->begin_ns - MIN(r->begin_ns, more_ns),
		.end_ns = r->end_ns + more_ns,
		.whole = !r->overflows,
		.waits = { .memory_bytes = r->options.memory_bytes },
	};

	(void)loop;
	(void)events;
	r->maps = g_renew(const struct clock_map *, r->maps, n);
	for (unsigned i = 0; i < n; i++)
		r->maps[i] = ingest_host((struct ingest *)r->options.of, i)->map;
	options.maps = r->maps;
	if (r->options.prepare)
		r->options.prepare(r->options.data, &options);
	r->is_whole = options.whole;
	r->reading_begin_ns = options.whole ? 0 : options.begin_ns;
	r->reading_end_ns = options.whole ? UINT64_MAX : options.end_ns;
	r->reading = window_open(r->options.of, &options);
	if (!r->reading) {
		fail(r);
		return;
	}
	if (r->options.opened)
		r->options.opened(r->options.data, r->reading);
	ev_io_set(&r->ready, window_fd(r->reading), EV_READ);
	ev_idle_start(r->loop, &r->more);
	ev_timer_again(r->loop, &r->look);
}

struct reread *reread_create(const struct reread_options *options)
{
	struct reread *r = g_new0(struct reread, 1);

	r->options = *options;
	r->loop = options->loop;
	ev_timer_init(&r->rest, on_rest, REST_S, 0.);
	ev_timer_init(&r->look, on_look, 0., LOOK_S);
	ev_io_init(&r->ready, on_ready, -1, EV_READ);
	ev_idle_init(&r->more, on_more);
	r->rest.data = r->look.data = r->ready.data = r->more.data = r;
	return r;
}

void reread_destroy(struct reread *r)
{
	if (!r)
		return;
	stop(r);
	window_close(r->done);
	g_free(r->maps);
	g_free(r->problem);
	g_free(r);
}

void reread_want(struct reread *r, uint64_t begin_ns, uint64_t end_ns)
{
	if (r->begin_ns == begin_ns && r->end_ns == end_ns)
		return;
	r->begin_ns = begin_ns;
	r->end_ns = end_ns;
	g_free(r->problem);
	r->problem = NULL;
	if (!end_ns) {
		stop(r);
		return;
	}
	/* the window being read may already cover it */
	if (r->reading && r->reading_begin_ns <= begin_ns && r->reading_end_ns >= end_ns)
		return;
	stop(r);
	start_soon(r);
}

void reread_forget(struct reread *r)
{
	r->begin_ns = r->end_ns = 0;
	stop(r);
}

struct window *reread_done(const struct reread *r, uint64_t *begin_ns, uint64_t *end_ns)
{
	*begin_ns = r->done_begin_ns;
	*end_ns = r->done_end_ns;
	return r->done;
}

void reread_keep_paths(const struct reread *r)
{
	if (r && r->reading)
		window_keep_paths(r->reading);
	if (r && r->done)
		window_keep_paths(r->done);
}

void reread_drop(struct reread *r)
{
	window_close(r->done);
	r->done = NULL;
}

unsigned reread_percent(const struct reread *r)
{
	return r->percent;
}

const char *reread_problem(const struct reread *r)
{
	return r->problem;
}
