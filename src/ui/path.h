/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_PATH_H
#define LT_UI_PATH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ui/canvas.h"
#include "view/format.h"
#include "waits/waits.h"

/*
 * A critical path made ready to be shown: its segments with who they are on,
 * the lanes they are drawn in (a process of a host each; one for the wire), and
 * sums. It owns all it has: what it was made from may go. Times are reference ns.
 */
struct path_step {
	struct wait_segment segment;
	struct wait_who who;  /* whose the segment's row is */
	struct wait_who from; /* of segment.from; host PATH_NO_HOST: none */
	unsigned lane;
};

#define PATH_NO_HOST UINT_MAX

struct path_lane {
	struct wait_who who; /* the first one seen of the process */
	bool wire;
	uint64_t total_ns;
};

/* Time in a state on a process of a host; the wire is a lane of its own. */
struct path_sum {
	unsigned lane;
	enum wait_state state;
	uint64_t ns;
};

struct path {
	unsigned refs;
	struct wait_who subject;
	uint64_t begin_ns, end_ns;      /* what was answered for */
	bool open;                      /* the last segment is a wait that has not ended */
	GArray *steps;                  /* struct path_step, oldest first */
	GArray *lanes;                  /* struct path_lane: the subject's process, then host by host, then the wire */
	GArray *sums;                   /* struct path_sum, greatest first */
	uint64_t state_ns[WAIT_STATES]; /* without the wire */
	uint64_t wire_ns, total_ns;
	uint64_t unexplained_ns; /* blocked or unknown: nothing in the trace explains it */
};

/* Who a row is; data is what path_create() was given. */
typedef struct wait_who path_who_fn(const void *data, wait_row row);

struct path *path_create(const struct wait_path *answer, const struct wait_who *subject, path_who_fn *who,
			 const void *data);

/* One more owner; the last path_destroy() frees it. */
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

/* The segment at t_ns, or the nearest one. The path has at least one. */
unsigned path_find(const struct path *p, uint64_t t_ns);

/* ---- in words ---- */

/* What the screen calls hosts, and how it writes times. */
struct path_names {
	const char *const *hosts; /* by their number in waits */
	unsigned n_hosts;
	struct format format;
};

/* "php-fpm 1234 on web"; "kernel of web, CPU 1" where it is no thread. Appends. */
void path_add_who(GString *s, const struct wait_who *who, const struct path_names *names);

/* A short name for a lane: "web php-fpm 1234", "wire". Appends. */
void path_add_lane(GString *s, const struct path_lane *lane, const struct path_names *names);

/* The same without the number of the process: "web php-fpm", "web kernel". Appends. */
void path_add_program(GString *s, const struct wait_who *who, const struct path_names *names);

/*
 * What happens in segment i: "php-fpm 1234 on web waits for block device vda for 12.3ms", "… is blocked since
 * 12:03:05.1 in read(fd 5 → 10.0.0.3:5432)" at the open end. Free with g_free().
 */
char *path_words(const struct path *p, unsigned i, const struct path_names *names);

/* How the path came to segment i: "woken by wget 655 on client"; NULL: from the one before it. Free with g_free(). */
char *path_link_words(const struct path *p, unsigned i, const struct path_names *names);

/* Why it waits, as short as it goes: "vda", "read(fd 5 → 10.0.0.3:5432)", "" where nothing is known. Appends. */
void path_add_cause(GString *s, const struct wait_cause *cause);

/* A state for people: "running", "disk"; and as the letter it is drawn with. */
const char *path_state_label(enum wait_state state, bool wire);
gunichar path_state_glyph(enum wait_state state, bool wire);
enum style path_state_style(enum wait_state state, bool wire);
const char *path_state_meaning(enum wait_state state, bool wire);

/* ---- on a canvas ---- */

struct path_look {
	struct path_names names;
	unsigned selected; /* segment */
	bool stale;        /* it is not that of the window any more: quiet */
	bool utc;
};

/*
 * The time axis into at most max rows from y, all the width: a lane per row, a ruler below with the
 * cursor. Lanes that find no room share the last one. Returns how many rows it took.
 */
int path_draw_axis(const struct path *p, struct canvas *c, int y, int max, const struct path_look *look);

/* The letters of the states that occur, with their meaning, in row y. */
void path_draw_legend(const struct path *p, struct canvas *c, int y, const struct path_look *look);

/* The list of segments in w columns from x, h rows from y, a head first; the selected one shows. *top: first shown. */
void path_draw_steps(const struct path *p, struct canvas *c, int x, int y, int w, int h, unsigned *top,
		     const struct path_look *look);

/* Totals per state, process and host, likewise. */
void path_draw_sums(const struct path *p, struct canvas *c, int x, int y, int w, int h, const struct path_look *look);

/* Two paths side by side: time per state, then per state and program, of both and the difference. */
void path_draw_comparison(const struct path *first, const struct path *second, struct canvas *c, int y, int h,
			  const struct path_look *look);

#endif
