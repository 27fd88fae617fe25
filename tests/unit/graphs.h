/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_GRAPHS_H
#define LT_UNIT_GRAPHS_H

#include <glib.h>
#include <stdio.h>

#include "waits/follow.h"
#include "waits/graph.h"
#include "waits/path.h"
#include "waits/resolve.h"
#include "waits/totals.h"

/*
 * Random wake-up graphs: threads on a few CPUs run, block, wake each other, fork, exit, send and receive packets, as if
 * driven by a kernel's events. The same graph is built in several graphs at once (e.g. with other retentions) and, on
 * request, written out line by line. Rows have their own numbers here, which are never reused.
 */
enum { SIM_CPUS = 3, SIM_ROWS = 4096, SIM_GRAPHS = 2, SIM_PACKETS = 16, SIM_PACKET_NS = 1500, SIM_NOBODY = -1 };

enum { SIM_GONE, SIM_BLOCKED, SIM_READY, SIM_RUNNING, SIM_KERNEL };

struct sim_row {
	int state; /* SIM_GONE … */
	uint64_t last_ns;
	wait_row in[SIM_GRAPHS];
};

struct sim {
	GRand *rand;
	uint64_t now_ns;
	struct sim_row rows[SIM_ROWS];
	int n_rows, n_live, threads_max;
	int on_cpu[SIM_CPUS], kernel[SIM_CPUS];
	struct {
		int row;
		uint64_t t_ns;
	} packets[SIM_PACKETS]; /* in transit */
	int n_packets;
	struct wait_graph *graphs[SIM_GRAPHS];
	int *who[SIM_GRAPHS]; /* wait_row -> our row number */
	int n_graphs;
	FILE *dump;
	bool no_exits;
	uint64_t events;
};

static inline int sim_pick(struct sim *s, int n)
{
	return g_rand_int_range(s->rand, 0, n);
}

static inline int sim_who(const struct sim *s, int graph, wait_row row)
{
	return row == WAIT_NO_ROW ? SIM_NOBODY : s->who[graph][row];
}

static inline int sim_add(struct sim *s, int state)
{
	int row = s->n_rows++;

	g_assert(row < SIM_ROWS);
	s->rows[row] = (struct sim_row){ .state = state };
	for (int i = 0; i < s->n_graphs; i++) {
		s->rows[row].in[i] = graph_row_add(s->graphs[i]);
		s->who[i][s->rows[row].in[i]] = row;
	}
	s->n_live += state != SIM_KERNEL;
	return row;
}

static inline void sim_vertex(struct sim *s, int row, enum wait_state state)
{
	struct wait_cause cause = { .name = sim_pick(s, 4), .fd = -1 };

	for (int i = 0; i < s->n_graphs; i++)
		graph_vertex(s->graphs[i], s->rows[row].in[i], s->now_ns, state,
			     wait_state_blocks(state) ? &cause : NULL);
	if (s->dump)
		fprintf(s->dump, "V %d %ju %d\n", row, (uintmax_t)s->now_ns, state);
	s->rows[row].last_ns = s->now_ns;
	s->events++;
}

/* Every fourth thread is a worker whose waits are for work; the dump does not contain that. */
static inline void sim_woken(struct sim *s, int row, enum wait_state state)
{
	bool idle = row % 4 == 3 && !s->dump;

	struct wait_cause by = { .name = 1, .fd = -1, .rest = state == WAIT_TIMER ? WAIT_TIMER : WAIT_RUNNING };
	uint64_t came_ns = idle ? s->now_ns - (uint64_t)sim_pick(s, 200) : 0;

	sim_vertex(s, row, idle ? WAIT_BLOCKED : state);
	for (int i = 0; i < s->n_graphs && idle; i++)
		graph_idle(s->graphs[i], s->rows[row].in[i], s->now_ns, came_ns, &by);
}

static inline void sim_gap(struct sim *s, int row)
{
	for (int i = 0; i < s->n_graphs; i++)
		graph_gap(s->graphs[i], s->rows[row].in[i], s->now_ns);
	if (s->dump)
		fprintf(s->dump, "G %d %ju\n", row, (uintmax_t)s->now_ns);
	s->events++;
}

