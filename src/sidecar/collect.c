/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/collect.h"

#include <glib.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/map64.h"
#include "base/nstime.h"
#include "base/text.h"
#include "sidecar/sidecar.h"

static void put_file(json_t *o, const char *key, const char *path)
{
	char *text = NULL;

	if (g_file_get_contents(path, &text, NULL, NULL))
		sidecar_put_text(o, key, g_strchomp(text));
	g_free(text);
}

static void put_number_of(json_t *o, const char *key, const char *directory, const char *file)
{
	char *path = g_build_filename(directory, file, NULL), *text = NULL;

	if (g_file_get_contents(path, &text, NULL, NULL))
		json_object_set_new(o, key, json_integer(g_ascii_strtoll(text, NULL, 10)));
	g_free(text);
	g_free(path);
}

/* [{"cpu": 0, "package": 0, "core": 0}, …]: only online CPUs have a topology. */
static json_t *collect_cpus(void)
{
	json_t *cpus = json_array();
	const long n = sysconf(_SC_NPROCESSORS_CONF);

	for (long i = 0; i < n; i++) {
		char *topology = g_strdup_printf("/sys/devices/system/cpu/cpu%ld/topology", i);
		json_t *cpu = json_object();

		json_object_set_new(cpu, "cpu", json_integer(i));
		put_number_of(cpu, "package", topology, "physical_package_id");
		put_number_of(cpu, "core", topology, "core_id");
		json_array_append_new(cpus, cpu);
		g_free(topology);
	}
	return cpus;
}

/* The links in /sys/dev/block: "8:0" -> ../../devices/…/block/sda. */
static json_t *collect_disks(void)
{
	static const char where[] = "/sys/dev/block";
	json_t *disks = json_object();
	GDir *dir = g_dir_open(where, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)) != NULL) {
		char *link = g_build_filename(where, name, NULL), *target = g_file_read_link(link, NULL);

		if (target)
			sidecar_put_text(disks, name, strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
		g_free(target);
		g_free(link);
	}
	if (dir)
		g_dir_close(dir);
	return disks;
}

/* Local users only: a directory service may have any number of them. */
static json_t *collect_users(void)
{
	json_t *users = json_object();
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user;

	while (file && json_object_size(users) < SIDECAR_NAMES_MAX && (user = fgetpwent(file)) != NULL)
		sidecar_put_name(users, user->pw_uid, user->pw_name);
	if (file)
		fclose(file);
	return users;
}

/* Mounts of network file systems and inside them: "/srv" -> "nfs4 10.0.0.1:/export". */
static json_t *collect_mounts(void)
{
	json_t *mounts = json_object();
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0)
		sidecar_put_mount(mounts, line);
	free(line);
	if (file)
		fclose(file);
	return mounts;
}

static bool is_wanted(const char *const *symbols, const char *name)
{
	for (; symbols && *symbols; symbols++)
		if (strcmp(*symbols, name) == 0)
			return true;
	return false;
}

struct symbols {
	json_t *symbols, *functions;   /* names and addresses, "0xffffffff81000000" */
	const char *const *wanted;     /* of the former; NULL: none */
	struct map64 wanted_functions; /* addresses of the latter that have no name yet */
};

/* "ADDRESS TYPE NAME[\t[MODULE]]"; the kernel shows address 0 to users who may not see it. */
static void collect_symbol(struct symbols *s, const char *line)
{
	char name[512], module[128];
	uint64_t address;
	const int n = sscanf(line, "%" SCNx64 " %*c %511s %127s", &address, name, module);

	if (n < 2 || !address)
		return;
	if (is_wanted(s->wanted, name))
		sidecar_put_symbol(s->symbols, name, address);
	if (map64_del(&s->wanted_functions, address)) {
		char *full = g_strjoin(" ", name, n > 2 ? module : NULL, NULL);

		sidecar_put_symbol(s->functions, full, address);
		g_free(full);
	}
}

