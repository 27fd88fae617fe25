/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order, filter, search and tree of rows. */
#include "clock_hosts.h"
#include "views.h"

#include "base/error.h"
#include "view/derived.h"
#include "view/missing.h"
#include "view/paths.h"

/* ---- order, filter, tree ---- */

static void three_threads(void)
{
	struct thread_row *t;

	begin();
	t = add_thread(1, 3, 3, 1, "c");
	t->switches = 5;
	t = add_thread(0, 2, 2, 1, "b");
	t->switches = 5;
	t->prio = UINT64_MAX;
	t = add_thread(0, 1, 1, 0, "a");
	t->switches = 9;
	end();
}

static void assert_tids(unsigned a, unsigned b, unsigned c)
{
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_UINT(0, "tid", a);
	ASSERT_UINT(1, "tid", b);
	ASSERT_UINT(2, "tid", c);
}

START_TEST(test_sort)
{
	struct view_query q = query("cpu");
	struct view_key key;

	three_threads();
	build(&q);
	assert_tids(1, 2, 3);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "switches");
	build(&q); /* greatest first; equal ones by host */
	assert_tids(1, 2, 3);
	key = rows.rows[2].key;
	q.reverse = true;
	build(&q); /* equal ones still by host */
	assert_tids(2, 3, 1);
	ck_assert_uint_eq(view_rows_index(&rows, &key), 1);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "comm");
	build(&q);
	assert_tids(3, 2, 1);
	q.reverse = false;
	build(&q);
	assert_tids(1, 2, 3);
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "prio");
	q.reverse = true;
	build(&q); /* unknown is last */
	assert_tids(1, 3, 2);
	q.reverse = false;
	build(&q); /* in either direction */
	assert_tids(1, 3, 2);
}
END_TEST

static void assert_filtered_in(bool pane, const char *table, const char *text, unsigned n)
{
	struct view_query q = query(table);
	struct view_filter filter;

	view_filter_init(&filter);
	filter.of_pane = pane;
	ck_assert_int_eq(view_filter_parse(&filter, text, NULL), LT_OK);
	q.filter = &filter;
	build(&q);
	ck_assert_msg(rows.n == n, "'%s' gives %u rows", text, rows.n);
	view_filter_release(&filter);
}

static void assert_filtered(const char *table, const char *text, unsigned n)
{
	assert_filtered_in(false, table, text, n);
}

static void assert_missing(const char *table, const char *filtered, const char *expected)
{
	struct view_filter filter;
	char *text;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, filtered, NULL), LT_OK);
	text = view_missing_text(view_table_find(table)->needs, shown, 2, &filter);
	if (expected)
		ck_assert_str_eq(text, expected);
	else
		ck_assert_ptr_null(text);
	g_free(text);
	view_filter_release(&filter);
}

START_TEST(test_missing)
{
	static const char *db[] = { "sched_waking", "block_rq_issue", "lttng_statedump_block_device" };
	static const char *pages[] = { "kmem_mm_page_alloc" };
	static const char *web[] = { "block_rq_issue", "block_rq_complete", "syscall_entry_*", "syscall_exit_*" };

	begin();
	end();
	shown[0].missing = db;
	shown[0].n_missing = G_N_ELEMENTS(db);
	shown[1].missing = web;
	shown[1].n_missing = G_N_ELEMENTS(web);
	assert_missing("disks", "",
		       "no block_rq_issue, block_rq_complete events were recorded: use 'lttngtop record --set full' "
		       "or 'lttng enable-event -k block_rq_issue,block_rq_complete'");
	assert_missing("disks", "host:db",
		       "no block_rq_issue events were recorded: use 'lttngtop record --set full' or "
		       "'lttng enable-event -k block_rq_issue'");
	assert_missing("sched", "",
		       "db: no sched_waking events were recorded: use 'lttngtop record --set full' or "
		       "'lttng enable-event -k sched_waking'");
	assert_missing("sched", "host:web", NULL);
	assert_missing("io", "",
		       "web: no system calls were recorded: use 'lttngtop record --set full' or "
		       "'lttng enable-event -k --syscall --all'");
	assert_missing("relations", "",
		       "no sched_waking events and no system calls were recorded: use 'lttngtop record --set full', or "
		       "'lttng enable-event -k sched_waking' and 'lttng enable-event -k --syscall --all'");
	assert_missing("cpu", "", NULL);
	shown[0].missing = pages;
	shown[0].n_missing = G_N_ELEMENTS(pages);
	assert_missing("memory", "host:db",
		       "no kmem_mm_page_alloc events were recorded: use 'lttngtop record --set full,memory' "
		       "or 'lttng enable-event -k kmem_mm_page_alloc'");
	assert_missing("hosts", "", NULL);
	shown[1].iv = NULL;
	assert_missing("io", "", NULL);
}
END_TEST

