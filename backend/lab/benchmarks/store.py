"""Figures of the store on a separate product: one JSON object a figure, commentary on stderr.

A pair-window is the summary of one directed path over one window: a report about 99 peers has 198. Reports go through
real HTTP to committed frames; databases are durable (fsync on). Each figure has its bar. `rows_…` is the figure of a
plain table with a row per path and window in the same run, if it can do the work.

    make bench-store                   everything; the memory figure alone takes 10 minutes
    make bench-store ONLY=ingest,rss   some groups: ingest queries load large unaligned rollup error rss
    make bench-store SECONDS=60        a shorter memory run
"""

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import chain, islice
from statistics import median, quantiles

import numpy as np
from sqlalchemy import text

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.storing import rows
from lab.benchmarks.storing.ingest import NOW, ingest, requests
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World, running
from lab.benchmarks.storing.worlds import delays, frame_rows, mesh_rows, peers, window
from sinemora.kit.db import system_session
from sinemora.measurements.aggregate import rollup
from sinemora.measurements.codec import frame, llq16
from sinemora.measurements.store import inserts, roll_up
from sinemora.measurements.store.inserts import RosterKeys
from sinemora.measurements.store.tiers import Tier, floor

REPEATED = 7


def fill(world: World, tier: Tier, starts: list[int], samples: int) -> None:
    """Store frames of all VMs at each start, in the format of the tier."""
    known = RosterKeys()
    rows = mesh_rows(3, world.tenant_key, world.mesh_key, world.vm_keys, starts, tier.step_s, samples)
    while batch := [*islice(rows, 500)]:
        with system_session() as session:
            if tier is Tier.RAW:
                new_rosters = inserts.store_frames(session, batch, known)[1]
            else:
                new_rosters = inserts.store_merged(session, tier, batch, {}, known)
        known.learn(new_rosters)


def fill_zones(world: World, tier: Tier, starts: list[int], samples: int) -> None:
    """Store the frames between the zones of a mesh at each start: one payload for all."""
    rng = np.random.default_rng(4)
    with system_session() as session:
        of_vms = text("SELECT DISTINCT z.key FROM zones z JOIN vms v ON v.zone_id = z.id WHERE v.key = ANY(:keys)")
        zones = sorted(session.scalars(of_vms, {"keys": world.vm_keys}))
        parts = [window(rng, zone, zones[i:], samples) for i, zone in enumerate(zones)]
        of_parts = (frame_rows(world.tenant_key, world.mesh_key, part, starts, tier.step_s) for part in parts)
        inserts.store_merged_zones(session, tier, [*chain.from_iterable(of_parts)], {}, RosterKeys())


def make_partitions(first: date, last: date) -> None:
    """Create the partitions of measurements of these days."""
    with system_session() as session:
        span = {"first": first, "last": last}
        session.execute(text("SELECT make_measurement_partitions(:first, :last)"), span)


def timed(query: Callable[[int], object], times: int = REPEATED) -> float:
    """Return the median ms of `query`, called with 1, 2, … after one call to warm up."""
    query(0)
    return median(_ms(query, turn) for turn in range(1, times + 1))


def first_ms(product: Product, query: Callable[[int], object]) -> float:
    """Return the ms of `query` as the first that a new process of the API answers."""
    product.restart()
    return _ms(query, 0)


def _ms(query: Callable[[int], object], turn: int) -> float:
    began_s = time.perf_counter()
    query(turn)
    return (time.perf_counter() - began_s) * 1000


def query_matrix(product: Product, world: World, start: int | None, end: int | None, by: str = "vm") -> None:
    """Query p50 and p99 of a range in one binary response; without a range, the newest p50."""
    when = "" if start is None else f"&more=p99&from={_iso(start)}&to={_iso(end or 0)}"
    body = product.get(f"/v1/meshes/{world.mesh_id}/matrix?by={by}&statistic=p50{when}")
    size = len(world.vm_keys) if by == "vm" else 8
    whole = 24 + 3 * size * size
    if len(body) != whole * (1 if start is None else 2):
        sys.exit(f"{len(body)} bytes are not whole matrices")
    for first in range(0, len(body), whole):
        codes = np.frombuffer(body, "<u2", size * size, first + 24)
        if np.count_nonzero(codes) < size * (size - 1):
            sys.exit(f"the matrix lacks values: {np.count_nonzero(codes)} of {size * (size - 1)}")


