#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The command line as scripts rely on it: exit statuses, what is written to stdout and what to stderr.
set -uo pipefail

failures=0

# expect STATUS STDOUT-PATTERN STDERR-PATTERN ARGUMENT... (patterns: extended regular expressions; '' means no output)
expect() {
	local status=$1 out=$2 err=$3 got
	shift 3
	"$LTTNGTOP" "$@" >out 2>err </dev/null
	got=$?
	if [ $got -eq "$status" ] && matches out "$out" && matches err "$err"; then
		echo "ok lttngtop $*"
		return
	fi
	failures=$((failures + 1))
	echo "not ok lttngtop $*: status $got, not $status"
	sed 's/^/    stdout: /' out | head -20
	sed 's/^/    stderr: /' err | head -20
}

matches() { # FILE PATTERN
	if [ -z "$2" ]; then [ ! -s "$1" ]; else grep -qE -- "$2" "$1"; fi
}

recording=$BUILD/traces/kprobe
mkdir empty

expect 0 '^lttngtop [0-9]+\.' '' --version
expect 0 '^lttngtop [0-9]+\.' '' report --version
expect 0 '^Usage: lttngtop \[OPTIONS\] SOURCE' '' --help
expect 0 '^Usage: lttngtop \[OPTIONS\] SOURCE' '' help
expect 0 '^Usage: lttngtop report TABLE' '' report --help
expect 0 '^  stdev_ns +Standard' '' report sched --help
expect 0 '^  stdev_ns +Standard' '' help report sched
expect 2 '' "unknown table 'sced': did you mean 'sched'[?]$" report sced --help
expect 2 '' "unknown table 'sced': did you mean 'sched'[?]$" help report sced
expect 2 '' "unknown table 'nosuch'$" report nosuch --help
expect 2 '' "'instances' have no call: of system calls, write 'cause=read'$" report syscalls --log --where call:read "$recording"
expect 2 '' "'instances' have no file$" report syscalls --log --where file:/etc "$recording"
expect 2 '' "'instances' have no file$" report syscalls --log --where file:read "$recording"
expect 2 '' "unknown table 'cputop': instead of lttng-cputop, use: report cpu; per CPU: report cpus$" report cputop "$recording"
expect 2 '' "'lttng-schedlog': instead of lttng-schedlog, use: report sched, with --freq, with --log$" help report lttng-schedlog
expect 2 '' "unknown table 'biolatency': instead of biolatency, use: report disks --freq$" report biolatency "$recording"
expect 2 '' "unknown table 'opensnoop': instead of opensnoop, use: attach -qq -n '[*]' -e open,openat$" report opensnoop
expect 2 '' "option '-p' is for attach: use --pid PID or --tid TID$" report cpu -p 812 "$recording"
expect 2 '' "option '-n' is for attach: use --comm NAME$" report cpu -n wget "$recording"
expect 2 '' "option '-f' does not apply to 'report'$" report cpu -f "$recording"
expect 2 '' "unknown table 'log'$" report log "$recording"
expect 2 '' 'lttngtop report cpu --help' report cpu --sort nosuch "$recording"
expect 2 '' "option '--columns': table 'cpu' has no column ''$" report cpu --columns '' "$recording"
expect 2 '' "table 'io' has no column 'disk_writes': did you mean 'disk_write_bytes'[?]$" \
	report io --columns disk_writes "$recording"
expect 2 '' "option '--columns': column 'tid' is given twice$" report cpu --columns tid,tid "$recording"
expect 2 '' "option '--columns': column 'cpu_ns%' is given twice$" report cpu --columns cpu_ns%,tid,cpu_ns% "$recording"
expect 2 '' "--dot does not apply to table 'cpu'$" report cpu --dot "$recording"
expect 2 '' '--dot and --sum-by cannot be used together$' report relations --dot --sum-by host "$recording"
expect 0 '^Usage: lttngtop report TABLE' '' help report
expect 0 '^\.TH LTTNGTOP 1' '' help --man
expect 0 '^\.TH LTTNGTOP-REPORT 1' '' help --man report
expect 0 '^Usage: lttngtop record \[OPTIONS\]' '' record --help
expect 0 '^Usage: lttngtop record \[OPTIONS\]' '' help record
expect 0 '^\.TH LTTNGTOP-RECORD 1' '' help --man record

