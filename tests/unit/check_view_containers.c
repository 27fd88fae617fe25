/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Containers as users see them: names, nesting, and sums over their threads. */
#include "views.h"

#include <glib/gstdio.h>

#include "sidecar/sidecar.h"
#include "view/containers.h"

enum { NS = 100 };

static struct thread_row *add_inside(int h, struct container_row *c, int64_t tid, int64_t pid, uint64_t cpu_ns)
{
	struct thread_row *t = add_thread(h, tid, pid, 1, "app");

	t->container = c ? c->uid : 0;
	t->cpu_ns = cpu_ns;
	if (c && !c->first_uid)
		c->first_uid = t->uid;
	return t;
}

/* db: the host itself, 101 with 102 inside, and a second container 103; web: only the host. */
static void two_hosts(void)
{
	struct container_row *c;

	begin();
	add_inside(0, NULL, 1, 1, 5);
	c = add_container(0, 101, HOST_PID_NS, 1, "outer");
	add_inside(0, c, 10, 10, 10)->read_net = 4;
	add_inside(0, c, 11, 10, 20)->blocked_ns = 7;
	c = add_container(0, 102, 101, 2, "inner");
	add_inside(0, c, 20, 20, 100)->write_disk = 3;
	c = add_container(0, 103, 0, 0, "odd");
	add_inside(0, c, 30, 30, 1);
	add_inside(1, NULL, 1, 1, 9);
	end();
}

START_TEST(test_rows)
{
	two_hosts();
	build_table("containers");
	ck_assert_uint_eq(rows.n, 5);
	ASSERT_TEXT(0, "container", "outer:101");
	ASSERT_TEXT(0, "parent", "host");
	ASSERT_UINT(0, "nesting", 1);
	ASSERT_UINT(0, "processes", 1);
	ASSERT_UINT(0, "threads", 2);
	ASSERT_UINT(0, "cpu_ns", 30);
	ASSERT_UINT(0, "waited", 1);
	ASSERT_UINT(0, "blocked_ns", 7);
	ASSERT_UINT(0, "read_bytes_net", 4);
	ASSERT_UINT(0, "pid", 101);
	ASSERT_TEXT(1, "container", "inner:102");
	ASSERT_TEXT(1, "parent", "outer:101");
	ASSERT_UINT(1, "write_bytes", 3);
	ASSERT_TEXT(2, "container", "odd:103");
	ck_assert_int_eq(get(2, "parent").kind, VALUE_NULL);
	ck_assert_int_eq(get(2, "nesting").kind, VALUE_NULL);
	ASSERT_TEXT(3, "container", "host");
	ck_assert_int_eq(get(3, "parent").kind, VALUE_NULL);
	ASSERT_UINT(3, "cpu_ns", 5);
	ASSERT_TEXT(4, "host", "web");
	ASSERT_UINT(4, "cpu_ns", 9);
}
END_TEST

START_TEST(test_tree)
{
	static const char *const names[] = { "host", "outer:101", "inner:102", "odd:103", "host" };
	GHashTable *collapsed = g_hash_table_new(view_key_hash, view_key_equal_hash);
	struct view_query q = query("containers");
	struct view_key key;

	two_hosts();
	q.tree = true;
	q.sort = view_column_find(q.table->columns, q.table->n_columns, "ns");
	build(&q);
	ck_assert_uint_eq(rows.n, 5);
	for (unsigned i = 0; i < 5; i++)
		ASSERT_TEXT(i, "container", names[i]);
	ck_assert_uint_eq(rows.rows[0].depth, 0);
	ck_assert_uint_eq(rows.rows[1].depth, 1);
	ck_assert_uint_eq(rows.rows[2].depth, 2);
	ck_assert_uint_eq(rows.rows[3].depth, 1);
	ck_assert_uint_eq(rows.rows[4].depth, 0);
	key = rows.rows[1].key;
	g_hash_table_add(collapsed, &key);
	q.collapsed = collapsed;
	build(&q);
	ck_assert_uint_eq(rows.n, 4);
	ck_assert_uint_eq(rows.rows[1].hidden, 1);
	ASSERT_UINT(1, "cpu_ns", 130);
	ASSERT_UINT(1, "processes", 2);
	ASSERT_UINT(0, "cpu_ns", 5);
	g_hash_table_destroy(collapsed);
}
END_TEST

