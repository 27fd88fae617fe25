/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data found by a shell on a machine without this program: lines of a keyword and its value. Printed by script.c; lines
 * that are not understood are skipped here.
 *
 *   listing                          starts another one, later than the one before
 *   host|boot_id|kernel TEXT         synchronised yes|no
 *   now UPTIME SECONDS UPTIME HZ     the realtime clock, between two readings of the time since boot; ticks per
 *                                    second. Of several, the one with the closest readings is used
 *   disk MAJOR:MINOR NAME            cpu NUMBER PACKAGE CORE
 *   symbol ADDRESS TYPE NAME
 *   passwd NAME:X:UID:…              group NAME:X:GID:…
 *   mount LINE                       of /proc/PID/mountinfo
 *   pid_ns pid:[INODE]               whose numbers the PIDs of the following processes are, if not the host's
 *   process PID START [UID [GID]]    START in ticks since boot; followed by its
 *   exe PATH  cmdline TEXT  cgroup PATH
 *   namespaces pid:[INODE] cgroup:[INODE]
 */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/nstime.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

enum { LISTINGS_MAX = 16, SECONDS_MAX_DIGITS = 10, CPUS_MAX = 8192 };

/* The listing being read. */
struct listing {
	json_t *root, *cpus, *disks, *users, *groups, *cgroups, *mounts, *symbols, *processes;
	json_t *process;           /* the last one; borrowed; NULL: there is none, or it was skipped */
	uint64_t boot_ns, tick_ns; /* 0: not known */
	uint64_t boot_within_ns;
	uint64_t pid_ns; /* 0: the host's */
};

static json_t *add_object(json_t *root, const char *key, json_t *value)
{
	json_object_set_new(root, key, value);
	return value;
}

static void listing_begin(struct listing *l)
{
	*l = (struct listing){ .root = json_object() };
	json_object_set_new(l->root, "schema", json_integer(SIDECAR_SCHEMA));
	l->cpus = add_object(l->root, "cpus", json_array());
	l->disks = add_object(l->root, "disks", json_object());
	l->users = add_object(l->root, "users", json_object());
	l->groups = add_object(l->root, "groups", json_object());
	l->cgroups = add_object(l->root, "cgroups", json_object());
	l->mounts = add_object(l->root, "mounts", json_object());
	l->symbols = add_object(l->root, "symbols", json_object());
	l->processes = add_object(l->root, "processes", json_array());
}

/* "1700000000.123456789" as ns; false: it is something else, or has only seconds. */
static bool read_seconds(const char *text, uint64_t *ns)
{
	const size_t whole = strspn(text, "0123456789");
	const char *fraction = text + whole + 1;
	uint64_t unit_ns = NS_PER_S / 10;

	if (!whole || whole > SECONDS_MAX_DIGITS || text[whole] != '.' || !g_ascii_isdigit(*fraction))
		return false;
	*ns = g_ascii_strtoull(text, NULL, 10) * NS_PER_S;
	for (; g_ascii_isdigit(*fraction) && unit_ns; fraction++, unit_ns /= 10)
		*ns += (uint64_t)(*fraction - '0') * unit_ns;
	return true;
}

static void read_now(struct listing *l, const char *text)
{
	char **words = g_strsplit(text, " ", 4);
	uint64_t before_ns, real_ns, after_ns;
	guint64 hz;

	if (g_strv_length(words) == 4 && read_seconds(words[0], &before_ns) && read_seconds(words[1], &real_ns) &&
	    read_seconds(words[2], &after_ns) && before_ns <= after_ns && after_ns < real_ns && real_ns <= INT64_MAX &&
	    g_ascii_string_to_unsigned(words[3], 10, 1, NS_PER_S, &hz, NULL) &&
	    (!l->boot_ns || after_ns - before_ns < l->boot_within_ns)) {
		l->boot_within_ns = after_ns - before_ns;
		l->boot_ns = real_ns - before_ns - l->boot_within_ns / 2;
		l->tick_ns = NS_PER_S / hz;
	}
	g_strfreev(words);
}

/* "eva:x:1000:…" */
static void read_account(json_t *names, const char *text)
{
	char **words = g_strsplit(text, ":", 4);
	gint64 id;

	if (g_strv_length(words) >= 3 && json_object_size(names) < SIDECAR_NAMES_MAX &&
	    g_ascii_string_to_signed(words[2], 10, 0, UINT32_MAX, &id, NULL))
		sidecar_put_name(names, id, words[0]);
	g_strfreev(words);
}

/* "8:0 sda" */
static void read_name(json_t *names, const char *text)
{
	char **words = g_strsplit(text, " ", 2);

	if (g_strv_length(words) == 2 && json_object_size(names) < SIDECAR_NAMES_MAX)
		sidecar_put_text(names, words[0], words[1]);
	g_strfreev(words);
}

/* "0 0 0"; "0 - -": the CPU is offline and its place is not known. */
static void read_cpu(struct listing *l, const char *text)
{
	static const char *const keys[] = { "cpu", "package", "core" };
	char **words = g_strsplit(text, " ", 3);
	json_t *cpu = json_object();
	gint64 value;

	for (guint i = 0; words[i]; i++)
		if (g_ascii_string_to_signed(words[i], 10, 0, INT32_MAX, &value, NULL))
			json_object_set_new(cpu, keys[i], json_integer(value));
	if (json_object_get(cpu, "cpu") && json_array_size(l->cpus) < CPUS_MAX)
		json_array_append(l->cpus, cpu);
	json_decref(cpu);
	g_strfreev(words);
}

