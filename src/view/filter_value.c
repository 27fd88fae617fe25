/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons with columns: interprets the text after the operator in the column's unit. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/similar.h"
#include "base/text.h"
#include "base/timetext.h"
#include "view/filter_internal.h"
#include "view/internal.h"

/* Parses a number with an optional suffix that multiplies it by a power of base. Fails if anything follows. */
static bool parse_scaled(const char *text, double base, struct value *v)
{
	static const char letters[] = "kMGT";
	const char *letter;
	char *end;

	v->kind = VALUE_REAL;
	v->real = g_ascii_strtod(text, &end);
	if (end == text || !isfinite(v->real))
		return false;
	letter = *end ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
	if (letter) {
		v->real *= pow(base, (double)(letter - letters + 1));
		end++;
	}
	return !*end;
}

/* Keeps integers exact: doubles cannot represent all 64-bit values. */
static bool parse_number(const char *text, double base, struct value *v)
{
	char *end;
	const gint64 whole = g_ascii_strtoll(text, &end, 10);

	if (end != text && !*end && whole != G_MAXINT64 && whole != G_MININT64) {
		v->kind = VALUE_INT;
		v->i = whole;
		return true;
	}
	return parse_scaled(text, base, v);
}

static bool parse_duration(const char *text, struct value *v)
{
	const bool negative = text[0] == '-';
	uint64_t ns;

	if (parse_number(text, 1, v) && v->kind == VALUE_INT)
		return true;
	if (timetext_parse_duration(text + negative, &ns) != LT_OK || ns > INT64_MAX) {
		error_clear();
		return false;
	}
	v->kind = VALUE_INT;
	v->i = negative ? -(int64_t)ns : (int64_t)ns;
	return true;
}

static bool parse_time(const char *text, uint64_t begin_ns, bool utc, struct value *v)
{
	struct timetext time;

	if (timetext_parse(text, &time) != LT_OK) {
		error_clear();
		return false;
	}
	v->kind = VALUE_UINT;
	v->u = timetext_resolve(&time, begin_ns, 0, utc);
	return time.form != TIMETEXT_BEFORE_END;
}

static bool parse_flag(const char *text, struct value *v)
{
	v->kind = VALUE_BOOL;
	v->flag = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;
	return v->flag || strcmp(text, "no") == 0 || strcmp(text, "false") == 0;
}

/* "8:0", or the kernel's number. */
static bool parse_device(const char *text, struct value *v)
{
	const char *colon = strchr(text, ':');
	char *end;
	guint64 major, minor;

	if (!colon)
		return parse_number(text, 1000, v);
	major = g_ascii_strtoull(text, &end, 10);
	if (end != colon || !g_ascii_isdigit(colon[1]))
		return false;
	minor = g_ascii_strtoull(colon + 1, &end, 10);
	v->kind = VALUE_UINT;
	v->u = major << 20 | minor;
	return !*end;
}

static bool parse_value(const struct column *column, const char *text, uint64_t begin_ns, bool utc, struct value *v)
{
	const size_t len = strlen(text);
	char *number;
	bool good;

	switch ((enum column_unit)column->unit) {
	case COLUMN_TEXT:
		value_set_text(v, text);
		return *text;
	case COLUMN_BYTES:
	case COLUMN_BYTE_RATE:
		return parse_number(text, 1024, v);
	case COLUMN_NS:
		return parse_duration(text, v);
	case COLUMN_TIME:
		return parse_time(text, begin_ns, utc, v);
	case COLUMN_DEVICE:
		return parse_device(text, v);
	case COLUMN_FLAG:
		return parse_flag(text, v);
	case COLUMN_PERCENT:
		number = g_strndup(text, len - (len && text[len - 1] == '%'));
		good = parse_number(number, 1000, v);
		g_free(number);
		return good;
	default:
		return parse_number(text, 1000, v);
	}
}

static const char *example_of(const struct column *column)
{
	switch ((enum column_unit)column->unit) {
	case COLUMN_TEXT:
		return "text";
	case COLUMN_BYTES:
	case COLUMN_BYTE_RATE:
		return "a size such as 64k or 1.5M";
	case COLUMN_NS:
		return "a duration such as 5ms";
	case COLUMN_TIME:
		return "a time such as 12:03:05 or +5s";
	case COLUMN_DEVICE:
		return "a device such as 8:0";
	case COLUMN_FLAG:
		return "yes or no";
	default:
		return "a number";
	}
}

