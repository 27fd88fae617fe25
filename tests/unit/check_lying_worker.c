/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker taken over by its trace or relayd may say at most: this program is that worker, too. */
#include "unit.h"

#include <glib.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "event/payload.h"
#include "ingest/ingest.h"
#include "reader/emit.h"
#include "source/source.h"

enum { HOSTNAMES = 500 };

/* Announces traces of ever new hosts, all in one source. */
static int lie(const char *ring_fd, const char *wake_fd)
{
	struct ring_producer ring;
	char name[32];

	if (ring_producer_open(&ring, (struct ring_fds){ atoi(ring_fd), atoi(wake_fd) }) != LT_OK)
		return EXIT_FAILURE;
	for (unsigned i = 0; i < HOSTNAMES; i++) {
		struct event *ev = emit_begin(&ring, EVENT_TRACE, 0, 3 * TEXT_MAX);
		struct ev_trace *trace = (void *)ev->words;

		trace->domain = DOMAIN_KERNEL;
		snprintf(name, sizeof(name), "host%u", i);
		emit_text(ev, offsetof(struct ev_trace, hostname), name, strlen(name));
		emit_end(&ring, ev);
	}
	emit_end(&ring, emit_begin(&ring, EVENT_READY, 0, 0));
	ring_publish(&ring);
	pause();
	return EXIT_SUCCESS;
}

/* A source is of one host. */
START_TEST(test_one_host)
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
	ck_assert_uint_eq(ingest_host_count(in), 1);
	ck_assert_str_eq(ingest_host(in, 0)->name, "host0");
	ingest_destroy(in);
	g_free(recording);
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = { test_one_host };
	char program[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (argc > 3 && strcmp(argv[1], "--worker") == 0)
		return lie(argv[2], argv[3]);
	program[n < 0 ? 0 : n] = '\0';
	source_set_worker_program(program);
	return unit_run("lying_worker", NULL, NULL, tests, 1);
}
