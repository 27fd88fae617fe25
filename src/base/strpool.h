/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STRPOOL_H
#define LT_BASE_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * The strings of a run (process names, paths, event names), each kept once and
 * named by a number, so that they fit into a cell of the model and compare as
 * integers. All text from a trace enters here and nowhere else: it is
 * sanitised (base/text.h) on its way in.
 *
 * One pool per process, main thread only. Bounded: past strpool_set_limit()
 * bytes every new string becomes the one string "…"; strpool_full() then
 * counts them.
 */
typedef uint32_t strid;

#define STRID_NONE ((strid)0) /* no string: JSON null, nothing on the screen */

/* The id of the sanitised form of text[0..len[; STRID_NONE for len 0 or NULL. */
strid strpool_intern(const char *text, size_t len);

/* The same for a NUL-terminated string. */
strid strpool_intern_z(const char *text);

/* The same for a NUL-padded array such as a task's comm[16]. */
strid strpool_intern_padded(const char *text, size_t size);

/* The NUL-terminated UTF-8 text, owned by the pool, valid for the whole run; "" for STRID_NONE. */
const char *strpool_text(strid id);

/* Bound of the pool in bytes; default 64 MiB. */
void strpool_set_limit(size_t limit_bytes);

/* How many strings did not fit, and the bytes in use. */
uint64_t strpool_full(void);
size_t strpool_bytes(void);

/* Forgets everything (tests; end of the program). */
void strpool_release(void);

#endif
