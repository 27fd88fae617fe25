/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CLI_OPTIONS_H
#define LT_CLI_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/timetext.h"

/* Bits for the commands column of options.def. */
enum command_bit {
	COMMAND_MONITOR = 1 << 0,
	COMMAND_REPORT = 1 << 1,
	COMMAND_RECORD = 1 << 2,
	COMMAND_LIST = 1 << 3,
	COMMAND_FEED = 1 << 4,
	COMMAND_DOCTOR = 1 << 5,
	COMMAND_CLUSTER = 1 << 6,
	COMMAND_ATTACH = 1 << 7,
	COMMAND_EVERYWHERE = ~0,
};

/* Types of the options in options.def and their fields. Texts are borrowed from argv; arrays are never NULL. */
typedef bool option_flag;            /* no argument */
typedef unsigned option_level;       /* no argument; number of times it was given */
typedef uint64_t option_duration;    /* ns; 0: not given */
typedef uint64_t option_period;      /* ns; 0: never */
typedef uint64_t option_size;        /* bytes; suffixes k, M, G are powers of 1024; 0: not given */
typedef uint64_t option_space;       /* the same; 0: none */
typedef unsigned option_count;       /* at least 1; 0: not given */
typedef unsigned option_rows;        /* the same, for large numbers */
typedef double option_speed;         /* > 0 */
typedef double option_pace;          /* > 0; INFINITY for "max" */
typedef unsigned option_port;        /* 1..65535 */
typedef const char *option_text;     /* NULL: not given */
typedef struct timetext option_time; /* form TIMETEXT_NONE: not given */
typedef GPtrArray *option_texts;     /* const char * */
typedef GArray *option_numbers;      /* int32_t, >= 0 */
typedef GArray *option_ports;        /* the same, from 1 to 65535 */

enum option_kind {
	OPTION_FLAG,
	OPTION_LEVEL,
	OPTION_DURATION,
	OPTION_PERIOD,
	OPTION_SIZE,
	OPTION_SPACE,
	OPTION_COUNT,
	OPTION_ROWS,
	OPTION_SPEED,
	OPTION_PACE,
	OPTION_PORT,
	OPTION_TEXT,
	OPTION_TIME,
	OPTION_TEXTS,
	OPTION_NUMBERS,
	OPTION_PORTS,
};

/* The parsed command line: a member per OPTION of options.def, and the rest. */
struct options {
#define OPTION_TYPE_FLAG option_flag
#define OPTION_TYPE_LEVEL option_level
#define OPTION_TYPE_DURATION option_duration
#define OPTION_TYPE_PERIOD option_period
#define OPTION_TYPE_SIZE option_size
#define OPTION_TYPE_SPACE option_space
#define OPTION_TYPE_COUNT option_count
#define OPTION_TYPE_ROWS option_rows
#define OPTION_TYPE_SPEED option_speed
#define OPTION_TYPE_PACE option_pace
#define OPTION_TYPE_PORT option_port
#define OPTION_TYPE_TEXT option_text
#define OPTION_TYPE_TIME option_time
#define OPTION_TYPE_TEXTS option_texts
#define OPTION_TYPE_NUMBERS option_numbers
#define OPTION_TYPE_PORTS option_ports
#define OPTION(KIND, field, name, letter, argument, standard, commands, help) OPTION_TYPE_##KIND field;
#define ALSO(KIND, field, name, letter, argument, standard, commands, help)
#include "cli/options.def"
	option_texts words;    /* arguments that are not options: report: TABLE SOURCE...; monitor: SOURCE... */
	option_texts given;    /* names of the options on the command line */
	unsigned n_words;      /* number of words before "--"; those after it are a COMMAND */
	struct keeper *keeper; /* of --local and cluster: what traces; NULL: none */
};

/* A row of options.def. */
struct option_row {
	enum option_kind kind;
	size_t offset; /* of the field in struct options */
	const char *name;
	char letter;
	const char *argument;
	const char *standard; /* the default as text; NULL: none */
	unsigned commands;    /* enum command_bit */
	const char *help;     /* NULL: hidden */
};

/* All rows in file order. */
const struct option_row *options_rows(unsigned *count);

/*
 * Parses argv[0..argc[ (without the program's and the command's names) for a command. Options and words may be mixed;
 * "--" ends the options; nothing after --help or --version is examined. A long option may be abbreviated if that is
 * unambiguous among the command's options; letters may be combined, the last of them with its value. LT_ERROR: wrong
 * usage, the error chain names the option. *o must be released in either case.
 */
enum lt_status options_parse(struct options *o, enum command_bit command, int argc, char **argv);

/* If a word is the name of a program, adds to the error chain that a command follows "--". Returns LT_ERROR. */
enum lt_status options_hint_command(const struct options *o);

/* Whether an option was on the command line, whatever its default; name: without "--". */
bool options_given(const struct options *o, const char *name);

void options_release(struct options *o);

/* The next option of another tool that the command does not have, and why; NULL: no more. */
struct option_refused {
	enum command_bit command;
	char letter; /* 0: none */
	const char *name, *reason;
};

const struct option_refused *options_refused(unsigned i);

#endif
