/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories of recordings to be fed: their files, and the paths in their session. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "feed/plan.h"
#include "feed/recording.h"
#include "sidecar/sidecar.h"
#include "unit.h"

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = 0; } := uint8_t;\n"
	"typealias integer { size = 64; align = 8; signed = 0; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = 0; map = clock.monotonic.value; } := time_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; };\n"
	"env { hostname = web; };\n"
	"clock { name = monotonic; freq = 1000000000; };\n"
	"stream { id = 0; event.header := struct { uint8_t id; }; packet.context := struct { time_t timestamp_begin;\n"
	"  time_t timestamp_end; uint64_t content_size; uint64_t packet_size; }; };\n"
	"event { name = a; id = 0; stream_id = 0; fields := struct { }; };\n";

static char *root;

static void setup(void)
{
	root = g_dir_make_tmp("check-feed-XXXXXX", NULL);
	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(chdir(root), 0);
}

static void teardown(void)
{
	char *command = g_strdup_printf("rm -rf '%s'", root);

	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
	g_free(command);
	g_free(root);
}

static void put(const char *directory, const char *name, const void *data, size_t size)
{
	char *path = g_build_filename(directory, name, NULL);

	ck_assert_int_eq(g_mkdir_with_parents(directory, 0700), 0);
	ck_assert(g_file_set_contents(path, data, (gssize)size, NULL));
	g_free(path);
}

/* A trace with so many packets, of one event each. */
static void put_trace(const char *directory, unsigned packets)
{
	GByteArray *data = g_byte_array_new();

	for (unsigned i = 0; i < packets; i++) {
		const uint64_t head[] = { 1000 * i, 1000 * i + 999, 8 * 33, 8 * 33 };

		g_byte_array_append(data, (const guint8 *)head, sizeof(head));
		g_byte_array_append(data, (const guint8 *)"", 1);
	}
	put(directory, "metadata", metadata, sizeof(metadata) - 1);
	put(directory, "ch_0", data->data, data->len);
	g_byte_array_free(data, TRUE);
}

static GPtrArray *find(const char *directory, GPtrArray *specs)
{
	if (!specs)
		specs = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)source_spec_free);
	ck_assert_int_eq(source_find(directory, specs, NULL), LT_OK);
	return specs;
}

START_TEST(test_sidecar_is_not_a_stream)
{
	GPtrArray *specs;
	struct recording *r;

	put_trace("web", 2);
	put("web", SIDECAR_NAME, "{\"schema\":1}", 12);
	specs = find("web", NULL);
	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_OK);
	ck_assert_uint_eq(r->damaged, 0);
	ck_assert_uint_eq(r->streams->len, 1);
	recording_close(r);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

/* A stream that cannot be read is missing from what is fed: a fifo, a link to nothing. Directories are no streams. */
START_TEST(test_no_file)
{
	GPtrArray *specs;
	struct recording *r;

	put_trace("web", 2);
	ck_assert_int_eq(mkfifo("web/ch_1", 0600), 0);
	ck_assert_int_eq(symlink("nothing", "web/ch_2"), 0);
	ck_assert_int_eq(mkdir("web/index", 0700), 0);
	specs = find("web", NULL);
	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 0), &r), LT_OK);
	ck_assert_uint_eq(r->damaged, 2);
	ck_assert_uint_eq(r->streams->len, 1);
	recording_close(r);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

/* A domain in which nothing happened is skipped, but not one that cannot be read. */
START_TEST(test_no_packets)
{
	GPtrArray *specs;
	struct recording *r;
	struct feed_plan plan;

	put_trace("web/kernel", 2);
	put_trace("web/ust/uid/0/64-bit", 0);
	specs = find("web", NULL);
	ck_assert_uint_eq(specs->len, 2);
	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 1), &r), LT_END);
	ck_assert_int_eq(feed_plan_make(&plan, specs, NULL, NULL), LT_OK);
	ck_assert_uint_eq(plan.sessions->len, 1);
	ck_assert_uint_eq(plan.left_out, 0);
	feed_plan_release(&plan);

	put("web/ust/uid/0/64-bit", "ch_0", "damaged", 7);
	ck_assert_int_eq(recording_open(g_ptr_array_index(specs, 1), &r), LT_ERROR);
	ck_assert_int_eq(feed_plan_make(&plan, specs, NULL, NULL), LT_OK);
	ck_assert_uint_eq(plan.left_out, 1);
	feed_plan_release(&plan);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

/* The path of a trace within its session, of which its directories may have any names. */
START_TEST(test_paths)
{
	static const char *const cases[][2] = {
		{ "a/kernel", "kernel" },
		{ "b/ust/uid/0/64-bit", "ust/uid/0/64-bit" },
		{ "c/ust/pid/app-7-20261120-142157", "ust/pid/app-7-20261120-142157" },
		{ "d/ust", "ust" },
		{ "kernel/e/data", "ctf" },
		{ "kernel/f/ust/uid/0/64-bit", "ust/uid/0/64-bit" },
		{ "ust/g/kernel", "kernel" },
		{ "ust/uid/h/kernel", "kernel" },
		{ "ust/i/data", "ctf" },
		{ "kernel-tests/k/my-kernel", "ctf" },
	};
	GPtrArray *specs = NULL;
	struct recording *r;
	struct feed_plan plan;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *path = g_build_filename(root, cases[i][0], NULL);

		put_trace(path, 1);
		specs = find(path, specs);
		ck_assert_int_eq(recording_open(g_ptr_array_index(specs, i), &r), LT_OK);
		ck_assert_str_eq(r->path, cases[i][1]);
		recording_close(r);
		g_free(path);
	}
	g_ptr_array_free(specs, TRUE);

	/* given from within the session */
	ck_assert_int_eq(chdir("a"), 0);
	put_trace("ust/uid/0/64-bit", 1);
	specs = find("ust", find("kernel", NULL));
	ck_assert_int_eq(feed_plan_make(&plan, specs, NULL, NULL), LT_OK);
	ck_assert_uint_eq(plan.sessions->len, 1);
	feed_plan_release(&plan);
	g_ptr_array_free(specs, TRUE);
}
END_TEST

UNIT_MAIN_AROUND("feed_directories", setup, teardown, test_sidecar_is_not_a_stream, test_no_file, test_no_packets,
		 test_paths)
