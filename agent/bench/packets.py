"""Packets and bytes of an exchange: the compact one, and that of the standard by unicast negotiation."""

import json
import sys
import time

from lab.benchmarks import figures

from agents import Fleet
from laboratory import Host, Lab

SECONDS = 15
# Name of the figure, protocol and rate. The compact exchange has more messages where requests are far apart.
MODES = (("lean", "compact", 16), ("lean", "compact", 1), ("ieee", "ieee1588", 16))
_EVENT = 319

# Counts the UDP packets to ports 319 and 320 that pass e0 while it runs, their bytes from the IP header on, and how
# many of them are Delay_Req.
_SNIFF = """
import json, socket, struct, sys, time
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind(("e0", 0))
raw.settimeout(0.2)
until, packets, size, requests = time.time() + float(sys.argv[1]), 0, 0, 0
while time.time() < until:
    try:
        frame = raw.recv(2048)
    except TimeoutError:
        continue
    if frame[12:14] == b"\\x08\\x00" and frame[23] == 17 and struct.unpack("!H", frame[36:38])[0] in (319, 320):
        packets, size = packets + 1, size + struct.unpack("!H", frame[16:18])[0]
        requests += frame[42] & 15 == 1
print(json.dumps([packets, size, requests]))
"""


def run() -> None:
    """Measure a pair of agents in each mode, one after the other."""
    for name, protocol, rate_hz in MODES:
        with Lab() as lab:
            _one(lab, name, protocol, rate_hz)


def _one(lab: Lab, name: str, protocol: str, rate_hz: int) -> None:
    fleet = Fleet(lab)
    client, responder = fleet.agent(lab.host("client"), _EVENT), fleet.agent(lab.host("responder"), _EVENT)
    responder.follow([client.peer("responder")], rate_hz)
    client.follow([responder.peer("client", protocol=protocol)], rate_hz)
    time.sleep(8)
    packets, size, exchanges = _passing(client.host, SECONDS)
    figures.comment(f"{protocol} at {rate_hz}/s: {packets} packets, {size} bytes, {exchanges} exchanges")
    more = {"bytes": round(size / exchanges, 1), "rate_hz": rate_hz}
    figures.report(f"agent_packets_per_exchange_{name}_{rate_hz}", round(packets / exchanges, 2), **more)


def _passing(host: Host, seconds: float) -> tuple[int, int, int]:
    packets, size, requests = json.loads(host.run(sys.executable, "-c", _SNIFF, str(seconds)))
    return packets, size, requests
