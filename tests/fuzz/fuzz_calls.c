/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/json.h"
#include "attach/line.h"
#include "attach/text.h"
#include "attach/tracer.h"
#include "base/error.h"
#include "damage.h"
#include "event/fields.h"
#include "event/payload.h"
#include "ingest/visit.h"
#include "out/dump.h"
#include "reader/values.h"
#include "source/source.h"
#include "ui/canvas.h"
#include "ui/lines.h"

/*
 * Passes system calls with fields of arbitrary types and values through all code that shows them: the text and JSON of
 * attach, the lines of the pane of calls, the text and JSON of dump. To be run with sanitizers.
 *
 *	fuzz_calls CASES SEED RECORDING
 *
 * The same seed gives the same cases: a few threads with some calls each, whose entries and exits need not match. All
 * output must be UTF-8 without control characters, and JSON must be valid. A case that fails is reported, and left in
 * the file found.calls. RECORDING is any recording; the threads run on its host.
 */
enum { LIMIT_S = 20, EVENTS_MAX = 24, THREADS = 3, DEPTH_MAX = 5, WIDTH_MAX = 5, CANVAS_W = 80, LABELS_MAX = 40 };

static uint64_t seed_now, shown;

static void fail(const char *what)
{
	const int fd = open("found.calls", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char text[256];

	g_snprintf(text, sizeof(text), "case %" G_GUINT64_FORMAT ": %s\n", seed_now, what);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(3);
	abort();
}

static void on_alarm(int number)
{
	(void)number;
	fail("it takes too long");
}

/* ---- events with arbitrary fields ---- */

struct type {
	const char *name;
	enum shape_kind kind;
	unsigned base, bits;
	bool is_signed;
	uint32_t count; /* number of elements, if it is fixed */
	unsigned n_labels, n_members;
	struct type *members; /* its members, or the single element */
};

/* In addition to those of the calls' own arguments. */
static const char *const names[] = {
	"",       "ret",      "id",       "cmd",          "fd",     "filename", "uservaddr", "family",
	"v4addr", "v6addr",   "dport",    "raw_events",   "events", "fds",      "sig",       "info",
	"comm",   "a\x1b[2J", "\xff\xfe", "\xe2\x80\xae", "nfds",   "inp",      "outp",      "n",
};

static const char *any_name(const struct call *call)
{
	const struct call_arg *arg;

	if (!call || !call->n_args || any() % 4 == 0)
		return names[below(G_N_ELEMENTS(names))];
	arg = &call->args[below(call->n_args)];
	return arg->names[below(g_strv_length((char **)arg->names))];
}

static struct type any_type(const struct call *call, const char *name, unsigned depth)
{
	static const enum shape_kind kinds[] = {
		SHAPE_UINT, SHAPE_INT,   SHAPE_UINT,     SHAPE_INT,   SHAPE_TEXT,   SHAPE_TEXT,    SHAPE_ENUM,
		SHAPE_BOOL, SHAPE_FLOAT, SHAPE_SEQUENCE, SHAPE_ARRAY, SHAPE_STRUCT, SHAPE_VARIANT,
	};
	static const uint8_t bases[] = { 2, 8, 10, 16 };
	struct type t = { .name = name, .kind = kinds[below(depth < DEPTH_MAX ? G_N_ELEMENTS(kinds) : 9)] };

	t.base = bases[below(G_N_ELEMENTS(bases))];
	t.bits = t.kind == SHAPE_FLOAT ? (any() % 2 ? 32 : 64) : 1 + (unsigned)below(64);
	t.is_signed = t.kind == SHAPE_INT || any() % 2;
	t.n_labels = t.kind == SHAPE_ENUM ? (unsigned)below(LABELS_MAX) : 0;
	if (t.kind == SHAPE_SEQUENCE || t.kind == SHAPE_ARRAY)
		t.n_members = 1;
	else if (t.kind == SHAPE_STRUCT)
		t.n_members = (unsigned)below(WIDTH_MAX);
	else if (t.kind == SHAPE_VARIANT)
		t.n_members = 1 + (unsigned)below(WIDTH_MAX);
	t.count = t.kind == SHAPE_ARRAY ? (uint32_t)below(any() % 8 ? 9 : 2000) : t.n_members;
	t.members = g_new0(struct type, t.n_members);
	for (unsigned i = 0; i < t.n_members; i++)
		t.members[i] = any_type(call, t.kind == SHAPE_STRUCT || t.kind == SHAPE_VARIANT ? any_name(call) : "",
					depth + 1);
	return t;
}

static void release_type(struct type *t)
{
	for (unsigned i = 0; i < t->n_members; i++)
		release_type(&t->members[i]);
	g_free(t->members);
}

static void put_type(GByteArray *out, const struct type *t)
{
	const struct shape_field f = {
		.name = t->name,
		.kind = t->kind,
		.base = (uint8_t)t->base,
		.bits = (uint8_t)t->bits,
		.is_signed = t->is_signed,
		.count = t->kind == SHAPE_SEQUENCE ? 0 : t->count,
		.n_labels = t->n_labels,
	};

	shape_put_field(out, &f);
	for (unsigned i = 0; i < t->n_labels; i++) {
		const int64_t first = (int64_t)odd_number();
		const struct shape_label label = { names[below(G_N_ELEMENTS(names))], first, first };

		shape_put_label(out, &label);
	}
	for (unsigned i = 0; i < t->n_members; i++)
		put_type(out, &t->members[i]);
}

static bool put_any_text(struct event *ev)
{
	static const char *const pieces[] = {
		"\x1b[31m", "\n", "\r\b", "/tmp/a",           "\xff",     "\xc3\xa4", "\xe2\x80\xae", "\x9b",
		"\"",       "\\", "%s%n", "\xf0\x9f\x98\x80", "\xcc\x81",
	};
	GString *text = g_string_new(NULL);
	size_t n = below(any() % 32 ? 6 : 3000);
	bool fits;

	while (n--)
		g_string_append(text, pieces[below(G_N_ELEMENTS(pieces))]);
	if (any() % 8 == 0)
		g_string_append_c(text, '\0');
	fits = values_text(ev, text->str, text->len);
	g_string_free(text, TRUE);
	return fits;
}

/* false: there is no more room, and nothing may follow. */
static bool put_value(struct event *ev, const struct type *t)
{
	uint32_t kept = 0;
	bool fits = true;

	switch (t->kind) {
	case SHAPE_TEXT:
		return put_any_text(ev);
	case SHAPE_STRUCT:
		for (unsigned i = 0; i < t->n_members && fits; i++)
			fits = put_value(ev, &t->members[i]);
		return fits;
	case SHAPE_VARIANT:
		kept = (uint32_t)below(t->n_members);
		return values_word(ev, kept) && put_value(ev, &t->members[kept]);
	case SHAPE_ARRAY:
	case SHAPE_SEQUENCE:
		fits = values_array(ev, t->kind == SHAPE_ARRAY ? t->count : below(any() % 8 ? 9 : 3000), &kept);
		while (kept-- && fits)
			fits = put_value(ev, t->members);
		return fits;
	default:
		return values_word(ev, odd_number());
	}
}

/* A shape with some fields, and their values. NULL: such an event would be refused from a source. */
static struct shape *any_event(const char *name, const struct call *call, struct event *ev)
{
	struct type payload = { .name = "", .kind = SHAPE_STRUCT, .n_members = 1 + (unsigned)below(8) };
	const struct shape_field none = { .name = "", .kind = SHAPE_NONE };
	GByteArray *bytes = g_byte_array_new();
	const uint32_t begin = sizeof(*ev) + sizeof(struct ev_fields);
	struct shape *shape;

	payload.count = payload.n_members;
	payload.members = g_new0(struct type, payload.n_members);
	for (unsigned i = 0; i < payload.n_members; i++)
		payload.members[i] = any_type(call, any_name(call), 0);
	shape_put_name(bytes, name);
	for (unsigned i = 0; i < 3; i++)
		shape_put_field(bytes, &none);
	put_type(bytes, &payload);
	shape = shape_parse(bytes->data, bytes->len);
	memset(ev, 0, begin);
	ev->kind = EVENT_FIELDS;
	ev->n_words = sizeof(struct ev_fields) / 8;
	ev->size = begin;
	put_value(ev, &payload);
	values_end_part(ev, FIELDS_PAYLOAD, begin);
	if (shape && any() % 8 == 0 && ev->size > begin + 8)
		((uint64_t *)(void *)((char *)ev + begin))[below((ev->size - begin) / 8)] = odd_number();
	if (shape && (event_check(ev, EVENT_SIZE_MAX) || fields_check(shape, ev))) {
		shape_free(shape);
		shape = NULL;
	}
	release_type(&payload);
	g_byte_array_free(bytes, TRUE);
	return shape;
}

/* ---- the code that shows them ---- */

struct shower {
	struct ingest *in;
	struct attach_text *text;
	struct attach_line line;
	struct attach_wait wait;
	struct calls_lines *lines;
	struct canvas *canvas;
};

static void check_text(const char *text, size_t len, const char *what)
{
	const char *end;

	if (!g_utf8_validate(text, (gssize)len, &end))
		fail(what);
	for (; text < end; text = g_utf8_next_char(text)) {
		const gunichar c = g_utf8_get_char(text);

		if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e))
			fail(what);
	}
}

