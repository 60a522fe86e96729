"""Octets that reach a victim for each octet of packets with its forged source address, sent to an agent.

The victims are hosts whose agents and standard clients the agent serves, one for each kind of packet. The attacker
cannot see what a victim receives, so it never learns the identity that the agent has for that victim. Some victims run
a ptp4l that has been granted messages and is stopped since; the attacker knows its identity, which is made of the
address of its network card. What such a ptp4l gets without forged packets is measured at another one.
"""

import json
import signal
import sys
import time

from lab.benchmarks import figures

import daemons
from agents import Agent, Fleet, peer
from laboratory import Host, Lab, LabError, wait_until

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
    "requests of SPTP",
    "responses",
    "management",
    "malformed",
)
# Of victims with a granted ptp4l, and what the attacker sends to one of them.
SERVED = {"Delay_Req of a served client": "standard Delay_Req", "grants of a served client": "grants"}
# Of that ptp4l: above half the rates, so that they are within what the agent answers.
SERVED_LOG_INTERVAL = -6
# Message types that are granted at a rate: Sync, Follow_Up and Announce.
GRANTED_TYPES = ("0", "8", "11")
# Octets of one message of each of them, which may leave just inside or outside the time that is measured; and the share
# by which two clients of one rate differ on a busy machine.
EDGE, SHARE = 92 + 72 + 72, 0.05

# Sends packets of the kind argv[1] with the source address argv[2] to argv[3], from the clock identity argv[6] or each
# from another one; prints the octets sent, from the IP header on.
_FORGE = """
import os, random, socket, struct, sys, time
kind, victim, target, rate, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
identity = bytes.fromhex(sys.argv[6])
first = random.randrange(1 << 16)
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

# Counts the octets of UDP packets from argv[1] that arrive at e0 from argv[2] (Unix s) for argv[3] seconds, by message
# type.
_COUNT = """
import json, socket, struct, sys, time
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
raw.bind(("e0", 0))
raw.settimeout(0.2)
source = socket.inet_aton(sys.argv[1])
since = float(sys.argv[2])
until, octets = since + float(sys.argv[3]), {}
print("counting", flush=True)
while time.time() < until:
    try:
        frame = raw.recv(2048)
    except TimeoutError:
        continue
    if frame[23] == 17 and frame[26:30] == source and since <= time.time() < until:
        kind = frame[42] & 0xf
        octets[kind] = octets.get(kind, 0) + struct.unpack("!H", frame[16:18])[0]
print(json.dumps(octets), flush=True)
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
        clients = [_stopped_client(host, responder) for host in (*served.values(), control)]
        since_s, count_s = time.time() + 2, seconds + TAIL_S
        hosts = {**victims, "": control}
        counters = {
            kind: host.start(
                [sys.executable, "-c", _COUNT, responder.host.address, str(since_s), str(count_s)], "counter"
            )
            for kind, host in hosts.items()
        }
        for counter in counters.values():
            counter.require("the counter", "counting")
        time.sleep(max(0.0, since_s - time.time()))
        target, duration = responder.host.address, (str(rate_hz), str(seconds))
        forgers = {
            kind: attacker.start(
                [
                    *(sys.executable, "-c", _FORGE, SERVED.get(kind, kind), host.address, target, *duration),
                    _clock_identity(host) if kind in SERVED else "",
                ],
                "forger",
            )
            for kind, host in victims.items()
        }
        received: dict[str, dict[str, int]] = {}
        for kind, counter in counters.items():
            counter.require("the count", "{", within_s=count_s + 30)
            received[kind] = json.loads(counter.output().strip().splitlines()[-1])
        octets = {}
        for kind, forger in forgers.items():
            forger.require("the forged packets", "\n", within_s=30)
            granted = received[""] if kind in SERVED else None
            octets[kind] = (int(forger.output()), _caused(received[kind], granted))
        for client in clients:
            client.process.signal(signal.SIGCONT)
        if not received[""]:
            raise LabError("a served client got nothing: the measurement did not take place")
        if not sum(got for _, got in octets.values()):
            raise LabError("no forged packet got an answer: the measurement did not take place")
        return octets


def _caused(received: dict[str, int], granted: dict[str, int] | None) -> int:
    """Return the octets received because of forged packets; `granted` is what a client gets without them."""
    if granted is None:
        return sum(received.values())
    asked, usual = (
        sum(octets for kind, octets in counts.items() if kind in GRANTED_TYPES) for counts in (received, granted)
    )
    others = sum(octets for kind, octets in received.items() if kind not in GRANTED_TYPES)
    return others + max(0, asked - round(usual * (1 + SHARE)) - EDGE)


def _stopped_client(host: Host, responder: Agent) -> daemons.Ptp4lClient:
    """Start a ptp4l that is served for 300 s, and stop it."""
    client = daemons.ptp4l_client(host, responder.host.address, SERVED_LOG_INTERVAL, unicast_req_duration=300)
    wait_until(f"measurements of the ptp4l of {host.name}", lambda: len(client.raw_delays_ns()) > 100)
    client.process.signal(signal.SIGSTOP)
    return client


def _clock_identity(host: Host) -> str:
    """Return the clock identity of a ptp4l as hexadecimal digits: the EUI-64 of the address of its network card."""
    [link] = json.loads(host.run("ip", "-json", "link", "show", "e0"))
    octets = link["address"].split(":")
    return "".join([*octets[:3], "ff", "fe", *octets[3:]])
