/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_FILES_H
#define LT_MODEL_FILES_H

/*
 * Inside model/: fd tables and the lives of the fds in them, of files.c, fdtable.c, fdcalls.c, fdkind.c and io.c. A
 * life is the time from when an fd is opened until it is closed.
 *
 *   struct thread ──┐
 *   struct thread ──┼─▶ fd_table ─▶ row of TABLE_FILE: one life of an fd
 *   (CLONE_FILES) ──┘
 */
#include "model/internal.h"

/* Members of struct ev_syscall_entry and ev_syscall_exit: bits of event.present. */
enum entry_bit {
	ENTRY_NR,
	ENTRY_FD,
	ENTRY_FD2,
	ENTRY_CMD,
	ENTRY_FLAGS,
	ENTRY_ARG,
	ENTRY_PATH,
	ENTRY_FAMILY,
	ENTRY_PORT,
	ENTRY_ADDR,
	ENTRY_ARGS,
};
enum exit_bit { EXIT_NR, EXIT_RET, EXIT_FDS, EXIT_FAMILY, EXIT_PORT, EXIT_ADDR };

/* Linux's default limit for the fds of a process; higher ones have no life here. */
enum { FD_MAX = 1 << 20 };

/* ---- files.c, fdtable.c: tables and lives. Every change happens at m->now_ns. ---- */

/* The table the thread uses, by default that of its process. Never NULL. */
struct fd_table *files_of_thread(struct model *m, uint32_t thread);

/* The same without creating one; NULL: nothing is known of its fds. */
const struct fd_table *files_table_of(const struct model *m, uint32_t thread);

/* The current life of the fd, NO_ROW if it is not known to be open; any fd. An inherited one (fdtable.h) gets a row. */
uint32_t files_find(struct model *m, struct fd_table *t, int64_t fd);

/* The same; the life of an unknown fd starts before the record. NO_ROW only for fds that have no life. */
uint32_t files_find_or_add(struct model *m, struct fd_table *t, int64_t fd);

/* Starts a new life of the fd, ending the current one. The caller sets path, kind … */
uint32_t files_open(struct model *m, struct fd_table *t, int64_t fd);

/* The same as a copy of another life: a dup. from may be NO_ROW. */
uint32_t files_open_copy(struct model *m, struct fd_table *t, int64_t fd, uint32_t from);

/* Ends the life of the fd, if it has one. */
void files_close(struct model *m, struct fd_table *t, int64_t fd);

/* Calls fn for the open fds in [first, last]; fn may close that fd. */
typedef void files_fd_fn(struct model *m, struct fd_table *t, int64_t fd);
void files_each(struct model *m, struct fd_table *t, int64_t first, int64_t last, files_fd_fn *fn);

/* Gives the thread a table of its own from now on. */
void files_unshare(struct model *m, uint32_t thread);

/* Marks a pipe's read end, which determines the direction of vmsplice(). */
void files_set_read_end(struct fd_table *t, int64_t fd);
bool files_is_read_end(const struct fd_table *t, int64_t fd);

/* The row of a reference, NO_ROW if it has been reused since. */
uint32_t files_resolve(const struct model *m, struct file_ref ref);

/* ---- fdkind.c: what an fd is ---- */

/*
 * From the path that was opened: absolute, or relative to a directory of kind dir (FD_UNKNOWN: unknown). *server, if
 * not NULL: the name of the server of an FD_NETFS, where it is known.
 */
enum fd_kind fdkind_of_path(const struct model *m, const char *path, enum fd_kind dir, const char *dir_path,
			    strid *server);

/* The fd of the opening process that the path is another name of: "/proc/self/fd/3", "/dev/stdin"; else -1. */
int64_t fdkind_reopened(const char *path, int64_t pid);

/* From the name and mode (FMODE_…) in the state dump. *server: as above. */
enum fd_kind fdkind_of_dump(const struct model *m, const char *name, uint64_t fmode, strid *server);

/* From the address family (AF_…), 0 unknown. */
enum fd_kind fdkind_of_family(int64_t family);

/* "10.0.0.1:80", "[::1]:80"; STRID_NONE for other families. addr in network byte order. */
strid fdkind_peer(uint64_t family, uint64_t port, const uint64_t addr[2]);

/* The same without the port: "10.0.0.1", "::1". */
strid fdkind_address(uint64_t family, const uint64_t addr[2]);

/* ---- io.c: bytes ---- */

/* Count the bytes of a successful read-like or write-like call; file may be NO_ROW. */
void io_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);
void io_write(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes);

#endif
