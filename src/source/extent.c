/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/extent.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "source/source.h"

void extent_add(struct extent *extent, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (!source_is_stream_name(entry->d_name))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
			continue;
		extent->files++;
		extent->bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
}
