/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of 10 hosts with 1000 threads each, 15 % of them active in every
 * second of an hour: what it takes to keep, to append, to find again. The active threads
 * are drawn anew every second, which is the hardest case for deltas.
 *
 * Usage: bench_history [HOSTS [THREADS [SECONDS]]]
 * Prints rows: name value unit.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "history/history.h"

#define SECOND UINT64_C(1000000000)
#define ORIGIN_NS UINT64_C(1700000000000000000)

enum { CPUS = 8, CALLS_PER_THREAD = 4, FILES_PER_THREAD = 2, IRQS = 40, EVENTS = 200, SEEKS = 200 };

struct host {
	struct host_state state;
	unsigned threads;
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

static void host_init(struct host *host, unsigned threads)
{
	struct host_state *s = &host->state;

	state_init(s);
	host->threads = threads;
	host->host_row = state_add(s, TABLE_HOST);
	for (unsigned i = 0; i < CPUS; i++) {
		struct cpu_row *c = STATE_ROW(s, CPU, cpu, state_add(s, TABLE_CPU));

		c->cpu = i;
		c->state = CPU_IDLE;
		c->since_ns = ORIGIN_NS;
	}
	for (unsigned i = 0; i < threads; i++) {
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

	for (uint32_t row = 0; row < host->threads; row++)
		if (draw(100) < 15)
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

static double percentile_ms(uint64_t *ns, unsigned n, unsigned percent)
{
	qsort(ns, n, sizeof(*ns), compare_u64);
	return ns[(n - 1) * percent / 100] / 1e6;
}

/* One screen: the interval of one second of every host. */
static void bench_seek(const struct history *h, unsigned hosts, unsigned seconds, uint32_t tables, const char *what)
{
	struct history_load load;
	uint64_t took[SEEKS];

	history_load_init(&load);
	for (unsigned i = 0; i < SEEKS; i++) {
		uint64_t at = ORIGIN_NS + draw(seconds - 1) * SECOND, start = clock_ns();

		for (unsigned k = 0; k < hosts; k++)
			history_load(h, k, at, at + SECOND, tables, &load);
		took[i] = clock_ns() - start;
	}
	history_load_release(&load);
	printf("history.seek.%s.p50 %.2f ms\n", what, percentile_ms(took, SEEKS, 50));
	printf("history.seek.%s.p99 %.2f ms\n", what, percentile_ms(took, SEEKS, 99));
}

int main(int argc, char **argv)
{
	unsigned hosts = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	unsigned seconds = argc > 3 ? strtoul(argv[3], NULL, 10) : 3600;
	struct history *h = history_create((size_t)8 << 30);
	struct host *host = g_new0(struct host, hosts);
	uint64_t append_ns = 0, empty;

	for (unsigned i = 0; i < hosts; i++) {
		host_init(&host[i], threads);
		history_add_track(h);
	}
	for (unsigned sec = 0; sec < seconds; sec++) {
		uint64_t begin_ns = ORIGIN_NS + sec * SECOND, start;

		for (unsigned i = 0; i < hosts; i++) {
			struct host_state *s = &host[i].state;

			host_play(&host[i], begin_ns);
			start = clock_ns();
			history_append(h, i, s, begin_ns, begin_ns + SECOND);
			append_ns += clock_ns() - start;
			state_extremes_clear_dirty(s);
			state_reap(s, NULL, NULL);
			state_frame_begin(s);
		}
	}
	empty = 0;
	for (unsigned i = 0; i < hosts; i++)
		empty += state_bytes(&host[i].state);
	printf("history.total %.1f MB\n", history_bytes(h) / 1e6);
	printf("history.tails %.1f MB\n", empty / 1e6);
	printf("history.per_active_thread_second %.1f B\n",
	       (double)history_bytes(h) / (hosts * (threads * 0.15) * seconds));
	printf("history.append %.1f us\n", append_ns / 1e3 / hosts / seconds);
	bench_seek(h, hosts, seconds, STATE_ALL_TABLES, "all");
	bench_seek(h, hosts, seconds, 1u << TABLE_HOST | 1u << TABLE_CPU | 1u << TABLE_THREAD, "threads");
	for (unsigned i = 0; i < hosts; i++)
		state_release(&host[i].state);
	g_free(host);
	history_destroy(h);
	return 0;
}
