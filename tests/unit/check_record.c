/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that `record` enables, its plans, and the commands it prints. No tracer is needed here. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "control/commands.h"
#include "control/fault.h"
#include "control/perf.h"
#include "control/plan.h"
#include "control/relay.h"
#include "event/tracepoints.h"

enum { FIRST_TRACEPOINT = EVENT_PROBE + 1 };

/* Tracepoints that the program reads but no set enables: of other tracers or old kernels, or redundant ones. */
/* clang-format off */
static const char *const left_out[] = {
	"sched_wakeup", /* sched_waking comes earlier */
	"task_rename", "cpuhp_exit", /* not in lttng-modules */
	"addons_elv_merge_requests", /* in a separate module */
	"block_bio_queue", /* same as block_getrq, except for mapped devices */
	"writeback_dirty_folio",      /* one for each page */
	"writeback_mark_inode_dirty", /* three */
	"writeback_single_inode",     /* of use only with those */
	"block_rq_abort", /* kernels before 3.x */
	"x86_irq_vectors_reschedule_entry", "x86_irq_vectors_reschedule_exit", /* x86 only, rarely wanted */
	"x86_irq_vectors_local_timer_entry", "x86_irq_vectors_local_timer_exit",
	"net_if_receive_skb_entry", "net_if_receive_skb_exit", /* the softirq around them shows nearly as much */
	"inet_sock_local_out", "inet_sock_local_in", /* in another separate module */
	"common_interrupt_entry", "common_interrupt_exit", /* function probes, which users add themselves */
	"netif_receive_skb_internal_entry", "netif_receive_skb_internal_exit",
	"lttng_ust_tracef:event", "lttng_logger", /* messages of the machine about itself, if it sends any */
};
/* clang-format on */

static char *first_name(const char *names)
{
	return g_strndup(names, strcspn(names, " "));
}

static bool in_set(const char *name)
{
	unsigned n;
	const struct record_set_event *events = record_set_events(&n);

	for (unsigned i = 0; i < n; i++)
		if (!strcmp(events[i].name, name))
			return true;
	return false;
}

/* Every tracepoint that a table needs is in the set full; the others are too, or are left out on purpose. */
/* Where lttng can choose: relayds before 2.15 refuse CTF 2. */
#define OLD_FORMAT "$(lttng create --list-options | grep -qx -- --trace-format && echo --trace-format=ctf-1.8)"

START_TEST(test_full_has_what_is_read)
{
	for (int kind = FIRST_TRACEPOINT; kind < EVENT_KINDS; kind++) {
		const struct tracepoint_desc *d = tracepoint_desc(kind);
		char *name = first_name(d->names);
		bool out = false;

		for (size_t i = 0; i < G_N_ELEMENTS(left_out); i++)
			out |= !strcmp(left_out[i], name);
		if (tracepoint_enters_call(kind) || kind == EVENT_SYSCALL_EXIT)
			ck_assert(in_set("*"));
		else if (d->need)
			ck_assert_msg(in_set(name), "%s is needed and in no set", name);
		else
			ck_assert_msg(in_set(name) != out, "%s: in a set or left out?", name);
		g_free(name);
	}
}
END_TEST

/* No row twice, none for a tracepoint that is not read, each with its current name. */
START_TEST(test_sets_have_nothing_else)
{
	unsigned n;
	const struct record_set_event *events = record_set_events(&n);

	for (unsigned i = 0; i < n; i++) {
		enum event_kind kind;
		char *name;

		ck_assert_int_ne(events[i].set, RECORD_SET_NONE);
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(events[i].name, events[k].name);
		/* attach reads the latter with all its fields */
		if (events[i].kind == RECORD_SYSCALLS || !strcmp(events[i].name, "signal_deliver"))
			continue;
		kind = tracepoint_find(events[i].name, NULL);
		ck_assert_msg(kind != EVENT_OTHER, "nobody reads %s", events[i].name);
		name = first_name(tracepoint_desc(kind)->names);
		ck_assert_str_eq(name, events[i].name);
		g_free(name);
	}
}
END_TEST

START_TEST(test_contexts_once)
{
	unsigned n;
	const struct record_set_context *contexts = record_set_contexts(&n);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(contexts[i].name, contexts[k].name);
}
END_TEST

