/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary input from hosts: records of every tracepoint with absurd fields pass through models, clocks and the wake-
 * up graph in the way the pump passes them on. Every answer must be consistent: paths tile their window, followed rows
 * have the paths that a walk finds, sums are those of the path's time, memory stays within its limit, and the model's
 * figures are those of a model that logs nothing for the graph. Best run with sanitizers.
 */
#include <glib.h>
#include <string.h>

#include "clock/sync.h"
#include "events.h"
#include "unit.h"
#include "waits/accounting.h"

enum { HOSTS = 3, EVENTS = 8000, TURN = 64, FOLLOWED = 3, MEMORY_BYTES = 256 << 10 };

#define BASE_NS UINT64_C(1700000000000000000)

struct fuzz {
	GRand *rand;
	struct events hosts[HOSTS], plain[HOSTS]; /* plain: without a log */
	struct wait_log logs[HOSTS];
	uint64_t now_ns[HOSTS];
	struct clock_sync *clocks;
	struct waits *waits;
	wait_row followed[FOLLOWED];
	struct wait_path path, walked;
	uint64_t segments, compared, wires;
};

/* Counts over all seeds: a run in which something never happens proves nothing about it. */
struct seen {
	uint64_t segments, compared, links, wires, epochs, late;
};

static const int64_t absurd[] = {
	-1,
	-2,
	64,
	0x80,
	0x100,
	4095,
	4096,
	65535,
	65536,
	4194304,
	INT32_MAX,
	INT32_MIN,
	(int64_t)INT32_MAX + 1,
	UINT32_MAX,
	INT64_MAX,
	INT64_MIN,
};

static int pick(struct fuzz *f, int n)
{
	return g_rand_int_range(f->rand, 0, n);
}

/* Mostly small, so that events are related to each other. */
static int64_t number(struct fuzz *f)
{
	return pick(f, 12) ? pick(f, 10) : absurd[pick(f, G_N_ELEMENTS(absurd))];
}

/* Kinds that matter to waits are more frequent than others. */
static enum event_kind some_kind(struct fuzz *f)
{
	static const enum event_kind often[] = {
		EVENT_SCHED_SWITCH,   EVENT_SCHED_SWITCH,  EVENT_SCHED_SWITCH,
		EVENT_SCHED_WAKING,   EVENT_SCHED_WAKING,  EVENT_SCHED_WAKEUP_NEW,
		EVENT_FORK,           EVENT_EXIT,          EVENT_IRQ_ENTRY,
		EVENT_IRQ_EXIT,       EVENT_SOFTIRQ_ENTRY, EVENT_SOFTIRQ_EXIT,
		EVENT_HRTIMER_ENTRY,  EVENT_HRTIMER_EXIT,  EVENT_RECEIVING_ENTRY,
		EVENT_RECEIVING_EXIT, EVENT_NET_QUEUE,     EVENT_NET_QUEUE,
		EVENT_NET_RECEIVE,    EVENT_NET_RECEIVE,   EVENT_DUMP_PROCESS,
		EVENT_WORK_QUEUE,     EVENT_WORK_START,    EVENT_WORK_END,
	};

	return pick(f, 4) ? often[pick(f, G_N_ELEMENTS(often))]
			  : (enum event_kind)g_rand_int_range(f->rand, EVENT_SCHED_SWITCH, EVENT_KINDS);
}

static void fill(struct fuzz *f, struct record *r)
{
	const struct tracepoint_desc *desc = tracepoint_desc((enum event_kind)r->ev.kind);
	static const char *const texts[] = { "", "a", "eth0", "/tmp/file", "migration/0", "\xff\x1b[2J" };

	for (unsigned i = 0; i < desc->n_words; i++)
		r->ev.words[i] = (uint64_t)number(f);
	for (unsigned i = 0; i < desc->n_fields; i++) {
		const struct field_desc *field = &desc->fields[i];
		const char *text = texts[pick(f, G_N_ELEMENTS(texts))];
		char *at = (char *)r->ev.words + field->offset;

		if (field->type == FIELD_STR) {
			struct event_str s = str(r, text);

			memcpy(at, &s, sizeof(s));
		} else if (field->type == FIELD_COMM) {
			memset(at, pick(f, 20) ? 0 : 'x', 16);
			memcpy(at, text, strlen(text)); /* NOLINT(bugprone-not-null-terminated-result): zeros follow */
		}
	}
}

