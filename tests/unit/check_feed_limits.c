/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sparse files cost nothing to make: packets of many bytes, and of many events. */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "feed/plan.h"
#include "feed/recording.h"
#include "unit.h"

#define MIB (UINT64_C(1) << 20)

/* An event is one byte; a file of zeros is full of them. */
static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = 0; } := uint8_t;\n"
	"typealias integer { size = 64; align = 8; signed = 0; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = 0; map = clock.monotonic.value; } := time_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; };\n"
	"clock { name = monotonic; freq = 1000000000; };\n"
	"stream { id = 0; event.header := struct { uint8_t id; }; packet.context := struct { time_t timestamp_begin;\n"
	"  time_t timestamp_end; uint64_t content_size; uint64_t packet_size; }; };\n"
	"event { name = a; id = 0; stream_id = 0; fields := struct { }; };\n";

static char *directory;

static void put_packet(unsigned n, uint64_t size, uint64_t end)
{
	const uint64_t head[] = { 1000, end, 8 * size, 8 * size };
	char *path = g_strdup_printf("%s/c%u", directory, n);
	FILE *file = fopen(path, "we");

	ck_assert_uint_eq(fwrite(head, 1, sizeof(head), file), sizeof(head));
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(truncate(path, (off_t)size), 0);
	g_free(path);
}

static void put_file(unsigned n, uint64_t size)
{
	put_packet(n, size, 2000);
}

static GPtrArray *make(unsigned files, uint64_t size)
{
	GPtrArray *specs = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)source_spec_free);
	char *path;

	directory = g_dir_make_tmp("check-feed-XXXXXX", NULL);
	path = g_build_filename(directory, "metadata", NULL);
	ck_assert(g_file_set_contents(path, metadata, -1, NULL));
	g_free(path);
	for (unsigned i = 0; i < files; i++)
		put_file(i, size);
	ck_assert_int_eq(source_find(directory, specs, NULL), LT_OK);
	return specs;
}

static void drop(GPtrArray *specs)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		char *path = g_build_filename(directory, name, NULL);

		g_unlink(path);
		g_free(path);
	}
	g_dir_close(dir);
	g_rmdir(directory);
	g_free(directory);
	g_ptr_array_free(specs, TRUE);
}

/* What the monitor would refuse is left out. */
START_TEST(test_large_packet)
{
	GPtrArray *specs = make(1, 64 * MIB + 8);
	struct recording *r;

	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_ERROR);
	ck_assert_msg(strstr(error_text(), "no usable packets") != NULL, "%s", error_text());
	drop(specs);
}
END_TEST

/* It is fed as a whole: what is known of each event would take more memory than the packet. */
START_TEST(test_many_events)
{
	GPtrArray *specs = make(1, 64 * MIB);
	struct cut_piece piece;
	struct recording *r;
	struct cutter c;
	uint8_t *data;
	size_t before, used;

	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_OK);
	ck_assert_uint_eq(r->begin_ns, 1000);
	data = recording_read(recorded_packet(g_ptr_array_index(r->streams, 0), 0));
	cutter_init(&c, r->layout);
	before = unit_allocated();
	ck_assert_int_eq(cutter_begin(&c, data, 64 * MIB), LT_AGAIN);
	used = unit_allocated() - before;
	ck_assert_uint_lt(used, 400 * MIB);
	ck_assert_str_eq(error_text(), "it has too many events");
	ck_assert_int_eq(cutter_take(&c, 1500, &piece), CUT_HELD);
	ck_assert_int_eq(cutter_take(&c, 2000, &piece), CUT_PIECE);
	ck_assert_uint_eq(piece.size, 64 * MIB);
	cutter_release(&c);
	g_free(data);
	recording_close(r);
	drop(specs);
}
END_TEST

/* A packet of each stream is in memory at once. */
START_TEST(test_many_streams)
{
	GPtrArray *specs = make(33, 64 * MIB);
	struct feed_plan p;

	ck_assert_int_eq(feed_plan_make(&p, specs, NULL, NULL), LT_ERROR);
	ck_assert_uint_eq(p.left_out, 1);
	feed_plan_release(&p);
	drop(specs);
	specs = make(31, 64 * MIB);
	ck_assert_int_eq(feed_plan_make(&p, specs, NULL, NULL), LT_OK);
	feed_plan_release(&p);
	drop(specs);
}
END_TEST

/* Feeding it would never come to its end. */
START_TEST(test_endless_packet)
{
	static const uint64_t ends[] = { UINT64_MAX, (uint64_t)INT64_MAX + 1 };
	GPtrArray *specs = make(2, MIB);
	struct recording *r;

	for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
		put_packet(1, MIB, ends[i]);
		ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_OK);
		ck_assert_uint_eq(r->streams->len, 1);
		ck_assert_uint_eq(r->damaged, 1);
		ck_assert_uint_eq(r->end_ns, 2000);
		recording_close(r);
	}
	drop(specs);
}
END_TEST

UNIT_MAIN("feed_limits", test_large_packet, test_many_events, test_many_streams, test_endless_packet)
