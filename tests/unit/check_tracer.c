/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for a kernel tracer that lacks features or has a known fault, with a fake liblttng-ctl. */
#include "unit.h"

#include <fnmatch.h>
#include <glib.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/fault.h"
#include "control/plan.h"
#include "control/process.h"
#include "control/sessions.h"
#include "control/tracer.h"

/* What the fake tracer lacks, and its version; NULL: nothing, no version. */
static enum lttng_event_context_type lacking;
static int lacking_code;
static const char *version;
static const char *listed = "sched_switch"; /* the existing tracepoints, separated by spaces */

static unsigned added[LTTNG_EVENT_CONTEXT_VSGID + 1];
static bool interrupt; /* interrupts the enabling of events */
static bool hangs;     /* a session is never removed; a further signal comes when the first one has been taken */
static unsigned sessions;
static GString *enabled; /* ",NAME" of each event */

int lttng_list_sessions(struct lttng_session **list)
{
	*list = NULL;
	return 0;
}

int lttng_list_tracepoints(struct lttng_handle *handle, struct lttng_event **list)
{
	char **names = g_strsplit(listed, " ", -1);
	const int n = (int)g_strv_length(names);

	(void)handle;
	*list = g_new0(struct lttng_event, n);
	for (int i = 0; i < n; i++)
		g_strlcpy((*list)[i].name, names[i], sizeof((*list)[i].name));
	g_strfreev(names);
	return n;
}

enum lttng_error_code lttng_create_session_ext(struct lttng_session_descriptor *d)
{
	(void)d;
	sessions++;
	return LTTNG_OK;
}

int lttng_destroy_session(const char *name)
{
	(void)name;
	while (hangs && process_is_interrupted())
		g_usleep(1000);
	if (hangs)
		kill(getpid(), SIGINT);
	while (hangs)
		pause();
	sessions--;
	return 0;
}

int lttng_enable_channel(struct lttng_handle *handle, struct lttng_channel *channel)
{
	(void)handle;
	(void)channel;
	return 0;
}

int lttng_enable_event_with_filter(struct lttng_handle *handle, struct lttng_event *event, const char *channel,
				   const char *filter)
{
	(void)handle;
	(void)channel;
	g_string_append_printf(enabled, ",%s%s", event->name, filter ? filter : "");
	if (interrupt)
		raise(SIGINT);
	return 0;
}

int lttng_add_context(struct lttng_handle *handle, struct lttng_event_context *context, const char *event,
		      const char *channel)
{
	(void)handle;
	(void)event;
	(void)channel;
	if (lacking_code && context->ctx == lacking)
		return -lacking_code;
	added[context->ctx]++;
	return 0;
}

/* The only file that control/ reads in this way in these tests. */
gboolean g_file_get_contents(const gchar *path, gchar **text, gsize *length, GError **error)
{
	(void)length;
	(void)error;
	ck_assert_str_eq(path, TRACER_VERSION_FILE);
	*text = g_strdup(version);
	return version != NULL;
}

/* Additions to the largest set; NULL: none. */
struct asked {
	const char *context, *perf, *event, *kprobe, *ust, *call_filter;
	bool unsafe;
};

static GPtrArray *list_of(const char *text)
{
	GPtrArray *list = g_ptr_array_new();

	if (text)
		g_ptr_array_add(list, (gpointer)text);
	return list;
}

/* If it succeeds, the session exists. */
static enum lt_status record_with(const struct asked *asked)
{
	GPtrArray *lists[] = { list_of(asked->context), list_of(asked->perf), list_of(asked->event),
			       list_of(asked->kprobe), list_of(asked->ust) };
	const struct record_request request = { .session = "s",
						.output = "/nowhere",
						.live_timer_ns = 1,
						.unsafe = asked->unsafe,
						.contexts = lists[0],
						.perf = lists[1],
						.events = lists[2],
						.kprobes = lists[3],
						.ust = lists[4] };
	struct record_plan *plan;
	enum lt_status status;

	if (enabled)
		g_string_free(enabled, TRUE);
	enabled = g_string_new(NULL);
	plan = record_plan_create(&request);
	ck_assert_msg(plan, "%s", error_text());
	plan->call_filter = g_strdup(asked->call_filter);
	status = tracer_probe(plan);
	if (!status)
		status = tracer_setup(plan);
	record_plan_destroy(plan);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		g_ptr_array_free(lists[i], TRUE);
	return status;
}

static enum lt_status record(const char *context)
{
	return record_with(&(struct asked){ .context = context });
}

