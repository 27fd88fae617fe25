/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SYMBOLS_FILE "/proc/kallsyms"

/* Whether a line "ADDRESS TYPE SYMBOL[\t[MODULE]]" names the symbol. */
static bool is_of(const char *line, const char *symbol)
{
	const char *name = strchr(line, ' ');
	const size_t len = strlen(symbol);

	name = name ? strchr(name + 1, ' ') : NULL;
	return name && strncmp(name + 1, symbol, len) == 0 && strchr("\t\n ", name[1 + len]);
}

static bool has_symbol(FILE *file, const char *symbol)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	rewind(file);
	while (!found && getline(&line, &size, file) > 0)
		found = is_of(line, symbol);
	free(line);
	return found;
}

enum lt_status symbols_check(const struct record_channel *c)
{
	FILE *file = NULL;
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < c->events->len && !status; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind != RECORD_KPROBE || !e->symbol)
			continue;
		if (!file && !(file = fopen(SYMBOLS_FILE, "re")))
			break; /* left to the tracer */
		if (!has_symbol(file, e->symbol))
			status = error_set("option '--kprobe': this kernel has no symbol '%s': see "
					   "" SYMBOLS_FILE,
					   e->symbol);
	}
	if (file)
		fclose(file);
	return status;
}

char *symbols_test(const char *symbol)
{
	return g_strdup_printf("{ test ! -r " SYMBOLS_FILE " || "
			       "awk -v s='%s' '$3 == s { f = 1; exit } END { exit !f }' " SYMBOLS_FILE " || "
			       "{ echo 'this kernel has no symbol %s' >&2; false; }; }",
			       symbol, symbol);
}
