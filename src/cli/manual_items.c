/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Terms and their meanings: what prints them, and the lists that several man pages have: times, amounts, filters, exit
 * statuses, environment.
 */
#include "cli/manual_items.h"

void manual_print_items(struct help *h, const struct manual_item *items)
{
	for (; items->term; items++)
		help_item(h, items->term, items->text);
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

const struct manual_item manual_times[] = {
	{ "12:03:05[.nnnnnnnnn]",
	  "the first occurrence of this time of day at or after the start of the recording; also "
	  "12:03. If the recording does not have it, the monitor shows its start or its end, whichever is nearer" },
	{ "'2026-11-20 12:03:05'",
	  "a date and time; if it occurs twice, because clocks are set back, the one in the recording, or nearer to "
	  "its start. The year may be omitted where the monitor asks for a time" },
	{ "@1700000000.5", "seconds since the epoch" },
	{ "1700000000500000000ns", "ns since the epoch; with 16 digits or more, \"ns\" may be omitted" },
	{ "+5s, -5s", "5 s after the start, 5 s before the end of the recording" },
	{ NULL, NULL },
};

const struct manual_item manual_amounts[] = {
	{ "100ms, 1s, 2m", "durations; the units are ns, us, ms, s, m, h, d" },
	{ "64k, 256M, 1G", "sizes in bytes; the units are k, M, G and T, powers of 1024" },
	{ NULL, NULL },
};

const struct manual_item manual_globs[] = {
	{ "GLOB",
	  "a pattern for a whole name: * stands for any characters, ? for one, [a-z] for one of a set, [!a-z] for one "
	  "outside it; a \\ makes the * ? [ ] or \\ after it an ordinary character" },
	{ NULL, NULL },
};

const struct manual_item manual_exit_statuses[] = {
	{ "0", "success" },
	{ "1", "failure at run time, or no source could be read at all" },
	{ "2", "wrong usage" },
	{ "3",
	  "the output is incomplete: events were lost, data is corrupt, one of several sources could not be read or "
	  "ended early, or memory was too small for it; messages on stderr say which (the monitor shows what is "
	  "incomplete on the screen, and does not exit with 3)" },
	{ "128+n",
	  "ended by signal n. SIGINT (^C) ends report and attach at the data read up to then, which is still written: "
	  "with status 0 or 3 for live sessions and with --follow, 130 for other recordings, 1 if there was none yet; "
	  "a second one ends them at once. Recordings given with live sources that have not answered yet are read to "
	  "their end instead. 'report slice' leaves nothing behind" },
	{ "with a COMMAND",
	  "the exit status of COMMAND, even if events were lost; 126 if it cannot be run, 127 if it does not exist; "
	  "128+n if signal n ended it, such as 143 if lttngtop terminated it" },
	{ NULL, NULL },
};

const struct manual_item manual_environment[] = {
	{ "TZ", "time zone of times without --utc" },
	{ "LC_ALL, LC_CTYPE, LANG",
	  "the character set: unless it is UTF-8, text is ASCII, with '?' for other characters" },
	{ "XDG_RUNTIME_DIR", "when this machine is traced, the relayd keeps its files" MANUAL_RUNTIME_FILES },
	{ "LTTNG_SESSIOND_PATH",
	  "the session daemon that is then started if none is running (default lttng-sessiond)" },
	{ NULL, NULL },
};

/* What view/filter.h reads. */
const struct manual_item manual_filters[] = {
	{ "a b, a | b, !a", "both, either, not; parentheses group: '(a | b) !c'" },
	{ "host:GLOB, comm:GLOB", "name of the host or thread; without wildcards, a part of it" },
	{ "pid:N, tid:N, tree:PID", "a process, a thread, a process with all its descendants" },
	{ "user:NAME", "user of the process, by name if the recording has names, or by number" },
	{ "container:NAME",
	  "threads in containers of this name (without wildcards, a part of it; in quotes, container:\"NAME\", exactly "
	  "this name); with a '/' after it, including nested containers; container:host: threads in no container" },
	{ "state:NAME",
	  "state at the end of the interval, as in column state_name of cpu: running, ready, blocked, waiting, new, "
	  "stopped, zombie, dead, unknown; that of a CPU, as in cpus: idle, busy, offline, unknown; of a clock, as in "
	  "sync: reference, absent, incomplete, approximate, accurate, failed; or what was waited for, as in blocking "
	  "and critical-path: running, preempted, interrupted, timer, block_device, network, user_input, ipi, blocked, "
	  "unknown; also the names that paths have on the screen: ready, disk, input, unexplained" },
	{ "call:NAME",
	  "a system call, a glob such as 'epoll_*'; newfstat is also found as fstat, the name that strace prints" },
	{ "file:GLOB, peer:GLOB", "path of the file, address of the peer; without wildcards, a part of it" },
	{ "COLUMN>VALUE",
	  "a column of the table, by name or heading; also with < >= <= = !=; values such as 5ms, 64k, 12:03:05, "
	  "yes, where k, M, G and T are powers of 1024 for bytes and of 1000 otherwise; "
	  "a number without a unit is in the column's own unit, which is ns for durations; text may be a glob. An "
	  "unknown value matches no comparison. No blanks around the operator" },
	{ "TEXT",
	  "a part of a name: of any text that the report prints without --columns, or that the pane shows without "
	  "setup; \"quotes\" for text that would be read as something else, such as one with < > =, or "
	  "and, or, not between terms" },
	{ "Terms that do not apply",
	  "a term about something that the rows do not have, such as the file of a CPU, is an error in a report. The "
	  "monitor keeps its filter from pane to pane: there such a term does not affect the rows, and the filter is "
	  "shown with \"does not apply here\"" },
	{ NULL, NULL },
};

/* Their commands, for those who know them. */
const struct manual_item manual_of_analyses[] = {
	{ "lttng-cputop", "report cpu; per CPU: report cpus" },
	{ "lttng-iousagetop", "report io --sum-by process; report files --sum-by file; report disks; report net" },
	{ "lttng-iolatencytop",
	  "report syscalls --log --sort length --limit 10 --where 'cause=*read*|cause=*write*|cause=open*|cause=*sync*'"
	  "; for disks: report disks --log …" },
	{ "lttng-iolatencyfreq", "report disks --freq; report syscalls --sum-by call --freq" },
	{ "lttng-iolatencystats", "report disks; report syscalls --sum-by call" },
	{ "lttng-iolog", "report syscalls --log --where cause=read --min 1ms" },
	{ "lttng-irqstats, lttng-irqfreq, lttng-irqlog", "report irqs, with --freq, with --log" },
	{ "lttng-schedstats, lttng-schedfreq, lttng-schedlog", "report sched, with --freq, with --log" },
	{ "lttng-schedtop", "report sched --log --sort length --limit 10" },
	{ "lttng-memtop", "report memory" },
	{ "lttng-syscallstats", "report syscalls; per process: report syscalls --sum-by process" },
	{ "--gmt; --procname A,B", "mean --utc; --comm A --comm B" },
	{ NULL, NULL },
};

const struct manual_item manual_of_bcc[] = {
	{ "runqlat", "report sched --sum-by host --freq; per thread: report sched --freq" },
	{ "runqslower", "report sched --log --min 10ms" },
	{ "offcputime", "report blocking; each wait: report blocking --log" },
	{ "biolatency", "report disks --freq" },
	{ "biosnoop", "report disks --log" },
	{ "biotop", "report io --sort disk_wait_ns" },
	{ "filetop", "report files --sum-by file --limit 10" },
	{ "syscount", "report syscalls --sum-by call" },
	{ "hardirqs, softirqs", "report irqs --freq" },
	{ "tcptop, tcplife, tcpconnect, tcpaccept", "report connections" },
	{ "opensnoop", "attach -qq -n '*' -e open,openat" },
	{ "execsnoop", "attach -qq -n '*' -e execve" },
	{ NULL, NULL },
};

static const char *find_item(const struct manual_item *items, const char *name)
{
	const char *found = NULL;

	for (const struct manual_item *item = items; item->term && !found; item++) {
		char **names = g_strsplit(item->term, ", ", -1);

		if (g_strv_contains((const char *const *)names, name))
			found = item->text;
		g_strfreev(names);
	}
	return found;
}

char *manual_instead_of(const char *name)
{
	char *full = g_str_has_prefix(name, "lttng-") ? g_strdup(name) : g_strdup_printf("lttng-%s", name),
	     *text = NULL;
	const char *analysis = find_item(manual_of_analyses, full), *tool = find_item(manual_of_bcc, name);

	if (analysis || tool)
		text = g_strdup_printf("instead of %s, use: %s", analysis ? full : name, analysis ? analysis : tool);
	g_free(full);
	return text;
}
