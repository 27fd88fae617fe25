/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_UI_H
#define LT_UI_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/timetext.h"
#include "clock/sync.h"
#include "history/history.h"
#include "ui/lines.h"
#include "view/format.h"
#include "view/rows.h"
#include "waits/waits.h"

/*
 * The monitor's screen: shows the history at a cursor. It reads the history
 * and what is said of the hosts here; where the data comes from it does not
 * know. Who drives it tells it what is known, the time and that there are keys, and
 * asks it to draw:
 *
 *   ui_known() ┐
 *   ui_tick()  ├─▶ something changed ─▶ ui_draw()
 *   ui_keys()  ┘
 *
 * All times are the reference host's, but those of the history's tracks, which are their hosts' own: each
 * host's map tells what they are.
 *
 * Main thread only; the terminal must be open (ui/screen.h).
 */
struct ui;

/* A host as the screen needs to know it. Texts are borrowed until they are replaced. */
struct ui_host {
	const char *name, *source, *tracer;
	const struct sidecar *sidecar; /* what else is known of it (sidecar/sidecar.h), NULL: nothing */
	unsigned track;                /* in the history */
	uint64_t begin_ns, end_ns;     /* of its record, by its own clock; end_ns: so far, or expected */
	const struct clock_map *map;   /* from its clock to the reference's, NULL: the identity */
	int clock;                     /* its number in the clocks of ui_set_clocks(), -1: none */
	bool ended;
	bool live;                  /* from a relayd */
	bool away;                  /* live, but not there now */
	bool over;                  /* away, as its session has ended */
	bool silent;                /* live, but nothing has come from it for a while, or it is still */
	bool waited_for;            /* silent for so short a time that critical paths still wait for it */
	bool still;                 /* live and heard of, but without events since end_ns */
	uint64_t lag_ns;            /* live: how far behind it is */
	const char *trouble;        /* why it is incomplete, NULL: it is not */
	const char *note;           /* what else is to be known of its figures, NULL: nothing */
	const char *const *lacks;   /* of what critical paths are made of; ends with NULL, NULL: nothing */
	const char *const *missing; /* tracepoints that some table needs and the trace does not have */
	unsigned n_missing;
};

/*
 * A source, as the screen needs to know it: a recording, a live session, or a relayd that is asked for its
 * sessions. Texts are copied.
 */
struct ui_input {
	const char *name;  /* path or URL */
	const char *state; /* "attached", or why not */
	const char *host;  /* name of its host, NULL: not known yet */
	bool file;         /* a recording, perhaps one that is being written */
	bool session;      /* live, and can be attached and detached */
	bool runs;         /* it sends, or may at any time */
	bool detached;     /* by the user */
};

/* A wait graph, as the screen needs to know it. */
struct ui_waits {
	struct waits *waits;       /* borrowed, NULL: there is none */
	uint64_t begin_ns, end_ns; /* it was made of all of this, reference time */
	uint64_t kept_ns;          /* what is before this it has dropped again; 0: nothing */
	unsigned epoch;            /* grows whenever it is made anew, because the clocks have changed */
	const unsigned *hosts;     /* by a host's number in it: its number on the screen, UINT_MAX none; copied */
	unsigned n_hosts;
};

/* A list as it is on the screen, to be written to a file. All borrowed for the call. */
struct ui_export {
	const char *path; /* its end, .txt .csv .json, tells the form */
	const char *table;
	uint64_t begin_ns, end_ns;
	const struct view_rows *rows;
	const struct column *const *columns;
	unsigned n_columns;
	const char *const *hosts; /* names of those that are shown */
	unsigned n_hosts;
	struct view_lost lost;
	struct format format;
};

/* Writes a new file; LT_ERROR with the reason in the error chain, also if the file is there already. */
typedef enum lt_status ui_export_fn(const struct ui_export *what);

struct settings;

struct ui_options {
	ui_export_fn *export;
	struct settings *settings; /* borrowed */
	bool utc;
	bool paused;           /* from the start */
	double speed;          /* of the replay */
	uint64_t interval_ns;  /* 0: chosen by the span */
	struct timetext begin; /* where the replay starts; TIMETEXT_NONE: at the begin */
	uint64_t retention_ns; /* how far back the running wait graph reaches, 0: no bound */
};

struct ui *ui_create(const struct ui_options *options);
void ui_destroy(struct ui *ui);

/* What is shown is in this history; borrowed. Before the first host is added. */
void ui_set_history(struct ui *ui, struct history *history);

/* Hosts are numbered 0, 1, … in the order of the calls. */
unsigned ui_add_host(struct ui *ui, const struct ui_host *host);

/* What is known of a host has changed. */
void ui_update_host(struct ui *ui, unsigned i, const struct ui_host *host);

/* What is known of the sources: all of them, in an order that stays; later ones come behind. */
void ui_set_inputs(struct ui *ui, const struct ui_input *inputs, unsigned n);

/* Whether a source could not be read as a whole, beyond what hosts say of it in their trouble. */
void ui_set_incomplete(struct ui *ui, bool incomplete);

/* A source the user wants to attach (*attach) or to detach since the last call; false: none. */
bool ui_wanted_input(struct ui *ui, unsigned *input, bool *attach);

