#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A recording is unpacked once, and again when its archive has changed. What babeltrace2 could not read is not kept as the
truth. A script that has checked nothing fails.
"""
import contextlib
import io
import os
import shutil
import subprocess
import tempfile

import harness
import oracle
from cases import check, finish


def pack(top, text):
    os.makedirs(os.path.join(top, "made"), exist_ok=True)
    with open(os.path.join(top, "made", "metadata"), "w", encoding="ascii") as file:
        file.write(text)
    archive = os.path.join(top, "made.tar.zst")
    subprocess.run(["tar", "--use-compress-program=zstd", "-cf", archive, "-C", top, "made"], check=True)
    return archive


def text_of(directory):
    with open(os.path.join(directory, "metadata"), encoding="ascii") as file:
        return file.read()


def check_oracle(top):
    """babeltrace2 ends with an error after some events."""
    directory, tool = os.path.join(top, "recording"), os.path.join(top, "babeltrace2")
    os.mkdir(directory)
    with open(tool, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho '[7] host power_cpu_frequency: { cpu_id = 0 }, { state = 1 }'\nexit $STATUS\n")
    os.chmod(tool, 0o755)
    os.environ.update(PATH=f"{top}:{os.environ['PATH']}", STATUS="1")
    for name, function in (("events", oracle.of), ("the span", oracle.span)):
        try:
            found = function(directory)
            check(f"{name} of a failed babeltrace2", False, found)
        except RuntimeError as error:
            check(f"{name} of a failed babeltrace2", "exit status 1" in str(error), error)
    os.environ["STATUS"] = "0"
    check("they are not kept", oracle.of(directory).last == 7 and oracle.span(directory) == (7, 7))


def check_finish():
    for number, status in ((0, 1), (1, 0)):
        checks = harness.Checks()
        for _ in range(number):
            checks.true(True, "good")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                checks.finish()
        except SystemExit as end:
            check(f"a script with {number} checks", end.code == status, end.code)


def main():
    if not shutil.which("zstd"):
        harness.skip("zstd is not installed")
    with tempfile.TemporaryDirectory() as top:
        harness.BUILD = os.path.join(top, "build")
        archive = pack(top, "old")
        first = harness.unpack(archive, "recordings")
        check("unpacked", text_of(first) == "old" and os.path.basename(first) == "made", first)
        kept = os.stat(first).st_ino
        check("once", harness.unpack(archive, "recordings") == first and os.stat(first).st_ino == kept)
        pack(top, "new")
        second = harness.unpack(archive, "recordings")
        check("the archive has changed", text_of(second) == "new", text_of(second))
        check("whoever reads the old one can continue", text_of(first) == "old")
        check_oracle(top)
    check_finish()
    finish()


main()
