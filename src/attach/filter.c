/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/filter.h"

#include <string.h>

#include "base/error.h"
#include "base/similar.h"
#include "base/text.h"
#include "event/syscalls.h"

struct filter_term {
	char *name;       /* of a call; or NULL and */
	unsigned classes; /* these classes; or */
	GRegex *regex;    /* a pattern for names */
	bool all;
};

/* Expressions of strace's -e that are not supported, by all their names, and why. */
static const struct {
	const char *const names[4];
	const char *reason;
} refused[] = {
	{ { "inject", "fault" }, "a trace cannot change what a program did" },
	{ { "read", "reads", "r" }, "the tracer does not record the contents of buffers" },
	{ { "write", "writes", "w" }, "the tracer does not record the contents of buffers" },
	{ { "raw", "x" }, "use 'report dump' to see the recorded fields" },
	{ { "abbrev", "a" }, "structures are shown as recorded by the tracer" },
	{ { "verbose", "v" }, "structures are shown as recorded by the tracer" },
	{ { "kvm" }, "exits of virtual CPUs are not system calls" },
	{ { "decode-fds", "decode-fd" }, "use -y or -yy" },
	{ { "decode-pids", "decode-pid" }, "use -Y" },
	{ { "quiet", "silent", "silence", "q" }, "use -q" },
	{ { "signal", "signals", "s" }, "signals cannot be selected; -e trace=none shows only signals" },
	{ { "namespace" }, "use 'trace=' to select calls" },
};

static const struct {
	const char *name;
	enum call_status status;
} statuses[] = {
	{ "successful", CALL_SUCCESSFUL }, { "failed", CALL_FAILED },    { "unfinished", CALL_UNFINISHED },
	{ "unavailable", CALL_UNKNOWN },   { "detached", CALL_UNKNOWN },
};

static void term_free(gpointer data)
{
	struct filter_term *term = data;

	g_free(term->name);
	if (term->regex)
		g_regex_unref(term->regex);
	g_free(term);
}

void attach_filter_init(struct attach_filter *f)
{
	calls_init();
	*f = (struct attach_filter){ .statuses = CALL_ANY };
	f->terms = g_ptr_array_new_with_free_func(term_free);
	f->paths = g_ptr_array_new_with_free_func(g_free);
}

void attach_filter_release(struct attach_filter *f)
{
	g_ptr_array_free(f->terms, TRUE);
	g_ptr_array_free(f->paths, TRUE);
}

/* ---- trace= ---- */

/* Whether some kernel is known to have the call. */
static bool knows_call(const char *name)
{
	const struct call *calls;
	unsigned n;

	calls_init();
	calls = calls_all(&n);
	for (unsigned i = 0; i < n; i++)
		if (strcmp(calls[i].name, name) == 0 || strcmp(calls[i].other, name) == 0)
			return true;
	return syscall_is_known(name);
}

/* Returns LT_ERROR; the error chain says that the call is unknown, and which one has a similar name. */
static enum lt_status unknown_call(const char *name)
{
	struct similar s = { .word = name };
	const struct call *calls;
	unsigned n;

	if (strchr(name, '@'))
		return error_set("'%s': 32-bit and 64-bit calls cannot be told apart: omit '%s'", name,
				 strchr(name, '@'));
	calls_init();
	calls = calls_all(&n);
	for (unsigned i = 0; i < n; i++)
		similar_offer(&s, *calls[i].other ? calls[i].other : calls[i].name);
	return error_set("unknown system call '%s'%s", name, similar_hint(&s, ""));
}

/* The name of the call whose number on x86-64 the text is; NULL: it is not a number, or there is no such call. */
static const char *name_of_number(const char *text)
{
	const bool is_number = *text && !text[strspn(text, "0123456789")];

	if (!is_number)
		return NULL;
	return syscall_name_of_number((int64_t)MIN(g_ascii_strtoull(text, NULL, 10), INT64_MAX), true);
}

static enum lt_status parse_regex(struct filter_term *term, const char *text)
{
	GError *error = NULL;

	term->regex = g_regex_new(text, 0, 0, &error);
	if (term->regex)
		return LT_OK;
	error_set("'/%s' is not a regular expression: %s", text, error->message);
	g_error_free(error);
	return LT_ERROR;
}

/* Classes that strace also accepts without '%'. */
static const char *const old_classes[] = { "file", "desc", "network", "process", "memory", "signal", "ipc", NULL };

static enum lt_status parse_term(struct filter_term *term, const char *text)
{
	const bool lenient = *text == '?';
	const char *of_number;