static void check_json(struct shower *s, const struct attach_record *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	json_t *root;

	attach_json_write(out, s->in, r, &s->wait);
	fclose(out);
	root = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, NULL);
	if (!root)
		fail("not JSON");
	json_decref(root);
	free(text);
}

/* As the pane does it: a line and the places of its parts; then a narrow screen. */
static void show_line(struct shower *s, const struct attach_record *r)
{
	const struct attach_line *l = &s->line;
	struct calls_line line = { .at_ns = r->ref_ns, .tid = r->tid };
	char *row;

	attach_line_set(&s->line, s->in, r, &s->wait);
	check_text(l->text->str, l->text->len, "a line of the pane");
	if (strchr(l->text->str, '\n') || l->name > l->text->len || l->result > l->result_end ||
	    l->result_end > l->text->len)
		fail("parts of a line of the pane");
	line.text = l->text->str;
	line.name = l->name;
	line.result = l->result;
	line.result_end = l->result_end;
	lines_add(s->lines, &line);
	for (unsigned i = 0; i < lines_count(s->lines); i++) {
		const struct calls_line *kept = lines_at(s->lines, i);

		if (strlen(kept->text) > LINE_BYTES_MAX || kept->result_end > strlen(kept->text) ||
		    kept->name > strlen(kept->text))
			fail("a line that is kept");
	}
	canvas_clear(s->canvas);
	canvas_text_left(s->canvas, 1, 0, CANVAS_W - 1, STYLE_NORMAL, lines_at(s->lines, 0)->text);
	canvas_text_wrapped(s->canvas, 0, 1, 3, STYLE_NORMAL, l->text->str);
	row = canvas_row_text(s->canvas, 0);
	check_text(row, strlen(row), "a row of the screen");
	g_free(row);
	lines_search(s->lines, 0, false, "tmp");
}

