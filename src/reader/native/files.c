/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/index.h"
#include "reader/native/internal.h"

/* The packets of data files. */

enum { HEAD_BYTES = 4096 }; /* a packet's header and context fit */

/* ---- heads ---- */

enum lt_status native_read_head(const struct layout *layout, int fd, uint64_t offset, struct packet_head *head)
{
	uint8_t data[HEAD_BYTES];
	ssize_t n;

	do {
		n = pread(fd, data, sizeof(data), (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set("%s", g_strerror(errno));
	return n == 0 ? LT_END : packet_read_head(layout, data, (size_t)n, head);
}

uint64_t native_packet_bytes(const struct packet_head *head, uint64_t rest)
{
	uint64_t bytes = rest;

	if (packet_has(head, PACKET_PACKET_SIZE))
		bytes = head->values[PACKET_PACKET_SIZE] / 8;
	else if (packet_has(head, PACKET_CONTENT_SIZE))
		bytes = (head->values[PACKET_CONTENT_SIZE] + 7) / 8;
	if (8 * (__int128)bytes < head->events_at)
		return 0;
	if (packet_has(head, PACKET_CONTENT_SIZE) && (head->values[PACKET_CONTENT_SIZE] > 8 * (__int128)bytes ||
						      head->values[PACKET_CONTENT_SIZE] < head->events_at))
		return 0;
	return bytes;
}

/* ---- where a file ends ---- */

static bool end_by_index(const struct native_trace *t, const char *path, uint64_t *end_ns)
{
	GArray *packets = g_array_new(FALSE, FALSE, sizeof(struct index_packet));
	char *index = index_path(path);
	bool ok = index_read(index, packets) && packets->len > 0;

	if (ok)
		ok = native_clock_ns(&t->clock, g_array_index(packets, struct index_packet, packets->len - 1).end,
				     end_ns);
	g_array_free(packets, TRUE);
	g_free(index);
	return ok;
}

static uint64_t end_by_packets(const struct native_trace *t, int fd)
{
	uint64_t end_ns = 0, ns, offset = 0, bytes = 0;
	struct packet_head head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	for (; offset < (uint64_t)st.st_size; offset += bytes) {
		if (native_read_head(t->layout, fd, offset, &head) != LT_OK)
			break;
		bytes = native_packet_bytes(&head, (uint64_t)st.st_size - offset);
		if (!bytes)
			break;
		if (packet_has(&head, PACKET_TIMESTAMP_END) &&
		    native_clock_ns(&t->clock, head.values[PACKET_TIMESTAMP_END], &ns))
			end_ns = MAX(end_ns, ns);
	}
	error_clear();
	return end_ns;
}

uint64_t native_file_end_ns(const struct native_trace *t, const char *path)
{
	uint64_t end_ns = 0;
	int fd;

	if (end_by_index(t, path, &end_ns))
		return end_ns;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	end_ns = end_by_packets(t, fd);
	close(fd);
	return end_ns;
}

/* ---- one packet after the other ---- */

static const struct native_file *file_of(const struct native_stream *s)
{
	return &g_array_index(s->files, struct native_file, s->at.file);
}

/* A descriptor that the mark needs stays open. */
static void leave_file(struct native_stream *s)
{
	if (s->at.fd >= 0 && !(s->is_marked && s->at.fd == s->marked.fd))
		close(s->at.fd);
	s->at.fd = -1;
	s->at.file++;
	s->at.offset = 0;
}

static enum lt_status give_up_file(struct native_stream *s, const char *why)
{
	s->at.why = why;
	s->at.packet_at = s->at.offset;
	leave_file(s);
	return LT_ERROR;
}

/*
 * Whether all events of the packet lie before what is wanted. Old tracers write events behind the end that a
 * packet says, up to where the next one begins: another one must follow it in the file.
 */
static bool is_before_range(const struct native_stream *s, const struct packet_head *head, uint64_t bytes)
{
	const struct native_clock *clock = &s->trace->clock;
	struct packet_head next;
	uint64_t end_ns, begin_ns;

	if (!s->skip_to_ns || !packet_has(head, PACKET_TIMESTAMP_END) || !packet_has(head, PACKET_TIMESTAMP_BEGIN) ||
	    !native_clock_ns(clock, head->values[PACKET_TIMESTAMP_END], &end_ns) || end_ns >= s->skip_to_ns ||
	    native_read_head(s->trace->layout, s->at.fd, s->at.offset + bytes, &next) != LT_OK)
		return false;
	return native_clock_ns(clock, next.values[PACKET_TIMESTAMP_BEGIN], &begin_ns) && begin_ns < s->skip_to_ns;
}

/* Maps bytes of the packet and walks over its head. */
static enum lt_status map_bytes(struct native_stream *s, uint64_t bytes, struct packet_head *head)
{
	struct native_cursor *c = &s->at;

	if (!mapping_open(&c->map, c->fd, c->offset, bytes))
		return give_up_file(s, g_strerror(errno));
	c->walk = (struct walk){ .data = c->map.data, .end = 8 * bytes, .slots = s->slots };
	c->packet_at = c->offset;
	if (packet_walk_head(s->trace->layout, &c->walk, head) != LT_OK || mapping_is_torn()) {
		error_clear();
		mapping_close(&c->map);
		return give_up_file(s, NATIVE_TORN);
	}
	return LT_OK;
}

enum lt_status native_map_at(struct native_stream *s, uint64_t size, struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	const uint64_t rest = size - c->offset;
	uint64_t bytes;
	enum lt_status status = native_read_head(s->trace->layout, c->fd, c->offset, head);

	error_clear();
	if (status != LT_OK)
		return give_up_file(s, "no packet begins there");
	if (head->stream != s->group->stream)
		return give_up_file(s, "a packet of another stream");
	bytes = native_packet_bytes(head, rest);
	if (!bytes)
		return give_up_file(s, "a packet of an impossible size");
	c->is_skipped = is_before_range(s, head, bytes);
	c->is_cut = bytes > rest;
	error_clear();
	status = map_bytes(s, MIN(rest, c->is_skipped ? (head->events_at + 7) / 8 : bytes), head);
	if (status == LT_OK)
		c->offset += bytes;
	return status;
}

enum lt_status native_map_packet(struct native_stream *s, struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	struct stat st;

	while (c->file < s->files->len) {
		if (c->fd < 0)
			c->fd = open(file_of(s)->path, O_RDONLY | O_CLOEXEC);
		if (c->fd < 0 || fstat(c->fd, &st) < 0)
			return give_up_file(s, g_strerror(errno));
		if (c->offset < (uint64_t)st.st_size)
			return native_map_at(s, (uint64_t)st.st_size, head);
		leave_file(s);
	}
	return LT_END;
}
