/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/digits.h"
#include "base/error.h"
#include "base/nstime.h"
#include "base/timetext.h"
#include "base/utf8.h"

enum { FILES_MAX = 256 };

/* The destination of some threads' lines. */
struct text_output {
	const char *name; /* its key in outputs; NULL: that of the options */
	FILE *file;
	bool open; /* a call's line is incomplete: */
	unsigned host;
	int32_t tid;
	unsigned column;  /* its width so far */
	uint64_t last_ns; /* -r: time of the last line; 0: there was none */
	unsigned losses;  /* -ff: host_losses.n at its last line */
};

/*
 * Losses of a host, with -ff: a file has one line for those since its last line. Most files may belong to threads that
 * have exited: a line in each file for each loss could take quadratic time.
 */
struct host_losses {
	unsigned n;
	uint64_t last_ns; /* reference time */
};

struct attach_text {
	const struct attach_text_options *options;
	struct text_output single;
	GHashTable *outputs; /* -ff: file name → struct text_output */
	GPtrArray *losses;   /* -ff: struct host_losses, by host */
	GString *line;
	int error;          /* errno of the first file that could not be written */
	const char *failed; /* its name, as in text_output */
};

static void output_free(gpointer data)
{
	struct text_output *output = data;

	if (output->file)
		fclose(output->file);
	g_free(output);
}

struct attach_text *attach_text_create(const struct attach_text_options *options)
{
	struct attach_text *text = g_new0(struct attach_text, 1);

	text->options = options;
	text->single.file = options->out;
	text->line = g_string_new(NULL);
	text->outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, output_free);
	text->losses = g_ptr_array_new_with_free_func(g_free);
	return text;
}

void attach_text_destroy(struct attach_text *text)
{
	if (!text)
		return;
	g_hash_table_destroy(text->outputs);
	g_ptr_array_free(text->losses, TRUE);
	g_string_free(text->line, TRUE);
	g_free(text);
}

/* ---- files ---- */

static void note_failure(struct attach_text *text, const struct text_output *output)
{
	if (text->error)
		return;
	text->error = errno;
	text->failed = output->name;
}

static void close_one(gpointer key, gpointer data, gpointer user)
{
	struct text_output *output = data;
	struct attach_text *text = user;

	(void)key;
	if (output->file && fclose(output->file))
		note_failure(text, output);
	output->file = NULL;
}

static void open_file(struct attach_text *text, struct text_output *output, bool anew)
{
	if (g_hash_table_size(text->outputs) % FILES_MAX == 0)
		g_hash_table_foreach(text->outputs, close_one, text);
	output->file = fopen(output->name, anew ? "we" : "ae");
	if (!output->file && (errno == EMFILE || errno == ENFILE)) {
		g_hash_table_foreach(text->outputs, close_one, text);
		output->file = fopen(output->name, anew ? "we" : "ae");
	}
	if (!output->file)
		note_failure(text, output);
}

static const char *host_name(struct ingest *in, unsigned host)
{
	return strpool_text(strpool_intern_z(ingest_host(in, host)->name));
}

/* A hostname is another machine's: it must not lead into another directory. */
static char *file_name(const struct attach_text *text, struct ingest *in, const struct attach_record *r)
{
	char *host, *name;

	if (!text->options->many_hosts)
		return g_strdup_printf("%s.%" PRId32, text->options->file, r->tid);
	host = g_strdelimit(g_strdup(host_name(in, r->host)), "/", '_');
	name = g_strdup_printf("%s.%s.%" PRId32, text->options->file, host, r->tid);
	g_free(host);
	return name;
}

static struct host_losses *losses_of(struct attach_text *text, unsigned host)
{
	while (text->losses->len <= host)
		g_ptr_array_add(text->losses, g_new0(struct host_losses, 1));
	return g_ptr_array_index(text->losses, host);
}

static struct text_output *output_of(struct attach_text *text, struct ingest *in, const struct attach_record *r)
{
	struct text_output *output;
	char *name;

	if (!text->options->per_thread)
		return &text->single;
	name = file_name(text, in, r);
	output = g_hash_table_lookup(text->outputs, name);
	if (!output) {
		output = g_new0(struct text_output, 1);
		output->name = name;
		output->losses = losses_of(text, r->host)->n;
		open_file(text, output, !text->options->append);
		g_hash_table_insert(text->outputs, name, output);
		return output;
	}
	if (!output->file)
		open_file(text, output, false);
	g_free(name);
	return output;
}

enum lt_status attach_text_flush(struct attach_text *text)
{
	GHashTableIter iter;
	gpointer data;

	if (text->single.file && fflush(text->single.file))
		note_failure(text, &text->single);
	g_hash_table_iter_init(&iter, text->outputs);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		struct text_output *output = data;

