"""How right the virtual clock is: real packets, and a clock of known offset, skew and wander at one end."""

import statistics
import time
from collections.abc import Sequence

import daemons
from agents import Fleet
from clocks import SYNTHETIC, Clock, Pair, Seen, build
from lab import Lab, LabError, figure, note

# Windows counted, and those whose delays lie outside the bound they state.
_coverage: list[bool] = []

SETTLED_S = 20.0
BURSTS = 5
# Of some the exchanges after the end are not among those that windows keep.
RETURNS = 7
# From one burst to the next where ptpd is looked at too, which takes long to come back.
APART_S = 16.0


def run() -> None:
    """Every figure; scenarios that do not disturb each other run at the same time."""
    build()
    for part in (_quiet_and_steps, _bursts, _standing_queue, _route_change, _returns):
        try:
            part()
        except LabError as error:
            note(f"{part.__name__}: {error}")
    if _coverage:
        inside = 100 * sum(_coverage) / len(_coverage)
        figure("agent_bound_coverage_percent", round(inside, 3), "percent", bar=99.9, windows=len(_coverage))


def _quiet_and_steps() -> None:
    """Nothing but exchanges; and beside it a clock that runs 50 ppm fast and is stepped by 1 ms."""
    with Lab() as lab:
        fleet = Fleet(lab, SYNTHETIC)
        quiet = {rate: Pair(lab, f"q{rate}", Clock(), fleet) for rate in (1, 16, 128)}
        fast = Clock(skew_ppb=50_000, step_ns=1_000_000, step_at_s=45.4)
        stepped = {rate: Pair(lab, f"s{rate}", fast, fleet) for rate in (1, 16)}
        for rate, pair in [*quiet.items(), *stepped.items()]:
            pair.measure(rate)
        time.sleep(80)
        for rate, pair in quiet.items():
            _error(f"agent_clock_error_us_quiet_{rate}", pair, {1: 20, 16: 10, 128: 5}[rate])
        _first_value(quiet[1])
        for rate, pair in stepped.items():
            note(f"step of 1 ms and 50 ppm at {rate}/s: {_spread(_count(pair, SETTLED_S))}")


def _first_value(pair: Pair) -> None:
    """From the plan to the report with the first delay of a direction, which must lie within its bound."""
    for report in pair.client.reports():
        made_s = report.made_at_ns / 1e9 - pair.began_s
        ends = {window.started_at_s + window.window_s - pair.began_s for window in report.windows}
        if any(seen.at_s in ends and seen.holds() for seen in pair.seen()):
            return figure("agent_first_direction_value_s_1", round(made_s, 2), "s", bar=3)
    raise LabError("no window had a delay of a direction within its bound")


def _bursts() -> None:
    """Once in a while a second of 30 Mbit/s towards a client behind 20 Mbit/s: 20 ms of queue one way."""
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
            _error(f"agent_clock_error_us_burst_{rate}", pair, {2: 30, 16: 20, 128: 15}[rate])


def _standing_queue() -> None:
    """A minute of more than the bottleneck takes."""
    with Lab() as lab:
        pair = Pair(lab, "z", Clock(), Fleet(lab, SYNTHETIC))
        pair.narrow("10mbit", "25kb")
        pair.measure(16)
        pair.flood(12e6, 60.0, [time.time() + SETTLED_S + 2])
        time.sleep(SETTLED_S + 75)
        _error("agent_clock_error_us_standing_queue_16", pair, 20)


def _route_change() -> None:
    """100 us more towards the client, 45 s after the box began."""
    with Lab() as lab:
        change_s = 60.0
        # A box that sleeps wakes later by some 20 us at times, another change than the one that is asked for.
        tuning = ["--both=delay=1ms", "--spin=always", "--realtime=false"]
        tuning += [f"--change={change_s:.0f}s inbound add=100us"]
        pair = Pair(lab, "route", Clock(), Fleet(lab, SYNTHETIC), tuning)
        pair.measure(16)
        time.sleep(max(0.0, pair.box_began_s + change_s + 32 - time.time()))
        changed_s = pair.box_began_s + change_s - pair.began_s
        seen = pair.seen(SETTLED_S)
        before = [one for one in seen if one.at_s < changed_s - 1]
        after = [one for one in seen if changed_s + 25 <= one.at_s]

        def shift(column: str) -> float:
            middle = [statistics.median(getattr(s.window, column).min_ns[0] for s in part) for part in (before, after)]
            return float(middle[1] - middle[0])

        inbound, outbound = shift("inbound"), shift("outbound")
        told = [line for line in pair.client.process.output().splitlines() if "than before, and only that way" in line]
        note(f"route change: inbound by {inbound / 1e3:.1f} us, outbound by {outbound / 1e3:.1f} us; told: {told}")
        error = 100 * max(abs(inbound - 100_000), abs(outbound)) / 100_000
        figure("agent_route_change_error_percent", round(error, 1), "percent", bar=10)
        _count(pair, SETTLED_S)


