/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/out_of_memory.h"
#include "base/similar.h"
#include "base/strpool.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/manual.h"
#include "cmd/record/local.h"
#include "config.h"
#include "control/process.h"
#include "source/source.h"
#include "worker/worker.h"

/* The first word names the command; without a command it is the monitor. */
static const struct command {
	const char *name;
	enum command_bit bit;
	int (*run)(const struct options *o);
	const char *no_words; /* error if there are no arguments; NULL: none are needed */
} commands[] = {
	{ "monitor", COMMAND_MONITOR, cmd_monitor, NULL }, { "report", COMMAND_REPORT, cmd_report, "no table given" },
	{ "attach", COMMAND_ATTACH, cmd_attach, NULL },    { "record", COMMAND_RECORD, cmd_record, NULL },
	{ "list", COMMAND_LIST, cmd_list, NULL },          { "feed", COMMAND_FEED, cmd_feed, "no recording given" },
	{ "doctor", COMMAND_DOCTOR, cmd_doctor, NULL },    { "cluster", COMMAND_CLUSTER, cmd_monitor, NULL },
};

static const struct command *const monitor = &commands[0];

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* The command closest to a misspelt word. */
static struct similar similar_command(const char *word)
{
	struct similar s = { .word = word };

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (&commands[i] != monitor)
			similar_offer(&s, commands[i].name);
	similar_offer(&s, "help");
	return s;
}

static int fail_usage(const struct command *command)
{
	return cmd_fail(LT_EXIT_USAGE, command == monitor ? "" : command->name);
}

static int print_version(void)
{
	printf("lttngtop %s\n", PACKAGE_VERSION);
	return LT_EXIT_OK;
}

/* The help of a command or, with a word (NULL: none) after report, of that table; tables have no man page. */
static int print_help(struct help *h, const struct command *command, const char *word)
{
	h->out = stdout;
	if (command->bit != COMMAND_REPORT || h->form == HELP_MAN || !word)
		manual_print(h, command->bit);
	else if (cmd_report_table_help(h, word) != LT_OK)
		return fail_usage(command);
	return LT_EXIT_OK;
}

/* `help [COMMAND [TABLE]]`; `help --man [COMMAND]` prints the man page. argv: after "help". */
static int run_help(int argc, char **argv)
{
	struct help h = { .form = HELP_TEXT };
	const struct command *command = monitor;

	if (argc && !strcmp(argv[0], "--version"))
		return print_version();
	if (argc && !strcmp(argv[0], "--man")) {
		h.form = HELP_MAN;
		argc--;
		argv++;
	}
	if (argc && argv[0][0] != '-') {
		command = find_command(argv[0]);
		if (!command) {
			struct similar similar = similar_command(argv[0]);

			error_set("unknown command '%s'%s", argv[0], similar_hint(&similar, ""));
			return fail_usage(monitor);
		}
	}
	if (argc > 1 && (argc > 2 || command->bit != COMMAND_REPORT)) {
		error_set("'%s' is one word too many", argv[argc > 2 && command->bit == COMMAND_REPORT ? 2 : 1]);
		return fail_usage(monitor);
	}
	output_for_stdout(h.form == HELP_MAN);
	return print_help(&h, command, argc > 1 ? argv[1] : NULL);
}

static enum lt_status choose_workers(const struct options *o)
{
	const char *name = o->reader;

	source_set_live_workers(o->workers);
	if (!name)
		return LT_OK;
	if (!worker_has_reader(name))
		return error_set("option '--reader': '%s' is not auto, native or babeltrace2", name);
	if (o->follow && strcmp(name, "babeltrace2") == 0)
		return error_set("option '--follow': babeltrace2 cannot read a trace while it is being written");
	source_set_reader(name);
	return LT_OK;
}

/*
 * A standard descriptor that the caller has closed would be given to the next file that is opened, such as the log,
 * and the output would be written into that. One opened with O_PATH can be neither read nor written.
 */
static void occupy_closed_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) < 0)
			return;
}

static void ignore(int number)
{
	(void)number;
}

/*
 * Beyond the limit of 'ulimit -f', writing then fails with a reason instead of ending the program. A handler, unlike
 * SIG_IGN, is not inherited by the programs that are started.
 */
static void survive_file_size_limit(void)
{
	const struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };

	sigaction(SIGXFSZ, &action, NULL);
}

static int run_with_log(const struct command *command, struct options *o)
{
	const char *log = o->log_file ? o->log_file : o->log;
	FILE *file = NULL;
	int status = -1;

	if (log) {
		file = fopen(log, "ae");
		if (!file) {
			error_set("cannot write log file '%s': %s", log, g_strerror(errno));
			return cmd_fail(LT_EXIT_FAILURE, "");
		}
		log_set_file(file, log);
	}
	if (command == monitor && !o->n_words && !o->local)
		status = local_choose(o);
	if (status < 0 && (o->local || command->bit == COMMAND_CLUSTER))
		status = local_run(o, command->bit, command->run);
	else if (status < 0)
		status = command->run(o);
	source_wait_for_workers();
	log_set_file(NULL, NULL);
	if (file)
		fclose(file);
	return status;
}

/* A SOURCE that is not a valid URL is wrong usage, unlike one that cannot be reached. */
static enum lt_status check_urls(const struct options *o)
{
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < o->n_words && status == LT_OK; i++) {
		struct source_url url = { 0 };

		if (!source_is_url(g_ptr_array_index(o->words, i)))
			continue;
		status = source_parse_url(g_ptr_array_index(o->words, i), &url);
		if (status == LT_OK)
			source_url_release(&url);
	}
	return status;
}

