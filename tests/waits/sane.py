# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference with the program's deliberate differences, each of them counted.

Each difference is a method of its own here, written from its description, so that the paths of the program must equal
those of the reference with these changes exactly, and the test lists how often each of them must apply.
"""

import collections

import reference

# cause -> what the program does differently, and why
CAUSES = {
    "disk": "woken in an interrupt or softirq in which a disk's request was completed: waited for the disk",
    "flow": "a packet sent by a softirq or timer is of the task that sent last on its flow, at that time",
    "later": "but what that task may have written after it sent, for a thread that ran in between, is on its way from when "
             "it was queued; before that the thread waits for the network, or ran",
    "overtaken": "a packet overtaken by later ones still finds its partner",
    "several": "a packet explains every thread that is woken while it is received, not only the first",
    "dump": "the state dump does not know better what a thread does than its own events, nor that it was forked",
    "waiting": "who waits when the state dump comes is blocked from then on, and the wake-up that ends it counts",
    "idle": "a thread that left the CPU in TASK_IDLE had no work: who waits for it waits for who woke it then, not "
            "for what it did before; nobody: for the disk, packet or timer that brought the work, else it is the wait "
            "itself",
    "asleep": "a kworker that slept when the record or the part after lost events began is taken to have had no work",
    "start": "what a CPU runs when its record begins is known, and its wake-ups count, before its first switch, too",
    "early": "woken by another thread while it ran, switched out to sleep and not woken again: it has been ready since",
    "swapper": "an idle task wakes nobody: it was an interrupt that was not recorded, and the wait stays as it is",
    "unknown": "after lost events what a thread did before they ended is unknown",
    "gap": "while events of a CPU are missing, a thread that is ready may run there: what it does is unknown",
}


TASK_IDLE = 0x80
HANDLER_NS = 100_000  # an idle CPU that completed a disk's request is in that interrupt for so long
BROUGHT = "BLOCK_DEVICE", "NETWORK", "TIMER"  # states that name what brought a worker its work in an interrupt


def flow_of(fields):
    """Addresses, ports and protocol; None: the packet has no headers."""
    network = fields.get("network_header")
    transport = network.get("transport_header") if isinstance(network, dict) else None
    if not isinstance(transport, dict) or "source_port" not in transport:
        return None
    return (tuple(network["saddr"]), tuple(network["daddr"]), transport["source_port"], transport["dest_port"],
            "seq" in transport)


def end_of(fields):
    """TCP: the sequence number after the packet's last byte; None: another protocol."""
    network = fields["network_header"]
    transport = network["transport_header"]
    if "seq" not in transport:
        return None
    length = network["tot_len"] - 4 * network["ihl"] if "tot_len" in network else network["payload_len"]
    syn_or_fin = transport["flags"] & 3 != 0
    return (transport["seq"] + max(length - 4 * transport["data_offset"], 0) + syn_or_fin) % 2**32


