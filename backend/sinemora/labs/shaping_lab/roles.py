"""Processes of the shaping lab, each inside a namespace: key-value store, its client, the noisy neighbour and a sink.

`python -m sinemora.labs.shaping_lab.roles ROLE`, settings as JSON on standard input. Each ends by itself after
`seconds`, also if the process that started it is gone. Only the standard library is imported, so that they start fast.
"""

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from sinemora.labs.shaping_lab.core.interference import BLOCK_S, HELD_S, rate_of
from sinemora.labs.shaping_lab.core.workloads import BLOCK_BYTES, RECORD_BYTES, SCAN_MAX, Operation, workload_named

STORE_PORT, SINK_PORT = 5400, 5401
_REQUEST = struct.Struct("!BQI")  # kind, key, count
_GET, _PUT, _PUT_UNACKNOWLEDGED, _SCAN, _FETCH = range(5)
_RECORDS = 10_000
_WRITE_BYTES = 8_192
"""Bytes that the neighbour writes at once, as iperf3 does."""


def serve(settings: dict[str, Any]) -> None:
    """Serve a key-value store, one thread a connection."""
    records = {key: bytes(RECORD_BYTES) for key in range(_RECORDS)}
    block = bytes(BLOCK_BYTES)

    def answer(connection: socket.socket) -> None:
        while True:
            kind, key, number = _REQUEST.unpack(_exactly(connection, _REQUEST.size))
            if kind == _GET:
                connection.sendall(records.get(key, bytes(RECORD_BYTES)))
            elif kind in (_PUT, _PUT_UNACKNOWLEDGED):
                records[key] = _exactly(connection, RECORD_BYTES)
                if kind == _PUT:
                    connection.sendall(b"1")
            elif kind == _SCAN:
                connection.sendall(b"".join(records[(key + step) % _RECORDS] for step in range(number)))
            else:
                connection.sendall(block)

    _accept(STORE_PORT, answer, settings["seconds"])


def drive(settings: dict[str, Any]) -> None:
    """Run the operations of a workload against a store; print the latencies of each in seconds as JSON."""
    workload = workload_named(settings["workload"])
    ends = time.monotonic() + settings["run_s"]
    latencies: dict[Operation, list[float]] = {}
    threads = [
        threading.Thread(target=_Client(settings, number, ends, latencies).run, daemon=True)
        for number in range(workload.connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(settings["seconds"])
    # A thread may still wait for a stalled connection.
    json.dump({operation: list(values) for operation, values in latencies.items()}, sys.stdout)


class _Client:
    """One connection of a client, that repeats operations until the end."""

    def __init__(
        self, settings: dict[str, Any], number: int, ends: float, latencies: dict[Operation, list[float]]
    ) -> None:
        self._address = (settings["host"], STORE_PORT)
        self._put = _PUT if settings["acknowledged"] else _PUT_UNACKNOWLEDGED
        self._random = Random(settings["seed"] + number)
        self._shares = workload_named(settings["workload"]).shares
        self._ends = ends
        self._latencies = latencies
        self._inserted = _RECORDS

    def run(self) -> None:
        operations, weights = zip(*self._shares, strict=True)
        with socket.create_connection(self._address, timeout=30) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while time.monotonic() < self._ends:
                (operation,) = self._random.choices(operations, weights)
                self._timed(operation, partial(self._do, connection, operation))

    def _timed(self, operation: Operation, action: Callable[[], None]) -> None:
        start = time.perf_counter()
        action()
        self._latencies.setdefault(operation, []).append(time.perf_counter() - start)

    def _do(self, connection: socket.socket, operation: Operation) -> None:
        key = self._random.randrange(_RECORDS)
        if operation is Operation.READ:
            self._ask(connection, _GET, key, RECORD_BYTES)
        elif operation is Operation.UPDATE:
            self._write(connection, key)
        elif operation is Operation.INSERT:
            self._write(connection, self._inserted)
            self._inserted += 1
        elif operation is Operation.SCAN:
            number = self._random.randint(1, SCAN_MAX)
            self._ask(connection, _SCAN, key, number * RECORD_BYTES, number)
        elif operation is Operation.READ_MODIFY_WRITE:
            self._timed(Operation.READ, lambda: self._ask(connection, _GET, key, RECORD_BYTES))
            self._timed(Operation.UPDATE, lambda: self._write(connection, key))
        else:
            self._ask(connection, _FETCH, key, BLOCK_BYTES)

    def _ask(self, connection: socket.socket, kind: int, key: int, size: int, number: int = 0) -> None:
        connection.sendall(_REQUEST.pack(kind, key, number))
        _exactly(connection, size)

    def _write(self, connection: socket.socket, key: int) -> None:
        connection.sendall(_REQUEST.pack(self._put, key, 0) + bytes(RECORD_BYTES))
        if self._put == _PUT:
            _exactly(connection, 1)


def disturb(settings: dict[str, Any]) -> None:
    """Send to a sink at rates of the interference, in blocks, over TCP. `link`: bytes/s; `seed` of the draws."""
    random = Random(settings["seed"])
    ends = time.monotonic() + settings["seconds"]
    data = bytes(_WRITE_BYTES)
    with socket.create_connection((settings["host"], SINK_PORT), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, settings["tos"])
        due = time.monotonic()
        while due < ends:
            held_until = due + HELD_S
            block = rate_of(settings["link"], random) * BLOCK_S
            credit = 0.0
            while due < min(held_until, ends):
                # A block that could not be sent in time is not made up for.
                credit = min(credit + block, 2 * block + _WRITE_BYTES)
                while credit >= _WRITE_BYTES:
                    connection.sendall(data)
                    credit -= _WRITE_BYTES
                due = max(due + BLOCK_S, time.monotonic())
                time.sleep(max(due - time.monotonic(), 0))


def sink(settings: dict[str, Any]) -> None:
    """Receive and discard what neighbours send."""

    def discard(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, settings["tos"])
        while connection.recv(1 << 16):
            pass

    _accept(SINK_PORT, discard, settings["seconds"])


def _accept(port: int, answer: Callable[[socket.socket], None], seconds: float) -> None:
    """Accept connections for some seconds; print a line when it listens."""

    def guarded(connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                answer(connection)
            except OSError:
                return

    ends = time.monotonic() + seconds
    with socket.create_server(("", port), backlog=16) as listening:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while (left := ends - time.monotonic()) > 0:
            listening.settimeout(left)
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                return
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 16))
        if not part:
            raise ConnectionResetError("the peer has closed the connection")
        parts += part
    return bytes(parts)


ROLES: dict[str, Callable[[dict[str, Any]], None]] = {"serve": serve, "drive": drive, "disturb": disturb, "sink": sink}

if __name__ == "__main__":
    ROLES[sys.argv[1]](json.load(sys.stdin))
