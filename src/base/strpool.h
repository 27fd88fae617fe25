/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STRPOOL_H
#define LT_BASE_STRPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

/*
 * The strings of a run, each kept once and named by a number, so that they fit
 * into a cell of the model and compare as integers. All text from a trace enters
 * here and nowhere else: it is sanitised (base/text.h) on its way in.
 *
 * Two kinds, each with a budget of its own, as the one is few and needed for good, the
 * other is many and comes and goes:
 *
 *   names  of processes, devices, events, calls, counters …: kept for the whole run
 *   paths  of files, and addresses of sockets: forgotten again, see below
 *
 * What does not fit becomes STRID_NONE and is counted. One pool per process, main thread only.
 */
typedef uint32_t strid;

#define STRID_NONE ((strid)0) /* no string: JSON null, nothing on the screen */

/* The id of the sanitised form of text[0..len[; STRID_NONE for len 0 or NULL. A name. */
strid strpool_intern(const char *text, size_t len);

/* The same for a NUL-terminated string. */
strid strpool_intern_z(const char *text);

/* The same for a NUL-padded array such as a task's comm[16]. */
strid strpool_intern_padded(const char *text, size_t size);

/* As strpool_intern(), a path. The same text as name and as path has two ids. */
strid strpool_intern_path(const char *text, size_t len);

/*
 * The NUL-terminated UTF-8 text, owned by the pool; "" for STRID_NONE. Of names
 * it is valid for the whole run, of paths until the next strpool_round_end(). A path that was
 * forgotten reads "…": its id is not given to another one. So does an id that was never given, as a damaged file may
 * have it.
 */
const char *strpool_text(strid id);

/* Bounds in bytes; default 64 MiB of names and 256 MiB of paths. */
void strpool_set_limit(size_t names_bytes, size_t paths_bytes);

/* How many strings did not fit, and the bytes in use. */
uint64_t strpool_full(void);
size_t strpool_bytes(void);

/*
 * Paths are forgotten, the longest unused first, in rounds that whoever knows
 * all their holders makes when one is due:
 *
 *   if (strpool_round_due()) { strpool_round_begin(); strpool_keep(id) …; strpool_round_end(); }
 *
 * What was neither kept nor interned for two rounds is forgotten where room is scarce. A round is due
 * whenever an eighth of the room was filled since the last one, so that its cost is small beside that of interning.
 */
bool strpool_round_due(void);
void strpool_round_begin(void);
void strpool_keep(strid id); /* any id; names are kept anyway */
void strpool_round_end(void);

/* How many paths were forgotten so far. */
uint64_t strpool_forgotten(void);

/*
 * All strings with their ids (base/pack.h), and back into a pool that has nothing, or the first of these names, as
 * the same program has them. False: they are not, or do not fit; ids that were read before mean nothing then.
 */
void strpool_pack(GByteArray *out);
bool strpool_unpack(struct unpack *in);

/* Forgets everything (tests; end of the program). */
void strpool_release(void);

#endif
