/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/checks.h"

#include <string.h>

#include "control/facts.h"
#include "control/fault.h"
#include "control/plan.h"

/*
 * How to install packages, per distribution; the first row whose id matches is used. %s stands for the kernel release.
 */
static const struct distribution {
	const char *id; /* ID or ID_LIKE in os-release; NULL: any */
	const char *tools;
	const char *modules;
	const char *clock;
} distributions[] = {
	{ "debian", "apt-get install lttng-tools", "apt-get install lttng-modules-dkms linux-headers-%s",
	  "apt-get install systemd-timesyncd" },
	{ "suse", "zypper install lttng-tools", "zypper install lttng-modules", "zypper install chrony" },
	{ "fedora", "dnf install lttng-tools",
	  "dnf install make gcc kernel-devel-%s, then build lttng-modules: see https://lttng.org/docs/",
	  "dnf install chrony" },
	{ "arch", "install lttng-tools from the AUR", "install lttng-modules from the AUR",
	  "systemctl enable --now systemd-timesyncd" },
	{ NULL, "install lttng-tools: see https://lttng.org/docs/",
	  "install lttng-modules for kernel %s: see https://lttng.org/docs/", "start an NTP client such as chrony" },
};

/* Kernel configuration options that the tracer cannot work without. */
static const char *const needed_options[] = { "MODULES", "KALLSYMS", "HIGH_RES_TIMERS", "TRACEPOINTS" };

/* lttng-modules 2.13 lack this argument of hrtimer_start, which stable kernels have gained since. */
static const char hrtimer_remedy[] =
	"sed -i 's/\\(TP_PROTO(struct hrtimer \\*hrtimer, enum hrtimer_mode mode\\)),/\\1, bool was_armed),/; "
	"s/TP_ARGS(hrtimer, mode),/TP_ARGS(hrtimer, mode, was_armed),/' "
	"/usr/src/lttng-modules-*/include/instrumentation/events/timer.h && dpkg-reconfigure lttng-modules-dkms";

struct machine {
	GHashTable *facts;
	const struct distribution *distribution;
	bool here, is_root, may_trace;
};

static const char *get(const struct machine *m, const char *key)
{
	return facts_get(m->facts, key);
}

static bool has(const struct machine *m, const char *key)
{
	return *get(m, key);
}

/* Whether a space-separated list contains a word. */
static bool lists(const char *list, const char *word)
{
	char **words = g_strsplit(list, " ", -1);
	const bool found = g_strv_contains((const char *const *)words, word);

	g_strfreev(words);
	return found;
}

static const struct distribution *find_distribution(const char *ids)
{
	const struct distribution *d = distributions;
	char **words = g_strsplit(ids, " ", -1);

	/* derivatives name their ancestors: "ubuntu debian", "opensuse-leap suse opensuse", "rhel fedora" */
	while (d->id && !g_strv_contains((const char *const *)words, d->id))
		d++;
	g_strfreev(words);
	return d;
}

static void release_check(struct check *c)
{
	g_free(c->text);
	g_free(c->remedy);
}

