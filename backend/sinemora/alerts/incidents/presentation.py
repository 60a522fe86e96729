"""Presentation of incidents: title, culprit and evidence; and rows as tracks for evaluation."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from sinemora.alerts.evaluation import root_cause
from sinemora.alerts.evaluation.baseline import SHORT, Floats, Ints
from sinemora.alerts.evaluation.breach import magnitude
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.impact import Impact, changes_of, impact_of, shift_of, statistic_of
from sinemora.alerts.evaluation.recurrence import returns_of
from sinemora.alerts.evaluation.root_cause import OF_ZONES, WITHOUT_PLACE, Culprit, Hypothesis, Suspect
from sinemora.alerts.evaluation.rule import PER_PATH, SEVERITIES, Condition, Kind, Rule, Symptom
from sinemora.alerts.evaluation.tracking import Track
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.alerts.incidents.picture import picture_json
from sinemora.alerts.incidents.subjects import bucket_json, fairness_json, hosts_json
from sinemora.alerts.models import Incident
from sinemora.alerts.paths import cells_of
from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_runs
from sinemora.measurements.aggregate.matrix import NONE, Metric, Statistic

HEATMAP_MAX = 24
_PATHS_SHOWN = 12
# From this loss threshold a rule is about paths that lose all packets.
_ALL_LOST = 0.9
# Of the values of the small matrix, by unit: deviations, shares, nanoseconds.
_DIGITS = {"deviations": 2, "loss": 6, "spikes": 0, "delay": 0}
_MEASURE = ("kind", "metric", "statistic")
_DELAYS = (Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP, Metric.JITTER)
_SYMPTOMS = {
    Metric.ONE_WAY_DELAY: "delay increased",
    Metric.ROUND_TRIP: "delay increased",
    Metric.ASYMMETRY: "asymmetric delays",
    Metric.LOSS: "packet loss",
    Metric.CLOCK_ERROR: "clock error increased",
    Metric.JITTER: "jitter increased",
}


def culprit_json(culprit: Culprit, mesh: MeshState, application: str | None) -> dict[str, Any]:
    """Return a culprit as JSON: `suspect`, `at` and `other` (id and name), `words`."""
    runs = zone_runs(mesh)
    places = runs if culprit.suspect in OF_ZONES else mesh.members
    named: list[dict[str, str] | None] = [None, None]
    if culprit.suspect not in WITHOUT_PLACE:
        named = [
            None if at < 0 else {"id": str(places[at].id), "name": places[at].name}
            for at in (culprit.at, culprit.other)
        ]
    words = root_cause.name(culprit, [member.name for member in mesh.members], [run.name for run in runs])
    if application is not None:
        words = f"application {application}"
    return {"suspect": culprit.suspect.value, "at": named[0], "other": named[1], "words": words}


def title_of(culprit: Mapping[str, Any], detection: Detection, rules: Mapping[str, Rule], mesh: MeshState) -> str:
    """Return the title of an incident: its culprit and the symptom.

    Of several rules, the one that fires on most paths decides, then the most severe.
    """
    rule, suspect, words = main_rule(detection, rules), Suspect(culprit["suspect"]), str(culprit["words"])
    if rule is None or suspect is Suspect.AGENT:  # its words have the symptom
        return words
    if rule.condition.kind is Kind.SILENT and suspect is Suspect.MESH:
        all_members = detection.cause.hypotheses[0].bad == len(mesh.members)
        return "all agents of the mesh silent" if all_members else "most agents of the mesh silent"
    symptom = _symptom(rule.condition, suspect)
    return f"{symptom} in the whole mesh" if suspect is Suspect.MESH else f"{words}: {symptom}"


def _symptom(condition: Condition, suspect: Suspect) -> str:
    """Return what a condition noticed, in words."""
    if condition.kind is Kind.PERFORMANCE:
        return "uses up the budget of its contract" if condition.over_s else "below its objective"
    if condition.kind is Kind.TOKENS:
        return "nearly empty"
    if condition.kind is Kind.HOST:
        return "waits for a processor"
    if condition.kind is Kind.FAIRNESS:
        return "uneven"
    if condition.kind is Kind.SILENT:
        return "agents silent"
    if condition.kind is Kind.SPIKE:
        return "delay spikes"
    if condition.metric is Metric.LOSS and condition.above >= _ALL_LOST:
        return "all packets lost"
    if suspect is Suspect.CLOCK and condition.metric is not Metric.CLOCK_ERROR:
        return "clock stepped"
    return _SYMPTOMS[condition.metric]


def main_rule(detection: Detection, rules: Mapping[str, Rule]) -> Rule | None:
    """Return the rule that fires on most paths, of several the most severe; None if all were deleted."""
    firing = [rules[id] for id in detection.rules if id in rules]
    return max(firing, key=lambda rule: (detection.rules[rule.id], SEVERITIES.index(rule.severity)), default=None)


def hypothesis_json(hypothesis: Hypothesis, mesh: MeshState, cells: Ints, zone_of: Ints) -> dict[str, Any]:
    """Return a hypothesis as JSON; `explained`: the number of affected paths (flat `cells`) in its set."""
    culprit = culprit_json(hypothesis.culprit, mesh, None)
    explained = int(root_cause.explains(hypothesis.culprit, zone_of).reshape(-1)[cells].sum())
    return {
        **culprit,
        "score": round(hypothesis.score, 2),
        "bad": hypothesis.bad,
        "known": hypothesis.known,
        "explained": explained,
    }


def track_of(row: Incident, mesh: MeshState) -> Track | None:
    """Return the track of a row; None if its culprit has left the mesh."""
    suspect = Suspect(row.suspect)
    runs = zone_runs(mesh)
    ids = [run.id for run in runs] if suspect in OF_ZONES else [member.id for member in mesh.members]
    places = {str(identity): at for at, identity in enumerate(ids)}
    at, other = (
        places.get(one["id"], NONE) if one else NONE for one in (row.culprit.get("at"), row.culprit.get("other"))
    )
    if suspect in WITHOUT_PLACE:
        at = 0
    elif at == NONE:
        return None
    return Track(
        str(row.id),
        Culprit(suspect, at, other),
        cells_of(row.paths, mesh),
        row.score,
        round(row.opened_at.timestamp()),
        round(row.seen_at.timestamp()),
        None if row.ended_at is None else round(row.ended_at.timestamp()),
        row.evidence.get("application"),
        bool(row.evidence.get("spikes")),
        bool(row.evidence.get("sharp")),
        frozenset(Symptom(one) for one in row.evidence.get("symptoms", ())),
        returns_of(row.episodes),
        row.evidence.get("named_at_s"),
    )


def evidence_of(
    detection: Detection,
    track: Track,
    rules: Mapping[str, Rule],
    mesh: MeshState,
    state: EvaluationState,
    window: EvaluationWindow,
) -> dict[str, Any]:
    """Return the evidence of a detection: its hypotheses, its paths against their usual values, and a small matrix of
    the paths around the culprit.
    """
    cells, size = detection.cause.cells, len(mesh.members)
    rule = main_rule(detection, rules)
    values, unit = _map_of(rule, cells, state, window)
    chosen = _around(cells, size)
    around = np.ix_(chosen, chosen)
    changes = changes_of(state, window) if unit in ("deviations", "loss") else None
    impact = _impact_json(cells, rule, mesh, state, window)
    shift = shift_of(cells, state, window)
    return {
        "at_s": window.ended_at_s,
        "hypotheses": [hypothesis_json(one, mesh, cells, window.zone_of) for one in detection.cause.hypotheses],
        "heatmap": {
            "ids": [str(mesh.members[at].id) for at in chosen.tolist()],
            "names": [mesh.members[at].name for at in chosen.tolist()],
            "unit": unit,
            "values": [[_number(one, _DIGITS[unit]) for one in row] for row in values[around]],
            "changes_ns": None if changes is None else [[_number(one, 0) for one in row] for row in changes[around]],
        },
        "picture": picture_json(cells, rule, mesh, state, window),
        "paths": int(cells.size),
        "rise_ns": _rise_ns(cells, state, window),
        "impact": impact,
        "shift": None if shift is None else asdict(shift),
        "loss": _loss(cells, window, impact),
        "application": detection.application,
        "token_bucket": bucket_json(track.culprit, window),
        "fairness": fairness_json(cells, rule, mesh, window),
        "hosts": hosts_json(detection, mesh, window),
        **track_json(track),
    }


def track_json(track: Track) -> dict[str, Any]:
    """Return what evidence keeps of a track, which `track_of` reads."""
    named = {"spikes": track.spikes, "sharp": track.sharp, "named_at_s": track.named_at_s}
    return named | {"symptoms": sorted(track.symptoms)}


def _impact_json(
    cells: Ints, rule: Rule | None, mesh: MeshState, state: EvaluationState, window: EvaluationWindow
) -> dict[str, Any] | None:
    """Return the values of the affected paths by the metric of the rule; None of rules without paths."""
    if rule is None or rule.condition.kind not in PER_PATH or not cells.size:
        return None
    condition = rule.condition
    impact = impact_of(cells, condition, state, window)
    digits = 6 if condition.metric is Metric.LOSS else 0
    return {
        "rule": rule.name,
        "kind": condition.kind.value,
        "metric": condition.metric.value,
        "statistic": statistic_of(condition).value,
        "value": _median(impact.values, digits),
        "usual": _median(impact.usual, digits),
        "limit": _median(impact.limits, digits),
        "total": round(float(np.nansum(np.maximum(_rises(impact), 0.0))), digits),
        "over_s": condition.over_s if condition.kind is Kind.LOSS else 0,
        "worst": [_path_json(impact, at, mesh, digits) for at in range(min(cells.size, _PATHS_SHOWN))],
    }


def _rises(impact: Impact) -> Floats:
    """Return the change of each path from its usual value; its value where none is known."""
    rises: Floats = np.where(np.isfinite(impact.usual), impact.values - impact.usual, impact.values)
    return rises


def is_worse(found: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Return whether evidence shows more than what is known of its incident.

    That is a larger sum of changes over its paths by the same measure, more paths by another one, less even shares, or
    more silent agents.
    """
    impact, before = found.get("impact"), known.get("impact")
    if impact is not None and before is not None and all(impact[name] == before[name] for name in _MEASURE):
        return bool(impact["total"] > before.get("total", 0.0))
    shares, earlier = found.get("fairness"), known.get("fairness")
    if shares is not None and earlier is not None:
        return bool(shares["index"] < earlier["index"])
    if found["paths"] or known.get("paths"):
        return bool(found["paths"] > known.get("paths", 0))
    return bool(found["hypotheses"][0]["bad"] > known["hypotheses"][0]["bad"])


