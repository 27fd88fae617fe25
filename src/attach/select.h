/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_SELECT_H
#define LT_ATTACH_SELECT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/look.h"

/*
 * Which threads to attach to: -p, -n, --container, -f, --threads, --host. Threads are matched at each event; those that
 * are followed stay chosen.
 */
struct attach_select {
	GArray *targets;  /* struct select_target: -p */
	GArray *names;    /* struct select_name: -n */
	GPtrArray *hosts; /* char *: globs, empty: all */
	/* Whether the host's thread is in a container named by --container, which it marks; NULL: none was named. */
	bool (*contains)(void *user, unsigned host, const struct thread_row *row);
	void *user;
	int32_t command; /* chosen from its first execve() on: `attach -- COMMAND`; 0: none */
	bool children;   /* -f: also threads and processes they create */
	bool threads;    /* also threads of the same process; implied by children */
};

struct select_target {
	char *host; /* a glob; NULL: any host */
	int32_t tid;
	bool is_met; /* there was an event of the thread */
};

struct select_name {
	char *glob;
	bool is_met; /* attach_select_thread() was asked about a thread of such a name */
};

void attach_select_init(struct attach_select *s);
void attach_select_release(struct attach_select *s);

/* Parses "[HOST:]TID", or several separated by commas or blanks. LT_ERROR: invalid. */
enum lt_status attach_select_add(struct attach_select *s, const char *list);

/* Chooses threads whose names match the glob, which is copied. */
void attach_select_add_name(struct attach_select *s, const char *glob);

/* Whether only one thread can match, so that lines need not name it. */
bool attach_select_is_one(const struct attach_select *s);

/* Whether threads of a host with that name can be chosen. */
bool attach_select_host(const struct attach_select *s, const char *host);

/* Whether the thread itself is chosen, as opposed to followed. host: its number. row may be NULL. */
bool attach_select_thread(const struct attach_select *s, unsigned host, const char *host_name, const struct model *m,
			  int32_t tid, const struct thread_row *row);

/* Whether -p chooses the thread, whatever its name and container are. row may be NULL. */
bool attach_select_target(const struct attach_select *s, const char *host_name, const struct model *m, int32_t tid,
			  const struct thread_row *row);

/* There is an event of this thread: marks targets that name it. */
void attach_select_meet(const struct attach_select *s, const char *host_name, int32_t tid);

/* Requests from the workers all fields of these threads' calls; all: of every thread. */
struct fields_wanted;
void attach_select_want(const struct attach_select *s, struct fields_wanted *wanted, bool all);

#endif