expect 2 '' "option '--live-timer' needs '--live'$" record --live-timer 1s -n
expect 2 '' "option '--statedump-period' needs '--live'$" record --statedump-period 1m -n
expect 0 'lttng create' '' record --live net://localhost --statedump-period 1m --live-timer 1s -n

mkdir -p archives/sub && touch archives/sub/three-tier.tar.zst
expect 1 '' "no trace found in 'archives', only archives: unpack them first$" report cpu archives
expect 1 '' "no trace found in 'empty'$" report cpu empty
for name in a.tar a.tgz a.zip a.tar.gz a.tar.b.xz.tar.xz; do
	rm -rf archives && mkdir archives && touch "archives/$name"
	expect 1 '' "no trace found in 'archives', only archives: unpack them first$" report cpu archives
done
# ".tar" elsewhere in a name does not make an archive of it.
mkdir -p multi-user.target/sub && touch multi-user.target/sub/multi-user.target multi-user.target/a.tar.md
expect 1 '' "no trace found in 'multi-user.target'$" report cpu multi-user.target
expect 1 '' "a.tar.md' is a file, not the directory of a recording$" report cpu multi-user.target/a.tar.md
touch multi-user.target/file
expect 1 '' "file' is a file, not the directory of a recording$" report cpu multi-user.target/file

expect 0 'hosts:' "warning: no row matches --comm$" report cpu --comm nobody "$recording"
expect 0 'hosts:' "warning: no row matches --tid and --where$" report cpu --tid 999999 --where 'cpu>1ns' "$recording"
expect 0 'hosts:' "warning: no row matches --pid$" report io --interval 1s --pid 999999 "$recording"
expect 0 'hosts:' '' report cpu --where 'cpu>1h' "$recording"
expect 0 'hosts:' "warning: no row matches --where$" report cpu --where 'user:nobodyhere cpu>1ns' "$recording"
raed="unknown system call 'raed': did you mean 'read'[?]$"
expect 0 'hosts:' "warning: no row matches --where: $raed" report syscalls --where 'host:client (call:raed | call:rt_nosuch*)' "$recording"
expect 0 'read' "^lttngtop: warning: --where: $raed" report syscalls --where 'call:raed | call:read' "$recording"
expect 0 'hosts:' "^lttngtop: warning: --where: $raed" report cpu --where 'call:raed | comm:*' "$recording"
expect 0 'read' "^lttngtop: warning: --where: $raed" report dump --where 'call:raed | call:read' "$recording"
expect 0 'read' '' report syscalls --where 'call:read | call:stat | call:newstat | call:r*d' "$recording"
expect 0 'sched' '' report dump --where 'comm:cat container:host' "$recording"
expect 0 '' "warning: no event passes the filter: $raed" report dump --where 'call:raed' "$recording"
expect 0 '' "warning: no event passes the filter$" report dump --tid 999999 "$recording"
expect 1 '' "no event passes the filter: $raed" report slice --output sliced --where 'call:raed' "$recording"

# A command that was not put after '--'.
expect 2 '' "unknown option '-l'; to run a command, put '--' before it: -- ls …$" attach -f ls -l
expect 2 '' "unknown option '--full-time'; to run a command, put '--' before it: -- ls …$" record ls --full-time
expect 2 '' "no thread chosen: .*; to run a command, put '--' before it: -- ls …$" attach -f ls
expect 2 '' "unknown option '-l'$" attach -n '*' "$recording" -l
mkdir ls
expect 2 '' "unknown option '-l'$" attach ls -l
expect 2 '' "for all threads -n '[*]'$" attach ls
rmdir ls

