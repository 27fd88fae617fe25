/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/look.h"

#include <fcntl.h>

#include "model/channels.h"
#include "model/fdtable.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

const struct thread_row *model_look_thread(const struct model *m, int64_t tid)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;

	return row == NO_ROW ? NULL : THREAD_ROW((struct model *)m, row);
}

void model_look_pids(const struct model *m, GHashTable *pids)
{
	const struct state_table *t = &m->state.tables[TABLE_THREAD];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
		if (thread_info((struct model *)m, row)->in_use)
			g_hash_table_add(pids, GINT_TO_POINTER((int32_t)THREAD_ROW((struct model *)m, row)->pid));
}

int64_t model_look_running(const struct model *m, unsigned cpu)
{
	return cpu < m->cpus->len ? g_array_index(m->cpus, struct cpu, cpu).tid : TID_UNKNOWN;
}

uint64_t model_look_call(const struct model *m, int64_t tid)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;
	const struct call_in_flight *call = row == NO_ROW ? NULL : &thread_info((struct model *)m, row)->call;

	return call && call->active ? call->entry_ns : 0;
}

uint64_t model_look_entered(const struct model *m, int64_t tid)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;

	return row == NO_ROW ? 0 : thread_info((struct model *)m, row)->entered_ns;
}

const char *model_look_call_name(const struct model *m, int64_t nr, bool compat)
{
	const strid name = compat ? syscalls_compat_name(m, nr) : STRID_NONE;

	if (compat)
		return name ? strpool_text(name) : NULL;
	return syscall_name_of_number(nr, m->is_x86_64);
}

bool model_look_fd(const struct model *m, int64_t tid, int64_t fd, struct model_fd *out)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;
	const struct channel *ch;
	const struct fd_table *t;
	struct fd_what what;

	if (row == NO_ROW)
		return false;
	t = files_table_of(m, row);
	if (!t || !fdtable_look(m, t, fd, &what))
		return false;
	*out = (struct model_fd){ .path = what.path, .peer = what.peer, .kind = (enum fd_kind)what.kind };
	ch = m->relations && what.channel ? channel_find(m->relations->channels, what.channel) : NULL;
	if (ch && ch->bound) {
		out->local = endpoint_name(&ch->local);
		out->protocol = ch->protocol;
	}
	return true;
}

bool model_look_path(const struct model *m, int64_t tid, int64_t dirfd, const char *path, char *out, size_t size)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;
	const char *dir = "";
	char joined[MOUNT_PATH_MAX];
	struct model_fd file;

	if (!path[0] || path[0] == '/' || row == NO_ROW)
		return false;
	if (dirfd == AT_FDCWD)
		dir = mounts_cwd(m, row, NULL);
	else if (model_look_fd(m, tid, dirfd, &file))
		dir = strpool_text(file.path);
	return dir[0] == '/' && mounts_join(joined, dir, path) && g_strlcpy(out, joined, size) < size;
}
