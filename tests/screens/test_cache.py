#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache: a recording that was read before looks the same without being read again, and whatever is
wrong with the cache costs only the time to read the recording."""

import os
import re
import shutil
import tempfile
import time

from terminal import PATIENCE, Checks, Failed, Terminal, need, skip, unpack

need("tmux", "zstd")
ONE = unpack("hotplug") or skip("no recording hotplug")
THREE = unpack("three-tier") or skip("no recording three-tier")
PANES = "1234567890"
PLACES = ("+1s", "+4s", "+7s")


class Cache:
    """A cache directory of its own; use it with "with"."""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="cache-")
        self.directory = os.path.join(self.home, "lttngtop")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def open(self, *args, size=(200, 60)):
        return Terminal("--paused", "--log", os.path.join(self.home, "log"), *args, size=size,
                        env={"XDG_CACHE_HOME": self.home}, ready=r"\[(2026-11-20 )?1").wait_read()

    def files(self):
        return sorted(os.listdir(self.directory)) if os.path.isdir(self.directory) else []

    def path(self):
        return os.path.join(self.directory, self.files()[0])

    def wait_files(self, n):
        """Waits until there are n files, all of them complete."""
        until = time.monotonic() + PATIENCE
        while len(self.files()) != n or any("." in name for name in self.files()):
            if time.monotonic() > until:
                raise Failed(f"waited for {n} files, there are {self.files()}")
            time.sleep(0.02)

    def fill(self, *args):
        with self.open(*args):
            self.wait_files(1)

    def was_read(self):
        """Whether the last monitor opened the cache; forgets its log."""
        path = os.path.join(self.home, "log")
        with open(path) as f:
            text = f.read()
        os.unlink(path)
        return "cache" if re.search("opened from the cache", text) else "read"


def look(terminal, directory):
    """Screens of all panes at some places, and the lists written to files."""
    seen = []
    for place in PLACES:
        terminal.keys("b").text(place).keys("Enter")
        for pane in PANES.replace("8", ""):
            seen.append(terminal.press(pane))
            path = os.path.join(directory, "list.csv")
            terminal.keys("x", "C-u").text(path).keys("Enter")
            terminal.wait("written to")
            with open(path) as f:
                seen.append(f.read().split("\n"))
            os.unlink(path)
    terminal.keys(")", "1")
    seen.append(terminal.press("F5"))
    return seen


def differences(a, b):
    for x, y in zip(a, b):
        for i, (p, q) in enumerate(zip(x, y)):
            if p != q:
                return f"row {i}\n- {p}\n+ {q}"
    return "" if [len(x) for x in a] == [len(y) for y in b] else "more rows"


def look_the_same(checks, name, *args):
    """The data opened from the cache is the data that was read, in every pane and list."""
    with Cache() as cache:
        with cache.open("--no-cache", *args) as t:
            fresh = look(t, cache.home)
        checks.equal(f"{name}: nothing is kept with --no-cache", (cache.was_read(), cache.files()), ("read", []))
        with cache.open(*args) as t:
            checks.equal(f"{name}: the first reading is the same", differences(fresh, look(t, cache.home)), "")
            cache.wait_files(1)
        checks.equal(f"{name}: the first opening reads", cache.was_read(), "read")
        with cache.open(*args) as t:
            checks.equal(f"{name}: the cache is the same", differences(fresh, look(t, cache.home)), "")
            # panes that need events read the recording again
            t.keys("8")
            t.wait(r"^ *TID .*\n +\d")
        checks.equal(f"{name}: the second opening does not read", cache.was_read(), "cache")
        checks.equal(f"{name}: files are the user's alone",
                     [os.stat(p).st_mode & 0o777 for p in (cache.directory, cache.path())], [0o700, 0o600])


def one_host(checks):
    look_the_same(checks, "one host", ONE)


def several_hosts(checks):
    """With the clocks on which everything was cut."""
    look_the_same(checks, "three hosts", THREE)


def own_clocks(checks):
    look_the_same(checks, "by their own clocks", "--no-sync", THREE)


def other_options(checks):
    """Another recording or option uses another file, unless the option does not affect the history."""
    with Cache() as cache:
        cache.fill(ONE)
        cache.was_read()
        for args in (("--utc",), ("--interval", "2s"), ("--wait-memory", "64M")):
            with cache.open(*args, ONE):
                pass
            checks.equal(f"{args} opens the same", (cache.was_read(), len(cache.files())), ("cache", 1))
        with cache.open("--history-size", "64M", ONE):
            cache.wait_files(2)
        checks.equal("another history is another file", cache.was_read(), "read")


def copy_of(recording, directory):
    copy = os.path.join(directory, "copy")
    shutil.copytree(recording, copy)
    return copy


def changed_recording(checks):
    with Cache() as cache:
        copy = copy_of(ONE, cache.home)
        cache.fill(copy)
        cache.was_read()
        stream = next(os.path.join(d, name) for d, _, names in os.walk(copy) for name in names if name.endswith("_0"))
        st = os.stat(stream)
        with open(stream, "r+b") as f:
            first = f.read(1)
            f.seek(0)
            f.write(first)
        os.utime(stream, ns=(st.st_atime_ns, st.st_mtime_ns + 1))
        with cache.open(copy):
            cache.wait_files(2)
        checks.equal("a recording that was written to is read again", cache.was_read(), "read")


def damage(path, how):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    if how == "short":
        data = data[:-1]
    elif how == "empty":
        data = b""
    elif how == "long":
        data += b"x"
    else:
        data[int(len(data) * how)] ^= 0x10
    # a file of its own, like those the program writes: files are never changed in place
    os.unlink(path)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o600)


def damaged(checks):
    """Whatever happened to the file, the recording is read again, and a good file replaces the bad one."""
    with Cache() as cache:
        cache.fill(ONE)
        cache.was_read()
        for how in ("short", "empty", "long", 0.0, 0.001, 0.5, 0.999999):
            damage(cache.path(), how)
            bad = os.stat(cache.path()).st_ino
            with cache.open(ONE):
                until = time.monotonic() + PATIENCE
                while os.stat(cache.path()).st_ino == bad and time.monotonic() < until:
                    time.sleep(0.02)
            checks.equal(f"damaged ({how}): read again", cache.was_read(), "read")
        with cache.open(ONE):
            pass
        checks.equal("a good file takes the place of a bad one", cache.was_read(), "cache")


def of_others(checks):
    """A file that others may write is not opened."""
    with Cache() as cache:
        cache.fill(ONE)
        cache.was_read()
        os.chmod(cache.path(), 0o620)
        with cache.open(ONE):
            cache.wait_files(1)
        checks.equal("a file that others may write is not read", cache.was_read(), "read")


def cannot_write(checks):
    with Cache() as cache:
        with open(cache.directory, "w"):
            pass
        with cache.open(ONE) as t:
            t.keys("L")
            t.wait("cache: cannot create")
        checks.equal("a cache that cannot be written is only mentioned", cache.was_read(), "read")


def bounded(checks):
    """The recording that has not been opened for the longest is removed."""
    with Cache() as cache:
        cache.fill(ONE)
        first = cache.files()[0]
        size = os.stat(cache.path()).st_size
        for mib in (65, 66):
            with cache.open("--history-size", f"{mib}M", ONE):
                cache.wait_files(mib - 63)
        for name in os.listdir(cache.directory):
            os.utime(os.path.join(cache.directory, name), (1e9, 1e9 + (name == first)))
        with open(os.path.join(cache.directory, "notes.txt"), "w") as f:
            f.write("x" * size)
        with open(os.path.join(cache.directory, "0" * 64 + ".ABCDEF"), "w") as f:
            f.write("x")
        os.utime(os.path.join(cache.directory, "0" * 64 + ".ABCDEF"), (1e9, 1e9))
        with cache.open("--history-size", "67M", "--cache-size", str(2 * size + size // 2), ONE):
            until = time.monotonic() + PATIENCE
            while len(cache.files()) != 3 and time.monotonic() < until:
                time.sleep(0.02)
        left = cache.files()
        checks.equal("two files and one of the user's are left", (len(left), first in left, "notes.txt" in left),
                     (3, True, True))


if __name__ == "__main__":
    Checks().run(one_host, several_hosts, own_clocks, other_options, changed_recording, damaged, of_others, cannot_write, bounded)