static GPtrArray *texts(const char *const *list)
{
	GPtrArray *array = g_ptr_array_new();

	for (; list && *list; list++)
		g_ptr_array_add(array, (gpointer)*list);
	return array;
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A request in a form that is easy to write in a test. */
struct asked {
	struct record_request request;
	const char *const *events, *const *contexts, *const *perf, *const *kprobes, *const *ust, *const *hosts;
	const char *const *command;
	int32_t pid, vpid;
};

static struct record_plan *plan(const struct asked *asked)
{
	struct record_request r = asked->request;
	GPtrArray *arrays[] = { texts(asked->events),  texts(asked->contexts), texts(asked->perf),
				texts(asked->kprobes), texts(asked->ust),      texts(asked->hosts) };
	GArray *pids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	GArray *vpids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	struct record_plan *result;

	r.events = arrays[0];
	r.contexts = arrays[1];
	r.perf = arrays[2];
	r.kprobes = arrays[3];
	r.ust = arrays[4];
	r.hosts = arrays[5];
	r.pids = pids;
	r.vpids = vpids;
	r.command = (char *const *)asked->command;
	r.session = r.session ? r.session : "s";
	r.live_timer_ns = r.live_timer_ns ? r.live_timer_ns : 1000000000;
	if (asked->pid)
		g_array_append_val(pids, asked->pid);
	if (asked->vpid)
		g_array_append_val(vpids, asked->vpid);
	result = record_plan_create(&r);
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_ptr_array_free(arrays[i], TRUE);
	g_array_free(pids, TRUE);
	g_array_free(vpids, TRUE);
	return result;
}

/* A line with the script that ssh runs on a host written as "ssh HOST: SCRIPT"; it must be one for sh. Frees it. */
static char *unquote_remote(char *line)
{
	const char *ssh = strstr(line, "ssh ");
	char **words = NULL, **remote = NULL, *result;
	const char *end;
	int n = 0;

	if (!ssh)
		return line;
	end = strstr(ssh, "' | tar "); /* what follows the script */
	end = end ? end + 1 : ssh + strlen(ssh);
	result = g_strndup(ssh, (gsize)(end - ssh));
	ck_assert_msg(g_shell_parse_argv(result, &n, &words, NULL) && n == 3, "%s", line);
	ck_assert_msg(g_shell_parse_argv(words[2], &n, &remote, NULL) && n == 3, "%s", line);
	ck_assert_str_eq(remote[0], "sh");
	ck_assert_str_eq(remote[1], "-c");
	g_free(result);
	result = g_strdup_printf("%.*sssh %s: %s%s", (int)(ssh - line), line, words[1], remote[2], end);
	g_strfreev(words);
	g_strfreev(remote);
	g_free(line);
	return result;
}

/* The script for a request must be exactly these lines; a line that ends in "..." may be longer. */
static void expect(const struct asked *asked, const char *const *lines)
{
	struct record_plan *p = plan(asked);
	char *script, **got;
	unsigned i;

	ck_assert_msg(p, "%s", error_text());
	script = commands_script(p);
	got = g_strsplit(script, "\n", -1);
	for (i = 0; lines[i]; i++) {
		const size_t len = strlen(lines[i]);
		const bool open = g_str_has_suffix(lines[i], "...");

		ck_assert_msg(got[i] && *got[i], "line %u is missing: %s", i, lines[i]);
		got[i] = unquote_remote(got[i]);
		ck_assert_msg(open ? !strncmp(got[i], lines[i], len - 3) : !strcmp(got[i], lines[i]),
			      "line %u is %s\nnot %s", i, got[i], lines[i]);
	}
	ck_assert_msg(!*got[i] && !got[i + 1], "more lines: %s", got[i]);
	g_strfreev(got);
	g_free(script);
	record_plan_destroy(p);
}

/* LTTng before 2.12 does not have it: not an error. */
#define USER_PID_NS                                                                                                 \
	"{ lttng add-context --userspace --session=s --channel=user --type=pid_ns 2>/dev/null || for c in pid_ns; " \
	"do lttng add-context --userspace --session=s --channel=user --type=$c 2>/dev/null || echo missing: "       \
	"user-space context $c; done; }"

START_TEST(test_script_to_disk)
{
	const struct asked asked = { .request = { .output = "/tmp/a b", .set = "minimal" } };

	expect(&asked,
	       LIST("lttng create s '--output=/tmp/a b'",
		    "lttng enable-channel --kernel --session=s --subbuf-size=262144 --num-subbuf=4 --discard "
		    "--switch-timer=1000000 kernel",
		    "t=$(lttng list --kernel)", "t=\" $(printf %s \"$t\" | tr -cs a-zA-Z0-9_ ' ') \"",
		    "e=; for n in sched_switch sched_process_fork sched_process_exec sched_process_exit "
		    "sched_process_free lttng_statedump_start lttng_statedump_end lttng_statedump_process_state "
		    "lttng_statedump_process_pid_ns lttng_statedump_process_cgroup_ns lttng_statedump_cpu_topology; do "
		    "case $t in *\" $n \"*) e=$e,$n;; *) echo missing: tracepoint $n;; esac; done; "
		    "lttng enable-event --kernel --session=s --channel=kernel \"${e#,}\"",
		    "{ lttng add-context --kernel --session=s --channel=kernel --type=tid --type=pid --type=procname "
		    "2>/dev/null || for c in tid pid procname; do lttng add-context --kernel --session=s "
		    "--channel=kernel "
		    "--type=$c 2>/dev/null || echo missing: context $c; done; }",
		    "lttng start s"));
}
END_TEST

static bool plan_has(const struct record_plan *p, const char *name)
{
	const struct record_channel *c = record_plan_channel(p, RECORD_KERNEL);

	for (guint i = 0; i < c->events->len; i++)
		if (strcmp(g_array_index(c->events, struct record_event, i).name, name) == 0)
			return true;
	return false;
}

/* They are in no set, and can be added to any, in any order. */
START_TEST(test_additions)
{
	static const struct {
		const char *set, *words;
		bool switches, calls, pages;
	} cases[] = {
		{ NULL, "full", true, true, false },
		{ "full", "full", true, true, false },
		{ "full,memory", "full,memory", true, true, true },
		{ "memory,minimal", "minimal,memory", true, false, true },
		{ "memory", "full,memory", true, true, true },
		{ "none,memory", "none,memory", false, false, true },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct asked asked = { .request = { .output = "/o", .set = cases[i].set } };
		struct record_plan *p = plan(&asked);

		ck_assert_str_eq(p->set, cases[i].words);
		ck_assert_int_eq(plan_has(p, "sched_switch"), cases[i].switches);
		ck_assert_int_eq(plan_has(p, "*"), cases[i].calls);
		ck_assert_int_eq(plan_has(p, "kmem_mm_page_alloc"), cases[i].pages);
		ck_assert_int_eq(plan_has(p, "x86_exceptions_page_fault_kernel"), cases[i].pages);
		record_plan_destroy(p);
	}
}
END_TEST

START_TEST(test_script_of_everything)
{
	const struct asked asked = {
		.request = { .output = "/o", .buffer_bytes = 1000000 },
		.events = LIST("kmem_mm_page_alloc", "sched_switch"),
		.contexts = LIST("nice", "tid"),
		.perf = LIST("page-fault", "perf:cpu:cycles"),
		.kprobes = LIST("a=vfs_read", "b=vfs_write+16", "c=0xffff0"),
		.ust = LIST("app:*", "app:one"),
		.pid = 7,
		.vpid = 8,
		.command = LIST("echo", "it's", "", "$HOME"),
	};

	expect(&asked,
	       LIST("{ ls /sys/bus/event_source/devices/*/events 2>/dev/null | grep -qx cpu-cycles || { echo \"this "
		    "machine does not list counter cycles: the kernel may crash\" >&2; false; }; } && lttng "
		    "create "
		    "s --output=/o",
		    "lttng enable-channel --kernel --session=s --subbuf-size=131072 --num-subbuf=4 --discard "
		    "--switch-timer=1000000 kernel",
		    "t=$(lttng list --kernel)", "t=\" ...", "e=; for n in sched_process_fork ...",
		    "case $t in *' sched_switch '*);; *) echo 'this kernel has no tracepoint sched_switch' >&2; "
		    "false;; esac && case $t in *' kmem_mm_page_alloc '*);; *) echo 'this kernel has no tracepoint "
		    "kmem_mm_page_alloc' >&2; false;; esac && lttng enable-event --kernel --session=s "
		    "--channel=kernel sched_switch,kmem_mm_page_alloc",
		    "lttng enable-event --kernel --session=s --channel=kernel --syscall --all",
		    "lttng enable-event --kernel --session=s --channel=kernel --probe=vfs_read+0x0 a",
		    "lttng enable-event --kernel --session=s --channel=kernel --probe=vfs_write+0x10 b",
		    "lttng enable-event --kernel --session=s --channel=kernel --probe=0xffff0 c",
		    "{ lttng add-context --kernel --session=s --channel=kernel --type=pid --type=procname --type=ppid "
		    "--type=vtid --type=vpid --type=vppid --type=pid_ns --type=cgroup_ns --type=user_ns --type=net_ns "
		    "--type=uid 2>/dev/null || for c in pid ...",
		    "lttng add-context --kernel --session=s --channel=kernel --type=nice --type=tid "
		    "--type=perf:cpu:page-fault --type=perf:cpu:cycles",
		    "lttng enable-channel --userspace --session=s --subbuf-size=131072 --num-subbuf=4 --discard "
		    "--switch-timer=1000000 user",
		    "lttng enable-event --userspace --session=s --channel=user 'app:*,app:one'", USER_PID_NS,
		    "lttng add-context --userspace --session=s --channel=user --type=vpid --type=vtid --type=procname",
		    "lttng track --kernel --session=s --pid=7", "lttng track --kernel --session=s --vpid=8",
		    "lttng track --userspace --session=s --vpid=8", "lttng start s", "echo 'it'\\''s' '' '$HOME'",
		    "lttng stop s", "lttng destroy s"));
}
END_TEST

#define PRIO_KNOWN "echo \"context prio: lttng-modules $v crashes the kernel with it: update to 2.13.11 or later\" >&2"
#define PRIO_UNKNOWN                                                                         \
	"echo \"context prio: some versions of lttng-modules crash the kernel with it, and " \
	"the version here is unknown\" >&2"
#define PRIO_GUARD(unknown, known)                                                 \
	"{ v=$(cat /sys/module/lttng_tracer/version 2>/dev/null || "               \
	"/sbin/modinfo -F version lttng_tracer 2>/dev/null) || " unknown "; } && " \
	"case ${v%%-*} in 2.13.[0-9]|2.13.10) " known ";; esac && lttng create s --output=/o"

/* If a context would crash the kernel, no session is created, and the rest has no effect. */
START_TEST(test_script_of_a_fault)
{
	const char guard[] = PRIO_GUARD("{ " PRIO_UNKNOWN "; false; }", "{ " PRIO_KNOWN "; false; }");
	const char warning[] = PRIO_GUARD(PRIO_UNKNOWN, PRIO_KNOWN);
	struct asked asked = { .request = { .output = "/o", .set = "minimal" }, .contexts = LIST("prio") };

	expect(&asked, LIST(guard, "lttng enable-channel ...", "t=...", "t=...", "e=...", "{ lttng add-context ...",
			    "lttng add-context --kernel --session=s --channel=kernel --type=prio", "lttng start s"));
	asked.request.unsafe = true;
	expect(&asked, LIST(warning, "lttng enable-channel ...", "t=...", "t=...", "e=...", "{ lttng add-context ...",
			    "lttng add-context --kernel --session=s --channel=kernel --type=prio", "lttng start s"));
}
END_TEST

/* Counters that every machine has are not checked; counters that no kernel lists are not trusted. */
START_TEST(test_counters_elsewhere)
{
	char *test = perf_counter_test(perf_counter_find("branches"));

	ck_assert_ptr_null(perf_counter_test(perf_counter_find("page-fault")));
	ck_assert_str_eq(test, "ls /sys/bus/event_source/devices/*/events 2>/dev/null | grep -qx branch-instructions");
	g_free(test);
}
END_TEST

/* A context of a set may be left out, but must never crash a kernel. */
START_TEST(test_sets_have_no_fault)
{
	unsigned n;
	const struct record_set_context *contexts = record_set_contexts(&n);

	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(!fault_find(contexts[i].name), "%s is in a set", contexts[i].name);
	ck_assert_ptr_nonnull(fault_find("prio"));
}
END_TEST

START_TEST(test_script_live)
{
	const struct asked asked = {
		.request = { .live = "net://web:5342", .live_timer_ns = 200000000, .set = "none" },
		.kprobes = LIST("a=vfs_read"),
	};

	expect(&asked,
	       LIST("lttng create s --live=200000 --set-url=net://web:5342 " OLD_FORMAT,
		    "lttng enable-channel --kernel --session=s --subbuf-size=32768 --num-subbuf=32 --discard kernel",
		    "lttng enable-event --kernel --session=s --channel=kernel --probe=vfs_read+0x0 a",
		    "{ lttng add-context ...", "lttng start s"));
}
END_TEST

START_TEST(test_script_snapshot)
{
	const struct asked asked = {
		.request = { .output = "/o", .snapshot = true, .track_command = true },
		.ust = LIST("a:b"),
		.command = LIST("./x", "y"),
	};

	expect(&asked,
	       LIST("lttng create s --snapshot --output=/o",
		    "lttng enable-channel --userspace --session=s --subbuf-size=524288 --num-subbuf=4 --overwrite user",
		    "lttng enable-event --userspace --session=s --channel=user a:b", USER_PID_NS,
		    "lttng add-context --userspace --session=s --channel=user --type=vpid --type=vtid --type=procname",
		    "sh -c 'lttng track --userspace --session=s --vpid=$$ && lttng start s && exec \"$@\"' sh ./x y",
		    "lttng snapshot record --session=s", "lttng stop s", "lttng destroy s"));
}
END_TEST

/*
 * The state dump is repeated, once soon and then periodically, until the session is gone. Not for recordings on disk.
 */
START_TEST(test_script_redump)
{
	struct asked asked = { .request = { .live = "net://web", .statedump_ns = 60000000000 }, .ust = LIST("a:b") };
	struct asked disk = { .request = { .output = "/o", .statedump_ns = 60000000000 }, .ust = LIST("a:b") };
	const char loop[] = "(i=55; while sleep 5 && lttng --no-sessiond list s; do i=$((i+5)); [ $i -lt 60 ] || { "
			    "i=0; lttng --no-sessiond regenerate statedump --session=s; }; done) </dev/null "
			    ">/dev/null 2>&1 &";
	char *line = g_strdup_printf("ssh h: lttng start s && { %s }", loop);

	expect(&asked,
	       LIST("lttng create ...", "lttng ...", "lttng ...", USER_PID_NS, "lttng ...", "lttng start s", loop));
	expect(&disk, LIST("lttng create ...", "lttng ...", "lttng ...", USER_PID_NS, "lttng ...", "lttng start s"));
	asked.hosts = LIST("h");
	expect(&asked, LIST("ssh h: ...", line));
	g_free(line);
}
END_TEST

/* Does nothing if only the recording is there: it was stopped before, but could not be fetched. */
#define STOP                                                                                  \
	"test -d ~/.cache/lttngtop/'s' && ! lttng --no-sessiond list s >/dev/null 2>&1 || { " \
	"lttng stop s; lttng destroy s; }"

/* One line for each host and step; a failed step leaves nothing behind. */
START_TEST(test_script_hosts)
{
	const struct asked asked = {
		.request = { .live = "web" },
		.ust = LIST("a:b"),
		.hosts = LIST("root@a", "b"),
		.command = LIST("true"),
	};
	const struct asked counter = {
		.request = { .live = "web", .set = "minimal" },
		.perf = LIST("cycles"),
		.hosts = LIST("b"),
	};

	expect(&asked,
	       LIST("ssh root@a: trap '' PIPE; lttng create s --live=1000000 --set-url=net://web " OLD_FORMAT
		    " && { lttng "
		    "enable-channel ...",
		    "ssh b: trap '' PIPE; lttng create s --live=1000000 --set-url=net://web " OLD_FORMAT " && { lttng "
		    "enable-channel --userspace --session=s --subbuf-size=524288 --num-subbuf=4 --discard user && "
		    "lttng enable-event --userspace --session=s --channel=user a:b && " USER_PID_NS
		    " && lttng add-context --userspace "
		    "--session=s --channel=user --type=vpid --type=vtid --type=procname && echo done || { lttng "
		    "destroy s; false; }; }",
		    "ssh root@a: lttng start s", "ssh b: lttng start s", "true", "ssh root@a: " STOP, "ssh b: " STOP));
	expect(&counter, LIST("ssh b: trap '' PIPE; { ls /sys/bus/event_source/devices/*/events 2>/dev/null | grep -qx "
			      "cpu-cycles || ...",
			      "ssh b: lttng start s"));
}
END_TEST

#define IF_EMPTY                                                                                                      \
	"test -z \"$(ls -A \"$d\" 2>/dev/null)\" || { echo \"directory '$d' is not empty: fetch the recording in it " \
	"with 'lttngtop record stop', or remove it\" >&2; false; } && "

/* Hosts that do not stream: their recordings are fetched, each into its own directory. */
START_TEST(test_script_fetch)
{
	const struct asked asked = {
		.request = { .output = "/o", .session = "s" },
		.ust = LIST("a:b"),
		.hosts = LIST("root@a", "ssh://../b"),
		.command = LIST("true"),
	};
	const struct asked odd = { .request = { .output = "/o", .session = "a;b" }, .hosts = LIST("a") };

	expect(&asked,
	       LIST("ssh root@a: trap '' PIPE; d=~/.cache/lttngtop/'s'; " IF_EMPTY "lttng create s "
		    "--output=\"$d\" && { lttng ...",
		    "ssh ssh://../b: trap '' PIPE; d=~/.cache/...", "ssh root@a: lttng start s",
		    "ssh ssh://../b: lttng start s", "true", "ssh root@a: test -d ...", "ssh ssh://../b: test -d ...",
		    "mkdir -p /o/root@a && ssh root@a: if test -d ~/.cache/lttngtop/'s'; then tar -C "
		    "~/.cache/lttngtop/'s' -cf - .; else tar -cf - -T /dev/null; fi | tar -C /o/root@a -xf -",
		    "mkdir -p /o/ssh:__.._b && ...", "ssh root@a: rm -rf ~/.cache/lttngtop/'s'",
		    "ssh ssh://../b: rm ..."));
	expect(&odd, LIST("ssh a: trap '' PIPE; d=~/.cache/lttngtop/'a;b'; " IF_EMPTY "lttng create 'a;b' "
			  "...",
			  "ssh a: ..."));
}
END_TEST

START_TEST(test_ipv6_host)
{
	ck_assert_int_eq(record_host_check("::1"), LT_OK);
	ck_assert_int_eq(record_host_check("root@fe80::1%eth0"), LT_OK);
}
END_TEST

START_TEST(test_refused)
{
	const struct {
		struct asked asked;
		const char *error;
	} cases[] = {
		{ { .request = { .live = "net://a", .output = "o" } },
		  "'--live' and '--output' cannot be used together" },
		{ { .request = { .live = "net://a", .snapshot = true } },
		  "'--live' and '--snapshot' cannot be used together" },
		{ { .request = { .live = "tcp://a" } }, "option '--live': 'tcp://a' is not a valid relayd URL" },
		{ { .request = { .set = "most" } }, "option '--set': 'most' is not a set" },
		{ { .request = { .set = "" } }, "option '--set': '' is not a set" },
		{ { .request = { .set = "full,most" } }, "option '--set': 'most' is not a set" },
		{ { .request = { .set = "full,minimal" } }, "option '--set': 'full,minimal' names two sets" },
		{ { .request = { .set = "none" } }, "nothing to record" },
		{ { .request = { .set = "none" }, .ust = LIST("a:b"), .pid = 1 },
		  "'--perf', '--context' and '--pid' need kernel events" },
		{ { .request = { .session = "a/b" } }, "option '--session': 'a/b' is not a valid session name" },
		{ { .request = { .session = "a\033]0;b\007" } },
		  "option '--session': 'a\033]0;b\007' is not a valid session name: no blanks" },
		{ { .hosts = LIST("a\033]0;b\007") }, "option '--host': 'a\033]0;b\007' is not a valid host" },
		{ { .hosts = LIST("root@web:22") },
		  "option '--host': 'root@web:22' is not a valid host: ssh takes the port from ~/.ssh/config" },
		{ { .hosts = LIST("root@[::1]") },
		  "option '--host': 'root@[::1]' is not a valid host: give the IPv6 address without brackets" },
		{ { .request = { .session = "../b" } }, "option '--session'" },
		{ { .request = { .session = "-x" } }, "option '--session'" },
		{ { .request = { .buffer_bytes = 65535 } }, "option '--buffer-size'" },
		{ { .request = { .track_command = true } }, "'--track-command' needs a command" },
		{ { .events = LIST("a,b") }, "option '--event': 'a,b' is not a valid name" },
		{ { .ust = LIST("--all") }, "option '--ust': '--all' is not a valid name" },
		{ { .contexts = LIST("color") }, "option '--context': unknown context 'color'" },
		{ { .perf = LIST("beauty") }, "option '--perf': unknown counter 'beauty'" },
		{ { .kprobes = LIST("vfs_read") }, "option '--kprobe': 'vfs_read' is not a valid probe" },
		{ { .kprobes = LIST("a=") }, "option '--kprobe': 'a=' is not a valid probe" },
		{ { .kprobes = LIST("a=b+") }, "option '--kprobe': 'a=b+' is not a valid probe" },
		{ { .kprobes = LIST("a=0xyz") }, "option '--kprobe': 'a=0xyz' is not a valid probe" },
		{ { .kprobes = LIST("a=b", "a=c") }, "option '--kprobe': probe 'a' is given twice" },
		{ { .request = { .live = "a" }, .hosts = LIST("-oProxyCommand=x") }, "option '--host'" },
		{ { .request = { .live = "a" }, .hosts = LIST("a", "a") }, "host 'a' is given twice" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert_msg(!plan(&cases[i].asked), "not refused: %s", cases[i].error);
		ck_assert_msg(g_str_has_prefix(error_text(), cases[i].error), "'%s', not '%s'", error_text(),
			      cases[i].error);
	}
}
END_TEST

START_TEST(test_relay_url)
{
	static const struct {
		const char *text, *url, *host;
	} cases[] = {
		{ "net://web", "net://web", "web" },
		{ "web:1:2/", "net://web:1:2", "web" },
		{ "net4://10.0.0.1:5342", "net4://10.0.0.1:5342", "10.0.0.1" },
		{ "net6://[::1]:1", "net6://[::1]:1", "[::1]" },
		{ "", NULL, NULL },
		{ "net://", NULL, NULL },
		{ "net://-x", NULL, NULL },
		{ "net://a b", NULL, NULL },
		{ "net://a:0", NULL, NULL },
		{ "net://a:65536", NULL, NULL },
		{ "net://a:1:2:3", NULL, NULL },
		{ "net://a/host/b/c", NULL, NULL },
		{ "net6://[::1", NULL, NULL },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *url = relay_url(cases[i].text);
		char *host = url ? relay_host(url) : NULL;

		ck_assert_msg(!g_strcmp0(url, cases[i].url), "%s gives %s", cases[i].text, url);
		ck_assert_msg(!g_strcmp0(host, cases[i].host), "%s gives %s", cases[i].text, host);
		g_free(url);
		g_free(host);
	}
}
END_TEST

/* How to view it: the directory, the session on its relayd, or, for several hosts, the relayd. */
START_TEST(test_source)
{
	const struct asked disk = { .request = { .output = "/o/../p" } };
	const struct asked live = { .request = { .live = "net://web:1:2" } };
	const struct asked hosts = { .request = { .live = "net://web:1:2" }, .hosts = LIST("a") };
	const struct asked port = { .request = { .live = "net://web:1:2", .view_port = 3 } };
	const struct asked *const asked[] = { &disk, &live, &hosts, &port };
	char *expected[] = { g_strdup("/p"), g_strdup_printf("net://web/host/%s/s", g_get_host_name()),
			     g_strdup("net://web"), g_strdup_printf("net://web:3/host/%s/s", g_get_host_name()) };

	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		struct record_plan *p = plan(asked[i]);
		char *source = record_plan_source(p);

		ck_assert_str_eq(source, expected[i]);
		g_free(source);
		g_free(expected[i]);
		record_plan_destroy(p);
	}
}
END_TEST

/* A shell must turn the quoted words into the original words. */
START_TEST(test_quoting)
{
	char *words[] = { (char *)"printf",     (char *)"%s|", (char *)"",  (char *)" ",  (char *)"a'b",
			  (char *)"\"$(id)`\\", (char *)"~",   (char *)"*", (char *)"#x", (char *)"a=b",
			  (char *)"-n",         (char *)"ä\n", NULL };
	char *line = commands_quote(words);
	char *argv[] = { (char *)"sh", (char *)"-c", line, NULL };
	char *out = NULL;

	ck_assert(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, NULL, NULL));
	ck_assert_str_eq(out, "| |a'b|\"$(id)`\\|~|*|#x|a=b|-n|ä\n|");
	g_free(out);
	g_free(line);
}
END_TEST

