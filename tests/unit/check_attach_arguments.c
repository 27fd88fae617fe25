/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary values for the options of attach: meaningful pieces, combined at random with meaningless bytes. Each is
 * accepted, or refused with a reason; what is accepted must have the right effect. FUZZ_SEED=N runs one seed only.
 */
#include <glib.h>
#include <string.h>

#include "attach/filter.h"
#include "attach/select.h"
#include "attach/summary.h"
#include "base/error.h"
#include "base/text.h"
#include "base/timetext.h"
#include "cli/options.h"
#include "unit.h"
#include "view/filter.h"

enum { SEEDS = 40, CASES = 250, PIECES_MAX = 9, TEXT_BYTES = 512 };

static const char *const pieces[] = {
	"trace=",
	"status=",
	"t=",
	"!",
	",",
	"%",
	"/",
	"?",
	"all",
	"none",
	"file",
	"%file",
	"%network",
	"%desc",
	"open",
	"openat",
	"read",
	"execve",
	"successful",
	"failed",
	"unfinished",
	"unavailable",
	"inject=",
	"signal=",
	"=",
	"^",
	"$",
	".*",
	"(",
	")",
	"[",
	"]",
	"a{9}",
	"\\",
	"|",
	"(?<",
	"*",
	"+",
	":",
	"-",
	"web",
	"web:",
	"0",
	"1",
	"812",
	"4294967296",
	"99999999999999999999",
	"/etc/*",
	"/etc/passwd",
	"**",
	"[a-",
	"time",
	"calls",
	"errors",
	"cpu",
	"avg-time",
	"name",
	"12:03",
	"12:03:05",
	".5",
	"@",
	"1700000000",
	"+5s",
	"-5s",
	"100ms",
	"10us",
	"1h",
	"ns",
	"s",
	"2026-11-20 ",
	"1e9",
	" ",
	"\t",
	"\n",
	"\033[2J",
	"\377",
	"\303\244",
	"'",
	"\"",
	"%s%n",
	"host",
	"docker:",
	"4026531836",
};

/* Counts over all seeds. */
static struct {
	unsigned taken, refused;
} seen[16];

static char *random_text(GRand *rand)
{
	GString *text = g_string_new(NULL);
	const int n = g_rand_int_range(rand, 0, PIECES_MAX);

	for (int i = 0; i < n && text->len < TEXT_BYTES; i++) {
		if (g_rand_int_range(rand, 0, 20))
			g_string_append(text, pieces[g_rand_int_range(rand, 0, G_N_ELEMENTS(pieces))]);
		else
			g_string_append_c(text, (char)g_rand_int_range(rand, 1, 256));
	}
	return g_string_free(text, FALSE);
}

/* A refusal must have a reason. */
static bool is_taken(unsigned parser, enum lt_status status, const char *text)
{
	ck_assert_msg(status == LT_OK || status == LT_ERROR, "%s: status %d", text, status);
	if (status == LT_OK) {
		seen[parser].taken++;
		return true;
	}
	ck_assert_msg(*error_text(), "'%s' is refused without a reason", text);
	error_clear();
	seen[parser].refused++;
	return false;
}

