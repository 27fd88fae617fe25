/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/mounts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#include "base/netfs.h"
#include "model/files.h"
#include "model/parts_internal.h"

void mounts_create(struct model *m)
{
	m->mounts = g_new0(struct mounts, 1);
}

static void remove_at(struct mounts *mounts, uint32_t i)
{
	g_free(mounts->list[i].dir);
	mounts->n--;
	memmove(mounts->list + i, mounts->list + i + 1, (mounts->n - i) * sizeof(mounts->list[0]));
}

void mounts_destroy(struct model *m)
{
	while (m->mounts->n)
		remove_at(m->mounts, m->mounts->n - 1);
	g_free(m->mounts);
	m->mounts = NULL;
}

/* ---- paths ---- */

/* Appends the parts of path to out, which has len bytes; -1: too long. */
static ssize_t append_parts(char out[MOUNT_PATH_MAX], size_t len, const char *path)
{
	for (size_t n; *(path += strspn(path, "/")); path += n) {
		n = strcspn(path, "/");
		if (n == 1 && path[0] == '.')
			continue;
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len && out[--len] != '/')
				;
			continue;
		}
		if (len + 1 + n >= MOUNT_PATH_MAX)
			return -1;
		out[len++] = '/';
		memcpy(out + len, path, n);
		len += n;
	}
	return (ssize_t)len;
}

bool mounts_join(char out[MOUNT_PATH_MAX], const char *dir, const char *path)
{
	ssize_t len = path[0] == '/' ? 0 : append_parts(out, 0, dir);

	if (len >= 0)
		len = append_parts(out, (size_t)len, path);
	if (len == 0)
		out[len++] = '/';
	if (len > 0)
		out[len] = '\0';
	return len > 0;
}

