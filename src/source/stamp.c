/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTENTS_MAX = 16 << 20 };

static void add_text(GChecksum *sum, const char *text)
{
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

static void add_number(GChecksum *sum, uint64_t v)
{
	g_checksum_update(sum, (const guchar *)&v, sizeof(v));
}

static void add_file(GChecksum *sum, const char *path, const struct stat *st)
{
	add_text(sum, path);
	add_number(sum, (uint64_t)st->st_dev);
	add_number(sum, (uint64_t)st->st_ino);
	add_number(sum, (uint64_t)st->st_size);
	add_number(sum, (uint64_t)st->st_mtim.tv_sec);
	add_number(sum, (uint64_t)st->st_mtim.tv_nsec);
	add_number(sum, (uint64_t)st->st_ctim.tv_sec);
	add_number(sum, (uint64_t)st->st_ctim.tv_nsec);
}

/* Of a longer file, its size and times must do. */
static void add_contents(GChecksum *sum, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	guchar block[65536];
	size_t left = CONTENTS_MAX;
	ssize_t n;

	if (fd < 0)
		return;
	while (left > 0 && (n = read(fd, block, MIN(left, sizeof(block)))) > 0) {
		g_checksum_update(sum, block, n);
		left -= (size_t)n;
	}
	close(fd);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in the directory, sorted; to be freed. */
static GPtrArray *list_names(const char *directory)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		g_ptr_array_add(names, g_strdup(entry->d_name));
	if (dir)
		closedir(dir);
	g_ptr_array_sort(names, compare_names);
	return names;
}

static void add_directory(GChecksum *sum, const char *directory)
{
	GPtrArray *names = list_names(directory);

	add_text(sum, directory);
	for (guint i = 0; i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		char *path = g_build_filename(directory, name, NULL);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			add_file(sum, path, &st);
			if (strcmp(name, "metadata") == 0)
				add_contents(sum, path);
		}
		g_free(path);
	}
	g_ptr_array_free(names, TRUE);
}

void source_stamp(const struct source_spec *spec, GChecksum *sum)
{
	for (guint i = 0; i < spec->paths->len; i++) {
		const char *path = g_ptr_array_index(spec->paths, i);
		char *index = g_build_filename(path, "index", NULL), *sidecar = source_sidecar_of(path);
		struct stat st;

		add_directory(sum, path);
		add_directory(sum, index);
		if (sidecar && stat(sidecar, &st) == 0)
			add_file(sum, sidecar, &st);
		g_free(index);
		g_free(sidecar);
	}
}
