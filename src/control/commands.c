/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/nstime.h"
#include "control/fault.h"
#include "control/missing.h"
#include "control/redump.h"
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
				       "echo " MISSING_LINE MISSING_CONTEXT " $c; done; }",
				       all, names->str, each);
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

/* The directory of a session on another host, quoted for the shell there. The caller frees it. */
static char *remote_dir(const char *session)
{
	char *quoted = g_shell_quote(session), *dir = g_strconcat(COMMANDS_REMOTE_DIR "/", quoted, NULL);

	g_free(quoted);
	return dir;
}

/* The command that creates the session, preceded by the checks that can forbid it: if it fails, nothing else runs. */
static char *create_line(const struct record_plan *plan)
{
	char **words = create_session(plan);
	char *create = commands_quote(words), *guards = fault_guards(plan), *dir, *line;

	if (plan->hosts->len && plan->mode != RECORD_LIVE) { /* only the host's shell can expand "~" */
		dir = remote_dir(plan->session);
		line = g_strdup_printf("d=%s; %s%s%s --output=\"$d\"", dir, guards ? guards : "", guards ? " && " : "",
				       create);
		g_free(dir);
	} else {
		line = g_strdup_printf("%s%s%s", guards ? guards : "", guards ? " && " : "", create);
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

/* Shell lines (char *) that set up the session without starting it; the first one creates it. */
static GPtrArray *setup_lines(const struct record_plan *plan)
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

char *commands_quote(char *const *words)
{
	GString *line = g_string_new(NULL);

	for (unsigned i = 0; words[i]; i++) {
		char *quoted = NULL;

		if (!*words[i] || words[i][strspn(words[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
							    "0123456789_-+=:,./@%")])
			quoted = g_shell_quote(words[i]);
		g_string_append_printf(line, "%s%s", i ? " " : "", quoted ? quoted : words[i]);
		g_free(quoted);
	}
	return g_string_free(line, FALSE);
}

/* "lttng VERB SESSION" */
static char *session_command(const char *verb, const char *session)
{
	char *const words[] = { (char *)"lttng", (char *)verb, (char *)session, NULL };

	return commands_quote(words);
}

/* If ssh has gone away meanwhile, "echo done" fails on the closed pipe and the session is destroyed. */
char *commands_remote_setup(const struct record_plan *plan)
{
	GPtrArray *lines = setup_lines(plan);
	char *destroy = session_command("destroy", plan->session);
	GString *script = g_string_new(NULL);

	g_string_append(script, "trap '' PIPE; ");
	for (unsigned i = 0; i < lines->len; i++)
		g_string_append_printf(script, "%s%s",
				       i == 0   ? ""
				       : i == 1 ? " && { "
						: " && ",
				       (char *)g_ptr_array_index(lines, i));
	g_string_append_printf(script, " && echo done || { %s; false; }; }", destroy);
	g_free(destroy);
	g_ptr_array_free(lines, TRUE);
	return g_string_free(script, FALSE);
}

char *commands_refresh(const char *session)
{
	char *option = g_strconcat("--session=", session, NULL);
	char *const words[] = {
		(char *)"lttng", (char *)"--no-sessiond", (char *)"regenerate", (char *)"statedump", option, NULL
	};
	char *line = commands_quote(words);

	g_free(option);
	return line;
}

/* "lttng list SESSION", which fails if there is no such session. The caller frees it. */
static char *list_command(const char *session)
{
	char *const words[] = { (char *)"lttng", (char *)"--no-sessiond", (char *)"list", (char *)session, NULL };

	return commands_quote(words);
}

/* If only some processes are recorded, adds the shell that emits messages to them. */
static void append_admission(GString *script, const struct record_plan *plan)
{
	char **words = end(begin_channel("track", plan, plan->messages.domain, NULL));
	char *line = commands_quote(words);

	if (plan->messages.domain == RECORD_KERNEL && plan->pids->len)
		g_string_append_printf(script, "%s --pid=$$\n", line);
	if (plan->messages.domain == RECORD_KERNEL && plan->vpids->len)
		g_string_append_printf(script, "%s --vpid=$$\n", line);
	g_free(line);
	g_strfreev(words);
}

/* Wraps a script that emits messages in "sh -c"; frees the script. The caller frees the result. */
static char *as_shell(GString *script)
{
	char *const words[] = { (char *)"sh", (char *)"-c", script->str, NULL };
	char *line = commands_quote(words);

	g_string_free(script, TRUE);
	return line;
}

/*
 * A background shell that does what redump.h does; NULL if the plan does not need it. It polls every few seconds and
 * emits the plan's messages at the start and then with each state dump. The caller frees it.
 */
static char *redump(const struct record_plan *plan)
{
	const uint64_t period_s = (plan->statedump_ns + NS_PER_S - 1) / NS_PER_S,
		       poll_s = MIN(period_s, REDUMP_FIRST_S);
	const char *const messages = plan->messages.script;
	char *list = list_command(plan->session), *refresh = commands_refresh(plan->session);
	char *loop = NULL, *line = NULL, *shell;
	GString *script;

	if (period_s)
		loop = g_strdup_printf("i=%" PRIu64 "; while sleep %" PRIu64 " && %s; do i=$((i+%" PRIu64 ")); "
				       "%s[ $i -lt %" PRIu64 " ] || { i=0; %s; %s}%s; done",
				       period_s - poll_s, poll_s, list, poll_s, messages ? "t=news; " : "", period_s,
				       refresh, messages ? "t=all; " : "", messages ? "; tell $t" : "");
	if (messages) {
		script = g_string_new(messages);
		append_admission(script, plan);
		g_string_append_printf(script, "tell all\n%s", loop ? loop : "");
		shell = as_shell(script);
		line = g_strdup_printf("%s </dev/null >/dev/null 2>&1 &", shell);
		g_free(shell);
	} else if (loop) {
		line = g_strdup_printf("(%s) </dev/null >/dev/null 2>&1 &", loop);
	}
	g_free(loop);
	g_free(refresh);
	g_free(list);
	return line;
}

/* Failing to emit messages is not an error. */
char *commands_remote_refresh(const char *session, const char *messages)
{
	GString *script = g_string_new(messages);
	char *refresh = commands_refresh(session), *tell, *line;

	g_string_append(script, "tell all\n");
	tell = as_shell(script);
	line = g_strdup_printf("%s && { %s </dev/null >/dev/null 2>&1 || :; }", refresh, tell);
	g_free(tell);
	g_free(refresh);
	return line;
}

char *commands_remote_start(const struct record_plan *plan)
{
	char *start = session_command("start", plan->session), *repeat = redump(plan);
	char *line = repeat ? g_strdup_printf("%s && { %s }", start, repeat) : g_strdup(start);

	g_free(repeat);
	g_free(start);
	return line;
}

char *commands_remote_stop(const char *session)
{
	char *stop = session_command("stop", session);
	char *destroy = session_command("destroy", session);
	char *script = g_strdup_printf("%s; %s", stop, destroy);

	g_free(stop);
	g_free(destroy);
	return script;
}

char *commands_snapshot(const char *session)
{
	char *option = g_strconcat("--session=", session, NULL);
	char *const words[] = { (char *)"lttng", (char *)"snapshot", (char *)"record", option, NULL };
	char *line = commands_quote(words);

	g_free(option);
	return line;
}

char *commands_remote_fetch(const char *session)
{
	char *dir = remote_dir(session);
	char *script =
		g_strdup_printf("if test -d %s; then tar -C %s -cf - .; else tar -cf - -T /dev/null; fi", dir, dir);

	g_free(dir);
	return script;
}

char *commands_remote_clear(const char *session)
{
	char *dir = remote_dir(session), *script = g_strconcat("rm -rf ", dir, NULL);

	g_free(dir);
	return script;
}

char *commands_remote_leave(const char *session, const char *file, const char *script)
{
	char *const words[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	char *dir = remote_dir(session), *sh = commands_quote(words);
	char *line = g_strdup_printf("d=%s; test -z \"$(ls -A \"$d\" 2>/dev/null)\" || %s >> \"$d\"/%s", dir, sh, file);

	g_free(sh);
	g_free(dir);
	return line;
}

char *commands_fetch_dir(const char *output, const char *host)
{
	char *name = g_strdelimit(g_strdup(host), "/", '_'), *dir;

	if (*name == '.')
		*name = '_';
	dir = g_build_filename(output, name, NULL);
	g_free(name);
	return dir;
}

static void append_line(GString *script, char *line)
{
	g_string_append_printf(script, "%s\n", line);
	g_free(line);
}

/* Adds an ssh command for each host; frees script. */
static void append_ssh(GString *out, const struct record_plan *plan, char *script)
{
	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const words[] = { (char *)"ssh", g_ptr_array_index(plan->hosts, i), script, NULL };

		append_line(out, commands_quote(words));
	}
	g_free(script);
}

/*
 * The command, started by a shell that first tracks itself: "sh -c '… && exec "$@"' sh COMMAND". The caller frees it.
 */
static char *tracked_command(const struct record_plan *plan)
{
	GString *script = g_string_new(NULL);
	GPtrArray *words = g_ptr_array_new();
	char *start = session_command("start", plan->session);
	char *line;

	for (unsigned i = 0; i < plan->channels->len; i++) {
		const bool kernel = g_array_index(plan->channels, struct record_channel, i).domain == RECORD_KERNEL;
		char **track_words = end(begin_channel("track", plan, kernel ? RECORD_KERNEL : RECORD_USER, NULL));
		char *text = commands_quote(track_words);

		g_string_append_printf(script, "%s --%s=$$ && ", text, kernel ? "pid" : "vpid");
		g_free(text);
		g_strfreev(track_words);
	}
	g_string_append_printf(script, "%s && exec \"$@\"", start);
	g_ptr_array_add(words, (char *)"sh");
	g_ptr_array_add(words, (char *)"-c");
	g_ptr_array_add(words, script->str);
	g_ptr_array_add(words, (char *)"sh");
	for (char **w = plan->command; *w; w++)
		g_ptr_array_add(words, *w);
	g_ptr_array_add(words, NULL);
	line = commands_quote((char *const *)words->pdata);
	g_ptr_array_free(words, TRUE);
	g_string_free(script, TRUE);
	g_free(start);
	return line;
}

static void append_local(GString *out, const struct record_plan *plan)
{
	GPtrArray *lines = setup_lines(plan);
	char *repeat = redump(plan);

	for (unsigned i = 0; i < lines->len; i++)
		g_string_append_printf(out, "%s\n", (char *)g_ptr_array_index(lines, i));
	g_ptr_array_free(lines, TRUE);
	if (!plan->track_command)
		append_line(out, session_command("start", plan->session));
	if (repeat)
		append_line(out, repeat);
	if (!plan->command)
		return;
	append_line(out, plan->track_command ? tracked_command(plan) : commands_quote(plan->command));
	if (plan->mode == RECORD_SNAPSHOT)
		append_line(out, commands_snapshot(plan->session));
	append_line(out, session_command("stop", plan->session));
	append_line(out, session_command("destroy", plan->session));
}

/* Adds the commands that fetch the hosts' recordings to this machine. */
static void append_fetch(GString *out, const struct record_plan *plan)
{
	char *script = commands_remote_fetch(plan->session);

	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const host = g_ptr_array_index(plan->hosts, i);
		char *const dir = commands_fetch_dir(plan->output, host);
		char *const ssh[] = { (char *)"ssh", host, script, NULL };
		char *const mkdir[] = { (char *)"mkdir", (char *)"-p", dir, NULL };
		char *const tar[] = { (char *)"tar", (char *)"-C", dir, (char *)"-xf", (char *)"-", NULL };
		char *lines[] = { commands_quote(mkdir), commands_quote(ssh), commands_quote(tar) };

		g_string_append_printf(out, "%s && %s | %s\n", lines[0], lines[1], lines[2]);
		for (size_t k = 0; k < G_N_ELEMENTS(lines); k++)
			g_free(lines[k]);
		g_free(dir);
	}
	g_free(script);
	append_ssh(out, plan, commands_remote_clear(plan->session));
}

char *commands_script(const struct record_plan *plan)
{
	GString *out = g_string_new(NULL);

	if (!plan->hosts->len) {
		append_local(out, plan);
		return g_string_free(out, FALSE);
	}
	append_ssh(out, plan, commands_remote_setup(plan));
	append_ssh(out, plan, commands_remote_start(plan));
	if (plan->command) {
		append_line(out, commands_quote(plan->command));
		if (plan->mode == RECORD_SNAPSHOT)
			append_ssh(out, plan, commands_snapshot(plan->session));
		append_ssh(out, plan, commands_remote_stop(plan->session));
		if (plan->mode != RECORD_LIVE)
			append_fetch(out, plan);
	}
	return g_string_free(out, FALSE);
}
