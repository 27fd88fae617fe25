/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large the buffers of a session that `record` sets up are, and how often live readers get them. */
#include "unit.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "control/commands.h"
#include "control/plan.h"

/* The data kept of a live session is limited, however many CPUs stream; a file has room for a packet. */
START_TEST(test_limit)
{
	const struct record_request request = {
		.session = "s", .live = "net://h", .live_timer_ns = 1000000000, .set = "waits"
	};
	struct record_plan *plan = record_plan_create(&request);
	const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), bytes = UINT64_C(64) << 30;
	char *script;

	ck_assert_uint_eq(c->files, 0);
	record_plan_limit(plan, bytes);
	ck_assert_uint_gt(c->files, 1);
	ck_assert_uint_le(c->files * c->file_bytes * cpus, bytes);
	ck_assert_uint_gt(c->files * (c->file_bytes + 1) * cpus, bytes - c->files * cpus);
	record_plan_limit(plan, 1);
	ck_assert_uint_ge(c->file_bytes, c->subbuf_bytes);
	script = commands_script(plan);
	ck_assert_ptr_nonnull(strstr(script, " --tracefile-size=2097152 --tracefile-count=4 "));
	g_free(script);
	record_plan_destroy(plan);
}
END_TEST

/* Hosts that stream to the same relayd share what it keeps, however many they are. */
START_TEST(test_limit_of_hosts)
{
	GPtrArray *hosts = g_ptr_array_new();
	const struct record_request request = {
		.session = "s", .live = "net://h", .live_timer_ns = 1000000000, .set = "waits", .hosts = hosts
	};
	const uint64_t bytes = UINT64_C(64) << 30;
	uint64_t first_file = 0, first_buffers = 0;

	for (const char *name = "abcd"; *name; name++) {
		struct record_plan *plan;
		const struct record_channel *c;

		g_ptr_array_add(hosts, (char *)name);
		plan = record_plan_create(&request);
		c = record_plan_channel(plan, RECORD_KERNEL);
		record_plan_limit(plan, bytes);
		if (hosts->len == 1) {
			first_file = c->file_bytes;
			first_buffers = record_plan_buffers_bytes(plan);
		}
		ck_assert_uint_le(c->file_bytes * hosts->len, first_file);
		ck_assert_uint_gt((c->file_bytes + 1) * hosts->len, first_file);
		ck_assert_uint_eq(record_plan_buffers_bytes(plan), first_buffers * hosts->len);
		record_plan_destroy(plan);
	}
	g_ptr_array_free(hosts, TRUE);
}
END_TEST

/*
 * Each live timer closes a sub-buffer. However short it is, those of a CPU last for 4 s in the same memory, unless they
 * would be smaller than 16 KiB.
 */
START_TEST(test_live_timer)
{
	static const unsigned timers_ms[] = { 1, 20, 50, 200, 1000, 5000 };

	for (unsigned i = 0; i < G_N_ELEMENTS(timers_ms); i++)
		for (uint64_t bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
			const struct record_request request = { .session = "s",
								.live = "net://h",
								.live_timer_ns = timers_ms[i] * UINT64_C(1000000),
								.set = "waits",
								.buffer_bytes = bytes };
			struct record_plan *plan = record_plan_create(&request);
			const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);

			ck_assert_uint_eq(c->subbuf_bytes * c->subbufs, bytes);
			ck_assert_uint_ge(c->subbuf_bytes, 16 << 10);
			ck_assert_uint_eq(c->subbufs & (c->subbufs - 1), 0);
			ck_assert(c->subbufs * timers_ms[i] >= 4000 || c->subbuf_bytes == 16 << 10);
			ck_assert(c->subbufs == 4 || c->subbufs * timers_ms[i] < 8000);
			record_plan_destroy(plan);
		}
}
END_TEST

/* Per CPU, as the texts of --buffer-size say. */
START_TEST(test_default_buffers)
{
	static const struct {
		const char *set;
		unsigned mib;
	} expected[] = { { "full", 8 }, { "full,memory", 8 }, { "waits", 4 }, { "minimal", 1 }, { "none", 1 } };
	GPtrArray *names = g_ptr_array_new();

	g_ptr_array_add(names, (char *)"my_app:*");
	for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
		const struct record_request request = {
			.session = "s", .output = "/o", .set = expected[i].set, .events = names, .ust = names
		};
		struct record_plan *plan = record_plan_create(&request);
		const struct record_channel *kernel = record_plan_channel(plan, RECORD_KERNEL);
		const struct record_channel *user = record_plan_channel(plan, RECORD_USER);

		ck_assert_uint_eq(kernel->subbuf_bytes * kernel->subbufs, (uint64_t)expected[i].mib << 20);
		ck_assert_uint_eq(user->subbuf_bytes * user->subbufs, 2 << 20);
		record_plan_destroy(plan);
	}
	g_ptr_array_free(names, TRUE);
}
END_TEST

UNIT_MAIN("record_buffers", test_limit, test_limit_of_hosts, test_live_timer, test_default_buffers)
