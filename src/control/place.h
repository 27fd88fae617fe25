/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_PLACE_H
#define LT_CONTROL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Free space in a directory's file system. */
struct place_room {
	uint64_t free_bytes; /* for this user; 0 if there is no such directory */
	bool is_memory;      /* tmpfs and the like, where files take memory */
};

struct place_room place_room(const char *dir);

/* Where a run's relayd stores its files, and its limit. */
struct relay_place {
	bool on_disk; /* otherwise in the runtime directory */
	uint64_t bytes;
};

/*
 * Prefers the runtime directory, which causes no disk I/O, if it has room for several times the contents of all tracer
 * buffers, so that viewers can lag; otherwise a disk, if that has more room. Never uses more than half of the free
 * space.
 */
struct relay_place place_choose(struct place_room runtime, struct place_room disk, uint64_t buffers_bytes);

#endif
