/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_directory.h"
#include "sidecar/collect.h"
#include "sidecar/file.h"
#include "sidecar/sidecar.h"

enum { DIRECTORY_MODE = 0770 }; /* like LTTng's */

/* Updates the file in an open directory, which is closed; -1: errno is the reason. */
static enum lt_status update_in(int dir, const char *directory, json_t *newer)
{
	enum lt_status status = LT_ERROR;
	json_t *older = NULL;

	if (dir < 0) {
		error_set("%s", errno == EPERM ? "it may be another user's recording" : g_strerror(errno));
	} else {
		if (faccessat(dir, SIDECAR_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			older = sidecar_file_read(dir, SIDECAR_NAME);
		if (older)
			sidecar_merge(newer, older);
		json_decref(older);
		status = sidecar_file_write(dir, newer);
		close(dir);
	}
	return status ? error_wrap("cannot write '%s/" SIDECAR_NAME "'", directory) : LT_OK;
}

/* Updates the file; takes ownership of newer. */
static enum lt_status replace(const char *directory, json_t *newer)
{
	enum lt_status status;

	if (g_mkdir_with_parents(directory, DIRECTORY_MODE))
		status = error_set("cannot create directory '%s': %s", directory, g_strerror(errno));
	else
		status = update_in(open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), directory, newer);
	json_decref(newer);
	return status;
}

enum lt_status sidecar_update(const char *directory, const struct sidecar_about *about)
{
	return replace(directory, sidecar_collect(about));
}

enum lt_status sidecar_update_own(const char *directory, const struct sidecar_about *about)
{
	json_t *newer = sidecar_collect(about);
	const enum lt_status status = update_in(own_directory_open(directory), directory, newer);

	json_decref(newer);
	return status;
}

static void shift_processes(json_t *root, int64_t shift_ns)
{
	json_t *list = json_object_get(root, "processes"), *process, *start;
	int64_t start_ns;
	size_t i;

	json_array_foreach(list, i, process) {
		start = json_object_get(process, "start_ns");
		if (json_is_integer(start) && !__builtin_add_overflow(json_integer_value(start), shift_ns, &start_ns))
			json_integer_set(start, MAX(start_ns, 0));
	}
}

enum lt_status sidecar_copy(const char *path, const char *directory, int64_t shift_ns)
{
	json_t *root = sidecar_file_read(AT_FDCWD, path);

	if (!root)
		return error_wrap("'%s'", path);
	shift_processes(root, shift_ns);
	return replace(directory, root);
}

static uint64_t positive(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? (uint64_t)MAX(json_integer_value(v), 0) : 0;
}

struct sidecar_cost sidecar_read_cost(const char *directory)
{
	char *path = g_build_filename(directory, SIDECAR_NAME, NULL);
	json_t *root = access(path, F_OK) == 0 ? sidecar_file_read(AT_FDCWD, path) : NULL;
	const json_t *o = json_object_get(json_object_get(root, "record"), "cost");
	const struct sidecar_cost cost = {
		.events_per_s = positive(o, "events_per_s"),
		.bytes_per_s = positive(o, "bytes_per_s"),
		.consumer_before_ns = positive(o, "consumer_before_ns"),
		.consumer_ns = positive(o, "consumer_ns"),
		.events = positive(o, "events"),
		.bytes = positive(o, "bytes"),
	};

	error_clear();
	json_decref(root);
	g_free(path);
	return cost;
}

enum lt_status sidecar_convert(const char *directory)
{
	char *path = g_build_filename(directory, SIDECAR_LISTING, NULL);
	GByteArray *bytes = NULL;
	enum lt_status status = LT_OK;

	if (access(path, F_OK) == 0) {
		bytes = sidecar_file_bytes(AT_FDCWD, path);
		if (!bytes)
			status = error_wrap("'%s'", path);
		else
			status = replace(directory, sidecar_parse_listing((const char *)bytes->data, bytes->len));
		g_unlink(path);
	}
	if (bytes)
		g_byte_array_unref(bytes);
	g_free(path);
	return status;
}
