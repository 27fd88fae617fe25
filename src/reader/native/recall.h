/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_RECALL_H
#define LT_READER_NATIVE_RECALL_H

#include <stdint.h>

#include "reader/reader.h"

/* The start of a RECALL_METADATA's bytes, which are followed by the metadata as compressed by zlib. */
struct recall_metadata {
	uint64_t len; /* of the metadata */
};

/*
 * Opens what the log (source/recall.h) at the descriptor still has of a source's kernel trace, from the time on from
 * which it is complete. args: .paths, .part and .found are not used. LT_ERROR: there is nothing, or it cannot be read.
 */
enum lt_status native_recall_open(const struct reader_args *args, int fd, uint64_t source, struct ring_producer *ring,
				  struct reader **out);

#endif
