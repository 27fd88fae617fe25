/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/waits.h"

#include <glib.h>
#include <string.h>

#include "waits/build.h"
#include "waits/follow.h"

enum {
	EVENTS_BETWEEN_ADVANCES = 4096, /* old vertices are dropped only at advances */
	QUEUE_ROOM_MIN = 256,
	PACKETS_SHARE = 8, /* fraction of the memory for packets */
	ROWS_SHARE = 4,    /* the same for the rows of threads */
};

#define DEFAULT_MEMORY_BYTES ((size_t)256 << 20)

/* A host's events that wait for other hosts: a ring of events, and a ring of their packets. */
struct waits_queue {
	struct wait_event *events;
	struct clock_packet *packets;
	uint32_t room, packets_room; /* powers of two */
	uint32_t first, n;
	uint32_t first_packet, n_packets;
};

struct waits_host {
	const struct clock_map *map;
	struct waits_queue queue;
	uint64_t watermark_ns; /* by its own clock; UINT64_MAX: not waited for */
	uint64_t end_ns;       /* of its record, by its own clock; UINT64_MAX: it continues */
	uint64_t head_ref_ns;  /* reference time of the first event queued */
	uint64_t last_ref_ns;  /* of the last event built: time does not go back when the map moves */
};

struct waits {
	struct wait_graph *graph;
	struct wait_follow *follow;
	struct build *build;
	GArray *hosts;       /* struct waits_host */
	GArray *heads;       /* unsigned: a heap of the hosts with queued events, the one with the earliest on top */
	unsigned map_epochs; /* sum of all maps' epochs */
	unsigned epoch;
	uint64_t now_ns;   /* waits_now() */
	uint64_t built_ns; /* the last event built; 0: none */
	uint64_t late;
	uint64_t queued, queued_max; /* events of all queues */
	unsigned since_advance;
};

static struct waits_host *host_at(const struct waits *w, unsigned i)
{
	return &g_array_index(w->hosts, struct waits_host, i);
}

struct waits *waits_create(const struct waits_options *options)
{
	struct waits *w = g_new0(struct waits, 1);
	size_t memory = options->memory_bytes ? options->memory_bytes : DEFAULT_MEMORY_BYTES;

	w->queued_max = options->queue_bytes ? options->queue_bytes / sizeof(struct wait_event) : UINT64_MAX;
	w->graph = graph_create(options->retention_ns, memory - memory / PACKETS_SHARE - options->queue_bytes);
	w->follow = follow_create(w->graph, 0);
	w->build = build_create(w->graph, memory / PACKETS_SHARE, memory / ROWS_SHARE);
	w->hosts = g_array_new(FALSE, TRUE, sizeof(struct waits_host));
	w->heads = g_array_new(FALSE, FALSE, sizeof(unsigned));
	return w;
}

void waits_destroy(struct waits *w)
{
	if (!w)
		return;
	for (guint i = 0; i < w->hosts->len; i++) {
		g_free(host_at(w, i)->queue.events);
		g_free(host_at(w, i)->queue.packets);
	}
	g_array_free(w->hosts, TRUE);
	g_array_free(w->heads, TRUE);
	build_destroy(w->build);
	follow_destroy(w->follow);
	graph_destroy(w->graph);
	g_free(w);
}

static unsigned map_epochs(const struct waits *w)
{
	unsigned sum = 0;

	for (guint i = 0; i < w->hosts->len; i++)
		if (host_at(w, i)->map)
			sum += clock_map_epoch(host_at(w, i)->map);
	return sum;
}

unsigned waits_add_host(struct waits *w, const struct clock_map *map)
{
	struct waits_host h = { .map = map, .end_ns = UINT64_MAX };

	g_array_append_val(w->hosts, h);
	build_add_host(w->build);
	/* the map's earlier epochs do not concern this graph */
	if (map)
		w->map_epochs += clock_map_epoch(map);
	return w->hosts->len - 1;
}

