/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/column.h"

#include <glib.h>

#include "view/internal.h"

static const uint8_t units[TYPES] = {
	[TYPE_ID] = COLUMN_ID,       [TYPE_SIGNED] = COLUMN_ID,     [TYPE_INODE] = COLUMN_ID,
	[TYPE_ANY] = COLUMN_ID,      [TYPE_DEVICE] = COLUMN_DEVICE, [TYPE_TEXT] = COLUMN_TEXT,
	[TYPE_HOST] = COLUMN_TEXT,   [TYPE_FLAG] = COLUMN_FLAG,     [TYPE_COUNT] = COLUMN_COUNT,
	[TYPE_BYTES] = COLUMN_BYTES, [TYPE_NS] = COLUMN_NS,         [TYPE_SPAN] = COLUMN_NS,
	[TYPE_LAPSE] = COLUMN_NS,    [TYPE_TIME] = COLUMN_TIME,     [TYPE_REF_TIME] = COLUMN_TIME,
	[TYPE_PPM] = COLUMN_PPM,
};

/* A column's meaning is that of its cell, between a prefix and a suffix. */
static const struct {
	const char *before, *behind;
	/* which cell, relative to the column's: in a distribution the second one says what is measured */
	uint8_t meant;
	column_get_fn *get;
} forms[FORMS] = {
	[FORM_VALUE] = { "", ".", 0, view_get_value },
	[FORM_RATE] = { "Per second: ", ".", 0, view_get_rate },
	[FORM_PERCENT] = { "", ", in percent of the recorded part of the interval.", 0, view_get_percent },
	[FORM_COUNT] = { "", ".", 0, view_get_value },
	[FORM_TOTAL] = { "Total ", ".", 1, view_get_dist },
	[FORM_MIN] = { "Shortest ", ".", 1, view_get_dist },
	[FORM_AVG] = { "Mean ", ".", 1, view_get_dist },
	[FORM_MAX] = { "Longest ", ".", 1, view_get_dist },
	[FORM_STDEV] = { "Standard deviation of the ", ".", 1, view_get_dist },
	[FORM_MAX_AT] = { "End of the longest ", ".", 1, view_get_dist },
	[FORM_P50] = { "Median ", ".", 1, view_get_percentile },
	[FORM_P90] = { "The 90th percentile of the ", ".", 1, view_get_percentile },
	[FORM_P99] = { "The 99th percentile of the ", ".", 1, view_get_percentile },
	[FORM_P999] = { "The 99.9th percentile of the ", ".", 1, view_get_percentile },
	[FORM_FREQ] = { "Histogram of the ", ".", 1, view_get_freq },
};

enum column_unit column_measured(const struct column *c)
{
	return units[c->cells[c->cell + 1].type];
}

static enum column_unit unit_of(const struct column *c)
{
	const enum cell_type type = c->cells[c->cell].type;

	switch ((enum column_form)c->form) {
	case FORM_VALUE:
	case FORM_COUNT:
		return units[type];
	case FORM_RATE:
		return type == TYPE_BYTES ? COLUMN_BYTE_RATE : COLUMN_RATE;
	case FORM_PERCENT:
		return COLUMN_PERCENT;
	case FORM_MAX_AT:
		return COLUMN_TIME;
	case FORM_FREQ:
		return COLUMN_HISTOGRAM;
	default:
		return column_measured(c);
	}
}

/* A meaning that no longer comes first starts with a small letter, unless it is an abbreviation. */
static char *compose(const char *before, const char *meaning, const char *behind)
{
	const bool lower = *before && !g_ascii_isupper(meaning[1]);

	return g_strdup_printf("%s%c%s%s", before, lower ? g_ascii_tolower(*meaning) : *meaning, meaning + 1, behind);
}

void view_get_by_form(const struct view_cell *at, struct value *v)
{
	forms[at->column->form].get(at, v);
}

struct column column_complete(const struct column *declared)
{
	struct column c = *declared;

	if (c.form == FORM_NONE)
		return c;
	c.unit = unit_of(&c);
	if (!c.get)
		c.get = forms[c.form].get;
	if (!c.meaning)
		c.meaning = compose(forms[c.form].before, c.cells[c.cell + forms[c.form].meant].meaning,
				    forms[c.form].behind);
	return c;
}

const char *column_unit_name(enum column_unit unit)
{
	static const char *const names[] = {
		[COLUMN_TEXT] = "text",
		[COLUMN_ID] = "number",
		[COLUMN_DEVICE] = "number",
		[COLUMN_COUNT] = "count",
		[COLUMN_BYTES] = "bytes",
		[COLUMN_NS] = "ns",
		[COLUMN_TIME] = "ns since the epoch",
		[COLUMN_PERCENT] = "%",
		[COLUMN_RATE] = "per second",
		[COLUMN_BYTE_RATE] = "bytes per second",
		[COLUMN_PPM] = "parts per million",
		[COLUMN_LIST] = "list of texts",
		[COLUMN_OBJECT] = "counts by name",
		[COLUMN_FLAG] = "true or false",
		[COLUMN_HISTOGRAM] = "counts by value",
	};

	return names[unit];
}
