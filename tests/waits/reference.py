# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's wake-up graph and paths compared with those of the reference, critpath.py.

Both become lists of pieces (start, end, (host, tid), label), with neighbours of the same thread and label joined: how
often a stretch on a CPU is cut at wake-ups does not count as a difference.
"""

import collections
import copy
import decimal
import importlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import harness  # noqa: E402

DUMP = os.path.join(harness.BUILD, "tests", "waits", "dump_waits")
REFERENCE = os.path.join(harness.SHARED, "reference")

SLOPE_BITS = 50  # of clock/map.c

# The events of packets that its hosts received have no headers: none is matched.
WITHOUT_HEADERS = {"web-nogro"}

# What the reference draws where the graph has no information.
FILLS = {"first": "UNKNOWN", "stitch": "DEFAULT", "across": "->DEFAULT"}


def need_dump():
    if not os.access(DUMP, os.X_OK):
        harness.skip(f"{DUMP} is not built")


def load_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def label_of(segment):
    state, fill = segment[5], segment[6]
    if fill:
        return FILLS[fill]
    return "->NETWORK" if state == "wire" else state.upper()


def join(pieces):
    """Joins neighbours of the same thread and label."""
    out = []
    for begin, end, who, label in pieces:
        if out and out[-1][1] == begin and out[-1][2:] == [who, label]:
            out[-1][1] = end
        elif begin != end:
            out.append([begin, end, who, label])
    return [tuple(p) for p in out]


def cut(pieces, end):
    return [(a, min(b, end), who, label) for a, b, who, label in pieces if a < end]


def totals(pieces):
    sums = collections.Counter()
    for begin, end, who, label in pieces:
        sums[who, label] += end - begin
    return sums


class Dump:
    """Parses the output of dump_waits: paths by (host, tid) as lists of lives, each (start, end, pieces)."""

    def __init__(self, *arguments):
        lines = subprocess.run([DUMP, *arguments], check=True, stdout=subprocess.PIPE).stdout.splitlines()
        objects = [json.loads(line) for line in lines]
        self.info = objects[0]
        self.hosts = self.info["hosts"]
        self.rows = [o for o in objects if "row" in o]
        self.paths = collections.defaultdict(list)
        for o in objects:
            if "path" in o:
                pieces = join([s[0], s[1], (self.hosts[s[2]], s[3]), label_of(s)] for s in o["segments"])
                self.paths[self.hosts[o["host"]], o["tid"]].append((o["begin"], o["end"], pieces))
        for lives in self.paths.values():
            lives.sort(key=lambda life: life[0])


def load_reference():
    """The module critpath; None if it or what it needs is missing."""
    if not os.path.exists(os.path.join(REFERENCE, "critpath.py")):
        return None
    sys.path.insert(0, REFERENCE)
    sys.dont_write_bytecode = True
    try:
        import critpath
        importlib.import_module("ctfread")  # needs bt2
    except ImportError:
        return None
    return critpath


class Clock:
    """A host's clock against the common one: a line in integers, so that dump_waits computes the same to the ns."""

    def __init__(self, slope, intercept, host_ns):
        self.host_ns = host_ns
        self.ref_ns = int(slope * host_ns + intercept)
        self.excess = round((slope - 1) * (1 << SLOPE_BITS))

    def __call__(self, host_ns):
        behind = host_ns - self.host_ns
        return self.ref_ns + behind + (behind * self.excess >> SLOPE_BITS)


def clocks_of(critpath, directory):
    """host's ID -> Clock and (name, Clock) of each host that is corrected, from the reference's synchronisation."""
    sync, _, matches, names, _ = critpath.syncmod.run([directory])
    at = {end[1]: end[2] for match in matches for end in match}
    clocks = {}
    for host, line in sync.transforms().items():
        slope, intercept = (decimal.Decimal(critpath.syncmod.fmt(x)) for x in line)
        if (slope, intercept) != (1, 0):
            clocks[host] = Clock(slope, intercept, at[host])
    return clocks, [f"{names[h]}={c.host_ns},{c.ref_ns},{c.excess}" for h, c in clocks.items()]


class Kept:
    """
    Keeps the events that the reference wants of each trace while it is used with "with": reading them takes longer than
    all else, and hosts are looked at one by one and together.
    """

    def __init__(self, critpath):
        self.ctfread = importlib.import_module("ctfread")
        self.read, self.wanted = self.ctfread.trace_events, critpath.WANT.__contains__
        self.traces = {}  # path -> events, counts by name, losses

    def __enter__(self):
        self.ctfread.trace_events = self.trace_events

    def __exit__(self, *_):
        self.ctfread.trace_events = self.read

    def trace_events(self, path, want=None, counts=None, lost=None):
        if path not in self.traces:
            names, losses = {}, []
            self.traces[path] = list(self.read(path, self.wanted, names, losses)), names, losses
        events, names, losses = self.traces[path]
        if counts is not None:
            counts.update({name: counts.get(name, 0) + n for name, n in names.items()})
        if lost is not None:
            lost += losses
        # those who get an event change its time
        return (copy.copy(event) for event in events if want(event.name))


class Built:
    """The reference's graph of a recording, on the hosts' own clocks except for those given."""

    def __init__(self, critpath, directory, clocks, sane=False, loose=False):
        critpath.syncmod.LOOSE = loose
        self.critpath = critpath
        self.builder = self.load(directory, clocks, sane)
        self.graph = self.builder.g
        self.host = self.builder.hostname

    def load(self, directory, clocks, sane):
        ctfread = importlib.import_module("ctfread")
        experiment = ctfread.experiment
        ctfread.experiment = lambda paths, want, _, *rest: experiment(paths, want, clocks, *rest)
        try:
            return self.critpath.load([directory], False, sane)
        finally:
            ctfread.experiment = experiment

    def who(self, row):
        return (self.host.get(row[0], row[0]), row[1])

    def threads(self):
        return [r for r in self.graph.v if r[1] > 0]

    def path(self, row, graph=None):
        """The pieces of the row's path; None if the reference fails."""
        try:
            cp = self.critpath.critical_path(graph or self.graph, row)
        except self.critpath.GraphError:
            return None
        pieces = [[a, b, self.who(r), st] for (r, a), (b, st, q) in cp.out_h.items()]
        pieces += [[a[1], b[1], self.who(b[0]), "->" + b[2]] for a, links in cp.out_v.items() for b in links]
        return join(sorted(pieces, key=lambda p: (p[0], p[1])))
