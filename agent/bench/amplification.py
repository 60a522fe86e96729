"""Octets that reach a victim for each octet of packets with its forged source address, sent to an agent.

The victims are hosts whose agents and standard clients the agent serves, one for each kind of packet. The attacker
cannot see what a victim receives, so it never learns the identity that the agent has for that victim.
"""

import json
import sys
import time

from lab.benchmarks import figures

from agents import Fleet, peer
from laboratory import Lab, LabError

SECONDS = 60
# After the last forged packet: grants to somebody without a proof last 4 s.
TAIL_S = 10
RATES_HZ = (1, 20)
KINDS = (
    "grants",
    "cancellations",
    "compact requests",
    "compact requests of earlier agents",
    "requests for a Delay_Resp",
    "standard Delay_Req",
    "responses",
    "management",
    "malformed",
)

# Sends packets of the kind argv[1] with the source address argv[2] to argv[3], each from another port identity; prints
# the octets sent, from the IP header on.
_FORGE = """
import os, random, socket, struct, sys, time
kind, victim, target, rate, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
EVENT, GENERAL = 319, 320
def ptp(type, flags, body, nth):
    clock = struct.pack("!Q", 0x02000000_00000000 | nth % 600)
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

# Counts the octets of UDP packets from argv[1] that arrive at e0 for argv[2] seconds.
_COUNT = """
import json, socket, struct, sys, time
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
raw.bind(("e0", 0))
raw.settimeout(0.2)
source = socket.inet_aton(sys.argv[1])
until, size, packets = time.time() + float(sys.argv[2]), 0, 0
print("counting", flush=True)
while time.time() < until:
    try:
        frame = raw.recv(2048)
    except TimeoutError:
        continue
    if frame[23] == 17 and frame[26:30] == source:
        size, packets = size + struct.unpack("!H", frame[16:18])[0], packets + 1
print(json.dumps([size, packets]), flush=True)
"""


def run() -> None:
    """Measure forged packets of each kind at each rate; report the worst ratio."""
    worst = 0.0
    for rate_hz in RATES_HZ:
        for kind, (sent, received) in measure(rate_hz, SECONDS).items():
            figures.comment(f"{rate_hz} forged {kind} per second: {sent} octets sent, {received} reach the victim")
            worst = max(worst, received / sent)
    figures.report("agent_amplification_bytes_ratio", round(worst, 3), seconds=SECONDS, rates_hz=RATES_HZ)


def measure(rate_hz: float, seconds: float) -> dict[str, tuple[int, int]]:
    """Return for each kind the octets of forged packets, and the octets that their victim received from the agent."""
    with Lab() as lab:
        fleet = Fleet(lab)
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        attacker = lab.host("attacker")
        victims = {kind: lab.host(f"v{nth}") for nth, kind in enumerate(KINDS)}
        # Also peers of the plan, so that their addresses are known.
        responder.follow([peer(9 + nth, host.address, "responder") for nth, host in enumerate(victims.values())], 1)
        time.sleep(2)
        count_s = str(seconds + TAIL_S)
        counters = {
            kind: host.start([sys.executable, "-c", _COUNT, responder.host.address, count_s], "counter")
            for kind, host in victims.items()
        }
        for counter in counters.values():
            counter.require("the counter", "counting")
        target, duration = responder.host.address, (str(rate_hz), str(seconds))
        forgers = {
            kind: attacker.start([sys.executable, "-c", _FORGE, kind, host.address, target, *duration], "forger")
            for kind, host in victims.items()
        }
        octets = {}
        for kind in KINDS:
            forgers[kind].require("the forged packets", "\n", within_s=seconds + 30)
            counters[kind].require("the count", "[", within_s=seconds + TAIL_S + 30)
            received, _ = json.loads(counters[kind].output().strip().splitlines()[-1])
            octets[kind] = (int(forgers[kind].output()), int(received))
        answered = sum(received for _, received in octets.values())
        if not answered:
            raise LabError("no forged packet got an answer: the measurement did not take place")
        return octets
