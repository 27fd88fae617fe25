/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library for LD_PRELOAD, see test_lag.py: sets the clock of a program, and of no other one, by as many seconds as
 * the file named by SET_CLOCK says, at any time. The file is mapped, because a confined worker cannot open it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *by_s;

__attribute__((constructor)) static void map(void)
{
	const char *name = getenv("SET_CLOCK");
	const int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	void *mapped;

	if (fd < 0)
		return;
	mapped = mmap(NULL, sizeof(*by_s), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped != MAP_FAILED)
		by_s = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	const int status = (int)syscall(SYS_clock_gettime, clock, ts);

	if (status == 0 && clock == CLOCK_REALTIME && by_s)
		ts->tv_sec += *by_s;
	return status;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	const int status = clock_gettime(CLOCK_REALTIME, &ts);

	(void)zone;
	*tv = (struct timeval){ .tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000 };
	return status;
}
