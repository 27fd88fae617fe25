#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damages copies of recordings and lets the program read them.

    fuzz.py N SEED            N random cases; the same seed gives the same cases
    fuzz.py --replay FILE...  cases that were found before

Whatever the damage, the program ends by itself with status 0, 1 or 3, prints valid JSON if it prints figures, leaves
no worker and no temporary directory behind, and no sanitizer reports anything; an intact recording next to the damaged
one is read whatever happens to the other. A case is a list of edits; one that fails is written to found/ beside this
script (or to $FUZZ_FOUND) and replayed by each later run. "expect" lists the correct statuses; 0 requires the figures
of the undamaged recording.
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LTTNGTOP = os.environ["LTTNGTOP"]
BUILD = os.environ["BUILD"]
FOUND = os.environ.get("FUZZ_FOUND", os.path.join(HERE, "found"))
TIMEOUT_S = int(os.environ.get("FUZZ_TIMEOUT", "60"))
PIECE = 300_000  # bytes of each stream that a case modifies
METADATA_HEADER = 37
TABLES = ["cpu", "hosts", "io", "files", "syscalls", "sched", "irqs", "disks", "net", "cpus", "events", "perf", "blocking",
          "relations", "sync", "matches", "latencies", "accounting"]
SANITIZER = re.compile(r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|UndefinedBehavior|runtime error:|ABORTING")

# A crash inside the decoding library may kill the worker; the sanitizer must only report its own findings.
SANITIZER_ENV = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:detect_leaks=1:"
                                 "abort_on_error=1:allocator_may_return_null=1",
                 "UBSAN_OPTIONS": "print_stacktrace=1"}


# ---- the recordings, cut to a part ----

def cut_packets(data):
    """The first packets of a stream file: number of bytes and number of packets."""
    at = packets = 0
    while at + 64 <= len(data) and (at == 0 or at < PIECE):
        bits = struct.unpack_from("<Q", data, at + 56)[0]
        if bits == 0 or bits % 8 or at + bits // 8 > len(data):
            break
        at += bits // 8
        packets += 1
    return at, packets


def load_piece(directory):
    """file name → bytes, of one trace; None if its layout is not that of today's kernel tracer."""
    files = {"metadata": open(os.path.join(directory, "metadata"), "rb").read()}
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name == "metadata" or not os.path.isfile(path):
            continue
        data = open(path, "rb").read()
        size, packets = cut_packets(data)
        if not packets:
            return None
        files[name] = data[:size]
        index = os.path.join(directory, "index", name + ".idx")
        if os.path.exists(index):
            data = open(index, "rb").read()
            entry = struct.unpack_from(">I", data, 12)[0]
            files["index/" + name + ".idx"] = data[:16 + packets * entry]
    return files if len(files) > 1 else None


def load_traces():
    traces = {}
    for metadata in sorted(glob.glob(os.path.join(BUILD, "traces", "*", "*", "kernel", "metadata"))):
        directory = os.path.dirname(metadata)
        files = load_piece(directory)
        if files:
            traces[os.path.relpath(directory, os.path.join(BUILD, "traces"))] = files
    return traces


# ---- damage: an edit is [what, file, arguments...] ----

def write_edit(name, offset, raw):
    return ["write", name, offset, raw.hex()]


def random_bytes(rng, n):
    kind = rng.randrange(4)
    return b"\0" * n if kind == 0 else b"\xff" * n if kind == 1 else rng.randbytes(n)


def packet_starts(data):
    at, starts = 0, []
    while at + 64 <= len(data):
        starts.append(at)
        bits = struct.unpack_from("<Q", data, at + 56)[0]
        if bits < 512:
            break
        at += bits // 8
    return starts


def damage_events(rng, files, name):
    return [write_edit(name, rng.randrange(76, len(files[name])), random_bytes(rng, rng.choice([1, 1, 2, 4, 8, 64])))
            for _ in range(rng.choice([1, 3, 20, 100]))]


def damage_header(rng, files, name):
    start = rng.choice(packet_starts(files[name]))
    # Offsets: 32 begin, 40 end, 48 content size, 56 packet size, 64 sequence number, 72 discarded, 80 cpu.
    offset, size = rng.choice([(rng.randrange(84), 1), (32, 8), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8), (80, 4),
                               (0, 4), (4, 16), (20, 4)])
    return [write_edit(name, start + offset, random_bytes(rng, size))]


