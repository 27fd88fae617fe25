/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_UI_H
#define LT_UI_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/timetext.h"
#include "clock/sync.h"
#include "history/history.h"
#include "model/alike.h"
#include "ui/lines.h"
#include "view/format.h"
#include "view/rows.h"
#include "waits/waits.h"

/*
 * The monitor's screen: shows the history at a cursor. It reads the history and the descriptions of hosts passed to it,
 * and does not know where the data comes from. Its driver passes it what is known, the time and that there are keys,
 * and asks it to draw:
 *
 *   ui_known() ┐
 *   ui_tick()  ├─▶ something changed ─▶ ui_draw()
 *   ui_keys()  ┘
 *
 * All times are the reference host's, except those of the history's tracks, which are on their hosts' own clocks and
 * are converted by each host's map.
 *
 * Main thread only; the terminal must be open (ui/screen.h).
 */
struct ui;

/* A host as described to the screen. Texts are borrowed until they are replaced. */
struct ui_host {
	const char *name, *source, *tracer;
	const struct sidecar *sidecar; /* side-car (sidecar/sidecar.h); NULL: none */
	unsigned track;                /* in the history */
	uint64_t begin_ns, end_ns;     /* of its trace, on its own clock; end_ns: so far, or expected */
	const struct clock_map *map;   /* from its clock to the reference's; NULL: identity */
	int clock;                     /* its number in the clocks of ui_set_clocks(); -1: none */
	bool ended;
	bool live;                  /* from a relayd */
	bool away;                  /* live, but currently absent */
	bool over;                  /* away because its session has ended */
	bool awaited;               /* over, but another session of it is waited for */
	bool silent;                /* live, but without data for a while, or still */
	bool waited_for;            /* silent so recently that critical paths still wait for it */
	bool still;                 /* live and sending, but without events since end_ns */
	uint64_t lag_ns;            /* live: how far behind it is */
	const char *trouble;        /* why it is incomplete; NULL: it is not */
	bool user_space;            /* only events of programs are recorded: nothing is known of the kernel */
	const char *note;           /* other remarks on its figures; NULL: none */
	const char *const *lacks;   /* what its critical paths lack, NULL-terminated; NULL: nothing */
	const char *const *missing; /* tracepoints that some table needs and the trace lacks */
	unsigned n_missing;
};

/*
 * A source as described to the screen: a recording, a live session, or a relayd that is asked for its sessions. Texts
 * are copied.
 */
struct ui_input {
	unsigned id;        /* no other one ever has it; 0: it is not a session */
	const char *name;   /* path or URL */
	const char *state;  /* "attached", or why not */
	const char *host;   /* name of its host; NULL: unknown yet */
	const char *target; /* of a session: the name of its host in its URL */
	bool file;          /* a recording, possibly still being written */
	bool session;       /* live, and can be attached and detached */
	bool runs;          /* it sends, or may at any time */
	bool detached;      /* by the user */
	bool retried;       /* broke off, and is attached again as soon as possible */
	bool over;          /* its session has ended */
};

/* A wait graph as described to the screen. */
struct ui_waits {
	struct waits *waits;       /* borrowed; NULL: none */
	uint64_t begin_ns, end_ns; /* range it was built from, in reference time */
	uint64_t kept_ns;          /* anything earlier has been dropped; 0: nothing */
	unsigned epoch;            /* increases whenever it is rebuilt because the clocks have changed */
	const unsigned *hosts;     /* by host number in the graph: number on the screen; UINT_MAX: none; copied */
	unsigned n_hosts;
};

/* A list or lines as shown on the screen, to be written to a file. Everything is borrowed for the call. */
struct ui_export {
	const char *path; /* its suffix .txt, .csv or .json selects the form */
	const char *table;
	uint64_t begin_ns, end_ns;
	const struct calls_lines *lines; /* instead of rows; NULL: rows */
	bool tids;                       /* their threads are shown */
	const struct view_rows *rows;
	const struct column *const *columns;
	unsigned n_columns;
	const char *const *hosts; /* names of the shown hosts */
	unsigned n_hosts;
	struct view_lost lost;
	struct format format;
};

/* Writes a new file. LT_ERROR: see the error chain; also if the file exists. */
typedef enum lt_status ui_export_fn(const struct ui_export *what);

/* Checks a filter of the calls pane, of events or of calls. LT_ERROR: see the error chain. */
typedef enum lt_status ui_check_fn(const char *filter, bool events);

struct settings;

