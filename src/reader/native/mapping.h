/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_MAPPING_H
#define LT_READER_NATIVE_MAPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A part of a file in memory. A file that becomes shorter while it is read does not end the process: what was there
 * reads as zeros from then on, and mapping_torn is set.
 */
struct mapping {
	const uint8_t *data; /* NULL: nothing is mapped */
	size_t len;          /* bytes */
	void *base;          /* of the pages, NULL: they are not a file's */
	size_t size;
};

/* data[0..len[ is the file's [offset, offset + len[; false with errno: it cannot be mapped. len > 0. */
bool mapping_open(struct mapping *m, int fd, uint64_t offset, size_t len);

void mapping_close(struct mapping *m);

extern volatile sig_atomic_t mapping_torn;

/* Whether bytes of any mapping went missing since the last call. */
bool mapping_is_torn(void);

#endif