void waits_begin_midway(struct waits *w, unsigned host, uint64_t t_ns)
{
	build_begin_midway(w->build, host, t_ns);
}

/* ---- queues ---- */

static uint32_t room_for(uint32_t room, uint32_t n)
{
	room = MAX(room, (uint32_t)QUEUE_ROOM_MIN);
	while (room < n)
		room *= 2;
	return room;
}

/* Moves a ring of n elements of this size into one of new_room, its first element to the front. */
static void *ring_grow(void *ring, uint32_t room, uint32_t new_room, uint32_t first, uint32_t n, size_t size)
{
	char *bigger = g_malloc_n(new_room, size);
	uint32_t front = room ? MIN(n, room - first) : 0;

	if (n) {
		memcpy(bigger, (char *)ring + first * size, front * size);
		memcpy(bigger + front * size, ring, (n - front) * size);
	}
	g_free(ring);
	return bigger;
}

static void queue_reserve(struct waits_queue *q, uint32_t events, uint32_t packets)
{
	uint32_t room = room_for(q->room, q->n + events);
	uint32_t packets_room = room_for(q->packets_room, q->n_packets + packets);

	if (room != q->room) {
		q->events = ring_grow(q->events, q->room, room, q->first, q->n, sizeof(*q->events));
		q->room = room;
		q->first = 0;
	}
	if (packets_room != q->packets_room) {
		q->packets = ring_grow(q->packets, q->packets_room, packets_room, q->first_packet, q->n_packets,
				       sizeof(*q->packets));
		q->packets_room = packets_room;
		q->first_packet = 0;
	}
}

static void queue_push(struct waits_queue *q, const struct wait_event *e, const struct wait_log *log)
{
	struct wait_event *at = &q->events[(q->first + q->n++) & (q->room - 1)];

	*at = *e;
	if (e->packet == WAIT_NO_PACKET)
		return;
	/* packets are queued in the order of their events, so only whether an event has one matters from here on */
	q->packets[(q->first_packet + q->n_packets++) & (q->packets_room - 1)] = log->packets[e->packet];
	at->packet = 0;
}

static const struct wait_event *queue_head(const struct waits_queue *q)
{
	return q->n ? &q->events[q->first] : NULL;
}

static const struct clock_packet *queue_head_packet(const struct waits_queue *q)
{
	return q->events[q->first].packet == WAIT_NO_PACKET ? NULL : &q->packets[q->first_packet];
}

static void queue_pop(struct waits_queue *q)
{
	if (q->events[q->first].packet != WAIT_NO_PACKET) {
		q->first_packet = (q->first_packet + 1) & (q->packets_room - 1);
		q->n_packets--;
	}
	q->first = (q->first + 1) & (q->room - 1);
	q->n--;
}

/* ---- one order ---- */

static unsigned *heads(const struct waits *w)
{
	return (unsigned *)(void *)w->heads->data;
}

/* Whether a's first event comes before b's; at the same time, the host added first comes first. */
static bool comes_before(const struct waits *w, unsigned a, unsigned b)
{
	const uint64_t a_ns = host_at(w, a)->head_ref_ns, b_ns = host_at(w, b)->head_ref_ns;

	return a_ns != b_ns ? a_ns < b_ns : a < b;
}

