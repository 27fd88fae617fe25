/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_SIMILAR_H
#define LT_BASE_SIMILAR_H

#include <stddef.h>

/*
 * Finds the known name that a mistyped word was meant to be:
 *
 *	struct similar s = {.word = "reprot"};
 *	similar_offer(&s, "record");
 *	similar_offer(&s, "report");
 *	similar_hint(&s, "");           ": did you mean 'report'?"
 *
 * A name resembles the word if the edits between them (letters left out, added, replaced or swapped with a neighbour)
 * are at most a third of the letters of the shorter one.
 */
struct similar {
	const char *word;  /* borrowed, as are the names offered */
	const char *best;  /* the nearest name so far, the first of several; NULL: no name resembles the word */
	size_t len;        /* of what the word was compared with then */
	unsigned distance; /* edits from the word to that */
	char hint[64];
};

void similar_offer(struct similar *s, const char *name);

/* The same for something that is also called other: the word is compared with that, and name is suggested. */
void similar_offer_as(struct similar *s, const char *other, const char *name);

/*
 * The end of an error message, "" if no name resembles the word. prefix is put before the name. The text is part of *s.
 */
const char *similar_hint(struct similar *s, const char *prefix);

#endif
