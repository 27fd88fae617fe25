#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`doctor`: what it finds on this machine, and what it concludes from the facts of others.

Another machine is an ssh that prints the facts the machine would have given; on this one PATH and, if there are mount
namespaces, /sys and /proc are set up so that the answer is known.
"""
import os
import re
import shutil
import socket
import subprocess

import cases

TOP = os.environ["LTTNGTOP"]

# A Debian 12 on which everything is in place.
GOOD = {"uid": "0", "groups": "root", "os": "debian ", "kernel": "6.1.0-50-amd64", "headers": "yes", "loaded": "2.13.11",
        "built": "2.13.11", "config": "/boot/config-6.1.0-50-amd64", "lacks": "", "tracing": "/sys/kernel/tracing",
        "lttng": "lttng (LTTng Trace Control) 2.13.9", "sessiond": "/usr/bin/lttng-sessiond", "relayd": "", "unit": "yes",
        "daemon": "root", "daemon_kernel": "yes", "ports": "", "clock": "yes", "cpus": "4", "memory": "4000000",
        "shm": "2000000", "end": "yes"}

# lttng, whose session daemon has 12 sessions, and cannot trace the kernel.
LTTNG = r"""case $* in
*--kernel) exit 1;;
*list)
    printf 'Available recording sessions:\n'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '  %s) s%s [active]\n' $i $i; done
    printf '\nUse lttng list <session_name> for more details\n';;
