/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/source.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "ctf/identity.h"
#include "sidecar/sidecar.h"

/*
 * Finds the traces below a directory, and groups those that belong together: the chunks of a rotated session and the
 * snapshots of one session have the same trace UUID, host name and clock in their metadata, in the same format. A group
 * is read as one trace, so that packets present in several of its directories count once.
 */

#define DEPTH_MAX 32

/* 20261120T142439+0000-20261120T142440+0000-0; without the second time while it is written */
#define ARCHIVE_PATTERN "^(\\d{8}T\\d{6}[+-]\\d{4}-){1,2}\\d+$"

char *source_group_of(const char *directory)
{
	struct identity id;
	char *group = NULL;

	identity_read_trace(&id, directory);
	if (id.trace)
		group = g_strdup_printf("%d %s %s %s", id.is_ctf2, id.trace, id.hostname ? id.hostname : "",
					id.clock ? id.clock : "");
	identity_release(&id);
	return group;
}

/* ---- names ---- */

/*
 * Directories that LTTng and users put between a host and its trace: kernel, ust/uid/0/64-bit, archives/…, ctf. parent:
 * the name of the one above, or NULL.
 */
static bool is_generic_name(const char *name, const char *parent)
{
	static const char *const generic[] = { "kernel",   "ust", "uid",   "pid",          "64-bit", "32-bit",
					       "archives", "ctf", "trace", "lttng-traces", ".",      "" };

	for (size_t i = 0; i < G_N_ELEMENTS(generic); i++)
		if (strcmp(name, generic[i]) == 0)
			return true;
	if (g_str_has_prefix(name, "snapshot-"))
		return true;
	if (parent && (strcmp(parent, "uid") == 0 || strcmp(parent, "pid") == 0))
		return name[strspn(name, "0123456789")] == '\0';
	return g_regex_match_simple(ARCHIVE_PATTERN, name, G_REGEX_RAW, 0);
}

static char *host_hint_of(const char *directory)
{
	char *path = realpath(directory, NULL), *hint = NULL;
	char **parts = g_strsplit(path ? path : directory, "/", -1);
	guint n = g_strv_length(parts);

	for (guint i = n; i-- > 0 && !hint;)
		if (!is_generic_name(parts[i], i > 0 ? parts[i - 1] : NULL))
			hint = g_strdup(parts[i]);
	if (!hint)
		hint = g_strdup(n > 0 && *parts[n - 1] ? parts[n - 1] : "host");
	g_strfreev(parts);
	free(path);
	return hint;
}

char *source_sidecar_of(const char *directory)
{
	char *at = realpath(directory, NULL), *path = NULL;

	while (at) {
		char *slash = strrchr(at, '/');
		const char *parent;

		path = g_build_filename(at, SIDECAR_NAME, NULL);
		if (access(path, F_OK) == 0)
			break;
		g_clear_pointer(&path, g_free);
		if (slash == at)
			break;
		*slash = '\0';
		parent = strrchr(at, '/');
		if (!is_generic_name(slash + 1, parent + 1))
			break;
	}
	free(at);
	return path;
}

bool source_is_stream_name(const char *name)
{
	return *name != '.' && strcmp(name, "metadata") != 0 && strcmp(name, SIDECAR_NAME) != 0;
}

/* Shortens name to the parent directory that it shares with path. */
static void keep_common_directory(char *name, const char *path)
{
	size_t i = 0, slash = 0;

	for (; name[i] && name[i] == path[i]; i++)
		if (name[i] == '/')
			slash = i;
	if (!name[i] && (path[i] == '/' || !path[i]))
		return;
	if (slash > 0)
		name[slash] = '\0';
}

/* ---- the walk ---- */

struct find_walk {
	GPtrArray *specs;
	GHashTable *visited; /* "device:inode" of directories: links may form loops */
	GHashTable *traces;  /* the same of those that are traces, in all of specs */
	GHashTable *groups;  /* group → struct source_spec, borrowed */
	unsigned found;
	unsigned left_out;
	bool archives; /* there are files that may contain traces */
};

static bool is_archive(const char *path)
{
	static const char *const endings[] = { ".tar",    ".tar.bz2", ".tar.gz",  ".tar.lz4", ".tar.lzma",
					       ".tar.xz", ".tar.Z",   ".tar.zst", ".tbz2",    ".tgz",
					       ".txz",    ".tzst",    ".zip" };

	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
		if (g_str_has_suffix(path, endings[i]))
			return true;
	return false;
}

