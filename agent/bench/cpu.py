"""What the agent costs beside ptpd, and what both read as one-way delay, at equal rates in the same run."""

import statistics
import time
from contextlib import suppress

import daemons
from agents import Agent, Fleet
from lab import Lab, cpu_percent, figure, interleaved, note

ROUNDS = 3
SECONDS = 15.0
# Of ptpd at a rate: the exponent of its interval.
LOG_INTERVAL = {1: 0, 16: -4, 128: -7}


def run() -> None:
    """Both pairs run all the time; processor time is read in turns."""
    for rate_hz in LOG_INTERVAL:
        with Lab() as lab:
            _pair(lab, rate_hz)


def _pair(lab: Lab, rate_hz: int) -> None:
    """One client and one responder of each kind."""
    fleet = Fleet(lab)
    client, responder = fleet.agent(lab.host("client")), fleet.agent(lab.host("responder"))
    responder.follow([client.peer("responder")], rate_hz, window_s=5)
    client.follow([responder.peer("client")], rate_hz, window_s=5)
    master_host = lab.host("master")
    master = daemons.ptpd_master(master_host, LOG_INTERVAL[rate_hz])
    slave = daemons.ptpd_client(lab.host("slave"), master_host.address, LOG_INTERVAL[rate_hz])
    time.sleep(20)
    since_s = time.time()
    ours, stock = [], []
    for mine, theirs in interleaved(
        ROUNDS,
        lambda: cpu_percent([client.process, responder.process], SECONDS),
        lambda: cpu_percent([slave.process, master], SECONDS),
    ):
        note(f"{rate_hz}/s: ours {mine}, ptpd {theirs} (client, responder; % of a core)")
        ours.append(sum(mine))
        stock.append(sum(theirs))
    ratio = statistics.median(ours) / statistics.median(stock)
    more = {"ours_percent": statistics.median(ours), "ptpd_percent": statistics.median(stock)}
    bar = {"bar": 0.4} if rate_hz == 128 else {}
    figure(f"agent_cpu_ratio_to_ptpd_{rate_hz}", round(ratio, 3), "ratio", **more, **bar)
    _delays(rate_hz, client, slave, since_s)


def _delays(rate_hz: int, client: Agent, slave: daemons.PtpdClient, since_s: float) -> None:
    """Raw one-way delays: here all clocks are one, so a difference of stamps is a delay."""
    window = client.await_windows(1, since_s)[0]
    note(f"{rate_hz}/s, ours: {window.round_trip.count} exchanges a window")
    for kind, direction in (("S", "inbound"), ("D", "outbound")):
        with suppress(statistics.StatisticsError):
            _spread(f"ptpd_raw_{direction}_us_{rate_hz}", slave.raw_delays_ns(kind))


def _spread(name: str, delays_ns: list[int]) -> None:
    ordered = sorted(delays_ns)
    spread = {
        "min": ordered[0],
        "median": statistics.median(ordered),
        "p99": ordered[int(0.99 * (len(ordered) - 1))],
        "sd": statistics.pstdev(ordered),
    }
    figure(name, {key: round(value / 1e3, 2) for key, value in spread.items()}, "us", count=len(ordered))