/* In a trace, two containers may each be inside the other, or one inside itself. */
START_TEST(test_loops)
{
	struct view_query q = query("containers");

	begin();
	add_inside(0, add_container(0, 101, 102, 2, "a"), 10, 10, 1);
	add_inside(0, add_container(0, 102, 101, 2, "b"), 20, 20, 2);
	add_inside(0, add_container(0, 103, 103, 2, "c"), 30, 30, 4);
	end();
	q.tree = true;
	build(&q);
	ck_assert_uint_eq(rows.n, 5);
	q.tree = false;
	build(&q);
	ASSERT_TEXT(0, "parent", "b:102");
	ASSERT_TEXT(1, "parent", "a:101");
}
END_TEST

/* If two containers had the same number, another is inside its own; where that is unknown, inside the last one. */
START_TEST(test_number_used_again)
{
	struct container_row *c;
	uint64_t first;

	begin();
	c = add_container(0, 101, HOST_PID_NS, 1, "first");
	first = c->uid;
	add_inside(0, c, 10, 10, 1);
	state_end(&hosts[0].state, TABLE_CONTAINER, 0);
	state_reap(&hosts[0].state, interval_retire, &hosts[0].iv);
	c = add_container(0, 101, HOST_PID_NS, 1, "second");
	add_inside(0, c, 20, 20, 2);
	add_inside(0, add_container(0, 102, 101, 2, "inner"), 30, 30, 4);
	c = add_container(0, 103, 101, 2, "kept");
	c->parent_uid = first;
	add_inside(0, c, 40, 40, 8);
	/* its parent's row ended before the interval; the namespace lives on */
	c = add_container(0, 104, 101, 2, "later");
	c->parent_uid = 999;
	add_inside(0, c, 50, 50, 16);
	end();
	build_table("containers");
	ck_assert_uint_eq(rows.n, 7);
	ASSERT_TEXT(0, "container", "first:101");
	ASSERT_UINT(0, "cpu_ns", 1);
	ASSERT_TEXT(1, "container", "second:101");
	ASSERT_UINT(1, "cpu_ns", 2);
	ASSERT_TEXT(2, "parent", "second:101");
	ASSERT_TEXT(3, "parent", "first:101");
	ASSERT_TEXT(4, "parent", "second:101");
}
END_TEST

/* ---- side-cars ---- */

#define DOCKER "/docker/3f4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a7f8e9d0c1b2a3f4e"

static struct sidecar *sidecar_with(const char *fields)
{
	char *text = g_strdup_printf("{\"schema\": 1, %s}", fields), *path;
	char *dir = g_dir_make_tmp("containers-XXXXXX", NULL);
	struct sidecar *s = sidecar_create();

	path = g_build_filename(dir, SIDECAR_NAME, NULL);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	ck_assert_int_eq(sidecar_load(s, path, NULL), LT_OK);
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	g_free(dir);
	g_free(text);
	return s;
}

static struct sidecar *sidecar_of(const char *processes)
{
	char *fields = g_strdup_printf("\"processes\": [%s]", processes);
	struct sidecar *s = sidecar_with(fields);

	g_free(fields);
	return s;
}

#define PROCESS(pid, cgroup) "{\"pid\": " #pid ", \"start_ns\": 0, \"cgroup\": \"" cgroup "\"}"

/* ---- filters ---- */

static unsigned count(const char *table, const char *text)
{
	struct view_query q = query(table);
	struct view_filter filter;

	view_filter_init(&filter);
	ck_assert_int_eq(view_filter_parse(&filter, text, NULL), LT_OK);
	q.filter = &filter;
	ck_assert_uint_eq(view_query_tables(&q) >> TABLE_CONTAINER & 1, 1);
	build(&q);
	view_filter_release(&filter);
	return rows.n;
}

