/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_LEGEND_H
#define LT_UI_LEGEND_H

/* What stands above the panes, for the help screen and the manual. Static texts. */
struct legend {
	const char *term, *meaning;
};

/* NULL: there are no more. */
const struct legend *legend_get(unsigned i);

#endif
