/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Side-cars: reading sound, damaged and hostile files. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "sidecar/sidecar.h"

#define S(seconds) (UINT64_C(1700000000000000000) + (seconds)*UINT64_C(1000000000))

static char *dir, *path;
static struct sidecar *sidecar;
static FILE *messages; /* the log, one message per line */
static char *text_of_messages;
static size_t bytes_of_messages;

static void setup(void)
{
	GError *error = NULL;

	log_mute_stderr();
	dir = g_dir_make_tmp("sidecar-XXXXXX", &error);
	ck_assert_ptr_nonnull(dir);
	path = g_build_filename(dir, SIDECAR_NAME, NULL);
	sidecar = sidecar_create();
	messages = open_memstream(&text_of_messages, &bytes_of_messages);
	log_set_file(messages, "messages");
}

static void teardown(void)
{
	log_set_file(NULL, NULL);
	fclose(messages);
	free(text_of_messages);
	sidecar_destroy(sidecar);
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
}

/* The number of warnings since the last call. */
static unsigned warnings(void)
{
	unsigned n = 0;

	fflush(messages);
	for (size_t i = 0; i < bytes_of_messages; i++)
		n += text_of_messages[i] == '\n';
	rewind(messages);
	return n;
}

static enum lt_status load_bytes(const char *bytes, size_t len)
{
	FILE *file;

	/* file systems that sync a file that is truncated and rewritten would take a minute */
	g_unlink(path);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
	return sidecar_load(sidecar, path, "web");
}

static enum lt_status load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static const char *last_warning(void)
{
	return log_get(log_count() - 1)->text;
}

START_TEST(test_sound)
{
	struct sidecar_facts facts;
	const struct sidecar_process *p;
	uint64_t offset;

	ck_assert_int_eq(load("{\"schema\": 1, \"host\": \"web\", \"kernel\": \"6.12\", \"boot_id\": \"b-1\","
			      " \"later\": {\"x\": [1]}, \"disks\": {\"254:16\": \"vdb\", \"8:0\": \"sda\"},"
			      " \"users\": {\"1000\": \"eva\"}, \"groups\": {\"100\": \"dev\"},"
			      " \"clock\": {\"synchronised\": true, \"max_error_ns\": 250000},"
			      " \"cpus\": [{\"cpu\": 0, \"package\": 0, \"core\": 0}, {\"cpu\": 1}],"
			      " \"cgroups\": {\"4026532318\": \"/lxc/web\"},"
			      " \"symbols\": {\"vfs_write\": \"0xffffffff81002000\","
			      " \"vfs_read\": \"0xffffffff81001000\"},"
			      " \"functions\": {\"wb_workfn\": \"0xffffffff81001800\"},"
			      " \"processes\": [{\"pid\": 7, \"start_ns\": 1700000000000000000, \"exe\": \"/bin/a\","
			      " \"cmdline\": \"a -b\", \"uid\": 1000, \"gid\": 100, \"cgroup\": \"/x.service\","
			      " \"later\": 1}]}"),
			 LT_OK);
	ck_assert_uint_eq(warnings(), 0);
	facts = sidecar_facts(sidecar);
	ck_assert_str_eq(facts.kernel, "6.12");
	ck_assert_str_eq(facts.boot_id, "b-1");
	ck_assert_str_eq(facts.clock, "synchronised, within 0.25 ms");
	ck_assert_str_eq(facts.cpus, "2 in 1 core, 1 socket");
	ck_assert_str_eq(sidecar_cgroup(sidecar, 4026532318), "/lxc/web");
	ck_assert_ptr_null(sidecar_cgroup(sidecar, UINT64_MAX));
	ck_assert_str_eq(sidecar_disk(sidecar, 254, 16), "vdb");
	ck_assert_str_eq(sidecar_disk(sidecar, 8, 0), "sda");
	ck_assert_ptr_null(sidecar_disk(sidecar, 8, 1));
	ck_assert_str_eq(sidecar_user(sidecar, 1000), "eva");
	ck_assert_ptr_null(sidecar_user(sidecar, -1));
	ck_assert_str_eq(sidecar_group(sidecar, 100), "dev");
	ck_assert_ptr_null(sidecar_group(sidecar, 1000));
	ck_assert_ptr_null(sidecar_symbol(sidecar, 0xffffffff81000fff, &offset));
	ck_assert_str_eq(sidecar_symbol(sidecar, 0xffffffff81001000, &offset), "vfs_read");
	ck_assert_uint_eq(offset, 0);
	ck_assert_str_eq(sidecar_symbol(sidecar, 0xffffffff81001abc, &offset), "vfs_read");
	ck_assert_uint_eq(offset, 0xabc);
	ck_assert_str_eq(sidecar_symbol(sidecar, 0xffffffff81002001, &offset), "vfs_write");
	ck_assert_uint_eq(offset, 1);
	ck_assert_ptr_null(sidecar_symbol(sidecar, UINT64_MAX, &offset)); /* too far after it */
	/* not the place of a probe, however near */
	ck_assert_str_eq(sidecar_symbol(sidecar, 0xffffffff81001801, &offset), "vfs_read");
	ck_assert_str_eq(sidecar_function(sidecar, 0xffffffff81001800), "wb_workfn");
	ck_assert_ptr_null(sidecar_function(sidecar, 0xffffffff81001801));
	ck_assert_str_eq(sidecar_function(sidecar, 0xffffffff81001000), "vfs_read");
	ck_assert_ptr_null(sidecar_function(sidecar, 0xffffffff81001001));
	p = sidecar_process(sidecar, 7, 0, S(1));
	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->exe, "/bin/a");
	ck_assert_str_eq(p->cmdline, "a -b");
	ck_assert_str_eq(p->cgroup, "/x.service");
	ck_assert_int_eq(p->uid, 1000);
	ck_assert_int_eq(p->gid, 100);
}
END_TEST