/* The monitor's first word is a command after an option, rather than a file of that name. */
static enum lt_status check_first_word(const struct options *o, enum command_bit command)
{
	const char *word = command == COMMAND_MONITOR && o->n_words ? g_ptr_array_index(o->words, 0) : NULL;
	const struct similar similar = similar_command(word ? word : "");

	if (!word || g_strcmp0(similar.best, word) != 0 || !access(word, F_OK))
		return LT_OK;
	return error_set("'%s' must be the first word: options follow it", word);
}

/* Where '--' starts no COMMAND, SOURCEs may follow it; the name of a program there is a forgotten --local. */
static enum lt_status check_words(const struct options *o, enum command_bit command)
{
	const bool takes_local = command == COMMAND_REPORT || (command == COMMAND_MONITOR && o->n_words);
	const unsigned first = command == COMMAND_REPORT; /* its first word is a table */
	const unsigned i = MAX(o->n_words, first);
	const char *word = i < o->words->len ? g_ptr_array_index(o->words, i) : NULL;
	char *program;

	if (!word || o->local || !takes_local || source_is_url(word) || g_file_test(word, G_FILE_TEST_IS_DIR))
		return LT_OK;
	program = g_find_program_in_path(word);
	if (!program)
		return LT_OK;
	g_free(program);
	return error_set("'%s' is not a SOURCE: to trace this machine while a command runs, use --local -- %s%s", word,
			 word, o->n_words > first ? ", without a SOURCE" : "");
}

/* The screen writes by itself; what `record` and `feed` print are paths, URLs and scripts. */
static void set_output(const struct command *command, const struct options *o)
{
	const enum command_bit exact = COMMAND_RECORD | COMMAND_FEED;

	if (o->help || !(command->bit & (COMMAND_MONITOR | COMMAND_CLUSTER)))
		output_for_stdout(o->json || o->csv || o->dot || o->babeltrace || command->bit & exact);
}

/* The options of a command that limit its memory. */
static void advise_on_memory(enum command_bit command)
{
	static char advice[192];
	unsigned count;
	const struct option_row *rows = options_rows(&count);

	for (unsigned i = 0; i < count; i++) {
		if (!(rows[i].commands & command) ||
		    (!g_str_has_suffix(rows[i].name, "-memory") && strcmp(rows[i].name, "history-size") != 0))
			continue;
		g_strlcat(advice, *advice ? ", --" : "These options limit what is kept: --", sizeof(advice));
		g_strlcat(advice, rows[i].name, sizeof(advice));
	}
	g_strlcat(advice, *advice ? "\n" : "", sizeof(advice));
	out_of_memory_advise(advice);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct help h = { .form = HELP_TEXT, .brief = true };
	struct options o;
	const enum lt_status parsed = options_parse(&o, command->bit, argc, argv);
	int status = LT_EXIT_OK;

	advise_on_memory(command->bit);
	set_output(command, &o);
	if (parsed) {
		status = fail_usage(command);
	} else if (o.help) {
		status = print_help(&h, command, o.words->len ? g_ptr_array_index(o.words, 0) : NULL);
	} else if (o.version) {
		status = print_version();
	} else if (!o.words->len && command->no_words) {
		error_set("%s", command->no_words);
		status = fail_usage(command);
	} else if (choose_workers(&o) || local_check(&o, command->bit) || check_urls(&o) ||
		   check_first_word(&o, command->bit) || check_words(&o, command->bit)) {
		status = fail_usage(command);
	} else {
		status = run_with_log(command, &o);
	}
	options_release(&o);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *first = argc ? argv[0] : "";
	const struct command *command = find_command(first);
	struct similar similar = similar_command(first);

	if (!strcmp(first, "help"))
		return run_help(argc - 1, argv + 1);
	if (command && command != monitor)
		return run_command(command, argc - 1, argv + 1);
	if (similar.best && *first != '-' && access(first, F_OK)) {
		error_set("'%s' is not a command or a file%s", first, similar_hint(&similar, ""));
		return fail_usage(monitor);
	}
	return run_command(monitor, argc, argv);
}

/* The character set alone: numbers keep their decimal point in every locale. */
static void set_character_set(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *name = NULL;

	if (setlocale(LC_CTYPE, ""))
		return;
	/*
	 * Such as one that ssh has passed on, and that is installed only there, or macOS's name for the character set
	 * alone: the terminal uses UTF-8 all the same.
	 */
	for (size_t i = 0; i < G_N_ELEMENTS(variables) && !(name && *name); i++)
		name = getenv(variables[i]);
	name = name && strchr(name, '.') ? strchr(name, '.') + 1 : name;
	if (name && (g_ascii_strncasecmp(name, "utf-8", 5) == 0 || g_ascii_strncasecmp(name, "utf8", 4) == 0))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
	int status;

	set_character_set();
	tzset();
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		prctl(PR_SET_NAME, argv[0]); /* its first 15 bytes */
		out_of_memory_handle("");
		return worker_main(argc - 2, argv + 2);
	}
	out_of_memory_handle("lttngtop: ");
	output_for_stderr();
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, as some callers leave it, exit statuses would be lost */
	occupy_closed_descriptors();
	process_raise_file_limit();
	survive_file_size_limit();
	status = dispatch(argc - 1, argv + 1);
	strpool_release();
	if (output_flush() && !cmd_has_failed())
		return cmd_fail(LT_EXIT_FAILURE, "");
	return status;
}
