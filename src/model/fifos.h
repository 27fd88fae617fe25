/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_FIFOS_H
#define LT_MODEL_FIFOS_H

/*
 * Named pipes by their paths. open() does not show what a path leads to; that a path is a fifo's is known
 *
 *   - from mknod(), if it is in the record,
 *   - from the state dump, if somebody had it open,
 *   - from a file opened by it that cannot be sought (ESPIPE). In /dev, /proc and /sys, other files cannot, either.
 *
 * It is known until it is unlinked, or another file is renamed to it; for files opened before it was known, too, as
 * long as their bytes: those that have passed stay counted as a file's. PID namespaces are kept apart, as two
 * containers may have different files at the same path; symbolic links are not followed. Inside model/ only.
 */
#include "model/internal.h"

/*
 * Looking for files opened earlier takes as long as there are files, and a trace decides how often it is done: the rows
 * looked at are limited to FIFO_ROWS_MAX at once, and a few for each event of the host.
 */
enum { FIFOS_MAX = 256, FIFO_ROWS_MAX = 1 << 20, FIFO_ROWS_PER_EVENT = 4 };

struct fifo {
	uint32_t hash;  /* of its path */
	strid path;     /* absolute, as mounts_join() writes it */
	uint64_t place; /* PID namespace, 0: the host's */
};

struct fifos {
	struct fifo list[FIFOS_MAX];
	uint32_t n, next;  /* in use; the one to replace next once all are */
	int64_t rows_left; /* that may be looked at now, <= 0: none */
	int64_t events;    /* of the host when that was computed */
};

void fifos_create(struct model *m);
void fifos_destroy(struct model *m);

/* The path of the call, made absolute, if it is known to be a fifo's; STRID_NONE. */
strid fifos_opened(const struct model *m, uint32_t thread, const struct call_in_flight *call);

/* The file is a fifo that the thread has opened by that path, as fifos_opened() returned it, or has from the dump. */
void fifos_set_file(struct model *m, uint32_t thread, uint32_t file, strid path);

/* A mknod() of the thread made one, or an unlink() or rename() removed what was at the path. */
void fifos_made(struct model *m, uint32_t thread, const struct call_in_flight *call);
void fifos_removed(struct model *m, uint32_t thread, const struct call_in_flight *call);

/* The file in which the thread looked for a position has none: if it was taken for a plain file, it is a fifo. */
void fifos_unseekable(struct model *m, uint32_t thread, uint32_t file);

#endif
