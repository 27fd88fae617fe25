/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/pane.h"

#include "ui/internal.h"
#include "view/missing.h"

/* Counters are contexts of events; without them the pane stays empty. */
static const char *explain_perf(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->hosts->len; i++)
		if (ui_host(ui, i)->loaded && ui_host(ui, i)->load.interval.tables[TABLE_PERF].n_rows)
			return NULL;
	return VIEW_PERF_UNRECORDED;
}

static const char *explain_paths(const struct ui *ui)
{
	return window_why_empty(ui);
}

/* Shows the window of the list, and why its order is not that of its column. */
static int draw_window(struct ui *ui, struct pane *p, int y, int max)
{
	const struct list *l = &p->lists[0];
	const bool requests = l->query.ranked && l->rows.n && view_paths_row_is_request(&l->rows, &l->rows.rows[0]);
	uint64_t begin_ns, end_ns;

	if (max < 4)
		return 0;
	if (window_interval(ui, &begin_ns, &end_ns))
		window_draw(ui, begin_ns, end_ns, 1, y, STYLE_DIM, requests ? l->table->ranked : "");
	return 1;
}

/* Says, one line per host, what was not recorded and makes critical paths less exact. */
static int draw_lacks(struct ui *ui, int y, int max)
{
	int used = 0;

	for (unsigned i = 0; i < ui->hosts->len && used < max; i++) {
		const struct ui_host *host = &ui_host(ui, i)->info;
		char *names, *text;
		int x, rows;

		if (ui_host(ui, i)->gone || !host->lacks || !host->lacks[0])
			continue;
		names = g_strjoinv(", ", (char **)host->lacks);
		text = g_strdup_printf("critical paths are less exact without %s", names);
		x = canvas_text(ui->canvas, 0, y + used, STYLE_MARKED, host->name, -1) + 1;
		rows = MIN(canvas_wrapped_rows(text, ui->canvas->w - x - 1), max - used);
		canvas_text_wrapped(ui->canvas, x, y + used, rows, STYLE_DIM, text);
		g_free(text);
		g_free(names);
		used += rows;
	}
	return used;
}

/* The sources above the hosts, in at most a third of the rows; half, if that is needed to say what is wrong. */
static int draw_sources(struct ui *ui, struct pane *p, int y, int max)
{
	/* it is not news that recordings have been read */
	int used = max < 24 && inputs_are_read(ui) ? 0 : inputs_draw(ui, y, MAX(max / 3, 3), MAX(max / 2, 3));

	(void)p;
	used += draw_lacks(ui, y + used, max / 4);
	return used && used + 3 < max ? used + 1 : used;
}

static bool open_path(struct ui *ui, const struct list *l, const struct view_row *row)
{
	(void)l;
	(void)row;
	do_path(ui, 0);
	return true;
}

static bool open_clock(struct ui *ui, const struct list *l, const struct view_row *row)
{
	if (!(l->table->supply.needs & VIEW_CLOCKS) && l->table->source != TABLE_HOST)
		return false;
	pane_destroy(ui->details);
	ui->details = pane_clock_create(row->key.host);
	return true;
}

/* The process that acts, or, if that one is on another host, the one acted upon. */
static bool open_relation(struct ui *ui, const struct list *l, const struct view_row *row)
{
	const struct relation_row *relation = INTERVAL_ROW(relation, &row->row);
	const struct view_key process = {
		.host = row->key.host,
		.table = TABLE_THREAD,
		.uid = relation->from_uid ? relation->from_uid : relation->to_uid,
	};

	(void)l;
	if (!process.uid)
		return false;
	pane_destroy(ui->details);
	ui->details = pane_details_create(&process);
	return true;
}

static const char *explain_hosts(const struct ui *ui)
{
	return ui->clocks ? NULL : "every host has its own clock (--no-sync)";
}

