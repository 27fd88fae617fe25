/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of data files without the decoding library, and the slices made of them. */
#include "unit.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf/index.h"
#include "ctf/metadata.h"
#include "source/slice.h"

static char *recording(void)
{
	return g_build_filename(getenv("BUILD") ? getenv("BUILD") : "build", "traces/three-tier/web/kernel", NULL);
}

static struct packet_layout layout_of(const char *directory)
{
	char *metadata = metadata_read(directory, METADATA_MAX);
	struct packet_layout layout;

	ck_assert_ptr_nonnull(metadata);
	ck_assert(packet_layout_read(&layout, metadata));
	g_free(metadata);
	return layout;
}

static GArray *packets_of(const struct packet_layout *layout, const char *file, const char *index, bool *ok)
{
	GArray *packets = g_array_new(FALSE, FALSE, sizeof(struct packet));
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	*ok = packets_list(layout, fd, index, packets);
	close(fd);
	return packets;
}

static struct packet packet_at(const GArray *packets, guint i)
{
	return g_array_index(packets, struct packet, i);
}

START_TEST(test_index_says_what_headers_say)
{
	char *directory = recording(), *file = g_build_filename(directory, "ch_0", NULL), *index = index_path(file);
	const struct packet_layout layout = layout_of(directory);
	bool by_index, by_headers;
	GArray *a = packets_of(&layout, file, index, &by_index);
	GArray *b = packets_of(&layout, file, "/nonexistent", &by_headers);

	ck_assert(by_index);
	ck_assert(by_headers);
	ck_assert_uint_ge(a->len, 3);
	ck_assert_uint_eq(a->len, b->len);
	ck_assert_mem_eq(a->data, b->data, a->len * sizeof(struct packet));
	/* it was recorded with packets of 1 MiB */
	for (guint i = 0; i < a->len; i++) {
		ck_assert_uint_eq(packet_at(a, i).offset, (uint64_t)i << 20);
		ck_assert_uint_lt(packet_at(a, i).begin_ns, packet_at(a, i).end_ns);
		ck_assert_uint_gt(packet_at(a, i).begin_ns, UINT64_C(1795182108000000000));
	}
	g_array_free(a, TRUE);
	g_array_free(b, TRUE);
	g_free(index);
	g_free(file);
	g_free(directory);
}
END_TEST

START_TEST(test_other_layouts)
{
	static const char text[] =
		"/* CTF 1.8 */\n"
		"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		"typealias integer { size = 32; align = 32; signed = false; } := uint32_t;\n"
		"typealias integer { size = 64; align = 64; signed = false; } := uint64_t;\n"
		"trace {\n\tmajor = 1;\n\tbyte_order = be;\n"
		"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n"
		"\t};\n};\n"
		"clock {\n\tname = \"a\";\n\tfreq = 1000; /* Hz */\n\toffset_s = 7;\n\toffset = -5;\n};\n"
		"struct packet_context {\n\tuint64_t timestamp_begin;\n\tuint64_t timestamp_end;\n\tuint8_t more[3];\n"
		"\tuint64_t content_size;\n\tuint64_t packet_size;\n\tuint32_t cpu_id;\n};\n"
		"stream {\n\tid = 0;\n\tpacket.context := struct packet_context;\n};\n";
	struct packet_layout layout;
	char *changed;

	ck_assert(packet_layout_read(&layout, text));
	ck_assert(layout.big_endian);
	ck_assert_uint_eq(layout.begin, 24);
	ck_assert_uint_eq(layout.end, 32);
	ck_assert_uint_eq(layout.content_bits, 48);
	ck_assert_uint_eq(layout.packet_bits, 56);
	ck_assert_uint_eq(layout.bytes, 68);
	ck_assert_uint_eq(layout.frequency, 1000);
	ck_assert_int_eq(layout.offset, -5);
	ck_assert_int_eq(layout.offset_s, 7);

	static const char *const unknown[][2] = {
		{ "timestamp_end", "timestamp_stop" },
		{ "packet.context := struct packet_context", "packet.context := struct other" },
		{ "uint8_t more[3]", "string more" },
		{ "uint64_t content_size", "uint32_t content_size" },
		{ "packet.header := struct {", "packet.header := struct header;" },
		{ "\nclock {", "\nclok {" },
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(unknown); i++) {
		char **parts = g_strsplit(text, unknown[i][0], 2);

		ck_assert_uint_eq(g_strv_length(parts), 2);
		changed = g_strjoinv(unknown[i][1], parts);
		ck_assert_msg(!packet_layout_read(&layout, changed), "%s", unknown[i][1]);
		g_free(changed);
		g_strfreev(parts);
	}
}
END_TEST

