/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/format.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/nstime.h"
#include "base/timetext.h"
#include "base/utf8.h"

/* Three significant digits: "1.23", "12.3", "123". */
static void three_digits(char *buf, size_t size, double x, const char *unit)
{
	g_snprintf(buf, size, "%.*f%s", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, unit);
}

/* Whether three significant digits of x show no fraction: then it is "30". Little is "0.00", nothing "0". */
static bool is_whole(double x)
{
	const int scale = fabs(x) < 9.995 ? 100 : fabs(x) < 99.95 ? 10 : 1;
	const long long digits = llround(x * scale);

	return digits % scale == 0 && (digits || x == 0);
}

/* Scales x by powers of base until at most three digits precede the point. */
static void scaled(char *buf, size_t size, double x, double base)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P", "E" };
	unsigned i = 0;

	while (x >= 999.5 && i + 1 < G_N_ELEMENTS(units)) {
		x /= base;
		i++;
	}
	if (i == 0 && is_whole(x))
		g_snprintf(buf, size, "%.0f", x);
	else
		three_digits(buf, size, x, units[i]);
}

char *format_bytes(char *buf, size_t size, double bytes)
{
	scaled(buf, size, bytes, 1024);
	return buf;
}

char *format_count(char *buf, size_t size, uint64_t count, unsigned width)
{
	g_snprintf(buf, size, "%" G_GUINT64_FORMAT, (guint64)count);
	if (width && strlen(buf) > width)
		scaled(buf, size, (double)count, 1000);
	return buf;
}

char *format_duration(char *buf, size_t size, uint64_t ns, bool ascii)
{
	uint64_t s = ns / NS_PER_S;

	if (ns == 0)
		g_strlcpy(buf, "0", size);
	else if (ns < NS_PER_US)
		g_snprintf(buf, size, "%uns", (unsigned)ns);
	else if (ns < NS_PER_MS - NS_PER_US / 2)
		three_digits(buf, size, (double)ns / NS_PER_US, ascii ? "us" : "µs");
	else if (ns < NS_PER_S - NS_PER_MS / 2)
		three_digits(buf, size, (double)ns / NS_PER_MS, "ms");
	else if (s < 60)
		g_snprintf(buf, size, "%.2fs", (double)ns / (double)NS_PER_S);
	else if (s < 3600)
		g_snprintf(buf, size, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 100 * 3600)
		g_snprintf(buf, size, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
	else
		g_snprintf(buf, size, "%" G_GUINT64_FORMAT "d%02uh", (guint64)(s / 86400), (unsigned)(s / 3600 % 24));
	return buf;
}

static void format_time(char *buf, size_t size, uint64_t ns, unsigned width, const struct format *f)
{
	const bool dated = f->day_ns && !timetext_same_day(ns, f->day_ns, f->utc);
	/* "12:03:05" and a point take nine, "11-20 " six more */
	const unsigned before = dated ? 15 : 9, digits = width == 0 ? 9 : width <= before ? 0 : MIN(width - before, 9);

	if (dated && !width)
		timetext_format_near(buf, size, ns, f->day_ns, digits, f->utc);
	else if (dated)
		timetext_format_short(buf, size, ns, digits, f->utc);
	else
		timetext_format(buf, size, ns, digits, false, f->utc);
}

/* Appends as many whole characters as fit. */
static void append(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf), len = strlen(text);

	if (len >= size - used) {
		len = size - used - 1;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(buf + used, text, len);
	buf[used + len] = '\0';
}

static void format_items(char *buf, size_t size, const struct value *v, const struct format *f)
{
	char number[24];

	buf[0] = '\0';
	for (unsigned i = 0; i < v->list.n; i++) {
		if (i)
			append(buf, size, v->kind == VALUE_LIST ? "," : " ");
		append(buf, size, v->list.items[i].name);
		if (v->kind == VALUE_LIST)
			continue;
		g_snprintf(number, sizeof(number), f->sign ? ":%+" PRId64 : ":%" PRId64, v->list.items[i].count);
		append(buf, size, number);
	}
	if (v->list.n == 0)
		g_strlcpy(buf, "-", size);
}

/* One character per power of two, from the first to the last that has values. */
static void format_buckets(char *buf, size_t size, const struct value *v, const struct format *f)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const marks[] = { " ", ".", ".", ":", ":", "+", "+", "#", "#" };
	enum { POWERS = 65, STEPS = G_N_ELEMENTS(blocks) - 1 };
	uint64_t counts[POWERS] = { 0 }, most = 0;
	int first = POWERS, last = -1;

	for (unsigned i = 0; i < v->histogram.n; i++) {
		const struct value_bucket *b = &v->histogram.buckets[i];
		const int power = b->from ? 64 - __builtin_clzll(b->from) : 0;

		counts[power] += b->count;
		most = MAX(most, counts[power]);
		first = MIN(first, power);
		last = MAX(last, power);
	}
	g_strlcpy(buf, last < 0 ? "-" : "", size);
	for (int i = first; i <= last; i++) {
		const unsigned step = (unsigned)(((unsigned __int128)counts[i] * STEPS + most - 1) / most);

		append(buf, size, (f->ascii ? marks : blocks)[step]);
	}
}