START_TEST(test_filter)
{
	two_hosts();
	ck_assert_uint_eq(count("cpu", "container:outer"), 2);
	ASSERT_TEXT(0, "container", "outer:101");
	ck_assert_uint_eq(count("cpu", "container:outer/"), 3);
	ck_assert_uint_eq(count("cpu", "container:101/"), 3);
	ck_assert_uint_eq(count("cpu", "container:inner/"), 1);
	ck_assert_uint_eq(count("cpu", "container:10?"), 0);
	ck_assert_uint_eq(count("cpu", "container:*:10[12]"), 3);
	ck_assert_uint_eq(count("cpu", "container:inner | container:odd:103"), 2);
	ck_assert_uint_eq(count("cpu", "container:*"), 4);
	ck_assert_uint_eq(count("cpu", "container:host"), 2);
	ck_assert_int_eq(get(0, "container").kind, VALUE_NULL);
	ck_assert_uint_eq(count("cpu", "container:host host:web"), 1);
	ck_assert_uint_eq(count("cpu", "container:host/ host:db"), 5);
	ck_assert_uint_eq(count("cpu", "container:none"), 0);
	ck_assert_uint_eq(count("containers", "container:outer/"), 2);
	ck_assert_uint_eq(count("containers", "container:host"), 2);
	ck_assert(!!rows.containers);
	ck_assert_uint_eq(count("cpu", "container:host host:web"), 1);
	ck_assert(!rows.containers);
}
END_TEST

/* A name in quotes, as Enter in the pane writes it, is the whole one, also while no container has it. */
START_TEST(test_filter_by_whole_name)
{
	struct sidecar *s = sidecar_of(PROCESS(10, "/lxc/web") "," PROCESS(20, "/lxc/web2"));

	begin();
	add_inside(0, add_container(0, 101, HOST_PID_NS, 1, "sh"), 10, 10, 1);
	add_inside(0, add_container(0, 102, HOST_PID_NS, 1, "sh"), 20, 20, 1);
	end();
	shown[0].sidecar = s;
	shown[0].record_ns = BEGIN;
	ck_assert_uint_eq(count("cpu", "container:lxc:web"), 2);
	ck_assert_uint_eq(count("cpu", "container:\"lxc:web\""), 1);
	ASSERT_TEXT(0, "container", "lxc:web");
	ck_assert_uint_eq(count("cpu", "container:\"lxc:web\"/"), 1);
	ck_assert_uint_eq(count("cpu", "container:\"lxc:we\""), 0);
	ck_assert_uint_eq(count("cpu", "container:\"lxc:we?\""), 0);
	ck_assert_uint_eq(count("cpu", "container:lxc:we"), 2);
	ck_assert_uint_eq(count("cpu", "container:web2"), 1);
	shown[0].sidecar = NULL;
	sidecar_destroy(s);
}
END_TEST

/* A container nested in itself does not cause an endless loop. */
START_TEST(test_filter_loops)
{
	begin();
	add_inside(0, add_container(0, 101, 102, 2, "a"), 10, 10, 1);
	add_inside(0, add_container(0, 102, 101, 2, "b"), 20, 20, 2);
	add_inside(0, add_container(0, 103, 103, 2, "c"), 30, 30, 4);
	end();
	ck_assert_uint_eq(count("cpu", "container:a/"), 2);
	ck_assert_uint_eq(count("cpu", "container:c/"), 1);
	ck_assert_uint_eq(count("cpu", "container:z/"), 0);
}
END_TEST

static struct thread_row *add_process(int64_t pid, int64_t ppid, uint64_t born_ns)
{
	struct thread_row *t = add_thread(0, pid, pid, ppid, "p");

	t->born_ns = born_ns;
	t->cpu_ns = 1;
	return t;
}