/* Bytes of the slice, -1: the file is to be read as it is. */
static int64_t slice_bytes(const struct packet_layout *layout, const char *file, uint64_t begin_ns, uint64_t end_ns)
{
	const struct slice_range range = { begin_ns, end_ns };
	char *to = g_strdup_printf("%s/check_slice.%d", g_get_tmp_dir(), (int)getpid());
	struct stat st;
	int64_t bytes = -1;

	if (slice_write(layout, &range, file, to)) {
		ck_assert_int_eq(stat(to, &st), 0);
		bytes = st.st_size;
	}
	ck_assert_int_eq(unlink(to), bytes < 0 ? -1 : 0);
	g_free(to);
	return bytes;
}

START_TEST(test_slice_holds_what_the_range_does)
{
	char *directory = recording(), *file = g_build_filename(directory, "ch_0", NULL), *index = index_path(file);
	const struct packet_layout layout = layout_of(directory);
	bool ok;
	GArray *packets = packets_of(&layout, file, index, &ok);
	const uint64_t last = packets->len - 1, empty = EMPTY_PACKET_BYTES;
	const uint64_t begin_ns = packet_at(packets, 0).begin_ns, end_ns = packet_at(packets, last).end_ns;
	const uint64_t in_1_ns = packet_at(packets, 1).begin_ns + 1000000;

	/* emptied: up to two packets before the range, one behind it */
	ck_assert_int_eq(slice_bytes(&layout, file, in_1_ns, in_1_ns + 1), packet_at(packets, 1).bytes + 2 * empty);
	ck_assert_int_eq(slice_bytes(&layout, file, begin_ns, begin_ns + 1), packet_at(packets, 0).bytes + empty);
	ck_assert_int_eq(slice_bytes(&layout, file, end_ns, end_ns + 1), packet_at(packets, last).bytes + 2 * empty);
	ck_assert_int_eq(slice_bytes(&layout, file, begin_ns - 9, begin_ns), empty);
	ck_assert_int_eq(slice_bytes(&layout, file, end_ns + 1, end_ns + 9), 2 * empty);
	ck_assert_int_eq(slice_bytes(&layout, file, begin_ns, end_ns), -1);
	g_array_free(packets, TRUE);
	g_free(index);
	g_free(file);
	g_free(directory);
}
END_TEST

/* A file that is cut off, or whose packets cannot be told: nothing is sliced. */
START_TEST(test_damaged_files_are_not_sliced)
{
	char *directory = recording(), *file = g_build_filename(directory, "ch_0", NULL), *text = NULL;
	char *copy = g_strdup_printf("%s/check_slice_damaged.%d", g_get_tmp_dir(), (int)getpid());
	const struct packet_layout layout = layout_of(directory);
	gsize len;

	ck_assert(g_file_get_contents(file, &text, &len, NULL));
	ck_assert(g_file_set_contents(copy, text, len, NULL));
	ck_assert_int_ge(slice_bytes(&layout, copy, 1, 2), 0);
	ck_assert(g_file_set_contents(copy, text, len - 5000, NULL));
	ck_assert_int_eq(slice_bytes(&layout, copy, 1, 2), -1);
	memset(text + (1 << 20), 0xff, layout.bytes);
	ck_assert(g_file_set_contents(copy, text, len, NULL));
	ck_assert_int_eq(slice_bytes(&layout, copy, 1, 2), -1);
	memset(text, 0, len);
	ck_assert(g_file_set_contents(copy, text, len, NULL));
	ck_assert_int_eq(slice_bytes(&layout, copy, 1, 2), -1);
	unlink(copy);
	g_free(text);
	g_free(copy);
	g_free(file);
	g_free(directory);
}
END_TEST

UNIT_MAIN("slice", test_index_says_what_headers_say, test_other_layouts, test_slice_holds_what_the_range_does,
	  test_damaged_files_are_not_sliced)
