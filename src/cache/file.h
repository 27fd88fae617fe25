/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CACHE_FILE_H
#define LT_CACHE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * A file of the cache: what was made at some cost, under a name that says of what and how it was made (a SHA-256 in
 * hex). It is written aside and renamed when it is complete, so that a name has all or nothing; what is read is
 * checked against a sum of all of it, and only what the user owns and nobody else can write is read at all.
 *
 *   magic, version, name, lengths │ head │ parts … │ sum
 *
 * Whatever is wrong with a file, it is as if it were not there. Main thread only.
 */
struct cache_file;

/* $XDG_CACHE_HOME/lttngtop, or ~/.cache/lttngtop; borrowed. */
const char *cache_directory(void);

/*
 * Begins a file; the directories above it are made if they are not there. Then its parts, parts_bytes together, and
 * cache_file_end(). LT_ERROR: it cannot be written, *out is NULL (error chain).
 */
enum lt_status cache_file_create(const char *directory, const char *name, const GByteArray *head, uint64_t parts_bytes,
				 struct cache_file **out);

/* LT_ERROR: nothing more can be written; close it. */
enum lt_status cache_file_write(struct cache_file *f, const void *part, size_t len);

/* It is complete: from now on it is there under its name. */
enum lt_status cache_file_end(struct cache_file *f);

/* Opens a file and reads its head, to be freed by the caller. LT_END: there is none that can be used. */
enum lt_status cache_file_open(const char *directory, const char *name, GByteArray **head, struct cache_file **out);

/* The bytes of all parts. */
uint64_t cache_file_parts_bytes(const struct cache_file *f);

/* The next part, as long as it was written. False: it is not there. */
bool cache_file_read(struct cache_file *f, void *part, size_t len);

/* After all parts: whether everything that was read is what was written. Marks the file as used now. */
bool cache_file_check(struct cache_file *f);

/* In either case; what was not ended is gone. NULL is allowed. */
void cache_file_close(struct cache_file *f);

/*
 * Removes the files that were not used for the longest until the rest takes at most limit_bytes, and what was left
 * behind half written. Files that are not of the cache stay.
 */
void cache_bound(const char *directory, uint64_t limit_bytes);

#endif