bool mounts_is_below(const char *path, const char *dir)
{
	const size_t len = dir[1] ? strlen(dir) : 0;

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* ---- mounts ---- */

const struct mount *mounts_find(const struct model *m, const char *path)
{
	for (uint32_t i = m->mounts->n; i-- > 0;)
		if (mounts_is_below(path, m->mounts->list[i].dir))
			return m->mounts->list[i].is_net ? &m->mounts->list[i] : NULL;
	return NULL;
}

strid mounts_server(const char *type, const char *source)
{
	char server[256];
	const size_t len = netfs_server(type, source, server, sizeof(server));

	return len ? strpool_intern(server, len) : strpool_intern(source, strnlen(source, sizeof(server)));
}

/* Whether a mount there would hide part of a network file system. */
static bool hides(const struct mounts *mounts, const char *dir)
{
	for (uint32_t i = 0; i < mounts->n; i++)
		if (mounts_is_below(dir, mounts->list[i].dir) || mounts_is_below(mounts->list[i].dir, dir))
			return true;
	return false;
}

/* The index of the mount at dir, the newest if there are several; -1: none. */
static int last_at(const struct mounts *mounts, const char *dir)
{
	for (uint32_t i = mounts->n; i-- > 0;)
		if (strcmp(mounts->list[i].dir, dir) == 0)
			return (int)i;
	return -1;
}

/* dir: as mounts_join() writes it. The event of a mount that model_add_mount() already added does not add another. */
static void add(struct mounts *mounts, const char *dir, bool is_net, bool is_told, strid server)
{
	const int at = last_at(mounts, dir);

	if (at >= 0 && mounts->list[at].is_net == is_net && (is_told || mounts->list[at].is_told)) {
		mounts->list[at].is_told = is_told;
		return;
	}
	if (mounts->n == MOUNTS_MAX || (!is_net && !hides(mounts, dir)))
		return;
	mounts->list[mounts->n++] = (struct mount){ g_strdup(dir), is_net, is_told, server };
}

/* What the path of a call leads to, which may be another name of an fd; false: unknown. */
static bool resolve(struct model *m, uint32_t thread, strid path, char out[MOUNT_PATH_MAX])
{
	const struct thread_row *t = THREAD_ROW(m, thread);
	const char *text = strpool_text(path), *cwd;
	const int64_t fd = fdkind_reopened(text, (int64_t)t->vpid > 0 ? (int64_t)t->vpid : (int64_t)t->pid);
	const uint32_t row = fd < 0 ? NO_ROW : files_find(m, files_of_thread(m, thread), fd);

	if (row != NO_ROW)
		text = strpool_text((strid)FILE_ROW(m, row)->path);
	cwd = text[0] == '/' ? "" : mounts_cwd(m, thread, NULL);
	return text[0] && (text[0] == '/' || cwd[0]) && mounts_join(out, cwd, text);
}

void mounts_mounted(struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	/* these change an existing mount */
	const uint64_t changes = MS_REMOUNT | MS_UNBINDABLE | MS_PRIVATE | MS_SLAVE | MS_SHARED;
	char dir[MOUNT_PATH_MAX], source[MOUNT_PATH_MAX];
	const struct mount *of = NULL;
	int from;

	if (call->flags & changes || !resolve(m, thread, call->path, dir))
		return;
	if (!(call->flags & (MS_BIND | MS_MOVE))) {
		add(m->mounts, dir, call->cmd, false, (strid)call->arg);
		return;
	}
	if (!resolve(m, thread, call->source, source))
		return;
	of = mounts_find(m, source);
	add(m->mounts, dir, of != NULL, false, of ? of->server : STRID_NONE);
	from = call->flags & MS_MOVE ? last_at(m->mounts, source) : -1;
	if (from >= 0)
		remove_at(m->mounts, (uint32_t)from);
}

void mounts_unmounted(struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	char dir[MOUNT_PATH_MAX];
	int at;

	if (!m->mounts->n || !resolve(m, thread, call->path, dir))
		return;
	at = last_at(m->mounts, dir);
	if (at >= 0)
		remove_at(m->mounts, (uint32_t)at);
}

void mounts_settle_file(struct model *m, uint32_t file)
{
	struct file_row *r = FILE_ROW(m, file);
	const char *path = strpool_text((strid)r->path);
	const struct mount *mount = r->kind == FD_FILE && path[0] == '/' ? mounts_find(m, path) : NULL;

	if (!mount)
		return;
	r->kind = FD_NETFS;
	r->peer = mount->server;
	state_touch(&m->state, TABLE_FILE, file);
}

void model_add_mount(struct model *m, const char *dir, const char *type, const char *source)
{
	const struct state_table *files = &m->state.tables[TABLE_FILE];
	const bool is_net = netfs_is_type(type);
	char path[MOUNT_PATH_MAX];

	if (dir[0] != '/' || !mounts_join(path, "", dir))
		return;
	add(m->mounts, path, is_net, true, is_net ? mounts_server(type, source) : STRID_NONE);
	m->mounts->told_ns = MAX(m->now_ns, 1);
	for (uint32_t row = STATE_NO_ROW; (row = state_next(files, row)) != STATE_NO_ROW;)
		mounts_settle_file(m, row);
}

/* ---- working directories, and paths relative to one ---- */

/* The thread that holds the state of the thread's process: its main thread, else itself. */
static struct thread *process_of(const struct model *m, uint32_t thread)
{
	const int64_t pid = (int64_t)THREAD_ROW(m, thread)->pid;
	const uint32_t row = pid > 0 ? thread_find(m, pid) : NO_ROW;

	return g_ptr_array_index(m->threads, row == NO_ROW ? thread : row);
}

const char *mounts_cwd(const struct model *m, uint32_t thread, enum fd_kind *kind)
{
	const struct thread *t = process_of(m, thread);

	if (kind)
		*kind = (enum fd_kind)t->cwd_kind;
	return strpool_text(t->cwd);
}

bool mounts_path_of(const struct model *m, uint32_t thread, const struct call_in_flight *call, char out[MOUNT_PATH_MAX])
{
	const char *path = strpool_text(call->path), *dir = "";
	const uint32_t row = files_resolve(m, call->file);

	if (path[0] != '/' && row != NO_ROW)
		dir = strpool_text((strid)FILE_ROW(m, row)->path);
	else if (path[0] != '/' && (!(call->present >> ENTRY_FD & 1) || call->fd == AT_FDCWD))
		dir = mounts_cwd(m, thread, NULL);
	return path[0] && (path[0] == '/' || dir[0] == '/') && mounts_join(out, dir, path);
}

strid mounts_path_opened(const struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	char path[MOUNT_PATH_MAX];

	if (strpool_text(call->path)[0] == '/' || !mounts_path_of(m, thread, call, path))
		return call->path;
	return strpool_intern_path(path, strlen(path));
}

void mounts_chdir(struct model *m, uint32_t thread, const char *path)
{
	struct thread *t = process_of(m, thread);
	const char *cwd = strpool_text(t->cwd);
	char joined[MOUNT_PATH_MAX];

	if (!path[0] || (path[0] != '/' && !t->cwd) || !mounts_join(joined, cwd, path)) {
		t->cwd = STRID_NONE;
		t->cwd_kind = FD_UNKNOWN;
		return;
	}
	t->cwd = strpool_intern_path(joined, strlen(joined));
	t->cwd_kind = (uint8_t)fdkind_of_path(m, joined, FD_UNKNOWN, "", NULL);
}

void mounts_fork(struct model *m, uint32_t parent, uint32_t child)
{
	const struct thread *from = process_of(m, parent);
	struct thread *to = thread_info(m, child);

	to->cwd = from->cwd;
	to->cwd_kind = from->cwd_kind;
}
