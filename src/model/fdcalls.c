/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call did to fds, once it has returned: event/syscalls.def says which call does what. */
#include "model/dirty.h"
#include "model/fifos.h"
#include "model/files.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { CLOSE_RANGE_UNSHARES = 2, CLOSE_RANGE_SETS_CLOEXEC = 4, CLONE_SHARES_FILES = 0x400 };

/* A call that has returned. */
struct done {
	const struct apply *a;
	uint32_t thread;
	const struct call_in_flight *call;
	int64_t ret;
	struct fd_table *t; /* of the thread */
};

static struct file_ref refer(struct model *m, struct fd_table *t, int64_t fd)
{
	uint32_t row = files_find(m, t, fd);

	if (row == NO_ROW)
		return (struct file_ref){ NO_ROW, FD_UNKNOWN, 0 };
	return (struct file_ref){ row, (uint32_t)FILE_ROW(m, row)->kind, FILE_ROW(m, row)->uid };
}

void files_syscall_entry(struct model *m, uint32_t thread, struct call_in_flight *call)
{
	struct fd_table *t;

	if (!m->files || (call->fd < 0 && call->fd2 < 0))
		return;
	t = files_of_thread(m, thread);
	call->file = refer(m, t, call->fd);
	call->file2 = refer(m, t, call->fd2);
}

/* Calls that fail with ESPIPE if the file has no positions. */
static bool uses_position(enum syscall_action action)
{
	return action == SYSCALL_SEEK || action == SYSCALL_READ || action == SYSCALL_WRITE;
}

static bool has(const struct done *d, enum entry_bit bit)
{
	return d->call->present >> bit & 1;
}

/* Whether exec closes the fd that the call created. */
static bool makes_cloexec(const struct done *d)
{
	int32_t bits = d->call->desc->cloexec;

	return bits == CLOEXEC_ALWAYS || (has(d, ENTRY_FLAGS) && d->call->flags & (uint32_t)bits);
}

/* The fd that the call created; NO_ROW if it has no life. */
static uint32_t make(struct model *m, const struct done *d, int64_t fd, enum fd_kind kind)
{
	uint32_t row = files_open(m, d->t, fd);

	if (row == NO_ROW)
		return NO_ROW;
	FILE_ROW(m, row)->kind = kind;
	FILE_ROW(m, row)->cloexec = makes_cloexec(d);
	return row;
}

/*
 * What the call worked on: the life that its fd was in when it started; if unknown, one is started: the call succeeded.
 */
static uint32_t worked_on(struct model *m, const struct done *d, enum entry_bit bit)
{
	struct file_ref ref = bit == ENTRY_FD ? d->call->file : d->call->file2;

	if (!has(d, bit))
		return NO_ROW;
	if (ref.row != NO_ROW)
		return files_resolve(m, ref);
	return files_find_or_add(m, d->t, bit == ENTRY_FD ? d->call->fd : d->call->fd2);
}

static enum fd_kind kind_of_row(const struct model *m, uint32_t row)
{
	return row == NO_ROW ? FD_UNKNOWN : (enum fd_kind)FILE_ROW(m, row)->kind;
}

/* The fd of the process that the path is another name of, if it is; the call itself has created a new description. */
static uint32_t reopened(struct model *m, const struct done *d)
{
	const struct thread_row *t = THREAD_ROW(m, d->thread);
	int64_t pid = (int64_t)t->vpid > 0 ? (int64_t)t->vpid : (int64_t)t->pid, fd = -1;

	if (has(d, ENTRY_PATH))
		fd = fdkind_reopened(strpool_text(d->call->path), pid);
	return fd < 0 ? NO_ROW : files_find(m, d->t, fd);
}

/* What the opened path leads to, from the directory that it is relative to. */
static enum fd_kind kind_of_opened(const struct model *m, const struct done *d, strid *server)
{
	const uint32_t dir = files_resolve(m, d->call->file);
	const char *path = strpool_text(d->call->path), *dir_path = "";
	enum fd_kind dir_kind = FD_UNKNOWN, kind;

	if (path[0] != '/' && dir != NO_ROW) {
		dir_kind = (enum fd_kind)FILE_ROW(m, dir)->kind;
		dir_path = strpool_text((strid)FILE_ROW(m, dir)->path);
	} else if (path[0] != '/' && (!has(d, ENTRY_FD) || d->call->fd == AT_FDCWD)) {
		dir_path = mounts_cwd(m, d->thread, &dir_kind);
	}
	kind = fdkind_of_path(m, path, dir_kind, dir_path, server);
	if (kind == FD_NETFS && !*server && dir != NO_ROW && dir_kind == FD_NETFS)
		*server = (strid)FILE_ROW(m, dir)->peer;
	return kind;
}

