/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "sidecar/sidecar.h"

/* Like the traces beside it: not world-readable. */
enum { FILE_MODE = 0640 };

/*
 * What it would take to parse the text, whatever it means: the library recurses, and values take much more memory than
 * their text. NULL: acceptable.
 */
static const char *find_excess(const char *text, size_t len)
{
	bool in_string = false;
	unsigned depth = 0, values = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
			continue;
		}
		in_string = text[i] == '"';
		if (text[i] == '{' || text[i] == '[')
			depth++;
		else if ((text[i] == '}' || text[i] == ']') && depth)
			depth--;
		values += text[i] == '{' || text[i] == '[' || text[i] == ','; /* one may follow each */
		if (depth > SIDECAR_DEPTH_MAX)
			return "it is nested too deeply";
		if (values > SIDECAR_VALUES_MAX)
			return "it has too many values";
	}
	return NULL;
}

json_t *sidecar_file_parse(const char *text, size_t len)
{
	const char *excess = find_excess(text, len);
	json_error_t error;
	json_t *root;

	if (excess) {
		error_set("%s", excess);
		return NULL;
	}
	root = json_loadb(text, len, 0, &error);
	if (!root) {
		/* the library quotes the input */
		error_set("line %d: not valid JSON", MAX(error.line, 1));
	} else if (!json_is_object(root)) {
		error_set("it is not an object");
		json_decref(root);
		root = NULL;
	}
	return root;
}

/*
 * The contents of a regular file of at most SIDECAR_BYTES_MAX; NULL: error chain. Other kinds of files are not opened.
 */
static GByteArray *read_all(int fd)
{
	GByteArray *bytes = g_byte_array_new();
	struct stat st;
	guint used = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		error_set("it is not a regular file");
		goto error;
	}
	while (n > 0 && used <= SIDECAR_BYTES_MAX) {
		g_byte_array_set_size(bytes, used + 65536);
		n = read(fd, bytes->data + used, 65536);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			used += (guint)n;
	}
	if (n < 0)
		error_set("cannot read it: %s", g_strerror(errno));
	else if (used > SIDECAR_BYTES_MAX)
		error_set("it is larger than %d MiB", SIDECAR_BYTES_MAX >> 20);
	else
		return g_byte_array_set_size(bytes, used);
error:
	g_byte_array_unref(bytes);
	return NULL;
}

GByteArray *sidecar_file_bytes(int dir, const char *path)
{
	const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	GByteArray *bytes;

	if (fd < 0) {
		if (errno == ELOOP)
			error_set("it is a symbolic link");
		else
			error_set("cannot open it: %s", g_strerror(errno));
		return NULL;
	}
	bytes = read_all(fd);
	close(fd);
	return bytes;
}

json_t *sidecar_file_read(int dir, const char *path)
{
	GByteArray *bytes = sidecar_file_bytes(dir, path);
	json_t *root = NULL;

	if (bytes) {
		root = sidecar_file_parse((const char *)bytes->data, bytes->len);
		g_byte_array_unref(bytes);
	}
	return root;
}

static enum lt_status write_new(int dir, const char *name, const char *text)
{
	const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	size_t left = strlen(text);
	ssize_t n = fd;

	while (n >= 0 && left) {
		n = write(fd, text, left);
		if (n < 0 && errno == EINTR)
			n = 0;
		text += MAX(n, 0);
		left -= (size_t)MAX(n, 0);
	}
	if (n >= 0 && fsync(fd))
		n = -1;
	if (n < 0)
		error_set("%s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return n < 0 ? LT_ERROR : LT_OK;
}

static enum lt_status replace(int dir, const char *text)
{
	char *name = g_strdup_printf(SIDECAR_NAME ".%d", (int)getpid());
	enum lt_status status;

	unlinkat(dir, name, 0); /* left by one that was killed */
	status = write_new(dir, name, text);
	if (!status && renameat(dir, name, dir, SIDECAR_NAME))
		status = error_set("%s", g_strerror(errno));
	if (status)
		unlinkat(dir, name, 0);
	g_free(name);
	return status;
}

enum lt_status sidecar_file_write(int dir, const json_t *root)
{
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
	enum lt_status status;

	if (!text)
		return error_set("out of memory");
	if (strlen(text) > SIDECAR_BYTES_MAX)
		status = error_set("it would exceed the limit of %d MiB", SIDECAR_BYTES_MAX >> 20);
	else
		status = replace(dir, text);
	free(text);
	return status;
}
