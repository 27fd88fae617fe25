/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MOUNTS_H
#define LT_MODEL_MOUNTS_H

/*
 * Paths to other machines: the mounts of network file systems, and the working directories of processes, at which
 * relative paths start. Inside model/ only.
 *
 * A file is in the newest mount on the way to it, as that hides older ones. All mount namespaces are treated as one;
 * symbolic links are not followed.
 */
#include "model/internal.h"

enum { MOUNTS_MAX = 256, MOUNT_PATH_MAX = 1024 };

struct mount {
	char *dir;
	bool is_net;  /* false: it hides a part of one that is */
	bool is_told; /* came from model_add_mount() */
	strid server; /* a name; STRID_NONE: unknown */
};

struct mounts {
	struct mount list[MOUNTS_MAX]; /* the oldest first */
	uint32_t n;
	uint64_t told_ns; /* when model_add_mount() was last called, 0 never */
};

void mounts_create(struct model *m);
void mounts_destroy(struct model *m);

/* The mount that an absolute path leads to, NULL: it is not on a network file system. */
const struct mount *mounts_find(const struct model *m, const char *path);

/*
 * Writes the path, from the absolute directory dir, into out, without ".", ".." and, but for the root, a trailing '/';
 * path may itself be absolute. False: it is too long.
 */
bool mounts_join(char out[MOUNT_PATH_MAX], const char *dir, const char *path);

/* Whether path is dir, which is as mounts_join() writes it, or below it. */
bool mounts_is_below(const char *path, const char *dir);

/* The server that a mount's source names; the source if it names none. */
strid mounts_server(const char *type, const char *source);

/* Corrects the kind of a file that may have been opened before its mount was known. */
void mounts_settle_file(struct model *m, uint32_t file);

/* A mount() or umount() of the thread succeeded. */
void mounts_mounted(struct model *m, uint32_t thread, const struct call_in_flight *call);
void mounts_unmounted(struct model *m, uint32_t thread, const struct call_in_flight *call);

/* The working directory of the thread's process, "": unknown. */
const char *mounts_cwd(const struct model *m, uint32_t thread, enum fd_kind *kind);

/*
 * Writes the absolute path that a call of the thread names into out, from the directory that its fd is, or else the
 * working directory. False: it is not known, or too long.
 */
bool mounts_path_of(const struct model *m, uint32_t thread, const struct call_in_flight *call,
		    char out[MOUNT_PATH_MAX]);

/* The path of the file that a call of the thread opened: absolute if its directory is known, else as in the call. */
strid mounts_path_opened(const struct model *m, uint32_t thread, const struct call_in_flight *call);

/* Changes it; path may be relative to the current one. */
void mounts_chdir(struct model *m, uint32_t thread, const char *path);

/* A new process has its parent's. */
void mounts_fork(struct model *m, uint32_t parent, uint32_t child);

#endif
