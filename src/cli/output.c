/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

static int failed; /* errno of the first write that failed */

bool output_has_failed(void)
{
	if (!failed && ferror(stdout))
		failed = errno ? errno : EIO;
	return failed;
}

enum lt_status output_flush(void)
{
	fflush(stdout);
	if (!output_has_failed())
		return LT_OK;
	return error_set("cannot write to standard output: %s", error_of_errno(failed));
}
