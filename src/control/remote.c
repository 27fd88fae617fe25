/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "control/errand.h"
#include "control/commands.h"
#include "control/fault.h"
#include "control/machines.h"
#include "control/missing.h"
#include "control/process.h"

enum { DIRECTORY_MODE = 0750 }; /* of recordings: not for other users */

/* An ssh to a host. All hosts' are started before the end of the first is awaited, so each keeps its own failure. */
struct on_host {
	const char *host;
	struct errand ssh;
	char *failure; /* why it was not started; NULL: it was */
};

/*
 * Starts ssh with a script for sh, whatever the login shell is. Its stdin is empty: prompts go to the terminal. output:
 * see errand_start(). end_ssh() returns false if it could not be started.
 */
static void start_ssh(struct on_host *h, const char *host, const char *script, int output)
{
	char *line = commands_for_ssh(script);
	char *argv[] = { (char *)"ssh", (char *)host, line, NULL };

	h->host = host;
	if (errand_start(&h->ssh, host, argv, ERRAND_NULL, output))
		h->failure = g_strdup(error_text());
	g_free(line);
}

/* Whether an ssh with this status succeeded; if not, the error chain says why. */
static bool judge(const char *host, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (process_is_interrupted() && (WIFSIGNALED(status) || WEXITSTATUS(status) == 255))
		error_set("host '%s': interrupted", host);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh's own status */
		error_set("host '%s': ssh cannot reach it: try 'ssh %s true'", host, host);
	else if (WIFSIGNALED(status))
		error_set("host '%s': ssh was ended by signal %d", host, WTERMSIG(status));
	else
		error_set("host '%s': lttng failed there: see its messages above, or 'lttngtop doctor --host %s'", host,
			  host);
	return false;
}

/* Waits for start_ssh()'s process and judges its status. */
static bool end_ssh(struct on_host *h)
{
	if (!h->failure)
		return judge(h->host, errand_wait(&h->ssh));
	error_set("host '%s': %s", h->host, h->failure);
	g_clear_pointer(&h->failure, g_free);
	return false;
}

/*
 * The same, after reading its output, which the caller frees. *text is NULL if it was not started or sent more than any
 * host would.
 */
static bool end_ssh_with_output(struct on_host *h, int silence_ms, char **text)
{
	*text = h->failure ? NULL : errand_read(&h->ssh, ERRAND_OUTPUT_MAX, silence_ms);
	if (*text || h->failure)
		return end_ssh(h);
	errand_wait(&h->ssh);
	error_wrap("host '%s'", h->host);
	return false;
}

/* Starts the script on all hosts at once, and names those that do not answer. The caller frees the array. */
static struct on_host *start_everywhere(const GPtrArray *hosts, const char *script)
{
	struct on_host *all = g_new0(struct on_host, hosts->len);
	const struct errand **errands = g_new(const struct errand *, hosts->len);

	for (unsigned i = 0; i < hosts->len; i++) {
		start_ssh(&all[i], g_ptr_array_index(hosts, i), script, ERRAND_PIPE);
		errands[i] = &all[i].ssh;
	}
	errand_name_silent(errands, hosts->len, ERRAND_NAME_MS);
	g_free(errands);
	return all;
}

/* Whether a script may have succeeded although its ssh failed: the host answered, then the connection was lost. */
static bool is_in_doubt(const struct errand *e)
{
	return e->has_answered && (WIFSIGNALED(e->status) || WEXITSTATUS(e->status) == 255);
}

/* The reasons of the hosts that failed before, which are freed, and that of one more. */
static char *add_failure(char *failed)
{
	error_join(failed, LT_ERROR);
	return g_strdup(error_text());
}

/*
 * Runs the script on all hosts at once. texts receives the output of each, which it owns, or NULL where the script
 * failed; LT_ERROR: the error chain names all those hosts. silence_ms: see errand_read().
 */
static enum lt_status capture_everywhere(const GPtrArray *hosts, const char *script, int silence_ms, GPtrArray *texts)
{
	struct on_host *all = start_everywhere(hosts, script);
	char *failed = NULL;

	for (unsigned i = 0; i < hosts->len; i++) {
		char *text;

		if (!end_ssh_with_output(&all[i], silence_ms, &text)) {
			failed = add_failure(failed);
			g_clear_pointer(&text, g_free);
		}
		g_ptr_array_add(texts, text);
	}
	g_free(all);
	return error_join(failed, LT_OK);
}