static void assert_filter_error_of(const char *table, const char *text, const char *expected)
{
	struct view_filter filter;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, text, table ? view_table_find(table) : NULL), LT_ERROR);
	ck_assert_str_eq(error_text(), expected);
	view_filter_release(&filter);
}

static void assert_filter_error(const char *text, const char *expected)
{
	assert_filter_error_of(NULL, text, expected);
}

/* A filter for any table: of the states only those of the table that the user sees are listed. */
START_TEST(test_states_of_the_shown_table)
{
	struct view_filter f;

	view_filter_init(&f);
	f.shown = view_table_find("cpus");
	ck_assert_int_eq(view_filter_parse(&f, "state:foo", NULL), LT_ERROR);
	ck_assert_str_eq(error_text(), "column 1: unknown state 'foo': use one of unknown, idle, busy, offline");
	ck_assert_int_eq(view_filter_parse(&f, "state:running | state:disk", NULL), LT_OK);
	f.shown = view_table_find("io"); /* it has none */
	ck_assert_int_eq(view_filter_parse(&f, "state:foo", NULL), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "offline"));
	ck_assert_ptr_nonnull(strstr(error_text(), "block_device"));
	view_filter_release(&f);
}
END_TEST

START_TEST(test_filter_errors)
{
	assert_filter_error("nginx bogus:x",
			    "column 7: unknown term 'bogus:': use one of host:, comm:, pid:, tid:, tree:, user:, "
			    "container:, state:, call:, file:, peer:");
	assert_filter_error("fd:3", "column 1: unknown term 'fd:': as a column, write 'fd=3'");
	assert_filter_error("tid:1 cpu_ns:5ms", "column 7: unknown term 'cpu_ns:': as a column, write 'cpu_ns=5ms'");
	assert_filter_error_of("cpu", "dev:3",
			       "column 1: unknown term 'dev:': use one of host:, comm:, pid:, tid:, tree:, user:, "
			       "container:, state:, call:, file:, peer:");
	assert_filter_error("nginx AND tid:1", "column 7: 'AND' is a text here: leave it out, or write \"AND\"");
	assert_filter_error("nginx && tid:1", "column 7: '&&' is a text here: leave it out, or write \"&&\"");
	assert_filter_error("(a or b)", "column 4: 'or' is a text here: write '|', or write \"or\"");
	assert_filter_error("not pid:1", "column 1: 'not' is a text here: write '!', or write \"not\"");
	assert_filter_error("a | not (b)", "column 5: 'not' is a text here: write '!', or write \"not\"");
	assert_filter_error_of("cpu", "tid:1 state:foo",
			       "column 7: unknown state 'foo': use one of unknown, running, ready, blocked, waiting, "
			       "new, stopped, zombie, dead");
	assert_filter_error_of("sync", "state:running",
			       "column 1: unknown state 'running': use one of reference, absent, incomplete, "
			       "approximate, accurate, failed");
	assert_filter_error_of("cpu", "state:disk",
			       "column 1: unknown state 'disk': use one of unknown, running, ready, blocked, waiting, "
			       "new, stopped, zombie, dead");
	assert_filter_error("pid:x", "column 1: 'pid:x': 'pid:' needs a number");
	assert_filter_error("tid:", "column 1: 'tid:': 'tid:' needs a number");
	assert_filter_error("host:", "column 1: 'host:': 'host:' needs a name");
	assert_filter_error("container:", "column 1: 'container:': 'container:' needs a name");
	assert_filter_error("container:/", "column 1: 'container:/': 'container:' needs a name");
	assert_filter_error("tree:web", "column 1: 'tree:web': 'tree:' needs a process ID");
	assert_filter_error("\303\244 | | b", "column 5: term expected before '|'");
	assert_filter_error("a |", "column 4: term expected at the end");
	assert_filter_error("!", "column 2: term expected at the end");
	assert_filter_error("a (b | c", "column 3: missing ')'");
	assert_filter_error("a b)", "column 4: ')' without '('");
	assert_filter_error("()", "column 2: term expected before ')'");
	assert_filter_error("a \"b c", "column 3: missing closing quote");
	assert_filter_error("switchs>5", "column 1: no table has a column 'switchs': did you mean 'switches'?");
	assert_filter_error("a >5", "column 3: column expected directly before the operator");
	assert_filter_error("!=5", "column 2: column expected directly before the operator");
	assert_filter_error("a CPU%%>1", "column 3: no table has a column 'CPU%%': did you mean 'cpu_percent'?");
	assert_filter_error("cpu_ns%>15", "column 1: no table has a column 'cpu_ns%': did you mean 'cpu_ns'?");
	assert_filter_error("10.0.0.1:80=x", "column 1: no table has a column '10.0.0.1:80'");
	assert_filter_error("cpu_ns>5x", "column 1: column 'cpu_ns' needs a duration such as 5ms, not '5x'");
	assert_filter_error("a cpu_ns>5 ms", "column 3: '5 ms' has a blank before the unit: write '5ms'");
	assert_filter_error("(cpu_percent>5 %)", "column 2: '5 %' has a blank before the unit: write '5%'");
	assert_filter_error_of("io", "read>5 k|a", "column 1: '5 k' has a blank before the unit: write '5k'");
	assert_filter_error("comm>a", "column 1: column 'comm' can only be compared using = or !=");
	assert_filter_error("read_bytes>1Q",
			    "column 1: column 'read_bytes' needs a size such as 64k or 1.5M, not '1Q'");
}
END_TEST

