/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of a live host when several conditions hold at once. */
#include "unit.h"

#include "base/strpool.h"
#include "events.h"
#include "ingest/internal.h"
#include "waits/waits.h"

static struct host *host;

static void setup(void)
{
	const struct ingest_host known = {
		.name = (char *)"web", .source = (char *)"", .tracer = (char *)"", .live = true, .end_ns = 1
	};

	host = host_restore("web", "", &known);
}

static void teardown(void)
{
	host_free(host);
}

static void assert_status(enum host_status status, const char *reason)
{
	const struct host_state *s = model_state(host->public.model);
	const struct host_row *row = STATE_ROW(s, HOST, host, state_next(&s->tables[TABLE_HOST], STATE_NO_ROW));

	ck_assert_uint_eq(row->status, status);
	ck_assert_str_eq(strpool_text((strid)row->reason), reason);
}

/* The most important condition is reported; when it ends, the next one is reported again. */
START_TEST(test_what_matters_most)
{
	host_trouble(host, "a part is damaged");
	assert_status(HOST_DEGRADED, "a part is damaged");
	host->public.begin_ns = 1;
	host->back = true; /* its state is unknown: at the first report of no events it counts as standing still */
	host_no_event(host, UINT64_C(1) << 40);
	assert_status(HOST_SILENT, "no events");
	host_set_stalled(host, true);
	assert_status(HOST_SILENT, "silent: the others no longer wait for it");
	host_set_away(host, "the relayd went away");
	assert_status(HOST_AWAY, "the relayd went away");
	host_set_stalled(host, false);
	assert_status(HOST_AWAY, "the relayd went away");
	host_set_back(host, true);
	assert_status(HOST_SILENT, "no events");
	host_is_back_at_work(host);
	assert_status(HOST_DEGRADED, "a part is damaged");
	host_trouble(host, "another one, too");
	assert_status(HOST_DEGRADED, "a part is damaged");
}
END_TEST

/* Once its sessions have ended, nothing is waited for. */
START_TEST(test_ended)
{
	host->public.begin_ns = 1;
	host->back = true;
	host_no_event(host, UINT64_C(1) << 40);
	host_set_stalled(host, true);
	host_end(host);
	assert_status(HOST_ENDED, "");
	ck_assert(host->public.ended && !host->public.silent && !host->public.still);
	host_trouble(host, "a part is damaged");
	assert_status(HOST_DEGRADED, "a part is damaged");
	host->public.live = false;
	g_clear_pointer(&host->public.trouble, g_free);
	host_set_away(host, "the relayd went away");
	host_end(host);
	assert_status(HOST_OK, "");
}
END_TEST

/* If nothing ran, it is known that nothing runs. */
START_TEST(test_idle_is_not_still)
{
	host->public.begin_ns = 1;
	host_no_event(host, UINT64_C(1) << 40);
	assert_status(HOST_OK, "");
}
END_TEST

/* The paths of a host that is away, or has ended, end where its record does; when it is back, they continue. */
START_TEST(test_ends_of_paths)
{
	enum { LAST = 100, NOW = 1000 };
	const struct waits_options options = { 0 };
	struct ingest in = { .waits = waits_create(&options) };
	struct events e = { .m = host->public.model };
	const struct ev_sched_switch p = { .next_tid = 7, .next_comm = "seven" };
	struct wait_path path = { 0 };
	struct record r;

	host->public.wait = waits_add_host(in.waits, NULL);
	host->registered = true;
	model_set_wait_log(e.m, &host->log);
	events_trace(&e, 0, DOMAIN_KERNEL);
	model_set_declares(e.m, EVENT_SCHED_SWITCH);
	record_init(&r, LAST, 0, 0, EVENT_SCHED_SWITCH);
	events_apply(&e, &r, &p, sizeof(p));
	host->last_ns = LAST + 1;
	host->public.end_ns = LAST + 5;
	for (unsigned i = 0; i < 4; i++) {
		host->public.away = i == 1;
		host->public.ended = i == 3;
		ingest_advance_shared(&in, host);
		waits_path(in.waits, waits_find(in.waits, host->public.wait, 7, UINT64_MAX), 0, NOW, &path);
		ck_assert_uint_gt(path.n, 0);
		ck_assert_uint_eq(path.segments[path.n - 1].end_ns, i % 2 ? LAST + 5 : NOW);
	}
	model_set_wait_log(e.m, NULL);
	wait_path_release(&path);
	waits_destroy(in.waits);
}
END_TEST

UNIT_MAIN_AROUND("host", setup, teardown, test_what_matters_most, test_ended, test_idle_is_not_still,
		 test_ends_of_paths)
