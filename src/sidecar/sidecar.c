/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/sidecar.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/collect.h"
#include "sidecar/file.h"

/* Starts of processes are known to a tick of 10 ms; setting the clock in between adds to the difference. */
#define START_TOLERANCE_NS (100 * NS_PER_MS)

/*
 * Limits on data kept from events; beyond them it is forgotten, because a machine soon sends again what is still true.
 */
enum { HEARD_BYTES_MAX = 64 << 20, HEARD_PROCESSES_MAX = 1 << 15 };

/* Up to this many processes are inserted one by one, in order. */
enum { FEW = 64 };

struct sidecar {
	GStringChunk *texts, *process_texts;
	GHashTable *cpus;                             /* text -> text: "0" -> "0 3", package and core, or "" */
	GHashTable *disks, *users, *groups, *cgroups; /* likewise: "8:0" -> "sda", "1000" -> "eva", inode -> path */
	GHashTable *mounts;                           /* directory -> "cifs //10.0.0.1/share": mounts not yet taken */
	GTree *symbols;                               /* address (uint64_t) -> name */
	GArray *processes;                            /* struct sidecar_process, by PID, then by start … */
	guint n_sorted;                               /* … for this many of them; those after are being added */
	struct sidecar_facts facts;
	size_t heard_bytes;
};

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

struct sidecar *sidecar_create(void)
{
	struct sidecar *s = g_new0(struct sidecar, 1);

	s->texts = g_string_chunk_new(4096);
	s->process_texts = g_string_chunk_new(4096);
	s->cpus = g_hash_table_new(g_str_hash, g_str_equal);
	s->disks = g_hash_table_new(g_str_hash, g_str_equal);
	s->users = g_hash_table_new(g_str_hash, g_str_equal);
	s->groups = g_hash_table_new(g_str_hash, g_str_equal);
	s->cgroups = g_hash_table_new(g_str_hash, g_str_equal);
	s->mounts = g_hash_table_new(g_str_hash, g_str_equal);
	s->symbols = create_symbols();
	s->processes = g_array_new(FALSE, TRUE, sizeof(struct sidecar_process));
	return s;
}

void sidecar_destroy(struct sidecar *s)
{
	if (!s)
		return;
	g_string_chunk_free(s->texts);
	g_string_chunk_free(s->process_texts);
	g_hash_table_destroy(s->cpus);
	g_hash_table_destroy(s->disks);
	g_hash_table_destroy(s->users);
	g_hash_table_destroy(s->groups);
	g_hash_table_destroy(s->cgroups);
	g_hash_table_destroy(s->mounts);
	g_tree_destroy(s->symbols);
	g_array_free(s->processes, TRUE);
	g_free(s);
}

/* ---- processes ---- */

