"""Octets that reach a victim for each octet of packets with its forged source address, sent to an agent.

The victim is a host whose standard clients the agent serves. The attacker cannot see what the victim receives, so it
never learns the identity that the agent has for the victim.
"""

import json
import sys
import time

from lab.benchmarks import figures

from agents import Fleet, peer
from laboratory import Host, Lab

SECONDS = 60
# After the last forged packet: grants to somebody without a proof last 4 s.
TAIL_S = 10
RATES_HZ = (1, 20)

# Sends Signaling messages that ask for all services at their highest rates, each from another port identity, with the
# source address argv[1] to argv[2]; prints the octets sent, from the IP header on.
_FORGE = """
import socket, struct, sys, time
victim, target, rate, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
def packet(nth):
    tlvs = b"".join(struct.pack("!HHBbI", 4, 6, kind << 4, -7, 300) for kind in (0xb, 0x0, 0x9))
    clock = struct.pack("!Q", 0x02000000_00000000 | nth % 600)
    body = b"\\x0c\\x12" + struct.pack("!H", 44 + len(tlvs)) + bytes([0, 0, 4, 0]) + bytes(12)
    body += clock + struct.pack("!HH", 1, nth & 0xffff) + bytes([5, 0x7f]) + b"\\xff" * 10 + tlvs
    udp = struct.pack("!HHHH", 320, 320, 8 + len(body), 0) + body
    addresses = socket.inet_aton(victim) + socket.inet_aton(target)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), nth & 0xffff, 0, 64, 17, 0) + addresses
    return ip + udp
began, sent, nth = time.monotonic(), 0, 0
while time.monotonic() - began < seconds:
    forged = packet(nth)
    raw.sendto(forged, (target, 0))
    sent, nth = sent + len(forged), nth + 1
    time.sleep(max(0.0, began + nth / rate - time.monotonic()))
print(sent)
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
    """Measure forged requests of a client at each rate; report the worst ratio."""
    worst = 0.0
    for rate_hz in RATES_HZ:
        sent, received = measure(rate_hz, SECONDS)
        figures.comment(f"{rate_hz} forged requests per second: {sent} octets sent, {received} reach the victim")
        worst = max(worst, received / sent)
    figures.report("agent_amplification_bytes_ratio_grants", round(worst, 3), seconds=SECONDS, rates_hz=RATES_HZ)


def measure(rate_hz: float, seconds: float) -> tuple[int, int]:
    """Return the octets of forged packets, and the octets that their victim received from the agent."""
    with Lab() as lab:
        fleet = Fleet(lab)
        responder = fleet.agent(lab.host("responder"), standard_clients="10.77.0.0/16")
        victim, attacker = lab.host("victim"), lab.host("attacker")
        # Also a peer of the plan, so that its address is known.
        responder.follow([peer(9, victim.address, "responder")], 1)
        time.sleep(2)
        counter = victim.start([sys.executable, "-c", _COUNT, responder.host.address, str(seconds + TAIL_S)], "counter")
        counter.require("the counter", "counting")
        sent = int(_forge(attacker, victim.address, responder.host.address, rate_hz, seconds))
        counter.require("the count", "[", within_s=seconds + TAIL_S + 30)
        received, _ = json.loads(counter.output().strip().splitlines()[-1])
        return sent, int(received)


def _forge(attacker: Host, victim: str, target: str, rate_hz: float, seconds: float) -> str:
    return attacker.run(sys.executable, "-c", _FORGE, victim, target, str(rate_hz), str(seconds))
