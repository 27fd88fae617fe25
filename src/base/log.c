/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/nstime.h"
#include "base/text.h"
#include "base/timetext.h"

enum { LOG_RING = 512 };

static const char *const level_names[] = {
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_ERROR] = "error",
};

static struct {
	struct log_message ring[LOG_RING];
	uint64_t written; /* messages ever put into the ring; the next one goes to written % LOG_RING */
	uint64_t last_number;
	bool muted;
	uint64_t muted_at; /* value of written when muted */
	bool starts_again; /* the next message is not a repetition */
	bool skips_known;  /* messages that the ring has are not written again */
	FILE *file;
	const char *path; /* of the file */
	bool has_failed;  /* which has been said */
	log_forward *forward;
	void *data; /* for forward */
} logger;

static void print_stderr(const struct log_message *m)
{
	if (m->level >= LOG_LEVEL_WARNING)
		fprintf(stderr, "lttngtop: %s: %s\n", level_names[m->level], m->text);
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void print_file(uint64_t at_ns, const char *level, const char *text)
{
	char when[TIMETEXT_SIZE];

	if (!logger.file)
		return;
	timetext_format(when, sizeof(when), at_ns, 3, true, true);
	fprintf(logger.file, "%s %s: %s\n", when, level, text);
	if (fflush(logger.file) == 0 || logger.has_failed)
		return;
	logger.has_failed = true;
	log_error("cannot write log file '%s': %s", logger.path, g_strerror(errno));
}

/* In the ring and on stderr. */
static void show(const struct log_message *m)
{
	struct log_message *last = logger.written ? &logger.ring[(logger.written - 1) % LOG_RING] : NULL;

	if (last && !logger.starts_again && last->level == m->level && !strcmp(last->text, m->text)) {
		last->number = ++logger.last_number;
		last->wall_ns = m->wall_ns;
		last->repeated++;
		return;
	}
	logger.starts_again = false;
	last = &logger.ring[logger.written++ % LOG_RING];
	*last = *m;
	last->number = ++logger.last_number;
	if (!logger.muted)
		print_stderr(m);
}

static bool is_known(const struct log_message *m)
{
	for (unsigned i = 0; i < log_count(); i++)
		if (log_get(i)->level == m->level && !strcmp(log_get(i)->text, m->text))
			return true;
	return false;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	struct log_message m = { .level = level, .repeated = 1, .wall_ns = wall_ns() };
	char raw[sizeof(m.text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	text_sanitise(m.text, sizeof(m.text), raw, strlen(raw));
	if (logger.forward) {
		logger.forward(&m, logger.data);
		return;
	}
	if (logger.skips_known && is_known(&m))
		return;
	show(&m);
	print_file(m.wall_ns, level_names[level], m.text);
}

void log_say(const char *fmt, ...)
{
	char raw[TEXT_MAX + 1], text[TEXT_MAX + 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	text_sanitise(text, sizeof(text), raw, strlen(raw));
	fprintf(stderr, "lttngtop: %s\n", text);
	print_file(wall_ns(), "note", text);
}

void log_print(FILE *out, const char *fmt, ...)
{
	char *raw, *text;
	va_list ap;

	va_start(ap, fmt);
	raw = g_strdup_vprintf(fmt, ap);
	va_end(ap);
	text = text_sanitised(raw);
	fprintf(out, "%s\n", text);
	print_file(wall_ns(), "note", text);
	g_free(text);
	g_free(raw);
}

void log_skip_known(bool skips)
{
	logger.skips_known = skips;
}

void log_set_forward(log_forward *forward, void *data)
{
	logger.forward = forward;
	logger.data = data;
}

void log_mute_stderr(void)
{
	if (!logger.muted)
		logger.muted_at = logger.written;
	logger.muted = true;
}

void log_unmute_stderr(void)
{
	if (!logger.muted)
		return;
	logger.muted = false;
	for (unsigned i = 0; i < log_count(); i++)
		if (logger.written - log_count() + i >= logger.muted_at)
			print_stderr(log_get(i));
}

void log_unmute_without(void)
{
	logger.starts_again = logger.muted;
	logger.muted = false;
}

void log_set_file(FILE *file, const char *path)
{
	logger.file = file;
	logger.path = path;
	logger.has_failed = false;
}

unsigned log_count(void)
{
	return (unsigned)MIN(logger.written, LOG_RING);
}

const struct log_message *log_get(unsigned index)
{
	g_assert(index < log_count());
	return &logger.ring[(logger.written - log_count() + index) % LOG_RING];
}