START_TEST(test_tree_of_processes)
{
	begin();
	add_process(1, 0, 0);
	add_process(10, 1, 0);
	add_thread(0, 11, 10, 1, "thread")->cpu_ns = 1;
	add_process(20, 10, 0);
	add_process(30, 20, 5);
	add_process(40, 1, 0);
	add_process(50, 60, 0); /* a cycle */
	add_process(60, 50, 0);
	add_process(70, 99, 0); /* of which nothing else is known */
	add_process(80, 70, 0);
	add_process(90, 30, 2); /* older than the process that now has its parent's number */
	end();
	ck_assert_uint_eq(count("cpu", "tree:10"), 4);
	ck_assert_uint_eq(count("cpu", "tree:1"), 6);
	ck_assert_uint_eq(count("cpu", "tree:30"), 1);
	ck_assert_uint_eq(count("cpu", "tree:20 | tree:40"), 3);
	ck_assert_uint_eq(count("cpu", "tree:10 !tree:20"), 2);
	ck_assert_uint_eq(count("cpu", "tree:50"), 2);
	ck_assert_uint_eq(count("cpu", "tree:99"), 2);
	ck_assert_uint_eq(count("cpu", "tree:10 tid:11"), 1);
	ck_assert_uint_eq(count("cpu", "tree:12345"), 0);
}
END_TEST

/* ---- levels ---- */

static void add_vtid(const struct thread_row *t, uint64_t level, uint64_t vtid)
{
	struct vtid_row *row = ADD(0, VTID, vtid);

	row->thread_uid = t->uid;
	row->level = level;
	row->vtid = vtid;
}

static void assert_levels(const struct thread_row *t, const char *expected)
{
	GArray *levels = view_thread_levels(&shown[0], t);
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < levels->len; i++) {
		const struct view_level *level = &g_array_index(levels, struct view_level, i);

		g_string_append_printf(s, "%s%s %d/%d", i ? ", " : "", level->name ? level->name : "?", (int)level->tid,
				       (int)level->pid);
	}
	ck_assert_str_eq(s->str, expected);
	g_string_free(s, TRUE);
	g_array_unref(levels);
}

START_TEST(test_levels)
{
	struct thread_row *host, *main_thread, *thread, *odd, *in_cgroup, *in_circle;
	struct container_row *outer, *inner, *c;

	begin();
	host = add_inside(0, NULL, 1, 1, 1);
	outer = add_container(0, 101, HOST_PID_NS, 1, "outer");
	inner = add_container(0, 102, 101, 2, "inner");
	main_thread = add_inside(0, inner, 20, 20, 1);
	main_thread->vtid = main_thread->vpid = 1;
	add_vtid(main_thread, 1, 5);
	thread = add_inside(0, inner, 21, 20, 1);
	thread->vtid = 2;
	thread->vpid = 1;
	add_vtid(thread, 1, 6);
	add_inside(0, outer, 30, 30, 1);
	/* no thread was seen in the container of its first levels; and a level that is impossible */
	odd = add_inside(0, add_container(0, 103, 999, 4, "odd"), 40, 40, 1);
	odd->vtid = odd->vpid = 7;
	add_vtid(odd, 3, 8);
	add_vtid(odd, UINT64_MAX, 9);
	c = add_container(0, 104, 0, 0, "cgroup");
	c->of_cgroup = 1;
	in_cgroup = add_inside(0, c, 50, 50, 1);
	in_circle = add_inside(0, add_container(0, 105, 105, 2, "circle"), 60, 60, 1);
	in_circle->vtid = in_circle->vpid = 3;
	add_vtid(in_circle, 2, 4);
	end();
	assert_levels(host, "host 1/1");
	assert_levels(main_thread, "host 20/20, outer:101 5/5, inner:102 1/1");
	assert_levels(thread, "host 21/20, outer:101 6/5, inner:102 2/1");
	assert_levels(odd, "host 40/40, ? -1/-1, ? -1/-1, ? 8/8, odd:103 7/7");
	assert_levels(in_cgroup, "host 50/50, cgroup:104 -1/-1");
	assert_levels(in_circle, "host 60/60, circle:105 -1/-1, circle:105 4/4, circle:105 3/3");
}
END_TEST

/* ---- names ---- */