/*
 * The hosts are there: intervals count from begin_ns, in multiples of frame_ns. expected_end_ns: about where the
 * record ends (of live sources: 0). The cursor starts.
 */
void ui_start(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t frame_ns, bool live);

/* The history holds everything before known_ns; complete: and nothing will follow. */
void ui_known(struct ui *ui, uint64_t known_ns, bool complete);

/*
 * The hosts' clocks against each other, NULL: every host is on its own. changed: what was converted by their maps
 * before cannot be compared with what is now; begin_ns and known_ns are as in ui_start() and ui_known(), anew.
 */
void ui_set_clocks(struct ui *ui, const struct clock_sync *clocks);
void ui_clocks_changed(struct ui *ui, uint64_t begin_ns, uint64_t expected_end_ns, uint64_t known_ns);

/* What the first line says of the clocks. */
enum ui_clocks_stage {
	UI_CLOCKS_KNOWN,     /* as well as they can be: times are the reference's. Live, the hosts' states count */
	UI_CLOCKS_COMPARING, /* times are each host's own */
	UI_CLOCKS_CUTTING,   /* they are still, but soon they will be the reference's */
	UI_CLOCKS_APART,     /* they remain each host's own */
};

/* percent: how far UI_CLOCKS_CUTTING is. */
void ui_set_clocks_stage(struct ui *ui, enum ui_clocks_stage stage, unsigned percent);

/* The same recordings cut by other clocks: all that depends on them. Borrowed as where it is said elsewhere. */
struct ui_cut {
	struct history *history;
	const struct ui_host *hosts;
	unsigned n_hosts;
	uint64_t begin_ns, expected_end_ns, frame_ns; /* see ui_start() */
	uint64_t known_ns;                            /* see ui_known() */
	bool complete;
};

/*
 * Shows it instead of what there was, at the place in time where the screen is: --begin, the start, the end, or
 * where the user went. False: it does not reach to there yet, nothing has changed.
 */
bool ui_cut_again(struct ui *ui, const struct ui_cut *cut);

/*
 * Who answers for critical paths: the graph that is built of what is read (it grows: tell it again), and one of a
 * window of a recording that was read again because the screen wanted it. waits NULL: there is none any more.
 */
enum ui_waits_kind { UI_WAITS_RUNNING, UI_WAITS_WINDOW, UI_WAITS_KINDS };
void ui_set_waits(struct ui *ui, enum ui_waits_kind kind, const struct ui_waits *waits);

/* The window that the screen would show if it was known; false: it lacks none. */
bool ui_wanted_window(struct ui *ui, uint64_t *begin_ns, uint64_t *end_ns);

/* How far that one has been read; problem: why it cannot be, NULL: it can. */
void ui_set_window_progress(struct ui *ui, unsigned percent, const char *problem);

/*
 * Whose system calls the screen wants as text, and of which time; live: of all that comes while it wants them. Borrowed
 * until the next key.
 */
struct ui_calls_request {
	unsigned number; /* grows whenever it is about other threads or calls */
	unsigned host;   /* on the screen */
	const int32_t *tids;
	unsigned n_tids;
	bool process;      /* and all other threads of their processes */
	const char *calls; /* which, as lttngtop attach takes it with -e; "" all */
	/* Events instead, of any thread: .calls has the terms of a filter (view/filter.h). */
	bool events;
	const unsigned *hosts; /* on the screen; .host does not count */
	unsigned n_hosts;
	uint64_t begin_ns, end_ns; /* [begin, end[, reference time; end_ns 0: it has what it wants, or it is live */
	uint64_t around_ns;        /* where there are too many: those that are nearest */
};

/* What there is of them. */
struct ui_calls {
	unsigned number;                 /* of the request */
	const struct calls_lines *lines; /* borrowed until it is said again; NULL: none yet */
	uint64_t begin_ns, end_ns;       /* all of this is in there, but for what the lines say they dropped */
	unsigned percent;                /* of what is being read */
	unsigned version;                /* grows with the lines, where they are the same ones */
	const char *problem;             /* why it cannot be, NULL: it can; copied */
};

/* false: the screen wants none. */
bool ui_wanted_calls(struct ui *ui, struct ui_calls_request *request);
void ui_set_calls(struct ui *ui, const struct ui_calls *calls);

/* The wall clock (monotonic ns) went on. */
void ui_tick(struct ui *ui, uint64_t wall_ns);

/* Wall-clock ns until there is something to do or to draw, UINT64_MAX: nothing is planned. */
uint64_t ui_due(const struct ui *ui, uint64_t wall_ns);

/* Reads and obeys the keys that have come. */
void ui_keys(struct ui *ui);

/* The terminal has another size. */
void ui_resize(struct ui *ui);

/*
 * Shows what has changed; returns at once if nothing has. What only grows (the
 * strip while a recording is read) is shown a few times a second.
 */
void ui_draw(struct ui *ui, uint64_t wall_ns);

/* Whether the user wants to leave. */
bool ui_wants_quit(const struct ui *ui);

/* Whether that is because the other end of the terminal is closed. */
bool ui_lost_terminal(const struct ui *ui);

#endif
