/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ctf/index.h"

/* What a slice may take of the room that is left where it goes, which may be memory. */
enum { ROOM_SHARE = 4 };

/*
 * So many packets before the range come along emptied: the counter of losses in the last of them is what
 * those in the range are counted from, unless it fell to 0 in that one (reader_port.c).
 */
enum { PACKETS_BEFORE = 2 };

/* Packets [first, end[ overlap the range. */
struct choice {
	guint first, end;
};

static struct choice choose(const GArray *packets, const struct slice_range *range)
{
	struct choice c = { 0, packets->len };

	while (c.first < packets->len && g_array_index(packets, struct packet, c.first).end_ns < range->begin_ns)
		c.first++;
	while (c.end > c.first && g_array_index(packets, struct packet, c.end - 1).begin_ns >= range->end_ns)
		c.end--;
	return c;
}

/* The chosen packets follow each other in the file. */
static uint64_t chosen_bytes(const GArray *packets, struct choice c)
{
	uint64_t bytes = 0;

	for (guint i = c.first; i < c.end; i++)
		bytes += g_array_index(packets, struct packet, i).bytes;
	return bytes;
}

static bool has_room(int fd, uint64_t bytes)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) == 0 && bytes / fs.f_frsize < fs.f_bavail / ROOM_SHARE;
}

static bool write_empty(const struct packet_layout *layout, int from, int to, const struct packet *packet)
{
	char empty[EMPTY_PACKET_BYTES];

	return packet_read_empty(layout, from, packet, empty) &&
	       write(to, empty, sizeof(empty)) == (ssize_t)sizeof(empty);
}

static bool copy(int from, int to, off_t offset, uint64_t bytes)
{
	while (bytes > 0) {
		ssize_t n = sendfile(to, from, &offset, MIN(bytes, UINT64_C(1) << 30));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes -= n;
	}
	return true;
}

static bool write_chosen(const struct packet_layout *layout, int from, const GArray *packets, struct choice c,
			 const char *path)
{
	const uint64_t bytes = chosen_bytes(packets, c);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = to >= 0 && has_room(to, bytes + (PACKETS_BEFORE + 1) * EMPTY_PACKET_BYTES);

	for (guint i = c.first > PACKETS_BEFORE ? c.first - PACKETS_BEFORE : 0; ok && i < c.first; i++)
		ok = write_empty(layout, from, to, &g_array_index(packets, struct packet, i));
	if (ok && bytes)
		ok = copy(from, to, g_array_index(packets, struct packet, c.first).offset, bytes);
	if (ok && c.end < packets->len)
		ok = write_empty(layout, from, to, &g_array_index(packets, struct packet, c.end));
	if (to >= 0 && close(to) < 0)
		ok = false;
	if (to >= 0 && !ok)
		unlink(path);
	return ok;
}

bool slice_write(const struct packet_layout *layout, const struct slice_range *range, const char *file,
		 const char *to)
{
	GArray *packets = g_array_new(FALSE, FALSE, sizeof(struct packet));
	int from = open(file, O_RDONLY | O_CLOEXEC);
	char *index = index_path(file);
	bool ok = from >= 0 && packets_list(layout, from, index, packets);

	if (ok) {
		const struct choice c = choose(packets, range);

		ok = c.end - c.first < packets->len && write_chosen(layout, from, packets, c, to);
	}
	if (from >= 0)
		close(from);
	g_free(index);
	g_array_free(packets, TRUE);
	return ok;
}
