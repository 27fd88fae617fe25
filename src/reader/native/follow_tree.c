/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/nstime.h"
#include "ctf/index.h"
#include "ctf/metadata.h"
#include "reader/native/follow_internal.h"
#include "source/source.h"

enum { DEPTH_MAX = 32, ABSENT_MAX = 100 };

guint followed_id_hash(gconstpointer data)
{
	const struct followed_id *id = data;

	return g_int64_hash(&id->inode) ^ g_int64_hash(&id->device) ^ g_int64_hash(&id->born_ns);
}

gboolean followed_id_equal(gconstpointer a, gconstpointer b)
{
	const struct followed_id *x = a, *y = b;

	return x->device == y->device && x->inode == y->inode && x->born_ns == y->born_ns;
}

/* Identifies the file at the path. false: there is none, or it is not accessible. */
static bool look_up(const char *path, struct statx *st, struct followed_id *id)
{
	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, st) < 0)
		return false;
	*id = (struct followed_id){ (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor, st->stx_ino, 0 };
	if (st->stx_mask & STATX_BTIME)
		id->born_ns = (uint64_t)st->stx_btime.tv_sec * NS_PER_S + st->stx_btime.tv_nsec;
	return true;
}

static void set_path(char **path, const char *now)
{
	if (strcmp(*path, now) == 0)
		return;
	g_free(*path);
	*path = g_strdup(now);
}

/* ---- traces ---- */

void followed_trace_free(gpointer data)
{
	struct followed_trace *t = data;

	g_free(t->group);
	g_free(t->path);
	g_free(t);
}

static struct followed_trace *trace_of_group(struct native_follow *f, const char *group, const char *path)
{
	struct followed_trace *t;
	struct live_trace *live;

	for (guint i = 0; i < f->traces->len; i++) {
		t = g_ptr_array_index(f->traces, i);
		if (strcmp(t->group, group) == 0)
			return t;
	}
	live = live_trace_get(&f->live, f->traces->len);
	if (!live) {
		if (!f->has_refused_trace)
			native_follow_note(g_ptr_array_index(f->traces, 0), f->directory,
					   "it has too many traces: further ones are left out");
		f->has_refused_trace = true;
		return NULL;
	}
	t = g_new0(struct followed_trace, 1);
	t->live = live;
	live->n_metadata = 1;
	t->group = g_strdup(group);
	t->path = g_strdup(path);
	live->base.args.name = t->path;
	t->is_of_process = strstr(path, "/ust/pid/") != NULL;
	g_ptr_array_add(f->traces, t);
	return t;
}

/* Incomplete metadata shows neither the trace nor the layout of its packets. */
static struct followed_trace *trace_of_metadata(struct native_follow *f, const char *path, const char *text)
{
	struct followed_trace *t = NULL;
	struct layout *layout = NULL;
	char *group;

	if (layout_parse(text, &layout) == LT_OK) {
		group = source_group_of(path);
		t = trace_of_group(f, group ? group : path, path);
		g_free(group);
	}
	layout_destroy(layout);
	error_clear();
	return t;
}

/* ---- directories ---- */

void followed_directory_free(gpointer data)
{
	struct followed_directory *d = data;

	g_free(d->path);
	g_free(d);
}

static void read_metadata(struct native_follow *f, struct followed_directory *d)
{
	char *text = metadata_read(d->path, METADATA_MAX);
	const size_t len = text ? strlen(text) : 0;

	if (text && !d->trace)
		d->trace = trace_of_metadata(f, d->path, text);
	/* The metadata of a later archive starts with all earlier declarations. */
	if (d->trace && len > d->trace->len) {
		f->live.n_metadata -= d->trace->live->metadata->len;
		g_byte_array_set_size(d->trace->live->metadata, 0);
		if (live_trace_add(&f->live, d->trace->live, (const uint8_t *)text, len) == LT_OK)
			d->trace->len = len;
		error_clear();
	}
	g_free(text);
}