def damage_metadata(rng, files, _name):
    data, edits = files["metadata"], []
    for _ in range(rng.choice([1, 1, 2, 5, 30])):
        at = rng.randrange(METADATA_HEADER, min(len(data), rng.choice([4000, len(data)])))
        digit = re.search(rb"\d", data[at:at + 200])
        if rng.random() < 0.5 and digit:
            edits.append(write_edit("metadata", at + digit.start(), str(rng.randrange(10)).encode()))
        else:
            edits.append(write_edit("metadata", at, rng.choice([rng.randbytes(1), b";", b"{", b"}", b"9" * 8])))
    return edits


def damage_metadata_packets(rng, files, _name):
    return [write_edit("metadata", rng.randrange(METADATA_HEADER), random_bytes(rng, 4))]


def damage_size(rng, files, name):
    name = rng.choice([name, name, "metadata"])
    size = rng.choice([0, 1, 63, 64, rng.randrange(len(files[name]))])
    return [["truncate", name, size]]


def damage_index(rng, files, name):
    index = f"index/{name}.idx"
    if index not in files:
        return damage_size(rng, files, name)
    if rng.random() < 0.2:
        return [["truncate", index, rng.randrange(len(files[index]))]]
    return [write_edit(index, rng.randrange(len(files[index])), random_bytes(rng, rng.choice([1, 4, 8])))]


def damage_files(rng, files, name):
    other = rng.choice(sorted(files))
    return [rng.choice([["remove", name], ["remove", other], ["copy", name, name + "_2"], ["append", name, 5000],
                        ["mode", name, 0], ["mode", "metadata", 0], ["copy", "metadata", name]])]


DAMAGE = [(damage_events, 40), (damage_header, 20), (damage_metadata, 20), (damage_metadata_packets, 2),
          (damage_size, 6), (damage_index, 6), (damage_files, 6)]


def random_case(rng, traces):
    trace = rng.choice(sorted(traces))
    files = traces[trace]
    name = rng.choice([n for n in sorted(files) if "/" not in n and n != "metadata"])
    damage = rng.choices([d for d, _ in DAMAGE], [w for _, w in DAMAGE])[0]
    options = rng.choice([[], [], [], ["--interval", "100ms"], ["--begin", "+10ms", "--end", "-1ms"]])
    beside = rng.choice([None, None, *(t for t in sorted(traces) if t.split("/")[1] != trace.split("/")[1])])
    return {"trace": trace, "beside": beside, "edits": damage(rng, files, name), "table": rng.choice(TABLES), "options": options,
            "workers": rng.choice([1, 2])}


# ---- one case ----

def apply_edit(directory, edit):
    what, path = edit[0], os.path.join(directory, edit[1])
    if not os.path.exists(path):
        return
    if what == "write":
        with open(path, "r+b") as file:
            file.seek(edit[2])
            file.write(bytes.fromhex(edit[3]))
    elif what == "truncate":
        os.truncate(path, edit[2])
    elif what == "remove":
        os.remove(path)
    elif what == "copy":
        shutil.copyfile(path, os.path.join(directory, edit[2]))
    elif what == "append":
        with open(path, "ab") as file:
            file.write(b"\xa5" * edit[2])
    elif what == "mode":
        os.chmod(path, edit[2])


def build_case(case, files, root):
    directory = os.path.join(root, *case["trace"].split("/")[1:])
    for name, data in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    for edit in case["edits"]:
        apply_edit(directory, edit)
    if case.get("beside"):
        os.makedirs(os.path.join(root, "beside"))
        os.symlink(os.path.join(BUILD, "traces", case["beside"]), os.path.join(root, "beside", "kernel"))


