/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `lttngtop record --help` and its man page have beyond the options: the sets, notes. */
#include "cmd/commands.h"
#include "control/commands.h"
#include "control/sets.h"

static void help_sets(struct help *h)
{
	static const char *const meanings[RECORD_SETS] = {
		[RECORD_SET_MINIMAL] = "CPU time and processes",
		[RECORD_SET_WAITS] = ("what is in minimal, and what a thread may wait for: other threads, interrupts, "
				      "timers, disks, the network"),
		[RECORD_SET_FULL] = "what is in waits, and system calls: everything the panes show",
		[RECORD_SET_NONE] = "nothing of the kernel but what --event and --kprobe name",
	};

	for (unsigned i = 0; i < RECORD_SETS; i++)
		help_item(h, record_set_name((enum record_set)i), meanings[i]);
}

/* What a set has beyond the smaller ones. */
static void help_set(struct help *h, enum record_set set)
{
	char *title = g_strdup_printf("--set %s", record_set_name(set));
	unsigned n;
	const struct record_set_event *events = record_set_events(&n);
	const struct record_set_context *contexts;

	help_subsection(h, title);
	g_free(title);
	for (unsigned i = 0; i < n; i++) {
		char *text;

		if (events[i].set != set)
			continue;
		text = g_strdup_printf("%s: %s", record_cost_text(events[i].cost), events[i].meaning);
		help_item(h, events[i].kind == RECORD_SYSCALLS ? "all system calls" : events[i].name, text);
		g_free(text);
	}
	contexts = record_set_contexts(&n);
	for (unsigned i = 0; i < n; i++) {
		char *term, *text;

		if (contexts[i].set != set)
			continue;
		term = g_strdup_printf("context %s", contexts[i].name);
		text = g_strdup_printf("%u bytes of each event: %s", contexts[i].bytes, contexts[i].meaning);
		help_item(h, term, text);
		g_free(term);
		g_free(text);
	}
}

static const struct {
	const char *title;
	const char *text;
} notes[] = {
	{ "What it needs",
	  "A session daemon. If none answers, one is started as the lttng tool does it, and ended again after "
	  "a COMMAND; --no-sessiond prevents that. The kernel is traced by root's daemon only, for root and "
	  "the members of the group 'tracing', and needs lttng-modules. Programs instrumented with lttng-ust "
	  "can be traced by everybody. With --host, the lttng tool there, tar unless it streams, and ssh to it "
	  "without questions." },
	{ "Other hosts",
	  "With --live they stream to a relayd. Without, each records into " COMMANDS_REMOTE_DIR
	  " of its own; when the "
	  "COMMAND has ended, or with 'record stop', that is fetched into a directory for each host below --output and "
	  "removed there. 'record snapshot' fetches the snapshots likewise." },
	{ "State dumps",
	  "A monitor that attaches to a live session sees what comes from then on; the threads, files and devices "
	  "that were there before are known from a state dump only. With --live it is repeated 5 s after the start, "
	  "and then every --statedump-period, by a process which ends with the session, within a second of it; on "
	  "other hosts by a shell within 5 s. 'record refresh' repeats it at once, also of a flight recorder." },
	{ "Cost",
	  "Before it records the kernel of this machine, an estimate is printed of events and bytes per second, from "
	  "what /proc counted during 200 ms. Under a steady load it is right within a factor of 2.5, and rather too "
	  "high, since tracing slows the load down. System calls, which dominate the set full on many machines, are "
	  "counted nowhere. After a recording on disk its size is printed, and the CPU time of LTTng's consumer "
	  "daemons meanwhile (of all sessions they have); 'lttngtop report events' counts the events." },
	{ "What a tracer lacks",
	  "Tracepoints and contexts of a set that the kernel or its lttng-modules do not have are left out with a "
	  "warning that says what will be missing, also on other hosts; one asked for by name is an error." },
	{ "Known faults",
	  "What is known to crash or hang a kernel is refused before anything is enabled, also on other hosts; "
	  "--unsafe turns that into a warning. The context 'prio': lttng-modules 2.13.0 to 2.13.10 crash the kernel "
	  "with it; "
	  "scheduling events carry priorities anyway. Perf counters that the machine does not have, for example "
	  "hardware counters in most virtual machines; over ssh, also those that its kernel does not list below "
	  "/sys/bus/event_source/devices. Perf counters together with tracepoints of CPU hotplug." },
	{ "Perf counters",
	  "Do not take CPUs on or off line while a session with perf counters exists: that can hang the kernel. Each "
	  "counter adds 8 bytes to every event." },
	{ "Limits to processes",
	  "--pid, --vpid and --track-command keep the events that happen while one of these processes runs. "
	  "Figures of CPUs, interrupts and of all other processes are then incomplete, and so are waits. "
	  "Processes they start are not followed." },
	{ "Flight recorder",
	  "With --snapshot the buffers are overwritten for ever: --buffer-size bounds how far back a snapshot "
	  "reaches. It begins in the middle of everything, and the state dump of the start is soon "
	  "overwritten. With a COMMAND one snapshot is taken when it ends." },
};

void cmd_record_help(struct help *h)
{
	help_section(h, "Sets");
	help_sets(h);
	if (h->brief)
		return;
	for (unsigned i = RECORD_SET_MINIMAL; i < RECORD_SETS; i++)
		help_set(h, (enum record_set)i);
	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
		help_section(h, notes[i].title);
		help_paragraph(h, notes[i].text);
	}
}
