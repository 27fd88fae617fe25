/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the screen's lists to files. */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cmd/monitor.h"
#include "out/writer.h"

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

enum lt_status monitor_write_list(const struct ui_export *what)
{
	const struct writer_page page = {
		.begin_ns = what->begin_ns,
		.end_ns = what->end_ns,
		.rows = what->rows,
		.columns = what->columns,
		.n_columns = what->n_columns,
		.hosts = what->hosts,
		.n_hosts = what->n_hosts,
		.lost = what->lost,
	};
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
	status = writer_page(writer, &page);
	writer_destroy(writer);
	if (fclose(options.out) != 0 && status == LT_OK)
		status = error_set("not written: %s: %s", g_strerror(errno), what->path);
	if (status != LT_OK)
		remove(what->path);
	return status;
}
