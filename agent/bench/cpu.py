"""Processor time of the agent and of ptpd at equal rates in the same run.

The figures are of senders whose processor time does not include the reception at the other end. Figures named
`_sender_pays` include it.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from lab.benchmarks import figures

import daemons
from agents import Fleet
from laboratory import Lab, Process, cpu_in_turns

ROUNDS, SECONDS = 4, 10.0
CLIENTS = 20
# Interval of ptpd at a rate, log2 s.
LOG_INTERVAL = {1: 0, 16: -4, 128: -7}


def run() -> None:
    """Measure ours and ptpd, which run at the same time; their processor time is read in turns."""
    for rate_hz in LOG_INTERVAL:
        with Lab() as lab:
            _one(lab, rate_hz)
    with Lab() as lab:
        _twenty(lab)


def _one(lab: Lab, rate_hz: int) -> None:
    """Measure one client and one responder of each kind."""
    fleet = Fleet(lab)
    client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
    # The length of windows that a mesh has by default.
    responder.follow([client.peer("responder")], rate_hz, window_s=10)
    client.follow([responder.peer("client")], rate_hz, window_s=10)
    host = lab.host("master")
    master = daemons.ptpd_master(host, LOG_INTERVAL[rate_hz])
    slave = daemons.ptpd_client(lab.host("slave"), host.address, LOG_INTERVAL[rate_hz])
    time.sleep(15)
    _ratio(lab, f"agent_cpu_ratio_to_ptpd_{rate_hz}", [client.process, responder.process], [slave.process, master])


def _twenty(lab: Lab) -> None:
    """Measure twenty ptpd clients at our responder and twenty at ptpd's."""
    fleet = Fleet(lab)
    ours = fleet.agent(lab.host("ours"), standard_clients="10.77.0.0/16")
    host = lab.host("master")
    master = daemons.ptpd_master(host, -7)
    clients = {
        address: [daemons.ptpd_client(lab.host(f"{kind}{i}"), address, -7) for i in range(CLIENTS)]
        for kind, address in (("o", ours.host.address), ("m", host.address))
    }
    time.sleep(25)
    for address, group in clients.items():
        measuring = sum(client.is_slave and len(client.raw_delays_ns("D")) > 100 for client in group)
        figures.comment(f"{measuring} of {CLIENTS} clients of {address} measure")
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in ("", "_sender_pays")}

    @contextmanager
    def counted(sender_pays: bool) -> Iterator[None]:
        began = time.time()
        yield
        turns["_sender_pays" if sender_pays else ""].append((began, time.time()))

    _ratio(lab, "agent_cpu_ratio_to_ptpd_20x128", [ours.process], [master], counted, clients=CLIENTS)
    # Afterwards, and by the clients' own times: to read what they wrote takes a while, and longer for the second group.
    answers = [_answers(group) for group in clients.values()]
    for name, spans in turns.items():
        mine, theirs = (sum(1 for began, ended in spans for at in times if began <= at < ended) for times in answers)
        hz = {whose: round(n / SECONDS / ROUNDS / CLIENTS, 1) for whose, n in (("agent", mine), ("ptpd", theirs))}
        figures.report(f"agent_stock_answers_ratio_to_ptpd_20x128{name}", mine / theirs, per_client_hz=hz)


def _answers(clients: Sequence[daemons.PtpdClient]) -> list[float]:
    """Return the times, Unix s, of the responses that clients accepted: those before their next request."""
    return [at for client in clients for at, _ in client.one_way_delays()]


def _ratio(
    lab: Lab,
    name: str,
    ours: list[Process],
    ptpd: list[Process],
    during: Callable[[bool], AbstractContextManager[None]] = lambda _: nullcontext(),
    **more: Any,
) -> None:
    """Print the ratio of the medians of the processor times over the rounds, each turn within `during`."""
    taken: dict[str, list[tuple[float, float]]] = {name: [], f"{name}_sender_pays": []}
    for turns in cpu_in_turns(lab, [*ours, *ptpd], ROUNDS, SECONDS, during):
        for of, shares in zip(taken, turns, strict=True):
            mine, theirs = shares[: len(ours)], shares[len(ours) :]
            figures.comment(f"{of}: ours {mine}, ptpd {theirs} (% of a core)")
            taken[of].append((sum(mine), sum(theirs)))
    for of, rounds in taken.items():
        mine_percent, theirs_percent = (statistics.median(kind) for kind in zip(*rounds, strict=True))
        percent: dict[str, Any] = {"ours_percent": round(mine_percent, 3), "ptpd_percent": round(theirs_percent, 3)}
        figures.report(of, round(mine_percent / theirs_percent, 3), **percent, **more)
