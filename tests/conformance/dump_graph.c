/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump_graph SEED STEPS THREADS: a random wake-up graph, and the critical path of each of its rows.
 *
 *	V row time state     a vertex that ends an edge          G row time   one with a gap before it
 *	S row time           a link will start here              L from time to time kind
 *	P row begin end      a path follows, its segments:
 *	s begin end row state wire fill link from
 *	C pieces waits older rewinds gaps covered bounded: these counts, for the previous path
 */
#include <stdlib.h>

#include "../unit/graphs.h"

int main(int argc, char **argv)
{
	struct wait_graph *g = graph_create(0, 0);
	struct wait_path path;
	struct sim *s;

	if (argc != 4)
		return 2;
	s = sim_create((uint32_t)atoi(argv[1]), atoi(argv[3]), g, NULL, stdout);
	for (int i = atoi(argv[2]); i > 0; i--)
		sim_step(s);
	graph_advance(g, s->now_ns);
	wait_path_init(&path);
	for (int row = SIM_CPUS; row < s->n_rows; row++) {
		struct resolve_info before = resolve_info(g), after;

		wait_path_resolve(g, s->rows[row].in[0], 0, s->rows[row].last_ns, &path);
		printf("P %d %ju %ju\n", row, (uintmax_t)path.begin_ns, (uintmax_t)path.end_ns);
		for (uint32_t i = 0; i < path.n; i++) {
			const struct wait_segment *p = &path.segments[i];

			printf("s %ju %ju %d %d %d %d %d %d\n", (uintmax_t)p->begin_ns, (uintmax_t)p->end_ns,
			       sim_who(s, 0, p->row), p->state, p->wire, p->fill, p->link, sim_who(s, 0, p->from));
		}
		after = resolve_info(g);
		printf("C %ju %ju %ju %ju %ju %ju %ju\n", (uintmax_t)(after.pieces - before.pieces),
		       (uintmax_t)(after.waits - before.waits), (uintmax_t)(after.older - before.older),
		       (uintmax_t)(after.rewinds - before.rewinds), (uintmax_t)(after.gaps - before.gaps),
		       (uintmax_t)(after.covered - before.covered), (uintmax_t)(after.bounded - before.bounded));
	}
	wait_path_release(&path);
	sim_destroy(s);
	graph_destroy(g);
	return 0;
}
