/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits the size of the cache's directory. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/file.h"

/* Older partial files are abandoned: writing never takes this long. */
enum { LEFT_BEHIND_S = 3600 };

enum { NAME_LEN = 64 };

struct entry {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

/* Whether it is the name of a file of the cache; *aside: of one that is being written. */
static bool is_of_cache(const char *name, bool *aside)
{
	*aside = name[NAME_LEN] == '.';
	return strspn(name, "0123456789abcdef") == NAME_LEN && (!name[NAME_LEN] || *aside);
}

static void clear_entry(void *data)
{
	g_free(((struct entry *)data)->name);
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* The files in the order of their last use, the oldest first; removes abandoned partial files. */
static GArray *list_entries(DIR *dir)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	struct dirent *d;

	g_array_set_clear_func(entries, clear_entry);
	while ((d = readdir(dir)) != NULL) {
		struct entry entry;
		struct stat st;
		bool aside;

		if (strlen(d->d_name) < NAME_LEN || !is_of_cache(d->d_name, &aside) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (aside && time(NULL) - st.st_mtim.tv_sec > LEFT_BEHIND_S)
			unlinkat(dirfd(dir), d->d_name, 0);
		if (aside)
			continue;
		entry = (struct entry){ g_strdup(d->d_name), (uint64_t)st.st_size, st.st_mtim };
		g_array_append_val(entries, entry);
	}
	g_array_sort(entries, by_use);
	return entries;
}

void cache_bound(const char *directory, uint64_t limit_bytes)
{
	DIR *dir = opendir(directory);
	uint64_t bytes = 0;
	GArray *entries;

	if (!dir)
		return;
	entries = list_entries(dir);
	for (guint i = 0; i < entries->len; i++)
		bytes += g_array_index(entries, struct entry, i).bytes;
	for (guint i = 0; i < entries->len && bytes > limit_bytes; i++) {
		const struct entry *entry = &g_array_index(entries, struct entry, i);

		if (unlinkat(dirfd(dir), entry->name, 0) == 0)
			bytes -= entry->bytes;
	}
	g_array_free(entries, TRUE);
	closedir(dir);
}
