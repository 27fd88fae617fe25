/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/pulse.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/nstime.h"

enum pulse_finding pulse_feel(struct pulse *p, const struct pulse_look *look, unsigned limit_ms)
{
	const uint64_t limit_ns = limit_ms * NS_PER_MS, most_ns = PULSE_LOOK_MAX_MS * NS_PER_MS;
	const uint64_t passed_ns = p->last.now_ns && look->now_ns > p->last.now_ns ? look->now_ns - p->last.now_ns : 0;

	if (!p->last.now_ns || look->beat_ns != p->last.beat_ns) {
		p->beat_cpu_ns = look->cpu_ns;
		p->idle_ns = 0;
	} else if (look->runnable || look->cpu_ns != p->last.cpu_ns) {
		p->idle_ns = 0;
	} else {
		p->idle_ns += passed_ns < most_ns ? passed_ns : most_ns;
	}
	p->last = *look;
	if (p->idle_ns > limit_ns)
		return PULSE_BLOCKED;
	return look->cpu_ns > p->beat_cpu_ns + PULSE_SPIN * limit_ns ? PULSE_SPINS : PULSE_ALIVE;
}

/* The letter of the state in /proc/PID/stat, after the name in parentheses, which may contain any character. */
static char state_of(pid_t pid)
{
	char path[32], text[256], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'X';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 'X';
}

void pulse_look_at(struct pulse_look *look, pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	*look = (struct pulse_look){ .now_ns = look->now_ns, .beat_ns = look->beat_ns };
	if (pid <= 0)
		return;
	if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &ts) == 0)
		look->cpu_ns = (uint64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
	look->runnable = state_of(pid) == 'R';
}
