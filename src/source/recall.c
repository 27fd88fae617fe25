/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/recall.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define RECALL_MAGIC UINT64_C(0x31676f6c72746c)

enum {
	PAGE_BYTES = 64 * 1024, /* the largest of the machines that run this: the kernel frees no part of a page */
	HEADER_BYTES = PAGE_BYTES,
	ALIGN = 8,
	REMOVE_SHARE = 16, /* pages are freed when they are this fraction of the memory */
};

/* ---- the parent ---- */

int recall_create(uint64_t bytes)
{
	const uint64_t capacity = MAX(bytes, RECALL_BYTES_MIN) / PAGE_BYTES * PAGE_BYTES;
	const struct recall_shared shared = { .magic = RECALL_MAGIC, .capacity = capacity, .limit = capacity };
	const int fd = memfd_create("lttngtop-recall", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* Sealed: by shrinking it, a worker could end those who read it. */
	if (fd >= 0 && ftruncate(fd, (off_t)(HEADER_BYTES + capacity)) == 0 &&
	    pwrite(fd, &shared, sizeof(shared), 0) == sizeof(shared) &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	error_set("cannot create memory for the latest data: %s", error_of_errno(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int recall_open_again(int fd)
{
	char path[32];
	int again;

	g_snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		error_set("cannot open the memory for the latest data again: %s", error_of_errno(errno));
	return again;
}

enum lt_status recall_set_limit(int fd, uint64_t bytes)
{
	ssize_t n;

	do {
		n = pwrite(fd, &bytes, sizeof(bytes), offsetof(struct recall_shared, limit));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(bytes) ? LT_OK
				  : error_set("cannot limit the memory for the latest data: %s", error_of_errno(errno));
}

uint64_t recall_used(int fd)
{
	struct recall_shared shared = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0 || pread(fd, &shared, sizeof(shared), 0) != sizeof(shared))
		return 0;
	return MIN(atomic_load(&shared.head) - atomic_load(&shared.tail), (uint64_t)st.st_size);
}

/* ---- opening ---- */

/* The last writer may have been hostile. */
static void take_positions(struct recall *r)
{
	r->head = atomic_load(&r->shared->head);
	r->tail = atomic_load(&r->shared->tail);
	if (r->head % ALIGN || r->head > INT64_MAX || r->tail > r->head || r->head - r->tail > r->capacity) {
		r->head = r->tail = 0;
		atomic_store(&r->shared->tail, 0);
		atomic_store(&r->shared->head, 0);
	}
	r->limit = r->capacity;
	r->removed = r->tail / PAGE_BYTES * PAGE_BYTES;
}

enum lt_status recall_open(struct recall *r, int fd, bool writes)
{
	struct stat st;
	void *map;

	*r = (struct recall){ 0 };
	if (fstat(fd, &st) < 0 || st.st_size <= HEADER_BYTES)
		return error_set("the log of the latest data was not inherited");
	map = mmap(NULL, (size_t)st.st_size, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return error_set("cannot map the log of the latest data: %s", error_of_errno(errno));
	r->shared = map;
	r->entries = (uint8_t *)map + HEADER_BYTES;
	r->capacity = (uint64_t)st.st_size - HEADER_BYTES;
	if (r->shared->magic != RECALL_MAGIC || r->shared->capacity != r->capacity) {
		recall_close(r);
		return error_set("the inherited memory is not a log of the latest data");
	}
	if (writes)
		take_positions(r);
	return LT_OK;
}

void recall_close(struct recall *r)
{
	if (r->shared)
		munmap(r->shared, HEADER_BYTES + r->capacity);
	*r = (struct recall){ 0 };
}

/* ---- positions ---- */

/* Bytes up to the end of the memory. */
static uint64_t room_after(const struct recall *r, uint64_t position)
{
	return r->capacity - position % r->capacity;
}

static uint64_t size_of(uint64_t len)
{
	return sizeof(struct recall_entry) + (len + ALIGN - 1) / ALIGN * ALIGN;
}

uint64_t recall_after(const struct recall_entry *e)
{
	return e->position + size_of(e->len);
}

/* Reads the header at the position, which is not checked any further. false: it is not an entry. */
static bool read_header(const struct recall *r, uint64_t position, struct recall_entry *e)
{
	const uint64_t room = room_after(r, position);

	if (position % ALIGN)
		return false;
	/* too little for a header is a gap without one */
	*e = (struct recall_entry){ .position = position, .kind = RECALL_GAP, .len = 0 };
	if (room < sizeof(*e))
		return true;
	memcpy(e, r->entries + position % r->capacity, sizeof(*e));
	return e->position == position && e->kind <= RECALL_PACKET && e->len <= r->capacity && size_of(e->len) <= room;
}

/* The position of the next entry. */
static uint64_t next_position(const struct recall *r, const struct recall_entry *e)
{
	const uint64_t room = room_after(r, e->position);

	return room < sizeof(*e) ? e->position + room : recall_after(e);
}

/* ---- writing ---- */

/* Frees the pages of dropped entries, unless they are soon in use again. */
static void free_pages(struct recall *r)
{
	const uint64_t end = r->tail / PAGE_BYTES * PAGE_BYTES;
	uint64_t in_use, n;

	if (r->limit > r->capacity / 2) {
		r->removed = end;
		return;
	}
	if (end - r->removed < r->capacity / REMOVE_SHARE)
		return;
	/* no page twice, and none that is in use again */
	in_use = r->head - MIN(r->head, r->capacity);
	r->removed = MAX(r->removed, (in_use + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
	for (; r->removed < end; r->removed += n) {
		n = MIN(end - r->removed, room_after(r, r->removed));
		madvise(r->entries + r->removed % r->capacity, n, MADV_REMOVE);
	}
}

/* Drops the oldest entries until there is room for size more bytes. */
static void make_room(struct recall *r, uint64_t size)
{
	struct recall_entry e;

	while (r->head + size - r->tail > r->limit)
		r->tail =
			r->tail < r->head && read_header(r, r->tail, &e) ? MIN(next_position(r, &e), r->head) : r->head;
	atomic_store_explicit(&r->shared->tail, r->tail, memory_order_relaxed);
	/* readers see the new tail before any byte of what replaces the entries */
	atomic_thread_fence(memory_order_release);
	free_pages(r);
}

static void advance(struct recall *r, uint64_t size)
{
	r->head += size;
	atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
}

/* Starts again at the beginning of the memory. */
static void fill_gap(struct recall *r)
{
	const uint64_t room = room_after(r, r->head);
	const struct recall_entry gap = { .position = r->head, .kind = RECALL_GAP, .len = room - sizeof(gap) };

	make_room(r, room);
	if (room >= sizeof(gap))
		memcpy(r->entries + r->head % r->capacity, &gap, sizeof(gap));
	advance(r, room);
}

bool recall_add(struct recall *r, struct recall_entry *e, const void *bytes)
{
	const uint64_t limit = atomic_load_explicit(&r->shared->limit, memory_order_relaxed), size = size_of(e->len);

	r->limit = CLAMP(limit, RECALL_BYTES_MIN, r->capacity);
	if (e->len > r->limit / 2 || size > r->limit / 2)
		return false;
	if (room_after(r, r->head) < size)
		fill_gap(r);
	make_room(r, size);
	e->position = r->head;
	memcpy(r->entries + r->head % r->capacity, e, sizeof(*e));
	memcpy(r->entries + r->head % r->capacity + sizeof(*e), bytes, e->len);
	advance(r, size);
	return true;
}

bool recall_is_old(const struct recall *r, uint64_t position)
{
	return r->head - position > r->limit / 4 * 3;
}

/* ---- reading ---- */

uint64_t recall_end(const struct recall *r)
{
	return atomic_load_explicit(&r->shared->head, memory_order_acquire);
}

/* After reading bytes: whether those read before are still the entry's. */
static uint64_t tail_of(const struct recall *r)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&r->shared->tail, memory_order_relaxed);
}

/* Where entries begin and end. false: impossible, also when they are read again because the writer was just there. */
static bool read_positions(const struct recall *r, uint64_t *tail, uint64_t *head)
{
	enum { TRIES = 4 };

	for (unsigned i = 0; i < TRIES; i++) {
		*tail = tail_of(r);
		*head = recall_end(r);
		if (*head <= INT64_MAX && *tail <= *head && *head - *tail <= r->capacity)
			return true;
	}
	return false;
}

bool recall_look(const struct recall *r, uint64_t position, struct recall_entry *e)
{
	uint64_t head, tail;
	bool fine;

	if (!read_positions(r, &tail, &head))
		return false;
	position = MAX(position, tail);
	while (position < head) {
		fine = read_header(r, position, e);
		tail = tail_of(r);
		if (tail > position) {
			position = tail;
		} else if (!fine) {
			return false;
		} else if (e->kind != RECALL_GAP) {
			return true;
		} else {
			position = next_position(r, e);
		}
	}
	return false;
}

bool recall_copy(const struct recall *r, const struct recall_entry *e, void *to, size_t len)
{
	if (len > e->len || size_of(e->len) > room_after(r, e->position))
		return false;
	memcpy(to, r->entries + e->position % r->capacity + sizeof(*e), len);
	return tail_of(r) <= e->position;
}

bool recall_is_cut(const struct recall *r)
{
	return tail_of(r) > 0;
}

/* The trace comes last; if there are too many, the first one is dropped. Returns their number. */
static unsigned put_last(uint64_t *traces, unsigned n, unsigned max, uint64_t trace)
{
	unsigned i = n;

	while (i && traces[i - 1] != trace)
		i--;
	if (!i && n < max) {
		traces[n] = trace;
		return n + 1;
	}
	i = MAX(i, 1);
	memmove(traces + i - 1, traces + i, (n - i) * sizeof(*traces));
	traces[n - 1] = trace;
	return n;
}

unsigned recall_traces(int fd, uint64_t source, uint64_t *traces, unsigned max)
{
	struct recall_entry e;
	struct recall r;
	uint64_t at = 0, end;
	unsigned n = 0;

	if (recall_open(&r, fd, false) != LT_OK) {
		error_clear();
		return 0;
	}
	end = recall_end(&r);
	while (at < end && recall_look(&r, at, &e) && e.position >= at) {
		at = recall_after(&e);
		if (e.kind == RECALL_PACKET && e.source == source)
			n = put_last(traces, n, max, e.trace);
	}
	recall_close(&r);
	return n;
}
