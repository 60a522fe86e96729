"""Octets that reach a victim for each octet of packets with its forged source address, sent to an agent.

The victims are hosts whose agents and standard clients the agent serves, one for each kind of packet. The attacker
cannot see what a victim receives, so it never learns the identity that the agent has for that victim. Some victims run
a ptp4l that has been granted messages and is stopped since; the attacker knows its identity, which is made of the
address of its network card, and in the worst case the sequence id of its next Delay_Req. What such a ptp4l gets without
forged packets is measured at another one.
"""

import json
import signal
import sys
import time
from dataclasses import dataclass, field

import daemons
from agents import Agent, Fleet, peer
from laboratory import Host, Lab, LabError, Process, wait_until

# After the last forged packet: grants to somebody without a proof last 4 s.
TAIL_S = 10
KINDS = (
    "grants",
    "cancellations",
    "compact requests",
    "compact requests of earlier agents",
    "requests for a Delay_Resp",
    "standard Delay_Req",
    "requests of SPTP",
    "responses",
    "management",
    "malformed",
)
# A Delay_Req with the next sequence id of the ptp4l, and those after it.
IN_SEQUENCE = "Delay_Req in the sequence of a served client"
# Of victims with a granted ptp4l, and what the attacker sends to one of them.
SERVED = {
    "Delay_Req of a served client": "standard Delay_Req",
    IN_SEQUENCE: "standard Delay_Req",
    "grants of a served client": "grants",
}
# Of that ptp4l: above half the rates, so that they are within what the agent answers.
SERVED_LOG_INTERVAL = -6
# Octets of Sync and Follow_Up that such a ptp4l gets in a second.
SERVED_OCTETS_HZ = (1 << -SERVED_LOG_INTERVAL) * (72 + 72)
# Message types: Delay_Req, and those that are granted at a rate: Sync, Follow_Up and Announce.
DELAY_REQ, GRANTED_TYPES = 0x1, (0x0, 0x8, 0xB)
# Octets of one message of each of them, which may leave just inside or outside the time that is measured; and the share
# by which two clients of one rate differ on a busy machine.
EDGE, SHARE = 92 + 72 + 72, 0.05
# By which a busy machine delays the grant or the last message of one of two clients more than of the other.
LATE_S = 0.25

# Sends packets of the kind argv[1] with the source address argv[2] to argv[3], from the clock identity argv[6] or each
# from another one, with sequence ids from argv[7] or a random one on; prints the octets sent, from the IP header on.
_FORGE = """
import os, random, socket, struct, sys, time
kind, victim, target, rate, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
identity = bytes.fromhex(sys.argv[6])
first = int(sys.argv[7] or random.randrange(1 << 16))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
EVENT, GENERAL = 319, 320
def ptp(type, flags, body, nth):
    clock = identity or struct.pack("!Q", 0x02000000_00000000 | nth % 600)
    nth += first
    head = bytes([type, 0x12]) + struct.pack("!HBBH", 34 + len(body), 0, 0, flags) + bytes(12)
    return head + clock + struct.pack("!HH", 1, nth & 0xffff) + bytes([5, 0x7f]) + body
def signal(tlvs, nth):
    return GENERAL, ptp(0xc, 0x400, b"\\xff" * 10 + tlvs, nth)
def request(flags, receipt, nth):
    return EVENT, ptp(0x1, 0x400 | flags, receipt, nth)
def message(nth):
    if kind == "grants":
        return signal(b"".join(struct.pack("!HHBbI", 4, 6, s << 4, -7, 300) for s in (0xb, 0x0, 0x9)), nth)
    if kind == "cancellations":
        return signal(b"".join(struct.pack("!HHBx", 6, 2, s << 4) for s in (0xb, 0x0, 0x9)), nth)
    if kind == "compact requests":
        return request(0x6000, os.urandom(6) + struct.pack("!I", 1), nth)
    if kind == "compact requests of earlier agents":
        return request(0x6000, bytes(10), nth)
    if kind == "requests for a Delay_Resp":
        return request(0x4000, bytes(10), nth)
    if kind == "standard Delay_Req":
        return request(0, bytes(10), nth)
    if kind == "requests of SPTP":
        return request(0x2000, bytes(10), nth)
    if kind == "responses":
        type, port = ((0x0, EVENT), (0x8, GENERAL), (0x9, GENERAL), (0xb, GENERAL))[nth % 4]
        return port, ptp(type, 0x400, bytes(30), nth)
    if kind == "management":
        return GENERAL, ptp(0xd, 0x400, b"\\xff" * 10 + bytes([1, 1, 0, 0]) + struct.pack("!HHH", 1, 2, 0), nth)
    return random.choice((EVENT, GENERAL)), os.urandom(random.randrange(1, 120))
def packet(nth):
    port, body = message(nth)
    udp = struct.pack("!HHHH", port, port, 8 + len(body), 0) + body
    addresses = socket.inet_aton(victim) + socket.inet_aton(target)
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), nth & 0xffff, 0, 64, 17, 0) + addresses + udp
began, sent, nth = time.monotonic(), 0, 0
while time.monotonic() - began < seconds:
    forged = packet(nth)
    raw.sendto(forged, (target, 0))
    sent, nth = sent + len(forged), nth + 1
    time.sleep(max(0.0, began + nth / rate - time.monotonic()))
print(sent, flush=True)
"""

