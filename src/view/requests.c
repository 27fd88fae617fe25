/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

/* Sets of uint64_t for a host in the interval. */
struct host_requests {
	GHashTable *connecting; /* uids of threads that opened connections */
	GHashTable *servers;    /* pids of processes that used connections opened to them */
};

static GHashTable *set_create(void)
{
	return g_hash_table_new(g_int64_hash, g_int64_equal);
}

static void note_host(struct host_requests *q, const struct interval *iv)
{
	const struct interval_table *calls = &iv->tables[TABLE_SYSCALL], *files = &iv->tables[TABLE_FILE];

	for (uint32_t i = 0; i < calls->n_rows; i++) {
		const struct syscall_row *call = INTERVAL_ROW(syscall, &calls->rows[i]);

		if (strcmp(strpool_text((strid)call->name), "connect") == 0)
			g_hash_table_add(q->connecting, (gpointer)&call->thread_uid);
	}
	for (uint32_t i = 0; i < files->n_rows; i++) {
		const struct file_row *file = INTERVAL_ROW(file, &files->rows[i]);

		if (file->side == SIDE_ACCEPTED && file->read_bytes + file->write_bytes)
			g_hash_table_add(q->servers, (gpointer)&file->pid);
	}
}

static struct host_requests *note_hosts(const struct view_rows *threads)
{
	struct host_requests *of_host = g_new(struct host_requests, MAX(threads->n_hosts, 1));

	for (unsigned i = 0; i < threads->n_hosts; i++) {
		of_host[i] = (struct host_requests){ set_create(), set_create() };
		if (threads->hosts[i].iv)
			note_host(&of_host[i], threads->hosts[i].iv);
	}
	return of_host;
}

static void release_hosts(struct host_requests *of_host, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		g_hash_table_destroy(of_host[i].connecting);
		g_hash_table_destroy(of_host[i].servers);
	}
	g_free(of_host);
}

/* ---- candidates: threads that handle requests or work for such threads ---- */

static bool may_handle(const struct host_requests *of_host, const struct clock_map *map, const struct thread_row *t,
		       uint64_t begin_ns, uint64_t end_ns)
{
	if (t->flags & THREAD_KERNEL || g_hash_table_contains(of_host->servers, &t->pid) ||
	    (t->exited_ns && clock_to_ref(map, t->exited_ns) <= begin_ns))
		return false;
	if (t->born_ns && t->exited_ns && clock_to_ref(map, t->born_ns) >= begin_ns &&
	    clock_to_ref(map, t->exited_ns) <= end_ns)
		return true;
	return t->read_net + t->write_net && g_hash_table_contains(of_host->connecting, &t->uid);
}

wait_row view_thread_wait_row(const struct view_host *host, const struct thread_row *t, const struct waits *waits,
			      uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t exited_ns = t->exited_ns ? clock_to_ref(host->map, t->exited_ns) : UINT64_MAX;
	wait_row row;

	if (t->born_ns && clock_to_ref(host->map, t->born_ns) >= end_ns)
		return WAIT_NO_ROW;
	row = waits_find(waits, host->wait, (int32_t)t->tid, MIN(exited_ns, end_ns));
	return exited_ns > begin_ns || waits_outlasts(waits, row, exited_ns, begin_ns) ? row : WAIT_NO_ROW;
}

static GArray *find_candidates(const struct view_rows *threads, const struct waits *waits, uint64_t begin_ns,
			       uint64_t end_ns)
{
	struct host_requests *of_host = note_hosts(threads);
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct view_request));
	struct map64 known = { 0 };

	for (unsigned i = 0; i < threads->n; i++) {
		const struct view_row *row = &threads->rows[i];
		const struct view_host *host = &threads->hosts[row->key.host];
		const struct thread_row *t = INTERVAL_ROW(thread, &row->row);
		struct view_request request = { i, WAIT_NO_ROW };

		if (!view_row_is_tracing(threads, row) &&
		    may_handle(&of_host[row->key.host], host->map, t, begin_ns, end_ns))
			request.row = view_thread_wait_row(host, t, waits, begin_ns, end_ns);
		if (request.row == WAIT_NO_ROW || map64_get(&known, (uint64_t)request.row + 1) != MAP64_NONE)
			continue;
		map64_put(&known, (uint64_t)request.row + 1, i);
		g_array_append_val(found, request);
	}
	map64_release(&known);
	release_hosts(of_host, threads->n_hosts);
	return found;
}

/* ---- outermost threads ---- */

/* A path that runs through another path's row. */
struct passage {
	unsigned path, through;
	uint64_t ns;
};

