/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "reader/native/internal.h"

/* The packets of data files. */

/* ---- the end of a file ---- */

/* Opens the index of the data file. */
static int open_index(const char *path)
{
	char *index = index_path(path);
	const int fd = open(index, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	g_free(index);
	return fd;
}

static bool end_by_index(const struct native_trace *t, const char *path, uint64_t *end_ns)
{
	const int fd = open_index(path);
	struct index_packet last;
	const bool ok = fd >= 0 && index_read_last(fd, &last) && native_clock_ns(&t->clock, last.end, end_ns);

	if (fd >= 0)
		close(fd);
	return ok;
}

static uint64_t end_by_packets(const struct native_trace *t, int fd)
{
	uint64_t end_ns = 0, ns, offset = 0, bytes;
	struct packet_head head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 0;
	for (; offset < (uint64_t)st.st_size; offset += bytes) {
		bytes = 0;
		if (packet_file_read_head(t->layout, fd, offset, &head) == LT_OK)
			bytes = packet_bytes(&head, (uint64_t)st.st_size - offset);
		if (!bytes) {
			bytes = packet_file_search(t->layout, NULL, fd, offset + 1, (uint64_t)st.st_size, &head) -
				offset;
			continue;
		}
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
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	end_ns = end_by_packets(t, fd);
	close(fd);
	return end_ns;
}

/* ---- packets that are missing ---- */

bool native_find_missing(const char *path, uint64_t size, struct index_missing *missing)
{
	const int fd = open_index(path);
	const bool found = fd >= 0 && index_find_missing(fd, size, missing);

	if (fd >= 0)
		close(fd);
	return found;
}

/* ---- packets in sequence ---- */

static const struct native_file *file_of(const struct native_stream *s)
{
	return &g_array_index(s->files, struct native_file, s->at.file);
}

/* Keeps a descriptor open if the mark needs it. */
static void leave_file(struct native_stream *s)
{
	if (s->at.fd >= 0 && !(s->is_marked && s->at.fd == s->marked.fd))
		close(s->at.fd);
	s->at.fd = -1;
	s->at.file++;
	s->at.offset = 0;
}

/* The packet at .offset cannot be read; the next one is at offset. */
static enum lt_status give_up_packet(struct native_stream *s, const char *why, uint64_t offset)
{
	s->at.why = why;
	s->at.packet_at = s->at.offset;
	s->at.offset = offset;
	return LT_ERROR;
}

/* Nothing valid follows in the file: whether that is because it is still being written. If so, moves to its end. */
static bool ends_unfinished(struct native_stream *s, uint64_t size)
{
	if (!s->base.reader->args.is_unfinished)
		return false;
	s->at.offset = size;
	return true;
}

/* Leaves out the packet at .offset: moves to the next one, whose head this is and whose start ends the unknown time. */
static enum lt_status give_up_until(struct native_stream *s, const char *why, uint64_t size, uint64_t next,
				    const struct packet_head *head)
{
	error_clear();
	if (next >= size && ends_unfinished(s, size))
		return LT_END;
	s->at.has_resume = next < size && packet_has(head, PACKET_TIMESTAMP_BEGIN) &&
			   native_clock_ns(&s->trace->clock, head->values[PACKET_TIMESTAMP_BEGIN], &s->at.resume_ns);
	return give_up_packet(s, why, next);
}

/* The head of the packet at .offset is invalid. */
static enum lt_status give_up_head(struct native_stream *s, const char *why, uint64_t size)
{
	struct packet_head head;
	const uint64_t next =
		packet_file_search(s->trace->layout, s->group->stream, s->at.fd, s->at.offset + 1, size, &head);

	return give_up_until(s, why, size, next, &head);
}

/* The times of the packet at .offset are invalid; its size is not, if another packet of the stream follows it. */
static enum lt_status give_up_times(struct native_stream *s, const char *why, uint64_t bytes, uint64_t size)
{
	const uint64_t next = s->at.offset + MIN(bytes, size - s->at.offset);
	struct packet_head head;

	if (next == size || packet_file_read_head(s->trace->layout, s->at.fd, next, &head) != LT_OK ||
	    head.stream != s->group->stream || !packet_bytes(&head, size - next))
		return give_up_head(s, why, size);
	return give_up_until(s, why, size, next, &head);
}

/*
 * Whether all events of the packet are before the wanted range. Old tracers write events after the end time of a
 * packet, up to the start of the next one, so another packet must follow in the file.
 */
static bool is_before_range(const struct native_stream *s, const struct packet_head *head, uint64_t bytes)
{
	const struct native_clock *clock = &s->trace->clock;
	struct packet_head next;
	uint64_t end_ns, begin_ns;

	if (!s->skip_to_ns || !packet_has(head, PACKET_TIMESTAMP_END) || !packet_has(head, PACKET_TIMESTAMP_BEGIN) ||
	    !native_clock_ns(clock, head->values[PACKET_TIMESTAMP_END], &end_ns) || end_ns >= s->skip_to_ns ||
	    packet_file_read_head(s->trace->layout, s->at.fd, s->at.offset + bytes, &next) != LT_OK)
		return false;
	return native_clock_ns(clock, next.values[PACKET_TIMESTAMP_BEGIN], &begin_ns) && begin_ns < s->skip_to_ns;
}

/* Why a packet could not be mapped. What counts against the limit is the current packets of all streams. */
static LT_COLD const char *why_not_mapped(int error)
{
	struct rlimit most;
	char text[128];

	if (error != ENOMEM || getrlimit(RLIMIT_AS, &most) < 0 || most.rlim_cur == RLIM_INFINITY)
		return error_of_errno(error);
	g_snprintf(text, sizeof(text),
		   "packets exceed the address space of a worker, %" G_GUINT64_FORMAT " MiB: use more --workers",
		   (guint64)(most.rlim_cur >> 20));
	return g_intern_string(text);
}

/* Maps the given bytes of the packet and walks over its head. next: where the next packet starts. */
static enum lt_status map_bytes(struct native_stream *s, uint64_t bytes, uint64_t next, uint64_t size,
				struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	const char *why = NULL;

	/* Packets of other streams may take up so much of the address space that only this one does not fit. */
	if (!mapping_open(&c->map, c->fd, c->offset, bytes))
		return give_up_packet(s, why_not_mapped(errno), next);
	walk_next_packet(&c->walk, c->map.data, 8 * bytes, s->slots);
	c->packet_at = c->offset;
	if (packet_walk_head(s->trace->layout, &c->walk, head) != LT_OK)
		why = g_intern_string(error_text());
	error_clear();
	if (mapping_is_torn()) {
		why = NATIVE_TORN;
		next = size;
	}
	if (!why)
		return LT_OK;
	mapping_close(&c->map);
	return give_up_packet(s, why, next);
}

/*
 * The number of bytes of the packet, nominally `bytes`, that are in the file. A packet that is too long for its file is
 * the last one of a truncated file, unless another one starts inside it.
 */
static uint64_t bytes_in_file(struct native_stream *s, const struct packet_head *head, uint64_t bytes, uint64_t size)
{
	struct native_cursor *c = &s->at;
	struct packet_head next;
	uint64_t end;

	c->cut = NULL;
	if (bytes <= size - c->offset)
		return bytes;
	end = packet_file_search(s->trace->layout, s->group->stream, c->fd, c->offset + (head->events_at + 7) / 8, size,
				 &next);
	c->cut = end < size ? NATIVE_IMPOSSIBLE_SIZE : "the file ends";
	return end - c->offset;
}

/* An end of 0 is unknown: the tracer crashed. */
static bool ends_before_it_begins(const struct packet_head *head)
{
	const uint64_t end = packet_has(head, PACKET_TIMESTAMP_END) ? head->values[PACKET_TIMESTAMP_END] : 0;

	return end && packet_has(head, PACKET_TIMESTAMP_BEGIN) && head->values[PACKET_TIMESTAMP_BEGIN] > end;
}

/* How many of the packet's bytes are needed: its padding may be large, and no part of it is read. */
static uint64_t needed_bytes(const struct native_stream *s, const struct packet_head *head, uint64_t bytes)
{
	if (s->at.is_skipped)
		return MIN(bytes, (head->events_at + 7) / 8);
	if (!packet_has(head, PACKET_CONTENT_SIZE))
		return bytes;
	return MIN(bytes, (head->values[PACKET_CONTENT_SIZE] + 7) / 8);
}

enum lt_status native_map_at(struct native_stream *s, uint64_t size, struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	uint64_t bytes;
	enum lt_status status = packet_file_read_head(s->trace->layout, c->fd, c->offset, head);

	if (status != LT_OK)
		return give_up_head(s, status == LT_END ? NATIVE_TORN : g_intern_string(error_text()), size);
	if (head->stream != s->group->stream)
		return give_up_head(s, "a packet of another stream", size);
	bytes = packet_bytes(head, size - c->offset);
	if (!bytes)
		return give_up_head(s, NATIVE_IMPOSSIBLE_SIZE, size);
	if (ends_before_it_begins(head))
		return give_up_times(s, "a packet that ends before it begins", bytes, size);
	bytes = bytes_in_file(s, head, bytes, size);
	if (bytes > PACKET_BYTES_MAX)
		return give_up_head(s, "more than 1 GiB", size);
	if (c->cut && c->offset + bytes == size && ends_unfinished(s, size))
		return LT_END;
	c->is_skipped = is_before_range(s, head, bytes);
	error_clear();
	status = map_bytes(s, needed_bytes(s, head, bytes), c->offset + bytes, size, head);
	if (status == LT_OK)
		c->offset += bytes;
	return status;
}

/*
 * At the end of the file: whether its index lists more packets, which are reported next. A tracer that is still writing
 * adds packets to the file first: it has grown by then.
 */
static bool ends_too_early(struct native_stream *s, uint64_t size)
{
	struct native_cursor *c = &s->at;
	struct stat st;

	c->is_gone = c->fd < 0;
	if (s->base.reader->args.is_unfinished || !native_find_missing(file_of(s)->path, size, &c->missing))
		return false;
	if (c->is_gone || (fstat(c->fd, &st) == 0 && (uint64_t)st.st_size <= size))
		return true;
	c->missing.packets = 0;
	return false;
}

enum lt_status native_map_packet(struct native_stream *s, struct packet_head *head)
{
	struct native_cursor *c = &s->at;
	struct stat st;
	bool is_short;

	while (c->file < s->files->len) {
		if (c->fd < 0)
			c->fd = open(file_of(s)->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (c->fd < 0 || fstat(c->fd, &st) < 0) {
			is_short = errno == ENOENT;
			give_up_packet(s, error_of_errno(errno), 0);
			if (is_short)
				ends_too_early(s, 0);
			leave_file(s);
			return LT_ERROR;
		}
		if (c->offset < (uint64_t)st.st_size) {
			const enum lt_status status = native_map_at(s, (uint64_t)st.st_size, head);

			if (status != LT_END)
				return status;
		}
		is_short = ends_too_early(s, (uint64_t)st.st_size);
		leave_file(s);
		if (is_short)
			return LT_ERROR;
	}
	return LT_END;
}
