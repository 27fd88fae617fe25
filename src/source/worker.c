/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "event/payload.h"
#include "event/syscalls.h"
#include "source/confine.h"
#include "source/emit.h"
#include "source/live.h"
#include "source/reader.h"
#include "source/shadow.h"
#include "source/source.h"

/*
 * A worker: reads one source into the ring it inherited and ends. Nothing it
 * does can hurt the monitor: it may crash, hang or be killed.
 */

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

/* The last record. */
static void say_how_it_ended(struct ring_producer *ring, enum lt_status status, enum failed_cause cause)
{
	struct event *ev;

	if (status == LT_END) {
		emit_end(ring, emit_begin(ring, EVENT_END, 0, 0));
	} else {
		ev = emit_begin(ring, EVENT_FAILED, 0, TEXT_MAX);
		((struct ev_failed *)(void *)ev->words)->cause = cause;
		emit_text(ev, offsetof(struct ev_failed, text), error_text(), strlen(error_text()));
		emit_end(ring, ev);
	}
	ring_publish(ring);
}

static void read_recording(const struct reader_args *args, struct ring_producer *ring)
{
	struct reader *reader = NULL;
	enum lt_status status = reader_open(args, ring, &reader);

	while (status == LT_OK)
		status = reader_step(reader);
	/* The parent need not wait until everything is freed. */
	say_how_it_ended(ring, status, FAILED_OTHER);
	reader_close(reader);
}

static void read_relay(const char *job, const char *url, struct ring_producer *ring)
{
	enum failed_cause cause = FAILED_OTHER;
	enum lt_status status = strcmp(job, WORKER_LIST) == 0 ? live_list(url, ring, &cause) :
								live_read(url, ring, &cause);

	say_how_it_ended(ring, status, cause);
}

/* Of the relayd of a URL; 0: not to be restricted. */
static unsigned port_of(const char *text)
{
	struct source_url url;
	const char *colon = NULL;
	unsigned port = 0;

	if (source_parse_url(text, &url) == LT_OK) {
		colon = strchr(url.relay + strlen("net://"), ':');
		port = colon ? (unsigned)number(colon + 1) : SOURCE_DEFAULT_PORT;
	}
	source_url_release(&url);
	return port;
}

int worker_main(int argc, char **argv)
{
	const bool is_relay = argc == 5 && (strcmp(argv[3], WORKER_LIVE) == 0 || strcmp(argv[3], WORKER_LIST) == 0);
	struct reader_args args;
	struct ring_producer ring;
	struct ring_fds fds;

	if (!is_relay && argc < 11)
		return 2;
	syscalls_init();
	fds = (struct ring_fds){ number(argv[0]), number(argv[1]) };
	if (ring_producer_open(&ring, fds) != LT_OK) {
		fprintf(stderr, "%s\n", error_text());
		return 2;
	}
	/* The parent logs it: reading goes on without. */
	if (confine(is_relay ? CONFINE_LIVE : CONFINE_RECORDING, *argv[2] ? argv[2] : NULL,
		    is_relay ? port_of(argv[4]) : 0) != LT_OK)
		fprintf(stderr, "%s\n", error_text());
	if (is_relay) {
		read_relay(argv[3], argv[4], &ring);
	} else {
		shadow_use_directory(*argv[2] ? argv[2] : NULL);
		args = (struct reader_args){
			.part = number(argv[3]),
			.parts = number(argv[4]),
			.name = argv[5],
			.range = { g_ascii_strtoull(argv[6], NULL, 10), g_ascii_strtoull(argv[7], NULL, 10) },
			.found = { g_ascii_strtoull(argv[8], NULL, 10), g_ascii_strtoull(argv[9], NULL, 10) },
			.paths = (const char *const *)argv + 10,
		};
		read_recording(&args, &ring);
	}
	ring_producer_release(&ring);
	return 0;
}
