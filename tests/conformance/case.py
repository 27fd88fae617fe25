# SPDX-License-Identifier: GPL-2.0-or-later
"""One conformance case: a small trace with times of a few ns, and the results expected of it."""

import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402


class Case:
    def __init__(self, name):
        directory = os.path.join(harness.CONFORMANCE, name)
        if not os.path.isdir(directory):
            harness.skip(f"no conformance case {name} in {harness.CONFORMANCE}")
        harness.need_program()
        self.name = name
        self.ctf = os.path.join(directory, "ctf")
        with open(os.path.join(directory, "expected.json"), encoding="utf-8") as f:
            self.expected = json.load(f)
        self.t0 = self.expected["t0"]

    def only_streams(self, *names):
        """A copy of the host's trace with only these streams; removed at the end of the test."""
        directory = tempfile.TemporaryDirectory(prefix="lttngtop-case-")
        self.kept = getattr(self, "kept", []) + [directory]
        target = os.path.join(directory.name, "host", "kernel")
        os.makedirs(target)
        for name in ("metadata",) + names:
            shutil.copy(os.path.join(self.ctf, "host", "kernel", name), target)
        return directory.name

    def rows(self, table, begin, end, ctf=None):
        """Rows of [begin, end[ in the case's own times."""
        return harness.report(table, "--begin", harness.stamp(self.t0 + begin), "--end", harness.stamp(self.t0 + end),
                              ctf or self.ctf).rows

    def each_ns(self, table, ctf=None):
        """t -> rows of [t, t + 1["""
        return {r.begin - self.t0: r.rows for r in harness.run(table, "--interval", "1ns", ctf or self.ctf)}
