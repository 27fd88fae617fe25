/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STRPOOL_H
#define LT_BASE_STRPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

/*
 * The strings of a run. Each is kept once and has a number, so that it fits into a cell of the model and compares as an
 * integer. All text from a trace enters here and nowhere else: it is sanitised (base/text.h) on its way in.
 *
 * There are two kinds, each with its own budget, because names are few and needed for good, while paths are many and
 * short-lived:
 *
 *   names  of devices, events, calls, counters …: kept for the whole run
 *   paths  of files, and addresses of sockets: eventually forgotten, see below
 *
 * Names of threads and network interfaces are names while there is room, and otherwise treated as paths.
 *
 * A string that does not fit becomes STRID_NONE and is counted. One pool per process, main thread only.
 */
typedef uint32_t strid;

#define STRID_NONE ((strid)0) /* no string: JSON null, nothing on the screen */

/* The id of the sanitised form of text[0..len[ as a name; STRID_NONE if len is 0 or text is NULL. */
strid strpool_intern(const char *text, size_t len);

/* The same for a NUL-terminated string. */
strid strpool_intern_z(const char *text);

/*
 * The same for the name of a thread or a network interface, which are short-lived: a long run may see any number of
 * them. They leave an eighth of the room to the other names: those that do not fit are treated as paths.
 */
strid strpool_intern_brief(const char *text, size_t len);

/* strpool_intern_brief() for a task's comm[16], a NUL-padded array; see text_padded_len(). */
strid strpool_intern_padded(const char *text, size_t size);

/* As strpool_intern(), for a path. The same text has different ids as a name and as a path. */
strid strpool_intern_path(const char *text, size_t len);

/* Whether the pool has that text as a name. */
bool strpool_has_name(const char *text);

/*
 * The NUL-terminated UTF-8 text, owned by the pool; "" for STRID_NONE. A name's text is valid for the whole run, a
 * path's until the next strpool_round_end(). The text is "…" for a path that was forgotten, whose id is never used
 * again, and for an id that was never given out, which a damaged file may contain.
 */
const char *strpool_text(strid id);

/* Limits in bytes; 64 MiB for names and 256 MiB for paths by default. */
void strpool_set_limit(size_t names_bytes, size_t paths_bytes);

/* The number of strings that did not fit. */
uint64_t strpool_full(void);

/* The bytes in use, for tests. */
size_t strpool_bytes(void);

/*
 * Paths, and names treated as such, are forgotten in rounds, those unused the longest first. A round is made when it is
 * due, by the caller that knows every holder of a path:
 *
 *   if (strpool_round_due()) { strpool_round_begin(); strpool_keep(id) …; strpool_round_end(); }
 *
 * If room is scarce, paths that were neither kept nor interned for two rounds are forgotten. A round is due whenever an
 * eighth of the room has been filled since the last one, so that its cost is small compared with that of interning.
 */
bool strpool_round_due(void);
void strpool_round_begin(void);
void strpool_keep(strid id); /* any id; names are kept in any case */
void strpool_round_end(void);

/* The number of paths forgotten so far. */
uint64_t strpool_forgotten(void);

/*
 * Writes all strings with their ids (base/pack.h), and reads them back into a pool that is empty or contains only the
 * first of these names, as interned by the same program. False: the strings differ from those in the pool, or do not
 * fit; the ids read earlier are then meaningless.
 */
void strpool_pack(GByteArray *out);
bool strpool_unpack(struct unpack *in);

/* Forgets everything (tests; end of the program). */
void strpool_release(void);

#endif
