/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/line.h"

void attach_line_init(struct attach_line *line)
{
	*line = (struct attach_line){ .text = g_string_new(NULL) };
}

void attach_line_release(struct attach_line *line)
{
	g_string_free(line->text, TRUE);
}

uint64_t attach_record_begin(const struct attach_record *r)
{
	return r->kind == ATTACH_EXIT && r->has_entry ? r->entry_ref_ns : r->ref_ns;
}

static void append_result(struct attach_line *line, struct ingest *in, const struct attach_record *r,
			  const struct attach_wait *wait)
{
	GString *text = line->text;

	g_string_append(text, ") = ");
	line->result = (uint32_t)text->len;
	g_string_append(text, r->result);
	line->result_end = (uint32_t)text->len;
	line->failed = r->status == CALL_FAILED;
	attach_append_spent(text, r);
	attach_wait_append(wait, in, r, text);
}

static void set_call(struct attach_line *line, struct ingest *in, const struct attach_record *r,
		     const struct attach_wait *wait)
{
	char *args = attach_args_text(r->args, r->status != CALL_UNKNOWN);
	GString *text = line->text;

	g_string_append_printf(text, r->has_entry ? "%s(" : "<... %s resumed>", attach_call_name(r));
	line->name = (uint32_t)text->len - (r->has_entry ? 1 : 0);
	g_string_append(text, args);
	if (r->status == CALL_UNKNOWN)
		g_string_append(text, " <unfinished ...>");
	else
		append_result(line, in, r, wait);
	g_free(args);
}

void attach_line_set(struct attach_line *line, struct ingest *in, const struct attach_record *r,
		     const struct attach_wait *wait)
{
	GString *text = line->text;

	g_string_truncate(text, 0);
	*line = (struct attach_line){ .text = text };
	if (r->kind == ATTACH_EXIT) {
		set_call(line, in, r, wait);
	} else {
		char *what = attach_record_text(r);

		g_string_append(text, what);
		g_free(what);
	}
}
