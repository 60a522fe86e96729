"""Agents among enemies: packets that pretend to be of peers and of strangers."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lab.benchmarks import figures
from sinemora.measurements.ingest.agent_pb2 import MeshWindow

from agents import HERE, Agent, Fleet, peer
from field import is_false
from laboratory import Host, Lab

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
    """Print what forged packets do to a measurement."""
    with Lab() as lab:
        forged = int(os.environ.get("FORGED") or FORGED)
        effects = forged_effects(lab, forged)
        figures.report("security_forged_ptp_effects", sum(effects.values()), packets=forged, **effects)


def forged_effects(lab: Lab, forged: int) -> dict[str, int]:
    """Return how often packets of an attacker showed: in delays, in loss, in events, in memory and as ends of agents.

    The client measures an agent and an IEEE 1588 master. Copies are of the agents' packets: who repeats those of a
    master is the master, for all that the standard says without its security TLV.
    """
    fleet = Fleet(lab)
    client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
    master, attacker = lab.host("master"), lab.host("attacker")
    master.start([sys.executable, HERE / "master.py", master.address, _habits(lab)], "master")
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


def _habits(lab: Lab) -> Path:
    file = lab.folder / "habits.json"
    file.write_text("{}", "utf-8")
    return file


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
