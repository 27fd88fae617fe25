/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/similar.h"

#define MONITOR COMMAND_MONITOR
#define REPORT COMMAND_REPORT
#define RECORD COMMAND_RECORD
#define LIST COMMAND_LIST
#define FEED COMMAND_FEED
#define DOCTOR COMMAND_DOCTOR
#define ATTACH COMMAND_ATTACH
#define CLUSTER (COMMAND_CLUSTER & ~COMMAND_MONITOR)
#define EVERYWHERE COMMAND_EVERYWHERE

static const struct option_row rows[] = {
/* clang-format off */
#define OPTION(KIND, field, name, letter, argument, standard, commands, help) \
	{ OPTION_##KIND, offsetof(struct options, field), name, letter, argument, standard, (unsigned)(commands), \
	  help },
/* clang-format on */
#include "cmd/options.def"
};

static const struct option_refused refused[] = {
#define REFUSED(command, letter, name, reason) { command, letter, name, reason },
#define RENAMED(command, name, ours)
#include "cmd/foreign.def"
};

static const struct {
	enum command_bit command;
	const char *name, *ours;
} renamed[] = {
#define REFUSED(command, letter, name, reason)
#define RENAMED(command, name, ours) { command, name, ours },
#include "cmd/foreign.def"
};

#undef MONITOR
#undef REPORT
#undef RECORD
#undef LIST
#undef FEED
#undef DOCTOR
#undef CLUSTER
#undef ATTACH
#undef EVERYWHERE

const struct option_refused *options_refused(unsigned i)
{
	return i < G_N_ELEMENTS(refused) ? &refused[i] : NULL;
}

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

static enum lt_status parse_count(const char *text, guint64 most, unsigned *count)
{
	guint64 number;

	if (parse_number(text, 1, most, &number))
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

static enum lt_status parse_period(const char *text, option_period *period)
{
	*period = 0;
	return strcmp(text, "0") == 0 ? LT_OK : timetext_parse_duration(text, period);
}

/* Stores the argument (NULL for flags) in the row's field. */
static enum lt_status store(struct options *o, const struct option_row *row, const char *text)
{
	void *field = (char *)o + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(option_flag *)field = true;
		return LT_OK;
	case OPTION_LEVEL:
		++*(option_level *)field;
		return LT_OK;
	case OPTION_DURATION:
		return parse_duration(text, field);
	case OPTION_PERIOD:
		return parse_period(text, field);
	case OPTION_SIZE:
		return parse_size(text, field);
	case OPTION_COUNT:
		return parse_count(text, COUNT_MAX, field);
	case OPTION_ROWS:
		return parse_count(text, INT32_MAX, field);
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
	case COMMAND_DOCTOR:
		return "'doctor'";
	case COMMAND_CLUSTER:
		return "'cluster'";
	case COMMAND_ATTACH:
		return "'attach'";
	default:
		return "the monitor";
	}
}

static bool is_flag(const struct option_row *row)
{
	return row->kind == OPTION_FLAG || row->kind == OPTION_LEVEL;
}

/* Says why the command does not have an option of another tool, by its letter or (letter 0) name; LT_OK: it is none. */
static enum lt_status refuse(enum command_bit command, char letter, const char *name, size_t len)
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

/* An option as it was typed: "--NAME", "--NAME=VALUE", or a letter of "-LETTERS", whose rest may be its value. */
struct typed {
	const struct option_row *row;
	const char *value; /* NULL: none is attached */
};

/* The name of ours for what another tool calls so; that itself if there is none. */
static const char *our_name(const char *name, size_t *len, enum command_bit command)
{
	for (size_t i = 0; i < G_N_ELEMENTS(renamed); i++) {
		if (renamed[i].command != command || strncmp(renamed[i].name, name, *len) != 0 || renamed[i].name[*len])
			continue;
		*len = strlen(renamed[i].ours);
		return renamed[i].ours;
	}
	return name;
}

/* The row of a long option by its whole name, the command's own if several have it; NULL: none has. */
static const struct option_row *find_name(const char *name, size_t len, enum command_bit command)
{
	const struct option_row *other = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (strncmp(name, rows[i].name, len) != 0 || rows[i].name[len])
			continue;
		if (rows[i].commands & command)
			return &rows[i];
		other = &rows[i];
	}
	return other;
}

