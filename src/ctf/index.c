/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/index.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_MAGIC UINT32_C(0xc1f1dcc1)

/* Entries may be longer in later versions, but start with the same members. */
enum { ENTRY_MAX = 4096, ENTRY_WORDS = sizeof(struct index_packet) / sizeof(uint64_t) };

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

/* The number of complete entries. */
static uint64_t count_entries(int fd, gsize *step)
{
	struct index_head head;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(head) ||
	    pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	*step = entry_bytes(&head);
	return *step ? ((uint64_t)st.st_size - sizeof(head)) / *step : 0;
}

/* Words of entry i, from the one with this number on. */
static bool read_words(int fd, gsize step, uint64_t i, unsigned first, uint64_t *words, unsigned n)
{
	const uint64_t at = sizeof(struct index_head) + i * step + first * sizeof(*words);
	const size_t size = n * sizeof(*words);

	if (pread(fd, words, size, (off_t)at) != (ssize_t)size)
		return false;
	for (unsigned k = 0; k < n; k++)
		words[k] = GUINT64_FROM_BE(words[k]);
	return true;
}

static bool read_entry(int fd, gsize step, uint64_t i, struct index_packet *packet)
{
	uint64_t words[ENTRY_WORDS];

	if (!read_words(fd, step, i, 0, words, ENTRY_WORDS))
		return false;
	memcpy(packet, words, sizeof(*packet));
	return true;
}

bool index_read_last(int fd, struct index_packet *packet)
{
	gsize step = 0;
	const uint64_t entries = count_entries(fd, &step);

	return entries && read_entry(fd, step, entries - 1, packet);
}

bool index_find_missing(int fd, uint64_t size, struct index_missing *missing)
{
	struct index_packet packet = { .offset = 0 };
	gsize step = 0;
	const uint64_t listed = count_entries(fd, &step);
	uint64_t low = 0, high = listed;

	*missing = (struct index_missing){ .listed = listed };
	if (!listed || !read_entry(fd, step, listed - 1, &packet) || packet.offset < size)
		return false;
	missing->end = packet.end;
	/* A binary search for the first of them: an index may claim to list any number of packets. */
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (!read_entry(fd, step, middle, &packet))
			return false;
		if (packet.offset < size)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == listed || !read_entry(fd, step, low, &packet))
		return false;
	missing->packets = listed - low;
	missing->begin = packet.begin;
	missing->stream_class = packet.stream_class;
	if (step > sizeof(packet))
		missing->has_instance = read_words(fd, step, listed - 1, ENTRY_WORDS, &missing->instance, 1);
	return true;
}
