"""Processor time of the agent and of ptpd at equal rates in the same run.

The processor time of a sender does not include the reception at the other end.
"""

import statistics
import time
from typing import Any

from lab.benchmarks import figures

import daemons
from agents import Fleet
from laboratory import Lab, Process, cpu_percent

ROUNDS, SECONDS = 4, 10.0
CLIENTS = 20
# Interval of ptpd at a rate, log2 s.
LOG_INTERVAL = {1: 0, 16: -4, 128: -7}


def run() -> None:
    """Measure ours and ptpd, which run at the same time."""
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
    client.measure(responder, rate_hz, window_s=10)
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
    spans = _ratio(lab, "agent_cpu_ratio_to_ptpd_20x128", [ours.process], [master], clients=CLIENTS)
    # Afterwards, and by the clients' own times: to read what they wrote takes a while, and longer for the second group.
    # A client accepts the responses before its next request.
    answers = [[at for client in group for at, _ in client.one_way_delays()] for group in clients.values()]
    mine, theirs = (sum(1 for began, ended in spans for at in times if began <= at < ended) for times in answers)
    hz = {whose: round(n / SECONDS / ROUNDS / CLIENTS, 1) for whose, n in (("agent", mine), ("ptpd", theirs))}
    figures.report("agent_stock_answers_ratio_to_ptpd_20x128", mine / theirs, per_client_hz=hz)


def _ratio(lab: Lab, name: str, ours: list[Process], ptpd: list[Process], **more: Any) -> list[tuple[float, float]]:
    """Print the ratio of the medians of the processor times over the rounds; return the times of rounds, Unix s."""
    lab.spare_senders()
    rounds, spans = [], []
    for _ in range(ROUNDS):
        began = time.time()
        shares = cpu_percent([*ours, *ptpd], SECONDS)
        spans.append((began, time.time()))
        mine, theirs = shares[: len(ours)], shares[len(ours) :]
        figures.comment(f"{name}: ours {mine}, ptpd {theirs} (% of a core)")
        rounds.append((sum(mine), sum(theirs)))
    mine_percent, theirs_percent = (statistics.median(kind) for kind in zip(*rounds, strict=True))
    percent = {"ours_percent": round(mine_percent, 3), "ptpd_percent": round(theirs_percent, 3)}
    figures.report(name, round(mine_percent / theirs_percent, 3), **percent, **more)
    return spans