# Without arguments: this machine, which has no terminal here, or cannot be traced.
expect 1 '' 'cannot be traced yet|needs a terminal'
expect 2 '' 'no table given' report
expect 2 '' "unknown option '--nonsense'" --nonsense "$recording"
expect 2 '' "'report --help'|lttngtop report --help" report --nonsense
expect 2 '' "option '--begin': 'soon' is not a time" report cpu --begin soon "$recording"
expect 2 '' "option '--json' does not apply to the monitor" --json "$recording"
expect 2 '' "unknown table 'nonsense'$" report nonsense "$recording"
expect 2 '' "unknown table 'blockin': did you mean 'blocking'[?]$" report blockin "$recording"
expect 2 '' "unknown table 'critical-paht': did you mean 'critical-path'[?]$" report critical-paht "$recording"
expect 2 '' "unknown table 'cpuu': did you mean 'cpu'[?]$" report cpuu "$recording"
expect 2 '' "unknown table 'CPU': did you mean 'cpu'[?]$" report CPU "$recording"
expect 2 '' "no table given before '$recording'" report "$recording" cpu
mkdir metadata-only && cp "$recording"/client/kernel/metadata metadata-only
expect 1 '' "error: 'metadata-only' has metadata but no events$" report cpu metadata-only
expect 2 '' "no table given before '$recording'" report --json "$recording"
expect 2 '' "no table given before 'net://localhost'" report net://localhost
expect 2 '' "'reprot' is not a command or a file: did you mean 'report'[?]$" reprot cpu "$recording"
expect 2 '' "'reprot' is not a command or a file: did you mean 'report'[?]$" reprot cpu --json "$recording"
expect 2 '' "'report' must be the first word: options follow it$" --utc report cpu "$recording"
expect 2 '' "'list' must be the first word" --no-color list
expect 2 '' "'help' must be the first word" --utc help report
expect 2 '' "unknown command 'lsit': did you mean 'list'[?]$" help lsit
expect 2 '' "unknown option '--jsno': did you mean '--json'[?]$" report cpu --jsno "$recording"
expect 2 '' "option '--no' is ambiguous: '--no-color', '--no-mouse', '--no-config', '--no-cache', '--no-sync'$" --no "$recording"
expect 0 '^host,' '' report hosts --cs "$recording"
expect 0 '^host,' '' report --csv hosts -- "$recording"
expect 0 '^host,' '' report hosts "$recording" --csv --begin=-1s
expect 3 'client' "cannot open '--csv'" report hosts -- "$recording" --csv nowhere
expect 0 '' 'the chosen threads do not occur' attach -tfp 2147483647 "$recording"
expect 2 '' "option '--sum' is ambiguous: '--summary-only', '--summary', '--summary-" attach --sum "$recording"
expect 2 '' "option '-x' is not available: " attach -tfx -n '*' "$recording"
expect 1 '' "nowhere" report hosts --js nowhere
# A directory with such a name is a source all the same.
mkdir reprot
expect 1 '' "reprot" reprot
# nor is a recording of that name a misplaced command
mkdir report
expect 1 '' "no trace found in 'report'$" --utc report
rmdir report
# A host is not a directory.
for host in localhost localhost:5344 10.1.2.3 web:5344; do
	expect 1 '' "cannot open '$host': No such file or directory; a relayd on that host: net://$host$" report cpu "$host"
done
expect 1 '' "cannot open 'missing': No such file or directory$" report cpu missing
expect 1 '' "cannot open '2026.11': No such file or directory$" report cpu 2026.11
expect 2 '' "unknown command 'nonsense'" help nonsense
expect 2 '' "'foo' is one word too many" help cluster foo
expect 2 '' "'foo' is one word too many" help report cpu foo
expect 0 '^Usage: lttngtop report cpu ' '' help report cpu
expect 0 '^Usage: lttngtop report dump \[OPTIONS\]' '' report dump --help
expect 0 '^Usage: lttngtop report slice --output DIR ' '' report slice --help
# a URL without a host is wrong usage everywhere
expect 2 '' "'net://': the host is missing" net://
expect 2 '' "'net://': the host is missing" report cpu net://
expect 2 '' "'net://': the host is missing" list net://
# options' texts are those of the command
expect 0 '--buffer-size BYTES +buffer size per CPU, rounded' '' record --help
expect 0 '--buffer-size BYTES +with --local: buffer size' '' report --help
# without events there is no interval
cp -r "$recording" cut
metadata=$(find cut -name metadata)
truncate -s "$(grep -abo -m1 'event {' "$metadata" | head -1 | cut -d: -f1)" "$metadata"
"$LTTNGTOP" report hosts cut 2>err >out
if ! grep -q '^hosts  hosts: ' out; then
	echo 'not ok a recording without declared events has no interval'
	sed 's/^/    /' out err
	failures=$((failures + 1))
