/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the manual of lttngtop attach that explains its output. */
#include "attach/calls.h"
#include "cmd/commands.h"
#include "cmd/manual.h"

/* The classes of -e trace=%CLASS. */
static void help_classes(struct help *h)
{
	GString *text = g_string_new("-e trace=%CLASS selects the system calls that strace(1) has in the class of that "
				     "name:");

	for (unsigned i = 0; calls_class_name(i); i++)
		g_string_append_printf(text, "%s %%%s", i ? "," : "", calls_class_name(i));
	g_string_append_c(text, '.');
	help_section(h, "Classes of system calls");
	help_paragraph(h, text->str);
	g_string_free(text, TRUE);
}

void cmd_attach_help(struct help *h)
{
	static const struct {
		const char *term, *text;
	} marks[] = {
		{ "read(5, 0x7f…, 8192) = 8192",
		  "a call: its arguments in the order of its prototype, and its result. Buffers and most structures "
		  "are not recorded; they are shown by their address" },
		{ "<unfinished ...>, <... read resumed>", "another thread's line was printed in between" },
		{ "[blocked 4.1 ms on vda, cpu 22 us]",
		  "after a call that waited: what it waited for, and who ended the wait; the parts add up to the "
		  "duration of the call" },
		{ "[ready 3.1 ms, preempted by NAME/TID]",
		  "the thread was ready to run; NAME is the one that ran longest on its CPU meanwhile" },
		{ "[network 0.9 ms; db: postgres/733 30.0 ms]",
		  "time on the wire, and time in which a thread of another host worked for this one" },
		{ "--- SIGTERM {…} ---", "a signal was delivered" },
		{ "+++ exited with 0 +++", "the thread exited; +++ child of 812 +++: this thread is followed from now "
					   "on" },
		{ "~~~ switched out … ~~~", "a line added by --sched" },
	};

	if (h->brief)
		return;
	help_section(h, "Output");
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		help_item(h, marks[i].term, marks[i].text);
	help_paragraph(
		h, "Calls have the names that strace prints. JSON has the tracer's, as other reports do: newfstat for "
		   "fstat. -e accepts both.");
	help_classes(h);
	help_section(h, "Options of strace that are not supported");
	manual_print_refused(h, COMMAND_ATTACH);
}