*--version) echo 'lttng (LTTng Trace Control) 2.13.9';;
esac"""

SSH = """#!/bin/sh
# Instead of ssh: a host is a file of facts; what it is asked, and what it says to stderr, are beside it.
[ -e "$1" ] || exit 255
printf '%s' "$2" >"$1.asked"
[ ! -e "$1.says" ] || cat "$1.says" >&2
cat "$1"
"""


def run(*argv, **more):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False, **more)
    return done.returncode, done.stdout, done.stderr


def doctor_of(host, *before, **facts):
    """doctor on a host with these facts instead of the good ones; before: a program that starts it."""
    os.makedirs("bin", exist_ok=True)
    with open("bin/ssh", "w", encoding="ascii") as file:
        file.write(SSH)
    os.chmod("bin/ssh", 0o755)
    with open(host, "w", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in {**GOOD, **facts}.items() if value is not None)
    return run(*before, TOP, "doctor", "--host", host, env={**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})


def check_of(text, name):
    """State, text and remedy (or None) of a check; None if there is no such check."""
    found = re.search(rf"^  (ok|warning|missing) +{name} +(.*)\n(?: +-> (.*)\n)?", text, re.M)
    return found.groups() if found else None


def test_good():
    """If nothing is missing, the status is 0 and every line
    is ok; sh collects the facts, whatever the login shell is."""
    status, out, err = doctor_of("root@web")
    states = re.findall(r"^  (\w+) ", out, re.M)
    assert (status, err) == (0, "") and out.startswith("root@web: can be traced\n") and set(states) == {"ok"}, (status, out, err)
    assert len(states) >= 10, out
    with open("root@web.asked", encoding="utf-8") as file:
        assert file.read().startswith("sh -c '"), "not asked by way of sh"


def test_children_ignored():
    """A caller that ignores SIGCHLD passes that on."""
    status, out, err = doctor_of("root@web", "env", "--ignore-signal=CHLD")
    assert (status, err) == (0, "") and out.startswith("root@web: can be traced\n"), (status, out, err)


def test_findings():
    """Each fault: its state, text, remedy and exit status."""
    cases = [
        ({"loaded": "", "built": ""}, "kernel modules", "missing", "no lttng-modules for kernel 6.1.0-50-amd64",
         "apt-get install lttng-modules-dkms linux-headers-6.1.0-50-amd64"),
        ({"loaded": "", "built": "", "os": "opensuse-leap suse opensuse"}, "kernel modules", "missing", "no lttng-modules",
         "zypper install lttng-modules"),
        ({"loaded": "", "built": "", "os": "gentoo "}, "kernel modules", "missing", "no lttng-modules",
         "install lttng-modules for kernel 6.1.0-50-amd64: see https://"),
        ({"loaded": "", "built": "", "build_log": "/var/lib/dkms/lttng-modules/2.13.9/build/make.log", "build_fault": "hrtimer"},
         "kernel modules", "missing", "do not compile for kernel 6.1.0-50-amd64: see '/var/lib/dkms", "sed -i .*was_armed"),
        ({"loaded": ""}, "kernel modules", "ok", "2.13.11, loaded by the session daemon when needed", None),
        ({"loaded": "", "locked": "kernel.modules_disabled is 1"}, "kernel modules", "missing", "modules cannot be loaded", "reboot"),
        ({"loaded": "", "locked": "only signed modules are loaded", "mok_key": "/var/lib/dkms/mok.pub"}, "kernel modules", "warning",
         "only signed", "mokutil --import /var/lib/dkms/mok.pub, unless"),
        ({"loaded": "", "locked": "only signed modules are loaded"}, "kernel modules", "warning", "only signed",
         "^sign the modules with a key this machine trusts, or turn Secure Boot off$"),
        ({"loaded": "", "container": "docker"}, "kernel modules", "missing", r"a container \(docker\)", "on the machine"),
        ({"loaded": "2.13.9"}, "known faults", "warning", "2.13.9: context 'prio' crashes the kernel", "2.13.11"),
        ({"lacks": " TRACEPOINTS"}, "kernel", "missing", "without CONFIG_TRACEPOINTS", "boot"),
        ({"lacks": " KPROBES"}, "kernel", "warning", "lacks KPROBES", None),
        ({"config": "", "tracing": ""}, "kernel", "warning", "cannot be read", None),
        ({"uid": "1000"}, "permission", "missing", "neither root nor in group 'tracing'", "usermod"),
        ({"uid": "1000", "no_group": "yes"}, "permission", "missing", "nor in group 'tracing', which does not exist",
         "or: sudo groupadd -r tracing && sudo usermod .* and restart lttng-sessiond$"),
        ({"uid": "1000", "groups": "eva tracing"}, "permission", "ok", "member of group 'tracing'", None),
        ({"daemon": ""}, "session daemon", "ok", "started when needed", None),
        ({"daemon": "", "uid": "1000", "groups": "tracing"}, "session daemon", "missing", "root's session daemon is not running",
         "sudo systemctl start lttng-sessiond$"),
        ({"daemon": "", "uid": "1000", "groups": "tracing", "unit": ""}, "session daemon", "missing", "root's session daemon is not",
         "sudo lttng-sessiond --daemonize$"),
        ({"daemon": "", "sessiond": "", "os": "fedora "}, "session daemon", "missing", "not found", "dnf install lttng-tools"),
        ({"daemon_kernel": "no"}, "session daemon", "missing", "cannot trace the kernel$", "systemctl restart"),
        ({"daemon_kernel": "no", "sessions": "1"}, "session daemon", "missing", "a restart ends its 1 session$", "systemctl restart"),
        ({"daemon_kernel": "no", "sessions": "2", "unit": ""}, "session daemon", "missing", "ends its 2 sessions$", "kill"),
        # nothing that a new daemon would change
        ({"daemon_kernel": "no", "loaded": "", "built": ""}, "session daemon", "ok", "running, without kernel tracing until", None),
        ({"daemon_kernel": "no", "loaded": "", "container": "docker"}, "session daemon", "ok", "without kernel tracing until", None),
        ({"daemon_kernel": "no", "lacks": " MODULES"}, "session daemon", "ok", "without kernel tracing until", None),
        ({"daemon_kernel": "no", "loaded": ""}, "session daemon", "missing", "cannot trace the kernel", "systemctl restart"),
        ({"lttng": None}, "tools", "missing", "lttng not found", "apt-get install lttng-tools"),
        ({"ports": "5344"}, "ports", "warning", "other programs use 5344", "--live-port"),
        ({"ports": "5342 5343 5344"}, "ports", "ok", "a relayd seems to be running", None),
        ({"clock": "no"}, "clock", "warning", "not synchronised", "apt-get install systemd-timesyncd"),
        ({"clock": ""}, "clock", "warning", "cannot tell", "systemd-timesyncd"),
        # another one would replace it
        ({"clock": "no", "clock_daemon": "chronyd"}, "clock", "warning", "not synchronised",
         "^start chronyd, or see 'chronyc sources' for why it does not synchronise$"),
        ({"clock": "", "clock_daemon": "ntpd"}, "clock", "warning", "cannot tell", "^start ntpd, or see 'ntpq -p' for"),
        ({"clock": "no", "clock_daemon": "systemd-timesyncd"}, "clock", "warning", "not synchronised",
         "^systemctl enable --now systemd-timesyncd, or see 'timedatectl timesync-status' for"),
        ({"memory": "100000"}, "memory", "warning", "take 32 MiB of 97 MiB", "--set"),
        ({"shm": "1000"}, "shared memory", "warning", "0 MiB free", "remount"),
    ]
    for facts, name, state, text, remedy in cases:
        status, out, err = doctor_of("host", **facts)
        found = check_of(out, name)
        assert found and found[0] == state and re.search(text, found[1]), f"{facts}: {out}"
        assert re.search(remedy, found[2] or "") if remedy else not found[2], f"{facts}: {found}"
        others = re.findall(r"^  missing ", out, re.M)
        assert (status, err) == (1 if others else 0, "") and (state != "missing" or others), f"{facts}: {status}, {out}{err}"


def test_hosts():
    """A host that cannot be asked, one that answers nonsense; a host's bytes do not move the cursor."""
    status, _, err = run(TOP, "doctor", "--host", "nowhere", env={**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    assert status == 1 and "host 'nowhere': ssh cannot reach it" in err, (status, err)
    status, _, err = doctor_of("odd", end=None)
    assert status == 1 and "host 'odd': unexpected output, the login shell may print or replace something" in err, (status, err)
    status, out, _ = doctor_of("evil", kernel="\x1b[2Jx")
    assert status == 0 and "\x1b" not in out, repr(out)
    with open("loud.says", "wb") as file:
        file.write(b"Welcome\r\n\x1b]0;title\x07\xc2\x9bm")
    status, _, err = doctor_of("loud")
    assert (status, err) == (0, "loud: Welcome\nloud: \\x1b]0;title\\x07\\xc2\\x9bm\n"), (status, err)
    os.symlink("/dev/zero", "endless")
    status, _, err = run(TOP, "doctor", "--host", "endless", env={**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    assert (status, err) == (1, "lttngtop: host 'endless': it sent more than 1024 KiB\n"), (status, err)
    for words in (["--host", "-oProxyCommand=x"], ["web"]):
        status, _, err = run(TOP, "doctor", *words)
        assert status == 2 and "lttngtop doctor --help" in err, (status, err)


def few_tools(name, *more):
    """A directory for PATH with what every system has."""
    os.makedirs(name)
    for tool in ("sh", "cat", "df", "grep", "head", "id", "tail", "uname", *more):
        os.symlink(shutil.which(tool), f"{name}/{tool}")
    return os.path.abspath(name)


def test_no_tools():
    """This machine with only what every system has in PATH."""
    status, out, err = run(TOP, "doctor", env={**os.environ, "PATH": few_tools("few")})
    assert (status, err) == (1, ""), (status, err)
    assert out.startswith(f"{socket.gethostname()}: cannot be traced yet\n"), out
    assert check_of(out, "tools")[:2] == ("missing", "lttng not found"), out
    assert check_of(out, "session daemon")[:2] == ("missing", "lttng-sessiond not found"), out
    assert "KALLSYMS" not in out, f"without gzip it is unknown: {out}"
    assert f"buffers for {os.sysconf('SC_NPROCESSORS_CONF')} CPU" in check_of(out, "memory")[1], out
    expected = ("ok", "root", None) if os.geteuid() == 0 else None
    assert not expected or check_of(out, "permission") == expected, out


def test_clock_daemon():
    """One that is installed, though it does not synchronise."""
    tools = few_tools("with-chrony")
    with open(f"{tools}/chronyc", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho 'Leap status     : Not synchronised'\n")
    os.chmod(f"{tools}/chronyc", 0o755)
    found = check_of(run(TOP, "doctor", env={**os.environ, "PATH": tools})[1], "clock")
    assert found[1].startswith("not synchronised") and found[2].startswith("start chronyd"), found


def test_port():
    """A port that a program listens on."""
    with socket.socket() as other:
        try:
            other.bind(("127.0.0.1", 5343))
        except OSError:
            return "port 5343 is taken"
        other.listen()
        out = run(TOP, "doctor")[1]
    found = check_of(out, "ports")
    if found[0] == "ok":
        assert "5342 to 5344 are in use" in found[1], out  # used by others
    else:
        assert re.search(r"other programs use .*5343", found[1]), out
    return None


def test_loaded():
    """Facts from /sys and /proc: lttng-modules of a given version, no more modules."""
    mounts = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/sys/module"]
    if os.geteuid() or run(*mounts)[0]:
        return "not root, or no mount namespaces"
    script = """mount -t tmpfs none /sys/module
                mkdir /sys/module/lttng_tracer; echo 2.13.9-rc1 >/sys/module/lttng_tracer/version; exec "$0" doctor"""
    out = run("unshare", "--mount", "sh", "-c", script, TOP)[1]
    assert check_of(out, "kernel modules") == ("ok", "lttng-modules 2.13.9-rc1, loaded", None), out
    assert check_of(out, "known faults")[0] == "warning", out
    return None


def test_container():
    """Where only the container itself says that it is one. Here the root directory has nothing that does."""
    if os.geteuid() or run("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run")[0]:
        return "not root, or no mount namespaces"
    if shutil.which("systemd-detect-virt", path="/usr/sbin:/sbin"):
        return "systemd-detect-virt is found wherever PATH leads"
    os.makedirs("root")
    script = """mount -t tmpfs none root && mkdir root/run || exit
                for file in /*; do
                    if [ -L "$file" ]; then cp -P "$file" root
                    elif [ -d "$file" ] && [ "$file" != /run ]; then mkdir "root$file"; mount --rbind "$file" "root$file"; fi
                done
                mount -t tmpfs none root/sys/module; printf 'A=B\\0container=oci\\0' >root/run/environ; : >root/run/none
                doctor() { chroot root env PATH="$1" "$0" doctor; }
                mount --bind root/run/environ root/proc/1/environ && doctor "$1"
                mount --bind root/run/none root/proc/1/environ && container=lxc doctor "$1"
                : >root/run/.containerenv; doctor "$1\""""
    environment = {name: value for name, value in os.environ.items() if name != "container"}
    status, out, err = run("unshare", "--mount", "sh", "-c", script, TOP, few_tools("in-container", "tr", "sed"), env=environment)
    assert re.findall(r"a container \((\w+)\) cannot load them", out) == ["oci", "lxc", "podman"], (status, out, err)
    return None


def test_sessions():
    """How many sessions a restart of the session daemon would end, as its lttng lists them."""
    if os.geteuid() or run("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run")[0]:
        return "not root, or no mount namespaces"
    os.makedirs("fake")
    shutil.copy(shutil.which("sleep"), "fake/lttng-sessiond")
    for name, text in (("uname", "echo none"), ("lttng", LTTNG)):
        with open(f"fake/{name}", "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"fake/{name}", 0o755)
    script = """mount -t tmpfs none /sys/module && mount -t tmpfs none "$(readlink -f /var/run)" || exit
                [ ! -e /proc/config.gz ] || mount --bind /dev/null /proc/config.gz
                mkdir /sys/module/lttng_tracer /var/run/lttng; echo 2.13.11 >/sys/module/lttng_tracer/version
                lttng-sessiond 60 & echo $! >/var/run/lttng/lttng-sessiond.pid
                "$0" doctor; kill $!"""
    out = run("unshare", "--mount", "sh", "-c", script, TOP, env={**os.environ, "PATH": f"{os.getcwd()}/fake:{os.environ['PATH']}"})[1]
    assert check_of(out, "session daemon")[:2] == ("missing", "running, but cannot trace the kernel; a restart ends its 12 sessions"), out
    return None


if __name__ == "__main__":
    cases.run(globals())
