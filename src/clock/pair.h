/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLOCK_PAIR_H
#define LT_CLOCK_PAIR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/nstime.h"
#include "clock/map_build.h"
#include "clock/sync.h"
#include "clock/window.h"

enum { CLOCK_RHO_PPM = 100 };
#define CLOCK_WINDOW_NS (60 * NS_PER_S)

/*
 * Two hosts that exchange packets: their window, and the results. Everything is as seen from host a: d = b's time - a's
 * time, at a's time x.
 */
struct clock_sample {
	uint64_t sent_ns, received_ns; /* by the clocks of the two hosts */
};

enum { CLOCK_FROM_A, CLOCK_FROM_B };

struct clock_pair {
	unsigned a, b; /* hosts, a < b */
	struct clock_window *window;
	uint64_t matched, used;
	bool seen[2]; /* has certain matches, by direction */
	enum clock_state state;
	uint64_t last_match_ns[2]; /* by a's, b's clock */
	GArray *samples[2];        /* struct clock_sample: the latest matches, by direction */
	uint64_t n_samples[2];     /* since the start */
	uint64_t judged[2];        /* number of those whose latency has been examined */
	uint64_t negative;
	/* The last successful estimate. */
	bool has_line;
	uint64_t line_x_ns;
	int64_t line_d_ns;
	double line_slope, line_half_ns;
	/* For the whole recording. */
	struct clock_map *whole; /* a's time to b's; NULL: not made */
	GArray *stretches;       /* struct clock_stretch; NULL: no clock jumped */
};

struct clock_pair *clock_pair_create(unsigned a, unsigned b, const struct clock_options *options);
void clock_pair_destroy(struct clock_pair *p);

/*
 * Adds a match from CLOCK_FROM_A or _B. certain: times that the clocks may use, or NULL. pairs: their number so far,
 * each of which has its share of the memory for all. Where that does not suffice for a long recording, the oldest
 * samples are dropped, and bounds become wider.
 */
void clock_pair_add(struct clock_pair *p, int direction, const struct clock_sample *sample,
		    const struct clock_sample *certain, unsigned pairs);

/* Splits the messages where a clock jumped, for clock_pair_solve() with centred. */
void clock_pair_split(struct clock_pair *p);
void clock_pair_join(struct clock_pair *p); /* takes that back */

/* The messages before the first jump, or after the last one; NULL: clocks jump all the time. */
struct clock_window *clock_pair_end(const struct clock_pair *p, bool last);

/*
 * Solves the window for d at x, from messages up to window_ns before x (centred: and after it). The window is
 * lengthened if it has too few messages, and shortened if no line fits. Centred, it ends where a clock jumped; no line
 * fits in between.
 */
enum clock_window_result clock_pair_solve(struct clock_pair *p, uint64_t x_ns, uint64_t window_ns, bool centred,
					  struct clock_bound *out);

/* Makes a result the pair's: its state and, if a line fitted, that line. */
void clock_pair_keep(struct clock_pair *p, uint64_t x_ns, enum clock_window_result result,
		     const struct clock_bound *bound);

/* d at x by the last line that fitted, and its uncertainty there. */
int64_t clock_pair_line(const struct clock_pair *p, uint64_t x_ns, double rho, double *half_ns);

/* Live: drops messages that are too old for any window. */
void clock_pair_trim(struct clock_pair *p);

/*
 * Drops all matches but the latest of each direction; examined: also keeps those whose latency has still to be
 * examined.
 */
void clock_pair_forget(struct clock_pair *p, guint latest, bool examined);

/*
 * Computes the latencies of one direction, converted by two maps to the same reference, from the samples that are still
 * kept, starting with number `first` since the start. Returns their number; those below 0 are added to *negative.
 */
struct clock_latencies {
	int64_t min_ns, median_ns;
};

unsigned clock_pair_latencies(const struct clock_pair *p, int direction, uint64_t first, const struct clock_map *map_a,
			      const struct clock_map *map_b, struct clock_latencies *out, uint64_t *negative);

#endif