/* All fields are optional. */
START_TEST(test_empty)
{
	ck_assert_int_eq(load("{}"), LT_OK);
	ck_assert_int_eq(load("{\"processes\": [{}, {\"pid\": 3}, {\"pid\": 4, \"start_ns\": 0}], \"kernel\": null}"),
			 LT_OK);
	ck_assert_uint_eq(warnings(), 0);
	ck_assert_ptr_null(sidecar_facts(sidecar).kernel);
	ck_assert_ptr_null(sidecar_process(sidecar, 3, 0, S(0)));
	ck_assert_ptr_nonnull(sidecar_process(sidecar, 4, 0, S(0)));
	ck_assert_ptr_null(sidecar_process(sidecar, 4, 0, S(0))->exe);
	ck_assert_int_eq(sidecar_process(sidecar, 4, 0, S(0))->uid, -1);
}
END_TEST

/* A PID that was used again is another process. */
START_TEST(test_reused)
{
	ck_assert_int_eq(load("{\"processes\": ["
			      "{\"pid\": 7, \"start_ns\": 1700000010000000000, \"exe\": \"second\"},"
			      "{\"pid\": 8, \"start_ns\": 1700000000000000000, \"exe\": \"other\"},"
			      "{\"pid\": 7, \"start_ns\": 1700000000000000000, \"exe\": \"first\"}]}"),
			 LT_OK);
	ck_assert_str_eq(sidecar_process(sidecar, 7, 0, S(5))->exe, "first");
	ck_assert_str_eq(sidecar_process(sidecar, 7, S(10), S(5))->exe, "second");
	/* start times have a resolution of 10 ms */
	ck_assert_str_eq(sidecar_process(sidecar, 7, S(10) + 9999999, S(5))->exe, "second");
	ck_assert_ptr_null(sidecar_process(sidecar, 7, S(20), S(5)));
	ck_assert_ptr_null(sidecar_process(sidecar, 7, S(9), S(5)));
	/* no process had the PID at that time */
	ck_assert_ptr_null(sidecar_process(sidecar, 8, 0, S(0) - 1000000000));
	ck_assert_ptr_null(sidecar_process(sidecar, 6, 0, S(5)));
	ck_assert_ptr_null(sidecar_process(sidecar, 9, 0, UINT64_MAX));
}
END_TEST

