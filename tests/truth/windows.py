# SPDX-License-Identifier: GPL-2.0-or-later
"""A counter of every row between two stamps that are the row's own.

A snapshot takes a tenth of a second or more, and every row's figures hold at its own stamp. One report per row would
mean thousands; three suffice: the time of the first snapshot and that of the last in slots of a millisecond, and
everything between them in one. A row whose stamp lies in a slot in which nothing happened to it is then exact; the few
others get a report of their own.
"""

import bisect

import harness

SLOT_NS = 1_000_000


class Windows:
    def __init__(self, directory, table, begins, ends, columns, key=("tid",), status=(harness.COMPLETE,), limit=None):
        """begins, ends: row key -> its stamp (trace time). key: one column."""
        self.directory, self.table, self.columns, self.key, self.status = directory, table, columns, key, status
        self.limit = limit
        lo_a, hi_a = min(begins.values()), max(begins.values())
        lo_b, hi_b = min(ends.values()), max(ends.values())
        self.head = self.slots(lo_a, hi_a)
        self.tail = self.slots(lo_b, hi_b)
        self.head_end = lo_a + self.count(lo_a, hi_a) * SLOT_NS
        self.tail_begin = lo_b
        if self.head_end > self.tail_begin:
            raise ValueError("the snapshots overlap")
        self.body = self.sums(self.report(self.head_end, self.tail_begin)[0].rows)
        self.lo_a, self.lo_b = lo_a, lo_b
        self.begins, self.ends = begins, ends
        self.exact_runs = 0

    @staticmethod
    def count(lo, hi):
        return (hi - lo) // SLOT_NS + 1

    def report(self, begin, end, *more):
        return harness.run(self.table, "--begin", harness.stamp(begin), "--end", harness.stamp(end), *more,
                           self.directory, status=self.status)

    def sums(self, rows):
        out = {}
        for row in rows:
            have = out.setdefault(row[self.key[0]], [0] * len(self.columns))
            for i, column in enumerate(self.columns):
                have[i] += row[column] or 0
        return out

    def slots(self, lo, hi):
        """[(begin, end, {key: sums})] over [lo, hi], whole slots"""
        end = lo + self.count(lo, hi) * SLOT_NS
        return [(r.begin, r.end, self.sums(r.rows))
                for r in self.report(lo, end, "--interval", f"{SLOT_NS}ns")]

    def part(self, slots, who, begin, end):
        """Sums of the slots within [begin, end[; None if a slot that they clip has something in it."""
        total = [0] * len(self.columns)
        begins = [s[0] for s in slots]
        at = max(0, bisect.bisect_right(begins, begin) - 1)
        for b, e, rows in slots[at:]:
            if b >= end:
                break
            if e <= begin:
                continue
            row = rows.get(who)
            if row is None or not any(row):
                continue
            if b < begin or e > end:
                return None
            total = [x + y for x, y in zip(total, row)]
        return total

    def get(self, who):
        """The row's sums between its own two stamps."""
        begin, end = self.begins[who], self.ends[who]
        head = self.part(self.head, who, begin, self.head_end)
        tail = self.part(self.tail, who, self.tail_begin, end)
        if head is not None and tail is not None:
            body = self.body.get(who, [0] * len(self.columns))
            return [x + y + z for x, y, z in zip(head, body, tail)]
        self.exact_runs += 1
        rows = self.report(begin, end)[0].rows
        return self.sums(rows).get(who, [0] * len(self.columns))
