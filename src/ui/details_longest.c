/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What took a thread longest. Of each kind of wait and each system call, the model keeps the longest with its time. */
#include "ui/details_longest.h"

#include "base/strpool.h"

enum { LONGEST = 3 };

/* The longest one of a kind. */
struct longest {
	uint64_t ns, end_ns;
	strid call, object, cause;
	int64_t fd;
};

static int compare(const void *a, const void *b)
{
	const struct longest *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns != y->end_ns;
}

static GArray *waits_of(const struct interval *iv, uint64_t thread_uid)
{
	const struct interval_table *t = &iv->tables[TABLE_BLOCKING];
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct longest));

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct blocking_row *r = INTERVAL_ROW(blocking, &t->rows[i]);
		const uint64_t count = INTERVAL_VALUE(iv, BLOCKING, blocking, &t->rows[i], time.count);
		struct longest l = {
			.ns = INTERVAL_VALUE(iv, BLOCKING, blocking, &t->rows[i], time.max),
			.end_ns = INTERVAL_VALUE(iv, BLOCKING, blocking, &t->rows[i], time.max_at),
			.call = (strid)r->syscall,
			.object = (strid)r->object,
			.fd = (int64_t)r->fd,
			/* that of the last one is not that of the longest */
			.cause = count == 1 ? (strid)r->cause : STRID_NONE,
		};

		if (r->thread_uid == thread_uid && count && l.ns)
			g_array_append_val(list, l);
	}
	g_array_sort(list, compare);
	return list;
}

static GArray *calls_of(const struct interval *iv, uint64_t thread_uid)
{
	const struct interval_table *t = &iv->tables[TABLE_SYSCALL];
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct longest));

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct syscall_row *r = INTERVAL_ROW(syscall, &t->rows[i]);
		struct longest l = {
			.ns = INTERVAL_VALUE(iv, SYSCALL, syscall, &t->rows[i], time.max),
			.end_ns = INTERVAL_VALUE(iv, SYSCALL, syscall, &t->rows[i], time.max_at),
			.call = (strid)r->name,
		};

		if (r->thread_uid == thread_uid && l.ns &&
		    INTERVAL_VALUE(iv, SYSCALL, syscall, &t->rows[i], time.count))
			g_array_append_val(list, l);
	}
	g_array_sort(list, compare);
	return list;
}

/* Whether a longer one than that is of the same kind: waits differ by how they ended, too. */
static bool has_longer(const GArray *list, guint i)
{
	const struct longest *l = &g_array_index(list, struct longest, i);

	for (guint k = 0; k < i; k++) {
		const struct longest *other = &g_array_index(list, struct longest, k);

		if (other->call == l->call && other->object == l->object && other->fd == l->fd)
			return true;
	}
	return false;
}

/* "150ms in openat from 14:35:28.675532, ended by dd, …" */
static char *text_of(GArray *list, details_time_fn *time, details_time_fn *length, void *data)
{
	GString *s = g_string_new(NULL);
	char begin[64], ns[64];

	for (guint i = 0, n = 0; i < list->len && n < LONGEST; i++) {
		const struct longest *l = &g_array_index(list, struct longest, i);

		if (has_longer(list, i))
			continue;
		n++;
		length(data, ns, sizeof(ns), l->ns);
		time(data, begin, sizeof(begin), l->end_ns - MIN(l->ns, l->end_ns));
		g_string_append_printf(s, "%s%s", s->len ? ", " : "", ns);
		if (l->call)
			g_string_append_printf(s, " in %s", strpool_text(l->call));
		if (l->object)
			g_string_append_printf(s, " %s", strpool_text(l->object));
		g_string_append_printf(s, " from %s", begin);
		if (l->cause)
			g_string_append_printf(s, ", ended by %s", strpool_text(l->cause));
	}
	g_array_free(list, TRUE);
	return g_string_free(s, FALSE);
}

char *details_longest_waits(const struct interval *iv, uint64_t thread_uid, details_time_fn *time,
			    details_time_fn *length, void *data)
{
	return text_of(waits_of(iv, thread_uid), time, length, data);
}

char *details_longest_calls(const struct interval *iv, uint64_t thread_uid, details_time_fn *time,
			    details_time_fn *length, void *data)
{
	return text_of(calls_of(iv, thread_uid), time, length, data);
}
