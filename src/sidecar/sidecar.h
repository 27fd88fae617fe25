/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_SIDECAR_H
#define LT_SIDECAR_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * What a trace cannot hold and its machine knows: command lines, users, names of disks, the kernel's release.
 * `record` writes it as a file beside the trace (sidecar/write.h), whoever reads the trace looks here. The file may
 * be missing, damaged or hostile: it is bounded in size and depth, all its texts are sanitised, and nothing of it
 * ever counts as a figure.
 *
 * Texts are owned by the side-car. Times are ns since the epoch by the host's own clock. Main thread only.
 */
#define SIDECAR_NAME "lttngtop.json"

enum {
	SIDECAR_SCHEMA = 1,
	SIDECAR_BYTES_MAX = 16 << 20, /* of a file */
	SIDECAR_DEPTH_MAX = 8,        /* of objects and arrays in each other */
	SIDECAR_PROCESSES_MAX = 1 << 17,
	SIDECAR_NAMES_MAX = 1 << 16, /* of disks, of users, of groups, of cgroups, of mounts … each */
};

/* A process, from its start until its program was replaced or it exited. */
struct sidecar_process {
	int64_t pid;
	uint64_t start_ns;
	int64_t uid, gid;                   /* -1: not known */
	const char *exe, *cmdline, *cgroup; /* NULL: not known */
};

/* Of the whole machine; NULL: not known. */
struct sidecar_facts {
	const char *kernel; /* its release */
	const char *boot_id;
	const char *clock; /* whether it is synchronised, in words */
	const char *cpus;  /* "8 in 4 cores, 1 socket" */
};

struct sidecar;

struct sidecar *sidecar_create(void);
void sidecar_destroy(struct sidecar *s);

/*
 * Adds what a file has; what it says of a thing that is known already replaces that. hostname: as the trace has
 * it, NULL: it has none; a file of another host is not used. What is wrong with the file is one warning in the
 * log, with the first reason; what is right in it counts all the same. LT_ERROR: nothing of it does.
 */
enum lt_status sidecar_load(struct sidecar *s, const char *path, const char *hostname);

/*
 * Parts of a side-car also come as texts of events (sidecar/stream.h), which start with SIDECAR_MESSAGE or
 * SIDECAR_LINES: whether this is one, and adding it. Any process of the host may have sent it: it is checked like a
 * file, wrong ones are left out without a word, and there is a bound to what they make us keep. False: nothing of it
 * counts.
 */
#define SIDECAR_MESSAGE "lttngtop.json " /* an object follows */
#define SIDECAR_LINES "lttngtop.list\t"  /* lines of a listing follow, with tabs between them */
bool sidecar_is_message(const char *text, size_t len);
bool sidecar_hear(struct sidecar *s, const char *text, size_t len, const char *hostname);

/*
 * Whether a host is the very machine that this process runs on: clock is its clock's UUID, which LTTng makes of the
 * boot's id. Not in a container, where processes have other pids than in a trace of the kernel.
 */
bool sidecar_is_own(const char *clock);

/*
 * Adds what that machine says of itself now, from the second time on only processes that it does not know yet: some
 * µs for each that there is. Those that have gone stay known until there are too many.
 */
void sidecar_refresh(struct sidecar *s);

struct sidecar_facts sidecar_facts(const struct sidecar *s);

/* Names; NULL: not known. */
const char *sidecar_disk(const struct sidecar *s, unsigned major, unsigned minor);
const char *sidecar_user(const struct sidecar *s, int64_t uid);
const char *sidecar_group(const struct sidecar *s, int64_t gid);

/*
 * Calls fn for the mounts of network file systems, and those in them: the directory, the file system's type and its
 * source. Only those that came since the last call of this.
 */
typedef void sidecar_mount_fn(void *data, const char *dir, const char *type, const char *source);
void sidecar_new_mounts(struct sidecar *s, sidecar_mount_fn *fn, void *data);

/*
 * The function of the kernel that was probed at this address, and how many bytes behind its start that is; NULL: not
 * known.
 */
const char *sidecar_symbol(const struct sidecar *s, uint64_t address, uint64_t *offset);

/* The cgroup of a process that had this pid or cgroup namespace, a path; NULL: not known. */
const char *sidecar_cgroup(const struct sidecar *s, uint64_t inode);

/*
 * The process that had this pid: of one that was born inside the record, at born_ns; else (born_ns 0) of one that
 * lived when the record began, at record_ns. NULL: not known. One whose pid was used again is not taken for another.
 */
const struct sidecar_process *sidecar_process(const struct sidecar *s, int64_t pid, uint64_t born_ns,
					      uint64_t record_ns);

#endif