static void format_real(char *buf, size_t size, double x, enum column_unit unit, unsigned width)
{
	if (unit == COLUMN_PERCENT)
		g_snprintf(buf, size, "%.*f", width && width < 5 && x >= 99.95 ? 0 : 1, x);
	else if (unit == COLUMN_RATE && width == 0)
		g_snprintf(buf, size, "%.1f", x);
	else if (unit == COLUMN_PPM)
		g_snprintf(buf, size, "%.*f", width ? 1 : 3, x);
	else
		scaled(buf, size, x, unit == COLUMN_BYTE_RATE ? 1024 : 1000);
}

static void format_uint(char *buf, size_t size, uint64_t u, enum column_unit unit, unsigned width,
			const struct format *f)
{
	switch (unit) {
	case COLUMN_DEVICE:
		g_snprintf(buf, size, "%u:%u", (unsigned)(u >> 20), (unsigned)(u & 0xfffff));
		break;
	case COLUMN_BYTES:
		format_bytes(buf, size, (double)u);
		break;
	case COLUMN_NS:
		format_duration(buf, size, u, f->ascii);
		break;
	case COLUMN_TIME:
		format_time(buf, size, u, width, f);
		break;
	case COLUMN_COUNT:
		format_count(buf, size, u, width);
		break;
	default:
		format_count(buf, size, u, 0);
	}
}

static void format_number(char *buf, size_t size, const struct value *v, enum column_unit unit, unsigned width,
			  const struct format *f)
{
	const bool negative = v->kind == VALUE_INT ? v->i < 0 : v->kind == VALUE_REAL && v->real < 0;

	if ((negative || (f->sign && value_positive(v))) && size > 1) {
		*buf++ = negative ? '-' : '+';
		size--;
		width -= width > 1;
	}
	if (v->kind == VALUE_REAL)
		format_real(buf, size, fabs(v->real), unit, width);
	else
		format_uint(buf, size, negative ? -(uint64_t)v->i : v->u, unit, width, f);
}

char *format_value(char *buf, size_t size, const struct value *v, enum column_unit unit, unsigned width,
		   const struct format *f)
{
	switch (v->kind) {
	case VALUE_NULL:
		g_strlcpy(buf, "-", size);
		break;
	case VALUE_BOOL:
		g_strlcpy(buf, v->flag ? "yes" : "no", size);
		break;
	case VALUE_INT:
	case VALUE_UINT:
	case VALUE_REAL:
		format_number(buf, size, v, unit, width, f);
		break;
	case VALUE_TEXT:
		buf[0] = '\0';
		append(buf, size, v->text);
		break;
	case VALUE_LIST:
	case VALUE_OBJECT:
		format_items(buf, size, v, f);
		break;
	case VALUE_HISTOGRAM:
		format_buckets(buf, size, v, f);
		break;
	}
	return buf;
}

/* ---- fitting into columns ---- */

/* An output buffer; bytes are appended while they and the final NUL fit. */
struct format_output {
	char *p, *end;
};

static void put(struct format_output *o, const char *bytes, size_t len)
{
	if ((size_t)(o->end - o->p) <= len)
		return;
	memcpy(o->p, bytes, len);
	o->p += len;
}

static void put_repeated(struct format_output *o, char c, unsigned n)
{
	while (n--)
		put(o, &c, 1);
}

/* Appends the characters of text that fit into width columns; with ascii others become '?'. */
static unsigned put_columns(struct format_output *o, const char *text, unsigned width, bool ascii)
{
	unsigned used = 0;

	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		bool plain = (unsigned char)*p < 0x80;
		unsigned w = plain || ascii ? 1 : utf8_char_width(g_utf8_get_char(p));

		if (used + w > width)
			break;
		if (plain || !ascii)
			put(o, p, (size_t)(g_utf8_next_char(p) - p));
		else
			put(o, "?", 1);
		used += w;
	}
	return used;
}

char *format_fit(char *buf, size_t size, const char *text, unsigned width, bool right, const struct format *f)
{
	static const char ellipsis[] = "…";
	struct format_output o = { buf, buf + size };
	unsigned need = f->ascii ? (unsigned)g_utf8_strlen(text, -1) : utf8_width(text);

	if (need <= width) {
		if (right)
			put_repeated(&o, ' ', width - need);
		put_columns(&o, text, width, f->ascii);
		if (!right)
			put_repeated(&o, ' ', width - need);
	} else if (right) {
		put_repeated(&o, '#', width);
	} else if (width) {
		need = put_columns(&o, text, width - 1, f->ascii);
		put(&o, f->ascii ? "~" : ellipsis, f->ascii ? 1 : strlen(ellipsis));
		put_repeated(&o, ' ', width - 1 - need);
	}
	*o.p = '\0';
	return buf;
}