static bool is_logged(const char *text)
{
	for (unsigned i = 0; i < log_count(); i++)
		if (strstr(log_get(i)->text, text))
			return true;
	return false;
}

START_TEST(test_all_contexts)
{
	ck_assert_msg(!record(NULL), "%s", error_text());
	ck_assert_uint_eq(sessions, 1);
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_TID], 1);
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_NET_NS], 1);
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_PRIO], 0);
	ck_assert(!is_logged("no context"));
}
END_TEST

/* The tracer lacks a context of a set: the rest is recorded, and a message says so. */
START_TEST(test_context_left_out)
{
	static const int codes[] = { LTTNG_ERR_KERN_CONTEXT_UNAVAILABLE, LTTNG_ERR_KERN_CONTEXT_FAIL };

	lacking = LTTNG_EVENT_CONTEXT_USER_NS;
	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
		lacking_code = codes[i];
		ck_assert_msg(!record(NULL), "%s", error_text());
		ck_assert_uint_eq(sessions, i + 1);
		ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_NET_NS], i + 1);
		ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_USER_NS], 0);
		ck_assert(is_logged("this kernel's tracer has no context 'user_ns', so these will be missing: its user "
				    "namespace"));
	}
}
END_TEST

/* Containers of programs are recognized by a context that LTTng before 2.12 lacks for user space. */
START_TEST(test_user_contexts)
{
	ck_assert_msg(!record_with(&(struct asked){ .ust = "a:b" }), "%s", error_text());
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_PID_NS], 1);
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_VTID], 1);
	ck_assert(!is_logged("no user-space context"));
	lacking = LTTNG_EVENT_CONTEXT_PID_NS;
	lacking_code = LTTNG_ERR_UST_CONTEXT_INVAL;
	ck_assert_msg(!record_with(&(struct asked){ .ust = "a:b" }), "%s", error_text());
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_VTID], 2);
	ck_assert(is_logged("this version of LTTng has no user-space context 'pid_ns', so these will be missing: PID "
			    "namespaces of programs"));
	lacking_code = LTTNG_ERR_NO_SESSIOND;
	ck_assert_int_eq(record_with(&(struct asked){ .ust = "a:b" }), LT_ERROR);
}
END_TEST

/* The same context requested by name, and other failures of a set's context. */
START_TEST(test_context_refused)
{
	lacking = LTTNG_EVENT_CONTEXT_USER_NS;
	lacking_code = LTTNG_ERR_KERN_CONTEXT_UNAVAILABLE;
	ck_assert_int_eq(record("user_ns"), LT_ERROR);
	ck_assert_str_eq(error_text(), "session 's': channel 'kernel': context 'user_ns': this kernel's tracer has no "
				       "such context");
	ck_assert_uint_eq(sessions, 0);
	lacking_code = LTTNG_ERR_UND;
	ck_assert_int_eq(record(NULL), LT_ERROR);
	ck_assert(strstr(error_text(), "its version of LTTng differs from liblttng-ctl's"));
	lacking_code = LTTNG_ERR_NO_SESSIOND;
	ck_assert_int_eq(record(NULL), LT_ERROR);
	ck_assert_uint_eq(sessions, 0);
}
END_TEST

START_TEST(test_faulty_versions)
{
	static const struct {
		const char *version;
		const char *error; /* NULL: it is accepted */
	} cases[] = {
		{ "2.12.17\n", NULL },
		{ "2.13.0\n",
		  "context 'prio': lttng-modules 2.13.0 crashes the kernel with it: update to 2.13.11 or later" },
		{ "2.13.9", "context 'prio': lttng-modules 2.13.9 crashes" },
		{ "2.13.10-rc1\n", "context 'prio': lttng-modules 2.13.10-rc1 crashes" },
		{ "2.13.10\n", "context 'prio': lttng-modules 2.13.10 crashes" },
		{ "2.13.11\n", NULL },
		{ "2.13.18\n", NULL },
		{ "2.14.0\n", NULL },
		{ NULL, "context 'prio': some versions of lttng-modules crash the kernel with it, and " },
	};
	unsigned taken = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		version = cases[i].version;
		ck_assert_msg(!record(NULL), "%s", error_text());
		ck_assert_msg(record("prio") == (cases[i].error ? LT_ERROR : LT_OK), "version %s", version);
		if (cases[i].error)
			ck_assert_msg(g_str_has_prefix(error_text(), cases[i].error), "%s", error_text());
		taken += !cases[i].error;
		ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_PRIO], taken);
	}
}
END_TEST