static void done_open(struct model *m, const struct done *d)
{
	const uint32_t other = reopened(m, d);
	enum fd_kind kind = d->call->desc->made;
	strid path = d->call->path, server = STRID_NONE, fifo = STRID_NONE;
	uint32_t row;

	if (other != NO_ROW) {
		kind = kind_of_row(m, other);
		path = (strid)FILE_ROW(m, other)->path;
		server = kind == FD_NETFS ? (strid)FILE_ROW(m, other)->peer : STRID_NONE;
	} else if (kind == FD_FILE && has(d, ENTRY_PATH)) {
		kind = kind_of_opened(m, d, &server);
		path = mounts_path_opened(m, d->thread, d->call);
		if (kind == FD_FILE)
			fifo = fifos_opened(m, d->thread, d->call);
	} else if (kind == FD_FILE) {
		kind = FD_UNKNOWN;
	}
	row = make(m, d, d->ret, kind);
	if (row == NO_ROW)
		return;
	FILE_ROW(m, row)->path = path;
	FILE_ROW(m, row)->peer = server;
	if (kind == FD_FIFO)
		fifo = path;
	if (fifo)
		fifos_set_file(m, d->thread, row, fifo);
}

static void done_make(struct model *m, const struct done *d)
{
	uint32_t row = make(m, d, d->ret, d->call->desc->made);

	if (row != NO_ROW)
		FILE_ROW(m, row)->path = d->call->path;
}

/* BPF_MAP_CREATE, _PROG_LOAD, _OBJ_GET, _PROG_GET_FD_BY_ID and so on, from linux/bpf.h. */
static bool bpf_makes_fd(int64_t cmd)
{
	static const unsigned char makers[] = { 0, 5, 7, 13, 14, 17, 18, 19, 28, 30, 32, 33, 36 };

	for (size_t i = 0; i < sizeof(makers); i++)
		if (makers[i] == cmd)
			return true;
	return false;
}

/* fd becomes a copy of what the call worked on. */
static void copy_to(struct model *m, const struct done *d, int64_t fd, bool cloexec)
{
	uint32_t from = worked_on(m, d, ENTRY_FD);
	uint32_t row = files_open_copy(m, d->t, fd, from);

	if (row == NO_ROW)
		return;
	FILE_ROW(m, row)->cloexec = cloexec;
	if (from != NO_ROW && files_is_read_end(d->t, d->call->fd))
		files_set_read_end(d->t, fd);
}

static void done_dup2(struct model *m, const struct done *d)
{
	if (has(d, ENTRY_FD) && d->call->fd == d->ret)
		return; /* onto itself: no effect */
	copy_to(m, d, d->ret, makes_cloexec(d));
}

static void set_cloexec(struct model *m, struct fd_table *t, int64_t fd)
{
	uint32_t row = files_find(m, t, fd);

	FILE_ROW(m, row)->cloexec = 1;
	state_touch(&m->state, TABLE_FILE, row);
}

/* What the call worked on is closed on exec from now on, or no longer is. */
static void change_cloexec(struct model *m, const struct done *d, bool cloexec)
{
	const uint32_t row = worked_on(m, d, ENTRY_FD);

	if (row == NO_ROW)
		return;
	FILE_ROW(m, row)->cloexec = cloexec;
	state_touch(&m->state, TABLE_FILE, row);
}

static void done_ioctl(struct model *m, const struct done *d)
{
	if (has(d, ENTRY_CMD) && (d->call->cmd == FIOCLEX || d->call->cmd == FIONCLEX))
		change_cloexec(m, d, d->call->cmd == FIOCLEX);
	else
		worked_on(m, d, ENTRY_FD);
}

static void done_fcntl(struct model *m, const struct done *d)
{
	if (!has(d, ENTRY_FD) || !has(d, ENTRY_CMD))
		return;
	switch (d->call->cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		copy_to(m, d, d->ret, d->call->cmd == F_DUPFD_CLOEXEC);
		return;
	case F_SETFD:
		change_cloexec(m, d, d->call->arg & FD_CLOEXEC);
		return;
	default:
		worked_on(m, d, ENTRY_FD);
	}
}

static void done_pair(struct model *m, const struct done *d, enum fd_kind kind)
{
	const struct ev_syscall_exit *p = event_payload(d->a->ev, ev_syscall_exit);
	uint32_t a, b;

	if (!event_has(d->a->ev, EXIT_FDS))
		return;
	a = make(m, d, (int32_t)p->fd0, kind);
	b = make(m, d, (int32_t)p->fd1, kind);
	if (kind == FD_PIPE) {
		files_set_read_end(d->t, (int32_t)p->fd0);
		channels_pipe(m, a, b);
	} else if (kind == FD_SOCKET_UNIX) {
		channels_socketpair(m, a, b);
	}
}

