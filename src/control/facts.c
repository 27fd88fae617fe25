/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/facts.h"

#include <string.h>

#include "base/error.h"
#include "control/ctl.h"
#include "control/remote.h"

/*
 * For any POSIX shell. Facts that cannot be determined are empty; a missing command does not end the script, and
 * commands that may hang have a time limit.
 *
 *   uid, groups       of the user who would trace    os          ID and ID_LIKE from os-release
 *   no_group          there is no group 'tracing'
 *   kernel, headers   release; its headers exist     container   its kind, if this is one
 *   loaded, built     versions of lttng-modules      build_log, build_fault: of a failed DKMS build
 *   locked            why modules cannot be loaded   mok_key     with which DKMS signs them
 *   config, lacks     the kernel's configuration file; options missing from it (KEYS)
 *   tracing           where tracefs is
 *   lttng, sessiond, relayd, unit: the tools; whether systemd knows the session daemon
 *   daemon            root or user; daemon_kernel: whether it can trace the kernel
 *   sessions          how many root's session daemon shows this user
 *   ports             those of 5342, 5343, 5344 that something listens on
 *   clock             yes or no: synchronised        clock_daemon: which one is installed
 *   cpus; memory, shm: available, in KiB
 */
static const char script[] =
	"LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/sbin:/sbin\n"
	"say() { printf '%s=%s\\n' \"$1\" \"$2\"; }\n"
	"has() { command -v \"$1\" >/dev/null 2>&1; }\n"
	"brief() { if has timeout; then timeout 5 \"$@\"; else \"$@\"; fi; }\n"
	"line() { [ ! -r \"$1\" ] || head -n 1 \"$1\"; }\n"
	"free_of() { df -Pk \"$1\" | while read -r a b c d e; do f=$d; echo \"$f\"; done | tail -n 1; }\n"
	"runs() { p=$(line \"$1\") && [ -n \"$p\" ] && [ \"$(line \"/proc/$p/comm\")\" = lttng-sessiond ]; }\n"
	"exec 2>/dev/null\n"
	"k=$(uname -r)\n"
	"say uid \"$(id -u)\"\n"
	"say groups \"$(id -Gn)\"\n"
	"{ getent group tracing || grep '^tracing:' /etc/group; } >/dev/null || say no_group yes\n"
	"say os \"$(. /etc/os-release && echo \"$ID $ID_LIKE\")\"\n"
	"say kernel \"$k\"\n"
	"[ ! -e \"/lib/modules/$k/build\" ] || say headers yes\n"
	"if [ -e /.dockerenv ]; then say container docker\n"
	"elif [ -e /run/.containerenv ]; then say container podman\n"
	"elif has systemd-detect-virt; then say container \"$(systemd-detect-virt -c | grep -v '^none$')\"\n"
	"else\n"
	"  t=$(tr '\\0' '\\n' </proc/1/environ | sed -n 's/^container=//p'); say container \"${t:-$container}\"\n"
	"fi\n"
	"[ ! -e /sys/module/lttng_tracer ] || say loaded \"$(line /sys/module/lttng_tracer/version)\"\n"
	"has modinfo && say built \"$(modinfo -F version lttng-tracer)\"\n"
	"for f in /var/lib/dkms/lttng-modules/*/build/make.log; do\n"
	"  [ -e \"$f\" ] || continue\n"
	"  say build_log \"$f\"; ! grep -q 'trace_hrtimer_start\\|was_armed' \"$f\" || say build_fault hrtimer\n"
	"done\n"
	"if [ \"$(line /proc/sys/kernel/modules_disabled)\" = 1 ]; then say locked 'kernel.modules_disabled is 1'\n"
	"elif [ \"$(line /sys/module/module/parameters/sig_enforce)\" = Y ]; then\n"
	"  say locked 'only signed modules are loaded'\n"
	"else case $(line /sys/kernel/security/lockdown) in *'[integrity]'*|*'[confidentiality]'*)\n"
	"  say locked 'kernel lockdown is on: only signed modules are loaded';; esac; fi\n"
	"for f in /var/lib/dkms/mok.pub /var/lib/shim-signed/mok/MOK.der; do [ ! -e $f ] || say mok_key $f; done\n"
	"c=; for f in \"/boot/config-$k\" \"/lib/modules/$k/config\" /proc/config.gz; do\n"
	"  [ -n \"$c\" ] || [ ! -r \"$f\" ] || c=$f\n"
	"done\n"
	"case $c in '') t=;; *.gz) t=$(gzip -dc \"$c\");; *) t=$(cat \"$c\");; esac\n"
	"if [ -n \"$t\" ]; then\n"
	"  say config \"$c\"; l=\n"
	"  for o in MODULES KALLSYMS HIGH_RES_TIMERS TRACEPOINTS KPROBES PERF_EVENTS HAVE_SYSCALL_TRACEPOINTS; do\n"
	"    case \"\n$t\n\" in *\"\nCONFIG_$o=y\n\"*);; *) l=\"$l $o\";; esac\n"
	"  done\n"
	"  say lacks \"$l\"\n"
	"fi\n"
	"for d in /sys/kernel/tracing /sys/kernel/debug/tracing; do [ ! -e $d/trace ] || say tracing $d; done\n"
	"has lttng && say lttng \"$(lttng --version | head -n 1)\"\n"
	"say sessiond \"$(command -v \"${LTTNG_SESSIOND_PATH:-lttng-sessiond}\")\"\n"
	"say relayd \"$(command -v lttng-relayd)\"\n"
	"has systemctl && brief systemctl cat lttng-sessiond.service >/dev/null && say unit yes\n"
	"if runs /var/run/lttng/lttng-sessiond.pid; then say daemon root\n"
	"elif runs \"${LTTNG_HOME:-$HOME}/.lttng/lttng-sessiond.pid\"; then say daemon user; fi\n"
	"if has lttng && runs /var/run/lttng/lttng-sessiond.pid; then\n"
	"  if brief lttng --no-sessiond list --kernel >/dev/null; then r=yes; else r=no; fi; say daemon_kernel $r\n"
	"  say sessions \"$(brief lttng --no-sessiond list | grep -c '^ *[0-9][0-9]*) ')\"\n"
	"fi\n"
	"l=; for p in 14DE:5342 14DF:5343 14E0:5344; do\n"
	"  ! cat /proc/net/tcp /proc/net/tcp6 | grep -qi \"^ *[0-9]*: [0-9A-F]*:${p%:*} [0-9A-F:]* 0A \" ||\n"
	"    l=\"$l ${p#*:}\"\n"
	"done\n"
	"say ports \"${l# }\"\n"
	"if has chronyc && t=$(brief chronyc -n tracking); then\n"
	"  case $t in *'Leap status'*Normal*) say clock yes;; *) say clock no;; esac\n"
	"elif has timedatectl; then say clock \"$(brief timedatectl show -p NTPSynchronized --value)\"; fi\n"
	"if has chronyc || has chronyd; then say clock_daemon chronyd\n"
	"elif has ntpd; then say clock_daemon ntpd\n"
	"else for d in /lib /usr/lib; do\n"
	"  [ ! -e $d/systemd/systemd-timesyncd ] || say clock_daemon systemd-timesyncd\n"
	"done; fi\n"
	"say cpus \"$(getconf _NPROCESSORS_CONF || { set -- /sys/devices/system/cpu/cpu[0-9]*; echo $#; })\"\n"
	"while read -r n v u; do [ \"$n\" != MemAvailable: ] || say memory \"$v\"; done </proc/meminfo\n"
	"say shm \"$(free_of /dev/shm)\"\n"
	"say end yes\n";