START_TEST(test_filter_too_deep)
{
	char text[201];

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_filter_error(text, "column 51: more than 50 nested parentheses");
	memset(text, '!', sizeof(text) - 1);
	assert_filter_error(text, "column 51: more than 50 nested parentheses");
}
END_TEST

START_TEST(test_filter)
{
	struct disk_row *d;
	struct thread_row *t;

	begin();
	t = add_thread(0, 1, 1, 0, "nginx");
	t->switches = 1;
	t->pid_ns = UINT64_C(0xeffffffc);
	t = add_thread(0, 2, 1, 0, "nginx-worker");
	t->switches = 1;
	t->pid_ns = 4026532200;
	t->container = add_container(0, 4026532200, HOST_PID_NS, 1, "nginx")->uid;
	t = add_thread(1, 3, 3, 0, "Redis");
	t->switches = 2;
	t->state = THREAD_RUNNING;
	t->prio = UINT64_MAX;
	t->cpu_ns = 5000000;
	d = ADD(0, DISK, disk);
	d->name = strpool_intern_z("vda");
	d->reads = 1;
	end();
	assert_filtered("cpu", "", 3);
	assert_filtered("cpu", "host:db", 2);
	assert_filtered("cpu", "host:d?", 2);
	assert_filtered("cpu", "host:web host:db", 0); /* both must match */
	assert_filtered("cpu", "host:web | host:db", 3);
	assert_filtered("cpu", "host:web|host:db", 3);
	assert_filtered("cpu", "!host:web", 2);
	assert_filtered("cpu", "! host:web", 2);
	assert_filtered("cpu", "!!host:web", 1);
	assert_filtered("cpu", "(tid:1 | tid:3) host:web", 1);
	assert_filtered("cpu", "tid:1 | tid:3 host:db", 1); /* adjacent terms bind more tightly */
	assert_filtered("cpu", "!(tid:1 | tid:3)", 1);
	assert_filtered("cpu", "!(tid:1 host:web)", 3);
	assert_filtered("cpu", "switches>1", 1);
	assert_filtered("cpu", "switches>=1", 3);
	assert_filtered("cpu", "switches<1", 0);
	assert_filtered("cpu", "switches!=1", 1);
	assert_filtered("cpu", "switches=2", 1);
	assert_filtered("cpu", "comm=nginx", 1); /* the whole name */
	assert_filtered("cpu", "comm!=nginx*", 1);
	assert_filtered("cpu", "comm=\"nginx-worker\"", 1);
	assert_filtered("cpu", "cpu_ns>=5ms", 1);
	assert_filtered("cpu", "cpu>=5ms", 1);
	assert_filtered("cpu", "cpu>=5", 1);     /* the same column, in ns */
	assert_filtered("cpu", "prio<=1000", 2); /* the third is unknown: matches no comparison */
	assert_filtered("cpu", "prio!=1000", 2);
	assert_filtered("cpu", "!prio<=1000", 1);
	assert_filtered("cpu", "\"nginx-w\"", 1);
	assert_filtered("cpu", "\"host:web\"", 0); /* only a text */
	assert_filtered("cpu", "\"cpu_ns%>15\"", 0);
	assert_filtered("cpu", "\"=\" | comm:<a=b>", 0);
	assert_filtered("cpu", "comm:(sd-pam)", 0);
	assert_filtered("cpu", "state:running", 1);
	assert_filtered("cpu", "!state:running", 2);
	assert_filtered("cpu", "reads>0", 3); /* a column of other tables */
	assert_filtered("disks", "reads>0", 1);
	assert_filtered("disks", "reads>1k", 0);
	assert_filtered("disks", "!pid:1", 1); /* has no effect on disks either */
	assert_filtered("disks", "!(pid:1 | host:web)", 1);
	assert_filtered("cpu", "pid:1", 2);
	assert_filtered("cpu", "tid:1", 1);
	assert_filtered("cpu", "comm:nginx", 2);
	assert_filtered("cpu", "comm:nginx*", 2);
	assert_filtered("cpu", "comm:*worker", 1);
	assert_filtered("cpu", "comm:[a-z]*worker", 1);
	assert_filtered("cpu", "comm:[x]*worker", 0);
	assert_filtered("cpu", "redis", 1);
	/* only in columns that are displayed: the pane has the state as a letter, the report not at all */
	assert_filtered("cpu", "running", 0);
	assert_filtered("cpu", "?", 0);
	assert_filtered_in(true, "cpu", "running", 0);
	assert_filtered_in(true, "cpu", "?", 2);
	/* plain texts with characters as in names of kernel threads and in addresses */
	assert_filtered("cpu", "kworker/0:1", 0);
	assert_filtered("cpu", "socket:[25052]", 0);
	assert_filtered("cpu", "10.0.0.1:80", 0);
	assert_filtered("cpu", "container:*", 1);
	assert_filtered("cpu", "container:4026532200", 1);
	assert_filtered("cpu", "container:renamed:4026532200", 1);
	assert_filtered("disks", "pid:1 comm:nginx", 1); /* has no effect on disks */
	assert_filtered("disks", "vdb", 0);
}
END_TEST

