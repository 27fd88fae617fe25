/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text, JSON and CSV of hand-built rows: out/. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "model/buckets.h"
#include "out/writer.h"

enum { BEGIN = 1000000000, END = 1500000000, COLUMNS_MAX = 32 };

static struct host_state state;
static struct interval iv;
static struct view_host host;
static struct view_rows rows;
static const char *const names[] = { "web" };

#define ADD(TABLE, type) STATE_ROW(&state, TABLE, type, state_add(&state, TABLE_##TABLE))

static void setup(void)
{
	struct thread_row *thread;
	struct syscall_row *call;
	struct syserr_row *error;
	struct bucket_row *bucket;

	state_init(&state);
	interval_init(&iv);
	view_rows_init(&rows);
	host = (struct view_host){ .name = names[0], .iv = &iv };
	ADD(HOST, host);
	interval_begin(&iv, &state, BEGIN, STATE_ALL_TABLES);
	thread = ADD(THREAD, thread);
	thread->tid = thread->pid = 7;
	thread->comm = strpool_intern_z("a \"b\", c");
	call = ADD(SYSCALL, syscall);
	call->thread_uid = thread->uid;
	call->name = strpool_intern_z("openat");
	call->count = 3;
	dist_add(&call->time, 12, BEGIN);
	bucket = ADD(BUCKET, bucket);
	bucket->owner_uid = call->uid;
	bucket->dist = bucket_dist(TABLE_SYSCALL, CELL(syscall, time.count));
	bucket->n12 = 1;
	error = ADD(SYSERR, syserr);
	error->thread_uid = thread->uid;
	error->name = call->name;
	error->error = 2;
	error->count = 1;
	call = ADD(SYSCALL, syscall);
	call->thread_uid = 12345; /* of an unknown thread */
	call->name = strpool_intern_z("read");
	call->count = UINT64_MAX;
	interval_end(&iv, &state, END);
}

static void teardown(void)
{
	view_rows_release(&rows);
	interval_release(&iv);
	state_release(&state);
}

/* Writes n pages of `syscalls` and returns the text; the caller frees it. */
static char *write_pages(enum writer_form form, bool intervals, unsigned n)
{
	const struct view_table *table = view_table_find("syscalls");
	const struct column *columns[COLUMNS_MAX];
	const struct view_query query = { .table = table };
	struct writer_page page = {
		.begin_ns = BEGIN,
		.end_ns = END,
		.rows = &rows,
		.columns = columns,
		.hosts = names,
		.n_hosts = 1,
		.lost = { .events = 5, .packets = 6 },
	};
	struct writer_options options = { .form = form, .table = "syscalls", .intervals = intervals };
	struct writer *w;
	char *text = NULL;
	size_t size;

	options.format.utc = true;
	options.out = open_memstream(&text, &size);
	for (unsigned i = 0; i < table->n_columns; i++)
		if (table->columns[i].flags & COLUMN_IN_REPORT)
			columns[page.n_columns++] = &table->columns[i];
	view_rows_build(&rows, &query, &host, 1);
	w = writer_create(&options);
	while (n--)
		ck_assert_int_eq(writer_page(w, &page), LT_OK);
	writer_destroy(w);
	fclose(options.out);
	return text;
}

#define JSON                                                                                                         \
	"{\"schema\":1,\"table\":\"syscalls\",\"begin_ns\":1000000000,\"end_ns\":1500000000,\"hosts\":[\"web\"],"    \
	"\"lost\":{\"events\":5,\"packets\":6},\"rows\":["                                                           \
	"{\"host\":\"web\",\"tid\":null,\"pid\":null,\"comm\":null,\"name\":\"read\",\"count\":9223372036854775807," \
	"\"total_ns\":0,\"min_ns\":null,\"avg_ns\":null,\"max_ns\":null,\"stdev_ns\":null,\"errors\":{},"            \
	"\"p50_ns\":null,\"p90_ns\":null,\"p99_ns\":null,\"p999_ns\":null},"                                         \
	"{\"host\":\"web\",\"tid\":7,\"pid\":7,\"comm\":\"a \\\"b\\\", c\",\"name\":\"openat\",\"count\":3,"         \
	"\"total_ns\":12,\"min_ns\":12,\"avg_ns\":12,\"max_ns\":12,\"stdev_ns\":0,\"errors\":{\"ENOENT\":1},"        \
	"\"p50_ns\":12,\"p90_ns\":12,\"p99_ns\":12,\"p999_ns\":12}]}\n"

START_TEST(test_json)
{
	char *text = write_pages(WRITER_JSON, true, 2);

	ck_assert_str_eq(text, JSON JSON);
	free(text);
}
END_TEST

#define HEADER \
	"host,tid,pid,comm,name,count,total_ns,min_ns,avg_ns,max_ns,stdev_ns,errors,p50_ns,p90_ns,p99_ns,p999_ns\n"
#define NOBODY "web,,,,read,9223372036854775807,0,,,,,{},,,,\n"
#define SOMEBODY "web,7,7,\"a \"\"b\"\", c\",openat,3,12,12,12,12,0,\"{\"\"ENOENT\"\":1}\",12,12,12,12\n"
#define TIMES "1000000000,1500000000,"
#define PAGE TIMES NOBODY TIMES SOMEBODY

START_TEST(test_csv)
{
	char *text = write_pages(WRITER_CSV, false, 1);

	ck_assert_str_eq(text, HEADER NOBODY SOMEBODY);
	free(text);
	text = write_pages(WRITER_CSV, true, 2);
	ck_assert_str_eq(text, "interval_begin_ns,interval_end_ns," HEADER PAGE PAGE);
	free(text);
}
END_TEST

