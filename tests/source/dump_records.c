/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the records that workers make from recordings, for people and for test_records.py:
 *
 *   dump_records [-q|-x] [-p PARTS] [-r BEGIN:END] [-R READER] [-w PROGRAM] [-t SECONDS] [-s] [-f|-u] [-F WANTED]
 *                SOURCE...
 *
 * One line per record: time, kind, cpu, tid, class name, words in hexadecimal, texts.
 * -q: only the totals per kind. -x: all words and texts in hexadecimal. READER: as for the option --reader.
 * BEGIN, END: only this range of a recording, in ns.
 * PROGRAM: lttngtop, to run with --worker; without it, this program is its own worker.
 * A SOURCE is a directory or a URL. SECONDS: kills a worker without a heartbeat for this long, and gives up on a
 * relayd that does not answer; the streams of a live session that are silent for more than twice as long are not waited
 * for. -s: reads a live session from its start. -f: the recordings in the directories are still being written; streams
 * that are silent for SECONDS are not waited for. -u: the same, but they are only read up to their last complete
 * packets. WANTED: the events of which all fields are wanted, in the format of event/wanted.h; "3 0
 * 18446744073709551615" means all.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "event/fields.h"
#include "event/payload.h"
#include "event/tracepoints.h"
#include "source/source.h"
#include "worker/worker.h"

static const char *const kind_names[EVENT_KINDS] = {
	[EVENT_TRACE] = "TRACE",
	[EVENT_CLASS] = "CLASS",
	[EVENT_STREAM] = "STREAM",
	[EVENT_PERF_NAMES] = "PERF_NAMES",
	[EVENT_CPU_START] = "CPU_START",
	[EVENT_READY] = "READY",
	[EVENT_LOST] = "LOST",
	[EVENT_GAP] = "GAP",
	[EVENT_BACKWARD] = "BACKWARD",
	[EVENT_CONTEXT] = "CONTEXT",
	[EVENT_STREAM_END] = "STREAM_END",
	[EVENT_BEACON] = "BEACON",
	[EVENT_NOTE] = "NOTE",
	[EVENT_SHAPE] = "SHAPE",
	[EVENT_FIELDS] = "FIELDS",
	[EVENT_SESSION] = "SESSION",
	[EVENT_LISTED] = "LISTED",
	[EVENT_END] = "END",
	[EVENT_FAILED] = "FAILED",
	[EVENT_OTHER] = "OTHER",
	[EVENT_PROBE] = "PROBE",
#define TRACEPOINT(kind, ...) [EVENT_##kind] = #kind,
#include "event/tracepoints.def"
};

static const char *const cause_names[FAILED_CAUSES] = {
	"other", "no session", "taken", "unreachable", "gone", "worker",
};

