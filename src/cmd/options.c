/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

#define MONITOR COMMAND_MONITOR
#define REPORT COMMAND_REPORT
#define RECORD COMMAND_RECORD
#define LIST COMMAND_LIST
#define FEED COMMAND_FEED
#define EVERYWHERE COMMAND_EVERYWHERE

static const struct option_row rows[] = {
#define OPTION(KIND, field, name, letter, argument, standard, commands, help) \
	{OPTION_##KIND, offsetof(struct options, field), name, letter, argument, standard, (unsigned)(commands), help},
#include "cmd/options.def"
};

#undef MONITOR
#undef REPORT
#undef RECORD
#undef LIST
#undef FEED
#undef EVERYWHERE

enum { COUNT_MAX = 1024 };

const struct option_row *options_rows(unsigned *count)
{
	*count = G_N_ELEMENTS(rows);
	return rows;
}

static enum lt_status parse_size(const char *text, option_size *size)
{
	static const char units[] = "kMGT";
	guint64 value;
	char *end;
	const char *unit;
	unsigned shift = 0;

	errno = 0;
	value = g_ascii_strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (!g_ascii_isdigit(text[0]) || *end || errno || value > UINT64_MAX >> shift)
		return error_set("'%s' is not a size such as 64M or 1G", text);
	*size = value << shift;
	return LT_OK;
}

static enum lt_status parse_number(const char *text, guint64 least, guint64 most, guint64 *number)
{
	if (g_ascii_string_to_unsigned(text, 10, least, most, number, NULL))
		return LT_OK;
	return error_set("'%s' is not a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, text, least, most);
}

static enum lt_status parse_count(const char *text, option_count *count)
{
	guint64 number;

	if (parse_number(text, 1, COUNT_MAX, &number))
		return LT_ERROR;
	*count = (unsigned)number;
	return LT_OK;
}

static enum lt_status parse_speed(const char *text, option_speed *speed)
{
	char *end;
	double value = g_ascii_strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return error_set("'%s' is not a number above 0", text);
	*speed = value;
	return LT_OK;
}

static enum lt_status parse_pace(const char *text, option_pace *pace)
{
	if (strcmp(text, "max") != 0)
		return parse_speed(text, pace);
	*pace = INFINITY;
	return LT_OK;
}

static enum lt_status parse_port(const char *text, option_port *port)
{
	guint64 number;

	if (parse_number(text, 1, UINT16_MAX, &number))
		return LT_ERROR;
	*port = (unsigned)number;
	return LT_OK;
}

static enum lt_status parse_numbers(const char *text, option_numbers numbers)
{
	guint64 number;
	int32_t id;

	if (parse_number(text, 0, INT32_MAX, &number))
		return LT_ERROR;
	id = (int32_t)number;
	g_array_append_val(numbers, id);
	return LT_OK;
}

static enum lt_status parse_duration(const char *text, option_duration *duration)
{
	if (timetext_parse_duration(text, duration))
		return LT_ERROR;
	return *duration ? LT_OK : error_set("it must be longer than 0");
}

/* Stores the argument (NULL for flags) in the row's field. */
static enum lt_status store(struct options *o, const struct option_row *row, const char *text)
{
	void *field = (char *)o + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(option_flag *)field = true;
		return LT_OK;
	case OPTION_DURATION:
		return parse_duration(text, field);
	case OPTION_SIZE:
		return parse_size(text, field);
	case OPTION_COUNT:
		return parse_count(text, field);
	case OPTION_SPEED:
		return parse_speed(text, field);
	case OPTION_PACE:
		return parse_pace(text, field);
	case OPTION_PORT:
		return parse_port(text, field);
	case OPTION_TIME:
		return timetext_parse(text, field);
	case OPTION_TEXT:
		*(option_text *)field = text;
		return LT_OK;
	case OPTION_TEXTS:
		g_ptr_array_add(*(option_texts *)field, (gpointer)text);
		return LT_OK;
	case OPTION_NUMBERS:
		return parse_numbers(text, *(option_numbers *)field);
	}
	g_assert_not_reached();
}

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->words = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		void *field = (char *)o + rows[i].offset;

		if (rows[i].kind == OPTION_TEXTS)
			*(option_texts *)field = g_ptr_array_new();
		if (rows[i].kind == OPTION_NUMBERS)
			*(option_numbers *)field = g_array_new(FALSE, FALSE, sizeof(int32_t));
		if (rows[i].standard && store(o, &rows[i], rows[i].standard))
			g_assert_not_reached();
	}
}

