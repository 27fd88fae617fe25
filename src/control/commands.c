/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scripts that run a plan: on this machine, or over ssh. */
#include "control/commands_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/nstime.h"
#include "control/redump.h"

/* "lttng VERB SESSION" */
static char *session_command(const char *verb, const char *session)
{
	char *const words[] = { (char *)"lttng", (char *)verb, (char *)session, NULL };

	return commands_quote(words);
}

/* If ssh has gone away meanwhile, "echo done" fails on the closed pipe and the session is destroyed. */
char *commands_remote_setup(const struct record_plan *plan)
{
	GPtrArray *lines = commands_setup_lines(plan);
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

static char *refresh_command(const char *session)
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
	char *line = commands_track_line(plan, plan->messages.domain);

	if (plan->messages.domain == RECORD_KERNEL && plan->pids->len)
		g_string_append_printf(script, "%s --pid=$$\n", line);
	if (plan->messages.domain == RECORD_KERNEL && plan->vpids->len)
		g_string_append_printf(script, "%s --vpid=$$\n", line);
	g_free(line);
}

/* "sh -c SCRIPT". The caller frees it. */
static char *as_shell_command(const char *script)
{
	char *const words[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };

	return commands_quote(words);
}

char *commands_for_ssh(const char *script)
{
	GString *line;

	if (!strpbrk(script, "\n!\\"))
		return as_shell_command(script);
	line = g_string_new("sh -c 'eval \"$(printf \"");
	for (const char *c = script; *c; c++) {
		if (g_ascii_iscntrl(*c) || strchr("!\"$%'\\`", *c))
			g_string_append_printf(line, "\\%03o", (unsigned char)*c);
		else
			g_string_append_c(line, *c);
	}
	g_string_append(line, "\")\"'");
	return g_string_free(line, FALSE);
}

/* The same; frees the script. */
static char *as_shell(GString *script)
{
	char *line = as_shell_command(script->str);

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
	char *list = list_command(plan->session), *refresh = refresh_command(plan->session);
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
	char *refresh = refresh_command(session), *tell, *line;

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
	char *stop = session_command("stop", session), *list = list_command(session);
	char *destroy = session_command("destroy", session), *dir = commands_remote_dir(session);
	char *script = g_strdup_printf("test -d %s && ! %s >/dev/null 2>&1 || { %s; %s; }", dir, list, stop, destroy);

	g_free(dir);
	g_free(list);
	g_free(stop);
	g_free(destroy);
	return script;
}

/* Nothing is said if there is no session: it may not have been created. */
char *commands_remote_discard(const struct record_plan *plan)
{
	char *list = list_command(plan->session), *destroy = session_command("destroy", plan->session);
	char *clear = plan->mode == RECORD_LIVE ? g_strdup(":") : commands_remote_clear(plan->session);
	char *script = g_strdup_printf("! %s >/dev/null 2>&1 || %s; %s", list, destroy, clear);

	g_free(clear);
	g_free(destroy);
	g_free(list);
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
	char *dir = commands_remote_dir(session);
	char *script =
		g_strdup_printf("if test -d %s; then tar -C %s -cf - .; else tar -cf - -T /dev/null; fi", dir, dir);

	g_free(dir);
	return script;
}

char *commands_remote_clear(const char *session)
{
	char *dir = commands_remote_dir(session), *script = g_strconcat("rm -rf ", dir, NULL);

	g_free(dir);
	return script;
}

char *commands_remote_leave(const char *session, const char *file, const char *script)
{
	char *dir = commands_remote_dir(session), *sh = as_shell_command(script);
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
	char *shell = as_shell_command(script);

	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const words[] = { (char *)"ssh", g_ptr_array_index(plan->hosts, i), shell, NULL };

		append_line(out, commands_quote(words));
	}
	g_free(shell);
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
		char *track = commands_track_line(plan, kernel ? RECORD_KERNEL : RECORD_USER);

		g_string_append_printf(script, "%s --%s=$$ && ", track, kernel ? "pid" : "vpid");
		g_free(track);
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
	GPtrArray *lines = commands_setup_lines(plan);
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
	char *script = commands_remote_fetch(plan->session), *shell = as_shell_command(script);

	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *const host = g_ptr_array_index(plan->hosts, i);
		char *const dir = commands_fetch_dir(plan->output, host);
		char *const ssh[] = { (char *)"ssh", host, shell, NULL };
		char *const mkdir[] = { (char *)"mkdir", (char *)"-p", dir, NULL };
		char *const tar[] = { (char *)"tar", (char *)"-C", dir, (char *)"-xf", (char *)"-", NULL };
		char *lines[] = { commands_quote(mkdir), commands_quote(ssh), commands_quote(tar) };

		g_string_append_printf(out, "%s && %s | %s\n", lines[0], lines[1], lines[2]);
		for (size_t k = 0; k < G_N_ELEMENTS(lines); k++)
			g_free(lines[k]);
		g_free(dir);
	}
	g_free(shell);
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
