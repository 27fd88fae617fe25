#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: time_to TEXT COMMAND... runs the command on a terminal of its own; as soon as TEXT is on its screen,
prints how many seconds that took, types q and waits for the end of the command, whose status is returned. The guest's
own clock decides: from outside, the time that ssh and a busy machine take would be counted, too."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

LONGEST_S = 120


def main():
    text, command = sys.argv[1].encode(), sys.argv[2:]
    start = time.monotonic()
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="linux", LC_ALL="C.UTF-8")
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen, found = b"", None
    while time.monotonic() < start + LONGEST_S:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            seen = seen[-4096:] + os.read(fd, 4096)
        except OSError:  # EIO: it has closed its terminal
            break
        if found is None and text in seen:
            found = time.monotonic() - start
            print(f"{found:.2f}", flush=True)
            os.write(fd, b"q")
    if found is None:
        sys.exit(f"not on the screen: {seen[-1000:]!r}")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main()
