/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/redump.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/leave.h"
#include "base/nstime.h"
#include "control/process.h"
#include "control/sessions.h"

enum { POLL_US = US_PER_S };

static void detach(void)
{
	const int null = open("/dev/null", O_RDWR);

	setsid();
	if (chdir("/"))
		_exit(1);
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	/* whoever waits for end-of-file on one of our pipes must not wait for this process */
	closefrom(STDERR_FILENO + 1);
	prctl(PR_SET_NAME, "lttngtop: dump");
	process_unblock_signals(NULL);
	signal(SIGPIPE, SIG_IGN); /* the session daemon may exit in the middle of a request */
}

/* Runs until the session is gone; created_s distinguishes it from a later one with the same name. */
static void repeat(const char *session, uint64_t created_s, gint64 period_us, const struct redump_also *also)
{
	const gint64 begin_us = g_get_monotonic_time();
	gint64 next_us = begin_us + MIN(period_us, REDUMP_FIRST_S * G_TIME_SPAN_SECOND);
	gint64 news_us = begin_us;
	void *data = also ? also->begin(also->data) : NULL;
	uint64_t now_s;

	if (data)
		also->all(data);
	while (!session_created(session, &now_s) && now_s == created_s) {
		const gint64 now_us = g_get_monotonic_time();

		if (now_us >= next_us) {
			session_refresh(session); /* fails while the session is stopped: retried next time */
			if (data)
				also->all(data);
			next_us = g_get_monotonic_time() + period_us;
		} else if (data && now_us >= news_us) {
			also->news(data);
			news_us = now_us + REDUMP_NEWS_S * G_TIME_SPAN_SECOND;
		}
		g_usleep((gulong)CLAMP(next_us - g_get_monotonic_time(), 1, POLL_US));
	}
}

pid_t redump_start(const char *session, uint64_t period_ns, const struct redump_also *also)
{
	uint64_t created_s;
	pid_t pid;

	if (session_created(session, &created_s))
		return 0;
	pid = fork();
	if (pid == 0) {
		detach();
		repeat(session, created_s, (gint64)MAX(period_ns / NS_PER_US, US_PER_MS), also);
		leave(0);
	}
	if (pid < 0)
		error_set("cannot create a process: %s", g_strerror(errno));
	return MAX(pid, 0);
}

void redump_end(pid_t pid)
{
	if (!pid)
		return;
	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
