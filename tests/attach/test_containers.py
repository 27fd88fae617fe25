#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`attach --container`: the calls of exactly those threads that the report places in these containers."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

KEPT = (0, 3)  # the recording may lack something


def calls(directory, *options):
    """How many calls of each thread attach prints."""
    done = subprocess.run([harness.PROGRAM, "attach", "--json", "--no-waits", *options, directory], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert done.returncode in KEPT, f"{options}: {done.returncode} {done.stderr}"
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return collections.Counter((row["host"], row["tid"]) for row in rows if row["event"] == "call")


def main():
    harness.need_program()
    checks = harness.Checks()
    for _, directory, _ in harness.recordings({"containers"}):
        containers = harness.report("containers", directory, status=KEPT).rows
        threads = harness.report("cpu", directory, status=KEPT).rows
        parent = {row["container"]: row["parent"] for row in containers}
        everybody = calls(directory, "-n", "*")
        place = {(row["host"], row["tid"]): row["container"] for row in threads}

        def outside(name):
            """The containers that it is in, itself first."""
            while name and name != "host":
                yield name
                name = parent.get(name)

        def expected(name, nested):
            return {who: n for who, n in everybody.items() if who in place and
                    (name in outside(place[who]) if nested else place[who] == name)}

        inner = [row["container"] for row in containers if row["kind"] != "host"]
        checks.true(len(inner) > 3, f"only {inner}")
        for name in inner:
            for nested in (False, True):
                found = calls(directory, "--container", name + "/" * nested)
                checks.true(not nested or found, f"{name}: no calls")
                checks.equal(dict(found), expected(name, nested), f"{name}, nested: {nested}")
        number = next(row["ns"] for row in containers if row["container"] == inner[-1])
        checks.equal(calls(directory, "--container", str(number)), calls(directory, "--container", inner[-1]), "by number")
        two = calls(directory, "--container", inner[1], "--container", inner[-1])
        checks.equal(dict(two), {**expected(inner[1], False), **expected(inner[-1], False)}, "two of them")
        outer = calls(directory, "--container", "host")
        checks.equal(dict(outer), {who: n for who, n in everybody.items() if who in place and place[who] is None}, "host")
    checks.finish()


main()
