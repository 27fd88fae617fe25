#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make in a tree that is not configured yet: where that is, and what it says if the program cannot be built."""
import os
import pty
import re
import shutil
import subprocess

SRCDIR = os.environ["SRCDIR"]


def configure(tree, again=False, **environment):
    """Status and errors of make, which configures a copy of the files that this needs."""
    if not again:
        shutil.rmtree(tree, ignore_errors=True)
    for name in ("Makefile", "configure.ac", "scripts/config.mk.in", "scripts/GNUmakefile.in", "src/config.h.in",
                 "src/event/tracepoints.def", "src/cmd/manual_pages.c"):
        os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
        shutil.copy(os.path.join(SRCDIR, name), os.path.join(tree, name))
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS")}
    done = subprocess.run(["make", "-C", tree, "build/config.mk"], env={**inherited, "LC_ALL": "C", "CC": "gcc", **environment},
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def cflags_with(tree, *arguments):
    """CFLAGS after make with these arguments, with nothing but these changed since the last time."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS")}
    subprocess.run(["make", "-s", "-C", tree, *arguments], env={**inherited, "LC_ALL": "C"}, check=True, stdout=subprocess.DEVNULL)
    with open(f"{tree}/build/config.mk", encoding="ascii") as file:
        return next(line for line in file if line.startswith("CFLAGS = "))[len("CFLAGS = "):].strip()


def dry_run(tree):
    """The files that make -n demo makes in a tree that is not configured."""
    configure(tree)
    for name in ("configure", "build"):
        path = os.path.join(tree, name)
        (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    before = sorted(os.listdir(tree))
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS")}
    done = subprocess.run(["make", "-n", "-C", tree, "demo"], env=inherited, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    assert "scripts/install-deps" in done.stdout, done.stdout
    return set(os.listdir(tree)) - set(before)


def on_a_terminal(tree, *flags):
    """What a program that stands for the monitor says of its output, in make demo on a terminal."""
    configure(tree)
    os.makedirs(f"{tree}/build/traces/three-tier", exist_ok=True)
    for name, text in (("main.o", ""), ("lib.a", ""), ("monitor", "#!/bin/sh\n[ -t 1 ] && has=yes || has=no; echo $has >said\n")):
        with open(f"{tree}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    os.chmod(f"{tree}/monitor", 0o755)
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS")}
    master, slave = pty.openpty()
    subprocess.run(["make", *flags, "-C", tree, "demo", "INSTALL_DEPS=true", "PROGRAM=./monitor", "MAIN=main.o", "ARCHIVE=lib.a", "SOURCES="],
                   env=inherited, stdin=slave, stdout=slave, stderr=slave, check=True)
    os.close(slave)
    os.close(master)
    with open(f"{tree}/said", encoding="ascii") as file:
        return file.read().strip()


def uninstalls(tree, *arguments, **environment):
    """The directory where make would look for the program."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS", "PREFIX", "DESTDIR")}
    done = subprocess.run(["make", "-n", "-C", tree, "uninstall", *arguments], env={**inherited, "LC_ALL": "C", **environment},
                          stdout=subprocess.PIPE, text=True, check=True)
    return re.search(r'^rm -f "([^"]+)/lttngtop" ', done.stdout, re.M)[1]


def archived(tree, *names):
    """The objects in the archive of a tree with these sources only."""
    shutil.rmtree(f"{tree}/src/base", ignore_errors=True)
    os.makedirs(f"{tree}/src/base")
    shutil.copy(os.path.join(SRCDIR, "src/base/banned.h"), f"{tree}/src/base")
    for name in names:
        with open(f"{tree}/src/base/{name}.c", "w", encoding="ascii") as file:
            file.write(f"int {name};\n")
    for name in os.listdir(f"{tree}/src/base"):
        os.utime(f"{tree}/src/base/{name}", (10**9, 10**9))  # no object is older
    inherited = {k: v for k, v in os.environ.items() if k not in ("BUILD", "CONFIGURE_FLAGS", "MAKEFLAGS")}
    sources = " ".join(f"src/base/{name}.c" for name in names)
    done = subprocess.run(["make", "-C", tree, "build/liblttngtop.a", f"SOURCES={sources}"], env={**inherited, "LC_ALL": "C"}, stdout=subprocess.PIPE, text=True,
                          check=True)
    return re.findall(r" AR ", done.stdout), subprocess.run(["ar", "t", "build/liblttngtop.a"], cwd=tree, stdout=subprocess.PIPE, text=True,
                                                            check=True).stdout.split()


def files_below(tree):
    """The contents of the tracked files there."""
    found = {}
    for name in ("configure.ac", "scripts/config.mk.in", "scripts/GNUmakefile.in", "src/config.h.in"):
        with open(os.path.join(tree, name), encoding="ascii") as file:
            found[name] = file.read()
    return found