START_TEST(test_search)
{
	struct view_query q = query("cpu");

	three_threads();
	build(&q);
	ck_assert_uint_eq(view_rows_search(&rows, 0, "C", false), 2);
	ck_assert_uint_eq(view_rows_search(&rows, 1, "1", false), 0); /* wraps around to the top */
	ck_assert_uint_eq(view_rows_search(&rows, 0, "web", true), 2);
	ck_assert_uint_eq(view_rows_search(&rows, 0, "none", false), VIEW_NO_ROW);
}
END_TEST

START_TEST(test_tree)
{
	struct view_query q = query("cpu");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key key;

	begin();
	add_thread(0, 30, 30, 20, "grandchild")->switches = 1;
	add_thread(0, 1, 1, 0, "init");
	add_thread(0, 20, 20, 1, "child");
	add_thread(0, 21, 20, 1, "thread of child");
	add_thread(0, 25, 25, 1, "brother");
	add_thread(0, 40, 40, 41, "circle");
	add_thread(0, 41, 41, 40, "circle");
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 7);
	ASSERT_TEXT(0, "comm", "init");
	ASSERT_TEXT(1, "comm", "child");
	ASSERT_TEXT(2, "comm", "thread of child");
	ASSERT_TEXT(3, "comm", "grandchild");
	ASSERT_TEXT(4, "comm", "brother");
	ck_assert_uint_eq(rows.rows[0].depth, 0);
	ck_assert_uint_eq(rows.rows[1].depth, 1);
	ck_assert_uint_eq(rows.rows[3].depth, 2);
	ck_assert(rows.rows[0].has_children && rows.rows[1].has_children && !rows.rows[2].has_children);
	ck_assert(!rows.rows[1].last && rows.rows[4].last && rows.rows[3].last);
	ck_assert_uint_eq(rows.rows[4].depth, 1);

	key = rows.rows[1].key;
	g_hash_table_add(collapsed, &key);
	q.collapsed = collapsed;
	build(&q);
	ck_assert_uint_eq(rows.n, 5);
	ck_assert_uint_eq(rows.rows[1].hidden, 2);
	ASSERT_TEXT(2, "comm", "brother");
	g_hash_table_unref(collapsed);
}
END_TEST