# Prints of each UDP packet between e0 and argv[1]: its time (Unix s), whether it arrives, its message type, octets and
# sequence id, and the longest grant that it contains (s).
_WATCH = """
import socket, struct, sys, time
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
raw.bind(("e0", 0))
other = socket.inet_aton(sys.argv[1])
print("watching", flush=True)
while True:
    frame, (_, _, direction, *_) = raw.recvfrom(2048)
    if frame[12:14] != b"\\x08\\x00" or frame[23] != 17 or other not in (frame[26:30], frame[30:34]):
        continue
    kind, granted, at = frame[42] & 0xf, 0, 86
    while kind == 0xc and at + 12 <= len(frame):
        type, length = struct.unpack("!HH", frame[at:at + 4])
        if type == 5:
            granted = max(granted, struct.unpack("!I", frame[at + 6:at + 10])[0])
        at += 4 + length
    octets, sequence_id = struct.unpack("!H", frame[16:18])[0], struct.unpack("!H", frame[72:74])[0]
    arrives = int(direction != socket.PACKET_OUTGOING)
    print(time.time(), arrives, kind, octets, sequence_id, granted, flush=True)
"""


@dataclass(frozen=True)
class Packet:
    """A packet of PTP at a host: time (Unix s), message type, octets from the IP header on, longest grant in it (s)."""

    at_s: float
    arrives: bool
    kind: int
    octets: int
    sequence_id: int
    granted_s: int


@dataclass
class Seen:
    """Packets between a host and the responder, before the first forged one and from it on."""

    since_s: float
    packets: list[Packet]
    ends_s: float = field(init=False)
    """Time at which the grants of its client end."""
    last_s: float = field(init=False)
    """Time of the last message that was granted."""

    def __post_init__(self) -> None:
        grants = [p for p in self.packets if p.arrives and p.granted_s and p.at_s < self.since_s]
        self.ends_s = max((p.at_s + p.granted_s for p in grants), default=self.since_s)
        granted = [p.at_s for p in self.packets if p.arrives and p.kind in GRANTED_TYPES]
        self.last_s = max(granted, default=self.since_s)

    def granted_octets(self, until_s: float) -> int:
        """Return the octets of granted messages from the first forged packet on."""
        return sum(p.octets for p in self._received() if p.kind in GRANTED_TYPES and p.at_s < until_s)

    def other_octets(self) -> int:
        """Return the octets of all else, and of messages after the grants, from the first forged packet on."""
        return sum(p.octets for p in self._received() if p.kind not in GRANTED_TYPES or p.at_s >= self.ends_s)

    def _received(self) -> list[Packet]:
        return [p for p in self.packets if p.arrives and p.at_s >= self.since_s]


