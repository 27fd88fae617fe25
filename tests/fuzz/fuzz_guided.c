/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/identity.h"
#include "ctf/layout.h"
#include "reader/native/native.h"
#include "records.h"

/*
 * Reads one recording as a worker does: for libFuzzer, which changes its bytes according to the code they reach
 * (FUZZ_GUIDED), and for cases found in this way.
 *
 *	fuzz_guided CASE...
 *
 * A case is the metadata, a NUL and a data file. It is written to FUZZ_DIRECTORY, preferably in memory. Invalid input
 * must be refused with a reason; each record is checked as the parent checks it.
 */
enum { RING_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static struct ring_consumer consumer;
static struct ring_producer producer;
static const char *directory;

G_GNUC_NORETURN static void die(const char *what, const char *why)
{
	fprintf(stderr, "fuzz_guided: %s: %s\n", what, why);
	abort();
}

static void set_up(void)
{
	if (directory)
		return;
	directory = g_getenv("FUZZ_DIRECTORY");
	if (!directory)
		die("FUZZ_DIRECTORY", "is not set");
	if (ring_create(&consumer, RING_BYTES) ||
	    ring_producer_open(&producer, (struct ring_fds){ dup(consumer.fds.memory), consumer.producer_wake }))
		die("ring", error_text());
	consumer.producer_wake = -1;
}

static void write_file(const char *name, const void *bytes, size_t len)
{
	char *path = g_build_filename(directory, name, NULL);
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		die(path, g_strerror(errno));
	close(fd);
	g_free(path);
}

static void read_metadata(const char *text)
{
	struct identity id;
	struct layout *l;

	identity_read(&id, text);
	identity_release(&id);
	if (layout_parse(text, &l) == LT_OK) {
		g_free(layout_edit_text(l, text, INT64_C(1) << 40, "other"));
		layout_destroy(l);
	} else if (!*error_text()) {
		die("metadata", "refused without a word");
	}
	error_clear();
}

static void take_records(struct shapes *shapes)
{
	const struct event *ev;
	const char *wrong;
	enum lt_status status;

	while ((status = ring_peek(&consumer, &ev, &wrong)) == LT_OK) {
		wrong = check_fields(shapes, ev);
		if (wrong)
			die("fields", wrong);
		ring_next(&consumer);
	}
	if (status == LT_ERROR)
		die("record", wrong);
	ring_woken(&consumer);
}

static void read_recording(void)
{
	const char *const paths[] = { directory, NULL };
	const struct reader_args args = {
		.name = "case",
		.paths = paths,
		.parts = 1,
		.end_ns = UINT64_MAX,
		.wanted = WANT_ALL,
	};
	struct shapes shapes;
	struct reader *reader = NULL;
	enum lt_status status = reader_native.open(&args, &producer, &reader);

	shapes_init(&shapes);
	while (status == LT_OK) {
		status = reader_step(reader);
		ring_publish(&producer);
		take_records(&shapes);
	}
	shapes_release(&shapes);
	if (status != LT_END && !*error_text())
		die("reading", "failed without a word");
	reader_close(reader);
	error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const uint8_t *nul = memchr(bytes, 0, len);
	const size_t text_len = nul ? (size_t)(nul - bytes) : len;
	char *text = g_strndup((const char *)bytes, text_len);

	set_up();
	read_metadata(text);
	g_free(text);
	write_file("metadata", bytes, text_len);
	write_file("data_0", nul ? nul + 1 : bytes, nul ? len - text_len - 1 : 0);
	read_recording();
	return 0;
}

#ifndef FUZZ_GUIDED
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *bytes;
		gsize len;

		if (!g_file_get_contents(argv[i], &bytes, &len, NULL))
			die(argv[i], "cannot be read");
		LLVMFuzzerTestOneInput((const uint8_t *)bytes, len);
		g_free(bytes);
		printf("ok %s\n", argv[i]);
	}
	if (directory) {
		ring_producer_release(&producer);
		ring_consumer_release(&consumer);
	}
	return 0;
}
#endif
