/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_ROLE_H
#define LT_CTF_ROLE_H

/*
 * The purpose of a field in the header or the context of a packet: in CTF 1.8 given by the field's name, in CTF 2 by
 * its role.
 */
enum packet_field {
	PACKET_MAGIC_NUMBER,
	PACKET_STREAM_ID,
	PACKET_STREAM_INSTANCE_ID,
	PACKET_TIMESTAMP_BEGIN,
	PACKET_TIMESTAMP_END,
	PACKET_CONTENT_SIZE,
	PACKET_PACKET_SIZE,
	PACKET_SEQ_NUM,
	PACKET_EVENTS_DISCARDED,
	PACKET_CPU_ID, /* not a role of CTF 2: identified by its name there too */
	PACKET_UUID,   /* 16 bytes: the trace that the packet belongs to */
	PACKET_FIELDS,
	PACKET_NO_FIELD = -1,
};

/* The field with that name in CTF 1.8; PACKET_NO_FIELD: there is none. */
enum packet_field role_of_name(const char *name);

#endif
