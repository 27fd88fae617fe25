/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_WANTED_H
#define LT_EVENT_WANTED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Selects the events for which all fields are wanted (event/fields.h), not only those that figures need. A worker uses
 * it as a cheap filter: it sends all matching events, and possibly more if it does not know which thread runs. The
 * parent makes the final choice.
 */
enum wanted_classes {
	WANTED_NOTHING,
	WANTED_CALLS,           /* entries and exits of system calls */
	WANTED_CALLS_AND_SCHED, /* and sched_*, signal_*, *page_fault* */
	WANTED_ALL,
};

struct fields_wanted {
	enum wanted_classes classes;
	/*
	 * An event is wanted if one of these matches the thread that runs on its CPU. All empty: every thread matches.
	 */
	GArray *tids, *pids; /* int32_t */
	GPtrArray *names;    /* char *: globs of thread names */
	/* Of every thread: the calls that may change its name, for it may have one of the names at one end only. */
	bool renames;
	/* Of every thread: what ends its whole process, and with it threads that match. */
	bool ends;
	/* Only events in [begin, end[ by the host's own clock; 0, UINT64_MAX: always. */
	uint64_t begin_ns, end_ns;
};

/* Wants no events. */
void fields_wanted_init(struct fields_wanted *w);
void fields_wanted_release(struct fields_wanted *w);

/* Whether only some threads match. */
static inline bool fields_wanted_has_threads(const struct fields_wanted *w)
{
	return w->tids->len || w->pids->len || w->names->len;
}

/* Whether events of the class with that name are wanted. */
bool fields_wanted_class(const struct fields_wanted *w, const char *name);

/* Whether events of the class with that name are entries or exits of calls that may give the thread another name. */
bool fields_wanted_renames(const char *name);

/* Whether events of the class with that name may be the end of a thread's whole process. */
bool fields_wanted_ends(const char *name);

enum { FIELDS_WANTED_TEXT_MAX = 8192 };

/*
 * As text for a worker's arguments, at most FIELDS_WANTED_TEXT_MAX bytes: if the threads do not fit, all threads match.
 * w NULL: no events. To be freed.
 */
char *fields_wanted_text(const struct fields_wanted *w);

/* Parses such a text into an initialised one. false: it is malformed. */
bool fields_wanted_parse(struct fields_wanted *w, const char *text);

#endif
