/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/own_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINKS_MAX = 40, /* like the kernel's */
	ENTER = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static int fail(int fd, int code)
{
	if (fd >= 0)
		close(fd);
	errno = code;
	return -1;
}

/* Puts the target of an own symbolic link before the rest of the path. Returns where the path continues; -1: errno. */
static int follow(int dir, const char *name, GString *rest)
{
	const int link = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (link < 0 || fstat(link, &st))
		return fail(link, errno);
	if (!S_ISLNK(st.st_mode))
		return fail(link, ENOTDIR);
	if (st.st_uid != geteuid())
		return fail(link, EPERM);
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return fail(link, errno);
	close(link);
	target[n] = '\0';
	g_string_prepend_c(rest, '/');
	g_string_prepend(rest, target);
	return *target == '/' ? open("/", ENTER) : openat(dir, ".", ENTER);
}

/* Cuts the first name off the path; it may be empty. The caller frees it. */
static char *cut_name(GString *rest)
{
	const size_t len = strcspn(rest->str, "/");
	char *name = g_strndup(rest->str, len);

	g_string_erase(rest, 0, (gssize)MIN(len + 1, rest->len));
	return name;
}

/* Opens a directory by an absolute path, name by name. -1: errno. */
static int walk(const char *path)
{
	GString *rest = g_string_new(path);
	int dir = open("/", ENTER), links = 0, code;

	while (dir >= 0 && rest->len) {
		char *name = cut_name(rest);
		int next = openat(dir, *name ? name : ".", ENTER);

		if (next < 0 && errno == ENOTDIR) {
			errno = ELOOP;
			next = links++ < LINKS_MAX ? follow(dir, name, rest) : -1;
		}
		code = errno;
		close(dir);
		errno = code;
		dir = next;
		g_free(name);
	}
	code = errno;
	g_string_free(rest, TRUE);
	errno = code;
	return dir;
}

/* Whether LTTng or `record` has put something there for this user. */
static bool has_own_recording(int dir)
{
	static const struct {
		const char *name;
		mode_t type;
	} parts[] = { { SIDECAR_NAME, S_IFREG }, { "kernel", S_IFDIR }, { "ust", S_IFDIR } };
	struct stat st;

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (fstatat(dir, parts[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid() &&
		    (st.st_mode & S_IFMT) == parts[i].type)
			return true;
	return false;
}

int own_directory_open(const char *path)
{
	int dir;

	if (geteuid() != 0)
		return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	dir = walk(path);
	return dir < 0 || has_own_recording(dir) ? dir : fail(dir, EPERM);
}
