/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shell's part on machines without this program: prints the lines that listing.c reads, to a file or as events. */
#include <glib.h>

#include "base/netfs.h"
#include "sidecar/sidecar.h"
#include "sidecar/stream.h"
#include "sidecar/write.h"

/*
 * Names of processes, arguments, and paths of programs and cgroups are chosen by any user of the machine, and this runs
 * as root: such text is only copied, in double quotes. A number is one only after a look at its digits: a shell
 * evaluates what stands in "$(())", and ends on what it cannot evaluate.
 *
 * machine, now: print lines.
 * $pids: the PID namespace whose PIDs /proc has, if it is not the first one, which is the same everywhere.
 * user: whether the process at $p is a user process, not a kernel thread (0x200000: PF_KTHREAD); $start: its start. Its
 * name may contain newlines; what follows its last ")" is on the last line.
 * process: its lines, separated by $S, as $m; forks twice, or more if the machine has busybox or the arguments are
 * long. A path may contain newlines, so the program's comes after the namespaces, which begin otherwise; the arguments
 * may be anything, so they come last.
 *
 * Busybox lacks getconf, ticks are 1/100 s on almost all machines; its readlink takes one file; and its date only has
 * seconds: one that begins is waited for, once. $a is the time since boot before date has printed the old one for the
 * last time, $b that after the new one. The pauses spare the machine; not every sleep takes fractions.
 */
static const char functions[] =
	"LC_ALL=C; export LC_ALL; unset IFS\n"
	"machine() {\n"
	"	echo host $(uname -n)\n"
	"	[ -z \"$pids\" ] || echo \"pid_ns $pids\"\n"
	"	echo kernel $(uname -r)\n"
	"	echo boot_id $(cat /proc/sys/kernel/random/boot_id)\n"
	"	echo synchronised $(timedatectl show -p NTPSynchronized --value)\n"
	"	for c in /sys/devices/system/cpu/cpu[0-9]*; do\n"
	"		p=- k=-\n"
	"		read -r p < $c/topology/physical_package_id; read -r k < $c/topology/core_id\n"
	"		echo cpu ${c##*/cpu} $p $k\n"
	"	done\n"
	"	sed -n 's/^ *\\([0-9]*\\)  *\\([0-9]*\\)  *[0-9]*  *\\([^ ]*\\)$/disk \\1:\\2 \\3/p' /proc/partitions\n"
	"	sed 's/^/passwd /' /etc/passwd\n"
	"	sed 's/^/group /' /etc/group\n"
	"	grep -E ' - (" NETFS_TYPES ") ' /proc/self/mountinfo | sed 's/^/mount /'\n"
	"}\n"
	"tick() {\n"
	"	read -r b x < /proc/uptime\n"
	"	t=$(date +%s) s=$t\n"
	"	while [ $s = $t ]; do\n"
	"		sleep 0.02 2>/dev/null || sleep 1\n"
	"		a=$b\n"
	"		read -r b x < /proc/uptime\n"
	"		s=$(date +%s)\n"
	"	done\n"
	"	read -r b x < /proc/uptime\n"
	"	echo now $a $s.0 $b $z\n"
	"}\n"
	"z=$(getconf CLK_TCK 2>/dev/null); : \"${z:=100}\"\n"
	"case $(date +%s.%N) in *[!0-9.]* | *.) second=$(tick);; *) second=;; esac\n"
	"now() {\n"
	"	[ -z \"$second\" ] || { echo $second; return; }\n"
	"	for i in 1 2 3 4 5; do\n"
	"		read -r a x < /proc/uptime; t=$(date +%s.%N); read -r b x < /proc/uptime\n"
	"		echo now $a $t $b $z\n"
	"	done\n"
	"}\n"
	"user() {\n"
	"	s=; while read -r l; do s=$l; done < $p/stat\n"
	"	set -f; set -- ${s##*)}; set +f\n"
	"	start=${20}\n"
	"	case $7,$start in ,* | *, | *[!0-9,]*) return 1;; esac\n"
	"	[ $(($7 & 0x200000)) = 0 ]\n"
	"}\n"
	"if readlink /proc/self/exe /proc/self/exe >/dev/null 2>&1; then links() { readlink \"$@\"; }\n"
	"else links() { for f in \"$@\"; do readlink $f; done; }; fi\n"
	"process() {\n"
	"	u= g= m= o=\n"
	"	while read -r k v x; do case $k in Uid:) u=$v;; Gid:) g=$v; break;; esac; done < $p/status\n"
	"	while read -r v; do case $v in *$tab*) ;; 0::*|*:name=systemd:*) m=\"$m${S}cgroup ${v#*:*:}\";;\n"
	"	*:/?*) o=\"${S}cgroup ${v#*:*:}\";; esac; done < $p/cgroup\n"
	"	case $m in *'cgroup '/[!$S]*) ;; *) m=$m$o;; esac\n"
	"	v=$(links $p/ns/pid $p/ns/cgroup $p/exe)\n"
	"	case $v in pid:\\[* | cgroup:\\[*) m=\"$m${S}namespaces ${v%%$nl*}\"; v=${v#*$nl};; esac\n"
	"	case $v in cgroup:\\[*) m=\"$m ${v%%$nl*}\"; v=${v#*$nl};; esac\n"
	"	case $v in *[$tab$nl]*) ;; /*) m=\"${S}exe $v$m\";; esac\n"
	"	v=$(tr '\\0\\n\\t' '   ' < $p/cmdline)\n"
	"	[ ${#v} -le 1024 ] || v=$(printf %.1024s \"$v\")\n"
	"	m=\"process ${p#/proc/} $start $u $g$m${S}cmdline $v\"\n"
	"}\n"
	"pids=$(readlink /proc/self/ns/pid 2>/dev/null)\n"
	"case $pids in *4026531836*) pids=;; esac\n"
	"tab=$(printf '\\t') nl='\n'\n";

