"""Processor time of the static agent that packages hold, against the same agent linked with the machine's C library.

Both run at the same time in one laboratory, each with a client and a responder, and are read in turns. `make packages`
builds the static one.
"""

import platform
import statistics

from lab.benchmarks import figures

from agents import BINARY, Agent, Fleet
from laboratory import Lab, cpu_in_turns

STATIC = BINARY.parents[1] / f"{platform.machine()}-unknown-linux-musl" / "release" / BINARY.name
# At 128 exchanges a second most of the time goes to packets, at one to what runs between them.
RATES_HZ = (1, 128)
ROUNDS, SECONDS = 7, 10.0


def run() -> None:
    """Print the ratio at each rate."""
    if not STATIC.exists():
        figures.comment(f"not measured: {STATIC} is not built. What to do: make packages")
        return
    for rate_hz in RATES_HZ:
        with Lab() as lab:
            _measure(lab, rate_hz)


def _measure(lab: Lab, rate_hz: int) -> None:
    fleet = Fleet(lab)
    pairs: dict[str, list[Agent]] = {"dynamic": [], "static": []}
    for kind, binary in (("dynamic", BINARY), ("static", STATIC)):
        fleet.binary = binary
        client, responder = (fleet.agent(lab.host(f"{kind}-{role}")) for role in ("a", "b"))
        responder.follow([client.peer("responder")], rate_hz, window_s=10)
        client.follow([responder.peer("client")], rate_hz, window_s=10)
        pairs[kind] = [client, responder]
    clients = [pair[0] for pair in pairs.values()]
    for client, responder in pairs.values():
        client.await_answers([responder.key])
    before = [client.metrics()["sinemora_agent_exchanges_completed_total"] for client in clients]
    processes = [agent.process for pair in pairs.values() for agent in pair]
    ratios, shares = [], []
    for spared, _ in cpu_in_turns(lab, processes, ROUNDS, SECONDS):
        dynamic, static = sum(spared[:2]), sum(spared[2:])
        figures.comment(f"{rate_hz}/s: dynamic {dynamic:.3f}, static {static:.3f} (% of a core)")
        ratios.append(static / dynamic)
        shares.append((dynamic, static))
    after = [client.metrics()["sinemora_agent_exchanges_completed_total"] for client in clients]
    exchanges = [round(late - early) for early, late in zip(before, after, strict=True)]
    dynamic_percent, static_percent = (statistics.median(kind) for kind in zip(*shares, strict=True))
    figures.report(
        f"agent_cpu_ratio_static_{rate_hz}",
        round(statistics.median(ratios), 3),
        dynamic_percent=round(dynamic_percent, 3),
        static_percent=round(static_percent, 3),
        exchanges=exchanges,
    )
