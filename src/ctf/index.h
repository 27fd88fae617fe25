/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_INDEX_H
#define LT_CTF_INDEX_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * LTTng's index files: the places, sizes and times of the packets in a data file. Times are in cycles of the trace's
 * clock.
 */
struct index_packet {
	uint64_t offset, packet_bits, content_bits, begin, end, discarded, stream_class;
};

/* DIRECTORY/FILE → DIRECTORY/index/FILE.idx; to be freed. */
char *index_path(const char *file);

/* Appends all packets (struct index_packet). false: the file does not exist or is not an index. */
bool index_read(const char *path, GArray *packets);

/* Reads the last complete entry of an index, which may be growing. false: there is none. */
bool index_read_last(int fd, struct index_packet *packet);

#endif