static int by_pid(const void *a, const void *b)
{
	const struct sidecar_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* How many processes have a lower PID, or this one and a start not after start_ns. */
static guint count_up_to(const struct sidecar *s, int64_t pid, uint64_t start_ns)
{
	const struct sidecar_process wanted = { .pid = pid, .start_ns = start_ns };
	guint low = 0, high = s->n_sorted;

	while (low < high) {
		const guint middle = low + (high - low) / 2;

		if (by_pid(&g_array_index(s->processes, struct sidecar_process, middle), &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The last process with that PID to start by the time; exactly: at the time, within the tolerance. NULL: there is none.
 */
static struct sidecar_process *find_process(const struct sidecar *s, int64_t pid, uint64_t at_ns, bool exactly)
{
	const guint n =
		count_up_to(s, pid, at_ns > UINT64_MAX - START_TOLERANCE_NS ? UINT64_MAX : at_ns + START_TOLERANCE_NS);
	struct sidecar_process *p = n ? &g_array_index(s->processes, struct sidecar_process, n - 1) : NULL;

	if (!p || p->pid != pid || (exactly && p->start_ns + START_TOLERANCE_NS < at_ns))
		return NULL;
	return p;
}

/* ---- a file ---- */

/* A file that is being read, and its first fault. */
struct loading {
	struct sidecar *s;
	bool wrong;
	bool few; /* processes are inserted one by one */
};

static void complain(struct loading *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void complain(struct loading *l, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (l->wrong)
		return;
	l->wrong = true;
	va_start(ap, fmt);
	text = g_strdup_vprintf(fmt, ap);
	va_end(ap);
	error_set("%s", text);
	g_free(text);
}

static const char *keep(GStringChunk *texts, const char *text)
{
	char clean[TEXT_MAX + 1];

	text_sanitise(clean, sizeof(clean), text, strlen(text));
	return g_string_chunk_insert_const(texts, clean);
}

/* NULL: it is missing, empty, or not a text. */
static const char *text_of(struct loading *l, GStringChunk *texts, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_string(v) && !json_is_null(v))
		complain(l, "'%s' is not a string", key);
	return json_is_string(v) && json_string_length(v) ? keep(texts, json_string_value(v)) : NULL;
}

/* -1: it is missing, or not a number >= 0. */
static int64_t number_of(struct loading *l, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return json_integer_value(v);
	if (v && !json_is_null(v))
		complain(l, "'%s' is not a positive integer", key);
	return -1;
}

static void load_names(struct loading *l, const json_t *root, const char *key, GHashTable *names)
{
	json_t *object = json_object_get(root, key), *name;
	const char *id;

	if (object && !json_is_object(object))
		complain(l, "'%s' is not an object", key);
	json_object_foreach(object, id, name) {
		if (g_hash_table_size(names) >= SIDECAR_NAMES_MAX) {
			complain(l, "'%s' has too many names", key);
			return;
		}
		if (!json_is_string(name))
			complain(l, "a name in '%s' is not a string", key);
		else if (json_string_length(name))
			g_hash_table_insert(names, (void *)keep(l->s->texts, id),
					    (void *)keep(l->s->texts, json_string_value(name)));
	}
}

/* {"do_sys_openat2": "0xffffffff81000000"} */
static void load_symbols(struct loading *l, const json_t *root)
{
	json_t *object = json_object_get(root, "symbols"), *text;
	const char *name;
	uint64_t *address;
	char *end;

	if (object && !json_is_object(object))
		complain(l, "'symbols' is not an object");
	json_object_foreach(object, name, text) {
		if (g_tree_nnodes(l->s->symbols) >= SIDECAR_NAMES_MAX) {
			complain(l, "'symbols' has too many names");
			return;
		}
		address = g_new(uint64_t, 1);
		*address = json_is_string(text) ? g_ascii_strtoull(json_string_value(text), &end, 16) : 0;
		if (*address && !*end) {
			g_tree_replace(l->s->symbols, address, (void *)keep(l->s->texts, name));
		} else {
			complain(l, "an address in 'symbols' is not a hexadecimal number");
			g_free(address);
		}
	}
}

static void load_process(struct loading *l, const json_t *o)
{
	GStringChunk *texts = l->s->process_texts;
	struct sidecar_process *known, p = {
		.pid = number_of(l, o, "pid"),
		.uid = number_of(l, o, "uid"),
		.gid = number_of(l, o, "gid"),
		.exe = text_of(l, texts, o, "exe"),
		.cmdline = text_of(l, texts, o, "cmdline"),
		.cgroup = text_of(l, texts, o, "cgroup"),
	};
	int64_t start_ns = number_of(l, o, "start_ns");

	if (!json_is_object(o))
		complain(l, "an element of 'processes' is not an object");
	/* without these, the choice of the process would be a guess */
	if (p.pid <= 0 || start_ns < 0)
		return;
	p.start_ns = (uint64_t)start_ns;
	known = find_process(l->s, p.pid, p.start_ns, true);
	if (known) {
		*known = p;
	} else if (l->few) {
		g_array_insert_val(l->s->processes, count_up_to(l->s, p.pid, p.start_ns), p);
		l->s->n_sorted++;
	} else {
		g_array_append_val(l->s->processes, p);
	}
}

static void load_processes(struct loading *l, const json_t *root)
{
	const json_t *list = json_object_get(root, "processes"), *process;
	size_t i;

	if (list && !json_is_array(list))
		complain(l, "'processes' is not an array");
	l->few = json_array_size(list) <= FEW;
	json_array_foreach(list, i, process) {
		if (l->s->processes->len >= SIDECAR_PROCESSES_MAX) {
			complain(l, "it has too many processes");
			break;
		}
		load_process(l, process);
	}
	if (l->s->n_sorted < l->s->processes->len)
		g_array_sort(l->s->processes, by_pid);
	l->s->n_sorted = l->s->processes->len;
}

static void load_clock(struct loading *l, const json_t *root)
{
	const json_t *clock = json_object_get(root, "clock"), *synchronised;
	int64_t error_ns;
	char *text;

	if (clock && !json_is_object(clock)) {
		complain(l, "'clock' is not an object");
		return;
	}
	synchronised = json_object_get(clock, "synchronised");
	if (!json_is_boolean(synchronised))
		return;
	error_ns = number_of(l, clock, "max_error_ns");
	if (json_is_false(synchronised))
		text = g_strdup("not synchronised");
	else if (error_ns >= 0)
		text = g_strdup_printf("synchronised, within %.3g ms", (double)error_ns / (double)NS_PER_MS);
	else
		text = g_strdup("synchronised");
	l->s->facts.clock = keep(l->s->texts, text);
	g_free(text);
}

static void count_cores(GHashTable *cpus, unsigned *cores, unsigned *sockets)
{
	GHashTable *cores_seen = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTable *sockets_seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter at;
	gpointer place;

	g_hash_table_iter_init(&at, cpus);
	while (g_hash_table_iter_next(&at, NULL, &place)) {
		if (!*(const char *)place)
			continue;
		g_hash_table_add(cores_seen, place);
		g_hash_table_add(sockets_seen, g_strndup(place, strcspn(place, " ")));
	}
	*cores = g_hash_table_size(cores_seen);
	*sockets = g_hash_table_size(sockets_seen);
	g_hash_table_destroy(cores_seen);
	g_hash_table_destroy(sockets_seen);
}

/* CPUs may come in parts. A core may have several CPUs (threads), and a socket several cores. */
static void load_cpus(struct loading *l, const json_t *root)
{
	const json_t *list = json_object_get(root, "cpus"), *cpu;
	GHashTable *cpus = l->s->cpus;
	unsigned cores, sockets;
	char id[32], place[64], text[128];
	size_t i;

	if (list && !json_is_array(list))
		complain(l, "'cpus' is not an array");
	json_array_foreach(list, i, cpu) {
		const int64_t number = number_of(l, cpu, "cpu");
		const int64_t socket = number_of(l, cpu, "package"), core = number_of(l, cpu, "core");

		if (number < 0 || g_hash_table_size(cpus) >= SIDECAR_NAMES_MAX)
			continue;
		g_snprintf(id, sizeof(id), "%" G_GINT64_FORMAT, (gint64)number);
		g_snprintf(place, sizeof(place), "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, (gint64)socket,
			   (gint64)core);
		g_hash_table_insert(cpus, (void *)keep(l->s->texts, id),
				    (void *)keep(l->s->texts, socket < 0 || core < 0 ? "" : place));
	}
	if (!json_array_size(list) || !g_hash_table_size(cpus))
		return;
	count_cores(cpus, &cores, &sockets);
	if (cores)
		g_snprintf(text, sizeof(text), "%u in %u core%s, %u socket%s", g_hash_table_size(cpus), cores,
			   cores == 1 ? "" : "s", sockets, sockets == 1 ? "" : "s");
	else
		g_snprintf(text, sizeof(text), "%u", g_hash_table_size(cpus));
	l->s->facts.cpus = keep(l->s->texts, text);
}

static void load_facts(struct loading *l, const json_t *root)
{
	struct sidecar_facts *facts = &l->s->facts;
	const char *kernel = text_of(l, l->s->texts, root, "kernel");
	const char *boot_id = text_of(l, l->s->texts, root, "boot_id");

	facts->kernel = kernel ? kernel : facts->kernel;
	facts->boot_id = boot_id ? boot_id : facts->boot_id;
	load_clock(l, root);
	load_cpus(l, root);
}

/* Whether the file is usable and belongs to this host. */
static bool is_usable(struct loading *l, const json_t *root, const char *hostname)
{
	const json_t *schema = json_object_get(root, "schema");
	const char *host = text_of(l, l->s->texts, root, "host");

	if (schema && (!json_is_integer(schema) || json_integer_value(schema) != SIDECAR_SCHEMA))
		complain(l, "its 'schema' is not %d", SIDECAR_SCHEMA);
	else if (host && hostname && strcmp(host, hostname) != 0)
		complain(l, "it is that of host '%.64s'", host);
	else
		return true;
	return false;
}

static void load_all(struct loading *l, const json_t *root)
{
	load_facts(l, root);
	load_names(l, root, "disks", l->s->disks);
	load_names(l, root, "users", l->s->users);
	load_names(l, root, "groups", l->s->groups);
	load_names(l, root, "cgroups", l->s->cgroups);
	load_names(l, root, "mounts", l->s->mounts);
	load_symbols(l, root);
	load_processes(l, root);
}

void sidecar_add(struct sidecar *s, const json_t *root)
{
	struct loading l = { .s = s };

	load_all(&l, root);
}

void sidecar_forget_processes(struct sidecar *s)
{
	g_array_set_size(s->processes, 0);
	s->n_sorted = 0;
	g_string_chunk_clear(s->process_texts);
}

unsigned sidecar_process_count(const struct sidecar *s)
{
	return s->processes->len;
}

enum lt_status sidecar_load(struct sidecar *s, const char *path, const char *hostname)
{
	struct loading l = { .s = s };
	json_t *root = sidecar_file_read(path);
	bool usable = false;
	char shown[256];

	if (root) {
		usable = is_usable(&l, root, hostname);
		if (usable)
			load_all(&l, root);
		json_decref(root);
	}
	if (!root || l.wrong) {
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
	s->symbols = create_symbols();
	s->facts = (struct sidecar_facts){ 0 };
	g_string_chunk_clear(s->texts);
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
	struct loading l = { .s = s };
	bool usable = false;
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
		usable = is_usable(&l, root, hostname);
		if (usable)
			load_all(&l, root);
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
	return find_process(s, pid, born_ns ? born_ns : record_ns, born_ns != 0);
}
