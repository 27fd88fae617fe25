/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CACHE_FILE_H
#define LT_CACHE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * A file of the cache: a result that was expensive to compute, under a name that identifies its input and computation
 * (a SHA-256 in hex). It is written under another name and renamed when complete, so that a name has either all of it
 * or nothing. The contents read are checked against a sum of the whole file, and a file is read only if the user owns
 * it and nobody else can write it.
 *
 *   magic, version, name, lengths │ head │ parts … │ sum
 *
 * A file with any fault is treated as if it did not exist. Main thread only.
 */
struct cache_file;

/* $XDG_CACHE_HOME/lttngtop, or ~/.cache/lttngtop; borrowed. */
const char *cache_directory(void);

/*
 * Starts a file; creates its parent directories if necessary. Then write its parts, parts_bytes in total, and call
 * cache_file_end(). LT_ERROR: it cannot be written, and *out is NULL (error chain).
 */
enum lt_status cache_file_create(const char *directory, const char *name, const GByteArray *head, uint64_t parts_bytes,
				 struct cache_file **out);

/* LT_ERROR: nothing more can be written (error chain); close it. */
enum lt_status cache_file_write(struct cache_file *f, const void *part, size_t len);

/* The file is complete: from now on it exists under its name. */
enum lt_status cache_file_end(struct cache_file *f);

/* Opens a file and reads its head, to be freed by the caller. LT_END: there is no usable one. */
enum lt_status cache_file_open(const char *directory, const char *name, GByteArray **head, struct cache_file **out);

/* The size of all parts together. */
uint64_t cache_file_parts_bytes(const struct cache_file *f);

/* Reads the next part, with the length it was written with. False: it is missing. */
bool cache_file_read(struct cache_file *f, void *part, size_t len);

/* After all parts: whether everything read is as it was written. Marks the file as used now. */
bool cache_file_check(struct cache_file *f);

/* Closes a file that was written or read; an unfinished one is deleted. NULL is allowed. */
void cache_file_close(struct cache_file *f);

/*
 * Removes the files unused for the longest time until the rest takes at most limit_bytes, and abandoned partial files.
 * Files that do not belong to the cache are kept.
 */
void cache_bound(const char *directory, uint64_t limit_bytes);

#endif
