/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/manual.h"

#include <stdbool.h>

#include "cmd/commands.h"
#include "config.h"

struct item {
	const char *term;
	const char *text;
};

static const struct item monitor_environment[] = {
	{ "TZ", "the time zone of times without --utc" },
	{ "NO_COLOR", "if set and not empty, the monitor uses no colours" },
	{ "LC_ALL, LC_CTYPE, LANG", "whether the terminal understands UTF-8" },
	{ "XDG_RUNTIME_DIR",
	  "where --local keeps what it needs, in the directory lttngtop; for root that is /run/lttngtop" },
	{ "XDG_CACHE_HOME",
	  "where the cache is, in the directory lttngtop; by default ~/.cache. A recording of 8 MiB or more that was "
	  "read completely is kept there, and opened at once the next time; where the recording, the program or an "
	  "option is different it is read as the first time" },
	{ NULL, NULL },
};

static const struct item record_exit_statuses[] = {
	{ "0", "success" },
	{ "1", "it could not be done, stderr says why" },
	{ "2", "wrong usage" },
	{ "with a COMMAND",
	  "the command's own; 126 if it cannot be run, 127 if there is none; 128+n if signal n ended it" },
	{ NULL, NULL },
};

static const struct item record_environment[] = {
	{ "LTTNG_HOME", "where a user's session daemon and recordings live, by default the home directory" },
	{ "LTTNG_SESSIOND_PATH", "the session daemon that is started if none answers, by default lttng-sessiond" },
	{ "TZ", "the time zone of the date in a session's name" },
	{ NULL, NULL },
};

static const struct item record_files[] = {
	{ "DIRECTORY/lttngtop.json",
	  "what a trace cannot hold, in the directory of the session or of a host below --output: command lines, "
	  "programs, users and cgroups of processes, the cgroups of containers (by the inode of their pid or cgroup "
	  "namespace), names of users, disks and interfaces, the topology of the CPUs, the kernel's release, "
	  "the boot, the state of the clock, addresses of the kernel functions that are probed (key D shows their "
	  "names). It is written at the start and updated at the end, on other hosts by a shell; processes that came "
	  "and went in between are not in it. lttngtop shows the names when it reads the recording, and works without "
	  "the file. "
	  "A relayd takes traces only: a live session has the same as events 'lttng_ust_tracef:event' in a channel "
	  "'messages', where liblttng-ust is installed, as parts of such a file behind 'lttngtop.json '; one of --host "
	  "has what a shell there finds, behind 'lttngtop.list', as events 'lttng_logger' of the kernel, or where only "
	  "programs are traced of a python3. They come "
	  "at the start, for new processes within 5 s, and again with each state dump (--statedump-period, record "
	  "refresh). Command lines "
	  "may be private: edit or remove the file before you pass a recording on" },
	{ NULL, NULL },
};

static const struct item list_exit_statuses[] = {
	{ "0", "success, also if the relayd has no sessions" },
	{ "1", "nothing answers there, or not in time, or there is no such session; stderr says which" },
	{ "2", "wrong usage" },
	{ NULL, NULL },
};

static const struct item list_environment[] = {
	{ "LC_ALL, LC_CTYPE, LANG", "how wide the characters of a name are" },
	{ NULL, NULL },
};

static const struct item feed_exit_statuses[] = {
	{ "0", "everything was fed" },
	{ "1", "no trace could be read, or the relayd failed; stderr says why" },
	{ "2", "wrong usage" },
	{ "3", "fed, but something of the recordings is damaged or missing; stderr says what" },
	{ "128+n", "ended by signal n; the sessions were closed in order" },
	{ NULL, NULL },
};

static const struct item feed_environment[] = {
	{ "LC_ALL, LC_CTYPE, LANG", "how names with other than ASCII characters are shown" },
	{ NULL, NULL },
};

static const struct item doctor_exit_statuses[] = {
	{ "0", "each machine can be traced now; there may be warnings" },
	{ "1", "something is missing on a machine, or it cannot be asked" },
	{ "2", "wrong usage" },
	{ NULL, NULL },
};