fi
expect 2 '' 'source' report cpu
expect 2 '' "lttngtop record --help" record --set most
expect 2 '' "option '--json' does not apply to 'record'" record --json
expect 2 '' "option '--live' does not apply to 'report'" report cpu --live net://x "$recording"
expect 0 '^Usage: lttngtop attach' '' attach --help
expect 0 '^\.TH LTTNGTOP-ATTACH 1' '' help --man attach
expect 2 '' 'no source or command given' attach
expect 2 '' 'no source or command given' attach -p 1
expect 2 '' "option '-X': unknown style 'full'" attach -X full -n '*' "$recording"
expect 2 '' '-A needs -o FILE' attach -A -n '*' "$recording"
expect 2 '' '-a and -Y do not apply' attach --json -a 40 -n '*' "$recording"
expect 2 '' "option '--container': '/' is not a valid container name" attach --container / "$recording"
expect 2 '' 'no thread chosen: use -p TID, -n NAME or --container NAME' attach "$recording"
expect 2 '' "option '-p': 'x' is not a thread: expected TID or HOST:TID" attach -p x "$recording"
expect 2 '' "option '-e': unknown system call 'opne'" attach -n '*' -e trace=opne "$recording"
expect 2 '' "option '-e': unknown class of system calls '%fiel'" attach -n '*' -e %fiel "$recording"
expect 2 '' "option '-e': unknown status 'good'" attach -n '*' -e status=good "$recording"
expect 2 '' "option '-e': 'inject=' is not supported: a trace cannot change" attach -n '*' -e inject=all "$recording"
expect 2 '' "option '-k' is not available: the tracer does not record stacks" attach -k -n '*' "$recording"
expect 2 '' "option '-i' is not available: the tracer does not record instruction" attach -fi -n '*' "$recording"
expect 2 '' "option '--string-limit' is not available: .*buffers" attach --string-limit=80 -n '*' "$recording"
expect 2 '' "option '-S': unknown column 'size'" attach -c -S size -n '*' "$recording"
expect 2 '' "option '-U': unknown column 'size'" attach -c -U calls,size -n '*' "$recording"
expect 2 '' "option '-U': unknown column ''" attach -c -U '' -n '*' "$recording"
expect 2 '' "option '-U': column 'time' is given twice" attach -c -U time-percent,time -n '*' "$recording"
expect 2 '' '-U needs -c or -C' attach -U calls -n '*' "$recording"
expect 2 '' '-U does not apply to --json' attach --json -c -U calls -n '*' "$recording"
expect 2 '' '-S needs -c or -C' attach -S calls -n '*' "$recording"
expect 2 '' "-ff needs -o FILE" attach -ff -n '*' "$recording"
expect 2 '' "option '--interval' does not apply to 'attach'" attach --interval 1s -n '*' "$recording"
expect 2 '' "give either a SOURCE or a COMMAND" attach "$recording" -- true
expect 1 '' 'nowhere' attach -n '*' nowhere
expect 0 '' 'the chosen threads do not occur' attach -p 2147483647 "$recording"
expect 0 '' 'the chosen threads do not occur' attach -n nobody "$recording"
expect 0 '' "the chosen threads do not occur: 'report containers' lists containers that do" attach --container nowhere "$recording"
expect 0 '' 'none of the chosen threads made a selected call' attach -p 1 "$recording" # it sleeps all the time
expect 0 'exited with 0' '' attach -n find -e trace=reboot "$recording"
expect 0 '' "--begin, .*, is after the last event" attach -n find --begin 20:00:00 "$recording"

# an empty table says what was not recorded; one whose rows are only not chosen, or are all 0, does not
other=$BUILD/traces/hotplug
expect 0 '^HOST' '^lttngtop: no perf counters up to here: use .lttngtop record --perf' report perf "$other"
expect 0 '^HOST' '^lttngtop: no probe was hit up to here: use .lttngtop record --kprobe' report probes "$other"
expect 0 '^HOST' '^lttngtop: no events of programs that name their thread .*: use .lttngtop record --ust.*add-context -u -t vtid' report emitters "$other"
expect 0 '^FROM' '^lttngtop: latencies are those of packets from one host to another' report latencies "$other"
expect 0 '^HOST' '^lttngtop: no perf counters up to here' report perf --comm find "$other"
expect 0 '"rows":' '^lttngtop: no probe was hit up to here' report probes --json "$other"
expect 0 '^HOST' 'no row matches --comm$' report perf --comm nobody "$BUILD/traces/rpc-hog-local"
expect 0 '^HOST' '' report probes --begin +1s --end +1000000001ns "$recording"
expect 0 '^FROM.*|^client ' '' report latencies "$BUILD/traces/three-tier"
expect 0 '^FROM' '' report latencies --where 'packets>99999999' "$BUILD/traces/three-tier"
said_once() { # ARGUMENT...: of an empty table, one line says why
	"$LTTNGTOP" "$@" >out 2>err
	if [ "$(wc -l <err)" -ne 1 ]; then
		failures=$((failures + 1))
		echo "not ok one reason: $*"
		sed 's/^/    stderr: /' err
	fi
}
said_once report probes --host nosuch "$recording"
said_once report probes --begin +1000s "$recording"

