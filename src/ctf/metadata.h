/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_METADATA_H
#define LT_CTF_METADATA_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The metadata of a trace as text.
 */

/* Metadata beyond this is no tracer's. */
#define METADATA_MAX ((size_t)256 << 20)

/*
 * Reads up to max_bytes of directory/metadata and takes it out of its packets.
 * NULL with errno: not readable. To be freed with g_free().
 */
char *metadata_read(const char *directory, size_t max_bytes);

/* The same of metadata in memory. To be freed with g_free(). */
char *metadata_text(const void *bytes, size_t len);

/* In front of each fragment of CTF 2. */
enum { METADATA_SEPARATOR = 0x1e };

/* Whether it is of CTF 2: JSON text sequences, each of which begins with a record separator. */
bool metadata_is_ctf2(const char *text);

/* What to do about a recording in CTF 2 that cannot be read. */
#define METADATA_CTF2_ADVICE \
	"record with 'lttng create --trace-format=ctf-1.8', or convert it with babeltrace2 2.1 or later"

#endif
