/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_RESOLVE_H
#define LT_CTF_RESOLVE_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * Connects lengths of sequences and tags of variants with the fields they name. Such a field gets a slot that holds its
 * value while an event is walked.
 */

/* Steps for one layout: far more than any trace needs. Small metadata can describe a huge tree. */
#define RESOLVE_WORK_MAX (UINT64_C(1) << 26)

/*
 * The types of the parts; each may be NULL. A reference in one of them may name fields that precede it in its own
 * structure, in the enclosing ones, and in the parts before.
 */
struct resolve {
	struct type *parts[PARTS];
	bool has_names;    /* paths include the options of variants: CTF 1.8 */
	unsigned *n_slots; /* of the layout */
	uint64_t *work;    /* steps done for the layout so far, which are limited */
};

/* Resolves all references in one part. LT_ERROR: one of them does not name a field, or not an integer. */
enum lt_status resolve_part(const struct resolve *r, enum part part);

#endif
