/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_RECALL_H
#define LT_READER_NATIVE_RECALL_H

#include <glib.h>
#include <stdint.h>

#include "reader/reader.h"

/*
 * The bytes of a RECALL_METADATA: its length, and the metadata as compressed by zlib. *out stays empty if that fails.
 */
void recall_pack_metadata(GByteArray *out, const void *bytes, size_t len);

/*
 * Opens what the log (source/recall.h) at the descriptor still has of a session's trace, starting at the earliest time
 * from which it is complete; the reader has no streams if there is nothing. args: .paths, .part and .found are not
 * used. LT_ERROR: it cannot be read (error chain).
 */
enum lt_status native_recall_open(const struct reader_args *args, int fd, uint64_t source, uint64_t trace,
				  struct ring_producer *ring, struct reader **out);

#endif
