/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the relayd of a run stores its data, and how much. */
#include "unit.h"

#include "control/place.h"

static const uint64_t mib = 1 << 20;

static struct relay_place choose(uint64_t runtime_mib, struct place_room disk, uint64_t buffers_mib)
{
	const struct place_room runtime = { .free_bytes = runtime_mib * mib, .is_memory = true };

	return place_choose(runtime, disk, buffers_mib * mib);
}

static struct place_room disk_of(uint64_t free_mib)
{
	return (struct place_room){ .free_bytes = free_mib * mib };
}

static void check(struct relay_place found, bool on_disk, uint64_t expected_mib)
{
	ck_assert_int_eq(found.on_disk, on_disk);
	ck_assert_uint_eq(found.bytes, expected_mib * mib);
}

/* Memory is used if there is enough for viewers that lag, but at most half of the free memory. */
START_TEST(test_enough)
{
	check(choose(8000, disk_of(100000), 128), false, 256);
	check(choose(512, disk_of(100000), 1000), false, 256);
	ck_assert_uint_eq(choose(97, disk_of(100000), 4).bytes, 97 * mib / 2);
}
END_TEST

/* A guest of 1 GiB with buffers of 32 MiB: a disk has more room. */
START_TEST(test_small)
{
	check(choose(96, disk_of(100000), 32), true, 1024);
	check(choose(96, disk_of(1000), 32), true, 500);
	check(choose(96, disk_of(96), 32), false, 48);
	check(choose(96, disk_of(0), 32), false, 48);
}
END_TEST

/* Memory under another path is not an alternative. */
START_TEST(test_memory)
{
	check(choose(96, (struct place_room){ .free_bytes = 4000 * mib, .is_memory = true }, 32), false, 48);
}
END_TEST

START_TEST(test_room)
{
	const struct place_room memory = place_room("/dev/shm"), none = place_room("/nowhere/at/all");

	ck_assert_uint_eq(none.free_bytes, 0);
	ck_assert(!place_room("/proc").is_memory);
	if (memory.free_bytes) /* it may not be mounted */
		ck_assert(memory.is_memory);
}
END_TEST

UNIT_MAIN("place", test_enough, test_small, test_memory, test_room)
