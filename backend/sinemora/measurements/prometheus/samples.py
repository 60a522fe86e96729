"""Samples of zone pairs: which metrics there are, and their values now or in a stretch of time.

Every value is that of the zone matrix (`GET /v1/meshes/{id}/matrix?by=zone`) in seconds or as a ratio; what has no
value there is absent here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.prometheus.promql import NAME, Labels, Selector, Vector
from sinemora.measurements.query import matrix as matrix_query
from sinemora.measurements.query.matrix import MatrixQuery
from sinemora.measurements.schemas import By
from sinemora.meshes.models import Mesh

_QUANTILES = {"0.5": Statistic.P50, "0.9": Statistic.P90, "0.99": Statistic.P99}


@dataclass(frozen=True)
class Family:
    """A metric: its name, what it says, and what of the matrix it is."""

    name: str
    help: str
    metric: Metric
    scale: float
    quantiles: bool

    @property
    def type(self) -> str:
        """Its type as Prometheus names it: only summaries have quantiles."""
        return "summary" if self.quantiles else "gauge"


FAMILIES = (
    Family(
        "sinemora_zone_delay_seconds",
        "One-way delay from source to target zone: quantile of the newest windows.",
        Metric.ONE_WAY_DELAY,
        1e-9,
        True,
    ),
    Family(
        "sinemora_zone_round_trip_seconds",
        "Round trip between two zones: quantile of the newest windows.",
        Metric.ROUND_TRIP,
        1e-9,
        True,
    ),
    Family(
        "sinemora_zone_asymmetry_seconds",
        "One-way delay of a zone pair minus that of its reverse: quantile of the newest windows.",
        Metric.ASYMMETRY,
        1e-9,
        True,
    ),
    Family("sinemora_zone_loss_ratio", "Packets lost from source to target zone.", Metric.LOSS, 1.0, False),
    Family(
        "sinemora_zone_clock_error_seconds",
        "Bound on what the clocks may add to or take from one-way delays of a zone pair.",
        Metric.CLOCK_ERROR,
        1e-9,
        False,
    ),
)
BY_NAME = {family.name: family for family in FAMILIES}


class SampleQuery(NamedTuple):
    """One matrix to be read: of which mesh, which metric, and which quantile if it has any."""

    mesh: Mesh
    family: Family
    quantile: str | None


def meshes(session: Session) -> list[Mesh]:
    """Return the tenant's meshes by name."""
    return list(session.scalars(select(Mesh).order_by(Mesh.name)))


def queries_of(found: list[Mesh], selector: Selector) -> Iterator[SampleQuery]:
    """Yield the matrices a selector needs; those its name, mesh and quantile rule out are never read."""
    for mesh in found:
        for family in FAMILIES:
            for quantile in _QUANTILES if family.quantiles else (None,):
                known = {NAME: family.name, "mesh": mesh.name} | ({"quantile": quantile} if quantile else {})
                if all(one.fits(known) for one in selector.matchers if one.label not in ("source_zone", "target_zone")):
                    yield SampleQuery(mesh, family, quantile)


def values(session: Session, one: SampleQuery, start: datetime | None, end: datetime | None) -> Vector:
    """Return the samples of one matrix: of the newest windows, or of those begun from `start` to `end`."""
    statistic = _QUANTILES[one.quantile] if one.quantile else Statistic.P50
    picture = matrix_query.read_matrix(
        session, one.mesh.id, MatrixQuery(By.ZONE, one.family.metric, statistic, start, end)
    )
    found: Vector = {}
    matrix, names = picture.matrix, [axis.name for axis in picture.axis]
    for row, source in enumerate(names):
        for column, target in enumerate(names):
            if matrix.valued[row, column]:
                found[labels(one, source, target)] = float(matrix.values[row, column]) * one.family.scale
    return found


def labels(one: SampleQuery, source: str, target: str) -> Labels:
    """Return the labels of a sample, sorted by name."""
    given = {NAME: one.family.name, "mesh": one.mesh.name, "source_zone": source, "target_zone": target}
    return tuple(sorted((given | ({"quantile": one.quantile} if one.quantile else {})).items()))
