/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_INTERNAL_H
#define LT_UI_INTERNAL_H

#include "ui/action.h"
#include "ui/canvas.h"
#include "ui/cursor.h"
#include "ui/overlay.h"
#include "ui/path.h"
#include "ui/pane.h"
#include "ui/preview.h"
#include "ui/prompt.h"
#include "ui/ui.h"
#include "view/format.h"
#include "view/derived.h"
#include "view/paths.h"
#include "view/rows.h"

/*
 * Shared by the files of this directory.
 *
 *   row 0        header        state word, interval, totals         header.c
 *   1 …          header        one line per host                    host_lines.c
 *                timeline      the history with the cursor          timeline.c
 *                pane          lists, details                       pane.c, pane_*.c, list.c
 *                  overlay     help, messages, menus: over the pane overlay.c
 *   last row     function bar, or a message, or a prompt below it   bar.c, prompt.c
 */

enum { UI_MIN_WIDTH = 40, UI_MIN_HEIGHT = 8, UI_BOOKMARKS = 26 };

/* A host with its history in the shown interval. */
struct ui_host_data {
	struct ui_host info;
	struct history_load load;
	bool loaded;          /* the history has data of it in the interval */
	bool gap;             /* it was away for the whole interval */
	bool hidden;          /* by the user */
	bool gone;            /* live: it has ended, and the history has dropped all of it: it is not shown */
	struct host_row past; /* if it ended before the interval: its last state; otherwise 0 */
	uint64_t past_ns;     /* the end of its history then; 0: it was not looked up */
	/* a time of the host, and its reference time when the screen was last updated */
	uint64_t probe_ns, probe_ref_ns;
};

/* An instant on a host's clock: it keeps its place in the trace when clocks are corrected. */
struct ui_instant {
	bool set;
	unsigned host;
	uint64_t host_ns;
};

/* A sum whose rows are shown instead of it, and what to go back to: do_sum.c. */
struct ui_opened_sum {
	struct list *list; /* NULL: none */
	enum view_sum by;
	char *sort;
	bool reverse, sorted;
	struct list_place place;
	bool processes, tree;
	char *filter_before, *filter; /* without and with what the rows have in common */
};

/* A container whose threads are shown instead of the containers: pane_containers.c. */
struct ui_opened_container {
	enum pane_id pane;            /* what to go back to */
	char *filter_before, *filter; /* without and with the container; NULL: none was opened */
};

/* Where the name of a pane was drawn; width 0: it was not. */
struct ui_tab {
	int x, width;
};

struct ui {
	struct ui_options options;
	struct history *history;
	struct ui_preview preview;
	struct canvas *canvas;
	struct format format;
	struct cursor cursor;
	bool started;
	uint64_t expected_end_ns;

	GArray *hosts;                           /* struct ui_host_data */
	GArray *inputs;                          /* struct input_data: see inputs.c */
	bool choosing_hosts;                     /* the overlay is the menu of hosts and sessions */
	bool listing_longest;                    /* the overlay is a list of the longest durations */
	bool reading_messages;                   /* the overlay is the box of messages */
	uint64_t messages_shown;                 /* number of the newest message in it */
	uint64_t warned;                         /* number of the newest one that ui_show_warnings() has shown */
	uint64_t lag_drawn_ns;                   /* lag last shown on the first line */
	GArray *view_hosts;                      /* struct view_host, rebuilt by data_load() */
	uint64_t loaded_begin_ns, loaded_end_ns; /* ui_interval() when data was last loaded */
	uint32_t loaded_tables;
	unsigned loaded_preview;               /* number of the preview they are from; 0: none */
	uint64_t shown_begin_ns, shown_end_ns; /* that interval, widened; the loaded data covers it */

	struct pane *panes[PANES]; /* created when first shown */
	enum pane_id current;
	struct pane *details; /* shown over the current pane; NULL: none */
	struct pane *behind;  /* the details or calls to which Esc returns from these; NULL: none */

