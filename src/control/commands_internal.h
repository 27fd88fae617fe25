/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_COMMANDS_INTERNAL_H
#define LT_CONTROL_COMMANDS_INTERNAL_H

#include "control/commands.h"

/* ---- commands_setup.c: the caller frees what is returned ---- */

/* Shell lines (char *) that set up the session without starting it; the first one creates it. */
GPtrArray *commands_setup_lines(const struct record_plan *plan);

/* "lttng track" of the session in the domain, to be followed by what to track. */
char *commands_track_line(const struct record_plan *plan, enum record_domain domain);

/* The directory of a session on another host, quoted for the shell there. */
char *commands_remote_dir(const char *session);

#endif
