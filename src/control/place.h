/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PLACE_H
#define LT_CONTROL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Room of a directory's file system. */
struct place_room {
	uint64_t free_bytes; /* for this user; 0 if there is no such directory */
	bool is_memory;      /* tmpfs and the like: what is stored there is memory that others lack */
};

struct place_room place_room(const char *dir);

/* Where a run's relayd stores, and how much at most. */
struct place {
	bool on_disk; /* else in the runtime directory */
	uint64_t bytes;
};

/*
 * The runtime directory, which disturbs no disk, if that is enough for viewers that are behind: several times what the
 * tracer's buffers hold, all of them together. Else a disk, if that has more. Never more than half of what is free.
 */
struct place place_choose(struct place_room runtime, struct place_room disk, uint64_t buffers_bytes);

#endif