static const struct item doctor_environment[] = {
	{ "LTTNG_SESSIOND_PATH", "the session daemon that 'lttngtop record' would start, by default lttng-sessiond" },
	{ NULL, NULL },
};

static const struct page {
	enum command_bit command;
	const char *man_name;
	const char *summary;
	const char *synopsis[12];
	const char *description[6];
	void (*tables)(struct help *h); /* NULL: none */
	struct item examples[7];
	const char *see_also;
	const struct item *exit_status; /* NULL: those of all who read; so environment */
	const struct item *environment;
	const struct item *files; /* NULL: none */
	bool no_times;
	bool filters; /* it knows them */
} pages[] = {
	{
		.command = COMMAND_MONITOR,
		.man_name = "lttngtop",
		.filters = true,
		.summary = "a monitor of the kernel activity of many hosts, from LTTng traces",
		.synopsis = {"lttngtop [OPTIONS] SOURCE...", "lttngtop [--local] [OPTIONS] [-- COMMAND]",
			     "lttngtop report TABLE [OPTIONS] SOURCE...",
			     "lttngtop attach -p [HOST:]TID... [OPTIONS] SOURCE...",
			     "lttngtop list [URL]", "lttngtop record [OPTIONS] [-- COMMAND]",
			     "lttngtop feed --to URL [OPTIONS] TRACE...", "lttngtop doctor [--host USER@HOST]...",
			     "lttngtop cluster --host USER@HOST... [OPTIONS]",
			     "lttngtop help [COMMAND]"},
		.description =
			{"Shows what the threads of one or many hosts do: CPU time, I/O, open files, counters. "
			 "Every figure comes from the events of a kernel trace, so nothing short-lived is missed, and "
			 "every instant of the past can be looked at again.",
			 "A SOURCE is a directory; every CTF trace found below it is opened. Traces of one host "
			 "are shown together, several sources and hosts side by side. Or it is a live session of a "
			 "lttng-relayd, net://HOST[:PORT]/host/TARGET/SESSION, or with net://HOST[:PORT] all that it "
			 "has. An IPv6 address stands in brackets; net4: and net6: use only one kind of address.",
			 "With --local this machine is traced while it is shown, or while COMMAND runs: a relayd "
			 "of its own on the loopback and, if none runs, a session daemon are started, and "
			 "everything is ended and removed when the monitor is left, in whatever way. What the "
			 "relayd stores is about 256 MiB at most, and at most half of what is free in /run; "
			 "where that is too little for the buffers, it is up to 1 GiB in /var/tmp. "
			 "System calls of lttngtop and LTTng's daemons are left out, the CPU time they take is "
			 "shown, their names in a colour of their own. A COMMAND ends with the monitor; what it "
			 "writes is printed then. Without SOURCE the live sessions of the relayd on this machine "
			 "are shown if there are any, chosen from a list where there are several; else it is "
			 "--local.",
			 "'lttngtop report' prints the same figures as text, CSV or JSON; 'lttngtop attach' shows what "
			 "threads do as strace does; 'lttngtop record' sets up "
			 "the tracing; 'lttngtop list' shows which live sessions a relayd offers; 'lttngtop feed' "
			 "replays recordings as live sessions; 'lttngtop doctor' finds out what a machine lacks for "
			 "being traced."},
		.tables = cmd_monitor_help,
		.examples =
			{
				{"sudo lttngtop", "this machine, now"},
				{"sudo lttngtop -- make", "this machine while make runs"},
				{"lttngtop recording/", "replay a recording at its own speed"},
				{"lttngtop --begin +5s --speed 0.1 web/ db/",
				 "two hosts, from the sixth second on, ten times slower"},
			},
		.see_also = "lttngtop-report(1), lttngtop-attach(1), lttngtop-list(1), lttngtop-record(1), "
			    "lttngtop-feed(1), lttngtop-doctor(1), lttng(1), babeltrace2(1)",
		.environment = monitor_environment,
	},
	{
		.command = COMMAND_REPORT,
		.man_name = "lttngtop-report",
		.summary = "figures of LTTng kernel traces for scripts and pipes",
		.synopsis = {"lttngtop report TABLE [OPTIONS] SOURCE...",
			     "lttngtop report TABLE --local [OPTIONS] [-- COMMAND]"},
		.description =
			{"Prints a table of figures: of the whole recording, of the part from --begin to --end, or "
			 "with --interval one for each interval of it. Rows whose figures are all 0 in the "
			 "interval are left out. 1000 or more intervals in a row without any event are written as one, "
			 "marked \"no events\", in JSON \"gap\": true.",
			 "Text has the rows with the greatest figures first and ends with the total of each host; JSON "
			 "and CSV have them in the order of host and key. --sort, --limit and --columns choose another "
			 "order, fewer rows and other columns, also those that are otherwise on the screen only. The "
			 "unit of a column may be left out: 'total' for 'total_ns'.",
			 "Times are ns since the epoch (UTC) in JSON and CSV, durations ns, sizes bytes. "
			 "An unknown value is null in JSON, empty in CSV.",
			 "Of live sessions (net://HOST/host/TARGET/SESSION) a report is of what comes until they end, "
			 "--duration is over or it is interrupted. A relayd tells its viewers only that a session has "
			 "ended: that its tracer was killed looks like its end, and is no failure here.",
			 "With --local it is of this machine, see lttngtop(1), for --duration or while COMMAND runs."},
		.filters = true,
		.tables = cmd_report_help,
		.examples =
			{
				{"lttngtop report cpu recording/", "CPU time of every thread"},
				{"lttngtop report syscalls --sort max --limit 10 recording/",
				 "the ten slowest system calls"},
				{"lttngtop report io --where 'comm:nginx !tid:812 write>1M' recording/",
				 "threads of nginx but 812 that wrote more than a MiB"},
				{"lttngtop report cpu --sum-by comm --limit 5 recording/",
				 "CPU time of the busiest programs"},
				{"lttngtop report io --interval 1s --csv recording/", "I/O per second"},
				{"sudo lttngtop report cpu --local --duration 10s", "of this machine, the next 10 s"},
				{"lttngtop report files --comm 'nginx*' --json recording/", "files of one program"},
			},
		.see_also = "lttngtop(1)",
	},
	{
		.command = COMMAND_ATTACH,
		.man_name = "lttngtop-attach",
		.summary = "the system calls of chosen threads as text, like strace",
		.synopsis = {"lttngtop attach [-p [HOST:]TID]... [-n GLOB]... [OPTIONS] SOURCE...",
			     "lttngtop attach [OPTIONS] -- COMMAND"},
		.description =
			{"Writes what threads do as strace does, a line per system call, from LTTng kernel traces: "
			 "recordings, whole or from --begin to --end, or live sessions. The programs are not stopped "
			 "or slowed down, and threads of several hosts stand in the order of their corrected times.",
			 "Behind a call that waited stands what strace cannot know: what the thread waited for, who "
			 "ended that, and which thread ran instead.",
			 "The tracer records names and numbers of a call's arguments, not what is in buffers and most "
			 "structures: these are shown by their address.",
			 "With -f the children of a thread and the other threads of its process are followed, too. "
			 "Threads chosen by name (-n) may come later. What is written goes to the standard "
			 "output, or to the FILE of -o.",
			 "With a COMMAND this machine is traced while it runs, which needs root or the group tracing, "
			 "and LTTng's kernel modules; 'lttngtop doctor' finds out what is missing. A relayd of its own "
			 "on the loopback and, if none runs, a session daemon are started; COMMAND waits until the "
			 "tracing has started, and when it has ended, or lttngtop has, in whatever way, everything "
			 "is ended and removed. COMMAND keeps the standard input and output and the terminal, whose ^C "
			 "it receives; the text goes to the standard error, or to the FILE of -o. Without -f only "
			 "system calls of COMMAND's own process are recorded; with -f those of all processes, as the "
			 "tracer does not follow children, and those of COMMAND and its children are shown. "
			 "Switches and wake-ups of all threads are recorded in any case: waits are explained by them. "
			 "The exit status is that of COMMAND, 128+n if signal n ended it."},
		.tables = cmd_attach_help,
		.examples =
			{
				{"lttngtop attach -p 812 recording/", "strace -p 812"},
				{"lttngtop attach -f -p web:812 -e trace=%network -yy net://monitor",
				 "strace -f -e trace=%network -yy -p 812, of the host web, live"},
				{"lttngtop attach -n 'postgres*' --waits 10ms -T recording/",
				 "why calls of the database took longer than 10 ms"},
				{"lttngtop attach -c -S calls -n nginx recording/", "strace -c -S calls"},
				{"lttngtop attach -n '*' -P '/etc/*' -Z recording/",
				 "all calls on files in /etc that failed"},
				{"lttngtop attach -ff -tt -o /tmp/make -n make recording/",
				 "strace -ff -tt -o /tmp/make make"},
				{"sudo lttngtop attach -f -o /tmp/make.txt -- make", "strace -f -o /tmp/make.txt make"},
			},
		.see_also = "lttngtop(1), lttngtop-report(1), lttngtop-record(1), lttngtop-doctor(1), strace(1)",
	},
	{
		.command = COMMAND_RECORD,
		.man_name = "lttngtop-record",
		.summary = "set up LTTng tracing with the events that lttngtop needs",
		.synopsis = {"lttngtop record [OPTIONS] [-- COMMAND]",
			     "lttngtop record stop|status|snapshot|refresh [--host USER@HOST]... [--output DIR] "
			     "[SESSION]"},
		.description =
			{"Creates a tracing session with what the monitor's panes need and starts it: into a "
			 "directory, into memory (--snapshot), or to a relayd from which a monitor takes it at once "
			 "(--live). With a COMMAND it records while that runs and then stops.",
			 "'stop' ends a session, what was recorded stays; 'status' tells what sessions there are and "
			 "what they lost; 'snapshot' writes what a flight recorder holds; 'refresh' has the "
			 "state dump repeated, for a monitor that attached late. Without SESSION it is the "
			 "only one that 'record' has named itself.",
			 "What it says goes to the standard output, with a COMMAND to the standard error."},
		.tables = cmd_record_help,
		.examples =
			{
				{"lttngtop record --output /tmp/make -- make",
				 "record the whole machine while make runs"},
				{"lttngtop record --live net://monitor --host root@web --host root@db",
				 "two hosts stream to the relayd on a third"},
				{"lttngtop record --snapshot --set waits --buffer-size 64M",
				 "a flight recorder, to be asked with 'lttngtop record snapshot'"},
				{"lttngtop record --ust 'my_app:*' -- ./my_app", "tracepoints of a program, no kernel"},
				{"lttngtop record --dry-run --set minimal", "the lttng commands for it"},
			},
		.see_also = "lttngtop(1), lttng(1), lttng-sessiond(8), lttng-relayd(8)",
		.exit_status = record_exit_statuses,
		.environment = record_environment,
		.files = record_files,
		.no_times = true,
	},
	{
		.command = COMMAND_LIST,
		.man_name = "lttngtop-list",
		.summary = "hosts and live sessions that an lttng-relayd offers",
		.synopsis = {"lttngtop list [OPTIONS] [URL]"},
		.description =
			{"Asks the lttng-relayd at URL, net://HOST[:PORT], for its sessions; without one the local "
			 "relayd, net://localhost. The port is that for viewers, 5344 if it is not given. A "
			 "session's own URL, net://HOST[:PORT]/host/TARGET/SESSION, asks for that one only.",
			 "The last column is what the monitor takes as a SOURCE."},
		.tables = cmd_list_help,
		.examples =
			{
				{"lttngtop list", "the sessions of the local relayd"},
				{"lttngtop list --json net://monitor:5344", "another's, for scripts"},
			},
		.see_also = "lttngtop(1), lttngtop-record(1), lttng-relayd(8)",
		.exit_status = list_exit_statuses,
		.environment = list_environment,
		.no_times = true,
	},
	{
		.command = COMMAND_FEED,
		.man_name = "lttngtop-feed",
		.summary = "stream recordings into a relayd as live sessions",
		.synopsis = {"lttngtop feed --to net://HOST:CONTROL:DATA [OPTIONS] TRACE..."},
		.description =
			{"Every CTF trace found below TRACE... becomes a live session of a lttng-relayd, as if it "
			 "were being recorded: for demonstrations and for testing whatever views live sessions. The "
			 "traces of one recording of one host (kernel, user space) are one session. All sessions "
			 "share one time origin, so that hosts recorded together stay together, with --sync also "
			 "those whose clocks differ; a session ends with "
			 "its recording, when its viewer has read it.",
			 "Prints the URL of each session, a line each, when it can be viewed; then waits until each "
			 "has a viewer, because a viewer gets only what comes after it.",
			 "All events, losses and clocks arrive as they were recorded, but long packets are cut at "
			 "event boundaries at every tick of the live timer; a packet that is not understood comes "
			 "whole, when it ends.",
			 "The relayd must be of LTTng 2.13 or later, of 2.15 or later for recordings in CTF 2."},
		.examples =
			{
				{"lttngtop feed --to net://localhost --now recording/",
				 "feed all hosts of a recording at their own speed, with the time of today"},
				{"lttngtop feed --to net://localhost:5342:5343 --speed max --no-wait recording/",
				 "only fill the relayd"},
			},
		.see_also = "lttngtop(1), lttngtop-list(1), lttng-relayd(8), babeltrace2(1)",
		.exit_status = feed_exit_statuses,
		.environment = feed_environment,
		.no_times = true,
	},
	{
		.command = COMMAND_DOCTOR,
		.man_name = "lttngtop-doctor",
		.summary = "what a machine lacks for being traced, and the commands that bring it",
		.synopsis = {"lttngtop doctor [--host USER@HOST]..."},
		.description =
			{"Examines this machine, or others over ssh, and changes nothing: permission, the kernel and "
			 "its lttng-modules with their known faults, the tools, the session daemon, the ports of a "
			 "relayd, clock synchronisation, memory for buffers.",
			 "Prints a line for each check: 'ok'; 'warning', which leaves something to be desired; or "
			 "'missing', without which the kernel cannot be traced. Below it, behind '->', the command "
			 "that mends it on that distribution.",
			 "Without lttng-modules the tracepoints of programs can still be recorded: "
			 "see 'lttngtop record --ust'."},
		.examples =
			{
				{"lttngtop doctor", "this machine"},
				{"lttngtop doctor --host root@web --host root@db", "two others"},
			},
		.see_also = "lttngtop(1), lttngtop-record(1), lttng-sessiond(8)",
		.exit_status = doctor_exit_statuses,
		.environment = doctor_environment,
		.no_times = true,
	},
	{
		.command = COMMAND_CLUSTER,
		.man_name = "lttngtop-cluster",
		.summary = "several machines, now, over ssh",
		.synopsis = {"lttngtop cluster --host USER@HOST... [OPTIONS]"},
		.description =
			{"Traces the machines while they are shown: on each a session is set up and started over ssh, "
			 "which also brings its events here (ssh -R), to a relayd of the monitor's own on the "
			 "loopback. Only ssh has to be open, and must not ask for a password.",
			 "When the monitor is left, in whatever way, or a connection breaks, the machines remove "
			 "their sessions themselves. The relayd and what it has stored go with the monitor.",
			 "Each machine needs the lttng tool, a session daemon and lttng-modules: "
			 "'lttngtop doctor --host USER@HOST' finds out."},
		.examples =
			{
				{"lttngtop cluster --host root@web --host root@db", "two machines"},
			},
		.see_also = "lttngtop(1), lttngtop-doctor(1), lttngtop-record(1), ssh(1)",
		.environment = monitor_environment,
	},
};

