/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of 10 hosts with 1000 threads each, 15 % of them active in every
 * second: its size, and the cost of appending and of seeking
 *
 *   history_*          an hour with unlimited room
 *   history_bounded_*  the same hour with the program's default limit
 *   history_day_*      a day of DAY_HOSTS hosts (from the environment, by default 1), with a tenth of 512 MiB for each
 *
 * The active threads are drawn again every second, which is the hardest case for deltas and for thinning; each
 * also changes the rows of two system calls, and every other one the row of a file.
 *
 * Prints rows: name value unit, with times as CPU time. A seek is one screen: one second of 10 hosts.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "history/history.h"

#define SECOND UINT64_C(1000000000)
#define ORIGIN_NS UINT64_C(1700000000000000000)

enum { HOSTS = 10, THREADS = 1000, ACTIVE_PERCENT = 15, HOUR = 3600, DAY = 24 * HOUR };
enum { CPUS = 8, CALLS_PER_THREAD = 4, FILES_PER_THREAD = 2, IRQS = 40, EVENTS = 200, SEEKS = 200 };

enum { LIMIT_BYTES = 256 << 20, DAY_LIMIT_BYTES = 512 << 20 };

struct host {
	struct host_state state;
	uint32_t host_row;
};

static uint64_t rng = 88172645463325252;

static uint64_t draw(uint64_t below)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % below;
}

