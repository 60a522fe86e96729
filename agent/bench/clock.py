"""Error of the virtual clock: real packets, and a clock of known offset, skew and wander at one end."""

import statistics
import time
from collections.abc import Sequence

from lab.benchmarks import figures

import boxes
import daemons
from agents import Fleet
from clocks import SYNTHETIC, Clock, Pair, WindowEnd, build
from laboratory import Lab, LabError

# For each window: true if its delays lie within the bound that it states.
_coverage: list[bool] = []

SETTLED_S = 20.0
BURSTS = 5
# Some of them do not count, because the windows do not keep the exchanges after their end.
RETURNS = 7
# Time between bursts where ptpd is measured too, which takes long to recover.
APART_S = 16.0


def run() -> None:
    """Measure every figure; scenarios that do not disturb each other run at the same time."""
    build()
    errors = []
    for part in (_quiet_and_steps, _bursts, _standing_queue, _route_change, _returns):
        try:
            part()
        except LabError as error:
            errors.append(f"{part.__name__}: {error}")
    if _coverage:
        inside = 100 * sum(_coverage) / len(_coverage)
        figures.report("agent_bound_coverage_percent", round(inside, 3), windows=len(_coverage))
    if errors:
        raise LabError("\n".join(errors))


def _quiet_and_steps() -> None:
    """Measure without other traffic: a steady clock, and one that runs 50 ppm fast and is stepped by 1 ms."""
    with Lab() as lab:
        fleet = Fleet(lab, SYNTHETIC)
        quiet = {rate: Pair(lab, f"q{rate}", Clock(), fleet) for rate in (1, 16, 128)}
        fast = Clock(skew_ppb=50_000, step_ns=1_000_000, step_at_s=45.4)
        stepped = {rate: Pair(lab, f"s{rate}", fast, fleet) for rate in (1, 16)}
        for rate, pair in [*quiet.items(), *stepped.items()]:
            pair.measure(rate)
        time.sleep(80)
        for rate, pair in quiet.items():
            _error(f"agent_clock_error_us_quiet_{rate}", pair)
        _first_value(quiet[1])
        for pair in stepped.values():
            _count(pair, SETTLED_S)


def _first_value(pair: Pair) -> None:
    """Measure the time from the plan to the report with the first delay of a direction within its bound."""
    for report in pair.client.reports():
        made_s = report.made_at_ns / 1e9 - pair.began_s
        ends = {window.started_at_s + window.window_s - pair.began_s for window in report.windows}
        if any(end.at_s in ends and end.holds() for end in pair.window_ends()):
            figures.report("agent_first_direction_value_s_1", round(made_s, 2))
            return
    raise LabError("no window had a delay of a direction within its bound")


def _bursts() -> None:
    """Send bursts of a second with 30 Mbit/s to a client behind 20 Mbit/s: 20 ms of queue in one direction."""
    with Lab() as lab:
        fleet = Fleet(lab, SYNTHETIC)
        pairs = {rate: Pair(lab, f"b{rate}", Clock(), fleet) for rate in (2, 16, 128)}
        for rate, pair in pairs.items():
            pair.narrow("20mbit", "50kb")
            pair.measure(rate)
        start_s = time.time() + SETTLED_S + 2
        starts = [start_s + 8 * n for n in range(BURSTS)]
        for pair in pairs.values():
            pair.flood(30e6, 1.0, starts)
        time.sleep(starts[-1] + 10 - time.time())
        for rate, pair in pairs.items():
            _error(f"agent_clock_error_us_burst_{rate}", pair)


def _standing_queue() -> None:
    """Exceed the rate of the bottleneck for a minute."""
    with Lab() as lab:
        pair = Pair(lab, "z", Clock(), Fleet(lab, SYNTHETIC))
        pair.narrow("10mbit", "25kb")
        pair.measure(16)
        pair.flood(12e6, 60.0, [time.time() + SETTLED_S + 2])
        time.sleep(SETTLED_S + 75)
        _error("agent_clock_error_us_standing_queue_16", pair)


def _route_change() -> None:
    """Lengthen the route to the client by 100 us, 60 s after the box began."""
    with Lab() as lab:
        change_s = 60.0
        # A box that sleeps wakes up to 20 us late at times, which would be another change.
        tuning = ["--both=delay=1ms", "--spin=always", "--realtime=false"]
        tuning += [f"--change={change_s:.0f}s inbound add=100us"]
        pair = Pair(lab, "route", Clock(), Fleet(lab, SYNTHETIC), tuning)
        pair.measure(16)
        time.sleep(max(0.0, pair.box.began_s + change_s + 32 - time.time()))
        changed_s = pair.box.began_s + change_s - pair.began_s
        ends = pair.window_ends(SETTLED_S)
        before = [end for end in ends if end.at_s < changed_s - 1]
        after = [end for end in ends if changed_s + 25 <= end.at_s]

        def shift(column: str) -> float:
            was, became = (
                statistics.median(getattr(end.window, column).min_ns[0] for end in part) for part in (before, after)
            )
            return float(became - was)

        inbound, outbound = shift("inbound"), shift("outbound")
        error = 100 * max(abs(inbound - 100_000), abs(outbound)) / 100_000
        figures.report("agent_route_change_error_percent", error, inbound_ns=inbound, outbound_ns=outbound)
        _count(pair, SETTLED_S)


