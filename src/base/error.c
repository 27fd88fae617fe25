/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char chain[1024];

enum lt_status error_set(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(chain, sizeof(chain), fmt, ap);
	va_end(ap);
	return LT_ERROR;
}

enum lt_status error_wrap(const char *fmt, ...)
{
	char inner[sizeof(chain)];
	size_t used;
	va_list ap;
	int n;

	memcpy(inner, chain, sizeof(inner));
	va_start(ap, fmt);
	n = vsnprintf(chain, sizeof(chain), fmt, ap);
	va_end(ap);
	used = n < 0 ? 0 : (size_t)n;
	if (inner[0] && used < sizeof(chain))
		snprintf(chain + used, sizeof(chain) - used, ": %.900s", inner);
	return LT_ERROR;
}

enum lt_status error_add(const char *fmt, ...)
{
	size_t used;
	va_list ap;

	g_strlcat(chain, "; ", sizeof(chain));
	used = strlen(chain);
	va_start(ap, fmt);
	vsnprintf(chain + used, sizeof(chain) - used, fmt, ap);
	va_end(ap);
	return LT_ERROR;
}

enum lt_status error_join(char *earlier, enum lt_status later)
{
	char *reason = later ? g_strdup(chain) : NULL;
	enum lt_status status = later;

	if (earlier)
		status = error_set("%s%s%s", earlier, reason ? "; " : "", reason ? reason : "");
	g_free(reason);
	g_free(earlier);
	return status;
}

const char *error_text(void)
{
	return chain;
}

void error_clear(void)
{
	chain[0] = '\0';
}

const char *error_of_errno(int number)
{
	switch (number) {
	case EMFILE:
		return ERROR_TOO_MANY_FILES;
	case EFBIG:
		return "File too large: raise the limit of 'ulimit -f'";
	default:
		return g_strerror(number);
	}
}