/* Headers of a few connections between a few hosts, and sometimes of none. */
static void fill_packet(struct fuzz *f, struct ev_net *p)
{
	static const uint64_t versions[] = { 4, 4, 4, 6, 0 }, flags[] = { 0x10, 0x10, 0x18, 0x02, 0x1ff };

	if (!pick(f, 10))
		return;
	p->ip_version = versions[pick(f, G_N_ELEMENTS(versions))];
	p->protocol = pick(f, 3) ? 6 : 17;
	p->saddr[0] = (uint64_t)pick(f, 3);
	p->daddr[0] = (uint64_t)pick(f, 3);
	p->saddr[1] = p->daddr[1] = 0;
	p->sport = (uint64_t)pick(f, 4);
	p->dport = (uint64_t)pick(f, 4);
	p->seq = pick(f, 20) ? (uint64_t)pick(f, 30) : UINT32_MAX - (uint64_t)pick(f, 3);
	p->ack_seq = (uint64_t)pick(f, 2);
	p->flags = flags[pick(f, G_N_ELEMENTS(flags))];
	p->tot_len = pick(f, 10) ? (uint64_t)pick(f, 1500) : (uint64_t)number(f);
	p->header_words = 5 << 8 | 5;
	p->frag_off = pick(f, 20) ? 1 << 14 : (uint64_t)number(f);
}

/* Announces the class to both models. */
static uint16_t some_class(struct fuzz *f, unsigned host, const char *name)
{
	const uint16_t id = events_class(&f->hosts[host], name);

	ck_assert_uint_eq(events_class(&f->plain[host], name), id);
	return id;
}

static void some_record(struct fuzz *f, unsigned host)
{
	static const uint16_t cpus[] = { 0, 0, 0, 1, 1, 2, EVENT_CPU_MAX - 1, EVENT_NO_CPU };
	static const uint64_t steps[] = { 0, 0, 1, 1000, 1000, 1000, 100000, 700000000 };
	struct events *e = &f->hosts[host];
	struct ev_lost lost = { .events = 1, .begin_ns = (uint64_t)number(f) };
	struct record r;
	char name[64];

	f->now_ns[host] += steps[pick(f, G_N_ELEMENTS(steps))];
	record_init(&r, f->now_ns[host], cpus[pick(f, G_N_ELEMENTS(cpus))], (int32_t)number(f), some_kind(f));
	if (!pick(f, 300)) {
		record_init(&r, f->now_ns[host], r.ev.cpu, EVENT_NO_TID, EVENT_LOST);
		events_apply(e, &r, &lost, sizeof(lost));
		events_apply(&f->plain[host], &r, &lost, sizeof(lost));
		return;
	}
	if (r.ev.tid < EVENT_NO_TID)
		r.ev.tid = EVENT_NO_TID;
	fill(f, &r);
	if (r.ev.kind == EVENT_NET_QUEUE || r.ev.kind == EVENT_NET_RECEIVE)
		fill_packet(f, (struct ev_net *)(void *)r.ev.words);
	events_name((enum event_kind)r.ev.kind, name);
	if (strchr(name, '*'))
		strcpy(strchr(name, '*'), pick(f, 2) ? "read" : "futex");
	r.ev.class_id = some_class(f, host, name);
	r.ev.present = pick(f, 4) ? ~0u : g_rand_int(f->rand);
	ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
	model_apply(e->m, 0, &r.ev);
	model_apply(f->plain[host].m, 0, &r.ev);
}

static void check_figures(const struct fuzz *f, unsigned host)
{
	const struct host_state *a = model_state(f->hosts[host].m), *b = model_state(f->plain[host].m);

	for (int table = 0; table < TABLES; table++) {
		const struct state_table *t = &a->tables[table], *u = &b->tables[table];

		ck_assert_uint_eq(t->n_rows, u->n_rows);
		for (uint32_t row = 0; row < t->n_rows; row++) {
			ck_assert_uint_eq(t->flags[row], u->flags[row]);
			for (unsigned i = 0; state_alive(t, row) && i < t->desc->n_cells; i++)
				ck_assert_msg(state_cells(t, row)[i] == state_cells(u, row)[i], "%s: row %u: %s",
					      t->desc->name, row, t->desc->cells[i].name);
		}
	}
}