/* Of the script's output. */
static GHashTable *parse(const char *text)
{
	GHashTable *facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	char **lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		const char *equals = strchr(*line, '=');

		if (equals)
			g_hash_table_replace(facts, g_strndup(*line, (gsize)(equals - *line)),
					     g_strstrip(g_strdup(equals + 1)));
	}
	g_strfreev(lines);
	return facts;
}

const char *facts_get(GHashTable *facts, const char *key)
{
	const char *value = g_hash_table_lookup(facts, key);

	return value ? value : "";
}

static char *run_here(void)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	GError *error = NULL;
	char *text = NULL;

	if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &text, NULL, NULL, &error)) {
		error_set("cannot run '%s': %s", argv[0], error->message);
		g_error_free(error);
	}
	return text;
}

GHashTable *facts_ask(const char *host)
{
	char *text = host ? remote_capture(host, script) : run_here();
	GHashTable *facts = text ? parse(text) : NULL;
	const char *no_library = host ? NULL : ctl_load();

	g_free(text);
	if (facts && !*facts_get(facts, "end")) {
		error_set("host '%s': unexpected output, the login shell may print or replace something",
			  host ? host : "localhost");
		g_hash_table_destroy(facts);
		return NULL;
	}
	if (facts && no_library)
		g_hash_table_replace(facts, g_strdup("no_library"), g_strdup(no_library));
	return facts;
}
