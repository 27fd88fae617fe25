/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/digits.h"
#include "event/event.h"
#include "out/dump_internal.h"

/*
 * One object:
 *
 *   {"time_ns":…,"host":"web","cpu":1,"tid":7,"pid":7,"comm":"dd","name":"sched_wakeup",
 *    "packet":{…},"context":{…},"event_context":{…},"fields":{…}}
 *
 * A struct becomes an object, an array or sequence a list, a variant an object with the selected option, an enum
 * {"value":1,"labels":["_ipv4"]}. "cut": true is present if part of the event was too long to be kept.
 */
enum { LABELS_MAX = 64 };

/* Sanitises text to printable UTF-8 first, which makes JSON's other escapes unnecessary. */
static void put_text(GString *line, const char *text, size_t len)
{
	const gsize begin = line->len + 1;

	g_string_append_c(line, '"');
	dump_sanitised(line, text, len);
	for (gsize i = begin; i < line->len; i++)
		if (line->str[i] == '"' || line->str[i] == '\\')
			g_string_insert_c(line, (gssize)i++, '\\');
	g_string_append_c(line, '"');
}

static void put_key(GString *line, const char *key)
{
	put_text(line, key, strlen(key));
	g_string_append_c(line, ':');
}

static void put_enum(GString *line, const struct dump_event *e, const struct field_value *v)
{
	const char *labels[LABELS_MAX];
	const unsigned n = MIN(fields_labels(e->shape, v, labels, LABELS_MAX), LABELS_MAX);

	g_string_append(line, "{\"value\":");
	dump_decimal(line, v);
	g_string_append(line, ",\"labels\":[");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			g_string_append_c(line, ',');
		put_text(line, labels[i], strlen(labels[i]));
	}
	g_string_append(line, "]}");
}

static void put_float(GString *line, double value)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append(line, isfinite(value) ? g_ascii_dtostr(digits, sizeof(digits), value) : "null");
}

static void put_value(GString *line, const struct dump_event *e, const struct field_value *v)
{
	switch ((enum shape_kind)v->kind) {
	case SHAPE_UINT:
	case SHAPE_INT:
		dump_decimal(line, v);
		break;
	case SHAPE_ENUM:
		put_enum(line, e, v);
		break;
	case SHAPE_BOOL:
		g_string_append(line, v->u ? "true" : "false");
		break;
	case SHAPE_FLOAT:
		put_float(line, v->f);
		break;
	case SHAPE_TEXT:
		put_text(line, v->text, v->len);
		break;
	case SHAPE_STRUCT:
	case SHAPE_VARIANT:
		g_string_append_c(line, '{');
		break;
	case SHAPE_ARRAY:
	case SHAPE_SEQUENCE:
		g_string_append_c(line, '[');
		break;
	case SHAPE_NONE:
	case SHAPE_END:
		break;
	}
}

static void put_fields(GString *line, const struct dump_event *e)
{
	static const char *const parts[FIELDS_PARTS] = { "packet", "context", "event_context", "fields" };
	uint8_t in[FIELDS_DEPTH_MAX + 2];
	struct fields_cursor c;
	struct field_value v;
	bool cut = false;

	fields_begin(&c, e->shape, e->fields);
	while (fields_next(&c, &v)) {
		cut |= v.cut;
		if (v.kind == SHAPE_END) {
			g_string_append_c(line, v.of == SHAPE_ARRAY || v.of == SHAPE_SEQUENCE ? ']' : '}');
			continue;
		}
		if (v.depth == 0 || v.index > 0)
			g_string_append_c(line, ',');
		if (v.depth == 0)
			put_key(line, parts[v.part]);
		else if (in[v.depth - 1] == SHAPE_STRUCT || in[v.depth - 1] == SHAPE_VARIANT)
			put_key(line, v.name);
		put_value(line, e, &v);
		in[v.depth] = v.kind;
	}
	if (cut || c.cut)
		g_string_append(line, ",\"cut\":true");
}

static void put_number(GString *line, const char *key, int64_t value)
{
	g_string_append_c(line, ',');
	put_key(line, key);
	if (value < 0)
		g_string_append(line, "null");
	else
		digits_append(line, (uint64_t)value, 1);
}

void dump_as_json(struct dump *d, const struct dump_event *e)
{
	g_string_append(d->line, "{\"time_ns\":");
	digits_append(d->line, e->ns, 1);
	g_string_append(d->line, ",\"host\":");
	put_text(d->line, e->host, strlen(e->host));
	put_number(d->line, "cpu", e->fields->cpu == EVENT_NO_CPU ? -1 : e->fields->cpu);
	put_number(d->line, "tid", e->tid);
	put_number(d->line, "pid", e->pid);
	g_string_append(d->line, ",\"comm\":");
	if (e->comm)
		put_text(d->line, e->comm, strlen(e->comm));
	else
		g_string_append(d->line, "null");
	g_string_append(d->line, ",\"name\":");
	put_text(d->line, e->shape->name, strlen(e->shape->name));
	put_fields(d->line, e);
	g_string_append_c(d->line, '}');
}
