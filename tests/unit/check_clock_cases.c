/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets and clocks against facts from Trace Compass' own tests: cases match_tables, sync_points and ts_transform of
 * ../shared/conformance.
 */
#include <glib.h>
#include <jansson.h>
#include <stdio.h>

#include "clock.h"
#include "clock/map_build.h"
#include "clock/sync.h"
#include "unit.h"

/* NULL: the shared cases are not available here. */
static json_t *load_case(const char *name)
{
	const char *conformance = getenv("LTTNGTOP_CONFORMANCE"), *shared = getenv("SHARED");
	char *cases = conformance ? g_strdup(conformance)
				  : g_build_filename(shared ? shared : "../shared", "conformance", NULL);
	char *path = g_build_filename(cases, name, "expected.json", NULL);
	json_t *root = NULL;
	json_error_t error;

	if (g_file_test(path, G_FILE_TEST_EXISTS)) {
		root = json_load_file(path, 0, &error);
		ck_assert_msg(root != NULL, "%s: %s", path, error.text);
	} else {
		printf("skip %s: no %s\n", name, path);
	}
	g_free(path);
	g_free(cases);
	return root;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* ---- matching ---- */

static void count_match(void *data, const struct match *match)
{
	unsigned *matches = data;

	ck_assert_ptr_nonnull(match);
	++*matches;
}

/*
 * A packet either matches or waits. Only that is compared with the cases: packets are kept longer here, so the number
 * that wait differs.
 */
static unsigned run_tables(const char *name, json_t *steps)
{
	unsigned matches = 0, compared = 0;
	struct matcher *m = matcher_create(NULL, count_match, &matches);
	GHashTable *waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	size_t i;
	json_t *step;

	json_array_foreach(steps, i, step) {
		const char *key = text_of(step, "key"), *dir = text_of(step, "dir"), *table;
		char *own = g_strdup_printf("%s_%s", text_of(step, "trace"), dir);
		const struct clock_packet p = tcp_packet(g_str_hash(key), 1, 1, 0);
		const unsigned before = matches, waited = GPOINTER_TO_UINT(g_hash_table_lookup(waiting, own));
		json_t *count;

		matcher_feed(m, (unsigned)(text_of(step, "trace")[1] - '1'),
			     (uint64_t)json_integer_value(json_object_get(step, "t")), strcmp(dir, "out") == 0, &p,
			     NULL);
		json_object_foreach(json_object_get(step, "waiting"), table, count)
			g_hash_table_replace(waiting, g_strdup(table),
					     GUINT_TO_POINTER((unsigned)json_integer_value(count)));
		ck_assert_msg((matches > before) == (GPOINTER_TO_UINT(g_hash_table_lookup(waiting, own)) <= waited),
			      "%s, step %zu: %s", name, i, key);
		compared++;
		g_free(own);
	}
	ck_assert_uint_gt(matches, 0);
	g_hash_table_destroy(waiting);
	matcher_destroy(m);
	return compared;
}

START_TEST(test_match_tables)
{
	json_t *root = load_case("match_tables"), *steps;
	unsigned compared = 0;
	const char *name;

	if (!root)
		return;
	json_object_foreach(json_object_get(root, "tests"), name, steps)
		compared += run_tables(name, steps);
	ck_assert_uint_ge(compared, 20);
	json_decref(root);
}
END_TEST

/* ---- clocks ---- */

enum { REFERENCE, OTHER };

#define BASE_NS UINT64_C(1000000000000000000)
#define UNIT_NS UINT64_C(1000000000) /* the cases count in units, here seconds */

/* Feeds one host's ends of the first n messages, in the order of its clock. */
static void feed_host(struct clock_sync *s, unsigned host, const char *name, json_t *messages, size_t n)
{
	for (json_int_t t = 0; t < 100; t++)
		for (size_t i = 0; i < n; i++) {
			const struct clock_packet p = tcp_packet((uint32_t)i * 100, 1, 1, (uint16_t)(i + 1));

			for (int end = 0; end < 2; end++) {
				json_t *at = json_object_get(json_array_get(messages, i), end ? "to" : "from");

				if (strcmp(json_string_value(json_array_get(at, 0)), name) == 0 &&
				    json_integer_value(json_array_get(at, 1)) == t)
					clock_sync_packet(s, host, BASE_NS + (uint64_t)t * UNIT_NS, end == 0, &p);
			}
		}
}

/* Messages after which our state differs from Trace Compass's. */
static const struct {
	const char *name;
	size_t messages;
	enum clock_state ours;
} other_states[] = {
	/* one message each way: enough for an estimate if drift is bounded */
	{ "testFullyIncremental", 2, CLOCK_APPROXIMATE },
	/* a slope of 0.375: no two clocks differ that much */
	{ "testFullyIncremental", 9, CLOCK_FAILED },
};

static enum clock_state state_wanted(const char *name, size_t messages, const char *quality, unsigned *others)
{
	static const char *const qualities[] = {
		[CLOCK_ABSENT] = "ABSENT",     [CLOCK_INCOMPLETE] = "INCOMPLETE", [CLOCK_APPROXIMATE] = "APPROXIMATE",
		[CLOCK_ACCURATE] = "ACCURATE", [CLOCK_FAILED] = "FAIL",
	};
	enum clock_state state = CLOCK_ABSENT;

	for (size_t i = 0; i < G_N_ELEMENTS(other_states); i++)
		if (strcmp(other_states[i].name, name) == 0 && other_states[i].messages == messages) {
			++*others;
			return other_states[i].ours;
		}
	while (strcmp(qualities[state], quality) != 0)
		state++;
	return state;
}

/*
 * The case's line, other's time = alpha * reference's + beta, must be within the guaranteed bound at the last message.
 */
static void check_line(const struct clock_sync *s, const char *name, json_t *message)
{
	const uint64_t host_ns = clock_sync_info(s, OTHER).last_match_ns;
	const double alpha = g_ascii_strtod(text_of(message, "alpha"), NULL);
	const double beta = g_ascii_strtod(text_of(message, "beta"), NULL);
	const double at = (double)(host_ns - BASE_NS) / (double)UNIT_NS;
	const double offset = (double)clock_sync_offset(s, OTHER, host_ns) / (double)UNIT_NS;
	uint64_t bound_ns;

	ck_assert(clock_sync_bound(s, OTHER, host_ns, &bound_ns));
	ck_assert_msg(fabs((at - beta) / alpha - at - offset) <= (double)bound_ns / (double)UNIT_NS, "%s: %g at %g",
		      name, offset, at);
}

/* After each message, compares the state and, if that is accurate, the line. Returns the number of lines compared. */
static unsigned run_messages(const char *name, json_t *messages, unsigned *others)
{
	unsigned lines = 0;

	for (size_t n = 1; n <= json_array_size(messages); n++) {
		const struct clock_options options = { .rho_ppm = 900000, .ref = "t1" };
		json_t *message = json_array_get(messages, n - 1);
		const enum clock_state want = state_wanted(name, n, text_of(message, "quality"), others);
		struct clock_sync *s = clock_sync_create(&options);
		struct clock_host_info info;

		clock_sync_add_host(s, "t1", "1");
		clock_sync_add_host(s, "t2", "2");
		feed_host(s, REFERENCE, "t1", messages, n);
		feed_host(s, OTHER, "t2", messages, n);
		clock_sync_finish(s);
		info = clock_sync_info(s, OTHER);
		ck_assert_uint_eq(info.matched, n);
		ck_assert_msg(info.state == want, "%s, message %zu: %s", name, n, clock_state_name(info.state));
		if (want == CLOCK_ACCURATE && text_of(message, "alpha")) {
			check_line(s, name, message);
			lines++;
		}
		clock_sync_destroy(s);
	}
	return lines;
}

START_TEST(test_sync_points)
{
	json_t *root = load_case("sync_points"), *messages;
	unsigned lines = 0, others = 0;
	const char *name;

	if (!root)
		return;
	ck_assert_str_eq(text_of(root, "reference"), "t1");
	json_object_foreach(json_object_get(root, "tests"), name, messages)
		lines += run_messages(name, messages, &others);
	ck_assert_uint_ge(lines, 5);
	ck_assert_uint_eq(others, G_N_ELEMENTS(other_states));
	json_decref(root);
}
END_TEST

/* Lines as steep as a map allows; the sum is truncated to whole ns. */
START_TEST(test_ts_transform)
{
	json_t *root = load_case("ts_transform"), *one;
	size_t i;
	unsigned compared = 0;

	if (!root)
		return;
	json_array_foreach(json_object_get(root, "linear"), i, one) {
		const double slope = g_ascii_strtod(text_of(one, "slope"), NULL);
		struct clock_map *map;

		if (slope < 0.5 || slope > 1.5)
			continue;
		map = clock_map_create();
		clock_map_add(map, 0, (uint64_t)g_ascii_strtoull(text_of(one, "offset"), NULL, 10), slope - 1);
		ck_assert_int_eq((int64_t)clock_to_ref(map, (uint64_t)json_integer_value(json_object_get(root, "t"))),
				 json_integer_value(json_object_get(one, "expect")));
		clock_map_destroy(map);
		compared++;
	}
	ck_assert_uint_ge(compared, 2);
	json_decref(root);
}
END_TEST

UNIT_MAIN("clock_cases", test_match_tables, test_sync_points, test_ts_transform)