static void say(struct check *c, enum check_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(struct check *c, enum check_state state, const char *format, ...)
{
	va_list args;

	c->state = state;
	va_start(args, format);
	c->text = g_strdup_vprintf(format, args);
	va_end(args);
}

/* Sets the remedy to a command that only root can run, prefixed with sudo for other users. */
static void mend(const struct machine *m, struct check *c, const char *command)
{
	const bool is_command = !g_str_has_prefix(command, "install ") && !g_str_has_prefix(command, "start ");

	c->remedy = g_strconcat(m->is_root || !is_command ? "" : "sudo ", command, NULL);
}

/* The same, with %s replaced by the kernel release. */
static void mend_kernel(const struct machine *m, struct check *c, const char *command)
{
	char **parts = g_strsplit(command, "%s", 2);
	char *text = g_strjoinv(get(m, "kernel"), parts);

	mend(m, c, text);
	g_free(text);
	g_strfreev(parts);
}

static void check_permission(const struct machine *m, struct check *c)
{
	if (m->is_root) {
		say(c, CHECK_OK, "root");
	} else if (m->may_trace) {
		say(c, CHECK_OK, "member of group 'tracing'");
	} else {
		say(c, CHECK_MISSING, "neither root nor in group 'tracing'%s",
		    has(m, "no_group") ? ", which does not exist" : "");
		c->remedy =
			g_strconcat("run it as root, or: ", has(m, "no_group") ? "sudo groupadd -r tracing && " : "",
				    "sudo usermod -aG tracing $USER, then log in again",
				    has(m, "no_group") ? " and restart lttng-sessiond" : "", NULL);
	}
}

static void check_kernel(const struct machine *m, struct check *c)
{
	GString *lacks = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(needed_options); i++)
		if (lists(get(m, "lacks"), needed_options[i]))
			g_string_append_printf(lacks, " CONFIG_%s", needed_options[i]);
	if (lacks->len) {
		say(c, CHECK_MISSING, "kernel %s was built without%s", get(m, "kernel"), lacks->str);
		c->remedy = g_strdup("boot a kernel of the distribution");
	} else if (has(m, "lacks")) {
		say(c, CHECK_WARNING, "kernel %s lacks %s: some events and counters will be missing", get(m, "kernel"),
		    get(m, "lacks"));
	} else if (has(m, "config") || has(m, "tracing")) {
		say(c, CHECK_OK, "kernel %s has what the tracer needs", get(m, "kernel"));
	} else {
		say(c, CHECK_WARNING, "kernel %s: its configuration cannot be read", get(m, "kernel"));
	}
	g_string_free(lacks, TRUE);
}

static void mend_signature(const struct machine *m, struct check *c)
{
	char *command = g_strdup_printf("mokutil --import %s, unless they are signed with a key this machine trusts",
					get(m, "mok_key"));

	if (has(m, "mok_key"))
		mend(m, c, command);
	else
		c->remedy = g_strdup("sign the modules with a key this machine trusts, or turn Secure Boot off");
	g_free(command);
}

static void check_modules(const struct machine *m, struct check *c)
{
	const char *kernel = get(m, "kernel");

	if (has(m, "loaded")) {
		say(c, CHECK_OK, "lttng-modules %s, loaded", get(m, "loaded"));
	} else if (has(m, "container")) {
		say(c, CHECK_MISSING, "not loaded, and a container (%s) cannot load them", get(m, "container"));
		c->remedy = g_strdup("trace on the machine that runs the container");
	} else if (g_str_has_prefix(get(m, "locked"), "kernel.modules_disabled")) {
		say(c, CHECK_MISSING, "not loaded, and modules cannot be loaded: %s", get(m, "locked"));
		c->remedy = g_strdup("reboot without that setting");
	} else if (has(m, "built") && has(m, "locked")) {
		say(c, CHECK_WARNING, "lttng-modules %s, not loaded; %s", get(m, "built"), get(m, "locked"));
		mend_signature(m, c);
	} else if (has(m, "built")) {
		say(c, CHECK_OK, "lttng-modules %s, loaded by the session daemon when needed", get(m, "built"));
	} else if (has(m, "build_log")) {
		say(c, CHECK_MISSING, "lttng-modules do not compile for kernel %s: see '%s'", kernel,
		    get(m, "build_log"));
		if (has(m, "build_fault"))
			mend(m, c, hrtimer_remedy);
		else
			mend_kernel(m, c,
				    has(m, "headers") ? "install a newer lttng-modules-dkms"
						      : m->distribution->modules);
	} else {
		say(c, CHECK_MISSING, "no lttng-modules for kernel %s", kernel);
		mend_kernel(m, c, m->distribution->modules);
	}
}

static void check_faults(const struct machine *m, struct check *c)
{
	const char *version = has(m, "loaded") ? get(m, "loaded") : get(m, "built");
	const struct tracer_fault *fault;
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; *version && (fault = fault_of_version(version, i)); i++) {
		g_string_append_printf(text, "%scontext '%s' %s", i ? "; " : "", fault->context, fault->harm);
		if (!c->remedy)
			c->remedy = g_strdup(fault->remedy);
	}
	if (text->len)
		say(c, CHECK_WARNING, "lttng-modules %s: %s", version, text->str);
	else if (*version)
		say(c, CHECK_OK, "none known in lttng-modules %s", version);
	g_string_free(text, TRUE);
}