static enum fd_kind kind_of_new_socket(const struct done *d)
{
	return has(d, ENTRY_CMD) ? fdkind_of_family(d->call->cmd) : FD_SOCKET;
}

/* A socket from the state dump has no family until a call shows it. */
static void learn_family(struct model *m, uint32_t row, enum fd_kind kind)
{
	struct file_row *r;

	if (row == NO_ROW || kind == FD_SOCKET)
		return;
	r = FILE_ROW(m, row);
	if (r->kind != FD_UNKNOWN && r->kind != FD_SOCKET)
		return;
	r->kind = kind;
	state_touch(&m->state, TABLE_FILE, row);
}

static void done_accept(struct model *m, const struct done *d)
{
	const struct ev_syscall_exit *p = event_payload(d->a->ev, ev_syscall_exit);
	uint32_t listening = worked_on(m, d, ENTRY_FD), row;
	enum fd_kind kind = FD_SOCKET;
	strid peer = STRID_NONE, client = STRID_NONE;

	if (event_has(d->a->ev, EXIT_FAMILY)) {
		kind = fdkind_of_family((int64_t)p->family);
		peer = fdkind_peer(p->family, p->port, p->addr);
		client = fdkind_address(p->family, p->addr);
	}
	learn_family(m, listening, kind);
	if (kind == FD_SOCKET && kind_of_row(m, listening) != FD_UNKNOWN)
		kind = kind_of_row(m, listening);
	row = make(m, d, d->ret, kind);
	if (row == NO_ROW)
		return;
	FILE_ROW(m, row)->peer = peer;
	FILE_ROW(m, row)->client = client;
	FILE_ROW(m, row)->side = SIDE_ACCEPTED;
	if (client)
		channels_accept(m, d->thread, listening, row, p->family == AF_INET6, p->addr, p->port);
	else if (d->call->channel || kind == FD_SOCKET_INET || kind == FD_SOCKET)
		channels_accept_unseen(m, d->thread, listening, row, d->call->channel);
}

static void done_connect(struct model *m, const struct done *d)
{
	uint32_t row = worked_on(m, d, ENTRY_FD);

	if (row == NO_ROW || !has(d, ENTRY_FAMILY))
		return;
	learn_family(m, row, fdkind_of_family(d->call->cmd));
	FILE_ROW(m, row)->side = SIDE_CONNECTED;
	state_touch(&m->state, TABLE_FILE, row);
	if (!d->call->peer)
		return;
	FILE_ROW(m, row)->peer = d->call->peer;
	FILE_ROW(m, row)->channel = d->call->channel;
}

/*
 * Closed even if it returns EINTR or EIO. The number may have been reused before the call returned: that life
 * continues.
 */
static void done_close(struct model *m, const struct done *d)
{
	if (has(d, ENTRY_FD) && d->call->file.row != NO_ROW &&
	    files_find(m, d->t, d->call->fd) == files_resolve(m, d->call->file))
		files_close(m, d->t, d->call->fd);
}

static void done_close_range(struct model *m, struct done *d)
{
	int64_t last;

	if (!has(d, ENTRY_FD) || !has(d, ENTRY_ARG))
		return;
	last = d->call->arg < FD_MAX ? (int64_t)d->call->arg : FD_MAX;
	if (d->call->flags & CLOSE_RANGE_UNSHARES) {
		files_unshare(m, d->thread);
		d->t = files_of_thread(m, d->thread);
	}
	files_each(m, d->t, d->call->fd, last, d->call->flags & CLOSE_RANGE_SETS_CLOEXEC ? set_cloexec : files_close);
}

/* Bytes from user memory into a pipe or, at its read end, out of it. */
static void done_vmsplice(struct model *m, const struct done *d)
{
	uint32_t row = worked_on(m, d, ENTRY_FD);

	if (files_is_read_end(d->t, d->call->fd))
		io_read(m, d->thread, row, (uint64_t)d->ret);
	else
		io_write(m, d->thread, row, (uint64_t)d->ret);
}

static void done_fchdir(struct model *m, const struct done *d)
{
	const uint32_t row = worked_on(m, d, ENTRY_FD);

	mounts_chdir(m, d->thread, row == NO_ROW ? "" : strpool_text((strid)FILE_ROW(m, row)->path));
}

/* The file has no positions. */
static void done_unseekable(struct model *m, const struct done *d)
{
	const uint32_t row = files_resolve(m, d->call->file);

	if (row != NO_ROW)
		fifos_unseekable(m, d->thread, row);
}

