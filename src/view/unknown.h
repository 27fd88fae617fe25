/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_VIEW_UNKNOWN_H
#define LT_VIEW_UNKNOWN_H

#include "view/filter.h"

/*
 * Names the first system call in the filter, not a glob, that is neither known nor declared by a trace that has been
 * read: "unknown system call 'raed': did you mean 'read'?". It is not an error, as a trace that is yet to be read may
 * have it. NULL: there is none. To be freed.
 */
char *view_unknown_call(const struct view_filter *f);

#endif
