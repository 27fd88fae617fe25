/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/packets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/index.h"

enum { NS_PER_S = 1000000000 };

#define PACKET_MAGIC UINT32_C(0xc1fc1fc1)

/* Beyond what double precision of other tools' arithmetic moves a time of a clock that does not count ns. */
#define OTHER_FREQUENCY_SLACK_NS UINT64_C(1000000)

/* ---- the declarations ---- */

/* The text between "BEGIN" and the brace that closes it; to be freed. NULL: there is none. */
static char *block(const char *metadata, const char *begin)
{
	const char *from = strstr(metadata, begin), *to = from ? strstr(from, "};") : NULL;

	return to ? g_strndup(from + strlen(begin), to - from - strlen(begin)) : NULL;
}

/* KEY = NUMBER in the text; false: it is not there. */
static bool read_number(const char *text, const char *key, int64_t *value)
{
	char *pattern = g_strdup_printf("(?:^|[\\s;{])%s\\s*=\\s*(-?\\d+)", key);
	GRegex *regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
	GMatchInfo *match = NULL;
	const bool found = g_regex_match(regex, text, 0, &match);
	char *digits = found ? g_match_info_fetch(match, 1) : NULL;

	if (found)
		*value = strtoll(digits, NULL, 10);
	g_free(digits);
	g_match_info_free(match);
	g_regex_unref(regex);
	g_free(pattern);
	return found;
}

struct integer {
	uint32_t bits, align;
};

/* The types that have names: "typealias integer { size = 64; align = 8; … } := uint64_t;" */
static GHashTable *read_types(const char *metadata)
{
	GRegex *regex = g_regex_new("typealias\\s+integer\\s*\\{([^}]*)\\}\\s*:=\\s*([^;]*?)\\s*;", G_REGEX_RAW, 0,
				    NULL);
	GHashTable *types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	GMatchInfo *match = NULL;

	g_regex_match(regex, metadata, 0, &match);
	for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
		char *body = g_match_info_fetch(match, 1);
		int64_t bits, align = 1;

		if (read_number(body, "size", &bits) && bits > 0 && bits <= 64) {
			struct integer *type = g_new(struct integer, 1);

			read_number(body, "align", &align);
			*type = (struct integer){ bits, align > 0 && align <= 64 ? align : 1 };
			g_hash_table_replace(types, g_match_info_fetch(match, 2), type);
		}
		g_free(body);
	}
	g_match_info_free(match);
	g_regex_unref(regex);
	return types;
}

/* A member of a structure: "TYPE NAME" or "TYPE NAME[COUNT]". */
struct member {
	const struct integer *type; /* NULL: not one of the named integers */
	uint32_t count;
	char *name;
};

static struct member read_member(GHashTable *types, const char *text)
{
	GRegex *regex = g_regex_new("^\\s*(\\S.*?)\\s+(\\w+)(?:\\[(\\d+)\\])?\\s*$", G_REGEX_RAW, 0, NULL);
	struct member m = { 0 };
	GMatchInfo *match = NULL;

	if (g_regex_match(regex, text, 0, &match)) {
		char *type = g_match_info_fetch(match, 1), *count = g_match_info_fetch(match, 3);

		m.type = g_hash_table_lookup(types, type);
		m.count = count && *count ? (uint32_t)strtoul(count, NULL, 10) : 1;
		m.name = g_match_info_fetch(match, 2);
		g_free(count);
		g_free(type);
	}
	g_match_info_free(match);
	g_regex_unref(regex);
	return m;
}

static uint64_t align_up(uint64_t at_bits, uint32_t align)
{
	return (at_bits + align - 1) / align * align;
}

/* An integer whose offset is asked for. */
struct place {
	const char *name;
	uint32_t *offset; /* bytes */
};

/* Puts the member behind *at_bits; tells its offset if it is asked for. */
static bool put_member(const struct member *m, uint64_t *at_bits, const struct place *places, unsigned n)
{
	if (!m->type)
		return false;
	*at_bits = align_up(*at_bits, m->type->align);
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(m->name, places[i].name) != 0)
			continue;
		if (*at_bits % 8 || m->type->bits != 64 || m->count != 1)
			return false;
		*places[i].offset = *at_bits / 8;
	}
	*at_bits += (uint64_t)m->type->bits * m->count;
	return true;
}

