/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_ACTION_H
#define LT_UI_ACTION_H

#include <stdbool.h>

struct ui;

/* The panes, in the order of Tab; their rows are in pane.c. */
enum pane_id {
	PANE_CPU,
	PANE_IO,
	PANE_PERF,
	PANE_FILES,
	PANE_SYSCALLS,
	PANE_LATENCY,
	PANE_DEVICES,
	PANE_PATHS,
	PANE_HOSTS,
	PANE_EVENTS,
/* reached only by the menu and Tab from here on */
/* with one table each */
#define VIEW_PANE(name) PANE_OF_##name,
#include "view/tables.def"
	PANES
};

enum action_where {
	WHERE_LIST = 1 << 0,  /* a list with a selection */
	WHERE_TEXT = 1 << 1,  /* scrolling text: details */
	WHERE_PATH = 1 << 2,  /* a critical path with a selected segment */
	WHERE_CHART = 1 << 3, /* a chart of one host out of several */
	WHERE_CALLS = 1 << 4, /* lines of system calls */
	WHERE_ROWS = WHERE_LIST | WHERE_PATH | WHERE_CHART | WHERE_CALLS,
	WHERE_ALL = WHERE_ROWS | WHERE_TEXT,
};

enum action_group { GROUP_TIME, GROUP_LIST, GROUP_FIND, GROUP_ORDER, GROUP_PANES, GROUP_GENERAL, ACTION_GROUPS };

/* A row of actions.def. */
struct action {
	const char *id;
	void (*run)(struct ui *ui, int argument);
	int argument;
	const char *keys; /* "F9 p", see keys.h */
	unsigned where;   /* enum action_where */
	enum action_group group;
	const char *label; /* in the function bar; NULL: not shown there */
	const char *help;
};

enum {
#define ACTION(id, ...) ACTION_##id,
#include "ui/actions.def"
#undef ACTION
	ACTIONS
};

const struct action *action_get(unsigned id);

/* The action of a key; NULL: there is none. */
const struct action *action_find(int key);

/* The keys as shown to users: "F9 p", "← F7"; in ASCII "Left F7". */
const char *action_keys(const struct action *a, bool ascii, char *buffer, unsigned size);

/* The number of an action's first F key; 0: it has none. */
int action_function_key(const struct action *a);

const char *action_group_title(enum action_group group);

/* The actions' functions, one per name in actions.def, in do_*.c. */
#define ACTION(id, function, ...) void do_##function(struct ui *ui, int argument);
#include "ui/actions.def"
#undef ACTION

#endif
