# SPDX-License-Identifier: GPL-2.0-or-later
"""A second, slow and simple reader of recordings: parses the text that babeltrace2 prints.

It shares no code with the program, so if the two differ, one of them is wrong. Times are the guest's CLOCK_MONOTONIC (the
trace's raw clock).
"""

import bisect
import collections
import fcntl
import os
import pickle
import re
import subprocess

LINE = re.compile(rb"\[(\d+)\] (?:\S+ )?([\w:.+-]+): \{ cpu_id = (\d+) \}, (.*)", re.S)
TID = re.compile(rb"\btid = (-?\d+)")
PID = re.compile(rb"\bpid = (-?\d+)")
FIELD = re.compile(rb"(\w+) = (\"(?:[^\"\\]|\\.)*\"|-?\w+)")

Call = collections.namedtuple("Call", "ts tid pid name ret args begin")
Fork = collections.namedtuple("Fork", "ts parent_tid parent_pid child_tid child_pid")

# How a call's return value moves bytes: 'r' read, 'w' write, 'b' both; and whether the kernel adds it
# to the caller's rchar/wchar (fs/read_write.c of Linux 6.1).
READS = {"read": 1, "pread64": 1, "readv": 1, "preadv": 1, "preadv2": 1,
         "recvfrom": 0, "recvmsg": 0, "recv": 0, "getdents64": None}
WRITES = {"write": 1, "pwrite64": 1, "writev": 1, "pwritev": 1, "pwritev2": 1,
          "sendto": 0, "sendmsg": 0, "send": 0, "vmsplice": 0}
UNKNOWN = {295: "preadv", 296: "pwritev", 326: "copy_file_range", 327: "preadv2", 328: "pwritev2"}  # x86-64
CREATE = {"clone", "clone3", "fork", "vfork"}  # they return twice: 0 in the child
BOTH = {"sendfile": 1, "sendfile64": 1, "copy_file_range": 1, "splice": 0, "tee": 0}

HANDLER_ENTRIES = {"irq_handler_entry", "irq_softirq_entry", "timer_hrtimer_expire_entry"}
HANDLER_EXITS = {"irq_handler_exit", "irq_softirq_exit", "timer_hrtimer_expire_exit"}


def number(text):
    text = text.decode()
    if text.startswith("0x"):
        return int(text, 16)
    if len(text) > 1 and text.startswith("0") and text.isdigit():
        return int(text, 8)
    return int(text)


def fields(payload):
    """The top-level fields of a payload, numbers as int and strings as bytes, which suffices here."""
    out = {}
    for name, value in FIELD.findall(payload):
        if value[:1] == b'"':
            out[name.decode()] = value[1:-1]
        else:
            try:
                out[name.decode()] = number(value)
            except ValueError:
                out[name.decode()] = value
    return out


