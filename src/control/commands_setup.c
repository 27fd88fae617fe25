/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lttng commands that set up a plan's session: channels, events, contexts and trackers. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "control/commands_internal.h"
#include "control/fault.h"
#include "control/missing.h"
#include "control/symbols.h"

/* Starts a list of words: "lttng VERB". */
static GPtrArray *begin(const char *verb)
{
	GPtrArray *words = g_ptr_array_new();

	g_ptr_array_add(words, g_strdup("lttng"));
	g_ptr_array_add(words, g_strdup(verb));
	return words;
}

static void add(GPtrArray *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(GPtrArray *words, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	g_ptr_array_add(words, g_strdup_vprintf(format, ap));
	va_end(ap);
}

static char **end(GPtrArray *words)
{
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

/* Starts a command that applies to a channel: adds domain, session and channel name. */
static GPtrArray *begin_channel(const char *verb, const struct record_plan *plan, enum record_domain domain,
				const char *channel)
{
	GPtrArray *words = begin(verb);

	add(words, domain == RECORD_KERNEL ? "--kernel" : "--userspace");
	add(words, "--session=%s", plan->session);
	if (channel)
		add(words, "--channel=%s", channel);
	return words;
}

static char **create_session(const struct record_plan *plan)
{
	GPtrArray *words = begin("create");

	add(words, "%s", plan->session);
	if (plan->mode == RECORD_SNAPSHOT)
		add(words, "--snapshot");
	if (plan->mode == RECORD_LIVE) {
		add(words, "--live=%u", plan->live_timer_us);
		add(words, "--set-url=%s", plan->url);
	} else if (!plan->hosts->len) {
		add(words, "--output=%s", plan->output);
	}
	return end(words);
}

static char **enable_channel(const struct record_plan *plan, const struct record_channel *c)
{
	GPtrArray *words = begin_channel("enable-channel", plan, c->domain, NULL);

	add(words, "--subbuf-size=%" PRIu64, c->subbuf_bytes);
	add(words, "--num-subbuf=%u", c->subbufs);
	add(words, c->overwrite ? "--overwrite" : "--discard");
	if (c->files) {
		add(words, "--tracefile-size=%" PRIu64, c->file_bytes);
		add(words, "--tracefile-count=%u", c->files);
	}
	if (c->switch_timer_us)
		add(words, "--switch-timer=%u", c->switch_timer_us);
	add(words, "%s", c->name);
	return end(words);
}

/* Names of a channel's tracepoints: those of its set, or those the user asked for, separated by sep. */
static GString *tracepoints(const struct record_channel *c, bool asked, const char *sep)
{
	GString *names = g_string_new(NULL);

	for (unsigned i = 0; i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind == RECORD_TRACEPOINT && e->asked == asked)
			g_string_append_printf(names, "%s%s", names->len ? sep : "", e->name);
	}
	return names;
}

/* "lttng enable-event … NAMES", where names are already quoted. The caller frees it. */
static char *enable_line(const struct record_plan *plan, const struct record_channel *c, const char *names)
{
	char **words = end(begin_channel("enable-event", plan, c->domain, c->name));
	char *command = commands_quote(words), *line = g_strconcat(command, " ", names, NULL);

	g_free(command);
	g_strfreev(words);
	return line;
}

/* Enables, in one command, the set's tracepoints that are in $t, the kernel's list; reports the others as missing. */
static void enable_set(GPtrArray *lines, const struct record_plan *plan, const struct record_channel *c)
{
	GString *names = tracepoints(c, false, " ");
	char *enable = enable_line(plan, c, "\"${e#,}\"");

	if (names->len)
		g_ptr_array_add(lines, g_strdup_printf("e=; for n in %s; do case $t in *\" $n \"*) e=$e,$n;; *) "
						       "echo " MISSING_LINE MISSING_TRACEPOINT " $n;; esac; done; %s",
						       names->str, enable));
	g_string_free(names, TRUE);
	g_free(enable);
}

/*
 * Enables the tracepoints asked for by name; fails if one does not exist, which lttng does not report for the kernel.
 */
static void enable_asked(GPtrArray *lines, const struct record_plan *plan, const struct record_channel *c)
{
	GString *names = tracepoints(c, true, ","), *line = g_string_new(NULL);
	char *const words[] = { names->str, NULL };
	char *quoted = commands_quote(words), *enable = enable_line(plan, c, quoted);

	for (unsigned i = 0; c->domain == RECORD_KERNEL && i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind == RECORD_TRACEPOINT && e->asked && !strchr(e->name, '*'))
			g_string_append_printf(line,
					       "case $t in *' %s '*);; *) echo 'this kernel has no tracepoint %s' "
					       ">&2; false;; esac && ",
					       e->name, e->name);
	}
	g_string_append(line, enable);
	g_free(quoted);
	g_free(enable);
	if (names->len)
		g_ptr_array_add(lines, g_string_free(line, FALSE));
	else
		g_string_free(line, TRUE);
	g_string_free(names, TRUE);
}

