/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_REPORT_H
#define LT_CMD_REPORT_REPORT_H

/*
 * Shared by the files of lttngtop report: report.c handles the command line, choose.c the selection of rows and
 * columns, read.c reads the sources step by step, cut.c cuts the data into intervals and writes them, derived.c
 * collects the rows of tables that do not come from the model, subjects.c finds the threads of critical paths,
 * events.c chooses single events, dump.c writes them, slice.c traces of them, help.c is its help.
 *
 * Times without a host are reference times (clock/map.h); a host's times are its own.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/stop.h"
#include "cli/options.h"
#include "ingest/ingest.h"
#include "out/writer.h"
#include "view/derived.h"
#include "view/share.h"
#include "view/table.h"

/* From the end of an event to the next one, long compared to --interval. On the host's own clock. */
struct report_gap {
	uint64_t begin_ns, end_ns;
};

/* Rereads only part of recordings that were opened before: see ingest_limit(). */
struct report_limit {
	const struct ingest *like;
	uint64_t begin_ns, end_ns;
	bool models;
};

/* A host that was read; if it is not shown only its times matter. */
struct report_host {
	struct ingest_host *source;
	struct interval iv;
	uint64_t reached_ns; /* advanced up to here */
	uint64_t cut_ns;     /* end of its last interval; 0: none yet */
	bool open;           /* iv has been started and not ended */
	bool done;           /* its trace was read to its end */
	bool left_out;       /* silent: it has fallen behind the others */
	bool awaited;        /* its first event has not come: iv is started then, if it is still the same interval */
	bool named;          /* it is among report.names */
	int shown;           /* its number among the shown hosts; -1: not shown */
	struct view_lost
		before; /* lost before --begin or, if everything has been read, outside of the requested part */
	GArray *gaps;   /* struct report_gap, those found so far */
	guint gap;      /* the first one that no page has covered */
};

struct report {
	const struct options *options;
	guint first_source;                   /* index of the first source among the words */
	const struct ingest_visitor *visitor; /* attach: sees every event in reference time order; NULL: none */
	const struct view_table *table;
	const struct view_table *needs;   /* with --log: the requested table; otherwise NULL */
	struct view_table log_table;      /* with --log: the table, with the columns that its rows have */
	uint64_t log_dist, log_min_ns;    /* model_set_log() */
	bool live;                        /* one of the sources is: nothing can be read twice */
	const struct report_limit *limit; /* NULL: everything is read */
	bool no_waits;                    /* attach: nothing that it shows needs the wait graph */
	struct clocks *clocks;            /* NULL: every host has its own */
	enum clocks_use clocks_use;
	struct waits_options waits;
	struct view_filter filter; /* threads and hosts; for most tables also rows */
	GArray *sum_columns;       /* struct column: --sum-by; NULL: not given */
	struct view_filter having; /* filter for the sums */
	/* for tables that apply the filter of threads and hosts themselves: filter for rows */
	struct view_filter rows_filter;
	struct view_query query;
	struct ingest *in;
	struct report_host **hosts; /* by ingest_host(); those of a relayd may come later */
	unsigned n_hosts;
	int subject;    /* for paths: the host of the single requested thread; -1: there may be several */
	uint64_t at_ns; /* all hosts have been applied up to here */
	uint64_t page_begin_ns, page_end_ns; /* of the interval that is being read; both 0: none is */
	bool left_live;  /* an interrupt ended the wait for live sources: if all is read again, it is without them */
	bool reads_rest; /* after an interrupt: see ingest_read_rest() */
	bool interrupted;
	bool refused;  /* ingest_is_refused() */
	bool all_read; /* set by report_read_all(): nothing more is read */
	struct view_rows rows;
	struct view_host *shown;
	unsigned n_shown;
	const char **names; /* of the requested hosts */
	unsigned n_names;
	struct view_derived derived_rows;
	GArray *matches;  /* struct view_match */
	GArray *paths;    /* struct wait_path, of the interval */
	GArray *subjects; /* wait_row: the paths' threads */
	bool any_rows;    /* some rows were written */
	bool recorded;    /* there were rows, whether they were written or not: view_any_recorded() */
	bool warned_cut;  /* the warning that older data is missing has been given */
	bool dropped;     /* because memory was too small */
	bool losing;      /* at the end of some interval, events were being lost (struct view_lost) */
	const struct column **columns;
	unsigned n_columns;
	GPtrArray *shares;  /* struct view_share, requested columns */
	GPtrArray *figures; /* const struct column *, requested columns: view_query.figures */
	struct writer *writer;
	int64_t started_us, progress_us; /* when progress was last shown; 0: none is on the terminal */
};

