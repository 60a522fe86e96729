"""A unicast IEEE 1588 master with habits, for laboratories: `master.py ADDRESS FILE`.

FILE is JSON, read again with each Announce: `step_s` of its clock, `utc_offset_s` that it announces, `renumber_s` after
which it numbers its Syncs from 1, as at a new grant, and `correction_ns` of its Syncs. Its times are the kernel's, so
that a busy machine holds up this program, and no number of it.
"""

import json
import select
import socket
import struct
import sys
import time
from pathlib import Path

EVENT, GENERAL = 319, 320
IDENTITY = bytes.fromhex("aabbccfffe001122")
SYNC, DELAY_REQ, FOLLOW_UP, DELAY_RESP, ANNOUNCE, SIGNALING = 0x0, 0x1, 0x8, 0x9, 0xB, 0xC
UTC_OFFSET_S = 37
# Stamps at departure and arrival, in the ancillary data (Documentation/networking/timestamping.rst).
SO_TIMESTAMPING, TX_SOFTWARE, RX_SOFTWARE, SOFTWARE, OPT_TSONLY = 37, 1 << 1, 1 << 3, 1 << 4, 1 << 11
PATIENCE_S = 2.0


def stamped_s(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Return the kernel's timestamp, Unix s."""
    found = next(data for level, kind, data in ancillary if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPING))
    seconds, ns = struct.unpack_from("qq", found)
    return float(seconds + ns / 1e9)


def stamp(at_s: float) -> bytes:
    """Return a time as a timestamp of a message."""
    seconds = int(at_s)
    return struct.pack("!HII", 0, seconds, int((at_s - seconds) * 1e9))


def message(kind: int, sequence_id: int, body: bytes, flags: int = 0x0400, correction_ns: float = 0) -> bytes:
    """Return a message with its header."""
    head = struct.pack("!BBHBBHqI", kind, 0x12, 34 + len(body), 0, 0, flags, int(correction_ns * 65536), 0)
    return head + IDENTITY + struct.pack("!HHBb", 1, sequence_id & 0xFFFF, 5, 0x7F) + body


class Master:
    """Its sockets and grants: by client and type, the interval, end, next message (monotonic, s) and number."""

    def __init__(self, address: str, file: Path) -> None:
        self.file = file
        self.habits: dict[str, float] = {}
        self.grants: dict[tuple[str, bytes, int], list[float]] = {}
        self.event, self.general = (self._bind(address, port) for port in (EVENT, GENERAL))
        stamps = TX_SOFTWARE | RX_SOFTWARE | SOFTWARE | OPT_TSONLY
        self.event.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, stamps)

    def _bind(self, address: str, port: int) -> socket.socket:
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        bound.bind((address, port))
        bound.setblocking(False)
        return bound

    def turn(self) -> None:
        """Answer what has arrived and send what is due."""
        ready, _, _ = select.select([self.event, self.general], [], [], 0.002)
        for one in ready:
            datagram, ancillary, _, (client, _) = one.recvmsg(2048, 256)
            if datagram[0] & 15 == SIGNALING:
                self._grant(datagram, client)
            elif datagram[0] & 15 == DELAY_REQ:
                body = stamp(self._shown_s(stamped_s(ancillary))) + datagram[20:30]
                sequence_id = struct.unpack("!H", datagram[30:32])[0]
                self.general.sendto(message(DELAY_RESP, sequence_id, body), (client, GENERAL))
        for key, grant in list(self.grants.items()):
            self._send_due(key, grant)

    def _grant(self, datagram: bytes, client: str) -> None:
        self.habits = json.loads(self.file.read_text("utf-8"))
        at, now = 44, time.monotonic()
        while at + 4 <= len(datagram):
            kind, length = struct.unpack("!HH", datagram[at : at + 4])
            value = datagram[at + 4 : at + 4 + length]
            at += 4 + length
            if kind != 4:
                continue
            wanted, interval = value[0] >> 4, struct.unpack("b", value[1:2])[0]
            lasts_s = struct.unpack("!I", value[2:6])[0]
            self.grants[client, datagram[20:30], wanted] = [2.0**interval, now + lasts_s, now, 0]
            body = datagram[20:30] + struct.pack("!HHBbIBB", 5, 8, wanted << 4, interval, lasts_s, 0, 1)
            self.general.sendto(message(SIGNALING, 0, body), (client, GENERAL))

    def _send_due(self, key: tuple[str, bytes, int], grant: list[float]) -> None:
        client, _, kind = key
        interval_s, until_s, next_s, number = grant
        now = time.monotonic()
        if now > until_s:
            del self.grants[key]
            return
        if kind == DELAY_RESP or now < next_s:
            return
        grant[2], grant[3] = max(next_s + interval_s, now - 0.05), number + 1
        sequence_id = int(grant[3])
        if kind == ANNOUNCE:
            self.habits = json.loads(self.file.read_text("utf-8"))
            offset_s = int(self.habits.get("utc_offset_s", UTC_OFFSET_S))
            body = stamp(0) + struct.pack("!hBBBBHB", offset_s, 0, 128, 6, 0x21, 0x4E5D, 128) + IDENTITY + b"\0\0\x20"
            self.general.sendto(message(ANNOUNCE, sequence_id, body, 0x040C), (client, GENERAL))
        elif kind == SYNC:
            if grant[3] * interval_s >= self.habits.get("renumber_s", 4000):
                grant[3] = 0
            correction_ns = self.habits.get("correction_ns", 0)
            self.event.sendto(message(SYNC, sequence_id, stamp(0), 0x0600, correction_ns), (client, EVENT))
            left_s = self._shown_s(self._departed_s())
            self.general.sendto(message(FOLLOW_UP, sequence_id, stamp(left_s)), (client, GENERAL))

    def _departed_s(self) -> float:
        """Return the departure of the event message that was sent last, Unix s."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                return stamped_s(self.event.recvmsg(1, 256, socket.MSG_ERRQUEUE)[1])
            except BlockingIOError:
                time.sleep(0.0005)
        raise TimeoutError("the kernel gives no timestamp of a departure")

    def _shown_s(self, unix_s: float) -> float:
        """Return what its clock shows at a time: TAI, with its step."""
        return unix_s + UTC_OFFSET_S + self.habits.get("step_s", 0)


if __name__ == "__main__":
    master = Master(sys.argv[1], Path(sys.argv[2]))
    while True:
        master.turn()
