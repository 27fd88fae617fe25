/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_WANTED_H
#define LT_EVENT_WANTED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Of which events all fields are wanted (event/fields.h), not only those that figures need. A worker takes it as a
 * cheap sieve: what it sends is all of that and may be more, where it does not know who runs. The parent decides.
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
	 * Threads: an event is wanted if one of these holds of the thread that runs on its CPU. All empty: of every
	 * thread.
	 */
	GArray *tids, *pids; /* int32_t */
	GPtrArray *names;    /* char *: globs of thread names */
	/* Of [begin, end[ by the host's own clock; 0, UINT64_MAX: always. */
	uint64_t begin_ns, end_ns;
};

/* Nothing is wanted. */
void fields_wanted_init(struct fields_wanted *w);
void fields_wanted_release(struct fields_wanted *w);

/* Whether it is not of every thread. */
static inline bool fields_wanted_has_threads(const struct fields_wanted *w)
{
	return w->tids->len || w->pids->len || w->names->len;
}

/* Whether events of a class of that name are. */
bool fields_wanted_class(const struct fields_wanted *w, const char *name);

enum { FIELDS_WANTED_TEXT_MAX = 8192 };

/*
 * For a worker's arguments, at most FIELDS_WANTED_TEXT_MAX bytes: where the threads do not fit, all are wanted. To be
 * freed; w NULL: of nothing.
 */
char *fields_wanted_text(const struct fields_wanted *w);

/* Back, into an initialised one. false: it is not such a text. */
bool fields_wanted_parse(struct fields_wanted *w, const char *text);

#endif
