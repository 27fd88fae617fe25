/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/text.h"
#include "control/commands.h"
#include "control/process.h"

/* Starts ssh; 0: it cannot be started. Its stdin is empty: prompts go to the terminal. */
static GPid start_ssh(const char *host, const char *script)
{
	char *argv[] = {(char *)"ssh", (char *)host, (char *)script, NULL};
	const GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL;
	GError *error = NULL;
	GPid pid = 0;

	if (!g_spawn_async(NULL, argv, NULL, flags, process_unblock_signals, NULL, &pid, &error)) {
		error_set("cannot run ssh: %s", error->message);
		g_error_free(error);
		return 0;
	}
	return pid;
}

/* Whether an ssh that ended with this status did what it should; else what became of it is in the error chain. */
static bool judge(const char *host, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh's own */
		error_set("host '%s': ssh cannot reach it", host);
	else
		error_set("host '%s': lttng failed there", host);
	return false;
}

/* Waits for what start_ssh() returned, and judges it. */
static bool end_ssh(const char *host, GPid pid)
{
	int status;

	if (!pid) {
		error_wrap("host '%s'", host);
		return false;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return judge(host, status);
}

/* Runs the script on all hosts at once; done, if not NULL, gets the hosts where it succeeded. */
static enum lt_status run_everywhere(const GPtrArray *hosts, const char *script, GPtrArray *done)
{
	GPid *pids = g_new0(GPid, hosts->len);
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < hosts->len; i++)
		pids[i] = start_ssh(g_ptr_array_index(hosts, i), script);
	for (unsigned i = 0; i < hosts->len; i++) {
		if (!end_ssh(g_ptr_array_index(hosts, i), pids[i]))
			status = LT_ERROR;
		else if (done)
			g_ptr_array_add(done, g_ptr_array_index(hosts, i));
	}
	g_free(pids);
	return status;
}

enum lt_status remote_stop(const GPtrArray *hosts, const char *session)
{
	char *script = commands_remote_stop(session);
	const enum lt_status status = run_everywhere(hosts, script, NULL);

	g_free(script);
	return status;
}

/* Removes the session where setup succeeded; the reason of the failure stays the one in the error chain. */
static void undo(const GPtrArray *hosts, const char *session)
{
	char *reason = g_strdup(error_text());

	remote_stop(hosts, session);
	error_set("%s", reason);
	g_free(reason);
}

enum lt_status remote_setup(const struct record_plan *plan)
{
	char *script = commands_remote_setup(plan);
	GPtrArray *done = g_ptr_array_new();
	const enum lt_status status = run_everywhere(plan->hosts, script, done);

	if (status)
		undo(done, plan->session);
	g_ptr_array_free(done, TRUE);
	g_free(script);
	return status;
}

enum lt_status remote_start(const struct record_plan *plan)
{
	char *script = commands_remote_start(plan->session);
	const enum lt_status status = run_everywhere(plan->hosts, script, NULL);

	g_free(script);
	if (status)
		undo(plan->hosts, plan->session);
	return status;
}

static void print_sanitised(const char *text)
{
	char **lines = g_strsplit(text, "\n", -1);
	char clean[TEXT_MAX + 1];

	for (unsigned i = 0; lines[i] && (*lines[i] || lines[i + 1]); i++) {
		text_sanitise(clean, sizeof(clean), lines[i], strlen(lines[i]));
		puts(clean);
	}
	g_strfreev(lines);
}

static enum lt_status list_host(const char *host, const char *script)
{
	char *argv[] = {(char *)"ssh", (char *)host, (char *)script, NULL};
	GError *error = NULL;
	char *text = NULL;
	int status;

	if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, process_unblock_signals, NULL, &text, NULL, &status,
			  &error)) {
		error_set("cannot run ssh: %s", error->message);
		g_error_free(error);
		return LT_ERROR;
	}
	printf("%s:\n", host);
	print_sanitised(text);
	g_free(text);
	return judge(host, status) ? LT_OK : LT_ERROR;
}

enum lt_status remote_list(const GPtrArray *hosts, const char *session)
{
	char *words[] = {(char *)"lttng", (char *)"list", (char *)session, NULL};
	char *script = commands_quote(words);
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < hosts->len; i++)
		if (list_host(g_ptr_array_index(hosts, i), script))
			status = LT_ERROR;
	g_free(script);
	return status;
}
