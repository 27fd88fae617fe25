/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_MONITOR_MONITOR_H
#define LT_CMD_MONITOR_MONITOR_H

/*
 * Shared by the files of the monitor: monitor.c has the command and the loop, read.c opens the sources and reads them
 * in slices, publish.c passes what is known to the screen, calls.c and live_calls.c show system calls, dump.c events,
 * longest.c the longest durations of a row, preview.c where a jump goes, write.c writes what is shown to files,
 * cache.c keeps what was read for the next run.
 */

#include <ev.h>
#include <glib.h>

#include "cli/options.h"
#include "history/store.h"
#include "ingest/ingest.h"
#include "play/frames.h"
#include "play/reread.h"
#include "ui/ui.h"

enum { MONITOR_SIGNALS = 4 };

/* Tracepoints that a host's traces lack; texts are in the string pool. */
struct missing {
	const char **names;
	unsigned n;
	const char **lacks; /* what critical paths lack; NULL-terminated */
	bool is_final;      /* the screen has the last of the host, which is replaced */
};

/* What the screen knows about the hosts' clocks. */
enum clocks_stage {
	STAGE_ALONE,     /* nothing to compare: one host, or --no-sync */
	STAGE_COMPARING, /* recordings: read and shown on each host's own clock */
	STAGE_CUTTING,   /* recordings: known, but not yet used on the screen */
	STAGE_FINAL,     /* recordings: known */
	STAGE_MOVING,    /* live */
};

/* Sources being read, or already read, into a history; all zero: not yet. */
struct reading {
	struct ingest *in;
	struct history *history;
	struct frames *frames; /* NULL: the hosts are not known yet */
	GArray *missing;       /* struct missing, by host */
	uint64_t frame_ns;
	bool complete;
};

/* The cache file that contains what is shown, or will. */
struct cached {
	char *name;               /* NULL: there will be none, or it is being written */
	bool restored;            /* what is shown comes from it */
	struct cache_file *file;  /* being written; NULL: none */
	struct history_part part; /* the next part to write */
	ev_idle writing;
};

struct monitor {
	const struct options *options;
	struct clocks *clocks;
	enum clocks_stage stage;
	unsigned epochs;      /* of all maps, when times were last passed to the screen */
	struct reading shown; /* what is on the screen */
	struct reading next;  /* STAGE_CUTTING: the same recordings cut with the final clocks; will replace shown */
	struct cached cache;
	struct reread *reread;                 /* NULL: live, or the clocks are not known yet */
	struct monitor_calls *calls;           /* likewise, or live: nothing is kept */
	struct monitor_dump *dump;             /* likewise */
	struct monitor_longest *longest;       /* likewise */
	unsigned longest_refused;              /* the request that was answered without it; 0: none */
	const char *longest_problem;           /* that answer: one of monitor_lacks_reread() */
	struct monitor_live_calls *live_calls; /* NULL: not live */
	struct monitor_preview *preview;       /* NULL: live, or not started */
	struct settings *settings;             /* the user's settings for the screen */
	struct ui *ui;
	GArray *inputs;      /* struct ui_input, used by publish_inputs() */
	GArray *numbers;     /* unsigned: a graph's hosts by their numbers on the screen, used by publish_graph() */
	bool starting;       /* the recordings' first events have not arrived: no stage, no history */
	bool failed;         /* while starting, see the error chain */
	bool live;           /* sources that continue, or may */
	gint64 published_us; /* monotonic: when data was last passed to the screen */
	bool started;        /* the screen has a time to show */
	int exit_status;

	struct ev_loop *loop;
	ev_io input;
	ev_io sources;
	ev_io keeper;
	ev_idle reading; /* active while there is more to read */
	ev_timer retry;  /* periodic work for the sources even if they have nothing new */
	ev_timer tick;   /* the clock of the replay */
	ev_timer watch;  /* checks the workers of sources that have been read */
	ev_prepare show;
	ev_signal resized, continued, ends[MONITOR_SIGNALS];
};

/* ---- read.c ---- */

/* LT_ERROR: the options about clocks are invalid. */
enum lt_status monitor_create_clocks(struct monitor *m);

/* Whether the latest data of live sessions is kept, or in followed directories, so that it can be read again. */
bool monitor_recalls(const struct options *o);

/* Opens and starts the sources; if m->starting is set, monitor_read_slice() continues with that. */
enum lt_status monitor_open_sources(struct monitor *m);

/* Rereads windows of the shown data. options: only those that differ for each purpose. */
struct reread *monitor_reread_create(struct monitor *m, struct reread_options options);

/* Recordings up to this size are read again from their start, which shows what fds were opened. */
#define MONITOR_SMALL_BYTES (UINT64_C(64) << 20)

/* The expected end of the longest trace; 0: unknown. */
uint64_t monitor_expected_end(const struct reading *r);

/* Shows what the sources have, once they have been started. */
void monitor_start_reading(struct monitor *m);