/* Whether a session daemon that is started now could trace the kernel, if the user may. */
static bool kernel_is_traceable(const struct machine *m)
{
	struct check kernel = { 0 }, modules = { 0 };
	bool is_traceable;

	check_kernel(m, &kernel);
	check_modules(m, &modules);
	is_traceable = kernel.state != CHECK_MISSING && modules.state == CHECK_OK;
	release_check(&kernel);
	release_check(&modules);
	return is_traceable;
}

static void say_blind_daemon(const struct machine *m, struct check *c)
{
	const guint64 sessions = g_ascii_strtoull(get(m, "sessions"), NULL, 10);

	if (sessions)
		say(c, CHECK_MISSING,
		    "running, but cannot trace the kernel; a restart ends its %" G_GUINT64_FORMAT " session%s",
		    sessions, sessions == 1 ? "" : "s");
	else
		say(c, CHECK_MISSING, "running, but cannot trace the kernel");
}

/* Root's session daemon, the only one that can trace the kernel. */
static void check_daemon(const struct machine *m, struct check *c)
{
	const bool runs = strcmp(get(m, "daemon"), "root") == 0, unit = has(m, "unit");
	const bool is_blind = runs && strcmp(get(m, "daemon_kernel"), "no") == 0 && m->may_trace;

	if (is_blind && !kernel_is_traceable(m)) {
		say(c, CHECK_OK, "running, without kernel tracing until the kernel modules can be loaded");
	} else if (is_blind) {
		say_blind_daemon(m, c);
		mend(m, c, unit ? "systemctl restart lttng-sessiond" : "kill $(cat /var/run/lttng/lttng-sessiond.pid)");
	} else if (runs) {
		say(c, CHECK_OK, "running");
	} else if (!has(m, "sessiond")) {
		say(c, CHECK_MISSING, "lttng-sessiond not found");
		mend(m, c, m->distribution->tools);
	} else if (m->is_root) {
		say(c, CHECK_OK, "not running, will be started when needed");
	} else {
		say(c, CHECK_MISSING, "root's session daemon is not running");
		mend(m, c, unit ? "systemctl start lttng-sessiond" : "lttng-sessiond --daemonize");
	}
}

static void check_tools(const struct machine *m, struct check *c)
{
	const char *lacking = !has(m, "lttng") ? "lttng" : m->here && !has(m, "relayd") ? "lttng-relayd" : NULL;

	if (lacking) {
		say(c, CHECK_MISSING, "%s not found", lacking);
		mend(m, c, m->distribution->tools);
	} else {
		say(c, CHECK_OK, "%s", get(m, "lttng"));
	}
}

/* This program's own, with which it asks the session daemon here. */
static void check_library(const struct machine *m, struct check *c)
{
	if (!m->here)
		return;
	if (!has(m, "no_library")) {
		say(c, CHECK_OK, "liblttng-ctl can be loaded");
		return;
	}
	say(c, CHECK_MISSING, "liblttng-ctl cannot be loaded: %s", get(m, "no_library"));
	if (has(m, "sessiond"))
		c->remedy = g_strdup("if it is installed elsewhere, add its directory to LD_LIBRARY_PATH");
	else
		mend(m, c, m->distribution->tools);
}

static void check_ports(const struct machine *m, struct check *c)
{
	const char *ports = get(m, "ports");

	if (!*ports) {
		say(c, CHECK_OK, "5342 to 5344 are free");
	} else if (lists(ports, "5342") && lists(ports, "5343") && lists(ports, "5344")) {
		say(c, CHECK_OK, "5342 to 5344 are in use: a relayd seems to be running");
	} else {
		say(c, CHECK_WARNING, "other programs use %s (of 5342 to 5344)", ports);
		c->remedy = g_strdup("start lttng-relayd with --control-port, --data-port and --live-port");
	}
}

/* What to do if a daemon is installed: installing another one may remove it. */
static const struct clock_daemon {
	const char *name, *start, *query;
} clock_daemons[] = {
	{ "chronyd", "start chronyd", "chronyc sources" },
	{ "ntpd", "start ntpd", "ntpq -p" },
	{ "systemd-timesyncd", "systemctl enable --now systemd-timesyncd", "timedatectl timesync-status" },
};

