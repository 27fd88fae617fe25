/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SHARE_H
#define LT_VIEW_SHARE_H

#include "view/rows.h"

/*
 * A column with each row's share, in percent, of the sum of another column over all rows of its host that are shown or
 * only hidden by a limit.
 */
struct view_share {
	struct column column; /* must be first: its getter finds the rest */
	const struct column *of;
	char *name, *header;
	/* For the rows that were read last. */
	const struct view_rows *rows;
	unsigned round;
	GArray *sums;   /* uint64_t, by host */
	uint64_t whole; /* of all hosts */
};

/* of is borrowed. Returns NULL if its values cannot be summed, or may be negative. */
struct view_share *view_share_create(const struct column *of);
void view_share_destroy(struct view_share *s);

#endif
