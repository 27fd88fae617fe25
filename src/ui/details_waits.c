/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the thread waited for: CPUs, and who ran instead; its longest waits and calls; the pressure around it. */
#include "ui/details.h"
#include "ui/details_longest.h"
#include "ui/internal.h"
#include "view/missing.h"

enum { CULPRITS = 3 };

static void add_latency(struct details *h, const struct interval_row *row)
{
	uint64_t count = FIGURE(h, row, latency.count);
	char avg[FORMAT_SIZE], max[FORMAT_SIZE], at[TIMETEXT_SIZE];

	if (!count)
		return;
	details_line(h, "latency", "%" PRIu64 " wake-up%s, %s to the CPU on average, at most %s (at %s)", count,
		     count == 1 ? "" : "s", details_duration(h, avg, FIGURE(h, row, latency.sum) / count),
		     details_duration(h, max, FIGURE(h, row, latency.max)),
		     details_time(h, at, sizeof(at), FIGURE(h, row, latency.max_at), 6));
}

static const char *write_time(void *head, char *text, size_t size, uint64_t host_ns)
{
	return details_time(head, text, size, host_ns, 6);
}

static const char *write_duration(void *head, char *text, size_t size, uint64_t ns)
{
	return format_duration(text, size, ns, ((const struct details *)head)->ui->format.ascii);
}

static void add_longest(struct details *h, uint64_t thread_uid)
{
	char *waits = details_longest_waits(h->iv, thread_uid, write_time, write_duration, h);
	char *calls = details_longest_calls(h->iv, thread_uid, write_time, write_duration, h);

	if (*waits)
		details_line(h, "waits", "longest %s", waits);
	if (*calls)
		details_line(h, "calls", "longest %s", calls);
	g_free(waits);
	g_free(calls);
}

struct details_culprit {
	const struct preemption_row *row;
	uint64_t ns;
};

static int compare_culprits(const void *a, const void *b)
{
	const struct details_culprit *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (int64_t)x->row->by_tid < (int64_t)y->row->by_tid ? -1 : x->row->by_tid != y->row->by_tid;
}

/* The model replaces its rows as they fall out of use: there may be several for one culprit. */
static void note_culprit(GArray *list, const struct preemption_row *row, uint64_t ns)
{
	struct details_culprit new = { row, ns };

	for (guint i = 0; i < list->len; i++) {
		struct details_culprit *known = &g_array_index(list, struct details_culprit, i);

		if (known->row->by_uid != row->by_uid)
			continue;
		known->row = row;
		known->ns += ns;
		return;
	}
	g_array_append_val(list, new);
}

/* Who ran most while it waited for a CPU. */
static void add_culprits(struct details *h, uint64_t thread_uid)
{
	const struct interval_table *t = &h->iv->tables[TABLE_PREEMPTION];
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct details_culprit));
	GString *s = g_string_new(NULL);
	char ns[FORMAT_SIZE];

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct preemption_row *row = INTERVAL_ROW(preemption, &t->rows[i]);

		if (row->thread_uid == thread_uid)
			note_culprit(list, row, INTERVAL_VALUE(h->iv, PREEMPTION, preemption, &t->rows[i], total_ns));
	}
	g_array_sort(list, compare_culprits);
	for (guint i = 0; i < MIN(list->len, CULPRITS); i++) {
		const struct details_culprit *c = &g_array_index(list, struct details_culprit, i);
		const strid comm = view_last_comm(h->iv, c->row->by_uid, c->row->by_comm);

		if (!c->ns)
			break;
		g_string_append_printf(s, "%s%s", s->len ? ", " : "while the CPU ran ",
				       comm ? strpool_text(comm) : "an unknown thread");
		if ((int64_t)c->row->by_tid > 0)
			g_string_append_printf(s, "/%" PRIu64, c->row->by_tid);
		g_string_append_printf(s, " %s", details_duration(h, ns, c->ns));
	}
	if (s->len)
		details_line(h, "ready", "%s", s->str);
	g_string_free(s, TRUE);
	g_array_free(list, TRUE);
}

static void append_pressure(GString *s, const struct details *h, const struct interval_row *row, uint32_t lacks)
{
#define SHARE(buffer, member) details_share(h, buffer, INTERVAL_VALUE(h->iv, PRESSURE, pressure, row, member))
	const struct pressure_row *r = INTERVAL_ROW(pressure, row);
	char some[FORMAT_SIZE], full[FORMAT_SIZE];
	const char *separator = "";

	g_string_append_printf(s, "%s%s: ", s->len ? "; " : "", r->container ? "container" : "host");
	if (!(lacks & VIEW_LACKS_WAKEUPS)) {
		g_string_append_printf(s, "CPU some %s", SHARE(some, cpu_some_ns));
		if (r->container)
			g_string_append_printf(s, " full %s", SHARE(full, cpu_full_ns));
		separator = ", ";
	}
	if (!(lacks & VIEW_LACKS_DISKS))
		g_string_append_printf(s, "%sI/O some %s full %s", separator, SHARE(some, io_some_ns),
				       SHARE(full, io_full_ns));
#undef SHARE
}

/* Of the host, and of the container that the thread is in. */
void details_pressure(struct details *h, const struct thread_row *t)
{
	const struct interval_table *table = &h->iv->tables[TABLE_PRESSURE];
	const uint32_t lacks = data_host_lacks(h->host);
	GString *s = g_string_new(NULL);

	if (lacks & VIEW_LACKS_SWITCHES || (lacks & VIEW_LACKS_WAKEUPS && lacks & VIEW_LACKS_DISKS))
		table = NULL;
	for (uint32_t i = 0; table && i < table->n_rows; i++) {
		const uint64_t container = INTERVAL_ROW(pressure, &table->rows[i])->container;

		if (!container || container == t->container)
			append_pressure(s, h, &table->rows[i], lacks);
	}
	if (s->len)
		details_line(h, "pressure", "%s", s->str);
	g_string_free(s, TRUE);
}

void details_waits(struct details *h, const struct interval_row *row)
{
	const uint64_t uid = INTERVAL_ROW(thread, row)->uid;

	if (data_host_lacks(h->host) & VIEW_LACKS_SWITCHES)
		return;
	add_latency(h, row);
	add_longest(h, uid);
	add_culprits(h, uid);
}
