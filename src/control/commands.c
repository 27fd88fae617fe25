/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/commands.h"

#include <inttypes.h>
#include <string.h>

#include "control/fault.h"
#include "control/perf.h"

/* A command under construction. */
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

/* A command about a channel: its domain, session and name. */
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
	if (c->switch_timer_us)
		add(words, "--switch-timer=%u", c->switch_timer_us);
	add(words, "%s", c->name);
	return end(words);
}

static char **enable_tracepoints(const struct record_plan *plan, const struct record_channel *c)
{
	GPtrArray *words = begin_channel("enable-event", plan, c->domain, c->name);
	GString *names = g_string_new(NULL);

	for (unsigned i = 0; i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind == RECORD_TRACEPOINT)
			g_string_append_printf(names, "%s%s", names->len ? "," : "", e->name);
	}
	add(words, "%s", names->str);
	if (names->len)
		return (g_string_free(names, TRUE), end(words));
	g_string_free(names, TRUE);
	g_strfreev(end(words));
	return NULL;
}

static char **enable_other(const struct record_plan *plan, const struct record_channel *c, const struct record_event *e)
{
	GPtrArray *words = begin_channel("enable-event", plan, c->domain, c->name);

	if (e->kind == RECORD_SYSCALLS) {
		add(words, "--syscall");
		add(words, "--all");
		return end(words);
	}
	if (e->symbol)
		add(words, "--probe=%s+0x%" PRIx64, e->symbol, e->offset);
	else
		add(words, "--probe=0x%" PRIx64, e->offset);
	add(words, "%s", e->name);
	return end(words);
}

/* A shell's list that fails where the version of the kernel tracer is one that the context does harm in. */
static char *fault_guard(const struct tracer_fault *fault)
{
	return g_strdup_printf("v=$(cat " TRACER_VERSION_FILE ") && case ${v%%%%-*} in %s) "
			       "echo \"context %s: lttng-modules $v %s: %s\" >&2; false;; esac && ",
			       fault->versions, fault->context, fault->harm, fault->remedy);
}

/* The contexts of a set one by one: what the tracer does not have is left out. NULL: there are none. */
static char *add_set_contexts(const struct record_plan *plan, const struct record_channel *c)
{
	char **words = end(begin_channel("add-context", plan, c->domain, c->name));
	char *command = commands_quote(words);
	GString *names = g_string_new(NULL);
	char *line = NULL;

	for (unsigned i = 0; i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);

		if (!context->asked)
			g_string_append_printf(names, " %s", context->name);
	}
	if (names->len)
		line = g_strdup_printf("for c in%s; do %s --type=$c || "
				       "echo \"this kernel's tracer lacks the context $c: left out\" >&2; done",
				       names->str, command);
	g_string_free(names, TRUE);
	g_free(command);
	g_strfreev(words);
	return line;
}

/* The contexts that were asked for in one command. NULL: there are none. */
static char *add_asked_contexts(const struct record_plan *plan, const struct record_channel *c)
{
	GPtrArray *words = begin_channel("add-context", plan, c->domain, c->name);
	GString *line = g_string_new(NULL);
	char **argv, *command;
	bool any = false;

	for (unsigned i = 0; i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);
		const struct tracer_fault *fault = context->asked ? fault_find(context->name) : NULL;
		char *guard = fault ? fault_guard(fault) : NULL;

		if (context->asked)
			add(words, "--type=%s", context->name);
		if (guard)
			g_string_append(line, guard);
		any |= context->asked;
		g_free(guard);
	}
	argv = end(words);
	command = commands_quote(argv);
	g_string_append(line, command);
	g_free(command);
	g_strfreev(argv);
	if (any)
		return g_string_free(line, FALSE);
	g_string_free(line, TRUE);
	return NULL;
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

/* Adds a command's words, which it frees, as a line. */
static void add_line(GPtrArray *lines, char **words)
{
	g_ptr_array_add(lines, commands_quote(words));
	g_strfreev(words);
}

/* The directory of a session on another host, for the shell there. */
static char *remote_dir(const char *session)
{
	char *quoted = g_shell_quote(session), *dir = g_strconcat(COMMANDS_REMOTE_DIR "/", quoted, NULL);

	g_free(quoted);
	return dir;
}

/* Adds to the command that creates the session where its output goes: the host's shell knows its home. */
static void add_remote_output(GPtrArray *lines, const char *session)
{
	char **create = (char **)&g_ptr_array_index(lines, lines->len - 1);
	char *dir = remote_dir(session), *line = g_strdup_printf("d=%s; %s --output=\"$d\"", dir, *create);

	g_free(dir);
	g_free(*create);
	*create = line;
}

static void add_contexts(GPtrArray *lines, const struct record_plan *plan, const struct record_channel *c)
{
	char *const found[] = {add_set_contexts(plan, c), add_asked_contexts(plan, c)};

	for (size_t i = 0; i < G_N_ELEMENTS(found); i++)
		if (found[i])
			g_ptr_array_add(lines, found[i]);
}