	GHashTable *marked; /* set of struct view_key: highlighted rows */
	bool only_marked;
	GString *filter_text;
	GString *filter_before; /* before the prompt */
	struct view_filter filter;
	GString *search_text;
	struct list *search_list; /* where the prompt's search started; NULL: there is none */
	struct list_place search_from;
	struct list *search_found; /* the list that it has led to */
	struct ui_opened_sum opened;
	struct ui_opened_container opened_container;
	bool tree, processes, virtual_ids, host_percent;
	GHashTable *collapsed; /* set of struct view_key */
	GArray *missed;        /* chosen rows that are not in what is shown: same_rows.c; NULL: none */

	struct prompt prompt;
	struct overlay *overlay; /* NULL: none */
	char message[400];       /* shown in the last rows until the next key */
	int pending;             /* a key that waits for a letter: 'm' or '\''; 0: none */
	struct ui_instant bookmarks[UI_BOOKMARKS];
	struct ui_instant mark;                 /* set by A */
	struct ui_instant shown_from, shown_to; /* the cursor's interval when last shown */
	bool skip_idle;
	bool show_hosts;   /* show the header's lines per host */
	bool color_chosen; /* turned on or off by the user, not by the terminal */

	enum ui_clocks_stage clocks_stage;
	bool incomplete;                  /* a source could not be read or broke off */
	unsigned clocks_percent;          /* progress of UI_CLOCKS_CUTTING */
	const struct clock_sync *clocks;  /* NULL: every host has its own clock */
	struct ui_window *window;         /* for critical paths: window.c */
	struct ui_baseline *baseline;     /* what lists are compared with: see baseline.c */
	struct ui_accounts *accounts;     /* for that window: pane_accounts.c */
	struct ui_calls calls;            /* the calls read last: pane_calls.c; owns problem */
	struct ui_longest_asked *longest; /* the longest durations of a row: longest.c */
	unsigned calls_asked;             /* number of the last request for calls */
	uint64_t work_ns;                 /* wall clock at which the pane's work continues; UINT64_MAX: no work */
	struct path *compared;            /* the path that others are compared with; NULL: none; see path_ref() */

	/* where things were when last drawn, for the mouse */
	int hosts_y, strip_y, tabs_y, pane_y;
	unsigned host_lines;
	bool bar_shown;                /* not a prompt or a message instead */
	struct ui_tab tabs[PANES + 1]; /* the last one: the menu of all panes */
	bool dirty;                    /* redraw at once */
	bool growing;                  /* redraw soon: more data is known */
	uint64_t drawn_ns;             /* wall clock */
	bool quit;
	bool terminal_gone;
};

/*
 * The window that critical paths are computed for: the last length_ns before the end of the shown interval, or the
 * custom interval. Its rows are the threads that existed in it, from the history; their paths come from a wait graph
 * that covers it.
 *
 *   history ──▶ loads ─────────▶ view_hosts ──▶ list of threads
 *   graph that covers the window ──▶ paths ──┘ └─▶ pane_path.c: the path of one
 */
struct ui_graph {
	struct ui_waits info; /* hosts: owned */
	unsigned generation;  /* increases with each different graph */
};

struct ui_window {
	uint64_t length_ns; /* 0: not chosen yet */
	struct ui_graph graphs[UI_WAITS_KINDS];
	unsigned percent; /* progress of rereading the window */
	char *problem;    /* why rereading failed; NULL: it has not */
	uint64_t kept_ns; /* what the last graph that answered has dropped of its past */
	bool cut;         /* live: the graph has not reached the end of the window yet */
	bool wanted;      /* a graph that does not exist was asked for */
	uint64_t wanted_begin_ns, wanted_end_ns;
	/* what is loaded */
	uint64_t begin_ns, end_ns;
	unsigned generation;
	bool answered;      /* paths belong to this window, not to an earlier one */
	GArray *loads;      /* struct history_load, by host */
	GArray *paths;      /* struct view_paths, by host */
	GArray *view_hosts; /* struct view_host */
};

