/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TEXT_H
#define LT_ATTACH_TEXT_H

#include <stdio.h>

#include "attach/wait.h"

/*
 * Records as strace writes them: a line per call; one that another thread's line cuts in two is "unfinished", then
 * "resumed".
 */
enum attach_stamp { STAMP_NONE, STAMP_SECONDS, STAMP_MICROSECONDS, STAMP_EPOCH };

struct attach_text_options {
	FILE *out;        /* NULL: files of that name, one per thread */
	const char *file; /* -o; NULL: none */
	bool per_thread;  /* -ff: a file FILE.TID for each */
	bool append;      /* these are written behind what they have: -A */
	unsigned column;  /* of results, -a; 0: right behind the call */
	bool comm;        /* -Y: names beside thread numbers */
	bool one_thread;  /* lines need not say whose they are */
	bool many_hosts;  /* they say of which host it is, too */
	enum attach_stamp stamp;
	bool relative; /* -r */
	bool spent;    /* -T */
	bool whole;    /* resumed lines repeat the arguments */
	bool color;
	bool utc;
	bool paths; /* -w */
	unsigned quiet;
};

struct attach_text;

/* The options are borrowed for its life. */
struct attach_text *attach_text_create(const struct attach_text_options *options);
void attach_text_destroy(struct attach_text *text);

/* Writes a record; wait: why its call waited, resolved. */
void attach_text_write(struct attach_text *text, struct ingest *in, const struct attach_record *r,
		       const struct attach_wait *wait);

/* What was written is to be seen now. LT_ERROR: not all could be written. */
enum lt_status attach_text_flush(struct attach_text *text);

#endif