/* Whether it is "--name", "--name=value", "-x" or "-xvalue"; *value points behind the name, NULL: no value there. */
static bool is_option(const struct option_row *row, const char *word, const char **value)
{
	size_t len = strlen(row->name);

	if (word[1] == '-') {
		if (strncmp(word + 2, row->name, len) != 0 || (word[2 + len] && word[2 + len] != '='))
			return false;
		*value = word[2 + len] ? word + 2 + len + 1 : NULL;
		return true;
	}
	if (!row->letter || word[1] != row->letter)
		return false;
	*value = word[2] ? word + 2 : NULL;
	return true;
}

/* The row of an option, the command's own if it has one of that name. */
static const struct option_row *find_row(const char *word, enum command_bit command, const char **value)
{
	const struct option_row *other = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (!is_option(&rows[i], word, value))
			continue;
		if (rows[i].commands & command)
			return &rows[i];
		other = &rows[i];
	}
	return other;
}

static const char *command_text(enum command_bit command)
{
	switch (command) {
	case COMMAND_REPORT:
		return "'report'";
	case COMMAND_RECORD:
		return "'record'";
	case COMMAND_FEED:
		return "'feed'";
	case COMMAND_LIST:
		return "'list'";
	default:
		return "the monitor";
	}
}

/* Parses the option at argv[*i]; moves *i to its last word. */
static enum lt_status parse_option(struct options *o, enum command_bit command, int argc, char **argv, int *i)
{
	const char *value = NULL;
	const struct option_row *row = find_row(argv[*i], command, &value);

	if (!row)
		return error_set("unknown option '%s'", argv[*i]);
	if (!(row->commands & command))
		return error_set("option '--%s' is not for %s", row->name, command_text(command));
	if (row->kind == OPTION_FLAG && value)
		return error_set("option '--%s' takes no argument", row->name);
	if (row->kind != OPTION_FLAG && !value) {
		if (*i + 1 == argc)
			return error_set("option '--%s' needs an argument: %s", row->name, row->argument);
		value = argv[++*i];
	}
	if (store(o, row, value))
		return error_wrap("option '--%s'", row->name);
	return LT_OK;
}

enum lt_status options_parse(struct options *o, enum command_bit command, int argc, char **argv)
{
	bool only_words = false;

	set_defaults(o);
	for (int i = 0; i < argc && !o->help && !o->version; i++) {
		if (!only_words && !strcmp(argv[i], "--"))
			only_words = true;
		else if (only_words || argv[i][0] != '-' || !argv[i][1])
			g_ptr_array_add(o->words, argv[i]);
		else if (parse_option(o, command, argc, argv, &i))
			return LT_ERROR;
		if (!only_words)
			o->n_words = o->words->len;
	}
	if (o->json && o->csv)
		return error_set("'--json' and '--csv' exclude each other");
	return LT_OK;
}

void options_release(struct options *o)
{
	g_ptr_array_free(o->words, TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		void *field = (char *)o + rows[i].offset;

		if (rows[i].kind == OPTION_TEXTS)
			g_ptr_array_free(*(option_texts *)field, TRUE);
		if (rows[i].kind == OPTION_NUMBERS)
			g_array_free(*(option_numbers *)field, TRUE);
	}
}
