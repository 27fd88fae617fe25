/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/settings.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/timetext.h"
#include "ui/internal.h"
#include "ui/screen.h"

/* A file that is larger was not written by us, nor by hand. */
enum { MAX_FILE_BYTES = 1 << 20 };

struct settings {
	char *path; /* NULL: there is no file */
	GKeyFile *file;
	char *trouble;
};

/* ---- reading ---- */

static void blame(struct settings *s, const char *reason)
{
	g_free(s->trouble);
	s->trouble = g_strdup_printf("settings ignored, L shows why: %s", s->path);
	log_warning("settings of '%s' ignored: %s", s->path, reason);
}

static void read_file(struct settings *s)
{
	GError *error = NULL;
	GStatBuf status;

	if (g_stat(s->path, &status) != 0) {
		if (errno != ENOENT)
			blame(s, g_strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		blame(s, "not a regular file");
	} else if (status.st_size > MAX_FILE_BYTES) {
		blame(s, "too large for a settings file");
	} else if (!g_key_file_load_from_file(s->file, s->path, G_KEY_FILE_KEEP_COMMENTS, &error)) {
		blame(s, error->message);
		g_error_free(error);
	}
}

struct settings *settings_create(const char *path)
{
	struct settings *s = g_new0(struct settings, 1);

	s->path = g_strdup(path);
	s->file = g_key_file_new();
	if (path)
		read_file(s);
	return s;
}

void settings_destroy(struct settings *s)
{
	if (!s)
		return;
	g_key_file_free(s->file);
	g_free(s->path);
	g_free(s->trouble);
	g_free(s);
}

char *settings_default_path(void)
{
	return g_build_filename(g_get_user_config_dir(), "lttngtop", "lttngtop.conf", NULL);
}

const char *settings_trouble(const struct settings *s)
{
	return s->trouble;
}

const char *settings_path(const struct settings *s)
{
	return s->path;
}

/* ---- applying ---- */

static void warn_value(const struct settings *s, const char *group, const char *key, const char *value)
{
	log_warning("%s: [%s] %s: '%s' is ignored", s->path, group, key, value);
}

/* Leaves *value alone if the file does not have the key. */
static void read_flag(const struct settings *s, const char *key, bool *value)
{
	char *text = g_key_file_get_value(s->file, "screen", key, NULL);

	if (!text)
		return;
	if (!strcmp(text, "true"))
		*value = true;
	else if (!strcmp(text, "false"))
		*value = false;
	else
		warn_value(s, "screen", key, text);
	g_free(text);
}

void settings_apply(const struct settings *s, struct ui *ui)
{
	char *interval = g_key_file_get_value(s->file, "screen", "interval", NULL);
	bool colors = true;
	uint64_t ns;

	read_flag(s, "host-lines", &ui->show_hosts);
	read_flag(s, "host-percent", &ui->host_percent);
	read_flag(s, "colors", &colors);
	if (!colors)
		screen_set_color(false);
	if (interval && (timetext_parse_duration(interval, &ns) != LT_OK || !ns)) {
		warn_value(s, "screen", "interval", interval);
		error_clear();
	} else if (interval && !ui->options.interval_ns) {
		ui->options.interval_ns = ns;
	}
	g_free(interval);
}

static char *list_group(const struct list *l)
{
	return g_strdup_printf("list %s", l->table->name);
}

static void apply_columns(const struct settings *s, const char *group, struct list *l)
{
	char *value = g_key_file_get_value(s->file, group, "columns", NULL);
	char **names = g_strsplit(value ? value : "", " ", LIST_COLUMNS + 1);
	GPtrArray *wanted = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; names[i] && wanted->len < LIST_COLUMNS; i++) {
		if (!*names[i] || g_ptr_array_find_with_equal_func(wanted, names[i], g_str_equal, NULL))
			continue;
		if (view_column_find(l->table->columns, l->table->n_columns, names[i]))
			g_ptr_array_add(wanted, g_strdup(names[i]));
		else
			warn_value(s, group, "columns", names[i]);
	}
	if (wanted->len)
		list_set_columns(l, wanted);
	g_ptr_array_unref(wanted);
	g_strfreev(names);
	g_free(value);
}

