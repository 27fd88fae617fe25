#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What files are called: sockets with a peer are of a family, /proc, /sys and /dev are no files, disks have one name."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402


def main():
    harness.need_program()
    checks = harness.Checks()
    served = [row for row in harness.report("files", harness.bundled("rpc-hog-local"), "--where", "comm:rpcd",
                                           "--columns", "fd,kind,peer").rows if row["peer"]]
    checks.true(len(served) >= 3, f"sockets of rpcd with a peer: {len(served)}")
    for row in served:
        checks.equal(row["kind"], "inet", f"kind of fd {row['fd']} with peer {row['peer']}")
    # programs of nfs go to /sys/kernel/sunrpc from the root, directory by directory
    below = [row for row in harness.report("files", harness.bundled("nfs")).rows
             if re.match(r"/(proc|sys|dev)(/|$)", row["path"] or "")]
    checks.true(any(row["path"] == "/sys/kernel" for row in below), "nothing below /sys")
    for row in below:
        checks.true(row["kind"] != "file", f"{row['path']} is of kind {row['kind']}")
    causes = {row["cause"] for row in harness.report("blocking", harness.bundled("three-tier"), "--log").rows}
    checks.true("vda" in causes and not any(re.match(r"\d+:\d+", cause or "") for cause in causes), f"causes of waits: {causes}")
    checks.finish()


main()
