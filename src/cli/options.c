/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/options.h"

#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "base/similar.h"
#include "cli/foreign.h"
#include "cli/option_value.h"

#define MONITOR COMMAND_MONITOR
#define REPORT COMMAND_REPORT
#define RECORD COMMAND_RECORD
#define LIST COMMAND_LIST
#define FEED COMMAND_FEED
#define DOCTOR COMMAND_DOCTOR
#define ATTACH COMMAND_ATTACH
#define CLUSTER COMMAND_CLUSTER
#define EVERYWHERE COMMAND_EVERYWHERE

static const struct option_row rows[] = {
/* clang-format off */
#define OPTION(KIND, field, name, letter, argument, standard, commands, help) \
	{ OPTION_##KIND, offsetof(struct options, field), name, letter, argument, standard, (unsigned)(commands), \
	  help },
#define ALSO OPTION
/* clang-format on */
#include "cli/options.def"
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

const struct option_row *options_rows(unsigned *count)
{
	*count = G_N_ELEMENTS(rows);
	return rows;
}

static bool is_numbers(const struct option_row *row)
{
	return row->kind == OPTION_NUMBERS || row->kind == OPTION_PORTS;
}

static void set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->words = g_ptr_array_new();
	o->given = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		void *field = (char *)o + rows[i].offset;

		/* several rows may have the same field */
		if (rows[i].kind == OPTION_TEXTS && !*(option_texts *)field)
			*(option_texts *)field = g_ptr_array_new();
		if (is_numbers(&rows[i]) && !*(option_numbers *)field)
			*(option_numbers *)field = g_array_new(FALSE, FALSE, sizeof(int32_t));
		if (rows[i].standard && option_store(o, &rows[i], rows[i].standard))
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

static enum lt_status not_for(enum command_bit command, const struct option_row *row)
{
	return error_set("option '--%s' does not apply to %s", row->name, command_text(command));
}

/* ---- input for getopt_long() ---- */

/* The value of a long option is this plus its row's index, larger than any letter. */
enum { FIRST_ROW = 256 };

struct scan {
	enum command_bit command;
	/* struct option: the command's options, including other tools' names for them, and a terminator */
	GArray *names;
	GString *letters; /* the same for letters */
};

static void add_name(struct scan *s, const char *name, size_t row)
{
	const bool may = foreign_has_arguments(s->command, rows[row].name);
	const struct option option = {
		.name = name,
		.has_arg = !is_flag(&rows[row]) ? required_argument
			   : may                ? optional_argument
						: no_argument,
		.val = FIRST_ROW + (int)row,
	};

	g_array_append_val(s->names, option);
}

static void add_letter(struct scan *s, const struct option_row *row)
{
	g_string_append_c(s->letters, row->letter);
	if (!is_flag(row))
		g_string_append_c(s->letters, ':');
}

static void scan_init(struct scan *s, enum command_bit command)
{
	const struct foreign_name *other;

	s->command = command;
	s->names = g_array_new(TRUE, TRUE, sizeof(struct option));
	s->letters = g_string_new("-:"); /* words are returned in order; a missing argument is reported as ':' */
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (!(rows[i].commands & command))
			continue;
		add_name(s, rows[i].name, i);
		if (rows[i].letter)
			add_letter(s, &rows[i]);
		for (unsigned k = 0; (other = foreign_name(k)); k++)
			if (other->command == command && strcmp(other->ours, rows[i].name) == 0)
				add_name(s, other->name, i);
	}
}

static void scan_release(struct scan *s)
{
	g_array_free(s->names, TRUE);
	g_string_free(s->letters, TRUE);
}

static const struct option *name_at(const struct scan *s, guint i)
{
	return &g_array_index(s->names, struct option, i);
}

/* The row for what getopt_long() returned, a letter or a value. */
static const struct option_row *row_of(const struct scan *s, int found)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows) && found < FIRST_ROW; i++)
		if (rows[i].letter == found && rows[i].commands & s->command)
			return &rows[i];
	return &rows[found - FIRST_ROW];
}

enum { SPELLING_SIZE = 64 };

