/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/error.h"
#include "cli/options.h"
#include "unit.h"

/* Parses the NULL-terminated words; the caller releases *o. */
static enum lt_status parse(struct options *o, enum command_bit command, const char *const *words)
{
	return options_parse(o, command, (int)g_strv_length((char **)words), (char **)words);
}

#define PARSE(o, command, ...) parse(o, command, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(test_table)
{
	unsigned n;
	const struct option_row *rows = options_rows(&n);

	for (unsigned i = 0; i < n; i++) {
		ck_assert_msg((rows[i].kind == OPTION_FLAG || rows[i].kind == OPTION_LEVEL) == !rows[i].argument,
			      "--%s", rows[i].name);
		ck_assert(rows[i].commands);
		for (const char *p = rows[i].help; p && *p; p++)
			ck_assert_msg(!(*p == '.' && !p[1]), "help of --%s ends with a full stop", rows[i].name);
		for (unsigned k = 0; k < i; k++) {
			if (!(rows[i].commands & rows[k].commands))
				continue;
			ck_assert_str_ne(rows[i].name, rows[k].name);
			ck_assert(!rows[i].letter || rows[i].letter != rows[k].letter);
		}
	}
}
END_TEST

START_TEST(test_defaults)
{
	struct options o;

	ck_assert_int_eq(options_parse(&o, COMMAND_MONITOR, 0, NULL), LT_OK);
	ck_assert_uint_eq(o.history_size, 256u << 20);
	ck_assert_uint_eq(o.stall_limit, UINT64_C(10000000000));
	ck_assert(o.speed == 1.0);
	ck_assert(!o.utc && !o.log && !o.report_interval && !o.workers);
	ck_assert_int_eq(o.begin.form, TIMETEXT_NONE);
	ck_assert_uint_eq(o.words->len + o.tid->len + o.comm->len, 0);
	options_release(&o);
}
END_TEST

START_TEST(test_names_of_other_tools)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "cpu", "--gmt", "--procname", "a*", "--procname=b,c"), LT_OK);
	ck_assert(o.utc);
	ck_assert_uint_eq(o.comm->len, 3);
	ck_assert_str_eq(g_ptr_array_index(o.comm, 2), "c");
	ck_assert_str_eq(g_ptr_array_index(o.comm, 0), "a*");
	ck_assert_str_eq(g_ptr_array_index(o.comm, 1), "b");
	options_release(&o);
}
END_TEST

START_TEST(test_kinds)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "cpu", "--begin", "-5s", "--interval=100ms", "--tid", "7", "a",
			       "--tid=8", "--comm", "ng*", "--utc", "--workers=2", "--log-file", "x", "--", "--csv",
			       "-"),
			 LT_OK);
	ck_assert_int_eq(o.begin.form, TIMETEXT_BEFORE_END);
	ck_assert_uint_eq(o.report_interval, 100000000);
	ck_assert_uint_eq(o.tid->len, 2);
	ck_assert_int_eq(g_array_index(o.tid, int32_t, 1), 8);
	ck_assert_str_eq(g_ptr_array_index(o.comm, 0), "ng*");
	ck_assert(o.utc && !o.csv);
	ck_assert_uint_eq(o.workers, 2);
	ck_assert_str_eq(o.log_file, "x");
	ck_assert_uint_eq(o.words->len, 4);
	ck_assert_str_eq(g_ptr_array_index(o.words, 0), "cpu");
	ck_assert_str_eq(g_ptr_array_index(o.words, 2), "--csv");
	ck_assert_str_eq(g_ptr_array_index(o.words, 3), "-");
	options_release(&o);

	ck_assert_int_eq(PARSE(&o, COMMAND_MONITOR, "--history-size", "64k", "-i2s", "--speed=0.5", "--speed", "4"),
			 LT_OK);
	ck_assert_uint_eq(o.history_size, 65536);
	ck_assert_uint_eq(o.interval, UINT64_C(2000000000));
	ck_assert(o.speed == 4.0);
	options_release(&o);
}
END_TEST

START_TEST(test_lists)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "cpu", "--tid=7,8", "--tid", "9", "--comm", "a,b"), LT_OK);
	ck_assert_uint_eq(o.tid->len, 3);
	ck_assert_int_eq(g_array_index(o.tid, int32_t, 1), 8);
	ck_assert_uint_eq(o.comm->len, 1); /* a name may have commas */
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "cpu", "--procname="), LT_OK);
	ck_assert_uint_eq(o.comm->len, 1);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "cpu", "--tid", "7,"), LT_ERROR);
	ck_assert_str_eq(error_text(), "option '--tid': '' is not a number from 0 to 2147483647");
	options_release(&o);
}
END_TEST

