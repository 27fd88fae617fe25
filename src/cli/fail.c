/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/fail.h"

static bool has_failed;

int cmd_fail(int status, const char *command)
{
	has_failed = true;
	log_say("%s", error_text());
	if (status == LT_EXIT_USAGE)
		fprintf(stderr, "Try 'lttngtop%s%s --help'.\n", *command ? " " : "", command);
	return status;
}

bool cmd_has_failed(void)
{
	return has_failed;
}