/* How the option was given: "-p" or "--attach". */
static const char *spelling(char out[SPELLING_SIZE], const struct option_row *row, int found)
{
	if (found < FIRST_ROW)
		g_snprintf(out, SPELLING_SIZE, "-%c", found);
	else
		g_snprintf(out, SPELLING_SIZE, "--%s", row->name);
	return out;
}

/* ---- unknown options ---- */

/*
 * The full name of another command's or tool's option must not be taken for an abbreviation. LT_OK: it is not such a
 * name.
 */
static enum lt_status check_foreign(const struct scan *s, const char *name, size_t len)
{
	const struct option_row *other = NULL;

	for (guint i = 0; i < s->names->len; i++)
		if (strncmp(name, name_at(s, i)->name, len) == 0 && !name_at(s, i)->name[len])
			return LT_OK;
	if (foreign_refuse(s->command, 0, name, len) != LT_OK)
		return LT_ERROR;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strncmp(name, rows[i].name, len) == 0 && !rows[i].name[len])
			other = &rows[i];
	return other ? not_for(s->command, other) : LT_OK;
}

/* Reports a name that abbreviates none of the command's options, or several. */
static enum lt_status unknown_name(const struct scan *s, const char *name, size_t len)
{
	GString *candidates = g_string_new(NULL);
	char *word = g_strndup(name, len);
	struct similar similar = { .word = word };

	for (guint i = 0; i < s->names->len; i++) {
		if (len && g_str_has_prefix(name_at(s, i)->name, word))
			g_string_append_printf(candidates, "%s'--%s'", candidates->len ? ", " : "",
					       name_at(s, i)->name);
		similar_offer(&similar, name_at(s, i)->name);
	}
	if (candidates->len)
		error_set("option '--%s' is ambiguous: %s", word, candidates->str);
	else
		error_set("unknown option '--%s'%s", word, similar_hint(&similar, "--"));
	g_string_free(candidates, TRUE);
	g_free(word);
	return LT_ERROR;
}

static enum lt_status unknown_letter(const struct scan *s, char letter)
{
	if (foreign_refuse(s->command, letter, NULL, 0) != LT_OK)
		return LT_ERROR;
	if (s->command == COMMAND_REPORT && (letter == 'p' || letter == 'n'))
		return error_set("option '-%c' is for attach: use %s", letter,
				 letter == 'n' ? "--comm NAME" : "--pid PID or --tid TID");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].letter == letter)
			return error_set("option '-%c' does not apply to %s", letter, command_text(s->command));
	return error_set("unknown option '-%c'", letter);
}

/* Stores the argument of an option that was given by that name, which may be another tool's. */
static enum lt_status store_named(const struct scan *s, struct options *o, const struct option_row *row,
				  const char *name, const char *text)
{
	const struct foreign_name *other = foreign_find(s->command, name);
	enum lt_status status = LT_OK;
	char **parts, *joined;

	switch (other ? other->as : FOREIGN_SAME) {
	case FOREIGN_SAME:
		return option_store(o, row, text);
	case FOREIGN_EXPRESSION:
		joined = g_strdup_printf("%s=%s", name, text);
		status = option_store(o, row, g_intern_string(joined));
		g_free(joined);
		return status;
	case FOREIGN_LIST:
		parts = option_split(text);
		for (char **part = parts; *part && status == LT_OK; part++)
			status = option_store(o, row, g_intern_string(*part));
		g_strfreev(parts);
		return status;
	}
	g_assert_not_reached();
}

/* Stores an option that getopt_long() has found; name: its long name as listed, NULL: it is a letter. */
static enum lt_status take(const struct scan *s, struct options *o, const struct option_row *row, const char *name)
{
	void *field = (char *)o + row->offset;
	unsigned level;

	g_ptr_array_add(o->given, (gpointer)row->name);
	if (!is_flag(row) || !optarg)
		return name && optarg ? store_named(s, o, row, name, optarg) : option_store(o, row, optarg);
	if (foreign_argument(s->command, row->name, optarg, &level) != LT_OK)
		return LT_ERROR;
	if (row->kind == OPTION_FLAG)
		*(option_flag *)field = level > 0;
	else
		*(option_level *)field = level;
	return LT_OK;
}

