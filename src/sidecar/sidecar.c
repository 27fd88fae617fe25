/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/sidecar.h"

#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/collect.h"
#include "sidecar/file.h"
#include "sidecar/internal.h"

/* Starts of processes are known to a tick of 10 ms; setting the clock in between adds to the difference. */
#define START_TOLERANCE_NS (100 * NS_PER_MS)

/*
 * Limits on data kept from events; beyond them it is forgotten, because a machine soon sends again what is still true.
 */
enum { HEARD_BYTES_MAX = 64 << 20, HEARD_PROCESSES_MAX = 1 << 15 };

/* Of all files of a host; the texts kept of them are at most four times as long. */
enum { LOADED_BYTES_MAX = 64 << 20 };

/* Upper limit on the size of a kernel function. */
enum { SYMBOL_BYTES_MAX = 1 << 16 };

static gint by_address(gconstpointer a, gconstpointer b, gpointer data)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	(void)data;
	return x < y ? -1 : x > y;
}

static GTree *create_symbols(void)
{
	return g_tree_new_full(by_address, NULL, g_free, NULL);
}

static void create_texts(struct sidecar_texts *texts)
{
	texts->storage = g_string_chunk_new(4096);
	texts->known = g_hash_table_new(keyhash_text, g_str_equal);
}

static void clear_texts(struct sidecar_texts *texts)
{
	g_hash_table_remove_all(texts->known);
	g_string_chunk_clear(texts->storage);
}

static void free_texts(struct sidecar_texts *texts)
{
	g_hash_table_destroy(texts->known);
	g_string_chunk_free(texts->storage);
}

struct sidecar *sidecar_create(void)
{
	struct sidecar *s = g_new0(struct sidecar, 1);

	create_texts(&s->texts);
	create_texts(&s->process_texts);
	s->cpus = g_hash_table_new(keyhash_text, g_str_equal);
	s->disks = g_hash_table_new(keyhash_text, g_str_equal);
	s->users = g_hash_table_new(keyhash_text, g_str_equal);
	s->groups = g_hash_table_new(keyhash_text, g_str_equal);
	s->cgroups = g_hash_table_new(keyhash_text, g_str_equal);
	s->mounts = g_hash_table_new(keyhash_text, g_str_equal);
	s->symbols = create_symbols();
	s->functions = create_symbols();
	s->processes = g_array_new(FALSE, TRUE, sizeof(struct sidecar_process));
	return s;
}

void sidecar_destroy(struct sidecar *s)
{
	if (!s)
		return;
	free_texts(&s->texts);
	free_texts(&s->process_texts);
	g_hash_table_destroy(s->cpus);
	g_hash_table_destroy(s->disks);
	g_hash_table_destroy(s->users);
	g_hash_table_destroy(s->groups);
	g_hash_table_destroy(s->cgroups);
	g_hash_table_destroy(s->mounts);
	g_tree_destroy(s->symbols);
	g_tree_destroy(s->functions);
	g_array_free(s->processes, TRUE);
	g_free(s);
}

/* ---- processes ---- */