static inline void sim_link(struct sim *s, int from, uint64_t from_ns, int to, enum wait_link kind)
{
	if (from == to && from_ns == s->now_ns)
		return;
	for (int i = 0; i < s->n_graphs; i++)
		graph_link(s->graphs[i], s->rows[from].in[i], from_ns, s->rows[to].in[i], s->now_ns, kind);
	if (s->dump)
		fprintf(s->dump, "L %d %ju %d %ju %d\n", from, (uintmax_t)from_ns, to, (uintmax_t)s->now_ns, kind);
}

/* Sets the row's state from now on. */
static inline void sim_set(struct sim *s, int row, int state)
{
	static const enum wait_state present[] = {
		[SIM_BLOCKED] = WAIT_BLOCKED,
		[SIM_READY] = WAIT_PREEMPTED,
		[SIM_RUNNING] = WAIT_RUNNING,
	};

	s->rows[row].state = state;
	for (int i = 0; i < s->n_graphs; i++) {
		if (state == SIM_GONE)
			graph_row_free(s->graphs[i], s->rows[row].in[i]);
		else
			graph_present(s->graphs[i], s->rows[row].in[i], present[state], NULL);
	}
	s->n_live -= state == SIM_GONE;
}

/* A random row in this state; SIM_NOBODY: there is none. */
static inline int sim_any(struct sim *s, int state)
{
	int start = sim_pick(s, s->n_rows);

	for (int i = 0; i < s->n_rows; i++) {
		int row = (start + i) % s->n_rows;

		if (s->rows[row].state == state)
			return row;
	}
	return SIM_NOBODY;
}

static inline void sim_leave(struct sim *s, int cpu, int state)
{
	sim_vertex(s, s->on_cpu[cpu], WAIT_RUNNING);
	sim_set(s, s->on_cpu[cpu], state);
	s->on_cpu[cpu] = SIM_NOBODY;
}

/* A link starts at the time its packet departs: within a running edge, or at a vertex. */
static inline void sim_send(struct sim *s, int row)
{
	int slot = s->n_packets < SIM_PACKETS ? s->n_packets++ : sim_pick(s, SIM_PACKETS);

	s->packets[slot].row = row;
	s->packets[slot].t_ns = s->now_ns;
	if (s->dump)
		fprintf(s->dump, "S %d %ju\n", row, (uintmax_t)s->now_ns);
}

/* Packets that have been in transit for long are lost: their sender's row may have been reused. */
static inline void sim_deliver(struct sim *s, int to)
{
	int slot;

	if (!s->n_packets)
		return;
	slot = sim_pick(s, s->n_packets);
	if (s->now_ns - s->packets[slot].t_ns < SIM_PACKET_NS)
		sim_link(s, s->packets[slot].row, s->packets[slot].t_ns, to, WAIT_LINK_NETWORK);
	s->packets[slot] = s->packets[--s->n_packets];
}

/* A packet wakes the row, which has done something since its sender was last seen to send. Not in the dump. */
static inline void sim_woken_late(struct sim *s, int row, int from)
{
	const uint64_t asleep_ns = s->rows[row].last_ns;
	const bool has_work = row % 4 != 3 && !s->dump;

	sim_woken(s, row, WAIT_NETWORK);
	if (has_work && asleep_ns < s->now_ns)
		sim_link(s, from, asleep_ns + (uint64_t)sim_pick(s, (int)(s->now_ns - asleep_ns)), row,
			 WAIT_LINK_TRANSIT);
}

static inline void sim_run_task(struct sim *s, int cpu)
{
	int row = s->on_cpu[cpu], other;

	switch (sim_pick(s, 12)) {
	case 0:
	case 1:
	case 2:
		sim_leave(s, cpu, SIM_BLOCKED);
		break;
	case 3:
		sim_leave(s, cpu, SIM_READY);
		break;
	case 4:
	case 5:
	case 6:
		other = sim_any(s, SIM_BLOCKED);
		if (other == SIM_NOBODY)
			break;
		sim_woken(s, other, WAIT_BLOCKED);
		if (s->dump)
			fprintf(s->dump, "S %d %ju\n", row, (uintmax_t)s->now_ns);
		sim_link(s, row, s->now_ns, other, WAIT_LINK_WAKEUP);
		sim_set(s, other, SIM_READY);
		break;
	case 7:
	case 8:
		sim_send(s, row);
		break;
	case 9:
		sim_vertex(s, row, WAIT_RUNNING);
		sim_set(s, row, SIM_RUNNING);
		sim_deliver(s, row);
		break;
	case 10:
		if (s->n_live >= s->threads_max || s->n_rows == SIM_ROWS)
			break;
		if (s->dump)
			fprintf(s->dump, "S %d %ju\n", row, (uintmax_t)s->now_ns);
		other = sim_add(s, SIM_READY);
		sim_vertex(s, other, WAIT_PREEMPTED);
		sim_link(s, row, s->now_ns, other, WAIT_LINK_FORK);
		sim_set(s, other, SIM_READY);
		break;
	case 11:
		if (!s->no_exits && s->n_live > s->threads_max / 2)
			sim_leave(s, cpu, SIM_GONE);
		break;
	}
}