def _returns() -> None:
    """Count the exchanges from the end of a queue until the delay is as before, for ours and for ptpd."""
    for rate in (128, 16, 2):
        with Lab() as lab:
            _return(lab, rate, RETURNS)


def _return(lab: Lab, rate: int, bursts: int) -> None:
    tuning = ["--outbound=delay=1ms", "--inbound=delay=1ms rate=20mbit burst=5kB queue=50kB"]
    pair = Pair(lab, f"x{rate}", Clock(), Fleet(lab, SYNTHETIC), tuning)
    log_interval = 1 - rate.bit_length()
    near, far = (boxes.interface(end.host, end.address) for end in (pair.client, pair.responder))
    daemons.ptpd_master(pair.responder.host, log_interval, far)
    ptpd = daemons.ptpd_client(pair.client.host, pair.responder.address, log_interval, near)
    pair.measure(rate, spike_ns=500_000)
    start_s = time.time() + SETTLED_S
    starts = [start_s + APART_S * n for n in range(bursts)]
    pair.flood(30e6, 1.0, starts)
    time.sleep(starts[-1] + APART_S - time.time())
    exchanges = sorted(pair.exchanges())
    returns, bleeds = [], []
    for start in starts:
        quiet = [end.window for end in pair.window_ends() if start - 5 < pair.began_s + end.at_s < start]
        base_in = statistics.median(w.inbound.mean_ns[0] for w in quiet)
        base_out = statistics.median(w.outbound.mean_ns[0] for w in quiet)
        crowded = [row for row in exchanges if start + 0.1 < row[0] < start + 1.0]
        if not crowded:
            continue
        rise = max(row[2] for row in crowded) - base_in
        moved = abs(statistics.median(row[1] for row in crowded) - base_out)
        bleeds.append(100 * moved / rise)
        # The bucket passes 20 Mbit/s, so it is empty 20 ms after the end of the burst.
        after = [row for row in exchanges if start + 1.02 < row[0] < start + 3]
        if after:
            back = (n for n, row in enumerate(after, 1) if row[2] <= 1.05 * base_in)
            returns.append(next(back, len(after) + 1))
    if not returns:
        raise LabError(f"no window kept the end of a burst at {rate}/s")
    theirs = _ptpd_returns(ptpd, starts)
    figures.report(f"agent_burst_return_exchanges_{rate}", statistics.median(returns), returns=returns)
    if theirs is not None:
        figures.report(f"ptpd_burst_return_exchanges_{rate}", theirs, seconds=round(theirs / rate, 2))
    if rate == 16:
        figures.report("agent_burst_bleed_percent_16", statistics.median(bleeds), bleeds=bleeds)
    _count(pair, SETTLED_S)


def _ptpd_returns(ptpd: daemons.PtpdClient, starts: Sequence[float]) -> float | None:
    """Return the median number of exchanges until ptpd's filtered one-way delay is as before; None without bursts."""
    reported = ptpd.one_way_delays()
    returns = []
    for start in starts:
        calm = [delay for at, delay in reported if start - 4 < at < start]
        after = [delay for at, delay in reported if start + 1.02 < at < start + APART_S]
        if calm and after:
            base = statistics.median(calm)
            back = (n for n, delay in enumerate(after, 1) if delay <= 1.05 * base)
            returns.append(next(back, len(after)))
    figures.comment(f"ptpd is back after {returns} exchanges, or not before the next burst")
    return statistics.median(returns) if returns else None


def _error(name: str, pair: Pair) -> None:
    """Print the largest error of the offset at the end of a window, from 20 s on."""
    ends = _count(pair, SETTLED_S)
    errors_us = [abs(end.error_ns) / 1e3 for end in ends]
    bound_us = statistics.median(end.bound_ns for end in ends) / 1e3
    figures.report(name, max(errors_us), median_us=statistics.median(errors_us), bound_us=bound_us, windows=len(ends))


def _count(pair: Pair, from_s: float) -> list[WindowEnd]:
    """Return the window ends from a time on; count all of them, from the first, for the coverage."""
    ends = pair.window_ends()
    if not ends:
        raise LabError(f"no windows:\n{pair.client.process.output()[-1500:]}")
    outside = [end for end in ends if not end.holds()]
    for end in outside:
        figures.comment(f"outside its bound at {end.at_s:.1f} s: {end.error_ns:.0f} of {end.bound_ns} ns")
    _coverage.extend(end not in outside for end in ends)
    return [end for end in ends if end.at_s >= from_s]
