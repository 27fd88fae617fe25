/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PATH_H
#define LT_UI_PATH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ui/canvas.h"
#include "waits/waits.h"

/*
 * A critical path prepared for display: its segments with their threads, the lanes they are drawn in (one per host and
 * process; one for the wire), and sums. It is self-contained: its source may go away. Times are in reference ns.
 */
struct path_step {
	struct wait_segment segment;
	struct wait_who who;  /* of the segment's row */
	struct wait_who from; /* of segment.from; host PATH_NO_HOST: none */
	unsigned lane;
};

#define PATH_NO_HOST UINT_MAX

struct path_lane {
	struct wait_who who; /* the first one seen of the process */
	bool wire;
	uint64_t total_ns;
};

/* Time spent in a state by a process on a host; the wire is a lane of its own. */
struct path_sum {
	unsigned lane;
	enum wait_state state;
	uint64_t ns;
};

struct path {
	unsigned refs;
	struct wait_who subject;
	uint64_t begin_ns, end_ns;      /* range that was answered */
	bool open;                      /* the last segment is a wait that has not ended */
	GArray *steps;                  /* struct path_step, oldest first */
	GArray *lanes;                  /* struct path_lane: the subject's process, then by host, then the wire */
	GArray *sums;                   /* struct path_sum, longest first */
	uint64_t state_ns[WAIT_STATES]; /* excluding the wire */
	uint64_t wire_ns, total_ns;
	uint64_t unexplained_ns; /* blocked or unknown: not explained by the trace */
};

/* Identifies a row; data is the argument of path_create(). */
typedef struct wait_who path_who_fn(const void *data, wait_row row);

struct path *path_create(const struct wait_path *answer, const struct wait_who *subject, path_who_fn *who,
			 const void *data);

/* Adds an owner; the last path_destroy() frees it. */
struct path *path_ref(struct path *p);
void path_destroy(struct path *p);

static inline const struct path_step *path_step(const struct path *p, unsigned i)
{
	return &g_array_index(p->steps, struct path_step, i);
}

static inline const struct path_lane *path_lane(const struct path *p, unsigned i)
{
	return &g_array_index(p->lanes, struct path_lane, i);
}

/* Keeps the names and causes in the string pool: see strpool_round_begin(). */
void path_keep_names(const struct path *p);

/* The segment at t_ns, or the closest one. The path has at least one segment. */
unsigned path_find(const struct path *p, uint64_t t_ns);

/* ---- in words ---- */

/* Writes a time of day into buffer, of at least TIMETEXT_SIZE bytes, with its date where that matters; returns it. */
typedef const char *path_time_fn(const void *data, char *buffer, size_t size, uint64_t t_ns, unsigned digits);

/* The screen's names for hosts, and its way to write times. */
struct path_names {
	const char *const *hosts; /* by their number in waits */
	unsigned n_hosts;
	bool ascii;
	path_time_fn *time;
	const void *data; /* its argument */
};

/* Appends "php-fpm 1234 on web", or "kernel on CPU 1 of web" if it is not a thread. */
void path_add_who(GString *s, const struct wait_who *who, const struct path_names *names);

/* Appends a short name for a lane: "web php-fpm 1234", "wire". */
void path_add_lane(GString *s, const struct path_lane *lane, const struct path_names *names);

/* Appends the same without the process's number: "web php-fpm", "web kernel". */
void path_add_program(GString *s, const struct wait_who *who, const struct path_names *names);

/*
 * What happens in segment i: "php-fpm 1234 on web waits for block device vda for 12.3ms", "… has been blocked since
 * 12:03:05.1 in read(fd 5 → 10.0.0.3:5432)" at the open end. Free with g_free().
 */
char *path_words(const struct path *p, unsigned i, const struct path_names *names);

/*
 * How the path came to segment i: "woken by wget 655 on client"; NULL: it continues the previous one. Free with
 * g_free().
 */
char *path_link_words(const struct path *p, unsigned i, const struct path_names *names);

/* Appends a wait's cause in its shortest form: "vda", "read(fd 5 → 10.0.0.3:5432)", "sort/812"; nothing if unknown. */
void path_add_cause(GString *s, const struct wait_segment *segment);

/* The name of a state: "running", "disk"; and the letter it is drawn with. */
const char *path_state_label(enum wait_state state, bool wire);
gunichar path_state_glyph(enum wait_state state, bool wire);
enum style path_state_style(enum wait_state state, bool wire);
const char *path_state_meaning(enum wait_state state, bool wire);

/* ---- on a canvas ---- */

struct path_look {
	struct path_names names;
	unsigned selected; /* segment */
	bool stale;        /* it belongs to another window: dimmed */
};

/*
 * Draws the time axis over the full width, in at most max rows from y: one lane per row, with a ruler and the cursor
 * below. Lanes without room share the last row. Returns the number of rows used.
 */
int path_draw_axis(const struct path *p, struct canvas *c, int y, int max, const struct path_look *look);

/* A share of the path's time: "27.5%", rounded; "<0.1%" if that would be nothing. */
void path_share_text(char *text, size_t size, uint64_t ns, uint64_t of_ns);

/* Draws the letters and meanings of the states that occur, in row y. */
void path_draw_legend(const struct path *p, struct canvas *c, int y, const struct path_look *look);

/*
 * Draws the list of segments in w × h cells from (x, y), keeping the selected one visible. *top: the first one shown.
 * Returns the rows of its header: 0 where there is no room for one.
 */
int path_draw_steps(const struct path *p, struct canvas *c, int x, int y, int w, int h, unsigned *top,
		    const struct path_look *look);

/* The same with totals per state, process and host. */
void path_draw_sums(const struct path *p, struct canvas *c, int x, int y, int w, int h, const struct path_look *look);

/* Draws two paths side by side: time per state, then per state and program, in both, and the difference. */
void path_draw_comparison(const struct path *first, const struct path *second, struct canvas *c, int y, int h,
			  const struct path_look *look);

#endif
