"""Samples of zone pairs: the metrics, and their values now or in a time range.

Every value is that of the zone matrix (`GET /v1/meshes/{id}/matrix?by=zone`), in seconds or as a ratio. A cell without
a value has no sample, and neither has one whose agents have stopped to report: its last value is not that of now.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.fleet.inventory.models import Zone
from sinemora.fleet.meshes.models import Mesh
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import mesh_state, zone_runs
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import CellState, Metric, Statistic
from sinemora.measurements.prometheus.promql import NAME, Labels, Selector, Vector
from sinemora.measurements.query.matrix.compute import read_matrix
from sinemora.measurements.query.matrix.zone_steps import Steps, ZoneSteps, read_zone_steps
from sinemora.measurements.query.requests import MatrixRequest
from sinemora.measurements.schemas import Axis, By

Floats = npt.NDArray[np.float64]

QUANTILES = {"0.5": Statistic.P50, "0.9": Statistic.P90, "0.99": Statistic.P99}


@dataclass(frozen=True)
class MetricFamily:
    """Metric: name, help, and the metric of the matrix."""

    name: str
    help: str
    metric: Metric
    scale: float
    quantiles: bool

    @property
    def type(self) -> str:
        """Return the type of Prometheus: only summaries have quantiles."""
        return "summary" if self.quantiles else "gauge"


FAMILIES = (
    MetricFamily(
        "sinemora_zone_delay_seconds",
        "One-way delay from source to target zone: quantile of the newest windows.",
        Metric.ONE_WAY_DELAY,
        1e-9,
        True,
    ),
    MetricFamily(
        "sinemora_zone_round_trip_seconds",
        "Round trip between two zones: quantile of the newest windows.",
        Metric.ROUND_TRIP,
        1e-9,
        True,
    ),
    MetricFamily(
        "sinemora_zone_asymmetry_seconds",
        "One-way delay of a zone pair minus that of its reverse: quantile of the newest windows.",
        Metric.ASYMMETRY,
        1e-9,
        True,
    ),
    MetricFamily("sinemora_zone_loss_ratio", "Packets lost from source to target zone.", Metric.LOSS, 1.0, False),
    MetricFamily(
        "sinemora_zone_clock_error_seconds",
        "Bound of the clock error of one-way delays of a zone pair.",
        Metric.CLOCK_ERROR,
        1e-9,
        False,
    ),
)
BY_NAME = {family.name: family for family in FAMILIES}


class SampleQuery(NamedTuple):
    """Query of one matrix: mesh, metric, and quantile if it has any."""

    mesh: Mesh
    family: MetricFamily
    quantile: str | None


def meshes(session: Session) -> list[Mesh]:
    return list(session.scalars(select(Mesh).order_by(Mesh.name)))


def queries_of(meshes: list[Mesh], selector: Selector) -> Iterator[SampleQuery]:
    """Yield the queries of the matrices that a selector needs, by its name, mesh and quantile."""
    for mesh in meshes:
        for family in FAMILIES:
            for quantile in QUANTILES if family.quantiles else (None,):
                known = {NAME: family.name, "mesh": mesh.name} | ({"quantile": quantile} if quantile else {})
                if all(
                    matcher.fits(known)
                    for matcher in selector.matchers
                    if not matcher.label.startswith(("source_", "target_"))
                ):
                    yield SampleQuery(mesh, family, quantile)


def values(session: Session, query: SampleQuery, start: datetime | None, end: datetime | None) -> Vector:
    """Return the samples of one matrix: of the newest windows, or of those that begin in [`start`, `end`)."""
    statistic = QUANTILES[query.quantile] if query.quantile else Statistic.P50
    result = read_matrix(
        session,
        query.mesh.id,
        MatrixRequest(by=By.ZONE, metric=query.family.metric, statistic=statistic, from_=start, to=end),
    )
    samples: Vector = {}
    found, zones = result.matrix, zones_of(session, result.axis)
    current = found.valued & (found.states != CellState.STALE)
    for row, source in enumerate(zones):
        for column, target in enumerate(zones):
            if current[row, column]:
                samples[labels(query, source, target)] = float(found.values[row, column]) * query.family.scale
    return samples


class StepSamples:
    """Samples of zone pairs by step of time; matrices of a mesh are read once for all selectors of an expression."""

    def __init__(self, session: Session, steps: Callable[[int], Steps]) -> None:
        self._session, self._steps_of = session, steps
        self._meshes: dict[UUID, tuple[MeshState, Steps]] = {}
        self._read: dict[UUID, ZoneSteps] = {}
        self._columns: dict[SampleQuery, tuple[Floats, list[tuple[int, Labels]]]] = {}

    def steps(self, mesh: Mesh) -> Steps:
        return self._mesh(mesh)[1]

    def pairs(self, mesh: Mesh) -> int:
        """Return the number of zone pairs of a mesh."""
        return len(zone_runs(self._mesh(mesh)[0])) ** 2

    def values(self, query: SampleQuery, step: int, selector: Selector) -> Vector:
        """Return the samples of one matrix in a step that a selector selects."""
        if query not in self._columns:
            self._columns[query] = self._column(query)
        values, pairs = self._columns[query]
        row = values[step].tolist()
        return {pair: row[at] for at, pair in pairs if row[at] == row[at] and selector.fits(dict(pair))}

    def _mesh(self, mesh: Mesh) -> tuple[MeshState, Steps]:
        if mesh.id not in self._meshes:
            state = mesh_state(self._session, mesh.id)
            self._meshes[mesh.id] = state, self._steps_of(len(zone_runs(state)))
        return self._meshes[mesh.id]

    def _zones(self, mesh: Mesh) -> ZoneSteps:
        if mesh.id not in self._read:
            self._read[mesh.id] = read_zone_steps(self._session, *self._mesh(mesh))
        return self._read[mesh.id]

    def _column(self, query: SampleQuery) -> tuple[Floats, list[tuple[int, Labels]]]:
        """Return the values of all zone pairs by step, NaN where there is none, and the labels of each pair."""
        found = self._zones(query.mesh)
        statistic = QUANTILES[query.quantile] if query.quantile else Statistic.P50
        measured = matrix.measure(found.cells, query.family.metric, statistic)
        values = np.where(measured.valued, measured.values * query.family.scale, np.nan)
        zones = zones_of(self._session, found.axis)
        pairs = [labels(query, source, target) for source in zones for target in zones]
        return values.reshape(values.shape[0], -1), list(enumerate(pairs))


def zones_of(session: Session, axis: Sequence[Axis]) -> list[Zone]:
    """Return the zones of a mesh in the order of an axis; of one that was deleted since, only the name."""
    zones = {zone.id: zone for zone in session.scalars(select(Zone).where(Zone.id.in_([one.id for one in axis])))}
    return [zones.get(one.id) or Zone(name=one.name, region="", provider="") for one in axis]


def labels(query: SampleQuery, source: Zone, target: Zone) -> Labels:
    """Return the labels of a sample, sorted by name."""
    values = {NAME: query.family.name, "mesh": query.mesh.name}
    for end, zone in (("source", source), ("target", target)):
        values |= {f"{end}_zone": zone.name, f"{end}_region": zone.region, f"{end}_provider": zone.provider}
    return tuple(sorted((values | ({"quantile": query.quantile} if query.quantile else {})).items()))