/*
 * Sets $t to the names listed by the kernel tracer, each surrounded by blanks. The rest of the output depends on the
 * version: "sched_switch (loglevel: …", since 2.16 "* `sched_switch`".
 */
static const char list_kernel[] = "t=$(lttng list --kernel)",
		  only_names[] = "t=\" $(printf %s \"$t\" | tr -cs a-zA-Z0-9_ ' ') \"";

static void enable_tracepoints(GPtrArray *lines, const struct record_plan *plan, const struct record_channel *c)
{
	const unsigned before = lines->len;

	enable_set(lines, plan, c);
	enable_asked(lines, plan, c);
	if (c->domain == RECORD_KERNEL && lines->len > before) {
		g_ptr_array_insert(lines, (gint)before, g_strdup(list_kernel));
		g_ptr_array_insert(lines, (gint)before + 1, g_strdup(only_names));
	}
}

static char **enable_other(const struct record_plan *plan, const struct record_channel *c, const struct record_event *e)
{
	GPtrArray *words = begin_channel("enable-event", plan, c->domain, c->name);

	if (e->kind == RECORD_SYSCALLS) {
		add(words, "--syscall");
		add(words, "--all");
		if (plan->call_filter)
			add(words, "--filter=%s", plan->call_filter);
		return end(words);
	}
	if (e->symbol)
		add(words, "--probe=%s+0x%" PRIx64, e->symbol, e->offset);
	else
		add(words, "--probe=0x%" PRIx64, e->offset);
	add(words, "%s", e->name);
	return end(words);
}

/* The words that add the contexts of a set, or those asked for; NULL: there are none. */
static char **add_context(const struct record_plan *plan, const struct record_channel *c, bool asked)
{
	GPtrArray *words = begin_channel("add-context", plan, c->domain, c->name);
	bool any = false;

	for (unsigned i = 0; i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);

		if (context->asked == asked)
			add(words, "--type=%s", context->name);
		any |= context->asked == asked;
	}
	if (any)
		return end(words);
	g_strfreev(end(words));
	return NULL;
}

/* Adds the set's contexts in one command or, if that fails, one by one to find out which are missing. */
static char *add_set_contexts(const struct record_plan *plan, const struct record_channel *c)
{
	char **words = add_context(plan, c, false);
	char *all = words ? commands_quote(words) : NULL;
	char **one = end(begin_channel("add-context", plan, c->domain, c->name));
	char *each = commands_quote(one), *line = NULL;
	GString *names = g_string_new(NULL);

	for (unsigned i = 0; i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);

		if (!context->asked)
			g_string_append_printf(names, " %s", context->name);
	}
	if (all)
		line = g_strdup_printf("{ %s 2>/dev/null || for c in%s; do %s --type=$c 2>/dev/null || "
				       "echo " MISSING_LINE "%s $c; done; }",
				       all, names->str, each, missing_context(c->domain));
	g_string_free(names, TRUE);
	g_free(all);
	g_free(each);
	g_strfreev(words);
	g_strfreev(one);
	return line;
}

static char **track(const struct record_plan *plan, enum record_domain domain, const char *option, const GArray *ids)
{
	GPtrArray *words = begin_channel("track", plan, domain, NULL);
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < ids->len; i++)
		g_string_append_printf(text, "%s%" PRId32, i ? "," : "", g_array_index(ids, int32_t, i));
	add(words, "--%s=%s", option, text->str);
	g_string_free(text, TRUE);
	return end(words);
}

/* Adds a command as a line; frees its words. */
static void add_line(GPtrArray *lines, char **words)
{
	g_ptr_array_add(lines, commands_quote(words));
	g_strfreev(words);
}

char *commands_remote_dir(const char *session)
{
	char *quoted = g_shell_quote(session), *dir = g_strconcat(COMMANDS_REMOTE_DIR "/", quoted, NULL);

	g_free(quoted);
	return dir;
}

/* For live sessions: relayds before 2.15 refuse CTF 2, which is the tracer's default where it can choose. */
#define IN_CTF_1_8 " $(lttng create --list-options | grep -qx -- --trace-format && echo --trace-format=ctf-1.8)"

/* Fails if an earlier recording of that name was not fetched from $d: this one would be mixed with it. */
#define IF_EMPTY                                                                                                      \
	"test -z \"$(ls -A \"$d\" 2>/dev/null)\" || { echo \"directory '$d' is not empty: fetch the recording in it " \
	"with 'lttngtop record stop', or remove it\" >&2; false; } && "

