/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program instrumented for user-space tracing.
 *
 *   ust_app COUNT [STATUS [wait|slow]]
 *
 * Gives COUNT events lttng_ust_tracef:event and half as many (rounded down)
 * lttng_ust_tracelog:INFO, then ends with STATUS, with "wait" once its standard
 * input is closed, with "slow" it gives two and one of them COUNT times, every
 * 100 ms. Built without lttng-ust it ends with 77.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include(<lttng/tracelog.h>)
#define HAVE_UST
#endif
#endif

#ifdef HAVE_UST
#include <lttng/tracef.h>
#include <lttng/tracelog.h>

static void trace(int count)
{
	for (int i = 0; i < count; i++) {
		lttng_ust_tracef("event %d", i);
		if (i % 2)
			lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "event %d", i);
	}
}
#else
static void trace(int count)
{
	(void)count;
	puts("skip: built without lttng-ust");
	exit(77);
}
#endif

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 3 && strcmp(argv[3], "slow") == 0) {
		for (int i = 0; i < count; i++) {
			trace(2);
			usleep(100000);
		}
		return atoi(argv[2]);
	}
	trace(count);
	if (argc > 3)
		while (getchar() != EOF)
			;
	return argc > 2 ? atoi(argv[2]) : 0;
}