/* Scans the word at optind, or the next letter in it. */
static enum lt_status scan_next(const struct scan *s, struct options *o, int argc, char **argv, int *found)
{
	const int at = MAX(optind, 1);
	const char *word = at < argc ? argv[at] : NULL;
	const char *name = word && g_str_has_prefix(word, "--") ? word + 2 : NULL;
	const size_t len = name ? strcspn(name, "=") : 0;
	const struct option_row *row;
	char given[SPELLING_SIZE];
	int index = -1;

	if (len && check_foreign(s, name, len))
		return LT_ERROR;
	*found = getopt_long(argc, argv, s->letters->str, &g_array_index(s->names, struct option, 0), &index);
	switch (*found) {
	case -1:
		return LT_OK;
	case 1:
		g_ptr_array_add(o->words, optarg);
		return LT_OK;
	case ':':
		row = row_of(s, optopt);
		return error_set("option '%s' needs an argument: %s", spelling(given, row, optopt), row->argument);
	case '?':
		if (!name)
			return unknown_letter(s, (char)optopt);
		if (!optopt)
			return unknown_name(s, name, len);
		return error_set("option '--%s' takes no argument", row_of(s, optopt)->name);
	default:
		row = row_of(s, *found);
		if (take(s, o, row, index >= 0 ? name_at(s, (guint)index)->name : NULL) == LT_OK)
			return LT_OK;
		return error_wrap("option '%s'", spelling(given, row, *found));
	}
}

/* Scans argv[1..argc[; argv[0] is ignored. */
static enum lt_status scan_all(const struct scan *s, struct options *o, int argc, char **argv)
{
	int found = 0;

	optind = 0; /* makes getopt_long() start again */
	opterr = 0;
	while (found != -1 && !o->help && !o->version)
		if (scan_next(s, o, argc, argv, &found))
			return LT_ERROR;
	o->n_words = o->words->len;
	for (int i = optind; i < argc && found == -1; i++)
		g_ptr_array_add(o->words, argv[i]);
	return LT_OK;
}

enum lt_status options_parse(struct options *o, enum command_bit command, int argc, char **argv)
{
	static char program[] = "lttngtop";
	char **words = g_new(char *, (size_t)argc + 2);
	enum lt_status status;
	struct scan scan;

	words[0] = program;
	for (int i = 0; i < argc; i++)
		words[i + 1] = argv[i];
	words[argc + 1] = NULL;
	set_defaults(o);
	scan_init(&scan, command);
	status = scan_all(&scan, o, argc + 1, words);
	scan_release(&scan);
	g_free(words);
	if (status != LT_OK)
		return command & (COMMAND_ATTACH | COMMAND_RECORD) ? options_hint_command(o) : status;
	if (o->json && o->csv)
		return error_set("'--json' and '--csv' cannot be used together");
	if (o->no_sync && o->offset->len)
		return error_set("'--no-sync' and '--offset' cannot be used together");
	return LT_OK;
}

enum lt_status options_hint_command(const struct options *o)
{
	char *path = NULL;

	for (guint i = 0; i < o->words->len && !path; i++) {
		const char *word = g_ptr_array_index(o->words, i);

		path = g_file_test(word, G_FILE_TEST_IS_DIR) ? NULL : g_find_program_in_path(word);
		if (path)
			error_add("to run a command, put '--' before it: -- %s …", word);
	}
	g_free(path);
	return LT_ERROR;
}

bool options_given(const struct options *o, const char *name)
{
	return g_ptr_array_find_with_equal_func(o->given, name, g_str_equal, NULL);
}

void options_release(struct options *o)
{
	g_ptr_array_free(o->words, TRUE);
	g_ptr_array_free(o->given, TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		void *field = (char *)o + rows[i].offset;

		if (rows[i].kind == OPTION_TEXTS)
			g_clear_pointer((option_texts *)field, g_ptr_array_unref);
		if (is_numbers(&rows[i]))
			g_clear_pointer((option_numbers *)field, g_array_unref);
	}
}