/*
 * Runs the script on all hosts at once. done, if not NULL, receives the hosts where it succeeded. The script may take
 * long: the host answers first.
 */
static enum lt_status run_everywhere(const GPtrArray *hosts, const char *script, GPtrArray *done)
{
	GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
	char *answering = g_strconcat("echo; ", script, NULL);
	const enum lt_status status = capture_everywhere(hosts, answering, ERRAND_FOREVER, texts);

	for (unsigned i = 0; done && i < hosts->len; i++)
		if (g_ptr_array_index(texts, i))
			g_ptr_array_add(done, g_ptr_array_index(hosts, i));
	g_free(answering);
	g_ptr_array_free(texts, TRUE);
	return status;
}

/* Cleans up on all hosts, although a held signal may be the reason for it: only a further one ends the wait. */
static void clean_up_everywhere(const GPtrArray *hosts, const char *script, GPtrArray *done)
{
	int earlier = 0, taken;

	while ((taken = process_take_signal()))
		earlier = taken;
	run_everywhere(hosts, script, done);
	if (earlier)
		raise(earlier);
}

enum lt_status remote_stop(const GPtrArray *hosts, const char *session, GPtrArray *done)
{
	char *script = commands_remote_stop(session);
	const enum lt_status status = run_everywhere(hosts, script, done);

	g_free(script);
	return status;
}

enum lt_status remote_snapshot(const GPtrArray *hosts, const char *session, GPtrArray *done)
{
	char *script = commands_snapshot(session);
	const enum lt_status status = run_everywhere(hosts, script, done);

	g_free(script);
	return status;
}

enum lt_status remote_refresh(const GPtrArray *hosts, const char *session, const char *messages)
{
	char *script = commands_remote_refresh(session, messages);
	const enum lt_status status = run_everywhere(hosts, script, NULL);

	g_free(script);
	return status;
}

enum lt_status remote_leave(const GPtrArray *hosts, const char *session, const char *file, const char *script)
{
	char *line = commands_remote_leave(session, file, script);
	const enum lt_status status = run_everywhere(hosts, line, NULL);

	g_free(line);
	return status;
}

/* Removes the recordings without fetching them. */
static void clear_everywhere(const GPtrArray *hosts, const char *session)
{
	char *script = commands_remote_clear(session);

	clean_up_everywhere(hosts, script, NULL);
	g_free(script);
}

/* ---- fetching ---- */

/* An ssh piped into a tar. */
struct fetch {
	char *dir;
	struct on_host from;
	struct errand tar;
	char *failure; /* why nothing could be received; NULL: tar was started, or ssh was not */
};

/* What is needed here before the host can send. */
static enum lt_status fetch_prepare(const struct fetch *f, int pipe_fds[2])
{
	if (g_mkdir_with_parents(f->dir, DIRECTORY_MODE))
		return error_set("cannot create directory '%s': %s", f->dir, g_strerror(errno));
	if (pipe2(pipe_fds, O_CLOEXEC))
		return error_set("cannot create a pipe: %s", g_strerror(errno));
	return LT_OK;
}

