"""Aged measurements: bytes in object storage, and queries that read nothing else.

Minutes and hours of 100 VMs are stored long ago and aged through a real storage server on this machine. A query is the
first that a new process of the API answers, so no footer, row group or merged part is cached.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from sqlalchemy import text

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.store import fill, fill_zones, make_partitions
from lab.benchmarks.storing.ingest import bytes_of
from lab.benchmarks.storing.product import Product, World
from lab.object_storage_server import ObjectStorageServer
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.measurements.store.aged import runs
from sinemora.measurements.store.aged.catalogue import AGED_TABLES
from sinemora.measurements.store.tiers import Tier

VMS, ZONES, DAYS, TURNS = 100, 8, 30, 3
_HOUR_SAMPLES = 1000
"""Delays of a path in an hour: fewer than at one per second, so that the data is made in time; sketches are as long."""
_LONG_AGO = timedelta(days=75)
_LIMIT_S = 3000.0


def aged(product: Product) -> None:
    """Measure the size of aged minutes, and queries of 30 aged days."""
    with _storage(product):
        world = product.world("aged", VMS, ZONES)
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        end = today - _LONG_AGO
        start = end - timedelta(days=DAYS)
        make_partitions(start.date(), today.date())
        hours = range(int(start.timestamp()), int(end.timestamp()), 3600)
        fill(world, Tier.HOUR, list(hours), _HOUR_SAMPLES)
        fill_zones(world, Tier.HOUR, list(hours), _HOUR_SAMPLES)
        minutes = range(int(end.timestamp()), int(end.timestamp()) + 86_400, 60)
        fill(world, Tier.MINUTE, list(minutes)[:360], 60)
        before = bytes_of("probe_frames_1m")
        began = time.process_time()
        runs.run(datetime.now(UTC), _LIMIT_S)
        comment(f"aged in {time.process_time() - began:.1f} processor seconds")
        _sizes(world, before)
        _check_moved(world)
        _queries(product, world, start, end)


@contextmanager
def _storage(product: Product) -> Iterator[None]:
    """Run a storage server, and the API with settings for it."""
    with tempfile.TemporaryDirectory(prefix="sinemora-storage-") as folder:
        server = ObjectStorageServer(Path(folder))
        server.start()
        try:
            os.environ |= server.settings() | {
                "SINEMORA_AGED_AFTER_DAYS": "5",
                "SINEMORA_RETENTION_1M_DAYS": "400",
            }
            settings.cache_clear()
            yield
        finally:
            server.stop()


def _sizes(world: World, before: float) -> None:
    """Report the bytes of objects per minute of a path, footers included, and relative to those on disk before."""
    with system_session() as session:
        size, targets, objects = session.execute(
            text(
                "SELECT sum(bytes), sum(targets), count(*) FROM aged_objects"
                " WHERE mesh_key = :key AND tier = 'probe_frames_1m' AND state = 'current'"
            ),
            {"key": world.mesh_key},
        ).one()
    figures.report("scale_parquet_bytes_per_minute_window", float(size) / float(2 * targets), objects=objects)
    figures.report("scale_parquet_bytes_ratio_to_database", float(size) / before)


def _check_moved(world: World) -> None:
    """Exit when the database still has rows: the queries would not measure the storage."""
    with system_session() as session:
        for name in AGED_TABLES:
            if session.scalar(
                text(f"SELECT EXISTS (SELECT FROM {name} WHERE mesh_key = :key)"), {"key": world.mesh_key}
            ):
                raise SystemExit(f"{name} still has rows of the mesh")


def _queries(product: Product, world: World, start: datetime, end: datetime) -> None:
    """Report the time of 30 days of a pair of zones and of a path, hour by hour."""
    with system_session() as session:
        zones = session.scalars(
            text("SELECT z.id FROM zones z JOIN vms v ON v.zone_id = z.id WHERE v.key = ANY(:keys) GROUP BY z.id"),
            {"keys": world.vm_keys},
        ).all()
    selections = {
        "scale_cold_query_s": f"zones:{zones[0]}:{zones[1]}",
        "scale_cold_path_query_s": f"path:{world.vm_ids[0]}:{world.vm_ids[1]}",
    }
    for figure, selection in selections.items():
        query = [
            ("selections", selection), ("statistics", "p50"), ("statistics", "p99"), ("points", "720"),
            ("from", start.isoformat()), ("to", end.isoformat()),
        ]  # fmt: skip
        spent, processor = [], []
        for _ in range(TURNS):
            product.restart()
            began, used = time.perf_counter(), product.cpu_s()
            body = json.loads(product.get(f"/v1/meshes/{world.mesh_id}/series?{urlencode(query)}", "application/json"))
            spent.append(time.perf_counter() - began)
            processor.append(product.cpu_s() - used)
            values = body["items"][0]["values"]["p99"]
            if len(values) != DAYS * 24 or None in values:
                raise SystemExit(f"{selection}: {len(values)} hours, {values.count(None)} without a value")
        comment(f"{figure}: {', '.join(f'{one:.2f}' for one in spent)} s")
        figures.report(figure, median(spent), hours=DAYS * 24, processor_s=round(median(processor), 2))
