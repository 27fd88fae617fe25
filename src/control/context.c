/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/context.h"

#include <glib.h>
#include <lttng/event.h>
#include <string.h>

#include "control/perf.h"

static const struct known {
	const char *name;
	enum lttng_event_context_type type;
} known[] = {
	{ "pid", LTTNG_EVENT_CONTEXT_PID },
	{ "procname", LTTNG_EVENT_CONTEXT_PROCNAME },
	{ "prio", LTTNG_EVENT_CONTEXT_PRIO },
	{ "nice", LTTNG_EVENT_CONTEXT_NICE },
	{ "vpid", LTTNG_EVENT_CONTEXT_VPID },
	{ "tid", LTTNG_EVENT_CONTEXT_TID },
	{ "vtid", LTTNG_EVENT_CONTEXT_VTID },
	{ "ppid", LTTNG_EVENT_CONTEXT_PPID },
	{ "vppid", LTTNG_EVENT_CONTEXT_VPPID },
	{ "hostname", LTTNG_EVENT_CONTEXT_HOSTNAME },
	{ "interruptible", LTTNG_EVENT_CONTEXT_INTERRUPTIBLE },
	{ "preemptible", LTTNG_EVENT_CONTEXT_PREEMPTIBLE },
	{ "need_reschedule", LTTNG_EVENT_CONTEXT_NEED_RESCHEDULE },
	{ "migratable", LTTNG_EVENT_CONTEXT_MIGRATABLE },
	{ "callstack-kernel", LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL },
	{ "callstack-user", LTTNG_EVENT_CONTEXT_CALLSTACK_USER },
	{ "cgroup_ns", LTTNG_EVENT_CONTEXT_CGROUP_NS },
	{ "ipc_ns", LTTNG_EVENT_CONTEXT_IPC_NS },
	{ "mnt_ns", LTTNG_EVENT_CONTEXT_MNT_NS },
	{ "net_ns", LTTNG_EVENT_CONTEXT_NET_NS },
	{ "pid_ns", LTTNG_EVENT_CONTEXT_PID_NS },
	{ "time_ns", LTTNG_EVENT_CONTEXT_TIME_NS },
	{ "user_ns", LTTNG_EVENT_CONTEXT_USER_NS },
	{ "uts_ns", LTTNG_EVENT_CONTEXT_UTS_NS },
	{ "uid", LTTNG_EVENT_CONTEXT_UID },
	{ "euid", LTTNG_EVENT_CONTEXT_EUID },
	{ "suid", LTTNG_EVENT_CONTEXT_SUID },
	{ "gid", LTTNG_EVENT_CONTEXT_GID },
	{ "egid", LTTNG_EVENT_CONTEXT_EGID },
	{ "sgid", LTTNG_EVENT_CONTEXT_SGID },
	{ "vuid", LTTNG_EVENT_CONTEXT_VUID },
	{ "veuid", LTTNG_EVENT_CONTEXT_VEUID },
	{ "vsuid", LTTNG_EVENT_CONTEXT_VSUID },
	{ "vgid", LTTNG_EVENT_CONTEXT_VGID },
	{ "vegid", LTTNG_EVENT_CONTEXT_VEGID },
	{ "vsgid", LTTNG_EVENT_CONTEXT_VSGID },
};

static const struct known *find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (!strcmp(name, known[i].name))
			return &known[i];
	return NULL;
}

bool context_is_known(const char *name)
{
	return find(name);
}

/* The trace's field has the context's name, with '_' for characters that are not allowed in an identifier. */
static void fill_perf(struct lttng_event_context *context, const char *name)
{
	const struct perf_counter *counter = perf_counter_find(name + strlen(PERF_CONTEXT_PREFIX));

	context->ctx = LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER;
	context->u.perf_counter.type = counter->type;
	context->u.perf_counter.config = counter->config;
	g_strlcpy(context->u.perf_counter.name, name, sizeof(context->u.perf_counter.name));
	g_strdelimit(context->u.perf_counter.name, ":-", '_');
}

void context_fill(struct lttng_event_context *context, const char *name)
{
	memset(context, 0, sizeof(*context));
	if (g_str_has_prefix(name, PERF_CONTEXT_PREFIX))
		fill_perf(context, name);
	else
		context->ctx = find(name)->type;
}
