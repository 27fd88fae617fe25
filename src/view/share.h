/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_SHARE_H
#define LT_VIEW_SHARE_H

#include "view/rows.h"

/*
 * A column that says, in percent, what share each row has of the sum of another column over all rows of its host that
 * are shown, or would be without a limit.
 */
struct view_share {
	struct column column; /* first: its getter finds the rest */
	const struct column *of;
	char *name, *header;
	/* Of the rows that were read last. */
	const struct view_rows *rows;
	unsigned round;
	GArray *sums; /* uint64_t, by host */
};

/* of is borrowed. NULL: its values cannot be added up. */
struct view_share *view_share_create(const struct column *of);
void view_share_destroy(struct view_share *s);

#endif