/* A command whose name has a '=' is not an assignment. */
START_TEST(test_quoted_assignment)
{
	static const char *const words[][4] = {
		{ "A=b", "c" }, { "_a1=", "c" }, { "true", "A=b" }, { "-D=b", "1=2", "=x" }
	};
	static const char *const lines[] = { "'A=b' c", "'_a1=' c", "true 'A=b'", "-D=b 1=2 =x" };
	const struct asked asked = { .ust = LIST("a:b"), .command = LIST("A=b", "c") };
	struct record_plan *p = plan(&asked);
	char *script = commands_script(p);

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		char *line = commands_quote((char *const *)words[i]);

		ck_assert_str_eq(line, lines[i]);
		g_free(line);
	}
	ck_assert_msg(strstr(script, "\n'A=b' c\n"), "%s", script);
	g_free(script);
	record_plan_destroy(p);
}
END_TEST

/* In one line, without what csh or fish change within quotes, and sh runs it unchanged. */
START_TEST(test_any_login_shell)
{
	static const char *const scripts[] = {
		"! false && printf '%s|' \"$((1+1))\" 'a!b' '\\\\' \\\\ `echo x`\nprintf '\\n%%\\tä'\n",
		"printf '%s' plain"
	};
	static const char *const outputs[] = { "2|a!b|\\\\|\\|x|\n%\tä", "plain" };

	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
		char *line = commands_for_ssh(scripts[i]), *out = NULL;
		char *argv[] = { (char *)"sh", (char *)"-c", line, NULL };

		if (!i)
			ck_assert_msg(!strpbrk(line, "\n!") && !strstr(line, "\\\\") && !strstr(line, "\\'"), "%s",
				      line);
		ck_assert(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, NULL, NULL));
		ck_assert_str_eq(out, outputs[i]);
		g_free(out);
		g_free(line);
	}
}
END_TEST