static void mend_clock(const struct machine *m, struct check *c)
{
	char *command = g_strdup(m->distribution->clock);

	for (size_t i = 0; i < G_N_ELEMENTS(clock_daemons); i++) {
		const struct clock_daemon *d = &clock_daemons[i];

		if (strcmp(get(m, "clock_daemon"), d->name) != 0)
			continue;
		g_free(command);
		command = g_strdup_printf("%s, or see '%s' for why it does not synchronise", d->start, d->query);
	}
	mend(m, c, command);
	g_free(command);
}

static void check_clock(const struct machine *m, struct check *c)
{
	if (strcmp(get(m, "clock"), "yes") == 0) {
		say(c, CHECK_OK, "synchronised");
		return;
	}
	say(c, CHECK_WARNING,
	    has(m, "clock") ? "not synchronised: hosts can only be aligned by their packets"
			    : "cannot tell whether it is synchronised");
	mend_clock(m, c);
}

/* Compares the default buffers of the largest set with the memory available. */
static void check_memory(const struct machine *m, struct check *c)
{
	struct record_plan *plan = record_plan_create(&(struct record_request){ .live_timer_ns = 1 });
	const struct record_channel *channel = record_plan_channel(plan, RECORD_KERNEL);
	const guint64 cpus = g_ascii_strtoull(get(m, "cpus"), NULL, 10);
	const guint64 available = g_ascii_strtoull(get(m, "memory"), NULL, 10) << 10;
	const guint64 needed = cpus * channel->subbufs * channel->subbuf_bytes;

	if (available && cpus) {
		say(c, needed > available / 4 ? CHECK_WARNING : CHECK_OK,
		    "buffers for %" G_GUINT64_FORMAT " CPUs take %" G_GUINT64_FORMAT " MiB of %" G_GUINT64_FORMAT
		    " MiB available",
		    cpus, needed >> 20, available >> 20);
		if (c->state)
			c->remedy = g_strdup("record with a smaller --set or --buffer-size");
	}
	record_plan_destroy(plan);
}

/* Shared memory matters only for user-space tracing. */
static void check_shared_memory(const struct machine *m, struct check *c)
{
	enum { USER_BUFFER_MIB = 2 };
	const guint64 cpus = g_ascii_strtoull(get(m, "cpus"), NULL, 10);
	const guint64 mib = g_ascii_strtoull(get(m, "shm"), NULL, 10) >> 10;

	if (!has(m, "shm"))
		return;
	say(c, mib < cpus * USER_BUFFER_MIB ? CHECK_WARNING : CHECK_OK,
	    "%" G_GUINT64_FORMAT " MiB free in /dev/shm, used for user-space tracing", mib);
	if (c->state)
		mend(m, c, "mount -o remount,size=50% /dev/shm");
}

/* In display order. A check that leaves text NULL is left out. */
static const struct {
	const char *name;
	void (*check)(const struct machine *m, struct check *c);
} rows[] = {
	{ "permission", check_permission },
	{ "kernel", check_kernel },
	{ "kernel modules", check_modules },
	{ "known faults", check_faults },
	{ "tools", check_tools },
	{ "library", check_library },
	{ "session daemon", check_daemon },
	{ "ports", check_ports },
	{ "clock", check_clock },
	{ "memory", check_memory },
	{ "shared memory", check_shared_memory },
};

static void check_free(void *check)
{
	release_check(check);
	g_free(check);
}

GPtrArray *checks_make(GHashTable *facts, bool here)
{
	GPtrArray *checks = g_ptr_array_new_with_free_func(check_free);
	const bool is_root = strcmp(facts_get(facts, "uid"), "0") == 0;
	const struct machine m = {
		.facts = facts,
		.distribution = find_distribution(facts_get(facts, "os")),
		.here = here,
		.is_root = is_root,
		.may_trace = is_root || lists(facts_get(facts, "groups"), "tracing"),
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct check *c = g_new0(struct check, 1);

		c->name = rows[i].name;
		rows[i].check(&m, c);
		if (c->text)
			g_ptr_array_add(checks, c);
		else
			check_free(c);
	}
	return checks;
}

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {
		[CHECK_OK] = "ok", [CHECK_WARNING] = "warning", [CHECK_MISSING] = "missing"
	};

	return names[state];
}

bool checks_pass(const GPtrArray *checks)
{
	for (guint i = 0; i < checks->len; i++)
		if (((const struct check *)g_ptr_array_index(checks, i))->state == CHECK_MISSING)
			return false;
	return true;
}