static void fetch_start(struct fetch *f, const char *host, const char *script, const char *output)
{
	char *tar[] = { (char *)"tar",
			(char *)"-C",
			NULL,
			(char *)"-xf",
			(char *)"-",
			(char *)"--no-same-owner",
			(char *)"--no-same-permissions",
			NULL };
	int pipe_fds[2];

	f->dir = commands_fetch_dir(output, host);
	f->from.host = host;
	tar[2] = f->dir;
	if (fetch_prepare(f, pipe_fds)) {
		f->from.failure = g_strdup(error_text());
		return;
	}
	start_ssh(&f->from, host, script, pipe_fds[1]);
	if (!f->from.failure && errand_start(&f->tar, f->dir, tar, pipe_fds[0], ERRAND_NULL))
		f->failure = g_strdup(error_text());
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* LT_ERROR: not everything has arrived. *any: everything has, and it is not empty. */
static enum lt_status fetch_end(struct fetch *f, bool *any)
{
	const char *host = f->from.host;
	const bool sent = end_ssh(&f->from);
	const int status = f->tar.pid ? errand_wait(&f->tar) : -1;
	const bool empty = !g_rmdir(f->dir); /* nothing was recorded */
	enum lt_status result = sent ? LT_OK : LT_ERROR;

	*any |= sent && !status && !empty;
	if (f->failure) /* the host could not send then, whatever it says */
		result = error_set("host '%s': %s", host, f->failure);
	else if (sent && status && process_is_interrupted())
		result = error_set("host '%s': interrupted", host);
	else if (sent && status)
		result = error_set(
			"host '%s': cannot unpack the recording it sent (its login shell must not print anything)",
			host);
	g_free(f->failure);
	g_free(f->dir);
	return result;
}

enum lt_status remote_fetch(const GPtrArray *hosts, const char *session, const char *output, GPtrArray *done, bool *any)
{
	struct fetch *fetches = g_new0(struct fetch, hosts->len);
	char *script = commands_remote_fetch(session), *failed = NULL;

	*any = false;
	for (unsigned i = 0; i < hosts->len; i++)
		fetch_start(&fetches[i], g_ptr_array_index(hosts, i), script, output);
	for (unsigned i = 0; i < hosts->len; i++) {
		if (fetch_end(&fetches[i], any)) {
			error_wrap("fetching '" COMMANDS_REMOTE_DIR "/%s', which was kept on the host", session);
			failed = add_failure(failed);
		} else {
			g_ptr_array_add(done, g_ptr_array_index(hosts, i));
		}
	}
	if (!*any)
		g_rmdir(output);
	else
		clear_everywhere(done, session);
	g_free(fetches);
	g_free(script);
	return error_join(failed, LT_OK);
}

/* ---- setting up ---- */

/* Removes the session from hosts, warns where that fails; keeps the original reason in the error chain. */
static void undo(const struct record_plan *plan, const GPtrArray *hosts)
{
	char *reason = g_strdup(error_text()), *script = commands_remote_discard(plan);
	GPtrArray *done = g_ptr_array_new();

	clean_up_everywhere(hosts, script, done);
	for (unsigned i = 0; i < hosts->len; i++) {
		const char *host = g_ptr_array_index(hosts, i);

		if (!g_ptr_array_find(done, host, NULL))
			log_warning("host '%s': session '%s' may be left there: end it with 'lttngtop record stop "
				    "--host %s %s'",
				    host, plan->session, host, plan->session);
	}
	error_set("%s", reason);
	g_ptr_array_free(done, TRUE);
	g_free(script);
	g_free(reason);
}

void remote_discard(const struct record_plan *plan)
{
	undo(plan, plan->hosts);
}

/* What a step of the setup leaves on a host where it succeeds. */
enum step_effect { STEP_NOTHING, STEP_SESSION, STEP_STARTED_SESSION };

/* Whether the session of this plan may exist on a host where a step has failed. */
static bool may_exist(enum step_effect effect, const struct errand *e)
{
	return effect == STEP_STARTED_SESSION || (effect == STEP_SESSION && is_in_doubt(e));
}

/*
 * Runs a step of the setup on all hosts at once. Where it fails, the session is removed, if it may exist, and the host
 * leaves the plan with a warning. outputs, if not NULL, receives the output of each host that remains. LT_ERROR: no
 * host is left, or a signal came.
 */
static enum lt_status step(struct record_plan *plan, const char *script, enum step_effect effect, GPtrArray *outputs)
{
	struct on_host *all = start_everywhere(plan->hosts, script);
	GPtrArray *remaining = g_ptr_array_new_with_free_func(g_free), *undone = g_ptr_array_new();
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < plan->hosts->len; i++) {
		char *host = g_ptr_array_index(plan->hosts, i), *output;
		const bool succeeded = end_ssh_with_output(&all[i], ERRAND_SILENCE_MS, &output);

		if (output)
			missing_warn_lines(plan, host, output);
		if (succeeded && outputs)
			g_ptr_array_add(outputs, g_steal_pointer(&output));
		g_free(output);
		if (succeeded) {
			g_ptr_array_add(remaining, g_strdup(host));
			continue;
		}
		if (may_exist(effect, &all[i].ssh))
			g_ptr_array_add(undone, host);
		if (process_is_interrupted())
			status = LT_ERROR; /* the error chain names a host that did not answer */
		else
			log_warning("%s", error_text());
	}
	for (unsigned i = 0; status && effect != STEP_NOTHING && i < remaining->len; i++)
		g_ptr_array_add(undone, g_ptr_array_index(remaining, i));
	undo(plan, undone);
	if (!status && !remaining->len)
		status = error_set("no host could be recorded");
	g_ptr_array_free(undone, TRUE);
	g_ptr_array_free(plan->hosts, TRUE);
	plan->hosts = remaining;
	g_free(all);
	return status;
}

