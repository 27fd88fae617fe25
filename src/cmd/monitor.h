/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_MONITOR_H
#define LT_CMD_MONITOR_H

/*
 * What the files of the monitor share: monitor.c has the command and the loop,
 * monitor_read.c opens the sources and reads them slice by slice, monitor_publish.c
 * tells the screen what is known, monitor_calls.c and monitor_live_calls.c what threads called, monitor_dump.c events,
 * monitor_write.c writes its lists into files,
 * monitor_cache.c keeps what was read for the next time.
 */

#include <ev.h>
#include <glib.h>

#include "cmd/frames.h"
#include "cmd/options.h"
#include "cmd/reread.h"
#include "history/store.h"
#include "ingest/ingest.h"
#include "ui/ui.h"

enum { MONITOR_SIGNALS = 4 };

/* Tracepoints that a host's traces do not have; texts of the string pool. */
struct missing {
	const char **names;
	unsigned n;
	const char **lacks; /* what critical paths are made of; ends with NULL */
};

/* What the clocks of the hosts are to the screen. */
enum clocks_stage {
	STAGE_ALONE,     /* nothing to be compared: one host, or --no-sync */
	STAGE_COMPARING, /* recordings: read, and shown, by each host's own clock */
	STAGE_CUTTING,   /* recordings: known; what is shown is not by them yet */
	STAGE_FINAL,     /* recordings: known */
	STAGE_MOVING,    /* live */
};

/* The sources being read, or read, into a history; zero-initialised: not yet. */
struct reading {
	struct ingest *in;
	struct history *history;
	struct frames *frames; /* NULL: the hosts are not known yet */
	GArray *missing;       /* struct missing, per host taken in */
	uint64_t frame_ns;
	bool complete;
};

/* The file of the cache that has what is shown, or is to have it. */
struct cached {
	char *name;               /* NULL: there is to be none, or it is being written */
	bool restored;            /* what is shown comes from it */
	struct cache_file *file;  /* being written, NULL: none is */
	struct history_part part; /* the next to be written */
	ev_idle writing;
};

struct monitor {
	const struct options *options;
	struct clocks *clocks;
	enum clocks_stage stage;
	unsigned epochs;      /* of all maps, when the screen was told of the times */
	struct reading shown; /* what is on the screen */
	struct reading next;  /* STAGE_CUTTING: the same recordings, cut by the final clocks; takes its place */
	struct cached cache;
	struct reread *reread;                 /* NULL: live, or the clocks are not known yet */
	struct monitor_calls *calls;           /* likewise */
	struct monitor_dump *dump;             /* likewise */
	struct monitor_live_calls *live_calls; /* NULL: not live */
	struct settings *settings;             /* how the user wants the screen */
	struct ui *ui;
	GArray *inputs;      /* struct ui_input, used by publish_inputs() */
	GArray *numbers;     /* unsigned: hosts of a graph as the screen numbers them, used by publish_graph() */
	bool starting;       /* the first events of the recordings are not there yet: no stage, no history */
	bool failed;         /* while starting, see the error chain */
	bool live;           /* sources that go on, or may */
	gint64 published_us; /* monotonic: when the screen was last told what is known */
	bool started;        /* the screen has a time to show */
	int exit_status;

	struct ev_loop *loop;
	ev_io input;
	ev_io sources;
	ev_idle reading; /* active while there is more to read at once */
	ev_timer retry;  /* what is to be done for the sources though they have nothing new */
	ev_timer tick;   /* the replay's clock */
	ev_timer watch;  /* looks after the workers of what has been read */
	ev_prepare show;
	ev_signal resized, ends[MONITOR_SIGNALS];
};

/* ---- monitor_read.c ---- */

/* LT_ERROR: the options about clocks make no sense. */
enum lt_status monitor_create_clocks(struct monitor *m);

/* Opens and starts the sources; m->starting: monitor_read_slice() goes on with that. */
enum lt_status monitor_open_sources(struct monitor *m);

/* Where the longest record is expected to end, 0: nobody knows. */
uint64_t monitor_expected_end(const struct reading *r);

/* Shows what the sources have, once they have been started. */
void monitor_start_reading(struct monitor *m);

/* Reads for a moment. LT_AGAIN: the sources have nothing now; LT_END: they have been read. LT_ERROR: m->failed. */
enum lt_status monitor_read_slice(struct monitor *m);

/* The sources that are being read now. */
struct reading *monitor_current(struct monitor *m);

void monitor_release_reading(struct reading *r);

/* ---- monitor_publish.c ---- */

/* Hosts that have begun since the last time, the first of which starts the screen. */
void monitor_show_new_hosts(struct monitor *m);

/* Shows the next reading instead, once it covers the time that the screen would be at. Returns whether it does. */
bool monitor_show_next(struct monitor *m);

/* What the sources are, and the state of each. */
void monitor_publish_inputs(struct monitor *m);

/* By whose clocks the times on the screen are. */
void monitor_publish_clocks_stage(struct monitor *m);

/* How often the maps have been replaced. */
unsigned monitor_count_epochs(struct monitor *m);

/* Everything that is known now. */
void monitor_publish_known(struct monitor *m);

/* data: the monitor. A window was read again, or how far that is. */
void monitor_publish_window(void *data);

/* The screen's request for a window is looked at before the loop sleeps. */
void monitor_apply_window_request(struct monitor *m);

/* The screen's number of a host of the shown ingest, UINT_MAX: it is not there yet. */
unsigned monitor_screen_number(const struct monitor *m, const struct ingest_host *host);

/* ---- monitor_calls.c ---- */

/* What the screen wants of system calls, read again; needs the loop. */
struct monitor_calls *monitor_calls_create(struct monitor *m);
void monitor_calls_destroy(struct monitor_calls *c);

/* The screen's request is looked at before the loop sleeps. */
void monitor_apply_calls_request(struct monitor *m);

/* ---- monitor_dump.c ---- */

/* Likewise, for events. */
struct monitor_dump *monitor_dump_create(struct monitor *m);
void monitor_dump_destroy(struct monitor_dump *d);
void monitor_apply_dump_request(struct monitor *m);

/* ---- monitor_live_calls.c ---- */

/* The same of live hosts. */
struct monitor_live_calls *monitor_live_calls_create(struct monitor *m);
void monitor_live_calls_destroy(struct monitor_live_calls *c);

/* Before the loop sleeps: the request is looked at, and what has come is shown. */
void monitor_apply_live_calls_request(struct monitor *m);

/* ---- monitor_cache.c ---- */

/*
 * Instead of reading the sources, which are open: LT_OK: the cache has what is shown, all of it is there. LT_END: it
 * has not. LT_ERROR: neither, and the sources are to be opened again.
 */
enum lt_status monitor_open_cached(struct monitor *m);

/* Everything was read: it goes into the cache, if it belongs there. */
void monitor_save_cache(struct monitor *m);

void monitor_release_cache(struct monitor *m);

/* ---- monitor_write.c ---- */

enum lt_status monitor_write_list(const struct ui_export *what);

#endif
