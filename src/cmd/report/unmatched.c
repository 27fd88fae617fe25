/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/unmatched.h"

#include "base/log.h"
#include "view/unknown.h"

char *unmatched_why(const struct view_filter *f)
{
	char *call = view_unknown_call(f), *text = call ? g_strconcat(": ", call, NULL) : g_strdup("");

	g_free(call);
	return text;
}

void unmatched_warn(const struct view_filter *f)
{
	char *call = view_unknown_call(f);

	if (call)
		log_warning("--where: %s", call);
	g_free(call);
}

bool unmatched_has_names(const struct view_filter *f)
{
	return f->facts & ~(1u << VIEW_FACT_COLUMN | 1u << VIEW_FACT_STATE | 1u << VIEW_FACT_HOST);
}
