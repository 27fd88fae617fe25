/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_RELATIONS_H
#define LT_MODEL_RELATIONS_H

/*
 * Who talks to whom and who wakes whom, process by process: rows of
 * TABLE_RELATION. relations.c has what wake-ups, signals and exits tell, channels.c
 * and sockets.c the bytes. Inside model/ only.
 */
#include "model/files.h"
#include "model/recent.h"

/* A process at one end of a relation. uid 0: not known, or on another host. */
struct party {
	uint64_t uid; /* of its main thread's row */
	int64_t pid;
	strid comm;
};

struct relation {
	struct party from, to;
	enum relation_kind kind;
	strid object;  /* STRID_NONE: none, or unknown */
	uint64_t flow; /* the other end is on another host (or in another container): which direction of which
			  connection; 0: both ends are known */
};

struct channels;

struct relations {
	struct recent rows;
	struct channels *channels;
	struct party gone[256]; /* processes that ended last: a ring */
	unsigned n_gone;
};

/* The process of a thread; NO_ROW: nobody. */
struct party relations_party(const struct model *m, uint32_t thread);

/* The row of a relation, touched. hint: of one that may be the same; holds this one afterwards. */
struct relation_row *relations_row(struct model *m, const struct relation *what, struct recent_hint *hint);

/* ---- channels.c, sockets.c: pipes and sockets, and what is in them; see channels.h ---- */

void channels_create(struct model *m);
void channels_destroy(struct model *m);

/* The service that a socket's connection is about and the direction in which packets reach it. */
struct channel_end {
	strid object;
	uint64_t flow;     /* as struct relation's: 0 if both ends are known */
	uint64_t out_flow; /* the other direction */
	struct party peer; /* who writes at the other end; uid 0 unknown */
};

/*
 * The connection by which a packet reached a thread that was woken in the
 * reception of packets: that of its call's file, else of the last packet that came in on
 * the CPU. False: unknown.
 */
bool channels_woken_by(struct model *m, const struct apply *a, uint32_t thread, struct channel_end *end);

/* A thread that wrote to a unix socket woke one that reads another: these two are connected. */
void channels_join(struct model *m, uint32_t writer_file, uint32_t reader_file);

#endif
