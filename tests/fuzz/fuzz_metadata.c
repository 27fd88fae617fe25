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

/*
 * Damages the metadata of traces and reads it, in this process: for the sanitizers.
 *
 *	fuzz_metadata CASES SEED TRACE...
 *
 * The same seed gives the same cases. What is understood is edited, looked for in
 * packets of the trace and in random bytes, and released. A case that crashes or
 * takes longer than LIMIT_S is left in the file found.metadata. Prints how many cases were understood.
 */
enum { LIMIT_S = 20, EVENTS_KEPT = 12, PACKET_BYTES = 16384, EDITS_MAX = 6 };

struct trace {
	GString *text;    /* its metadata with a few of its events */
	GByteArray *data; /* the beginning of a stream */
};

static uint64_t state;
static GString *current;
static uint64_t understood;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t n)
{
	return n ? any() % n : 0;
}

static void leave(int number)
{
	int fd = open("found.metadata", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, current->str, current->len) < 0)
		_exit(3);
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- traces ---- */

/* What starts an event, in either language. */
static const char *next_event(const char *text, bool ctf2)
{
	return ctf2 ? strchr(text + 1, METADATA_SEPARATOR) : strstr(text + 1, "\nevent {");
}

/* All before the first event, and some events: as many as are read in a fraction of a millisecond. */
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

/* ---- damage ---- */

/* The numbers among them stand in a row. */
enum { NUMBERS_FROM = 16, NUMBERS = 14 };

static const char *const words[] = {
	"{", "}", "[", "]", "<", ">", ";", ":", ":=", "...", "\"", "\\", "'", "\x1e", "\n", "/*", "0", "-1",
	"1", "31", "64", "65", "4096", "1048576", "2147483648", "9223372036854775807", "9223372036854775808",
	"18446744073709551615", "99999999999999999999", "1e9", "null", "true", "{}", "[]", "align(",
	"struct {", "variant <", "enum : ", "string", "integer { size = 64; align = 1; }", "floating_point {",
	"typealias ", "clock.", ".value", "id", "v", "timestamp", "event.fields.", "stream.event.header.id",
	"\"field-class\":", "\"type\":\"structure\"", "\"member-classes\":[", "\"length\":", "\"alignment\":",
	"\"roles\":[\"event-record-class-id\"]", "\"default-clock-timestamp\"", "\"path\":[null]",
	"\"origin\":\"event-record-payload\"", "\"selector-field-ranges\":[[0,1]]", "\"type\":\"optional\"",
	"\"field-class\":\"u64-ts\"", "\"minimum-alignment\":",
};

/* Where one word ends and another begins: damage there is understood more often. */
static size_t at_word(const GString *text)
{
	size_t at = below(text->len);

	while (at < text->len && !strchr(" ,:;{}[]\"\n", text->str[at]))
		at++;
	return at;
}

static void edit(GString *text)
{
	const size_t at = any() % 3 ? at_word(text) : below(text->len), left = text->len - at;
	const size_t wanted = below(any() % 4 ? 16 : 400), n = MIN(left, wanted);
	char *piece;

	switch (any() % 8) {
	case 0:
		if (left)
			text->str[at] ^= (char)(1u << any() % 8);
		break;
	case 1:
		g_string_erase(text, (gssize)at, (gssize)n);
		break;
	case 2:
		if (any() % 8 == 0)
			g_string_truncate(text, at);
		break;
	case 3: /* a piece once more, elsewhere */
		piece = g_strndup(text->str + at, n);
		g_string_insert(text, (gssize)at_word(text), piece);
		g_free(piece);
		break;
	case 4: /* another number */
		for (size_t i = at; i < text->len; i++) {
			size_t digits = strspn(text->str + i, "0123456789");

			if (!digits)
				continue;
			g_string_erase(text, (gssize)i, (gssize)digits);
			g_string_insert(text, (gssize)i, words[NUMBERS_FROM + below(NUMBERS)]);
			break;
		}
		break;
	default:
		g_string_insert(text, (gssize)at, words[below(G_N_ELEMENTS(words))]);
		break;
	}
	/* As all metadata a text, which ends at its NUL. */
	g_string_truncate(text, strlen(text->str));
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

	state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (unsigned i = 0; i < 8; i++)
		any();
	t = &traces[below(n_traces)];
	g_string_truncate(current, 0);
	g_string_append_len(current, t->text->str, (gssize)t->text->len);
	edits = 1 + below(1 + below(EDITS_MAX)); /* mostly few */
	while (edits--)
		edit(current);
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
		traces[i] = (struct trace){.text = shorten(text), .data = read_stream(argv[i + 3])};
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
