"""Ingest against PostgreSQL's COPY: reports through HTTP to committed frames, with two API processes."""

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import text

from lab.benchmarks import figures
from lab.benchmarks.storing import rows
from lab.benchmarks.storing.load import Load, Outcome
from lab.benchmarks.storing.product import Product, World
from lab.benchmarks.storing.worlds import peers, report, request_at, window
from sinemora.kit.db import system_session
from sinemora.measurements.codec import frame
from sinemora.measurements.codec.frame import Frame
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import Tier

STARTED = int(time.time())
NOW = STARTED // 86_400 * 86_400
TURNS = 3


def requests(world: World, senders: int, windows: int, before_s: int, now_s: int = STARTED) -> list[bytes]:
    """Return `windows` reports of each of the first `senders` VMs, oldest first; the last ends `before_s` ago."""
    rng = np.random.default_rng(1)
    by_sender: list[list[bytes]] = []
    end = now_s // 10 * 10 - before_s
    for i in range(senders):
        others = [key for key in world.vm_keys if key != world.vm_keys[i]]
        message = report(window(rng, world.vm_keys[i], others), world.mesh_key)
        by_sender.append([request_at(world.credentials[i], message, end - 10 * (windows - n)) for n in range(windows)])
    return [sent[n] for n in range(windows) for sent in by_sender]


def stored_frames(world: World) -> int:
    """Return the number of committed blocks of a mesh."""
    with system_session() as session:
        count = session.scalar(text("SELECT count(*) FROM probe_frames WHERE mesh_key = :key"), {"key": world.mesh_key})
    return int(count or 0)


def bytes_of(table: str) -> float:
    """Return the bytes on disk of a partitioned table, indexes and TOAST tables included."""
    size = text(
        "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = CAST(:table AS regclass)"
    )
    with system_session() as session:
        return float(session.scalar(size, {"table": table}) or 0)


def ingest(product: Product) -> float:
    """Measure committed reports per second with 99 and 999 peers each. Return those with 99.

    COPY and two API processes take turns, so that both meet the same machine: a ratio is the median of those of the
    turns. COPY has a processor for its client and one for PostgreSQL, as two processes of the API have.
    """
    with product.replica() as replica:
        processes = (product, replica)
        # The number of connections of the measurements behind the bars.
        rate = _ingest(processes, 99, senders=100, windows=100, connections=512)
        _ingest(processes, 999, senders=24, windows=60, connections=64)
    return rate


def _ingest(processes: Sequence[Product], peers_each: int, *, senders: int, windows: int, connections: int) -> float:
    product = processes[0]
    world = product.world(f"ingest-{peers_each}", peers_each + 1)
    plain = _plain(world, senders, windows)
    for first in (20_000, 20_100):  # each process meets every sender
        Load([one.port for one in processes], requests(world, senders, 4, first)).wait()
    speeds: list[float] = []
    costs: list[dict[str, float]] = []
    copies: list[float] = []
    size, dsn, end_s = 0.0, product.postgres.dsn("postgres", "sinemora"), 21_000
    for _ in range(TURNS):
        rows.settle(dsn)
        outcome, cost = _sent(processes, world, requests(world, senders, windows, end_s), connections)
        end_s += 10 * windows
        speeds.append(2 * peers_each * outcome.acknowledged / outcome.seconds)
        costs.append(cost)
        rows.settle(dsn)
        copied, size = rows.ingest(dsn, plain, rows.EVERYTHING)
        copies.append(copied)
    of_paths, _ = rows.ingest(dsn, plain, rows.PATHS)
    rows.settle(dsn)
    if peers_each == 99:
        _sizes(world, size)
    rate_of = {"copy_per_s": round(median(copies)), "copy_without_round_trips_per_s": round(of_paths)}
    ratio = median(speed / copied for speed, copied in zip(speeds, copies, strict=True))
    figures.report(f"store_ingest_{peers_each}_ratio_to_copy", ratio, **rate_of)
    rate = median(speeds) / 2 / peers_each
    detail: dict[str, Any] = {key: round(median(cost[key] for cost in costs), 3) for key in costs[0]}
    detail |= {"connections": connections, "reports_per_s": round(rate, 1)}
    figures.report(f"store_ingest_{peers_each}_per_s", median(speeds), **detail)
    return rate


def _sent(
    processes: Sequence[Product], world: World, sending: list[bytes], connections: int
) -> tuple[Outcome, dict[str, float]]:
    """Send the reports of a turn. Return the outcome and the ms of processor time of each report by process."""
    blocks = -(-(len(world.vm_keys) - 1) // frame.TARGETS_MAX)

    def spent_s() -> tuple[float, float]:
        return sum(process.cpu_s() for process in processes), processes[0].database_cpu_s()

    (api_s, database_s), before = spent_s(), stored_frames(world)
    outcome = Load([process.port for process in processes], sending, connections=connections).wait()
    api_after_s, database_after_s = spent_s()
    stored = stored_frames(world) - before
    if outcome.refused or stored != outcome.acknowledged * blocks:
        sys.exit(f"{outcome} but {stored} blocks are stored: acknowledged is not committed")
    spent = {"api": api_after_s - api_s, "database": database_after_s - database_s}
    spent["generator"] = outcome.generator_cpu_s
    return outcome, {f"{name}_cpu_ms_per_report": s / outcome.acknowledged * 1000 for name, s in spent.items()}


def _plain(world: World, senders: int, windows: int) -> list[tuple[Frame, str]]:
    """Return the frames of a turn of COPY, each with its start: as many windows of paths as a turn of reports has."""
    rng = np.random.default_rng(2)
    parts = [window(rng, key, peers(world.vm_keys, i)) for i, key in enumerate(world.vm_keys[:senders])]
    at = datetime.fromtimestamp(NOW - 86_400, UTC)
    # Each pair is in one frame only, in both directions; every report has the peers of both.
    return [(part, (at + timedelta(seconds=10 * n)).isoformat()) for n in range(2 * windows) for part in parts]


def _sizes(world: World, row_bytes: float) -> None:
    """Measure the bytes on disk of a pair-window and a pair-minute, indexes and TOAST tables included."""
    while roll_up.roll_up_mesh(world.tenant_key, world.mesh_key, Tier.MINUTE, datetime.now(UTC)):
        pass
    for figure, table in (("store_bytes_per_window", "probe_frames"), ("store_bytes_per_minute", "probe_frames_1m")):
        with system_session() as session:
            paths = session.scalar(text(f"SELECT 2 * sum(n) FROM {table}"))
        figures.report(figure, bytes_of(table) / float(paths or 0), rows_bytes=round(row_bytes, 1))
