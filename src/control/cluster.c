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
#include "control/errand.h"
#include "control/commands.h"

#define READY "lttngtop-ready\n"

enum {
	READY_MS_MAX = 120 * MS_PER_S, /* nothing has to be typed: ssh runs in batch mode */
	SAID_MAX = 1 << 16,            /* a login shell may greet */
	END_MS_MAX = 10 * MS_PER_S,
	POLL_MS = 20,
};

struct cluster_link {
	const char *host;
	struct errand ssh; /* closing its stdin ends the session */
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

	return errand_start(&l->ssh, l->host, argv, ERRAND_PIPE, ERRAND_PIPE);
}

/* Adds what it prints. LT_END: it has ended. */
static enum lt_status hear(struct cluster_link *l, GString *said)
{
	char bytes[4096];
	const ssize_t n = read(l->ssh.output, bytes, sizeof(bytes));

	if (n <= 0)
		return LT_END;
	g_string_append_len(said, bytes, n);
	return said->len > SAID_MAX ? error_set("host '%s': it sent too much before its tracing began", l->host)
				    : LT_OK;
}

static bool is_ready(const GString *said)
{
	return memmem(said->str, said->len, READY, strlen(READY));
}

/* Waits for output that says that it is ready. LT_END: it has ended. LT_INTERRUPTED: watch_fd is readable. */
static enum lt_status await_ready(struct cluster_link *l, int watch_fd)
{
	struct pollfd fds[] = { { .fd = l->ssh.output, .events = POLLIN }, { .fd = watch_fd, .events = POLLIN } };
	const gint64 end_us = g_get_monotonic_time() + READY_MS_MAX * (gint64)US_PER_MS;
	GString *said = g_string_new(NULL);
	enum lt_status status = LT_OK;

	while (!status && !is_ready(said)) {
		const gint64 left_ms = (end_us - g_get_monotonic_time()) / US_PER_MS;

		if (left_ms <= 0)
			status = error_set("host '%s': its tracing did not begin within %d s", l->host,
					   READY_MS_MAX / MS_PER_S);
		else if (poll(fds, G_N_ELEMENTS(fds), (int)left_ms) <= 0)
			continue;
		else if (fds[1].revents)
			status = LT_INTERRUPTED;
		else
			status = hear(l, said);
	}
	g_string_free(said, TRUE);
	return status;
}

/* Waits for the host to report that it is recording. */
static enum lt_status await_link(struct cluster_link *l, int watch_fd)
{
	const enum lt_status heard = await_ready(l, watch_fd);
	int status;

	if (heard == LT_ERROR)
		kill(l->ssh.pid, SIGTERM);
	if (heard != LT_END)
		return heard;
	status = errand_wait(&l->ssh);
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

		*l = (struct cluster_link){ .host = g_ptr_array_index(plan->hosts, i), .ssh = ERRAND_INIT };
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

static void end_link(struct errand *ssh)
{
	for (unsigned ms = 0; ssh->pid && waitpid(ssh->pid, NULL, WNOHANG) == 0; ms += POLL_MS) {
		if (ms == END_MS_MAX)
			kill(ssh->pid, SIGTERM);
		g_usleep(POLL_MS * US_PER_MS);
	}
	errand_close(ssh);
}

/* Closes all connections first, so that the hosts stop in parallel. */
void cluster_end(struct cluster *c)
{
	for (unsigned i = 0; c->links && i < c->links->len; i++)
		errand_close_input(&((struct cluster_link *)g_ptr_array_index(c->links, i))->ssh);
	for (unsigned i = 0; c->links && i < c->links->len; i++)
		end_link(&((struct cluster_link *)g_ptr_array_index(c->links, i))->ssh);
	if (c->links)
		g_ptr_array_free(c->links, TRUE);
	c->links = NULL;
}
