/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_FILE_H
#define LT_SIDECAR_FILE_H

/* Inside sidecar/: reading and writing the file as JSON. */

#include <glib.h>
#include <jansson.h>

#include "base/status.h"

/* Paths are relative to the open directory dir, or to the current one: AT_FDCWD. */

/* An object, to be released with json_decref(). NULL: the file does not exist or is not usable (error chain). */
json_t *sidecar_file_read(int dir, const char *path);

/*
 * The bytes of a file that may come from another machine, at most SIDECAR_BYTES_MAX; to be unref'd. NULL: error chain.
 */
GByteArray *sidecar_file_bytes(int dir, const char *path);

/* The object in a text, with the same results. */
json_t *sidecar_file_parse(const char *text, size_t len);

/* Replaces the side-car in the directory atomically, or leaves it unchanged (error chain: only the reason). */
enum lt_status sidecar_file_write(int dir, const json_t *root);

#endif