/* A collapsed row has the figures of its branch, and siblings are sorted by theirs. */
START_TEST(test_tree_of_branches)
{
	struct view_query q = query("cpu");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key shell;
	struct thread_row *t;

	begin();
	add_thread(0, 1, 1, 0, "init");
	add_thread(0, 10, 10, 1, "daemon")->switches = 3;
	add_thread(0, 20, 20, 1, "shell");
	add_thread(0, 30, 30, 20, "make")->switches = 2;
	t = add_thread(0, 31, 31, 30, "cc");
	t->switches = 4;
	t->state = THREAD_RUNNING;
	t->cpu_ns = 100 * MS;
	t->since_ns = END - 50 * MS;
	/* a thread of another host stays with its host, whatever its figures */
	add_thread(1, 7, 7, 0, "busy")->switches = 1000;
	end();
	q.tree = true;
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "switches");
	build(&q);
	ck_assert_uint_eq(rows.n, 6);
	ASSERT_TEXT(1, "comm", "shell");
	ASSERT_TEXT(2, "comm", "make");
	ASSERT_TEXT(4, "comm", "daemon");
	ASSERT_UINT(1, "switches", 0);
	shell = rows.rows[1].key;
	q.reverse = true;
	build(&q);
	ASSERT_TEXT(1, "comm", "daemon");

	q.reverse = false;
	q.collapsed = collapsed;
	g_hash_table_add(collapsed, &shell);
	build(&q);
	ck_assert_uint_eq(rows.n, 4);
	ASSERT_TEXT(1, "comm", "shell");
	ck_assert_uint_eq(rows.rows[1].hidden, 2);
	ASSERT_UINT(1, "switches", 6);
	ASSERT_UINT(1, "cpu_ns", 150 * MS);
	ASSERT_REAL(1, "cpu_percent", 15);
	ASSERT_UINT(1, "threads", 3);
	ASSERT_UINT(1, "tid", 20);
	ASSERT_NULL(1, "since_ns");
	g_hash_table_unref(collapsed);
}
END_TEST