static const struct item times[] = {
	{ "12:03:05[.nnnnnnnnn]", "the first such time of day at or after the begin of the recording" },
	{ "'2026-11-20 12:03:05'", "a date and time" },
	{ "@1700000000.5", "seconds since the epoch" },
	{ "1700000000500000000ns", "ns since the epoch; \"ns\" may be left out from 16 digits on" },
	{ "+5s, -5s", "relative to the begin, to the end" },
	{ "100ms, 1s, 2m", "durations; the units are ns, us, ms, s, m, h, d" },
};

static const struct item exit_statuses[] = {
	{ "0", "success" },
	{ "1", "a failure at run time; no source could be read at all" },
	{ "2", "wrong usage" },
	{ "3", "read but incomplete: lost or corrupt data, or one of several sources unreadable or broken off; "
	       "stderr says which; the figures were printed" },
	{ "128+n", "ended by signal n" },
	{ "--local with a COMMAND",
	  "the command's own; 143 if it was ended with the monitor, 126 or 127 if it cannot be run" },
	{ NULL, NULL },
};

static const struct item environment[] = {
	{ "TZ", "the time zone of times without --utc" },
	{ "LC_ALL, LC_CTYPE, LANG", "whether the terminal understands UTF-8" },
	{ NULL, NULL },
};