static void emit(void *user, struct attach_record *r)
{
	struct shower *s = user;

	shown++;
	attach_text_write(s->text, s->in, r, &s->wait);
	if (r->kind != ATTACH_ENTRY) {
		check_json(s, r);
		show_line(s, r);
	}
	attach_record_free(r);
}

static void dump_it(const struct shape *shape, const struct event *ev, enum dump_form form)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct dump *dump = dump_create(out, form, true);

	dump_event(dump, &(struct dump_event){
				 .fields = ev,
				 .shape = (struct shape *)shape,
				 .origin = "web",
				 .host = "web",
				 .ns = 1700000000 * UINT64_C(1000000000),
				 .tid = 1,
				 .pid = -1,
			 });
	dump_destroy(dump);
	fclose(out);
	if (form != DUMP_BABELTRACE) /* which prints the trace's own bytes */
		check_text(text, len, "a line of dump");
	if (form == DUMP_JSON) {
		json_error_t error;
		json_t *root = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &error);

		if (!root) {
			fprintf(stderr, "%s\n%.*s\n", error.text, (int)MIN(len, 3000), text);
			fail("dump: not JSON");
		}
		json_decref(root);
	}
	free(text);
}

/* ---- a case ---- */

static const struct call *any_call(void)
{
	unsigned n;
	const struct call *calls = calls_all(&n);

	return any() % 16 ? &calls[below(n)] : NULL;
}