struct places {
	struct map64 by_row; /* row + 1 -> its index */
	uint64_t *ns;        /* by index: time of the current path in that row */
	uint64_t *own_ns;    /* by index: time in its own row */
	GArray *passages;    /* struct passage */
};

static wait_row row_of(const GArray *requests, guint i)
{
	return g_array_index(requests, struct view_request, i).row;
}

static void add_times(struct places *p, const struct wait_path *path)
{
	for (uint32_t i = 0; i < path->n; i++) {
		const struct wait_segment *s = &path->segments[i];
		const uint32_t place = map64_get(&p->by_row, (uint64_t)s->row + 1);

		if (place != MAP64_NONE && !s->wire)
			p->ns[place] += s->end_ns - s->begin_ns;
	}
}

/* Takes what add_times() summed, and resets it to 0. */
static void take_times(struct places *p, unsigned path_place, const struct wait_path *path)
{
	for (uint32_t i = 0; i < path->n; i++) {
		const uint32_t place = map64_get(&p->by_row, (uint64_t)path->segments[i].row + 1);
		struct passage passage = { path_place, place, 0 };

		if (place == MAP64_NONE || !p->ns[place])
			continue;
		passage.ns = p->ns[place];
		p->ns[place] = 0;
		if (place == path_place)
			p->own_ns[place] = passage.ns;
		else
			g_array_append_val(p->passages, passage);
	}
}

/*
 * Which row works for which, in the order of the requests: a row works for another if that one's path runs through it
 * for at least half of the time of its own path. One path at a time is in memory.
 */
static GArray *find_passages(const GArray *requests, const struct waits *waits, uint64_t begin_ns, uint64_t end_ns)
{
	struct places p = { .ns = g_new0(uint64_t, requests->len),
			    .own_ns = g_new0(uint64_t, requests->len),
			    .passages = g_array_new(FALSE, FALSE, sizeof(struct passage)) };
	struct wait_path path;
	guint kept = 0;

	for (guint i = 0; i < requests->len; i++)
		map64_put(&p.by_row, (uint64_t)row_of(requests, i) + 1, i);
	wait_path_init(&path);
	for (guint i = 0; i < requests->len; i++) {
		waits_path(waits, row_of(requests, i), begin_ns, end_ns, &path);
		add_times(&p, &path);
		take_times(&p, i, &path);
	}
	wait_path_release(&path);
	for (guint i = 0; i < p.passages->len; i++) {
		const struct passage passage = g_array_index(p.passages, struct passage, i);

		if (2 * passage.ns >= p.own_ns[passage.through])
			g_array_index(p.passages, struct passage, kept++) = passage;
	}
	g_array_set_size(p.passages, kept);
	map64_release(&p.by_row);
	g_free(p.ns);
	g_free(p.own_ns);
	return p.passages;
}

struct outer {
	unsigned place, first, n; /* its first passage, and their number */
};

static int compare_outer(const void *pa, const void *pb)
{
	const struct outer *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return a->place < b->place ? -1 : 1;
}

/* Starts with those that work for most others: if two work for each other, one of them stays. */
static bool *find_inner(const GArray *passages, unsigned n)
{
	struct outer *outers = g_new0(struct outer, n);
	bool *inner = g_new0(bool, n), *done = g_new0(bool, n);

	for (unsigned i = 0; i < n; i++)
		outers[i].place = i;
	for (guint i = passages->len; i-- > 0;) {
		struct outer *outer = &outers[g_array_index(passages, struct passage, i).path];

		outer->first = i;
		outer->n++;
	}
	qsort(outers, n, sizeof(*outers), compare_outer);
	for (unsigned i = 0; i < n; i++) {
		done[outers[i].place] = true;
		for (unsigned k = 0; !inner[outers[i].place] && k < outers[i].n; k++) {
			const unsigned through = g_array_index(passages, struct passage, outers[i].first + k).through;

			inner[through] |= !done[through];
		}
	}
	g_free(outers);
	g_free(done);
	return inner;
}

GArray *view_requests_find(const struct view_rows *threads, const struct waits *waits, uint64_t begin_ns,
			   uint64_t end_ns)
{
	GArray *requests = find_candidates(threads, waits, begin_ns, end_ns), *passages;
	guint kept = 0;
	bool *inner;

	if (!requests->len)
		return requests;
	passages = find_passages(requests, waits, begin_ns, end_ns);
	inner = find_inner(passages, requests->len);
	for (guint i = 0; i < requests->len; i++)
		if (!inner[i])
			g_array_index(requests, struct view_request, kept++) =
				g_array_index(requests, struct view_request, i);
	g_array_set_size(requests, kept);
	g_free(inner);
	g_array_free(passages, TRUE);
	return requests;
}
