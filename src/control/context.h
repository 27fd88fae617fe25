/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CONTEXT_H
#define LT_CONTROL_CONTEXT_H

#include <stdbool.h>

struct lttng_event_context;

/* Whether the kernel tracer knows this context; perf counters are not covered. */
bool context_is_known(const char *name);

/*
 * Fills *context from a name accepted by context_is_known(), or from PERF_CONTEXT_PREFIX and a counter's name. It owns
 * no memory.
 */
void context_fill(struct lttng_event_context *context, const char *name);

#endif
