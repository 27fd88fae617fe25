/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/store.h"

#include "ingest/internal.h"
#include "source/stamp.h"

enum { HOST_PACKED = 11 * sizeof(uint64_t), INPUT_PACKED = 4 * sizeof(uint64_t) };

bool ingest_can_pack(const struct ingest *in)
{
	for (guint i = 0; i < in->specs->len; i++)
		if (source_spec_is_live(g_ptr_array_index(in->specs, i)))
			return false;
	for (guint i = 0; i < in->hosts->len; i++)
		if (host_at(in, i)->public.trouble || host_at(in, i)->public.heard)
			return false;
	return in->specs->len && !in->relays->len && !in->broken;
}

uint64_t ingest_bytes(const struct ingest *in)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < in->specs->len; i++)
		bytes += ((const struct source_spec *)g_ptr_array_index(in->specs, i))->extent.bytes;
	return bytes;
}

void ingest_stamp(const struct ingest *in, GChecksum *sum)
{
	for (guint i = 0; i < in->specs->len; i++)
		source_stamp(g_ptr_array_index(in->specs, i), sum);
}

/* ---- into bytes ---- */

static void pack_host(const struct host *host, GByteArray *out)
{
	const struct ingest_host *h = &host->public;

	pack_text(out, host->hostname);
	pack_u64(out, host->has_hostname);
	pack_text(out, host->clock);
	pack_text(out, h->name);
	pack_text(out, h->source);
	pack_text(out, h->tracer);
	pack_u64(out, h->begin_ns);
	pack_u64(out, h->end_ns);
	pack_u64(out, h->end_hint_ns);
	pack_u64(out, host->last_ns);
	pack_u64(out, EVENT_KINDS);
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		pack_u64(out, model_declares(h->model, (enum event_kind)kind));
}

/* 1 + its index; 0: it is not in the list. */
static uint64_t number_of(GPtrArray *list, const void *element)
{
	guint i;

	return element && g_ptr_array_find(list, element, &i) ? i + UINT64_C(1) : 0;
}

void ingest_pack(const struct ingest *in, GByteArray *out)
{
	pack_u64(out, in->options.own_time);
	pack_u64(out, in->hosts->len);
	for (guint i = 0; i < in->hosts->len; i++)
		pack_host(host_at(in, i), out);
	pack_u64(out, in->inputs->len);
	for (guint i = 0; i < in->inputs->len; i++) {
		const struct input *input = input_at(in, i);

		pack_u64(out, number_of(in->specs, input->spec));
		pack_u64(out, input->part);
		pack_u64(out, input->parts);
		pack_u64(out, number_of(in->hosts, input->host));
	}
}

/* ---- and back ---- */

static void unpack_host(struct ingest *in, struct unpack *from)
{
	char *hostname = unpack_text(from);
	const bool has_hostname = unpack_upto(from, 1);
	char *clock = unpack_text(from), *name = unpack_text(from);
	char *source = unpack_text(from), *tracer = unpack_text(from);
	struct ingest_host known = { .name = name, .source = source, .tracer = tracer, .ended = true };
	struct host *host;
	uint64_t last_ns;
	size_t kinds;

	known.begin_ns = unpack_u64(from);
	known.end_ns = known.applied_ns = unpack_u64(from);
	known.end_hint_ns = unpack_u64(from);
	last_ns = unpack_u64(from);
	kinds = unpack_count(from, sizeof(uint64_t));
	from->failed |= !hostname || !clock || !name || !source || !tracer || kinds != EVENT_KINDS;
	if (!from->failed) {
		host = host_restore(hostname, clock, &known);
		host->last_ns = last_ns;
		host->has_hostname = has_hostname;
		for (int kind = 0; kind < EVENT_KINDS; kind++)
			if (unpack_upto(from, 1))
				model_set_declares(host->public.model, (enum event_kind)kind);
		g_ptr_array_add(in->hosts, host);
	}
	g_free(hostname);
	g_free(clock);
	g_free(name);
	g_free(source);
	g_free(tracer);
}

static void unpack_input(struct ingest *in, struct unpack *from)
{
	uint64_t spec = unpack_upto(from, in->specs->len), part = unpack_u64(from);
	uint64_t parts = unpack_upto(from, UINT16_MAX), host = unpack_upto(from, in->hosts->len);
	struct input *input;

	from->failed |= !spec || part >= parts;
	if (from->failed)
		return;
	input = input_create(g_ptr_array_index(in->specs, spec - 1), (unsigned)part, (unsigned)parts, false);
	input->state = INPUT_ENDED;
	input->host = host ? host_at(in, (guint)host - 1) : NULL;
	if (input->host)
		host_add_sidecars(input->host, input->spec);
	g_ptr_array_add(in->inputs, input);
}

bool ingest_unpack(struct ingest *in, struct unpack *from)
{
	const bool own_time = unpack_upto(from, 1);
	size_t n;

	g_assert(!in->started);
	n = unpack_count(from, HOST_PACKED);
	for (size_t i = 0; i < n && !from->failed; i++)
		unpack_host(in, from);
	n = unpack_count(from, INPUT_PACKED);
	for (size_t i = 0; i < n && !from->failed; i++)
		unpack_input(in, from);
	from->failed |= !in->hosts->len;
	if (from->failed) {
		g_ptr_array_set_size(in->inputs, 0);
		g_ptr_array_set_size(in->hosts, 0);
		return false;
	}
	in->options.own_time = own_time;
	in->started = in->named = true;
	ingest_drop_waits(in);
	ingest_register_hosts(in);
	for (guint i = 0; i < in->hosts->len; i++)
		ingest_set_ready(in, host_at(in, i), false);
	return true;
}
