/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/cluster.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "control/commands.h"
#include "control/process.h"

#define READY "lttngtop-ready\n"

enum { END_MS_MAX = 10 * MS_PER_S, POLL_MS = 20 };

struct cluster_link {
	const char *host;
	GPid ssh;          /* 0: has ended */
	int input, output; /* ssh's stdin and stdout; closing stdin ends the session; -1: closed */
};

/*
 * The script of the n-th host: its "cat" ends with the connection. Two hosts may share a hostname, so the session name
 * carries n.
 */
static char *make_script(const struct record_plan *shared, unsigned n)
{
	struct record_plan own = *shared;
	char *session = own.session = g_strdup_printf("%s-%u", shared->session, n);
	char *setup = commands_remote_setup(&own), *start = commands_remote_start(&own);
	char *stop = commands_remote_stop(session);
	char *text = g_strdup_printf("trap '' HUP; { %s; } >/dev/null && { { %s; } >/dev/null && printf '" READY "' && "
				     "cat >/dev/null; { %s; } >/dev/null 2>&1; }",
				     setup, start, stop);
	char *words[] = { (char *)"sh", (char *)"-c", text, NULL };
	char *script = commands_quote(words);

	g_free(text);
	g_free(stop);
	g_free(start);
	g_free(setup);
	g_free(session);
	return script;
}

/* An ssh option that forwards a port of the remote loopback to ours. The caller frees it. */
static char *forwarding(unsigned port)
{
	return g_strdup_printf("-R127.0.0.1:%u:127.0.0.1:%u", port, port);
}

static enum lt_status start_link(struct cluster_link *l, char *script, char *control, char *data)
{
	char *argv[] = { (char *)"ssh",
			 (char *)"-oBatchMode=yes",
			 (char *)"-oExitOnForwardFailure=yes",
			 (char *)"-oServerAliveInterval=10",
			 control,
			 data,
			 (char *)l->host,
			 script,
			 NULL };
	GError *error = NULL;

	if (g_spawn_async_with_pipes(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
				     process_unblock_signals, NULL, &l->ssh, &l->input, &l->output, NULL, &error))
		return LT_OK;
	error_set("cannot run ssh: %s", error->message);
	g_error_free(error);
	return LT_ERROR;
}

/* Waits for the host to report that it is recording. */
static enum lt_status await_link(struct cluster_link *l, int watch_fd)
{
	struct pollfd fds[] = { { .fd = l->output, .events = POLLIN }, { .fd = watch_fd, .events = POLLIN } };
	GString *said = g_string_new(NULL);
	bool ready = false, open = true;
	char byte;
	int status;

	while (!ready && open && !fds[1].revents) {
		if (poll(fds, G_N_ELEMENTS(fds), -1) <= 0 || !fds[0].revents)
			continue;
		open = read(l->output, &byte, 1) == 1;
		if (open)
			g_string_append_c(said, byte);
		ready = g_str_has_suffix(said->str, READY);
	}
	g_string_free(said, TRUE);
	if (ready)
		return LT_OK;
	if (open)
		return LT_INTERRUPTED;
	waitpid(l->ssh, &status, 0);
	l->ssh = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh's own status */
		return error_set("host '%s': ssh cannot reach it or cannot forward ports from it", l->host);
	return error_set("host '%s': lttng failed there: see lttngtop doctor --host %s", l->host, l->host);
}

enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd)
{
	char *control = forwarding(control_port), *data = forwarding(data_port);
	enum lt_status status = LT_OK;

	c->links = g_ptr_array_new_with_free_func(g_free);
	for (unsigned i = 0; i < plan->hosts->len && !status; i++) {
		struct cluster_link *l = g_new(struct cluster_link, 1);
		char *script = make_script(plan, i + 1);

		*l = (struct cluster_link){ .host = g_ptr_array_index(plan->hosts, i), .input = -1, .output = -1 };
		g_ptr_array_add(c->links, l);
		status = start_link(l, script, control, data);
		g_free(script);
	}
	for (unsigned i = 0; i < c->links->len && !status; i++)
		status = await_link(g_ptr_array_index(c->links, i), watch_fd);
	g_free(data);
	g_free(control);
	return status;
}

/* Closes all connections first, so that the hosts stop in parallel. */
void cluster_end(struct cluster *c)
{
	for (unsigned i = 0; c->links && i < c->links->len; i++) {
		struct cluster_link *l = g_ptr_array_index(c->links, i);

		if (l->input >= 0)
			close(l->input);
	}
	for (unsigned i = 0; c->links && i < c->links->len; i++) {
		struct cluster_link *l = g_ptr_array_index(c->links, i);

		for (unsigned ms = 0; l->ssh && waitpid(l->ssh, NULL, WNOHANG) == 0; ms += POLL_MS) {
			if (ms == END_MS_MAX)
				kill(l->ssh, SIGTERM);
			g_usleep(POLL_MS * US_PER_MS);
		}
		if (l->output >= 0)
			close(l->output);
	}
	if (c->links)
		g_ptr_array_free(c->links, TRUE);
	c->links = NULL;
}
