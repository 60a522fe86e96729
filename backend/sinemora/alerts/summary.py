"""Summary of a stored incident: its verdict and its figures, for the API, notices and reports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation import recurrence
from sinemora.alerts.evaluation.impact import Shift
from sinemora.alerts.evaluation.recurrence import Recurrence
from sinemora.alerts.evaluation.root_cause import OF_ZONES, Suspect
from sinemora.alerts.evaluation.rule import Kind, Symptom
from sinemora.alerts.figures import (
    FiguresCost,
    FiguresLinks,
    FiguresPath,
    FiguresPicture,
    FiguresPlace,
    FiguresSuspect,
    IncidentFigures,
    Unit,
    bucket_sentence,
    host_sentences,
    sentences,
    shares_sentence,
)
from sinemora.alerts.models import Incident
from sinemora.alerts.verdict import (
    AffectedApplication,
    IncidentFacts,
    IncidentVerdict,
    OtherIncident,
    costs_performance,
    verdict_of,
)
from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.kit.config import settings
from sinemora.measurements.aggregate.matrix import Metric, Statistic

# The heatmap of a link begins this long before the onset, and shows at most a day.
_BEFORE, _SHOWN_MAX = timedelta(minutes=10), timedelta(days=1)
_NOTES_MAX, _MOVES_MAX, _OTHERS_MAX = 5, 3, 50
_BOTH_WAYS = (Suspect.VM, Suspect.CLOCK, Suspect.AGENT, Suspect.HOST, Suspect.ZONE, Suspect.PAIR, Suspect.MESH)


def costs(row: Incident) -> list[dict[str, Any]]:
    """Return the affected applications of an incident: with the cost of now while it lasts, then with the largest."""
    applications = row.applications
    return applications if row.ended_at is None else [one | _worst(one) for one in applications]


def _worst(one: Mapping[str, Any]) -> dict[str, float | None]:
    """Return cost and performance at the largest cost; incidents of earlier versions have one cost."""
    return {
        "cost": one.get("worst_cost", one.get("cost")),
        "performance": one.get("worst_performance", one["performance"]),
    }


def verdict_on(session: Session, row: Incident) -> IncidentVerdict:
    evidence = row.evidence
    shift, impact = evidence.get("shift"), evidence.get("impact")
    facts = IncidentFacts(
        suspect=Suspect(row.suspect),
        paths=int(evidence.get("paths", 0)),
        shift=None if shift is None else Shift(**shift),
        loss=evidence.get("loss"),
        spikes=bool(evidence.get("spikes")),
        clock_error=impact is not None and impact["metric"] == Metric.CLOCK_ERROR,
        silent=_is_silent(evidence),
        applications=[AffectedApplication(one["name"], one.get("cost")) for one in costs(row)],
        others=_others(session, row) if row.suspect == Suspect.APPLICATION else (),
    )
    return verdict_of(facts)


def _is_silent(evidence: Mapping[str, Any]) -> bool:
    return bool(evidence.get("symptoms") == [Symptom.SILENCE])


def _others(session: Session, row: Incident) -> list[OtherIncident]:
    """Return the incidents about paths, at the time of this one, on which its applications lose performance."""
    names = {one["name"] for one in row.applications}
    query = select(Incident).where(
        Incident.mesh_id == row.mesh_id,
        Incident.merged_into.is_(None),
        Incident.suspect != Suspect.APPLICATION.value,
        or_(Incident.ended_at.is_(None), Incident.ended_at >= row.onset_at),
        Incident.onset_at <= (row.ended_at or datetime.now(UTC)),
    )
    return [
        OtherIncident(other.id, other.title, one["name"], one["cost"])
        for other in session.scalars(query.order_by(Incident.opened_at.desc(), Incident.id).limit(_OTHERS_MAX))
        for one in costs(other)
        if one["name"] in names and costs_performance(one.get("cost"))
    ]


def figures_of(session: Session, row: Incident, verdict: IncidentVerdict | None = None) -> IncidentFigures:
    """Return the figures of an incident, in its worst window; `verdict`: that on it, if it is known already."""
    verdict = verdict or verdict_on(session, row)
    evidence, suspect = row.evidence, Suspect(row.suspect)
    measured = _measured(row)
    of_zones = suspect in OF_ZONES
    source, target = _ends(row, suspect)
    hypotheses = evidence.get("hypotheses") or []
    paths = int(evidence.get("paths", 0))
    impact = evidence.get("impact") or {}
    worst = tuple(_path(one) for one in impact.get("worst", ()))
    now = evidence.get("now") if row.ended_at is None else None
    figures = IncidentFigures(
        **measured,
        value_now=None if now is None or not impact else now["value"],
        at=_at(row),
        suspect=suspect,
        culprit=str(row.culprit["words"]),
        source=source,
        target=target,
        both_ways=suspect in _BOTH_WAYS,
        paths=paths,
        of_paths=int(hypotheses[0]["known"]) if paths and hypotheses else None,
        worst_paths=worst,
        suspects=tuple(
            FiguresSuspect(one["suspect"], one["words"], one.get("explained"), one["bad"], one["known"])
            for one in hypotheses
        ),
        verdict=verdict.kind,
        costs=tuple(_cost(one) for one in sorted(costs(row), key=lambda one: -(one.get("cost") or 0.0))),
        picture=_picture(evidence.get("picture")),
        links=_links(row, of_zones),
        notes=_notes(session, [source, target, *chain.from_iterable((one.source, one.target) for one in worst)]),
        sentences=(),
    )
    about = [line for host in evidence.get("hosts") or () for line in host_sentences(host)]
    bucket, shares = evidence.get("token_bucket"), evidence.get("fairness")
    about += [] if bucket is None else [bucket_sentence(bucket)]
    about += [] if shares is None else [shares_sentence(shares)]
    return replace(figures, sentences=sentences(figures, verdict, about))


def _measured(row: Incident) -> dict[str, Any]:
    """Return kind, rule, metric, statistic, unit, value, usual, limit, change and length of what was measured."""
    evidence = row.evidence
    rule = row.rules[0]["name"] if row.rules else None
    if (impact := evidence.get("impact")) is not None:
        unit: Unit = "ratio" if impact["metric"] == Metric.LOSS else "ns"
        value, usual = impact["value"], impact["usual"]
        limit = impact.get("limit", next((one["limit"] for one in impact["worst"]), None))
        kind, statistic = Kind(impact["kind"]), Statistic(impact["statistic"])
        over_s = impact.get("over_s", 0)
        return _fields(kind, impact["rule"], impact["metric"], unit, value, usual, limit, statistic, over_s)
    if (bucket := evidence.get("token_bucket")) is not None:
        use, rate = bucket["use_mbit"], bucket["rate_mbit"]
        return _fields(Kind.TOKENS, rule, "token_use", "Mbit/s", use, None, rate)
    if (shares := evidence.get("fairness")) is not None:
        return _fields(Kind.FAIRNESS, rule, "fairness_index", "index", shares["index"], None, shares["below"])
    if row.suspect == Suspect.HOST and (hosts := evidence.get("hosts")):
        shares = [hosts[0][name] for name in ("stalled", "stolen", "throttled") if hosts[0][name] is not None]
        return _fields(Kind.HOST, rule, "host_waits", "ratio", max(shares), None, None)
    if _is_silent(evidence):
        silent = next((one["bad"] for one in evidence.get("hypotheses") or ()), None)
        return _fields(Kind.SILENT, rule, "silent_agents", "agents", silent, None, None)
    if (name := evidence.get("application")) is not None:
        subject = next((one for one in costs(row) if one["name"] == name), {})
        reached, objective = subject.get("performance"), subject.get("objective")
        return _fields(Kind.PERFORMANCE, rule, "performance", "ratio", reached, None, objective)
    return _fields(None, rule, None, None, None, None, None)


def _fields(
    kind: Kind | None,
    rule: str | None,
    metric: str | None,
    unit: Unit | None,
    value: float | None,
    usual: float | None,
    limit: float | None,
    statistic: Statistic | None = None,
    over_s: int = 0,
) -> dict[str, Any]:
    change = None if value is None or usual is None else value - usual
    named = {"kind": kind, "rule": rule, "metric": metric, "statistic": statistic, "unit": unit, "over_s": over_s}
    return named | {"value": value, "usual": usual, "limit": limit, "change": change}


def _at(row: Incident) -> datetime:
    at_s = row.evidence.get("at_s")
    return row.seen_at if at_s is None else datetime.fromtimestamp(at_s, UTC)


def _ends(row: Incident, suspect: Suspect) -> tuple[FiguresPlace | None, FiguresPlace | None]:
    """Return the ends of the affected paths; None: all VMs, or no end."""
    kind = "zone" if suspect in OF_ZONES else "vm"
    at, other = (
        None if one is None else FiguresPlace(kind, one["id"], one["name"])  # type: ignore[arg-type]
        for one in (row.culprit.get("at"), row.culprit.get("other"))
    )
    if suspect is Suspect.INGRESS:
        return None, at
    if suspect is Suspect.ZONE_PAIR:
        return at, other or at
    return at, other


def _path(one: Mapping[str, Any]) -> FiguresPath:
    source, target = (FiguresPlace("vm", one[end]["id"], one[end]["name"]) for end in ("source", "target"))
    return FiguresPath(source, target, one["value"], one["usual"], one["limit"])


def _cost(one: Mapping[str, Any]) -> FiguresCost:
    points, performance, objective = (
        None if one.get(name) is None else round(100 * one[name], 1) for name in ("cost", "performance", "objective")
    )
    return FiguresCost(str(one["id"]), str(one["name"]), points, performance, objective)


def _picture(picture: Mapping[str, Any] | None) -> FiguresPicture | None:
    if picture is None:
        return None
    values = tuple(tuple(line) for line in picture["values"])
    ids, names = tuple(picture["ids"]), tuple(picture["names"])
    return FiguresPicture(picture["by"], ids, names, picture["of"], picture["unit"], picture["is_change"], values)


def _links(row: Incident, of_zones: bool) -> FiguresLinks:
    """Return the pages of an incident: the heatmap around its onset, with its culprit marked."""
    public = settings().public_url
    start = row.onset_at - _BEFORE
    end = min(row.ended_at or row.seen_at, row.onset_at + _SHOWN_MAX) + _BEFORE
    search = {"from": _written(start), "until": _written(end)} | _marked(row, of_zones)
    metric = Metric.LOSS if _is_silent(row.evidence) else (row.evidence.get("impact") or {}).get("metric")
    if metric not in (None, Metric.ONE_WAY_DELAY, Metric.ROUND_TRIP):  # of delays, the heatmap shows the change
        search["metric"] = str(metric)
    losing = [one for one in costs(row) if costs_performance(one.get("cost"))]
    return FiguresLinks(
        incident=f"{public}/incidents/{row.id}",
        heatmap=f"{public}/meshes/{row.mesh_id}?{urlencode(search)}",
        moves=tuple(f"{public}{_moves_page(row, one['id'])}" for one in losing[:_MOVES_MAX]),
    )


def _moves_page(row: Incident, application_id: str) -> str:
    """Return the page that requests moves for an incident; once it ended, that of the application."""
    if row.ended_at is not None:
        return f"/applications/{application_id}"
    scope = {"mesh": row.mesh_id, "incident": row.id, "application": application_id}
    return f"/recommendations?{urlencode(scope)}"


def _marked(row: Incident, of_zones: bool) -> dict[str, str]:
    """Return search parameters of the heatmap that mark the culprit: two zones alone, or a selected VM or zone.

    Of a path its source is selected, and its target found by name.
    """
    at, other = (row.culprit.get(end) for end in ("at", "other"))
    if at is None:
        return {}
    if of_zones:
        return {"by": "zone", "select": at["id"]} if other is None else {"zones": f"{at['id']},{other['id']}"}
    return {"select": at["id"]} | ({} if other is None else {"find": other["name"]})


def _written(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _notes(session: Session, places: Sequence[FiguresPlace | None]) -> tuple[str, ...]:
    """Return which of the named VMs and zones have another name now, or are gone."""
    named = {place.id: place for place in places if place is not None}
    known: dict[str, str] = {}
    for model, kind in ((Vm, "vm"), (Zone, "zone")):
        ids = [UUID(place.id) for place in named.values() if place.kind == kind]
        if ids:
            found = session.execute(select(model.id, model.name).where(model.id.in_(ids)))
            known |= {str(identity): name for identity, name in found}
    return tuple(_changed(named.values(), known))[:_NOTES_MAX]


def _changed(places: Any, known: Mapping[str, str]) -> Iterator[str]:
    for place in places:
        noun = "VM" if place.kind == "vm" else "Zone"
        if place.id not in known:
            yield f"{noun} {place.name} was deleted."
        elif known[place.id] != place.name:
            yield f"{noun} {place.name} is now named {known[place.id]}."


def recurrence_of(row: Incident) -> Recurrence | None:
    """Return how an incident recurs; None if it was seen once."""
    since_s, seen_s = (round(at.timestamp()) for at in (row.first_onset_at, row.seen_at))
    return recurrence.recurrence_of(row.episodes, row.occurrences, since_s, seen_s)
