/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_H
#define LT_CMD_REPORT_H

/*
 * What the files of lttngtop report share: report.c knows the command line,
 * report_choose.c which rows and columns are asked for,
 * report_read.c reads the sources step by step, report_cut.c cuts what is read into intervals and
 * writes them, report_derived.c collects the rows of tables that are no rows of the model,
 * report_subjects.c finds the threads whose critical paths are asked for,
 * report_dump.c writes the events themselves, report_slice.c traces of them.
 *
 * Times without a host are reference times (clock/map.h); those of a host its own.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "ingest/ingest.h"
#include "out/writer.h"
#include "view/derived.h"
#include "view/share.h"
#include "view/table.h"

/* From behind an event to the next one: long against --interval. By the host's own clock. */
struct report_gap {
	uint64_t begin_ns, end_ns;
};

/* Of recordings that were opened before only a part is read again: ingest_limit(). */
struct report_limit {
	const struct ingest *like;
	uint64_t begin_ns, end_ns;
	bool models;
};

/* A host that was read; of one that is not shown only the times count. */
struct report_host {
	struct ingest_host *source;
	struct interval iv;
	uint64_t reached_ns; /* it was advanced up to here */
	uint64_t cut_ns;     /* where its last interval ended, 0: none did */
	bool open;           /* iv was begun and not ended */
	bool done;           /* the record was read to its end */
	bool left_out;       /* silent: it did not reach what the others did */
	int shown;           /* its number among the shown hosts, -1: it is none */
	GArray *gaps;        /* struct report_gap, those that were met so far */
	guint gap;           /* the first one that pages have not passed */
};

struct report {
	const struct options *options;
	guint first_source;                   /* which of the words */
	const struct ingest_visitor *visitor; /* attach: sees each event, in the common time; NULL: nobody does */
	const struct view_table *table;
	const struct view_table *needs;   /* with --log: the table that was asked for; else NULL */
	uint64_t log_dist, log_min_ns;    /* model_set_log() */
	bool live;                        /* a source is: nothing can be read twice */
	const struct report_limit *limit; /* NULL: all is read */
	bool no_waits;                    /* attach: nothing that it shows comes from the wait graph */
	struct clocks *clocks;            /* NULL: every host on its own */
	enum clocks_use clocks_use;
	struct waits_options waits;
	struct view_filter filter;      /* which threads and hosts; of most tables which rows, too */
	GArray *sum_columns;            /* struct column: --sum-by; NULL: not given */
	struct view_filter having;      /* which of the sums */
	struct view_filter rows_filter; /* of tables that choose by themselves what to do with those: which rows */
	struct view_query query;
	struct ingest *in;
	struct report_host *hosts;
	unsigned n_hosts;
	int subject;    /* of paths: the host of the one thread that is asked for; -1: there may be several */
	uint64_t at_ns; /* all hosts have been applied up to here */
	bool interrupted;
	bool all_read; /* report_read_all(): nothing more is read */
	struct view_rows rows;
	struct view_host *shown;
	unsigned n_shown;
	const char **names; /* of the hosts that were asked for */
	unsigned n_names;
	struct view_derived derived_rows;
	GArray *matches;  /* struct view_match */
	GArray *paths;    /* struct wait_path, of the interval */
	GArray *subjects; /* wait_row, whose they are */
	bool any_rows;    /* some were written */
	bool warned_cut;  /* that the memory was too small for it */
	const struct column **columns;
	unsigned n_columns;
	GPtrArray *shares; /* struct view_share, columns that were asked for */
	struct writer *writer;
	int64_t started_us, progress_us; /* when the last progress was shown, 0 none is */
};

/* What the rows of the table are made from but models, enum view_need; of dump and attach nothing. */
static inline unsigned report_needs(const struct report *r)
{
	return r->table ? r->table->supply.needs : 0;
}

static inline bool report_needs_waits(const struct report *r)
{
	return report_needs(r) & (VIEW_PATH | VIEW_ACCOUNTS) || (r->visitor && !r->no_waits);
}

/* ---- report.c ---- */

/* SIGINT came, or the end of --duration; and as which signal. */
extern volatile bool report_stop;
extern volatile sig_atomic_t report_signal;

/* SIGINT, and the end of duration_ns (0: none), end the reading where it is; a second SIGINT at once. */
void report_end_on_interrupt(uint64_t duration_ns);

/* Another signal does, too, likewise. */
void report_end_on_signal(int number);

/* Which of the hosts is on whose clock. LT_ERROR: the options make no sense. */
enum lt_status report_set_clocks(struct report *r);

