/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/perf.h"

#include <errno.h>
#include <glib.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

#define HARDWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config \
	}
#define SOFTWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config \
	}
#define CACHE(name, cache, op, result)                                                   \
	{                                                                                \
		name, PERF_TYPE_HW_CACHE,                                                \
			PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16                \
	}

static const struct perf_counter counters[] = {
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	CACHE("L1-dcache-loads", L1D, READ, ACCESS),
	CACHE("L1-dcache-load-misses", L1D, READ, MISS),
	CACHE("L1-dcache-stores", L1D, WRITE, ACCESS),
	CACHE("L1-dcache-store-misses", L1D, WRITE, MISS),
	CACHE("L1-dcache-prefetches", L1D, PREFETCH, ACCESS),
	CACHE("L1-dcache-prefetch-misses", L1D, PREFETCH, MISS),
	CACHE("L1-icache-loads", L1I, READ, ACCESS),
	CACHE("L1-icache-load-misses", L1I, READ, MISS),
	CACHE("LLC-loads", LL, READ, ACCESS),
	CACHE("LLC-load-misses", LL, READ, MISS),
	CACHE("LLC-stores", LL, WRITE, ACCESS),
	CACHE("LLC-store-misses", LL, WRITE, MISS),
	CACHE("dTLB-loads", DTLB, READ, ACCESS),
	CACHE("dTLB-load-misses", DTLB, READ, MISS),
	CACHE("dTLB-stores", DTLB, WRITE, ACCESS),
	CACHE("dTLB-store-misses", DTLB, WRITE, MISS),
	CACHE("iTLB-loads", ITLB, READ, ACCESS),
	CACHE("iTLB-load-misses", ITLB, READ, MISS),
	CACHE("branch-loads", BPU, READ, ACCESS),
	CACHE("branch-load-misses", BPU, READ, MISS),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-fault", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

const struct perf_counter *perf_counter_find(const char *name)
{
	if (g_str_has_prefix(name, PERF_CONTEXT_PREFIX))
		name += strlen(PERF_CONTEXT_PREFIX);
	for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
		if (!strcmp(name, counters[i].name))
			return &counters[i];
	return NULL;
}

bool perf_counter_is_hardware(const struct perf_counter *counter)
{
	return counter->type != PERF_TYPE_SOFTWARE;
}

#define CPU_UNIT_PATTERN "^(cpu|arm)"

/* Whether the kernel lists a performance monitoring unit for the processor. */
static bool has_cpu_unit(void)
{
	GDir *dir = g_dir_open(PERF_SOURCES, 0, NULL);
	const char *name;
	bool found = false;

	while (dir && !found && (name = g_dir_read_name(dir)))
		found = g_regex_match_simple(CPU_UNIT_PATTERN, name, 0, 0);
	if (dir)
		g_dir_close(dir);
	return found;
}

enum lt_status perf_counter_probe(const struct perf_counter *counter)
{
	struct perf_event_attr attr = {
		.type = counter->type,
		.size = sizeof(attr),
		.config = counter->config,
		.disabled = 1,
		.exclude_kernel = 1, /* all that perf_event_paranoid may allow us */
		.exclude_hv = 1,
	};
	long fd;

	if (perf_counter_is_hardware(counter) && !has_cpu_unit())
		return error_set("counter '%s' is not available: this machine has no performance monitoring unit",
				 counter->name);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close((int)fd);
	else if (errno != EACCES && errno != EPERM) /* the tracer is allowed more than we are */
		return error_set("counter '%s' is not available on this machine: %s", counter->name, g_strerror(errno));
	return LT_OK;
}

/* Units list a counter under its first name in the table; cache counters are never listed. */
char *perf_counter_test(const struct perf_counter *counter)
{
	const struct perf_counter *first = counters;

	if (!perf_counter_is_hardware(counter))
		return NULL;
	while (first->type != counter->type || first->config != counter->config)
		first++;
	return g_strdup_printf("ls " PERF_SOURCES "/*/events 2>/dev/null | grep -qx %s", first->name);
}
