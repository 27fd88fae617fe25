/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_JOB_H
#define LT_SOURCE_JOB_H

/*
 * What a worker is told to do, in its arguments behind "--worker MEMORY WAKE" (descriptors of its ring):
 *
 *   recording READER PART PARTS NAME BEGIN END FILES BYTES DIRECTORY...
 *   live URL TIMEOUT_MS FROM_START
 *   list URL TIMEOUT_MS EVERY_MS
 *   follow DIRECTORY PATIENCE_MS
 */
#define JOB_RECORDING "recording"
#define JOB_LIVE "live"
#define JOB_LIST "list"
#define JOB_FOLLOW "follow"

enum { JOB_FIRST = 2, JOB_URL_ARGUMENTS = 4, JOB_FOLLOW_ARGUMENTS = 3, JOB_RECORDING_ARGUMENTS = 10 };

/* READER: whatever can read it. */
#define JOB_ANY_READER "auto"

#endif
