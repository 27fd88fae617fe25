/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/index.h"

#include <string.h>

#define INDEX_MAGIC UINT32_C(0xc1f1dcc1)

/* An entry may be longer in later versions, its begin stays. */
enum { ENTRY_MAX = 4096 };

/* All integers big-endian. */
struct index_head {
	uint32_t magic, major, minor, packet_bytes;
};

char *index_path(const char *file)
{
	char *directory = g_path_get_dirname(file), *name = g_path_get_basename(file);
	char *path = g_strdup_printf("%s/index/%s.idx", directory, name);

	g_free(directory);
	g_free(name);
	return path;
}

static void add_entry(const char *entry, GArray *packets)
{
	uint64_t words[sizeof(struct index_packet) / sizeof(uint64_t)];

	memcpy(words, entry, sizeof(words));
	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		words[i] = GUINT64_FROM_BE(words[i]);
	g_array_append_vals(packets, words, 1);
}

bool index_read(const char *path, GArray *packets)
{
	struct index_head head;
	gsize size = 0, step;
	char *text = NULL;
	bool ok = g_file_get_contents(path, &text, &size, NULL) && size >= sizeof(head);

	if (ok) {
		memcpy(&head, text, sizeof(head));
		step = GUINT32_FROM_BE(head.packet_bytes);
		ok = head.magic == GUINT32_TO_BE(INDEX_MAGIC) && step >= sizeof(struct index_packet) &&
		     step < ENTRY_MAX;
		for (gsize at = sizeof(head); ok && size - at >= step; at += step)
			add_entry(text + at, packets);
	}
	g_free(text);
	return ok;
}
