"""Figures of an incident with their units, and the sentences that report them. Pure.

The API, notices, the page of an incident, the command line and signed reports all take them from here
(`alerts/summary.py` reads them from the database), so that a person sees one number everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Kind
from sinemora.alerts.verdict import IncidentVerdict, Reason, ReasonCode, VerdictKind
from sinemora.kit.delays import delay
from sinemora.kit.percent import percent
from sinemora.measurements.aggregate.matrix import Metric, Statistic

Unit = Literal["ns", "ratio", "Mbit/s", "index", "agents"]
"""Unit of a figure: nanoseconds, a share of 1, Mbit/s of a token bucket, Jain's index, silent agents."""

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
"""Id of a VM, a zone or an application, as text: figures are sent as JSON."""

SUSPECTS_SHOWN = 3
_COSTS_SHOWN = 5
# A value of now that differs by less from the worst one is not worth a sentence.
_DIFFERS = 0.1
_METRICS = {
    Metric.ONE_WAY_DELAY: "One-way delay",
    Metric.ROUND_TRIP: "Round trip",
    Metric.ASYMMETRY: "Asymmetry of the two directions",
    Metric.LOSS: "Packet loss",
    Metric.CLOCK_ERROR: "Clock error",
    Metric.JITTER: "Jitter",
}
_VERDICTS = {
    VerdictKind.network: "the network changed",
    VerdictKind.clock: "a clock changed, not the network",
    VerdictKind.agent: "nothing arrives, so the network is unknown",
    VerdictKind.host: "the machine of the VM waits, the network is not known to have changed",
    VerdictKind.application: "the network is not known to have changed",
    VerdictKind.shaping: "the VM is shaped, the network is as usual",
    VerdictKind.fairness: "the network is shared unevenly",
    VerdictKind.undecided: "it is not known whether the network changed",
}


@dataclass(frozen=True, slots=True)
class FiguresPlace:
    """A VM or a zone, by the name it had when it was recorded."""

    kind: Literal["vm", "zone"]
    id: Id
    name: str


@dataclass(frozen=True, slots=True)
class FiguresPath:
    """An affected path: its value, the usual one and the limit of the rule, in the unit of the figures."""

    source: FiguresPlace
    target: FiguresPlace
    value: float | None
    usual: float | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class FiguresSuspect:
    """A suspect: it explains `explained` of the affected paths; `bad` of its `known` paths are bad."""

    suspect: str
    words: str
    explained: int | None
    bad: int
    known: int


@dataclass(frozen=True, slots=True)
class FiguresCost:
    """Performance that an application loses on the affected paths, in points: hundredths of its best. Predicted.

    `performance` and `objective` in percent of its best; null where unknown or not set.
    """

    id: Id
    name: str
    points: float | None
    performance: float | None
    objective: float | None


@dataclass(frozen=True, slots=True)
class FiguresPicture:
    """Small matrix [source][target] of the change, by zone, or by VM in a mesh of one zone; null where unknown.

    `is_change`: difference from the usual value; else the value itself, since no usual one is known. A cell is the
    median of its affected paths, or of all its paths if none is affected. `of`: number of all zones or VMs.
    """

    by: Literal["zone", "vm"]
    ids: tuple[Id, ...]
    names: tuple[str, ...]
    of: int
    unit: Literal["ns", "ratio"]
    is_change: bool
    values: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class FiguresLinks:
    """Pages: the incident, the heatmap at the onset with the culprit marked, moves of the affected applications."""

    incident: str
    heatmap: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IncidentFigures:
    """Figures of an incident in its worst window, which ended `at`. Values are medians over the affected `paths`.

    `metric`: of the rule that fires on most paths; or `performance`, `token_use`, `fairness_index`, `host_waits`,
    `silent_agents`.
    `value`, `usual`, `limit`, `change` and `value_now` in `unit`; null where unknown. `of_paths`: paths of the culprit
    with data. `source`, `target`: ends of the affected paths, null: all VMs; `both_ways`: in both directions.
    `over_s`: time over which packets were counted, 0 for a window. `worst_paths`: those with the largest change.
    `notes`: VMs and zones that were renamed or deleted since.
    """

    kind: Kind | None
    rule: str | None
    metric: str | None
    statistic: Statistic | None
    unit: Unit | None
    value: float | None
    usual: float | None
    limit: float | None
    change: float | None
    value_now: float | None
    over_s: int
    at: datetime
    suspect: Suspect
    culprit: str
    source: FiguresPlace | None
    target: FiguresPlace | None
    both_ways: bool
    paths: int
    of_paths: int | None
    worst_paths: tuple[FiguresPath, ...]
    suspects: tuple[FiguresSuspect, ...]
    verdict: VerdictKind
    costs: tuple[FiguresCost, ...]
    picture: FiguresPicture | None
    links: FiguresLinks
    notes: tuple[str, ...]
    sentences: tuple[str, ...]


