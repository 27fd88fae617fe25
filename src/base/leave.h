/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_LEAVE_H
#define LT_BASE_LEAVE_H

#include <unistd.h>

#ifdef LT_COVERAGE
void __gcov_dump(void); /* from libgcov, whose header not every compiler has */
#endif

/*
 * Ends a process that was forked and did not execute another program: as _exit(), without what the parent registered
 * with atexit() or has not yet written. A build with --enable-coverage writes its counters, as otherwise only exit()
 * does.
 */
static inline void __attribute__((noreturn)) leave(int status)
{
#ifdef LT_COVERAGE
	__gcov_dump();
#endif
	_exit(status);
}

#endif