def changed(critpath, losses, starts, clocks):
    """
    The reference's Builder with the changes. losses: [(CPU, None: all, time, 1: until its next)], in order; only for a single host.
    starts: [(host's name, CPU, TID, name, time by the host's own clock)]: what CPUs run when their record begins.
    """

    plain = critpath.Builder

    class Matcher(critpath.syncmod.Matcher):
        """Keeps what the reference discards as no longer needed."""

        def __init__(self, traces, on_match, used):
            super().__init__(traces, on_match)
            self.used = used
            self.too_old = set()

        def _clean(self, last, dep, which, table):
            earliest = min(m[which][2] for m in last.values())
            others = sum(1 for h in last if h != dep[1])
            if others == len(self.hosts) - 1:
                self.too_old |= {(dep[0], key) for key, e in table[dep[0]].items() if e[2] < earliest}

        def feed(self, tid, host, ts, direction, key, cookie=None):
            match = super().feed(tid, host, ts, direction, key, cookie)
            if match and (tid, key) in self.too_old:
                self.used["overtaken"] += 1
            return match

    class Builder(plain):
        def __init__(self, hosts, wake, sane):
            super().__init__(hosts, wake, sane)
            self.plain = plain(hosts, wake, sane)
            self.used = collections.Counter()
            self.m = Matcher(hosts, self._match, self.used)
            self.senders = {}
            self.sent = {}        # host, flow -> end_of() what its task sent last
            self.queued = {}      # trace, time -> the same time: of a packet whose data may be younger than its sender says
            self.latest = {}      # worker's row -> ends of the packet that it is receiving
            self.losses = collections.deque(losses)
            self.starts = list(starts)
            self.begun = {}       # host, CPU -> TID, until its first switch
            self.switched = set()  # CPUs that had a switch, or lost events
            self.wrong = []       # CPUs whose first switch shows that they ran another thread
            self.unseen = {}      # worker -> end of the last loss since it was seen
            self.lost_cpus = set()
            self.gaps = set()     # CPUs whose loss has begun, and has not ended
            self.idling = set()   # workers without work
            self.completed = {}   # host, CPU -> when it completed a disk's request while it was idle
            self.early = set()    # workers that were woken since they were last switched in
            self.g.idle = {}      # vertex where they got some -> what it came from, a state
            self.younger = {}     # ends of a packet -> when it was queued, if "later" may apply to it, else 0
            self.g.transits = set()  # vertices whose link is that packet's transit

        def feed(self, e):
            # one that goes on begins behind the last event before it, one that ends is over before the next
            while self.losses and self.losses[0][1] + self.losses[0][2] <= e.ts:
                self.lose(e.host, *self.losses.popleft())
            for start in self.starts[:]:
                if start[0] == e.hostname and self.start(e, *start[1:]):
                    self.starts.remove(start)
            if e.name == "block_rq_complete":
                stack = self.stack.get((e.host, e.cpu))
                if stack:
                    stack[-1] = (stack[-1][0], dict(stack[-1][1], disk=True))
                elif self.cur.get((e.host, e.cpu), e.ctx.get("tid")) == 0:  # after a loss only the context says so
                    self.completed[e.host, e.cpu] = e.ts
                return
            self.plain.feed(e)
            super().feed(e)

        # what runs at first

        def start(self, e, cpu, tid, name, ts):
            """Whether the time has come."""
            ts = clocks[e.host](ts) if clocks and e.host in clocks else ts
            if ts > e.ts:
                return False
            self.cur[e.host, cpu] = self.begun[e.host, cpu] = tid
            w = self.find(e.host, tid, cpu)
            if w is None:
                w = critpath.Worker(e.host, tid, name)
                self.put(w, cpu)
            if self.g.tail.get(self.row(w)) is None:
                w.set(critpath.RUN)
                self.g.add((self.row(w), ts))
                self.used["start"] += 1
            return True

        # lost events

        def lose(self, host, cpu, ts, goes_on):
            self.gaps = (self.gaps | {cpu}) if goes_on else (self.gaps - {cpu})
            running = {self.find(h, tid, c) for (h, c), tid in self.cur.items() if c != cpu and cpu is not None}
            for w in list(self.workers.values()) + list(self.swap.values()):
                if w not in running or w in self.unseen:
                    self.unseen[w] = ts
            for c in [c for _, c in self.cur] if cpu is None else [cpu]:
                self.cur.pop((host, c), None)
                self.stack.pop((host, c), None)
                self.lost_cpus.add((host, c))
                self.switched.add((host, c))
            self.early.clear()

        def seen(self, w, doing):
            """Sets the worker's state, which holds since the losses ended."""
            ts = self.unseen.pop(w, None)
            if ts is None:
                return
            if self.g.tail.get(self.row(w)) is not None:
                self._append(w, (self.row(w), self.event.ts if self.gaps else ts), "UNKNOWN")
                self.used["unknown"] += 1
            w.status = w.old = doing
            self.idling.discard(w)
            if doing == critpath.WAIT_BLOCKED:
                self.asleep(w)

        def asleep(self, w):
            """The worker is blocked, and the switch that says how was not seen."""
            if w.name.startswith("kworker/"):
                self.idling.add(w)
                self.used["asleep"] += 1

        def on_cpu(self, host, cpu):
            if (host, cpu) in self.lost_cpus and self.event.ctx.get("tid", 0) > 0:
                tid = self.event.ctx["tid"]
                w = self.find(host, tid, cpu)
                if w is None:
                    w = critpath.Worker(host, tid, str(tid))
                    self.put(w, cpu)
                    w.status = critpath.RUN
                self.seen(w, critpath.RUN)
                self.cur[host, cpu] = tid
                self.lost_cpus.discard((host, cpu))
            return super().on_cpu(host, cpu)

        def _feed(self, e):
            self.event = e
            f = e.f
            if e.name == "sched_process_exit":
                w = self.find(e.host, f["tid"], e.cpu)
                if w:
                    self.seen(w, critpath.RUN)
            elif e.name == "irq_softirq_entry" and f["vec"] in (2, 3):
                self.latest.pop(self.row(self.kernel(e.host, e.cpu)), None)
            elif e.name == "lttng_statedump_process_state":
                w = self.find(e.host, f["tid"], e.cpu)
                if w in self.unseen:
                    return
                if w and w.status != critpath.UNKNOWN:
                    self.used["dump"] += w.status != critpath.STATEDUMP[f["status"]]
                    return
                if critpath.STATEDUMP[f["status"]] == critpath.WAIT_FORK:
                    self.used["dump"] += 1
                    e.f = dict(f, status=2)
                elif critpath.STATEDUMP[f["status"]] == critpath.WAIT_UNKNOWN:
                    self.used["waiting"] += 1
                    super()._feed(e)
                    w = self.find(e.host, f["tid"], e.cpu)
                    w.set(critpath.WAIT_BLOCKED)
                    self.asleep(w)
                    if self.g.tail.get(self.row(w)) is None:
                        self.g.add((self.row(w), e.ts))
                    return
            super()._feed(e)

        def sched_switch(self, e, f):
            self.completed.pop((e.host, e.cpu), None)
            ran = self.begun.pop((e.host, e.cpu), None)
            if (e.host, e.cpu) not in self.switched and ran != f["prev_tid"]:
                self.wrong.append((e.hostname, e.cpu, ran, f["prev_tid"]))
            self.switched.add((e.host, e.cpu))
            self.lost_cpus.discard((e.host, e.cpu))
            for tid, doing in ((f["next_tid"], critpath.WAIT_CPU), (f["prev_tid"], critpath.RUN)):
                w = self.find(e.host, tid, e.cpu)
                if w:
                    self.seen(w, doing)
            w = self.find(e.host, f["next_tid"], e.cpu)
            if w in self.early:
                self.early.discard(w)
                if w.status == critpath.WAIT_BLOCKED:
                    w.status = critpath.WAIT_CPU
                    self.idling.discard(w)
                    self.used["early"] += 1
            super().sched_switch(e, f)
            self.ready_in_gap(self.find(e.host, f["prev_tid"], e.cpu))
            if f["prev_state"] == TASK_IDLE:
                self.idling.add(self.find(e.host, f["prev_tid"], e.cpu))

        def _append(self, w, vx, state, q=None):
            if w not in self.idling or w.status == critpath.WAIT_BLOCKED:
                super()._append(w, vx, state, q)
                return
            self.idling.discard(w)
            super()._append(w, vx, "BLOCKED", q)
            if vx in self.g.in_h:
                self.g.idle[vx] = state if state in BROUGHT else "BLOCKED"
                self.used["idle"] += 1

        def ready_in_gap(self, w):
            """It may run on the CPU whose events are missing."""
            if self.gaps and w.status == critpath.WAIT_CPU:
                w.status = critpath.UNKNOWN
                self.used["gap"] += 1

        # wake-ups

        def wakeup(self, e, f):
            self.is_woken(e, f)
            self.ready_in_gap(self.find(e.host, f["tid"], e.cpu))

        def is_woken(self, e, f):
            t = self.find(e.host, f["tid"], e.cpu)
            if t and t is not self.on_cpu(e.host, e.cpu):
                self.seen(t, critpath.WAIT_BLOCKED)
                if t.status == critpath.RUN and not self.gaps:
                    self.early.add(t)
                elif t.status == critpath.WAIT_BLOCKED:
                    self.early.discard(t)
            stack = self.stack.get((e.host, e.cpu))
            top = stack[-1] if stack else ("NONE", {})
            current = self.on_cpu(e.host, e.cpu)
            idle = current.tid == 0 if current is not None else e.ctx.get("tid") == 0
            if not stack and idle:
                disk = e.ts - self.completed.get((e.host, e.cpu), -HANDLER_NS - 1) <= HANDLER_NS
                self.stack[e.host, e.cpu] = [("SOFTIRQ", {"vec": 4})] if disk else []
                before = sum(self.wups.values())
                known = self.cur.pop((e.host, e.cpu), None)
                super().wakeup(e, f)
                if known is not None:
                    self.cur[e.host, e.cpu] = known
                self.stack[e.host, e.cpu] = []
                self.used["disk" if disk else "swapper"] += sum(self.wups.values()) > before
                return
            if not top[1].get("disk") or top[0] not in ("IRQ", "SOFTIRQ"):
                super().wakeup(e, f)
                return
            before = self.wups["SOFTIRQ"]
            stack[-1] = ("SOFTIRQ", {"vec": 4})
            super().wakeup(e, f)
            stack[-1] = top
            if self.wups["SOFTIRQ"] > before and not (top[0] == "SOFTIRQ" and top[1]["vec"] == 4):
                self.used["disk"] += 1

        # packets

        def packet(self, e, f):
            flow = flow_of(f)
            where = self.ctx(e)[0]
            if where == "PACKET_RECEPTION":
                where = self.inner(e)
            if flow and e.name == "net_dev_queue" and where == "NONE":
                w = self.on_cpu(e.host, e.cpu)
                if w:
                    self.senders[e.host, flow] = (self.row(w), e.ts)
                    self.sent[e.host, flow] = end_of(f)
            elif flow and e.name == "net_dev_queue" and (e.host, flow) in self.senders:
                self.used["flow"] += 1
                self.tcp[(e.trace, e.ts)] = self.senders[e.host, flow]
                end = self.sent[e.host, flow]
                if end is None or (f["network_header"]["transport_header"]["seq"] - end) % 2**32 < 2**31:
                    self.queued[(e.trace, e.ts)] = e.ts
                key = critpath.syncmod.tcp_key(e.name, f)
                if key:
                    self.m.feed(e.trace, e.host, e.ts, "out", key[1])
                return
            if e.name != "net_dev_queue":
                w = self.kernel(e.host, e.cpu) if where in ("SOFTIRQ", "IRQ") else self.on_cpu(e.host, e.cpu)
                if w:
                    self.latest.pop(self.row(w), None)
            super().packet(e, f)

        def _match(self, s, d):
            ends = self.tcp.get((s[0], s[2])), self.tcp.get((d[0], d[2]))
            super()._match(s, d)
            if all(ends):
                self.latest[ends[1][0]] = ends
                self.younger[ends] = self.queued.get((s[0], s[2]), 0)

        def relink(self, w, target):
            row = self.row(w)
            ends = self.links.get(row) or self.latest.get(row)
            several = ends and row not in self.links
            self.used["several"] += bool(several)
            asleep = self.g.in_h[target][0] if target in self.g.in_h else 0
            if not ends or not self.younger.get(ends) or asleep <= ends[0][1]:
                if several:
                    self.g.vertical(ends[0], target, "NETWORK")
                super().relink(w, target)
                return
            self.links.pop(row, None)
            self.used["later"] += 1
            if target not in self.g.idle:
                self.g.vertical((ends[0][0], max(asleep, self.younger[ends])), target, "NETWORK")
                self.g.transits.add(target)

    return Builder


