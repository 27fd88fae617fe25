/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/map64.h"
#include "reader/native/live_internal.h"
#include "reader/native/recall.h"
#include "source/recall.h"

/*
 * A live session's part of the log of the latest data: the packets of its traces as they are decoded, and their
 * metadata. That is large, and must not be dropped before the packets: it is compressed, and added again when it gets
 * old, also while there are no packets, and after the last one.
 */

/* Another relayd may use the same number, for a trace with another UUID. */
static uint64_t number_of(const struct live_trace *t)
{
	const struct native_trace *newest = live_trace_newest(t);
	uint64_t halves[2] = { 0 };

	if (newest && newest->layout->has_uuid)
		memcpy(halves, newest->layout->uuid, sizeof(halves));
	return map64_mix(map64_mix(t->id, halves[0]), halves[1]);
}

/* Returns whether .packed_metadata is up to date. */
static bool pack_metadata(struct live_trace *t)
{
	if (!t->packed_metadata)
		t->packed_metadata = g_byte_array_new();
	if (t->n_packed != t->metadata->len) {
		recall_pack_metadata(t->packed_metadata, t->metadata->data, t->metadata->len);
		t->n_packed = t->metadata->len;
		t->is_recalled = false;
	}
	return t->packed_metadata->len > 0;
}

/* Unless the log has the same and it is not old; or in any case. */
static bool add_metadata(const struct native_live *l, struct live_trace *t, bool in_any_case)
{
	struct recall_entry e = { .kind = RECALL_METADATA, .source = l->recall_source, .trace = number_of(t) };
	struct recall *log = l->recall;

	if (!pack_metadata(t))
		return false;
	if (t->is_recalled && !in_any_case && !recall_is_old(log, t->recalled_at))
		return true;
	e.len = t->packed_metadata->len;
	t->is_recalled = recall_add(log, &e, t->packed_metadata->data);
	t->recalled_at = e.position;
	return t->is_recalled;
}

void live_recall_packet(const struct live_stream *s)
{
	const struct native_live *l = s->live;
	const struct packet_facts *before = &s->base.at.before;
	struct recall_entry e = {
		.kind = RECALL_PACKET,
		.source = l->recall_source,
		.trace = number_of(s->trace),
		.len = s->packet->len,
	};

	if (!l->recall || !s->viewer)
		return;
	e.stream = s->viewer->id;
	if (s->base.at.has_before && before->has_end)
		e.before_ns = before->end_ns;
	/* what is too large is left out, which the packets' numbers show */
	if (add_metadata(l, s->trace, false))
		recall_add(l->recall, &e, s->packet->bytes);
}

void live_recall_end(const struct native_live *l, struct live_trace *t)
{
	if (l->recall && t->is_recalled)
		add_metadata(l, t, true);
}

void native_live_keep_recalled(struct native_live *l)
{
	for (guint i = 0; l->recall && i < l->traces->len; i++) {
		struct live_trace *t = g_ptr_array_index(l->traces, i);

		if (t && t->is_recalled)
			add_metadata(l, t, false);
	}
}
