/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_INDEX_H
#define LT_CTF_INDEX_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* LTTng's index files: what the packets of a data file say of themselves. Times in cycles of the trace's clock. */
struct index_packet {
	uint64_t offset, packet_bits, content_bits, begin, end, discarded, stream_class;
};

/* DIRECTORY/FILE → DIRECTORY/index/FILE.idx; to be freed. */
char *index_path(const char *file);

/* Appends all packets (struct index_packet). false: there is no such file, or it is not one. */
bool index_read(const char *path, GArray *packets);

/* The last entry that is there as a whole, of an index that may be growing. false: there is none. */
bool index_read_last(int fd, struct index_packet *packet);

#endif
