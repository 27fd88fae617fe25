/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_METADATA_H
#define LT_CTF_METADATA_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* The metadata of a trace as text. */

/* No tracer writes more metadata than this. */
#define METADATA_MAX ((size_t)256 << 20)

/*
 * Reads up to max_bytes of directory/metadata and unpacks it. NULL with errno set: it is not readable. To be freed with
 * g_free().
 */
char *metadata_read(const char *directory, size_t max_bytes);

/* The same for metadata in memory. To be freed with g_free(). */
char *metadata_text(const void *bytes, size_t len);

/* The text without the comment that metadata begins with if it is not in packets, as that of a slice. */
const char *metadata_declarations(const char *text);

/* Precedes each fragment of CTF 2. */
enum { METADATA_SEPARATOR = 0x1e };

/* Whether it is CTF 2: JSON text sequences, each starting with a record separator. */
bool metadata_is_ctf2(const char *text);

/* Advice to users about a CTF 2 recording that cannot be read. */
#define METADATA_CTF2_ADVICE \
	"record with 'lttng create --trace-format=ctf-1.8', or convert it with babeltrace2 2.1 or later"

#endif