/* Most values are small, few are large, as latencies and sizes are. */
static uint64_t draw_size(unsigned max_bits)
{
	return draw(UINT64_C(1) << (4 + draw(max_bits - 3)));
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void host_init(struct host *host)
{
	struct host_state *s = &host->state;

	state_init(s);
	host->host_row = state_add(s, TABLE_HOST);
	for (unsigned i = 0; i < CPUS; i++) {
		struct cpu_row *c = STATE_ROW(s, CPU, cpu, state_add(s, TABLE_CPU));

		c->cpu = i;
		c->state = CPU_IDLE;
		c->since_ns = ORIGIN_NS;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		struct thread_row *t = STATE_ROW(s, THREAD, thread, state_add(s, TABLE_THREAD));

		t->tid = t->vtid = 300 + i * 3;
		t->pid = t->vpid = 300 + i / 4 * 12;
		t->ppid = 1;
		t->comm = 20 + draw(300);
		t->prio = 120;
		t->pid_ns = 4026531836;
		t->files_id = i / 4;
		t->state = THREAD_BLOCKED;
		t->since_ns = ORIGIN_NS;
		for (unsigned k = 0; k < CALLS_PER_THREAD; k++) {
			struct syscall_row *c = STATE_ROW(s, SYSCALL, syscall, state_add(s, TABLE_SYSCALL));

			c->thread_uid = t->uid;
			c->name = 400 + draw(60);
		}
		for (unsigned k = 0; k < FILES_PER_THREAD; k++) {
			struct file_row *f = STATE_ROW(s, FILE, file, state_add(s, TABLE_FILE));

			f->files_id = t->files_id;
			f->pid = t->pid;
			f->fd = 3 + k;
			f->path = 500 + draw(5000);
			f->kind = draw(5);
		}
	}
	for (unsigned i = 0; i < IRQS; i++)
		STATE_ROW(s, IRQ, irq, state_add(s, TABLE_IRQ))->nr = i;
	for (unsigned i = 0; i < EVENTS; i++)
		STATE_ROW(s, EVENT, event, state_add(s, TABLE_EVENT))->name = 6000 + i;
	state_add(s, TABLE_DISK);
	state_add(s, TABLE_NETIF);
}

static void thread_active(struct host *host, uint32_t row, uint64_t begin_ns)
{
	struct host_state *s = &host->state;
	struct thread_row *t = STATE_ROW(s, THREAD, thread, row);
	uint64_t now = begin_ns + draw(SECOND), passed = now - t->since_ns;
	uint64_t cpu = MIN(draw_size(25), passed), ready = MIN(draw_size(20), passed - cpu);

	state_touch(s, TABLE_THREAD, row);
	t->cpu_ns += cpu;
	t->ready_ns += ready;
	t->blocked_ns += passed - cpu - ready;
	t->since_ns = now;
	t->syscall = 400 + draw(60);
	t->syscall_ns = now - draw_size(14);
	t->syscall_fd = 3 + draw(2);
	for (uint64_t n = 1 + draw_size(7); n; n--) {
		t->switches++;
		dist_add(&t->latency, draw_size(20), now - draw(SECOND / 1000));
	}
	if (!draw(3)) {
		t->cpu = draw(CPUS);
		t->migrations++;
	}
	for (unsigned k = 0; k < CALLS_PER_THREAD; k++) {
		uint32_t call = row * CALLS_PER_THREAD + k;
		struct syscall_row *c = STATE_ROW(s, SYSCALL, syscall, call);

		if (draw(2))
			continue;
		state_touch(s, TABLE_SYSCALL, call);
		for (uint64_t n = 1 + draw_size(6); n; n--) {
			c->count++;
			t->syscalls++;
			dist_add(&c->time, draw_size(24), now - draw(SECOND / 1000));
		}
	}
	if (draw(2)) {
		uint32_t file = row * FILES_PER_THREAD + draw(FILES_PER_THREAD);
		uint64_t bytes = draw_size(18);

		state_touch(s, TABLE_FILE, file);
		STATE_ROW(s, FILE, file, file)->read_bytes += bytes;
		t->read_disk += bytes;
	}
}

static void host_play(struct host *host, uint64_t begin_ns)
{
	struct host_state *s = &host->state;

	for (uint32_t row = 0; row < THREADS; row++)
		if (draw(100) < ACTIVE_PERCENT)
			thread_active(host, row, begin_ns);
	for (uint32_t row = 0; row < CPUS; row++) {
		struct cpu_row *c = STATE_ROW(s, CPU, cpu, row);
		uint64_t now = begin_ns + draw(SECOND), busy = draw(now - c->since_ns + 1);

		state_touch(s, TABLE_CPU, row);
		c->busy_ns += busy;
		c->idle_ns += now - c->since_ns - busy;
		c->online_ns += now - c->since_ns;
		c->since_ns = now;
		c->switches += draw(5000);
		c->irq_ns += draw_size(22);
	}
	for (uint32_t row = 0; row < IRQS; row += 2) {
		state_touch(s, TABLE_IRQ, row);
		for (uint64_t n = draw_size(8); n; n--)
			dist_add(&STATE_ROW(s, IRQ, irq, row)->time, draw_size(16), begin_ns + draw(SECOND));
	}
	for (uint32_t row = 0; row < EVENTS; row += 4) {
		state_touch(s, TABLE_EVENT, row);
		STATE_ROW(s, EVENT, event, row)->count += draw_size(12);
	}
	state_touch(s, TABLE_HOST, host->host_row);
	STATE_ROW(s, HOST, host, host->host_row)->events += draw(100000);
	STATE_ROW(s, HOST, host, host->host_row)->last_ns = begin_ns + SECOND - 1;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_times(const char *name, uint64_t *took, unsigned n)
{
	qsort(took, n, sizeof(*took), compare_u64);
	printf("%s_p50 %.2f ms\n", name, took[n / 2] / 1e6);
	printf("%s_p99 %.2f ms\n", name, took[n * 99 / 100] / 1e6);
}

/* Seeks to some second of the past, on all hosts. */
static void print_seeks(const char *name, const struct history *h, unsigned n_hosts, uint32_t tables)
{
	uint64_t took[SEEKS], begin_ns, end_ns;
	struct history_load load;

	history_load_init(&load);
	history_range(h, 0, &begin_ns, &end_ns);
	for (unsigned i = 0; i < SEEKS; i++) {
		uint64_t at = begin_ns + draw((end_ns - begin_ns) / SECOND) * SECOND, start = clock_ns();

		for (unsigned k = 0; k < HOSTS; k++)
			history_load(h, k % n_hosts, at, at + SECOND, tables, &load);
		took[i] = clock_ns() - start;
	}
	history_load_release(&load);
	print_times(name, took, SEEKS);
}

/* How far back it reaches, and with frames of which lengths. */
static void print_reach(const char *name, const struct history *h, unsigned seconds)
{
	static const unsigned lengths[] = { 1, 10, 60, 600, 3600 };
	struct frame_summary *f = g_new(struct frame_summary, seconds);
	unsigned n = history_summaries(h, 0, 0, UINT64_MAX, f, seconds), i = n;

	printf("%s_reach %.2f h\n", name, (f[n - 1].end_ns - f[0].begin_ns) / 3600e9);
	for (unsigned k = 0; i && k < G_N_ELEMENTS(lengths); k++) {
		uint64_t until_ns = f[i - 1].end_ns, from_ns;

		/* frames between two lengths may be shorter */
		while (i && f[i - 1].end_ns - f[i - 1].begin_ns <= lengths[k] * SECOND)
			i--;
		from_ns = i ? f[i - 1].end_ns : f[0].begin_ns;
		printf("%s_of_%us %.1f min\n", name, lengths[k], (until_ns - from_ns) / 60e9);
	}
	g_free(f);
}

struct appends {
	uint64_t n, sum_ns, worst_ns, worst_bytes;
};

static void append(struct history *h, unsigned track, const struct host_state *s, uint64_t begin_ns, struct appends *a)
{
	uint64_t start = clock_ns(), took;

	history_append(h, track, s, begin_ns, begin_ns + SECOND);
	took = clock_ns() - start;
	a->n++;
	a->sum_ns += took;
	a->worst_ns = MAX(a->worst_ns, took);
	a->worst_bytes = MAX(a->worst_bytes, history_bytes(h));
}

static void print_appends(const char *name, const struct appends *a)
{
	printf("%s_append %.1f us\n", name, a->sum_ns / 1e3 / a->n);
	printf("%s_append_worst %.1f ms\n", name, a->worst_ns / 1e6);
	printf("%s_most %.1f MB\n", name, a->worst_bytes / 1e6);
}

/* Plays n_hosts hosts into the histories, which may be the same. */
static void play(struct history *a, struct appends *a_appends, struct history *b, struct appends *b_appends,
		 unsigned n_hosts, unsigned seconds)
{
	struct host *hosts = g_new0(struct host, n_hosts);

	for (unsigned i = 0; i < n_hosts; i++) {
		host_init(&hosts[i]);
		history_add_track(a);
		if (b)
			history_add_track(b);
	}
	for (unsigned sec = 0; sec < seconds; sec++) {
		uint64_t begin_ns = ORIGIN_NS + sec * SECOND;

		for (unsigned i = 0; i < n_hosts; i++) {
			struct host_state *s = &hosts[i].state;

			host_play(&hosts[i], begin_ns);
			append(a, i, s, begin_ns, a_appends);
			if (b)
				append(b, i, s, begin_ns, b_appends);
			state_extremes_clear_dirty(s);
			state_reap(s, NULL, NULL);
			state_frame_begin(s);
		}
	}
	for (unsigned i = 0; i < n_hosts; i++)
		state_release(&hosts[i].state);
	g_free(hosts);
}

static void bench_hour(void)
{
	struct history *whole = history_create(SIZE_MAX), *bounded = history_create(LIMIT_BYTES);
	struct appends of_whole = { 0 }, of_bounded = { 0 };

	play(whole, &of_whole, bounded, &of_bounded, HOSTS, HOUR);
	printf("history_hour %.1f MB\n", history_bytes(whole) / 1e6);
	printf("history_active_thread_second %.1f B\n",
	       (double)history_bytes(whole) / (HOSTS * (THREADS * ACTIVE_PERCENT / 100) * HOUR));
	print_seeks("history_seek", whole, HOSTS, STATE_ALL_TABLES);
	print_seeks("history_seek_threads", whole, HOSTS, 1u << TABLE_HOST | 1u << TABLE_CPU | 1u << TABLE_THREAD);
	print_appends("history", &of_whole);
	print_reach("history_bounded", bounded, HOUR);
	print_seeks("history_bounded_seek", bounded, HOSTS, STATE_ALL_TABLES);
	print_appends("history_bounded", &of_bounded);
	history_destroy(bounded);
	history_destroy(whole);
}

static void bench_day(void)
{
	const char *said = g_getenv("DAY_HOSTS");
	unsigned n_hosts = CLAMP(said ? atoi(said) : 1, 1, HOSTS);
	struct history *h = history_create(DAY_LIMIT_BYTES / HOSTS * n_hosts);
	struct appends appends = { 0 };

	play(h, &appends, NULL, NULL, n_hosts, DAY);
	print_reach("history_day", h, DAY);
	print_seeks("history_day_seek", h, n_hosts, STATE_ALL_TABLES);
	print_appends("history_day", &appends);
	history_destroy(h);
}

int main(void)
{
	bench_hour();
	bench_day();
	return 0;
}
