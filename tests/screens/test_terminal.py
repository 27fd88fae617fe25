#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A test that raises an exception before entering its terminal's block leaves no terminal behind."""
import os
import subprocess
import sys

from terminal import Checks, need

need("tmux")
HERE = os.path.dirname(os.path.abspath(__file__))
TEST = """
import terminal
t = None
class Own(terminal.Terminal):
    def tmux(self, *args):
        global t
        t = self
        return super().tmux(*args)
{}
"""


def test_left(checks):
    for name, lines in (("while it waits for the first screen", "try:\n    Own('--help', ready='NEVER')\nfinally:\n    print(t.directory)"),
                        ("before its block", "Own(program='cat', ready=None)\nprint(t.directory)\nt.wait_program()\nraise Exception")):
        done = subprocess.run([sys.executable, "-c", TEST.format(lines)], cwd=HERE, env={**os.environ, "PATIENCE": "0.5"},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        directory = done.stdout.strip()
        checks.check(f"{name}: it was there", done.returncode == 1 and directory, done.stderr)
        checks.check(f"{name}: it is gone", not os.path.exists(directory), directory)


Checks().run(test_left)