static void sift_up(struct waits *w, unsigned i)
{
	unsigned *heap = heads(w);
	const unsigned moving = heap[i];

	for (; i > 0 && comes_before(w, moving, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = moving;
}

static void sift_down(struct waits *w, unsigned i)
{
	unsigned *heap = heads(w);
	const unsigned moving = heap[i], n = w->heads->len;
	unsigned child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && comes_before(w, heap[child + 1], heap[child]))
			child++;
		if (!comes_before(w, heap[child], moving))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moving;
}

static void look_at_head(struct waits_host *h)
{
	h->head_ref_ns = MAX(clock_to_ref(h->map, queue_head(&h->queue)->ts_ns), h->last_ref_ns);
}

void waits_take(struct waits *w, unsigned host, struct wait_log *log)
{
	struct waits_host *h = host_at(w, host);
	const bool was_empty = h->queue.n == 0;

	queue_reserve(&h->queue, log->n_events, log->n_packets);
	for (uint32_t i = 0; i < log->n_events; i++)
		queue_push(&h->queue, &log->events[i], log);
	w->queued += log->n_events;
	wait_log_clear(log);
	if (!was_empty || !h->queue.n)
		return;
	look_at_head(h);
	g_array_append_val(w->heads, host);
	sift_up(w, w->heads->len - 1);
}

void waits_watermark(struct waits *w, unsigned host, uint64_t t_ns)
{
	host_at(w, host)->watermark_ns = t_ns;
}

void waits_end(struct waits *w, unsigned host, uint64_t t_ns)
{
	struct waits_host *h = host_at(w, host);

	h->end_ns = t_ns;
	if (t_ns == UINT64_MAX || h->queue.n || !h->queue.room)
		return;
	/* nothing may come any more */
	g_free(h->queue.events);
	g_free(h->queue.packets);
	h->queue = (struct waits_queue){ 0 };
}

/* Reference time before which no host can have more events; UINT64_MAX: no host is waited for. */
static uint64_t least_watermark(const struct waits *w)
{
	uint64_t least = UINT64_MAX;

	for (guint i = 0; i < w->hosts->len; i++) {
		const struct waits_host *h = host_at(w, i);

		if (h->watermark_ns != UINT64_MAX)
			least = MIN(least, h->watermark_ns ? clock_to_ref(h->map, h->watermark_ns) : 0);
	}
	return least;
}

/* Makes the time up to and including t_ns final. */
static void advance(struct waits *w, uint64_t t_ns)
{
	w->since_advance = 0;
	graph_advance(w->graph, t_ns);
}

/* Builds the earliest event of all queues. */
static void build_head(struct waits *w)
{
	const unsigned number = heads(w)[0];
	struct waits_host *h = host_at(w, number);
	struct wait_event e = *queue_head(&h->queue);

	if (h->head_ref_ns < w->now_ns) {
		w->late++;
	} else {
		w->now_ns = w->built_ns = h->last_ref_ns = h->head_ref_ns;
		if (e.kind == WAIT_EVENT_RUNS)
			e.since_ns = MIN(clock_to_ref(h->map, e.since_ns), w->now_ns);
		build_event(w->build, number, h->head_ref_ns, &e, queue_head_packet(&h->queue));
	}
	queue_pop(&h->queue);
	w->queued--;
	if (h->queue.n)
		look_at_head(h);
	else
		g_array_remove_index_fast(w->heads, 0);
	if (w->heads->len)
		sift_down(w, 0);
	if (++w->since_advance >= EVENTS_BETWEEN_ADVANCES && w->now_ns)
		advance(w, w->now_ns - 1);
}

/* Puts the hosts in order by their maps as they are now. */
static void order_heads(struct waits *w)
{
	for (guint i = 0; i < w->heads->len; i++)
		look_at_head(host_at(w, heads(w)[i]));
	for (guint i = w->heads->len; i-- > 0;)
		sift_down(w, i);
}

/* The clocks have changed: times in the graph are not comparable with those to come. */
static void begin_anew(struct waits *w)
{
	w->epoch++;
	w->now_ns = w->built_ns = 0;
	graph_clear(w->graph);
	build_restart(w->build);
	for (guint i = 0; i < w->hosts->len; i++)
		host_at(w, i)->last_ref_ns = 0;
	order_heads(w);
}

void waits_run(struct waits *w)
{
	const unsigned epochs = map_epochs(w);
	uint64_t until_ns;

	if (!w->now_ns)
		order_heads(w); /* events may have been queued before the clocks were known */
	else if (epochs != w->map_epochs)
		begin_anew(w);
	w->map_epochs = epochs;
	until_ns = least_watermark(w);
	while (w->heads->len && (host_at(w, heads(w)[0])->head_ref_ns < until_ns || w->queued > w->queued_max))
		build_head(w);
	if (until_ns != UINT64_MAX)
		w->now_ns = MAX(w->now_ns, until_ns);
	else if (w->built_ns)
		w->now_ns = w->built_ns + 1;
	if (w->now_ns)
		advance(w, w->now_ns - 1);
}

void waits_finish(struct waits *w)
{
	for (guint i = 0; i < w->hosts->len; i++)
		host_at(w, i)->watermark_ns = UINT64_MAX;
	waits_run(w);
}

void waits_forget(struct waits *w, uint64_t t_ns)
{
	graph_forget(w->graph, t_ns);
}

const struct wait_graph *waits_graph(const struct waits *w)
{
	return w->graph;
}

uint64_t waits_now(const struct waits *w)
{
	return w->now_ns;
}

/* ---- answers ---- */

struct wait_who waits_who(const struct waits *w, wait_row row)
{
	return build_who(w->build, row);
}

struct wait_who waits_who_at(const struct waits *w, wait_row row, uint64_t t_ns)
{
	return build_who_at(w->build, row, t_ns);
}

uint64_t waits_first_ns(const struct waits *w, wait_row row)
{
	return build_first_ns(w->build, row);
}

wait_row waits_find(const struct waits *w, unsigned host, int32_t tid, uint64_t t_ns)
{
	return build_find(w->build, host, tid, t_ns);
}

bool waits_outlasts(const struct waits *w, wait_row row, uint64_t exited_ns, uint64_t t_ns)
{
	uint64_t last_ns;

	return row != WAIT_NO_ROW && waits_first_ns(w, row) <= exited_ns && graph_last(w->graph, row, &last_ns) &&
	       last_ns > t_ns;
}

void waits_follow(struct waits *w, wait_row row)
{
	follow_add(w->follow, row);
}

void waits_unfollow(struct waits *w, wait_row row)
{
	follow_remove(w->follow, row);
}

/* What a row was doing is not known after its host's record. */
static uint64_t cut_end(const struct waits *w, wait_row row, uint64_t end_ns)
{
	const unsigned host = row == WAIT_NO_ROW ? w->hosts->len : build_who(w->build, row).host;
	const struct waits_host *h = host < w->hosts->len ? host_at(w, host) : NULL;

	return h && h->end_ns != UINT64_MAX ? MIN(end_ns, clock_to_ref(h->map, h->end_ns)) : end_ns;
}

void waits_path(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_path *out)
{
	end_ns = cut_end(w, row, end_ns);
	if (!follow_path(w->follow, row, begin_ns, end_ns, out))
		wait_path_resolve(w->graph, row, begin_ns, end_ns, out);
}

void waits_totals(const struct waits *w, wait_row row, uint64_t begin_ns, uint64_t end_ns, struct wait_totals *out)
{
	wait_totals_window(w->graph, row, begin_ns, cut_end(w, row, end_ns), out);
}

wait_row waits_next(const struct waits *w, wait_row row)
{
	return build_next(w->build, row, true);
}

void waits_keep_paths(const struct waits *w)
{
	for (guint i = 0; i < w->hosts->len; i++) {
		const struct waits_queue *q = &host_at(w, i)->queue;

		for (uint32_t j = 0; j < q->n; j++) {
			const struct wait_event *e = &q->events[(q->first + j) & (q->room - 1)];

			strpool_keep(e->comm);
			strpool_keep(e->from_comm);
			if (e->kind == WAIT_EVENT_SWITCH)
				strpool_keep(e->by_comm);
			strpool_keep(e->cause);
			strpool_keep(e->object);
		}
	}
	build_keep_paths(w->build);
	graph_keep_paths(w->graph);
}

struct waits_info waits_info(const struct waits *w)
{
	return (struct waits_info){
		.graph = graph_info(w->graph),
		.queued = w->queued,
		.late = w->late,
		.links = build_links(w->build),
		.threads = build_threads(w->build),
		.packet_bytes = build_packet_bytes(w->build),
		.epoch = w->epoch,
	};
}
