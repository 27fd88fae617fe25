/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_INTERNAL_H
#define LT_UI_INTERNAL_H

#include "ui/action.h"
#include "ui/canvas.h"
#include "ui/cursor.h"
#include "ui/overlay.h"
#include "ui/path.h"
#include "ui/pane.h"
#include "ui/prompt.h"
#include "ui/ui.h"
#include "view/format.h"
#include "view/derived.h"
#include "view/paths.h"
#include "view/rows.h"

/*
 * What the files of this directory share.
 *
 *   row 0        header        state word, interval, totals         header.c
 *   1 …          header        a line per host                      host_lines.c
 *                timeline      the history with the cursor          timeline.c
 *                pane          lists, details                       pane.c, pane_*.c, list.c
 *                  overlay     help, messages, menus: over the pane overlay.c
 *   last row     function bar, or a prompt, or a message            bar.c, prompt.c
 */

enum { UI_MIN_WIDTH = 40, UI_MIN_HEIGHT = 8, UI_BOOKMARKS = 26 };

/* A host with what the history says of it in the shown interval. */
struct ui_host_data {
	struct ui_host info;
	struct history_load load;
	bool loaded;                     /* there is something of it in the interval */
	bool gap;                        /* it was away all the time of the interval */
	bool hidden;                     /* by the user */
	uint64_t probe_ns, probe_ref_ns; /* a time of it, and what its map made of it when the screen was last told */
};

/* An instant by a host's clock: whatever becomes of the maps, it stays where it is in the trace. */
struct ui_instant {
	bool set;
	unsigned host;
	uint64_t host_ns;
};

struct ui {
	struct ui_options options;
	struct history *history;
	struct canvas *canvas;
	struct format format;
	struct cursor cursor;
	bool started;
	uint64_t expected_end_ns;

	GArray *hosts;                           /* struct ui_host_data */
	GArray *inputs;                          /* struct input_data: inputs.c */
	bool choosing_hosts;                     /* the overlay is the menu of hosts and sessions */
	uint64_t lag_drawn_ns;                   /* what the first line said last */
	GArray *view_hosts;                      /* struct view_host, made anew by data_load() */
	uint64_t loaded_begin_ns, loaded_end_ns; /* what was asked of the history */
	uint32_t loaded_tables;
	uint64_t shown_begin_ns, shown_end_ns; /* what it had: the edges of its frames */

	struct pane *panes[PANES]; /* made when first shown */
	enum pane_id current;
	struct pane *details; /* shown over the current pane, NULL: not */
	struct pane *behind;  /* the calls that a path was opened from, NULL: none */

	GHashTable *marked; /* set of struct view_key: highlighted rows */
	bool only_marked;
	GString *filter_text;
	GString *filter_before; /* of the prompt */
	struct view_filter filter;
	GString *search_text;
	struct list *search_list; /* whose selection the prompt moves, and where it was; NULL: none */
	struct list_place search_from;
	bool tree, processes, virtual_ids, host_percent;
	GHashTable *collapsed; /* set of struct view_key */

	struct prompt prompt;
	struct overlay *overlay; /* NULL: none */
	char message[200];       /* in the last row until the next key */
	int pending;             /* a key that waits for a letter: 'm' or '\'', 0 none */
	struct ui_instant bookmarks[UI_BOOKMARKS];
	struct ui_instant mark;                 /* A */
	struct ui_instant shown_from, shown_to; /* the cursor's interval when it was last shown */
	bool skip_idle;
	bool show_hosts;   /* the header's lines per host */
	bool color_chosen; /* on or off by the user, not by the terminal */

	enum ui_clocks_stage clocks_stage;
	bool incomplete;                 /* a source could not be read, or broke off */
	unsigned clocks_percent;         /* of UI_CLOCKS_CUTTING */
	const struct clock_sync *clocks; /* NULL: every host is on its own */
	struct ui_window *window;        /* of critical paths: window.c */
	struct ui_baseline *baseline;    /* what lists are compared with: baseline.c */
	struct ui_accounts *accounts;    /* of that window: pane_accounts.c */
	struct ui_calls calls;           /* what was read of them last: pane_calls.c; problem: owned */
	unsigned calls_asked;            /* the number of the last request for some */
	uint64_t work_ns;                /* when the pane's work goes on, wall clock; UINT64_MAX: there is none */
	struct path *compared;           /* the path that others are compared with, NULL: none; see path_ref() */

