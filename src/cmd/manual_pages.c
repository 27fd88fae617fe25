/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands.h"
#include "cmd/manual_pages.h"

/* Of the relayd that traces this machine or those of a cluster. */
#define RELAYD_IS_OPEN                                                                      \
	"The relayd has no authentication: until it ends, every user of this machine can "  \
	"connect to its ports, read the traces, in which are file names and command lines " \
	"of all users, and add sessions to what is shown. "

#define OTHERWISE_RECORD \
	"Where other users must not see that, record into a directory, with lttngtop-record(1), and read the recording."

#define ESCDELAY_TEXT                                                                                                  \
	"for how many milliseconds what follows Esc is taken as the rest of a key (default 25); on a slow line, what " \
	"arrives later is taken as letters"

static const struct manual_item monitor_environment[] = {
	{ "TZ", "time zone of times without --utc" },
	{ "NO_COLOR", "if set and not empty, the monitor uses no colours" },
	{ "TERM", "the type of the terminal; its description (terminfo) must be installed" },
	{ "ESCDELAY", ESCDELAY_TEXT },
	{ "LC_ALL, LC_CTYPE, LANG", "whether the terminal uses UTF-8" },
	{ "LTTNG_HOME", "directory of a user's session daemon, which --local uses (default: the home directory)" },
	{ "LTTNG_SESSIOND_PATH", "the session daemon that --local starts if none is running (default lttng-sessiond)" },
	{ "XDG_RUNTIME_DIR", "--local keeps its files" MANUAL_RUNTIME_FILES },
	{ "XDG_CONFIG_HOME, XDG_CACHE_HOME", "where the settings and the cache are; see Files" },
	{ NULL, NULL },
};

static const struct manual_item cluster_environment[] = {
	{ "TZ", "time zone of times without --utc" },
	{ "NO_COLOR", "if set and not empty, the monitor uses no colours" },
	{ "TERM", "the type of the terminal; its description (terminfo) must be installed" },
	{ "ESCDELAY", ESCDELAY_TEXT },
	{ "LC_ALL, LC_CTYPE, LANG", "whether the terminal uses UTF-8" },
	{ "XDG_RUNTIME_DIR", "the relayd keeps its files" MANUAL_RUNTIME_FILES },
	{ "XDG_CONFIG_HOME", "where the settings are; see Files" },
	{ NULL, NULL },
};

static const struct manual_item cluster_files[] = {
	{ "$XDG_CONFIG_HOME/lttngtop/lttngtop.conf",
	  "The settings of the screen (default directory: ~/.config), described in lttngtop(1)" },
	{ NULL, NULL },
};

static const struct manual_item monitor_files[] = {
	{ "$XDG_CONFIG_HOME/lttngtop/lttngtop.conf",
	  "The settings of the screen (default directory: ~/.config). Only Save in the setup (F2) writes this "
	  "file. Group [screen]: host-lines (a line per host above the timeline), colors and host-percent (CPU % of "
	  "the whole host, key %) are true or false; interval is a duration. A group such as [list cpu] is named "
	  "after a table of lttngtop-report(1) or one that only the screen has, which are counters (pane Perf) and "
	  "paths (pane Paths): columns is a list of column names, in the order of the screen, separated by spaces; "
	  "sort is a column name, or a counter's in counters, and '-' before it reverses the order; sum-by is what "
	  "rows are summed up by, as in lttngtop-report(1). Save writes the columns that are shown. "
	  "The command line overrides the file; unknown groups and keys "
	  "are kept; a wrong value is ignored with a warning (L)" },
	{ "$XDG_CACHE_HOME/lttngtop/",
	  "The cache (default directory: ~/.cache). A recording of 8 MiB or more that was read completely is cached, "
	  "and opens at once the next time. If the recording, the program or an option has changed, it is read "
	  "again. See --cache-size and --no-cache" },
	{ NULL, NULL },
};

