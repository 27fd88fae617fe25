/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/cgroup.h"
#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

#define SETTLES_NS (10 * NS_PER_S)

enum {
	PF_KTHREAD = 0x00200000, /* in a task's flags in /proc/PID/stat */
	CMDLINE_MAX = 1024,      /* bytes of each */
	CMDLINES_MAX = 4 << 20, /* bytes of all: the rest is left out, so that the file stays small enough to be read */
	PROCESSES_MAX = SIDECAR_PROCESSES_MAX / 4,
};

struct processes {
	const struct sidecar_about *about;
	const struct sidecar *known;
	json_t *list, *users, *groups, *cgroups;
	uint64_t pid_ns;  /* as from sidecar_pid_ns() */
	uint64_t boot_ns; /* when the machine booted, by the current realtime clock */
	uint64_t tick_ns;
	uint64_t settled_ns; /* processes started before are not likely to execute another program */
	size_t cmdline_bytes;
};

/*
 * Reads the start of a file of /proc into a buffer of that size, with a final NUL. 0: it cannot be read, or is empty.
 */
static size_t read_file(const char *path, char *buffer, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && used < size - 1) {
		n = read(fd, buffer + used, size - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	buffer[used] = '\0';
	return used;
}

static size_t read_of(const char *pid, const char *name, char *buffer, size_t size)
{
	char path[64];

	g_snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	return read_file(path, buffer, size);
}

/* False: the process is gone or is a kernel thread. */
static bool read_start(const struct processes *p, const char *pid, uint64_t *start_ns)
{
	char stat[1024], *behind_name;
	uint64_t ticks;
	unsigned flags;

	if (!read_of(pid, "stat", stat, sizeof(stat)))
		return false;
	/* the name may contain any bytes */
	behind_name = strrchr(stat, ')');
	if (!behind_name ||
	    sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		   &flags, &ticks) != 2)
		return false;
	*start_ns = p->boot_ns + ticks * p->tick_ns;
	return !(flags & PF_KTHREAD);
}

static void add_user(json_t *users, int64_t uid)
{
	const struct passwd *user;
	char key[32];

	g_snprintf(key, sizeof(key), "%" PRId64, uid);
	user = json_object_get(users, key) ? NULL : getpwuid((uid_t)uid);
	if (user)
		sidecar_put_text(users, key, user->pw_name);
}

static void add_group(json_t *groups, int64_t gid)
{
	const struct group *group;
	char key[32];

	g_snprintf(key, sizeof(key), "%" PRId64, gid);
	group = json_object_get(groups, key) ? NULL : getgrgid((gid_t)gid);
	if (group)
		sidecar_put_text(groups, key, group->gr_name);
}

/* Adds the real user and group. */
static void add_ids(const struct processes *p, json_t *process, const char *pid)
{
	char status[4096], *line;
	int64_t uid, gid;

	read_of(pid, "status", status, sizeof(status));
	line = strstr(status, "\nUid:");
	if (line && sscanf(line, "\nUid:%" SCNd64, &uid) == 1) {
		json_object_set_new(process, "uid", json_integer(uid));
		add_user(p->users, uid);
	}
	line = strstr(status, "\nGid:");
	if (line && sscanf(line, "\nGid:%" SCNd64, &gid) == 1) {
		json_object_set_new(process, "gid", json_integer(gid));
		add_group(p->groups, gid);
	}
}

static void add_cgroup(json_t *process, const char *pid)
{
	char text[8192];

	if (read_of(pid, "cgroup", text, sizeof(text)))
		sidecar_put_text(process, "cgroup", cgroup_path(text));
}

/* Reads the target of one of its links; false: no permission, or it does not exist. */
static bool read_link_of(const char *pid, const char *name, char *target, size_t size)
{
	char link[64];
	ssize_t n;

	g_snprintf(link, sizeof(link), "/proc/%s/%s", pid, name);
	n = readlink(link, target, size - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return true;
}

/* The first process found in a namespace counts: later ones may be anywhere in it. */
static void add_namespaces(const struct processes *p, const json_t *process, const char *pid)
{
	static const char *const names[] = { "ns/pid", "ns/cgroup" };
	char target[64];

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (read_link_of(pid, names[i], target, sizeof(target)))
			sidecar_put_namespace(p->cgroups, target,
					      json_string_value(json_object_get(process, "cgroup")));
}

static void add_exe(json_t *process, const char *pid)
{
	char target[TEXT_MAX + 1];

	if (read_link_of(pid, "exe", target, sizeof(target)))
		sidecar_put_text(process, "exe", target);
}

static void add_cmdline(struct processes *p, json_t *process, const char *pid)
{
	char buffer[CMDLINE_MAX + 1];
	const size_t len = p->cmdline_bytes < CMDLINES_MAX ? read_of(pid, "cmdline", buffer, sizeof(buffer)) : 0;
	json_t *text = sidecar_text(buffer, len, CMDLINE_MAX);

	if (!text)
		return;
	p->cmdline_bytes += json_string_length(text);
	json_object_set_new(process, "cmdline", text);
}

/* Adds the command that the waiting process is about to execute. */
static void add_command(json_t *process, char *const *argv)
{
	char *cmdline = g_strjoinv(" ", (char **)argv), *exe = g_find_program_in_path(argv[0]);

	sidecar_put_text(process, "cmdline", cmdline);
	sidecar_put_text(process, "exe", exe);
	g_free(cmdline);
	g_free(exe);
}

static void add_process(struct processes *p, const char *name)
{
	const int64_t pid = g_ascii_strtoll(name, NULL, 10);
	uint64_t start_ns;
	json_t *process;

	if (!read_start(p, name, &start_ns) ||
	    (p->known && start_ns < p->settled_ns && sidecar_process(p->known, pid, start_ns, 0)))
		return;
	process = json_object();
	json_object_set_new(process, "pid", json_integer(pid));
	if (p->pid_ns)
		json_object_set_new(process, "pid_ns", json_integer((json_int_t)p->pid_ns));
	json_object_set_new(process, "start_ns", json_integer((json_int_t)start_ns));
	add_ids(p, process, name);
	add_cgroup(process, name);
	add_namespaces(p, process, name);
	if (p->about && p->about->pid == pid && p->about->argv) {
		add_command(process, p->about->argv);
	} else {
		add_exe(process, name);
		add_cmdline(p, process, name);
	}
	json_array_append_new(p->list, process);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The array or object in root, which is set to value if it is missing. */
static json_t *part_of(json_t *root, const char *key, json_t *value)
{
	if (!json_object_get(root, key))
		json_object_set(root, key, value);
	json_decref(value);
	return json_object_get(root, key);
}

void sidecar_collect_processes(json_t *root, const struct sidecar_about *about, const struct sidecar *known)
{
	struct processes p = {
		.about = about,
		.known = known,
		.list = part_of(root, "processes", json_array()),
		.users = part_of(root, "users", json_object()),
		.groups = part_of(root, "groups", json_object()),
		.cgroups = part_of(root, "cgroups", json_object()),
		.pid_ns = sidecar_pid_ns(),
	};
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	p.boot_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
	p.settled_ns = now_ns(CLOCK_REALTIME) - SETTLES_NS;
	p.tick_ns = NS_PER_S / (uint64_t)MAX(sysconf(_SC_CLK_TCK), 1);
	while (proc && (entry = readdir(proc)) != NULL && json_array_size(p.list) < PROCESSES_MAX)
		if (g_ascii_isdigit(*entry->d_name))
			add_process(&p, entry->d_name);
	if (proc)
		closedir(proc);
}
