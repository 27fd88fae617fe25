/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of 10 hosts with 1000 threads each, 15 % of them active in every
 * second of an hour: what it takes to keep, to append, to find again; once with all the
 * room it wants and once with the program's default. The active threads are drawn
 * anew every second, which is the hardest case for deltas and for thinning; each
 * also changes the rows of two system calls and every other one that of a file.
 *
 * Prints rows: name value unit. A seek is one screen: one second of every host.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "history/history.h"

#define SECOND UINT64_C(1000000000)
#define ORIGIN_NS UINT64_C(1700000000000000000)

enum { HOSTS = 10, THREADS = 1000, ACTIVE_PERCENT = 15, SECONDS = 3600 };
enum { CPUS = 8, CALLS_PER_THREAD = 4, FILES_PER_THREAD = 2, IRQS = 40, EVENTS = 200, SEEKS = 200 };

enum { LIMIT_BYTES = 256 << 20 };

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

/* Most values are small, few are large: what latencies and sizes look like. */
static uint64_t draw_size(unsigned max_bits)
{
	return draw(UINT64_C(1) << (4 + draw(max_bits - 3)));
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
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

/* The 99th percentile in ms. */
static double seek_p99(const struct history *h, uint32_t tables)
{
	uint64_t took[SEEKS], begin_ns, end_ns;
	struct history_load load;

	history_load_init(&load);
	history_range(h, 0, &begin_ns, &end_ns);
	for (unsigned i = 0; i < SEEKS; i++) {
		uint64_t at = begin_ns + draw((end_ns - begin_ns) / SECOND) * SECOND, start = clock_ns();

		for (unsigned k = 0; k < HOSTS; k++)
			history_load(h, k, at, at + SECOND, tables, &load);
		took[i] = clock_ns() - start;
	}
	history_load_release(&load);
	qsort(took, SEEKS, sizeof(*took), compare_u64);
	return took[SEEKS * 99 / 100] / 1e6;
}

/* How far back it goes, and how far with frames as they were appended. */
static void print_reach(const struct history *h)
{
	struct frame_summary *f = g_new(struct frame_summary, SECONDS);
	unsigned n = history_summaries(h, 0, 0, UINT64_MAX, f, SECONDS), i = n;

	while (i && f[i - 1].end_ns - f[i - 1].begin_ns == SECOND)
		i--;
	printf("history_bounded_reach %.1f min\n", (f[n - 1].end_ns - f[0].begin_ns) / 60e9);
	printf("history_bounded_fine %.1f min\n", (n - i) / 60.0);
	g_free(f);
}

int main(void)
{
	struct history *whole = history_create(SIZE_MAX), *bounded = history_create(LIMIT_BYTES);
	struct host *hosts = g_new0(struct host, HOSTS);
	uint64_t append_ns = 0, worst_ns = 0, start, took;

	for (unsigned i = 0; i < HOSTS; i++) {
		host_init(&hosts[i]);
		history_add_track(whole);
		history_add_track(bounded);
	}
	for (unsigned sec = 0; sec < SECONDS; sec++) {
		uint64_t begin_ns = ORIGIN_NS + sec * SECOND;

		for (unsigned i = 0; i < HOSTS; i++) {
			struct host_state *s = &hosts[i].state;

			host_play(&hosts[i], begin_ns);
			history_append(whole, i, s, begin_ns, begin_ns + SECOND);
			start = clock_ns();
			history_append(bounded, i, s, begin_ns, begin_ns + SECOND);
			took = clock_ns() - start;
			append_ns += took;
			worst_ns = MAX(worst_ns, took);
			state_extremes_clear_dirty(s);
			state_reap(s, NULL, NULL);
			state_frame_begin(s);
		}
	}
	printf("history_hour %.1f MB\n", history_bytes(whole) / 1e6);
	printf("history_active_thread_second %.1f B\n",
	       (double)history_bytes(whole) / (HOSTS * (THREADS * ACTIVE_PERCENT / 100) * SECONDS));
	printf("history_seek_p99 %.2f ms\n", seek_p99(whole, STATE_ALL_TABLES));
	printf("history_seek_threads_p99 %.2f ms\n",
	       seek_p99(whole, 1u << TABLE_HOST | 1u << TABLE_CPU | 1u << TABLE_THREAD));
	printf("history_bounded %.1f MB\n", history_bytes(bounded) / 1e6);
	print_reach(bounded);
	printf("history_bounded_seek_p99 %.2f ms\n", seek_p99(bounded, STATE_ALL_TABLES));
	printf("history_append %.1f us\n", append_ns / 1e3 / HOSTS / SECONDS);
	printf("history_append_worst %.1f ms\n", worst_ns / 1e6);
	for (unsigned i = 0; i < HOSTS; i++)
		state_release(&hosts[i].state);
	g_free(hosts);
	history_destroy(bounded);
	history_destroy(whole);
	return 0;
}
