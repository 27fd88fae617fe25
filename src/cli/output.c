/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/utf8.h"

static int failed; /* errno of the first write that failed */

bool output_has_failed(void)
{
	if (!failed && ferror(stdout))
		failed = errno ? errno : EIO;
	return failed;
}

enum lt_status output_flush(void)
{
	fflush(stdout);
	if (!output_has_failed())
		return LT_OK;
	return error_set("cannot write to standard output: %s", error_of_errno(failed));
}

/* ---- ASCII ---- */

enum { UTF8_MAX = 4 }; /* bytes of a character */

struct ascii_stream {
	int fd;
	GString *text; /* between writes: the start of a character */
};

/* Not of the heap: LeakSanitizer does not see that a stream has them until the end. */
static struct ascii_stream of_stdout, of_stderr;

/* In place, as no character has more columns than bytes. Returns the length; *rest: where an incomplete one starts. */
static size_t convert(char *text, size_t len, size_t *rest)
{
	size_t used = 0, at = 0;

	while (at < len) {
		gunichar ch = (unsigned char)text[at];
		size_t n = 1, width = 1;

		if (ch >= 0x80) {
			ch = g_utf8_get_char_validated(text + at, (gssize)(len - at));
			if (ch == (gunichar)-2 && len - at < UTF8_MAX)
				break;
			if (ch <= 0x10ffff) {
				n = (size_t)g_unichar_to_utf8(ch, NULL);
				width = utf8_char_width(ch);
			}
			ch = (gunichar)utf8_ascii(ch);
		}
		memset(text + used, (int)ch, width);
		used += width;
		at += n;
	}
	*rest = at;
	return used;
}

bool output_write(int fd, const char *bytes, size_t len)
{
	while (len) {
		const ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static ssize_t ascii_write(void *cookie, const char *data, size_t size)
{
	struct ascii_stream *s = cookie;
	size_t used, rest;
	bool written;

	g_string_append_len(s->text, data, (gssize)size);
	used = convert(s->text->str, s->text->len, &rest);
	written = output_write(s->fd, s->text->str, used);
	g_string_erase(s->text, 0, (gssize)rest);
	return written ? (ssize_t)size : 0;
}

static int ascii_close(void *cookie)
{
	struct ascii_stream *s = cookie;
	const int status = close(s->fd);

	g_string_free(s->text, TRUE);
	if (s != &of_stdout && s != &of_stderr)
		g_free(s);
	return status;
}

static FILE *open_ascii(struct ascii_stream *s, int fd)
{
	FILE *file;

	*s = (struct ascii_stream){ .fd = fd, .text = g_string_new(NULL) };
	file = fopencookie(s, "w", (cookie_io_functions_t){ .write = ascii_write, .close = ascii_close });
	if (!file)
		ascii_close(s);
	else if (isatty(fd))
		setvbuf(file, NULL, _IOLBF, 0);
	return file;
}

static bool must_be_ascii(int fd, bool for_program)
{
	return !g_get_charset(NULL) && (!for_program || isatty(fd));
}

void output_for_stdout(bool for_program)
{
	FILE *file = must_be_ascii(STDOUT_FILENO, for_program) ? open_ascii(&of_stdout, STDOUT_FILENO) : NULL;

	if (file)
		stdout = file;
}

void output_for_stderr(void)
{
	FILE *file = must_be_ascii(STDERR_FILENO, false) ? open_ascii(&of_stderr, STDERR_FILENO) : NULL;

	if (!file)
		return;
	setvbuf(file, NULL, _IONBF, 0);
	stderr = file;
}

FILE *output_open(int fd, bool for_program)
{
	FILE *file;

	if (fd < 0)
		return NULL;
	if (must_be_ascii(fd, for_program))
		return open_ascii(g_new(struct ascii_stream, 1), fd);
	file = fdopen(fd, "w");
	if (!file)
		close(fd);
	return file;
}
