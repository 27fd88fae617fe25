/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/private_notes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "control/daemon.h"
#include "control/private.h"
#include "control/process.h"
#include "control/sessions.h"

enum {
	END_MS_MAX = 5 * MS_PER_S, /* after which a process is killed */
	POLL_MS = 20,
};

guint64 noted_start(pid_t pid)
{
	enum { FIELDS_TO_START = 19 }; /* see proc(5): fields after the state */
	char *path = g_strdup_printf("/proc/%d/stat", (int)pid), *text = NULL;
	const char *field = g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')') : NULL;
	guint64 ticks = 0;

	if (field && field[1] && field[2] != 'Z') {
		field += 2;
		for (unsigned i = 0; i < FIELDS_TO_START && field; i++)
			field = strchr(field + 1, ' ');
		ticks = field ? g_ascii_strtoull(field + 1, NULL, 10) : 0;
	}
	g_free(text);
	g_free(path);
	return ticks;
}

bool noted_lives(pid_t pid, guint64 started)
{
	waitpid(pid, NULL, WNOHANG); /* it may be our child */
	return started && noted_start(pid) == started;
}

void noted_end(pid_t pid, guint64 started)
{
	static const int signals[] = { SIGTERM, SIGKILL };

	for (size_t i = 0; i < G_N_ELEMENTS(signals) && noted_lives(pid, started); i++) {
		kill(getpgid(pid) == pid ? -pid : pid, signals[i]);
		for (unsigned ms = 0; ms < END_MS_MAX && noted_lives(pid, started); ms += POLL_MS)
			g_usleep(POLL_MS * US_PER_MS);
	}
}

bool noted_parse(const char **text, pid_t *pid, guint64 *started)
{
	char *end;

	*pid = process_parse_pid(*text, &end);
	/* not the next line's number */
	*started = end[0] == ' ' && g_ascii_isdigit(end[1]) ? g_ascii_strtoull(end + 1, &end, 10) : 0;
	if (*pid <= 1 || *end != '\n')
		return false;
	*text = end + 1;
	return true;
}

char *noted_read(const char *dir, const char *name)
{
	char *path = g_build_filename(dir, name, NULL), *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	g_free(path);
	return text;
}

enum lt_status noted_append(const char *dir, const char *name, const char *text)
{
	char *path = g_build_filename(dir, name, NULL);
	FILE *file = fopen(path, "ae");
	bool written = file && fputs(text, file) >= 0;

	if (file && fclose(file))
		written = false;
	if (!written)
		error_set("cannot write '%s': %s", path, g_strerror(errno));
	g_free(path);
	return written ? LT_OK : LT_ERROR;
}

enum lt_status noted_add_process(const char *dir, const char *name, pid_t pid)
{
	char *line = g_strdup_printf("%d %" G_GUINT64_FORMAT "\n", (int)pid, noted_start(pid));
	enum lt_status status = noted_append(dir, name, line);

	g_free(line);
	return status;
}

enum lt_status private_note_process(const struct private_run *run, pid_t pid)
{
	return noted_add_process(run->dir, "processes", pid);
}

enum lt_status private_note_session(const struct private_run *run, const char *session)
{
	const pid_t daemon = daemon_pid();

	if (daemon && noted_add_process(run->dir, "daemon", daemon))
		return LT_ERROR;
	return noted_append(run->dir, "session", session);
}

enum lt_status private_note_created(const struct private_run *run, const char *session)
{
	char text[32];
	uint64_t time_s;

	if (session_created(session, &time_s))
		return LT_ERROR;
	g_snprintf(text, sizeof(text), "%" G_GUINT64_FORMAT, time_s);
	return noted_append(run->dir, "created", text) ? LT_ERROR : private_note_session(run, session);
}

void private_forget_session(const struct private_run *run)
{
	char *path = g_build_filename(run->dir, "session", NULL);

	unlink(path);
	g_free(path);
}
