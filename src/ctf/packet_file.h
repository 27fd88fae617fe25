/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_PACKET_FILE_H
#define LT_CTF_PACKET_FILE_H

#include "ctf/packet.h"

/* The packets of a data file, which may be damaged: where it continues after an invalid head, at the next valid one. */

enum { PACKET_HEAD_BYTES = 4096 }; /* enough for a packet's header and context */

/* Longer packets are left out: no tracer writes them. */
#define PACKET_BYTES_MAX (UINT64_C(1) << 30)

/* Reads the head of the packet at an offset of a file. LT_END: the file ends there. Else as packet_read_head(). */
enum lt_status packet_file_read_head(const struct layout *layout, int fd, uint64_t offset, struct packet_head *head);

/*
 * Searches a file of size bytes, from offset on, for a packet of the stream (NULL: of any stream). Returns its offset
 * and *head; size: there is none within PACKET_BYTES_MAX, or very many bytes before it look like heads and are not.
 */
uint64_t packet_file_search(const struct layout *layout, const struct layout_stream *stream, int fd, uint64_t offset,
			    uint64_t size, struct packet_head *head);

/*
 * Reads the head of the first valid packet in the file. If there is none, returns as packet_file_read_head() at its
 * start.
 */
enum lt_status packet_file_first(const struct layout *layout, int fd, uint64_t size, struct packet_head *head);

#endif
