/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/place.h"

#include <glib.h>
#include <linux/magic.h>
#include <sys/statfs.h>

enum { BUFFERS_BEHIND = 4 }; /* room for the buffers' contents this many times over */

static const uint64_t runtime_bytes_max = UINT64_C(256) << 20;
static const uint64_t disk_bytes_max = UINT64_C(1) << 30;

struct place_room place_room(const char *dir)
{
	struct place_room room = { 0 };
	struct statfs fs;

	if (statfs(dir, &fs) == 0) {
		room.free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
		room.is_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
	}
	return room;
}

struct relay_place place_choose(struct place_room runtime, struct place_room disk, uint64_t buffers_bytes)
{
	const struct relay_place in_runtime = { .bytes = MIN(runtime_bytes_max, runtime.free_bytes / 2) };
	const struct relay_place on_disk = { .on_disk = true, .bytes = MIN(disk_bytes_max, disk.free_bytes / 2) };
	const uint64_t enough = MIN(runtime_bytes_max, BUFFERS_BEHIND * buffers_bytes);

	return in_runtime.bytes >= enough || disk.is_memory || on_disk.bytes <= in_runtime.bytes ? in_runtime : on_disk;
}
