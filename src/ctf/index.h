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

/*
 * Reads the last complete entry of an index, which may be growing. fd: opened with O_NONBLOCK, because anything may
 * have that name. false: there is none, or it is not an index.
 */
bool index_read_last(int fd, struct index_packet *packet);

/* The packets of an index that start behind the end of its data file. */
struct index_missing {
	uint64_t listed;     /* in the whole index */
	uint64_t packets;    /* those that are missing */
	uint64_t begin, end; /* of the missing ones, in cycles */
	uint64_t stream_class, instance;
	bool has_instance;
};

/* size: of the data file, in bytes. fd: as for index_read_last(). false: nothing is missing, or it is not an index. */
bool index_find_missing(int fd, uint64_t size, struct index_missing *missing);

#endif
