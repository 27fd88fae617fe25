/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_TEXT_H
#define LT_ATTACH_TEXT_H

#include <stdio.h>

#include "attach/wait.h"

/*
 * Writes records as strace does: one line per call; a call interrupted by another thread's line is shown as
 * "unfinished" and later "resumed".
 */
enum attach_stamp { STAMP_NONE, STAMP_SECONDS, STAMP_MICROSECONDS, STAMP_EPOCH };

struct attach_text_options {
	FILE *out;        /* NULL: one file per thread */
	const char *file; /* -o; NULL: none */
	bool per_thread;  /* -ff: one file FILE.TID for each thread */
	bool append;      /* -A: append to existing files */
	unsigned column;  /* -a: column of results; 0: right after the call */
	bool comm;        /* -Y: command names next to thread numbers */
	bool one_thread;  /* lines need not name their thread */
	bool many_hosts;  /* lines must name their host */
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

/* The options are borrowed until attach_text_destroy(). */
struct attach_text *attach_text_create(const struct attach_text_options *options);
void attach_text_destroy(struct attach_text *text);

/* Writes a record; wait: resolved, why its call waited. */
void attach_text_write(struct attach_text *text, struct ingest *in, const struct attach_record *r,
		       const struct attach_wait *wait);

/* Flushes all output. LT_ERROR: some of it could not be written, see the error chain. */
enum lt_status attach_text_flush(struct attach_text *text);

#endif
