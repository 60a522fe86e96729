"""What fetching does to the measurement: p99 of round trips between the regions with and without it, in turns."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import numpy as np
import numpy.typing as npt
from lab.benchmarks import figures
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import tenant_session
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.query.matrix.compute import compute_matrix
from sinemora.measurements.query.requests import MatrixRequest

from spreading.cloud import Cloud

TURNS = 3
IMAGE_BYTES = 20_000_000
RATE_MBIT = 15
"""Limit of the mesh: half of what a VM sends to the other region."""
_SETTLE_S = 3.0


def run(cloud: Cloud, seed: int) -> None:
    """Report how much the p99 of the same paths rises while every VM fetches, the median of the paths."""
    cloud.limit(RATE_MBIT)
    rises: list[float] = []
    idle: list[float] = []
    within: list[float] = []
    for turn in range(TURNS):
        ids = []
        for n, region in enumerate(("west", "east")):
            file = cloud.file(f"image-{turn}-{n}", IMAGE_BYTES, 1000 * seed + 2 * turn + n)
            ids.append(cloud.publish(file, cloud.of(region)[:1]))
        time.sleep(_SETTLE_S)
        seconds = IMAGE_BYTES * len(ids) * 8 / RATE_MBIT / 1e6
        quiet = _p99_ms(cloud, partial(time.sleep, seconds))
        wanted = [(artifact_id, vm) for artifact_id in ids for vm in cloud.vms]
        busy = _p99_ms(cloud, partial(cloud.fetch, wanted))
        between = np.array([[a.region != b.region for b in cloud.vms] for a in cloud.vms])
        same = ~between & ~np.eye(len(cloud.vms), dtype=bool)
        rises.append(float(np.nanmedian(100 * (busy / quiet - 1)[between])))
        idle.append(float(np.nanmedian(quiet[between])))
        within.append(float(np.nanmedian((busy - quiet)[same])))
        figures.comment(f"turn {turn + 1}: p99 between the regions {idle[-1]:.2f} ms, with fetching {rises[-1]:+.2f} %")
    detail = {"p99_ms": round(float(np.median(idle)), 2), "turns": [round(rise, 2) for rise in rises]}
    figures.report("artifacts_delay_disturbance_percent", float(np.median(rises)), **detail)
    figures.report("artifacts_delay_disturbance_ms_within_region", float(np.median(within)))


def _p99_ms(cloud: Cloud, meanwhile: Callable[[], object]) -> npt.NDArray[np.float64]:
    """Return the p99 of round trips in the windows that began and ended while something went on, ms, VM by VM."""
    start = datetime.now(UTC)
    meanwhile()
    end = datetime.now(UTC)
    time.sleep(_SETTLE_S)  # until the last windows are stored
    with tenant_session(cloud.product.tenant_id) as session:
        mesh = mesh_state(session, UUID(cloud.mesh_id))
        query = MatrixRequest(metric=Metric.ROUND_TRIP, statistic=Statistic.P99, from_=start, to=end)
        found = compute_matrix(session, mesh, query).matrix
        order = [next(at for at, member in enumerate(mesh.members) if member.name == vm.name) for vm in cloud.vms]
    values = np.where(found.valued, found.values, np.nan)[np.ix_(order, order)]
    return values / 1e6