/* Puts a structure behind *at_bits, aligned as the most aligned of its members. */
static bool put_structure(GHashTable *types, const char *body, uint64_t *at_bits, const struct place *places,
			  unsigned n)
{
	char **texts = g_strsplit(body, ";", 0);
	GArray *members = g_array_new(FALSE, FALSE, sizeof(struct member));
	uint32_t align = 1;
	bool ok = true;

	for (char **text = texts; *text; text++) {
		struct member m;

		if (!*g_strstrip(*text))
			continue;
		m = read_member(types, *text);
		align = m.type ? MAX(align, m.type->align) : align;
		g_array_append_val(members, m);
	}
	*at_bits = align_up(*at_bits, align);
	for (guint i = 0; i < members->len; i++) {
		ok = ok && put_member(&g_array_index(members, struct member, i), at_bits, places, n);
		g_free(g_array_index(members, struct member, i).name);
	}
	g_array_free(members, TRUE);
	g_strfreev(texts);
	return ok;
}

static bool read_places(struct packet_layout *layout, const char *metadata)
{
	const struct place places[] = {
		{ "timestamp_begin", &layout->begin },
		{ "timestamp_end", &layout->end },
		{ "content_size", &layout->content_bits },
		{ "packet_size", &layout->packet_bits },
	};
	char *header = block(metadata, "packet.header := struct {");
	char *context = block(metadata, "\nstruct packet_context {");
	GHashTable *types = read_types(metadata);
	uint64_t at_bits = 0;
	bool ok = header && context && put_structure(types, header, &at_bits, NULL, 0) &&
		  put_structure(types, context, &at_bits, places, G_N_ELEMENTS(places));

	for (unsigned i = 0; i < G_N_ELEMENTS(places); i++)
		ok = ok && *places[i].offset;
	ok = ok && at_bits % 8 == 0 && at_bits / 8 < EMPTY_PACKET_BYTES;
	layout->bytes = at_bits / 8;
	g_hash_table_destroy(types);
	g_free(header);
	g_free(context);
	return ok;
}

/* Whether every stream's packets have this one context, and the trace has one clock. */
static bool is_uniform(const char *metadata)
{
	const char *clock = strstr(metadata, "\nclock {");

	for (const char *p = metadata; (p = strstr(p, "packet.context :=")) != NULL; p++)
		if (!g_str_has_prefix(p, "packet.context := struct packet_context;"))
			return false;
	return clock && !strstr(clock + 1, "\nclock {");
}

bool packet_layout_read(struct packet_layout *layout, const char *metadata)
{
	char *clock = block(metadata, "\nclock {"), *trace = block(metadata, "\ntrace {");
	int64_t frequency = NS_PER_S;

	*layout = (struct packet_layout){ 0 };
	if (clock) {
		read_number(clock, "freq", &frequency);
		read_number(clock, "offset", &layout->offset);
		read_number(clock, "offset_s", &layout->offset_s);
	}
	layout->frequency = frequency;
	layout->big_endian = trace && strstr(trace, "byte_order = be;");
	g_free(clock);
	g_free(trace);
	return frequency > 0 && is_uniform(metadata) && read_places(layout, metadata);
}

/* ---- the packets ---- */

