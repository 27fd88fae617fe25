/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/index.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_MAGIC UINT32_C(0xc1f1dcc1)

/* Entries may be longer in later versions, but start with the same members. */
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

/* Size of each entry in bytes; 0: not an index. */
static gsize entry_bytes(const struct index_head *head)
{
	const gsize bytes = GUINT32_FROM_BE(head->packet_bytes);

	return head->magic == GUINT32_TO_BE(INDEX_MAGIC) && bytes >= sizeof(struct index_packet) && bytes < ENTRY_MAX
		       ? bytes
		       : 0;
}

static struct index_packet decode(const char *entry)
{
	uint64_t words[sizeof(struct index_packet) / sizeof(uint64_t)];
	struct index_packet packet;

	memcpy(words, entry, sizeof(words));
	for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
		words[i] = GUINT64_FROM_BE(words[i]);
	memcpy(&packet, words, sizeof(packet));
	return packet;
}

bool index_read_last(int fd, struct index_packet *packet)
{
	char entry[sizeof(struct index_packet)];
	struct index_head head;
	uint64_t entries;
	struct stat st;
	gsize step;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return false;
	step = entry_bytes(&head);
	entries = step ? ((uint64_t)st.st_size - sizeof(head)) / step : 0;
	if (!entries || pread(fd, entry, sizeof(entry), (off_t)(sizeof(head) + (entries - 1) * step)) != sizeof(entry))
		return false;
	*packet = decode(entry);
	return true;
}