/*
 * The baseline that lists are compared with: they show differences from it. It is read from the history for the shown
 * pane, so anything the history has dropped by then is missing.
 */
struct ui_baseline {
	struct ui_instant from, to;
	uint64_t begin_ns, end_ns; /* the same in reference time; end_ns 0: no comparison */
	uint32_t tables;           /* 1 << enum table_id: tables that are loaded; 0: nothing */
	GArray *loads;             /* struct history_load, by host */
	GArray *view_hosts;        /* struct view_host */
};

void baseline_init(struct ui *ui);
void baseline_release(struct ui *ui);

/* Starts comparing lists with the shown interval, or stops it. */
void baseline_begin(struct ui *ui);
void baseline_end(struct ui *ui);

/* To be called when the clocks have changed. */
void baseline_clocks_changed(struct ui *ui);

/* Loads the tables that are missing; returns whether anything changed. */
bool baseline_load(struct ui *ui, uint32_t tables);

/* What a list of the pane is compared with (struct view_host); NULL: nothing. */
const GArray *baseline_hosts(const struct ui *ui, const struct pane *p, const struct view_table *table);

/* Appends "vs [12:00:01.000, 12:00:02.000[ (not Clocks)  " if a list of the pane is compared: which ones are not. */
void baseline_add_status(struct ui *ui, GString *s);

void window_init(struct ui *ui);
void window_release(struct ui *ui);

/* Updates the list's data; returns whether anything changed. */
bool window_load(struct ui *ui);

/* What was loaded is not valid any more. */
void window_forget(struct ui *ui);

