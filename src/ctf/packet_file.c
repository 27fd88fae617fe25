/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/packet_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
	MAGIC_BYTES = 4,
	CHUNK_BYTES = 1 << 18,
	HEADS_MAX = 1 << 18, /* invalid ones in a search: each takes far more time than other bytes */
};

enum lt_status packet_file_read_head(const struct layout *layout, int fd, uint64_t offset, struct packet_head *head)
{
	uint8_t data[PACKET_HEAD_BYTES];
	ssize_t n;

	do {
		n = pread(fd, data, sizeof(data), (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set("%s", g_strerror(errno));
	return n == 0 ? LT_END : packet_read_head(layout, data, (size_t)n, head);
}

struct file_search {
	const struct layout *layout;
	const struct layout_stream *stream; /* NULL: any */
	uint8_t magic[MAGIC_BYTES];
	uint64_t size;  /* of the file */
	unsigned tried; /* heads */
	struct packet_head *head;
};

/* The bytes at the start of each packet; false: there are none to search for. */
static bool find_magic(struct file_search *s)
{
	const struct type *header = s->layout->packet_header;
	const struct type_field *first;

	if (!header || header->kind != TYPE_STRUCT || !header->fields->len)
		return false;
	first = type_field(header, 0);
	if (first->role != PACKET_MAGIC_NUMBER || first->type->size != 8 * MAGIC_BYTES)
		return false;
	memset(s->magic, 0, sizeof(s->magic));
	bits_write(s->magic, 0, 8 * MAGIC_BYTES, first->type->order, PACKET_MAGIC);
	return true;
}

static bool is_packet(struct file_search *s, const uint8_t *data, size_t len, uint64_t offset)
{
	s->tried++;
	if (packet_read_head(s->layout, data, len, s->head) != LT_OK)
		return false;
	return (!s->stream || s->head->stream == s->stream) && packet_bytes(s->head, s->size - offset) > 0;
}

/*
 * Searches data[0..len[, which is at *offset of the file. Unless the file ends there, stops where a head might be
 * truncated.
 */
static bool search_chunk(struct file_search *s, const uint8_t *data, size_t len, uint64_t *offset)
{
	const size_t end = *offset + len < s->size ? len - PACKET_HEAD_BYTES : len;
	const uint8_t *at = data;

	while (s->tried < HEADS_MAX && (at = memmem(at, len - (size_t)(at - data), s->magic, MAGIC_BYTES)) != NULL &&
	       (size_t)(at - data) < end) {
		const size_t before = (size_t)(at - data);

		if (is_packet(s, at, MIN(len - before, PACKET_HEAD_BYTES), *offset + before)) {
			*offset += before;
			return true;
		}
		at++;
	}
	*offset += end;
	return false;
}

/* Where data follows: no packet starts in a hole of the file, which may be large. */
static uint64_t behind_hole(const struct file_search *s, int fd, uint64_t offset)
{
	const off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	return data >= 0 ? (uint64_t)data : errno == ENXIO ? s->size : offset;
}

static bool search_file(struct file_search *s, int fd, uint64_t *offset)
{
	const uint64_t end = MIN(s->size, *offset + PACKET_BYTES_MAX);
	uint8_t *data = g_malloc(CHUNK_BYTES);
	bool found = false;
	ssize_t n;

	while (!found && s->tried < HEADS_MAX) {
		*offset = behind_hole(s, fd, *offset);
		if (*offset >= end)
			break;
		n = pread(fd, data, (size_t)MIN(CHUNK_BYTES, s->size - *offset), (off_t)*offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= (*offset + (uint64_t)MAX(n, 0) < s->size ? PACKET_HEAD_BYTES : 0))
			break;
		found = search_chunk(s, data, (size_t)n, offset);
	}
	g_free(data);
	error_clear();
	return found;
}

uint64_t packet_file_search(const struct layout *layout, const struct layout_stream *stream, int fd, uint64_t offset,
			    uint64_t size, struct packet_head *head)
{
	struct file_search s = { .layout = layout, .stream = stream, .size = size, .head = head };

	return find_magic(&s) && search_file(&s, fd, &offset) ? offset : size;
}

enum lt_status packet_file_first(const struct layout *layout, int fd, uint64_t size, struct packet_head *head)
{
	const enum lt_status status = packet_file_read_head(layout, fd, 0, head);
	char *why;

	if (status != LT_ERROR)
		return status;
	why = g_strdup(error_text());
	if (packet_file_search(layout, NULL, fd, 1, size, head) < size) {
		g_free(why);
		return LT_OK;
	}
	error_set("%s", why);
	g_free(why);
	return LT_ERROR;
}
