/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of `lttngtop record --help` and its man page that follows the options: sets and notes. */
#include "cli/commands.h"
#include "control/commands.h"
#include "control/sets.h"

static void help_sets(struct help *h)
{
	static const char *const meanings[RECORD_ALL_SETS] = {
		[RECORD_SET_MINIMAL] = "CPU time and processes. Leaves out waits, I/O, files, devices and system calls",
		[RECORD_SET_WAITS] = ("everything in minimal, and the causes of waits: other threads, interrupts, "
				      "timers, disks, the network. Leaves out system calls, and so I/O and files"),
		[RECORD_SET_FULL] =
			"everything in waits, and system calls: all that the monitor shows, except what the "
			"additions, --perf, --kprobe and --ust record",
		[RECORD_SET_NONE] = "no kernel events except those named by --event and --kprobe",
		[RECORD_SET_MEMORY] = "an addition to any set, as in --set waits,memory: page allocations and page "
				      "faults. A program that allocates a lot can cause more of these events than "
				      "the whole of full. Since Linux 6.0, page allocations need modules built with "
				      "the kernel's full sources: with its headers alone, as by DKMS, only page "
				      "faults are recorded",
		[RECORD_SET_FREQUENCY] = "an addition: changes of CPU frequencies. Depending on the governor they are "
					 "rare, or as frequent as context switches",
		[RECORD_SET_WORK] = "an addition: work items, which threads queue for kernel threads (kworker). With "
				    "them a critical path continues from a kworker to the thread that it works for",
	};

	for (unsigned i = 0; i < RECORD_ALL_SETS; i++)
		help_item(h, record_set_name((enum record_set)i), meanings[i]);
}

/* The events that a set adds to the smaller ones, or that an addition has. */
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
		text = g_strdup_printf("%s; recorded %s", events[i].meaning, record_cost_text(events[i].cost));
		help_item(h, events[i].kind == RECORD_SYSCALLS ? "all system calls" : events[i].name, text);
		g_free(text);
	}
	contexts = record_set_contexts(&n);
	for (unsigned i = 0; i < n; i++) {
		char *term, *text;

		if (contexts[i].set != set)
			continue;
		term = g_strdup_printf("context %s", contexts[i].name);
		text = g_strdup_printf("%s; %u bytes per event", contexts[i].meaning, contexts[i].bytes);
		help_item(h, term, text);
		g_free(term);
		g_free(text);
	}
}

