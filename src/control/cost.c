/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nstime.h"
#include "control/daemon.h"
#include "control/sets.h"

enum {
	HEADER_BYTES = 8,
	CONTEXT_BYTES = 8, /* of a context that is in no set */
};

/* Typical payload of an event of each cost, without header and contexts. */
static const unsigned payload_bytes[RECORD_COSTS] = {
	[RECORD_COST_FORK] = 48,      [RECORD_COST_EXEC] = 48,   [RECORD_COST_EXIT] = 48,   [RECORD_COST_SWITCH] = 56,
	[RECORD_COST_MIGRATION] = 32, [RECORD_COST_WORK] = 24,   [RECORD_COST_WAKEUP] = 28, [RECORD_COST_IRQ] = 12,
	[RECORD_COST_DISK] = 56,      [RECORD_COST_PACKET] = 72, [RECORD_COST_ALLOC] = 24,  [RECORD_COST_FREE] = 24,
	[RECORD_COST_FAULT] = 17,
};

/* How often each kind of event has occurred since boot. */
struct sample {
	uint64_t counts[RECORD_COSTS];
};

/* Of the switches in recordings; one CPU has no migrations. */
enum { SWITCHES_PER_MIGRATION = 20, SWITCHES_PER_WORK = 5, SWITCHES_PER_WAKEUP = 2 };

void cost_count_stat(const char *text, uint64_t counts[RECORD_COSTS])
{
	char **lines = g_strsplit(text, "\n", -1);
	uint64_t threads = 0, switches = 0, interrupts = 0, softirqs = 0, n;
	unsigned n_cpus = 0;

	for (char **line = lines; *line; line++) {
		if (sscanf(*line, "ctxt %" SCNu64, &n) == 1)
			switches = n;
		else if (sscanf(*line, "processes %" SCNu64, &n) == 1)
			threads = n;
		else if (sscanf(*line, "intr %" SCNu64, &n) == 1)
			interrupts = n;
		else if (sscanf(*line, "softirq %" SCNu64, &n) == 1)
			softirqs = n;
		else if (g_str_has_prefix(*line, "cpu"))
			n_cpus += g_ascii_isdigit((*line)[3]); /* not the first line, their sum */
	}
	counts[RECORD_COST_FORK] += threads;
	counts[RECORD_COST_EXEC] += threads; /* it is not known how many are programs */
	counts[RECORD_COST_EXIT] += threads;
	counts[RECORD_COST_SWITCH] += switches;
	counts[RECORD_COST_MIGRATION] += n_cpus > 1 ? switches / SWITCHES_PER_MIGRATION : 0;
	counts[RECORD_COST_WORK] += switches / SWITCHES_PER_WORK;
	counts[RECORD_COST_WAKEUP] += switches / SWITCHES_PER_WAKEUP; /* the other half ends a wait for a CPU */
	/* sets.def has two rows for interrupts, two for timers, which are interrupts too, and three for softirqs. */
	counts[RECORD_COST_IRQ] += (2 * interrupts + 3 * softirqs) / 7;
	g_strfreev(lines);
}

static void sample_stat(struct sample *s)
{
	char *text = NULL;

	if (!g_file_get_contents("/proc/stat", &text, NULL, NULL))
		return;
	cost_count_stat(text, s->counts);
	g_free(text);
}