/*
 * Opens the sources. Recordings of several hosts are surveyed before, where the clocks must be known while
 * they are read: to cut them, to join them. Also where times count from the record's end.
 */
enum lt_status report_open_for_good(struct report *r, uint64_t *known_end_ns);

/* Prints the error chain; returns status. */
int report_fail(int status);

/* Whether something was lost or could not be read: stderr says so. */
bool report_is_incomplete(const struct report *r);

/* ---- report_read.c ---- */

/* Opens the sources into r->in; LT_ERROR: not one could be read, the error chain has the last reason. */
enum lt_status report_open(struct report *r, bool survey);

/* The hosts that were read and those that are shown; and frees them. */
void report_set_hosts(struct report *r);
void report_release_hosts(struct report *r);

/*
 * Applies all hosts' events before until_ns, a step at a time for all, so
 * that an interrupt finds them side by side. Live hosts that are silent are left out.
 */
void report_advance(struct report *r, uint64_t until_ns);

/* The same, the events of all hosts in the order of their reference times, for r->visitor. */
void report_advance_in_order(struct report *r, uint64_t until_ns);

/* Empty intervals from this many on are written as one. */
enum { REPORT_GAP_INTERVALS = 1000 };

/* Whether every host's record was read to its end; the earliest begin and the latest end so far, 0: no event came. */
bool report_all_done(const struct report *r);
uint64_t report_record_begin(const struct report *r);
uint64_t report_record_end(const struct report *r);

/* The host's own time at a reference time. */
uint64_t report_host_time(const struct report_host *h, uint64_t ref_ns);

/*
 * Reads recordings once only for the clocks and for where the record ends; what is wrong
 * with them the second reading says.
 */
enum lt_status report_survey(struct report *r, uint64_t *end_ns);

/* What was read of recordings is all: their clocks are known for good. */
void report_finish_clocks(struct report *r);

/* Takes the progress off the terminal. */
void report_clear_progress(struct report *r);

/* ---- report_choose.c ---- */

/* The query and the columns, from the options. LT_ERROR: they make no sense. */
enum lt_status report_choose(struct report *r);

/* LT_ERROR: an option is given that chooses among rows or columns, of which dump and slice (what) have none. */
enum lt_status report_refuse_choice(const struct options *o, const char *what);

/* ---- report_spread.c ---- */

/* The table of what --log lists. */
#define REPORT_INSTANCES "instances"

/* With --log the table is that of the instances of one of its distributions. LT_ERROR: it has none. */
enum lt_status report_choose_log(struct report *r);

/*
 * The columns have been chosen: adds the table's histogram with --freq, and has distributions spread into buckets if
 * some column needs them. LT_ERROR: the table has no histogram.
 */
enum lt_status report_choose_spread(struct report *r);

/* ---- report_cut.c ---- */

/* The part of the record that was asked for, clipped to what is known of the record. LT_ERROR: it makes no sense. */
enum lt_status report_resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns,
				    uint64_t *end_ns);

/*
 * Reads everything, of all hosts as one interval, before anything is written. until_ns: what comes later is of
 * use only as far as it explains what was before: it is left out where it would cost memory that holds that.
 */
void report_read_all(struct report *r, uint64_t until_ns);

/*
 * Writes from begin_ns to end_ns or to the end of the record, interval by
 * interval; reads as it goes, unless all has been read.
 */
enum lt_status report_write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns);

/* ---- report_dump.c ---- */

/* lttngtop report dump: not a table, but the events themselves. The options were read, nothing else was done. */
int report_dump(struct report *r);

/* ---- report_slice.c ---- */

/* lttngtop report slice: an interval as a trace, likewise. */
int report_slice(struct report *r);

/* ---- report_derived.c ---- */

/* Prepares r for its table, once the options were checked; and frees what that took. */
void report_derived_init(struct report *r);
void report_derived_release(struct report *r);

/* The rows of an interval. LT_ERROR: there is no such thread. */
enum lt_status report_derived_collect(struct report *r, uint64_t begin_ns, uint64_t end_ns);

/* ---- report_subjects.c ---- */

/* The hosts are known. LT_ERROR: a path of whom? */
enum lt_status report_subjects_check(struct report *r);

/* Fills r->subjects and r->paths, those of an interval. LT_ERROR: the one thread that is asked for was not there. */
enum lt_status report_subjects_find(struct report *r, uint64_t begin_ns, uint64_t end_ns);

void report_subjects_clear(struct report *r);

/* Why there are none. */
const char *report_subjects_missing(const struct report *r);

#endif