/* For filters that outlive the shown table: another table may have the column, in another unit. */
static const struct column *column_of_any(const char *name, const char *text)
{
	const struct column *found = NULL;
	struct value v;

	for (unsigned i = 0; i < view_table_count(); i++) {
		const struct view_table *table = view_table_get(i);
		const struct column *column = view_column_typed(table->columns, table->n_columns, name);

		found = column ? column : found;
		if (column && parse_value(column, text, 0, false, &v))
			return column;
	}
	return found;
}

static enum lt_status no_column(const char *name, const struct view_table *table)
{
	struct similar s = { .word = name };

	for (unsigned i = 0; i < (table ? 1 : view_table_count()); i++) {
		const struct view_table *of = table ? table : view_table_get(i);

		for (unsigned c = 0; c < of->n_columns; c++)
			view_column_offer(&s, &of->columns[c]);
	}
	if (table)
		return error_set("table '%s' has no column '%s'%s", table->name, name, similar_hint(&s, ""));
	return error_set("no table has a column '%s'%s", name, similar_hint(&s, ""));
}

static bool is_ordered(const struct column *column)
{
	return column->unit != COLUMN_TEXT && column->unit != COLUMN_FLAG && column->unit != COLUMN_DEVICE;
}

bool filter_can_compare(const struct column *column, const char *text)
{
	struct value v;

	return parse_value(column, text, 0, false, &v);
}

enum lt_status filter_check_value(const struct column *column, enum view_operator op, const char *text)
{
	struct value v;

	if (!is_ordered(column) && op != VIEW_EQUAL && op != VIEW_UNEQUAL)
		return error_set("column '%s' can only be compared using = or !=", column->name);
	if (!parse_value(column, text, 0, false, &v))
		return error_set("column '%s' needs %s, not '%s'", column->name, example_of(column), text);
	return LT_OK;
}

static const struct column *compared_column(const char *name, const char *text, const struct view_table *table)
{
	return table ? view_column_typed(table->columns, table->n_columns, name) : column_of_any(name, text);
}

bool filter_has_column(const char *name, const struct view_table *table)
{
	return compared_column(name, "", table) != NULL;
}

enum lt_status filter_check_unit(const char *name, const char *text, const char *next, const struct view_table *table)
{
	const struct column *column = compared_column(name, text, table);
	char *whole = g_strconcat(text, next, NULL);
	struct value v;
	const bool apart = column && is_ordered(column) && (g_ascii_isalpha(*next) || *next == '%') &&
			   parse_value(column, whole, 0, false, &v);

	if (apart)
		error_set("'%s %s' has a blank before the unit: write '%s'", text, next, whole);
	g_free(whole);
	return apart ? LT_ERROR : LT_OK;
}

enum lt_status filter_check_column(const char *name, enum view_operator op, const char *text,
				   const struct view_table *table)
{
	const struct column *column = compared_column(name, text, table);

	return column ? filter_check_value(column, op, text) : no_column(name, table);
}

enum lt_status filter_compare(const struct column *column, const struct value *value, enum view_operator op,
			      const char *text, uint64_t begin_ns, bool utc, bool *out)
{
	const struct value elements = { .kind = VALUE_UINT, .u = value->list.n };
	struct value wanted;
	int c;

	if (!parse_value(column, text, begin_ns, utc, &wanted))
		return LT_ERROR;
	*out = false;
	if (value->kind == VALUE_NULL)
		return LT_OK;
	if (value->kind == VALUE_LIST || value->kind == VALUE_OBJECT)
		c = value_compare(&elements, &wanted);
	else if (value->kind == VALUE_TEXT)
		c = !text_glob(text, value->text);
	else
		c = value_compare(value, &wanted);
	switch (op) {
	case VIEW_LESS:
		*out = c < 0;
		break;
	case VIEW_AT_MOST:
		*out = c <= 0;
		break;
	case VIEW_EQUAL:
		*out = c == 0;
		break;
	case VIEW_UNEQUAL:
		*out = c != 0;
		break;
	case VIEW_AT_LEAST:
		*out = c >= 0;
		break;
	case VIEW_MORE:
		*out = c > 0;
		break;
	}
	return LT_OK;
}