/* A tracepoint of a set that the kernel lacks is not even tried; one requested by name is an error. */
START_TEST(test_tracepoints)
{
	ck_assert_msg(!record(NULL), "%s", error_text());
	ck_assert_str_eq(enabled->str, ",sched_switch,*");
	ck_assert(is_logged("this kernel's tracer has no tracepoint 'block_rq_issue', so these will be missing: "
			    "disk requests"));
	ck_assert(!is_logged("'sched_switch'"));
	ck_assert_int_eq(record_with(&(struct asked){ .event = "block_rq_issue" }),
			 LT_ERROR); /* even if a set has it */
	ck_assert_str_eq(error_text(), "this kernel has no tracepoint 'block_rq_issue'");
	ck_assert_int_eq(record_with(&(struct asked){ .event = "nonsense" }), LT_ERROR);
	ck_assert_uint_eq(sessions, 1);
}
END_TEST

/* Only system calls can be filtered: without a switch, the CPU time of other threads would be wrong. */
START_TEST(test_call_filter)
{
	ck_assert_msg(!record_with(&(struct asked){ .call_filter = " not lttng" }), "%s", error_text());
	ck_assert_str_eq(enabled->str, ",sched_switch,* not lttng");
}
END_TEST

START_TEST(test_unsafe)
{
	version = "2.13.9";
	ck_assert_int_eq(record("prio"), LT_ERROR);
	ck_assert(g_str_has_suffix(error_text(), " (--unsafe overrides this)"));
	ck_assert_msg(!record_with(&(struct asked){ .context = "prio", .unsafe = true }), "%s", error_text());
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_PRIO], 1);
	ck_assert(is_logged("context 'prio': lttng-modules 2.13.9 crashes the kernel with it"));
}
END_TEST

/* Perf counters hang the kernel at CPU hotplug: reported once, and refused if hotplug is what is recorded. */
START_TEST(test_counters_and_hotplug)
{
	ck_assert_msg(!record_with(&(struct asked){ .perf = "page-fault" }), "%s", error_text());
	ck_assert_uint_eq(added[LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER], 1);
	ck_assert(is_logged("hangs the kernel when a CPU is taken online or offline: do not hotplug CPUs while it is "
			    "recorded"));
	listed = "cpuhp_enter";
	ck_assert_int_eq(record_with(&(struct asked){ .perf = "page-fault", .event = "cpuhp_enter" }), LT_ERROR);
	ck_assert_msg(g_str_has_prefix(error_text(), "context 'perf:cpu:page-fault' hangs the kernel when a CPU is"),
		      "%s", error_text());
	ck_assert_uint_eq(sessions, 1);
	ck_assert_msg(!record_with(&(struct asked){ .event = "cpuhp_enter" }), "%s", error_text());
}
END_TEST

/* Tracepoints that lttng-modules 2.13 list in the subsystems from which the largest set records. */
#define LISTED_SCHED                                                                                         \
	"sched_kthread_stop sched_kthread_stop_ret sched_waking sched_wakeup sched_wakeup_new sched_switch " \
	"sched_migrate_task sched_process_free sched_process_exit sched_wait_task sched_process_wait "       \
	"sched_process_fork sched_process_exec sched_stat_wait sched_stat_sleep sched_stat_iowait "          \
	"sched_stat_blocked sched_stat_runtime sched_pi_setprio "
#define LISTED_DUMP                                                                                                  \
	"lttng_statedump_start lttng_statedump_end lttng_statedump_process_state lttng_statedump_process_cgroup_ns " \
	"lttng_statedump_process_ipc_ns lttng_statedump_process_mnt_ns lttng_statedump_process_net_ns "              \
	"lttng_statedump_process_pid_ns lttng_statedump_process_time_ns lttng_statedump_process_user_ns "            \
	"lttng_statedump_process_uts_ns lttng_statedump_file_descriptor lttng_statedump_vm_map "                     \
	"lttng_statedump_network_interface lttng_statedump_block_device lttng_statedump_cpu_topology "               \
	"lttng_statedump_interrupt "
#define LISTED_IRQ                                                                                              \
	"irq_handler_entry irq_handler_exit irq_softirq_raise irq_softirq_entry irq_softirq_exit timer_init "   \
	"timer_start timer_expire_entry timer_expire_exit timer_cancel timer_hrtimer_init timer_hrtimer_start " \
	"timer_hrtimer_cancel timer_hrtimer_expire_entry timer_hrtimer_expire_exit timer_itimer_state "         \
	"timer_itimer_expire "
