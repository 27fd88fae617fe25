/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_FILTER_H
#define LT_VIEW_FILTER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A container, by the name it is shown by or by the number of its namespace. */
struct view_container_term {
	char *name, *glob; /* as typed, and a pattern that it is a part of; owned by the filter; NULL: by number */
	uint64_t number;   /* 0: by its name */
	bool host_itself;  /* what is in no container; glob and number do not count */
	bool nested;       /* those nested in it too */
};

/*
 * Which rows are wanted. Terms of one kind are alternatives, kinds add up:
 * tid 5 or 6, and host "web*". Terms that a table has nothing for (a pid among
 * disks) do not touch it. Arrays are owned by the filter, NULL or empty: any.
 */
struct view_filter {
	GPtrArray *hosts; /* globs (char *) */
	GArray *tids;     /* int64_t */
	GArray *pids;     /* int64_t; of threads and of processes */
	GPtrArray *comms; /* globs */
	GPtrArray *texts; /* what some text column of the row must contain, case ignored: all of them */
	GArray *containers; /* struct view_container_term */
	GArray *trees;    /* int64_t: pids; of them and all below them */
	uint64_t files_id; /* TABLE_FILE: only this fd table, 0: any */
};

void view_filter_init(struct view_filter *f);
void view_filter_release(struct view_filter *f);

/* Makes it empty: everything is wanted. */
void view_filter_clear(struct view_filter *f);

bool view_filter_empty(const struct view_filter *f);

void view_filter_add_host(struct view_filter *f, const char *glob);
void view_filter_add_comm(struct view_filter *f, const char *glob);
void view_filter_add_tid(struct view_filter *f, int64_t tid);
void view_filter_add_pid(struct view_filter *f, int64_t pid);

/*
 * Adds what a user typed: words separated by blanks, each "host:GLOB", "tid:N",
 * "pid:N", "comm:GLOB", "tree:PID", "container:GLOB" or "container:N" ("container:host": in none; with
 * '/' behind it those nested in it too), or a plain text.
 * A glob without '*', '?' and '[' may stand anywhere in the name; where a host has a container of just
 * that name, it is that one. LT_ERROR: a term is not known ("bogus:x") or cannot be understood ("pid:x"),
 * and what was before it is added.
 */
enum lt_status view_filter_parse(struct view_filter *f, const char *text);

/* What stands behind "container:". LT_ERROR: it is empty. */
enum lt_status view_filter_add_container(struct view_filter *f, const char *name);

/* Whether a host of that name is wanted. */
bool view_filter_host(const struct view_filter *f, const char *name);

/* Whether text contains part, upper and lower case being the same. */
bool view_text_contains(const char *text, const char *part);

#endif