/* Several files: the latest counts. */
START_TEST(test_two_files)
{
	load("{\"kernel\": \"1\", \"disks\": {\"8:0\": \"old\", \"8:16\": \"kept\"},"
	     " \"processes\": [{\"pid\": 7, \"start_ns\": 5, \"exe\": \"sh\"}]}");
	load("{\"disks\": {\"8:0\": \"new\", \"8:32\": \"kept\"},"
	     " \"processes\": [{\"pid\": 7, \"start_ns\": 5, \"exe\": \"make\"}]}");
	ck_assert_uint_eq(warnings(), 0);
	ck_assert_str_eq(sidecar_facts(sidecar).kernel, "1");
	ck_assert_str_eq(sidecar_disk(sidecar, 8, 0), "new");
	ck_assert_str_eq(sidecar_disk(sidecar, 8, 16), "kept");
	ck_assert_ptr_eq(sidecar_disk(sidecar, 8, 32), sidecar_disk(sidecar, 8, 16)); /* the text is in memory once */
	ck_assert_str_eq(sidecar_process(sidecar, 7, 0, 5)->exe, "make");
}
END_TEST

/* Values of the wrong type are ignored, with one warning; the rest is used. */
START_TEST(test_wrong_types)
{
	static const char *const wrong[] = {
		"\"disks\": 1",
		"\"disks\": [\"sda\"]",
		"\"disks\": {\"8:0\": 1}",
		"\"users\": \"eva\"",
		"\"processes\": {\"pid\": 1}",
		"\"processes\": [1, \"a\", null, []]",
		"\"processes\": [{\"pid\": \"1\"}]",
		"\"processes\": [{\"pid\": -4, \"start_ns\": 1}]",
		"\"processes\": [{\"pid\": 4, \"start_ns\": 1.5}]",
		"\"processes\": [{\"pid\": 4, \"start_ns\": 1e300}]",
		"\"processes\": [{\"pid\": 4, \"exe\": [1]}]",
		"\"clock\": 3",
		"\"boot_id\": {}",
		"\"cpus\": 8",
		"\"cpus\": [{\"cpu\": \"0\"}]",
		"\"cgroups\": [1]",
		"\"clock\": {\"synchronised\": true, \"max_error_ns\": \"x\"}",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		char *text = g_strdup_printf("{\"kernel\": \"k%zu\", %s}", i, wrong[i]);
		char *kernel = g_strdup_printf("k%zu", i);

		ck_assert_msg(load(text) == LT_OK, "%s", text);
		ck_assert_msg(warnings() == 1, "%s", text);
		ck_assert_str_eq(sidecar_facts(sidecar).kernel, kernel);
		g_free(kernel);
		g_free(text);
	}
	ck_assert_ptr_null(sidecar_disk(sidecar, 8, 0));
	ck_assert_ptr_null(sidecar_process(sidecar, 4, 0, UINT64_MAX));
}
END_TEST

/* None of these counts, and each causes one warning. */
START_TEST(test_unusable)
{
	static const char *const texts[] = {
		"",
		"[]",
		"3",
		"null",
		"{",
		"{\"disks\": {\"8:0\": \"sda\"}",
		"{\"disks\": {\"8:0\": \"sda\"}}}",
		"\xff\xfe{}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"a\": \"\xff\"}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"schema\": 2}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"schema\": \"1\"}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"host\": \"db\"}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"pid\": 99999999999999999999999}",
		"{\"disks\": {\"8:0\": \"sda\"}, \"a\": [[[[[[[[[1]]]]]]]]]}",
		"{\"a\": \"\\u0000\"}",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		ck_assert_msg(load(texts[i]) == LT_ERROR, "%s", texts[i]);
		ck_assert_msg(warnings() == 1, "%s: %u", texts[i], warnings());
		ck_assert_ptr_null(sidecar_disk(sidecar, 8, 0));
	}
	g_unlink(path);
	ck_assert_int_eq(sidecar_load(sidecar, path, NULL), LT_ERROR);
	ck_assert_uint_eq(warnings(), 1);
}
END_TEST

