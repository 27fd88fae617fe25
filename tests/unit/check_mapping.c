/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of files in memory. */
#include "unit.h"

#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/native/mapping.h"

/* How many of the pages of a new file without any data are in memory once it is mapped. */
static size_t pages_in_memory(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
	unsigned char *in_memory = g_malloc(n);
	const int fd = memfd_create("mapping", MFD_CLOEXEC);
	struct mapping m;
	size_t sum = 0;

	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	ck_assert(mapping_open(&m, fd, 0, bytes));
	ck_assert_uint_eq(m.len, bytes);
	ck_assert_int_eq(mincore(m.base, bytes, in_memory), 0);
	for (size_t i = 0; i < n; i++)
		sum += in_memory[i] & 1;
	ck_assert_uint_eq(m.data[0] + m.data[bytes / 2] + m.data[bytes - 1], 0);
	mapping_close(&m);
	close(fd);
	g_free(in_memory);
	return sum;
}

/* A packet of usual size is mapped with its pages; a huge one, which may cost its sender nothing, without. */
START_TEST(test_pages_in_memory)
{
	enum { USUAL = 1 << 20, HUGE = 256 << 20 };

	ck_assert_uint_eq(pages_in_memory(USUAL), USUAL / (size_t)sysconf(_SC_PAGESIZE));
	ck_assert_uint_eq(pages_in_memory(HUGE), 0);
}
END_TEST

UNIT_MAIN("mapping", test_pages_in_memory)