def printed(directory):
    """babeltrace2's lines, with raw clocks. Fails if it could not read everything: what it printed proves nothing then."""
    with subprocess.Popen(["babeltrace2", "--no-delta", "--clock-cycles", directory],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield from process.stdout
    if process.returncode:
        raise RuntimeError(f"babeltrace2 {directory}: exit status {process.returncode}")


class Oracle:
    def __init__(self, directory):
        self.count = collections.Counter()
        self.switches = collections.defaultdict(list)   # cpu -> [(ts, prev, next, prev_state)]
        self.slices = collections.defaultdict(list)     # tid -> [[cpu, begin, end or None]]
        self.ins = collections.defaultdict(list)        # tid -> [ts of switch-in]
        self.wakes = collections.defaultdict(list)      # tid -> [(ts, name)] of sched_waking, sched_wakeup*
        self.outs = collections.defaultdict(list)       # tid -> [(ts, prev_state)] of switch-out
        self.calls = []                                 # byte-moving calls
        self.orphans = collections.Counter()            # (tid, call) -> exits without an entry, except those of children
        self.forks = []
        self.execs = []
        self.exits = {}
        self.idle_irqs = collections.defaultdict(list)  # cpu -> [(begin, end)] of handlers that ran while idle
        self.blocks = []                                # (name, tid, fields) of all block_*
        self.disk = []                                  # (ts, name, fields) of block_rq_*
        self.net = []
        self.first = self.last = None
        self.contexts = {}                              # tid -> pid
        self.unfinished = {}
        self.read(directory)

    def read(self, directory):
        pending = {}
        current = {}
        idle = {}                                       # cpu -> [nesting, begin] while it is idle
        for line in printed(directory):
            m = LINE.match(line)
            if not m:
                continue
            ts, name, cpu, rest = int(m[1]), m[2].decode(), int(m[3]), m[4]
            if self.first is None:
                self.first = ts
            self.last = ts
            self.count[name] += 1
            context, sep, payload = rest.partition(b" }, {")
            if not sep:
                context, payload = b"", rest
            if name == "sched_switch":
                f = fields(payload)
                prev, nxt = f["prev_tid"], f["next_tid"]
                self.switches[cpu].append((ts, prev, nxt, f["prev_state"]))
                if cpu in current:
                    current[cpu][2] = ts
                else:
                    self.slices[prev].append([cpu, None, ts])
                current[cpu] = [cpu, ts, None]
                idle[cpu] = [0, 0] if nxt == 0 else None
                self.slices[nxt].append(current[cpu])
                self.ins[nxt].append(ts)
                self.outs[prev].append((ts, f["prev_state"]))
                continue
            if name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
                self.wakes[fields(payload)["tid"]].append((ts, name))
                continue
            tid = TID.search(context)
            if not tid:
                cur = self.switches[cpu][-1][2] if self.switches[cpu] else None
                tid = cur
            else:
                tid = int(tid[1])
            pid = PID.search(context)
            if pid and tid is not None:
                self.contexts[tid] = int(pid[1])
            if name in HANDLER_ENTRIES and idle.get(cpu):
                state = idle[cpu]
                if state[0] == 0:
                    state[1] = ts
                state[0] += 1
            elif name in HANDLER_EXITS and idle.get(cpu) and idle[cpu][0]:
                state = idle[cpu]
                state[0] -= 1
                if state[0] == 0:
                    self.idle_irqs[cpu].append((state[1], ts))
            if name.startswith("syscall_entry_"):
                call = name[14:]
                if call == "unknown":
                    call = UNKNOWN.get(fields(payload)["id"], call)
                pending[tid] = (ts, call, payload)
            elif name.startswith("syscall_exit_"):
                call = name[13:]
                if call == "unknown":
                    call = UNKNOWN.get(fields(payload)["id"], call)
                begin = pending.pop(tid, None)
                if (not begin or begin[1] != call) and not (call in CREATE and fields(payload)["ret"] == 0):
                    self.orphans[tid, call] += 1
                if call in READS or call in WRITES or call in BOTH:
                    f = fields(payload)
                    args = fields(begin[2]) if begin and begin[1] == call else {}
                    self.calls.append(Call(ts, tid, self.contexts.get(tid), call, f["ret"], args,
                                           begin[0] if begin else None))
            elif name == "sched_process_fork":
                f = fields(payload)
                self.forks.append(Fork(ts, f["parent_tid"], f["parent_pid"], f["child_tid"], f["child_pid"]))
                self.contexts.setdefault(f["child_tid"], f["child_pid"])
            elif name == "sched_process_exec":
                f = fields(payload)
                self.execs.append((ts, f["tid"], f["filename"]))
            elif name == "sched_process_exit":
                self.exits[fields(payload)["tid"]] = ts
            elif name.startswith("block_"):
                f = fields(payload)
                self.blocks.append((name, tid, f))
                if name.startswith("block_rq_"):
                    self.disk.append((ts, name, f))
            elif name in ("net_dev_xmit", "net_dev_queue", "net_if_receive_skb", "netif_receive_skb", "net_if_rx"):
                self.net.append((ts, name, fields(payload[:200])))
        self.unfinished = pending

    def slices_in(self, tid, begin, end):
        ins = self.ins.get(tid, [])
        return bisect.bisect_left(ins, end) - bisect.bisect_left(ins, begin)

    def cpu_ns_in(self, tid, begin, end):
        total = 0
        for _, b, e in self.slices.get(tid, []):
            b = self.first if b is None else b
            e = self.last + 1 if e is None else e
            total += max(0, min(e, end) - max(b, begin))
        return total

    def idle_irq_ns_in(self, cpu, begin, end):
        return sum(max(0, min(e, end) - max(b, begin)) for b, e in self.idle_irqs.get(cpu, []))

    @staticmethod
    def bytes_of(call):
        """((read, counted in rchar), (write, counted in wchar)) of one call"""
        if call.ret <= 0:
            return (0, 0), (0, 0)
        n = call.ret
        if call.name in BOTH:
            k = n if BOTH[call.name] else 0
            return (n, k), (n, k)
        if READS.get(call.name) is not None:
            return (n, n if READS[call.name] else 0), (0, 0)
        if call.name in WRITES:
            return (0, 0), (n, n if WRITES[call.name] else 0)
        return (0, 0), (0, 0)


def of(directory):
    """The Oracle of a directory, cached next to it because many tests read the same recordings, some at the same time."""
    path = directory.rstrip("/") + ".oracle"
    newest = max(os.path.getmtime(__file__), os.path.getmtime(directory))
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path) and os.path.getmtime(path) > newest:
            with open(path, "rb") as f:
                return pickle.load(f)
        oracle = Oracle(directory)
        with open(f"{path}.new", "wb") as f:
            pickle.dump(oracle, f)
        os.rename(f.name, path)
        return oracle


def span(directory):
    """The raw clock at the first and the last event."""
    first = last = None
    for line in printed(directory):
        first = first or line
        last = line
    return tuple(int(re.match(rb"\[(\d+)\]", line)[1]) for line in (first, last))
