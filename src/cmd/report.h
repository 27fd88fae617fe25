/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_H
#define LT_CMD_REPORT_H

/*
 * What the files of lttngtop report share: report.c knows the command line,
 * report_read.c reads the sources step by step, report_cut.c cuts what is read into intervals and
 * writes them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "ingest/ingest.h"
#include "out/writer.h"
#include "view/table.h"

/* A host that was read; of one that is not shown only the times count. */
struct report_host {
	struct ingest_host *source;
	struct interval iv;
	bool open;    /* iv was begun and not ended */
	bool done;    /* the record was read to its end */
	int shown;    /* its number among the shown hosts, -1: it is none */
};

struct report {
	const struct options *options;
	const struct view_table *table;
	struct view_filter filter;
	struct view_query query;
	struct ingest *in;
	struct report_host *hosts;
	unsigned n_hosts;
	uint64_t at_ns;         /* all hosts have been applied up to here */
	bool interrupted;
	struct view_rows rows;
	struct view_host *shown;
	const char **names;     /* of the shown */
	unsigned n_shown;
	const struct column **columns;
	unsigned n_columns;
	struct writer *writer;
	int64_t started_us, progress_us; /* when the last progress was shown, 0 none is */
};

/* ---- report.c ---- */

/* SIGINT came, or the end of --duration. */
extern volatile bool report_stop;

/* ---- report_read.c ---- */

/* Opens the sources into r->in; LT_ERROR: not one could be read, the error chain has the last reason. */
enum lt_status report_open(struct report *r);

/* The hosts that were read and those that are shown; and frees them. */
void report_set_hosts(struct report *r);
void report_release_hosts(struct report *r);

/*
 * Applies all hosts' events before until_ns, a step at a time for all, so
 * that an interrupt finds them side by side.
 */
void report_advance(struct report *r, uint64_t until_ns);

/* Whether every host's record was read to its end; and the latest end so far. */
bool report_all_done(const struct report *r);
uint64_t report_record_end(const struct report *r);

/* Reads the sources once only to learn where the record ends. */
enum lt_status report_find_end(const struct options *o, uint64_t *end_ns);

/* Takes the progress off the terminal. */
void report_clear_progress(struct report *r);

/* ---- report_cut.c ---- */

/* The part of the record that was asked for. LT_ERROR: it makes no sense. Clipped to the record as far as it is known. */
enum lt_status report_resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns,
				    uint64_t *end_ns);

/* Reads and writes from begin_ns to end_ns or to the end of the record, interval by interval. */
enum lt_status report_write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns);

#endif