# options for live sessions: without one, a warning; beside one, none for the recording
expect 0 '.' '^lttngtop: warning: --from-start is for live sessions: recordings are always read' report cpu --from-start "$recording"
expect 0 '.' '^lttngtop: warning: --stall-limit is for live sessions, and has no effect' report dump --stall-limit 10s "$recording"
expect 0 '.' '^lttngtop: warning: --max-sessions is for live sessions' attach -c -n '*' --max-sessions 2 "$recording"
expect 3 '.' "^lttngtop: warning: reading 'net://127.0.0.1:1'" report cpu --from-start --max-sessions 2 --stall-limit 3s \
	--duration 1s "$recording" net://127.0.0.1:1
if grep 'is for live sessions' err; then
	failures=$((failures + 1))
	echo "not ok: a warning beside a live session"
fi

expect 2 '' 'more than one URL' list net://a net://b
expect 2 '' "'recording/': a URL is net://HOST" list recording/
expect 1 '' "reading 'net6://.*': cannot connect: (Connection refused|Cannot assign requested address)" list 'net6://[::1]:1'
expect 2 '' "option '--csv' does not apply to 'list'" list --csv
expect 1 '' "reading 'net://127.0.0.1:1': cannot connect: Connection refused" list net://127.0.0.1:1

# Without a URL it is this machine's relayd; in a network of its own there is none.
if unshare -rn true 2>/dev/null; then
	program=$LTTNGTOP LTTNGTOP=unshare
	expect 1 '' "lttngtop list net://HOST$" -rn "$program" list
	LTTNGTOP=$program
else
	echo "skip list without a relayd: no namespaces"
fi

expect 1 '' "nowhere" report cpu nowhere
expect 1 '' "empty" report cpu empty
expect 1 '' "log file 'empty/no/file'" report cpu --log-file empty/no/file "$recording"

expect 0 'client' '' report hosts "$recording"
expect 3 'client' 'nowhere' report hosts "$recording" nowhere

# A file is not a recording: what to do instead.
tar -cf archive.tar -C "$recording" .
expect 1 '' "'archive.tar' is a file, not the directory of a recording: unpack it first" report hosts archive.tar
expect 1 '' "metadata' is a file, not the directory of a recording: give '.*/client/kernel'$" report hosts "$recording/client/kernel/metadata"
expect 1 '' "'out' is a file, not the directory of a recording$" report hosts out

# babeltrace2 opens a side-car in the trace's own directory as a stream; beside the trace it is no obstacle.
cp -r "$recording" sidecar
echo '{"schema":1,"host":"other"}' > sidecar/client/lttngtop.json
expect 0 'client' "it is that of host 'other'" report hosts --reader babeltrace2 sidecar
mv sidecar/client/lttngtop.json sidecar/client/kernel
expect 1 '' "babeltrace2 takes '.*/sidecar/client/kernel/lttngtop.json' for a stream: move it away" \
	report hosts --reader babeltrace2 sidecar
expect 0 'client' "it is that of host 'other'" report hosts sidecar

# The options of lttng-analyses are with its commands.
"$LTTNGTOP" help report | sed -n '/^Coming from bcc/,/^Exit status/p' >bcc
if [ -s bcc ] && ! grep -E '^ +--' bcc; then
	echo 'ok Coming from bcc'
else
	failures=$((failures + 1))
	echo 'not ok Coming from bcc'
fi

# A command is run with --local only; after '--' there may be sources.
for table in cpu dump; do
	expect 2 '' "'true' is not a SOURCE: .* use --local -- true, without a SOURCE$" report $table "$recording" -- true
	expect 2 '' "'true' is not a SOURCE: .* use --local -- true$" report $table -- true
