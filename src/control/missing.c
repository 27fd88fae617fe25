/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/missing.h"

#include <string.h>

#include "base/log.h"

void missing_warn(const char *host, const char *kind, const char *name, const char *meaning)
{
	log_warning("%s%sthis %s has no %s '%s', so these will be missing: %s", host ? host : "", host ? ": " : "",
		    strcmp(kind, MISSING_USER_CONTEXT) == 0 ? "version of LTTng" : "kernel's tracer", kind, name,
		    meaning);
}

const char *missing_context(enum record_domain domain)
{
	return domain == RECORD_KERNEL ? MISSING_CONTEXT : MISSING_USER_CONTEXT;
}

/* The name after the line's start; NULL: it starts with something else. */
static const char *name_of(const char *line, const char *kind)
{
	char *start = g_strconcat(MISSING_LINE, kind, " ", NULL);
	const char *name = g_str_has_prefix(line, start) ? line + strlen(start) : NULL;

	g_free(start);
	return name;
}

/* Warns if the channel has that name; other output of the host is ignored. */
static void warn_of(const struct record_channel *c, const char *host, const char *line)
{
	const char *tracepoint = c->domain == RECORD_KERNEL ? name_of(line, MISSING_TRACEPOINT) : NULL;
	const char *name = name_of(line, missing_context(c->domain));

	for (unsigned i = 0; tracepoint && i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->meaning && strcmp(e->name, tracepoint) == 0)
			missing_warn(host, MISSING_TRACEPOINT, e->name, e->meaning);
	}
	for (unsigned i = 0; name && i < c->contexts->len; i++) {
		const struct record_context *context = &g_array_index(c->contexts, struct record_context, i);

		if (context->meaning && strcmp(context->name, name) == 0)
			missing_warn(host, missing_context(c->domain), context->name, context->meaning);
	}
}

void missing_warn_lines(const struct record_plan *plan, const char *host, const char *output)
{
	char **lines = g_strsplit(output, "\n", -1);

	for (char **line = lines; *line; line++)
		for (unsigned i = 0; i < plan->channels->len; i++)
			warn_of(&g_array_index(plan->channels, struct record_channel, i), host, *line);
	g_strfreev(lines);
}