/* Adds the directory to a set of "device:inode"; whether it was not there before. */
static bool add_directory(GHashTable *set, const char *directory)
{
	struct stat st;

	return stat(directory, &st) < 0 ||
	       g_hash_table_add(set, g_strdup_printf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino));
}

static int compare_paths(gconstpointer a, gconstpointer b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static struct source_spec *spec_create(const char *directory)
{
	struct source_spec *spec = g_new0(struct source_spec, 1);

	spec->name = g_strdup(directory);
	spec->host_hint = host_hint_of(directory);
	spec->end_ns = UINT64_MAX;
	spec->paths = g_ptr_array_new_with_free_func(g_free);
	return spec;
}

static void add_trace(struct find_walk *w, const char *directory)
{
	struct source_spec *spec;
	char *group;

	w->found++;
	if (!add_directory(w->traces, directory))
		return;
	group = source_group_of(directory);
	spec = group ? g_hash_table_lookup(w->groups, group) : NULL;
	if (spec) {
		keep_common_directory(spec->name, directory);
		g_free(group);
	} else {
		spec = spec_create(directory);
		spec->group = group;
		g_ptr_array_add(w->specs, spec);
		if (group)
			g_hash_table_insert(w->groups, group, spec);
	}
	extent_add(&spec->extent, directory);
	g_ptr_array_add(spec->paths, g_strdup(directory));
}

/* What was found below other directories before. */
static void note_known(const struct find_walk *w)
{
	for (guint i = 0; i < w->specs->len; i++) {
		struct source_spec *spec = g_ptr_array_index(w->specs, i);

		for (guint j = 0; j < spec->paths->len; j++)
			add_directory(w->traces, g_ptr_array_index(spec->paths, j));
		if (spec->group)
			g_hash_table_insert(w->groups, spec->group, spec);
	}
}

static void cannot_read(struct find_walk *w, const char *path, const char *why)
{
	char text[256];

	w->left_out++;
	text_sanitise(text, sizeof(text), path, strlen(path));
	log_warning("cannot read '%s': %s", text, why);
}

/* Whether it contains a data file that has an index. */
static bool has_streams(const char *directory)
{
	char *indexes = g_build_filename(directory, "index", NULL);
	DIR *dir = opendir(indexes);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)) != NULL) {
		char *path = g_build_filename(directory, entry->d_name, NULL);

		if (g_str_has_suffix(path, ".idx")) {
			path[strlen(path) - strlen(".idx")] = '\0';
			found = g_file_test(path, G_FILE_TEST_IS_REGULAR);
		}
		g_free(path);
	}
	if (dir)
		closedir(dir);
	g_free(indexes);
	return found;
}

/* A directory without a file of metadata: a recording may have lost it. */
static void note_lost_metadata(struct find_walk *w, const char *directory)
{
	char text[256];

	if (!has_streams(directory))
		return;
	w->left_out++;
	text_sanitise(text, sizeof(text), directory, strlen(directory));
	log_warning("%s: streams without metadata", text);
}

static void visit_directory(struct find_walk *w, const char *directory, unsigned depth)
{
	DIR *dir = depth <= DEPTH_MAX ? opendir(directory) : NULL;
	GPtrArray *below;
	struct dirent *entry;
	bool is_trace = false, has_metadata = false;

	if (!dir) {
		cannot_read(w, directory,
			    depth > DEPTH_MAX ? "more than " G_STRINGIFY(DEPTH_MAX) " levels deep"
					      : error_of_errno(errno));
		return;
	}
	below = g_ptr_array_new_with_free_func(g_free);
	while ((entry = readdir(dir)) != NULL) {
		char *path;
		struct stat st;

		if (*entry->d_name == '.')
			continue;
		path = g_build_filename(directory, entry->d_name, NULL);
		if (stat(path, &st) < 0) {
			/* A dangling link is not a trace. */
			g_free(path);
			continue;
		}
		if (S_ISDIR(st.st_mode)) {
			g_ptr_array_add(below, path);
			continue;
		}
		w->archives = w->archives || is_archive(entry->d_name);
		if (S_ISREG(st.st_mode) && strcmp(entry->d_name, "metadata") == 0) {
			has_metadata = true;
			is_trace = access(path, R_OK) == 0;
			if (!is_trace)
				cannot_read(w, path, strerror(errno));
		}
		g_free(path);
	}
	closedir(dir);
	if (is_trace)
		add_trace(w, directory);
	else if (!has_metadata)
		note_lost_metadata(w, directory);
	g_ptr_array_sort(below, compare_paths);
	for (guint i = 0; i < below->len; i++) {
		const char *path = g_ptr_array_index(below, i);

		/* A trace's own index directory contains no traces. */
		if ((!is_trace || !g_str_has_suffix(path, "/index")) && add_directory(w->visited, path))
			visit_directory(w, path, depth + 1);
	}
	g_ptr_array_free(below, TRUE);
}

