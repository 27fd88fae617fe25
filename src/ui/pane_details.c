/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread and its process at the end of the shown interval: ids, state, parents, figures; its files and calls. */
#include <inttypes.h>

#include "base/strpool.h"
#include "sidecar/sidecar.h"
#include "ui/details_longest.h"
#include "ui/internal.h"
#include "view/containers.h"
#include "view/missing.h"

enum details_list { DETAILS_BLOCKING, DETAILS_FILES, DETAILS_SYSCALLS };

enum { LABEL_WIDTH = 10, ANCESTORS = 16, PERF_COUNTERS = 8, CULPRITS = 3 };

static const struct interval *details_interval(const struct ui *ui, const struct pane *p)
{
	const struct ui_host_data *host = ui_host(ui, p->entity.host);

	return host->loaded ? &host->load.interval : NULL;
}

static const struct interval_row *details_row(const struct ui *ui, const struct pane *p)
{
	const struct interval *iv = details_interval(ui, p);

	return iv ? interval_find(iv, TABLE_THREAD, p->entity.uid) : NULL;
}

static void details_adjust(struct ui *ui, struct pane *p, unsigned list, struct view_query *query)
{
	const struct interval_row *row = details_row(ui, p);
	const struct thread_row *t = row ? INTERVAL_ROW(thread, row) : NULL;

	view_filter_clear(&p->filter);
	view_filter_add_host(&p->filter, ui_host(ui, p->entity.host)->info.name);
	query->filter = &p->filter;
	query->only = NULL;
	query->tree = false;
	query->all = list == DETAILS_FILES;
	if (list == DETAILS_FILES) {
		/* without a table, nothing matches */
		p->filter.files_id = t && t->files_id ? t->files_id : UINT64_MAX;
	} else if (ui->processes && t && (int64_t)t->pid >= 0) {
		view_filter_add_pid(&p->filter, (int64_t)t->pid);
	} else {
		view_filter_add_tid(&p->filter, t ? (int64_t)t->tid : -2);
	}
}

/* ---- lines at the top ---- */

struct details_head {
	struct ui *ui;
	const struct ui_host_data *host;
	const struct interval *iv;
	int y, bottom;
};

