"""Agents among enemies: the plan of a stolen backend, and packets that pretend to be of peers and of strangers."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

from agents import HERE, Agent, Fleet, peer
from field import is_false, write
from laboratory import Host, Lab, wait_until

# A plan that asks for 2,000 times as much as the VM allows.
CAP_HZ, CAP_PEERS, CAP_PEERS_PER_ADDRESS = 200, 40, 16
VICTIMS, PLAN_S = 250, 20.0
# Counts of packets of UDP that arrive, by port of destination.
_COUNT = """
import collections, json, socket, struct, sys
raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
raw.bind(("e0", 0x0800))
print("counting", flush=True)
while True:
    packet, (_, _, direction, *_) = raw.recvfrom(2048)
    if packet[9] == 17 and direction != socket.PACKET_OUTGOING:
        print(struct.unpack_from("!H", packet, 22)[0], socket.inet_ntoa(packet[16:20]), flush=True)
"""

FORGED = 1_000_000
FORGED_HZ = 6_000
RATE_HZ = 16
# An answer that a busy machine sends late is not lost.
DEADLINE_MS = 20_000
RECORDED_S = 5.0
GROWTH_MOST_MIB = 8
# Events that would say something of the network that is not so.
_FALSE_EVENTS = ("clock_step", "another VM answers", "another route")


def run() -> None:
    """Print what a stolen backend can make an agent send, and what forged packets do to a measurement."""
    with Lab() as lab:
        figures.report("security_agent_packets_over_cap", packets_over_cap(lab))
    with Lab() as lab:
        forged = int(os.environ.get("FORGED") or FORGED)
        effects = forged_effects(lab, forged)
        figures.report("security_forged_ptp_effects", sum(effects.values()), packets=forged, **effects)


def packets_over_cap(lab: Lab) -> int:
    """Return the packets that an agent sends beyond its limits when its plan wants millions, to any port."""
    limits = {"max_packets_per_s": CAP_HZ, "max_peers": CAP_PEERS, "max_peers_per_address": CAP_PEERS_PER_ADDRESS}
    settings: dict[str, Any] = {name: str(value) for name, value in limits.items()}
    stolen = Fleet(lab).agent(lab.host("stolen"), **settings)
    victim = lab.host("victim")
    addresses = [f"10.77.200.{nth}" for nth in range(1, VICTIMS + 1)]
    for address in addresses:
        victim.run("ip", "address", "add", f"{address}/16", "dev", "e0")
    counter = victim.start([sys.executable, "-c", _COUNT], "counter")
    counter.require("the counter", "counting")
    one = [peer(1_000 + nth, victim.address, "client", flows=16) for nth in range(200)]
    ports = [peer(2_000 + nth, at, "client", event_port=53, general_port=123) for nth, at in enumerate(addresses)]
    many = [peer(3_000 + nth, at, "client", flows=16) for nth, at in enumerate(addresses)]
    stolen.follow([*ports, *one, *many], 128, caps={"packets_per_s": 4_000_000_000, "peers": 4_000_000_000})
    wait_until("its first packets", lambda: counter.output().count("\n") > 1)
    time.sleep(PLAN_S)
    arrived = [line.split() for line in counter.output().split("\n")[1:-1]]
    addresses_met = {address for _, address in arrived}
    figures.comment(f"{len(arrived)} packets in {PLAN_S:.0f} s, to {len(addresses_met)} addresses")
    forbidden = sum(port not in ("319", "320") for port, _ in arrived)
    return forbidden + max(0, len(arrived) - round(CAP_HZ * (PLAN_S + 1)))


def forged_effects(lab: Lab, forged: int) -> dict[str, int]:
    """Return how often packets of an attacker showed: in delays, in loss, in events, in memory and as ends of agents.

    The client measures an agent and an IEEE 1588 master. Copies are of the agents' packets: who repeats those of a
    master is the master, for all that the standard says without its security TLV.
    """
    fleet = Fleet(lab)
    client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
    master, attacker = lab.host("master"), lab.host("attacker")
    habits = lab.folder / "habits.json"
    write(habits, {})
    master.start([sys.executable, HERE / "master.py", master.address, habits], "master")
    standard = peer(77, master.address, "client", protocol="ieee1588")
    responder.follow([client.peer("responder")], RATE_HZ, loss_deadline_ms=DEADLINE_MS)
    client.follow([responder.peer("client"), standard], RATE_HZ, loss_deadline_ms=DEADLINE_MS)
    since_s = client.await_answers([responder.key, 77])
    kept = lab.folder / "kept"
    client.host.run(sys.executable, HERE / "forger.py", "record", kept, str(RECORDED_S), responder.host.address)
    agents = (client, responder)
    before_mib = [agent.process.rss_mib() for agent in agents]
    began_s = time.monotonic()
    _forge(attacker, agents, master, kept, forged)
    attacked_s = time.monotonic() - began_s
    windows = client.await_windows(int(RECORDED_S + attacked_s), since_s, 180)
    growth = [agent.process.rss_mib() - before for agent, before in zip(agents, before_mib, strict=True)]
    figures.comment(f"{forged} packets in {attacked_s:.0f} s, {len(windows)} windows, memory {max(growth):+.1f} MiB")
    reported = [json.dumps(event) for agent in agents for event in agent.events()]
    return {
        **_wrong(windows, (responder.key, 77)),
        "events": sum(any(text in event for text in _FALSE_EVENTS) for event in reported),
        "memory": sum(mib > GROWTH_MOST_MIB for mib in growth),
        "ends": sum(not agent.process.running for agent in agents),
    }


def _forge(attacker: Host, agents: Sequence[Agent], master: Host, kept: Path, forged: int) -> None:
    """Send an equal share to each agent, as from the other one, from its master, itself and a stranger."""
    forgers = []
    for seed, agent in enumerate(agents):
        sources = ",".join([*(one.host.address for one in agents), master.address, "10.77.9.9"])
        share = (forged // len(agents), FORGED_HZ / len(agents), seed)
        command: list[str | Path] = [sys.executable, HERE / "forger.py", "forge", kept, agent.host.address, sources]
        forgers.append(attacker.start([*command, *map(str, share)], "forger"))
    for forger in forgers:
        forger.require("the forged packets", "sent", within_s=600)


def _wrong(windows: Sequence[MeshWindow], keys: Sequence[int]) -> dict[str, int]:
    """Return the windows of each peer with a wrong delay, with loss where nothing is lost, and without the peer."""
    delays, lost, missing = 0, 0, 0
    for window in windows:
        for key in keys:
            at = list(window.peer_keys).index(key) if key in window.peer_keys else None
            if at is None:
                missing += 1
                continue
            directions = (window.outbound, window.inbound, window.round_trip)
            delays += any(is_false(columns, at) for columns in directions[:2])
            lost += any(columns.lost[at] > 0 for columns in directions)
    return {"delays": delays, "lost": lost, "missing": missing}
