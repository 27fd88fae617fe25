/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_GLANCE_H
#define LT_CONTROL_GLANCE_H

#include <stdbool.h>

/*
 * Whether this machine's kernel can be traced by this user, as far as can be seen without starting a process: root,
 * the daemons, the tracer's modules. False may also mean that only facts_ask() finds out; it takes some seconds on a
 * slow machine.
 */
bool glance_can_trace(void);

/* The part about the modules: the tracer is loaded in the kernel whose sysfs this is, or named in a modules.dep. */
bool glance_has_tracer(const char *sysfs, const char *modules_dep);

#endif
