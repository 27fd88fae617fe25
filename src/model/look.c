/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/look.h"

#include "model/fdtable.h"
#include "model/parts_internal.h"

const struct thread_row *model_look_thread(const struct model *m, int64_t tid)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;

	return row == NO_ROW ? NULL : THREAD_ROW((struct model *)m, row);
}

int64_t model_look_running(const struct model *m, unsigned cpu)
{
	return cpu < m->cpus->len ? g_array_index(m->cpus, struct cpu, cpu).tid : TID_UNKNOWN;
}

bool model_look_fd(const struct model *m, int64_t tid, int64_t fd, struct model_fd *out)
{
	const uint32_t row = tid > 0 ? thread_find(m, tid) : NO_ROW;
	const struct fd_table *t;
	struct fd_what what;

	if (row == NO_ROW)
		return false;
	t = files_table_of(m, row);
	if (!t || !fdtable_look(m, t, fd, &what))
		return false;
	*out = (struct model_fd){ what.path, what.peer, (enum fd_kind)what.kind };
	return true;
}