/* The command that creates the session, preceded by the checks that can forbid it: if it fails, nothing else runs. */
static char *create_line(const struct record_plan *plan)
{
	char **words = create_session(plan);
	char *create = commands_quote(words), *guards = fault_guards(plan), *dir, *line;

	if (plan->hosts->len && plan->mode != RECORD_LIVE) { /* only the host's shell can expand "~" */
		dir = commands_remote_dir(plan->session);
		line = g_strdup_printf("d=%s; " IF_EMPTY "%s%s%s --output=\"$d\"", dir, guards ? guards : "",
				       guards ? " && " : "", create);
		g_free(dir);
	} else {
		line = g_strdup_printf("%s%s%s%s", guards ? guards : "", guards ? " && " : "", create,
				       plan->mode == RECORD_LIVE ? IN_CTF_1_8 : "");
	}
	g_free(create);
	g_free(guards);
	g_strfreev(words);
	return line;
}

static void add_contexts(GPtrArray *lines, const struct record_plan *plan, const struct record_channel *c)
{
	char *of_set = add_set_contexts(plan, c), **asked = add_context(plan, c, true);

	if (of_set)
		g_ptr_array_add(lines, of_set);
	if (asked)
		add_line(lines, asked);
}

static void add_trackers(GPtrArray *lines, const struct record_plan *plan)
{
	if (plan->pids->len)
		add_line(lines, track(plan, RECORD_KERNEL, "pid", plan->pids));
	for (unsigned i = 0; i < plan->channels->len && plan->vpids->len; i++)
		add_line(lines, track(plan, g_array_index(plan->channels, struct record_channel, i).domain, "vpid",
				      plan->vpids));
}

/* Where a relayd keeps only the latest data: how much of each CPU's messages. */
enum { MESSAGES_FILES = 2, MESSAGES_FILE_BYTES = 1 << 20 };

/* Adds a channel for messages, which is allowed to fail. Does nothing if the plan has no messages. */
static void add_messages(GPtrArray *lines, const struct record_plan *plan)
{
	const struct record_messages *m = &plan->messages;
	struct record_channel channel = {
		.domain = m->domain,
		.name = "messages",
		.subbuf_bytes = MESSAGES_SUBBUF_BYTES,
		.subbufs = MESSAGES_SUBBUFS,
	};
	char **make, **enable, *make_line, *enable_line;
	GPtrArray *words;

	if (!m->script)
		return;
	if (plan->channels->len && g_array_index(plan->channels, struct record_channel, 0).files) {
		channel.files = MESSAGES_FILES;
		channel.file_bytes = MESSAGES_FILE_BYTES;
	}
	make = enable_channel(plan, &channel);
	words = begin_channel("enable-event", plan, channel.domain, channel.name);
	if (m->filter)
		add(words, "--filter=%s", m->filter);
	add(words, "%s", m->event);
	enable = end(words);
	make_line = commands_quote(make);
	enable_line = commands_quote(enable);
	g_ptr_array_add(lines, g_strdup_printf("{ { %s && %s; } >/dev/null 2>&1 || :; }", make_line, enable_line));
	g_free(enable_line);
	g_free(make_line);
	g_strfreev(enable);
	g_strfreev(make);
}

GPtrArray *commands_setup_lines(const struct record_plan *plan)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(lines, create_line(plan));
	for (unsigned i = 0; i < plan->channels->len; i++) {
		const struct record_channel *c = &g_array_index(plan->channels, struct record_channel, i);

		add_line(lines, enable_channel(plan, c));
		enable_tracepoints(lines, plan, c);
		for (unsigned k = 0; k < c->events->len; k++) {
			const struct record_event *e = &g_array_index(c->events, struct record_event, k);

			if (e->kind == RECORD_KPROBE && e->symbol && plan->hosts->len)
				g_ptr_array_add(lines, symbols_test(e->symbol));
			if (e->kind != RECORD_TRACEPOINT)
				add_line(lines, enable_other(plan, c, e));
		}
		add_contexts(lines, plan, c);
	}
	add_messages(lines, plan);
	add_trackers(lines, plan);
	return lines;
}

char *commands_track_line(const struct record_plan *plan, enum record_domain domain)
{
	char **words = end(begin_channel("track", plan, domain, NULL)), *line = commands_quote(words);

	g_strfreev(words);
	return line;
}

/* Whether a shell takes the word as it is, not as an assignment either: "A=b" may be a command's name. */
static bool is_plain(const char *word)
{
	static const char plain[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-+=:,./@%";
	const size_t name = strspn(word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_");

	return *word && !word[strspn(word, plain)] && (!name || g_ascii_isdigit(*word) || word[name] != '=');
}

char *commands_quote(char *const *words)
{
	GString *line = g_string_new(NULL);

	for (unsigned i = 0; words[i]; i++) {
		char *quoted = is_plain(words[i]) ? NULL : g_shell_quote(words[i]);

		g_string_append_printf(line, "%s%s", i ? " " : "", quoted ? quoted : words[i]);
		g_free(quoted);
	}
	return g_string_free(line, FALSE);
}
