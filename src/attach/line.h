/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_LINE_H
#define LT_ATTACH_LINE_H

#include "attach/wait.h"

/*
 * A record as one line, and where its parts stand, for who shows lines one by one. Calls are whole: their tracer hands
 * over no ENTRY (attach_tracer_options.whole_calls).
 *
 *   read(5</etc/passwd>, 0x7f…, 4096) = -1 EINTR (…) <0.004210> [blocked 4.1 ms, woken by cron/812]
 *   ╵name╵                              ╵result    ╵
 */
struct attach_line {
	GString *text;
	uint32_t name;               /* bytes of the call's name; 0: it is not one */
	uint32_t result, result_end; /* equal: it has none */
	bool failed;
};

void attach_line_init(struct attach_line *line);
void attach_line_release(struct attach_line *line);

/* When what the line is about began, reference time: where it stands among others. */
uint64_t attach_record_begin(const struct attach_record *r);

/* wait: why the record's call waited, resolved. */
void attach_line_set(struct attach_line *line, struct ingest *in, const struct attach_record *r,
		     const struct attach_wait *wait);

#endif