static const struct manual_item monitor_formats[] = {
	{ "Recordings",
	  "CTF 1.8 and CTF 2, as LTTng 2.0 to 2.16 (kernel and user space) and babeltrace2 write them. What "
	  "the reader 'native' does not support is read by 'babeltrace2', which needs version 2.1 for CTF 2; "
	  "see --reader. A trace that cannot be decoded is named in a message (L) with the reason, and the "
	  "others are shown" },
	{ "Live sessions",
	  "lttng-relayd 2.4 or later; sessions in CTF 2, the default since LTTng 2.15, need a relayd 2.15 "
	  "or later" },
	{ NULL, NULL },
};

static const struct manual_item monitor_troubles[] = {
	{ "Few threads, no parents, numbers instead of names of disks",
	  "The monitor attached after the session had started, and learns what existed before from a state dump. On "
	  "the traced host, 'lttngtop record refresh SESSION' repeats the dump; it works for sessions of 'lttng' too. "
	  "'lttngtop record --live' repeats it every --statedump-period. With --from-start, the relayd's older data "
	  "is read" },
	{ "Time that is unknown or unexplained",
	  "The event that ended a wait was not recorded: the session lacks it (compare 'lttngtop record --set waits'), "
	  "events were lost, the process that caused it runs on a host that is not traced, or the wait began before "
	  "the data that is kept (--wait-memory). Pane Hosts (9) and the messages (L) show what was lost" },
	{ "Events were lost",
	  "The tracer had no room for them: use larger buffers (--buffer-size of 'lttngtop record', --local and "
	  "cluster) or a set that records less (--set). Or the recording is damaged: the messages (L) name the file. "
	  "What the CPU ran meanwhile and which threads were ready is unknown: that time counts for none, and the CPU "
	  "is not online in it. Waits in which events were lost are not counted either, for instance in table "
	  "blocking. 'lost ?' in the first line: the "
	  "interval ends in such a time, and what was lost is counted where events come again, or at its start if "
	  "none do" },
	{ "The first line says 'preview'",
	  "After a jump in a recording that is still being read, the interval is shown at once from its own events "
	  "and those of the second before it. Threads without events in that time, waits that began earlier and "
	  "files opened earlier are missing until the recording has been read up to there" },
	{ "Panes I/O, Files and Syscalls are nearly empty",
	  "The sets waits and minimal, the default with --local and cluster, leave out system calls: use --set full" },
	{ "A critical path ends in a kworker",
	  "Record with --set full,work: the path then continues to the thread that queued the work" },
	{ "Users or containers are unknown",
	  "Command lines and names, also those of users, come with the data of lttngtop.json, which 'lttngtop record', "
	  "--local and cluster add with every set of events; a session of 'lttng' alone lacks them, and users are "
	  "numbers there, if it has the context uid. Containers need the state dump and sched_process_fork, which "
	  "every set except none has; so do IDs inside containers (v)" },
	{ "A host is shown once although two sessions trace it",
	  "Its events are counted once: every kind of event is taken from one session, and the other session fills in "
	  "when that one stops. Column reason of pane Hosts says which is used. Events of programs are counted "
	  "exactly only if the sessions have the context vtid. If the host's clock was set back between "
	  "two recordings, their times may overlap: only one of them is counted there, column late_events has "
	  "the other's events, and a message says so" },
	{ "A host that returned is shown as another one of the same name",
	  "When the session of a live host has ended, the monitor waits for another one of that host. It waits for "
	  "the 32 hosts that ended last, for fewer of them while less than an eighth of --model-memory is free, and "
	  "not for a host that was rebooted. Of other hosts only the past is kept; they disappear when nothing of it "
	  "is left in the history (--history-size)" },
	{ "The last events of programs are missing from a live session",
	  "With buffers per process ('lttng enable-channel -u --buffers-pid'), the relayd ends the streams of a "
	  "process that has exited before it has passed on their last data, and nothing shows that it is missing: use "
	  "buffers per user (--buffers-uid, the default)" },
	{ "A live session is not attached",
	  "A relayd lets one viewer at a time attach to a session; 'lttngtop list' shows such a session as taken" },
	{ NULL, NULL },
};

