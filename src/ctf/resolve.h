/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_RESOLVE_H
#define LT_CTF_RESOLVE_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * Connects lengths of sequences and tags of variants with the fields they name: such
 * a field gets a slot where its value stands while an event is walked.
 */

/*
 * The types of the parts, any may be NULL. A reference inside one may name fields
 * before it, in its own structure, in those around it and in the parts before.
 */
struct resolve {
	struct type *parts[PARTS];
	bool has_names;    /* paths name the choices of variants: CTF 1.8 */
	unsigned *n_slots; /* of the layout */
	uint64_t *work;    /* done for the layout so far: there is a bound */
};

/* All references in one part. LT_ERROR: one names nothing, or not an integer. */
enum lt_status resolve_part(const struct resolve *r, enum part part);

#endif
