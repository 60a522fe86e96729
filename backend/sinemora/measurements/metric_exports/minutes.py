"""Values of a minute for an export: of all zone pairs, as remote read has them, and of chosen paths.

A series without a value in the minute is not in it: missing is not zero.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import get_mesh, mesh_state
from sinemora.kit.errors import NotFound, ProductError
from sinemora.measurements.aggregate import matrix
from sinemora.measurements.aggregate.matrix import Flags, Statistic
from sinemora.measurements.codec.unpacking import DIRECTIONS
from sinemora.measurements.prometheus import samples
from sinemora.measurements.prometheus.promql import Labels, Selector, Vector
from sinemora.measurements.prometheus.samples import FAMILIES, QUANTILES, SampleQuery
from sinemora.measurements.query.matrix.compute import read_windows
from sinemora.measurements.query.matrix.zone_steps import Steps
from sinemora.measurements.query.selections import SelectedPaths, paths_of, vm_keys_of
from sinemora.measurements.schemas import Axis
from sinemora.measurements.store.tiers import Tier

STEP = timedelta(minutes=1)
PATHS_MAX = 5_000
"""Paths between VMs of an export."""
SERIES_MAX = 200_000
"""Series of an export: more would not be sent within their minute."""
# Of five minutes those that are merged are read from their tier, where a single one would be merged from windows.
_READ_S = 240
_EVERY = Selector(())
_PATH_FAMILIES = [replace(one, name=one.name.replace("_zone_", "_path_")) for one in FAMILIES]


class Minute(NamedTuple):
    """Values of a minute, and a sentence about what is left out of it, if anything."""

    values: Vector
    problem: str | None


def read_minute(session: Session, chosen: Sequence[dict[str, Any]], end: datetime) -> Minute:
    """Return the values of the minute that ends at `end`; `chosen` paths as `ExportedPaths`, dumped."""
    values: Vector = {}
    problem = None
    at_s = int(end.timestamp())
    steps = Steps(np.arange(at_s - _READ_S, at_s + 1, 60), 60, Tier.MINUTE)
    read = samples.StepSamples(session, lambda _: steps)
    for mesh in samples.meshes(session):
        queries = list(samples.queries_of([mesh], _EVERY))
        try:
            if len(values) + len(queries) * read.pairs(mesh) > SERIES_MAX:
                problem = f"Mesh left out: with {mesh.name} there would be more than {SERIES_MAX} series."
                continue
            for query in queries:
                values |= read.values(query, -1, _EVERY)
        except NotFound:  # deleted meanwhile
            continue
        except ProductError as error:
            problem = f"Mesh left out: {mesh.name}. {error.detail}"
    paths = 0
    for one in chosen:
        try:
            mesh = get_mesh(session, UUID(one["mesh_id"]))
            state = mesh_state(session, mesh.id)
            selected = _known(state, one["selections"])
            flags = flags_of(state, selected)
            paths += int(flags.sum())
            if paths > PATHS_MAX:
                problem = f"Paths left out: with those of {mesh.name} there are {paths}, at most {PATHS_MAX} are sent."
                continue
            values |= _of_paths(session, SampleQuery(mesh, FAMILIES[0], None), state, selected, flags, end)
        except NotFound:
            continue
        except ProductError as error:
            problem = f"Paths left out: of {mesh.name}. {error.detail}"
    return Minute(values, problem)


def flags_of(mesh: MeshState, selected: Sequence[SelectedPaths]) -> Flags:
    """Return the measured paths among those selected, [source][target]."""
    flags: Flags = np.zeros((len(mesh.members),) * 2, np.bool_)
    for one in selected:
        flags |= np.outer(one.rows, one.columns)
    return flags & mesh.planned


def packed(series: Iterable[Labels]) -> bytes:
    """Return the labels of series as few bytes, equal for equal series."""
    return zlib.compress(json.dumps(sorted(series), ensure_ascii=False).encode(), 1)


def unpacked(series: bytes | None) -> set[Labels]:
    """Return the series that were packed."""
    found = json.loads(zlib.decompress(series)) if series else []
    return {tuple((name, value) for name, value in labels) for labels in found}


def _known(mesh: MeshState, selections: Sequence[str]) -> list[SelectedPaths]:
    """Return the paths of the selections whose VMs and zones are still in the mesh."""
    found = []
    for one in selections:
        try:
            found += paths_of(mesh, [one])
        except NotFound:
            continue
    return found


def _of_paths(
    session: Session,
    query: SampleQuery,
    mesh: MeshState,
    selected: Sequence[SelectedPaths],
    flags: Flags,
    end: datetime,
) -> Vector:
    if not flags.any():
        return {}
    # Where a mesh rotates, a path is measured once in a period, and a pair of zones in every window.
    span = timedelta(seconds=max(60, mesh.strategy.period * mesh.window_s))
    found = read_windows(session, mesh, end - span, end, quantiles_of=DIRECTIONS, vm_keys=vm_keys_of(mesh, selected))
    zones = samples.zones_of(session, [Axis(id=one.zone_id, name=one.zone_name) for one in mesh.members])
    names = [one.name for one in mesh.members]
    values: Vector = {}
    for family in _PATH_FAMILIES:
        for quantile in QUANTILES if family.quantiles else (None,):
            measured = matrix.measure(found.cells, family.metric, QUANTILES.get(quantile or "", Statistic.P50))
            of_family = query._replace(family=family, quantile=quantile)
            for row, column in np.argwhere(flags & measured.valued).tolist():
                labels = samples.labels(of_family, zones[row], zones[column])
                ends = ("source_vm", names[row]), ("target_vm", names[column])
                values[tuple(sorted((*labels, *ends)))] = float(measured.values[row, column]) * family.scale
    return values
