#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Services in guests that call each other, so that it is known who waits for whom.

    chain serve NAME PORT CPU_MS [ADDRESS PORT]     answers requests one at a time: asks the next service, if there
                                                    is one, and uses CPU_MS of CPU time
    chain ask ADDRESS PORT N                        reads a line, then asks N times

Each prints its thread's ID when it is ready, and the client another line when all its requests have been
answered. NAME is what the kernel calls the service's thread.
"""
import os
import socket
import sys
import time


def burn(ms):
    end_ns = time.thread_time_ns() + ms * 1_000_000
    while time.thread_time_ns() < end_ns:
        sum(range(200))


def ask(address, port):
    with socket.create_connection((address, int(port))) as s:
        assert s.recv(1), "no answer"


def serve(name, port, cpu_ms, *following):
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(name)
    with socket.create_server(("", int(port))) as listener:
        print(os.getpid(), flush=True)
        while True:
            s, _ = listener.accept()
            if following:
                ask(*following)
            burn(int(cpu_ms))
            s.sendall(b".")
            s.close()


def client(address, port, count):
    print(os.getpid(), flush=True)
    sys.stdin.readline()
    for _ in range(int(count)):
        ask(address, port)
    print("answered", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    {"serve": serve, "ask": client}[sys.argv[1]](*sys.argv[2:])