struct ui_options {
	ui_export_fn *export;
	ui_check_fn *check;
	struct settings *settings; /* borrowed */
	bool utc;
	bool paused;           /* from the start */
	double speed;          /* of the replay */
	uint64_t interval_ns;  /* on the screen; .host is ignored */
	struct timetext begin; /* where the replay starts; TIMETEXT_NONE: at the start */
	bool recalls;          /* the latest data of live hosts can be read again */
	uint64_t retention_ns; /* how far back the running wait graph reaches; 0: no limit */
};

struct ui *ui_create(const struct ui_options *options);
void ui_destroy(struct ui *ui);

/* Sets the history to show, borrowed. Call it before the first host is added. */
void ui_set_history(struct ui *ui, struct history *history);

/* Hosts are numbered 0, 1, … in the order of the calls. */
unsigned ui_add_host(struct ui *ui, const struct ui_host *host);

/* To be called when a host's description has changed. */
void ui_update_host(struct ui *ui, unsigned i, const struct ui_host *host);

/* Sets the descriptions of all sources, in their order. */
void ui_set_inputs(struct ui *ui, const struct ui_input *inputs, unsigned n);

/* Sets whether a source could not be read completely, apart from what the hosts' trouble says. */
void ui_set_incomplete(struct ui *ui, bool incomplete);

/* The ID of a source that the user has asked to attach (*attach) or detach since the last call; false: none. */
bool ui_wanted_input(struct ui *ui, unsigned *id, bool *attach);

/* Shows the newest warning in the last row, if there are any since the last call. */
void ui_show_warnings(struct ui *ui);

/* Tells the user that a source was not attached, because max_sessions are. */
void ui_refuse_input(struct ui *ui, unsigned max_sessions);

/*
 * Starts the cursor, once the hosts have been added: intervals count from begin_ns, in multiples of frame_ns.
 * expected_end_ns: approximate end of the trace (0 for live sources).
 */
void ui_start(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t frame_ns, bool live);

/* Announces that the history is complete up to known_ns; complete: and nothing will follow. */
void ui_known(struct ui *ui, uint64_t known_ns, bool complete);

/*
 * Sets the hosts' clocks; NULL: every host has its own. changed: times converted before cannot be compared with those
 * converted from now on; begin_ns and known_ns replace the values of ui_start() and ui_known().
 */
void ui_set_clocks(struct ui *ui, const struct clock_sync *clocks);
void ui_clocks_changed(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t known_ns);

/*
 * Where a user has jumped to in a recording that has not been read up to there; false: nowhere. A preview of this
 * interval is shown until it has been read: the tracks of another history, which has nothing from long before.
 */