#define LISTED_IO                                                                                                  \
	"block_touch_buffer block_dirty_buffer block_rq_requeue block_rq_complete block_rq_insert block_rq_issue " \
	"block_rq_merge block_rq_remap block_bio_complete block_bio_backmerge block_bio_frontmerge "               \
	"block_bio_queue block_bio_remap block_getrq block_plug block_unplug block_split net_dev_xmit "            \
	"net_dev_queue net_if_receive_skb net_if_rx net_if_rx_ni signal_generate signal_deliver"

/* Everything in the set and nothing else, with fewer requests to the session daemon than names. */
START_TEST(test_fewer_requests)
{
	char **known, **patterns;
	unsigned n, n_of_set = 0, n_names = 0, n_requests;
	const struct record_set_event *events = record_set_events(&n);

	listed = LISTED_SCHED LISTED_DUMP LISTED_IRQ LISTED_IO;
	ck_assert_msg(!record(NULL), "%s", error_text());
	known = g_strsplit(listed, " ", -1);
	ck_assert(g_str_has_suffix(enabled->str, ",*")); /* system calls */
	g_string_truncate(enabled, enabled->len - strlen(",*"));
	patterns = g_strsplit(enabled->str + 1, ",", -1);
	n_requests = g_strv_length(patterns);
	for (unsigned i = 0; i < n; i++)
		n_of_set += events[i].set < RECORD_SETS;
	for (char **name = known; *name; name++) {
		unsigned n_matches = 0;
		bool wanted = false;

		for (unsigned i = 0; i < n; i++)
			wanted |= strcmp(events[i].name, *name) == 0;
		for (char **p = patterns; *p; p++)
			n_matches += fnmatch(*p, *name, 0) == 0;
		ck_assert_msg(n_matches == wanted, "%s is in %u patterns", *name, n_matches);
		n_names += wanted;
	}
	ck_assert_uint_eq(n_names, n_of_set - 1); /* system calls do not have a name */
	ck_assert_msg(n_requests * 4 <= n_names * 3, "%u requests for %u names: %s", n_requests, n_names, enabled->str);
	g_strfreev(known);
	g_strfreev(patterns);
}
END_TEST

/* An interrupt stops the setup where it is, and takes effect when the session is gone. */
START_TEST(test_interrupted)
{
	sigset_t set;
	int number;

	process_hold_signals();
	interrupt = true;
	ck_assert_int_eq(record(NULL), LT_ERROR);
	ck_assert_str_eq(error_text(), "session 's': channel 'kernel': interrupted");
	ck_assert_str_eq(enabled->str, ",sched_switch");
	ck_assert_uint_eq(sessions, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	ck_assert_int_eq(sigwait(&set, &number), 0);
	process_release_signals();
}
END_TEST

/* A daemon that does not remove a session is left alone if the user wants that. */
START_TEST(test_discard_that_hangs)
{
	process_hold_signals();
	hangs = true;
	kill(getpid(), SIGINT);
	session_discard("s");
	ck_assert(session_gave_up());
	ck_assert_int_eq(process_take_signal(), SIGINT);
	while (process_take_signal())
		;
	process_release_signals();
}
END_TEST

/* Whether the kernel of the test itself lists its symbols. */
static bool has_symbols(void)
{
	char line[256] = "";
	FILE *file = fopen("/proc/kallsyms", "re");
	const bool found = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	return found;
}

START_TEST(test_symbols)
{
	if (!has_symbols()) {
		printf("skip test_symbols: /proc/kallsyms cannot be read\n");
		return;
	}
	ck_assert_int_eq(record_with(&(struct asked){ .kprobe = "a=no_such_symbol_of_any_kernel" }), LT_ERROR);
	ck_assert_str_eq(error_text(), "option '--kprobe': this kernel has no symbol 'no_such_symbol_of_any_kernel': "
				       "see /proc/kallsyms");
	ck_assert_uint_eq(sessions, 0);
	ck_assert_msg(!record_with(&(struct asked){ .kprobe = "a=vfs_read" }), "%s", error_text());
	ck_assert_msg(!record_with(&(struct asked){ .kprobe = "a=0xffff" }), "%s", error_text());
}
END_TEST

UNIT_MAIN("tracer", test_all_contexts, test_context_left_out, test_user_contexts, test_context_refused,
	  test_faulty_versions, test_tracepoints, test_call_filter, test_unsafe, test_counters_and_hotplug,
	  test_fewer_requests, test_interrupted, test_symbols, test_discard_that_hangs)