def sentences(figures: IncidentFigures, verdict: IncidentVerdict, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the figures as sentences, most important first and without times. `extra`: of buckets and shares."""
    lines = [_change(figures), _worst_path(figures), *extra]
    if verdict.kind is VerdictKind.clock or not figures.both_ways:
        lines += _directions(verdict)
    lines += _suspects(figures)
    lines += [
        f"Explained by another incident: {other.title}, which costs {other.application} {points(100 * other.cost)}."
        for other in verdict.others[:SUSPECTS_SHOWN]
    ]
    lines += [cost_sentence(cost) for cost in figures.costs[:_COSTS_SHOWN]]
    if (more := len(figures.costs) - _COSTS_SHOWN) > 0:
        lines.append(f"{more} more applications are affected.")
    return tuple(line for line in (*lines, *figures.notes) if line)


def quantity(value: float | None, unit: Unit | None) -> str:
    """Return a value with its unit."""
    if value is None:
        return "-"
    match unit:
        case "ns":
            return delay(value)
        case "ratio":
            return percent(value, 2 if 0 < abs(value) < 0.01 else 1)
        case "Mbit/s":
            return f"{value:.3g} Mbit/s"
        case "index":
            return f"{value:.3f}"
        case _:
            return f"{value:,.0f}"


def points(value: float) -> str:
    """Return lost performance: 36.1 is “36.1 points of performance”."""
    return f"{value:.1f} points of performance"


def cost_sentence(cost: FiguresCost) -> str:
    """Return what the affected paths cost an application: “checkout: 36.1 points of performance lost on …”."""
    lost = "performance unknown" if cost.points is None else f"{points(cost.points)} lost on these paths (predicted)"
    reached = "" if cost.performance is None else f", now at {cost.performance:.1f} % of its best"
    objective = ", no objective" if cost.objective is None else f", objective {cost.objective:.1f} %"
    return f"{cost.name}: {lost}{reached}{objective}."


def ends(figures: IncidentFigures) -> str:
    """Return between which ends the affected paths lead: “from c-1”, “from zone a to zone b”; empty of all."""
    source, target = (_name(one) for one in (figures.source, figures.target))
    if figures.suspect is Suspect.ZONE_PAIR and figures.source == figures.target:
        return f"within {source}"
    if source and target:
        return f"between {source} and {target}" if figures.both_ways else f"from {source} to {target}"
    if figures.both_ways:
        return f"from and to {source}" if source else ""
    return f"from {source}" if source else f"to {target}" if target else ""


def _name(place: FiguresPlace | None) -> str:
    return "" if place is None else place.name if place.kind == "vm" else f"zone {place.name}"


def _change(figures: IncidentFigures) -> str:
    """Return what changed: “One-way delay, p50: 156 µs → 556 µs (+400 µs, limit 330 µs) on 4 of 4 paths from …”."""
    value, usual, limit = (quantity(one, figures.unit) for one in (figures.value, figures.usual, figures.limit))
    match figures.kind:
        case Kind.SILENT:
            return _silent(figures)
        case Kind.PERFORMANCE:
            return f"Performance of {figures.culprit}: {value} of its best, objective {limit}."
        case Kind.TOKENS | Kind.FAIRNESS | Kind.HOST:
            return ""  # sentences with more figures follow
    where = _on_paths(figures)
    if figures.metric is None or figures.value is None:
        return f"Affected: {where.removeprefix('on ')}." if where else ""
    title = _METRICS[Metric(figures.metric)]
    if figures.kind is Kind.SPIKE:
        title, rise = f"Largest {title[0].lower()}{title[1:]} of a window", quantity(figures.change, figures.unit)
        above = "" if figures.usual is None else f", {rise} above the median of {usual}"
        return f"{title}: {value}{above} (limit {limit}) {where}."
    if figures.metric not in (Metric.LOSS, Metric.CLOCK_ERROR) and figures.statistic is not None:
        title += f", {figures.statistic}"
    if figures.over_s:
        title += f" over {figures.over_s // 60} min"
    limits = [] if figures.limit is None else [f"limit {limit}"]
    if figures.usual is None or figures.change is None:
        known = "" if figures.metric == Metric.LOSS else " No usual value is known yet."
        return f"{title}: {value}{_in_brackets(limits)} {where}.{_now(figures)}{known}"
    sign = "+" if figures.change >= 0 else "−"
    change = f"{sign}{quantity(abs(figures.change), figures.unit)}"
    return f"{title}: {usual} → {value}{_in_brackets([change, *limits])} {where}." + _now(figures)


def _in_brackets(words: Sequence[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def _now(figures: IncidentFigures) -> str:
    """Return the value of now where it is no longer the worst one."""
    now, worst = figures.value_now, figures.value
    if now is None or worst is None or abs(now - worst) <= _DIFFERS * abs(worst):
        return ""
    return f" Now {quantity(now, figures.unit)}."


def _silent(figures: IncidentFigures) -> str:
    if figures.suspect is Suspect.AGENT:
        return f"No reports arrive from VM {_name(figures.source)}."
    place = f" in {_name(figures.source)}" if figures.source else ""
    return f"No reports arrive from {quantity(figures.value, 'agents')} agents{place}."


def _on_paths(figures: IncidentFigures) -> str:
    """Return the number of affected paths and their ends: “on 4 of 4 paths from zone a to zone b”."""
    if not figures.paths:
        return ""
    where = ends(figures)
    if figures.suspect is Suspect.PATH:
        return f"on the path {where}"
    of = "" if figures.of_paths is None else f" of {max(figures.of_paths, figures.paths):,}"
    noun = "path" if figures.paths == 1 and not of else "paths"
    return f"on {figures.paths:,}{of} {noun} {where}".rstrip()


def _worst_path(figures: IncidentFigures) -> str:
    if figures.suspect is Suspect.PATH or not figures.worst_paths:
        return ""
    worst = figures.worst_paths[0]
    value, usual = (quantity(one, figures.unit) for one in (worst.value, worst.usual))
    noun = "median" if figures.kind is Kind.SPIKE else "usual"
    than = "" if worst.usual is None else f", {noun} {usual}"
    return f"Worst path: {worst.source.name} → {worst.target.name}, {value}{than}."


def _directions(verdict: IncidentVerdict) -> list[str]:
    """Return what the reverse direction and the round trip show."""
    by_code = {reason.code: reason for reason in verdict.reasons}
    words = {
        ReasonCode.reverse_up: "The way back is slower too ({}).",
        ReasonCode.reverse_unchanged: "The way back is unchanged ({}).",
        ReasonCode.reverse_down: "The way back seems faster ({}).",
    }
    lines = [text.format(_signed(by_code[code])) for code, text in words.items() if code in by_code]
    if verdict.kind is VerdictKind.clock and (trip := by_code.get(ReasonCode.round_trip_unchanged)):
        lines.append(f"The round trip is unchanged ({_signed(trip)}): a clock adds to one way what it takes off.")
    return lines


def _signed(reason: Reason) -> str:
    change = reason.change_ns or 0
    return f"{'−' if change < 0 else '+'}{delay(abs(change))}"


def _suspects(figures: IncidentFigures) -> list[str]:
    """Return the suspect with its evidence, and the others with the paths they explain."""
    verdict = _VERDICTS[figures.verdict]
    if not figures.suspects or not figures.paths:
        return [f"Suspect: {figures.culprit}; {verdict}."]
    first, *others = figures.suspects
    explained = f"{first.explained:,} of {figures.paths:,} affected paths explained, " if first.explained else ""
    evidence = f" ({explained}{first.bad:,} of all {first.known:,} bad)"
    if first.explained == 0:  # what is suspected is no path: how the flows of one share it
        evidence = ""
    lines = [f"Suspect: {figures.culprit}{evidence}; {verdict}."]
    less = [
        f"{one.words} ({one.explained:,} of {figures.paths:,})" for one in others[: SUSPECTS_SHOWN - 1] if one.explained
    ]
    return [*lines, f"Less likely, with affected paths explained: {', '.join(less)}."] if less else lines


def bucket_sentence(bucket: Mapping[str, Any]) -> str:
    """Return the state of the token bucket that an incident is about."""
    when = f"empty in {bucket['empty_in_s']:.0f} s" if bucket["empty_in_s"] else "empty"
    return f"Token bucket: {bucket['use_mbit']:.3g} Mbit/s against a rate of {bucket['rate_mbit']:.3g}, {when}."


def shares_sentence(shares: Mapping[str, Any]) -> str:
    """Return the uneven shares that an incident is about."""
    members = "VMs" if shares["among"] == "vms" else shares["among"]
    path = "" if shares["path"] is None else f" between {shares['path'][0]} and {shares['path'][1]}"
    least = shares["members"][0]
    return (
        f"Fairness index {shares['index']:.3f} among {shares['count']} {members}{path}, limit {shares['below']:.3g}: "
        f"{least['name']} has {percent(least['relative'], 0)} of the mean share."
    )


def host_sentences(host: Mapping[str, Any]) -> list[str]:
    """Return what shows that a VM waited on its own machine."""
    name, lines = host["name"], []
    if host["spikes_waiting"]:
        lines.append(
            f"{host['spikes_waiting']} of {host['spikes']} spikes fall into moments in which {name} waited for a"
            " processor."
        )
    parts = [
        f"{word} {percent(host[key], 1)}"
        for key, word in (("stolen", "stolen by the hypervisor"), ("throttled", "held back by a quota"))
        if host[key]
    ]
    more = f" ({', '.join(parts)})" if parts else ""
    waited = f"waited for a processor {percent(host['stalled'], 1)} of the time{more}"
    return [*lines, f"In a minute {name} {waited}, and once {host['longest_ns'] / 1e6:.3g} ms."]
