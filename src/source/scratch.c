/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const bases[] = { "/dev/shm", "/tmp" };

#define PREFIX "lttngtop-workers-"

enum {
	TRIES = 8,      /* another process may remove a directory before it is locked */
	DEPTH_MAX = 4,  /* of a shadow's index below the directory of this process */
};

static struct {
	pid_t owner;     /* whose all this is: a process that forked starts with nothing */
	char *directory; /* NULL: none was ever made */
	int lock_fd;     /* of the directory; -1: it is not there */
	int life_fd;     /* -1: there is no keeper */
	unsigned used, made;
} own = { .lock_fd = -1, .life_fd = -1 };

/* ---- removing ---- */

static void remove_tree_at(int parent, const char *name, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || !(dir = fdopendir(fd))) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && depth < DEPTH_MAX)
			remove_tree_at(fd, entry->d_name, depth + 1);
	}
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void scratch_remove_tree(const char *path)
{
	remove_tree_at(AT_FDCWD, path, 0);
}

static int open_locked(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What processes have left behind that are gone: nobody has it locked. */
static void remove_leftovers(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		int fd = g_str_has_prefix(entry->d_name, PREFIX) ? open_locked(dirfd(dir), entry->d_name) : -1;

		if (fd < 0)
			continue;
		remove_tree_at(dirfd(dir), entry->d_name, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* ---- the keeper ---- */

/* Waits until the other end of life_fd is closed everywhere. Does not return. */
static void keep(int life_fd)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction action = { .sa_handler = SIG_IGN };
	ssize_t n;
	char byte;

	for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
		sigaction(ignored[i], &action, NULL);
	prctl(PR_SET_NAME, "lttngtop-keeper");
	/* No terminal, nobody's pipe, no file system is kept busy by it. */
	if (dup2(life_fd, 0) < 0 || chdir("/") < 0)
		_exit(1);
	if (syscall(SYS_close_range, 1, ~0U, 0) < 0)
		for (int fd = 1; fd < 1024; fd++)
			close(fd);
	do {
		n = read(0, &byte, 1);
	} while (n > 0 || (n < 0 && errno == EINTR));
	scratch_remove_tree(own.directory);
	_exit(0);
}

/* Its parent is not this process: nobody here need know of its end. */
static void start_keeper(void)
{
	int life[2];
	pid_t pid;

	if (pipe2(life, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() == 0) {
			close(life[1]);
			keep(life[0]);
		}
		_exit(0);
	}
	close(life[0]);
	own.life_fd = life[1];
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* ---- directories ---- */

/* Makes and locks the directory, by the name it had before if there was one. */
static bool make_own(const char *base)
{
	char *name = own.directory ? NULL : g_strdup_printf("%s/" PREFIX "%d-XXXXXX", base, (int)getpid());
	struct stat st;

	if (name ? !mkdtemp(name) : mkdir(own.directory, 0700) < 0) {
		g_free(name);
		return false;
	}
	if (name)
		own.directory = name;
	own.lock_fd = open_locked(AT_FDCWD, own.directory);
	if (own.lock_fd >= 0 && fstat(own.lock_fd, &st) == 0 && st.st_nlink > 0)
		return true;
	if (own.lock_fd >= 0)
		close(own.lock_fd);
	own.lock_fd = -1;
	return false;
}

static bool have_own(void)
{
	if (own.owner != getpid()) {
		if (own.life_fd >= 0)
			close(own.life_fd);
		if (own.lock_fd >= 0)
			close(own.lock_fd);
		g_free(own.directory);
		memset(&own, 0, sizeof(own));
		own.owner = getpid();
		own.lock_fd = own.life_fd = -1;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(bases) && own.lock_fd < 0; i++) {
		if (!own.directory)
			remove_leftovers(bases[i]);
		for (unsigned t = 0; t < TRIES && own.lock_fd < 0; t++)
			make_own(bases[i]);
	}
	if (own.lock_fd >= 0 && own.life_fd < 0)
		start_keeper();
	return own.lock_fd >= 0;
}

char *scratch_create(void)
{
	char *directory;

	if (!have_own())
		return NULL;
	directory = g_strdup_printf("%s/%u", own.directory, own.made++);
	if (mkdir(directory, 0700) < 0) {
		g_free(directory);
		return NULL;
	}
	own.used++;
	return directory;
}

int scratch_life_fd(void)
{
	return own.life_fd;
}

void scratch_remove(char *directory)
{
	if (!directory)
		return;
	scratch_remove_tree(directory);
	g_free(directory);
	if (own.owner != getpid() || --own.used > 0)
		return;
	scratch_remove_tree(own.directory);
	close(own.lock_fd);
	own.lock_fd = -1;
}
