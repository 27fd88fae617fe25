/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_FDTABLE_H
#define LT_MODEL_FDTABLE_H

/*
 * The fd table of a process, between files.c, which knows whose it is, and fdtable.c, which knows its contents.
 *
 *   fd_table ─▶ blocks[fd / 32] ─▶ rows of TABLE_FILE
 *       └─▶ image ─▶ blocks[fd / 32] ─▶ what the fd was when the table was copied
 *             ▲
 *   fd_table ─┘   the copy of the same table, or of the copy
 *
 * A fork copies a table of thousands of fds, of which the child usually uses two or three. So a copy starts as a mere
 * reference to an image of what its original had open, shared by all copies made while that did not change. An fd that
 * is open only in the image is inherited; it gets a row, and a life that starts when the table was copied, once it is
 * used or has to be listed.
 */
#include "model/files.h"

enum { BLOCK_FDS = 32 };

/* The cells of a file row that a copy of the fd takes over. */
struct fd_what {
	strid path, peer, client;
	uint8_t side, kind;
	uint8_t cloexec, read_end;
	uint64_t channel;
};

/* Neither is changed once it is shared; fds that are not open are zero. */
struct image_block {
	uint32_t users; /* images */
	uint32_t open;  /* bit i: what[i] is open */
	struct fd_what what[BLOCK_FDS];
};

struct fd_image {
	uint32_t users; /* tables */
	uint32_t n_blocks;
	uint32_t n_open;
	struct image_block *blocks[]; /* NULL: nothing is open in it */
};

struct fd_block {
	uint32_t open;      /* bit i: open, with the row rows[i] */
	uint32_t inherited; /* bit i: open, in the image only */
	uint32_t read_end;  /* bit i: rows[i] is a pipe's read end */
	uint32_t rows[BLOCK_FDS];
};

struct fd_table {
	uint32_t index;   /* in struct files.tables */
	uint32_t users;   /* threads; 0 while only the state dump has named the table */
	uint64_t id;      /* cell files_id; never reused */
	int64_t pid;      /* cell pid: the process that had it first */
	int64_t leads;    /* PID whose threads use it by default, 0 none */
	uint64_t address; /* of the kernel's structure, 0 unknown */
	uint32_t n_blocks;
	struct fd_block **blocks; /* NULL: all that the image has open there is inherited */
	struct fd_image *image;   /* NULL: nothing is inherited, and there is no copy */
	uint64_t copied_ns;       /* when the inherited lives started, 0 before the record */
	uint32_t n_inherited;     /* fds */
	bool left_out;            /* they got no rows when all were listed, for lack of memory */
};

/* Frees its members. */
void fdtable_release(struct model *m, struct fd_table *t);

/* What the fd is, including inherited ones; false: it is not open. Changes nothing. */
bool fdtable_look(const struct model *m, const struct fd_table *t, int64_t fd, struct fd_what *what);

/*
 * Starts a life in t at opened_ns (0: before the record) for every open fd of from that t does not have, with the same
 * properties. Takes O(1) memory if t is still empty and from has not changed since the last copy.
 */
void fdtable_copy(struct model *m, struct fd_table *t, struct fd_table *from, uint64_t opened_ns);

/* Whether exec closes the fd, which is open. */
bool fdtable_is_cloexec(struct model *m, const struct fd_table *t, int64_t fd);

/* Gives the inherited fds rows, if memory allows. */
void fdtable_list(struct model *m, struct fd_table *t);

/* strpool_keep() for the inherited ones. */
void fdtable_keep_paths(const struct fd_table *t);

/* Ends all lives. */
void fdtable_close_all(struct model *m, struct fd_table *t);

#endif
