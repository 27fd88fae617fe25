/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/recall_pool.h"

#include <glib.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "source/recall.h"

enum { LOG_BYTES_MAX = 1 << 30 }; /* a small part of the address space of a worker */

struct log {
	int writing_fd, reading_fd;
	bool is_taken;
};

static uint64_t all_bytes;
static GArray *logs;      /* struct log; NULL: there are none */
static GHashTable *homes; /* &source → log + 1; NULL: there are none */

void recall_pool_set_bytes(uint64_t bytes)
{
	all_bytes = bytes;
}

static struct log *log_at(int log)
{
	return &g_array_index(logs, struct log, (guint)log);
}

/* Each may grow to all of the memory, but is limited to its share. */
static int make_log(void)
{
	struct log new = { .writing_fd = recall_create(MIN(all_bytes, LOG_BYTES_MAX)) };

	new.reading_fd = new.writing_fd < 0 ? -1 : recall_open_again(new.writing_fd);
	if (new.reading_fd < 0) {
		error_clear();
		if (new.writing_fd >= 0)
			close(new.writing_fd);
		return -1;
	}
	g_array_append_val(logs, new);
	for (guint i = 0; i < logs->len; i++) {
		if (recall_set_limit(log_at((int)i)->writing_fd, all_bytes / logs->len)) {
			log_warning("%s", error_text());
			error_clear();
		}
	}
	return (int)logs->len - 1;
}

static int find_free(int preferred)
{
	if (preferred >= 0 && preferred < (int)logs->len && !log_at(preferred)->is_taken)
		return preferred;
	for (guint i = 0; i < logs->len; i++)
		if (!log_at((int)i)->is_taken)
			return (int)i;
	return -1;
}

int recall_pool_take(int preferred, unsigned most)
{
	int log;

	if (!all_bytes)
		return -1;
	if (!logs)
		logs = g_array_new(FALSE, FALSE, sizeof(struct log));
	log = find_free(preferred);
	if (log < 0 && logs->len < most)
		log = make_log();
	if (log >= 0)
		log_at(log)->is_taken = true;
	return log;
}

void recall_pool_leave(int log)
{
	if (log >= 0)
		log_at(log)->is_taken = false;
}

int recall_pool_writing_fd(int log)
{
	return log < 0 ? -1 : log_at(log)->writing_fd;
}

int recall_pool_reading_fd(int log)
{
	return log < 0 ? -1 : log_at(log)->reading_fd;
}

int recall_pool_home(uint64_t source)
{
	return homes ? GPOINTER_TO_INT(g_hash_table_lookup(homes, &source)) - 1 : -1;
}

void recall_pool_forget_home(uint64_t source)
{
	if (homes)
		g_hash_table_remove(homes, &source);
}

void recall_pool_set_home(uint64_t source, int log)
{
	if (log < 0)
		return;
	if (!homes)
		homes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	g_hash_table_replace(homes, g_memdup2(&source, sizeof(source)), GINT_TO_POINTER(log + 1));
}
