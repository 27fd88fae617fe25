/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_INTERNAL_H
#define LT_CONTROL_INTERNAL_H

#include <lttng/lttng.h>

#include "base/status.h"
#include "control/plan.h"
#include "control/sessions.h"

/* Explains an error code of liblttng-ctl (of either sign) in the error chain; session may be NULL. Returns LT_ERROR. */
enum lt_status tracer_error(int code, const char *session);

/* What the session's channels have lost so far. */
void session_fill_lost(const char *session, struct session_lost *lost);

/* session_created(), but returns liblttng-ctl's code: threads must not write to the error chain. */
int session_read_created(const char *session, uint64_t *time_s);

/* Makes the tracers write a snapshot. LT_ERROR: they did not, or a held signal ended the wait (session_gave_up()). */
enum lt_status session_take_snapshot(const char *name);

#endif
