#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of the tracepoints and system calls that the program reads, in the metadata of the newest recorded kernel
(shared/traces-ctf2/ctf2-k72): a field whose name the tables do not know would be a figure that is silently 0.
"""
import glob
import json
import os
import re
import subprocess

from cases import check, finish

SRC = os.path.join(os.environ["SRCDIR"], "src/event")
ARCHIVE = os.path.join(os.environ.get("SHARED", os.path.join(os.environ["SRCDIR"], "../shared")), "traces-ctf2/ctf2-k72.tar.zst")
# Fields that not all tracepoints of a payload have, or only in other versions.
ABSENT = {
    "sched_pi_setprio": "orig_cpu dest_cpu",
    "sched_process_exit": "orig_cpu dest_cpu", "sched_process_free": "orig_cpu dest_cpu",
    "irq_handler_exit": "name",
    "lttng_statedump_process_state": "vtid vpid ns_level ns_inum",
    "lttng_statedump_process_cgroup_ns": "vtid vpid ns_level", "lttng_statedump_file_descriptor": "pid",
    "syscall_entry_openat2": "flags", "compat_syscall_entry_openat2": "flags",
    "compat_syscall_entry_connect": "family port addr",
}
# Calls of the table that 64-bit, or 32-bit, programs do not have there.
NO_CALL = "fcntl64 fstat64 llseek landlock_create_ruleset open_tree_attr pread pwrite recv send sendfile waitpid fstat " \
          "ia32_pread64 ia32_pwrite64 ia32_ftruncate64 ia32_fallocate futex_time32 recvmmsg_time32 mq_timedreceive_time32 " \
          "fchmodat2 fstatat64 lstat64 stat64 futimesat_time32 utimensat_time32 utimes_time32 " \
          "futex_time64 futex_wait futex_wake futex_requeue"
NO_COMPAT_CALL = "accept fallocate landlock_create_ruleset open_tree_attr pread pread64 pwrite pwrite64 recv send " \
                 "fchmodat2 futimesat newfstatat utime utimes futex_time64 futex_wait futex_wake futex_requeue"


def read(name):
    with open(os.path.join(SRC, name), encoding="utf-8") as file:
        return file.read()


def recorded(directory):
    """The names of the fields of each event class."""
    found = {}
    for name in glob.glob(f"{directory}/**/metadata", recursive=True):
        with open(name, encoding="utf-8") as file:
            fragments = [json.loads(text) for text in file.read().split("\x1e") if text.strip()]
        aliases = {f["name"]: f["field-class"] for f in fragments if f["type"] == "field-class-alias"}
        for fragment in fragments:
            if fragment["type"] == "event-record-class":
                payload = fragment.get("payload-field-class", {})
                payload = aliases[payload] if isinstance(payload, str) else payload
                found[fragment["name"]] = [member["name"] for member in payload.get("member-classes", [])]
    return found


def tracepoints():
    """(tracepoint's names, [(member, its field's names)])"""
    fields = {}
    for payload, member, names in re.findall(r'F\((\w+), (\w+), "([^"]+)", \w+\)', read("tracepoints.c")):
        fields.setdefault(payload, []).append((member, names.split()))
    for payload, names in re.findall(r'^[A-Z]+\(\w+,\s*(\w+),[^"]*((?:"[^"]*"\s*)+)\)', read("tracepoints.def"), re.M):
        yield "".join(re.findall(r'"([^"]*)"', names)).split(), fields.get(payload, [])


def calls():
    """(name, [(member, its field's names)])"""
    for name, fields in re.findall(r'^SYSCALL\((\w+),[^"]*"([^"]*)"\)', read("syscalls.def"), re.M):
        yield name, [(f.split(":")[0], f.split(":")[1].split("@")[0].split("|")) for f in fields.split()]


def check_fields(classes, name, fields):
    missing = [member for member, names in fields if not set(names) & set(classes[name])]
    check(f"{name}: fields", set(missing) == set(ABSENT.get(name, "").split()), f"{missing} not among {classes[name]}")


def main():
    if not os.path.exists(ARCHIVE):
        print(f"skip names: {ARCHIVE} is not here")
        return 77
    subprocess.run(["tar", "--use-compress-program=zstd --long=27", "-xf", ARCHIVE], check=True)
    classes = recorded("ctf2-k72")
    for names, fields in tracepoints():
        for name in names:
            if name in classes:
                check_fields(classes, name, fields)
    for prefix, absent in (("syscall_entry_", NO_CALL), ("compat_syscall_entry_", NO_COMPAT_CALL)):
        known = dict(calls())
        check(f"{prefix}*: calls", {name for name in known if prefix + name not in classes} == set(absent.split()),
              sorted({name for name in known if prefix + name not in classes} ^ set(absent.split())))
        for name, fields in known.items():
            if prefix + name in classes:
                check_fields(classes, prefix + name, fields)
    # a call whose name is not in the table, except for a prefix or suffix
    other = sorted(name for name in classes if (m := re.fullmatch(r"(?:compat_)?syscall_entry_(?:ia32_)?(\w+?)(?:_time32)?", name))
                   and m[1] in dict(calls()) and name.split("syscall_entry_")[1] not in dict(calls()))
    check("no call under another name", not other, other)
    finish()


if __name__ == "__main__":
    main()