static void print_text(const struct event *ev, const char *name, struct event_str s)
{
	printf(" %s=\"", name);
	for (uint32_t i = 0; i < s.len; i++) {
		unsigned char c = event_text(ev, s)[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_comm(const char *name, const char *comm)
{
	printf(" %s=\"", name);
	for (unsigned i = 0; i < 16 && comm[i]; i++) {
		unsigned char c = comm[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* Its position in the record does not matter: counters may precede it, and are reported when they change. */
static bool is_text(const struct tracepoint_desc *desc, unsigned word)
{
	for (unsigned i = 0; i < desc->n_fields; i++)
		if (desc->fields[i].type == FIELD_STR && desc->fields[i].offset == word * sizeof(uint64_t))
			return true;
	return false;
}

static void print_fields(const struct event *ev)
{
	const struct tracepoint_desc *desc = tracepoint_desc(ev->kind);

	for (unsigned i = 0; i < desc->n_fields; i++) {
		const struct field_desc *f = &desc->fields[i];
		const char *at = (const char *)ev->words + f->offset;
		struct event_str s;
		int64_t value;
		char name[64];

		if (*f->names)
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(f->names, " "), f->names);
		else
			snprintf(name, sizeof(name), "w%u", f->offset / 8);
		if (ev->kind > EVENT_PROBE && f->type != FIELD_MEMBER && !event_has(ev, i))
			continue;
		if (f->offset >= 8 * ev->n_words) /* left out, because it is 0 */
			at = "\0\0\0\0\0\0\0";
		memcpy(&s, at, sizeof(s));
		memcpy(&value, at, sizeof(value));
		if (f->type == FIELD_COMM)
			print_comm(name, at);
		else if (f->type == FIELD_STR)
			print_text(ev, name, s);
		else
			printf(" %s=%" PRId64, name, value);
	}
	if (ev->kind < EVENT_OTHER && ev->kind != EVENT_NOTE)
		for (unsigned i = desc->n_fields; i < ev->n_words; i++)
			printf(" %" PRId64, (int64_t)ev->words[i]);
	if (ev->kind == EVENT_NET_QUEUE || ev->kind == EVENT_NET_RECEIVE)
		for (unsigned i = 0; i < ev->n_words; i++)
			printf(" %" PRIx64, is_text(desc, i) ? 0 : ev->words[i]);
}

static void print_bytes(const char *text, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

static void print_value(const struct shape *shape, const struct field_value *v)
{
	const char *labels[8];
	const unsigned n = fields_labels(shape, v, labels, 8);

	printf(" %s", v->name);
	switch ((enum shape_kind)v->kind) {
	case SHAPE_UINT:
	case SHAPE_BOOL:
		printf("=%" PRIu64, v->u);
		break;
	case SHAPE_INT:
		printf("=%" PRId64, v->i);
		break;
	case SHAPE_ENUM:
		printf("=");
		for (unsigned i = 0; i < MIN(n, 8); i++)
			printf("%s|", labels[i]);
		printf("%" PRId64, v->i);
		break;
	case SHAPE_FLOAT:
		printf("=%g", v->f);
		break;
	case SHAPE_TEXT:
		printf("=\"");
		print_bytes(v->text, v->len);
		printf("\"%s", v->cut ? "…" : "");
		break;
	case SHAPE_END:
		printf("}");
		break;
	default:
		printf("{%s", v->cut ? "…" : "");
		break;
	}
}

/* false: the record is invalid, which is reported. */
static bool print_values(const struct event *ev, const struct shapes *shapes, bool quiet)
{
	const struct shape *shape = shapes_find(shapes, ev);
	const char *wrong = shape ? fields_check(shape, ev) : "no shape";
	struct fields_cursor c;
	struct field_value v;

	if (wrong)
		printf("# wrong fields: %s\n", wrong);
	if (wrong || quiet)
		return !wrong;
	printf("%" PRIu64 " FIELDS cpu=%d tid=%d class=%s", ev->ts_ns, ev->cpu == EVENT_NO_CPU ? -1 : ev->cpu, ev->tid,
	       shape->name);
	fields_begin(&c, shape, ev);
	while (fields_next(&c, &v))
		print_value(shape, &v);
	printf("%s\n", c.cut ? "…" : "");
	return true;
}

static void print_record(const struct event *ev, GPtrArray *classes)
{
	printf("%" PRIu64 " %s cpu=%d tid=%d", ev->ts_ns, kind_names[ev->kind], ev->cpu == EVENT_NO_CPU ? -1 : ev->cpu,
	       ev->tid);
	if (ev->class_id != EVENT_NO_CLASS && ev->class_id < classes->len)
		printf(" class=%s", (const char *)g_ptr_array_index(classes, ev->class_id));
	print_fields(ev);
	if (ev->kind > EVENT_PROBE)
		printf(" present=0x%x", ev->present);
	for (unsigned i = 0; i < ev->n_perf; i++)
		printf("%s%" PRIu64, i ? "," : " perf=", event_perf(ev)[i]);
	putchar('\n');
}

static void learn_class(const struct event *ev, GPtrArray *classes)
{
	const struct event_str s = event_payload(ev, ev_class)->name;

	while (classes->len <= ev->class_id)
		g_ptr_array_add(classes, NULL);
	g_free(g_ptr_array_index(classes, ev->class_id));
	g_ptr_array_index(classes, ev->class_id) = g_strndup(event_text(ev, s), s.len);
}

/* Everything in the record, present or not. */
/* Where the event is in its file, which only the native reader knows: report slice shows that it is right. */
static bool is_of_place(const struct event *ev, uint32_t at)
{
	const uint32_t begin = sizeof(*ev) + offsetof(struct ev_fields, file);

	return ev->kind == EVENT_FIELDS && at >= begin && at < sizeof(*ev) + sizeof(struct ev_fields);
}

static void print_raw(const struct event *ev)
{
	const unsigned char *bytes = (const unsigned char *)ev;

	printf("%" PRIu64 " %s cpu=%d tid=%d class=%u present=%x words=%u perf=%u ", ev->ts_ns, kind_names[ev->kind],
	       ev->cpu, ev->tid, ev->class_id, ev->present, ev->n_words, ev->n_perf);
	for (uint32_t i = sizeof(*ev); i < ev->size; i++)
		if (!is_of_place(ev, i))
			printf("%02x", bytes[i]);
	putchar('\n');
}

enum { HANG_TIMEOUTS = 4 };

static unsigned limit_ms;
static bool from_start, is_growing, is_unfinished;
static bool raw;
static uint64_t begin_ns, end_ns = UINT64_MAX;
static const char *wanted;

static int dump(struct source *s, bool quiet)
{
	GPtrArray *classes = g_ptr_array_new_with_free_func(g_free);
	uint64_t counts[EVENT_KINDS] = { 0 }, events = 0, last_ns = 0, bytes = 0, disorder = 0;
	const struct event *ev;
	enum lt_status status;
	struct shapes shapes;
	bool fine = true;

	shapes_init(&shapes);
	while ((status = source_peek(s, &ev)) == LT_OK || status == LT_AGAIN) {
		struct pollfd pfd = { .fd = source_fd(s), .events = POLLIN };

		if (status == LT_AGAIN) {
			fflush(stdout);
			poll(&pfd, 1, 100);
			if (limit_ms && source_hangs(s, limit_ms))
				source_kill(s, "it hangs");
			continue;
		}
		if (ev->kind == EVENT_CLASS)
			learn_class(ev, classes);
		if (ev->kind == EVENT_SHAPE && shapes_take(&shapes, ev)) {
			printf("# wrong shape of class %u\n", ev->class_id);
			fine = false;
		}
		if (raw)
			print_raw(ev);
		if (ev->kind == EVENT_FIELDS)
			fine &= print_values(ev, &shapes, quiet || raw);
		else if (!quiet && !raw && ev->kind != EVENT_SHAPE)
			print_record(ev, classes);
		counts[ev->kind]++;
		bytes += ev->size;
		events += ev->kind >= EVENT_OTHER;
		if (ev->kind >= EVENT_OTHER || ev->kind == EVENT_LOST || ev->kind == EVENT_GAP) {
			disorder += ev->ts_ns < last_ns;
			last_ns = ev->ts_ns;
		}
		source_next(s);
	}
	if (status == LT_ERROR)
		printf("# failed: %s (%s)\n", error_text(), cause_names[source_failed_cause(s)]);
	source_stop(s);
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++)
		if (quiet && counts[kind])
			printf("# %s %" PRIu64 "\n", kind_names[kind], counts[kind]);
	printf("# events %" PRIu64 " bytes %" PRIu64 " out of order %" PRIu64 "\n", events, bytes, disorder);
	g_ptr_array_free(classes, TRUE);
	shapes_release(&shapes);
	return status == LT_END && fine ? 0 : 1;
}

static int dump_spec(struct source_spec *spec, unsigned part, unsigned parts, bool quiet)
{
	struct source *s;

	spec->begin_ns = begin_ns;
	spec->is_unfinished = is_unfinished;
	spec->end_ns = end_ns;
	spec->fields = g_strdup(wanted);
	printf("# source '%s' host '%s' paths %u part %u/%u\n", spec->name, spec->host_hint, spec->paths->len, part,
	       parts);
	if (source_start(spec, part, parts, &s) == LT_OK)
		return dump(s, quiet);
	printf("# failed: %s\n", error_text());
	return 1;
}

/* Only lists a relayd's sessions. */
static int dump_url(const char *text, bool quiet)
{
	struct source_spec *spec;
	struct source_url url;
	struct source *s;
	const unsigned timeout_ms = limit_ms;
	int failed = 1;

	/* A relayd that does not answer is first of all the worker's business. */
	limit_ms *= HANG_TIMEOUTS;
	if (source_parse_url(text, &url) != LT_OK) {
		printf("# failed: %s\n", error_text());
	} else if (url.session) {
		spec = source_live_spec(&url);
		spec->timeout_ms = spec->stall_ms = timeout_ms;
		spec->from_start = from_start;
		failed = dump_spec(spec, 0, 1, quiet);
		source_spec_free(spec);
	} else if (source_start_list(url.relay, timeout_ms, 0, &s) == LT_OK) {
		failed = dump(s, quiet);
	}
	source_url_release(&url);
	return failed;
}

static int dump_growing(const char *directory, bool quiet)
{
	struct source_spec *spec;
	int failed;

	if (source_growing_spec(directory, &spec) != LT_OK) {
		printf("# failed: %s\n", error_text());
		return 1;
	}
	spec->stall_ms = limit_ms;
	limit_ms = 0;
	failed = dump_spec(spec, 0, 1, quiet);
	source_spec_free(spec);
	return failed;
}

static void free_spec(gpointer spec)
{
	source_spec_free(spec);
}

int main(int argc, char **argv)
{
	GPtrArray *specs = g_ptr_array_new_with_free_func(free_spec);
	unsigned parts = 1;
	bool quiet = false;
	int i, failed = 0;

	if (argc > 1 && strcmp(argv[1], "--worker") == 0)
		return worker_main(argc - 2, argv + 2);
	for (i = 1; i < argc && *argv[i] == '-'; i++) {
		if (strcmp(argv[i], "-q") == 0)
			quiet = true;
		else if (strcmp(argv[i], "-s") == 0)
			from_start = true;
		else if (strcmp(argv[i], "-f") == 0)
			is_growing = true;
		else if (strcmp(argv[i], "-u") == 0)
			is_unfinished = true;
		else if (strcmp(argv[i], "-x") == 0)
			raw = true;
		else if (strcmp(argv[i], "-R") == 0 && i + 1 < argc)
			source_set_reader(argv[++i]);
		else if (strcmp(argv[i], "-p") == 0 && i + 1 < argc)
			parts = strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc)
			sscanf(argv[++i], "%" SCNu64 ":%" SCNu64, &begin_ns, &end_ns);
		else if (strcmp(argv[i], "-F") == 0 && i + 1 < argc)
			wanted = argv[++i];
		else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc)
			source_set_worker_program(argv[++i]);
		else if (strcmp(argv[i], "-t") == 0 && i + 1 < argc)
			limit_ms = 1000 * strtoul(argv[++i], NULL, 10);
	}
	for (; i < argc; i++) {
		if (source_is_url(argv[i])) {
			failed |= dump_url(argv[i], quiet);
		} else if (is_growing) {
			failed |= dump_growing(argv[i], quiet);
		} else if (source_find(argv[i], specs, NULL) != LT_OK) {
			printf("# failed: %s\n", error_text());
			failed = 1;
		}
	}
	for (guint j = 0; j < specs->len; j++)
		for (unsigned part = 0; part < parts; part++)
			failed |= dump_spec(g_ptr_array_index(specs, j), part, parts, quiet);
	g_ptr_array_free(specs, TRUE);
	return failed;
}