/* "!" before a set of calls means all the others. */
static void check_inverse(const struct attach_filter *f, const char *expression)
{
	static const char prefix[] = "trace=";
	char *inverse = g_strdup_printf("trace=!%s", expression + strlen(prefix));
	struct attach_filter other;
	const struct call *calls;
	unsigned n;

	attach_filter_init(&other);
	ck_assert_msg(attach_filter_add(&other, inverse) == LT_OK, "%s: %s", inverse, error_text());
	calls = calls_all(&n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(attach_filter_call(f, calls[i].name, &calls[i]) !=
				      attach_filter_call(&other, calls[i].name, &calls[i]),
			      "%s and %s both have %s, or neither", expression, inverse, calls[i].name);
	attach_filter_release(&other);
	g_free(inverse);
}

static void check_expression(const char *text, GRand *rand)
{
	const char *prefix = g_rand_boolean(rand) ? "trace=" : g_rand_boolean(rand) ? "status=" : "";
	char *expression = g_strconcat(prefix, text, NULL);
	struct attach_filter f;

	attach_filter_init(&f);
	if (is_taken(0, attach_filter_add(&f, expression), expression)) {
		ck_assert_uint_eq(f.statuses & ~(unsigned)CALL_ANY, 0);
		if (g_str_has_prefix(expression, "trace=") && expression[strlen("trace=")] != '!')
			check_inverse(&f, expression);
	}
	attach_filter_release(&f);
	g_free(expression);
}

static void check_path(const char *text)
{
	struct attach_filter f;

	attach_filter_init(&f);
	attach_filter_add_path(&f, text);
	ck_assert_msg(strpbrk(text, "*?[\\") || attach_filter_path(&f, text), "'%s' is not itself", text);
	ck_assert_msg(strpbrk(text, "*?[\\") || !attach_filter_path(&f, "/no/such/path"), "'%s' is everything", text);
	attach_filter_release(&f);
}

static void check_thread(const char *text)
{
	struct attach_select s;

	attach_select_init(&s);
	if (is_taken(1, attach_select_add(&s, text), text)) {
		const struct select_target *target = &g_array_index(s.targets, struct select_target, 0);

		ck_assert_uint_eq(s.targets->len, 1);
		ck_assert_int_gt(target->tid, 0);
		ck_assert(!target->host || *target->host);
	} else {
		ck_assert_uint_eq(s.targets->len, 0);
	}
	attach_select_release(&s);
}

static void check_column(const char *text)
{
	struct attach_summary *s = attach_summary_create();

	is_taken(2, attach_summary_set_sort(s, text), text);
	is_taken(2, attach_summary_set_columns(s, text), text);
	attach_summary_destroy(s);
}

static void check_times(const char *text)
{
	struct timetext time = { 0 };
	uint64_t ns = 0;

	if (is_taken(3, timetext_parse(text, &time), text))
		timetext_resolve(&time, 1, UINT64_MAX, true);
	is_taken(4, timetext_parse_duration(text, &ns), text);
}

static void check_container(const char *text)
{
	struct view_filter f;

	view_filter_init(&f);
	if (is_taken(5, view_filter_add_container(&f, text), text))
		ck_assert(view_filter_asks(&f, VIEW_FACT_CONTAINER));
	view_filter_release(&f);
}

/* The same through the command line, as the value of an option, and as an option itself. */
static void check_command_line(const char *text, GRand *rand)
{
	static const char *const options[] = {
		"-e", "-P", "-S",      "-p",      "-n",    "-a",         "-X",          "-o",       "-w",
		"--", "",   "--waits", "--begin", "--end", "--duration", "--container", "--offset", "--ref",
	};
	char *argv[3];
	struct options o;

	for (size_t i = 0; i < G_N_ELEMENTS(argv); i++)
		argv[i] = g_strdup(g_rand_int_range(rand, 0, 3)
					   ? options[g_rand_int_range(rand, 0, G_N_ELEMENTS(options))]
					   : text);
	is_taken(6, options_parse(&o, COMMAND_ATTACH, G_N_ELEMENTS(argv), argv), text);
	options_release(&o);
	for (size_t i = 0; i < G_N_ELEMENTS(argv); i++)
		g_free(argv[i]);
}

static void run_seed(guint32 seed)
{
	GRand *rand = g_rand_new_with_seed(seed);

	for (unsigned i = 0; i < CASES; i++) {
		char *text = random_text(rand);

		check_expression(text, rand);
		check_path(text);
		check_thread(text);
		check_column(text);
		check_times(text);
		check_container(text);
		check_command_line(text, rand);
		g_free(text);
	}
	g_rand_free(rand);
}

START_TEST(test_arguments)
{
	const char *wanted = g_getenv("FUZZ_SEED");

	calls_init();
	for (guint32 seed = 1; !wanted && seed <= SEEDS; seed++)
		run_seed(seed);
	if (wanted)
		run_seed((guint32)g_ascii_strtoull(wanted, NULL, 10));
	for (unsigned i = 0; i <= 6 && !wanted; i++)
		ck_assert_msg(seen[i].taken > 20 && seen[i].refused > 20, "parser %u: %u taken, %u refused", i,
			      seen[i].taken, seen[i].refused);
}
END_TEST

UNIT_MAIN("attach_arguments", test_arguments)