/* What the pump does with a host's log. */
static void hand_on(struct fuzz *f, unsigned host)
{
	const struct wait_log *log = &f->logs[host];

	for (uint32_t i = 0; i < log->n_events; i++) {
		const struct wait_event *e = &log->events[i];

		ck_assert(i == 0 || e->ts_ns >= e[-1].ts_ns);
		if (e->packet != WAIT_NO_PACKET)
			clock_sync_packet(f->clocks, host, e->ts_ns, e->kind == WAIT_EVENT_SEND,
					  &log->packets[e->packet]);
	}
	clock_sync_time(f->clocks, host, f->now_ns[host]);
	clock_sync_update(f->clocks);
	waits_take(f->waits, host, &f->logs[host]);
	/* a host that was skipped comes back late */
	waits_watermark(f->waits, host, pick(f, 50) ? f->now_ns[host] : UINT64_MAX);
	waits_run(f->waits);
}

static uint64_t check_tiles(struct fuzz *f, const struct wait_path *p, uint64_t begin_ns, uint64_t end_ns)
{
	if (!p->n)
		return 0;
	ck_assert_uint_ge(p->begin_ns, begin_ns);
	ck_assert_uint_le(p->end_ns, end_ns);
	ck_assert_uint_eq(p->segments[0].begin_ns, p->begin_ns);
	ck_assert_uint_eq(p->segments[p->n - 1].end_ns, p->end_ns);
	for (uint32_t i = 0; i < p->n; i++) {
		ck_assert_uint_lt(p->segments[i].begin_ns, p->segments[i].end_ns);
		ck_assert_uint_lt(p->segments[i].state, WAIT_STATES);
		f->wires += p->segments[i].wire;
		if (i)
			ck_assert_uint_eq(p->segments[i].begin_ns, p->segments[i - 1].end_ns);
	}
	return p->segments[p->n - 1].end_ns - p->segments[0].begin_ns;
}

static bool is_followed(const struct fuzz *f, wait_row row)
{
	for (int i = 0; i < FOLLOWED; i++)
		if (f->followed[i] == row)
			return true;
	return false;
}

static void check_row(struct fuzz *f, wait_row row, uint64_t begin_ns, uint64_t end_ns, bool totals)
{
	struct wait_totals sums = { 0 };
	uint64_t length_ns, sum_ns = 0;

	/* first, because their memory may cost the oldest vertices */
	if (totals)
		waits_totals(f->waits, row, begin_ns, end_ns, &sums);
	waits_path(f->waits, row, begin_ns, end_ns, &f->path);
	length_ns = check_tiles(f, &f->path, begin_ns, end_ns);
	f->segments += f->path.n;
	if (totals) {
		for (int i = 0; i < WAIT_STATES; i++)
			sum_ns += sums.ns[i];
		ck_assert_uint_eq(sum_ns + sums.wire_ns, length_ns);
		ck_assert_uint_le(sums.own_ns, length_ns);
	}
	/* data that came after followed rows had been expanded makes a difference there */
	begin_ns = MAX(begin_ns, waits_info(f->waits).graph.behind_ns + 1);
	if (!is_followed(f, row) || begin_ns >= end_ns)
		return;
	waits_path(f->waits, row, begin_ns, end_ns, &f->path);
	wait_path_resolve(waits_graph(f->waits), row, begin_ns, end_ns, &f->walked);
	ck_assert_uint_eq(f->walked.n, f->path.n);
	for (uint32_t i = 0; i < f->path.n; i++) {
		ck_assert_uint_eq(f->walked.segments[i].begin_ns, f->path.segments[i].begin_ns);
		ck_assert_uint_eq(f->walked.segments[i].row, f->path.segments[i].row);
		ck_assert_uint_eq(f->walked.segments[i].state, f->path.segments[i].state);
	}
	f->compared += f->path.n;
}

static void check_accounts(const struct fuzz *f, uint64_t begin_ns, uint64_t end_ns)
{
	unsigned n;
	struct account *accounts = waits_accounting(f->waits, begin_ns, end_ns, &n, NULL);

	for (unsigned i = 0; i < n; i++)
		for (int r = 0; r < ACCOUNT_RESOURCES; r++) {
			ck_assert_uint_lt(accounts[i].host, HOSTS);
			ck_assert_uint_le(accounts[i].self_ns[r], (end_ns - begin_ns) * EVENTS);
			ck_assert(!accounts[i].for_client || accounts[i].self_ns[r] == 0);
		}
	g_free(accounts);
}