	int strip_y, pane_y; /* rows of the timeline and of the pane's first row when last drawn */
	bool dirty;          /* to be drawn at once */
	bool growing;        /* to be drawn soon: only more is known */
	uint64_t drawn_ns;   /* wall clock */
	bool quit;
	bool terminal_gone;
};

/*
 * The window that critical paths are shown of: the last length_ns up to the shown interval's end, or the interval
 * chosen by hand. Its rows are threads that lived in it, from the history; their paths come from
 * a wait graph that has it.
 *
 *   history ──▶ loads ─────────▶ view_hosts ──▶ list of threads
 *   graph that has the window ──▶ paths ──┘ └─▶ pane_path.c: the path of one
 */
struct ui_graph {
	struct ui_waits info; /* hosts: owned */
	unsigned generation;  /* grows whenever it is another graph */
};

struct ui_window {
	uint64_t length_ns; /* 0: not chosen yet */
	struct ui_graph graphs[UI_WAITS_KINDS];
	unsigned percent; /* of the window that is read again */
	char *problem;    /* why it cannot be, NULL: it can */
	uint64_t kept_ns; /* what the graph that answered last has dropped of its past */
	bool cut;         /* live: it has not come to the window's end yet */
	bool wanted;      /* somebody looked for a graph that is not there */
	uint64_t wanted_begin_ns, wanted_end_ns;
	/* what is loaded */
	uint64_t begin_ns, end_ns;
	unsigned generation;
	bool answered;      /* paths are those of the window, not of one before */
	GArray *loads;      /* struct history_load, by host */
	GArray *paths;      /* struct view_paths, by host */
	GArray *view_hosts; /* struct view_host */
};

/*
 * The interval that lists are compared with: their figures are how much more they are than there. Read from the
 * history for the pane that is shown: what has been dropped by then is missing.
 */
struct ui_baseline {
	struct ui_instant from, to;
	uint64_t begin_ns, end_ns; /* the same in reference time; end_ns 0: nothing is compared */
	uint32_t tables;           /* 1 << enum table_id: what is loaded; 0: nothing */
	GArray *loads;             /* struct history_load, by host */
	GArray *view_hosts;        /* struct view_host */
};

void baseline_init(struct ui *ui);
void baseline_release(struct ui *ui);

/* From now on lists are compared with the shown interval; or no longer. */
void baseline_begin(struct ui *ui);
void baseline_end(struct ui *ui);

/* The clocks are others. */
void baseline_clocks_changed(struct ui *ui);

/* Loads the tables of it that are not yet; returns whether anything is different. */
bool baseline_load(struct ui *ui, uint32_t tables);

/* What a list of the pane is compared with (struct view_host), NULL: it is not. */
const GArray *baseline_hosts(const struct ui *ui, const struct pane *p, const struct view_table *table);

/* "vs [12:00:01.000, 12:00:02.000[  " if a list of the shown pane is compared. Appends. */
void baseline_add_status(struct ui *ui, GString *s);

void window_init(struct ui *ui);
void window_release(struct ui *ui);

/* Brings the list's data up to date; returns whether anything is different. */
bool window_load(struct ui *ui);