/* Asks each host which machine it is, before there is a session anywhere. */
static enum lt_status check_machines(struct record_plan *plan)
{
	GPtrArray *outputs = g_ptr_array_new_with_free_func(g_free);
	enum lt_status status = step(plan, MACHINES_SCRIPT, STEP_NOTHING, outputs);

	if (!status)
		status = machines_check(plan->hosts, outputs, plan->mode == RECORD_LIVE);
	g_ptr_array_free(outputs, TRUE);
	return status;
}

enum lt_status remote_setup(struct record_plan *plan)
{
	char *script;
	enum lt_status status;

	if (fault_check(plan) || (plan->hosts->len > 1 && check_machines(plan)))
		return LT_ERROR;
	script = commands_remote_setup(plan);
	status = step(plan, script, STEP_SESSION, NULL);
	g_free(script);
	return status;
}

enum lt_status remote_start(struct record_plan *plan)
{
	char *script = commands_remote_start(plan);
	const enum lt_status status = step(plan, script, STEP_STARTED_SESSION, NULL);

	g_free(script);
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

char *remote_capture(const char *host, const char *script)
{
	GPtrArray *hosts = g_ptr_array_new(), *texts = g_ptr_array_new();
	char *text;

	g_ptr_array_add(hosts, (char *)host);
	capture_everywhere(hosts, script, ERRAND_SILENCE_MS, texts);
	text = g_ptr_array_index(texts, 0);
	g_ptr_array_free(hosts, TRUE);
	g_ptr_array_free(texts, TRUE);
	return text;
}

/* The next session of ours in the output of `lttng --mi xml list`; NULL: no more. The caller frees it. */
static char *next_session(const char **text)
{
	static const char tag[] = "<name>" RECORD_SESSION_PREFIX;
	const char *name = strstr(*text, tag);
	const char *end = name ? strchr(name + strlen(tag), '<') : NULL;

	if (!end)
		return NULL;
	*text = end;
	name += strlen("<name>");
	return g_strndup(name, (gsize)(end - name));
}

/* Adds the sessions of ours in a host's list to *found, their only name. LT_ERROR: there are several. */
static enum lt_status find_session(const char *list, char **found)
{
	enum lt_status status = LT_OK;
	char *name;

	while (!status && (name = next_session(&list)) != NULL) {
		if (*found && strcmp(*found, name) != 0)
			status = error_set("more than one session ('%s', '%s'): give its name", *found, name);
		if (*found)
			g_free(name);
		else
			*found = name;
	}
	return status ? status : record_session_check(*found ? *found : "s");
}

char *remote_find(const GPtrArray *hosts)
{
	GPtrArray *lists = g_ptr_array_new_with_free_func(g_free);
	enum lt_status status = capture_everywhere(hosts, "lttng --mi xml list", ERRAND_SILENCE_MS, lists);
	char *found = NULL;

	for (unsigned i = 0; i < hosts->len && !status; i++)
		status = find_session(g_ptr_array_index(lists, i), &found);
	if (!status && !found)
		error_set("no session that 'lttngtop record' named was found: give its name");
	if (status)
		g_clear_pointer(&found, g_free);
	g_ptr_array_free(lists, TRUE);
	return found;
}

enum lt_status remote_list(const GPtrArray *hosts, const char *session)
{
	char *words[] = { (char *)"lttng", (char *)"list", (char *)session, NULL };
	char *script = commands_quote(words);
	GPtrArray *lists = g_ptr_array_new_with_free_func(g_free);
	const enum lt_status status = capture_everywhere(hosts, script, ERRAND_SILENCE_MS, lists);

	for (unsigned i = 0; i < hosts->len; i++) {
		if (!g_ptr_array_index(lists, i))
			continue;
		printf("%s:\n", (const char *)g_ptr_array_index(hosts, i));
		print_sanitised(g_ptr_array_index(lists, i));
	}
	g_ptr_array_free(lists, TRUE);
	g_free(script);
	return status;
}
