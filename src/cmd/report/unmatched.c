/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/unmatched.h"

#include <string.h>

#include "attach/filter.h"
#include "base/error.h"

/* The first call:NAME, not a glob, that no kernel is known to have; NULL: there is none. */
static const char *find_unknown_call(const struct view_node *node)
{
	const char *found = NULL;

	if (node->kind == VIEW_NODE_FACT && node->fact == VIEW_FACT_CALL && !strpbrk(node->glob, "*?[") &&
	    !attach_knows_call(node->glob))
		return node->glob;
	for (guint i = 0; node->parts && i < node->parts->len && !found; i++)
		found = find_unknown_call(g_ptr_array_index(node->parts, i));
	return found;
}

char *unmatched_why(const struct view_filter *f)
{
	const char *call = f->root ? find_unknown_call(f->root) : NULL;
	char *text;

	if (!call)
		return g_strdup("");
	error_clear();
	attach_unknown_call(call);
	text = g_strdup_printf(": %s", error_text());
	error_clear();
	return text;
}

bool unmatched_has_names(const struct view_filter *f)
{
	return f->facts & ~(1u << VIEW_FACT_COLUMN | 1u << VIEW_FACT_STATE | 1u << VIEW_FACT_HOST);
}
