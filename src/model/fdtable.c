/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lives of the fds in a table, and copies of tables. */
#include "model/fdtable.h"

#include <string.h>

#include "model/memory.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

/* Whether n lives that end without ever having been used get rows. */
static bool lists(struct model *m, uint32_t n)
{
	return m->lists_files && !m->forgetting && memory_has_room(m, TABLE_FILE, n);
}

static bool has_life(int64_t fd)
{
	return fd >= 0 && fd < FD_MAX;
}

static uint32_t block_of(int64_t fd)
{
	return (uint32_t)fd / BLOCK_FDS;
}

static uint32_t bit_of(int64_t fd)
{
	return UINT32_C(1) << ((uint32_t)fd % BLOCK_FDS);
}

static struct fd_block *own_block(const struct fd_table *t, uint32_t b)
{
	return b < t->n_blocks ? t->blocks[b] : NULL;
}

static struct image_block *image_block(const struct fd_table *t, uint32_t b)
{
	return t->image && b < t->image->n_blocks ? t->image->blocks[b] : NULL;
}

/* Which fds of a block are open: those with a row, and the inherited ones. */
static uint32_t with_row(const struct fd_table *t, uint32_t b)
{
	const struct fd_block *block = own_block(t, b);

	return block ? block->open : 0;
}

static uint32_t inherited(const struct fd_table *t, uint32_t b)
{
	const struct fd_block *block = own_block(t, b);
	const struct image_block *image = block ? NULL : image_block(t, b);

	return block ? block->inherited : image ? image->open : 0;
}

static uint32_t blocks_of(const struct fd_table *t)
{
	return MAX(t->n_blocks, t->image ? t->image->n_blocks : 0);
}

static const struct fd_what *inherited_what(const struct fd_table *t, int64_t fd)
{
	return &t->image->blocks[block_of(fd)]->what[(uint32_t)fd % BLOCK_FDS];
}

/* ---- images ---- */

static void image_block_put(struct model *m, struct image_block *block)
{
	if (!block || --block->users)
		return;
	m->fds_bytes -= sizeof(*block);
	g_free(block);
}

static size_t image_bytes(uint32_t n_blocks)
{
	return sizeof(struct fd_image) + n_blocks * sizeof(struct image_block *);
}

static void image_put(struct model *m, struct fd_image *image)
{
	if (!image || --image->users)
		return;
	for (uint32_t b = 0; b < image->n_blocks; b++)
		image_block_put(m, image->blocks[b]);
	m->fds_bytes -= image_bytes(image->n_blocks);
	g_free(image);
}

static struct fd_what what_of_row(const struct model *m, uint32_t row, bool read_end)
{
	const struct file_row *r = FILE_ROW(m, row);

	return (struct fd_what){
		.path = (strid)r->path,
		.peer = (strid)r->peer,
		.client = (strid)r->client,
		.side = (uint8_t)r->side,
		.kind = (uint8_t)r->kind,
		.cloexec = r->cloexec != 0,
		.read_end = read_end,
		.channel = r->channel,
	};
}

/* The block's present contents, with a use: the image's block if it is unchanged, else a new one. NULL: empty. */
static struct image_block *image_block_now(struct model *m, const struct fd_table *t, uint32_t b)
{
	const struct fd_block *block = own_block(t, b);
	struct image_block *old = image_block(t, b), now = { 0 };

	if (block) {
		now.open = block->open | block->inherited;
		for (uint32_t open = block->open; open; open &= open - 1) {
			unsigned i = (unsigned)__builtin_ctz(open);

			now.what[i] = what_of_row(m, block->rows[i], block->read_end >> i & 1);
		}
		for (uint32_t open = block->inherited; open; open &= open - 1) {
			unsigned i = (unsigned)__builtin_ctz(open);

			now.what[i] = old->what[i];
		}
		if (!now.open)
			return NULL;
	}
	if (old && (!block || (old->open == now.open && memcmp(old->what, now.what, sizeof(now.what)) == 0))) {
		old->users++;
		return old;
	}
	if (!block)
		return NULL;
	now.users = 1;
	m->fds_bytes += sizeof(now);
	return g_memdup2(&now, sizeof(now));
}

