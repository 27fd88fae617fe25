/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/fault.h"

#include <fnmatch.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

static const struct tracer_fault faults[] = {
	{"prio", "2.13.[0-9]|2.13.10", "crashes the kernel with it", "update to 2.13.11 or later"},
};

const struct tracer_fault *fault_find(const char *context)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (!strcmp(faults[i].context, context))
			return &faults[i];
	return NULL;
}

static bool matches(const struct tracer_fault *fault, const char *version)
{
	char *number = g_strndup(version, strcspn(version, "-\n"));
	char **patterns = g_strsplit(fault->versions, "|", -1);
	bool found = false;

	for (char **p = patterns; *p && !found; p++)
		found = !fnmatch(*p, number, 0);
	g_strfreev(patterns);
	g_free(number);
	return found;
}

const struct tracer_fault *fault_of_version(const char *version, unsigned i)
{
	for (size_t k = 0; k < G_N_ELEMENTS(faults); k++)
		if (matches(&faults[k], version) && !i--)
			return &faults[k];
	return NULL;
}

enum lt_status fault_check(const char *context)
{
	const struct tracer_fault *fault = fault_find(context);
	char *version = NULL;
	enum lt_status status = LT_OK;

	if (!fault)
		return LT_OK;
	if (!g_file_get_contents(TRACER_VERSION_FILE, &version, NULL, NULL))
		status = error_set("context '%s': some lttng-modules crash the kernel with it, and '%s', which says "
				   "which ones run here, cannot be read",
				   context, TRACER_VERSION_FILE);
	else if (matches(fault, version))
		status = error_set("context '%s': lttng-modules %s %s: %s", context, g_strchomp(version), fault->harm,
				   fault->remedy);
	g_free(version);
	return status;
}