/* Numbers with a fraction are as short as they can be. */
START_TEST(test_csv_numbers)
{
	static const struct {
		uint64_t cpu_ns; /* of 500 ms */
		const char *percent;
	} cases[] = { { 451755773, "90.3511546" }, { 333, "6.66e-5" }, { 250000000, "50.0" }, { 1, "2e-7" } };
	const struct view_query query = { .table = view_table_find("cpu"), .all = true };
	const struct column *column = view_column_find(query.table->columns, query.table->n_columns, "cpu_percent");

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct writer_options options = { .form = WRITER_CSV, .table = "cpu" };
		struct writer_page page = { .begin_ns = BEGIN,
					    .end_ns = END,
					    .rows = &rows,
					    .columns = &column,
					    .n_columns = 1,
					    .hosts = names,
					    .n_hosts = 1 };
		char *text = NULL, *wanted = g_strdup_printf("cpu_percent\n%s\n", cases[i].percent);
		struct writer *w;
		size_t size;

		options.out = open_memstream(&text, &size);
		STATE_ROW(&state, THREAD, thread, 0)->cpu_ns = cases[i].cpu_ns;
		view_rows_build(&rows, &query, &host, 1);
		w = writer_create(&options);
		ck_assert_int_eq(writer_page(w, &page), LT_OK);
		writer_destroy(w);
		fclose(options.out);
		ck_assert_str_eq(text, wanted);
		free(text);
		g_free(wanted);
	}
}
END_TEST

START_TEST(test_text)
{
	char *text = write_pages(WRITER_TEXT, false, 1);

	ck_assert_str_eq(
		text,
		"syscalls  [1970-01-01 00:00:01.000000000, 1970-01-01 00:00:01.500000000[  500ms  hosts: web  "
		"LOST: 5 events, 6 packets\n"
		"HOST    TID  PID  COMMAND   CALL                   COUNT  TOTAL   MIN   AVG   MAX  STDEV  ERRORS  "
		"   p50   p90   p99  p99.9\n"
		"web       -    -  -         read    18446744073709551615      0     -     -     -      -  -       "
		"     -     -     -      -\n"
		"web       7    7  a \"b\", c  openat                     3   12ns  12ns  12ns  12ns      0  ENOENT:1"
		"  12ns  12ns  12ns   12ns\n"
		"web   total                         18446744073709551615   12ns\n");
	free(text);
}
END_TEST

/* The word "total" may stand below counts by name, which have no sum. */
START_TEST(test_text_total)
{
	static const char *const columns[] = { "host", "errors", "count" };
	const struct column *chosen[G_N_ELEMENTS(columns)];
	struct writer_options options = { .form = WRITER_TEXT, .table = "syscalls" };
	const struct writer_page page = {
		.rows = &rows, .columns = chosen, .n_columns = G_N_ELEMENTS(columns), .hosts = names, .n_hosts = 1
	};
	const struct view_query query = { .table = view_table_find("syscalls") };
	struct writer *w;
	char *text = NULL;
	size_t size;

	view_rows_build(&rows, &query, &host, 1);
	for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++)
		chosen[i] = view_rows_column(&rows, columns[i]);
	options.out = open_memstream(&text, &size);
	w = writer_create(&options);
	ck_assert_int_eq(writer_page(w, &page), LT_OK);
	writer_destroy(w);
	fclose(options.out);
	ck_assert_msg(g_str_has_suffix(text, "\nweb   total     18446744073709551615\n"), "%s", text);
	free(text);
}
END_TEST

static void expect_lost(uint64_t events, uint64_t packets, const char *end)
{
	struct writer_page page = {
		.rows = &rows, .hosts = names, .n_hosts = 1, .lost = { .events = events, .packets = packets }
	};
	struct writer_options options = { .form = WRITER_TEXT, .table = "syscalls" };
	struct writer *w;
	char *text = NULL;
	size_t size;

	options.out = open_memstream(&text, &size);
	w = writer_create(&options);
	ck_assert_int_eq(writer_page(w, &page), LT_OK);
	writer_destroy(w);
	fclose(options.out);
	*strchr(text, '\n') = '\0';
	ck_assert_str_eq(strstr(text, "hosts: "), end);
	free(text);
}

START_TEST(test_lost)
{
	expect_lost(0, 0, "hosts: web");
	expect_lost(1, 0, "hosts: web  LOST: 1 event");
	expect_lost(20, 0, "hosts: web  LOST: 20 events");
	expect_lost(0, 1, "hosts: web  LOST: 1 packet");
	expect_lost(0, 2, "hosts: web  LOST: 2 packets");
	expect_lost(1, 1, "hosts: web  LOST: 1 event, 1 packet");
}
END_TEST

START_TEST(test_full_disk)
{
	struct writer_options options = { .form = WRITER_JSON, .table = "syscalls", .out = fopen("/dev/full", "we") };
	struct writer_page page = {
		.begin_ns = BEGIN,
		.end_ns = END,
		.rows = &rows,
		.columns = NULL,
		.hosts = names,
		.n_hosts = 1,
	};
	struct writer *w = writer_create(&options);

	ck_assert_ptr_nonnull(options.out);
	ck_assert_int_eq(writer_page(w, &page), LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot write the report: No space left on device");
	writer_destroy(w);
	fclose(options.out);
}
END_TEST

UNIT_MAIN_AROUND("out", setup, teardown, test_json, test_csv, test_csv_numbers, test_text, test_text_total, test_lost,
		 test_full_disk)