def main():
    status, err = configure("packaged")
    assert status == 0, err
    try:
        subprocess.run(["autoreconf", "-f", "-i"], cwd="packaged", check=True, capture_output=True)
        assert files_below("packaged") == files_below(SRCDIR), "autoreconf has changed a tracked file"
        print("ok autoreconf, as for a package")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skip autoreconf: {error}")
    status, err = configure("a path")
    assert status == 0 and os.path.exists("a path/build/config.mk"), err
    print("ok a path with a space")
    for flags, cflags in (("CFLAGS='-O1 -g'", "-O1 -g"), ('CFLAGS="-O3 -g"', "-O3 -g")):
        status, err = configure("a path", again=True, CONFIGURE_FLAGS=flags)
        with open("a path/build/config.mk", encoding="ascii") as file:
            assert status == 0 and not err and f"\nCFLAGS = {cflags}\n" in file.read(), err
    print("ok flags with blanks, in a tree that is configured already")
    flags = "CONFIGURE_FLAGS=CFLAGS='-O1 -pipe'"
    assert cflags_with("a path", "build/config.mk") == "-O3 -g"
    assert cflags_with("a path", "build/config.mk", flags) == "-O1 -pipe"
    configured = os.stat("a path/build/config.mk").st_mtime_ns
    assert cflags_with("a path", "build/config.mk", flags) == "-O1 -pipe"
    assert os.stat("a path/build/config.mk").st_mtime_ns == configured, "configured again"
    assert cflags_with("a path", "build/config.mk") == "-O1 -pipe"
    print("ok new flags, and the same ones again")
    assert cflags_with("a path", "clean", "build/config.mk", flags) == "-O1 -pipe"
    print("ok clean, and another goal")
    assert archived("a path", "a", "b") == ([" AR "], ["a.o", "b.o"])
    assert archived("a path", "a", "b") == ([], ["a.o", "b.o"])
    assert archived("a path", "a") == ([" AR "], ["a.o"])
    assert archived("a path", "a", "b") == ([" AR "], ["a.o", "b.o"])
    print("ok an object whose source was removed")
    made = dry_run("dry")
    assert not made, made
    print("ok make -n makes nothing")
    for flags in ([], ["-O"], ["-j2", "-O"]):
        assert on_a_terminal("dry", *flags) == "yes", f"no terminal with {flags}"
    print("ok the demo has the terminal")
    status, err = configure("exported", BUILD_CFLAGS="-O2 -march=build", BUILD_LDFLAGS="-L/of/build")
    with open("exported/build/config.mk", encoding="ascii") as file:
        text = file.read()
    assert status == 0 and "\nBUILD_CFLAGS = " in text and "-march=build" not in text and "/of/build" not in text, err + text
    print("ok flags for the machine that builds")
    shutil.copytree("exported/build", "exported/elsewhere")
    subprocess.run(["sed", "-i", "s:^prefix = .*:prefix = /elsewhere:", "exported/elsewhere/config.mk"], check=True)
    assert uninstalls("exported", "PREFIX=/opt") == "/opt/bin"
    assert uninstalls("exported", PREFIX="/nowhere", BUILD="elsewhere") == "/usr/local/bin"
    assert uninstalls("exported", "BUILD=elsewhere") == "/elsewhere/bin"
    assert uninstalls("exported", "PREFIX=") == "/usr/local/bin"
    print("ok directories, only from the command line")
    os.mkdir("elsewhere")
    subprocess.run(["../a path/configure", "-q", "--prefix=/usr"], cwd="elsewhere", check=True)
    assert uninstalls("elsewhere") == "/usr/bin"
    assert uninstalls("elsewhere", "-j2", "PREFIX=/opt") == "/opt/bin"
    assert uninstalls("elsewhere", "DESTDIR=/stage") == "/stage/usr/bin"
    assert uninstalls("elsewhere", "DESTDIR=stage") == os.path.realpath("elsewhere") + "/stage/usr/bin"
    done = subprocess.run(["make", "-C", "elsewhere", "clean"], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode and "remove this directory instead" in done.stderr and os.path.exists("elsewhere/config.mk"), done
    print("ok make in a directory where configure was run")
    os.mkdir("a path/inside")
    subprocess.run(["../configure", "-q", "--prefix=/usr"], cwd="a path/inside", check=True)
    assert uninstalls("a path/inside") == "/usr/bin"
    os.symlink("a path", "link")
    subprocess.run([os.path.abspath("link/configure"), "-q", "--prefix=/opt"], cwd="a path/inside", check=True)
    assert uninstalls("a path/inside") == "/opt/bin"
    assert uninstalls("a path/inside", "DESTDIR=stage") == os.path.realpath("a path/inside") + "/stage/opt/bin"
    print("ok the same inside a path with a space")
    status, err = configure("tree", ac_cv_func_closefrom="no")
    assert status and "error: the C library lacks closefrom: lttngtop needs glibc 2.34 or later\n" in err, err
    print("ok another C library")
    status, err = configure("tree", CPPFLAGS="-U__SIZEOF_INT128__")
    assert status and "error: gcc has no 128-bit integers: lttngtop runs on 64-bit machines only\n" in err, err
    print("ok a 32-bit machine")
    os.makedirs("modules")
    status, err = configure("tree", PKG_CONFIG_LIBDIR=os.path.abspath("modules"))
    assert status and "error: babeltrace2 >= 2.0.4 not found: run scripts/install-deps\n" in err, err
    assert "No rule to make target" not in err, err
    print("ok a library is missing")
    with open("modules/babeltrace2.pc", "w", encoding="ascii") as file:
        file.write("Name: Babeltrace\nDescription: old\nVersion: 2.0.1\n")
    status, err = configure("tree", PKG_CONFIG_LIBDIR=os.path.abspath("modules"))
    assert status and "error: babeltrace2 >= 2.0.4 not found: this system has only 2.0.1, a newer one is needed\n" in err, err
    print("ok a library is too old")


if __name__ == "__main__":
    main()
