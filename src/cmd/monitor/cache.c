/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens recordings that were read before from the cache: a file contains their history and whatever else the screen
 * needs. The file's name depends on the recordings, the program and the options: if any of these differs there is no
 * such file.
 *
 *   head    history (without its parts) | strings | clocks | hosts and sources | frames
 *   parts   the history's
 *
 * Recordings that could not be read completely are not cached, so that their warnings are repeated.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strpool.h"
#include "cache/file.h"
#include "cmd/monitor/monitor.h"
#include "config.h"
#include "history/store.h"
#include "ingest/store.h"

/* Smaller recordings are read almost instantly anyway. */
#define WORTH_BYTES (UINT64_C(8) << 20)

/* Written between two checks for keys. */
enum { WRITE_BYTES = 4 << 20 };

/* ---- the name ---- */

static void add_text(GChecksum *sum, const char *text)
{
	g_checksum_update(sum, (const guchar *)(text ? text : ""), text ? (gssize)strlen(text) + 1 : 1);
}

static void add_number(GChecksum *sum, uint64_t v)
{
	g_checksum_update(sum, (const guchar *)&v, sizeof(v));
}

static void add_texts(GChecksum *sum, const GPtrArray *texts)
{
	add_number(sum, texts->len);
	for (guint i = 0; i < texts->len; i++)
		add_text(sum, g_ptr_array_index(texts, i));
}

/* A file is only valid for this program: another version may count differently and have other tables. */
static bool add_program(GChecksum *sum)
{
	struct stat st;

	add_text(sum, PACKAGE_VERSION);
	if (stat("/proc/self/exe", &st) < 0)
		return false;
	add_number(sum, (uint64_t)st.st_size);
	add_number(sum, (uint64_t)st.st_mtim.tv_sec);
	add_number(sum, (uint64_t)st.st_mtim.tv_nsec);
	add_number(sum, (uint64_t)st.st_ino);
	return true;
}

/* The options that the history depends on. */
static void add_options(GChecksum *sum, const struct options *o)
{
	add_texts(sum, o->words);
	add_text(sum, o->reader);
	add_number(sum, o->history_size);
	add_number(sum, o->model_memory);
	add_number(sum, o->no_sync);
	add_text(sum, o->ref);
	add_texts(sum, o->offset);
	add_number(sum, o->ignore_port->len);
	for (guint i = 0; i < o->ignore_port->len; i++)
		add_number(sum, (uint64_t)g_array_index(o->ignore_port, int32_t, i));
}

/* The caller frees it; NULL: not to be cached. */
static char *name_of(const struct monitor *m)
{
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *name = NULL;

	if (add_program(sum)) {
		add_options(sum, m->options);
		ingest_stamp(m->shown.in, sum);
		name = g_strdup(g_checksum_get_string(sum));
	}
	g_checksum_free(sum);
	return name;
}

/* ---- opening ---- */

/* The history in a file, fully checked; NULL: it is not usable. */
static struct history *read_history(struct cache_file *file, struct unpack *head, size_t limit_bytes)
{
	struct history *h = history_unpack(head, limit_bytes, cache_file_parts_bytes(file));
	struct history_part part = { 0 };
	bool ok = h;

	while (ok && history_part(h, &part))
		ok = cache_file_read(file, part.data, part.len);
	if (ok && cache_file_check(file))
		return h;
	history_destroy(h);
	return NULL;
}

/* The rest of a file. */
static bool unpack_reading(struct reading *r, struct clocks *clocks, struct unpack *head)
{
	if (!strpool_unpack(head) || !clocks_unpack(clocks, head) || !ingest_unpack(r->in, head))
		return false;
	r->frames = frames_unpack(head, r->in, r->history);
	if (!r->frames)
		return false;
	r->frame_ns = frames_length_ns(r->frames);
	return head->at == head->end;
}