/* An archive of a recording, or one of its files, was named in place of its directory. */
static void set_file_error(const char *path, const char *shown)
{
	static const char what[] = "is a file, not the directory of a recording";
	char *directory = g_path_get_dirname(path), *metadata = g_build_filename(directory, "metadata", NULL),
	     text[256];

	text_sanitise(text, sizeof(text), directory, strlen(directory));
	if (access(metadata, F_OK) == 0)
		error_set("'%s' %s: give '%s'", shown, what, text);
	else if (is_archive(path))
		error_set("'%s' %s: unpack it first", shown, what);
	else
		error_set("'%s' %s", shown, what);
	g_free(metadata);
	g_free(directory);
}

/* Whether somebody may have meant the relayd on that host. */
static bool is_like_host(const char *word)
{
	char *text = g_strconcat("net://", word, NULL);
	struct source_url url = { 0 };
	struct in_addr address;
	const bool is_url = !strchr(word, '/') && source_parse_url(text, &url) == LT_OK;
	const bool is_host = is_url && (strchr(word, ':') || strcmp(word, "localhost") == 0 ||
					inet_pton(AF_INET, word, &address) == 1);

	source_url_release(&url);
	g_free(text);
	return is_host;
}

/* Its path without trailing slashes; NULL: it cannot be opened (error chain). */
static char *open_directory(const char *directory)
{
	char *name, shown[256];
	struct stat st;
	DIR *dir = stat(directory, &st) < 0 ? NULL : opendir(directory);

	if (!dir) {
		const int error = errno;

		text_sanitise(shown, sizeof(shown), directory, strlen(directory));
		if (error == ENOTDIR && stat(directory, &st) == 0)
			set_file_error(directory, shown);
		else if (error == ENOENT && strstr(directory, "://"))
			error_set("cannot open '%s': the URL of a relayd starts with net://", shown);
		else if (error == ENOENT && is_like_host(directory))
			error_set("cannot open '%s': %s; a relayd on that host: net://%s", shown, strerror(error),
				  shown);
		else
			error_set("cannot open '%s': %s", shown, strerror(error));
		return NULL;
	}
	closedir(dir);
	name = g_strdup(directory);
	for (size_t len = strlen(name); len > 1 && name[len - 1] == '/'; len--)
		name[len - 1] = '\0';
	return name;
}

enum lt_status source_growing_spec(const char *directory, struct source_spec **out)
{
	char *name = open_directory(directory);

	if (!name)
		return LT_ERROR;
	*out = spec_create(name);
	(*out)->is_growing = true;
	g_ptr_array_add((*out)->paths, name);
	return LT_OK;
}

enum lt_status source_find(const char *directory, GPtrArray *specs, unsigned *left_out)
{
	struct find_walk w = { .specs = specs };
	char *name = open_directory(directory), shown[256];

	if (!name)
		return LT_ERROR;
	text_sanitise(shown, sizeof(shown), directory, strlen(directory));
	w.visited = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	w.traces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	w.groups = g_hash_table_new(g_str_hash, g_str_equal);
	note_known(&w);
	add_directory(w.visited, name);
	visit_directory(&w, name, 0);
	for (guint i = 0; i < specs->len; i++)
		g_ptr_array_sort(((struct source_spec *)g_ptr_array_index(specs, i))->paths, compare_paths);
	g_hash_table_destroy(w.groups);
	g_hash_table_destroy(w.traces);
	g_hash_table_destroy(w.visited);
	g_free(name);
	if (left_out)
		*left_out += w.left_out;
	if (w.found == 0)
		return error_set("no trace found in '%s'%s", shown,
				 w.archives ? ", only archives: unpack them first" : "");
	return LT_OK;
}
