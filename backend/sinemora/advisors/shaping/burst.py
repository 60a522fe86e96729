"""Burst of UDP packets between two VMs, and a receiver that notes when each arrives.

The sender opens a TCP connection to the receiver for control; the packets take UDP on the same port. Kernel receive
timestamps keep the receiver's scheduling out of the result. The clocks of the VMs need not agree.
"""

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random

import numpy as np

from sinemora.advisors.shaping.core.bucket import Train

PORT = 5319
HEADER = struct.Struct("!4sIQ")  # magic, number, time sent (ns)
MAGIC = b"SNMB"
SIZES = (64, 1472)
"""Smallest and largest payload: an IPv4 packet of Ethernet without fragments."""
OVERHEAD = 42
"""Headers of Ethernet, IPv4 and UDP: shapers count them."""
PACKETS_MAX = 200_000
_QUIET_S = 0.25
_IP_RECVTOS = 13
_SO_TIMESTAMPNS = 35  # socket option and control message of Linux; the module `socket` does not name it
_LONGEST_S = 120.0


class BurstError(Exception):
    """A burst that was not measured; the message has what to do."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Packets in the order sent: times in ns, None for lost ones; bytes of a packet with its headers."""

    sent_ns: list[int]
    received_ns: list[int | None]
    packet_bytes: int


@dataclass(frozen=True, slots=True)
class MixedArrivals:
    """Arrivals of packets of several sizes and DSCP classes; the DSCP as received, None for lost packets."""

    sent_ns: list[int]
    received_ns: list[int | None]
    packet_bytes: list[int]
    dscp: list[int]
    received_dscp: list[int | None]


def train_of(arrivals: Arrivals) -> Train:
    """Return the train of a burst, in seconds from its first packet on either clock."""
    known = [at for at in arrivals.received_ns if at is not None]
    first = min(known, default=0)
    sent_s = np.array([(at - arrivals.sent_ns[0]) / 1e9 for at in arrivals.sent_ns])
    received_s = np.array([np.nan if at is None else (at - first) / 1e9 for at in arrivals.received_ns])
    return Train(sent_s, received_s, np.full(sent_s.size, float(arrivals.packet_bytes)))


def receive(address: str = "", port: int = PORT, once: bool = True, ready: Callable[[int], None] | None = None) -> None:
    """Serve senders until one is served (`once`), or for ever. `ready` is called with the port when it listens."""
    with socket.create_server((address, port)) as listening:
        port = listening.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
            packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            packets.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            packets.setsockopt(socket.IPPROTO_IP, _IP_RECVTOS, 1)
            packets.bind((address, port))
            if ready is not None:
                ready(port)
            while True:
                control, peer = listening.accept()
                with control:
                    control.settimeout(_LONGEST_S)
                    try:
                        _serve(control, packets, peer[0])
                    except (OSError, ValueError, KeyError):
                        continue  # a sender that gave up, or something else that connected
                if once:
                    return


def send(host: str, packets: int, payload: int, rate: float | None, port: int = PORT) -> Arrivals:
    """Send a burst to a receiver and return its arrivals. `rate` in bytes/s with headers; None: as fast as possible.

    Raises `BurstError`.
    """
    if not 1 <= packets <= PACKETS_MAX or not SIZES[0] <= payload <= SIZES[1]:
        raise BurstError(f"A burst has 1 to {PACKETS_MAX} packets of {SIZES[0]} to {SIZES[1]} bytes.")
    sent_ns, received = _measured(host, [(payload, 0)] * packets, rate, port)
    return Arrivals(sent_ns, [received.get(number, (None,))[0] for number in range(packets)], payload + OVERHEAD)


def send_mixed(
    host: str, packets: int, kinds: Sequence[tuple[int, int]], rate: float | None, port: int = PORT
) -> MixedArrivals:
    """Send a burst of packets of several kinds (payload, DSCP). Raises `BurstError`.

    Their order is random: in turn, they would fall into step with the packets that a full queue takes.
    """
    if not 1 <= packets <= PACKETS_MAX or not all(SIZES[0] <= payload <= SIZES[1] for payload, _ in kinds):
        raise BurstError(f"A burst has 1 to {PACKETS_MAX} packets of {SIZES[0]} to {SIZES[1]} bytes.")
    each = Random(1).choices(kinds, k=packets)
    sent_ns, received = _measured(host, each, rate, port)
    found = [received.get(number, (None, None)) for number in range(packets)]
    return MixedArrivals(
        sent_ns,
        [at for at, _ in found],
        [payload + OVERHEAD for payload, _ in each],
        [dscp for _, dscp in each],
        [dscp for _, dscp in found],
    )


