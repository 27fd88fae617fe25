/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_DETAILS_H
#define LT_UI_DETAILS_H

/* The lines at the top of the details of a thread: pane_details.c puts together what the other files write. */
#include <inttypes.h>

#include "base/strpool.h"
#include "ui/internal.h"

struct details {
	struct ui *ui;
	const struct ui_host_data *host;
	const struct interval *iv;
	int y, bottom; /* further lines are left out */
	int n, first;  /* number of lines so far, and of those to be left out before others */
	int next;      /* the first one that did not fit; 0: none */
	int spare;     /* rows that no line needs, for those that are longer than a row */
	bool measures; /* nothing is drawn */
};

#define FIGURE(h, row, member) INTERVAL_VALUE((h)->iv, THREAD, thread, row, member)

void details_line(struct details *h, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Formats a time on the host's clock. */
const char *details_time(const struct details *h, char *buffer, size_t size, uint64_t host_ns, unsigned digits);

/* Formats a duration; the buffer has FORMAT_SIZE bytes. */
const char *details_duration(const struct details *h, char *buffer, uint64_t ns);

/* Formats a share of the recorded time, "-" if nothing of the interval was; the buffer has FORMAT_SIZE bytes. */
const char *details_share(const struct details *h, char *buffer, uint64_t ns);

/* details_who.c: its ids, containers, parents, program and life. */
void details_who(struct details *h, const struct thread_row *t);

/* details_use.c: CPU time and I/O of the thread; CPU time of its process; counters and pages. */
void details_use(struct details *h, const struct interval_row *row);
void details_process(struct details *h, const struct thread_row *t);
void details_counters(struct details *h, uint64_t thread_uid);

/* details_waits.c: how long it waited for CPUs and in calls, and who ran instead; the pressure around it. */
void details_waits(struct details *h, const struct interval_row *row);
void details_pressure(struct details *h, const struct thread_row *t);

#endif
