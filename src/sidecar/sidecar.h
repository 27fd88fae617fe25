/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_SIDECAR_H
#define LT_SIDECAR_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own_directory.h" /* SIDECAR_NAME */
#include "base/status.h"

/*
 * Data that a trace cannot contain but its machine knows: command lines, users, names of disks, the kernel's release.
 * `record` writes it to a file beside the trace (sidecar/write.h), and readers of the trace find it here. The file may
 * be missing, damaged or hostile: its size and depth are bounded, all its texts are sanitised, and its contents never
 * count as figures.
 *
 * Texts are owned by the side-car. Times are ns since the epoch, by the host's own clock. Main thread only.
 */

enum {
	SIDECAR_SCHEMA = 1,
	SIDECAR_BYTES_MAX = 16 << 20, /* of a file */
	SIDECAR_DEPTH_MAX = 8,        /* nested objects and arrays */
	SIDECAR_VALUES_MAX = 1 << 20, /* those of all objects and arrays: eight of a process */
	SIDECAR_PROCESSES_MAX = 1 << 17,
	SIDECAR_NAMES_MAX = 1 << 16, /* each of disks, users, groups, cgroups, mounts … */
};

/* A process, from its start until it executed another program or exited. */
struct sidecar_process {
	int64_t pid;
	uint64_t pid_ns; /* inode of the namespace that .pid is a number of; 0: the host's own */
	uint64_t start_ns;
	int64_t uid, gid;                   /* -1: not known */
	const char *exe, *cmdline, *cgroup; /* NULL: not known */
};

/* About the whole machine; NULL: not known. */
struct sidecar_facts {
	const char *kernel; /* release */
	const char *boot_id;
	const char *clock; /* whether it is synchronised, as text */
	const char *cpus;  /* "8 in 4 cores, 1 socket" */
};

struct sidecar;

struct sidecar *sidecar_create(void);
void sidecar_destroy(struct sidecar *s);

/*
 * Adds the contents of a file, which replace data about the same things. hostname: as in the trace, NULL if it has
 * none; files of other hosts are not used. A faulty file causes one warning in the log, with the first reason; its
 * valid parts are used all the same. LT_ERROR: nothing in it was used.
 */
enum lt_status sidecar_load(struct sidecar *s, const char *path, const char *hostname);

/*
 * Parts of a side-car also arrive as texts of events (sidecar/stream.h), which start with SIDECAR_MESSAGE or
 * SIDECAR_LINES. The two functions check whether a text is one, and add it. Any process of the host may have sent it:
 * it is checked like a file, invalid parts are ignored silently, and the memory used for them is bounded. False:
 * nothing in it was used.
 */
#define SIDECAR_MESSAGE "lttngtop.json " /* followed by an object */
#define SIDECAR_LINES "lttngtop.list\t"  /* followed by lines of a listing, separated by tabs */
bool sidecar_is_message(const char *text, size_t len);
bool sidecar_hear(struct sidecar *s, const char *text, size_t len, const char *hostname);

/*
 * Whether a host is the machine that this process runs on: clock is the UUID of the host's clock, which LTTng derives
 * from the boot ID. False in a container, where PIDs differ from those in a kernel trace.
 */
bool sidecar_is_own(const char *clock);

/*
 * Adds the current data of this machine; after the first call only processes that are not known yet, which takes some
 * µs for each process that exists. Processes that are gone stay known until there are too many.
 */
void sidecar_refresh(struct sidecar *s);

struct sidecar_facts sidecar_facts(const struct sidecar *s);

/* Names; NULL: not known. */
const char *sidecar_disk(const struct sidecar *s, unsigned major, unsigned minor);
const char *sidecar_user(const struct sidecar *s, int64_t uid);
const char *sidecar_group(const struct sidecar *s, int64_t gid);

/*
 * Calls fn for mounts of network file systems and for mounts inside them: the directory, and the file system's type and
 * source. Only for those that were added since its last call.
 */
typedef void sidecar_mount_fn(void *data, const char *dir, const char *type, const char *source);
void sidecar_new_mounts(struct sidecar *s, sidecar_mount_fn *fn, void *data);

/*
 * The probed kernel function that contains the address, and the offset of the address from its start in bytes; NULL:
 * not known. Only probed functions are listed, so this is the nearest one before the address.
 */
const char *sidecar_symbol(const struct sidecar *s, uint64_t address, uint64_t *offset);

/* The kernel function that starts at this address: one that work items call, or a probed one. NULL: not known. */
const char *sidecar_function(const struct sidecar *s, uint64_t address);

/* The cgroup path of a process that was in this PID or cgroup namespace; NULL: not known. */
const char *sidecar_cgroup(const struct sidecar *s, uint64_t inode);

/*
 * The process that had this PID: the one that started inside the recording at born_ns, or, if born_ns is 0, the one
 * that existed when the recording started, at record_ns. NULL: not known. If the PID was reused, its processes are told
 * apart.
 */
const struct sidecar_process *sidecar_process(const struct sidecar *s, int64_t pid, uint64_t born_ns,
					      uint64_t record_ns);

#endif
