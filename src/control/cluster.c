/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/cluster.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "control/errand.h"
#include "control/commands.h"
#include "control/missing.h"

#define READY "lttngtop-ready\n"

enum {
	READY_MS_MAX = 120 * MS_PER_S, /* nothing has to be typed: ssh runs in batch mode */
	LATE_MS = 10 * MS_PER_S,       /* after which hosts that record do not wait for the others */
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
	bool is_ready;     /* the host is recording, or was until its connection was lost */
	bool is_given_up;  /* it never will */
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
	char *text = g_strdup_printf("trap '' HUP; { %s; } && { { %s; } >/dev/null && printf '" READY "' && "
				     "cat >/dev/null; { %s; } >/dev/null 2>&1; }",
				     setup, start, stop);
	char *script = commands_for_ssh(text);

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

static void give_up(struct cluster_link *l, const char *why)
{
	l->is_given_up = true;
	log_warning("host '%s': %s", l->host, why);
}

/* It has ended before it was ready. */
static void explain_end(struct cluster_link *l)
{
	const int status = errand_wait(&l->ssh);

	l->is_given_up = true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255) /* ssh's own status */
		log_warning("host '%s': ssh cannot reach it or cannot forward ports from it: try 'ssh %s true'; it may "
			    "also be this machine, or a machine that is given twice",
			    l->host, l->host);
	else
		log_warning("host '%s': lttng failed there: see 'lttngtop doctor --host %s'", l->host, l->host);
}

static bool is_awaited(const struct cluster_link *l)
{
	return !l->is_ready && !l->is_given_up;
}

/* Reads what it has printed, until it says that it is ready. */
static void hear(struct cluster_link *l, const struct record_plan *plan)
{
	struct pollfd output = { .fd = l->ssh.output, .events = POLLIN };
	char bytes[4096];

	while (is_awaited(l) && poll(&output, 1, 0) > 0) {
		const ssize_t n = read(l->ssh.output, bytes, sizeof(bytes));

		if (n <= 0) {
			explain_end(l);
			return;
		}
		g_string_append_len(l->said, bytes, n);
		l->is_ready = memmem(l->said->str, l->said->len, READY, strlen(READY));
		if (l->is_ready) {
			missing_warn_lines(plan, l->host, l->said->str);
		} else if (l->said->len > SAID_MAX) {
			kill(l->ssh.pid, SIGTERM);
			give_up(l, "it sent too much before its tracing began");
		}
	}
}

static void report_loss(struct cluster_link *l)
{
	if (!l->is_ready || !l->ssh.pid || waitpid(l->ssh.pid, NULL, WNOHANG) != l->ssh.pid)
		return;
	errand_close(&l->ssh);
	log_warning("host '%s': the ssh connection was lost; it is not traced any more", l->host);
}

bool cluster_watch(struct cluster *c)
{
	const bool is_late = g_get_monotonic_time() > c->end_us;
	bool any = false;

	for (unsigned i = 0; c->links && i < c->links->len; i++) {
		struct cluster_link *l = g_ptr_array_index(c->links, i);

		report_loss(l);
		hear(l, c->plan);
		if (is_awaited(l) && is_late) {
			kill(l->ssh.pid, SIGTERM);
			give_up(l, "its tracing did not begin within 120 s");
		}
		any |= is_awaited(l);
	}
	return any;
}

static bool any_is_ready(const GPtrArray *links)
{
	for (unsigned i = 0; i < links->len; i++)
		if (((struct cluster_link *)g_ptr_array_index(links, i))->is_ready)
			return true;
	return false;
}

static void name_late(const GPtrArray *links)
{
	for (unsigned i = 0; i < links->len; i++) {
		const struct cluster_link *l = g_ptr_array_index(links, i);

		if (is_awaited(l))
			log_warning("host '%s': its tracing has not begun yet; it is shown once it has", l->host);
	}
}

/* Waits until each host records or has failed; not much longer once one records. */
static enum lt_status await_links(struct cluster *c, int watch_fd)
{
	const gint64 late_us = g_get_monotonic_time() + LATE_MS * (gint64)US_PER_MS;
	struct pollfd watched = { .fd = watch_fd, .events = POLLIN };

	while (cluster_watch(c)) {
		if (g_get_monotonic_time() > late_us && any_is_ready(c->links)) {
			name_late(c->links);
			break;
		}
		if (poll(&watched, 1, POLL_MS) > 0)
			return LT_INTERRUPTED;
	}
	return any_is_ready(c->links) ? LT_OK : error_set("no host could be traced");
}

enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd)
{
	char *control = forwarding(control_port), *data = forwarding(data_port);

	*c = (struct cluster){
		.links = g_ptr_array_new_with_free_func(link_free),
		.plan = plan,
		.end_us = g_get_monotonic_time() + READY_MS_MAX * (gint64)US_PER_MS,
	};
	for (unsigned i = 0; i < plan->hosts->len; i++) {
		struct cluster_link *l = g_new(struct cluster_link, 1);
		char *script = make_script(plan, i + 1);

		*l = (struct cluster_link){ .host = g_ptr_array_index(plan->hosts, i),
					    .ssh = ERRAND_INIT,
					    .said = g_string_new(NULL) };
		g_ptr_array_add(c->links, l);
		if (start_link(l, script, control, data))
			give_up(l, error_text());
		g_free(script);
	}
	g_free(data);
	g_free(control);
	return await_links(c, watch_fd);
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
