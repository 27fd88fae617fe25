/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shadow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/metadata.h"
#include "source/scratch.h"

enum {
	PAGE_BYTES = 4096,
	PACKET_ID_BYTES = 20, /* magic number and UUID at the begin of each packet */
};

#define COPY_MAX_BYTES ((off_t)1 << 30)

static const char char_array[] = "integer\\s*\\{\\s*size\\s*=\\s*8;\\s*align\\s*=\\s*8;\\s*signed\\s*=\\s*\\w+;"
				 "\\s*encoding\\s*=\\s*(?:UTF8|ASCII);\\s*base\\s*=\\s*10;\\s*\\}\\s*(\\w+)\\[16\\];";

#define WORD "integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; byte_order = le; } \\1"

static char *rewrite(const char *text)
{
	GRegex *regex = g_regex_new(char_array, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
	char *result = regex ? g_regex_replace(regex, text, -1, 0, WORD "__0; " WORD "__1;", 0, NULL) : NULL;

	if (regex)
		g_regex_unref(regex);
	return result;
}

static bool write_file(const char *path, const char *signature, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t len = strlen(text);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, signature, strlen(signature)) == (ssize_t)strlen(signature);
	while (ok && len > 0) {
		ssize_t n = write(fd, text, len);

		ok = n > 0 || (n < 0 && errno == EINTR);
		if (n > 0) {
			text += n;
			len -= n;
		}
	}
	return close(fd) == 0 && ok;
}

static bool write_metadata(const char *text, const char *to)
{
	const bool ctf2 = metadata_is_ctf2(text);
	char *rewritten = ctf2 ? g_strdup(text) : rewrite(text), *path = g_build_filename(to, "metadata", NULL);
	const bool ok = rewritten && write_file(path, ctf2 ? "" : "/* CTF 1.8 */\n", rewritten);

	g_free(path);
	g_free(rewritten);
	return ok;
}

/* ---- links ---- */

/* The k-th original's files stand as TO/k.NAME, their indexes as TO/index/k.NAME.idx. */
struct linking {
	const char *from, *to;
	unsigned k;
	const struct slice_range *range; /* NULL: whole files */
	struct packet_layout layout;
};

static bool link_index(const struct linking *l, const char *name)
{
	char *target = g_strdup_printf("%s/index/%s.idx", l->from, name);
	char *path = g_strdup_printf("%s/index/%u.%s.idx", l->to, l->k, name);
	const bool ok = access(target, F_OK) < 0 || symlink(target, path) == 0;

	g_free(target);
	g_free(path);
	return ok;
}

