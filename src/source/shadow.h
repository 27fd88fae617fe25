/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_SHADOW_H
#define LT_SOURCE_SHADOW_H

#include <glib.h>
#include <stdbool.h>

#include "source/slice.h"

/*
 * A shadow of a trace: a temporary directory with links to its data files and
 * a copy of its metadata in which every array of 16 characters (the comm of a task)
 * is declared as two 64-bit integers NAME__0 and NAME__1 (little-endian). The bytes are the same; the
 * library decodes two fields instead of sixteen, which halves its time for kernel traces.
 *
 *   DIRECTORY/all/0/metadata           rewritten
 *              0/0.ch_0 -> /path/to/first/kernel/ch_0
 *              0/index/0.ch_0.idx -> /path/to/first/kernel/index/ch_0.idx
 *              0/1.ch_0 -> /path/to/second/kernel/ch_0
 *              …
 *
 * Directories with the same metadata (the archives of a rotated session) become one,
 * since the library keeps the metadata of every directory it is given in memory. It also lets
 * a data file that cannot be read be left out.
 *
 * Metadata of CTF 2 is copied as it is.
 *
 * For a range of time there are slices (source/slice.h) of the data files in place of links.
 */
struct shadow {
	char *directory;
	char **paths;         /* NULL-terminated: what to read in place of the originals */
	char *metadata;       /* of the last of paths, before it was rewritten */
	GPtrArray *originals; /* char * */
	GPtrArray *prefixes;  /* char *: what the paths of each original's files begin with in the shadow */
	GPtrArray *files;     /* char *: the originals' data files that have contents */
	GPtrArray *links;     /* char *: the link or slice of each */
	GArray *copies;       /* int: open files that shadow_copy_whole_packets() made */
};

/* Where this worker's shadows are made: a directory of its own (source/scratch.h); NULL: nowhere. Borrowed. */
void shadow_use_directory(const char *directory);

/* NULL: not possible (nowhere to write, unreadable metadata); read the originals. */
struct shadow *shadow_create(const char *const *paths, const struct slice_range *range);

/*
 * A shadow of the trace of that file with the file alone, as if there were no
 * others; of copy in its place if not NULL. A name that is no file's: the metadata alone.
 */
struct shadow *shadow_create_single(const char *file, const char *copy);

/*
 * A copy of files[i] up to the last packet that begins in it, for a file that was cut off in
 * a packet: a path valid in this process as long as the shadow is, to be freed with
 * g_free(). NULL: there are no two packets, or no room.
 */
char *shadow_copy_whole_packets(struct shadow *s, guint i);

/* Makes the link of files[i] lead to the copy, or removes it if copy is NULL. */
void shadow_replace(struct shadow *s, guint i, const char *copy);

/* The text with the shadow's directories replaced by the originals; to be freed with g_free(). */
char *shadow_original_text(const struct shadow *s, const char *text);

/* Removes the directory too: only after the graph that reads it, which may open its files again at any time. */
void shadow_destroy(struct shadow *s);

#endif
