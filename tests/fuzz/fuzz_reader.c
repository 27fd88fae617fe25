/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/metadata.h"
#include "damage.h"
#include "reader/native/native.h"
#include "reader/native/recall.h"
#include "records.h"
#include "source/recall.h"

/*
 * Damages small recordings and reads them as a worker does, in this process: as recordings and, every other one, as
 * what is kept of a live session, with the log of that damaged, too. To be run with sanitizers.
 *
 *	fuzz_reader CASES SEED DIRECTORY TRACE...
 *
 * The damaged recording is written to DIRECTORY, preferably in memory. A case is metadata and one data file, one or
 * both of them damaged; the same seed gives the same cases. Every record is checked as the parent
 * checks it. A case that crashes, takes longer than LIMIT_S or more memory than LIMIT_BYTES is
 * left as found-N in the current directory, and the others are run. Prints the results of the cases.
 */
enum { LIMIT_S = 20, DATA_BYTES = 16384, EDITS_MAX = 6, RING_BYTES = 64 << 20, PARTS = 3, LOG_BYTES = 1 << 20 };

#define LIMIT_KIB (INT64_C(1) << 20)

struct trace {
	char *text;       /* its metadata */
	GByteArray *data; /* a data file, or its start */
};

/* Shared by the process that runs the cases and the one that watches it. */
struct progress {
	volatile uint64_t at; /* the current case */
	volatile uint64_t opened, declined, failed, records, events;
	volatile int64_t rss_kib;
};

static struct progress *progress;
static struct ring_consumer consumer;
static struct ring_producer producer;
static GString *text;
static GByteArray *data;
static const char *directory;

G_GNUC_NORETURN static void die(const char *what, const char *why)
{
	fprintf(stderr, "fuzz_reader: %s: %s\n", what, why);
	exit(2);
}

/* ---- traces ---- */

static void add_traces(GArray *traces, const char *path)
{
	char *metadata = metadata_read(path, METADATA_MAX);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (metadata && dir && (name = g_dir_read_name(dir)) != NULL) {
		char *file = g_build_filename(path, name, NULL), *bytes;
		struct trace t = { .text = NULL };
		gsize len;

		if (strcmp(name, "metadata") != 0 && g_file_get_contents(file, &bytes, &len, NULL)) {
			t.text = g_strdup(metadata);
			t.data = g_byte_array_new();
			g_byte_array_append(t.data, (const guint8 *)bytes, (guint)MIN(len, DATA_BYTES));
			g_array_append_val(traces, t);
			g_free(bytes);
		}
		g_free(file);
	}
	if (dir)
		g_dir_close(dir);
	g_free(metadata);
}

static void release_trace(gpointer trace)
{
	g_free(((struct trace *)trace)->text);
	g_byte_array_free(((struct trace *)trace)->data, TRUE);
}

/* ---- one case ---- */

static void write_file(const char *name, const void *bytes, size_t len)
{
	char *path = g_build_filename(directory, name, NULL);
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		die(path, strerror(errno));
	close(fd);
	g_free(path);
}

static void make_case(const GArray *traces, uint64_t seed)
{
	const struct trace *t, *other;
	unsigned what, edits;

	damage_seed(seed);
	t = &g_array_index(traces, struct trace, below(traces->len));
	other = &g_array_index(traces, struct trace, below(traces->len));
	what = any() % 8; /* 0…2 metadata, 3…5 data, 6 both, 7 data of another trace */
	g_string_assign(text, t->text);
	g_byte_array_set_size(data, 0);
	g_byte_array_append(data, (what == 7 ? other : t)->data->data, (what == 7 ? other : t)->data->len);
	edits = 1 + (unsigned)below(1 + below(EDITS_MAX)); /* usually few */
	for (unsigned i = 0; i < edits; i++) {
		if (what < 3 || what == 6)
			damage_text(text);
		if (what >= 3)
			damage_bytes(data);
	}
}

/* Takes all records from the ring, and checks them as the parent does. */
static void take_records(struct shapes *shapes)
{
	const struct event *ev;
	const char *wrong;
	enum lt_status status;

	while ((status = ring_peek(&consumer, &ev, &wrong)) == LT_OK) {
		progress->records++;
		progress->events += ev->kind >= EVENT_OTHER;
		wrong = check_fields(shapes, ev);
		if (wrong)
			die("fields", wrong);
		ring_next(&consumer);
	}
	if (status == LT_ERROR)
		die("record", wrong);
	ring_woken(&consumer);
}

/* Of a reader that was opened, or not. */
static void read_all(struct reader *reader, enum lt_status status)
{
	struct shapes shapes;

	shapes_init(&shapes);
	if (status != LT_OK && !*error_text())
		die("declined", "without a word");
	progress->declined += status != LT_OK;
	progress->opened += status == LT_OK;
	while (status == LT_OK) {
		status = reader_step(reader);
		ring_publish(&producer);
		take_records(&shapes);
	}
	shapes_release(&shapes);
	if (reader && status == LT_ERROR && !*error_text())
		die("failed", "without a word");
	progress->failed += reader && status == LT_ERROR;
	reader_close(reader);
	error_clear();
}

static struct reader_args args_of(uint64_t seed)
{
	struct reader_args args = { .name = "damaged", .parts = 1, .end_ns = UINT64_MAX };

	args.wanted = seed & 1 ? WANT_ALL : NULL;
	if (seed % PARTS == 0)
		args.begin_ns = any() >> below(64); /* a range: takes other ways through the packets */
	return args;
}