def workers_of(root):
    """Processes whose command line contains the case's directory."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                command = open(f"/proc/{entry}/cmdline", "rb").read()
            except OSError:
                continue
            if root.encode() in command and int(entry) != os.getpid():
                found.append(int(entry))
    return found


def hosts_in(out):
    return set(json.loads(out.splitlines()[0])["hosts"]) if out.strip() else set()


def judge(case, status, out, err, root, undamaged):
    problems = []
    if "expect" in case and status == 0 and out != undamaged():
        problems.append("exit status 0, but not the figures of the undamaged recording")
    if status is None:
        problems.append(f"no end after {TIMEOUT_S} s")
    elif status not in case.get("expect", (0, 1, 3)):
        problems.append(f"exit status {status}")
    if SANITIZER.search(err) or SANITIZER.search(out):
        problems.append("sanitizer: " + "\n".join(line for line in err.splitlines() if SANITIZER.search(line))[:2000])
    if status in (0, 3):
        try:
            for line in out.splitlines():
                json.loads(line)
            if case.get("beside") and case["beside"].split("/")[1] not in hosts_in(out):
                problems.append(f"the host beside is missing: {hosts_in(out)}")
        except ValueError as error:
            problems.append(f"no JSON: {error}")
    if case.get("beside") and status == 1:
        problems.append("exit status 1 although a recording is well")
    if status in (1, 3) and not err.strip():
        problems.append(f"exit status {status} without a word")
    deadline = time.monotonic() + 30
    while workers_of(root) and time.monotonic() < deadline:
        time.sleep(0.01)
    orphans = workers_of(root)
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    if orphans:
        problems.append(f"workers left: {orphans}")
    return problems


def run_case(case, traces):
    """A list of the faults found, as texts, and the program's output."""
    if case["trace"] not in traces:
        return [], "its recording is not here"
    command = [LTTNGTOP, "report", case["table"], "--json", "--workers", str(case["workers"]), *case["options"]]

    def undamaged():
        with tempfile.TemporaryDirectory(prefix="lttngtop-fuzz-") as whole:
            build_case(dict(case, edits=[]), traces[case["trace"]], whole)
            return subprocess.run([*command, whole], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S).stdout

    with tempfile.TemporaryDirectory(prefix="lttngtop-fuzz-", ignore_cleanup_errors=True) as root:
        build_case(case, traces[case["trace"]], root)
        with subprocess.Popen([*command, root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              text=True, errors="replace", env=dict(os.environ, **SANITIZER_ENV)) as process:
            try:
                out, err = process.communicate(timeout=TIMEOUT_S)
                status = process.returncode
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                status = None
        return judge(case, status, out, err, root, undamaged), f"status {status}: {err.strip()[-300:]}"


def keep(case):
    os.makedirs(FOUND, exist_ok=True)
    text = json.dumps(case, sort_keys=True)
    path = os.path.join(FOUND, f"{abs(hash_text(text)):08x}.json")
    with open(path, "w") as file:
        file.write(text + "\n")
    return path


def hash_text(text):
    value = 0
    for c in text.encode():
        value = (value * 131 + c) % 2 ** 32
    return value


def run_all(cases, traces, verbose, kept):
    failed, statuses = 0, {}
    for label, case in cases:
        problems, said = run_case(case, traces)
        word = said.split(":")[0]
        statuses[word] = statuses.get(word, 0) + 1
        if verbose:
            print(f"{label}: {case['edits'][0][:3]} {said}", flush=True)
        if problems:
            failed += 1
            where = label if kept else keep(case)
            print(f"not ok {label} ({where}): " + "; ".join(problems), flush=True)
            print("    " + said)
    return failed, statuses


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    verbose = len(args) < len(sys.argv) - 1
    traces = load_traces()
    if not traces:
        print("skip fuzz: no recordings in " + os.path.join(BUILD, "traces"))
        return 0
    if args and args[0] == "--replay":
        cases = [(os.path.basename(path), json.load(open(path))) for path in args[1:]]
    else:
        n, seed = int(args[0]), int(args[1])
        cases = ((f"case {seed}.{i}", random_case(random.Random(f"{seed}.{i}"), traces)) for i in range(n))
    failed, statuses = run_all(cases, traces, verbose, args[0] == "--replay")
    total = sum(statuses.values())
    print(f"{'not ok' if failed else 'ok'} fuzz {' '.join(args[:2] if args[0] != '--replay' else ['replay'])}: {total} cases, "
          f"{failed} failed; " + ", ".join(f"{word}: {count}" for word, count in sorted(statuses.items())))
    return 1 if failed else 0


sys.exit(main())
