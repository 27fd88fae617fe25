/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/machines.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

enum { WORD_BYTES_MAX = 256 }; /* sanitised; a hostname has up to 64 bytes, a boot ID 36 */

struct machine_identity {
	char boot_id[WORD_BYTES_MAX], name[WORD_BYTES_MAX]; /* "": unknown */
};

/* Up to the next blank or the end of the line. */
static const char *take_word(char word[WORD_BYTES_MAX], const char *text)
{
	const size_t len = strcspn(text, " \r\n");

	text_sanitise(word, WORD_BYTES_MAX, text, len);
	return text + len;
}

static struct machine_identity machine_of(const char *output)
{
	static const char mark[] = "lttngtop-machine: ";
	const char *text = g_strrstr(output, mark);
	struct machine_identity m = { .name = "" };

	if (!text)
		return m;
	text = take_word(m.boot_id, text + strlen(mark));
	if (*text == ' ')
		take_word(m.name, text + 1);
	return m;
}

/* Containers have the boot ID of the machine on which they run, and hostnames of their own. */
static enum lt_status compare(const char *host, const struct machine_identity *m, const char *other_host,
			      const struct machine_identity *other, bool stream)
{
	if (!*m->name || strcmp(m->name, other->name) != 0)
		return LT_OK;
	if (*m->boot_id && strcmp(m->boot_id, other->boot_id) == 0)
		return error_set("hosts '%s' and '%s' are the same machine, '%s': give only one of them", host,
				 other_host, m->name);
	if (stream)
		return error_set("hosts '%s' and '%s' have the same hostname, '%s', so a relayd would mix their "
				 "recordings: rename one, or record each with a command of its own and another "
				 "--session",
				 host, other_host, m->name);
	return LT_OK;
}

enum lt_status machines_check(const GPtrArray *hosts, const GPtrArray *outputs, bool stream)
{
	struct machine_identity *machines = g_new(struct machine_identity, hosts->len);
	enum lt_status status = LT_OK;

	for (unsigned i = 0; i < hosts->len && !status; i++) {
		machines[i] = machine_of(g_ptr_array_index(outputs, i));
		for (unsigned k = 0; k < i && !status; k++)
			status = compare(g_ptr_array_index(hosts, k), &machines[k], g_ptr_array_index(hosts, i),
					 &machines[i], stream);
	}
	g_free(machines);
	return status;
}
