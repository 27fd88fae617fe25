/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/arguments.h"

#include <inttypes.h>

#include "base/text.h"
#include "source/job.h"

static void add(GPtrArray *argv, const char *text)
{
	g_ptr_array_add(argv, g_strdup(text));
}

static void add_number(GPtrArray *argv, uint64_t number)
{
	g_ptr_array_add(argv, g_strdup_printf("%" PRIu64, number));
}

static void add_range(GPtrArray *argv, const struct source_spec *spec)
{
	add_number(argv, spec->begin_ns);
	add_number(argv, spec->end_ns);
}

static void add_recalled(GPtrArray *argv, const struct source_spec *spec, const char *fields)
{
	add(argv, JOB_RECALL);
	add_number(argv, WORKER_LOG);
	add_number(argv, spec->recalled.source);
	add_number(argv, spec->recalled.trace);
	add(argv, spec->name);
	add_range(argv, spec);
	add(argv, fields);
}

static void add_growing(GPtrArray *argv, const struct source_spec *spec, const char *fields)
{
	add(argv, JOB_FOLLOW);
	add(argv, g_ptr_array_index(spec->paths, 0));
	add_number(argv, spec->stall_ms);
	add(argv, fields);
	add_number(argv, WORKER_COMMANDS);
}

static void add_recording(GPtrArray *argv, const struct source_spec *spec, const char *fields, const char *reader,
			  unsigned part, unsigned parts)
{
	const struct extent found = spec->is_unfinished ? (struct extent){ 0 } : spec->extent;

	add(argv, JOB_RECORDING);
	add(argv, reader);
	add_number(argv, part);
	add_number(argv, parts);
	add(argv, spec->name);
	add_range(argv, spec);
	add_number(argv, found.files);
	add_number(argv, found.bytes);
	add_number(argv, spec->is_unfinished);
	add(argv, fields);
	for (guint i = 0; i < spec->paths->len; i++)
		add(argv, g_ptr_array_index(spec->paths, i));
}

char **worker_arguments(const struct source_spec *spec, const char *fields, const char *reader, unsigned part,
			unsigned parts)
{
	GPtrArray *argv = g_ptr_array_new();
	char host[256];

	text_sanitise(host, sizeof(host), spec->host_hint ? spec->host_hint : "", TEXT_MAX);
	g_ptr_array_add(argv, g_strconcat(JOB_CALLED, host, NULL));
	add(argv, "--worker");
	add_number(argv, WORKER_MEMORY);
	add_number(argv, WORKER_WAKE);
	if (spec->recalled.log_fd)
		add_recalled(argv, spec, fields);
	else if (spec->is_growing)
		add_growing(argv, spec, fields);
	else
		add_recording(argv, spec, fields, reader, part, parts);
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}
