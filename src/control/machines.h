/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_MACHINES_H
#define LT_CONTROL_MACHINES_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"

/*
 * Which machines the hosts of a plan are: two of them may be the same under two names, or different ones that share a
 * hostname, below which a relayd stores what each of them streams.
 */

/* A script for sh whose output names the machine. */
#define MACHINES_SCRIPT "echo \"lttngtop-machine: $(cat /proc/sys/kernel/random/boot_id 2>/dev/null) $(uname -n)\""

/*
 * outputs: of the script on each host (char *). A login shell may have printed more; a host that does not say which
 * machine it is differs from all others. stream: they stream to one relayd. LT_ERROR: two of them must not be recorded
 * together.
 */
enum lt_status machines_check(const GPtrArray *hosts, const GPtrArray *outputs, bool stream);

#endif