START_TEST(test_tree_of_counters)
{
	struct view_query q = query("counters");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct thread_row *t;
	struct view_key key;

	begin();
	t = add_thread(0, 1, 1, 0, "init");
	add_perf(t, "perf_cpu_cycles", 5);
	t = add_thread(0, 2, 2, 1, "worker");
	add_perf(t, "perf_cpu_cycles", 40);
	add_perf(t, "perf_cpu_faults", 7);
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_UINT(0, "perf_cpu_cycles", 5);
	key = rows.rows[0].key;
	g_hash_table_add(collapsed, &key);
	q.collapsed = collapsed;
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "perf_cpu_cycles", 45);
	ASSERT_UINT(0, "perf_cpu_faults", 7);
	g_hash_table_unref(collapsed);
}
END_TEST

/* The deepest possible chain of forks, and only the chosen rows. */
START_TEST(test_deep_tree)
{
	struct view_query q = query("cpu");
	GHashTable *only = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key key;

	begin();
	for (int i = 1; i <= 100000; i++)
		add_thread(0, i, i, i - 1, "fork");
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 100000);
	ck_assert_uint_eq(rows.rows[99999].depth, UINT16_MAX);
	key = rows.rows[500].key;
	g_hash_table_add(only, &key);
	q.only = only;
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	g_hash_table_unref(only);
}
END_TEST

/* With only some rows, sums stay those of all that they merge. */
START_TEST(test_only_sums)
{
	struct view_query q = query("cpu");
	GHashTable *only = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key key = { .table = TABLE_THREAD };

	begin();
	key.uid = add_thread(0, 10, 10, 1, "daemon")->uid;
	add_thread(0, 11, 10, 1, "worker")->switches = 4;
	add_thread(0, 12, 10, 1, "worker")->switches = 5;
	add_thread(0, 20, 20, 1, "other")->switches = 7;
	end();
	q.sum_by = VIEW_SUM_PROCESS;
	q.only = only;
	g_hash_table_add(only, &key);
	build(&q);
	ck_assert_uint_eq(rows.n, 1);
	ASSERT_UINT(0, "pid", 10);
	ASSERT_UINT(0, "rows", 2);
	ASSERT_UINT(0, "switches", 9);
	g_hash_table_unref(only);
}
END_TEST