static uint64_t to_ns(const struct packet_layout *layout, uint64_t cycles)
{
	__int128 ns = ((__int128)layout->offset + cycles) * NS_PER_S / layout->frequency +
		      (__int128)layout->offset_s * NS_PER_S;

	return ns < 0 ? 0 : ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t read_u64(const struct packet_layout *layout, const unsigned char *header, uint32_t at)
{
	uint64_t value;

	memcpy(&value, header + at, sizeof(value));
	return layout->big_endian ? GUINT64_FROM_BE(value) : GUINT64_FROM_LE(value);
}

static void write_u64(const struct packet_layout *layout, unsigned char *header, uint32_t at, uint64_t value)
{
	value = layout->big_endian ? GUINT64_TO_BE(value) : GUINT64_TO_LE(value);
	memcpy(header + at, &value, sizeof(value));
}

static bool has_magic(const struct packet_layout *layout, const unsigned char *header)
{
	uint32_t magic;

	memcpy(&magic, header, sizeof(magic));
	return PACKET_MAGIC == (layout->big_endian ? GUINT32_FROM_BE(magic) : GUINT32_FROM_LE(magic));
}

static void add_packet(const struct packet_layout *layout, GArray *packets, const struct index_packet *entry)
{
	const struct packet packet = {
		.offset = entry->offset,
		.bytes = entry->packet_bits / 8,
		.begin_ns = to_ns(layout, entry->begin),
		.end_ns = to_ns(layout, entry->end),
	};

	g_array_append_val(packets, packet);
}

static bool list_by_index(const struct packet_layout *layout, const char *index, GArray *packets)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct index_packet));
	const bool ok = index_read(index, entries);

	for (guint i = 0; ok && i < entries->len; i++)
		add_packet(layout, packets, &g_array_index(entries, struct index_packet, i));
	g_array_free(entries, TRUE);
	return ok;
}

static void list_by_headers(const struct packet_layout *layout, int fd, uint64_t size, GArray *packets)
{
	unsigned char *header = g_malloc(layout->bytes);
	struct index_packet entry = { 0 };

	while (entry.offset < size &&
	       pread(fd, header, layout->bytes, entry.offset) == (ssize_t)layout->bytes && has_magic(layout, header)) {
		entry.packet_bits = read_u64(layout, header, layout->packet_bits);
		entry.begin = read_u64(layout, header, layout->begin);
		entry.end = read_u64(layout, header, layout->end);
		if (entry.packet_bits / 8 < layout->bytes)
			break;
		add_packet(layout, packets, &entry);
		if (__builtin_add_overflow(entry.offset, entry.packet_bits / 8, &entry.offset))
			break;
	}
	g_free(header);
}

/* Whether the packets are the file, none cut off, nothing between them, and go on in time. */
static bool are_whole(const GArray *packets, uint64_t size)
{
	uint64_t at = 0, begin_ns = 0;

	for (guint i = 0; i < packets->len; i++) {
		const struct packet *p = &g_array_index(packets, struct packet, i);

		if (p->offset != at || p->bytes == 0 || p->bytes > size - at || p->begin_ns < begin_ns)
			return false;
		at += p->bytes;
		begin_ns = p->begin_ns;
	}
	return at == size && packets->len > 0;
}

/* Old tracers write events behind the end that the packet's header says, up to the next one's begin. */
static void widen(const struct packet_layout *layout, GArray *packets)
{
	const uint64_t slack_ns = layout->frequency == NS_PER_S ? 0 : OTHER_FREQUENCY_SLACK_NS;

	for (guint i = 0; i < packets->len; i++) {
		struct packet *p = &g_array_index(packets, struct packet, i);

		if (p->end_ns < p->begin_ns)
			p->end_ns = i + 1 < packets->len ? p[1].begin_ns : UINT64_MAX - slack_ns;
		else if (i + 1 < packets->len && p[1].begin_ns > p->end_ns)
			p->end_ns = p[1].begin_ns;
		p->end_ns += slack_ns;
		p->begin_ns -= MIN(slack_ns, p->begin_ns);
	}
}

bool packets_list(const struct packet_layout *layout, int fd, const char *index, GArray *packets)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (!list_by_index(layout, index, packets) || !are_whole(packets, st.st_size)) {
		g_array_set_size(packets, 0);
		list_by_headers(layout, fd, st.st_size, packets);
	}
	if (!are_whole(packets, st.st_size))
		return false;
	widen(layout, packets);
	return true;
}

bool packet_read_empty(const struct packet_layout *layout, int fd, const struct packet *packet, void *out)
{
	memset(out, 0, EMPTY_PACKET_BYTES);
	if (pread(fd, out, layout->bytes, packet->offset) != (ssize_t)layout->bytes || !has_magic(layout, out))
		return false;
	write_u64(layout, out, layout->content_bits, (uint64_t)layout->bytes * 8);
	write_u64(layout, out, layout->packet_bits, (uint64_t)EMPTY_PACKET_BYTES * 8);
	return true;
}