static inline void sim_interrupt(struct sim *s, int cpu)
{
	static const enum wait_state quick[] = { WAIT_TIMER, WAIT_BLOCK_DEVICE, WAIT_INTERRUPTED, WAIT_BLOCKED };
	int blocked = sim_any(s, SIM_BLOCKED), kernel = s->kernel[cpu];

	if (blocked == SIM_NOBODY)
		return;
	switch (sim_pick(s, 6)) {
	case 0:
	case 1:
		sim_woken(s, blocked, quick[sim_pick(s, 4)]);
		break;
	case 2:
		sim_woken(s, blocked, WAIT_NETWORK);
		sim_deliver(s, blocked);
		break;
	case 3:
		sim_woken_late(s, blocked, kernel);
		break;
	case 4: /* via the CPU's row for packets */
		sim_gap(s, kernel);
		s->now_ns++;
		sim_vertex(s, kernel, WAIT_RUNNING);
		if (sim_pick(s, 2))
			sim_deliver(s, kernel);
		s->now_ns++;
		sim_vertex(s, kernel, WAIT_RUNNING);
		sim_woken(s, blocked, WAIT_NETWORK);
		sim_link(s, kernel, s->now_ns, blocked, WAIT_LINK_NETWORK);
		break;
	default: /* it sends a packet of its own meanwhile */
		sim_vertex(s, blocked, WAIT_BLOCKED);
		sim_set(s, blocked, SIM_BLOCKED);
		sim_send(s, blocked);
		return;
	}
	sim_set(s, blocked, SIM_READY);
}

static inline void sim_step(struct sim *s)
{
	int cpu = sim_pick(s, SIM_CPUS), row;

	s->now_ns += sim_pick(s, 3) ? sim_pick(s, 30) : 0;
	if (!sim_pick(s, 4)) {
		sim_interrupt(s, cpu);
	} else if (s->on_cpu[cpu] != SIM_NOBODY) {
		sim_run_task(s, cpu);
	} else if ((row = sim_any(s, SIM_READY)) != SIM_NOBODY) {
		sim_vertex(s, row, WAIT_PREEMPTED);
		sim_set(s, row, SIM_RUNNING);
		s->on_cpu[cpu] = row;
	}
}

static inline struct sim *sim_create(uint32_t seed, int threads_max, struct wait_graph *a, struct wait_graph *b,
				     FILE *dump)
{
	struct sim *s = g_new0(struct sim, 1);

	s->rand = g_rand_new_with_seed(seed);
	s->threads_max = threads_max;
	s->now_ns = 1000;
	s->dump = dump;
	s->graphs[0] = a;
	s->graphs[1] = b;
	s->n_graphs = b ? 2 : 1;
	for (int i = 0; i < s->n_graphs; i++)
		s->who[i] = g_new(int, SIM_ROWS);
	for (int i = 0; i < SIM_CPUS; i++) {
		s->kernel[i] = sim_add(s, SIM_KERNEL);
		s->on_cpu[i] = SIM_NOBODY;
	}
	for (int i = 0; i < (threads_max + 1) / 2; i++) {
		int row = sim_add(s, SIM_READY);

		sim_gap(s, row);
		sim_set(s, row, SIM_READY);
	}
	return s;
}

static inline void sim_destroy(struct sim *s)
{
	for (int i = 0; i < s->n_graphs; i++)
		g_free(s->who[i]);
	g_rand_free(s->rand);
	g_free(s);
}

/* Everything before now is final. */
static inline void sim_advance(struct sim *s)
{
	for (int i = 0; i < s->n_graphs; i++)
		graph_advance(s->graphs[i], s->now_ns - 1);
}

#endif
