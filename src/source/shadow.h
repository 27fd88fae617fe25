/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_SHADOW_H
#define LT_SOURCE_SHADOW_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A shadow of a trace: a temporary directory with links to its data files and
 * a copy of its metadata in which every array of 16 characters (the comm of a task)
 * is declared as two 64-bit integers NAME__0 and NAME__1 (little-endian). The bytes are the same; the
 * library decodes two fields instead of sixteen, which halves its time for kernel traces.
 *
 *   BASE/lttngtop-worker-PID/0/metadata        of the first directory, rewritten
 *                            0/ch_0 -> /path/to/kernel/ch_0
 *                            0/index -> /path/to/kernel/index
 *                            1/…
 *
 * It also lets a data file that cannot be read be left out.
 */
struct shadow {
	char *directory;
	char **paths;         /* NULL-terminated: what to read in place of the originals, in their order */
	GPtrArray *originals; /* char * */
	GPtrArray *files;     /* char *: the originals' data files that have contents */
};

/* NULL: not possible (nowhere to write, unreadable metadata); read the originals. */
struct shadow *shadow_create(const char *const *paths);

/* A shadow of one data file and its metadata alone, as if there were no others. */
struct shadow *shadow_create_single(const char *file);

/* Takes a data file's link out again. */
void shadow_leave_out(struct shadow *s, const char *file);

/* The text with the shadow's directories replaced by the originals; to be freed with g_free(). */
char *shadow_original_text(const struct shadow *s, const char *text);

/* Removes the directory. What is open stays readable. */
void shadow_remove(struct shadow *s);

void shadow_destroy(struct shadow *s);

/* Removes what a worker that was killed has left behind. */
void shadow_clean_up(pid_t worker);

#endif