bool ui_wanted_preview(const struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* history: borrowed until the next call; NULL: there is none any more. Times are in reference time. */
void ui_set_preview(struct ui *ui, struct history *history, uint64_t begin_ns, uint64_t end_ns);

/* What the first line says about the clocks. */
enum ui_clocks_stage {
	UI_CLOCKS_KNOWN,         /* as well as possible: times are the reference's. Live, the hosts' states count */
	UI_CLOCKS_SYNCHRONISING, /* times are on each host's own clock */
	UI_CLOCKS_CUTTING,       /* times are still on each host's own clock but will soon be the reference's */
	UI_CLOCKS_APART,         /* times stay on each host's own clock */
};

/* percent: progress of UI_CLOCKS_CUTTING. */
void ui_set_clocks_stage(struct ui *ui, enum ui_clocks_stage stage, unsigned percent);

/* The same recordings cut again with corrected clocks: everything that depends on them. Borrowed as elsewhere. */
struct ui_cut {
	struct history *history;
	const struct ui_host *hosts;
	unsigned n_hosts;
	uint64_t begin_ns, expected_end_ns, frame_ns; /* see ui_start() */
	uint64_t known_ns;                            /* see ui_known() */
	bool complete;
};

/*
 * Replaces what was shown, keeping the place in time: --begin, the start, the end, or where the user went. False: the
 * new data does not reach that far yet; nothing has changed.
 */
bool ui_cut_again(struct ui *ui, const struct ui_cut *cut);

/*
 * The graphs that answer for critical paths: the one built while reading (it grows: pass it again), and one for a
 * window of a recording that was read again on request. waits NULL: it no longer exists.
 */
enum ui_waits_kind { UI_WAITS_RUNNING, UI_WAITS_WINDOW, UI_WAITS_KINDS };
void ui_set_waits(struct ui *ui, enum ui_waits_kind kind, const struct ui_waits *waits);

/* The window that the screen needs to be read; false: none. */
bool ui_wanted_window(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* Sets the progress of reading that window; problem: why it failed, NULL: it has not. */
void ui_set_window_progress(struct ui *ui, unsigned percent, const char *problem);

/*
 * The system calls that the screen wants as text; live: also all that arrive while it wants any. Borrowed until the
 * next key.
 */
struct ui_calls_request {
	unsigned number; /* increases when other threads or calls are wanted */
	unsigned host;   /* on the screen */
	const int32_t *tids;
	unsigned n_tids;
	bool process;      /* and all other threads of their processes */
	const char *calls; /* which calls, as in -e of lttngtop attach; "": all */
	/* events instead, of any thread; .calls is then a filter (view/filter.h) */
	bool events;
	const unsigned *hosts; /* on the screen; .host is ignored */
	unsigned n_hosts;
	uint64_t begin_ns, end_ns; /* [begin, end[ in reference time; end_ns 0: it has what it wants */
	uint64_t around_ns;        /* its position; if there are too many: keep the closest ones */
};

/* The calls that have been read. */
struct ui_calls {
	unsigned number;                 /* of the request */
	const struct calls_lines *lines; /* borrowed until the next update; NULL: none yet */
	uint64_t begin_ns, end_ns;       /* complete in this range, except for lines reported as dropped */
	uint64_t first_ns;               /* nothing earlier is available */
	uint64_t later_ns;               /* from here on lines come without being wanted; UINT64_MAX: none do */
	unsigned percent;                /* progress of reading */
	unsigned version;                /* increases when the same lines have changed */
	const char *problem;             /* why reading failed; NULL: it has not; copied */
};

/* false: the screen wants none. */
bool ui_wanted_calls(struct ui *ui, struct ui_calls_request *request);
void ui_set_calls(struct ui *ui, const struct ui_calls *calls);

enum { UI_LONGEST_MAX = 20 };

/* The longest durations of a row that ended in an interval, which the screen wants. Borrowed until the next key. */
struct ui_longest_request {
	unsigned number;     /* increases with each request */
	unsigned host;       /* on the screen */
	uint64_t dist;       /* which durations: bucket_dist() of model/buckets.h */
	uint32_t tables;     /* what is computed for it, as for model_set_figures() */
	struct alike row;    /* whose */
	const int32_t *tids; /* of which threads; n_tids 0: of any */
	unsigned n_tids;
	uint64_t begin_ns, end_ns; /* [begin, end[, by the host's clock */
	uint64_t longest_ns;       /* as known from the history */
};

struct ui_longest_one {
	uint64_t begin_ns, length_ns; /* begin: reference time */
	int32_t tid;                  /* -1: no thread */
	strid comm, cause;
};

/* Those that have been found, longest first. */
struct ui_longest {
	unsigned number;                   /* of the request */
	const struct ui_longest_one *list; /* borrowed for the call */
	unsigned n;
	uint64_t found;      /* how many there are */
	bool complete;       /* all have been read that can be */
	uint64_t first_ns;   /* earlier ones are no longer available, reference time; 0: there are none */
	unsigned percent;    /* progress of reading */
	const char *problem; /* why reading failed; NULL: it has not */
};

/* false: the screen wants none. */
bool ui_wanted_longest(struct ui *ui, struct ui_longest_request *request);
void ui_set_longest(struct ui *ui, const struct ui_longest *longest);

/* Replays, and works, up to now_ns (monotonic_ns(), here and below). */
void ui_tick(struct ui *ui, uint64_t now_ns);

/* ns until there is something to do or to draw; UINT64_MAX: nothing is planned. */
uint64_t ui_due(const struct ui *ui, uint64_t now_ns);

/* Reads and handles pending keys. */
void ui_keys(struct ui *ui);

/* To be called when the size of the terminal has changed. */
void ui_resize(struct ui *ui);

/*
 * Draws what has changed; returns at once if nothing has. What only grows (the strip while a recording is read) is
 * drawn a few times per second.
 */
void ui_draw(struct ui *ui, uint64_t now_ns);

/* Keeps the names of the threads whose paths or calls are open in the string pool: see strpool_round_begin(). */
void ui_keep_paths(const struct ui *ui);

/* Whether the user wants to leave. */
bool ui_wants_quit(const struct ui *ui);

/* Whether the reason is that the other end of the terminal has been closed. */
bool ui_lost_terminal(const struct ui *ui);

#endif
