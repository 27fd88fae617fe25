#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording is unpacked once, and again when its archive has changed."""
import os
import shutil
import subprocess
import tempfile

import harness
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
    finish()


main()
