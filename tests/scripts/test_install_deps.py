#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/install-deps --kernel: which packages it installs, and what it says if they do not compile. apt is simulated.
Without apt and dnf: what is missing, if anything is. --tests: a tree that is configured without them."""
import os
import shutil
import subprocess

SCRIPT = os.path.join(os.environ["SRCDIR"], "scripts", "install-deps")
LOG = "events/timer.h:130: error: passing argument 1 of 'check_trace_callback_type_hrtimer_start': 'trace_hrtimer_start'\n"


def write(path, text, mode=0o755):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, mode)


def run(installed, log, apt_status=0):
    """Status, errors, and the packages requested from apt-get."""
    write("bin/apt-get", f'#!/bin/sh\necho "$@" >>{os.getcwd()}/asked\ncase $* in *install*) exit {apt_status};; esac\n')
    write("bin/sudo", '#!/bin/sh\nexec "$@"\n')
    write("bin/uname", "#!/bin/sh\necho 6.1.0-50-amd64\n")
    write("bin/dpkg-query", f"#!/bin/sh\n[ {installed} = no ] || echo 'install ok installed'\n")
    write("dkms/lttng-modules/2.13.9/build/make.log", log, 0o644)
    write("asked", "", 0o644)
    done = subprocess.run([SCRIPT, "--kernel"], env={**os.environ, "PATH": f"{os.getcwd()}/bin:" + os.environ["PATH"],
                                                     "DKMS_TREE": f"{os.getcwd()}/dkms"},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    with open("asked", encoding="ascii") as file:
        return done.returncode, done.stderr, file.read()


# Instead of pkg-config: of one library there is only an old version, of others none.
PKG_CONFIG = """#!/bin/sh
case $* in
*--exists*'{old} >= '*|{none}) exit 1;;
*--modversion*{old}*) echo 0.1;;
esac
"""


def elsewhere(*but, option=(), pkg_config=None, **environment):
    """The same on a system without apt and dnf that has what the build needs, but not these tools."""
    shutil.rmtree("tools", ignore_errors=True)
    os.mkdir("tools")
    for tool in {"bash", "uname", "gcc", "make", "autoconf", "pkg-config", "zstd"} - set(but):
        os.symlink(shutil.which(tool), f"tools/{tool}")
    if pkg_config:
        os.unlink("tools/pkg-config")
        write("tools/pkg-config", pkg_config)
    done = subprocess.run(["bash", SCRIPT, *option], env={**os.environ, "PATH": f"{os.getcwd()}/tools", **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def asks_apt(option, *installed, commands=()):
    """The packages requested from apt-get where only these are installed, and these commands are there, too."""
    shutil.rmtree("debian", ignore_errors=True)
    for tool in ("bash", "sh", "uname", "grep", "dirname", "id", "env", "touch"):
        write(f"debian/{tool}", f'#!/bin/sh\nexec {shutil.which(tool)} "$@"\n')
    for command in commands:
        write(f"debian/{command}", "#!/bin/sh\n")
    write("debian/sudo", '#!/bin/sh\nexec "$@"\n')
    write("debian/apt-get", f'#!/bin/sh\necho "$@" >>{os.getcwd()}/asked\n')
    write("debian/dpkg-query", '#!/bin/sh\nfor name; do :; done\ncase " %s " in *" $name "*) echo "install ok installed";; esac\n'
          % " ".join(installed))
    write("asked", "", 0o644)
    subprocess.run([shutil.which("bash"), SCRIPT, option], env={**os.environ, "PATH": f"{os.getcwd()}/debian"}, stdout=subprocess.DEVNULL,
                   check=True)
    with open("asked", encoding="ascii") as file:
        return file.read().split()


def configures_again(option, libraries):
    """Whether a tree whose build directory has these lines is configured anew; everything is installed by now."""
    os.makedirs("tree/scripts", exist_ok=True)
    shutil.copy(SCRIPT, "tree/scripts/install-deps")
    write("tree/build-other/config.mk", libraries, 0o644)
    write("tree/configure", "")
    os.utime("tree/configure", (0, 0))
    write("bin/dpkg-query", "#!/bin/sh\necho 'install ok installed'\n")
    subprocess.run(["tree/scripts/install-deps", *option], check=True,
                   env={**os.environ, "PATH": f"{os.getcwd()}/bin:" + os.environ["PATH"]})
    return os.stat("tree/configure").st_mtime > 0


def main():
    assert elsewhere() == (0, "", ""), elsewhere()
    status, out, err = elsewhere("zstd", "autoconf")
    assert (status, out) == (1, "") and err.splitlines()[1:] == ["    autoconf", "    zstd"], err
    _, _, err = elsewhere(option=["--tests"])
    assert {"    pgrep", "    git"} < set(err.splitlines()), err
    status, _, err = elsewhere(option=["--unit"])
    assert status == 1 and err.splitlines()[1:] == ["    babeltrace2", "    python3"], err
    none = PKG_CONFIG.format(old="babeltrace2", none="*'exists check'*|*lttng-ust*")
    status, _, err = elsewhere(pkg_config=none)
    assert status == 1 and err.splitlines()[1:] == ["    babeltrace2 2.0.4 or later (headers): only 0.1 is installed"], err
    _, _, err = elsewhere(option=["--tests"], pkg_config=none, TZDIR="/nowhere")
    assert {"    valgrind", "    clang", "    busybox", "    check 0.15 or later (headers)", "    lttng-ust (headers)", "    python3's bt2",
            "    tzdata"} < set(err.splitlines()), err
    _, _, err = elsewhere(option=["--lint"], pkg_config=none, TZDIR="/nowhere")
    assert {"    check 0.15 or later (headers)", "    lttng-ust (headers)"} < set(err.splitlines()) and "tzdata" not in err, err
    print("ok another distribution")
    status, err, asked = run("no", "")
    assert (status, err) == (0, ""), (status, err)
    assert asked.endswith("install lttng-tools linux-headers-6.1.0-50-amd64 lttng-modules-dkms\n"), asked
    assert run("yes", "") == (0, "", ""), run("yes", "")
    print("ok packages")
    assert "tzdata" in asks_apt("--unit") and "tzdata" not in asks_apt("--unit", "tzdata")
    assert "busybox" in asks_apt("--tests"), "no busybox"
    assert "busybox" not in asks_apt("--tests", "busybox"), "the package busybox is there"
    assert "busybox" not in asks_apt("--tests", "busybox-static", commands=["busybox"]), "it would remove busybox-static"
    print("ok packages of tests")
    for installed, apt_status in (("no", 100), ("no", 0), ("yes", 0)):
        status, err, asked = run(installed, LOG, apt_status)
        assert status == 1 and "has an argument was_armed" in err and "dpkg-reconfigure lttng-modules-dkms" in err, err
    print("ok modules that do not compile")
    status, err, _ = run("no", "", 100)
    assert status == 1 and not err, (status, err)
    print("ok apt fails")
    some, none = "CHECK_LIBS = -lcheck\nUST_LIBS = -llttng-ust\n", "CHECK_LIBS = \nUST_LIBS = \n"
    assert configures_again(["--tests"], none) and configures_again(["--lint"], none.replace("= \n", "=\n", 1))
    assert configures_again(["--unit"], none) and not configures_again(["--unit"], "CHECK_LIBS = -lcheck\nUST_LIBS = \n")
    assert not configures_again(["--tests"], some) and not configures_again([], none)
    print("ok configured before they were installed")


if __name__ == "__main__":
    main()