/* Sets in root: "symbols", by their names; "functions", by their addresses. */
static void collect_symbols(json_t *root, const struct sidecar_about *about)
{
	struct symbols s = { .symbols = json_object(), .functions = json_object(), .wanted = about->symbols };
	const bool wanted = (about->symbols && *about->symbols) || about->n_functions;
	FILE *file = wanted ? fopen("/proc/kallsyms", "re") : NULL;
	char line[1024];

	for (size_t i = 0; i < about->n_functions; i++)
		map64_put(&s.wanted_functions, about->functions[i], 0);
	while (file && fgets(line, sizeof(line), file))
		collect_symbol(&s, line);
	if (file)
		fclose(file);
	map64_release(&s.wanted_functions);
	json_object_set_new(root, "symbols", s.symbols);
	json_object_set_new(root, "functions", s.functions);
}

static json_t *collect_clock(void)
{
	struct timex t = { 0 };
	const int state = adjtimex(&t);
	const int64_t unit_ns = t.status & STA_NANO ? 1 : (int64_t)NS_PER_US;
	json_t *clock = json_object();

	if (state < 0)
		return clock;
	json_object_set_new(clock, "synchronised", json_boolean(state != TIME_ERROR && !(t.status & STA_UNSYNC)));
	json_object_set_new(clock, "offset_ns", json_integer(t.offset * unit_ns));
	json_object_set_new(clock, "max_error_ns", json_integer(t.maxerror * (int64_t)NS_PER_US));
	json_object_set_new(clock, "estimated_error_ns", json_integer(t.esterror * (int64_t)NS_PER_US));
	/* in 2^-16 parts per million */
	json_object_set_new(clock, "frequency_ppb", json_integer(t.freq * INT64_C(1000) / 65536));
	return clock;
}

/* This process's arguments up to "--", without the program's name. */
static json_t *collect_options(void)
{
	json_t *options = json_array();
	char *text = NULL;
	gsize len, at;

	if (g_file_get_contents("/proc/self/cmdline", &text, &len, NULL))
		for (at = strlen(text) + 1; at < len && strcmp(text + at, "--") != 0; at += strlen(text + at) + 1) {
			json_t *option = sidecar_text(text + at, strlen(text + at), TEXT_MAX);

			if (option)
				json_array_append_new(options, option);
		}
	g_free(text);
	return options;
}

static void put_figure(json_t *o, const char *key, uint64_t value)
{
	if (value)
		json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *collect_cost(const struct sidecar_cost *cost)
{
	json_t *o = json_object();

	put_figure(o, "events_per_s", cost->events_per_s);
	put_figure(o, "bytes_per_s", cost->bytes_per_s);
	put_figure(o, "consumer_before_ns", cost->consumer_before_ns);
	put_figure(o, "consumer_ns", cost->consumer_ns);
	put_figure(o, "events", cost->events);
	put_figure(o, "bytes", cost->bytes);
	return o;
}

static json_t *collect_record(const struct sidecar_about *about)
{
	json_t *record = json_object();
	char *command = about->argv ? g_strjoinv(" ", (char **)about->argv) : NULL;

	if (about->has_options)
		json_object_set_new(record, "options", collect_options());
	json_object_set_new(record, "cost", collect_cost(&about->cost));
	sidecar_put_text(record, "session", about->session);
	sidecar_put_text(record, "set", about->set);
	sidecar_put_text(record, "command", command);
	g_free(command);
	return record;
}

json_t *sidecar_collect_host(void)
{
	json_t *root = json_object();
	char host[256] = "";

	json_object_set_new(root, "schema", json_integer(SIDECAR_SCHEMA));
	gethostname(host, sizeof(host) - 1);
	sidecar_put_text(root, "host", host);
	return root;
}

json_t *sidecar_collect(const struct sidecar_about *about)
{
	json_t *root = sidecar_collect_host();
	struct utsname uts;

	put_file(root, "boot_id", "/proc/sys/kernel/random/boot_id");
	if (uname(&uts) == 0)
		sidecar_put_text(root, "kernel", uts.release);
	json_object_set_new(root, "cpus", collect_cpus());
	json_object_set_new(root, "disks", collect_disks());
	json_object_set_new(root, "users", collect_users());
	json_object_set_new(root, "mounts", collect_mounts());
	sidecar_collect_processes(root, about, NULL);
	json_object_set_new(root, "clock", collect_clock());
	if (about) {
		collect_symbols(root, about);
		json_object_set_new(root, "record", collect_record(about));
	}
	return root;
}
