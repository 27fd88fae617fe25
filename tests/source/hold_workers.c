/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD, see processes.py: while the file named by HOLD_WORKERS exists, a worker stops itself
 * before it has done anything, so that a test that has to find it at that point does not race with it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void hold(int argc, char **argv)
{
	const char *while_there = getenv("HOLD_WORKERS");

	if (argc > 1 && strcmp(argv[1], "--worker") == 0 && while_there && access(while_there, F_OK) == 0)
		raise(SIGSTOP);
}