/* What the table's rows need in addition to models, enum view_need; nothing for dump and attach. */
static inline unsigned report_needs(const struct report *r)
{
	return r->table ? r->table->supply.needs : 0;
}

static inline bool report_needs_waits(const struct report *r)
{
	return report_needs(r) & (VIEW_PATH | VIEW_ACCOUNTS) || (r->visitor && !r->no_waits);
}

/* ---- report.c ---- */

/*
 * Ends the reading. Set by a signal or the end of --duration, and while events are written, once there are --limit of
 * them or writing has failed; and the signal, 0: none.
 */
extern stop_flag report_stop;
extern volatile sig_atomic_t report_signal;

/*
 * Makes SIGINT and, for live sessions, the end of --duration end the reading where it is; a second SIGINT ends the
 * program at once.
 */
void report_end_on_interrupt(const struct report *r);

/* Makes another signal do the same. */
void report_end_on_signal(int number);

/* Chooses each host's clock. LT_ERROR: the options are invalid. */
enum lt_status report_set_clocks(struct report *r);

/* Reads the open sources, whose end is known_end_ns if that had to be known first, else 0; the exit status. */
typedef int report_read_fn(void *user, uint64_t known_end_ns);

/*
 * Opens the sources, calls the function, and closes them. First surveys recordings of several hosts if the clocks must
 * be known while reading, to cut them or to merge large ones; also if times are relative to the trace's end. Returns
 * the function's exit status, or that of a failure to open them, after an error message of the subcommand; 128+n if
 * signal n ended the reading of a recording early (live, that is the end that it has).
 */
int report_read_sources(struct report *r, const char *subcommand, report_read_fn *read, void *user);

/* Whether something was lost or could not be read, which is reported on stderr. */
bool report_is_incomplete(struct report *r);

/* Says on stderr what is missing, if anything is; returns whether it is. unread: something could not be read. */
bool report_say_incomplete(struct view_lost lost, bool unread);

/* To be called when everything before --begin has been read: what was lost by then is not said. */
void report_leave_out_lost(struct report *r);

/* ---- read.c ---- */

/*
 * Opens the sources into r->in; LT_ERROR: none could be read, the error chain has the last reason. Once r->left_live is
 * set, sessions are not opened again, and directories are read up to what they hold.
 */
enum lt_status report_open(struct report *r, bool survey);

/*
 * Sets up the hosts that are read and those that are shown; adds those that have come since then, with sessions that a
 * relayd lists later; and frees them.
 */
void report_set_hosts(struct report *r);
void report_add_hosts(struct report *r);
void report_release_hosts(struct report *r);

/*
 * Applies the events of all hosts before until_ns in common steps, so that an interrupt finds all at the same time.
 * Skips live hosts that are silent.
 */
void report_advance(struct report *r, uint64_t until_ns);

/* The same in order of reference time across all hosts, for r->visitor. */
void report_advance_in_order(struct report *r, uint64_t until_ns);

/* This many or more consecutive empty intervals are written as one. */
enum { REPORT_GAP_INTERVALS = 1000 };

/* Whether every host's trace was read to its end; the earliest start and latest end so far, 0: no event yet. */
bool report_all_done(const struct report *r);
uint64_t report_record_begin(const struct report *r);
uint64_t report_record_end(const struct report *r);

/* The end of the last packet, if known before it is read: at or after the last event. 0: not known. */
uint64_t report_hinted_end(const struct report *r);

/* The host's own time for a reference time. */
uint64_t report_host_time(const struct report_host *h, uint64_t ref_ns);

/*
 * Reads recordings just for the clocks and the end of the trace. Opens them unless they are open in r->in; closes them.
 * The second reading reports problems again.
 */
enum lt_status report_survey(struct report *r, uint64_t *end_ns);

/* To be called when all recordings have been read: their clocks are final. */
void report_finish_clocks(struct report *r);

/* Removes the progress line from the terminal. */
/*
 * After the first ^C, or the end of --duration: whether reading continues, up to the end of what followed recordings
 * hold.
 */
