/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/sets.h"

#include <glib.h>
#include <stdbool.h>
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

static const char *const set_names[RECORD_ALL_SETS] = {
	[RECORD_SET_NONE] = "none", [RECORD_SET_MINIMAL] = "minimal", [RECORD_SET_WAITS] = "waits",
	[RECORD_SET_FULL] = "full", [RECORD_SET_MEMORY] = "memory",   [RECORD_SET_FREQUENCY] = "frequency",
	[RECORD_SET_WORK] = "work",
};

static const char *const cost_texts[RECORD_COSTS] = {
	[RECORD_COST_START] = "with each state dump",      [RECORD_COST_RARE] = "rarely",
	[RECORD_COST_FORK] = "once per new thread",        [RECORD_COST_EXEC] = "once per program executed",
	[RECORD_COST_EXIT] = "once per thread that exits", [RECORD_COST_SWITCH] = "about as often as context switches",
	[RECORD_COST_MIGRATION] = "once per migration",    [RECORD_COST_WORK] = "once per work item",
	[RECORD_COST_WAKEUP] = "once per wake-up",         [RECORD_COST_IRQ] = "once per interrupt",
	[RECORD_COST_DISK] = "once per disk request",      [RECORD_COST_PACKET] = "once per network packet",
	[RECORD_COST_CALL] = "twice per system call",      [RECORD_COST_ALLOC] = "once per allocation",
	[RECORD_COST_FREE] = "once per release",           [RECORD_COST_FAULT] = "once per page fault",
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

static enum lt_status find_word(const char *word, unsigned *found)
{
	for (*found = 0; *found < RECORD_ALL_SETS; (*found)++)
		if (strcmp(word, set_names[*found]) == 0)
			return LT_OK;
	return error_set("'%s' is not a set: minimal, waits, full or none, and after a comma memory, frequency or work",
			 word);
}

enum lt_status record_set_find(const char *words, enum record_set *set, uint32_t *additions)
{
	char **list = g_strsplit(words, ",", -1);
	enum lt_status status = LT_OK;
	bool chosen = false;

	*additions = 0;
	for (char **word = list; *word && !status; word++) {
		unsigned found;

		status = find_word(*word, &found);
		if (status)
			break;
		if (found >= RECORD_SETS) {
			*additions |= UINT32_C(1) << found;
		} else if (chosen) {
			status = error_set("'%s' names two sets", words);
		} else {
			*set = (enum record_set)found;
			chosen = true;
		}
	}
	if (!*list)
		status = find_word("", &(unsigned){ 0 });
	g_strfreev(list);
	return status;
}

const char *record_set_words(enum record_set set, uint32_t additions)
{
	GString *words = g_string_new(set_names[set]);
	const char *text;

	for (unsigned i = RECORD_SETS; i < RECORD_ALL_SETS; i++)
		if (additions >> i & 1)
			g_string_append_printf(words, ",%s", set_names[i]);
	text = g_intern_string(words->str);
	g_string_free(words, TRUE);
	return text;
}
