/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/worker.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reader/babeltrace2/babeltrace2.h"
#include "reader/native/follow.h"
#include "reader/native/native.h"
#include "reader/native/recall.h"
#include "reader/reader.h"
#include "source/job.h"
#include "source/overlap.h"
#include "source/ring.h"
#include "worker/command.h"
#include "worker/confine.h"
#include "worker/end.h"
#include "worker/relayds.h"

/*
 * A worker: reads one source into the ring it inherited and exits, or reads any number of sources from relayds.
 * Whatever it does cannot harm the monitor: it may crash, hang or be killed.
 */

enum { FOLLOW_EVERY_MS = 100 };

/* In the order of preference. */
static const struct reader_type *const readers[] = { &reader_native, &reader_babeltrace2 };

bool worker_has_reader(const char *name)
{
	bool found = strcmp(name, JOB_ANY_READER) == 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(readers); i++)
		found |= strcmp(name, readers[i]->name) == 0;
	return found;
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

/* ---- recordings ---- */

/* Reports the reason of the first reader, which knows best what is wrong with a trace. */
static enum lt_status open_recording(const char *choice, const struct reader_args *args, struct ring_producer *ring,
				     struct reader **reader)
{
	const bool any = strcmp(choice, JOB_ANY_READER) == 0;
	enum lt_status status = LT_AGAIN;
	char *reason = NULL;

	for (unsigned i = 0; i < G_N_ELEMENTS(readers) && status != LT_OK && status != LT_ERROR; i++) {
		if (!any && strcmp(choice, readers[i]->name) != 0)
			continue;
		ring_publish(ring);
		error_clear();
		status = readers[i]->open(args, ring, reader);
		if (status == LT_AGAIN && !reason && *error_text())
			reason = g_strdup(error_text());
	}
	if (status != LT_OK && reason)
		error_set("%s", reason);
	g_free(reason);
	return status == LT_OK ? LT_OK : LT_ERROR;
}

static void read_recording(char **argv, struct ring_producer *ring)
{
	const struct reader_args args = {
		.part = (unsigned)number(argv[1]),
		.parts = (unsigned)number(argv[2]),
		.name = argv[3],
		.begin_ns = g_ascii_strtoull(argv[4], NULL, 10),
		.end_ns = g_ascii_strtoull(argv[5], NULL, 10),
		.found = { g_ascii_strtoull(argv[6], NULL, 10), g_ascii_strtoull(argv[7], NULL, 10) },
		.is_unfinished = number(argv[8]) != 0,
		.wanted = argv[9],
		.paths = (const char *const *)argv + 10,
	};
	/* Not closed, because the process ends next; freeing every class and program would take longer than that. */
	static struct reader *reader;
	enum failed_cause cause = FAILED_OTHER;
	enum lt_status status = args.parts ? LT_OK : error_set("no parts to read");

	if (status == LT_OK && !args.is_unfinished && overlap_check(args.paths, g_strv_length(argv + 10)) != LT_OK) {
		cause = FAILED_OVERLAP;
		status = LT_ERROR;
	}
	if (status == LT_OK)
		status = open_recording(argv[0], &args, ring, &reader);
	while (status == LT_OK)
		status = reader_step(reader);
	worker_say_end(ring, status, cause);
}

static void recall_session(char **argv, struct ring_producer *ring)
{
	const struct reader_args args = {
		.parts = 1,
		.paths = (const char *const[]){ NULL },
		.name = argv[3],
		.begin_ns = g_ascii_strtoull(argv[4], NULL, 10),
		.end_ns = g_ascii_strtoull(argv[5], NULL, 10),
		.wanted = argv[6],
	};
	struct reader *reader = NULL;
	enum lt_status status = native_recall_open(&args, number(argv[0]), g_ascii_strtoull(argv[1], NULL, 10),
						   g_ascii_strtoull(argv[2], NULL, 10), ring, &reader);

	while (status == LT_OK)
		status = reader_step(reader);
	worker_say_end(ring, status, FAILED_OTHER);
	reader_close(reader);
}

/* ---- growing recordings ---- */

/* Waits until it is time to look again, a full ring has room, or a command comes. */
static void wait_for_more(const struct native_follow *f, struct ring_producer *ring, int commands_fd)
{
	struct pollfd fds[] = {
		{ .fd = native_follow_is_full(f) ? ring->fds.wake : -1, .events = POLLIN },
		{ .fd = commands_fd, .events = POLLIN },
	};

	poll(fds, G_N_ELEMENTS(fds), FOLLOW_EVERY_MS);
	if (fds[0].revents)
		ring_room_woken(ring);
}

static void take_commands(struct native_follow *f, int commands_fd)
{
	struct worker_command command;

	while (worker_take_command(commands_fd, &command) == LT_OK) {
		if (command.head.kind == JOB_WANT)
			native_follow_want(f, command.fields, command.head.wanted);
		else if (command.head.kind == JOB_REST)
			native_follow_read_rest(f);
		worker_command_release(&command);
	}
}

static void follow_recordings(char **argv, struct ring_producer *ring)
{
	struct native_follow *f = native_follow_create(argv[1], (unsigned)number(argv[2]), argv[3], ring);
	const int commands_fd = number(argv[4]);
	enum lt_status status;

	while ((status = native_follow_step(f)) == LT_OK || status == LT_AGAIN) {
		take_commands(f, commands_fd);
		if (status == LT_AGAIN)
			wait_for_more(f, ring, commands_fd);
		ring_beat(ring);
	}
	worker_say_end(ring, status, FAILED_OTHER);
	native_follow_destroy(f);
}

/* The kind of the job, from its name and number of arguments. false: not a valid job. */
static bool find_kind(const char *job, int arguments, enum confine_kind *kind)
{
	if (strcmp(job, JOB_FOLLOW) == 0) {
		*kind = CONFINE_FOLLOW;
		return arguments == JOB_FOLLOW_ARGUMENTS;
	}
	*kind = CONFINE_RECORDING;
	if (strcmp(job, JOB_RECALL) == 0)
		return arguments == JOB_RECALL_ARGUMENTS;
	return strcmp(job, JOB_RECORDING) == 0 && arguments >= JOB_RECORDING_ARGUMENTS;
}

/* A failure is only logged, by the parent. */
static void confine_self(enum confine_kind kind)
{
	if (confine(kind) != LT_OK)
		fprintf(stderr, "%s\n", error_text());
}

int worker_main(int argc, char **argv)
{
	enum confine_kind kind;
	struct ring_producer ring;

	if (argc == JOB_RELAYDS_ARGUMENTS && strcmp(argv[1], JOB_RELAYDS) == 0) {
		confine_self(CONFINE_RELAYDS);
		worker_relayds(number(argv[0]), number(argv[2]));
		return 0;
	}
	if (argc <= JOB_FIRST || !find_kind(argv[JOB_FIRST], argc - JOB_FIRST, &kind))
		return 2;
	if (ring_producer_open(&ring, (struct ring_fds){ number(argv[0]), number(argv[1]) }) != LT_OK) {
		fprintf(stderr, "%s\n", error_text());
		return 2;
	}
	confine_self(kind);
	if (kind == CONFINE_FOLLOW)
		follow_recordings(argv + JOB_FIRST, &ring);
	else if (strcmp(argv[JOB_FIRST], JOB_RECALL) == 0)
		recall_session(argv + JOB_FIRST + 1, &ring);
	else
		read_recording(argv + JOB_FIRST + 1, &ring);
	ring_producer_release(&ring);
	return 0;
}
