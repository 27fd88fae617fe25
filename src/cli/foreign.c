/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/foreign.h"

#include <string.h>

#include "base/error.h"

#define REPORT COMMAND_REPORT
#define ATTACH COMMAND_ATTACH

#define NOTHING(...)

static const struct option_refused refused[] = {
#define REFUSED(command, letter, name, reason) { command, letter, name, reason },
#define RENAMED NOTHING
#define EXPRESSION NOTHING
#define LIST NOTHING
#define ARGUMENT NOTHING
#include "cli/foreign.def"
};

static const struct foreign_name names[] = {
#define REFUSED NOTHING
#define RENAMED(command, name, ours) { command, name, ours, FOREIGN_SAME },
#define EXPRESSION(command, name, ours) { command, name, ours, FOREIGN_EXPRESSION },
#define LIST(command, name, ours) { command, name, ours, FOREIGN_LIST },
#define ARGUMENT NOTHING
#include "cli/foreign.def"
};

static const struct {
	enum command_bit command;
	const char *ours, *argument;
	unsigned level;
} arguments[] = {
#define REFUSED NOTHING
#define RENAMED NOTHING
#define EXPRESSION NOTHING
#define LIST NOTHING
#define ARGUMENT(command, ours, argument, level) { command, ours, argument, level },
#include "cli/foreign.def"
};

const struct option_refused *options_refused(unsigned i)
{
	return i < G_N_ELEMENTS(refused) ? &refused[i] : NULL;
}

const struct foreign_name *foreign_name(unsigned i)
{
	return i < G_N_ELEMENTS(names) ? &names[i] : NULL;
}

const struct foreign_name *foreign_find(enum command_bit command, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].command == command && strcmp(names[i].name, name) == 0)
			return &names[i];
	return NULL;
}

enum lt_status foreign_refuse(enum command_bit command, char letter, const char *name, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		if (refused[i].command != command)
			continue;
		if (letter && letter == refused[i].letter)
			return error_set("option '-%c' is not available: %s", letter, refused[i].reason);
		if (!letter && strncmp(refused[i].name, name, len) == 0 && !refused[i].name[len])
			return error_set("option '--%s' is not available: %s", refused[i].name, refused[i].reason);
	}
	return LT_OK;
}

bool foreign_has_arguments(enum command_bit command, const char *ours)
{
	for (size_t i = 0; i < G_N_ELEMENTS(arguments); i++)
		if (arguments[i].command == command && strcmp(arguments[i].ours, ours) == 0)
			return true;
	return false;
}

/* Without what strace allows before its words: "format:unix,precision:us". To be freed. */
static char *plain_argument(const char *argument)
{
	char **words = g_strsplit(argument, ",", -1), *plain;

	for (char **word = words; *word; word++) {
		const char *rest = *word;

		if (g_str_has_prefix(rest, "format:") || g_str_has_prefix(rest, "precision:"))
			memmove(*word, strchr(rest, ':') + 1, strlen(strchr(rest, ':')));
	}
	plain = g_strjoinv(",", words);
	g_strfreev(words);
	return plain;
}

enum lt_status foreign_argument(enum command_bit command, const char *ours, const char *argument, unsigned *level)
{
	char *plain = plain_argument(argument);
	GString *known = g_string_new(NULL);
	enum lt_status status = LT_ERROR;

	for (size_t i = 0; i < G_N_ELEMENTS(arguments) && status; i++) {
		if (arguments[i].command != command || strcmp(arguments[i].ours, ours) != 0)
			continue;
		g_string_append_printf(known, "%s'%s'", known->len ? ", " : "", arguments[i].argument);
		if (strcmp(arguments[i].argument, plain) != 0)
			continue;
		*level = arguments[i].level;
		status = LT_OK;
	}
	if (status)
		error_set("'%s' is not available: it may be %s", argument, known->str);
	g_string_free(known, TRUE);
	g_free(plain);
	return status;
}
