/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what the screen shows to files. */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cmd/monitor/monitor.h"
#include "out/writer.h"
#include "ui/lines.h"

static enum lt_status form_of(const char *path, enum writer_form *form)
{
	static const struct {
		const char *end;
		enum writer_form form;
	} forms[] = { { ".txt", WRITER_TEXT }, { ".csv", WRITER_CSV }, { ".json", WRITER_JSON } };

	for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++)
		if (g_str_has_suffix(path, forms[i].end)) {
			*form = forms[i].form;
			return LT_OK;
		}
	return error_set("not written: the file name must end in .txt, .csv or .json");
}

/* The lines for the writer, to be freed; their texts are borrowed. NULL: there are rows instead. */
static struct writer_line *lines_of(const struct ui_export *what)
{
	struct writer_line *lines;

	if (!what->lines)
		return NULL;
	lines = g_new0(struct writer_line, lines_count(what->lines));
	for (unsigned i = 0; i < lines_count(what->lines); i++) {
		const struct calls_line *from = lines_at(what->lines, i);

		lines[i] = (struct writer_line){ .at_ns = from->at_ns, .tid = from->tid, .text = from->text };
	}
	return lines;
}

static enum lt_status write_page(const struct ui_export *what, const struct writer_page *page)
{
	struct writer_options options = { .table = what->table, .format = what->format };
	enum lt_status status = form_of(what->path, &options.form);
	struct writer *writer;

	if (status != LT_OK)
		return status;
	options.out = fopen(what->path, "wxe");
	if (!options.out)
		return error_set("not written: %s: %s", errno == EEXIST ? "file exists" : g_strerror(errno),
				 what->path);
	writer = writer_create(&options);
	status = writer_page(writer, page);
	if (status != LT_OK)
		error_wrap("not written: %s", what->path);
	writer_destroy(writer);
	if (fclose(options.out) != 0 && status == LT_OK)
		status = error_set("not written: %s: %s", g_strerror(errno), what->path);
	if (status != LT_OK)
		remove(what->path);
	return status;
}

enum lt_status monitor_write(const struct ui_export *what)
{
	struct writer_line *lines = lines_of(what);
	const struct writer_page page = {
		.begin_ns = what->begin_ns,
		.end_ns = what->end_ns,
		.lines = lines,
		.n_lines = what->lines ? lines_count(what->lines) : 0,
		.tids = what->tids,
		.rows = what->rows,
		.columns = what->columns,
		.n_columns = what->n_columns,
		.hosts = what->hosts,
		.n_hosts = what->n_hosts,
		.lost = what->lost,
	};
	enum lt_status status = write_page(what, &page);

	g_free(lines);
	return status;
}
