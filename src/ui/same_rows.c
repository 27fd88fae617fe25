/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each reading has its own numbers of rows. Where another one is shown (a preview, or what has been read by then),
 * threads that the user has chosen are found again by their IDs; other choices are forgotten. A preview has only
 * threads with events, and on the way to one, what has been read before is shown: choices that are not there are
 * missed until the destination of the jump has been read, and found when their threads are shown.
 */
#include "ui/internal.h"

/* A chosen row: one of list, pane and set is not NULL. The pane may have been closed since then. */
struct chosen {
	struct list *list; /* whose selection it is */
	struct pane *pane; /* which shows it: the details, or those to which Esc returns */
	GHashTable *set;   /* of which it is a member */
	uint32_t host;
	int64_t tid; /* -1: not a thread, or unknown */
	uint64_t born_ns;
	bool follow; /* of a list */
};

static const struct interval_table *threads_of(const struct ui *ui, unsigned host)
{
	const struct ui_host_data *h = host < ui->hosts->len ? ui_host(ui, host) : NULL;
	const bool loaded = h && h->loaded && h->load.interval.tables_mask >> TABLE_THREAD & 1;

	return loaded ? &h->load.interval.tables[TABLE_THREAD] : NULL;
}

static void add(const struct ui *ui, GArray *all, struct chosen c, const struct view_key *key)
{
	const struct interval_row *row = NULL;

	if (key->table == TABLE_THREAD && threads_of(ui, key->host))
		row = interval_find(&ui_host(ui, key->host)->load.interval, TABLE_THREAD, key->uid);
	c.host = key->host;
	c.tid = row ? (int64_t)INTERVAL_ROW(thread, row)->tid : -1;
	c.born_ns = row ? INTERVAL_ROW(thread, row)->born_ns : 0;
	g_array_append_val(all, c);
}

static void add_pane(const struct ui *ui, GArray *all, struct pane *pane)
{
	if (pane && pane->entity.table == TABLE_THREAD && pane->entity.uid)
		add(ui, all, (struct chosen){ .pane = pane }, &pane->entity);
}

static void add_set(const struct ui *ui, GArray *all, GHashTable *set)
{
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, set);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		add(ui, all, (struct chosen){ .set = set }, key);
	g_hash_table_remove_all(set);
}

/* Whether nothing has been chosen in its place. */
static bool is_missed_still(const struct ui *ui, const struct chosen *c)
{
	if (c->list)
		return !c->list->chosen;
	if (c->set)
		return true;
	return (c->pane == ui->details || c->pane == ui->behind) && c->pane->entity.table == TABLE_THREAD &&
	       !c->pane->entity.uid;
}

GArray *same_rows_missed(struct ui *ui)
{
	GArray *all = ui->missed ? g_steal_pointer(&ui->missed) : g_array_new(FALSE, FALSE, sizeof(struct chosen));

	for (guint i = all->len; i-- > 0;)
		if (!is_missed_still(ui, &g_array_index(all, struct chosen, i)))
			g_array_remove_index(all, i);
	return all;
}

static bool is_missed_of(const struct ui *ui, guint i, const void *of)
{
	const struct chosen *c = &g_array_index(ui->missed, struct chosen, i);

	return c->set == of || c->list == of;
}

void same_rows_forget(struct ui *ui, const void *of)
{
	for (guint i = ui->missed ? ui->missed->len : 0; i-- > 0;)
		if (!of || is_missed_of(ui, i, of))
			g_array_remove_index(ui->missed, i);
}

bool same_rows_misses(const struct ui *ui, const void *of)
{
	for (guint i = 0; ui->missed && i < ui->missed->len; i++)
		if (is_missed_of(ui, i, of))
			return true;
	return false;
}

void same_rows_release(struct ui *ui)
{
	if (ui->missed)
		g_array_free(ui->missed, TRUE);
}

GArray *same_rows_note(struct ui *ui)
{
	GArray *all = same_rows_missed(ui);

	for (unsigned i = 0; i < PANES; i++)
		for (unsigned k = 0; ui->panes[i] && k < ui->panes[i]->n_lists; k++) {
			struct list *l = &ui->panes[i]->lists[k];

			if (l->chosen)
				add(ui, all, (struct chosen){ .list = l, .follow = l->follow }, &l->selected);
		}
	add_set(ui, all, ui->marked);
	add_set(ui, all, ui->collapsed);
	add_pane(ui, all, ui->behind);
	add_pane(ui, all, ui->details);
	return all;
}

/* When a thread was born may be unknown in one of the readings. */
static const struct thread_row *find(const struct ui *ui, const struct chosen *c)
{
	const struct interval_table *t = c->tid > 0 ? threads_of(ui, c->host) : NULL;

	for (uint32_t i = 0; t && i < t->n_rows; i++) {
		const struct thread_row *row = INTERVAL_ROW(thread, &t->rows[i]);

		if ((int64_t)row->tid == c->tid && (!row->born_ns || !c->born_ns || row->born_ns == c->born_ns))
			return row;
	}
	return NULL;
}

/* Whether the selection is a sum that is found by what its rows have in common, in any reading. */
static bool is_named(const struct list *l)
{
	return l->sum_by && l->sum_by != VIEW_SUM_THREAD && l->sum_by != VIEW_SUM_PROCESS && l->selected_sum;
}

static void choose(struct ui *ui, struct chosen *c, const struct view_key *key)
{
	if (c->list && is_named(c->list))
		return;
	if (c->list && key) {
		c->list->selected = *key;
		c->list->selected_sum = 0;
		c->list->chosen = true;
		c->list->follow = c->follow;
	} else if (c->list)
		c->list->chosen = c->list->follow = false;
	else if (c->set && key)
		g_hash_table_add(c->set, g_memdup2(key, sizeof(*key)));
	else if (c->pane && key)
		c->pane->entity = *key;
	else if (c->pane)
		g_clear_pointer(c->pane == ui->details ? &ui->details : &ui->behind, pane_destroy);
}

/* The thread is not there, but may be in what comes. */
static void miss(struct ui *ui, struct chosen *c)
{
	if (c->list && is_named(c->list))
		return;
	if (c->pane)
		c->pane->entity.uid = 0;
	else
		choose(ui, c, NULL);
	g_array_append_val(ui->missed, *c);
}

void same_rows_find(struct ui *ui, GArray *all)
{
	const bool more = preview_is_awaited(ui);
	bool marks = false;

	ui->missed = more ? g_array_new(FALSE, FALSE, sizeof(struct chosen)) : NULL;
	for (guint i = 0; i < all->len; i++) {
		struct chosen *c = &g_array_index(all, struct chosen, i);
		const struct thread_row *row = find(ui, c);
		const struct view_key key = { c->host, TABLE_THREAD, row ? row->uid : 0 };

		if (!row && more && c->tid > 0) {
			miss(ui, c);
			marks |= c->set == ui->marked;
		} else {
			choose(ui, c, row ? &key : NULL);
		}
	}
	ui->only_marked = ui->only_marked && (marks || g_hash_table_size(ui->marked));
	if (!ui->details)
		ui->details = g_steal_pointer(&ui->behind);
	g_array_free(all, TRUE);
}