/* The window in reference time; false: nothing is known yet. */
bool window_interval(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/*
 * A graph that covers the window, or as much of it as possible: *begin_ns and *end_ns are then reduced. NULL: none yet;
 * it is requested.
 */
const struct ui_graph *window_graph(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* A host's number in a graph, UINT_MAX if it is not there; and vice versa. */
unsigned window_graph_host(const struct ui_graph *graph, unsigned host);
unsigned window_screen_host(const struct ui_graph *graph, unsigned host);

/* Makes the window one step longer or shorter. */
void window_change_length(struct ui *ui, int direction);

/* The columns that a window takes as text, without its state. */
int window_width(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns);

/*
 * Draws a window as text from x to the right edge, where another text is if there is room for both. The state is
 * between the two, cut if it is too long.
 */
void window_draw(const struct ui *ui, uint64_t begin_ns, uint64_t end_ns, int x, int y, enum style style,
		 const char *beside);

/* Why the list of threads is empty. */
const char *window_why_empty(const struct ui *ui);

/* pane_accounts.c: the functions of struct pane_type. */
void accounts_init(struct ui *ui);
void accounts_release(struct ui *ui);
uint64_t accounts_work(struct ui *ui, uint64_t now_ns);
/* The latest computed accounts, with the screen's host numbers. */
const struct account *accounts_list(const struct ui *ui, unsigned *n);
/* Their window in reference time, which may not be the latest one; false: there are none yet. */
bool accounts_interval(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);
int accounts_head(struct ui *ui, struct pane *p, int y, int max);
const char *accounts_why_empty(const struct ui *ui);

/* pane_containers.c: functions of struct pane_type. */
bool containers_open(struct ui *ui, const struct list *l, const struct view_row *row);

/* Goes back to the containers; false: none was opened, or the filter has changed since. */
bool containers_return(struct ui *ui);
void containers_release(struct ui *ui);

/*
 * path_perf.c: appends what the perf counters of the path's threads counted in its window, including time off the path.
 */
void path_count_perf(const struct ui *ui, const struct path *path, GString *text);

/*
 * Computes the answer shown by a path pane again, with its window and the graph that gave it; NULL: the pane has none
 * for this window yet.
 */
const struct ui_graph *pane_path_answer(struct ui *ui, const struct pane *p, struct wait_path *answer,
					uint64_t *begin_ns, uint64_t *end_ns);

/*
 * instant.c: converts a shown time to an instant on the clock of the selected row's host, otherwise of one that is
 * shown; and back to reference time as of now, 0: not set.
 */
struct ui_instant instant_of(struct ui *ui, uint64_t ref_ns);
uint64_t instant_ref(const struct ui *ui, const struct ui_instant *instant);

/* What the first line says about the clocks, from most to least detail; empty: nothing. */
enum { CLOCKS_TEXTS = 4 };
void clocks_texts(const struct ui *ui, char texts[CLOCKS_TEXTS][FORMAT_SIZE * 4]);

/* ui.c: the length of the first interval, and where --begin is. */
uint64_t ui_first_interval(const struct ui *ui, uint64_t span_ns, uint64_t frame_ns);
uint64_t ui_begin(const struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns);

/*
 * do_time.c: the time meant in a recording of [begin_ns, end_ns[ (reference time), as timetext_resolve(). But a time of
 * day that the recording does not have is on the day that is nearest to it, so that the edge there is shown.
 */
uint64_t time_nearest(const struct ui *ui, const struct timetext *time, uint64_t begin_ns, uint64_t end_ns);

/* do_time.c: says so if a time that was asked for, which is t_ns, lies outside the data, so that an edge is shown. */
void time_say_outside(struct ui *ui, const struct timetext *time, uint64_t t_ns);

/* ui.c: the same for --begin, unless the user has moved on. */
void ui_say_begin_outside(struct ui *ui);

/* do_time.c: one step through the lengths of the interval. false: refused, which is said. */
bool time_change_length(struct ui *ui, int direction);

/* Converts between a host's own time and reference time. */
static inline uint64_t ui_to_ref(const struct ui_host_data *host, uint64_t host_ns)
{
	return clock_to_ref(host->info.map, host_ns);
}

static inline uint64_t ui_from_ref(const struct ui_host_data *host, uint64_t ref_ns)
{
	return clock_from_ref(host->info.map, ref_ns);
}

/*
 * data.c: loads [begin_ns, end_ns[ (reference time) of a host's track, rounded to frame edges. False: no data, and
 * load is empty; *gap: because it was away.
 */
bool data_load_host(const struct ui *ui, const struct ui_host_data *host, uint64_t begin_ns, uint64_t end_ns,
		    uint32_t tables, struct history_load *load, bool *gap);

/*
 * Widens [begin_ns, end_ns[ (reference time) to whole frames of all hosts that are shown, so that their figures cover
 * the same time: merged frames cannot be split.
 */
void data_widen(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* What lists read of a host; iv NULL: nothing. */
struct view_host data_view_host(const struct ui_host_data *host, const struct interval *iv);

/* The events that the host's trace lacks: enum view_lacks. */
uint32_t data_host_lacks(const struct ui_host_data *host);

/*
 * same_rows.c: notes which rows are chosen before those of another reading are loaded, and finds them there. Those that
 * are missed are looked for again in every interval that is loaded.
 */
GArray *same_rows_note(struct ui *ui);
GArray *same_rows_missed(struct ui *ui);
void same_rows_find(struct ui *ui, GArray *all);

/* Forgets those that are missed: members of a set (GHashTable), the selection of a list (struct list), or NULL: all. */
void same_rows_forget(struct ui *ui, const void *of);
void same_rows_release(struct ui *ui);

/* Whether some are missed, of a set or list. */
bool same_rows_misses(const struct ui *ui, const void *of);

/* The shown interval: the cursor's, or the preview's. Empty (both equal) while nothing is known. */
void ui_interval(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* data.c: the shown interval from the history. */

/* Updates the hosts' data for the shown pane; returns whether anything changed. */
bool data_load(struct ui *ui);

/* Makes the next load start from scratch, because other hosts are shown. */
void data_forget(struct ui *ui);

static inline struct ui_host_data *ui_host(const struct ui *ui, unsigned i)
{
	return &g_array_index(ui->hosts, struct ui_host_data, i);
}

/* The host's own row in the shown interval; NULL: no data. */
static inline const struct host_row *ui_host_row(const struct ui_host_data *host)
{
	const struct interval_table *t = &host->load.interval.tables[TABLE_HOST];

	return host->loaded && t->n_rows ? INTERVAL_ROW(host, &t->rows[0]) : NULL;
}

/* A figure in that row, which must not be NULL. */
#define HOST_VALUE(host, member) \
	INTERVAL_VALUE(&(host)->load.interval, HOST, host, &(host)->load.interval.tables[TABLE_HOST].rows[0], member)

/* The number of hosts that the user has not hidden, without those of which nothing is left. */
unsigned ui_visible_hosts(const struct ui *ui);

/* data.c: the numbers of those hosts (unsigned); free with g_array_free(). */
GArray *data_shown_hosts(const struct ui *ui);

/* The pane that receives keys: details or the current pane. */
struct pane *ui_pane(struct ui *ui);

/* Shows a message in the last row, or as many as it needs, until the next key. */
void ui_say(struct ui *ui, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes the panes rebuild their rows: order, filter or form have changed. */
void ui_rebuild(struct ui *ui);

/*
 * Sets whether the lists of a pane show CPU time as a percentage of one CPU or of the host, according to
 * ui->host_percent.
 */
void ui_show_percent(const struct ui *ui, struct pane *p);

/* Sets the filter as if it had been typed. LT_ERROR: it is invalid; the one before stays. */
enum lt_status ui_set_filter(struct ui *ui, const char *text);

/*
 * Updates the rows of the shown pane; call it before reading them. The rows of other panes refer to what was shown when
 * they were last visible.
 */
void ui_refresh(struct ui *ui);

/* Replaces the overlay; NULL closes it. */
void ui_set_overlay(struct ui *ui, struct overlay *overlay);

static inline bool ui_is_too_small(const struct ui *ui)
{
	return ui->canvas->w < UI_MIN_WIDTH || ui->canvas->h < UI_MIN_HEIGHT;
}

/* Whether there is room for the line of panes. */
static inline bool ui_shows_tabs(const struct ui *ui)
{
	return ui->canvas->h >= 16;
}

/* The selected row of the pane's list, which it stays from then on. NULL: none is visible; this has been reported. */
const struct view_row *ui_selected_row(struct ui *ui);

/* The same for an action on one thread, file or other thing. NULL, too, if it sums up rows. */
const struct view_row *ui_acting_row(struct ui *ui);

/* do_longest.c */
void longest_init(struct ui *ui);
void longest_release(struct ui *ui);

/*
 * filter_effect.c: whether the user's filter affects the list's rows; appends the filter, in at most width columns, and
 * what of it does not apply to the pane, followed by blanks.
 */
bool filter_affects(const struct ui *ui, const struct list *l);
void filter_add_status(const struct ui *ui, const struct pane *p, int width, bool brief, GString *s);

/* do_sum.c: shows the rows that a row sums up, by a filter; goes back to the sums: false if they do not come next. */
void sum_open(struct ui *ui, const struct view_row *row);
bool sum_return(struct ui *ui);
void sum_release(struct ui *ui);

/* Starts a prompt in the last row; the functions are called with the text. */
void ui_prompt(struct ui *ui, const char *label, const char *text, prompt_change_fn *change, prompt_done_fn *done);

/*
 * header.c, host_lines.c (the first n hosts), timeline.c, tabs.c, bar.c: each draws at row y and returns the number of
 * rows used. The names of panes that there is no room for are left out, but for the shown one's.
 */
int header_draw(struct ui *ui, int y, int max_rows);
int host_lines_draw(struct ui *ui, int y, unsigned n);

/* Whether a live host is absent in the shown interval, if that extends to where its data ends. */
bool host_is_away(const struct ui *ui, const struct ui_host_data *host);

/* The number of host lines: hosts whose sessions have ended disappear after a minute. */
unsigned host_lines_count(const struct ui *ui);
int timeline_draw(struct ui *ui, int y);
int tabs_draw(struct ui *ui, int y);
void bar_draw(struct ui *ui, int y);

/* The action at column x of the bar; NULL: none. */
const struct action *bar_action_at(struct ui *ui, int x);

/* The number of the host whose line is at row y; negative: none. */
int host_lines_at(struct ui *ui, int y);

/* Opens the pane whose name is there, if any. */
void tabs_click(struct ui *ui, int x, int y);

/* The time at column x of the strip; 0: none. */
uint64_t timeline_time_at(const struct ui *ui, int x);

/*
 * inputs.c: draws a header and the sources, one line each, in at most max rows, or, with states that need more lines,
 * max_wrapped >= max; returns the number of rows used.
 */
int inputs_draw(struct ui *ui, int y, int max, int max_wrapped);
/* The name of the only recording, or how many there are; NULL: none. The caller frees it. */
char *inputs_files(const struct ui *ui);
/* Whether all sources are recordings that were read without problems. */
bool inputs_are_read(const struct ui *ui);
void inputs_init(struct ui *ui);
void inputs_release(struct ui *ui);

/* The state of the source because of which a host is away, and whether that is retried; NULL: it is being opened. */
const char *inputs_why_away(const struct ui *ui, const char *host, bool *retried);

/* Whether a session is attached whose host has not sent its first event yet. */
bool inputs_await_hosts(const struct ui *ui);

/* Adds the sessions to a menu, after a heading if there are any; their values start at first_value. */
void inputs_add_items(const struct ui *ui, struct overlay *menu, const char *heading, int heading_value,
		      int first_value);

/* Attaches or detaches a session. */
void input_toggle(struct ui *ui, unsigned id);

/* The largest lag of the shown hosts. */
uint64_t ui_lag_ns(const struct ui *ui);

/* Hides all other hosts or, if they are hidden already, shows all. */
void hosts_show_only(struct ui *ui, unsigned host);

/* Opens the menu of hosts and sessions, or updates it in place. */
void hosts_menu_show(struct ui *ui);

/* Whether it does anything yet: before there is a time and a pane, few actions do. */
bool ui_can_run(const struct ui *ui, const struct action *action);

/* Whether the pane that is shown is of a kind in which the action works. */
bool ui_suits_pane(struct ui *ui, const struct action *action);

/* Why the list that receives keys cannot be shown as a tree; NULL: it can. */
const char *ui_no_tree(struct ui *ui);

/* Runs an action as if its key had been pressed. */
void ui_run(struct ui *ui, const struct action *action);

/* dispatch.c */
void dispatch_key(struct ui *ui, int key);

/* mouse.c: takes an event that is pending; the result is the overlay's, if there is one. */
enum overlay_result mouse_event(struct ui *ui);

enum ui_date {
	UI_DATE_NONE,
	UI_DATE_IF_OTHER, /* unless it is the day on which the shown interval starts; short in the same year */
	UI_DATE_IF_DAYS,  /* if the history covers parts of more than one day; short if they are in one year */
	UI_DATE_SHORT,    /* month and day */
	UI_DATE_FULL
};

/* Formats t_ns in the user's time zone; digits: of the fraction. buffer: at least TIMETEXT_SIZE bytes; returns it. */
const char *ui_time(const struct ui *ui, char *buffer, size_t size, uint64_t t_ns, unsigned digits, enum ui_date date);

/* What UI_DATE_IF_DAYS means now: UI_DATE_NONE, UI_DATE_SHORT or UI_DATE_FULL. */
enum ui_date ui_date_if_days(const struct ui *ui);

/* Where the data ends, or is expected to. */
uint64_t ui_data_end(const struct ui *ui);

/* The overlays. */
struct overlay *help_create(struct ui *ui);

/* A column's heading, width wide, and its meaning, for a menu; to be freed. */
char *help_column(const struct column *column, int width);

/* Opens the box of messages; adds those that have been written since, if it is still open. */
void messages_show(struct ui *ui);
void messages_update(struct ui *ui);

#endif