/* What view/filter.h reads. */
static const struct item filters[] = {
	{ "a b, a | b, !a", "both must hold, either, not; parentheses group: '(a | b) !c'" },
	{ "host:GLOB, comm:GLOB", "name of the host, of the thread; without wildcards a part of it" },
	{ "pid:N, tid:N, tree:PID", "a process, a thread, a process with all below it" },
	{ "user:NAME", "user of the process, also by number, where the recording has users" },
	{ "container:NAME", "what runs in it, with '/' behind it also in those nested in it; container:host: in none" },
	{ "state:NAME", "state at the end, as in column state_name of cpu; what was waited for, as in blocking" },
	{ "call:NAME", "a system call, a glob such as 'epoll_*'" },
	{ "file:GLOB, peer:GLOB", "path of the file, address of the peer; without wildcards a part of it" },
	{ "COLUMN>VALUE",
	  "a column of the table, also with < >= <= = !=; values as 5ms, 64k, 12:03:05, yes, texts as globs. What is "
	  "not known compares with nothing" },
	{ "TEXT", "a part of some text of the row; \"in quotes\" what would be read as something else" },
};

/* Their commands, for those who know them. */
static const struct item of_analyses[] = {
	{ "lttng-cputop", "report cpu; of each CPU: report cpus" },
	{ "lttng-iousagetop", "report io --sum-by process; report files --sum-by file; report disks; report net" },
	{ "lttng-iolatencytop", "report syscalls --log --sort length --limit 10; of disks: report disks --log …" },
	{ "lttng-iolatencyfreq", "report disks --freq; report syscalls --sum-by call --freq" },
	{ "lttng-iolatencystats", "report disks; report syscalls --sum-by call" },
	{ "lttng-iolog", "report syscalls --log --where cause=read --min 1ms" },
	{ "lttng-irqstats, lttng-irqfreq, lttng-irqlog", "report irqs, with --freq, with --log" },
	{ "lttng-schedstats, lttng-schedfreq, lttng-schedlog", "report sched, with --freq, with --log" },
	{ "lttng-schedtop", "report sched --log --sort length --limit 10" },
	{ "lttng-syscallstats", "report syscalls; of each process: report syscalls --sum-by process" },
	{ "--gmt, --procname", "mean --utc, --comm" },
	{ NULL, NULL },
};

