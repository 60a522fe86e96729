"""Octets that reach a victim for each octet of packets with its forged source address, sent to an agent.

The victims are hosts whose agents and standard clients the agent serves, one for each kind of packet. The attacker
cannot see what a victim receives, so it never learns the identity that the agent has for that victim. What it can do
with the identity of a client that is served, the tests of grants and of their loans show.
"""

import sys
import time

from agents import fleet_in_lab, peer
from laboratory import LabError, Process

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
# Sends packets of the kind argv[1] with the source address argv[2] to argv[3], each from another
# clock identity, with sequence ids from a random one on; prints the octets sent, from the IP header on.
_FORGE = """
import os, random, socket, struct, sys, time
kind, victim, target, rate, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
first = random.randrange(1 << 16)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
EVENT, GENERAL = 319, 320
def ptp(type, flags, body, nth):
    clock = struct.pack("!Q", 0x02000000_00000000 | nth % 600)
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

# Prints the octets, from the IP header on, of each UDP packet that arrives at e0 from argv[1].
_WATCH = """
import socket, struct, sys
raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
raw.bind(("e0", 0x0800))
other = socket.inet_aton(sys.argv[1])
print("watching", flush=True)
while True:
    packet, (_, _, direction, *_) = raw.recvfrom(2048)
    if packet[9] == 17 and packet[12:16] == other and direction != socket.PACKET_OUTGOING:
        print(struct.unpack("!H", packet[2:4])[0], flush=True)
"""


def measure(rate_hz: float, seconds: float) -> dict[str, tuple[int, int]]:
    """Return for each kind the octets of forged packets, and the octets that their victim received because of them."""
    with fleet_in_lab() as (lab, fleet):
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        # One packet for each message, as on a wire.
        responder.host.run("ethtool", "-K", "e0", "tx-udp-segmentation", "off")
        attacker = lab.host("attacker")
        victims = {kind: lab.host(f"v{nth}") for nth, kind in enumerate(KINDS)}
        # Also peers of the plan, so that their addresses are known.
        responder.follow([peer(9 + nth, host.address, "responder") for nth, host in enumerate(victims.values())], 1)
        time.sleep(2)
        watchers = {
            kind: host.start([sys.executable, "-c", _WATCH, responder.host.address], "watcher")
            for kind, host in victims.items()
        }
        for watcher in watchers.values():
            watcher.require("the watcher", "watching")
        before = {kind: _octets(watcher) for kind, watcher in watchers.items()}
        target, duration = responder.host.address, (str(rate_hz), str(seconds))
        forgers = {
            kind: attacker.start([sys.executable, "-c", _FORGE, kind, host.address, target, *duration], "forger")
            for kind, host in victims.items()
        }
        for forger in forgers.values():
            forger.require("the forged packets", "\n", within_s=seconds + 30)
        time.sleep(TAIL_S)
        received = {kind: _octets(watcher) - before[kind] for kind, watcher in watchers.items()}
        if not sum(received.values()):
            raise LabError("no forged packet got an answer: the measurement did not take place")
        return {kind: (int(forgers[kind].output()), received[kind]) for kind in victims}


def _octets(watcher: Process) -> int:
    """Return the octets that a watcher has seen so far."""
    return sum(map(int, watcher.output().split("\n")[1:-1]))
