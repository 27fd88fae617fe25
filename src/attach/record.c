/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/record.h"

void attach_record_free(struct attach_record *r)
{
	g_free(r->head);
	g_free(r->result);
	g_free(r->text);
	if (r->args)
		g_array_free(r->args, TRUE);
	g_free(r);
}

const char *attach_call_name(const struct attach_record *r)
{
	return r->call ? r->call->shown : strpool_text(r->name);
}

char *attach_record_text(const struct attach_record *r)
{
	static const char *const marks[] = {
		[ATTACH_SIGNAL] = "---",
		[ATTACH_NEW] = "+++",
		[ATTACH_GONE] = "+++",
		[ATTACH_SCHED] = "~~~",
	};

	return g_strdup_printf("%s %s %s", marks[r->kind], r->text, marks[r->kind]);
}

char *attach_args_text(const GArray *args, bool all)
{
	GString *text = g_string_new(NULL);
	bool first = true;

	for (guint i = 0; i < args->len; i++) {
		const struct attach_arg *arg = &g_array_index(args, struct attach_arg, i);

		if (arg->omitted)
			continue;
		if (!first)
			g_string_append(text, ", ");
		first = false;
		if (!all && (!arg->text || arg->late))
			break;
		g_string_append(text, arg->text ? arg->text : "?");
	}
	return g_string_free(text, FALSE);
}
