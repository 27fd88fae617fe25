/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the wake-up graph of recordings and prints it, for the tests beside it:
 *
 *   dump_waits [--graph] [--paths] [--clock HOST=TIME,REFERENCE,EXCESS]... SOURCE...
 *
 * JSON, one object per line: first the totals, the losses [host, CPU, time, 1: goes on] and what CPUs run when their
 * record begins [host, CPU, TID, name, since], then with --graph
 * each row with its vertices and links, with --paths the critical path of each thread's row over its whole life, up
 * to the end of the record where it is known what the thread does then.
 * --clock: at the host's TIME it is REFERENCE, and goes on with a slope of 1 + EXCESS / 2^50; other hosts keep their
 * time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "clock/map_build.h"
#include "ingest/ingest.h"
#include "source/source.h"
#include "worker/worker.h"
#include "waits/internal.h"
#include "waits/waits.h"

enum { STEP_NS = 100 * 1000 * 1000 };

static const char *const link_names[] = { NULL, "wakeup", "fork", "network", "workqueue", "transit" };
static const char *const fill_names[] = { NULL, "first", "stitch", "across" };

struct host {
	struct wait_log log;
	struct clock_map *map;
	GArray *losses; /* uint64_t: CPU, time, 1: until the CPU's next one */
	GArray *starts; /* struct wait_event */
};

static void fail(const char *text)
{
	fprintf(stderr, "dump_waits: %s\n", text);
	exit(1);
}