		if (output->file && fflush(output->file))
			note_failure(text, output);
	}
	if (!text->error)
		return LT_OK;
	if (!text->options->file)
		return error_set("cannot write to standard output: %s", g_strerror(text->error));
	return error_set("cannot write '%s': %s", text->failed ? text->failed : text->options->file,
			 g_strerror(text->error));
}

/* ---- lines ---- */

static void append_colored(const struct attach_text *text, GString *line, const char *color, const char *what)
{
	if (text->options->color && *what)
		g_string_append_printf(line, "\033[%sm%s\033[0m", color, what);
	else
		g_string_append(line, what);
}

#define COLOR_NAME "1"
#define COLOR_ERROR "31"
#define COLOR_WAIT "33"
#define COLOR_EVENT "36"

/*
 * Negative before an earlier line: a call that is written as a whole when it returns has the time of its entry. Beside
 * a time of day in parentheses, as in strace.
 */
static void append_relative(GString *line, uint64_t last_ns, uint64_t t_ns, bool beside)
{
	const uint64_t since_us = (MAX(t_ns, last_ns) - MIN(t_ns, last_ns)) / NS_PER_US;
	char seconds[32];

	g_snprintf(seconds, sizeof(seconds), "%s%" PRIu64, t_ns < last_ns ? "-" : "", since_us / US_PER_S);
	g_string_append_printf(line, "%s%6s.%06" PRIu64 "%s ", beside ? "(+" : "", seconds, since_us % US_PER_S,
			       beside ? ")" : "");
}

static void append_stamp(const struct attach_text *text, struct text_output *output, GString *line, uint64_t t_ns)
{
	const struct attach_text_options *o = text->options;
	char when[TIMETEXT_SIZE];

	if (o->stamp == STAMP_EPOCH)
		attach_append_seconds(line, t_ns);
	else if (o->stamp)
		g_string_append(line, timetext_format(when, sizeof(when), t_ns, o->stamp == STAMP_SECONDS ? 0 : 6,
						      false, o->utc));
	if (o->stamp)
		g_string_append_c(line, ' ');
	if (o->relative) {
		append_relative(line, output->last_ns ? output->last_ns : t_ns, t_ns, o->stamp);
		output->last_ns = t_ns;
	}
}

/* Width of the last line in columns, without colours. */
static unsigned width_of(const GString *line)
{
	const char *c = strrchr(line->str, '\n');
	unsigned width = 0;

	c = c ? c + 1 : line->str;
	while (*c)
		if (*c == '\033')
			c += strcspn(c, "m") + 1;
		else
			width += utf8_char_width(utf8_next(&c));
	return width;
}

static void append_thread(const struct attach_text_options *o, GString *line, const struct attach_record *r)
{
	digits_append_signed(line, r->tid);
	if (!o->comm || !r->comm)
		return;
	g_string_append_c(line, '<');
	g_string_append(line, strpool_text(r->comm));
	g_string_append_c(line, '>');
}

/* "[pid 812] ", "[web:812<nginx>] "; in a file without brackets. A loss has no thread: "[web] ", or nothing. */
static void append_who(const struct attach_text_options *o, GString *line, struct ingest *in,
		       const struct attach_record *r)
{
	const bool is_thread = r->kind != ATTACH_LOST;

	if (!is_thread && !o->many_hosts)
		return;
	if (!o->file)
		g_string_append(line, o->many_hosts ? "[" : "[pid ");
	if (o->many_hosts)
		g_string_append(line, host_name(in, r->host));
	if (o->many_hosts && is_thread)
		g_string_append_c(line, ':');
	if (is_thread)
		append_thread(o, line, r);
	g_string_append(line, o->file ? " " : "] ");
}

static void begin_line(struct attach_text *text, struct text_output *output, struct ingest *in,
		       const struct attach_record *r, uint64_t t_ns)
{
	const struct attach_text_options *o = text->options;

	if (output->open)
		g_string_append(text->line, " <unfinished ...>\n");
	output->open = false;
	output->column = 0;
	if (!o->one_thread && !o->per_thread)
		append_who(o, text->line, in, r);
	append_stamp(text, output, text->line, t_ns);
}

static void write_entry(struct attach_text *text, struct text_output *output, struct ingest *in,
			const struct attach_record *r)
{
	begin_line(text, output, in, r, r->ref_ns);
	append_colored(text, text->line, COLOR_NAME, attach_call_name(r));
	g_string_append_c(text->line, '(');
	g_string_append(text->line, r->head);
	output->open = true;
	output->column = width_of(text->line);
	output->host = r->host;
	output->tid = r->tid;
}