/* With only some rows, collapsed ones still stand for their branch, and the others for themselves. */
START_TEST(test_only_branches)
{
	struct view_query q = query("cpu");
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	GHashTable *only = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_key init = { .table = TABLE_THREAD }, shell = init, make = init, cc = init;
	struct thread_row *t;

	begin();
	init.uid = add_thread(0, 1, 1, 0, "init")->uid;
	add_thread(0, 10, 10, 1, "daemon")->switches = 3;
	shell.uid = add_thread(0, 20, 20, 1, "shell")->uid;
	make.uid = add_thread(0, 30, 30, 20, "make")->uid;
	t = add_thread(0, 31, 31, 30, "cc");
	t->switches = 40;
	cc.uid = t->uid;
	add_thread(0, 32, 32, 30, "as")->switches = 5;
	end();
	q.tree = true;
	q.collapsed = collapsed;
	q.only = only;
	g_hash_table_add(collapsed, &shell);
	g_hash_table_add(only, &init);
	g_hash_table_add(only, &shell);
	g_hash_table_add(only, &cc);
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(0, "comm", "init");
	ASSERT_UINT(0, "switches", 0);
	ck_assert_uint_eq(rows.rows[0].hidden, 0);
	ASSERT_TEXT(1, "comm", "shell");
	ASSERT_UINT(1, "switches", 45);
	ck_assert_uint_eq(rows.rows[1].hidden, 3);
	ck_assert_uint_eq(rows.rows[1].depth, 1);
	ck_assert(rows.rows[1].last);

	/* expanded: below the nearest ancestor that is shown */
	g_hash_table_remove_all(collapsed);
	build(&q);
	ck_assert_uint_eq(rows.n, 3);
	ASSERT_TEXT(2, "comm", "cc");
	ASSERT_UINT(2, "switches", 40);
	ck_assert_uint_eq(rows.rows[2].depth, 2);
	/* it can be collapsed even if none of its children is shown */
	ck_assert(rows.rows[0].has_children && !rows.rows[2].has_children);

	/* a row inside a collapsed one that is not chosen is shown */
	g_hash_table_remove(only, &shell);
	g_hash_table_add(collapsed, &shell);
	g_hash_table_add(collapsed, &make);
	build(&q);
	ck_assert_uint_eq(rows.n, 2);
	ASSERT_TEXT(1, "comm", "cc");
	ck_assert_uint_eq(rows.rows[1].depth, 1);
	g_hash_table_unref(only);
	g_hash_table_unref(collapsed);
}
END_TEST

static void add_path(struct view_paths *paths, const struct thread_row *t, uint64_t others_ns, bool request)
{
	const struct wait_totals totals = { .ns = { [WAIT_RUNNING] = others_ns } };

	view_paths_add(paths, t->uid, (int64_t)t->pid, &totals);
	if (request)
		view_paths_add_request(paths, t->uid, (int64_t)t->pid);
}

/* Threads of requests first, the kernel's and the tracer's last, unless an order is chosen. */
START_TEST(test_ranks)
{
	static const struct {
		int64_t tid, pid;
		const char *comm;
		uint64_t flags, others_ns;
		bool request;
	} threads[] = {
		{ 2, 2, "kworker", THREAD_KERNEL, 90, false },
		{ 10, 10, "lttng-sessiond", 0, 80, false },
		{ 11, 10, "Notification", 0, 95, false },
		{ 20, 20, "systemd", 0, 70, false },
		{ 30, 30, "client", 0, 1, false },
		{ 31, 30, "request", 0, 5, true },
		{ 40, 40, "wget", 0, 10, true },
	};
	static const unsigned ranked[] = { 40, 31, 20, 30, 11, 2, 10 }, sorted[] = { 11, 2, 10, 20, 40, 31, 30 };
	static const unsigned of_processes[] = { 40, 30, 20, 10, 2 };
	struct view_query q = query("paths");
	struct view_paths paths;

	view_paths_init(&paths);
	begin();
	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
		struct thread_row *t = add_thread(0, threads[i].tid, threads[i].pid, 1, threads[i].comm);

		t->flags = threads[i].flags;
		add_path(&paths, t, threads[i].others_ns, threads[i].request);
	}
	end();
	shown[0].paths = &paths;
	q.sort = view_column_find(q.table->columns, q.table->n_columns, q.table->sort);
	build(&q);
	ck_assert_uint_eq(rows.n, G_N_ELEMENTS(sorted));
	for (unsigned i = 0; i < rows.n; i++)
		ASSERT_UINT(i, "tid", sorted[i]);
	q.ranked = true;
	build(&q);
	for (unsigned i = 0; i < rows.n; i++)
		ASSERT_UINT(i, "tid", ranked[i]);
	q.processes = true;
	build(&q); /* a process is as its threads */
	ck_assert_uint_eq(rows.n, G_N_ELEMENTS(of_processes));
	for (unsigned i = 0; i < rows.n; i++)
		ASSERT_UINT(i, "tid", of_processes[i]);
	view_paths_release(&paths);
}
END_TEST