done
expect 2 '' "'true' is not a SOURCE: .* use --local -- true, without a SOURCE$" "$recording" -- true
expect 2 '' "'$recording': --local takes no SOURCE" report cpu "$recording" --local -- true
expect 0 'client' '' report hosts -- "$recording"
expect 1 '' 'nowhere' report hosts -- nowhere

# What looks like a URL of another kind, such as the one that lttng-relayd itself takes.
expect 1 '' "cannot open 'tcp://localhost:5344': the URL of a relayd starts with net://$" report cpu tcp://localhost:5344

# Nothing is in the range: where the recording is.
expect 0 'hosts: client' "--begin, 2026-11-20 15:00:00.000000000, is after the last event, at 2026-11-20 14:18:03.776757646$" report cpu --utc --begin 15:00:00 "$recording"
# the last event is that of babeltrace2's text
expect 0 '' "--begin, 2026-11-20 15:00:00.000000000, is after the last event, at 2026-11-20 14:18:03.776757646$" report dump --utc --begin 15:00:00 "$recording"
expect 0 '' "--end, 2020-01-01 00:00:00.000000000, is before the first event, at 2026-11-20 14:18:02.341935813$" report dump --utc --end '2020-01-01 00:00:00' "$recording"
expect 0 'hosts: client' "--end, 2026-11-20 14:16:23.776757647, is before the first event, at 2026-11-20 14:18:02.341935813$" report cpu --utc --end -100s "$recording"
expect 0 'hosts: client' "--end, 2026-11-19 00:00:00.000000000, is before the first event, at 2026-11-20 14:18:02.341935813$" report cpu --utc --end '2026-11-19 00:00:00' "$recording"
expect 0 '"rows"' '' report cpu --json --limit 1 --begin -10ms "$recording"

expect 0 '^Usage: lttngtop feed' '' feed --help
expect 0 '^\.TH LTTNGTOP-FEED 1' '' help --man feed
# what a key or an option needs, and is called, is said where it is looked up
expect 0 'perf counters of threads; as report: perf; in a file of key x: counters$' '' help --man
expect 0 'as report: critical\\-totals; of one thread, as key w: critical\\-path; in a file of key x: paths$' '' help --man
expect 0 'with \\-\\-local: record' '' help --man
# in Turkish, i is not the small letter of I
if localedef -i tr_TR -f UTF-8 ./tr_TR.UTF-8 >/dev/null 2>&1; then
	export LOCPATH=$PWD
	LC_ALL=tr_TR.UTF-8 expect 0 '^\.SH SYNOPSIS' '' help --man
	LC_ALL=tr_TR.UTF-8 expect 0 '^client .* kworker' '' report cpu --where CLIENT "$recording"
	unset LOCPATH
else
	echo "skip Turkish: localedef cannot make tr_TR.UTF-8"
fi
# A locale that is not installed here, as ssh may pass it on from another machine, is still UTF-8 if it says so.
LC_ALL=xx_YY.UTF-8 expect 0 '[0-9]µs' '' report sched "$recording"
LC_ALL='' LC_CTYPE='' LANG=xx_YY.utf8@euro expect 0 '[0-9]µs' '' report sched "$recording"
# macOS's name for the character set alone
LC_ALL='' LC_CTYPE=UTF-8 LANG=C expect 0 '[0-9]µs' '' report sched "$recording"
LC_ALL=utf8 expect 0 '[0-9]µs' '' report sched "$recording"
LC_ALL=xx_YY expect 0 '[0-9]us' '' report sched "$recording"
LC_ALL=xx_YY LANG=C.UTF-8 expect 0 '[0-9]us' '' report sched "$recording"
expect 2 '' 'no recording given' feed --to net://localhost
expect 2 '' "no relayd given: use --to" feed "$recording"
expect 2 '' "option '--to': 'localhost': it must start with net://, net4:// or net6://" feed --to localhost "$recording"
expect 2 '' "Try 'lttngtop feed --help'" feed --to localhost "$recording"
expect 2 '' "option '--output': '' is not a directory's name" record -n --output ''
expect 2 '' "option '--output': '' is not a directory's name" record stop --host h --output '' s
# A COMMAND implies --local, a SOURCE does not.
expect 1 '' "^lttngtop: the monitor needs a terminal" --set full -- true
expect 2 '' "option '--set' needs '--local' or a COMMAND$" --set full -- "$recording"
expect 2 '' "option '--set' needs '--local' or a COMMAND$" --set full
# A subcommand acts on the session that is named, and refuses what only makes sense when a recording is set up.
expect 2 '' "two sessions are given: 'b' and, by --session, 'a'$" record stop --session a b
expect 2 '' "'a/b' is not a valid session name" record stop --session a/b
expect 2 '' "option '--dry-run' does not apply to 'record stop'$" record stop --dry-run
expect 2 '' "option '--live-timer' does not apply to 'record status'$" record status --live-timer 1s
expect 2 '' "option '--output' does not apply to 'record refresh'$" record refresh --host a --output o
expect 2 '' "with 'record snapshot', option '--output' needs '--host'$" record snapshot --output o
expect 2 '' "'stop' takes at most one session and no command$" record stop a b
expect 2 '' "'0' is not a port from 1 to 65535" feed --to net://localhost:0 "$recording"
expect 2 '' "'2:3' is not a port from 1 to 65535" feed --to net://localhost:1:2:3 "$recording"
expect 2 '' "option '--speed': 'fast' is not a number above 0" feed --to net://localhost --speed fast "$recording"
expect 2 '' "option '--session': 'a/b' is too long or has characters" feed --to net://localhost --session a/b "$recording"
expect 2 '' "option '--json' does not apply to 'feed'" feed --json "$recording"
expect 1 '' "lttng-relayd at 127.0.0.1:1: cannot connect: Connection refused" feed --to net://127.0.0.1:1 "$recording"
expect 1 '' 'none of the traces can be fed' feed --to net://127.0.0.1:1 empty

