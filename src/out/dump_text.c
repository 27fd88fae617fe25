/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "base/nstime.h"
#include "out/dump_internal.h"

/*
 * The form of babeltrace2's sink.text.pretty with its defaults:
 *
 *   [time] (+since the last event) origin name: { packet }, { context }, { own context }, { payload }
 *
 * A struct is { a = 1, b = 2 }, an array [ [0] = 1, [1] = 2 ], a variant { the value }, an enum ( "label" : container =
 * 1 ).
 */
enum { LABELS_MAX = 64, NS_DIGITS = 9 };

/* ---- times ---- */

static void put_time(struct dump *d, uint64_t ns)
{
	const time_t second = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (second != d->second && (d->utc ? gmtime_r(&second, &tm) : localtime_r(&second, &tm))) {
		g_snprintf(d->clock, sizeof(d->clock), "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
		d->second = second;
	}
	g_string_append_c(d->line, '[');
	g_string_append(d->line, d->clock);
	g_string_append_c(d->line, '.');
	digits_append(d->line, ns % NS_PER_S, NS_DIGITS);
	g_string_append(d->line, "] ");
}

static void put_delta(struct dump *d, uint64_t ns)
{
	const bool back = ns < d->last_ns;
	const uint64_t delta = back ? d->last_ns - ns : ns - d->last_ns;

	if (!d->begun) {
		g_string_append(d->line, "(+?.?????????"
					 ") ");
		return;
	}
	g_string_append(d->line, back ? "(-" : "(+");
	digits_append(d->line, delta / NS_PER_S, 1);
	g_string_append_c(d->line, '.');
	digits_append(d->line, delta % NS_PER_S, NS_DIGITS);
	g_string_append(d->line, ") ");
}

/* ---- text ---- */

static void put_control(GString *line, unsigned char c)
{
	static const char letters[] = "abtnvfr"; /* from 7 on */

	if (c >= '\a' && c <= '\r') {
		g_string_append_c(line, '\\');
		g_string_append_c(line, letters[c - '\a']);
	} else if (c == 0x1b) {
		g_string_append(line, "\\e");
	} else {
		g_string_append_printf(line, "\\x%02x", c);
	}
}

/* Number of leading bytes that need no escape. */
static size_t plain_bytes(const char *text, size_t len)
{
	size_t n = 0;

	for (; n < len; n++) {
		const unsigned char c = (unsigned char)text[n];

		if (c < 0x20 || c >= 0x7f || c == '\\' || c == '\'' || c == '"' || c == '?')
			break;
	}
	return n;
}

static size_t high_bytes(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)text[n] >= 0x80)
		n++;
	return n;
}

/* Escapes as babeltrace2 does, which passes non-ASCII bytes unchanged; unless they may be raw they are sanitised. */
static void put_escaped(struct dump *d, const char *text, size_t len)
{
	while (len > 0) {
		size_t n = plain_bytes(text, len), high = high_bytes(text + n, len - n);

		g_string_append_len(d->line, text, (gssize)n);
		if (high && d->raw)
			g_string_append_len(d->line, text + n, (gssize)high);
		else if (high)
			dump_sanitised(d->line, text + n, high);
		n += high;
		if (!high && n < len) {
			const unsigned char c = (unsigned char)text[n++];

			if (c < 0x20 || c == 0x7f) {
				put_control(d->line, c);
			} else {
				g_string_append_c(d->line, '\\');
				g_string_append_c(d->line, (char)c);
			}
		}
		text += n;
		len -= n;
	}
}

static void put_quoted(struct dump *d, const char *text, size_t len)
{
	g_string_append_c(d->line, '"');
	put_escaped(d, text, len);
	g_string_append_c(d->line, '"');
}

/* Names of hosts, classes and fields, which babeltrace2 writes unescaped. */
static void put_name(struct dump *d, const char *name)
{
	const size_t len = strlen(name);

	if (d->raw)
		g_string_append_len(d->line, name, (gssize)len);
	else
		dump_sanitised(d->line, name, len);
}

/* ---- numbers ---- */

static void put_binary(GString *line, uint64_t value, unsigned bits)
{
	g_string_append(line, "0b");
	while (bits-- > 0)
		g_string_append_c(line, value >> bits & 1 ? '1' : '0');
}

/* The digits for a negative number: as many as its width in bits fills. */
static uint64_t digits_of(uint64_t value, unsigned bits, unsigned bits_per_digit)
{
	const unsigned used = (bits + bits_per_digit - 1) / bits_per_digit * bits_per_digit;

	return used < 64 ? value & ((UINT64_C(1) << used) - 1) : value;
}

void dump_decimal(GString *line, const struct field_value *v)
{
	if (v->is_signed)
		digits_append_signed(line, v->i);
	else
		digits_append(line, v->u, 1);
}

