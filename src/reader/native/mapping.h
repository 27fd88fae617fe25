/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_MAPPING_H
#define LT_READER_NATIVE_MAPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A part of a file in memory. If the file is truncated while it is read, the missing part reads as zeros and
 * mapping_torn is set, instead of ending the process.
 */
struct mapping {
	const uint8_t *data; /* NULL: not mapped */
	size_t len;          /* bytes */
	void *base;          /* of the pages, NULL: not pages of a file */
	size_t size;
};

/* Maps the file's [offset, offset + len[ to data[0..len[; false with errno: it cannot be mapped. len > 0. */
bool mapping_open(struct mapping *m, int fd, uint64_t offset, size_t len);

void mapping_close(struct mapping *m);

extern volatile sig_atomic_t mapping_torn;

/* Whether bytes of any mapping have disappeared since the last call. */
bool mapping_is_torn(void);

#endif
