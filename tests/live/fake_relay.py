# SPDX-License-Identifier: GPL-2.0-or-later
"""A relayd as its viewers see it, which serves recorded traces as one live session, or misbehaves on request.

    session = Session([trace, ...])
    with Relay(session) as relay: ... relay.url ...

A trace is a directory with index files. Packets are served in the order of their ends. To make it misbehave, override a
method of Relay that answers a command: each gets the command's payload and returns the answer's bytes, or None for
silence; raising Hangup closes the connection.
"""
import glob
import os
import socket
import struct
import threading

CONNECT, LIST, ATTACH, NEXT_INDEX, PACKET, METADATA, NEW_STREAMS, CREATE, DETACH = range(1, 10)
INDEX_OK, INDEX_RETRY, INDEX_HUP, INDEX_ERROR, INDEX_INACTIVE = range(1, 6)
ATTACH_OK, ATTACH_TAKEN, ATTACH_UNKNOWN, ATTACH_NOT_LIVE = range(1, 5)
NEW_METADATA, NEW_STREAM = 1, 2


class Hangup(Exception):
    pass


class Stream:
    """A data stream: its packets as (offset, bits, content bits, start, end, discarded, class ID), times in cycles."""

    def __init__(self, path, stream_id, trace_id):
        self.path, self.id, self.trace_id = path, stream_id, trace_id
        self.name = os.path.basename(path)
        self.next = 0
        with open(path, "rb") as file:
            self.data = file.read()
        with open(os.path.join(os.path.dirname(path), "index", self.name + ".idx"), "rb") as file:
            index = file.read()
        size = struct.unpack(">4I", index[:16])[3]
        self.packets = [struct.unpack(">7Q", index[at:at + 56]) for at in range(16, len(index), size)]
        self.class_id = self.packets[0][6]


class Session:
    def __init__(self, traces, host="web", name="s1", timer_us=200000, clients=0):
        self.host, self.name, self.timer_us, self.clients = host, name, timer_us, clients
        self.metadata, self.streams = {}, []
        for trace_id, directory in enumerate(traces, 1):
            with open(os.path.join(directory, "metadata"), "rb") as file:
                self.metadata[1000 + trace_id] = (trace_id, file.read())
            for path in sorted(glob.glob(os.path.join(directory, "*"))):
                if os.path.isfile(path) and os.path.basename(path) != "metadata" and os.path.getsize(path):
                    self.streams.append(Stream(path, len(self.streams) + 1, trace_id))
        self.late = []  # streams that only a later GET_NEW_STREAMS returns

    def stream(self, stream_id):
        return next(s for s in self.streams + self.late if s.id == stream_id)


class Relay:
    """One thread per connection; ends with its "with" block."""
    family, address = socket.AF_INET, "127.0.0.1"

    def __init__(self, *sessions):
        self.sessions = list(sessions)
        self.session = sessions[0] if sessions else None
        self.server = socket.create_server((self.address, 0), family=self.family)
        self.port = self.server.getsockname()[1]
        self.relay_url = f"net://{f'[{self.address}]' if ':' in self.address else self.address}:{self.port}"
        self.url = f"{self.relay_url}/host/{self.session.host}/{self.session.name}" if self.session else None
        self.connections, self.commands = [], []
        self.sent_metadata = set()
        self.metadata_due = set()
        self.stopped = threading.Event()

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        for connection in self.connections:
            connection.close()

    def accept(self):
        while not self.stopped.is_set():
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def receive(connection, n):
        data = b""
        while len(data) < n:
            part = connection.recv(n - len(data))
            if not part:
                raise Hangup
            data += part
        return data

    def serve(self, connection):
        handlers = {CONNECT: self.connect, LIST: self.list, ATTACH: self.attach, NEXT_INDEX: self.next_index,
                    PACKET: self.packet, METADATA: self.get_metadata, NEW_STREAMS: self.new_streams,
                    CREATE: self.create, DETACH: self.detach}
        try:
            while not self.stopped.is_set():
                size, command, _ = struct.unpack(">QII", self.receive(connection, 16))
                payload = self.receive(connection, size)
                self.commands.append(command)
                answer = handlers[command](payload)
                if answer is None:
                    self.stopped.wait()
                    return
                connection.sendall(answer)
        except (Hangup, OSError):
            pass
        finally:
            connection.close()

    # ---- answers ----

    def connect(self, payload):
        return struct.pack(">Q3I", 1, 2, 13, 1)

    def list(self, payload):
        return struct.pack(">I", len(self.sessions)) + b"".join(
            struct.pack(">Q3I64s255s", i, s.timer_us, s.clients, len(s.streams) + len(s.metadata), s.host.encode(),
                        s.name.encode()) for i, s in enumerate(self.sessions, 1))

    def create(self, payload):
        return struct.pack(">I", 1)

    @staticmethod
    def stream_entry(stream_id, trace_id, is_metadata, name):
        return struct.pack(">2QI4096s255s", stream_id, trace_id, is_metadata, b"kernel", name.encode())

    def attach(self, payload):
        s = self.session
        s.clients = 1
        return struct.pack(">2I", ATTACH_OK, len(s.streams) + len(s.metadata)) + b"".join(
            [self.stream_entry(i, trace_id, 1, "metadata") for i, (trace_id, _) in s.metadata.items()] +
            [self.stream_entry(t.id, t.trace_id, 0, t.name) for t in s.streams])

    def new_streams(self, payload):
        late, self.session.late = self.session.late, []
        self.session.streams += late
        return struct.pack(">2I", 1, len(late)) + b"".join(
            self.stream_entry(t.id, t.trace_id, 0, t.name) for t in late)

    def get_metadata(self, payload):
        stream_id, = struct.unpack(">Q", payload)
        if stream_id in self.sent_metadata:
            return struct.pack(">QI", 0, 2)
        self.sent_metadata.add(stream_id)
        data = self.session.metadata[stream_id][1]
        return struct.pack(">QI", len(data), 1) + data

    @staticmethod
    def index(status, flags=0, packet=(0, 0, 0, 0, 0, 0, 0)):
        return struct.pack(">7Q2I", *packet, status, flags)

    def at_end(self, stream):
        """The answer for a stream without further packets."""
        return self.index(INDEX_HUP)

    def next_index(self, payload):
        stream = self.session.stream(struct.unpack(">Q", payload)[0])
        if stream.next == len(stream.packets):
            if all(s.next == len(s.packets) for s in self.session.streams) and self.session in self.sessions:
                self.at_last_end()
            return self.at_end(stream)
        packet = stream.packets[stream.next]
        stream.next += 1
        return self.index(INDEX_OK, NEW_STREAM if self.session.late else 0, packet)

    def at_last_end(self):
        """Everything was served: a session that has ended is no longer listed."""
        self.sessions.remove(self.session)

    def packet(self, payload):
        stream_id, offset, length = struct.unpack(">QQI", payload)
        data = self.session.stream(stream_id).data[offset:offset + length]
        return struct.pack(">3I", 1, len(data), 0) + data

    def detach(self, payload):
        return struct.pack(">I", 1)