static void print_items(struct help *h, const char *title, const struct item *items, size_t n)
{
	help_section(h, title);
	for (size_t i = 0; i < n; i++)
		help_item(h, items[i].term, items[i].text);
}

/* The same of a list that ends with NULL. */
static void print_list(struct help *h, const char *title, const struct item *items)
{
	size_t n = 0;

	while (items[n].term)
		n++;
	print_items(h, title, items, n);
}

void manual_print_refused(struct help *h, enum command_bit command)
{
	const struct option_refused *refused;

	for (unsigned i = 0; (refused = options_refused(i)); i++) {
		char *term;

		if (refused->command != command)
			continue;
		term = refused->letter ? g_strdup_printf("-%c, --%s", refused->letter, refused->name)
				       : g_strdup_printf("--%s", refused->name);
		help_item(h, term, refused->reason);
		g_free(term);
	}
}

static void print_options(struct help *h, enum command_bit command)
{
	unsigned n;
	const struct option_row *rows = options_rows(&n);

	help_section(h, "Options");
	if (!h->brief)
		help_paragraph(h, "A long option may be shortened where only one option of the command starts so; it "
				  "takes its argument as the next word or behind '='. Letters may stand together, the "
				  "last one with its argument.");
	for (unsigned i = 0; i < n; i++) {
		const struct option_row *row = &rows[i];
		char *letter, *term, *text;

		if (!(row->commands & command) || !row->help)
			continue;
		letter = row->letter ? g_strdup_printf("-%c, ", row->letter) : g_strdup("");
		term = g_strdup_printf("%s--%s%s%s", letter, row->name, row->argument ? " " : "",
				       row->argument ? row->argument : "");
		text = row->standard ? g_strdup_printf("%s (default %s)", row->help, row->standard)
				     : g_strdup(row->help);
		help_item(h, term, text);
		g_free(letter);
		g_free(term);
		g_free(text);
	}
}

