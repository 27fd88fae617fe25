/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds paths of the string pool, and short-lived names: the rows of tables, calls in flight, images of fd tables,
 * channels.
 */
#include <stddef.h>

#include "model/channels.h"
#include "model/fdtable.h"
#include "model/fifos.h"
#include "model/parts_internal.h"
#include "model/keep.h"

/* The cells that hold one. */
static const struct {
	enum table_id table;
	unsigned cell;
} path_cells[] = {
	{ TABLE_THREAD, CELL(thread, comm) },
	{ TABLE_THREAD, CELL(thread, exe) },
	{ TABLE_FILE, CELL(file, path) },
	{ TABLE_FILE, CELL(file, peer) },
	{ TABLE_FILE, CELL(file, client) },
	{ TABLE_NETIF, CELL(netif, name) },
	{ TABLE_BLOCKING, CELL(blocking, object) },
	{ TABLE_BLOCKING, CELL(blocking, cause) },
	{ TABLE_RELATION, CELL(relation, object) },
	{ TABLE_RELATION, CELL(relation, from_comm) },
	{ TABLE_RELATION, CELL(relation, to_comm) },
	{ TABLE_PREEMPTION, CELL(preemption, by_comm) },
	{ TABLE_CONNECTION, CELL(connection, local) },
	{ TABLE_CONNECTION, CELL(connection, peer) },
	{ TABLE_CONNECTION, CELL(connection, comm) },
	{ TABLE_CONTAINER, CELL(container, comm) },
};

void row_keep_paths(enum table_id table, const uint64_t *cells)
{
	for (size_t i = 0; i < G_N_ELEMENTS(path_cells); i++)
		if (path_cells[i].table == table)
			strpool_keep((strid)cells[path_cells[i].cell]);
}

void state_keep_paths(const struct host_state *s)
{
	for (size_t i = 0; i < G_N_ELEMENTS(path_cells); i++) {
		const struct state_table *t = &s->tables[path_cells[i].table];

		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
			strpool_keep((strid)state_cells(t, row)[path_cells[i].cell]);
	}
}

void model_keep_paths(const struct model *m)
{
	const struct channels *c = m->relations ? m->relations->channels : NULL;

	state_keep_paths(&m->state);
	files_keep_paths(m);
	for (guint i = 0; i < m->threads->len; i++) {
		const struct thread *t = g_ptr_array_index(m->threads, i);

		if (!t || !t->in_use)
			continue;
		strpool_keep(t->cwd);
		strpool_keep(t->cpu_wait.most.comm);
		if (!t->call.active)
			continue;
		strpool_keep(t->call.path);
		strpool_keep(t->call.peer);
	}
	for (uint32_t i = 0; c && i < c->list->len; i++)
		strpool_keep(channel_at(c, i)->object);
	for (uint32_t i = 0; c && i < c->list->len; i++)
		strpool_keep(channel_at(c, i)->owner.comm);
	for (unsigned i = 0; c && i < MIN(m->relations->n_gone, G_N_ELEMENTS(m->relations->gone)); i++)
		strpool_keep(m->relations->gone[i].party.comm);
	for (uint32_t i = 0; i < m->fifos->n; i++)
		strpool_keep(m->fifos->list[i].path);
}