START_TEST(test_help_wins)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "-h", "--nonsense"), LT_OK);
	ck_assert(o.help);
	options_release(&o);
}
END_TEST

/* Abbreviated long options; combined letters, the last one with its value. */
START_TEST(test_short_forms)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "--inter", "1s", "--js", "--beg=+5s", "--ut", "x"), LT_OK);
	ck_assert_uint_eq(o.report_interval, 1000000000);
	ck_assert_int_eq(o.begin.form, TIMETEXT_AFTER_BEGIN);
	ck_assert(o.json && o.utc);
	ck_assert_uint_eq(o.words->len, 1);
	options_release(&o);
	/* a complete name is never taken as the start of another */
	ck_assert_int_eq(PARSE(&o, COMMAND_FEED, "--session", "s", "--live-t", "1s", "--now"), LT_OK);
	ck_assert_str_eq(o.feed_session, "s");
	ck_assert(o.now && o.feed_live_timer == 1000000000);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "-nodir"), LT_OK);
	ck_assert(o.dry_run);
	ck_assert_str_eq(o.output, "dir");
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "--statedump-period", "0"), LT_OK);
	ck_assert_uint_eq(o.statedump_period, 0);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "--statedump-period=2m"), LT_OK);
	ck_assert_uint_eq(o.statedump_period, UINT64_C(120000000000));
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "-no", "-n", "status"), LT_OK);
	ck_assert_str_eq(o.output, "-n");
	ck_assert_uint_eq(o.words->len, 1);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "-nhx", "--nonsense"), LT_OK);
	ck_assert(o.help && o.dry_run);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_ATTACH, "-tfp", "12", "a", "-ttfn--", "-p", "-1", "b", "-o", "--"), LT_OK);
	ck_assert_uint_eq(o.timestamps, 3);
	ck_assert_uint_eq(o.follow_forks, 2);
	ck_assert_uint_eq(o.attach->len, 2);
	ck_assert_str_eq(g_ptr_array_index(o.attach, 0), "12");
	ck_assert_str_eq(g_ptr_array_index(o.attach, 1), "-1");
	ck_assert_str_eq(g_ptr_array_index(o.attach_comm, 0), "--");
	ck_assert_str_eq(o.attach_output, "--");
	ck_assert_uint_eq(o.n_words, 2);
	ck_assert_str_eq(g_ptr_array_index(o.words, 1), "b");
	options_release(&o);
	/* another tool's name may be abbreviated, too */
	ck_assert_int_eq(PARSE(&o, COMMAND_REPORT, "--proc", "a", "--columns="), LT_OK);
	ck_assert_str_eq(g_ptr_array_index(o.comm, 0), "a");
	ck_assert_str_eq(o.report_columns, "");
	options_release(&o);
}
END_TEST

/* strace's long options, and their arguments for what are flags here. */
START_TEST(test_long_options_of_strace)
{
	static const struct {
		const char *word;
		unsigned timestamps, fds, quiet, forks;
		bool comms, relative, spent;
	} cases[] = {
		{ .word = "--absolute-timestamps", .timestamps = 1 },
		{ .word = "--absolute-timestamps=format:unix,precision:us", .timestamps = 3 },
		{ .word = "--timestamps=us", .timestamps = 2 },
		{ .word = "--timestamps=none" },
		{ .word = "--decode-fds", .fds = 1 },
		{ .word = "--decode-fds=all", .fds = 2 },
		{ .word = "--silent=attach,personality", .quiet = 1 },
		{ .word = "--quiet=all", .quiet = 2 },
		{ .word = "--follow-forks=output-separately", .forks = 2 },
		{ .word = "--decode-pids=comm", .comms = true },
		{ .word = "--relative-timestamps=us", .relative = true },
		{ .word = "--syscall-times", .spent = true },
	};
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_ATTACH, "--trace=read", "--status", "failed", "--output-separately"), LT_OK);
	ck_assert_uint_eq(o.expression->len, 2);
	ck_assert_str_eq(g_ptr_array_index(o.expression, 0), "trace=read");
	ck_assert_str_eq(g_ptr_array_index(o.expression, 1), "status=failed");
	ck_assert(o.output_separately && !o.trace_path->len && !o.follow_forks);
	options_release(&o);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_int_eq(PARSE(&o, COMMAND_ATTACH, cases[i].word, "a"), LT_OK);
		ck_assert_msg(o.timestamps == cases[i].timestamps && o.decode_fds == cases[i].fds &&
				      o.quiet == cases[i].quiet && o.follow_forks == cases[i].forks &&
				      o.decode_pids == cases[i].comms && o.relative == cases[i].relative &&
				      o.syscall_times == cases[i].spent && o.words->len == 1,
			      "%s", cases[i].word);
		options_release(&o);
	}
}
END_TEST

