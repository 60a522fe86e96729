"""Small picture of the change that an incident is, by zone; in a mesh of one zone by VM."""

from typing import Any

import numpy as np

from sinemora.alerts.evaluation.baseline import Floats, Ints
from sinemora.alerts.evaluation.impact import changes_of, compared
from sinemora.alerts.evaluation.rule import PER_PATH, Rule
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_runs
from sinemora.measurements.aggregate.matrix import Metric

PICTURE_MAX = 12


def picture_json(
    cells: Ints, rule: Rule | None, mesh: MeshState, state: EvaluationState, window: EvaluationWindow
) -> dict[str, Any] | None:
    """Return the picture of affected paths (flat) as `FiguresPicture`; None without paths or values.

    Of more than `PICTURE_MAX` zones or VMs, those with most of the affected paths.
    """
    found = _changes(rule, state, window) if cells.size else None
    if found is None:
        return None
    values, unit, is_change = found
    runs = zone_runs(mesh)
    by = "zone" if len(runs) > 1 else "vm"
    places = [(str(run.id), run.name, run.first, run.count) for run in runs]
    if by == "vm":
        places = [(str(member.id), member.name, at, 1) for at, member in enumerate(mesh.members)]
    affected = np.zeros(values.shape, np.bool_)
    affected.flat[cells] = True
    touched = affected.sum(axis=0) + affected.sum(axis=1)
    weights = np.array([touched[first : first + count].sum() for _, _, first, count in places])
    shown = [places[at] for at in np.sort(np.argsort(-weights, kind="stable")[:PICTURE_MAX]).tolist()]
    parts = [slice(first, first + count) for _, _, first, count in shown]
    digits = 6 if unit == "ratio" else 0
    return {
        "by": by,
        "ids": [id for id, *_ in shown],
        "names": [name for _, name, *_ in shown],
        "of": len(places),
        "unit": unit,
        "is_change": is_change,
        "values": [[_cell(values[a, b], affected[a, b], digits) for b in parts] for a in parts],
    }


def _changes(rule: Rule | None, state: EvaluationState, window: EvaluationWindow) -> tuple[Floats, str, bool] | None:
    """Return what a picture shows by path, its unit, and whether it is a change; one-way delays of other rules."""
    if rule is None or rule.condition.kind not in PER_PATH:
        changes = changes_of(state, window)
        return None if changes is None else (changes, "ns", True)
    values, usual = compared(rule.condition, state, window)
    unit = "ratio" if rule.condition.metric is Metric.LOSS else "ns"
    is_change = bool(np.isfinite(usual).any())
    return (values - usual if is_change else values), unit, is_change


def _cell(values: Floats, affected: np.ndarray, digits: int) -> float | None:
    """Return the median of the affected paths between two places, or of all their paths; None where unknown."""
    known = values[affected & np.isfinite(values)]
    if not known.size:
        known = values[np.isfinite(values)]
    return (
        (round(float(np.median(known)), digits) if digits else round(float(np.median(known)))) if known.size else None
    )