static const struct pane_type types[PANES] = {
	[PANE_CPU] = {
		.title = "CPU",
		.about = "who used the CPUs, and who waited for them",
		.tables = { "cpu" },
		.empty = { "no thread ran in this interval" },
	},
	[PANE_IO] = {
		.title = "I/O",
		.about = "bytes read and written by system calls",
		.tables = { "io" },
		.empty = { "no thread read or wrote anything in this interval" },
	},
	[PANE_PERF] = {
		.title = "Perf",
		.about = "perf counters of threads",
		.report = "perf",
		.tables = { "counters" },
		.empty = { "no perf counter grew in this interval" },
		.explain = explain_perf,
	},
	[PANE_FILES] = {
		.title = "Files",
		.about = "open files, and what went through them; those inherited and unused are only in the report",
		.tables = { "files" },
		.empty = { "no file was used in this interval" },
	},
	[PANE_SYSCALLS] = {
		.title = "Syscalls",
		.about = "system calls: how often, how long, how many failed",
		.tables = { "syscalls" },
		.empty = { "no system call ended in this interval" },
	},
	[PANE_LATENCY] = {
		.title = "Latency",
		.about = "how long threads waited for a CPU after they were woken",
		.tables = { "sched" },
		.empty = { "no thread was woken in this interval" },
	},
	[PANE_DEVICES] = {
		.title = "Devices",
		.about = "disks, network interfaces, interrupts",
		.tables = { "disks", "net", "irqs" },
		.empty = { "no disk was used in this interval", "no packet was received or sent in this interval",
			   "no interrupt occurred in this interval" },
		.instead = { "2 (I/O), sorted by DISKRQ/s (F6), shows whose requests they were",
			     "Connections (see P) shows who sent and received" },
	},
	[PANE_PATHS] = {
		.title = "Paths",
		.about = "critical paths: what threads waited for, requests first",
		.report = "critical-totals; of one thread, as key w: critical-path",
		.tables = { "paths" },
		.empty = { "no thread waited or ran in this window" },
		.explain = explain_paths,
		.open_row = open_path,
		.head = draw_window,
		.window = true,
	},
	[PANE_HOSTS] = {
		.title = "Hosts",
		.about = "hosts and their CPUs, clocks and sources",
		.tables = { "hosts", "sync", "cpus" },
		.empty = { "no host has data in this interval", "one host: no clock to synchronise with",
			   "no CPU was seen in this interval" },
		.instead = { NULL, NULL, "1 (CPU) shows who ran" },
		.explain = explain_hosts,
		.open_row = open_clock,
		.head = draw_sources,
	},
	[PANE_EVENTS] = {
		.title = "Events",
		.about = "events by class, probes, programs that emit them",
		.tables = { "events", "probes", "emitters" },
		.empty = { "no event in this interval", "no probe was hit in this interval",
			   "no program emitted a user-space event in this interval" },
		.instead = { "D shows the events themselves", "D shows the events themselves" },
	},
	[PANE_OF_relations] = {
		.open_row = open_relation,
	},
	[PANE_OF_pressure] = {
		.instead = { "6 (Latency) and Blocking (see P) show who waited" },
	},
	[PANE_OF_containers] = {
		.open_row = containers_open,
	},
	[PANE_OF_accounting] = {
		.explain = accounts_why_empty,
		.open_row = open_path,
		.head = accounts_head,
		.work = accounts_work,
		.window = true,
	},
};

/* A pane of one table takes from it whatever its own row leaves out. */
static void complete_types(struct pane_type *complete)
{
	static const char *const of_table[PANES] = {
#define VIEW_PANE(name) [PANE_OF_##name] = #name,
#include "view/tables.def"
	};

	for (unsigned i = 0; i < PANES; i++) {
		const struct view_table *table = of_table[i] ? view_table_find(of_table[i]) : NULL;

		complete[i] = types[i];
		if (!table)
			continue;
		complete[i].title = table->title;
		complete[i].about = table->about;
		complete[i].tables[0] = table->name;
		complete[i].empty[0] = table->empty;
	}
}

const struct pane_type *pane_type(enum pane_id id)
{
	static struct pane_type complete[PANES];

	if (!complete[0].title)
		complete_types(complete);
	return &complete[id];
}

struct pane *pane_create(const struct pane_type *type)
{
	struct pane *p = g_new0(struct pane, 1);

	p->type = type;
	p->stale = true;
	view_filter_init(&p->filter);
	while (p->n_lists < PANE_LISTS && type->tables[p->n_lists]) {
		list_init(&p->lists[p->n_lists], view_table_find(type->tables[p->n_lists]));
		p->n_lists++;
	}
	return p;
}

void pane_destroy(struct pane *p)
{
	if (!p)
		return;
	if (p->type->body)
		p->type->body->release(p);
	for (unsigned i = 0; i < p->n_lists; i++)
		list_release(&p->lists[i]);
	view_filter_release(&p->filter);
	g_free(p);
}

/* The query for a list's table, without the order. */
static struct view_query make_query(struct ui *ui, struct pane *p, unsigned list)
{
	const struct list *l = &p->lists[list];
	const bool of_threads = l->table->source == TABLE_THREAD;
	struct view_query query = {
		.table = l->table,
		.processes = ui->processes,
		.tree = of_threads ? ui->tree : l->table->parent && !l->flat,
		.collapsed = ui->collapsed,
		.only = ui->only_marked ? ui->marked : NULL,
		.filter = &ui->filter,
		.derived = &l->derived,
	};

