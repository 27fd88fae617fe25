/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_MISSING_H
#define LT_CMD_ATTACH_MISSING_H

#include <stdbool.h>

#include "attach/select.h"
#include "cli/options.h"
#include "cmd/attach/containers.h"
#include "ingest/ingest.h"

/* Says on standard error what was asked for and did not occur: hosts, threads, calls. For the end of the reading. */
struct attach_missing {
	bool outside; /* the chosen time is not that of the recording, which has been said: nothing was looked at */
	const struct options *options;
	struct ingest *in;
	const struct attach_select *select;
	const struct attach_containers *containers;
	bool chose;     /* attach_tracer_chose() */
	bool any;       /* a chosen thread had an event that is shown */
	bool by_status; /* -z, -Z or -e status= */
	bool left_out;  /* it made selected calls, but these and --waits left all of them out */
};

void attach_say_missing(const struct attach_missing *m);

#endif
