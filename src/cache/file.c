/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pack.h"
#include "cache/sum.h"

/* Files with another version are not read. */
#define MAGIC "lttngtop cache\r\n"
#define VERSION 3

enum { MAGIC_LEN = sizeof(MAGIC) - 1, NAME_LEN = 64, HEADER_LEN = MAGIC_LEN + NAME_LEN + 3 * sizeof(uint64_t) };

/* A head is read in one piece. */
#define HEAD_MAX (UINT64_C(1) << 30)

struct cache_file {
	int fd;
	char *path;
	char *aside; /* temporary name for writing; NULL: it is being read, or complete */
	uint64_t sum;
	uint64_t parts_bytes;
	uint64_t left; /* of the parts, in bytes */
};

const char *cache_directory(void)
{
	static char *directory;

	if (!directory)
		directory = g_build_filename(g_get_user_cache_dir(), "lttngtop", NULL);
	return directory;
}

static GByteArray *make_header(const char *name, uint64_t head_bytes, uint64_t parts_bytes)
{
	GByteArray *header = g_byte_array_sized_new(HEADER_LEN);

	g_assert(strlen(name) == NAME_LEN);
	pack_bytes(header, MAGIC, MAGIC_LEN);
	pack_u64(header, VERSION);
	pack_bytes(header, name, NAME_LEN);
	pack_u64(header, head_bytes);
	pack_u64(header, parts_bytes);
	return header;
}

/* ---- writing ---- */

static enum lt_status put(struct cache_file *f, const void *data, size_t len)
{
	const uint8_t *p = data;

	f->sum = cache_sum(f->sum, data, len);
	while (len) {
		ssize_t n = write(f->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set("cannot write '%s': %s", f->aside, strerror(n < 0 ? errno : EIO));
		p += n;
		len -= (size_t)n;
	}
	return LT_OK;
}

enum lt_status cache_file_create(const char *directory, const char *name, const GByteArray *head, uint64_t parts_bytes,
				 struct cache_file **out)
{
	struct cache_file *f;
	GByteArray *header;
	enum lt_status status;

	*out = NULL;
	if (g_mkdir_with_parents(directory, 0700) < 0)
		return error_set("cannot create '%s': %s", directory, strerror(errno));
	f = g_new0(struct cache_file, 1);
	f->path = g_build_filename(directory, name, NULL);
	f->aside = g_strconcat(f->path, ".XXXXXX", NULL);
	f->parts_bytes = f->left = parts_bytes;
	f->fd = g_mkstemp_full(f->aside, O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd < 0) {
		error_set("cannot create '%s': %s", f->aside, strerror(errno));
		g_clear_pointer(&f->aside, g_free);
		cache_file_close(f);
		return LT_ERROR;
	}
	header = make_header(name, head->len, parts_bytes);
	status = put(f, header->data, header->len);
	g_byte_array_unref(header);
	if (status == LT_OK)
		status = put(f, head->data, head->len);
	if (status == LT_OK)
		*out = f;
	else
		cache_file_close(f);
	return status;
}

enum lt_status cache_file_write(struct cache_file *f, const void *part, size_t len)
{
	g_assert(len <= f->left);
	f->left -= len;
	return put(f, part, len);
}

enum lt_status cache_file_end(struct cache_file *f)
{
	const uint64_t sum = GUINT64_TO_LE(f->sum);

	g_assert(!f->left);
	if (put(f, &sum, sizeof(sum)) != LT_OK)
		return LT_ERROR;
	if (rename(f->aside, f->path) < 0)
		return error_set("cannot rename '%s': %s", f->aside, strerror(errno));
	g_clear_pointer(&f->aside, g_free);
	return LT_OK;
}

/* ---- reading ---- */

/* Reads without adding to the sum. */
static bool get(struct cache_file *f, void *data, size_t len)
{
	uint8_t *p = data;

	while (len) {
		ssize_t n = read(f->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool get_summed(struct cache_file *f, void *data, size_t len)
{
	if (!get(f, data, len))
		return false;
	f->sum = cache_sum(f->sum, data, len);
	return true;
}

/* Whether it is a regular file that the user owns and nobody else can write. */
static bool is_ours(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	*size = (uint64_t)st.st_size;
	return S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Checks the header against the file's name and size, and reads the head; NULL: they do not match. */
static GByteArray *get_head(struct cache_file *f, const char *name)
{
	uint8_t bytes[HEADER_LEN];
	struct unpack in = { .at = bytes + MAGIC_LEN, .end = bytes + HEADER_LEN };
	char found[NAME_LEN];
	uint64_t size, version, head_bytes;
	GByteArray *head;

	if (f->fd < 0 || !is_ours(f->fd, &size) || !get_summed(f, bytes, HEADER_LEN))
		return NULL;
	version = unpack_u64(&in);
	unpack_bytes(&in, found, NAME_LEN);
	head_bytes = unpack_upto(&in, HEAD_MAX);
	f->parts_bytes = f->left = unpack_upto(&in, size);
	if (in.failed || memcmp(bytes, MAGIC, MAGIC_LEN) != 0 || version != VERSION ||
	    memcmp(found, name, NAME_LEN) != 0 || size != HEADER_LEN + head_bytes + f->parts_bytes + sizeof(uint64_t))
		return NULL;
	head = g_byte_array_new();
	g_byte_array_set_size(head, (guint)head_bytes);
	if (get_summed(f, head->data, head->len))
		return head;
	g_byte_array_unref(head);
	return NULL;
}

enum lt_status cache_file_open(const char *directory, const char *name, GByteArray **head, struct cache_file **out)
{
	struct cache_file *f = g_new0(struct cache_file, 1);

	f->path = g_build_filename(directory, name, NULL);
	f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	*head = get_head(f, name);
	*out = f;
	if (*head)
		return LT_OK;
	cache_file_close(f);
	*out = NULL;
	return LT_END;
}

uint64_t cache_file_parts_bytes(const struct cache_file *f)
{
	return f->parts_bytes;
}

bool cache_file_read(struct cache_file *f, void *part, size_t len)
{
	if (len > f->left)
		return false;
	f->left -= len;
	return get_summed(f, part, len);
}

bool cache_file_check(struct cache_file *f)
{
	uint64_t sum;

	if (f->left || !get(f, &sum, sizeof(sum)) || GUINT64_FROM_LE(sum) != f->sum)
		return false;
	/* on a read-only file system the order of use does not change */
	(void)futimens(f->fd, NULL);
	return true;
}

void cache_file_close(struct cache_file *f)
{
	if (!f)
		return;
	if (f->aside)
		unlink(f->aside);
	if (f->fd >= 0)
		close(f->fd);
	g_free(f->aside);
	g_free(f->path);
	g_free(f);
}
