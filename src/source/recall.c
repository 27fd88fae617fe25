/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/recall.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define RECALL_MAGIC UINT64_C(0x31676f6c72746c)

enum { HEADER_BYTES = 4096, ALIGN = 8 };

int recall_create(uint64_t bytes)
{
	const uint64_t capacity = MAX(bytes, HEADER_BYTES) / HEADER_BYTES * HEADER_BYTES;
	const struct recall_shared shared = { .magic = RECALL_MAGIC, .capacity = capacity };
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

uint64_t recall_used(int fd)
{
	struct recall_shared shared = { 0 };

	if (pread(fd, &shared, sizeof(shared), 0) != sizeof(shared))
		return 0;
	return MIN(atomic_load(&shared.head) - atomic_load(&shared.tail), shared.capacity);
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
	if (r->shared->magic == RECALL_MAGIC && r->shared->capacity == r->capacity)
		return LT_OK;
	recall_close(r);
	return error_set("the inherited memory is not a log of the latest data");
}

void recall_close(struct recall *r)
{
	if (r->shared)
		munmap(r->shared, HEADER_BYTES + r->capacity);
	*r = (struct recall){ 0 };
}

/* ---- positions ---- */

static uint64_t head_of(const struct recall *r)
{
	return atomic_load_explicit(&r->shared->head, memory_order_acquire);
}

/* After reading bytes: whether those read before are still the entry's. */
static uint64_t tail_of(const struct recall *r)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&r->shared->tail, memory_order_relaxed);
}

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

/* Drops the oldest entries until there is room for size more bytes. */
static void make_room(struct recall *r, uint64_t size)
{
	const uint64_t head = head_of(r);
	uint64_t tail = tail_of(r);
	struct recall_entry e;

	while (head + size - tail > r->capacity)
		tail = tail < head && read_header(r, tail, &e) ? next_position(r, &e) : head;
	atomic_store_explicit(&r->shared->tail, tail, memory_order_relaxed);
	/* readers see the new tail before any byte of what replaces the entries */
	atomic_thread_fence(memory_order_release);
}

static void put_header(struct recall *r, const struct recall_entry *e)
{
	memcpy(r->entries + e->position % r->capacity, e, sizeof(*e));
}

/* Starts again at the beginning of the memory. */
static void fill_gap(struct recall *r)
{
	const uint64_t head = head_of(r), room = room_after(r, head);
	const struct recall_entry gap = { .position = head, .kind = RECALL_GAP, .len = room - sizeof(gap) };

	make_room(r, room);
	if (room >= sizeof(gap))
		put_header(r, &gap);
	atomic_store_explicit(&r->shared->head, head + room, memory_order_release);
}

/* Both are what the last process has left: it may have been hostile. */
static void check_positions(struct recall *r)
{
	const uint64_t head = head_of(r), tail = tail_of(r);

	if (head % ALIGN == 0 && head <= INT64_MAX && head - tail <= r->capacity)
		return;
	atomic_store(&r->shared->tail, 0);
	atomic_store(&r->shared->head, 0);
}

bool recall_add(struct recall *r, struct recall_entry *e, const void *bytes)
{
	const uint64_t size = size_of(e->len);

	if (e->len > r->capacity / 2 || size > r->capacity / 2)
		return false;
	check_positions(r);
	if (room_after(r, head_of(r)) < size)
		fill_gap(r);
	make_room(r, size);
	e->position = head_of(r);
	put_header(r, e);
	memcpy(r->entries + e->position % r->capacity + sizeof(*e), bytes, e->len);
	atomic_store_explicit(&r->shared->head, e->position + size, memory_order_release);
	return true;
}

bool recall_is_old(const struct recall *r, uint64_t position)
{
	return head_of(r) - position > r->capacity / 4 * 3;
}

/* ---- reading ---- */

bool recall_look(const struct recall *r, uint64_t position, struct recall_entry *e)
{
	uint64_t head = head_of(r);
	bool fine;

	position = MAX(position, tail_of(r));
	while (position < head) {
		fine = read_header(r, position, e);
		if (tail_of(r) > position) {
			position = tail_of(r);
			head = head_of(r);
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
