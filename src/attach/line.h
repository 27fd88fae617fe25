/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_LINE_H
#define LT_ATTACH_LINE_H

#include "attach/wait.h"

/*
 * A record as a single line with the positions of its parts, for callers that show lines one by one. Calls are whole:
 * the tracer must not emit ENTRY records (attach_tracer_options.whole_calls).
 *
 *   read(5</etc/passwd>, 0x7f…, 4096) = -1 EINTR (…) <0.004210> [blocked 4.1 ms, woken by cron/812]
 *   ╵name╵                              ╵result    ╵
 */
struct attach_line {
	GString *text;
	uint32_t name;               /* length of the call's name in bytes; 0: not a call */
	uint32_t result, result_end; /* equal: there is no result */
	bool failed;
};

void attach_line_init(struct attach_line *line);
void attach_line_release(struct attach_line *line);

/* When the call or event started, in reference time: its place among other lines. */
uint64_t attach_record_begin(const struct attach_record *r);

/* Formats the record; wait: resolved, why its call waited. */
void attach_line_set(struct attach_line *line, struct ingest *in, const struct attach_record *r,
		     const struct attach_wait *wait);

#endif