def _measured(
    host: str, kinds: Sequence[tuple[int, int]], rate: float | None, port: int
) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """Send packets (payload, DSCP); return when each was sent, and when and with which DSCP it arrived, by number.

    Raises `BurstError`.
    """
    try:
        with socket.create_connection((host, port), timeout=10) as control:
            control.settimeout(_LONGEST_S)
            lines = control.makefile("rw", encoding="utf-8")
            lines.write(json.dumps({"packets": len(kinds)}) + "\n")
            lines.flush()
            if lines.readline().strip() != "ready":
                raise BurstError(f"{host}:{port} is no receiver of bursts. Start one there first.")
            sent_ns = _blast(host, port, kinds, rate)
            lines.write("done\n")
            lines.flush()
            received: dict[str, tuple[int, int]] = json.loads(lines.readline())
            return sent_ns, {int(number): (at, dscp) for number, (at, dscp) in received.items()}
    except (OSError, ValueError, TypeError) as error:
        raise BurstError(
            f"No burst to {host}:{port}: {error}. Start a receiver there, and open TCP and UDP."
        ) from error


def _serve(control: socket.socket, packets: socket.socket, peer: str) -> None:
    """Note the packets of one sender until it is done and no more arrive; send the notes."""
    lines = control.makefile("rw", encoding="utf-8")
    count = int(json.loads(lines.readline())["packets"])
    if not 1 <= count <= PACKETS_MAX:
        return
    _drain(packets)
    lines.write("ready\n")
    lines.flush()
    received: dict[int, tuple[int, int]] = {}
    control.setblocking(False)
    packets.settimeout(_QUIET_S)
    done, ends = False, time.monotonic() + _LONGEST_S
    while len(received) < count and time.monotonic() < ends:
        try:
            data, notes, _, sender = packets.recvmsg(2048, 128)
        except TimeoutError:
            if done:
                break
            done = _is_done(control)
            continue
        if sender[0] == peer and len(data) >= HEADER.size:
            magic, number, _ = HEADER.unpack_from(data)
            if magic == MAGIC and number < count:
                received.setdefault(number, (_arrival_ns(notes), _dscp(notes)))
    control.settimeout(_LONGEST_S)
    if not done:
        control.recv(64)  # a connection closed with unread bytes would be reset
    lines.write(json.dumps(received) + "\n")
    lines.flush()


def _is_done(control: socket.socket) -> bool:
    try:
        return bool(control.recv(64))
    except BlockingIOError:
        return False


def _drain(packets: socket.socket) -> None:
    packets.setblocking(False)
    try:
        while True:
            packets.recv(2048)
    except BlockingIOError:
        return


def _arrival_ns(notes: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in notes:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(data) >= 16:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return time.time_ns()


def _dscp(notes: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in notes:
        if level == socket.IPPROTO_IP and kind == socket.IP_TOS and data:
            return data[0] >> 2
    return 0


def _blast(host: str, port: int, kinds: Sequence[tuple[int, int]], rate: float | None) -> list[int]:
    """Send packets (payload, DSCP), evenly at `rate` on average, and return when each was sent."""
    mean = sum(payload + OVERHEAD for payload, _ in kinds) / len(kinds)
    gap_ns = 0.0 if rate is None else 1e9 * mean / rate
    sent_ns: list[int] = []
    with ExitStack() as stack:
        outs: dict[tuple[int, int], tuple[socket.socket, bytearray]] = {}
        for payload, dscp in set(kinds):
            out = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
            out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
            out.connect((host, port))
            outs[payload, dscp] = out, bytearray(payload)
        with _in_real_time():
            _send_evenly([outs[kind] for kind in kinds], gap_ns, sent_ns)
    return sent_ns


def _send_evenly(outs: Sequence[tuple[socket.socket, bytearray]], gap_ns: float, sent_ns: list[int]) -> None:
    """Send a packet by each of the sockets, `gap_ns` apart, and note when."""
    start = time.time_ns()
    for number, (out, body) in enumerate(outs):
        due = start + round(number * gap_ns)
        now = time.time_ns()
        while now < due:
            if due - now > 2_000_000:
                time.sleep((due - now - 1_000_000) / 1e9)
            now = time.time_ns()
        HEADER.pack_into(body, 0, MAGIC, number, now)
        sent_ns.append(now)
        try:
            out.send(body)
        except (BlockingIOError, ConnectionRefusedError):
            continue  # the queue of the own interface is full: the packet is lost
        except OSError as error:
            if error.errno != 105:  # ENOBUFS, as above
                raise


@contextmanager
def _in_real_time() -> Iterator[None]:
    """Run this thread before others, if it may: a busy VM would stall the burst. For a burst of at most seconds."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:  # only root may
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
