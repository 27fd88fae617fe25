/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker taken over by its trace or relayd may say at most: this program is that worker, too. */
#include "own_worker.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "event/payload.h"
#include "reader/emit.h"

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
	struct ingest *in = own_worker_start();

	ck_assert_uint_eq(ingest_host_count(in), 1);
	ck_assert_str_eq(ingest_host(in, 0)->name, "host0");
	ingest_destroy(in);
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = { test_one_host };

	return own_worker_main(argc, argv, lie, "lying_worker", tests, G_N_ELEMENTS(tests));
}
