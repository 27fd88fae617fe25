/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specs of sources, however they were found. */
#include "source/source.h"

struct source_spec *source_live_spec(const struct source_url *url)
{
	struct source_spec *spec = g_new0(struct source_spec, 1);

	spec->url = g_strdup_printf("%s/host/%s/%s", url->relay, url->target, url->session);
	spec->name = g_strdup(spec->url);
	spec->host_hint = g_strdup(url->target);
	spec->end_ns = UINT64_MAX;
	spec->paths = g_ptr_array_new_with_free_func(g_free);
	return spec;
}

void source_spec_free(struct source_spec *spec)
{
	if (!spec)
		return;
	g_free(spec->name);
	g_free(spec->host_hint);
	g_free(spec->group);
	g_free(spec->url);
	g_free(spec->fields);
	g_ptr_array_free(spec->paths, TRUE);
	g_free(spec);
}

struct source_spec *source_spec_copy(const struct source_spec *spec)
{
	struct source_spec *copy = g_new(struct source_spec, 1);

	*copy = *spec;
	copy->name = g_strdup(spec->name);
	copy->host_hint = g_strdup(spec->host_hint);
	copy->group = g_strdup(spec->group);
	copy->url = g_strdup(spec->url);
	copy->fields = g_strdup(spec->fields);
	copy->paths = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < spec->paths->len; i++)
		g_ptr_array_add(copy->paths, g_strdup(g_ptr_array_index(spec->paths, i)));
	return copy;
}

char *source_stored_text(unsigned n)
{
	if (!n)
		return NULL;
	return g_strdup_printf("%u session%s there %s not live: created without '--live'", n, n == 1 ? "" : "s",
			       n == 1 ? "is" : "are");
}
