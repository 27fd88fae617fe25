/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_value.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/nstime.h"

enum {
	COUNT_MAX = 1024,
	DURATION_DAYS_MAX = 36500, /* can be added to any time without an overflow */
};

static enum lt_status parse_space(const char *text, option_space *space)
{
	static const char units[] = "kMGT";
	guint64 value;
	char *end;
	const char *unit;
	unsigned shift = 0;

	errno = 0;
	value = g_ascii_strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (!g_ascii_isdigit(text[0]) || *end || errno || value > UINT64_MAX >> shift)
		return error_set("'%s' is not a size such as 64M or 1G", text);
	*space = value << shift;
	return LT_OK;
}

static enum lt_status parse_size(const char *text, option_size *size)
{
	if (parse_space(text, size) != LT_OK)
		return LT_ERROR;
	return *size ? LT_OK : error_set("must be greater than 0");
}

static enum lt_status parse_number(const char *text, guint64 least, guint64 most, guint64 *number)
{
	if (g_ascii_string_to_unsigned(text, 10, least, most, number, NULL))
		return LT_OK;
	return error_set("'%s' is not a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, text, least, most);
}

static enum lt_status parse_count(const char *text, guint64 most, unsigned *count)
{
	guint64 number;

	if (parse_number(text, 1, most, &number))
		return LT_ERROR;
	*count = (unsigned)number;
	return LT_OK;
}

static enum lt_status parse_speed(const char *text, option_speed *speed)
{
	char *end;
	double value = g_ascii_strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return error_set("'%s' is not a number above 0", text);
	*speed = value;
	return LT_OK;
}

static enum lt_status parse_pace(const char *text, option_pace *pace)
{
	if (strcmp(text, "max") == 0)
		*pace = INFINITY;
	else if (parse_speed(text, pace) != LT_OK)
		return error_set("'%s' is not a number above 0 or 'max'", text);
	return LT_OK;
}

char **option_split(const char *text)
{
	return *text ? g_strsplit(text, ",", -1) : g_strdupv((char *[]){ (char *)"", NULL });
}

/* One number, or several with commas between them. */
static enum lt_status parse_numbers(const char *text, guint64 least, guint64 most, option_numbers numbers)
{
	char **parts = option_split(text);
	enum lt_status status = LT_OK;
	guint64 number;

	for (char **part = parts; *part && status == LT_OK; part++) {
		status = parse_number(*part, least, most, &number);
		if (status == LT_OK)
			g_array_append_vals(numbers, &(int32_t){ (int32_t)number }, 1);
	}
	g_strfreev(parts);
	return status;
}

static enum lt_status parse_duration(const char *text, option_duration *duration)
{
	if (timetext_parse_duration(text, duration))
		return LT_ERROR;
	if (*duration > DURATION_DAYS_MAX * (24 * 3600 * NS_PER_S))
		return error_set("must be at most %dd", DURATION_DAYS_MAX);
	return *duration ? LT_OK : error_set("must be greater than 0");
}

static enum lt_status parse_period(const char *text, option_period *period)
{
	*period = 0;
	return strcmp(text, "0") == 0 ? LT_OK : timetext_parse_duration(text, period);
}

enum lt_status option_store(struct options *o, const struct option_row *row, const char *text)
{
	void *field = (char *)o + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(option_flag *)field = true;
		return LT_OK;
	case OPTION_LEVEL:
		++*(option_level *)field;
		return LT_OK;
	case OPTION_DURATION:
		return parse_duration(text, field);
	case OPTION_PERIOD:
		return parse_period(text, field);
	case OPTION_SIZE:
		return parse_size(text, field);
	case OPTION_SPACE:
		return parse_space(text, field);
	case OPTION_COUNT:
		return parse_count(text, COUNT_MAX, field);
	case OPTION_ROWS:
		return parse_count(text, INT32_MAX, field);
	case OPTION_SPEED:
		return parse_speed(text, field);
	case OPTION_PACE:
		return parse_pace(text, field);
	case OPTION_PORT:
		return parse_count(text, UINT16_MAX, field);
	case OPTION_TIME:
		return timetext_parse(text, field);
	case OPTION_TEXT:
		*(option_text *)field = text;
		return LT_OK;
	case OPTION_TEXTS:
		g_ptr_array_add(*(option_texts *)field, (gpointer)text);
		return LT_OK;
	case OPTION_NUMBERS:
		return parse_numbers(text, 0, INT32_MAX, *(option_numbers *)field);
	case OPTION_PORTS:
		return parse_numbers(text, 1, UINT16_MAX, *(option_ports *)field);
	}
	g_assert_not_reached();
}