static void print_head(struct help *h, const struct page *page)
{
	char *name;

	if (h->form == HELP_MAN) {
		name = g_ascii_strup(page->man_name, -1);
		fprintf(h->out, ".\\\" Written by 'make man' from the tables of the program.\n");
		fprintf(h->out, ".TH %s 1 \"\" \"lttngtop %s\" \"User Commands\"\n", name, PACKAGE_VERSION);
		fprintf(h->out, ".SH NAME\n%s \\- %s\n", page->man_name, page->summary);
		g_free(name);
		help_section(h, "Synopsis");
		for (size_t i = 0; i < G_N_ELEMENTS(page->synopsis) && page->synopsis[i]; i++)
			help_example(h, page->synopsis[i]);
		help_section(h, "Description");
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(page->synopsis) && page->synopsis[i]; i++)
			fprintf(h->out, "%s %s\n", i ? "      " : "Usage:", page->synopsis[i]);
		fputc('\n', h->out);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(page->description) && page->description[i]; i++) {
		if (i && h->form == HELP_TEXT)
			fputc('\n', h->out);
		help_paragraph(h, page->description[i]);
	}
}

static void print_examples(struct help *h, const struct page *page)
{
	help_section(h, "Examples");
	for (size_t i = 0; i < G_N_ELEMENTS(page->examples) && page->examples[i].term; i++) {
		help_example(h, page->examples[i].term);
		help_paragraph(h, page->examples[i].text);
	}
}

void manual_print(struct help *h, enum command_bit command)
{
	const struct page *page = pages;

	while (page->command != command)
		page++;
	print_head(h, page);
	print_options(h, command);
	if (!page->no_times)
		print_items(h, "Times", times, G_N_ELEMENTS(times));
	if (page->filters)
		print_items(h, "Filters", filters, G_N_ELEMENTS(filters));
	if (page->tables)
		page->tables(h);
	if (h->brief)
		return;
	if (command == COMMAND_REPORT) {
		print_list(h, "Coming from lttng-analyses", of_analyses);
		manual_print_refused(h, command);
	}
	print_list(h, "Exit status", page->exit_status ? page->exit_status : exit_statuses);
	print_list(h, "Environment", page->environment ? page->environment : environment);
	if (page->files)
		print_list(h, "Files", page->files);
	print_examples(h, page);
	help_section(h, "See also");
	help_paragraph(h, page->see_also);
}
