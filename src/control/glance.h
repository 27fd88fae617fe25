/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_GLANCE_H
#define LT_CONTROL_GLANCE_H

#include <stdbool.h>

/*
 * Whether this user can probably trace this machine's kernel, judged without starting a process: who it is, the
 * daemons, the tracer's modules. False may be wrong: only facts_ask() finds out, which takes seconds on a slow machine.
 */
bool glance_can_trace(void);

/* Whether the tracer is loaded in the kernel of this sysfs, or named in a modules.dep. */
bool glance_has_tracer(const char *sysfs, const char *modules_dep);

#endif
