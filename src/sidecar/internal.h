/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_INTERNAL_H
#define LT_SIDECAR_INTERNAL_H

#include <glib.h>
#include <jansson.h>

#include "sidecar/sidecar.h"

/* Texts, each kept once. */
struct sidecar_texts {
	GStringChunk *storage;
	GHashTable *known; /* those in .storage */
};

struct sidecar {
	struct sidecar_texts texts, process_texts;
	GHashTable *cpus;                             /* text -> text: "0" -> "0 3", package and core, or "" */
	GHashTable *disks, *users, *groups, *cgroups; /* likewise: "8:0" -> "sda", "1000" -> "eva", inode -> path */
	GHashTable *mounts;                           /* directory -> "cifs //10.0.0.1/share": mounts not yet taken */
	GTree *symbols, *functions;                   /* address (uint64_t) -> name */
	GArray *processes;                            /* struct sidecar_process, by PID, then by start … */
	guint n_sorted;                               /* … for this many of them; those after are being added */
	struct sidecar_facts facts;
	size_t heard_bytes, loaded_bytes;
};

/* ---- sidecar.c ---- */

/* Compares two struct sidecar_process: the order of .processes. */
int sidecar_by_pid(const void *a, const void *b);

/* How many processes have a lower PID, or this one and a start not after start_ns. */
guint sidecar_count_up_to(const struct sidecar *s, int64_t pid, uint64_t start_ns);

/*
 * The last process with that PID to start by the time; exactly: at the time, within the tolerance. NULL: there is none.
 */
struct sidecar_process *sidecar_find_process(const struct sidecar *s, int64_t pid, uint64_t at_ns, bool exactly);

/* ---- load.c ---- */

/*
 * Adds what the object contains. hostname: of the host it must belong to; NULL: any. false: it belongs to another, or
 * its version is unknown. *wrong: something in it was invalid and was left out, see the error chain.
 */
bool sidecar_take(struct sidecar *s, const json_t *root, const char *hostname, bool *wrong);

#endif