int sidecar_by_pid(const void *a, const void *b)
{
	const struct sidecar_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

guint sidecar_count_up_to(const struct sidecar *s, int64_t pid, uint64_t start_ns)
{
	const struct sidecar_process wanted = { .pid = pid, .start_ns = start_ns };
	guint low = 0, high = s->n_sorted;

	while (low < high) {
		const guint middle = low + (high - low) / 2;

		if (sidecar_by_pid(&g_array_index(s->processes, struct sidecar_process, middle), &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sidecar_process *sidecar_find_process(const struct sidecar *s, int64_t pid, uint64_t at_ns, bool exactly)
{
	const guint n = sidecar_count_up_to(
		s, pid, at_ns > UINT64_MAX - START_TOLERANCE_NS ? UINT64_MAX : at_ns + START_TOLERANCE_NS);
	struct sidecar_process *p = n ? &g_array_index(s->processes, struct sidecar_process, n - 1) : NULL;

	if (!p || p->pid != pid || (exactly && p->start_ns + START_TOLERANCE_NS < at_ns))
		return NULL;
	return p;
}

void sidecar_forget_processes(struct sidecar *s)
{
	g_array_set_size(s->processes, 0);
	s->n_sorted = 0;
	clear_texts(&s->process_texts);
}

unsigned sidecar_process_count(const struct sidecar *s)
{
	return s->processes->len;
}

/* The object in a file; NULL: error chain. */
static json_t *read_file(struct sidecar *s, const char *path)
{
	GByteArray *bytes = sidecar_file_bytes(AT_FDCWD, path);
	json_t *root = NULL;

	if (!bytes)
		return NULL;
	if (bytes->len > LOADED_BYTES_MAX - s->loaded_bytes) {
		error_set("with it, the host's would be larger than %d MiB", LOADED_BYTES_MAX >> 20);
	} else {
		s->loaded_bytes += bytes->len;
		root = sidecar_file_parse((const char *)bytes->data, bytes->len);
	}
	g_byte_array_unref(bytes);
	return root;
}

enum lt_status sidecar_load(struct sidecar *s, const char *path, const char *hostname)
{
	json_t *root = read_file(s, path);
	bool usable = false, wrong = false;
	char shown[256];

	if (root) {
		usable = sidecar_take(s, root, hostname, &wrong);
		json_decref(root);
	}
	if (!root || wrong) {
		text_sanitise(shown, sizeof(shown), path, strlen(path));
		log_warning("'%s': %s", shown, error_text());
	}
	return usable ? LT_OK : LT_ERROR;
}

static void forget_all(struct sidecar *s)
{
	sidecar_forget_processes(s);
	g_hash_table_remove_all(s->cpus);
	g_hash_table_remove_all(s->disks);
	g_hash_table_remove_all(s->users);
	g_hash_table_remove_all(s->groups);
	g_hash_table_remove_all(s->cgroups);
	g_hash_table_remove_all(s->mounts);
	g_tree_destroy(s->symbols);
	g_tree_destroy(s->functions);
	s->symbols = create_symbols();
	s->functions = create_symbols();
	s->facts = (struct sidecar_facts){ 0 };
	clear_texts(&s->texts);
	s->heard_bytes = 0;
}

static bool has_start(const char *text, size_t len, const char *start)
{
	return len > strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

bool sidecar_is_message(const char *text, size_t len)
{
	return has_start(text, len, SIDECAR_MESSAGE) || has_start(text, len, SIDECAR_LINES);
}

/* The object in a message; NULL: it cannot be read (error chain). */
static json_t *parse_message(const char *text, size_t len)
{
	json_t *root;
	char *lines;

	if (!has_start(text, len, SIDECAR_LINES))
		return sidecar_file_parse(text + strlen(SIDECAR_MESSAGE), len - strlen(SIDECAR_MESSAGE));
	lines = g_strdelimit(g_strndup(text + strlen(SIDECAR_LINES), len - strlen(SIDECAR_LINES)), "\t", '\n');
	root = sidecar_parse_listing(lines, strlen(lines));
	g_free(lines);
	return root;
}

bool sidecar_hear(struct sidecar *s, const char *text, size_t len, const char *hostname)
{
	bool usable = false, wrong;
	json_t *root;

	if (!sidecar_is_message(text, len))
		return false;
	s->heard_bytes += len;
	if (s->heard_bytes > HEARD_BYTES_MAX)
		forget_all(s);
	if (s->processes->len > HEARD_PROCESSES_MAX)
		sidecar_forget_processes(s);
	root = parse_message(text, len);
	if (root) {
		usable = sidecar_take(s, root, hostname, &wrong);
		json_decref(root);
	}
	error_clear();
	return usable;
}

/* ---- looking up ---- */

struct sidecar_facts sidecar_facts(const struct sidecar *s)
{
	return s->facts;
}

const char *sidecar_disk(const struct sidecar *s, unsigned major, unsigned minor)
{
	char id[32];

	g_snprintf(id, sizeof(id), "%u:%u", major, minor);
	return g_hash_table_lookup(s->disks, id);
}

static const char *name_of(GHashTable *names, int64_t number)
{
	char id[32];

	g_snprintf(id, sizeof(id), "%" G_GINT64_FORMAT, (gint64)number);
	return g_hash_table_lookup(names, id);
}

const char *sidecar_cgroup(const struct sidecar *s, uint64_t inode)
{
	return inode > INT64_MAX ? NULL : name_of(s->cgroups, (int64_t)inode);
}

/* In the order of their paths, so that mounts come after those that contain them. */
void sidecar_new_mounts(struct sidecar *s, sidecar_mount_fn *fn, void *data)
{
	GList *dirs = g_list_sort(g_hash_table_get_keys(s->mounts), (GCompareFunc)strcmp);

	for (const GList *at = dirs; at; at = at->next) {
		char **words = g_strsplit(g_hash_table_lookup(s->mounts, at->data), " ", 2);

		if (words[0] && words[1])
			fn(data, at->data, words[0], words[1]);
		g_strfreev(words);
	}
	g_list_free(dirs);
	g_hash_table_remove_all(s->mounts);
}

const char *sidecar_symbol(const struct sidecar *s, uint64_t address, uint64_t *offset)
{
	GTreeNode *behind = g_tree_upper_bound(s->symbols, &address);
	GTreeNode *at = behind ? g_tree_node_previous(behind) : g_tree_node_last(s->symbols);

	if (!at)
		return NULL;
	*offset = address - *(const uint64_t *)g_tree_node_key(at);
	return *offset < SYMBOL_BYTES_MAX ? g_tree_node_value(at) : NULL;
}

const char *sidecar_function(const struct sidecar *s, uint64_t address)
{
	const char *name = g_tree_lookup(s->functions, &address);

	return name ? name : g_tree_lookup(s->symbols, &address);
}

const char *sidecar_user(const struct sidecar *s, int64_t uid)
{
	return name_of(s->users, uid);
}

const char *sidecar_group(const struct sidecar *s, int64_t gid)
{
	return name_of(s->groups, gid);
}

const struct sidecar_process *sidecar_process(const struct sidecar *s, int64_t pid, uint64_t born_ns,
					      uint64_t record_ns)
{
	return sidecar_find_process(s, pid, born_ns ? born_ns : record_ns, born_ns != 0);
}