/* A name may mean different options for different commands. */
START_TEST(test_names_of_commands)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "--host", "root@web", "--pid=7", "-o", "dir"), LT_OK);
	ck_assert_str_eq(g_ptr_array_index(o.record_host, 0), "root@web");
	ck_assert_int_eq(g_array_index(o.record_pid, int32_t, 0), 7);
	ck_assert_uint_eq(o.host->len + o.pid->len, 0);
	ck_assert_str_eq(o.output, "dir");
	options_release(&o);
}
END_TEST

/* Words after "--" are a command, whatever they look like. */
START_TEST(test_command)
{
	struct options o;

	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "stop", "--", "ls", "-l", "--", "--help"), LT_OK);
	ck_assert_uint_eq(o.n_words, 1);
	ck_assert_uint_eq(o.words->len, 5);
	ck_assert_str_eq(g_ptr_array_index(o.words, 2), "-l");
	ck_assert(!o.help);
	options_release(&o);
	ck_assert_int_eq(PARSE(&o, COMMAND_RECORD, "--", "stop"), LT_OK);
	ck_assert_uint_eq(o.n_words, 0);
	options_release(&o);
}
END_TEST

START_TEST(test_wrong)
{
	static const struct {
		enum command_bit command;
		const char *words[4];
		const char *error;
	} cases[] = {
		{ COMMAND_REPORT, { "--nonsense" }, "unknown option '--nonsense'" },
		{ COMMAND_REPORT, { "--intervall", "1s" }, "unknown option '--intervall': did you mean '--interval'?" },
		{ COMMAND_MONITOR,
		  { "--no" },
		  "option '--no' is ambiguous: '--no-color', '--no-mouse', '--no-config', '--no-cache', '--no-sync'" },
		{ COMMAND_REPORT,
		  { "--wait=1s" },
		  "option '--wait' is ambiguous: '--wait-retention', '--wait-memory'" },
		{ COMMAND_REPORT, { "--=x" }, "unknown option '--'" },
		{ COMMAND_REPORT, { "--p=1" }, "option '--p' is ambiguous: '--pid', '--procname', '--per-cpu'" },
		{ COMMAND_REPORT, { "-i=1s" }, "option '-i': '" },
		{ COMMAND_REPORT, { "-:" }, "unknown option '-:'" },
		{ COMMAND_ATTACH, { "-tfx" }, "option '-x' is not available: " },
		{ COMMAND_ATTACH, { "-tfp" }, "option '-p' needs an argument: [HOST:]TID" },
		{ COMMAND_REPORT,
		  { "--timerange", "[a,b]" },
		  "option '--timerange' is not available: use --begin and --end" },
		{ COMMAND_REPORT, { "--gmt=1" }, "option '--utc' takes no argument" },
		{ COMMAND_REPORT, { "--procname" }, "option '--comm' needs an argument: GLOB" },
		{ COMMAND_MONITOR, { "--gmt" }, "unknown option '--gmt'" },
		{ COMMAND_MONITOR, { "--timerange", "x" }, "unknown option '--timerange'" },
		{ COMMAND_ATTACH, { "--debug" }, "option '--debug' is not available: use --log FILE" },
		{ COMMAND_ATTACH,
		  { "--timestamps=unix,ns" },
		  "option '--timestamps': 'unix,ns' is not available: it may be 'none', 'time', " },
		{ COMMAND_ATTACH, { "--decode-fds=dev" }, "option '--decode-fds': 'dev' is not available: " },
		{ COMMAND_REPORT, { "--trace=read" }, "unknown option '--trace'" },
		{ COMMAND_REPORT, { "--debug" }, "unknown option '--debug'" },
		{ COMMAND_REPORT, { "--ut=1" }, "option '--utc' takes no argument" },
		{ COMMAND_FEED, { "--host", "x" }, "option '--host' does not apply to 'feed'" },
		{ COMMAND_RECORD, { "-nx" }, "unknown option '-x'" },
		{ COMMAND_RECORD, { "-no" }, "option '-o' needs an argument: DIR" },
		{ COMMAND_RECORD, { "-ni" }, "option '-i' does not apply to 'record'" },
		{ COMMAND_REPORT, { "-x" }, "unknown option '-x'" },
		{ COMMAND_REPORT, { "--utc=1" }, "option '--utc' takes no argument" },
		{ COMMAND_REPORT, { "cpu", "--begin" }, "option '--begin' needs an argument: TIME" },
		{ COMMAND_REPORT, { "--begin", "soon" }, "option '--begin': 'soon' is not a time such as" },
		{ COMMAND_REPORT, { "--interval", "1" }, "option '--interval': '1' is not a duration such as" },
		{ COMMAND_REPORT, { "--interval=0s" }, "option '--interval': must be greater than 0" },
		{ COMMAND_MONITOR, { "--interval=200000d" }, "option '--interval': must be at most 36500d" },
		{ COMMAND_REPORT, { "--wait-memory=0" }, "option '--wait-memory': must be greater than 0" },
		{ COMMAND_ATTACH, { "--model-memory=0M" }, "option '--model-memory': must be greater than 0" },
		{ COMMAND_RECORD, { "--buffer-size=0" }, "option '--buffer-size': must be greater than 0" },
		{ COMMAND_REPORT, { "--tid", "x" }, "option '--tid': 'x' is not a number from 0 to 2147483647" },
		{ COMMAND_REPORT, { "--tid", "-1" }, "option '--tid': '-1' is not a number" },
		{ COMMAND_REPORT,
		  { "--ignore-port", "x" },
		  "option '--ignore-port': 'x' is not a number from 1 to 65535" },
		{ COMMAND_REPORT,
		  { "--ignore-port", "22,0" },
		  "option '--ignore-port': '0' is not a number from 1 to 65535" },
		{ COMMAND_REPORT,
		  { "--ignore-port", "70000" },
		  "option '--ignore-port': '70000' is not a number from 1 to" },
		{ COMMAND_REPORT, { "--pid", "2147483648" }, "option '--pid': '2147483648' is not a number" },
		{ COMMAND_REPORT, { "--workers", "0" }, "option '--workers': '0' is not a number from 1" },
		{ COMMAND_REPORT, { "--json", "--csv" }, "'--json' and '--csv' cannot be used together" },
		{ COMMAND_REPORT, { "--ascii" }, "option '--ascii' does not apply to 'report'" },
		{ COMMAND_MONITOR, { "--json" }, "option '--json' does not apply to the monitor" },
		{ COMMAND_RECORD, { "--json" }, "option '--json' does not apply to 'record'" },
		{ COMMAND_FEED, { "--live-port", "65536" }, "option '--live-port': '65536' is not a number from 1" },
		{ COMMAND_FEED,
		  { "--speed", "maximal" },
		  "option '--speed': 'maximal' is not a number above 0 or 'max'" },
		{ COMMAND_MONITOR, { "--speed", "max" }, "option '--speed': 'max' is not a number above 0" },
		{ COMMAND_MONITOR, { "--history-size", "1X" }, "option '--history-size': '1X' is not a size" },
		{ COMMAND_MONITOR, { "--history-size", "-1" }, "option '--history-size': '-1' is not a size" },
		{ COMMAND_MONITOR, { "--history-size", "99999999T" }, "option '--history-size': '9999" },
		{ COMMAND_MONITOR, { "--history-size", "18446744073709551616" }, "option '--history-size': '1844" },
		{ COMMAND_MONITOR, { "--speed", "0" }, "option '--speed': '0' is not a number above 0" },
		{ COMMAND_MONITOR, { "--speed", "nan" }, "option '--speed': 'nan' is not a number above 0" },
		{ COMMAND_MONITOR, { "--speed", "1x" }, "option '--speed': '1x' is not a number above 0" },
	};
	struct options o;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_int_eq(parse(&o, cases[i].command, cases[i].words), LT_ERROR);
		ck_assert_msg(g_str_has_prefix(error_text(), cases[i].error), "'%s', not '%s'", error_text(),
			      cases[i].error);
		options_release(&o);
	}
}
END_TEST

UNIT_MAIN("options", test_table, test_defaults, test_kinds, test_lists, test_help_wins, test_short_forms,
	  test_long_options_of_strace, test_names_of_commands, test_command, test_wrong, test_names_of_other_tools)
