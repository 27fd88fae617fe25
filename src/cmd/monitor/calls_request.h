/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_MONITOR_CALLS_REQUEST_H
#define LT_CMD_MONITOR_CALLS_REQUEST_H

#include "attach/filter.h"
#include "attach/line.h"
#include "attach/select.h"
#include "attach/tracer.h"
#include "ui/lines.h"
#include "ui/ui.h"

/* Translates the request of the calls pane (struct ui_calls_request) for attach/, and records into the pane's lines. */
struct calls_request {
	unsigned number; /* 0: no request so far */
	struct attach_select select;
	struct attach_filter filter;
	char *problem; /* with the filter; NULL: none */
	struct attach_line line;
	struct attach_wait wait;
};

void calls_request_init(struct calls_request *w);
void calls_request_release(struct calls_request *w);

/*
 * Options for a tracer of the request: whole calls, paths and peers, no end. The caller sets emit, user and the rest.
 */
struct attach_tracer_options calls_request_tracer(struct calls_request *w);

/* Whether a filter of the pane, of events or of calls, is valid. LT_ERROR: see the error chain. */
enum lt_status calls_request_check(const char *filter, bool events);

/* Sets a request for other threads or calls; first destroy a tracer created for the previous one. */
void calls_request_set(struct calls_request *w, const struct ui_calls_request *request);

/* Sets a record's text, borrowed until the next call, and the positions in it; .at_ns, .tid and .data are unchanged. */
void calls_request_text(struct calls_request *w, struct ingest *in, const struct attach_record *r,
			struct calls_line *line);

#endif
