/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_REPORT_UNMATCHED_H
#define LT_CMD_REPORT_UNMATCHED_H

#include "view/filter.h"

/*
 * Why nothing may have passed the filter, as the end of a message, to be freed: ": unknown system call 'raed': did you
 * mean 'read'?"; "" if nothing is suspicious. To be asked after reading: a newer kernel has other calls.
 */
char *unmatched_why(const struct view_filter *f);

/* Warns of such a term although something has passed the filter: by another term. */
void unmatched_warn(const struct view_filter *f);

/* Whether the filter has terms about names and numbers, hosts' excepted, one of which may be mistyped. */
bool unmatched_has_names(const struct view_filter *f);

#endif