/* Tracing processes are recognised by their own name or that of their main thread, whatever else is in the table. */
START_TEST(test_tracing)
{
	static const struct {
		int64_t tid, pid;
		const char *comm;
		bool expected;
	} threads[] = {
		{ 1, 1, "systemd", false },
		{ 10, 10, "lttng-sessiond", true },
		{ 11, 10, "Client manageme", true },
		{ 12, 12, "lttngtop: web", true },
		{ 20, 20, "sh", false },
		{ 21, 20, "Client manageme", false },
		{ 22, -1, "Client manageme", false },
	};
	struct view_query q = query("cpu");

	begin();
	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++)
		add_thread(0, threads[i].tid, threads[i].pid, 1, threads[i].comm)->switches = 1;
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, G_N_ELEMENTS(threads));
	for (unsigned i = 0; i < rows.n; i++) {
		ck_assert_int_eq(view_row_is_tracing(&rows, &rows.rows[i]), threads[i].expected);
		ck_assert_int_eq(get(i, "tracing").kind, VALUE_BOOL);
		ck_assert_int_eq(get(i, "tracing").flag, threads[i].expected);
	}
	q.processes = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 5);
	ASSERT_TEXT(1, "comm", "lttng-sessiond");
	ck_assert(view_row_is_tracing(&rows, &rows.rows[1]));
	ck_assert(!view_row_is_tracing(&rows, &rows.rows[3]));
}
END_TEST

/* Summing up processes leaves the rows of what belongs to no thread as they are. */
START_TEST(test_processes_of_no_thread)
{
	struct view_query q = query("disks");

	begin();
	for (unsigned i = 0; i < 2; i++) {
		ADD(0, DISK, disk)->reads = i + 1;
		ADD(1, DISK, disk)->reads = i + 1;
	}
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 4);
	q.processes = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 4);
}
END_TEST

/* The reference of a host that has one or not, and the row of one that is gone. */
START_TEST(test_clocks)
{
	const struct clock_options options = { .ref = "web" };
	struct clock_sync *clocks = clock_sync_create(&options);
	const struct clock web = add_clock(clocks, "web", 0, 0), db = add_clock(clocks, "db", 5000, 0);
	struct view_host of[] = {
		{ .name = "none", .clock = UINT_MAX },
		{ .name = "web", .clock = web.host },
		{ .name = "db", .clock = db.host },
		{ .name = "alone", .clock = clock_sync_add_host(clocks, "alone", "alone") },
	};
	const struct view_sources from = {
		.hosts = of, .n_hosts = G_N_ELEMENTS(of), .clocks = clocks, .end_ns = BASE_NS + 10 * SECOND_NS
	};
	struct view_query q = query("sync");
	struct view_derived derived;

	talk(clocks, &web, &db, 0, 10, 1000);
	clock_sync_update(clocks);
	view_derived_init(&derived);
	q.derived = &derived;
	for (int gone = 0; gone < 2; gone++) {
		of[1].gone = gone;
		view_derived_clear(&derived);
		q.table->supply.collect(&derived, &from);
		view_rows_build(&rows, &q, of, G_N_ELEMENTS(of));
		ck_assert_uint_eq(rows.n, gone ? 2 : 3);
		ASSERT_TEXT(rows.n - 2, "ref", "web");
		ASSERT_NULL(rows.n - 1, "ref");
	}
	view_derived_release(&derived);
	clock_sync_destroy(clocks);
}
END_TEST

UNIT_MAIN_AROUND("view rows", setup, teardown, test_ranks, test_tracing, test_sort, test_filter,
		 test_states_of_the_shown_table, test_filter_errors, test_filter_too_deep, test_missing, test_search,
		 test_tree, test_tree_of_branches, test_tree_of_counters, test_deep_tree, test_only_sums,
		 test_only_branches, test_processes_of_no_thread, test_clocks)
