/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctf/metadata.h"
#include "ctf/packet.h"

/*
 * Walks over all events of a trace and prints, one line for each name:
 *
 *	NAME COUNT SUM-OF-TIMES HASH-OF-TIMES
 *
 * which do not depend on how the events are cut into packets. Times are ns since the epoch.
 */

struct sum {
	uint64_t count, times, hash;
};

static GHashTable *sums; /* char * → struct sum */

static void add(const char *name, uint64_t ns)
{
	struct sum *s = g_hash_table_lookup(sums, name);

	if (!s) {
		s = g_new0(struct sum, 1);
		g_hash_table_insert(sums, g_strdup(name), s);
	}
	s->count++;
	s->times += ns;
	s->hash += (ns ^ ns >> 31) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool walk_packet(const struct layout *l, const uint8_t *data, size_t len, size_t *size)
{
	const struct layout_event *event;
	struct packet_head head;
	struct walk w;
	bool ok;

	walk_init(&w, l, data, 8 * (uint64_t)len);
	ok = !packet_walk_head(l, &w, &head);
	if (ok) {
		*size = packet_has(&head, PACKET_PACKET_SIZE) ? head.values[PACKET_PACKET_SIZE] / 8 : len;
		w.end = packet_has(&head, PACKET_CONTENT_SIZE) ? head.values[PACKET_CONTENT_SIZE] : 8 * (uint64_t)*size;
		ok = *size && *size <= len && w.end <= 8 * (uint64_t)*size;
		w.clock = head.values[PACKET_TIMESTAMP_BEGIN];
	}
	while (ok && w.at < w.end) {
		ok = walk_event(&w, head.stream, &event);
		if (ok)
			add(event->name, layout_to_ns(l, w.clock));
	}
	walk_release(&w);
	return ok;
}

static bool walk_file(const struct layout *l, const char *path)
{
	size_t size = 0;
	gsize len = 0;
	char *data;
	bool ok = g_file_get_contents(path, &data, &len, NULL);

	for (size_t at = 0; ok && at < len; at += size) {
		ok = walk_packet(l, (const uint8_t *)data + at, len - at, &size);
		if (!ok)
			fprintf(stderr, "%s: damaged packet at byte %zu\n", path, at);
	}
	g_free(data);
	return ok;
}

static void print_sums(void)
{
	GList *names = g_list_sort(g_hash_table_get_keys(sums), (GCompareFunc)(void *)strcmp);

	for (GList *name = names; name; name = name->next) {
		const struct sum *s = g_hash_table_lookup(sums, name->data);

		printf("%s %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", (const char *)name->data, s->count, s->times,
		       s->hash);
	}
	g_list_free(names);
}

int main(int argc, char **argv)
{
	char *text = argc == 2 ? metadata_read(argv[1], METADATA_MAX) : NULL;
	struct layout *l;
	const char *name;
	bool ok = true;
	GDir *dir;

	if (!text || layout_parse(text, &l)) {
		fprintf(stderr, "%s: %s\n", argc == 2 ? argv[1] : "walk_recording DIRECTORY",
			text ? error_text() : "no metadata");
		return 1;
	}
	sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	dir = g_dir_open(argv[1], 0, NULL);
	while (dir && (name = g_dir_read_name(dir)) != NULL) {
		char *path = g_build_filename(argv[1], name, NULL);

		if (strcmp(name, "metadata") != 0 && g_file_test(path, G_FILE_TEST_IS_REGULAR))
			ok = walk_file(l, path) && ok;
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	print_sums();
	printf("unknown %u\n", l->n_unknown);
	g_hash_table_destroy(sums);
	layout_destroy(l);
	g_free(text);
	return ok ? 0 : 1;
}
