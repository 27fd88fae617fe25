/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/identity.h"
#include "ctf/metadata.h"
#include "ctf/packet.h"
#include "damage.h"

/*
 * Damages the metadata of traces and reads it, in this process. To be run with sanitizers.
 *
 *	fuzz_metadata CASES SEED TRACE...
 *
 * The same seed gives the same cases. Metadata that can be parsed is edited, used to decode
 * packets of the trace and random bytes, and released. A case that crashes or
 * takes longer than LIMIT_S is left in the file found.metadata. Prints how many cases could be parsed.
 */
enum { LIMIT_S = 20, EVENTS_KEPT = 12, PACKET_BYTES = 16384, EDITS_MAX = 6 };

struct trace {
	GString *text;    /* its metadata with a few of its events */
	GByteArray *data; /* the start of a stream */
};

static GString *current;
static uint64_t understood;

static void leave(int number)
{
	int fd = open("found.metadata", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, current->str, current->len) < 0)
		_exit(3);
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- traces ---- */

/* The start of an event, in either language. */
static const char *next_event(const char *text, bool ctf2)
{
	return ctf2 ? strchr(text + 1, METADATA_SEPARATOR) : strstr(text + 1, "\nevent {");
}

/* Everything before the first event, and as many events as can be read in a fraction of a millisecond. */
static GString *shorten(const char *text)
{
	const bool ctf2 = metadata_is_ctf2(text);
	GString *out = g_string_new(NULL);
	unsigned events = 0, kept = 0;

	for (const char *end; *text; text = end) {
		end = next_event(text, ctf2);
		if (!end)
			end = text + strlen(text);
		if (ctf2 ? memmem(text, (size_t)(end - text), "event-record-class\"", 19) && events++ % 7
			 : !strncmp(text, "\nevent {", 8) && events++ % 7)
			continue;
		if (kept++ < EVENTS_KEPT)
			g_string_append_len(out, text, end - text);
	}
	return out;
}

static GByteArray *read_stream(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	GByteArray *data = g_byte_array_new();
	const char *name;

	while (dir && !data->len && (name = g_dir_read_name(dir)) != NULL) {
		char *path = g_build_filename(directory, name, NULL), *bytes;
		gsize len;

		if (strcmp(name, "metadata") != 0 && g_file_get_contents(path, &bytes, &len, NULL)) {
			g_byte_array_append(data, (const guint8 *)bytes, (guint)MIN(len, PACKET_BYTES));
			g_free(bytes);
		}
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	return data;
}

/* ---- reading ---- */

static void walk_packet(const struct layout *l, const uint8_t *data, size_t len)
{
	const struct layout_event *event;
	struct packet_head head;
	struct walk w;

	walk_init(&w, l, data, 8 * (uint64_t)len);
	if (!packet_walk_head(l, &w, &head)) {
		w.clock = head.values[PACKET_TIMESTAMP_BEGIN];
		while (w.at < w.end && walk_event(&w, head.stream, &event))
			layout_to_ns(l, w.clock);
	}
	for (guint i = 0; i < l->streams->len && i < 4; i++) {
		w.at = any() % 64;
		while (w.at < w.end && walk_event(&w, g_ptr_array_index(l->streams, i), &event))
			;
	}
	walk_release(&w);
}

static void read_metadata(const struct trace *t, const char *text)
{
	uint8_t bytes[256];
	struct identity id;
	struct layout *l;
	char *edited;

	identity_read(&id, text);
	identity_release(&id);
	if (layout_parse(text, &l)) {
		if (!*error_text())
			abort();
		error_clear();
		return;
	}
	understood++;
	edited = layout_edit_text(l, text, (int64_t)any() >> below(40), any() % 2 ? "other" : NULL);
	g_free(edited);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(any() % 4 ? below(4) : any());
	walk_packet(l, bytes, sizeof(bytes));
	walk_packet(l, t->data->data, t->data->len);
	layout_destroy(l);
	error_clear();
}

static void run_case(const struct trace *traces, size_t n_traces, uint64_t seed)
{
	const struct trace *t;
	size_t edits;

	damage_seed(seed);
	t = &traces[below(n_traces)];
	g_string_truncate(current, 0);
	g_string_append_len(current, t->text->str, (gssize)t->text->len);
	edits = 1 + below(1 + below(EDITS_MAX)); /* usually few */
	while (edits--)
		damage_text(current);
	alarm(LIMIT_S);
	read_metadata(t, current->str);
	alarm(0);
}

int main(int argc, char **argv)
{
	const size_t n_traces = argc > 3 ? (size_t)argc - 3 : 0;
	struct trace *traces = g_new0(struct trace, n_traces + 1);
	uint64_t cases, seed;

	if (!n_traces) {
		fprintf(stderr, "fuzz_metadata CASES SEED TRACE...\n");
		return 2;
	}
	cases = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	current = g_string_new(NULL);
	for (size_t i = 0; i < n_traces; i++) {
		char *text = metadata_read(argv[i + 3], METADATA_MAX);

		if (!text) {
			fprintf(stderr, "%s: no metadata\n", argv[i + 3]);
			return 2;
		}
		traces[i] = (struct trace){ .text = shorten(text), .data = read_stream(argv[i + 3]) };
		read_metadata(&traces[i], traces[i].text->str);
		g_free(text);
	}
	signal(SIGALRM, leave);
	signal(SIGABRT, leave);
	signal(SIGSEGV, leave);
	for (uint64_t i = 0; i < cases; i++)
		run_case(traces, n_traces, seed * cases + i);
	printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " understood\n", understood, cases + n_traces);
	for (size_t i = 0; i < n_traces; i++) {
		g_string_free(traces[i].text, TRUE);
		g_byte_array_free(traces[i].data, TRUE);
	}
	g_string_free(current, TRUE);
	g_free(traces);
	return 0;
}