static void add_line(struct details_head *h, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_line(struct details_head *h, const char *label, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (h->y >= h->bottom)
		return;
	va_start(ap, fmt);
	g_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	canvas_text(h->ui->canvas, 1, h->y, STYLE_DIM, label, LABEL_WIDTH - 1);
	canvas_text_left(h->ui->canvas, 1 + LABEL_WIDTH, h->y, h->ui->canvas->w - LABEL_WIDTH - 2, STYLE_NORMAL, text);
	h->y++;
}

/* Formats a time on the host's clock. */
static const char *head_time(const struct details_head *h, char *buffer, size_t size, uint64_t host_ns, unsigned digits)
{
	return ui_time(h->ui, buffer, size, ui_to_ref(h->host, host_ns), digits, false);
}

static const char *duration(struct details_head *h, char *buffer, uint64_t ns)
{
	return format_duration(buffer, FORMAT_SIZE, ns, h->ui->format.ascii);
}

/* "5 → 10.0.0.3:5432": the file that the thread's call uses. */
static void describe_fd(const struct details_head *h, const struct thread_row *t, char *text, size_t size)
{
	const struct interval_table *files = &h->iv->tables[TABLE_FILE];
	strid name = STRID_NONE;

	*text = '\0';
	if ((int64_t)t->syscall_fd < 0)
		return;
	for (uint32_t i = files->n_rows; i-- > 0 && !name;) {
		const struct file_row *file = INTERVAL_ROW(file, &files->rows[i]);

		if (file->files_id == t->files_id && file->fd == t->syscall_fd && !file->closed_ns)
			name = (strid)(file->peer ? file->peer : file->path);
	}
	g_snprintf(text, size, "fd %" PRId64 "%s%s", (int64_t)t->syscall_fd,
		   name ? h->ui->format.ascii ? " -> " : " → " : "", name ? strpool_text(name) : "");
}

static void add_state(struct details_head *h, const struct thread_row *t, uint64_t at_ns)
{
	static const char *const words[THREAD_STATES] = {
		[THREAD_UNKNOWN] = "unknown",
		[THREAD_RUNNING] = "running",
		[THREAD_READY] = "ready",
		[THREAD_BLOCKED] = "blocked",
		[THREAD_WAITING] = "waiting since before the trace starts",
		[THREAD_NEW] = "new, not yet woken",
		[THREAD_STOPPED] = "stopped",
		[THREAD_ZOMBIE] = "zombie",
		[THREAD_DEAD] = "exited",
	};
	char since[TIMETEXT_SIZE], length[FORMAT_SIZE], fd[256];
	const char *call = strpool_text((strid)t->syscall);
	GString *s = g_string_new(t->state < THREAD_STATES ? words[t->state] : "unknown");

	if (t->state == THREAD_RUNNING && (int64_t)t->cpu >= 0)
		g_string_append_printf(s, " on CPU %" PRId64, (int64_t)t->cpu);
	if (t->state == THREAD_READY && t->flags & THREAD_PREEMPTED)
		g_string_append(s, ", preempted");
	describe_fd(h, t, fd, sizeof(fd));
	if (*call && t->state != THREAD_DEAD)
		g_string_append_printf(s, " in %s(%s)", call, fd);
	else if (t->flags & THREAD_KERNEL)
		g_string_append(s, ", a kernel thread");
	if (t->since_ns && at_ns >= t->since_ns)
		g_string_append_printf(s, " for %s, since %s", duration(h, length, at_ns - t->since_ns),
				       head_time(h, since, sizeof(since), t->since_ns, 6));
	if (t->flags & THREAD_UNSURE)
		g_string_append(s, " (uncertain: events were lost)");
	add_line(h, "state", "%s", s->str);
	g_string_free(s, TRUE);
}

static void add_ids(struct details_head *h, const struct thread_row *t)
{
	GString *s = g_string_new(NULL);

	g_string_printf(s, "tid %" PRIu64 "  pid %" PRId64 "  ppid %" PRId64, t->tid, (int64_t)t->pid,
			(int64_t)t->ppid);
	if ((int64_t)t->prio >= 0)
		g_string_append_printf(s, "  prio %" PRId64, (int64_t)t->prio);
	if ((int64_t)t->vtid > 0 && t->vtid != t->tid)
		g_string_append_printf(s, "  vtid %" PRId64 "  vpid %" PRId64, (int64_t)t->vtid, (int64_t)t->vpid);
	if (t->pid_ns)
		g_string_append_printf(s, "  pid_ns %" PRIu64, t->pid_ns);
	if (t->cgroup_ns)
		g_string_append_printf(s, "  cgroup_ns %" PRIu64, t->cgroup_ns);
	add_line(h, "ids", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_id(GString *s, int64_t id)
{
	if (id < 0)
		g_string_append_c(s, '?');
	else
		g_string_append_printf(s, "%" PRId64, id);
}

/* Its containers, and its ids in each of them. */
static void add_levels(struct details_head *h, const struct thread_row *t)
{
	const struct view_host host = data_view_host(h->host, h->iv);
	GArray *levels = view_thread_levels(&host, t);
	GString *in = g_string_new(NULL), *ids = g_string_new(NULL);

	for (guint i = levels->len; i-- > 1;) {
		const struct view_level *level = &g_array_index(levels, struct view_level, i);

		g_string_append_printf(in, "%s%s", in->len ? " in " : "", level->name ? level->name : "?");
	}
	for (guint i = 0; i < levels->len; i++) {
		const struct view_level *level = &g_array_index(levels, struct view_level, i);

		if (level->tid < 0)
			continue;
		g_string_append_printf(ids, "%s%s ", ids->len ? ", " : "", level->name ? level->name : "?");
		append_id(ids, level->tid);
		g_string_append_c(ids, '/');
		append_id(ids, level->pid);
	}
	if (levels->len > 1) {
		add_line(h, "container", "%s", in->str);
		add_line(h, "tid/pid", "%s", ids->str);
	}
	g_string_free(in, TRUE);
	g_string_free(ids, TRUE);
	g_array_unref(levels);
}

/* The main thread of a process; if its PID was used again, of the one that exists at the end of the interval. */
static const struct thread_row *find_process(const struct interval *iv, int64_t pid)
{
	const struct interval_table *t = &iv->tables[TABLE_THREAD];
	const struct thread_row *ended = NULL;

	for (uint32_t i = t->n_rows; i-- > 0;) {
		const struct thread_row *row = INTERVAL_ROW(thread, &t->rows[i]);

		if ((int64_t)row->tid != pid || (int64_t)row->pid != pid)
			continue;
		if (row->state != THREAD_DEAD)
			return row;
		if (!ended)
			ended = row;
	}
	return ended;
}

static void add_parents(struct details_head *h, const struct thread_row *t)
{
	GString *s = g_string_new(NULL);
	int64_t pid = (int64_t)t->ppid;

	for (int i = 0; i < ANCESTORS && pid > 0; i++) {
		const struct thread_row *parent = find_process(h->iv, pid);

		g_string_append_printf(s, "%s%s %" PRId64, s->len ? " ← " : "",
				       parent ? strpool_text((strid)parent->comm) : "?", (int64_t)pid);
		pid = parent ? (int64_t)parent->ppid : 0;
	}
	if (s->len)
		add_line(h, "parents", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_owner(GString *s, const char *what, int64_t id, const char *name)
{
	if (id < 0)
		return;
	g_string_append_printf(s, name ? "%s%s (%s %" PRId64 ")" : "%s%s%s %" PRId64, s->len ? ", group " : "",
			       name ? name : "", what, id);
}

/* "eva (uid 1000), group dev (gid 100)" */
static void add_owner(struct details_head *h, const struct sidecar_process *p)
{
	const struct sidecar *sidecar = h->host->info.sidecar;
	GString *s = g_string_new(NULL);

	append_owner(s, "uid", p->uid, sidecar_user(sidecar, p->uid));
	append_owner(s, "gid", p->gid, sidecar_group(sidecar, p->gid));
	if (s->len)
		add_line(h, "user", "%s", s->str);
	g_string_free(s, TRUE);
}

/* What the side-car knows about the process. */
static void add_program(struct details_head *h, const struct thread_row *t)
{
	const struct sidecar *sidecar = h->host->info.sidecar;
	const struct sidecar_process *p =
		view_process_of(sidecar, h->host->info.begin_ns, t, find_process(h->iv, (int64_t)t->pid));

	if (!p)
		return;
	if (p->cmdline)
		add_line(h, "command", "%s", p->cmdline);
	if (p->exe)
		add_line(h, "exe", "%s", p->exe);
	add_owner(h, p);
	if (p->cgroup)
		add_line(h, "cgroup", "%s", p->cgroup);
}

static void add_life(struct details_head *h, const struct thread_row *t)
{
	char born[TIMETEXT_SIZE] = "before the trace", exited[TIMETEXT_SIZE];

	if (t->born_ns)
		head_time(h, born, sizeof(born), t->born_ns, 9);
	if (t->exited_ns)
		add_line(h, "life", "born %s, exited %s", born, head_time(h, exited, sizeof(exited), t->exited_ns, 9));
	else
		add_line(h, "life", "born %s", born);
}

#define FIGURE(h, row, member) INTERVAL_VALUE((h)->iv, THREAD, thread, row, member)

static void add_cpu(struct details_head *h, const struct interval_row *row)
{
	uint64_t duration_ns = MAX(h->iv->end_ns - h->iv->begin_ns, 1), cpu_ns = FIGURE(h, row, cpu_ns);
	char cpu[FORMAT_SIZE], ready[FORMAT_SIZE], blocked[FORMAT_SIZE];

	add_line(h, "cpu", "%.1f%%  %s on a CPU, %s ready, %s blocked; %" PRIu64 " switches, %" PRIu64 " migrations",
		 100.0 * (double)cpu_ns / (double)duration_ns, duration(h, cpu, cpu_ns),
		 duration(h, ready, FIGURE(h, row, ready_ns)), duration(h, blocked, FIGURE(h, row, blocked_ns)),
		 FIGURE(h, row, switches), FIGURE(h, row, migrations));
}

/* What CPU time was spent on, if the trace shows it. */
static void add_modes(struct details_head *h, const struct interval_row *row)
{
	const uint64_t system_ns = FIGURE(h, row, system_ns);
	const struct view_host host = data_view_host(h->host, h->iv);
	const uint32_t lacks = view_host_lacks(&host);
	const uint64_t interrupted_ns = lacks & VIEW_LACKS_IRQS ? 0 : FIGURE(h, row, interrupted_ns);
	char text[FORMAT_SIZE];
	GString *s = g_string_new(NULL);

	if (!(lacks & VIEW_LACKS_CALLS)) {
		g_string_append_printf(s, "%s user, ",
				       duration(h, text, FIGURE(h, row, cpu_ns) - system_ns - interrupted_ns));
		g_string_append_printf(s, "%s system", duration(h, text, system_ns));
	}
	if (!(lacks & VIEW_LACKS_IRQS))
		g_string_append_printf(s, "%s%s interrupted", s->len ? ", " : "", duration(h, text, interrupted_ns));
	if (s->len)
		add_line(h, "cpu time", "%s", s->str);
	g_string_free(s, TRUE);
}

/* The sum over the threads of the process, if there are several. */
static void add_process(struct details_head *h, const struct thread_row *t)
{
	const struct interval_table *table = &h->iv->tables[TABLE_THREAD];
	uint64_t duration_ns = MAX(h->iv->end_ns - h->iv->begin_ns, 1), cpu_ns = 0;
	char cpu[FORMAT_SIZE];
	unsigned n = 0;

	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct interval_row *row = &table->rows[i];

		if (INTERVAL_ROW(thread, row)->pid != t->pid)
			continue;
		cpu_ns += FIGURE(h, row, cpu_ns);
		n++;
	}
	if (n > 1 && (int64_t)t->pid >= 0)
		add_line(h, "process", "%.1f%%  %s on a CPU in %u threads",
			 100.0 * (double)cpu_ns / (double)duration_ns, duration(h, cpu, cpu_ns), n);
}

/* Of the classes, in the order of enum io_class. */
static void add_bytes(struct details_head *h, const char *label, const uint64_t bytes[5])
{
	const uint64_t netfs = bytes[4];
	char all[16], d[16], n[16], p[16], o[16], f[16];

	add_line(h, label, "%s (disk %s, net %s, pipe %s, other %s%s%s)",
		 format_bytes(all, sizeof(all), (double)(bytes[0] + bytes[1] + bytes[2] + bytes[3] + netfs)),
		 format_bytes(d, sizeof(d), (double)bytes[0]), format_bytes(n, sizeof(n), (double)bytes[1]),
		 format_bytes(p, sizeof(p), (double)bytes[2]), format_bytes(o, sizeof(o), (double)bytes[3]),
		 netfs ? ", netfs " : "", netfs ? format_bytes(f, sizeof(f), (double)netfs) : "");
}

/* What disks did for it, where they did something. */
static void add_disks(struct details_head *h, const struct interval_row *row)
{
	const uint64_t back = FIGURE(h, row, disk_writeback_bytes), requests = FIGURE(h, row, disk_requests);
	const uint64_t read = FIGURE(h, row, disk_read_bytes), written = FIGURE(h, row, disk_write_bytes);
	char r[16], w[16], b[16], took[FORMAT_SIZE];

	if (!read && !written && !requests)
		return;
	add_line(h, "at disks", "read %s, written %s%s%s%s, %" PRIu64 " request%s that took %s",
		 format_bytes(r, sizeof(r), (double)read), format_bytes(w, sizeof(w), (double)written),
		 back ? " (" : "", back ? format_bytes(b, sizeof(b), (double)back) : "",
		 back ? " of it by write-back)" : "", requests, requests == 1 ? "" : "s",
		 duration(h, took, FIGURE(h, row, disk_wait_ns)));
}

static void add_latency(struct details_head *h, const struct interval_row *row)
{
	uint64_t count = FIGURE(h, row, latency.count);
	char avg[FORMAT_SIZE], max[FORMAT_SIZE], at[TIMETEXT_SIZE];

	if (!count)
		return;
	add_line(h, "latency", "%" PRIu64 " wake-up%s, %s to the CPU on average, at most %s (at %s)", count,
		 count == 1 ? "" : "s", duration(h, avg, FIGURE(h, row, latency.sum) / count),
		 duration(h, max, FIGURE(h, row, latency.max)),
		 head_time(h, at, sizeof(at), FIGURE(h, row, latency.max_at), 6));
}

static const char *write_time(void *head, char *text, size_t size, uint64_t host_ns)
{
	return head_time(head, text, size, host_ns, 6);
}

static const char *write_duration(void *head, char *text, size_t size, uint64_t ns)
{
	return format_duration(text, size, ns, ((const struct details_head *)head)->ui->format.ascii);
}

static void add_longest(struct details_head *h, uint64_t thread_uid)
{
	char *waits = details_longest_waits(h->iv, thread_uid, write_time, write_duration, h);
	char *calls = details_longest_calls(h->iv, thread_uid, write_time, write_duration, h);

	if (*waits)
		add_line(h, "waits", "longest %s", waits);
	if (*calls)
		add_line(h, "calls", "longest %s", calls);
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
static void add_culprits(struct details_head *h, uint64_t thread_uid)
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

		if (!c->ns)
			break;
		g_string_append_printf(s, "%s%s", s->len ? ", " : "while the CPU ran ",
				       c->row->by_comm ? strpool_text((strid)c->row->by_comm) : "an unknown thread");
		if ((int64_t)c->row->by_tid > 0)
			g_string_append_printf(s, "/%" PRIu64, c->row->by_tid);
		g_string_append_printf(s, " %s", duration(h, ns, c->ns));
	}
	if (s->len)
		add_line(h, "ready", "%s", s->str);
	g_string_free(s, TRUE);
	g_array_free(list, TRUE);
}

static void add_perf(struct details_head *h, uint64_t thread_uid)
{
	const struct interval_table *t = &h->iv->tables[TABLE_PERF];
	GString *s = g_string_new(NULL);
	char count[24];
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_rows && n < PERF_COUNTERS; i++) {
		const struct perf_row *row = INTERVAL_ROW(perf, &t->rows[i]);
		uint64_t value = INTERVAL_VALUE(h->iv, PERF, perf, &t->rows[i], value);

		if (row->thread_uid != thread_uid || !value)
			continue;
		g_string_append_printf(s, "%s%s %s", s->len ? ", " : "", strpool_text((strid)row->counter),
				       format_count(count, sizeof(count), value, 9));
		n++;
	}
	if (s->len)
		add_line(h, "perf", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_pressure(GString *s, const struct details_head *h, const struct interval_row *row, uint32_t lacks)
{
	const double duration_ns = (double)MAX(h->iv->end_ns - h->iv->begin_ns, 1);
	const struct pressure_row *r = INTERVAL_ROW(pressure, row);
	const char *separator = "";

	g_string_append_printf(s, "%s%s: ", s->len ? "; " : "", r->container ? "container" : "host");
	if (!(lacks & VIEW_LACKS_WAKEUPS)) {
		g_string_append_printf(s, "CPU some %.1f%%",
				       100 * (double)INTERVAL_VALUE(h->iv, PRESSURE, pressure, row, cpu_some_ns) /
					       duration_ns);
		if (r->container)
			g_string_append_printf(
				s, " full %.1f%%",
				100 * (double)INTERVAL_VALUE(h->iv, PRESSURE, pressure, row, cpu_full_ns) /
					duration_ns);
		separator = ", ";
	}
	if (!(lacks & VIEW_LACKS_DISKS))
		g_string_append_printf(
			s, "%sI/O some %.1f%% full %.1f%%", separator,
			100 * (double)INTERVAL_VALUE(h->iv, PRESSURE, pressure, row, io_some_ns) / duration_ns,
			100 * (double)INTERVAL_VALUE(h->iv, PRESSURE, pressure, row, io_full_ns) / duration_ns);
}

/* Of the host, and of the container that the thread is in. */
static void add_pressure(struct details_head *h, const struct thread_row *t)
{
	const struct interval_table *table = &h->iv->tables[TABLE_PRESSURE];
	const struct view_host host = data_view_host(h->host, h->iv);
	const uint32_t lacks = view_host_lacks(&host);
	GString *s = g_string_new(NULL);

	if (lacks & VIEW_LACKS_WAKEUPS && lacks & VIEW_LACKS_DISKS)
		table = NULL;
	for (uint32_t i = 0; table && i < table->n_rows; i++) {
		const uint64_t container = INTERVAL_ROW(pressure, &table->rows[i])->container;

		if (!container || container == t->container)
			append_pressure(s, h, &table->rows[i], lacks);
	}
	if (s->len)
		add_line(h, "pressure", "%s", s->str);
	g_string_free(s, TRUE);
}

static void append_recorded(GString *s, const char *what, uint64_t n, bool lacking)
{
	char count[24];

	if (!lacking)
		g_string_append_printf(s, "%s%s %s", s->len ? ", " : "", format_count(count, sizeof(count), n, 9),
				       what);
}

/* Where they were recorded. */
static void add_pages(struct details_head *h, uint64_t thread_uid)
{
	const struct interval_table *t = &h->iv->tables[TABLE_PAGES];
	const struct view_host host = data_view_host(h->host, h->iv);
	const uint32_t lacks = view_host_lacks(&host);
	GString *s = g_string_new(NULL);

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct interval_row *row = &t->rows[i];

		if (INTERVAL_ROW(pages, row)->thread_uid != thread_uid || !interval_row_active(h->iv, TABLE_PAGES, row))
			continue;
		append_recorded(s, "pages allocated", INTERVAL_VALUE(h->iv, PAGES, pages, row, allocated_pages),
				lacks & VIEW_LACKS_PAGE_ALLOC);
		append_recorded(s, "freed", INTERVAL_VALUE(h->iv, PAGES, pages, row, freed_pages),
				lacks & VIEW_LACKS_PAGE_FREE);
		append_recorded(s, "page faults of the program", INTERVAL_VALUE(h->iv, PAGES, pages, row, user_faults),
				lacks & VIEW_LACKS_FAULT_USER);
		append_recorded(s, "of the kernel", INTERVAL_VALUE(h->iv, PAGES, pages, row, kernel_faults),
				lacks & VIEW_LACKS_FAULT_KERNEL);
		break;
	}
	if (s->len)
		add_line(h, "memory", "%s", s->str);
	g_string_free(s, TRUE);
}

static int details_head(struct ui *ui, struct pane *p, int y, int max)
{
	const struct interval_row *row = details_row(ui, p);
	/* most of the room is for the lists below */
	struct details_head h = { ui, ui_host(ui, p->entity.host), details_interval(ui, p), y,
				  y + MAX(max - 8, max / 2) };
	const struct thread_row *t;

	if (row)
		g_strlcpy(p->name, strpool_text((strid)INTERVAL_ROW(thread, row)->comm), sizeof(p->name));
	canvas_printf(ui->canvas, 1, h.y, STYLE_BOLD, "%s", *p->name ? p->name : "thread");
	canvas_printf(ui->canvas, 2 + canvas_text_width(*p->name ? p->name : "thread"), h.y, STYLE_DIM, "on %s",
		      ui_host(ui, p->entity.host)->info.name);
	h.y++;
	if (!row) {
		add_line(&h, "", "does not exist in this interval");
		return h.y - y;
	}
	t = INTERVAL_ROW(thread, row);
	add_state(&h, t, t->exited_ns && t->exited_ns < h.iv->end_ns ? t->exited_ns : h.iv->end_ns);
	add_cpu(&h, row);
	if (FIGURE(&h, row, cpu_ns))
		add_modes(&h, row);
	add_bytes(&h, "read",
		  (const uint64_t[]){ FIGURE(&h, row, read_disk), FIGURE(&h, row, read_net), FIGURE(&h, row, read_pipe),
				      FIGURE(&h, row, read_other), FIGURE(&h, row, read_netfs) });
	add_bytes(&h, "written",
		  (const uint64_t[]){ FIGURE(&h, row, write_disk), FIGURE(&h, row, write_net),
				      FIGURE(&h, row, write_pipe), FIGURE(&h, row, write_other),
				      FIGURE(&h, row, write_netfs) });
	add_disks(&h, row);
	add_ids(&h, t);
	if (t->container)
		add_levels(&h, t);
	add_parents(&h, t);
	add_program(&h, t);
	if (view_is_tracing(t, find_process(h.iv, (int64_t)t->pid)))
		add_line(&h, "tracing", "belongs to LTTng or lttngtop, runs because this machine is traced");
	add_life(&h, t);
	add_process(&h, t);
	add_latency(&h, row);
	add_longest(&h, t->uid);
	add_culprits(&h, t->uid);
	add_perf(&h, t->uid);
	add_pages(&h, t->uid);
	add_pressure(&h, t);
	return h.y - y;
}

static const struct pane_type details_type = {
	.title = "Details",
	.tables = { "blocking", "files", "syscalls" },
	.empty = { "no wait ended in this interval", "no known file descriptors",
		   "no system call ended in this interval" },
	.reads = 1u << TABLE_THREAD | 1u << TABLE_PERF | 1u << TABLE_PREEMPTION | 1u << TABLE_CONTAINER |
		 1u << TABLE_VTID | 1u << TABLE_PAGES | 1u << TABLE_PRESSURE,
	.adjust = details_adjust,
	.head = details_head,
};

struct pane *pane_details_create(const struct view_key *key)
{
	static const char *const same[] = { "host", "tid", "pid", "comm" };
	struct pane *p = pane_create(&details_type);

	p->entity = *key;
	/* whether it is open is more useful than showing bytes twice */
	list_toggle_column(&p->lists[DETAILS_FILES], "read_rate");
	list_toggle_column(&p->lists[DETAILS_FILES], "write_rate");
	list_toggle_column(&p->lists[DETAILS_FILES], "open");
	/* already shown at the top */
	for (unsigned i = 0; i < p->n_lists; i++)
		for (unsigned k = 0; k < G_N_ELEMENTS(same); k++)
			if (list_shows_column(&p->lists[i], same[k]))
				list_toggle_column(&p->lists[i], same[k]);
	return p;
}
