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
	unsigned *n_slots; /* of the layout */
};

/* All references in one part. LT_ERROR: one names nothing, or no integer. */
enum lt_status resolve_part(const struct resolve *r, enum part part);

/* Gives every field "id" of an event header the slot SLOT_EVENT_ID. */
void resolve_event_id(struct type *header);

#endif
