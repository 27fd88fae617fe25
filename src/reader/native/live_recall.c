/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <zlib.h>

#include "reader/native/live_internal.h"
#include "reader/native/recall.h"
#include "source/recall.h"

/*
 * A live session's part of the log of the latest data: the packets of its kernel traces as they are decoded, and their
 * metadata. That is large, and must not be dropped before the packets: it is compressed, and added again when it gets
 * old.
 */

/* Returns whether .packed_metadata is up to date. */
static bool pack_metadata(struct live_trace *t)
{
	const struct recall_metadata head = { .len = t->metadata->len };
	uLongf len = compressBound(t->metadata->len);
	GByteArray *packed = t->packed_metadata;

	if (packed && t->n_packed == t->metadata->len)
		return packed->len > 0;
	if (!packed)
		packed = t->packed_metadata = g_byte_array_new();
	t->n_packed = t->metadata->len;
	g_byte_array_set_size(packed, (guint)(sizeof(head) + len));
	memcpy(packed->data, &head, sizeof(head));
	if (compress2(packed->data + sizeof(head), &len, t->metadata->data, t->metadata->len, Z_BEST_SPEED) != Z_OK)
		g_byte_array_set_size(packed, 0);
	else
		g_byte_array_set_size(packed, (guint)(sizeof(head) + len));
	t->is_recalled = false;
	return packed->len > 0;
}

static bool add_metadata(struct recall *log, uint64_t source, struct live_trace *t)
{
	struct recall_entry e = { .kind = RECALL_METADATA, .source = source, .trace = t->id };

	if (!pack_metadata(t))
		return false;
	if (t->is_recalled && !recall_is_old(log, t->recalled_at))
		return true;
	e.len = t->packed_metadata->len;
	t->is_recalled = recall_add(log, &e, t->packed_metadata->data);
	t->recalled_at = e.position;
	return t->is_recalled;
}

void live_recall_packet(const struct live_stream *s)
{
	struct recall *log = s->live->recall;
	struct recall_entry e = {
		.kind = RECALL_PACKET,
		.source = s->live->recall_source,
		.trace = s->trace->id,
		.len = s->packet->len,
	};

	if (!log || !s->viewer || !s->trace->base.kernel)
		return;
	e.stream = s->viewer->id;
	if (add_metadata(log, e.source, s->trace))
		recall_add(log, &e, s->packet->bytes);
}