static const struct manual_item cluster_exit_statuses[] = {
	{ "0", "success" },     { "1", "failure; stderr says why" },
	{ "2", "wrong usage" }, { "128+n", "ended by signal n" },
	{ NULL, NULL },
};

static const struct manual_item record_exit_statuses[] = {
	{ "0", "success" },
	{ "1", "failure; stderr says why" },
	{ "2", "wrong usage" },
	{ "3", "some of the hosts given with --host cannot be recorded; the others are" },
	{ "128+n", "ended by signal n" },
	{ "with a COMMAND",
	  "the exit status of COMMAND; 126 if it cannot be run, 127 if it does not exist; 128+n if signal n ended "
	  "it; if it succeeds, 1 or 3 as above" },
	{ NULL, NULL },
};

static const struct manual_item record_environment[] = {
	{ "LTTNG_HOME", "directory of a user's session daemon and recordings (default: the home directory)" },
	{ "LTTNG_SESSIOND_PATH", "the session daemon to start if none is running (default lttng-sessiond)" },
	{ "XDG_RUNTIME_DIR", "notes of what must be ended if lttngtop is killed are kept" MANUAL_RUNTIME_FILES },
	{ "TZ", "time zone of the date in a session's name" },
	{ NULL, NULL },
};

static const struct manual_item record_files[] = {
	{ "DIRECTORY/lttngtop.json",
	  "Data that a trace cannot contain, in the directory of the session or of a host below --output: command "
	  "lines, executables, users and cgroups of processes; the cgroups of containers, by the inode of their pid "
	  "or cgroup namespace; names of users and disks; mounts of network file systems; the topology of the CPUs, "
	  "the kernel release, the boot ID, the state of the clock, and the addresses of probed kernel functions (key "
	  "D shows their names) and of those that recorded work items called, where this user may see them in "
	  "/proc/kallsyms. lttngtop shows the names when it reads the recording, and works without the file. "
	  "Command lines may be private: edit or remove the file before you pass a recording on" },
	{ "when it is written",
	  "At the start and again at the end; processes that start and exit in between are missing. On other hosts a "
	  "shell script writes it; functions of work items are then missing, as they are in snapshots" },
	{ "in live sessions",
	  "A relayd accepts only traces, so a live session carries the same data as events. Where liblttng-ust is "
	  "installed they are 'lttng_ust_tracef:event' in a channel 'messages', each a part of the file after the "
	  "word 'lttngtop.json '. For hosts given with --host they are kernel events 'lttng_logger', sent by a shell "
	  "script, or come from python3 if only programs are traced; their text follows the word 'lttngtop.list'. "
	  "They are sent at the start, within 5 s for new processes, and again with each state dump "
	  "(--statedump-period, 'record refresh')" },
	{ NULL, NULL },
};

static const struct manual_item list_exit_statuses[] = {
	{ "0", "success, also if the relayd has no sessions" },
	{ "1", "no relayd answers there in time, or the session does not exist; stderr says which" },
	{ "2", "wrong usage" },
	{ NULL, NULL },
};

static const struct manual_item list_environment[] = {
	{ "LC_ALL, LC_CTYPE, LANG", "the character encoding, to align names" },
	{ NULL, NULL },
};

static const struct manual_item feed_exit_statuses[] = {
	{ "0", "everything was streamed" },
	{ "1", "no trace could be read, or the relayd failed; stderr says why" },
	{ "2", "wrong usage" },
	{ "3", "streamed, but part of the recordings is damaged or missing; stderr says what" },
	{ "128+n", "ended by signal n; the sessions were closed properly" },
	{ NULL, NULL },
};

static const struct manual_item feed_environment[] = {
	{ "LC_ALL, LC_CTYPE, LANG", "how names with characters outside ASCII are shown" },
	{ NULL, NULL },
};

static const struct manual_item doctor_exit_statuses[] = {
	{ "0", "every machine can be traced; there may be warnings" },
	{ "1", "a machine lacks something or cannot be reached" },
	{ "2", "wrong usage" },
	{ NULL, NULL },
};