enum lt_status monitor_open_cached(struct monitor *m)
{
	struct reading *r = &m->shown;
	struct cache_file *file;
	struct unpack in;
	GByteArray *head;

	if (m->options->no_cache || !ingest_can_pack(r->in) || ingest_bytes(r->in) < WORTH_BYTES)
		return LT_END;
	m->cache.name = name_of(m);
	if (!m->cache.name || cache_file_open(cache_directory(), m->cache.name, &head, &file) != LT_OK)
		return LT_END;
	in = (struct unpack){ .at = head->data, .end = head->data + head->len };
	r->history = read_history(file, &in, m->options->history_size);
	cache_file_close(file);
	m->cache.restored = r->history && unpack_reading(r, m->clocks, &in);
	g_byte_array_unref(head);
	if (m->cache.restored) {
		log_info("opened from the cache; --no-cache reads the recordings again");
		return LT_OK;
	}
	return r->history ? LT_ERROR : LT_END;
}

/* ---- saving ---- */

/* A warning was given that would not be repeated in another run. */
static bool was_warned(void)
{
	for (unsigned i = 0; i < log_count(); i++)
		if (log_get(i)->level >= LOG_LEVEL_WARNING)
			return true;
	return false;
}

/* Whether the recordings are still the same as before they were read. */
static bool is_unchanged(const struct monitor *m)
{
	char *name = name_of(m);
	bool same = g_strcmp0(name, m->cache.name) == 0;

	g_free(name);
	return same;
}

static enum lt_status create_file(struct monitor *m)
{
	GByteArray *head = g_byte_array_new();
	enum lt_status status = LT_END;

	if (history_pack(m->shown.history, head)) {
		strpool_pack(head);
		clocks_pack(m->clocks, head);
		ingest_pack(m->shown.in, head);
		frames_pack(m->shown.frames, head);
		status = cache_file_create(cache_directory(), m->cache.name, head,
					   history_parts_bytes(m->shown.history), &m->cache.file);
	}
	g_byte_array_unref(head);
	return status;
}

static void stop_saving(struct monitor *m)
{
	ev_idle_stop(m->loop, &m->cache.writing);
	cache_file_close(m->cache.file);
	m->cache.file = NULL;
}

static void give_up(struct monitor *m)
{
	log_info("cache: %s", error_text());
	error_clear();
	stop_saving(m);
}

static void on_writing(struct ev_loop *loop, ev_idle *w, int events)
{
	struct monitor *m = w->data;
	size_t written = 0;

	(void)loop;
	(void)events;
	while (written < WRITE_BYTES && history_part(m->shown.history, &m->cache.part)) {
		written += m->cache.part.len;
		if (cache_file_write(m->cache.file, m->cache.part.data, m->cache.part.len) != LT_OK) {
			give_up(m);
			return;
		}
	}
	if (written)
		return;
	if (cache_file_end(m->cache.file) != LT_OK) {
		give_up(m);
		return;
	}
	stop_saving(m);
	cache_bound(cache_directory(), m->options->cache_size);
}

void monitor_save_cache(struct monitor *m)
{
	if (!m->cache.name || m->cache.restored || (m->stage != STAGE_ALONE && m->stage != STAGE_FINAL))
		return;
	if (!was_warned() && ingest_can_pack(m->shown.in) && is_unchanged(m)) {
		enum lt_status status = create_file(m);

		if (status == LT_OK) {
			ev_idle_init(&m->cache.writing, on_writing);
			ev_set_priority(&m->cache.writing, EV_MINPRI);
			m->cache.writing.data = m;
			ev_idle_start(m->loop, &m->cache.writing);
		} else if (status == LT_ERROR) {
			log_info("cache: %s", error_text());
			error_clear();
		}
	}
	/* only once */
	g_clear_pointer(&m->cache.name, g_free);
}

void monitor_release_cache(struct monitor *m)
{
	cache_file_close(m->cache.file);
	g_free(m->cache.name);
}
