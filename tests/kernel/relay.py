# SPDX-License-Identifier: GPL-2.0-or-later
"""A relayd on this machine to which guests stream."""
import os
import subprocess
import sys
import tempfile

import guest

sys.path.append(os.path.join(guest.HERE, "..", "live"))
import sandbox  # noqa: E402


class Relayd:
    """A relayd that the guests can reach, and to which their
    "record" streams, with these options; use it with "with"."""

    def __init__(self, *guests):
        os.chmod(guest.DIRECTORY, 0o755)  # the daemon runs as another user
        self.guests = guests
        self.directory = tempfile.TemporaryDirectory(dir=guest.DIRECTORY)
        os.chmod(self.directory.name, 0o755)
        self.user = sandbox.User(os.path.join(self.directory.name, "relay"))

    def __enter__(self):
        try:
            self.ports, self.output = self.user.start_relayd()
            for g in self.guests:
                self.connect(g)
        except BaseException:
            self.__exit__()
            raise
        control, data, self.live_port = self.ports
        self.url = f"net://127.0.0.1:{self.live_port}"
        self.options = f"--live net://127.0.0.1:{control}:{data} --live-port {self.live_port} --live-timer 200ms"
        return self

    def __exit__(self, *_):
        try:
            for g in self.guests:
                g.run("lttng --no-sessiond destroy --all")
        finally:
            self.user.end()
            self.directory.cleanup()

    def connect(self, g):
        """Makes the relayd reachable again for a guest that was reset."""
        for port in self.ports:
            g.backward(port, port)

    def viewers(self):
        """How many of its sessions have a viewer."""
        out = subprocess.run(["babeltrace2", "-i", "lttng-live", self.url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, timeout=guest.PATIENCE, check=False).stdout
        return out.count(", 1 client(s)")