# The worker subcommand is not advertised.
if "$LTTNGTOP" --help | grep -qwE -- '--worker'; then
	echo 'not ok --help advertises what is not there'
	failures=$((failures + 1))
fi

# A full disk is a failure.
"$LTTNGTOP" report hosts "$recording" >/dev/full 2>err
if [ $? -ne 1 ] || ! grep -q 'cannot write' err; then
	echo 'not ok writing to a full disk'
	failures=$((failures + 1))
fi

"$LTTNGTOP" doctor >/dev/full 2>err
if [ $? -ne 1 ] || ! grep -q 'cannot write to standard output' err; then
	echo 'not ok doctor: writing to a full disk'
	failures=$((failures + 1))
fi

# A closed standard output is a failure, too, and its number is not given to another file.
for command in 'report hosts --log-file log' 'attach -n find --log log'; do
	# shellcheck disable=SC2086 # the words of a command
	"$LTTNGTOP" $command "$recording" >&- 2>err
	if [ $? -ne 1 ] || ! grep -q 'cannot write.*Bad file descriptor' err || grep -qE 'client|execve' log; then
		echo "not ok closed standard output: $command"
		failures=$((failures + 1))
	fi
done
"$LTTNGTOP" report hosts --log-file log "$recording" nowhere >out 2>&-
if [ $? -ne 3 ] || ! grep -q client out || [ "$(grep -c nowhere log)" -ne 1 ]; then
	echo 'not ok closed standard error'
	failures=$((failures + 1))
fi

# Every message on the standard error is in the log file, too, also the reason for the exit status.
logged() { # STATUS TEXT ARGUMENT...
	local status=$1 text=$2 got
	shift 2
	rm -f log
	"$LTTNGTOP" "$@" >out 2>err
	got=$?
	sed -E '/^Try /d; s/^lttngtop: ((error|warning): )?//' err | sort >said
	sed -E 's/^[^ ]+ [^ ]+ [a-z]+: //' log | sort >in_log
	if [ $got -ne "$status" ] || ! grep -qE -- "$text" said || ! cmp said in_log; then
		failures=$((failures + 1))
		echo "not ok its messages in the log file: $*: status $got, not $status"
		sed 's/^/    log: /' log
		sed 's/^/    stderr: /' err
	else
		echo "ok its messages in the log file: $*"
	fi
}
logged 3 '^incomplete: lost: ' report cpu --log-file log "$BUILD/traces/lossy-overwrite"
logged 3 '^incomplete: not everything' report hosts --log-file log "$recording" nowhere
logged 2 "^option '--sort'" report hosts --log-file log --sort nothing "$recording"
logged 0 '^the chosen threads do not occur' attach --log log -p 999999 "$recording"
logged 1 'no source could be read' report hosts --log-file log nowhere

[ $failures -eq 0 ]