static const struct {
	const char *title;
	const char *text;
} notes[] = {
	{ "Requirements",
	  "A session daemon: if none is running, record starts one as the lttng tool would, and stops it after "
	  "COMMAND; --no-sessiond prevents that. --live needs a running relayd, which 'lttng-relayd -d' starts. Only "
	  "root's daemon traces the kernel, only for root and members of the group "
	  "'tracing', and it needs lttng-modules. Anyone can trace programs instrumented with lttng-ust. --host needs "
	  "the lttng tool on that host, tar unless it streams, and an ssh login that asks no questions." },
	{ "If lttngtop is killed",
	  "A session with a COMMAND normally ends with it. If lttngtop is killed by SIGKILL, the session continues "
	  "until the next 'lttngtop record' or --local of the same user on this machine, with the same LTTNG_HOME and "
	  "XDG_RUNTIME_DIR, which ends it; a recording to disk is complete up to then. Sessions on other hosts are not "
	  "ended in this way: 'record status --host HOST' lists them." },
	{ "Other hosts",
	  "A host whose tracing cannot be started is named and left out; the others are recorded. One that does not "
	  "answer within 10 s is named, and waited for. "
	  "With --live, hosts stream to a relayd, for which each of them needs a hostname ('uname -n') of its own: if "
	  "two share one, nothing is recorded, nor if one machine is given under two names. Without --live, each "
	  "records into " COMMANDS_REMOTE_DIR
	  " of its own. When COMMAND ends, or on 'record stop', the recordings are fetched into one directory per host "
	  "below --output and removed from the hosts. 'record snapshot' fetches snapshots in the same way. A host that "
	  "cannot be reached then, or whose recording cannot be stored, keeps it and does not hold up the others; "
	  "'record stop' with that host, --output and the session's name fetches it later. Until then the host accepts "
	  "no other recording of that name." },
	{ "State dumps",
	  "A monitor that attaches to a live session receives only events from then on; it knows older threads, files "
	  "and devices from a state dump. With --live the dump is repeated 5 s after the start and then every "
	  "--statedump-period, by a background process that ends within a second of the session, or within 5 s on "
	  "other hosts, where it is a shell script. 'record refresh' repeats the dump at once, for a flight recorder "
	  "too. A thread whose exit was among lost events is shown until a dump does not list it and another one "
	  "starts." },
	{ "Cost",
	  "Before recording this machine's kernel, lttngtop prints an estimate of events and bytes per second, from "
	  "counters in /proc over 200 ms, and how many events per second there would have been in the quietest and in "
	  "the busiest quarter of that time. If the load does not change afterwards, the estimate is "
	  "within a factor of 2.5, and tends to be too high, because tracing slows the load down and interrupts "
	  "between CPUs are counted but not recorded. It excludes system calls, which dominate the set full on "
	  "many machines, because the kernel does not count them. After a recording to disk, lttngtop prints the "
	  "number of its events ('more than' that many if counting them would take more than 10 s), its size, and the "
	  "CPU time that LTTng's consumer daemons used meanwhile, for all sessions; what tracing costs the traced "
	  "programs is not included. Lost events are reported, too." },
	{ "Missing events",
	  "If the kernel or its lttng-modules lack a tracepoint or context of a set, it is left out, with a warning "
	  "that says which figures will be missing; the same goes for other hosts. If it was requested by name, that "
	  "is an error." },
	{ "Known faults",
	  "Whatever is known to crash or hang a kernel is refused before anything is enabled, on other hosts too; "
	  "--unsafe turns this into a warning. This concerns the context 'prio', which crashes the kernel with "
	  "lttng-modules 2.13.0 to 2.13.10 (scheduling events contain priorities anyway); perf counters that the "
	  "machine does not have, such as hardware counters in most virtual machines, and over ssh also those that its "
	  "kernel does not list in /sys/bus/event_source/devices; and perf counters together with CPU hotplug "
	  "tracepoints. One fault lttngtop cannot avoid: when a session ends, lttng-modules (2.13 to 2.16) frees its "
	  "channels, although LTTng's consumer may still ask for their numbers, as it does once per --live period. In "
	  "tests with live sessions on virtual machines this crashed a kernel once (Linux 7.2, lttng-modules 2.16)." },
	{ "Perf counters",
	  "Do not hotplug CPUs while a session with perf counters exists: the kernel may hang. Each counter adds 8 "
	  "bytes to every event." },
	{ "Selecting processes",
	  "--pid, --vpid and --track-command record only the events that occur while one of these processes runs. "
	  "Figures of CPUs, interrupts and all other processes are then incomplete, and so are waits. Child processes "
	  "are not included." },
	{ "Flight recorder",
	  "With --snapshot the buffers are continuously overwritten, so --buffer-size limits how far back a snapshot "
	  "reaches. A snapshot starts in the middle of ongoing activity, and the state dump from the start of the "
	  "session is soon overwritten. With a COMMAND, one snapshot is taken when COMMAND ends." },
};

void cmd_record_help(struct help *h)
{
	help_section(h, "Sets");
	help_sets(h);
	if (h->brief)
		return;
	for (unsigned i = RECORD_SET_MINIMAL; i < RECORD_ALL_SETS; i++)
		help_set(h, (enum record_set)i);
	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
		help_section(h, notes[i].title);
		help_paragraph(h, notes[i].text);
	}
}