static const struct manual_item doctor_environment[] = {
	{ "LTTNG_SESSIOND_PATH", "the session daemon that 'lttngtop record' would start (default lttng-sessiond)" },
	{ NULL, NULL },
};

static const struct manual_page pages[] = {
	{
		.command = COMMAND_MONITOR,
		.man_name = "lttngtop",
		.filters = true,
		.summary = "monitor the kernel activity of many hosts, from LTTng traces",
		.synopsis = {"lttngtop [OPTIONS] SOURCE...", "lttngtop [--local] [OPTIONS] [-- COMMAND]",
			     "lttngtop report TABLE [OPTIONS] SOURCE...",
			     "lttngtop attach [-p [HOST:]TID]... [-n GLOB]... [OPTIONS] SOURCE...",
			     "lttngtop list [OPTIONS] [URL]", "lttngtop record [OPTIONS] [-- COMMAND]",
			     "lttngtop feed --to URL [OPTIONS] RECORDING...", "lttngtop doctor [--host USER@HOST]...",
			     "lttngtop cluster --host USER@HOST... [OPTIONS]",
			     "lttngtop help [COMMAND]"},
		.description =
			{"Shows what the threads of one or more hosts do: CPU time, I/O, open files, counters, and why "
			 "they wait. Every figure is computed from the events of a kernel trace, so nothing "
			 "short-lived is missed, and you can go back to any instant of the past. Figures are shown for "
			 "an interval. A critical path is the chain of running and waiting, from thread to thread and "
			 "host to host, that explains why a thread took the time it took; it is shown for a window, "
			 "which is longer than an interval.",
			 "A SOURCE is a directory, in which every CTF trace at any depth is opened, or a live session "
			 "of an lttng-relayd, net://HOST[:PORT]/host/TARGET/SESSION, or net://HOST[:PORT] for all its "
			 "sessions, present and future. TARGET is the name of the traced host; PORT is the relayd's "
			 "port for viewers (default 5344); 'lttngtop list' prints these URLs. A relayd may have "
			 "several sessions of one URL, as one of LTTng's that traces the kernel and programs is two: "
			 "all of them are read. An IPv6 address is "
			 "written in brackets; net4: and net6: use only IPv4 or IPv6. Any number of sources can be "
			 "given. Copies of a recording, and snapshots that overlap, count once; a recording and a "
			 "slice of it, or slices that overlap, are refused, unless they are followed (--follow). "
			 "Kernel and user-space traces "
			 "of the same host are shown as one host. The clocks of "
			 "several hosts are synchronised by the packets that they exchange: all times are those of the "
			 "reference host (--ref), unless --no-sync is given.",
			 "With --local this machine is traced while it is shown, or while COMMAND runs. This needs "
			 "root or membership of the group 'tracing', and LTTng's kernel modules; 'lttngtop doctor' "
			 "checks for them. Only root can start the session daemon that traces the kernel: for a member "
			 "of 'tracing' it must be running already. lttngtop starts a relayd of its own on the loopback "
			 "interface and, if none is running, a session daemon, and removes everything when it exits, "
			 "however it exits. The relayd's data takes up to about 256 MiB, but no more than half of "
			 "the free space, in the directory of XDG_RUNTIME_DIR (see Environment); if that is too "
			 "little for four times the buffers, up to 1 GiB, or half of the free space, in /var/tmp. "
			 "The system calls of lttngtop and of LTTng's daemons are omitted, but their CPU time is "
			 "shown; their names have a colour of their own. COMMAND is terminated when the monitor "
			 "exits; its output is printed afterwards. Without a SOURCE or COMMAND, lttngtop shows the "
			 "live sessions of the relayd on this machine, with a menu if there are several, which also "
			 "shows those that start later; if there are none, it traces this machine as with --local "
			 "or, if that is not possible, prints what is missing for it and the other ways to start.",
			 RELAYD_IS_OPEN OTHERWISE_RECORD,
			 "'lttngtop report' prints the same figures as text, CSV or JSON; 'lttngtop attach' shows "
			 "system calls as strace does; 'lttngtop record' sets up tracing; 'lttngtop cluster' traces "
			 "several machines over ssh; 'lttngtop list' lists the live sessions of a relayd; 'lttngtop "
			 "feed' replays recordings as live sessions; 'lttngtop doctor' checks whether a machine can be "
			 "traced."},
		.tables = cmd_monitor_help,
		.examples =
			{
				{"sudo lttngtop",
				 "Show this machine, now, or the sessions of a relayd that runs here."},
				{"sudo lttngtop -- make", "Show this machine while make runs."},
				{"lttngtop net://monitor",
				 "Show all hosts whose sessions are streamed to the relayd on monitor."},
				{"lttngtop cluster --host root@web --host root@db",
				 "Show two machines, now, with nothing set up on them before."},
				{"lttngtop recording/", "Replay a recording at its own speed."},
				{"lttngtop --begin +5s --speed 0.1 web/ db/",
				 "Replay two hosts side by side, from 5 s after the start, ten times slower."},
			},
		.formats = monitor_formats,
		.troubles = monitor_troubles,
		.see_also = "lttngtop-report(1), lttngtop-attach(1), lttngtop-list(1), lttngtop-record(1), "
			    "lttngtop-feed(1), lttngtop-doctor(1), lttngtop-cluster(1), lttng(1), babeltrace2(1)",
		.environment = monitor_environment,
		.files = monitor_files,
	},
	{
		.command = COMMAND_REPORT,
		.man_name = "lttngtop-report",
		.summary = "print figures of LTTng kernel traces, for scripts and pipes",
		.synopsis = {"lttngtop report TABLE [OPTIONS] SOURCE...",
			     "lttngtop report TABLE --local [OPTIONS] [-- COMMAND]"},
		.description =
			{"Prints a table of figures for the whole recording, or for the part from --begin to --end; "
			 "with --interval, one table for each interval. A SOURCE is one of those in lttngtop(1). Rows "
			 "whose figures are all 0 in the interval are left out. 1000 or more intervals in a row "
			 "without any event are printed as one, marked \"no events\" (in JSON: \"gap\": true).",
			 "Text starts with the rows that have the largest figures. Exceptions: rows of --log are "
			 "ordered by host and time (--sort length --limit N prints the longest), those of "
			 "critical-path path by path, those of matches by time, and those of hosts, cpus, sync and "
			 "latencies by host. Where a host has several rows that can be added up, its totals follow, "
			 "which include the rows that --limit hides. JSON and CSV are ordered by host and key. "
			 "--sort, --limit and --columns change the order, the number of rows and the columns; "
			 "--columns can also name columns that otherwise only the monitor shows; 'lttngtop report "
			 "TABLE --help' describes them all. The unit of a column may be omitted, as in 'total' for "
			 "'total_ns'; if there is a column 'total', too, that one is meant, unless it is only "
			 "printed with --columns.",
			 "In text, K, M and G are powers of 1024 for bytes and of 1000 for everything else, and times "
			 "on another day than the start of the interval have month and day. In JSON and CSV, times are "
			 "in ns since the epoch (UTC), durations in ns and sizes in bytes. An unknown value is '-' in "
			 "text, null in JSON and empty in CSV; so are figures that need sched_switch, of a host of "
			 "which no recording or session has it. If only some have it, such figures are wrong in the "
			 "time that the others alone cover; so are user and system times if only "
			 "some have system calls. Means are rounded to ns; percentiles are accurate to "
			 "within 1/16 of the value. "
			 "Rates per second refer to the part of the interval in which the host was recorded.",
			 "For live sessions (net://HOST/host/TARGET/SESSION) a report covers what arrives until they "
			 "end, --duration expires or it is interrupted. A relayd reports only that a session has "
			 "ended, so a tracer that was killed looks like a normal end, and is not a failure. A "
			 "recording ends with its last event; a live host's last interval may end later, as its "
			 "session reports that there were no events until then.",
			 "With --local it reports on this machine for --duration or while COMMAND runs; see "
			 "lttngtop(1)."},
		.filters = true,
		.tables = cmd_report_help,
		.examples =
			{
				{"lttngtop report cpu recording/", "Print the CPU time of every thread."},
				{"lttngtop report syscalls --sort max --limit 10 recording/",
				 "Print the ten rows with the slowest system calls."},
				{"lttngtop report io --where 'comm:nginx !tid:812 write>1M' recording/",
				 "Print the I/O of those threads of nginx, except 812, that wrote more than 1 MiB."},
				{"lttngtop report cpu --sum-by comm --sort cpu --limit 5 recording/",
				 "Print the CPU time of the five busiest thread names."},
				{"lttngtop report io --interval 1s --csv recording/",
				 "Print the I/O of each second as CSV."},
				{"sudo lttngtop report cpu --local --duration 10s",
				 "Print the CPU time of this machine's threads during the next 10 s."},
				{"lttngtop report files --comm 'nginx*' --json recording/",
				 "Print the files that processes used whose name starts with nginx."},
			},
		.see_also = "lttngtop(1)",
	},
	{
		.command = COMMAND_ATTACH,
		.man_name = "lttngtop-attach",
		.summary = "show system calls of selected threads, like strace",
		.synopsis = {"lttngtop attach [-p [HOST:]TID]... [-n GLOB]... [OPTIONS] SOURCE...",
			     "lttngtop attach [OPTIONS] -- COMMAND"},
		.description =
			{"Prints the system calls of threads as strace does, one line per call, from LTTng kernel "
			 "traces: recordings, in full or from --begin to --end, or live sessions (for SOURCE see "
			 "lttngtop(1)). The programs are not stopped; tracing itself costs them time with each system "
			 "call, see 'What it costs' in the README. Lines of several hosts are merged in the order of "
			 "their corrected times.",
			 "After a call that waited, the line shows what strace cannot know: what the thread waited "
			 "for, who ended the wait, and which thread ran instead.",
			 "The tracer records those arguments of a call that are names or numbers, but not the contents "
			 "of buffers and most structures: those are shown by their address. Numbers of flags and "
			 "errors are given the names that they have on x86, because a trace does not say on which "
			 "architecture it was recorded; on others a few names, such as O_DIRECTORY, are wrong.",
			 "With -f the children of a thread and the other threads of its process are shown too. Threads "
			 "selected by name (-n) may start later. Output goes to standard output, or to the FILE of -o.",
			 "With a COMMAND this machine is traced while it runs, which needs root or the group "
			 "'tracing', and LTTng's kernel modules; 'lttngtop doctor' checks for them. lttngtop starts a "
			 "relayd of its own on the loopback interface and, if none is running, a session daemon. "
			 "COMMAND "
			 "starts once tracing is active; when COMMAND or lttngtop ends, however it ends, everything is "
			 "removed. COMMAND keeps standard input, standard output and the terminal, and receives ^C; "
			 "the text goes to standard error, or to the FILE of -o. Without -f only the system calls of "
			 "COMMAND's own process are recorded; with -f those of all processes are, because the tracer "
			 "does not follow children, but only those of COMMAND and its children are shown. Switches and "
			 "wake-ups of all threads are always recorded, because waits are explained by them. The exit "
			 "status is that of COMMAND, or 128+n if signal n ended it; if COMMAND succeeds but its calls "
			 "cannot be printed, it is 1.",
			 RELAYD_IS_OPEN OTHERWISE_RECORD},
		.tables = cmd_attach_help,
		.examples =
			{
				{"lttngtop attach -p 812 recording/", "As strace -p 812."},
				{"lttngtop attach -f -p web:812 -e trace=%network -yy net://monitor",
				 "As strace -f -e trace=%network -yy -p 812 on the host web, live."},
				{"lttngtop attach -n 'postgres*' --waits 10ms -T recording/",
				 "Show the calls of a database that were off the CPU for more than 10 ms, and why."},
				{"lttngtop attach -c -S calls -n nginx recording/", "As strace -c -S calls."},
				{"lttngtop attach -qq -n '*' -P '/etc/*' -Z recording/",
				 "Show all calls on files in /etc that failed."},
				{"lttngtop attach -ff -tt -o /tmp/make -n make recording/",
				 "As strace -ff -tt -o /tmp/make make."},
				{"sudo lttngtop record -o /tmp/now -- sleep 10; sudo lttngtop attach -p 812 /tmp/now",
				 "Show what a process that already runs on this machine does in 10 s."},
				{"sudo lttngtop attach -f -o /tmp/make.txt -- make",
				 "As strace -f -o /tmp/make.txt make."},
			},
		.see_also = "lttngtop(1), lttngtop-report(1), lttngtop-record(1), lttngtop-doctor(1), strace(1)",
	},
	{
		.command = COMMAND_RECORD,
		.man_name = "lttngtop-record",
		.summary = "set up LTTng tracing with the events that lttngtop needs",
		.synopsis = {"lttngtop record [OPTIONS] [-- COMMAND]",
			     "lttngtop record stop|status|snapshot|refresh [OPTIONS] [SESSION]"},
		.description =
			{"Creates a tracing session with the events that the monitor needs, and starts it. It writes "
			 "to a directory, to memory (--snapshot), or to a relayd, from which a monitor can show it as "
			 "it happens (--live). A relayd has no authentication: whoever can connect to it can read the "
			 "trace. With a COMMAND it records while COMMAND runs, then stops. Otherwise it "
			 "returns as soon as tracing is active.",
			 "'stop' ends a session and keeps its recording; 'status' lists the sessions and what they "
			 "lost; 'snapshot' writes the contents of a flight recorder; 'refresh' repeats the state dump, "
			 "for a monitor that attached late. SESSION may be omitted if there is only one session whose "
			 "name 'record' made up, because --session was not given; root must give that of another "
			 "user's session.",
			 "Messages go to standard output, or to standard error when a COMMAND is given."},
		.tables = cmd_record_help,
		.examples =
			{
				{"lttngtop record --output /tmp/make -- make",
				 "Record the whole machine while make runs."},
				{"lttngtop record --live net://monitor --host root@web --host root@db",
				 "Let two hosts stream to the relayd on a third."},
				{"lttngtop record --snapshot --set waits --buffer-size 64M",
				 "Start a flight recorder; 'lttngtop record snapshot' writes out what it holds."},
				{"lttngtop record --ust 'my_app:*' -- ./my_app",
				 "Record the tracepoints of a program, without the kernel."},
				{"lttngtop record --dry-run --set minimal",
				 "Print the lttng commands that set this up."},
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
		.summary = "list the hosts and live sessions of an lttng-relayd",
		.synopsis = {"lttngtop list [OPTIONS] [URL]"},
		.description =
			{"Lists the sessions of the lttng-relayd at URL, net://HOST[:PORT], by default "
			 "net://localhost. PORT is the relayd's port for viewers (default 5344). With the URL of a "
			 "session, net://HOST[:PORT]/host/TARGET/SESSION, only that session is listed.",
			 "The last column can be given to lttngtop as a SOURCE."},
		.tables = cmd_list_help,
		.examples =
			{
				{"lttngtop list", "List the sessions of the relayd on this machine."},
				{"lttngtop list --json net://monitor:5344",
				 "List those of another relayd as JSON, for scripts."},
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
		.synopsis = {"lttngtop feed --to URL [OPTIONS] RECORDING..."},
		.description =
			{"Streams every CTF trace found in or below each RECORDING to an lttng-relayd as a live "
			 "session, as if it "
			 "were being recorded: for demonstrations, and for testing viewers of live sessions. The "
			 "traces of one host in one recording (kernel and user space) become one session. All sessions "
			 "share one time origin, so that hosts recorded together stay in step; if their clocks differ, "
			 "--sync corrects them. A session ends with its recording, once its "
			 "viewer has read it, or at once if it has none: it cannot be viewed then.",
			 "Prints the URL of each session, one per line, once it can be viewed, then waits until each "
			 "session has a viewer, because a viewer does not receive earlier data.",
			 "Events, losses and clocks arrive as recorded, but long packets are cut between events at "
			 "every tick of the live timer. A packet whose layout is unknown is sent whole, at its end.",
			 "The relayd must be LTTng 2.13 or later; recordings in CTF 2 need 2.15 or later."},
		.examples =
			{
				{"lttngtop feed --to net://localhost --now --sync recording/",
				 "Stream all hosts of a recording at their own speed, with current timestamps, and "
				 "together even if their clocks differed."},
				{"lttngtop feed --to net://localhost:5342:5343 --speed max --no-wait recording/",
				 "Load the relayd, for example to measure it, without waiting for viewers: after the "
				 "last packet nothing is left to view."},
			},
		.see_also = "lttngtop(1), lttngtop-list(1), lttng-relayd(8), babeltrace2(1)",
		.exit_status = feed_exit_statuses,
		.environment = feed_environment,
		.no_times = true,
	},
	{
		.command = COMMAND_DOCTOR,
		.man_name = "lttngtop-doctor",
		.summary = "check whether a machine can be traced, and print the commands that fix it",
		.synopsis = {"lttngtop doctor [--host USER@HOST]..."},
		.description =
			{"Checks this machine, or others over ssh, without changing anything: permissions, the kernel "
			 "and its lttng-modules with their known faults, tools, liblttng-ctl, the session daemon, the "
			 "relayd's ports, clock synchronisation, and memory for buffers.",
			 "Prints one line per check: 'ok'; 'warning' if tracing works but could be better; or "
			 "'missing' if the kernel cannot be traced without it. The command that fixes it on that "
			 "distribution follows on the next line, after '->'.",
			 "Without lttng-modules, user-space tracepoints can still be recorded: see 'lttngtop record "
			 "--ust'."},
		.examples =
			{
				{"lttngtop doctor", "Check this machine."},
				{"lttngtop doctor --host root@web --host root@db", "Check two other machines."},
			},
		.see_also = "lttngtop(1), lttngtop-record(1), lttng-sessiond(8)",
		.exit_status = doctor_exit_statuses,
		.environment = doctor_environment,
		.no_times = true,
		.no_amounts = true,
	},
	{
		.command = COMMAND_CLUSTER,
		.exit_status = cluster_exit_statuses,
		.man_name = "lttngtop-cluster",
		.summary = "monitor several machines live, over ssh",
		.synopsis = {"lttngtop cluster --host USER@HOST... [OPTIONS]"},
		.description =
			{"Traces the machines while they are shown. On each, a session is set up and started over ssh, "
			 "and its events are sent back through the same connection (ssh -R) to a relayd of its own on "
			 "this machine's loopback interface. Only the ssh port has to be open, and ssh must not ask "
			 "for a password. This machine itself cannot be one of them, and each can be given only once.",
			 "When the monitor exits, however it exits, or a connection breaks, the machines remove their "
			 "sessions themselves. The relayd and its data are removed with the monitor.",
			 RELAYD_IS_OPEN
			 "Users of the traced machines, from which ports are forwarded, can do the latter. "
			 OTHERWISE_RECORD,
			 "A machine that cannot be traced, or whose connection is lost, does not hold up the others: a "
			 "message says which one, and why (key L shows all messages). If one is not ready after 10 s, "
			 "the others are shown without it, and it is added when its tracing starts; after 120 s it is "
			 "given up. If no machine can be traced, the exit status is 1.",
			 "Each machine needs the lttng tool, a session daemon and lttng-modules; 'lttngtop doctor "
			 "--host USER@HOST' checks for them. Keys, filters and panes are those of lttngtop(1)."},
		.examples =
			{
				{"lttngtop cluster --host root@web --host root@db", "Show two machines."},
			},
		.see_also = "lttngtop(1), lttngtop-doctor(1), lttngtop-record(1), ssh(1)",
		.environment = cluster_environment,
		.files = cluster_files,
		.no_times = true,
	},
};

const struct manual_page *manual_page(enum command_bit command)
{
	const struct manual_page *page = pages;

	while (page->command != command)
		page++;
	return page;
}
