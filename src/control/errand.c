/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/errand.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"
#include "control/process.h"

/* ---- its messages ---- */

enum {
	LINE_BYTES = 1000, /* longer ones are divided */
	LOOK_MS = 100,     /* how often to look for a held signal */
};

struct line {
	char bytes[LINE_BYTES];
	size_t len;
};

static void print_line(const struct errand *e, struct line *l)
{
	char clean[4 * LINE_BYTES + 1]; /* \xNN for each byte */

	if (l->len && l->bytes[l->len - 1] == '\r') /* ssh ends its own lines so */
		l->len--;
	for (size_t i = 0; i < l->len; i++) /* sanitising would stop there */
		if (!l->bytes[i])
			l->bytes[i] = '?';
	text_sanitise(clean, sizeof(clean), l->bytes, l->len);
	fprintf(stderr, "%s: %s\n", e->label, clean);
	l->len = 0;
}

static void add_bytes(const struct errand *e, struct line *l, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n')
			l->bytes[l->len++] = bytes[i];
		if (bytes[i] == '\n' || l->len == LINE_BYTES)
			print_line(e, l);
	}
}

/* Whether there is something to read, or an end. *ended: the process was waited for; what it wrote is there. */
static bool await_bytes(const struct errand *e, bool *ended)
{
	struct pollfd fds[] = { { .fd = e->messages, .events = POLLIN }, { .fd = e->ended, .events = POLLIN } };

	while (poll(fds, *ended ? 1 : G_N_ELEMENTS(fds), *ended ? 0 : -1) < 0 && errno == EINTR)
		;
	*ended |= fds[1].revents != 0;
	return fds[0].revents;
}

/*
 * Until the end of the messages. If the process has ended they may still be kept open, by an ssh that stays for the
 * next connection: it says nothing that belongs here.
 */
static void *pass_on(void *data)
{
	const struct errand *e = data;
	struct line line = { .len = 0 };
	size_t total = 0;
	bool ended = false;
	char bytes[4096];

	while (!ended || total < ERRAND_MESSAGES_MAX) {
		const bool readable = await_bytes(e, &ended);
		const ssize_t n = readable ? read(e->messages, bytes, sizeof(bytes)) : 0;
		size_t room;

		if (!readable && ended)
			break;
		if (!readable || (n < 0 && errno == EINTR))
			continue;
		if (n <= 0)
			break;
		room = total < ERRAND_MESSAGES_MAX ? MIN((size_t)n, ERRAND_MESSAGES_MAX - total) : 0;
		add_bytes(e, &line, bytes, room);
		total += room;
		if (room && total == ERRAND_MESSAGES_MAX) {
			print_line(e, &line);
			fprintf(stderr, "%s: further messages are left out\n", e->label);
		}
	}
	if (line.len)
		print_line(e, &line);
	return NULL;
}

/* ---- the process ---- */

enum lt_status errand_start(struct errand *e, const char *label, char **argv, int stdin_fd, int stdout_fd)
{
	const GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
	GError *error = NULL;

	*e = (struct errand)ERRAND_INIT;
	e->label = label;
	e->ended = eventfd(0, EFD_CLOEXEC);
	if (e->ended < 0)
		return error_set("cannot run '%s': %s", argv[0], g_strerror(errno));
	if (!g_spawn_async_with_pipes_and_fds(NULL, (const char *const *)argv, NULL,
					      stdout_fd == ERRAND_NULL ? flags | G_SPAWN_STDOUT_TO_DEV_NULL : flags,
					      process_unblock_signals, NULL, MAX(stdin_fd, -1), MAX(stdout_fd, -1), -1,
					      NULL, NULL, 0, &e->pid, stdin_fd == ERRAND_PIPE ? &e->input : NULL,
					      stdout_fd == ERRAND_PIPE ? &e->output : NULL, &e->messages, &error)) {
		error_set("cannot run '%s': %s", argv[0],
			  g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT) ? g_strerror(ENOENT)
										     : error->message);
		g_error_free(error);
		close(e->ended);
		*e = (struct errand)ERRAND_INIT;
		return LT_ERROR;
	}
	e->thread = g_thread_new("messages", pass_on, e);
	return LT_OK;
}