/* "ffffffff81000000 T name", followed by the module's name if it is in one. The kernel may hide the address: 0. */
static void read_symbol(json_t *symbols, const char *text)
{
	char **words = g_strsplit(text, " ", 3);
	guint64 address;

	if (g_strv_length(words) == 3 && json_object_size(symbols) < SIDECAR_NAMES_MAX &&
	    g_ascii_string_to_unsigned(words[0], 16, 1, UINT64_MAX, &address, NULL)) {
		words[2][strcspn(words[2], " \t")] = '\0';
		sidecar_put_symbol(symbols, words[2], address);
	}
	g_strfreev(words);
}

static void put_id(json_t *o, const char *key, const char *text)
{
	gint64 id;

	if (g_ascii_string_to_signed(text, 10, 0, UINT32_MAX, &id, NULL))
		json_object_set_new(o, key, json_integer(id));
}

static void read_process(struct listing *l, const char *text)
{
	char **words = g_strsplit(text, " ", 4);
	const guint n = g_strv_length(words);
	gint64 pid;
	guint64 ticks;

	l->process = NULL;
	/* without a known start it would be useless */
	if (n >= 2 && l->tick_ns && json_array_size(l->processes) < SIDECAR_PROCESSES_MAX / 4 &&
	    g_ascii_string_to_signed(words[0], 10, 1, INT32_MAX, &pid, NULL) &&
	    g_ascii_string_to_unsigned(words[1], 10, 0, (INT64_MAX - l->boot_ns) / l->tick_ns, &ticks, NULL)) {
		l->process = json_object();
		json_object_set_new(l->process, "pid", json_integer(pid));
		if (l->pid_ns)
			json_object_set_new(l->process, "pid_ns", json_integer((json_int_t)l->pid_ns));
		json_object_set_new(l->process, "start_ns",
				    json_integer((json_int_t)l->boot_ns + (json_int_t)(ticks * l->tick_ns)));
		if (n > 2)
			put_id(l->process, "uid", words[2]);
		if (n > 3)
			put_id(l->process, "gid", words[3]);
		json_array_append_new(l->processes, l->process);
	}
	g_strfreev(words);
}

/* Of two hierarchies, keeps the one in which it is not at the root. */
static void read_cgroup(struct listing *l, const char *path)
{
	const char *known = json_string_value(json_object_get(l->process, "cgroup"));

	if (!known || strcmp(known, "/") == 0)
		sidecar_put_text(l->process, "cgroup", path);
}

/* "pid:[4026531836] cgroup:[4026531835]" */
static void read_namespaces(struct listing *l, const char *text)
{
	char **words = g_strsplit(text, " ", 3);

	for (guint i = 0; words[i] && json_object_size(l->cgroups) < SIDECAR_NAMES_MAX; i++)
		sidecar_put_namespace(l->cgroups, words[i], json_string_value(json_object_get(l->process, "cgroup")));
	g_strfreev(words);
}

static void read_clock(struct listing *l, const char *text)
{
	json_t *clock;

	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return;
	clock = add_object(l->root, "clock", json_object());
	json_object_set_new(clock, "synchronised", json_boolean(strcmp(text, "yes") == 0));
}

static void read_line(struct listing *l, const char *word, const char *text)
{
	if (strcmp(word, "host") == 0 || strcmp(word, "boot_id") == 0 || strcmp(word, "kernel") == 0)
		sidecar_put_text(l->root, word, text);
	else if (strcmp(word, "synchronised") == 0)
		read_clock(l, text);
	else if (strcmp(word, "now") == 0)
		read_now(l, text);
	else if (strcmp(word, "disk") == 0)
		read_name(l->disks, text);
	else if (strcmp(word, "cpu") == 0)
		read_cpu(l, text);
	else if (strcmp(word, "symbol") == 0)
		read_symbol(l->symbols, text);
	else if (strcmp(word, "passwd") == 0)
		read_account(l->users, text);
	else if (strcmp(word, "group") == 0)
		read_account(l->groups, text);
	else if (strcmp(word, "mount") == 0)
		sidecar_put_mount(l->mounts, text);
	else if (strcmp(word, "pid_ns") == 0)
		l->pid_ns = sidecar_inode(text);
	else if (strcmp(word, "process") == 0)
		read_process(l, text);
	else if (l->process && (strcmp(word, "exe") == 0 || strcmp(word, "cmdline") == 0))
		sidecar_put_text(l->process, word, text);
	else if (l->process && strcmp(word, "cgroup") == 0)
		read_cgroup(l, text);
	else if (l->process && strcmp(word, "namespaces") == 0)
		read_namespaces(l, text);
}

/* Splits the line at text, which ends before end, into keyword and value. */
static void read_words(struct listing *l, const char *text, const char *end)
{
	char *line = g_strchomp(g_strndup(text, (gsize)(end - text))), *blank = strchr(line, ' ');

	if (blank) {
		*blank = '\0';
		read_line(l, line, blank + 1);
	}
	g_free(line);
}

json_t *sidecar_parse_listing(const char *text, size_t len)
{
	const char *const end = text + len;
	struct listing l;
	json_t *older = NULL;
	unsigned n = 0;

	listing_begin(&l);
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		if (line_end - text == strlen("listing") && memcmp(text, "listing", strlen("listing")) == 0) {
			if (older)
				sidecar_merge(l.root, older);
			json_decref(older);
			older = l.root;
			listing_begin(&l);
			if (++n > LISTINGS_MAX)
				break;
		} else {
			read_words(&l, text, line_end);
		}
		text = newline ? newline + 1 : end;
	}
	if (older)
		sidecar_merge(l.root, older);
	json_decref(older);
	return l.root;
}