bool report_reads_rest(struct report *r);

void report_clear_progress(struct report *r);

/* ---- report.c ---- */

/* Sets the error for a word in place of a table's name. */
enum lt_status report_unknown_table(const char *name);

/* ---- choose.c ---- */

/* Sets the query and the columns from the options. LT_ERROR: the options are invalid. */
enum lt_status report_choose(struct report *r);

/* LT_ERROR: an option, other than --limit, selects rows or columns, which do not exist for dump and slice (what). */
enum lt_status report_refuse_choice(const struct options *o, const char *what);

/* ---- spread.c ---- */

/* The table that --log writes. */
#define REPORT_INSTANCES "instances"

/* Words that are used like names of tables. */
#define REPORT_DUMP "dump"
#define REPORT_SLICE "slice"

/* With --log, switches to the table of a distribution's instances. LT_ERROR: the table has no such distribution. */
enum lt_status report_choose_log(struct report *r);

/*
 * To be called when the columns have been chosen: adds the histogram for --freq, and has distributions split into
 * buckets if a column needs them. LT_ERROR: the table has no histogram.
 */
enum lt_status report_choose_spread(struct report *r);

/* The tables to which --log applies, or --freq: "disks, irqs and sched". The caller frees it. */
char *report_spread_tables(bool log);

/*
 * With --log and --limit, forgets the instances in the host's open interval that cannot be among the first rows any
 * more, so that memory is needed only for those, however long the trace is. To be called at any time while reading.
 */
void report_forget_instances(struct report *r, struct report_host *h);

/* ---- cut.c ---- */

/* Starts the host's part of the interval that is being read, unless it has none. It has been read up to its start. */
void report_open_interval(struct report *r, struct report_host *h);

/* What the host lost in [begin_ns, end_ns[; everything must have been read. */
struct view_lost report_lost_between(const struct report *r, const struct report_host *h, uint64_t begin_ns,
				     uint64_t end_ns);

/*
 * The requested part of the trace, clipped to the known part. Warns if --end is a time of day that only the day after
 * the start has, past the recording. LT_ERROR: the times are invalid.
 */
enum lt_status report_resolve_times(const struct report *r, uint64_t known_end_ns, uint64_t *begin_ns,
				    uint64_t *end_ns);

/*
 * Warns if what was asked for is before or after the recording, for instance because of the time zone, and returns
 * whether it is; also warns if it is empty. begin_ns: resolved; known_end_ns: as for report_resolve_times(). To be
 * called when everything up to begin_ns has been read.
 */
bool report_warn_outside(const struct report *r, uint64_t begin_ns, uint64_t known_end_ns);

/*
 * Reads everything as one interval of all hosts before anything is written. until_ns: later data only helps to explain
 * earlier data, and is skipped if memory is short.
 */
void report_read_all(struct report *r, uint64_t until_ns);

/*
 * Writes from begin_ns to end_ns or the end of the trace, interval by interval; reads as needed unless everything has
 * been read.
 */
enum lt_status report_write_intervals(struct report *r, uint64_t begin_ns, uint64_t end_ns);

/* ---- dump.c ---- */

/* lttngtop report dump: writes the events themselves instead of a table. Only the options have been read. */
int report_dump(struct report *r);

/* ---- slice.c ---- */

/* lttngtop report slice: writes an interval as a trace. Only the options have been read. */
int report_slice(struct report *r);

/* ---- derived.c ---- */

/* Prepares r for its table once the options have been checked; and frees it. */
void report_derived_init(struct report *r);
void report_derived_release(struct report *r);

/* Collects the rows of an interval. LT_ERROR: there is no such thread. */
enum lt_status report_derived_collect(struct report *r, uint64_t begin_ns, uint64_t end_ns);

/* ---- subjects.c ---- */

/* To be called when the hosts are known. LT_ERROR: the path's thread is not identified. */
enum lt_status report_subjects_check(struct report *r);

/*
 * Fills r->subjects and r->paths for an interval. LT_ERROR: the single requested thread did not exist in it; live it
 * may come later, so there is no path then.
 */
enum lt_status report_subjects_find(struct report *r, uint64_t begin_ns, uint64_t end_ns);

void report_subjects_clear(struct report *r);

/* Why there are none; NULL: see whether --tid names one that exists. */
const char *report_subjects_missing(const struct report *r);

#endif
