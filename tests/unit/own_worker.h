/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNIT_OWN_WORKER_H
#define LT_UNIT_OWN_WORKER_H

/* For tests whose program is the worker of its sources, too: it says what the test wants it to say. */
#include <glib.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "ingest/ingest.h"
#include "source/source.h"
#include "unit.h"

/* Opens a source that such a worker reads; with its first host. */
static inline struct ingest *own_worker_start(void)
{
	const struct ingest_options options = { 0 };
	char *recording = g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "traces", "kprobe", NULL);
	struct ingest *in = ingest_create(&options);
	enum lt_status status;

	log_mute_stderr();
	ck_assert_int_eq(ingest_open(in, recording), LT_OK);
	while ((status = ingest_start_some(in)) == LT_AGAIN)
		ingest_wait(in, 100);
	ck_assert_int_eq(status, LT_OK);
	g_free(recording);
	return in;
}

/* main(): runs work(ring_fd, wake_fd) in the worker, else the tests. */
static inline int own_worker_main(int argc, char **argv, int (*work)(const char *ring_fd, const char *wake_fd),
				  const char *name, const TTest *const *tests, size_t n_tests)
{
	char program[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (argc > 3 && strcmp(argv[1], "--worker") == 0)
		return work(argv[2], argv[3]);
	program[n < 0 ? 0 : n] = '\0';
	source_set_worker_program(program);
	return unit_run(name, NULL, NULL, tests, n_tests);
}

#endif
