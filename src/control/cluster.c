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
	FAILED_MS_MAX = 2 * MS_PER_S,  /* once one has failed: what fails for the same reason is named, too */
	SAID_MAX = 1 << 16,            /* a login shell may greet */
	END_MS_MAX = 10 * MS_PER_S,
	END_UNREADY_MS_MAX = 2 * MS_PER_S, /* it may still be connecting; if not, the host cleans up all the same */
	KILL_MS = 2 * MS_PER_S,            /* how long after SIGTERM */
	POLL_MS = 20,
};

struct cluster_link {
	const char *host;
	struct errand ssh; /* closing its stdin ends the session */
	GString *said;     /* before it was ready */
	bool is_ready;     /* the host is recording */
};

static void link_free(void *data)
{
	struct cluster_link *l = data;

	g_string_free(l->said, TRUE);
	g_free(l);
}

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
	char *script = commands_as_shell(text);

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

/* It has ended before it was ready. */
static enum lt_status explain_end(struct cluster_link *l)
{
	const int status = errand_wait(&l->ssh);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh's own status */
		return error_set("host '%s': ssh cannot reach it or cannot forward ports from it", l->host);
	return error_set("host '%s': lttng failed there: see lttngtop doctor --host %s", l->host, l->host);
}

/* Reads what it prints, until it says that it is ready. LT_ERROR: it never will. */
static enum lt_status hear(struct cluster_link *l)
{
	char bytes[4096];
	const ssize_t n = read(l->ssh.output, bytes, sizeof(bytes));

	if (n <= 0)
		return explain_end(l);
	g_string_append_len(l->said, bytes, n);
	l->is_ready = memmem(l->said->str, l->said->len, READY, strlen(READY));
	if (l->is_ready || l->said->len <= SAID_MAX)
		return LT_OK;
	kill(l->ssh.pid, SIGTERM);
	return error_set("host '%s': it sent too much before its tracing began", l->host);
}

/* Whether it is neither ready nor has failed. */
static bool is_awaited(const struct cluster_link *l)
{
	return !l->is_ready && l->ssh.output >= 0 && l->said->len <= SAID_MAX;
}

/* Fills in what to poll; returns the first host that is awaited, or NULL. */
static const char *fill(struct pollfd *fds, const GPtrArray *links)
{
	const char *first = NULL;

	for (guint i = 0; i < links->len; i++) {
		const struct cluster_link *l = g_ptr_array_index(links, i);

		fds[i] = (struct pollfd){ .fd = is_awaited(l) ? l->ssh.output : -1, .events = POLLIN };
		if (is_awaited(l) && !first)
			first = l->host;
	}
	return first;
}

/* Reads from the hosts that have printed something; returns the failures, old (freed) and new, or NULL. */
static char *hear_all(const struct pollfd *fds, const GPtrArray *links, char *failed)
{
	for (guint i = 0; i < links->len; i++) {
		if (!fds[i].revents || !hear(g_ptr_array_index(links, i)))
			continue;
		error_join(failed, LT_ERROR);
		failed = g_strdup(error_text());
	}
	return failed;
}

/* Waits for all hosts to record or, once one has failed, a little for others that fail. */
static enum lt_status await_links(const GPtrArray *links, int watch_fd)
{
	struct pollfd *fds = g_new(struct pollfd, links->len + 1);
	gint64 end_us = g_get_monotonic_time() + READY_MS_MAX * (gint64)US_PER_MS;
	enum lt_status status = LT_OK;
	char *failed = NULL;
	const char *awaited;

	while (!status && (awaited = fill(fds, links))) {
		const gint64 left_us = end_us - g_get_monotonic_time();
		const bool had_failed = failed;

		fds[links->len] = (struct pollfd){ .fd = watch_fd, .events = POLLIN };
		if (left_us <= 0 && failed)
			break;
		if (left_us <= 0)
			status = error_set("host '%s': its tracing did not begin within %d s", awaited,
					   READY_MS_MAX / MS_PER_S);
		else if (poll(fds, links->len + 1, (int)(left_us / US_PER_MS + 1)) > 0 && fds[links->len].revents)
			status = LT_INTERRUPTED;
		else
			failed = hear_all(fds, links, failed);
		if (failed && !had_failed)
			end_us = MIN(end_us, g_get_monotonic_time() + FAILED_MS_MAX * (gint64)US_PER_MS);
	}
	g_free(fds);
	if (status != LT_INTERRUPTED)
		return error_join(failed, status);
	g_free(failed);
	return status;
}

enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd)
{
	char *control = forwarding(control_port), *data = forwarding(data_port);
	enum lt_status status = LT_OK;

	c->links = g_ptr_array_new_with_free_func(link_free);
	for (unsigned i = 0; i < plan->hosts->len && !status; i++) {
		struct cluster_link *l = g_new(struct cluster_link, 1);
		char *script = make_script(plan, i + 1);

		*l = (struct cluster_link){ .host = g_ptr_array_index(plan->hosts, i),
					    .ssh = ERRAND_INIT,
					    .said = g_string_new(NULL) };
		g_ptr_array_add(c->links, l);
		status = start_link(l, script, control, data);
		g_free(script);
	}
	if (!status)
		status = await_links(c->links, watch_fd);
	g_free(data);
	g_free(control);
	return status;
}

/* Whether it has ended; helps after a while. */
static bool end_link(struct cluster_link *l, unsigned ms)
{
	const unsigned ms_max = l->is_ready ? END_MS_MAX : END_UNREADY_MS_MAX;

	if (l->ssh.pid && waitpid(l->ssh.pid, NULL, WNOHANG) == 0) {
		if (ms >= ms_max)
			kill(l->ssh.pid, ms < ms_max + KILL_MS ? SIGTERM : SIGKILL);
		return false;
	}
	errand_close(&l->ssh);
	return true;
}

/* Closes all connections first, so that the hosts stop in parallel. */
void cluster_end(struct cluster *c)
{
	bool ended = false;

	for (unsigned i = 0; c->links && i < c->links->len; i++)
		errand_close_input(&((struct cluster_link *)g_ptr_array_index(c->links, i))->ssh);
	for (unsigned ms = 0; c->links && !ended; ms += POLL_MS) {
		ended = true;
		for (unsigned i = 0; i < c->links->len; i++)
			ended &= end_link(g_ptr_array_index(c->links, i), ms);
		if (!ended)
			g_usleep(POLL_MS * US_PER_MS);
	}
	if (c->links)
		g_ptr_array_free(c->links, TRUE);
	c->links = NULL;
}
