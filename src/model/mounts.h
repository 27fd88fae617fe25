/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_MOUNTS_H
#define LT_MODEL_MOUNTS_H

/*
 * Paths to other machines: the mounts of network file systems, and the working directories of processes, where
 * relative paths start. Inside model/ only.
 *
 * The newest mount on the way to a file is the one that it is in, as it hides older ones. All mount namespaces count
 * as one; symbolic links are not followed.
 */
#include "model/internal.h"

enum { MOUNTS_MAX = 256, MOUNT_PATH_MAX = 1024 };

struct mount {
	char *dir;
	bool is_net;  /* else one that hides a part of another that is */
	bool is_told; /* by model_add_mount() */
	strid server; /* a name; STRID_NONE: not known */
};

struct mounts {
	struct mount list[MOUNTS_MAX]; /* the oldest first */
	uint32_t n;
	uint64_t told_ns; /* when the last one was told of that had been there before, 0 never */
};

void mounts_create(struct model *m);
void mounts_destroy(struct model *m);

/* The mount that an absolute path leads to, NULL: none of a network file system. */
const struct mount *mounts_find(const struct model *m, const char *path);

/*
 * The path from the directory dir, which is absolute, without "." and "..", nor '/' at its end, into out; path may be
 * absolute itself. False: it is too long.
 */
bool mounts_join(char out[MOUNT_PATH_MAX], const char *dir, const char *path);

/* The server that a mount's source names; the source where it names none. */
strid mounts_server(const char *type, const char *source);

/* The file may have been opened before the mount that it is in was told of. */
void mounts_settle_file(struct model *m, uint32_t file);

/* A mount(), umount() of the thread succeeded. */
void mounts_mounted(struct model *m, uint32_t thread, const struct call_in_flight *call);
void mounts_unmounted(struct model *m, uint32_t thread, const struct call_in_flight *call);

/* The working directory of the thread's process, "": not known. */
const char *mounts_cwd(const struct model *m, uint32_t thread, enum fd_kind *kind);

/* It changes, to a path from the one it is. */
void mounts_chdir(struct model *m, uint32_t thread, const char *path);

/* A process has the one of the process that forked it. */
void mounts_fork(struct model *m, uint32_t parent, uint32_t child);

#endif