/* The table's present contents, with a use for the caller; the table keeps it as its own image. NULL: empty. */
static struct fd_image *image_now(struct model *m, struct fd_table *t)
{
	uint32_t n = blocks_of(t);
	struct fd_image *image;
	bool changed;

	while (n && !with_row(t, n - 1) && !inherited(t, n - 1))
		n--;
	changed = n != (t->image ? t->image->n_blocks : 0);
	if (t->n_blocks || changed) {
		image = g_malloc0(image_bytes(n));
		m->fds_bytes += image_bytes(n);
		*image = (struct fd_image){ .users = 1, .n_blocks = n };
		for (uint32_t b = 0; b < n; b++) {
			image->blocks[b] = image_block_now(m, t, b);
			changed |= image->blocks[b] != image_block(t, b);
			if (image->blocks[b])
				image->n_open += (uint32_t)__builtin_popcount(image->blocks[b]->open);
		}
		if (changed) {
			image_put(m, t->image);
			t->image = image;
		} else {
			image_put(m, image);
		}
	}
	if (t->image)
		t->image->users++;
	return t->image;
}

/* ---- lives ---- */

/* The table's own block; created if it has none. */
static struct fd_block *block_make(struct model *m, struct fd_table *t, uint32_t b)
{
	uint32_t n = t->n_blocks;

	if (own_block(t, b))
		return t->blocks[b];
	if (b >= n) {
		n = MAX(2 * n, b + 1);
		t->blocks = g_renew(struct fd_block *, t->blocks, n);
		memset(t->blocks + t->n_blocks, 0, (n - t->n_blocks) * sizeof(*t->blocks));
		m->fds_bytes += (n - t->n_blocks) * sizeof(*t->blocks);
		t->n_blocks = n;
	}
	n = image_block(t, b) ? image_block(t, b)->open : 0;
	t->blocks[b] = g_new0(struct fd_block, 1);
	t->blocks[b]->inherited = n;
	m->fds_bytes += sizeof(struct fd_block);
	return t->blocks[b];
}

static uint32_t add_row(struct model *m, struct fd_table *t, int64_t fd, uint64_t opened_ns)
{
	struct fd_block *block = block_make(m, t, block_of(fd));
	uint32_t row = state_add(&m->state, TABLE_FILE);
	struct file_row *r = FILE_ROW(m, row);

	r->files_id = t->id;
	r->pid = (uint64_t)t->pid;
	r->fd = (uint64_t)fd;
	r->kind = FD_UNKNOWN;
	r->opened_ns = opened_ns;
	block->rows[(uint32_t)fd % BLOCK_FDS] = row;
	block->open |= bit_of(fd);
	block->inherited &= ~bit_of(fd);
	block->read_end &= ~bit_of(fd);
	return row;
}

static void count_opened(struct model *m, uint32_t n, uint64_t opened_ns)
{
	HOST_ROW(m)->fds += n;
	if (opened_ns)
		HOST_ROW(m)->fds_opened += n;
	touch_host(m);
}

static void count_closed(struct model *m, uint32_t n)
{
	HOST_ROW(m)->fds -= n;
	if (!m->forgetting)
		HOST_ROW(m)->fds_closed += n;
	touch_host(m);
}

/* Starts a life of an fd that has none. opened_ns 0: before the record. */
static uint32_t life_begin(struct model *m, struct fd_table *t, int64_t fd, uint64_t opened_ns)
{
	count_opened(m, 1, opened_ns);
	return add_row(m, t, fd, opened_ns);
}

static void set_what(struct model *m, struct fd_table *t, int64_t fd, uint32_t row, const struct fd_what *what)
{
	struct file_row *r = FILE_ROW(m, row);

	r->path = what->path;
	r->peer = what->peer;
	r->client = what->client;
	r->side = what->side;
	r->channel = what->channel;
	r->kind = what->kind;
	r->cloexec = what->cloexec;
	if (what->read_end)
		files_set_read_end(t, fd);
}

