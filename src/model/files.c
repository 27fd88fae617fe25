/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fd tables of a host's processes. A table is shared by the threads of a process and by those cloned with
 * CLONE_FILES; it ends with its last user. Threads older than the record get the table of their process, until the
 * state dump corrects that.
 */
#include "model/fdtable.h"
#include "model/fifos.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

#include <fcntl.h>

struct files {
	GPtrArray *tables;       /* struct fd_table *, NULL: index is free */
	GArray *free;            /* uint32_t: indexes to reuse */
	struct map64 by_address; /* kernel address -> index */
	struct map64 by_pid;     /* pid -> index of its threads' default table */
	uint64_t last_id;
};

void files_create(struct model *m)
{
	m->files = g_new0(struct files, 1);
	m->files->tables = g_ptr_array_new();
	m->files->free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void table_free(struct model *m, struct fd_table *t)
{
	if (!t)
		return;
	fdtable_release(m, t);
	m->fds_bytes -= sizeof(*t);
	g_free(t);
}

void files_destroy(struct model *m)
{
	struct files *files = m->files;

	for (guint i = 0; i < files->tables->len; i++)
		table_free(m, g_ptr_array_index(files->tables, i));
	g_ptr_array_free(files->tables, TRUE);
	g_array_free(files->free, TRUE);
	map64_release(&files->by_address);
	map64_release(&files->by_pid);
	g_free(files);
	m->files = NULL;
}

/* ---- tables ---- */

static struct fd_table *table_at(const struct files *files, uint32_t index)
{
	return index == MAP64_NONE ? NULL : g_ptr_array_index(files->tables, index);
}

/* Threads of that process that are discovered later use this table. */
static void table_lead(struct files *files, struct fd_table *t, int64_t pid)
{
	struct fd_table *old;

	if (pid <= 0)
		return;
	old = table_at(files, map64_get(&files->by_pid, (uint64_t)pid));
	if (old)
		old->leads = 0;
	if (t->leads)
		map64_del(&files->by_pid, (uint64_t)t->leads);
	t->leads = pid;
	map64_put(&files->by_pid, (uint64_t)pid, t->index);
}

static struct fd_table *table_new(struct model *m, int64_t pid)
{
	struct files *files = m->files;
	struct fd_table *t = g_new0(struct fd_table, 1);

	m->fds_bytes += sizeof(*t);
	t->id = ++files->last_id;
	t->pid = pid;
	if (files->free->len) {
		t->index = g_array_index(files->free, uint32_t, files->free->len - 1);
		g_array_set_size(files->free, files->free->len - 1);
		g_ptr_array_index(files->tables, t->index) = t;
	} else {
		t->index = files->tables->len;
		g_ptr_array_add(files->tables, t);
	}
	if (map64_get(&files->by_pid, (uint64_t)pid) == MAP64_NONE)
		table_lead(files, t, pid);
	return t;
}

static void table_set_address(struct model *m, struct fd_table *t, uint64_t address)
{
	if (t->address)
		map64_del(&m->files->by_address, t->address);
	t->address = address;
	if (address)
		map64_put(&m->files->by_address, address, t->index);
}

static void table_end(struct model *m, struct fd_table *t)
{
	struct files *files = m->files;

	fdtable_close_all(m, t);
	table_set_address(m, t, 0);
	if (t->leads)
		map64_del(&files->by_pid, (uint64_t)t->leads);
	g_ptr_array_index(files->tables, t->index) = NULL;
	g_array_append_val(files->free, t->index);
	table_free(m, t);
}

static void detach(struct model *m, uint32_t thread)
{
	struct fd_table *t = thread_info(m, thread)->files;

	thread_info(m, thread)->files = NULL;
	if (t && --t->users == 0)
		table_end(m, t);
}

static void attach(struct model *m, uint32_t thread, struct fd_table *t)
{
	t->users++;
	detach(m, thread);
	thread_info(m, thread)->files = t;
	THREAD_ROW(m, thread)->files_id = t->id;
	state_touch(&m->state, TABLE_THREAD, thread);
}

static int64_t pid_of(const struct model *m, uint32_t thread)
{
	return (int64_t)THREAD_ROW(m, thread)->pid;
}

struct fd_table *files_of_thread(struct model *m, uint32_t thread)
{
	struct fd_table *t = thread_info(m, thread)->files;
	int64_t pid;

	if (t)
		return t;
	pid = pid_of(m, thread);
	if (pid > 0)
		t = table_at(m->files, map64_get(&m->files->by_pid, (uint64_t)pid));
	if (!t)
		t = table_new(m, pid);
	attach(m, thread, t);
	return t;
}

const struct fd_table *files_table_of(const struct model *m, uint32_t thread)
{
	const struct fd_table *t = ((const struct thread *)g_ptr_array_index(m->threads, thread))->files;
	const int64_t pid = pid_of(m, thread);

	return t || pid <= 0 || !m->files ? t : table_at(m->files, map64_get(&m->files->by_pid, (uint64_t)pid));
}

void files_fork(struct model *m, uint32_t parent, uint32_t child, bool share)
{
	struct fd_table *t;

	if (!m->files)
		return;
	if (parent != NO_ROW && share) {
		attach(m, child, files_of_thread(m, parent));
		return;
	}
	t = table_new(m, pid_of(m, child));
	attach(m, child, t);
	table_lead(m->files, t, t->pid);
	if (parent != NO_ROW)
		fdtable_copy(m, t, files_of_thread(m, parent), m->now_ns);
}

void files_unshare(struct model *m, uint32_t thread)
{
	struct fd_table *t = thread_info(m, thread)->files, *own;

	if (!t || t->users == 1)
		return;
	own = table_new(m, pid_of(m, thread));
	fdtable_copy(m, own, t, m->now_ns);
	attach(m, thread, own);
}

static void close_if_cloexec(struct model *m, struct fd_table *t, int64_t fd)
{
	if (fdtable_is_cloexec(m, t, fd))
		files_close(m, t, fd);
}

/* The exec has ended the other threads of its process, even if the trace has yet to show it. */
static void detach_siblings(struct model *m, uint32_t thread)
{
	const struct fd_table *t = thread_info(m, thread)->files;

	for (guint row = 0; row < m->threads->len; row++) {
		struct thread *other = g_ptr_array_index(m->threads, row);

		if (other && other->in_use && other->files == t && row != thread && pid_of(m, row) == pid_of(m, thread))
			detach(m, row);
	}
}

void files_exec(struct model *m, uint32_t thread)
{
	struct fd_table *t;

	if (!m->files)
		return;
	t = files_of_thread(m, thread);
	if (t->users > 1)
		detach_siblings(m, thread);
	files_unshare(m, thread);
	t = thread_info(m, thread)->files;
	table_lead(m->files, t, pid_of(m, thread));
	files_each(m, t, 0, FD_MAX, close_if_cloexec);
}

void files_thread_end(struct model *m, uint32_t thread)
{
	detach(m, thread);
}

strid files_server(struct model *m, uint32_t thread, strid else_cause)
{
	const struct call_in_flight *call = &thread_info(m, thread)->call;
	const enum syscall_action action = call->desc ? call->desc->action : SYSCALL_NAMED;
	const uint32_t row = files_resolve(m, call->file);
	const struct mount *mount = NULL;
	const char *path;

	if (row != NO_ROW && FILE_ROW(m, row)->kind == FD_NETFS)
		return FILE_ROW(m, row)->peer ? (strid)FILE_ROW(m, row)->peer : else_cause;
	/* these wait for more than the server */
	if (action != SYSCALL_MOUNT && action != SYSCALL_UMOUNT) {
		path = strpool_text(syscalls_path(m, thread));
		mount = path[0] == '/' ? mounts_find(m, path) : NULL;
	}
	return mount && mount->server ? mount->server : else_cause;
}

/* Tables that have been used since they were copied, or the others. */
static void list_tables(struct model *m, bool used)
{
	for (guint i = 0; i < m->files->tables->len; i++) {
		struct fd_table *t = g_ptr_array_index(m->files->tables, i);

		if (t && (t->n_blocks > 0) == used)
			fdtable_list(m, t);
	}
}

void model_list_files(struct model *m)
{
	if (!m->inherited)
		return;
	m->inherited = false;
	/* if memory is short, these get it first */
	list_tables(m, true);
	list_tables(m, false);
}

void files_keep_paths(const struct model *m)
{
	for (guint i = 0; m->files && i < m->files->tables->len; i++) {
		const struct fd_table *t = g_ptr_array_index(m->files->tables, i);

		if (t && t->n_inherited)
			fdtable_keep_paths(t);
	}
}

/* ---- state dump ---- */

/*
 * The kernel is right, and what was assumed so far, from the PID or after a loss, is not: the fds that the thread had
 * open go to the table with the address.
 */
static void move_to(struct model *m, uint32_t thread, struct fd_table *t)
{
	struct fd_table *old = thread_info(m, thread)->files;

	if (old && old->users == 1)
		fdtable_copy(m, t, old, 0);
	attach(m, thread, t);
}

void files_dump_table(struct model *m, uint32_t thread, uint64_t address)
{
	struct fd_table *t, *own;

	if (!m->files)
		return;
	t = table_at(m->files, map64_get(&m->files->by_address, address));
	if (t) {
		if (thread_info(m, thread)->files != t)
			move_to(m, thread, t);
		return;
	}
	own = files_of_thread(m, thread);
	if (own->address && own->users > 1) {
		/* other threads of its process use another one */
		own = table_new(m, pid_of(m, thread));
		attach(m, thread, own);
	}
	table_set_address(m, own, address);
}

static struct fd_table *table_of_dump(struct model *m, const struct ev_dump_fd *p)
{
	struct fd_table *t;

	uint32_t thread = p->file_table || p->pid <= 0 ? NO_ROW : thread_of_tid(m, p->pid);

	if (!m->files)
		return NULL;
	if (!p->file_table)
		return thread == NO_ROW ? NULL : files_of_thread(m, thread);
	t = table_at(m->files, map64_get(&m->files->by_address, p->file_table));
	if (!t) {
		t = table_new(m, -1);
		table_set_address(m, t, p->file_table);
	}
	return t;
}

/* The kernel marks the name of a deleted file, which was opened by the name without the mark. */
static strid path_of_dump(const struct event *ev, struct event_str name)
{
	static const char mark[] = " (deleted)";
	const char *text = event_text(ev, name);
	size_t len = name.len, n = sizeof(mark) - 1;

	if (len > n && text[0] == '/' && memcmp(text + len - n, mark, n) == 0)
		len -= n;
	return strpool_intern_path(text, len);
}

void apply_dump_fd(struct model *m, const struct apply *a)
{
	const struct ev_dump_fd *p = event_payload(a->ev, ev_dump_fd);
	strid path, server = STRID_NONE;
	enum fd_kind kind;
	struct fd_table *t;
	struct file_row *r;
	uint32_t row;

	if (p->fd < 0 || p->fd >= FD_MAX)
		return;
	t = table_of_dump(m, p);
	if (!t)
		return;
	path = path_of_dump(a->ev, p->filename);
	row = files_find(m, t, p->fd);
	/* another file by now: a loss hid the change */
	if (row != NO_ROW && FILE_ROW(m, row)->path != path && m->lost_ns > FILE_ROW(m, row)->opened_ns)
		files_close(m, t, p->fd);
	row = files_find_or_add(m, t, p->fd);
	r = FILE_ROW(m, row);
	/* events are more recent, but may lack some of this */
	if (!r->path)
		r->path = path;
	kind = fdkind_of_dump(m, strpool_text(path), p->fmode, &server);
	/* an open does not show whether its path is a fifo's */
	if (r->kind == FD_UNKNOWN || (r->kind == FD_FILE && kind == FD_FIFO && r->path == path))
		r->kind = kind;
	if (server)
		r->peer = server;
	r->cloexec = (p->flags & O_CLOEXEC) != 0;
	if (r->kind == FD_PIPE && (p->flags & O_ACCMODE) == O_RDONLY)
		files_set_read_end(t, p->fd);
	if (r->kind == FD_PIPE && !r->channel && path)
		channels_named(m, row, path, 0);
	if (r->kind == FD_FIFO && path)
		fifos_set_file(m, r->pid > 0 ? thread_find(m, (int64_t)r->pid) : NO_ROW, row, path);
	state_touch(&m->state, TABLE_FILE, row);
}

/*
 * The tables that the dump has named but no process, because its event was lost: the kernel may reuse their addresses,
 * and nothing would show it.
 */
static void forget_unused_tables(struct model *m)
{
	m->forgetting = true;
	for (guint i = 0; m->files && i < m->files->tables->len; i++) {
		struct fd_table *t = g_ptr_array_index(m->files->tables, i);

		if (t && !t->users)
			table_end(m, t);
	}
	m->forgetting = false;
}

/* A dump lists disks after fds: only now is it known which devices are disks. */
void apply_dump_end(struct model *m, const struct apply *a)
{
	const struct state_table *t = &m->state.tables[TABLE_FILE];

	lost_dump_end(m, a);
	forget_unused_tables(m);
	m->dump_end_ns = m->now_ns;
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		struct file_row *r = FILE_ROW(m, row);

		if (r->kind != FD_DEVICE || !block_is_device(m, strpool_text((strid)r->path)))
			continue;
		r->kind = FD_BLOCK;
		state_touch(&m->state, TABLE_FILE, row);
	}
}
