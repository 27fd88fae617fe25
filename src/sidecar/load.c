/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes over an object of JSON, of a file or a message: checked, bounded, sanitised. */
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/keyhash.h"
#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/collect.h"
#include "sidecar/internal.h"

/* Up to this many processes are inserted one by one, in order. */
enum { FEW = 64 };

/* An object that is being read, and its first fault. */
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

static const char *keep(struct sidecar_texts *texts, const char *text)
{
	char clean[TEXT_MAX + 1];
	char *kept;

	text_sanitise(clean, sizeof(clean), text, strlen(text));
	kept = g_hash_table_lookup(texts->known, clean);
	if (!kept) {
		kept = g_string_chunk_insert(texts->storage, clean);
		g_hash_table_add(texts->known, kept);
	}
	return kept;
}

/* NULL: it is missing, empty, or not a text. */
static const char *text_of(struct loading *l, struct sidecar_texts *texts, const json_t *o, const char *key)
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
			g_hash_table_insert(names, (void *)keep(&l->s->texts, id),
					    (void *)keep(&l->s->texts, json_string_value(name)));
	}
}

/* {"do_sys_openat2": "0xffffffff81000000"} */
static void load_symbols(struct loading *l, const json_t *root, const char *key, GTree *symbols)
{
	json_t *object = json_object_get(root, key), *text;
	const char *name;
	uint64_t *address;
	char *end;

	if (object && !json_is_object(object))
		complain(l, "'%s' is not an object", key);
	json_object_foreach(object, name, text) {
		if (g_tree_nnodes(symbols) >= SIDECAR_NAMES_MAX) {
			complain(l, "'%s' has too many names", key);
			return;
		}
		address = g_new(uint64_t, 1);
		*address = json_is_string(text) ? g_ascii_strtoull(json_string_value(text), &end, 16) : 0;
		if (*address && !*end) {
			g_tree_replace(symbols, address, (void *)keep(&l->s->texts, name));
		} else {
			complain(l, "an address in '%s' is not a hexadecimal number", key);
			g_free(address);
		}
	}
}

static void load_process(struct loading *l, const json_t *o)
{
	struct sidecar_texts *texts = &l->s->process_texts;
	struct sidecar_process *known, p = {
		.pid = number_of(l, o, "pid"),
		.uid = number_of(l, o, "uid"),
		.gid = number_of(l, o, "gid"),
		.exe = text_of(l, texts, o, "exe"),
		.cmdline = text_of(l, texts, o, "cmdline"),
		.cgroup = text_of(l, texts, o, "cgroup"),
	};
	int64_t start_ns = number_of(l, o, "start_ns"), pid_ns = number_of(l, o, "pid_ns");

	if (!json_is_object(o))
		complain(l, "an element of 'processes' is not an object");
	/* without these, the choice of the process would be a guess */
	if (p.pid <= 0 || start_ns < 0)
		return;
	p.start_ns = (uint64_t)start_ns;
	p.pid_ns = (uint64_t)MAX(pid_ns, 0);
	known = sidecar_find_process(l->s, p.pid, p.start_ns, true);
	if (known) {
		p.start_ns = known->start_ns; /* about the same: the order stays */
		*known = p;
	} else if (l->few) {
		g_array_insert_val(l->s->processes, sidecar_count_up_to(l->s, p.pid, p.start_ns), p);
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
		g_array_sort(l->s->processes, sidecar_by_pid);
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
	l->s->facts.clock = keep(&l->s->texts, text);
	g_free(text);
}

static void count_cores(GHashTable *cpus, unsigned *cores, unsigned *sockets)
{
	GHashTable *cores_seen = g_hash_table_new(keyhash_text, g_str_equal);
	GHashTable *sockets_seen = g_hash_table_new_full(keyhash_text, g_str_equal, g_free, NULL);
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
		g_hash_table_insert(cpus, (void *)keep(&l->s->texts, id),
				    (void *)keep(&l->s->texts, socket < 0 || core < 0 ? "" : place));
	}
	if (!json_array_size(list) || !g_hash_table_size(cpus))
		return;
	count_cores(cpus, &cores, &sockets);
	if (cores)
		g_snprintf(text, sizeof(text), "%u in %u core%s, %u socket%s", g_hash_table_size(cpus), cores,
			   cores == 1 ? "" : "s", sockets, sockets == 1 ? "" : "s");
	else
		g_snprintf(text, sizeof(text), "%u", g_hash_table_size(cpus));
	l->s->facts.cpus = keep(&l->s->texts, text);
}

static void load_facts(struct loading *l, const json_t *root)
{
	struct sidecar_facts *facts = &l->s->facts;
	const char *kernel = text_of(l, &l->s->texts, root, "kernel");
	const char *boot_id = text_of(l, &l->s->texts, root, "boot_id");

	facts->kernel = kernel ? kernel : facts->kernel;
	facts->boot_id = boot_id ? boot_id : facts->boot_id;
	load_clock(l, root);
	load_cpus(l, root);
}

/* Whether the object is usable and belongs to this host. */
static bool is_usable(struct loading *l, const json_t *root, const char *hostname)
{
	const json_t *schema = json_object_get(root, "schema");
	const char *host = text_of(l, &l->s->texts, root, "host");

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
	load_symbols(l, root, "symbols", l->s->symbols);
	load_symbols(l, root, "functions", l->s->functions);
	load_processes(l, root);
}

void sidecar_add(struct sidecar *s, const json_t *root)
{
	struct loading l = { .s = s };

	load_all(&l, root);
}

bool sidecar_take(struct sidecar *s, const json_t *root, const char *hostname, bool *wrong)
{
	struct loading l = { .s = s };
	const bool usable = is_usable(&l, root, hostname);

	if (usable)
		load_all(&l, root);
	*wrong = l.wrong;
	return usable;
}