START_TEST(test_perf_counters)
{
	ck_assert_ptr_eq(perf_counter_find("perf:cpu:page-fault"), perf_counter_find("page-fault"));
	ck_assert(!perf_counter_is_hardware(perf_counter_find("page-fault")));
	ck_assert(perf_counter_is_hardware(perf_counter_find("instructions")));
	ck_assert(perf_counter_is_hardware(perf_counter_find("LLC-load-misses")));
	ck_assert_ptr_null(perf_counter_find("page-faul"));
}
END_TEST

/* On a machine without a PMU, no hardware counter is even tried. */
START_TEST(test_perf_probe)
{
	GDir *dir = g_dir_open(PERF_SOURCES, 0, NULL);
	const char *name;
	bool unit = false;

	while (dir && (name = g_dir_read_name(dir)))
		unit |= g_str_has_prefix(name, "cpu") || g_str_has_prefix(name, "arm");
	if (dir)
		g_dir_close(dir);
	if (unit)
		return;
	ck_assert_int_eq(perf_counter_probe(perf_counter_find("instructions")), LT_ERROR);
	ck_assert_str_eq(error_text(),
			 "counter 'instructions' is not available: this machine has no performance monitoring unit");
}
END_TEST

UNIT_MAIN("record", test_full_has_what_is_read, test_sets_have_nothing_else, test_contexts_once,
	  test_sets_have_no_fault, test_script_to_disk, test_additions, test_script_of_everything,
	  test_script_of_a_fault, test_counters_elsewhere, test_script_live, test_script_redump, test_script_snapshot,
	  test_script_hosts, test_script_fetch, test_ipv6_host, test_refused, test_relay_url, test_source, test_quoting,
	  test_quoted_assignment, test_any_login_shell, test_perf_counters, test_perf_probe)