static struct shape *visit_any(const struct ingest_visitor *visitor, const struct call **now, struct event *fields,
			       uint64_t ts_ns)
{
	static const char *const others[] = { "signal_deliver", "x86_exceptions_page_fault_user", "nothing" };
	const unsigned thread = (unsigned)below(THREADS);
	const bool exits = any() % 2, other = any() % 8 == 0;
	struct event ev = { .size = sizeof(ev), .ts_ns = ts_ns, .tid = 1 + (int32_t)thread, .kind = EVENT_OTHER };
	struct ingest_visit v = { .event = &ev, .fields = fields, .origin = "web", .ref_ns = ts_ns };
	struct shape *shape;
	char *name;

	if (!exits || any() % 8 == 0)
		now[thread] = any_call();
	if (!other)
		ev.kind = exits ? EVENT_SYSCALL_EXIT : EVENT_SYSCALL_ENTRY;
	name = other ? g_strdup(others[below(G_N_ELEMENTS(others))])
		     : g_strconcat(exits ? "syscall_exit_" : "syscall_entry_",
				   now[thread] ? now[thread]->name
				   : any() % 2 ? "unknown"
					       : "made\x1b[up",
				   NULL);
	shape = any_event(name, now[thread], fields);
	g_free(name);
	if (!shape)
		return NULL;
	dump_it(shape, fields, (enum dump_form)(any() % 3));
	v.shape = shape;
	visitor->before(visitor->user, &v);
	visitor->after(visitor->user, &v);
	return shape;
}

static void run_case(struct ingest *in, uint64_t seed)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct attach_select select;
	struct attach_filter filter;
	struct attach_text_options style = { .out = out, .utc = true };
	struct attach_tracer_options options = {
		.select = &select,
		.filter = &filter,
		.end_ns = UINT64_MAX,
		.emit = emit,
	};
	struct shower s = { .in = in, .lines = lines_create(0, NULL), .canvas = canvas_create(CANVAS_W, 4, false) };
	GPtrArray *shapes = g_ptr_array_new_with_free_func((GDestroyNotify)shape_free);
	struct event *fields = g_malloc0(EVENT_SIZE_MAX);
	const struct call *now[THREADS] = { NULL };
	struct attach_tracer *tracer;
	struct shape *shape;

	seed_now = seed;
	damage_seed(seed);
	alarm(LIMIT_S);
	style.whole = any() % 2;
	style.spent = any() % 2;
	style.comm = any() % 2;
	style.column = (unsigned)below(60);
	options.paths = (unsigned)below(3);
	options.whole_calls = any() % 2;
	options.sched = any() % 2;
	options.user = &s;
	attach_select_init(&select);
	attach_select_add(&select, "1");
	attach_select_add(&select, "2");
	attach_select_add(&select, "3");
	attach_filter_init(&filter);
	if (any() % 4 == 0)
		attach_filter_add_path(&filter, "*tmp*");
	attach_wait_init(&s.wait);
	attach_line_init(&s.line);
	s.text = attach_text_create(&style);
	tracer = attach_tracer_create(&options);
	attach_tracer_set_ingest(tracer, in);
	for (size_t i = below(EVENTS_MAX) + 1; i; i--) {
		shape = visit_any(attach_tracer_visitor(tracer), now, fields,
				  1700000000 * UINT64_C(1000000000) + below(1000000));
		if (shape)
			g_ptr_array_add(shapes, shape);
	}
	attach_tracer_finish(tracer);
	attach_tracer_destroy(tracer);
	attach_text_destroy(s.text);
	fclose(out);
	check_text(text, len, "the text");
	attach_line_release(&s.line);
	attach_wait_release(&s.wait);
	attach_filter_release(&filter);
	attach_select_release(&select);
	canvas_destroy(s.canvas);
	lines_destroy(s.lines);
	g_ptr_array_free(shapes, TRUE);
	g_free(fields);
	free(text);
	error_clear();
	alarm(0);
}

int main(int argc, char **argv)
{
	const struct ingest_options options = { .workers = 1 };
	struct ingest *in;
	uint64_t cases, seed;

	if (argc != 4) {
		fprintf(stderr, "fuzz_calls CASES SEED RECORDING\n");
		return 2;
	}
	cases = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	signal(SIGALRM, on_alarm);
	source_set_worker_program(g_getenv("LTTNGTOP"));
	in = ingest_create(&options);
	if (ingest_open(in, argv[3]) != LT_OK || ingest_start(in, NULL) != LT_OK) {
		fprintf(stderr, "fuzz_calls: %s: %s\n", argv[3], error_text());
		return 2;
	}
	for (uint64_t i = 0; i < cases; i++)
		run_case(in, seed * cases + i);
	ingest_destroy(in);
	printf("%" G_GUINT64_FORMAT " lines of %" G_GUINT64_FORMAT " cases\n", shown, cases);
	return 0;
}