/* The first process has the best name; a namespace unshared inside a container is in the container's cgroup. */
START_TEST(test_names)
{
	struct sidecar *s = sidecar_of(PROCESS(10, "/system.slice/ssh.service") "," PROCESS(11, DOCKER) "," PROCESS(
		20, DOCKER) "," PROCESS(40, "/lxc/w\\u001b[1mx") "," PROCESS(1, "/init.scope"));
	struct container_row *c;

	begin();
	add_inside(0, NULL, 1, 1, 1);
	c = add_container(0, 101, HOST_PID_NS, 1, "sh");
	c->first_uid = add_inside(0, c, 11, 11, 1)->uid;
	add_inside(0, c, 10, 10, 1);
	c = add_container(0, 102, 101, 2, "unshare");
	add_inside(0, c, 20, 20, 1);
	c = add_container(0, 103, HOST_PID_NS, 1, "x\033[31m\ny");
	add_inside(0, c, 30, 30, 1);
	c = add_container(0, 104, HOST_PID_NS, 1, "lxc");
	add_inside(0, c, 40, 40, 1);
	end();
	shown[0].sidecar = s;
	shown[0].record_ns = BEGIN;
	build_table("containers");
	ASSERT_TEXT(0, "container", "docker:3f4e5d6c7b8a");
	ASSERT_TEXT(1, "container", "unshare:102");
	ASSERT_TEXT(1, "parent", "docker:3f4e5d6c7b8a");
	ASSERT_TEXT(2, "container", "x\\x1b[31m\\x0ay:103");
	ASSERT_TEXT(3, "container", "lxc:w\\x1b[1mx");
	shown[0].sidecar = NULL;
	sidecar_destroy(s);
}
END_TEST

/* PIDs of a namespace are not looked up among those of another one. */
START_TEST(test_pids_of_namespaces)
{
	static const struct {
		uint64_t flags, pid_ns; /* of the thread */
		const char *said;       /* of the process in the side-car */
		bool is_same;
	} cases[] = {
		{ 0, HOST_PID_NS, "", true },
		{ 0, 101, "", true },
		{ 0, 101, "\"pid_ns\": 101, ", false }, /* collected in a container, recorded by the kernel */
		{ THREAD_VIRTUAL, HOST_PID_NS, "", true },
		{ THREAD_VIRTUAL, 101, "", false },
		{ THREAD_VIRTUAL, 101, "\"pid_ns\": 101, ", true },
		{ THREAD_VIRTUAL, 102, "\"pid_ns\": 101, ", false },
		{ THREAD_VIRTUAL, 0, "\"pid_ns\": 101, ", true }, /* its namespace was not recorded */
		{ THREAD_VIRTUAL, 0, "", true },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *process = g_strdup_printf("{%s\"pid\": 7, \"start_ns\": 0, \"cmdline\": \"app\"}", cases[i].said);
		struct sidecar *s = sidecar_of(process);
		struct thread_row *t;

		begin();
		t = add_inside(0, NULL, 7, 7, 1);
		t->flags = cases[i].flags;
		t->pid_ns = cases[i].pid_ns;
		end();
		shown[0].sidecar = s;
		shown[0].record_ns = BEGIN;
		build_table("cpu");
		ck_assert_msg((get(0, "cmdline").kind == VALUE_TEXT) == cases[i].is_same, "case %zu", i);
		shown[0].sidecar = NULL;
		sidecar_destroy(s);
		g_free(process);
	}
}
END_TEST

/* A program's thread, of which only its IDs in its namespace are known. */
static void add_emitter(uint64_t pid_ns, int64_t tid, int64_t pid, const char *comm, uint64_t events)
{
	struct thread_row *t = add_thread(0, tid, pid, 0, comm);

	t->flags = THREAD_VIRTUAL;
	t->pid_ns = pid_ns;
	t->vtid = t->tid;
	t->vpid = t->pid;
	t->user_events = events;
}