static bool link_file(struct shadow *s, const struct linking *l, const char *name)
{
	char *target = g_build_filename(l->from, name, NULL);
	char *path = g_strdup_printf("%s/%u.%s", l->to, l->k, name);
	struct stat st;
	bool ok = true;

	if (stat(target, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		if (!l->range || !slice_write(&l->layout, l->range, target, path))
			ok = symlink(target, path) == 0 && link_index(l, name);
		g_ptr_array_add(s->files, g_strdup(target));
		g_ptr_array_add(s->links, g_strdup(path));
	}
	g_free(target);
	g_free(path);
	return ok;
}

/* The entries of one directory, or only the file named. */
static bool link_files(struct shadow *s, const struct linking *l, const char *only)
{
	DIR *dir = opendir(l->from);
	struct dirent *entry;
	bool ok = dir != NULL;

	while (ok && (entry = readdir(dir)) != NULL) {
		if (*entry->d_name == '.' || strcmp(entry->d_name, "metadata") == 0)
			continue;
		if (!only || strcmp(entry->d_name, only) == 0)
			ok = link_file(s, l, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* A directory of the shadow for traces with this metadata; NULL: it cannot be made. */
static const char *add_path(struct shadow *s, const char *text)
{
	const guint n = s->paths ? g_strv_length(s->paths) : 0;
	char *to = g_strdup_printf("%s/%u", s->directory, n), *index = g_build_filename(to, "index", NULL);
	const bool ok = mkdir(to, 0700) == 0 && mkdir(index, 0700) == 0 && write_metadata(text, to);

	s->paths = g_renew(char *, s->paths, n + 2);
	s->paths[n] = to;
	s->paths[n + 1] = NULL;
	g_free(index);
	g_free(s->metadata);
	s->metadata = g_strdup(text);
	return ok ? to : NULL;
}

static bool add_directory(struct shadow *s, const char *original, const char *only, const struct slice_range *range)
{
	char *from = realpath(original, NULL), *text = from ? metadata_read(from, METADATA_MAX) : NULL;
	struct linking l = { .from = from, .k = s->originals->len };
	bool ok = text != NULL;

	if (ok && !slice_is_all(range) && packet_layout_read(&l.layout, text))
		l.range = range;
	if (ok && g_strcmp0(s->metadata, text) == 0)
		l.to = s->paths[g_strv_length(s->paths) - 1];
	else if (ok)
		l.to = add_path(s, text);
	ok = ok && l.to && link_files(s, &l, only);
	if (ok) {
		g_ptr_array_add(s->originals, g_strdup(original));
		g_ptr_array_add(s->prefixes, g_strdup_printf("%s/%u.", l.to, l.k));
	}
	g_free(text);
	free(from);
	return ok;
}

static const char *scratch; /* NULL: nowhere to write */

void shadow_use_directory(const char *directory)
{
	scratch = directory;
}

/* NULL: nowhere to write. name: a worker may have two at a time. */
static struct shadow *make(const char *name)
{
	char *directory = scratch ? g_build_filename(scratch, name, NULL) : NULL;
	struct shadow *s;

	if (!directory || mkdir(directory, 0700) < 0) {
		g_free(directory);
		return NULL;
	}
	s = g_new0(struct shadow, 1);
	s->directory = directory;
	s->originals = g_ptr_array_new_with_free_func(g_free);
	s->prefixes = g_ptr_array_new_with_free_func(g_free);
	s->files = g_ptr_array_new_with_free_func(g_free);
	s->links = g_ptr_array_new_with_free_func(g_free);
	s->copies = g_array_new(FALSE, FALSE, sizeof(int));
	return s;
}

struct shadow *shadow_create(const char *const *paths, const struct slice_range *range)
{
	struct shadow *s = make("all");
	bool ok = s != NULL;

	/* one that has gone since it was found does not take the others with it */
	for (; ok && *paths; paths++)
		ok = add_directory(s, *paths, NULL, range) || access(*paths, F_OK) < 0;
	if (ok && s->originals->len > 0)
		return s;
	shadow_destroy(s);
	return NULL;
}

struct shadow *shadow_create_single(const char *file, const char *copy)
{
	char *directory = g_path_get_dirname(file), *name = g_path_get_basename(file);
	struct shadow *s = make("single");

	if (s && !add_directory(s, directory, name, &slice_all)) {
		shadow_destroy(s);
		s = NULL;
	}
	if (s && copy && s->files->len == 1)
		shadow_replace(s, 0, copy);
	g_free(directory);
	g_free(name);
	return s;
}

void shadow_replace(struct shadow *s, guint i, const char *copy)
{
	const char *path = g_ptr_array_index(s->links, i);

	unlink(path);
	if (copy && symlink(copy, path) < 0)
		unlink(path);
}

/*
 * Where the last packet begins: packets are whole pages, and each begins with
 * the same magic number and UUID. 0: there is only one.
 */
static off_t last_packet(int fd)
{
	unsigned char first[PACKET_ID_BYTES], id[PACKET_ID_BYTES];
	off_t last = 0;

	if (pread(fd, first, sizeof(first), 0) != sizeof(first))
		return 0;
	for (off_t at = PAGE_BYTES; pread(fd, id, sizeof(id), at) == sizeof(id); at += PAGE_BYTES)
		if (memcmp(id, first, sizeof(id)) == 0)
			last = at;
	return last;
}

/* A file without a name, which is gone with its last descriptor. */
static int open_unnamed(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

char *shadow_copy_whole_packets(struct shadow *s, guint i)
{
	int from = open(g_ptr_array_index(s->files, i), O_RDONLY | O_CLOEXEC), to = open_unnamed();
	off_t end = from >= 0 && to >= 0 ? last_packet(from) : 0, at = 0;

	while (end <= COPY_MAX_BYTES && at < end && sendfile(to, from, &at, end - at) > 0)
		;
	if (from >= 0)
		close(from);
	if (end > 0 && at == end) {
		g_array_append_val(s->copies, to);
		return g_strdup_printf("/proc/self/fd/%d", to);
	}
	if (to >= 0)
		close(to);
	return NULL;
}

static const char *first_original(const struct shadow *s, const char *path)
{
	for (guint i = 0; i < s->originals->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(s->prefixes, i), path))
			return g_ptr_array_index(s->originals, i);
	return path;
}

char *shadow_original_text(const struct shadow *s, const char *text)
{
	GString *result = g_string_new(text);

	for (guint i = 0; s && i < s->originals->len; i++) {
		char *original = g_strconcat(g_ptr_array_index(s->originals, i), "/", NULL);

		g_string_replace(result, g_ptr_array_index(s->prefixes, i), original, 0);
		g_free(original);
	}
	/* what is said of a whole directory: the first original has its metadata */
	for (guint i = s && s->paths ? g_strv_length(s->paths) : 0; i-- > 0;)
		g_string_replace(result, s->paths[i], first_original(s, s->paths[i]), 0);
	return g_string_free(result, FALSE);
}

void shadow_destroy(struct shadow *s)
{
	if (!s)
		return;
	scratch_remove_tree(s->directory);
	g_free(s->directory);
	g_strfreev(s->paths);
	g_free(s->metadata);
	g_ptr_array_free(s->originals, TRUE);
	g_ptr_array_free(s->prefixes, TRUE);
	g_ptr_array_free(s->files, TRUE);
	g_ptr_array_free(s->links, TRUE);
	for (guint i = 0; i < s->copies->len; i++)
		close(g_array_index(s->copies, int, i));
	g_array_free(s->copies, TRUE);
	g_free(s);
}
