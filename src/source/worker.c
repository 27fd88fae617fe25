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

/* Absurd metadata must not eat the machine's memory; a crash on damaged data is no news worth a core file. */
static void set_limits(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	const struct rlimit memory = { UINT64_C(2) << 30, UINT64_C(2) << 30 };

	setrlimit(RLIMIT_AS, &memory);
#endif
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static enum lt_status read_all(const struct reader_args *args, struct ring_producer *ring)
{
	struct reader *reader;
	enum lt_status status = reader_open(args, ring, &reader);

	if (status != LT_OK)
		return status;
	do {
		status = reader_step(reader);
	} while (status == LT_OK);
	reader_close(reader);
	return status;
}

int worker_main(int argc, char **argv)
{
	struct reader_args args;
	struct ring_producer ring;

	if (argc < 7)
		return 2;
	set_limits();
	syscalls_init();
	if (ring_producer_open(&ring, (struct ring_fds){ number(argv[0]), number(argv[1]), number(argv[2]) }) != LT_OK) {
		fprintf(stderr, "%s\n", error_text());
		return 2;
	}
	args = (struct reader_args){
		.part = number(argv[3]),
		.parts = number(argv[4]),
		.name = argv[5],
		.paths = (const char *const *)argv + 6,
	};
	if (read_all(&args, &ring) == LT_END)
		emit_end(&ring, emit_begin(&ring, EVENT_END, 0, 0));
	else
		emit_note(&ring, EVENT_FAILED, 0, error_text());
	ring_publish(&ring);
	ring_producer_release(&ring);
	return 0;
}
