/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/netfs.h"

#include <glib.h>
#include <string.h>

bool netfs_is_type(const char *type)
{
	const size_t len = strlen(type);
	const char *end;

	for (const char *name = NETFS_TYPES; *name; name = *end ? end + 1 : end) {
		end = name + strcspn(name, "|");
		if ((size_t)(end - name) == len && memcmp(name, type, len) == 0)
			return true;
	}
	return false;
}

size_t netfs_server(const char *type, const char *source, char *server, size_t size)
{
	const char *end = NULL, *at;

	if (source[0] && source[0] == source[1] && strchr("/\\", source[0])) {
		source += 2;
		end = source + strcspn(source, "/\\");
	} else if (source[0] == '[') {
		end = strchr(++source, ']');
	} else {
		end = strchr(source, ':');
	}
	if (!end || memchr(source, '/', (size_t)(end - source)))
		return 0;
	at = memchr(source, '@', (size_t)(end - source));
	/* Lustre puts the network after the server; others put the user before it. */
	if (at && strcmp(type, "lustre") == 0)
		end = at;
	else if (at)
		source = at + 1;
	g_strlcpy(server, source, MIN(size, (size_t)(end - source) + 1));
	return strlen(server);
}