def measure(rate_hz: float, seconds: float) -> dict[str, tuple[int, int]]:
    """Return for each kind the octets of forged packets, and the octets that their victim received because of them."""
    with Lab() as lab:
        fleet = Fleet(lab)
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        # One packet for each message, as on a wire.
        responder.host.run("ethtool", "-K", "e0", "tx-udp-segmentation", "off")
        attacker = lab.host("attacker")
        victims = {kind: lab.host(f"v{nth}") for nth, kind in enumerate(KINDS)}
        # Also peers of the plan, so that their addresses are known.
        responder.follow([peer(9 + nth, host.address, "responder") for nth, host in enumerate(victims.values())], 1)
        time.sleep(2)
        served = {kind: lab.host(f"s{nth}") for nth, kind in enumerate(SERVED)}
        victims |= served
        control = lab.host("control")
        watchers = {
            kind: host.start([sys.executable, "-c", _WATCH, responder.host.address], "watcher")
            for kind, host in {**victims, "": control}.items()
        }
        for watcher in watchers.values():
            watcher.require("the watcher", "watching")
        clients = _stopped_clients([*served.values(), control], responder)
        next_id = (_newest_request(watchers[IN_SEQUENCE]) + 1) % 2**16
        since_s = time.time()
        target, duration = responder.host.address, (str(rate_hz), str(seconds))
        forgers = {
            kind: attacker.start(
                [
                    *(sys.executable, "-c", _FORGE, SERVED.get(kind, kind), host.address, target, *duration),
                    _clock_identity(host) if kind in SERVED else "",
                    str(next_id) if kind == IN_SEQUENCE else "",
                ],
                "forger",
            )
            for kind, host in victims.items()
        }
        for forger in forgers.values():
            forger.require("the forged packets", "\n", within_s=seconds + 30)
        # The grants of stopped clients must have ended too.
        ends_s = max(Seen(since_s, _packets(watchers[kind])).ends_s for kind in ("", *SERVED))
        time.sleep(max(0.0, since_s + seconds + TAIL_S - time.time(), ends_s + 1 - time.time()))
        seen = {kind: Seen(since_s, _packets(watcher)) for kind, watcher in watchers.items()}
        alone = seen.pop("")
        for client in clients:
            client.process.signal(signal.SIGCONT)
        if not alone.granted_octets(alone.ends_s):
            raise LabError("a served client got nothing: the measurement did not take place")
        octets = {
            kind: (int(forgers[kind].output()), _caused(seen[kind], alone if kind in SERVED else None))
            for kind in victims
        }
        if not sum(got for _, got in octets.values()):
            raise LabError("no forged packet got an answer: the measurement did not take place")
        return octets


def _caused(seen: Seen, alone: Seen | None) -> int:
    """Return the octets received because of forged packets; `alone` is what a served client gets without them.

    Messages that the agent leaves out at the end of the grants of a served client, because it answered forged packets,
    count as octets that have not been received.
    """
    if alone is None:
        return seen.other_octets()
    until_s = min(seen.ends_s, alone.ends_s)
    usual = alone.granted_octets(until_s)
    more = max(0, seen.granted_octets(until_s) - round(usual * (1 + SHARE)) - EDGE)
    left_out_s = (seen.ends_s - seen.last_s) - (alone.ends_s - alone.last_s) + LATE_S
    return seen.other_octets() + more - round(max(0.0, left_out_s) * SERVED_OCTETS_HZ)


def _packets(watcher: Process) -> list[Packet]:
    """Return what a watcher has printed so far."""
    lines = [line.split() for line in watcher.output().split("\n")[1:-1]]
    return [Packet(float(at_s), arrives == "1", *map(int, numbers)) for at_s, arrives, *numbers in lines]


def _newest_request(watcher: Process) -> int:
    """Return the sequence id of the newest Delay_Req that left."""
    return next(p.sequence_id for p in reversed(_packets(watcher)) if p.kind == DELAY_REQ and not p.arrives)


def _stopped_clients(hosts: list[Host], responder: Agent) -> list[daemons.Ptp4lClient]:
    """Start a ptp4l on each host that is served as long as the agent allows, and stop them."""
    address = responder.host.address
    clients = [daemons.ptp4l_client(host, address, SERVED_LOG_INTERVAL, unicast_req_duration=300) for host in hosts]
    wait_until("measurements of each ptp4l", lambda: all(len(client.raw_delays_ns()) > 100 for client in clients))
    for client in clients:
        client.process.signal(signal.SIGSTOP)
    return clients


def _clock_identity(host: Host) -> str:
    """Return the clock identity of a ptp4l as hexadecimal digits: the EUI-64 of the address of its network card."""
    [link] = json.loads(host.run("ip", "-json", "link", "show", "e0"))
    octets = link["address"].split(":")
    return "".join([*octets[:3], "ff", "fe", *octets[3:]])