	/* the sums of two intervals have no key by which they belong together */
	if (l->sum_by && !ui->baseline->end_ns) {
		query.sum_by = l->sum_by;
		query.processes = query.tree = false;
	}
	query.spread = list_wants_spread(&p->lists[list]);
	/* the tree needs the parents, idle or not */
	query.all = of_threads && query.tree;
	/* collected rows cannot be highlighted unless they belong to processes */
	if (l->table->supply.needs && !l->table->process)
		query.only = NULL;
	if (p->type->adjust)
		p->type->adjust(ui, p, list, &query);
	return query;
}

uint32_t pane_tables(struct ui *ui, struct pane *p)
{
	uint32_t tables = p->type->reads;

	for (unsigned i = 0; i < p->n_lists; i++) {
		struct view_query query = make_query(ui, p, i);

		tables |= view_query_tables(&query);
	}
	return tables;
}

/* Collects the rows of a list whose table has a supply. */
static void supply_rows(struct ui *ui, struct list *l, const GArray *shown)
{
	struct view_host *hosts = g_new(struct view_host, shown->len + 1);
	struct view_sources from = {
		.hosts = hosts,
		.n_hosts = shown->len,
		.end_ns = MAX(ui->shown_end_ns, ui->cursor.begin_ns),
	};

	from.accounts = accounts_list(ui, &from.n_accounts);
	for (unsigned i = 0; i < shown->len; i++) {
		hosts[i] = g_array_index(shown, struct view_host, i);
		hosts[i].wait = ui_host(ui, i)->hidden ? UINT_MAX : i;
	}
	/* a single host has no other clock to be compared with */
	if (shown->len > 1 && ui->cursor.known_ns)
		from.clocks = ui->clocks;
	view_derived_clear(&l->derived);
	l->table->supply.collect(&l->derived, &from);
	g_free(hosts);
}

void pane_build(struct ui *ui, struct pane *p)
{
	const GArray *hosts = p->type->window ? ui->window->view_hosts : ui->view_hosts;

	if (p->type->body)
		p->type->body->update(ui, p);
	if (!p->stale)
		return;
	p->stale = false;
	for (unsigned i = 0; i < p->n_lists; i++) {
		struct view_query query = make_query(ui, p, i);

		if (query.table->supply.needs)
			supply_rows(ui, &p->lists[i], hosts);
		list_build(&p->lists[i], &query, (const struct view_host *)(const void *)hosts->data, hosts->len,
			   baseline_hosts(ui, p, p->lists[i].table));
	}
}

enum { SELECTION_ROWS = 2 }; /* the header and the selected row */

/* Distributes h rows among the lists: those that need less than their share leave the rest to the others. */
static void share_rows(const struct pane *p, int h, int width, char *const *empty, int *rows)
{
	int left = h, sharers = (int)p->n_lists;
	bool settled;

	for (unsigned i = 0; i < p->n_lists; i++)
		rows[i] = -1;
	do {
		settled = true;
		for (unsigned i = 0; i < p->n_lists; i++) {
			/* header, rows, and a blank one */
			int n = p->lists[i].rows.n ? (int)MIN(p->lists[i].rows.n, 10000u)
						   : canvas_wrapped_rows(empty[i], width - 2);
			int wanted = n + 2;

			if (rows[i] < 0 && wanted <= left / sharers) {
				rows[i] = wanted;
				left -= wanted;
				sharers--;
				settled = false;
			}
		}
	} while (!settled && sharers);
	for (unsigned i = 0; i < p->n_lists; i++)
		if (rows[i] < 0) {
			rows[i] = left / sharers;
			left -= left / sharers--;
		}
	/* the remainder goes below the last list */
	rows[p->n_lists - 1] += left;
	/* on a small screen the others give up rows for the selected one, the last list first */
	for (unsigned i = p->n_lists; i-- > 0 && rows[p->focus] < SELECTION_ROWS;) {
		const int given = i == p->focus ? 0 : MIN(rows[i], SELECTION_ROWS - rows[p->focus]);

		rows[i] -= given;
		rows[p->focus] += given;
	}
}

static const char *why_empty(const struct ui *ui, const struct pane *p, unsigned i)
{
	const struct list *l = &p->lists[i];
	const bool is_filtered = filter_affects(ui, l), is_compared = baseline_hosts(ui, p, l->table);

	if (p->entity.table == TABLE_THREAD && ui_host(ui, p->entity.host)->hidden)
		return "its host is hidden; H shows it again";
	if (ui->only_marked)
		return "no highlighted row here; f shows all again";
	if (is_filtered && is_compared && l->baseline.n)
		return "nothing that matches the filter differs; F4 changes it, C ends the comparison";
	if (is_filtered)
		return "nothing matches the filter; F4 changes it";
	if (ui->loaded_end_ns == ui->loaded_begin_ns)
		return "reading the first interval …";
	if (is_compared)
		return "no differences: go to another interval; C ends the comparison";
	return p->type->explain ? p->type->explain(ui) : NULL;
}

