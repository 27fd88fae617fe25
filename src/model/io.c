/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes moved through fds: counted for the thread, by kind of fd, and for the fd. */
#include "model/dirty.h"
#include "model/files.h"
#include "model/parts_internal.h"

/* In the order of a thread's cells read_disk, read_net … */
enum io_class { IO_DISK, IO_NET, IO_PIPE, IO_OTHER, IO_NETFS };

static enum io_class class_of(enum fd_kind kind)
{
	switch (kind) {
	case FD_FILE:
	case FD_BLOCK:
		return IO_DISK;
	case FD_NETFS:
		return IO_NETFS;
	case FD_SOCKET_INET:
		return IO_NET;
	case FD_PIPE:
	case FD_FIFO:
	case FD_SOCKET_UNIX:
		return IO_PIPE;
	default:
		return IO_OTHER;
	}
}

static enum io_class class_of_row(const struct model *m, uint32_t file)
{
	return file == NO_ROW ? IO_OTHER : class_of((enum fd_kind)FILE_ROW(m, file)->kind);
}

#define FOLLOWS(first, class, member) \
	_Static_assert(CELL(thread, first) + (class) == CELL(thread, member), "in the order of enum io_class")
FOLLOWS(read_disk, IO_NET, read_net);
FOLLOWS(read_disk, IO_PIPE, read_pipe);
FOLLOWS(read_disk, IO_OTHER, read_other);
FOLLOWS(read_disk, IO_NETFS, read_netfs);
FOLLOWS(write_disk, IO_NET, write_net);
FOLLOWS(write_disk, IO_PIPE, write_pipe);
FOLLOWS(write_disk, IO_OTHER, write_other);
FOLLOWS(write_disk, IO_NETFS, write_netfs);

static void add_to_thread(struct model *m, uint32_t thread, unsigned cell, uint64_t bytes)
{
	state_cells(&m->state.tables[TABLE_THREAD], thread)[cell] += bytes;
	state_touch(&m->state, TABLE_THREAD, thread);
}

void io_read(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes)
{
	if (!bytes)
		return;
	add_to_thread(m, thread, CELL(thread, read_disk) + class_of_row(m, file), bytes);
	if (file == NO_ROW)
		return;
	FILE_ROW(m, file)->read_bytes += bytes;
	if (FILE_ROW(m, file)->channel)
		channels_read(m, thread, file, bytes);
	state_touch(&m->state, TABLE_FILE, file);
}

void io_write(struct model *m, uint32_t thread, uint32_t file, uint64_t bytes)
{
	if (!bytes)
		return;
	add_to_thread(m, thread, CELL(thread, write_disk) + class_of_row(m, file), bytes);
	if (file == NO_ROW)
		return;
	FILE_ROW(m, file)->write_bytes += bytes;
	if (class_of_row(m, file) == IO_DISK)
		dirty_write(m, thread, FILE_ROW(m, file)->write_bytes - bytes, bytes);
	if (FILE_ROW(m, file)->channel)
		channels_written(m, thread, file, bytes);
	state_touch(&m->state, TABLE_FILE, file);
}
