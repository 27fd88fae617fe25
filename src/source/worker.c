/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "event/syscalls.h"
#include "source/emit.h"
#include "source/reader.h"
#include "source/source.h"

/*
 * A worker: reads one source into the ring it inherited and ends. Nothing it
 * does can hurt the monitor: it may crash, hang or be killed.
 */

#define MEMORY_BYTES ((rlim_t)2 << 30)

/* Sanitizers map terabytes for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAVE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAVE_SANITIZER 1
#endif
#endif
#ifndef HAVE_SANITIZER
#define HAVE_SANITIZER 0
#endif

/* Absurd metadata must not eat the machine's memory; a crash on damaged data is no news worth a core file. */
static void set_limits(void)
{
	const struct rlimit none = { 0, 0 }, memory = { MEMORY_BYTES, MEMORY_BYTES };

	setrlimit(RLIMIT_CORE, &none);
	if (!HAVE_SANITIZER)
		setrlimit(RLIMIT_AS, &memory);
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static void read_all(const struct reader_args *args, struct ring_producer *ring)
{
	struct reader *reader = NULL;
	enum lt_status status = reader_open(args, ring, &reader);

	while (status == LT_OK)
		status = reader_step(reader);
	/* The parent need not wait until everything is freed. */
	if (status == LT_END)
		emit_end(ring, emit_begin(ring, EVENT_END, 0, 0));
	else
		emit_note(ring, EVENT_FAILED, 0, error_text());
	ring_publish(ring);
	reader_close(reader);
}

int worker_main(int argc, char **argv)
{
	struct reader_args args;
	struct ring_producer ring;
	struct ring_fds fds;

	if (argc < 7)
		return 2;
	set_limits();
	syscalls_init();
	fds = (struct ring_fds){ number(argv[0]), number(argv[1]), number(argv[2]) };
	if (ring_producer_open(&ring, fds) != LT_OK) {
		fprintf(stderr, "%s\n", error_text());
		return 2;
	}
	args = (struct reader_args){
		.part = number(argv[3]),
		.parts = number(argv[4]),
		.name = argv[5],
		.paths = (const char *const *)argv + 6,
	};
	read_all(&args, &ring);
	ring_producer_release(&ring);
	return 0;
}
