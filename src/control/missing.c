/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/missing.h"

#include <string.h>

#include "base/log.h"

void missing_warn(const char *host, const char *kind, const char *name, const char *meaning)
{
	log_warning("%s%sthis kernel's tracer has no %s '%s', so these will be missing: %s", host ? host : "",
		    host ? ": " : "", kind, name, meaning);
}

/* Warns if the plan has that name; other output of the host is ignored. */
static void warn_of(const struct record_channel *c, const char *host, const char *name, bool tracepoint)
{
	for (unsigned i = 0; tracepoint && i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->meaning && strcmp(e->name, name) == 0)
			missing_warn(host, MISSING_TRACEPOINT, e->name, e->meaning);
	}
	for (unsigned i = 0; !tracepoint && i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);

		if (context->meaning && strcmp(context->name, name) == 0)
			missing_warn(host, MISSING_CONTEXT, context->name, context->meaning);
	}
}

void missing_warn_lines(const struct record_plan *plan, const char *host, const char *output)
{
	static const char tracepoint[] = MISSING_LINE MISSING_TRACEPOINT " ";
	static const char context[] = MISSING_LINE MISSING_CONTEXT " ";
	const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);
	char **lines = g_strsplit(output, "\n", -1);

	for (char **line = lines; c && *line; line++) {
		if (g_str_has_prefix(*line, tracepoint))
			warn_of(c, host, *line + strlen(tracepoint), true);
		else if (g_str_has_prefix(*line, context))
			warn_of(c, host, *line + strlen(context), false);
	}
	g_strfreev(lines);
}