static void print_text(const char *text)
{
	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_cause(const struct wait_cause *cause)
{
	putchar('[');
	print_text(cause->name ? strpool_text(cause->name) : NULL);
	putchar(',');
	print_text(cause->call ? strpool_text(cause->call) : NULL);
	putchar(',');
	print_text(cause->object ? strpool_text(cause->object) : NULL);
	printf(",%d]", cause->fd);
}

static void print_row(const struct waits *w, wait_row row)
{
	const struct wait_graph *g = waits_graph(w);
	const struct graph_row *r = &g->rows[row];
	const struct wait_who who = waits_who(w, row);

	printf("{\"row\":%u,\"host\":%u,\"tid\":%d,\"pid\":%d,\"cpu\":%d,\"comm\":", row, who.host, who.tid, who.pid,
	       who.cpu);
	print_text(strpool_text(who.comm));
	fputs(",\"vertices\":[", stdout);
	for (uint64_t i = r->head; i < r->end; i++) {
		const struct vertex *v = &r->ring[i & r->mask];

		const struct wait_cause *cause = causes_get(&g->causes, v->cause);

		/* time, state of the edge to it and its cause's name, link: kind, row, time */
		printf("%s[%" PRIu64 ",", i > r->head ? "," : "", v->t_ns);
		print_text(v->gap ? NULL : wait_state_name((enum wait_state)v->state));
		putchar(',');
		print_text(cause->name ? strpool_text(cause->name) : NULL);
		putchar(',');
		print_text(link_names[v->link]);
		if (v->link)
			printf(",%u,%" PRIu64, v->from, v->from_ns);
		putchar(']');
	}
	puts("]}");
}

static void print_path(const struct waits *w, wait_row row)
{
	const struct wait_who who = waits_who(w, row);
	struct wait_path path;

	wait_path_init(&path);
	wait_path_resolve(waits_graph(w), row, waits_first_ns(w, row), waits_now(w), &path);
	printf("{\"path\":%u,\"host\":%u,\"tid\":%d,\"comm\":", row, who.host, who.tid);
	print_text(strpool_text(who.comm));
	printf(",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",\"segments\":[", path.begin_ns, path.end_ns);
	for (uint32_t i = 0; i < path.n; i++) {
		const struct wait_segment *s = &path.segments[i];
		const struct wait_who on = waits_who(w, s->row);

		printf("%s[%" PRIu64 ",%" PRIu64 ",%u,%d,%d,", i ? "," : "", s->begin_ns, s->end_ns, on.host, on.tid,
		       on.cpu);
		print_text(s->wire ? "wire" : wait_state_name(s->state));
		putchar(',');
		print_text(fill_names[s->fill]);
		putchar(',');
		print_text(link_names[s->link]);
		putchar(',');
		print_cause(&s->cause);
		putchar(']');
	}
	puts("]}");
	wait_path_release(&path);
}

/* The map of this host from the "HOST=TIME,REFERENCE,EXCESS" that has its name; NULL: none has. */
static struct clock_map *map_of(const char *name, char **clocks, unsigned n)
{
	const size_t len = strlen(name);

	for (unsigned i = 0; i < n; i++) {
		uint64_t host_ns, ref_ns;
		int64_t excess;
		struct clock_map *map;

		if (strncmp(clocks[i], name, len) != 0 || clocks[i][len] != '=')
			continue;
		if (sscanf(clocks[i] + len + 1, "%" SCNu64 ",%" SCNu64 ",%" SCNd64, &host_ns, &ref_ns, &excess) != 3)
			fail("--clock: not HOST=TIME,REFERENCE,EXCESS");
		map = clock_map_create();
		clock_map_add(map, host_ns, ref_ns, ldexp((double)excess, -50));
		return map;
	}
	return NULL;
}

static void note_events(struct host *h)
{
	for (uint32_t i = 0; i < h->log.n_events; i++) {
		const struct wait_event *e = &h->log.events[i];
		const uint64_t loss[] = { e->cpu, e->ts_ns, e->goes_on > 0 };

		if (e->kind == WAIT_EVENT_INTERRUPT)
			g_array_append_vals(h->losses, loss, 3);
		if (e->kind == WAIT_EVENT_RUNS)
			g_array_append_val(h->starts, *e);
	}
}

static void print_starts(const struct host *hosts, unsigned n_hosts)
{
	const char *separator = "";

	for (unsigned h = 0; h < n_hosts; h++) {
		for (guint i = 0; i < hosts[h].starts->len; i++) {
			const struct wait_event *e = &g_array_index(hosts[h].starts, struct wait_event, i);

			printf("%s[%u,%u,%d,", separator, h, e->cpu, e->tid);
			print_text(e->comm ? strpool_text(e->comm) : "");
			printf(",%" PRIu64 "]", e->since_ns);
			separator = ",";
		}
	}
}

/* All hosts side by side, so that little waits in the queues. */
static void read_all(struct ingest *in, struct waits *w, struct host *hosts)
{
	const unsigned n = ingest_host_count(in);
	unsigned ended;

	for (uint64_t step = 1;; step++) {
		ended = 0;
		for (unsigned i = 0; i < n; i++) {
			const uint64_t until_ns = ingest_host(in, i)->begin_ns + step * STEP_NS;
			enum lt_status status = ingest_advance_wait(in, i, until_ns, NULL);

			if (status == LT_ERROR)
				fail(error_text());
			ended += status == LT_END;
			note_events(&hosts[i]);
			waits_take(w, i, &hosts[i].log);
			waits_watermark(w, i, status == LT_END ? UINT64_MAX : until_ns);
		}
		waits_run(w);
		if (ended == n)
			return;
	}
}

int main(int argc, char **argv)
{
	const struct ingest_options options = { .workers = 1 };
	const struct waits_options waits_options = { .memory_bytes = (size_t)4 << 30 };
	bool graph = false, paths = false;
	char *clocks[16];
	unsigned n_clocks = 0, n;
	struct waits_info info;
	struct ingest *in;
	struct host *hosts;
	struct waits *w;
	int i;

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return worker_main(argc - 2, argv + 2);
	for (i = 1; i < argc && *argv[i] == '-'; i++) {
		if (strcmp(argv[i], "--graph") == 0)
			graph = true;
		else if (strcmp(argv[i], "--paths") == 0)
			paths = true;
		else if (strcmp(argv[i], "--clock") == 0 && i + 1 < argc && n_clocks < G_N_ELEMENTS(clocks))
			clocks[n_clocks++] = argv[++i];
		else
			fail("wrong usage");
	}
	in = ingest_create(&options);
	for (; i < argc; i++)
		if (ingest_open(in, argv[i]) != LT_OK)
			fail(error_text());
	if (ingest_start(in, NULL) != LT_OK)
		fail(error_text());
	n = ingest_host_count(in);
	hosts = g_new0(struct host, n);
	w = waits_create(&waits_options);
	for (unsigned h = 0; h < n; h++) {
		wait_log_init(&hosts[h].log);
		hosts[h].losses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		hosts[h].starts = g_array_new(FALSE, FALSE, sizeof(struct wait_event));
		hosts[h].map = map_of(ingest_host(in, h)->name, clocks, n_clocks);
		model_set_wait_log(ingest_host(in, h)->model, &hosts[h].log);
		waits_add_host(w, hosts[h].map);
	}
	read_all(in, w, hosts);
	info = waits_info(w);
	printf("{\"hosts\":[");
	for (unsigned h = 0; h < n; h++)
		printf("%s\"%s\"", h ? "," : "", ingest_host(in, h)->name);
	printf("],\"vertices\":%" PRIu64 ",\"links\":%" PRIu64 ",\"late\":%" PRIu64 ",\"graph_late\":%" PRIu64
	       ",\"behind\":%" PRIu64 ",\"losses\":[",
	       info.graph.vertices, info.links, info.late, info.graph.late, info.graph.behind);
	for (unsigned h = 0; h < n; h++)
		for (guint l = 0; l < hosts[h].losses->len; l += 3)
			printf("%s[%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", h || l ? "," : "", h,
			       g_array_index(hosts[h].losses, uint64_t, l),
			       g_array_index(hosts[h].losses, uint64_t, l + 1),
			       g_array_index(hosts[h].losses, uint64_t, l + 2));
	printf("],\"starts\":[");
	print_starts(hosts, n);
	puts("]}");
	for (wait_row row = 0; graph && row < waits_graph(w)->n_rows; row++)
		print_row(w, row);
	for (wait_row row = WAIT_NO_ROW; paths && (row = waits_next(w, row)) != WAIT_NO_ROW;)
		print_path(w, row);
	for (unsigned h = 0; h < n; h++) {
		model_set_wait_log(ingest_host(in, h)->model, NULL);
		wait_log_release(&hosts[h].log);
		g_array_free(hosts[h].losses, TRUE);
		g_array_free(hosts[h].starts, TRUE);
	}
	waits_destroy(w);
	ingest_destroy(in);
	for (unsigned h = 0; h < n; h++)
		if (hosts[h].map)
			clock_map_destroy(hosts[h].map);
	g_free(hosts);
	return 0;
}