/* The window, reference time; false: nothing is known yet. */
bool window_interval(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/*
 * A graph that has the window, or as much of it as there will ever be: *begin_ns and *end_ns are cut to
 * that. NULL: not now; it is wanted from now on.
 */
const struct ui_graph *window_graph(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* A host's number in a graph, UINT_MAX: it is not there; and the screen's number of one of the graph's. */
unsigned window_graph_host(const struct ui_graph *graph, unsigned host);
unsigned window_screen_host(const struct ui_graph *graph, unsigned host);

/* One step longer or shorter. */
void window_change_length(struct ui *ui, int direction);

/* "reading 34%", a problem, or "" : what there is to say while a window has no graph. */
const char *window_state(const struct ui *ui, char *text, size_t size);

/* The window as text in width columns. */
void window_draw(struct ui *ui, int x, int y, int width);

/* Why the list of threads is empty. */
const char *window_why_empty(const struct ui *ui);

/* pane_accounts.c: what struct pane_type asks of the pane of accounts. */
void accounts_init(struct ui *ui);
void accounts_release(struct ui *ui);
uint64_t accounts_work(struct ui *ui, uint64_t now_ns);
/* The accounts that were computed last, with the screen's numbers of hosts. */
const struct account *accounts_list(const struct ui *ui, unsigned *n);
int accounts_head(struct ui *ui, struct pane *p, int y, int max);
const char *accounts_why_empty(const struct ui *ui);

/* pane_containers.c: what struct pane_type asks of the pane of containers. */
bool containers_open(struct ui *ui, const struct list *l, const struct view_row *row);

/* path_perf.c: what the threads on the path counted in its window, their time beside the path included, as text. */
void path_count_perf(const struct ui *ui, const struct path *path, GString *text);

/*
 * The answer that the pane of a path shows, asked for once more, the window that it is of, and who gave it;
 * NULL: it shows none of this window yet.
 */
const struct ui_graph *pane_path_answer(struct ui *ui, const struct pane *p, struct wait_path *answer,
					uint64_t *begin_ns, uint64_t *end_ns);

/*
 * instant.c: an instant of the shown time by the clock of the host that the selected row is of, else of one that is
 * shown; and what it is in reference time now, 0: it is not set.
 */
struct ui_instant instant_of(struct ui *ui, uint64_t ref_ns);
uint64_t instant_ref(const struct ui *ui, const struct ui_instant *instant);

/* What the first line says of the clocks, the least detail last; empty: nothing. */
enum { CLOCKS_TEXTS = 4 };
void clocks_texts(const struct ui *ui, char texts[CLOCKS_TEXTS][FORMAT_SIZE * 4]);

/* ui.c: the length of the first interval, and where --begin is. */
uint64_t ui_first_interval(const struct ui *ui, uint64_t span_ns, uint64_t frame_ns);
uint64_t ui_begin(const struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns);

/* Times of a host by its own clock and by the reference's. */
static inline uint64_t ui_to_ref(const struct ui_host_data *host, uint64_t host_ns)
{
	return clock_to_ref(host->info.map, host_ns);
}

static inline uint64_t ui_from_ref(const struct ui_host_data *host, uint64_t ref_ns)
{
	return clock_from_ref(host->info.map, ref_ns);
}

/*
 * data.c: loads [begin_ns, end_ns[ (reference time) of a host's track, at the edges of frames that are nearest.
 * False: there is nothing; *gap: because it was away.
 */
bool data_load_host(const struct ui *ui, const struct ui_host_data *host, uint64_t begin_ns, uint64_t end_ns,
		    uint32_t tables, struct history_load *load, bool *gap);

/* What lists read of a host; iv NULL: nothing. */
struct view_host data_view_host(const struct ui_host_data *host, const struct interval *iv);

/* data.c: the shown interval out of the history. */

/* Brings the hosts' data up to date for the shown pane; returns whether anything is different. */
bool data_load(struct ui *ui);

/* The next load starts from scratch (the hosts shown have changed). */
void data_forget(struct ui *ui);

static inline struct ui_host_data *ui_host(const struct ui *ui, unsigned i)
{
	return &g_array_index(ui->hosts, struct ui_host_data, i);
}

/* The host's own row in the shown interval, NULL: there is nothing of it. */
static inline const struct host_row *ui_host_row(const struct ui_host_data *host)
{
	const struct interval_table *t = &host->load.interval.tables[TABLE_HOST];

	return host->loaded && t->n_rows ? INTERVAL_ROW(host, &t->rows[0]) : NULL;
}

/* A figure of that row, which is not NULL. */
#define HOST_VALUE(host, member) \
	INTERVAL_VALUE(&(host)->load.interval, HOST, host, &(host)->load.interval.tables[TABLE_HOST].rows[0], member)

/* The hosts the user has not hidden. */
unsigned ui_visible_hosts(const struct ui *ui);

/* The pane that has the keys: details or the current one. */
struct pane *ui_pane(struct ui *ui);

/* Shows a message in the last row until the next key. */
void ui_say(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The panes' rows must be made anew (order, filter, form have changed). */
void ui_rebuild(struct ui *ui);

/* The lists of a pane show CPU time in percent of one CPU or of the host, as ui->host_percent says. */
void ui_show_percent(const struct ui *ui, struct pane *p);

/* As if that had been typed as the filter. */
void ui_set_filter(struct ui *ui, const char *text);

/*
 * Brings the shown pane's rows up to date. To be called before they are read: rows
 * of other panes point to what was shown when those were seen last.
 */
void ui_refresh(struct ui *ui);

/* Replaces the overlay; NULL closes it. */
void ui_set_overlay(struct ui *ui, struct overlay *overlay);

/* Keys of the last row's prompt, called with what was typed. */
/* Whether there is room for the line of panes. */
static inline bool ui_shows_tabs(const struct ui *ui)
{
	return ui->canvas->h >= 16;
}

/* The selected row of the pane's list, to act on it. NULL: there is none in sight, and that was said. */
const struct view_row *ui_acting_row(struct ui *ui);

void ui_prompt(struct ui *ui, const char *label, const char *text, prompt_change_fn *change, prompt_done_fn *done);

/*
 * header.c, host_lines.c (of the first n hosts), timeline.c, bar.c: each draws at
 * row y and returns how many rows it took.
 */
int header_draw(struct ui *ui, int y, int max_rows);
int host_lines_draw(struct ui *ui, int y, unsigned n);

/* How many there are: hosts whose sessions have ended fade after a minute. */
unsigned host_lines_count(const struct ui *ui);
int timeline_draw(struct ui *ui, int y);
void bar_draw(struct ui *ui, int y);

/* A click at column x of the bar: the action there, NULL: none. */
const struct action *bar_action_at(const struct ui *ui, int x);

/* The time under column x of the strip, 0: none. */
uint64_t timeline_time_at(const struct ui *ui, int x);

/*
 * inputs.c: the sources. Draws a line for each, at most max rows, and a head; returns how many rows it took.
 */
int inputs_draw(struct ui *ui, int y, int max);
/* What the recordings are called: the name of the only one, or how many there are; NULL: none. To be freed. */
char *inputs_files(const struct ui *ui);
/* Whether all are recordings that were read without trouble. */
bool inputs_are_read(const struct ui *ui);
void inputs_init(struct ui *ui);
void inputs_release(struct ui *ui);

/* The state of the first source of a host that does not run, and whether it is tried again; NULL: none. */
const char *inputs_why_away(const struct ui *ui, const char *host, bool *retried);

/* Adds the sessions to a menu, behind a heading if there are any; their values are from first_value on. */
void inputs_add_items(const struct ui *ui, struct overlay *menu, const char *heading, int heading_value,
		      int first_value);

/* A session is to be attached or detached. */
void input_toggle(struct ui *ui, unsigned input);

/* The greatest lag of the hosts that are shown. */
uint64_t ui_lag_ns(const struct ui *ui);

/* How many of the hosts that are shown are away or silent. */
unsigned ui_absent_hosts(const struct ui *ui);

/* Makes the menu of hosts and sessions, or makes it anew where it stands. */
void hosts_menu_show(struct ui *ui);

/* Runs the action of a key as if it was typed. */
void ui_run(struct ui *ui, const struct action *action);

/* dispatch.c */
void dispatch_key(struct ui *ui, int key);

/* Writes t_ns in the user's time zone; digits of the fraction. */
const char *ui_time(const struct ui *ui, char *buffer, size_t size, uint64_t t_ns, unsigned digits, bool date);

/* The overlays. */
struct overlay *help_create(struct ui *ui);
struct overlay *messages_create(struct ui *ui);

#endif