/* Gives an inherited fd its row. */
static uint32_t inherit(struct model *m, struct fd_table *t, int64_t fd)
{
	const struct fd_what *what = inherited_what(t, fd);
	uint32_t row = add_row(m, t, fd, t->copied_ns);

	set_what(m, t, fd, row, what);
	/* the end of the dump showed which of the devices that existed are disks */
	if (what->kind == FD_DEVICE && t->copied_ns <= m->dump_end_ns && block_is_device(m, strpool_text(what->path)))
		FILE_ROW(m, row)->kind = FD_BLOCK;
	if (what->kind == FD_FILE && m->mounts->n && t->copied_ns <= m->mounts->told_ns)
		mounts_settle_file(m, row);
	t->n_inherited--;
	return row;
}

/* Whether the fd is open; accepts any fd. */
static bool is_open(const struct fd_table *t, int64_t fd)
{
	return has_life(fd) && (with_row(t, block_of(fd)) | inherited(t, block_of(fd))) & bit_of(fd);
}

bool fdtable_look(const struct model *m, const struct fd_table *t, int64_t fd, struct fd_what *what)
{
	if (!is_open(t, fd))
		return false;
	if (with_row(t, block_of(fd)) & bit_of(fd))
		*what = what_of_row(m, own_block(t, block_of(fd))->rows[(uint32_t)fd % BLOCK_FDS], false);
	else
		*what = *inherited_what(t, fd);
	return true;
}

uint32_t files_find(struct model *m, struct fd_table *t, int64_t fd)
{
	const struct fd_block *block;

	if (!has_life(fd))
		return NO_ROW;
	block = own_block(t, block_of(fd));
	if (block && block->open & bit_of(fd))
		return block->rows[(uint32_t)fd % BLOCK_FDS];
	return t->n_inherited && inherited(t, block_of(fd)) & bit_of(fd) ? inherit(m, t, fd) : NO_ROW;
}

/* An inherited life ends without ever having had a row. */
static void close_unlisted(struct model *m, struct fd_table *t, int64_t fd)
{
	block_make(m, t, block_of(fd))->inherited &= ~bit_of(fd);
	t->n_inherited--;
	count_closed(m, 1);
}

void files_close(struct model *m, struct fd_table *t, int64_t fd)
{
	uint32_t row;

	if (!is_open(t, fd))
		return;
	if (!(with_row(t, block_of(fd)) & bit_of(fd)) && !lists(m, 1)) {
		close_unlisted(m, t, fd);
		return;
	}
	row = files_find(m, t, fd);
	own_block(t, block_of(fd))->open &= ~bit_of(fd);
	if (!m->forgetting)
		FILE_ROW(m, row)->closed_ns = m->now_ns;
	state_end(&m->state, TABLE_FILE, row);
	count_closed(m, 1);
}

uint32_t files_open(struct model *m, struct fd_table *t, int64_t fd)
{
	if (!has_life(fd))
		return NO_ROW;
	files_close(m, t, fd);
	return life_begin(m, t, fd, m->now_ns);
}

uint32_t files_find_or_add(struct model *m, struct fd_table *t, int64_t fd)
{
	uint32_t row = files_find(m, t, fd);

	return row != NO_ROW || !has_life(fd) ? row : life_begin(m, t, fd, 0);
}

uint32_t files_open_copy(struct model *m, struct fd_table *t, int64_t fd, uint32_t from)
{
	uint32_t row = files_open(m, t, fd);

	if (row != NO_ROW && from != NO_ROW) {
		const struct fd_what what = what_of_row(m, from, false);

		set_what(m, t, fd, row, &what);
	}
	return row;
}

void files_each(struct model *m, struct fd_table *t, int64_t first, int64_t last, files_fd_fn *fn)
{
	first = MAX(first, 0);
	last = MIN(last, (int64_t)blocks_of(t) * BLOCK_FDS - 1);
	while (first <= last) {
		uint32_t b = block_of(first);
		uint32_t open = (with_row(t, b) | inherited(t, b)) & ~(bit_of(first) - 1);

		for (; open; open &= open - 1) {
			int64_t fd = (int64_t)b * BLOCK_FDS + __builtin_ctz(open);

			if (fd <= last)
				fn(m, t, fd);
		}
		first = (int64_t)(b + 1) * BLOCK_FDS;
	}
}