def _returns() -> None:
    """How many exchanges it takes after a queue has drained until the delay is what it was; ptpd beside ours."""
    for rate in (128, 16, 2):
        with Lab() as lab:
            _return(lab, rate, RETURNS)


def _return(lab: Lab, rate: int, bursts: int) -> None:
    tuning = ["--outbound=delay=1ms", "--inbound=delay=1ms rate=20mbit burst=5kB queue=50kB"]
    pair = Pair(lab, f"x{rate}", Clock(), Fleet(lab, SYNTHETIC), tuning)
    log_interval = 1 - rate.bit_length()
    daemons.ptpd_master(pair.hosts[1], log_interval, pair.interface(1))
    stock = daemons.ptpd_client(pair.hosts[0], pair.addresses[1], log_interval, pair.interface(0))
    pair.measure(rate, spike_ns=500_000)
    start_s = time.time() + SETTLED_S
    starts = [start_s + APART_S * n for n in range(bursts)]
    pair.flood(30e6, 1.0, starts)
    time.sleep(starts[-1] + APART_S - time.time())
    exchanges = sorted(pair.exchanges())
    returns, bleeds = [], []
    for start in starts:
        quiet = [s.window for s in pair.seen() if start - 5 < pair.began_s + s.at_s < start]
        base_in = statistics.median(w.inbound.mean_ns[0] for w in quiet)
        base_out = statistics.median(w.outbound.mean_ns[0] for w in quiet)
        crowded = [row for row in exchanges if start + 0.1 < row[0] < start + 1.0]
        if not crowded:
            continue
        rise = max(row[2] for row in crowded) - base_in
        moved = abs(statistics.median(row[1] for row in crowded) - base_out)
        bleeds.append(100 * moved / rise)
        # The bucket passes 20 Mbit/s: what stands in it when the burst ends is gone 20 ms later.
        after = [row for row in exchanges if start + 1.02 < row[0] < start + 3]
        if after:
            back = (n for n, row in enumerate(after, 1) if row[2] <= 1.05 * base_in)
            returns.append(next(back, len(after) + 1))
    note(f"{rate}/s: back after {returns} exchanges; the clean direction moved by {[round(b, 2) for b in bleeds]} %")
    if not returns:
        raise LabError(f"no burst at {rate}/s was seen to end")
    theirs = _ptpd_returns(stock, starts)
    more = {"bursts": len(returns), "ptpd": theirs, "ptpd_s": None if theirs is None else round(theirs / rate, 2)}
    figure(f"agent_burst_return_exchanges_{rate}", statistics.median(returns), "exchanges", bar=2, **more)
    if rate == 16:
        figure("agent_burst_bleed_percent_16", round(statistics.median(bleeds), 2), "percent", bar=5)
    _count(pair, SETTLED_S)


def _ptpd_returns(stock: daemons.PtpdClient, starts: Sequence[float]) -> float | None:
    """The same of ptpd's one-way delay, which it filters; None when it never came back before the next burst."""
    reported = stock.one_way_delays()
    returns = []
    for start in starts:
        calm = [delay for at, delay in reported if start - 4 < at < start]
        after = [delay for at, delay in reported if start + 1.02 < at < start + APART_S]
        if calm and after:
            base = statistics.median(calm)
            back = next((n for n, delay in enumerate(after, 1) if delay <= 1.05 * base), None)
            returns.append(back if back is not None else len(after))
    note(f"ptpd is back after {returns} of its own, or was not before the next burst")
    return statistics.median(returns) if returns else None


def _error(name: str, pair: Pair, bar: float) -> None:
    """The largest error of the offset at the end of a window, from 20 s on."""
    seen = _count(pair, SETTLED_S)
    worst_us = max(abs(one.error_ns) for one in seen) / 1e3
    note(f"{name}: {_spread(seen)}")
    figure(name, round(worst_us, 2), "us", bar=bar, windows=len(seen))


def _count(pair: Pair, from_s: float) -> list[Seen]:
    """Windows from a time on; all of them, from the first, count for the coverage."""
    seen = pair.seen()
    if not seen:
        raise LabError(f"no windows:\n{pair.client.process.output()[-1500:]}")
    outside = [one for one in seen if not one.holds()]
    for one in outside:
        note(f"outside its bound at {one.at_s:.1f} s: {one.error_ns / 1e3:.1f} of {one.bound_ns / 1e3:.1f} us")
    _coverage.extend(one not in outside for one in seen)
    return [one for one in seen if one.at_s >= from_s]


def _spread(seen: Sequence[Seen]) -> str:
    errors = sorted(abs(one.error_ns) / 1e3 for one in seen)
    bound = statistics.median(one.bound_ns for one in seen) / 1e3
    return f"error median {statistics.median(errors):.2f}, worst {errors[-1]:.2f} us; bound {bound:.1f} us"