/* The command's only option whose name starts so. NULL: none, or several, which *candidates then lists. */
static const struct option_row *find_start(const char *start, size_t len, enum command_bit command, GString *candidates)
{
	const struct option_row *found = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows) && len; i++) {
		if (!(rows[i].commands & command) || strncmp(start, rows[i].name, len) != 0)
			continue;
		g_string_append_printf(candidates, "%s'--%s'", n ? ", " : "", rows[i].name);
		found = &rows[i];
		n++;
	}
	if (n == 1)
		g_string_truncate(candidates, 0);
	return n == 1 ? found : NULL;
}

static enum lt_status unknown_option(const char *name, size_t len, enum command_bit command)
{
	char *word = g_strndup(name, len);
	struct similar s = { .word = word };

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].commands & command)
			similar_offer(&s, rows[i].name);
	error_set("unknown option '--%s'%s", word, similar_hint(&s, "--"));
	g_free(word);
	return LT_ERROR;
}

/* A word that starts with "--". */
static enum lt_status read_long(const char *word, enum command_bit command, struct typed *t)
{
	const char *typed = word + 2, *name;
	size_t len = strcspn(typed, "=");
	GString *candidates = g_string_new(NULL);
	enum lt_status status = LT_OK;

	t->value = typed[len] ? typed + len + 1 : NULL;
	name = our_name(typed, &len, command);
	t->row = find_name(name, len, command);
	if ((!t->row || !(t->row->commands & command)) && refuse(command, 0, name, len) != LT_OK)
		status = LT_ERROR;
	else if (!t->row)
		t->row = find_start(name, len, command, candidates);
	if (status == LT_OK && !t->row && candidates->len)
		status = error_set("option '--%.*s' is ambiguous: %s", (int)len, name, candidates->str);
	else if (status == LT_OK && !t->row)
		status = unknown_option(name, len, command);
	g_string_free(candidates, TRUE);
	return status;
}

/* The letter at p; what follows it is its value, or without one more letters. */
static enum lt_status read_letter(const char *p, enum command_bit command, struct typed *t)
{
	const struct option_row *other = NULL;

	t->row = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(rows) && !t->row; i++) {
		if (rows[i].letter != *p)
			continue;
		other = &rows[i];
		if (rows[i].commands & command)
			t->row = other;
	}
	if (!t->row && refuse(command, *p, NULL, 0) != LT_OK)
		return LT_ERROR;
	if (!t->row)
		t->row = other;
	t->value = t->row && !is_flag(t->row) && p[1] ? p + 1 : NULL;
	return t->row ? LT_OK : error_set("unknown option '-%c'", *p);
}

/* Stores what was typed; takes the value from the next argument, to which it then moves *i, if none is attached. */
static enum lt_status take(struct options *o, enum command_bit command, struct typed t, int argc, char **argv, int *i)
{
	if (!(t.row->commands & command))
		return error_set("option '--%s' is not for %s", t.row->name, command_text(command));
	if (is_flag(t.row) && t.value)
		return error_set("option '--%s' takes no argument", t.row->name);
	if (!is_flag(t.row) && !t.value) {
		if (*i + 1 == argc)
			return error_set("option '--%s' needs an argument: %s", t.row->name, t.row->argument);
		t.value = argv[++*i];
	}
	return store(o, t.row, t.value) ? error_wrap("option '--%s'", t.row->name) : LT_OK;
}

/* Parses the option or the cluster of letters at argv[*i]; moves *i to its last word. */
static enum lt_status parse_option(struct options *o, enum command_bit command, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	struct typed t;

	if (word[1] == '-')
		return read_long(word, command, &t) ? LT_ERROR : take(o, command, t, argc, argv, i);
	for (const char *p = word + 1; *p && !o->help && !o->version; p++) {
		if (read_letter(p, command, &t) || take(o, command, t, argc, argv, i))
			return LT_ERROR;
		if (!is_flag(t.row))
			break; /* the rest was its value */
	}
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