static void read_recording(uint64_t seed)
{
	const char *const paths[] = { directory, NULL };
	struct reader_args args = args_of(seed);
	struct reader *reader = NULL;
	enum lt_status status;

	args.paths = paths;
	status = reader_native.open(&args, &producer, &reader);
	read_all(reader, status);
}

/* ---- the same as what is kept of a live session ---- */

static void add_metadata(struct recall *log)
{
	struct recall_entry e = { .kind = RECALL_METADATA, .source = 1, .trace = 1 };
	GByteArray *packed = g_byte_array_new();

	recall_pack_metadata(packed, text->str, text->len);
	e.len = packed->len;
	recall_add(log, &e, packed->data);
	g_byte_array_free(packed, TRUE);
}

static void add_packets(struct recall *log)
{
	const unsigned n = 1 + (unsigned)below(5);

	for (unsigned i = 0; i < n; i++) {
		struct recall_entry e = {
			.kind = RECALL_PACKET, .source = 1, .trace = 1, .stream = below(2), .len = data->len
		};

		recall_add(log, &e, data->data);
	}
}

/* Usually none. */
static void damage_log(struct recall *log)
{
	const uint64_t used = log->shared->head;

	for (uint64_t i = below(6); i > 3 && used; i--)
		log->entries[below(used)] = (uint8_t)any();
	if (any() % 16 == 0)
		log->shared->head = odd_number();
	if (any() % 16 == 0)
		log->shared->tail = odd_number();
}

static void read_recalled(uint64_t seed)
{
	const int fd = recall_create(LOG_BYTES);
	struct reader_args args = args_of(seed);
	struct reader *reader = NULL;
	struct recall log;
	enum lt_status status;

	if (fd < 0 || recall_open(&log, fd, true) != LT_OK)
		die("log", error_text());
	args.paths = (const char *const[]){ NULL };
	add_metadata(&log);
	add_packets(&log);
	damage_log(&log);
	status = native_recall_open(&args, fd, 1, 1, &producer, &reader);
	read_all(reader, status);
	recall_close(&log);
	close(fd);
}

static void check_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (!progress->rss_kib)
		progress->rss_kib = usage.ru_maxrss;
	if (usage.ru_maxrss - progress->rss_kib > LIMIT_KIB)
		die("memory", "a case takes too much of it");
}

static void run_case(const GArray *traces, uint64_t seed)
{
	make_case(traces, seed);
	write_file("metadata", text->str, text->len);
	write_file("data_0", data->data, data->len);
	alarm(LIMIT_S);
	if (seed & 2)
		read_recalled(seed);
	else
		read_recording(seed);
	alarm(0);
	check_memory();
}

/* ---- all cases ---- */

static int run_cases(const GArray *traces, uint64_t first, uint64_t end)
{
	progress->rss_kib = 0;
	text = g_string_new(NULL);
	data = g_byte_array_new();
	if (ring_create(&consumer, RING_BYTES) ||
	    ring_producer_open(&producer, (struct ring_fds){ dup(consumer.fds.memory), consumer.producer_wake }))
		die("ring", error_text());
	consumer.producer_wake = -1;
	for (progress->at = first; progress->at < end; progress->at++)
		run_case(traces, progress->at);
	ring_producer_release(&producer);
	ring_consumer_release(&consumer);
	g_string_free(text, TRUE);
	g_byte_array_free(data, TRUE);
	return 0;
}

static void keep_case(const GArray *traces, uint64_t seed)
{
	char *keep = g_strdup_printf("found-%" PRIu64, seed);

	text = g_string_new(NULL);
	data = g_byte_array_new();
	make_case(traces, seed);
	g_mkdir_with_parents(keep, 0755);
	directory = keep;
	write_file("metadata", text->str, text->len);
	write_file("data_0", data->data, data->len);
	g_string_free(text, TRUE);
	g_byte_array_free(data, TRUE);
	g_free(keep);
}

/* Runs the cases from `first` on in a separate process; returns the case in which it died, or end: it did not. */
static uint64_t run_until_death(GArray *traces, uint64_t first, uint64_t end)
{
	const char *files = directory;
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		status = run_cases(traces, first, end);
		g_array_free(traces, TRUE);
		exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die("fork", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return end;
	printf("not ok case %" PRIu64 ": %s %d\n", progress->at, WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (progress->at < end)
		keep_case(traces, progress->at);
	directory = files;
	return progress->at;
}

int main(int argc, char **argv)
{
	GArray *traces = g_array_new(FALSE, FALSE, sizeof(struct trace));
	uint64_t first, end;
	unsigned dead = 0;

	if (argc < 5)
		die("usage", "CASES SEED DIRECTORY TRACE...");
	g_array_set_clear_func(traces, release_trace);
	directory = argv[3];
	for (int i = 4; i < argc; i++)
		add_traces(traces, argv[i]);
	if (!traces->len)
		die(argv[4], "no trace");
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		die("memory", strerror(errno));
	first = strtoull(argv[2], NULL, 10) << 32;
	end = first + strtoull(argv[1], NULL, 10);
	for (uint64_t at = first; at < end; at++) {
		at = run_until_death(traces, at, end);
		dead += at < end;
	}
	printf("%s %" PRIu64 " cases: %" PRIu64 " opened, %" PRIu64 " of them with troubles, ", dead ? "not ok" : "ok",
	       end - first, progress->opened, progress->failed);
	printf("%" PRIu64 " declined, %u died; %" PRIu64 " records, %" PRIu64 " of events\n", progress->declined, dead,
	       progress->records, progress->events);
	g_array_free(traces, TRUE);
	return dead > 0;
}