def _iso(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def queries(product: Product) -> World:
    """Measure queries of a mesh of 100 VMs; ranges end at any minute."""
    world = product.world("queries", 100)
    end = NOW - 3 * 3600 + 7 * 60  # at seven minutes past an hour: no tier's step ends there
    hour = floor(datetime.fromtimestamp(end, UTC), 3600)
    last = int(hour.timestamp())
    fill(world, Tier.MINUTE, [*range(end - 45 * 60, end + 600, 60), *range(end - 86_400, end - 86_400 + 3600, 60)], 60)
    fill(world, Tier.QUARTER, [*range(last - 3600, last, 900), *range(last - 86_400, last - 82_800, 900)], 900)
    fill(world, Tier.HOUR, list(range(last - 86_400, last, 3600)), 3600)
    fill(world, Tier.DAY, [NOW - 2 * 86_400], 10_000)
    fill_zones(world, Tier.HOUR, list(range(last - 31 * 86_400, last, 3600)), 3600)
    fill_zones(world, Tier.DAY, list(range(NOW - 31 * 86_400, NOW - 86_400, 86_400)), 10_000)
    spent = timed(lambda n: query_matrix(product, world, end - 900 - 60 * (n % 3), end - 60 * (n % 3)))
    rng = np.random.default_rng(5)
    part = [window(rng, key, peers(world.vm_keys, i), 60) for i, key in enumerate(world.vm_keys)]
    plain = [(frame_of_vm, _iso(end - 60 * n)) for n in range(1, 16) for frame_of_vm in part]
    dsn = product.postgres.dsn("postgres", "sinemora")
    rows.ingest(dsn, plain, rows.PATHS)
    row_ms = median(rows.matrix_ms(dsn, _iso(end - 900), _iso(end)) for _ in range(3))
    rows.settle(dsn)
    figures.report("store_matrix_100_15m_ratio_to_rows", spent / row_ms)
    figures.report("store_matrix_100_15m_ms", spent, rows_ms=round(row_ms, 1), ends="at any minute")
    spent = timed(lambda n: query_matrix(product, world, end - 86_400 + 60 * (n % 3), end + 60 * (n % 3)))
    figures.report("store_matrix_100_24h_ms", spent, ends="at any minute")
    spent = timed(lambda n: query_matrix(product, world, last - 30 * 86_400, last, "zone"))
    figures.report("store_zone_30d_ms", spent, ends="at any hour")
    path = f"/v1/meshes/{world.mesh_id}/paths/{world.vm_ids[3]}/{world.vm_ids[5]}/series"
    when = f"?from={_iso(end - 86_400)}&to={_iso(end)}&resolution=15m"
    figures.report("store_series_24h_ms", timed(lambda _: product.get(path + when, "application/json")))
    return world


def large(product: Product) -> None:
    """Measure queries of a mesh of 1,000 VMs: 999,000 paths."""
    world = product.world("large", 1000)
    quarter = NOW - 4 * 3600
    comment("filling 1,000 VMs")
    fill(world, Tier.QUARTER, [quarter - 900], 900)
    fill(world, Tier.DAY, [NOW - 86_400], 10_000)

    def query(_: int) -> None:
        query_matrix(product, world, quarter - 900, quarter)

    spent = timed(query)
    figures.report("store_matrix_1000_15m_ms", spent, ends="at a quarter of an hour")
    first = median(first_ms(product, query) for _ in range(3))
    figures.report("store_first_answer_ratio", first / spent, first_ms=round(first, 1))
    spent = timed(lambda _: query_matrix(product, world, NOW - 86_400, NOW))
    figures.report("store_matrix_1000_24h_ms", spent, ends="at midnight UTC")
    fill(world, Tier.RAW, [int(time.time()) // 10 * 10 - 10], 10)
    spent = timed(lambda _: query_matrix(product, world, None, None))
    figures.report("store_latest_1000_ms", spent)


def unaligned(product: Product) -> None:
    """Measure 15 minutes of 1,000 VMs that end at any minute: 15 million sketches of minutes are merged."""
    world = product.world("unaligned", 1000)
    end = NOW - 5 * 3600 + 7 * 60
    comment("filling fifteen minutes of 1,000 VMs")
    fill(world, Tier.MINUTE, list(range(end - 900, end, 60)), 60)
    spent = timed(lambda _: query_matrix(product, world, end - 900, end), 3)
    figures.report("store_matrix_1000_15m_any_minute_ms", spent, ends="at any minute")


def rolled(product: Product) -> None:
    """Measure one process that merges and stores one minute of 1,000 VMs, zones included."""
    world = product.world("rolled", 1000)
    minute = NOW - 7200
    comment("filling a minute of 1,000 VMs")
    fill(world, Tier.RAW, [minute + 10 * n for n in range(6)], 10)
    cpu_s, began_s = time.process_time(), time.perf_counter()
    if roll_up.roll_up_mesh(world.tenant_key, world.mesh_key, Tier.MINUTE, datetime.now(UTC)) != 1:
        sys.exit("the minute was not merged")
    wall_s = time.perf_counter() - began_s
    cpu_s = time.process_time() - cpu_s
    figures.report("store_rollup_minute_1000_s", wall_s, process_cpu_s=round(cpu_s, 2), pair_windows=999_000 * 6)


def merged_sketch(pieces: list[frame.Sketches]) -> frame.Sketches:
    """Merge sketches of one target each."""
    merged = rollup.merge_sketches(pieces, np.zeros(len(pieces), np.int64), 1)[1]
    assert merged is not None
    return merged


def error() -> None:
    """Compare quantiles of frames merged four times with the exact ones of all raw values, with heavy tails."""
    rng = np.random.default_rng(6)
    worst, checked = 0.0, 0
    for tail in (1.1, 1.5, 2.5):
        values = (80_000 * (1 + rng.pareto(tail, (4, 60_000)))).clip(0, 2e9).astype(np.int64)
        values[0] = delays(rng, (1, 60_000))[0]
        pieces = [
            frame.Sketches(np.array([[words.size], [0], [0]]), words)
            for part in np.array_split(values, 6_000, axis=1)
            for words in [llq16.encode(part[0])]
        ]
        for size in (6, 15, 4, 24):  # windows to minutes to quarters to hours to a day
            pieces = [merged_sketch(pieces[i : i + size]) for i in range(0, len(pieces), size)]
        whole = pieces[0] if len(pieces) == 1 else merged_sketch(pieces)
        ordered = np.sort(values[0])
        for at in (0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999):
            exact = int(ordered[max(1, int(np.ceil(at * ordered.size))) - 1])
            (bin_at,) = llq16.quantiles(whole.words, whole.lengths[0], [at])[:, 0]
            worst = max(worst, abs(int(llq16.VALUE_OF_BIN[bin_at]) - exact) / exact)
            checked += 1
        values[0] = values[1]
    figures.report("store_percentile_error_percent", worst * 100, checked=checked)


def under_load(product: Product, per_s: float, world: World) -> None:
    """Measure the 15-minute matrix of 100 VMs, idle and at half the maximum ingest."""
    end = NOW - 3 * 3600 + 7 * 60

    def p95_ms() -> float:
        spent = []
        for turn in range(40):
            spent.append(_ms(lambda _: query_matrix(product, world, end - 900, end), turn))
            time.sleep(0.02)
        return quantiles(spent, n=20)[-1]

    p95_ms()
    idle = p95_ms()
    sender = product.world("under-load", 100)
    load = Load([product.port], requests(sender, 100, max(20, int(per_s * 60 / 100)), 40_000), per_s / 2)
    time.sleep(2)
    busy = p95_ms()
    outcome = load.stop()
    detail = {"idle_p95_ms": round(idle, 1), "busy_p95_ms": round(busy, 1)}
    rate = round(outcome.acknowledged / outcome.seconds, 1)
    figures.report("store_query_under_load_ratio", busy / idle, **detail, reports_per_s=rate)


def memory(product: Product, seconds: float) -> None:
    """Measure the growth of the API's memory under reports of 99 peers, after the first tenth."""
    world = product.world("memory", 100)
    began_s = time.monotonic()
    first: list[int] = []
    last: list[int] = []
    turn = 0
    while (passed_s := time.monotonic() - began_s) < seconds:
        load = Load([product.port], requests(world, 100, 40, 45_000 + turn * 400 % 150_000))
        outcome = load.wait()
        if outcome.refused:
            sys.exit(f"{outcome}")
        turn += 1
        if passed_s > seconds * 0.9:
            last.append(product.rss_kb())
        elif seconds * 0.1 < passed_s < seconds * 0.2:
            first.append(product.rss_kb())
    if not first or not last:
        sys.exit(f"{seconds:.0f} s are too short for the memory figure on this machine: set SECONDS to more")
    growth = (median(last) / median(first) - 1) * 100
    detail = {"rss_mb": round(median(last) / 1024), "reports": turn * 4000}
    figures.report("store_ingest_rss_growth_percent", growth, seconds=seconds, **detail)


def main() -> None:
    """Run the groups of `ONLY`, all by default; `load` needs the rate of `ingest` and the mesh of `queries`."""
    seconds = float(os.environ.get("SECONDS_OF_LOAD") or 600)
    with running() as product:
        today = datetime.now(UTC).date()
        make_partitions(today - timedelta(days=40), today)
        ingested, queried = cache(lambda: ingest(product)), cache(lambda: queries(product))
        figures.run(
            {
                "ingest": ingested,
                "queries": queried,
                "load": lambda: under_load(product, ingested(), queried()),
                "large": lambda: large(product),
                "unaligned": lambda: unaligned(product),
                "rollup": lambda: rolled(product),
                "error": error,
                "rss": lambda: memory(product, seconds),
            }
        )


if __name__ == "__main__":
    main()