static const char list_all[] = "exec 2>/dev/null\n"
			       "echo listing\n"
			       "now\n"
			       "machine\n"
			       "S=$nl\n"
			       "for p in /proc/[0-9]*; do user && process && printf '%s\\n' \"$m\"; done\n"
			       "symbols\n"
			       ":\n";

/*
 * Lines of a message are separated by tabs, because a shell may write each line by itself; the kernel truncates
 * messages to 1024 bytes.
 *
 * begin: makes the start of a message. A process's message is kept whole, to be sent again.
 * The next call looks at a new process a second time, because it may have executed another program; later calls do if
 * its name has changed. Forks are rare.
 * The pauses let the consumer empty the buffers.
 * tell all: sends everything; tell news: new processes.
 */
static const char tell[] =
	"trap '' PIPE\n"
	"send() {\n"
	"	printf '" SIDECAR_LINES "%.1000s\\n' \"$1\" >&3\n"
	"	sent=$((sent + 1))\n"
	"	[ $((sent % 64)) -ne 0 ] || sleep 0.1\n"
	"}\n"
	"begin() {\n"
	"	h=$(now | while read -r w a t b z; do [ $a = $b ] && echo \"now $a $t $b $z\" && break; done)\n"
	"	[ \"$h\" ] || h=$(now | head -n 1)\n"
	"	h=\"host $(uname -n)$tab$h${pids:+${tab}pid_ns $pids}\"\n"
	"}\n"
	"about() {\n"
	"	m=$h l=$(machine | tr '\\t' ' ')\n"
	"	IFS=$nl; set -f\n"
	"	for l in $l $known; do\n"
	"		[ $((${#m} + ${#l})) -lt 1000 ] || { send \"$m\"; m=$h; }\n"
	"		m=$m$tab$l\n"
	"	done\n"
	"	unset IFS; set +f\n"
	"	send \"$m\"\n"
	"}\n"
	"look() {\n"
	"	[ \"$h\" ] || begin\n"
	"	m=\n"
	"	! user || { process; m=$h$tab$m; }\n"
	"	eval \"n$i=$((n + 1)) c$i=\\$c m$i=\\$m\"\n"
	"}\n"
	"tell() {\n"
	"	h= all= turn=$((turn + 1))\n"
	"	[ $1 = news ] || { begin; about; }\n"
	"	for p in /proc/[0-9]*; do\n"
	"		i=${p#/proc/} c= m=\n"
	"		case $i in *[!0-9]*) continue;; esac\n"
	"		all=\"$all $i\"\n"
	"		eval \"n=\\${n$i:-0} t$i=$turn\"\n"
	"		[ $n -lt 2 ] || [ $1 = all ] || continue\n"
	"		read -r c < $p/comm\n"
	"		eval \"o=\\$c$i m=\\$m$i\"\n"
	"		[ $n -ge 2 ] && [ \"$c\" = \"$o\" ] || look\n"
	"		[ -z \"$m\" ] || send \"$m\"\n"
	"	done\n"
	"	for i in $seen; do eval \"[ \\$t$i = $turn ] || unset n$i c$i m$i t$i\"; done\n"
	"	seen=$all\n"
	"}\n"
	"seen= turn=0 sent=0 S=$tab\n"
	"known=$(symbols)\n";

