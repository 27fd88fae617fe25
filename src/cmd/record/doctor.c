/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop doctor`: what a machine needs for being traced and does not have, and the commands that install it. */
#include "cmd/record/doctor.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/fail.h"
#include "control/checks.h"
#include "control/facts.h"
#include "control/plan.h"

void doctor_print(FILE *out, const GPtrArray *checks, bool only_missing)
{
	char text[TEXT_MAX + 1];

	for (guint i = 0; i < checks->len; i++) {
		const struct check *c = g_ptr_array_index(checks, i);

		if (only_missing && c->state != CHECK_MISSING)
			continue;
		text_sanitise(text, sizeof(text), c->text, strlen(c->text));
		fprintf(out, "  %-8s %-15s %s\n", check_state_name(c->state), c->name, text);
		if (!c->remedy)
			continue;
		text_sanitise(text, sizeof(text), c->remedy, strlen(c->remedy));
		fprintf(out, "  %-8s %-15s -> %s\n", "", "", text);
	}
}

/* Returns whether the machine can be traced. host NULL: this one. */
static bool examine(const char *host)
{
	GHashTable *facts = facts_ask(host);
	char name[TEXT_MAX + 1];
	GPtrArray *checks;
	bool pass;

	if (!facts)
		return cmd_fail(LT_EXIT_FAILURE, "doctor") == LT_EXIT_OK;
	checks = checks_make(facts, !host);
	pass = checks_pass(checks);
	text_sanitise(name, sizeof(name), host ? host : g_get_host_name(), strlen(host ? host : g_get_host_name()));
	printf("%s: %s\n", name, pass ? "can be traced" : "cannot be traced yet");
	doctor_print(stdout, checks, false);
	g_ptr_array_free(checks, TRUE);
	g_hash_table_destroy(facts);
	return pass;
}

int cmd_doctor(const struct options *o)
{
	bool pass = true;

	if (o->words->len) {
		error_set("unexpected argument '%s': use --host for other machines",
			  (const char *)g_ptr_array_index(o->words, 0));
		return cmd_fail(LT_EXIT_USAGE, "doctor");
	}
	for (guint i = 0; i < o->doctor_host->len; i++)
		if (record_host_check(g_ptr_array_index(o->doctor_host, i)))
			return cmd_fail(LT_EXIT_USAGE, "doctor");
	if (!o->doctor_host->len)
		pass = examine(NULL);
	for (guint i = 0; i < o->doctor_host->len; i++)
		pass &= examine(g_ptr_array_index(o->doctor_host, i));
	return pass ? LT_EXIT_OK : LT_EXIT_FAILURE;
}
