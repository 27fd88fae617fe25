/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <string.h>

#include "base/error.h"
#include "ctf/identity.h"

/*
 * A directory in which recordings are being written, as for lttng-relayd: each host's own directory is followed by a
 * worker of its own.
 */

/* What there is below a directory. */
struct traces {
	const char *const *paths; /* of n traces, sorted */
	char **hostnames;         /* likewise */
	guint n;
};

/* Empty if the metadata does not name one; to be freed. */
static char *hostname_of(const char *trace)
{
	struct identity id;
	char *hostname;

	identity_read_trace(&id, trace);
	hostname = g_strdup(id.hostname ? id.hostname : "");
	identity_release(&id);
	return hostname;
}

static bool has_several_hosts(const struct traces *t)
{
	for (guint i = 1; i < t->n; i++)
		if (strcmp(t->hostnames[i], t->hostnames[0]) != 0)
			return true;
	return false;
}

/* How many of the traces are in the directory at path[0..len[, the first one included. */
static guint count_in(const struct traces *t, size_t len)
{
	guint n = 1;

	while (n < t->n && strncmp(t->paths[n], t->paths[0], len) == 0 &&
	       (t->paths[n][len] == '/' || !t->paths[n][len]))
		n++;
	return n;
}

/* Appends a spec for the directory, or, if its traces belong to several hosts, those for the directories in it. */
static enum lt_status add(const char *directory, const struct traces *t, GPtrArray *specs)
{
	enum lt_status status = LT_OK;
	struct source_spec *spec;

	/* a trace's own directory is not divided */
	if (!has_several_hosts(t) || strcmp(t->paths[0], directory) == 0) {
		status = source_growing_spec(directory, &spec);
		if (status == LT_OK)
			g_ptr_array_add(specs, spec);
		return status;
	}
	for (struct traces left = *t; left.n && status == LT_OK;) {
		const char *name = left.paths[0] + strlen(directory);
		const size_t len = strlen(directory) + strspn(name, "/") + strcspn(name + strspn(name, "/"), "/");
		const struct traces part = { left.paths, left.hostnames, count_in(&left, len) };
		char *below = g_strndup(left.paths[0], len);

		status = add(below, &part, specs);
		left = (struct traces){ left.paths + part.n, left.hostnames + part.n, left.n - part.n };
		g_free(below);
	}
	return status;
}

static gint by_path(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum lt_status source_growing_specs(const char *directory, GPtrArray *specs)
{
	GPtrArray *found = g_ptr_array_new_with_free_func((GDestroyNotify)source_spec_free);
	GPtrArray *paths = g_ptr_array_new(), *hostnames = g_ptr_array_new_with_free_func(g_free);
	enum lt_status status;

	/* there need not be any yet */
	if (source_find(directory, found, NULL) != LT_OK)
		error_clear();
	for (guint i = 0; i < found->len; i++) {
		const GPtrArray *of = ((struct source_spec *)g_ptr_array_index(found, i))->paths;

		for (guint k = 0; k < of->len; k++)
			g_ptr_array_add(paths, g_ptr_array_index(of, k));
	}
	g_ptr_array_sort(paths, by_path);
	for (guint i = 0; i < paths->len; i++)
		g_ptr_array_add(hostnames, hostname_of(g_ptr_array_index(paths, i)));
	status = add(directory,
		     &(struct traces){ (const char *const *)paths->pdata, (char **)hostnames->pdata, paths->len },
		     specs);
	g_ptr_array_free(hostnames, TRUE);
	g_ptr_array_free(paths, TRUE);
	g_ptr_array_free(found, TRUE);
	return status;
}
