/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/map64.h"

/* Sets of uint64_t for a host in the interval. */
struct host_requests {
	GHashTable *connecting; /* uids of threads that opened connections */
	GHashTable *servers;    /* pids of processes that used connections opened to them */
};

struct requests {
	const struct view_host *hosts;
	unsigned n_hosts;
	uint64_t begin_ns, end_ns;
	struct host_requests *of_host;
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

struct requests *requests_create(const struct view_host *hosts, unsigned n_hosts, uint64_t begin_ns, uint64_t end_ns)
{
	struct requests *q = g_new(struct requests, 1);

	*q = (struct requests){
		.hosts = hosts,
		.n_hosts = n_hosts,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.of_host = g_new(struct host_requests, n_hosts),
	};
	for (unsigned i = 0; i < n_hosts; i++) {
		q->of_host[i] = (struct host_requests){ set_create(), set_create() };
		if (hosts[i].iv)
			note_host(&q->of_host[i], hosts[i].iv);
	}
	return q;
}

void requests_destroy(struct requests *q)
{
	if (!q)
		return;
	for (unsigned i = 0; i < q->n_hosts; i++) {
		g_hash_table_destroy(q->of_host[i].connecting);
		g_hash_table_destroy(q->of_host[i].servers);
	}
	g_free(q->of_host);
	g_free(q);
}

bool requests_may_be(const struct requests *q, unsigned host, const struct thread_row *t)
{
	const struct clock_map *map = q->hosts[host].map;
	const struct host_requests *of_host = &q->of_host[host];

	if (t->flags & THREAD_KERNEL || g_hash_table_contains(of_host->servers, &t->pid))
		return false;
	if (t->born_ns && t->exited_ns && clock_to_ref(map, t->born_ns) >= q->begin_ns &&
	    clock_to_ref(map, t->exited_ns) <= q->end_ns)
		return true;
	return t->read_net + t->write_net && g_hash_table_contains(of_host->connecting, &t->uid);
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

/* Which row works for which, in the order of the paths. */
static GArray *find_passages(const GArray *rows, const GArray *paths)
{
	struct places p = { .ns = g_new0(uint64_t, rows->len),
			    .own_ns = g_new0(uint64_t, rows->len),
			    .passages = g_array_new(FALSE, FALSE, sizeof(struct passage)) };
	guint kept = 0;

	for (guint i = 0; i < rows->len; i++)
		map64_put(&p.by_row, (uint64_t)g_array_index(rows, wait_row, i) + 1, i);
	for (guint i = 0; i < paths->len; i++) {
		add_times(&p, &g_array_index(paths, struct wait_path, i));
		take_times(&p, i, &g_array_index(paths, struct wait_path, i));
	}
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

void requests_keep_outermost(GArray *rows, GArray *paths)
{
	GArray *passages;
	bool *inner;
	guint kept = 0;

	if (!rows->len)
		return;
	passages = find_passages(rows, paths);
	inner = find_inner(passages, rows->len);
	for (guint i = 0; i < rows->len; i++) {
		if (inner[i]) {
			wait_path_release(&g_array_index(paths, struct wait_path, i));
			continue;
		}
		g_array_index(rows, wait_row, kept) = g_array_index(rows, wait_row, i);
		g_array_index(paths, struct wait_path, kept++) = g_array_index(paths, struct wait_path, i);
	}
	g_array_set_size(rows, kept);
	g_array_set_size(paths, kept);
	g_free(inner);
	g_array_free(passages, TRUE);
}