static void put_integer(GString *line, const struct field_value *v)
{
	switch (v->base) {
	case 2:
		put_binary(line, v->u, v->bits);
		break;
	case 8:
		g_string_append_printf(line, "0%" G_GINT64_MODIFIER "o", digits_of(v->u, v->bits, 3));
		break;
	case 16:
		g_string_append_printf(line, "0x%" G_GINT64_MODIFIER "X", digits_of(v->u, v->bits, 4));
		break;
	default:
		dump_decimal(line, v);
		break;
	}
}

static void put_enum(struct dump *d, const struct dump_event *e, const struct field_value *v)
{
	const char *labels[LABELS_MAX];
	const unsigned n = MIN(fields_labels(e->shape, v, labels, LABELS_MAX), LABELS_MAX);

	g_string_append(d->line, "( ");
	if (!n)
		g_string_append(d->line, "<unknown>");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			g_string_append(d->line, ", ");
		put_quoted(d, labels[i], strlen(labels[i]));
	}
	g_string_append(d->line, " : container = ");
	put_integer(d->line, v);
	g_string_append(d->line, " )");
}

/* ---- fields ---- */

static void put_value(struct dump *d, const struct dump_event *e, const struct field_value *v)
{
	switch ((enum shape_kind)v->kind) {
	case SHAPE_UINT:
	case SHAPE_INT:
		put_integer(d->line, v);
		break;
	case SHAPE_ENUM:
		put_enum(d, e, v);
		break;
	case SHAPE_BOOL:
		g_string_append(d->line, v->u ? "true" : "false");
		break;
	case SHAPE_FLOAT:
		g_string_append_printf(d->line, "%g", v->f);
		break;
	case SHAPE_TEXT:
		put_quoted(d, v->text, v->len);
		if (v->cut)
			g_string_append(d->line, "...");
		break;
	case SHAPE_STRUCT:
	case SHAPE_VARIANT:
		g_string_append_c(d->line, '{');
		break;
	case SHAPE_ARRAY:
	case SHAPE_SEQUENCE:
		g_string_append_c(d->line, '[');
		break;
	case SHAPE_NONE:
	case SHAPE_END:
		break;
	}
}

/* What precedes a value in a container of that kind. */
static void put_place(struct dump *d, enum shape_kind in, const struct field_value *v)
{
	g_string_append(d->line, v->index ? ", " : " ");
	if (in == SHAPE_STRUCT) {
		put_name(d, v->name);
		g_string_append(d->line, " = ");
	} else if (in != SHAPE_VARIANT) {
		g_string_append_c(d->line, '[');
		digits_append(d->line, v->index, 1);
		g_string_append(d->line, "] = ");
	}
}

static void put_fields(struct dump *d, const struct dump_event *e)
{
	struct {
		uint8_t kind;
		bool cut;
	} in[FIELDS_DEPTH_MAX + 2];
	struct fields_cursor c;
	struct field_value v;
	bool first = true, cut_shown = false;

	fields_begin(&c, e->shape, e->fields);
	while (fields_next(&c, &v)) {
		if (v.kind == SHAPE_END) {
			if (in[v.depth].cut || (c.cut && !cut_shown))
				g_string_append(d->line, " ...");
			cut_shown = c.cut;
			g_string_append(d->line, v.of == SHAPE_ARRAY || v.of == SHAPE_SEQUENCE ? " ]" : " }");
			continue;
		}
		if (v.depth > 0)
			put_place(d, in[v.depth - 1].kind, &v);
		else if (!first)
			g_string_append(d->line, ", ");
		first = false;
		put_value(d, e, &v);
		in[v.depth].kind = v.kind;
		in[v.depth].cut = v.cut;
	}
}

/* Two hosts may have the same hostname, so our form uses the monitor's unique name; programs keep the trace's. */
static void put_origin(struct dump *d, const struct dump_event *e)
{
	const char *origin = e->origin ? e->origin : "", *program = strchr(origin, ':');
	const gsize begin = d->line->len;

	if (d->form == DUMP_BABELTRACE) {
		put_name(d, origin);
	} else {
		put_name(d, e->host);
		put_name(d, program ? program : "");
	}
	if (d->line->len > begin)
		g_string_append_c(d->line, ' ');
}

void dump_as_text(struct dump *d, const struct dump_event *e)
{
	put_time(d, e->ns);
	put_delta(d, e->ns);
	dump_without_time(d, e);
}

void dump_without_time(struct dump *d, const struct dump_event *e)
{
	put_origin(d, e);
	put_name(d, e->shape->name);
	g_string_append(d->line, ": ");
	put_fields(d, e);
}
