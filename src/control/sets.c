/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/sets.h"

#include <glib.h>
#include <string.h>

#include "base/error.h"

static const struct record_set_event events[] = {
#define EVENT(KIND, SET, COST, name, meaning) { RECORD_##KIND, RECORD_SET_##SET, RECORD_COST_##COST, name, meaning },
#define CONTEXT(SET, bytes, name, meaning)
#include "control/sets.def"
};

static const struct record_set_context contexts[] = {
#define EVENT(KIND, SET, COST, name, meaning)
#define CONTEXT(SET, bytes, name, meaning) { RECORD_SET_##SET, bytes, name, meaning },
#include "control/sets.def"
};

static const char *const set_names[RECORD_SETS] = {
	[RECORD_SET_NONE] = "none",
	[RECORD_SET_MINIMAL] = "minimal",
	[RECORD_SET_WAITS] = "waits",
	[RECORD_SET_FULL] = "full",
};

static const char *const cost_texts[RECORD_COSTS] = {
	[RECORD_COST_START] = "once, at the start",   [RECORD_COST_RARE] = "rarely",
	[RECORD_COST_TASK] = "once per thread",       [RECORD_COST_SWITCH] = "once per context switch",
	[RECORD_COST_WAKEUP] = "once per wake-up",    [RECORD_COST_IRQ] = "once per interrupt",
	[RECORD_COST_DISK] = "once per disk request", [RECORD_COST_PACKET] = "once per network packet",
	[RECORD_COST_CALL] = "twice per system call",
};

const struct record_set_event *record_set_events(unsigned *n)
{
	*n = G_N_ELEMENTS(events);
	return events;
}

const struct record_set_context *record_set_contexts(unsigned *n)
{
	*n = G_N_ELEMENTS(contexts);
	return contexts;
}

const char *record_set_name(enum record_set set)
{
	return set_names[set];
}

const char *record_cost_text(enum record_cost cost)
{
	return cost_texts[cost];
}

enum lt_status record_set_find(const char *name, enum record_set *set)
{
	for (unsigned i = 0; i < RECORD_SETS; i++) {
		if (!strcmp(name, set_names[i])) {
			*set = (enum record_set)i;
			return LT_OK;
		}
	}
	return error_set("'%s' is not a set: minimal, waits, full or none", name);
}