def now_json(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of a window that an incident has in addition to its worst ones."""
    impact = evidence["impact"]
    return {"at_s": evidence["at_s"], "value": None if impact is None else impact["value"], "paths": evidence["paths"]}


def _path_json(impact: Impact, at: int, mesh: MeshState, digits: int) -> dict[str, Any]:
    source, target = (mesh.members[end] for end in divmod(int(impact.cells[at]), len(mesh.members)))
    return {
        "source": {"id": str(source.id), "name": source.name},
        "target": {"id": str(target.id), "name": target.name},
        "value": _number(impact.values[at], digits),
        "usual": _number(impact.usual[at], digits),
        "limit": _number(impact.limits[at], digits),
    }


def _loss(cells: Ints, window: EvaluationWindow, impact: Mapping[str, Any] | None) -> float | None:
    """Return the loss of the paths: that of the impact where a rule about loss fired, so that a page has one figure."""
    if impact is not None and impact["metric"] == Metric.LOSS.value and impact["value"] is not None:
        return float(impact["value"])
    losses = window.values(Metric.LOSS, Statistic.MEAN).reshape(-1)[cells]
    known = losses[np.isfinite(losses)]
    return round(float(np.median(known)), 6) if known.size else None


def _median(values: Floats, digits: int) -> float | None:
    known = values[np.isfinite(values)]
    return _number(np.median(known), digits) if known.size else None


def _number(value: Any, digits: int) -> float | None:
    """Return a finite value with some digits, as a whole number without any; None for others."""
    if not np.isfinite(value):
        return None
    return round(float(value), digits) if digits else round(float(value))


def _map_of(rule: Rule | None, cells: Ints, state: EvaluationState, window: EvaluationWindow) -> tuple[Floats, str]:
    """Return what the small matrix shows, and its unit: what the rule is about, if it is known on the paths."""
    condition = None if rule is None else rule.condition
    if condition is not None and condition.kind is Kind.SPIKE:
        spikes = window.values(condition.metric, Statistic.MAX) - window.values(condition.metric, Statistic.P50)
        return spikes, "spikes"
    deviations = _deviations(state, window)
    if deviations is not None and np.isfinite(deviations.reshape(-1)[cells]).any():
        return deviations, "deviations"
    if condition is not None and condition.kind in PER_PATH and condition.metric in _DELAYS:
        return magnitude(condition.metric, statistic_of(condition), window.values), "delay"
    return window.values(Metric.LOSS, Statistic.MEAN), "loss"


def _deviations(state: EvaluationState, window: EvaluationWindow) -> Floats | None:
    for (metric, statistic), baseline in state.baselines.items():
        if metric is Metric.ONE_WAY_DELAY:
            return baseline.deviations(window.values(metric, statistic), SHORT)
    return None


def _rise_ns(cells: Ints, state: EvaluationState, window: EvaluationWindow) -> int | None:
    """Return the median rise of one-way delays of the paths above their baseline."""
    for (metric, statistic), baseline in state.baselines.items():
        if metric is Metric.ONE_WAY_DELAY and cells.size:
            rise = (window.values(metric, statistic) - baseline.level[SHORT]).reshape(-1)[cells]
            known = rise[np.isfinite(rise) & baseline.known(SHORT).reshape(-1)[cells]]
            return round(float(np.median(known))) if known.size else None
    return None


def _around(cells: Ints, size: int) -> Ints:
    """Return the VMs with most of the paths, and others for comparison, in mesh order."""
    if size <= HEATMAP_MAX:
        return np.arange(size)
    weight = np.bincount(np.concatenate((cells // size, cells % size)), minlength=size)
    most = np.argsort(-weight, kind="stable")[: HEATMAP_MAX - 4]
    others = np.setdiff1d(np.arange(size), most)[:: max(1, (size - most.size) // 4)][:4]
    chosen: Ints = np.sort(np.concatenate((most, others)))
    return chosen