static void done_well(struct model *m, struct done *d)
{
	const struct call_in_flight *call = d->call;

	switch (call->desc->action) {
	case SYSCALL_NAMED:
	case SYSCALL_PATH:
	case SYSCALL_CLONE:
	case SYSCALL_EXIT:
	case SYSCALL_FUTEX:
	case SYSCALL_WAIT_ID:
		break;
	case SYSCALL_WAIT_CHILD:
		relations_child_waited(m, d->thread, d->ret);
		break;
	case SYSCALL_KILL:
		if (has(d, ENTRY_ARG))
			relations_killed(m, d->thread, call);
		break;
	case SYSCALL_FD:
	case SYSCALL_SEEK:
	case SYSCALL_WAIT_ANY:
	case SYSCALL_FLOCK:
	case SYSCALL_MESSAGES:
		worked_on(m, d, ENTRY_FD);
		break;
	case SYSCALL_SYNC:
		worked_on(m, d, ENTRY_FD);
		dirty_synced(m, d->thread);
		break;
	case SYSCALL_READ:
		io_read(m, d->thread, worked_on(m, d, ENTRY_FD), (uint64_t)d->ret);
		break;
	case SYSCALL_WRITE:
		io_write(m, d->thread, worked_on(m, d, ENTRY_FD), (uint64_t)d->ret);
		break;
	case SYSCALL_VMSPLICE:
		done_vmsplice(m, d);
		break;
	case SYSCALL_COPY:
		io_read(m, d->thread, worked_on(m, d, ENTRY_FD), (uint64_t)d->ret);
		io_write(m, d->thread, worked_on(m, d, ENTRY_FD2), (uint64_t)d->ret);
		break;
	case SYSCALL_OPEN:
		done_open(m, d);
		break;
	case SYSCALL_MAKE:
		done_make(m, d);
		break;
	case SYSCALL_MAKE_UNLESS_FLAGS:
		if (has(d, ENTRY_FLAGS) && !call->flags)
			done_make(m, d);
		break;
	case SYSCALL_BPF:
		if (has(d, ENTRY_CMD) && bpf_makes_fd(call->cmd))
			done_make(m, d);
		break;
	case SYSCALL_SIGNALFD:
		if (!has(d, ENTRY_FD) || call->fd == -1)
			done_make(m, d);
		break;
	case SYSCALL_DUP:
		copy_to(m, d, d->ret, false);
		break;
	case SYSCALL_DUP2:
		done_dup2(m, d);
		break;
	case SYSCALL_IOCTL:
		done_ioctl(m, d);
		break;
	case SYSCALL_FCNTL:
		done_fcntl(m, d);
		break;
	case SYSCALL_PIPE:
		done_pair(m, d, FD_PIPE);
		break;
	case SYSCALL_SOCKET:
		make(m, d, d->ret, kind_of_new_socket(d));
		break;
	case SYSCALL_SOCKETPAIR:
		done_pair(m, d, kind_of_new_socket(d));
		break;
	case SYSCALL_ACCEPT:
		done_accept(m, d);
		break;
	case SYSCALL_CONNECT:
		done_connect(m, d);
		break;
	case SYSCALL_CLOSE:
		done_close(m, d);
		break;
	case SYSCALL_CLOSE_RANGE:
		done_close_range(m, d);
		break;
	case SYSCALL_EXEC:
		files_exec(m, d->thread);
		break;
	case SYSCALL_MOUNT:
		mounts_mounted(m, d->thread, call);
		break;
	case SYSCALL_UMOUNT:
		mounts_unmounted(m, d->thread, call);
		break;
	case SYSCALL_MKNOD:
		if (has(d, ENTRY_CMD) && S_ISFIFO((mode_t)call->cmd))
			fifos_made(m, d->thread, call);
		break;
	case SYSCALL_UNLINK:
		fifos_removed(m, d->thread, call);
		break;
	case SYSCALL_CHDIR:
		mounts_chdir(m, d->thread, strpool_text(call->path));
		break;
	case SYSCALL_FCHDIR:
		done_fchdir(m, d);
		break;
	case SYSCALL_UNSHARE:
		if (has(d, ENTRY_FLAGS) && call->flags & CLONE_SHARES_FILES)
			files_unshare(m, d->thread);
		break;
	}
}

void files_syscall_exit(struct model *m, const struct apply *a, uint32_t thread, const struct call_in_flight *call,
			int64_t ret)
{
	struct done d = { .a = a, .thread = thread, .call = call, .ret = ret };

	if (!m->files || call->desc->action == SYSCALL_NAMED || call->desc->action == SYSCALL_PATH ||
	    call->desc->action == SYSCALL_FUTEX)
		return;
	d.t = files_of_thread(m, thread);
	if (ret >= 0)
		done_well(m, &d);
	else if (call->desc->action == SYSCALL_CLOSE)
		done_close(m, &d);
	else if (call->desc->action == SYSCALL_CONNECT && ret == -EINPROGRESS)
		done_connect(m, &d);
	else if (ret == -ESPIPE && uses_position(call->desc->action))
		done_unseekable(m, &d);
}
