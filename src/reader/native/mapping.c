/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

/* Larger packets are mapped page by page as they are read: their pages may be holes of a small file. */
enum { POPULATED_MAX = 16 << 20 };

volatile sig_atomic_t mapping_torn;
static long page_bytes;

/* Maps a page of zeros in place of the missing one. */
static void mend(int number, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & ~((uintptr_t)page_bytes - 1));

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap(page, (size_t)page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(number, SIG_DFL);
	mapping_torn = true;
}

static void watch_for_faults(void)
{
	struct sigaction action = { .sa_sigaction = mend, .sa_flags = SA_SIGINFO };

	if (page_bytes)
		return;
	page_bytes = sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

bool mapping_open(struct mapping *m, int fd, uint64_t offset, size_t len)
{
	uint64_t begin;

	watch_for_faults();
	begin = offset & ~((uint64_t)page_bytes - 1);
	m->size = len + (size_t)(offset - begin);
	m->base = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE | (m->size <= POPULATED_MAX ? MAP_POPULATE : 0), fd,
		       (off_t)begin);
	m->data = NULL;
	if (m->base == MAP_FAILED)
		return false;
	m->data = (const uint8_t *)m->base + (offset - begin);
	m->len = len;
	return true;
}

void mapping_close(struct mapping *m)
{
	if (m->data && m->base)
		munmap(m->base, m->size);
	m->data = NULL;
}

bool mapping_is_torn(void)
{
	const bool was = mapping_torn;

	mapping_torn = false;
	return was;
}
