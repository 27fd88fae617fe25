/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_RELATIONS_H
#define LT_MODEL_RELATIONS_H

/*
 * Which processes communicate and which wake each other: rows of TABLE_RELATION. relations.c covers wake-ups, signals
 * and exits, channels.c and sockets.c the bytes. Inside model/ only.
 */
#include "model/files.h"
#include "model/recent.h"

/* A process at one end of a relation. uid 0: unknown, or on another host. */
struct party {
	uint64_t uid; /* of the row of its main thread */
	int64_t pid;
	strid comm;
};

struct relation {
	struct party from, to;
	enum relation_kind kind;
	strid object;  /* STRID_NONE: none or unknown */
	uint64_t flow; /* connection and direction, if the other end is on another host or container; else 0 */
};

/* A process that has ended, and its ID in its PID namespace, or in one around that (0: unknown). */
struct gone {
	struct party party;
	uint64_t vpid, pid_ns;
};

struct channels;

struct relations {
	struct recent rows;
	struct channels *channels;
	struct gone gone[256]; /* processes that ended last, a ring */
	unsigned n_gone;
};

/* The process of a thread; NO_ROW: none. */
struct party relations_party(const struct model *m, uint32_t thread);

/* The row of a relation, touched. hint: a row that may be the same one; refers to this one afterwards. */
struct relation_row *relations_row(struct model *m, const struct relation *what, struct recent_hint *hint);

/* ---- channels.c, sockets.c: pipes and sockets, and their contents; see channels.h ---- */

void channels_create(struct model *m);
void channels_destroy(struct model *m);

/* The service of a socket's connection, and the direction in which packets reach the socket. */
struct channel_end {
	strid object;
	uint64_t flow;     /* as in struct relation: 0 if both ends are known */
	uint64_t out_flow; /* of the other direction */
	struct party peer; /* the process that writes at the other end; uid 0 unknown */
};

/*
 * The connection whose packet woke a thread during the reception of packets: that of the file of its call, else that of
 * the packet that fits best (received.h). False: unknown.
 */
bool channels_woken_by(struct model *m, const struct apply *a, uint32_t thread, struct channel_end *end);

/* A thread that wrote to a unix socket woke one that reads from another: connects these two. */
void channels_join(struct model *m, uint32_t writer_file, uint32_t reader_file);

#endif