void errand_name_silent(const struct errand *const *errands, unsigned n, int ms)
{
	const gint64 name_us = g_get_monotonic_time() + ms * (gint64)US_PER_MS;
	struct pollfd *silent = g_new0(struct pollfd, n); /* .events 0: not, or not any more */
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		silent[i] = (struct pollfd){ .fd = errands[i]->output, .events = errands[i]->pid ? POLLIN : 0 };
		left += errands[i]->pid != 0;
	}
	while (left && g_get_monotonic_time() < name_us && !process_is_interrupted()) {
		poll(silent, n, LOOK_MS);
		for (unsigned i = 0; i < n; i++) {
			if (!silent[i].events || !silent[i].revents)
				continue;
			silent[i] = (struct pollfd){ .fd = -1 };
			left--;
		}
	}
	for (unsigned i = 0; i < n && !process_is_interrupted(); i++)
		if (silent[i].events)
			log_warning("still waiting for host '%s'; ^C stops waiting", errands[i]->label);
	g_free(silent);
}

/* Waits for output or its end. LT_ERROR: a signal is held, or it was silent for too long (-1: never). */
static enum lt_status await_output(const struct errand *e, int silence_ms)
{
	struct pollfd output = { .fd = e->output, .events = POLLIN };

	for (int ms = 0; poll(&output, 1, LOOK_MS) == 0; ms += LOOK_MS) {
		if (process_is_interrupted())
			return error_set("interrupted");
		if (silence_ms >= 0 && ms >= silence_ms)
			return error_set("it was silent for %d s in the middle of its output",
					 silence_ms / (int)MS_PER_S);
	}
	return LT_OK;
}

/* LT_END: the output has ended. */
static enum lt_status read_some(struct errand *e, GString *text, size_t max_bytes, int silence_ms)
{
	char bytes[4096];
	ssize_t n;

	if (await_output(e, text->len ? silence_ms : -1))
		return LT_ERROR;
	n = read(e->output, bytes, sizeof(bytes));
	if (n < 0 && errno == EINTR)
		return LT_OK;
	if (n <= 0)
		return LT_END;
	e->has_answered = true;
	g_string_append_len(text, bytes, n);
	return text->len > max_bytes ? error_set("it sent more than %zu KiB", max_bytes / 1024) : LT_OK;
}

char *errand_read(struct errand *e, size_t max_bytes, int silence_ms)
{
	GString *text = g_string_new(NULL);
	enum lt_status status;

	do {
		status = read_some(e, text, max_bytes, silence_ms);
	} while (!status);
	close_fd(&e->output);
	if (status != LT_END)
		kill(e->pid, SIGTERM);
	return g_string_free(text, status != LT_END);
}

void errand_close_input(struct errand *e)
{
	close_fd(&e->input);
}

void errand_close(struct errand *e)
{
	if (e->thread) {
		eventfd_write(e->ended, 1);
		g_thread_join(e->thread);
	}
	close_fd(&e->input);
	close_fd(&e->output);
	close_fd(&e->messages);
	close_fd(&e->ended);
	e->thread = NULL;
	e->pid = 0;
}

/* Until it has ended, or for LOOK_MS. */
static bool has_ended(struct errand *e)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * NS_PER_MS };
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	if (waitpid(e->pid, &e->status, WNOHANG) == e->pid)
		return true;
	sigtimedwait(&ended, NULL, &look);
	return false;
}

int errand_wait(struct errand *e)
{
	bool told = false;

	while (!has_ended(e)) {
		if (!told && process_is_interrupted())
			told = !kill(e->pid, SIGTERM);
	}
	errand_close(e);
	return e->status;
}
