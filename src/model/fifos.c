/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fifos.h"

#include <string.h>

#include "model/files.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

void fifos_create(struct model *m)
{
	m->fifos = g_new0(struct fifos, 1);
	m->fifos->rows_left = FIFO_ROWS_MAX;
}

void fifos_destroy(struct model *m)
{
	g_free(m->fifos);
	m->fifos = NULL;
}

static uint64_t place_of(const struct model *m, uint32_t thread)
{
	const uint64_t ns = thread == NO_ROW ? 0 : THREAD_ROW(m, thread)->pid_ns;

	return ns == HOST_PID_NS ? 0 : ns;
}

static int find(const struct model *m, const char *path, uint64_t place)
{
	const struct fifos *fifos = m->fifos;
	const uint32_t hash = g_str_hash(path);

	for (uint32_t i = 0; i < fifos->n; i++)
		if (fifos->list[i].hash == hash && fifos->list[i].place == place &&
		    strcmp(strpool_text(fifos->list[i].path), path) == 0)
			return (int)i;
	return -1;
}

/* path: as mounts_join() writes it. The oldest makes room. */
static strid add(struct model *m, const char *path, uint64_t place)
{
	struct fifos *fifos = m->fifos;
	const int at = find(m, path, place);
	struct fifo *f;

	if (at >= 0)
		return fifos->list[at].path;
	f = &fifos->list[fifos->n < FIFOS_MAX ? fifos->n++ : fifos->next++ % FIFOS_MAX];
	*f = (struct fifo){ g_str_hash(path), strpool_intern_path(path, strlen(path)), place };
	return f->path;
}

strid fifos_opened(const struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	char path[MOUNT_PATH_MAX];
	int at;

	if (!m->fifos->n || !mounts_path_of(m, thread, call, path))
		return STRID_NONE;
	at = find(m, path, place_of(m, thread));
	return at < 0 ? STRID_NONE : m->fifos->list[at].path;
}

static void set(struct model *m, uint32_t file, strid path, uint64_t place)
{
	FILE_ROW(m, file)->kind = FD_FIFO;
	if (!FILE_ROW(m, file)->channel)
		channels_named(m, file, path, place);
	state_touch(&m->state, TABLE_FILE, file);
}

void fifos_set_file(struct model *m, uint32_t thread, uint32_t file, strid path)
{
	const uint64_t place = place_of(m, thread);
	char joined[MOUNT_PATH_MAX];

	if (strpool_text(path)[0] == '/' && mounts_join(joined, "", strpool_text(path)))
		set(m, file, add(m, joined, place), place);
}

void fifos_made(struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	char path[MOUNT_PATH_MAX];

	if (mounts_path_of(m, thread, call, path))
		add(m, path, place_of(m, thread));
}

void fifos_removed(struct model *m, uint32_t thread, const struct call_in_flight *call)
{
	struct fifos *fifos = m->fifos;
	char path[MOUNT_PATH_MAX];
	int at;

	if (!fifos->n || !mounts_path_of(m, thread, call, path))
		return;
	at = find(m, path, place_of(m, thread));
	if (at < 0)
		return;
	channels_forget_name(m, fifos->list[at].path, fifos->list[at].place);
	fifos->list[at] = fifos->list[--fifos->n];
	fifos->next = 0;
}

/* Whether this number of rows may be looked at now. It may exceed .rows_left, which is then made up for by events. */
static bool may_look_at(struct model *m, uint32_t rows)
{
	struct fifos *fifos = m->fifos;
	const int64_t events = (int64_t)HOST_ROW(m)->events;

	fifos->rows_left = MIN(fifos->rows_left + (events - fifos->events) * FIFO_ROWS_PER_EVENT, FIFO_ROWS_MAX);
	fifos->events = events;
	if (fifos->rows_left <= 0)
		return false;
	fifos->rows_left -= rows;
	return true;
}

/* Files opened by the same path before it was known what it leads to. */
static void settle_others(struct model *m, strid opened, strid path, uint64_t place)
{
	const struct state_table *t = &m->state.tables[TABLE_FILE];

	if (!may_look_at(m, t->n_rows))
		return;
	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct file_row *r = FILE_ROW(m, row);

		if (r->kind == FD_FILE && r->path == opened && place_of(m, thread_find(m, (int64_t)r->pid)) == place)
			set(m, row, path, place);
	}
}

/* Other files that cannot be sought: in the device directory of another root, too. */
static bool is_special(const char *path)
{
	return strstr(path, "/dev/") || strstr(path, "/proc/") || strstr(path, "/sys/");
}

void fifos_unseekable(struct model *m, uint32_t thread, uint32_t file)
{
	const uint64_t place = place_of(m, thread);
	const struct file_row *r = FILE_ROW(m, file);
	const char *opened = strpool_text((strid)r->path);
	char path[MOUNT_PATH_MAX];
	bool is_new;

	if (r->kind != FD_FILE || !opened[0] || is_special(opened))
		return;
	if (opened[0] != '/' || !mounts_join(path, "", opened)) {
		/* relative to an unknown directory: other files of that path are others */
		FILE_ROW(m, file)->kind = FD_FIFO;
		state_touch(&m->state, TABLE_FILE, file);
		return;
	}
	is_new = find(m, path, place) < 0;
	set(m, file, add(m, path, place), place);
	if (is_new)
		settle_others(m, (strid)r->path, add(m, path, place), place);
}