/* Several pages that are allocated or freed at once count as many; sets.def has two rows for faults. */
static void sample_memory(struct sample *s)
{
	char *text = NULL, **lines, name[64];
	uint64_t n;

	if (!g_file_get_contents("/proc/vmstat", &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		if (sscanf(*line, "%63s %" SCNu64, name, &n) != 2)
			continue;
		if (g_str_has_prefix(name, "pgalloc_"))
			s->counts[RECORD_COST_ALLOC] += n;
		else if (strcmp(name, "pgfree") == 0)
			s->counts[RECORD_COST_FREE] = n;
		else if (strcmp(name, "pgfault") == 0)
			s->counts[RECORD_COST_FAULT] = n / 2;
	}
	g_strfreev(lines);
	g_free(text);
}

static void sample_disks(struct sample *s)
{
	char *text = NULL, **lines;

	if (!g_file_get_contents("/proc/diskstats", &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		char name[64], path[128];
		uint64_t reads, writes;

		if (sscanf(*line, "%*u %*u %63s %" SCNu64 " %*u %*u %*u %" SCNu64, name, &reads, &writes) != 3)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s", name);
		if (!access(path, F_OK)) /* partitions are not listed there */
			s->counts[RECORD_COST_DISK] += reads + writes;
	}
	g_strfreev(lines);
	g_free(text);
}

static void sample_network(struct sample *s)
{
	char *text = NULL, **lines;

	if (!g_file_get_contents("/proc/net/dev", &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		const char *figures = strchr(*line, ':');
		uint64_t in, out;

		if (figures && sscanf(figures + 1,
				      "%*u %" SCNu64 " %*u %*u %*u %*u %*u %*u %*u "
				      "%" SCNu64,
				      &in, &out) == 2)
			s->counts[RECORD_COST_PACKET] += (in + out) / 2; /* an event covers one direction */
	}
	g_strfreev(lines);
	g_free(text);
}

static void take(struct sample *s)
{
	*s = (struct sample){ 0 };
	sample_stat(s);
	sample_disks(s);
	sample_network(s);
	sample_memory(s);
}

static unsigned context_bytes(const char *name)
{
	unsigned n;
	const struct record_set_context *contexts = record_set_contexts(&n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(contexts[i].name, name) == 0)
			return contexts[i].bytes;
	return CONTEXT_BYTES;
}

/* What the channel would have recorded in one part. */
static struct cost_estimate cost_of_part(const struct record_channel *c, const struct cost_part *part)
{
	struct cost_estimate e = { 0 };
	unsigned n, fixed_bytes = HEADER_BYTES;
	const struct record_set_event *rows = record_set_events(&n);

	for (unsigned i = 0; i < c->contexts->len; i++)
		fixed_bytes += context_bytes(g_array_index(c->contexts, struct record_context, i).name);
	for (unsigned i = 0; i < c->events->len; i++) {
		const struct record_event *event = &g_array_index(c->events, struct record_event, i);

		e.calls |= event->kind == RECORD_SYSCALLS;
		for (unsigned k = 0; k < n; k++) {
			double per_s;

			if (rows[k].kind != event->kind || strcmp(rows[k].name, event->name) != 0)
				continue;
			per_s = (double)part->counts[rows[k].cost] * US_PER_S / (double)part->us;
			e.events_per_s += per_s;
			e.bytes_per_s += per_s * (fixed_bytes + payload_bytes[rows[k].cost]);
		}
	}
	e.least_events_per_s = e.most_events_per_s = e.events_per_s;
	return e;
}

struct cost_estimate cost_of_parts(const struct record_channel *c, const struct cost_part *parts, unsigned n)
{
	struct cost_part all = { 0 };
	struct cost_estimate e;

	for (unsigned i = 0; i < n; i++) {
		all.us += parts[i].us;
		for (unsigned k = 0; k < RECORD_COSTS; k++)
			all.counts[k] += parts[i].counts[k];
	}
	e = cost_of_part(c, &all);
	for (unsigned i = 0; i < n; i++) {
		const double per_s = cost_of_part(c, &parts[i]).events_per_s;

		e.least_events_per_s = MIN(e.least_events_per_s, per_s);
		e.most_events_per_s = MAX(e.most_events_per_s, per_s);
	}
	return e;
}

struct cost_estimate cost_estimate(const struct record_channel *c)
{
	struct cost_part parts[COST_PARTS];
	struct sample before, after;
	gint64 start_us = g_get_monotonic_time();

	take(&before);
	for (unsigned i = 0; i < COST_PARTS; i++) {
		gint64 end_us;

		g_usleep(COST_SAMPLE_MS * US_PER_MS / COST_PARTS);
		take(&after);
		end_us = g_get_monotonic_time();
		parts[i].us = (uint64_t)MAX(end_us - start_us, 1);
		for (unsigned k = 0; k < RECORD_COSTS; k++)
			parts[i].counts[k] = after.counts[k] - MIN(before.counts[k], after.counts[k]);
		before = after;
		start_us = end_us;
	}
	return cost_of_parts(c, parts, COST_PARTS);
}

bool cost_is_low(const struct cost_estimate *e, unsigned n_cpus)
{
	return e->events_per_s * COST_SHOWN_EVENT_NS < COST_LOW_SHARE * n_cpus * (double)NS_PER_S;
}

/* CPU time of a thread. /proc/PID/stat would be rounded to hundredths of a second. */
static uint64_t thread_ns(const char *tasks, const char *tid)
{
	char *path = g_build_filename(tasks, tid, "schedstat", NULL), *text = NULL;
	uint64_t ns = 0;

	if (g_file_get_contents(path, &text, NULL, NULL))
		ns = g_ascii_strtoull(text, NULL, 10);
	g_free(text);
	g_free(path);
	return ns;
}

bool cost_is_consumer(const char *pid, pid_t daemon)
{
	char *directory = g_build_filename("/proc", pid, NULL), *path = g_build_filename(directory, "stat", NULL);
	char *text = NULL;
	const char *behind = g_file_get_contents(path, &text, NULL, NULL) ? strstr(text, "(lttng-consumerd) ") : NULL;
	struct stat st;
	int parent;
	bool is = behind && sscanf(behind, "(lttng-consumerd) %*c %d", &parent) == 1;

	if (is && daemon)
		is = parent == daemon;
	else if (is)
		is = stat(directory, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid());
	g_free(text);
	g_free(path);
	g_free(directory);
	return is;
}

uint64_t cost_process_ns(const char *pid)
{
	char *tasks = g_build_filename("/proc", pid, "task", NULL);
	GDir *dir = g_dir_open(tasks, 0, NULL);
	uint64_t ns = 0;
	const char *tid;

	while (dir && (tid = g_dir_read_name(dir)))
		ns += thread_ns(tasks, tid);
	if (dir)
		g_dir_close(dir);
	g_free(tasks);
	return ns;
}

uint64_t cost_consumer_ns(void)
{
	const pid_t daemon = daemon_pid();
	GDir *dir = g_dir_open("/proc", 0, NULL);
	uint64_t ns = 0;
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*name) && cost_is_consumer(name, daemon))
			ns += cost_process_ns(name);
	if (dir)
		g_dir_close(dir);
	return ns;
}

uint64_t cost_size_bytes(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	uint64_t bytes = 0;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		char *path = g_build_filename(directory, name, NULL);
		struct stat st;

		if (lstat(path, &st) == 0)
			bytes += S_ISDIR(st.st_mode) ? cost_size_bytes(path) : (uint64_t)st.st_size;
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	return bytes;
}
