/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyhash.h"
#include "base/netfs.h"
#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

/* Computing a start twice from the clocks gives the same value up to this difference. */
#define START_JITTER_NS ((int64_t)(100 * NS_PER_MS))

/* Inodes of the machine's initial namespaces, the same on every kernel. */
#define FIRST_CGROUP_NS 4026531835
#define FIRST_PID_NS 4026531836

json_t *sidecar_text(const char *text, size_t len, size_t max)
{
	char clean[TEXT_MAX + 1], *plain;

	while (len && !text[len - 1])
		len--;
	if (!len)
		return NULL;
	plain = g_memdup2(text, len);
	for (size_t i = 0; i < len; i++)
		if (!plain[i])
			plain[i] = ' ';
	text_sanitise(clean, MIN(sizeof(clean), max + 1), plain, len);
	g_free(plain);
	return json_string(clean);
}

void sidecar_put_text(json_t *o, const char *key, const char *text)
{
	json_t *value = text ? sidecar_text(text, strlen(text), TEXT_MAX) : NULL;

	if (value)
		json_object_set_new(o, key, value);
}

void sidecar_put_name(json_t *o, int64_t number, const char *name)
{
	char key[32];

	g_snprintf(key, sizeof(key), "%" PRId64, number);
	sidecar_put_text(o, key, name);
}

void sidecar_put_symbol(json_t *symbols, const char *name, uint64_t address)
{
	char clean[TEXT_MAX + 1], text[32];

	text_sanitise(clean, sizeof(clean), name, strlen(name));
	g_snprintf(text, sizeof(text), "%#" PRIx64, address);
	sidecar_put_text(symbols, clean, text);
}

uint64_t sidecar_inode(const char *link)
{
	const char *bracket = strchr(link, '[');
	guint64 inode;
	char digits[24];

	if (!bracket)
		return 0;
	g_strlcpy(digits, bracket + 1, sizeof(digits));
	digits[strcspn(digits, "]")] = '\0';
	return g_ascii_string_to_unsigned(digits, 10, 1, INT64_MAX, &inode, NULL) ? inode : 0;
}

void sidecar_put_namespace(json_t *cgroups, const char *link, const char *cgroup)
{
	const uint64_t inode = sidecar_inode(link);
	char key[32];

	g_snprintf(key, sizeof(key), "%" PRIu64, inode);
	if (inode && inode != FIRST_PID_NS && inode != FIRST_CGROUP_NS && cgroup && !json_object_get(cgroups, key))
		sidecar_put_text(cgroups, key, cgroup);
}

/* mountinfo writes blanks and backslashes as three octal digits: "\040". */
static void unescape(char *text)
{
	const char *from = text;

	for (; *from; from++)
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*text++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 3;
		} else {
			*text++ = *from;
		}
	*text = '\0';
}

/* Whether the directory is inside one of the mounts. */
static bool is_in_one(const json_t *mounts, const char *dir)
{
	json_t *value;
	const char *other;

	json_object_foreach((json_t *)mounts, other, value)
		if (g_str_has_prefix(dir, other) && dir[strlen(other)] == '/')
			return true;
	return false;
}

/* "36 35 98:0 / /srv rw,noatime shared:1 - nfs4 10.0.0.1:/export rw" */
void sidecar_put_mount(json_t *mounts, const char *line)
{
	enum { DIRECTORY = 4, TYPE = 0, SOURCE = 1 };
	const char *rest = strstr(line, " - ");
	char **words = g_strsplit(line, " ", DIRECTORY + 2),
	     **about = g_strsplit(rest ? rest + 3 : "", " ", SOURCE + 2);
	char *text;

	if (g_strv_length(words) == DIRECTORY + 2 && g_strv_length(about) > SOURCE) {
		g_strchomp(about[SOURCE]);
		unescape(words[DIRECTORY]);
		unescape(about[SOURCE]);
		text = g_strconcat(about[TYPE], " ", about[SOURCE], NULL);
		if (json_object_size(mounts) < SIDECAR_NAMES_MAX &&
		    (netfs_is_type(about[TYPE]) || is_in_one(mounts, words[DIRECTORY])))
			sidecar_put_text(mounts, words[DIRECTORY], text);
		g_free(text);
	}
	g_strfreev(words);
	g_strfreev(about);
}

static json_int_t integer_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Whether the process is among the newer ones. */
static bool is_there(GHashTable *newer, const json_t *process)
{
	const json_int_t pid = integer_of(process, "pid");
	const json_t *same = g_hash_table_lookup(newer, &pid);
	int64_t later_ns;

	return same &&
	       !__builtin_sub_overflow(integer_of(same, "start_ns"), integer_of(process, "start_ns"), &later_ns) &&
	       later_ns > -START_JITTER_NS && later_ns < START_JITTER_NS;
}

static void merge_processes(json_t *newer, const json_t *older)
{
	GHashTable *by_pid = g_hash_table_new_full(keyhash_number, g_int64_equal, g_free, NULL);
	json_t *process;
	size_t i;

	G_STATIC_ASSERT(sizeof(json_int_t) == sizeof(gint64));
	json_array_foreach(newer, i, process) {
		const json_int_t pid = integer_of(process, "pid");

		g_hash_table_insert(by_pid, g_memdup2(&pid, sizeof(pid)), process);
	}
	json_array_foreach(older, i, process)
		if (json_is_object(process) && !is_there(by_pid, process))
			json_array_append(newer, process);
	g_hash_table_destroy(by_pid);
}

/* Recursive; a file that was read is not nested deeply. */
static void add_missing(json_t *newer, const json_t *older)
{
	json_t *value, *known;
	const char *key;

	json_object_foreach((json_t *)older, key, value) {
		known = json_object_get(newer, key);
		if (!known)
			json_object_set(newer, key, value);
		else if (json_is_object(known) && json_is_object(value))
			add_missing(known, value);
	}
}

void sidecar_merge(json_t *newer, const json_t *older)
{
	json_t *processes = json_object_get(newer, "processes");

	if (json_is_array(processes))
		merge_processes(processes, json_object_get(older, "processes"));
	add_missing(newer, older);
}
