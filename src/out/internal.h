/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_OUT_INTERNAL_H
#define LT_OUT_INTERNAL_H

/* Private to out/. */

#include <jansson.h>

#include "out/writer.h"

struct writer {
	struct writer_options options;
	unsigned pages; /* written so far */
};

/* Each writes one page; errors are left in the stream for writer_page() to find. */
void writer_text_page(struct writer *w, const struct writer_page *page);
void writer_json_page(struct writer *w, const struct writer_page *page);
void writer_csv_page(struct writer *w, const struct writer_page *page);
void writer_dot_page(struct writer *w, const struct writer_page *page);

/* Below the rows of a text page: how the values of distributions are spread (COLUMN_HISTOGRAM). */
void writer_text_histograms(const struct writer *w, const struct writer_page *page);

/* The JSON form of a value, a new reference. */
json_t *writer_json_value(const struct value *v);

#endif
