/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/fail.h"

static bool has_failed;

int cmd_fail(int status, const char *command)
{
	char text[TEXT_MAX + 1];

	has_failed = true;
	text_sanitise(text, sizeof(text), error_text(), strlen(error_text()));
	fprintf(stderr, "lttngtop: %s\n", text);
	if (status == LT_EXIT_USAGE)
		fprintf(stderr, "Try 'lttngtop%s%s --help'.\n", *command ? " " : "", command);
	return status;
}

bool cmd_has_failed(void)
{
	return has_failed;
}
