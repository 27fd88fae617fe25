/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/role.h"

#include <string.h>

static const char *const names[PACKET_FIELDS] = {
	[PACKET_MAGIC_NUMBER] = "magic",
	[PACKET_STREAM_ID] = "stream_id",
	[PACKET_STREAM_INSTANCE_ID] = "stream_instance_id",
	[PACKET_TIMESTAMP_BEGIN] = "timestamp_begin",
	[PACKET_TIMESTAMP_END] = "timestamp_end",
	[PACKET_CONTENT_SIZE] = "content_size",
	[PACKET_PACKET_SIZE] = "packet_size",
	[PACKET_SEQ_NUM] = "packet_seq_num",
	[PACKET_EVENTS_DISCARDED] = "events_discarded",
	[PACKET_CPU_ID] = "cpu_id",
	[PACKET_UUID] = "uuid",
};

enum packet_field role_of_name(const char *name)
{
	for (unsigned i = 0; i < PACKET_FIELDS; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum packet_field)i;
	return PACKET_NO_FIELD;
}
