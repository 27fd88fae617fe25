/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/writer.h"

#include <errno.h>
#include <glib.h>

#include "base/error.h"
#include "out/internal.h"

struct writer *writer_create(const struct writer_options *options)
{
	struct writer *w = g_new0(struct writer, 1);

	w->options = *options;
	return w;
}

void writer_destroy(struct writer *w)
{
	g_free(w);
}

enum lt_status writer_page(struct writer *w, const struct writer_page *page)
{
	errno = 0;
	switch (w->options.form) {
	case WRITER_TEXT:
		writer_text_page(w, page);
		break;
	case WRITER_JSON:
		writer_json_page(w, page);
		break;
	case WRITER_CSV:
		writer_csv_page(w, page);
		break;
	case WRITER_DOT:
		writer_dot_page(w, page);
		break;
	}
	w->pages++;
	if (fflush(w->options.out) || ferror(w->options.out))
		return error_set("cannot write the report: %s", error_of_errno(errno ? errno : EIO));
	return LT_OK;
}
