/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_SELECT_H
#define LT_ATTACH_SELECT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "model/look.h"

/*
 * Which threads are attached to: -p, -n, --container, -f, --threads, --host. A thread is chosen by what it is at its
 * event; those that are followed stay chosen.
 */
struct attach_select {
	GArray *targets;  /* struct select_target: -p */
	GPtrArray *names; /* char *: globs of thread names, -n */
	GPtrArray *hosts; /* char *: globs, empty: all */
	/* Whether the thread of that host is in a container that was named: --container; NULL: none was. */
	bool (*contains)(void *user, unsigned host, const struct thread_row *row);
	void *user;
	int32_t command; /* chosen from its first execve() on: `attach -- COMMAND`; 0: none */
	bool children;   /* -f: what they fork, too */
	bool threads;    /* of the same process, too; implied by children */
};

struct select_target {
	char *host; /* glob, NULL: any */
	int32_t tid;
};

void attach_select_init(struct attach_select *s);
void attach_select_release(struct attach_select *s);

/* "[HOST:]TID". LT_ERROR: it is not one. */
enum lt_status attach_select_add(struct attach_select *s, const char *text);

/* Whether it can only be one thread: nothing has to say which one a line is of. */
bool attach_select_is_one(const struct attach_select *s);

/* Whether threads of a host of that name may be chosen. */
bool attach_select_host(const struct attach_select *s, const char *host);

/* Whether the thread is chosen by itself, not because it is followed. host: its number. row may be NULL. */
bool attach_select_thread(const struct attach_select *s, unsigned host, const char *host_name, const struct model *m,
			  int32_t tid, const struct thread_row *row);

/* What workers are asked for, so that all fields of the calls of all these threads come; all: of every thread. */
struct fields_wanted;
void attach_select_want(const struct attach_select *s, struct fields_wanted *wanted, bool all);

#endif
