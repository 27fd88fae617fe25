/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/stream.h"

#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/leave.h"
#include "base/nstime.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

/* Time for the consumer to empty the buffers: limits the rate to 3.5 MB/s. */
enum { PAUSE_US = US_PER_MS };

enum { CHILD_FAILED = 1 }; /* exit status: it could not open a stream */

static const char not_installed[] = "liblttng-ust is not installed";

typedef void tracef_fn(const char *fmt, ...);

struct sidecar_stream {
	struct sidecar_about about;
	struct sidecar *sent; /* processes that the receiver knows */
	tracef_fn *tracef;
};

/* The current library and symbol come first. */
static tracef_fn *find_tracef(void)
{
	static const char *const names[][2] = {
		{ "liblttng-ust.so.1", "lttng_ust__tracef" },
		{ "liblttng-ust.so.0", "_lttng_ust_tracef" },
	};
	tracef_fn *found = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(names) && !found; i++) {
		void *library = dlopen(names[i][0], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		void *symbol = library ? dlsym(library, names[i][1]) : NULL;

		memcpy(&found, &symbol, sizeof(found)); /* C does not define this conversion */
	}
	if (!found)
		error_set("%s", not_installed);
	return found;
}

struct sidecar_stream *sidecar_stream_open(const struct sidecar_about *about)
{
	struct sidecar_stream *s;
	tracef_fn *tracef;

	setenv(SIDECAR_REGISTER_TIMEOUT, SIDECAR_REGISTER_TIMEOUT_MS, 0);
	tracef = find_tracef();
	if (!tracef)
		return NULL;
	s = g_new0(struct sidecar_stream, 1);
	s->tracef = tracef;
	s->about = *about;
	s->sent = sidecar_create();
	return s;
}

static void send_part(const char *text, void *stream)
{
	((struct sidecar_stream *)stream)->tracef("%s%s", SIDECAR_MESSAGE, text);
	g_usleep(PAUSE_US);
}

static void send_all_of(struct sidecar_stream *s, json_t *root)
{
	sidecar_add(s->sent, root);
	sidecar_split(root, send_part, s);
	json_decref(root);
}

void sidecar_stream_all(struct sidecar_stream *s)
{
	sidecar_forget_processes(s->sent);
	send_all_of(s, sidecar_collect(&s->about));
}

void sidecar_stream_new(struct sidecar_stream *s)
{
	json_t *root = sidecar_collect_host();

	sidecar_collect_processes(root, NULL, s->sent);
	if (json_array_size(json_object_get(root, "processes")))
		send_all_of(s, root);
	else
		json_decref(root);
}

/* Why the child that was to send everything has not done so. */
static enum lt_status fail_child(int status)
{
	if (WIFSIGNALED(status))
		return error_set("the process that sends it died: signal %d (%s)", WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != CHILD_FAILED)
		return error_set("the process that sends it died: exit status %d", WEXITSTATUS(status));
	return error_set("%s", not_installed);
}

enum lt_status sidecar_stream_once(void)
{
	const struct sidecar_about nothing = { 0 };
	const pid_t pid = fork();
	struct sidecar_stream *s;
	int status;

	if (pid == 0) {
		s = sidecar_stream_open(&nothing);
		if (s)
			sidecar_stream_all(s);
		leave(s ? 0 : CHILD_FAILED);
	}
	if (pid < 0)
		return error_set("cannot start a process: %s", g_strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set("cannot wait for a process: %s", g_strerror(errno));
	return status ? fail_child(status) : LT_OK;
}