/*
 * Reads for a moment. LT_AGAIN: the sources have nothing at present; LT_END: they have been read. LT_ERROR: m->failed.
 */
enum lt_status monitor_read_slice(struct monitor *m);

/* Why nothing can be read again, or not yet, while there is no m->reread; a constant, the same each time. */
const char *monitor_lacks_reread(const struct monitor *m);

/* The sources being read at present. */
struct reading *monitor_current(struct monitor *m);

void monitor_release_reading(struct reading *r);

/* ---- publish.c ---- */

/* Adds hosts that have started since the last call; the first one starts the screen. */
void monitor_show_new_hosts(struct monitor *m);

/* Shows the next reading instead, once it covers the time at which the screen would be. Returns whether it does. */
bool monitor_show_next(struct monitor *m);

/* Passes the sources and their states to the screen. */
void monitor_publish_inputs(struct monitor *m);

/* Passes the stage of the clocks to the screen. */
void monitor_publish_clocks_stage(struct monitor *m);

/* How often the maps have been replaced. */
unsigned monitor_count_epochs(struct monitor *m);

/* Passes everything that is known to the screen. */
void monitor_publish_known(struct monitor *m);

/* data: the monitor. Called when a window has been reread, and for progress. */
void monitor_publish_window(void *data);

/* Checks, before the loop sleeps, which window the screen requests. */
void monitor_apply_window_request(struct monitor *m);

/* The screen's number for a host of the shown ingest; UINT_MAX: it is not there yet. */
unsigned monitor_screen_number(const struct monitor *m, const struct ingest_host *host);

/* ---- calls.c ---- */

/* Rereads system calls that the screen requests; needs the loop. */
struct monitor_calls *monitor_calls_create(struct monitor *m);
void monitor_calls_destroy(struct monitor_calls *c);

/* Keeps what is being read in the string pool: see strpool_round_begin(). c may be NULL. */
void monitor_calls_keep_paths(const struct monitor_calls *c);

/* Checks, before the loop sleeps, what the screen requests. */
void monitor_apply_calls_request(struct monitor *m);

/* What it has read; .lines NULL: nothing yet. Borrowed until monitor_tell_live_calls(), which a change causes. */
struct ui_calls monitor_calls_read(const struct monitor_calls *c);

/* Reference time up to which it knows how calls ended. */
uint64_t monitor_calls_read_ns(const struct monitor_calls *c);

/* Whether nothing could be read for the current request. */
bool monitor_calls_failed(const struct monitor_calls *c);

/* To be called when all times have changed: what was read is wrong. */
void monitor_calls_forget(struct monitor_calls *c);

/* ---- dump.c ---- */

/* The same for events. */
struct monitor_dump *monitor_dump_create(struct monitor *m);
void monitor_dump_destroy(struct monitor_dump *d);
void monitor_dump_keep_paths(const struct monitor_dump *d);
void monitor_apply_dump_request(struct monitor *m);
void monitor_dump_forget(struct monitor_dump *d);

/* ---- longest.c ---- */

/* The same for the longest durations of a row. */
struct monitor_longest *monitor_longest_create(struct monitor *m);
void monitor_longest_destroy(struct monitor_longest *l);
void monitor_longest_keep_paths(const struct monitor_longest *l);
void monitor_apply_longest_request(struct monitor *m);
void monitor_longest_forget(struct monitor_longest *l);

/* ---- preview.c ---- */

/* Reads where a jump goes before the main reading gets there; needs the loop. */
struct monitor_preview *monitor_preview_create(struct monitor *m);
void monitor_preview_destroy(struct monitor_preview *p);
void monitor_preview_keep_paths(const struct monitor_preview *p);
void monitor_apply_preview_request(struct monitor *m);

/* Whether it needs the time that the main reading would take. p NULL: no. */
bool monitor_preview_is_reading(const struct monitor_preview *p);

/* ---- live_calls.c ---- */

/* The same for live hosts. */
struct monitor_live_calls *monitor_live_calls_create(struct monitor *m);
void monitor_live_calls_destroy(struct monitor_live_calls *c);

/* Before the loop sleeps: checks what is requested, and shows what has arrived. */
void monitor_apply_live_calls_request(struct monitor *m);
void monitor_tell_live_calls(struct monitor *m);
void monitor_live_calls_forget(struct monitor_live_calls *c);

/* ---- cache.c ---- */

/*
 * Tries the cache instead of reading the open sources. LT_OK: what is shown comes from the cache, complete. LT_END: the
 * cache does not have it. LT_ERROR: neither; the sources must be opened again.
 */
enum lt_status monitor_open_cached(struct monitor *m);

/* To be called when everything has been read: writes it to the cache, if it is worth it. */
void monitor_save_cache(struct monitor *m);

void monitor_release_cache(struct monitor *m);

/* ---- write.c ---- */

enum lt_status monitor_write(const struct ui_export *what);

#endif