/* The text of an empty list. It claims that nothing happened only if that would have been recorded. */
static char *empty_text(const struct ui *ui, const struct pane *p, unsigned i)
{
	const GArray *hosts = p->type->window ? ui->window->view_hosts : ui->view_hosts;
	const char *why = why_empty(ui, p, i);
	char *missing;

	if (why)
		return g_strdup(why);
	missing = view_missing_text(p->lists[i].table->needs, (const struct view_host *)(const void *)hosts->data,
				    hosts->len, p->lists[i].query.filter);
	return missing ? missing : g_strdup(p->type->empty[i]);
}

void pane_draw(struct ui *ui, struct pane *p, int y, int h)
{
	struct list_look look = {
		.format = ui->format,
		.hosts = ui_visible_hosts(ui) > 1,
		.virtual_ids = ui->virtual_ids,
		.marked = ui->marked,
		.search = ui->search_text->str,
	};
	char *empty[PANE_LISTS];
	int rows[PANE_LISTS];

	look.format.day_ns = ui->shown_begin_ns;
	if (p->type->body) {
		p->type->body->draw(ui, p, y, h);
		return;
	}
	if (p->type->head) {
		int used = p->type->head(ui, p, y, h);

		y += used;
		h -= used;
	}
	for (unsigned i = 0; i < p->n_lists; i++)
		empty[i] = empty_text(ui, p, i);
	share_rows(p, h, ui->canvas->w, empty, rows);
	for (unsigned i = 0; i < p->n_lists; i++) {
		/* lists are separated by a blank row if there is room */
		int gap = i + 1 < p->n_lists && rows[i] > 3;

		look.focus = i == p->focus;
		look.title = p->type->titles[i];
		look.empty = empty[i];
		if (rows[i] > 0)
			list_draw(&p->lists[i], ui->canvas, y, rows[i] - gap, &look);
		else
			p->lists[i].y = p->lists[i].h = 0; /* nothing to click on */
		y += rows[i];
		g_free(empty[i]);
	}
}

/* The next list with rows above (-1) or below (1) the one that receives keys; that one itself: there is none. */
static unsigned next_list(const struct pane *p, int direction)
{
	for (unsigned i = p->focus + (unsigned)direction; i < p->n_lists; i += (unsigned)direction)
		if (p->lists[i].rows.n)
			return i;
	return p->focus;
}

void pane_show_lists(struct pane *p)
{
	if (!pane_list(p)->h)
		p->head_first = 0;
}

bool pane_shows_selection(struct pane *p)
{
	const bool hidden = p->head_first && !pane_list(p)->h;

	return !hidden && list_shows_selection(pane_list(p));
}

void pane_move(struct pane *p, int by)
{
	const int direction = by > 0 ? 1 : -1;
	unsigned next;
	int rest;

	if (p->type->body) {
		p->type->body->move(p, by);
		return;
	}
	pane_show_lists(p);
	rest = list_move(pane_list(p), by);
	while (rest && (next = next_list(p, direction)) != p->focus) {
		p->focus = next;
		list_select(pane_list(p), by > 0 ? 0 : pane_list(p)->rows.n - 1);
		rest = list_move(pane_list(p), rest - direction);
	}
	/* an empty list cannot receive keys */
	if (!pane_list(p)->rows.n)
		p->focus = next_list(p, -direction);
}

bool pane_search(struct pane *p, const char *text, bool backward, bool here)
{
	const unsigned n = p->n_lists;

	/* the rest of the list, the other lists, all of this one again */
	for (unsigned i = 0; i <= n; i++) {
		const unsigned at = (p->focus + (backward ? n - i : i)) % n;

		if (list_search(&p->lists[at], text, backward, i ? LIST_EDGE : here ? LIST_SELECTED : LIST_BESIDE)) {
			p->focus = at;
			pane_show_lists(p);
			return true;
		}
	}
	return false;
}

bool pane_click(struct pane *p, int x, int y)
{
	if (p->type->body)
		return p->type->body->click(p, x, y);
	for (unsigned i = 0; i < p->n_lists; i++) {
		struct list *l = &p->lists[i];
		const struct column *column = list_column_at(l, x);

		if (y == l->y - 1 && column) {
			p->focus = i;
			list_sort_by(l, column->name);
			p->stale = true;
		} else if (y >= l->y && y < l->y + l->h) {
			unsigned row = l->top + (unsigned)(y - l->y);

			p->focus = i;
			list_select(l, row);
			return row < l->rows.n;
		}
	}
	return false;
}
