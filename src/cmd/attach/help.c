/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the manual of lttngtop attach that explains its output. */
#include "attach/calls.h"
#include "cli/commands.h"
#include "cli/manual_items.h"

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

static void help_json(struct help *h)
{
	static const struct manual_item keys[] = {
		{ "event",
		  "call: a system call; signal: a signal was delivered; attached: this thread is followed from now on; "
		  "exit: it exited; sched: with --sched; lost: events were lost; summary: see below" },
		{ "ts_ns", "when it happened, in corrected time; for a call: when it returned" },
		{ "host, tid, pid, comm",
		  "the thread; pid and comm are null if unknown, and with tid for lost events" },
		{ "text", "for everything except calls: the line that is printed without --json" },
		{ "name", "the call, by the tracer's name" },
		{ "args", "its arguments by name, as strings; null: not recorded" },
		{ "status", "as for -e status: successful, failed, unfinished or unavailable" },
		{ "ret", "the number that the kernel returned, such as -2; null if it did not return" },
		{ "result", "what is printed after '=', such as '-1 ENOENT (No such file or directory)'" },
		{ "error", "name of the error, such as ENOENT; null: none" },
		{ "begin_ns", "when it started, in corrected time; null, like the next two, if before the recording" },
		{ "duration_ns",
		  "how long it took by the clock of its host, which can differ slightly from ts_ns minus "
		  "begin_ns; null, like the next, for rt_sigreturn and sigreturn, which end when they start" },
		{ "off_cpu_ns",
		  "how much of that the thread was not on a CPU, by the same clock; in waits, which are in "
		  "corrected time, that can differ slightly" },
		{ "waits",
		  "what happened meanwhile, as an array of segments in order of time: the critical path of the "
		  "call, in corrected time. It is empty if the call did not wait or with --no-waits" },
		{ "cpu, events, packets",
		  "lost: how many events or packets of events of that CPU, between begin_ns and ts_ns" },
		{ NULL, NULL },
	};
	static const struct manual_item of_waits[] = {
		{ "begin_ns, end_ns", "start and end of the segment; together the segments cover the call" },
		{ "state, cause, cause_tid, wire", "as in table critical-path of lttngtop-report(1)" },
		{ "host, tid, comm",
		  "the thread whose time it is: the caller's own, or one that the caller waited for; "
		  "tid 0: the idle task, -1: interrupts" },
		{ NULL, NULL },
	};

	help_section(h, "JSON");
	help_paragraph(h, "With --json each call or other event is an object on a line of its own, such as (here on "
			  "several lines, and with one segment of nine):");
	help_example(h, "{\"event\":\"call\",\"ts_ns\":1795183629801133906,\"host\":\"db\",\n"
			" \"tid\":719,\"pid\":719,\"comm\":\"postgres\",\n"
			" \"name\":\"fdatasync\",\"args\":{\"fd\":\"24\"},\n"
			" \"status\":\"successful\",\"ret\":0,\"result\":\"0\",\"error\":null,\n"
			" \"begin_ns\":1795183629795669762,\"duration_ns\":5463767,\"off_cpu_ns\":2089604,\n"
			" \"waits\":[{\"begin_ns\":1795183629796224040,\"end_ns\":1795183629797020048,\n"
			"           \"state\":\"block_device\",\"host\":\"db\",\"tid\":719,\"comm\":\"postgres\",\n"
			"           \"cause_tid\":null,\"cause\":\"vda\",\"wire\":false}]}");
	manual_print_items(h, keys);
	help_subsection(h, "Segments in waits");
	manual_print_items(h, of_waits);
	help_paragraph(
		h, "With -c or -C the last object is {\"event\":\"summary\",\"calls\":[…]}, with an object for each "
		   "system call: its name, calls and errors (how many there were), total_ns, cpu_ns (the part of "
		   "total_ns on a CPU), min_ns and max_ns (null if no call has a known duration). As in strace, a new "
		   "thread's return from the clone() of its parent is not a call of its own.");
}

void cmd_attach_help(struct help *h)
{
	static const struct {
		const char *term, *text;
	} marks[] = {
		{ "read(5, 0x7f…, 8192) = 8192",
		  "a call: its arguments in the order of its prototype, and its result. Buffers and most structures "
		  "are not recorded; they are shown by their address" },
		{ "<unfinished ...>, <... read resumed>",
		  "another thread's line was printed in between; or, without the other half, the call had not "
		  "returned at the end, or had started before the recording or --begin" },
		{ "[blocked 4.1 ms on vda, cpu 22 us]",
		  "after a call that waited: what it waited for, and who ended the wait; the parts add up to the "
		  "duration of the call" },
		{ "[ready 3.1 ms, preempted by NAME/TID], [ready 3.1 ms while NAME/TID ran]",
		  "the thread was ready to run, after it had lost the CPU or had been woken; NAME is the one that ran "
		  "longest on its CPU meanwhile" },
		{ "[network 0.9 ms; db: postgres/733 30.0 ms]",
		  "time on the wire, and time in which a thread of another host worked for this one; 'web: CPU 0 506 "
		  "us': in which interrupts on CPU 0 of web did, for example received its packets" },
		{ "--- SIGTERM {…} ---", "a signal was delivered" },
		{ "+++ exited with 0 +++", "the thread exited; +++ child of 812 +++: this thread is followed from now "
					   "on" },
		{ "~~~ switched out … ~~~", "a line added by --sched" },
		{ "!!! 812 events lost on CPU 1 in the last 0.001234 s !!!",
		  "events of that CPU were lost, and calls may be missing above; a call in progress on that CPU is "
		  "shown without its end, which may be among the lost events. With -ff a file says only that events of "
		  "its host were lost since its last line" },
	};

	if (h->brief)
		return;
	help_section(h, "Output");
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		help_item(h, marks[i].term, marks[i].text);
	help_paragraph(
		h, "Calls have the names that strace prints. JSON has the tracer's, as other reports do: newfstat for "
		   "fstat. -e accepts both.");
	help_json(h);
	help_classes(h);
	help_section(h, "Options of strace that are not supported");
	manual_print_refused(h, COMMAND_ATTACH);
}