	text += lenient;
	if (strcmp(text, "all") == 0) {
		term->all = true;
		return LT_OK;
	}
	if (*text == '/')
		return parse_regex(term, text + 1);
	if (*text == '%') {
		term->classes = calls_class(text + 1);
		return term->classes || lenient ? LT_OK : error_set("unknown class of system calls '%s'", text);
	}
	if (g_strv_contains(old_classes, text))
		term->classes = calls_class(text);
	if (term->classes)
		return LT_OK;
	if (!*text)
		return error_set("name of a system call or class expected");
	of_number = name_of_number(text);
	if (!lenient && !of_number && !knows_call(text))
		return unknown_call(text);
	term->name = g_strdup(of_number ? of_number : text);
	return LT_OK;
}

static enum lt_status parse_trace(struct attach_filter *f, const char *set)
{
	char **words;
	enum lt_status status = LT_OK;

	g_ptr_array_set_size(f->terms, 0);
	f->traced = true;
	f->inverted = *set == '!';
	set += f->inverted;
	if (strcmp(set, "none") == 0)
		return LT_OK;
	words = g_strsplit(set, ",", -1); /* as in strace, also inside of a regular expression */
	if (!words[0])
		status = error_set("name of a system call or class expected");
	for (char **word = words; *word && status == LT_OK; word++) {
		struct filter_term *term = g_new0(struct filter_term, 1);

		g_ptr_array_add(f->terms, term);
		status = parse_term(term, *word);
	}
	g_strfreev(words);
	return status;
}

static bool term_matches(const struct filter_term *term, const char *name, const struct call *call)
{
	const char *other = call && *call->other ? call->other : name;

	if (term->all)
		return true;
	if (term->regex)
		return g_regex_match(term->regex, name, 0, NULL) || g_regex_match(term->regex, other, 0, NULL);
	if (term->classes)
		return call && (call->classes & term->classes);
	return term->name && (strcmp(term->name, name) == 0 || strcmp(term->name, other) == 0);
}

bool attach_filter_call(const struct attach_filter *f, const char *name, const struct call *call)
{
	if (!f->traced)
		return true;
	for (guint i = 0; i < f->terms->len; i++)
		if (term_matches(g_ptr_array_index(f->terms, i), name, call))
			return !f->inverted;
	return f->inverted;
}

/* ---- status= ---- */

static enum lt_status parse_status(struct attach_filter *f, const char *set)
{
	const bool inverted = *set == '!';
	char **words = g_strsplit(set + inverted, ",", -1);
	unsigned found = 0;
	enum lt_status status = LT_OK;

	if (!words[0])
		status = error_set("status expected: successful, failed, unfinished or unavailable");
	if (strcmp(set + inverted, "all") == 0)
		found = CALL_ANY;
	for (char **word = words; *word && found != CALL_ANY; word++) {
		unsigned one = 0;

		for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
			if (strcmp(*word, statuses[i].name) == 0)
				one = statuses[i].status;
		if (!one && strcmp(*word, "none") != 0)
			status = error_set("unknown status '%s': use successful, failed, unfinished or unavailable",
					   *word);
		found |= one;
	}
	g_strfreev(words);
	f->statuses = inverted ? CALL_ANY & ~found : found;
	return status;
}

void attach_filter_set_status(struct attach_filter *f, enum call_status status)
{
	f->statuses = f->statuses == CALL_ANY ? status : f->statuses | status;
}

/* ---- all of -e ---- */

/* Why -e NAME= is not supported; NULL if strace has no such expression. */
static const char *reason_against(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(refused[i].names) && refused[i].names[j]; j++)
			if (strcmp(refused[i].names[j], name) == 0)
				return refused[i].reason;
	return NULL;
}

enum lt_status attach_filter_add(struct attach_filter *f, const char *expression)
{
	const char *equals = strchr(expression, '=');
	char *name;
	enum lt_status status = LT_ERROR;

	if (!equals || *expression == '/')
		return parse_trace(f, expression);
	name = g_strndup(expression, (gsize)(equals - expression));
	if (strcmp(name, "trace") == 0 || strcmp(name, "t") == 0) {
		status = parse_trace(f, equals + 1);
	} else if (strcmp(name, "status") == 0) {
		status = parse_status(f, equals + 1);
	} else {
		const char *reason = reason_against(name);

		if (reason)
			error_set("'%s=' is not supported: %s", name, reason);
		else
			error_set("unknown expression '%s=': use trace= or status=", name);
	}
	g_free(name);
	return status;
}

void attach_filter_add_path(struct attach_filter *f, const char *glob)
{
	g_ptr_array_add(f->paths, g_strdup(glob));
}

bool attach_filter_path(const struct attach_filter *f, const char *path)
{
	for (guint i = 0; i < f->paths->len; i++)
		if (text_glob(g_ptr_array_index(f->paths, i), path))
			return true;
	return false;
}
