/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_SIMILAR_H
#define LT_BASE_SIMILAR_H

/*
 * Which known name somebody meant who mistyped it:
 *
 *	struct similar s = {.word = "reprot"};
 *	similar_offer(&s, "record");
 *	similar_offer(&s, "report");
 *	similar_hint(&s, "");           ": did you mean 'report'?"
 *
 * A name resembles the word if at most one letter in three of the shorter one is
 * left out, added, replaced or swapped with its neighbour.
 */
struct similar {
	const char *word;  /* borrowed, as are the names offered */
	const char *best;  /* the nearest name so far, the first of equals; NULL: none resembles the word */
	unsigned distance; /* edits from the word to it */
	char hint[64];
};

void similar_offer(struct similar *s, const char *name);

/* What an error ends with, "" if nothing resembles the word; prefix stands before the name. It is part of *s. */
const char *similar_hint(struct similar *s, const char *prefix);

#endif