void files_set_read_end(struct fd_table *t, int64_t fd)
{
	if (has_life(fd) && with_row(t, block_of(fd)) & bit_of(fd))
		own_block(t, block_of(fd))->read_end |= bit_of(fd);
}

bool files_is_read_end(const struct fd_table *t, int64_t fd)
{
	if (!is_open(t, fd))
		return false;
	if (with_row(t, block_of(fd)) & bit_of(fd))
		return own_block(t, block_of(fd))->read_end & bit_of(fd);
	return inherited_what(t, fd)->read_end;
}

uint32_t files_resolve(const struct model *m, struct file_ref ref)
{
	const struct state_table *t = &m->state.tables[TABLE_FILE];

	return ref.row != NO_ROW && state_alive(t, ref.row) && state_cells(t, ref.row)[0] == ref.uid ? ref.row : NO_ROW;
}

bool fdtable_is_cloexec(struct model *m, const struct fd_table *t, int64_t fd)
{
	if (with_row(t, block_of(fd)) & bit_of(fd))
		return FILE_ROW(m, own_block(t, block_of(fd))->rows[(uint32_t)fd % BLOCK_FDS])->cloexec;
	return inherited_what(t, fd)->cloexec;
}

/* ---- whole tables ---- */

static void copy_to_image(struct model *m, struct fd_table *t, struct fd_table *from, uint64_t opened_ns)
{
	t->image = image_now(m, from);
	t->copied_ns = opened_ns;
	t->n_inherited = t->image ? t->image->n_open : 0;
	m->inherited = m->inherited || t->n_inherited;
	count_opened(m, t->n_inherited, opened_ns);
}

void fdtable_copy(struct model *m, struct fd_table *t, struct fd_table *from, uint64_t opened_ns)
{
	if (!t->n_blocks && !t->image) {
		copy_to_image(m, t, from, opened_ns);
		return;
	}
	for (uint32_t b = 0; b < blocks_of(from); b++) {
		for (uint32_t open = with_row(from, b) | inherited(from, b); open; open &= open - 1) {
			int64_t fd = (int64_t)b * BLOCK_FDS + __builtin_ctz(open);
			struct fd_what what;

			if (is_open(t, fd))
				continue;
			what = what_of_row(m, files_find(m, from, fd), files_is_read_end(from, fd));
			set_what(m, t, fd, life_begin(m, t, fd, opened_ns), &what);
		}
	}
}

static void list_one(struct model *m, struct fd_table *t, int64_t fd)
{
	files_find(m, t, fd);
}

void fdtable_list(struct model *m, struct fd_table *t)
{
	if (!t->n_inherited || t->left_out)
		return;
	if (memory_has_room(m, TABLE_FILE, t->n_inherited))
		files_each(m, t, 0, FD_MAX, list_one);
	else
		t->left_out = true;
}

void fdtable_keep_paths(const struct fd_table *t)
{
	for (uint32_t b = 0; b < blocks_of(t); b++) {
		for (uint32_t open = inherited(t, b); open; open &= open - 1) {
			const struct fd_what *what = &t->image->blocks[b]->what[__builtin_ctz(open)];

			strpool_keep(what->path);
			strpool_keep(what->peer);
			strpool_keep(what->client);
		}
	}
}

void fdtable_close_all(struct model *m, struct fd_table *t)
{
	if (t->n_inherited && !lists(m, t->n_inherited)) {
		count_closed(m, t->n_inherited);
		for (uint32_t b = 0; b < t->n_blocks; b++)
			if (t->blocks[b])
				t->blocks[b]->inherited = 0;
		t->n_inherited = 0;
		image_put(m, g_steal_pointer(&t->image));
	}
	files_each(m, t, 0, FD_MAX, files_close);
}

void fdtable_release(struct model *m, struct fd_table *t)
{
	for (uint32_t b = 0; b < t->n_blocks; b++) {
		if (t->blocks[b])
			m->fds_bytes -= sizeof(struct fd_block);
		g_free(t->blocks[b]);
	}
	m->fds_bytes -= t->n_blocks * sizeof(*t->blocks);
	g_free(t->blocks);
	t->blocks = NULL;
	t->n_blocks = 0;
	image_put(m, g_steal_pointer(&t->image));
}