/* Completes the line: the remaining arguments and the result. */
static void append_end(struct attach_text *text, const struct text_output *output, struct ingest *in,
		       const struct attach_record *r, const struct attach_wait *wait, const char *rest)
{
	GString *line = text->line, *why = g_string_new(NULL);
	unsigned width;

	g_string_append(line, rest);
	g_string_append_c(line, ')');
	if (text->options->column) {
		width = output->column + width_of(line) + 1;
		g_string_append_printf(line, "%*s",
				       width < text->options->column ? (int)(text->options->column - width) : 0, "");
	}
	g_string_append(line, " = ");
	if (r->status == CALL_FAILED)
		append_colored(text, line, COLOR_ERROR, r->result);
	else
		g_string_append(line, r->result);
	if (text->options->spent)
		attach_append_spent(line, r);
	attach_wait_append(wait, in, r, why);
	append_colored(text, line, COLOR_WAIT, why->str);
	g_string_append_c(line, '\n');
	if (text->options->paths)
		attach_wait_append_path(wait, in, r, line);
	g_string_free(why, TRUE);
}

/* A call that is still in progress when the trace ends. */
static void write_unfinished(struct attach_text *text, struct text_output *output, struct ingest *in,
			     const struct attach_record *r, bool continues)
{
	char *head = attach_args_text(r->args, false);

	if (!continues && !r->begun) {
		begin_line(text, output, in, r, r->entry_ref_ns);
		append_colored(text, text->line, COLOR_NAME, attach_call_name(r));
		g_string_append_c(text->line, '(');
		g_string_append(text->line, head);
	}
	if (continues || !r->begun)
		g_string_append(text->line, " <unfinished ...>\n");
	g_free(head);
}

static void write_exit(struct attach_text *text, struct text_output *output, struct ingest *in,
		       const struct attach_record *r, const struct attach_wait *wait)
{
	const bool continues = r->begun && output->open && output->host == r->host && output->tid == r->tid;
	const char *name = attach_call_name(r);
	char *all, *head;

	if (continues)
		output->open = false;
	if (r->status == CALL_UNKNOWN) {
		write_unfinished(text, output, in, r, continues);
		return;
	}
	all = attach_args_text(r->args, true);
	head = r->begun ? attach_args_text(r->args, false) : g_strdup("");
	if (continues) {
		append_end(text, output, in, r, wait, all + strlen(head));
	} else if (!r->begun && r->has_entry && !r->early) {
		begin_line(text, output, in, r, r->entry_ref_ns);
		append_colored(text, text->line, COLOR_NAME, name);
		g_string_append_c(text->line, '(');
		append_end(text, output, in, r, wait, all);
	} else {
		char *resumed = g_strdup_printf("<... %s resumed>", name);

		begin_line(text, output, in, r, r->ref_ns);
		append_colored(text, text->line, COLOR_NAME, resumed);
		if (text->options->whole)
			g_string_append_printf(text->line, " %s(", name);
		append_end(text, output, in, r, wait, text->options->whole ? all : all + strlen(head));
		g_free(resumed);
	}
	g_free(head);
	g_free(all);
}

static void write_event(struct attach_text *text, struct text_output *output, struct ingest *in,
			const struct attach_record *r)
{
	char *what = attach_record_text(r);

	begin_line(text, output, in, r, r->ref_ns);
	append_colored(text, text->line, COLOR_EVENT, what);
	g_string_append_c(text->line, '\n');
	g_free(what);
}

/* Events of the host were lost since the last line of the thread's file. */
static void write_losses(struct attach_text *text, struct text_output *output, struct ingest *in,
			 const struct attach_record *r)
{
	const struct host_losses *losses = losses_of(text, r->host);

	begin_line(text, output, in, r, losses->last_ns);
	append_colored(text, text->line, COLOR_EVENT, "!!! events lost since the last line !!!");
	g_string_append_c(text->line, '\n');
	output->losses = losses->n;
}

void attach_text_write(struct attach_text *text, struct ingest *in, const struct attach_record *r,
		       const struct attach_wait *wait)
{
	const unsigned quiet = text->options->quiet;
	struct text_output *output;

	if ((r->kind == ATTACH_NEW && quiet > 0) || (r->kind == ATTACH_GONE && quiet > 1))
		return;
	if (r->kind == ATTACH_LOST && text->options->per_thread) {
		losses_of(text, r->host)->n++;
		losses_of(text, r->host)->last_ns = r->ref_ns;
		return;
	}
	output = output_of(text, in, r);
	g_string_truncate(text->line, 0);
	if (output->losses != losses_of(text, r->host)->n)
		write_losses(text, output, in, r);
	if (r->kind == ATTACH_ENTRY)
		write_entry(text, output, in, r);
	else if (r->kind == ATTACH_EXIT)
		write_exit(text, output, in, r, wait);
	else
		write_event(text, output, in, r);
	if (output->file && text->line->len && fwrite(text->line->str, text->line->len, 1, output->file) != 1)
		note_failure(text, output);
}