static void apply_sort(const struct settings *s, const char *group, struct list *l)
{
	char *value = g_key_file_get_value(s->file, group, "sort", NULL);
	const char *name = value && *value == '-' ? value + 1 : value;
	unsigned n;
	const struct column *columns = list_columns(l, &n);

	/* which counters there are is not known yet */
	if (name && (view_column_find(columns, n, name) || (l->table->flags & VIEW_PIVOT && !l->sums)))
		list_set_sort(l, name, name != value);
	else if (name)
		warn_value(s, group, "sort", value);
	g_free(value);
}

static void apply_sum(const struct settings *s, const char *group, struct list *l)
{
	char *value = g_key_file_get_value(s->file, group, "sum-by", NULL);
	enum view_sum sum;

	if (value && view_sum_find(value, l->table, &sum) == LT_OK) {
		list_sum_by(l, sum);
	} else if (value) {
		warn_value(s, group, "sum-by", value);
		error_clear();
	}
	g_free(value);
}

void settings_apply_list(const struct settings *s, struct list *l)
{
	char *group = list_group(l);

	apply_columns(s, group, l);
	apply_sum(s, group, l);
	apply_sort(s, group, l);
	g_free(group);
}

/* ---- saving ---- */

static void keep_list(struct settings *s, const struct list *l)
{
	char *group = list_group(l), *columns;
	GPtrArray *names = g_ptr_array_new();

	for (unsigned i = 0; i < l->names->len; i++)
		g_ptr_array_add(names, g_ptr_array_index(l->names, i));
	g_ptr_array_add(names, NULL);
	columns = g_strjoinv(" ", (char **)names->pdata);
	g_key_file_set_value(s->file, group, "columns", columns);
	if (l->sum_by)
		g_key_file_set_value(s->file, group, "sum-by", view_sum_name(l->sum_by));
	else
		g_key_file_remove_key(s->file, group, "sum-by", NULL);
	if (l->sorted || l->reverse) {
		char *sort = g_strconcat(l->reverse ? "-" : "", l->sort, NULL);

		g_key_file_set_value(s->file, group, "sort", sort);
		g_free(sort);
	} else {
		g_key_file_remove_key(s->file, group, "sort", NULL);
	}
	g_ptr_array_free(names, TRUE);
	g_free(columns);
	g_free(group);
}

static void keep_screen(struct settings *s, const struct ui *ui)
{
	char interval[32];

	g_key_file_set_boolean(s->file, "screen", "host-lines", ui->show_hosts);
	g_key_file_set_boolean(s->file, "screen", "host-percent", ui->host_percent);
	/* what only this terminal or this recording asked for is not the user's choice */
	if (ui->color_chosen)
		g_key_file_set_boolean(s->file, "screen", "colors", screen_has_color());
	if (ui->cursor.sized)
		g_key_file_set_value(s->file, "screen", "interval",
				     timetext_format_duration(interval, sizeof(interval), ui->cursor.interval_ns));
	for (unsigned i = 0; i < PANES; i++)
		for (unsigned k = 0; ui->panes[i] && k < ui->panes[i]->n_lists; k++)
			keep_list(s, &ui->panes[i]->lists[k]);
}

/* Where a link leads, so that it stays one; free with free(). */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

enum lt_status settings_save(struct settings *s, struct ui *ui)
{
	char *directory, *real, *text;
	enum lt_status status = LT_ERROR;
	GError *error = NULL;

	if (!s->path)
		return error_set("settings are not saved with --no-config"), LT_ERROR;
	if (s->trouble)
		return error_set("not saved: '%s' could not be read as settings: correct or remove it", s->path),
		       LT_ERROR;
	keep_screen(s, ui);
	directory = g_path_get_dirname(s->path);
	real = real_path(s->path);
	text = g_key_file_to_data(s->file, NULL, NULL);
	if (g_mkdir_with_parents(directory, 0700) != 0)
		error_set("cannot save settings: cannot make '%s': %s", directory, g_strerror(errno));
	else if (!g_file_set_contents(real, text, -1, &error))
		error_set("cannot save settings: %s", error->message);
	else
		status = LT_OK;
	g_clear_error(&error);
	g_free(text);
	free(real);
	g_free(directory);
	return status;
}
