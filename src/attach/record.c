/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/record.h"

#include "base/digits.h"
#include "base/nstime.h"

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

void attach_append_seconds(GString *out, uint64_t ns)
{
	digits_append(out, ns / NS_PER_S, 1);
	g_string_append_c(out, '.');
	digits_append(out, ns % NS_PER_S / NS_PER_US, 6);
}

void attach_append_spent(GString *out, const struct attach_record *r)
{
	if (!r->has_entry || !(r->status & (CALL_SUCCESSFUL | CALL_FAILED)))
		return;
	g_string_append(out, " <");
	attach_append_seconds(out, r->duration_ns);
	g_string_append_c(out, '>');
}

char *attach_record_text(const struct attach_record *r)
{
	static const char *const marks[] = {
		[ATTACH_SIGNAL] = "---", [ATTACH_NEW] = "+++",  [ATTACH_GONE] = "+++",
		[ATTACH_SCHED] = "~~~",  [ATTACH_LOST] = "!!!",
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