def explained(plain):
    """The reference's resolve() for graphs in which threads have no work at times, and for the transits of packets."""

    def resolve(g, row, begin, end, bound):
        if not getattr(g, "idle", None) and not getattr(g, "transits", None):
            return plain(g, row, begin, end, bound)
        if (row, end) not in g.in_v:
            return []
        limit, taken, remembered = max(bound, begin), [], []

        def link_to(vertex):
            source = g.in_v[vertex]
            taken.append((source[:2], vertex, source[2], None))
            if vertex not in g.transits:
                return source[:2]
            left, sent = (vertex[0], g.in_h[vertex][0]), (vertex[0], source[1])
            if sent[1] > max(left[1], limit):
                taken.append((left, sent, "NETWORK", None))
            return left

        at = link_to((row, end))
        while at[1] > limit:
            link, edge = g.in_v.get(at), g.in_h.get(at)
            if at in g.idle:
                if not link:
                    taken.append(((row, limit), (row, at[1]), g.idle[at], None))
                    break
                at = link_to(at)
                continue
            if link and link[1] <= limit:
                link_to(at)
                break
            blocks = edge and edge[1] in ("BLOCKED", "NETWORK")
            if link and not blocks:
                remembered.append(at)
            if edge:
                left = (at[0], edge[0])
                inner = resolve(g, at[0], edge[0], at[1], limit) if blocks else []
                if inner:
                    taken += inner
                elif edge[1] != "BLOCKED":
                    taken.append((left, at, edge[1], edge[2]))
                at = left
            elif remembered:
                vertex = remembered.pop()
                while taken and taken[-1][0] != vertex:
                    taken.pop()
                at = link_to(vertex)
            else:
                break
        return taken

    return resolve


class Sane(reference.Built):
    """
    The reference's graph of a recording with these changes.
    .used: how often each applied; .plain: its graph without them.
    """

    def __init__(self, critpath, directory, clocks, losses, starts):
        original = critpath.Builder
        critpath.Builder = changed(critpath, losses, starts, clocks)
        if not hasattr(critpath, "plain_resolve"):
            critpath.plain_resolve = critpath.resolve
            critpath.resolve = explained(critpath.plain_resolve)
        critpath.WANT.add("block_rq_complete")
        try:
            super().__init__(critpath, directory, clocks, sane=True, loose=True)
        finally:
            critpath.Builder = original
            critpath.WANT.discard("block_rq_complete")
        self.used, self.wrong = self.builder.used, self.builder.wrong
        self.plain = self.builder.plain.g