static void check_answers(struct fuzz *f, bool totals)
{
	uint64_t now_ns = waits_now(f->waits) - 1; /* sums end where time is final */
	uint64_t begin_ns = BASE_NS + (uint64_t)pick(f, 1000) * 1000000000, end_ns = begin_ns + (uint64_t)number(f);
	wait_row some = WAIT_NO_ROW;

	ck_assert_uint_le(waits_info(f->waits).graph.bytes, MEMORY_BYTES);
	for (wait_row row = WAIT_NO_ROW; (row = waits_next(f->waits, row)) != WAIT_NO_ROW;) {
		struct wait_who who = waits_who(f->waits, row);

		ck_assert_uint_lt(who.host, HOSTS);
		check_row(f, row, 0, now_ns, totals);
		check_row(f, row, MIN(begin_ns, end_ns), MIN(MAX(begin_ns, end_ns), now_ns), totals);
		if (!pick(f, 5))
			some = row;
	}
	if (some != WAIT_NO_ROW) {
		wait_row *slot = &f->followed[pick(f, FOLLOWED)];

		if (*slot != WAIT_NO_ROW)
			waits_unfollow(f->waits, *slot);
		*slot = is_followed(f, some) ? WAIT_NO_ROW : some;
		waits_follow(f->waits, some);
	}
	check_accounts(f, MIN(begin_ns, now_ns), now_ns);
}

static void run(uint32_t seed, struct seen *seen)
{
	const bool totals = seed % 2;
	const struct waits_options options = {
		.memory_bytes = MEMORY_BYTES,
		.retention_ns = seed % 3 ? 0 : 5000000000,
	};
	const struct clock_options clock_options = { .window_ns = 10000000000 };
	struct fuzz f = { .rand = g_rand_new_with_seed(seed) };

	f.clocks = clock_sync_create(&clock_options);
	f.waits = waits_create(&options);
	wait_path_init(&f.path);
	wait_path_init(&f.walked);
	for (int i = 0; i < FOLLOWED; i++)
		f.followed[i] = WAIT_NO_ROW;
	for (unsigned h = 0; h < HOSTS; h++) {
		const char *name = (const char *[]){ "client", "web", "db" }[h];

		events_init(&f.hosts[h]);
		events_init(&f.plain[h]);
		wait_log_init(&f.logs[h]);
		model_set_wait_log(f.hosts[h].m, &f.logs[h]);
		f.now_ns[h] = BASE_NS + (uint64_t)pick(&f, 5000000);
		clock_sync_add_host(f.clocks, name, name);
		/* with clocks that move a lot, the graph would be cleared all the time */
		waits_add_host(f.waits, seed % 4 ? NULL : clock_sync_map(f.clocks, h));
	}
	for (int i = 0; i < EVENTS; i++) {
		some_record(&f, (unsigned)(i / TURN % HOSTS));
		if (i % TURN == TURN - 1)
			hand_on(&f, (unsigned)(i / TURN % HOSTS));
		if (i % 500 == 499)
			check_answers(&f, totals);
	}
	for (unsigned h = 0; h < HOSTS; h++)
		waits_watermark(f.waits, h, UINT64_MAX);
	waits_run(f.waits);
	check_answers(&f, totals);
	seen->links += waits_info(f.waits).links;
	seen->epochs += waits_info(f.waits).epoch;
	seen->late += waits_info(f.waits).late;
	seen->segments += f.segments;
	seen->compared += f.compared;
	seen->wires += f.wires;
	for (unsigned h = 0; h < HOSTS; h++) {
		check_figures(&f, h);
		events_release(&f.hosts[h]);
		events_release(&f.plain[h]);
		wait_log_release(&f.logs[h]);
	}
	wait_path_release(&f.path);
	wait_path_release(&f.walked);
	waits_destroy(f.waits);
	clock_sync_destroy(f.clocks);
	g_rand_free(f.rand);
}

static void run_seeds(uint32_t n)
{
	const char *wanted = g_getenv("FUZZ_SEED");
	uint32_t first = wanted ? (uint32_t)g_ascii_strtoull(wanted, NULL, 10) : 1;
	struct seen seen = { 0 };

	for (uint32_t seed = first; seed < first + n; seed++)
		run(seed, &seen);
	ck_assert_uint_gt(seen.segments, n * 2000);
	ck_assert_uint_gt(seen.links, n * 5);
	ck_assert_uint_gt(seen.wires, n / 10);
	ck_assert_uint_gt(seen.compared, n * 5);
	ck_assert_uint_gt(seen.epochs, 0);
	ck_assert_uint_gt(seen.late, 0);
}

START_TEST(test_anything)
{
	run_seeds(30);
}
END_TEST

UNIT_MAIN("waits_fuzz", test_anything)
