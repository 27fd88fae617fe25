/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_CALLS_REQUEST_H
#define LT_CMD_CALLS_REQUEST_H

#include "attach/filter.h"
#include "attach/line.h"
#include "attach/select.h"
#include "attach/tracer.h"
#include "ui/lines.h"
#include "ui/ui.h"

/* What the pane of calls wants (struct ui_calls_request), as attach/ takes it, and its lines of records. */
struct calls_request {
	unsigned number; /* 0: nothing was wanted so far */
	struct attach_select select;
	struct attach_filter filter;
	char *problem; /* with the filter, NULL: none */
	struct attach_line line;
	struct attach_wait wait;
};

void calls_request_init(struct calls_request *w);
void calls_request_release(struct calls_request *w);

/* A tracer of them: whole calls, paths and peers, no end. emit, user and what else is wanted the caller sets. */
struct attach_tracer_options calls_request_tracer(struct calls_request *w);

/* Other threads or calls than before: a tracer of the earlier ones is to be destroyed first. */
void calls_request_set(struct calls_request *w, const struct ui_calls_request *request);

/* The text of a record and where its parts stand; borrowed until the next one. .at_ns, .tid, .data stay. */
void calls_request_text(struct calls_request *w, struct ingest *in, const struct attach_record *r,
			struct calls_line *line);

#endif