/* Each container has a process 1: a thread belongs to that of its own. */
START_TEST(test_processes_of_namespaces)
{
	struct view_query q = query("emitters");

	begin();
	add_emitter(101, 1, 1, "a", 5);
	add_emitter(101, 5, 1, "a's", 100);
	add_emitter(102, 1, 1, "lttng-b", 7);
	add_emitter(102, 6, 1, "b's", 1000);
	add_emitter(0, 1, 1, "host's", 3);
	add_emitter(HOST_PID_NS, 9, 1, "host's other", 10000);
	end();
	build(&q);
	ck_assert_uint_eq(rows.n, 6);
	for (unsigned i = 0; i < rows.n; i++) /* in the order of their tids */
		ck_assert_int_eq(view_row_is_tracing(&rows, &rows.rows[i]), i % 3 == 1);
	for (unsigned i = 0; i < 2; i++) {
		q.processes = !i;
		q.sum_by = i ? VIEW_SUM_PROCESS : VIEW_SUM_NONE;
		build(&q);
		ck_assert_uint_eq(rows.n, 3);
		ASSERT_TEXT(0, "comm", "a");
		ASSERT_UINT(0, "events", 105);
		ASSERT_TEXT(1, "comm", "lttng-b");
		ASSERT_UINT(1, "events", 1007);
		ASSERT_TEXT(2, "comm", "host's");
		ASSERT_UINT(2, "events", 10003);
	}
	q = query("emitters");
	q.tree = true;
	build(&q);
	for (unsigned i = 0; i < rows.n; i++)
		ck_assert_uint_eq(rows.rows[i].depth, i % 2);
}
END_TEST

/* A side-car lists inodes of namespaces; one that was created in the record may have the inode of an earlier one. */
START_TEST(test_name_of_number_used_again)
{
	struct sidecar *s = sidecar_with("\"cgroups\": {\"101\": \"" DOCKER "\", \"102\": \"" DOCKER "\"}");
	struct container_row *c;
	struct thread_row *t;

	begin();
	add_inside(0, add_container(0, 101, HOST_PID_NS, 1, "old"), 101, 101, 1)->vtid = 1;
	c = add_container(0, 101, HOST_PID_NS, 1, "new");
	c->pid = 20;
	t = add_inside(0, c, 20, 20, 2);
	t->vtid = 1;
	t->born_ns = BEGIN + 1;
	/* its first process is older than the one seen */
	c = add_container(0, 102, HOST_PID_NS, 1, "entered");
	c->pid = 30;
	t = add_inside(0, c, 30, 30, 4);
	t->vtid = 5;
	t->born_ns = BEGIN + 1;
	end();
	shown[0].sidecar = s;
	shown[0].record_ns = BEGIN;
	build_table("containers");
	ASSERT_TEXT(0, "container", "docker:3f4e5d6c7b8a");
	ASSERT_TEXT(1, "container", "new:101");
	ASSERT_TEXT(2, "container", "docker:3f4e5d6c7b8a");
	shown[0].sidecar = NULL;
	sidecar_destroy(s);
}
END_TEST

/* The screen builds its rows again for every interval. */
START_TEST(test_many)
{
	enum { MANY = 5000 };
	uint64_t total = 0;

	begin();
	for (uint64_t i = 0; i < MANY; i++)
		add_inside(0, add_container(0, NS + i, i ? NS + i - 1 : 0, 0, "deep"), (int64_t)(1000 + i),
			   (int64_t)(1000 + i), i);
	end();
	for (int round = 0; round < 3; round++) {
		struct view_query q = query("containers");

		q.tree = round == 2;
		build(&q);
		ck_assert_uint_eq(rows.n, MANY + 2);
	}
	for (unsigned i = 0; i < rows.n; i++)
		total += get(i, "cpu_ns").u;
	ck_assert_uint_eq(total, (uint64_t)MANY * (MANY - 1) / 2);
}
END_TEST

UNIT_MAIN_AROUND("view_containers", setup, teardown, test_rows, test_tree, test_loops, test_number_used_again,
		 test_filter, test_filter_by_whole_name, test_filter_loops, test_tree_of_processes, test_levels,
		 test_names, test_pids_of_namespaces, test_processes_of_namespaces, test_name_of_number_used_again,
		 test_many)
