/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_INTERNAL_H
#define LT_CONTROL_INTERNAL_H

#include <lttng/lttng.h>

#include "base/status.h"
#include "control/plan.h"

/* A domain as liblttng-ctl wants it. User-space buffers are per user: a live viewer does not bear those per process. */
struct lttng_domain tracer_domain(enum record_domain domain);

/* Puts what a code of liblttng-ctl (either sign) means into the error chain; session may be NULL. Returns LT_ERROR. */
enum lt_status tracer_error(int code, const char *session);

#endif
