/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_ATTACH_OPTIONS_H
#define LT_CMD_ATTACH_OPTIONS_H

#include <stdbool.h>

#include "attach/filter.h"
#include "attach/select.h"
#include "base/status.h"
#include "cli/options.h"
#include "cmd/attach/containers.h"

/* The options of lttngtop attach. Errors are in the error chain and name the option; they are wrong usage. */

/* Whether a COMMAND is traced, instead of reading sources. */
bool attach_has_command(const struct options *o);

/* Whether each thread is written to a file of its own. */
bool attach_has_files(const struct options *o);

/* LT_ERROR: options that do not go together. */
enum lt_status attach_check_options(const struct options *o);

/*
 * Chooses the threads of -p, -n, --container and --host. select: initialised; it borrows containers, which are
 * initialised here. LT_ERROR: one of them is invalid, or there is none.
 */
enum lt_status attach_choose_threads(const struct options *o, struct attach_select *select,
				     struct attach_containers *containers);

/* Chooses the calls of -e, -z, -Z and -P, and sets the style of constants. filter: initialised. LT_ERROR: see above. */
enum lt_status attach_choose_calls(const struct options *o, struct attach_filter *filter);

#endif