/* A hundred thousand levels would be too much for a recursive parser. */
START_TEST(test_deep)
{
	GString *text = g_string_new("{\"a\":");

	for (int i = 0; i < 1000000; i++)
		g_string_append(text, i % 2 ? "[" : "{\"b\":");
	ck_assert_int_eq(load_bytes(text->str, text->len), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(last_warning(), "too deeply"));
	/* brackets in strings do not count */
	g_string_assign(text, "{\"kernel\": \"[[[[[[[[[[[[\\\"{{{{{{{{{{{{\"}");
	ck_assert_int_eq(load(text->str), LT_OK);
	ck_assert_str_eq(sidecar_facts(sidecar).kernel, "[[[[[[[[[[[[\"{{{{{{{{{{{{");
	g_string_free(text, TRUE);
}
END_TEST

/* An object of that name that is not a file does not block; a file that is too large is not read. */
START_TEST(test_no_file)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(sidecar_load(sidecar, path, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(last_warning(), "not a regular file"));
	g_unlink(path);
	ck_assert_int_eq(g_mkdir(path, 0700), 0);
	ck_assert_int_eq(sidecar_load(sidecar, path, NULL), LT_ERROR);
	g_rmdir(path);
	ck_assert_uint_eq(warnings(), 2);
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	ck_assert_int_eq(sidecar_load(sidecar, path, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(last_warning(), "it is a symbolic link"));
	g_unlink(path);
	ck_assert(g_file_set_contents(path, "{}", -1, NULL));
	ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
	ck_assert_int_eq(sidecar_load(sidecar, path, NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(last_warning(), "larger than 16 MiB"));
}
END_TEST

/* Texts come from another machine, and may be of any length. */
START_TEST(test_hostile_texts)
{
	GString *text = g_string_new("{\"kernel\": \"a\\u001b[31mb\\n\\u202ec\", \"users\": {\"0\": \"");
	const char *user;

	for (int i = 0; i < 100000; i++)
		g_string_append(text, "\\u0007");
	g_string_append(text, "\"}}");
	ck_assert_int_eq(load(text->str), LT_OK);
	ck_assert_str_eq(sidecar_facts(sidecar).kernel, "a\\x1b[31mb\\x0a\\xe2\\x80\\xaec");
	user = sidecar_user(sidecar, 0);
	ck_assert_uint_le(strlen(user), TEXT_MAX);
	ck_assert_uint_eq(strncmp(user, "\\x07\\x07", 8), 0);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_too_many)
{
	GString *text = g_string_new("{\"processes\": [{}");

	for (int i = 1; i <= SIDECAR_PROCESSES_MAX + 5; i++)
		g_string_append_printf(text, ",{\"pid\":%d,\"start_ns\":1}", i);
	g_string_append(text, "]}");
	ck_assert_int_eq(load(text->str), LT_OK);
	ck_assert_uint_eq(warnings(), 1);
	ck_assert_ptr_nonnull(sidecar_process(sidecar, SIDECAR_PROCESSES_MAX, 0, 1));
	ck_assert_ptr_null(sidecar_process(sidecar, SIDECAR_PROCESSES_MAX + 1, 0, 1));
	g_string_free(text, TRUE);
}
END_TEST

/* A sound file with every byte changed, and cut off at every byte: never more than a warning. */
START_TEST(test_damage)
{
	static const char sound[] = "{\"schema\":1,\"disks\":{\"8:0\":\"sda\"},\"clock\":{\"synchronised\":false},"
				    "\"processes\":[{\"pid\":7,\"start_ns\":5,\"exe\":\"/a\",\"uid\":0}]}";
	const size_t len = sizeof(sound) - 1;
	char bytes[sizeof(sound)];

	for (size_t i = 0; i < len; i++) {
		for (unsigned c = 0; c < 256; c += 5) {
			memcpy(bytes, sound, sizeof(sound));
			bytes[i] = (char)c;
			load_bytes(bytes, len);
			ck_assert_uint_le(warnings(), 1);
			sidecar_process(sidecar, 7, 0, S(0));
		}
		ck_assert_int_eq(load_bytes(sound, i), LT_ERROR);
		ck_assert_uint_eq(warnings(), 1);
	}
}
END_TEST

/* ---- parts that come as events ---- */

static bool hear(const char *text)
{
	return sidecar_hear(sidecar, text, strlen(text), "web");
}

#define M SIDECAR_MESSAGE

START_TEST(test_hear)
{
	ck_assert(hear(M "{\"schema\":1,\"host\":\"web\",\"users\":{\"1000\":\"eva\"}}"));
	ck_assert(hear(M "{\"processes\":[{\"pid\":9,\"start_ns\":3,\"exe\":\"/b\"},"
			 "{\"pid\":7,\"start_ns\":2,\"exe\":\"/a\"},{\"pid\":8,\"start_ns\":1,\"exe\":\"/c\"}]}"));
	ck_assert(hear(M "{\"processes\":[{\"pid\":7,\"start_ns\":900000000,\"exe\":\"/later\"}]}"));
	ck_assert_str_eq(sidecar_user(sidecar, 1000), "eva");
	ck_assert_str_eq(sidecar_process(sidecar, 7, 0, 5)->exe, "/a");
	ck_assert_str_eq(sidecar_process(sidecar, 7, 0, S(1))->exe, "/later");
	ck_assert_str_eq(sidecar_process(sidecar, 8, 0, 5)->exe, "/c");
	ck_assert_str_eq(sidecar_process(sidecar, 9, 0, 5)->exe, "/b");
	ck_assert_uint_eq(warnings(), 0);
}
END_TEST

/* A process whose start is reported with small differences stays where it was first; others do not lose their place. */
START_TEST(test_hear_again)
{
	static const char *const reports[] = { "1700000010150000000", "1700000010060000000", "1700000009970000000" };
	char exe[] = "/0";

	for (unsigned i = 0; i < G_N_ELEMENTS(reports); i++) {
		char *text = g_strdup_printf(M "{\"processes\":[{\"pid\":7,\"start_ns\":%s,\"exe\":\"/%u\"}]}",
					     reports[i], i);

		ck_assert(hear(text));
		g_free(text);
		exe[1] = (char)('0' + i);
		ck_assert_str_eq(sidecar_process(sidecar, 7, g_ascii_strtoull(reports[i], NULL, 10), 0)->exe, exe);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(reports); i++)
		ck_assert_ptr_nonnull(sidecar_process(sidecar, 7, g_ascii_strtoull(reports[i], NULL, 10), 0));
}
END_TEST

/* A list may be longer than a part. */
START_TEST(test_hear_cpus)
{
	ck_assert(hear(M "{\"cpus\":[{\"cpu\":0,\"package\":0,\"core\":0},{\"cpu\":1,\"package\":0,\"core\":1}]}"));
	ck_assert(hear(M "{\"cpus\":[{\"cpu\":2,\"package\":1,\"core\":0},{\"cpu\":3,\"package\":1,\"core\":1}]}"));
	ck_assert(hear(M "{\"kernel\":\"6\"}"));
	ck_assert_str_eq(sidecar_facts(sidecar).cpus, "4 in 4 cores, 2 sockets");
}
END_TEST

/* Messages that any program of another machine may have written. */
START_TEST(test_hear_hostile)
{
	static const char *const wrong[] = {
		"",
		"l",
		"lttngtop.json",
		M,
		M "{",
		M "[]",
		M "7",
		"xlttngtop.json {}",
		M "[[[[[[[[[[[[[[[[",
		M "{\"a\":\xff}",
		M "{\"schema\":2,\"kernel\":\"x\"}",
		M "{\"host\":\"db\",\"kernel\":\"x\"}",
		M "{\"kernel\":\"\xc3\"}",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_msg(!hear(wrong[i]), "%s", wrong[i]);
	ck_assert_ptr_null(sidecar_facts(sidecar).kernel);
	/* cut off anywhere, and with a NUL inside */
	for (size_t len = 0; len < strlen(M "{\"kernel\":\"6\"}"); len++)
		ck_assert(!sidecar_hear(sidecar, M "{\"kernel\":\"6\"}", len, "web"));
	ck_assert(!sidecar_hear(sidecar, M "{\0}", strlen(M) + 3, "web"));
	ck_assert(hear(M "{\"kernel\":\"\\u001b[2J\",\"users\":7,\"processes\":[1,{\"pid\":\"x\"}],"
			 "\"disks\":[]}"));
	ck_assert_str_eq(sidecar_facts(sidecar).kernel, "\\x1b[2J");
	ck_assert_ptr_null(error_text()[0] ? error_text() : NULL);
	ck_assert_uint_eq(warnings(), 0);
}
END_TEST

/* More than a machine would send: old data is dropped, and memory does not grow. */
START_TEST(test_hear_much)
{
	GString *text = g_string_new(NULL);
	const unsigned most = 40000;

	for (unsigned i = 1; i <= most; i++) {
		g_string_printf(text, M "{\"processes\":[{\"pid\":%u,\"start_ns\":1}]}", i);
		ck_assert(hear(text->str));
	}
	ck_assert_ptr_null(sidecar_process(sidecar, 1, 0, 5));
	ck_assert_ptr_nonnull(sidecar_process(sidecar, most, 0, 5));
	ck_assert(hear(M "{\"users\":{\"1\":\"first\"}}"));
	for (unsigned i = 0; i < 20000; i++) {
		g_string_printf(text, M "{\"users\":{\"2\":\"%u %03900u\"}}", i, 0);
		ck_assert(hear(text->str));
	}
	ck_assert_ptr_null(sidecar_user(sidecar, 1));
	ck_assert_ptr_nonnull(sidecar_user(sidecar, 2));
	g_string_free(text, TRUE);
}
END_TEST

/* Values take much more memory than their text. */
START_TEST(test_many_values)
{
	GString *text = g_string_new("{\"x\": [0");

	for (unsigned i = 0; i < SIDECAR_VALUES_MAX; i++)
		g_string_append(text, i % 4 ? ",0" : ",{}");
	g_string_append(text, "]}");
	ck_assert_int_eq(load(text->str), LT_ERROR);
	ck_assert_str_eq(error_text(), "it has too many values");
	ck_assert_uint_eq(warnings(), 1);
	g_string_free(text, TRUE);
}
END_TEST

/* A machine with as many processes as are ever recorded; commas in their command lines are no values. */
START_TEST(test_many_processes)
{
	enum { MANY = 1 << 15 };
	GString *text = g_string_new("{\"processes\": [");

	for (unsigned i = 1; i <= MANY; i++)
		g_string_append_printf(
			text,
			"%s\n  {\n   \"cgroup\": \"/user.slice/%u\",\n   \"cmdline\": \"a,b,{[,,,,,,%0200u\",\n"
			"   \"exe\": \"/usr/bin/a\",\n   \"gid\": 100,\n   \"pid\": %u,\n"
			"   \"start_ns\": 1700000000000000000,\n   \"uid\": 1000\n  }",
			i > 1 ? "," : "", i, i, i);
	g_string_append(text, "]}");
	ck_assert_int_eq(load(text->str), LT_OK);
	ck_assert_uint_eq(warnings(), 0);
	ck_assert_ptr_nonnull(sidecar_process(sidecar, MANY, 0, S(1)));
	g_string_free(text, TRUE);
}
END_TEST

/* A recording of many parts may have many of them. */
START_TEST(test_many_files)
{
	GString *text = g_string_new("{\"kernel\": \"");
	unsigned files = 0;

	while (text->len < 15 << 20)
		g_string_append(text, "xxxxxxxxxxxxxxxx");
	g_string_append(text, "\"}");
	while (files < 10 && load(text->str) == LT_OK)
		files++;
	ck_assert_uint_eq(files, 4);
	ck_assert_str_eq(error_text(), "with it, the host's would be larger than 64 MiB");
	g_string_free(text, TRUE);
}
END_TEST

UNIT_MAIN_AROUND("sidecar", setup, teardown, test_sound, test_empty, test_reused, test_two_files, test_wrong_types,
		 test_unusable, test_deep, test_no_file, test_hostile_texts, test_too_many, test_damage, test_hear,
		 test_hear_again, test_hear_cpus, test_hear_hostile, test_hear_much, test_many_values,
		 test_many_processes, test_many_files)