static void add_trackers(GPtrArray *lines, const struct record_plan *plan)
{
	if (plan->pids->len)
		add_line(lines, track(plan, RECORD_KERNEL, "pid", plan->pids));
	for (unsigned i = 0; i < plan->channels->len && plan->vpids->len; i++)
		add_line(lines, track(plan, g_array_index(plan->channels, struct record_channel, i).domain, "vpid",
				      plan->vpids));
}

/* A shell's lines (char *) that create the session, the first one, and all that is in it; nothing is recorded yet. */
static GPtrArray *setup_lines(const struct record_plan *plan)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	add_line(lines, create_session(plan));
	if (plan->hosts->len && plan->mode != RECORD_LIVE)
		add_remote_output(lines, plan->session);
	for (unsigned i = 0; i < plan->channels->len; i++) {
		const struct record_channel *c = &g_array_index(plan->channels, struct record_channel, i);
		char **tracepoints = enable_tracepoints(plan, c);

		add_line(lines, enable_channel(plan, c));
		if (tracepoints)
			add_line(lines, tracepoints);
		for (unsigned k = 0; k < c->events->len; k++) {
			const struct record_event *e = &g_array_index(c->events, struct record_event, k);

			if (e->kind != RECORD_TRACEPOINT)
				add_line(lines, enable_other(plan, c, e));
		}
		add_contexts(lines, plan, c);
	}
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
	char *const words[] = {(char *)"lttng", (char *)verb, (char *)session, NULL};

	return commands_quote(words);
}

/* A hardware counter that a machine does not have may crash its kernel: it is asked first. */
static bool needs_cpu_unit(const struct record_plan *plan)
{
	const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);

	for (unsigned i = 0; c && i < c->contexts->len; i++) {
		const char *name = g_array_index(c->contexts, struct record_context, i).name;

		if (g_str_has_prefix(name, PERF_CONTEXT_PREFIX) && perf_counter_is_hardware(perf_counter_find(name)))
			return true;
	}
	return false;
}

char *commands_remote_setup(const struct record_plan *plan)
{
	GPtrArray *lines = setup_lines(plan);
	char *destroy = session_command("destroy", plan->session);
	GString *script = g_string_new(NULL);

	if (needs_cpu_unit(plan))
		g_string_append(script, "{ ls " PERF_SOURCES " | grep -qE '" PERF_CPU_PATTERN "' || "
					"{ echo 'no performance monitoring unit' >&2; false; }; } && ");
	for (unsigned i = 0; i < lines->len; i++)
		g_string_append_printf(script, "%s%s", i == 0 ? "" : i == 1 ? " && { " : " && ",
				       (char *)g_ptr_array_index(lines, i));
	g_string_append_printf(script, " || { %s; false; }; }", destroy);
	g_free(destroy);
	g_ptr_array_free(lines, TRUE);
	return g_string_free(script, FALSE);
}

char *commands_remote_start(const char *session)
{
	return session_command("start", session);
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
	char *const words[] = {(char *)"lttng", (char *)"snapshot", (char *)"record", option, NULL};
	char *line = commands_quote(words);

	g_free(option);
	return line;
}

char *commands_remote_fetch(const char *session)
{
	char *dir = remote_dir(session);
	char *script = g_strdup_printf("if test -d %s; then tar -C %s -cf - .; else tar -cf - -T /dev/null; fi", dir,
				       dir);

	g_free(dir);
	return script;
}

char *commands_remote_clear(const char *session)
{
	char *dir = remote_dir(session), *script = g_strconcat("rm -rf ", dir, NULL);

	g_free(dir);
	return script;
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

/* An ssh command for each host; script is freed. */
static void append_ssh(GString *out, const struct record_plan *plan, char *script)
{
	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const words[] = {(char *)"ssh", g_ptr_array_index(plan->hosts, i), script, NULL};

		append_line(out, commands_quote(words));
	}
	g_free(script);
}

/* The command with its trackers set by the process that becomes it: "sh -c '… && exec "$@"' sh COMMAND". */
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

	for (unsigned i = 0; i < lines->len; i++)
		g_string_append_printf(out, "%s\n", (char *)g_ptr_array_index(lines, i));
	g_ptr_array_free(lines, TRUE);
	if (!plan->track_command)
		append_line(out, session_command("start", plan->session));
	if (!plan->command)
		return;
	append_line(out, plan->track_command ? tracked_command(plan) : commands_quote(plan->command));
	if (plan->mode == RECORD_SNAPSHOT)
		append_line(out, commands_snapshot(plan->session));
	append_line(out, session_command("stop", plan->session));
	append_line(out, session_command("destroy", plan->session));
}

/* The commands that bring what the hosts have recorded here. */
static void append_fetch(GString *out, const struct record_plan *plan)
{
	char *script = commands_remote_fetch(plan->session);

	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const host = g_ptr_array_index(plan->hosts, i);
		char *const dir = commands_fetch_dir(plan->output, host);
		char *const ssh[] = {(char *)"ssh", host, script, NULL};
		char *const mkdir[] = {(char *)"mkdir", (char *)"-p", dir, NULL};
		char *const tar[] = {(char *)"tar", (char *)"-C", dir, (char *)"-xf", (char *)"-", NULL};
		char *lines[] = {commands_quote(mkdir), commands_quote(ssh), commands_quote(tar)};

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
	append_ssh(out, plan, commands_remote_start(plan->session));
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
