/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of lttngtop attach: which of them go together, and which threads and calls they choose. */
#include "cmd/attach/options.h"

#include <string.h>

#include "attach/consts.h"
#include "base/error.h"
#include "base/log.h"

bool attach_has_command(const struct options *o)
{
	return o->n_words < o->words->len;
}

bool attach_has_files(const struct options *o)
{
	return o->follow_forks > 1 || o->output_separately;
}

/* LT_ERROR: one of the texts is empty, which matches nothing. */
static enum lt_status check_filled(const GPtrArray *texts, const char *option)
{
	for (guint i = 0; i < texts->len; i++)
		if (!*(const char *)g_ptr_array_index(texts, i))
			return error_set("option '%s': '' matches nothing", option);
	return LT_OK;
}

enum lt_status attach_choose_threads(const struct options *o, struct attach_select *select,
				     struct attach_containers *containers)
{
	if (check_filled(o->attach_comm, "-n") != LT_OK || check_filled(o->attach_host, "--host") != LT_OK ||
	    check_filled(o->trace_path, "-P") != LT_OK)
		return LT_ERROR;
	for (guint i = 0; i < o->attach->len; i++)
		if (attach_select_add(select, g_ptr_array_index(o->attach, i)) != LT_OK)
			return error_wrap("option '-p'");
	for (guint i = 0; i < o->attach_comm->len; i++)
		attach_select_add_name(select, g_ptr_array_index(o->attach_comm, i));
	for (guint i = 0; i < o->attach_host->len; i++)
		g_ptr_array_add(select->hosts, g_strdup(g_ptr_array_index(o->attach_host, i)));
	select->children = o->follow_forks > 0;
	select->threads = o->threads;
	if (attach_containers_init(containers, o->attach_container) != LT_OK)
		return LT_ERROR;
	if (!o->words->len)
		return error_set("no source or command given");
	attach_containers_select(containers, select);
	if (o->attach->len || o->attach_comm->len || o->attach_container->len || attach_has_command(o))
		return LT_OK;
	error_set("no thread chosen: use -p TID, -n NAME or --container NAME; for all threads -n '*'");
	return options_hint_command(o);
}

static enum lt_status set_style(const char *name)
{
	static const char *const names[] = {
		[STYLE_ABBREV] = "abbrev",
		[STYLE_RAW] = "raw",
		[STYLE_VERBOSE] = "verbose",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		consts_set_style(i);
		return LT_OK;
	}
	return error_set("unknown style '%s': use abbrev, raw or verbose", name);
}

enum lt_status attach_choose_calls(const struct options *o, struct attach_filter *filter)
{
	for (guint i = 0; i < o->expression->len; i++)
		if (attach_filter_add(filter, g_ptr_array_index(o->expression, i)) != LT_OK)
			return error_wrap("option '-e'");
	if (set_style(o->const_style) != LT_OK)
		return error_wrap("option '-X'");
	if (o->successful_only)
		attach_filter_set_status(filter, CALL_SUCCESSFUL);
	if (o->failed_only)
		attach_filter_set_status(filter, CALL_FAILED);
	for (guint i = 0; i < o->trace_path->len; i++)
		attach_filter_add_path(filter, g_ptr_array_index(o->trace_path, i));
	return LT_OK;
}

static enum lt_status check_command(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {
		{ o->attach->len, "-p" },
		{ o->attach_comm->len, "-n" },
		{ o->attach_container->len, "--container" },
		{ o->attach_host->len, "--host" },
		{ o->begin.form, "--begin" },
		{ o->end.form, "--end" },
		{ o->duration, "--duration" },
		{ o->follow, "--follow" },
		{ o->from_start, "--from-start" },
	};

	if (o->n_words)
		return error_set("'%s': give either a SOURCE or a COMMAND, not both",
				 (const char *)g_ptr_array_index(o->words, 0));
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (others[i].given)
			return error_set("%s needs a SOURCE: with a COMMAND only that is shown", others[i].name);
	return LT_OK;
}

/* Warns about options that change only lines of calls, of which -c prints none, as strace does. */
static void warn_of_lines(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {
		{ o->timestamps, "-t" }, { o->relative, "-r" }, { o->syscall_times, "-T" },
		{ o->whole, "--whole" }, { o->columns, "-a" },  { o->decode_pids, "-Y" },
		{ o->decode_fds, "-y" }, { o->quiet, "-q" },    { o->output_separately, "--output-separately" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (others[i].given)
			log_warning("%s has no effect with -c, which only prints a table", others[i].name);
}

static enum lt_status check_output(const char *name)
{
	if (name && (*name == '|' || *name == '!'))
		return error_set("-o '%s': the output is not sent to a command: leave out -o, and append '| COMMAND'",
				 name);
	return LT_OK;
}

static enum lt_status check_sources(const struct options *o)
{
	return o->buffer_size ? error_set("--buffer-size needs a COMMAND") : LT_OK;
}

enum lt_status attach_check_options(const struct options *o)
{
	if (attach_has_command(o) ? check_command(o) : check_sources(o))
		return LT_ERROR;
	if (check_output(o->attach_output) != LT_OK)
		return LT_ERROR;
	if (o->successful_only && o->failed_only)
		return error_set("-z and -Z cannot be used together: without them, both kinds of calls are shown");
	if (o->summary_only)
		warn_of_lines(o);
	if (o->summary_only && o->wait_paths)
		return error_set("-w does not apply to -c: the table has wall-clock times without it, and -w prints "
				 "critical paths of calls, which needs -C");
	if (o->summary_only && o->sched)
		return error_set("--sched does not apply to -c, which only prints a table: use -C");
	if (o->summary_only && o->summary)
		return error_set("-c and -C cannot be used together");
	if (o->summary_sort && !o->summary_only && !o->summary)
		return error_set("-S needs -c or -C");
	if (o->summary_columns && !o->summary_only && !o->summary)
		return error_set("-U needs -c or -C");
	if (o->summary_columns && o->json)
		return error_set("-U does not apply to --json, which has all columns");
	if (o->json && (o->timestamps || o->relative || o->color || o->whole))
		return error_set(
			"-t, -r, --whole and --color do not apply to --json, which has all times and arguments");
	if (o->json && attach_has_files(o))
		return error_set("-ff and --json cannot be used together");
	if (attach_has_files(o) && !o->attach_output)
		return error_set("-ff needs -o FILE: it writes FILE.TID, or FILE.HOST.TID, for each thread");
	if (attach_has_files(o) && o->summary)
		return error_set("-ff and -C cannot be used together, because -ff writes one file per thread: use -c");
	if (o->output_append && !o->attach_output)
		return error_set("-A needs -o FILE");
	if (o->json && (o->columns || o->decode_pids))
		return error_set("-a and -Y do not apply to --json, which has no columns and names each thread");
	if (o->no_waits && o->wait_paths)
		return error_set("--no-waits and -w cannot be used together");
	return LT_OK;
}