/* The kernel turns each write into an event. */
static const char open_kernel[] = "[ -w /proc/lttng-logger ] && exec 3>/proc/lttng-logger || exec 3>/dev/null\n";

/*
 * tracef() must be called by a program; Python's interpreter can call a library's function by name; -I: not by a module
 * from the current directory.
 */
static const char open_user[] =
	"if d=$(mktemp -d) && mkfifo -- \"$d/p\" && python3 -I -c ''; then\n"
	"python3 -I -c '\n"
	"import ctypes, os, sys\n"
	"os.environ.setdefault(\"" SIDECAR_REGISTER_TIMEOUT "\", \"" SIDECAR_REGISTER_TIMEOUT_MS "\")\n"
	"for name, symbol in ((\"liblttng-ust.so.1\", \"lttng_ust__tracef\"), "
	"(\"liblttng-ust.so.0\", \"_lttng_ust_tracef\")):\n"
	"    try:\n"
	"        tracef = getattr(ctypes.CDLL(name), symbol)\n"
	"        break\n"
	"    except (OSError, AttributeError):\n"
	"        pass\n"
	"for line in sys.stdin.buffer:\n"
	"    tracef(b\"%s\", line.rstrip(b\"\\n\"))\n"
	"' <\"$d/p\" &\n"
	"exec 3>\"$d/p\"\n"
	"else exec 3>/dev/null; fi\n"
	"[ -z \"$d\" ] || rm -r -- \"$d\"\n";

static void append_symbols(GString *text, const char *const *symbols)
{
	g_string_append(text, "symbols() {\n\t");
	if (symbols && *symbols) {
		g_string_append(text, "grep -Fw");
		for (; *symbols; symbols++) {
			char *quoted = g_shell_quote(*symbols);

			g_string_append_printf(text, " -e %s", quoted);
			g_free(quoted);
		}
		g_string_append(text, " /proc/kallsyms | sed 's/^/symbol /'\n}\n");
	} else {
		g_string_append(text, ":\n}\n");
	}
}

char *sidecar_script(const char *const *symbols)
{
	GString *text = g_string_new(functions);

	append_symbols(text, symbols);
	g_string_append(text, list_all);
	return g_string_free(text, FALSE);
}

char *sidecar_stream_script(const char *const *symbols, bool kernel)
{
	GString *text = g_string_new(functions);

	append_symbols(text, symbols);
	g_string_append(text, tell);
	g_string_append(text, kernel ? open_kernel : open_user);
	return g_string_free(text, FALSE);
}
