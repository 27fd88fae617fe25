# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of test scripts: a line for each check or test, in the format that tests/run counts."""
import os
import sys
import time
import traceback

_failed = 0


def sanitized(build=None):
    """
    Whether the build that is tested has sanitizers: sizes of memory mean nothing then, and what only compares many
    figures, all of them made by the same code, need not do it again in a build that is several times slower. tests/run
    leaves out whole directories for that reason (NOT_SANITIZED).
    """
    with open(os.path.join(build or os.environ["BUILD"], "config.mk"), encoding="utf-8") as config:
        return "-fsanitize" in config.read()


# Small recordings of each kind: of three hosts, of user space, with losses, with perf counters and probes.
FEW = {"ctf2-ust", "kprobe", "lossy-overwrite", "three-tier"}


def few():
    """
    Whether what compares figures takes only these recordings: with sanitizers, to which more figures tell nothing,
    and where another run on the same machine takes all of them (LTTNGTOP_FEW).
    """
    return sanitized() or bool(os.environ.get("LTTNGTOP_FEW"))


def check(name, good, why=""):
    global _failed
    _failed += not good
    print(f"{'ok' if good else 'not ok'} {name}{'' if good else f': {why}'}", flush=True)


def run(names):
    """
    Runs the functions test_* in names (a script's globals()), or only those named on the command line. A function fails
    by raising an exception; if it returns a string, it was skipped for that reason. Ends the script.
    """
    for name, test in [(n, f) for n, f in names.items() if n.startswith("test_")]:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        began = time.monotonic()
        try:
            skipped = test()
        except Exception as error:  # pylint: disable=broad-except
            check(name, False, f"{type(error).__name__}: {error}"[:2000])
            traceback.print_exc(file=sys.stdout)
            continue
        if skipped:
            print(f"skip {name}: {skipped}", flush=True)
        else:
            check(f"{name} ({time.monotonic() - began:.1f} s)", True)
    finish()


def finish():
    """Ends the script with status 0 if all checks passed, else 1."""
    sys.exit(1 if _failed else 0)