/* Registers a directory that contains the metadata of a trace. */
static struct followed_directory *see_directory(struct native_follow *f, const struct followed_id *id, const char *path,
						const char *metadata)
{
	struct followed_directory *d = NULL;
	struct followed_id of_metadata;
	uint64_t written_ns;
	struct statx st;

	if (!look_up(metadata, &st, &of_metadata) || !S_ISREG(st.stx_mode))
		return NULL;
	for (guint i = 0; i < f->directories->len && !d; i++) {
		struct followed_directory *known = g_ptr_array_index(f->directories, i);

		d = followed_id_equal(&known->id, id) ? known : NULL;
	}
	if (!d) {
		d = g_new0(struct followed_directory, 1);
		d->id = *id;
		d->path = g_strdup(path);
		d->since_ns = f->live.last_ns;
		d->found_us = f->now_us;
		d->watch = f->inotify_fd < 0 ? -1 : inotify_add_watch(f->inotify_fd, metadata, IN_CLOSE_WRITE);
		g_ptr_array_add(f->directories, d);
	}
	d->absent = 0;
	set_path(&d->path, path);
	written_ns = (uint64_t)st.stx_mtime.tv_sec * NS_PER_S + st.stx_mtime.tv_nsec;
	if (st.stx_size != d->metadata_bytes || written_ns != d->written_ns) {
		d->metadata_bytes = st.stx_size;
		d->written_ns = written_ns;
		f->news_us = f->now_us;
		read_metadata(f, d);
	}
	return d;
}

static void see_file(struct native_follow *f, struct followed_directory *d, const char *path,
		     const struct followed_id *id)
{
	struct followed_file *file = g_hash_table_lookup(f->files, id);
	char *index;

	if (!file) {
		file = followed_file_open(f, d->trace, path, id);
		if (!file)
			return;
		g_hash_table_insert(f->files, &file->id, file);
		f->news_us = f->now_us;
	}
	file->absent = 0;
	set_path(&file->path, path);
	if (file->is_done || file->index_fd >= 0)
		return;
	index = index_path(path);
	file->index_fd = open(index, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	g_free(index);
}

/* ---- the walk ---- */

static void walk(struct native_follow *f, const char *path, const struct followed_id *id, unsigned depth);

static void visit(struct native_follow *f, struct followed_directory *d, const char *path, unsigned depth)
{
	const bool is_index = d && g_str_has_suffix(path, "/index");
	const char *name = strrchr(path, '/') + 1;
	struct followed_id id;
	struct statx st;

	if (!look_up(path, &st, &id))
		return;
	if (S_ISDIR(st.stx_mode) && !is_index)
		walk(f, path, &id, depth + 1);
	else if (S_ISREG(st.stx_mode) && d && d->trace && source_is_stream_name(name))
		see_file(f, d, path, &id);
}

static void walk(struct native_follow *f, const char *path, const struct followed_id *id, unsigned depth)
{
	const bool is_new = g_hash_table_add(f->visited, g_memdup2(id, sizeof(*id)));
	DIR *dir = is_new && depth <= DEPTH_MAX ? opendir(path) : NULL;
	struct followed_directory *d;
	struct dirent *entry;
	char *metadata;

	if (!dir)
		return;
	metadata = g_build_filename(path, "metadata", NULL);
	d = see_directory(f, id, path, metadata);
	g_free(metadata);
	while ((entry = readdir(dir)) != NULL) {
		char *below = *entry->d_name == '.' ? NULL : g_build_filename(path, entry->d_name, NULL);

		if (below)
			visit(f, d, below, depth);
		g_free(below);
	}
	closedir(dir);
}

/* Drops entries that are gone, not just being moved. */
static gboolean drop_file(gpointer id, gpointer data, gpointer user)
{
	struct followed_file *file = data;

	(void)id;
	(void)user;
	return file->absent++ > ABSENT_MAX && !file->stream;
}

static void drop_directories(struct native_follow *f)
{
	for (guint i = f->directories->len; i-- > 0;) {
		struct followed_directory *d = g_ptr_array_index(f->directories, i);

		if (d->absent++ > ABSENT_MAX)
			g_ptr_array_remove_index(f->directories, i);
	}
}

bool native_follow_walk(struct native_follow *f)
{
	struct followed_id id;
	struct statx st;

	if (!look_up(f->directory, &st, &id))
		return false;
	walk(f, f->directory, &id, 0);
	g_hash_table_remove_all(f->visited);
	g_hash_table_foreach_remove(f->files, drop_file, NULL);
	drop_directories(f);
	return true;
}
