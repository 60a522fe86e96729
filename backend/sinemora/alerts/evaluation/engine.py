"""Evaluate a window of a mesh under all its rules, for all paths at once. Deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sinemora.alerts.evaluation import root_cause
from sinemora.alerts.evaluation.baseline import SHORT, Baseline, Flags, Floats, Ints
from sinemora.alerts.evaluation.breach import Season, Seasons, Values, breaches_of, least_spread, magnitude
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, PathEvidence, Suspect
from sinemora.alerts.evaluation.rule import PER_PATH, SEVERITIES, Kind, Rule, Severity, sources
from sinemora.alerts.evaluation.rule_state import RuleState
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of

# From this share of silent VMs, the suspect is their zone (or the mesh).
_ZONE_SHARE = 0.6
_LOST = 0.99

Series = tuple[Metric, Statistic]


def _no_season(*_: object) -> None:
    """Return None: earlier weeks are unknown."""


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a mesh.

    `keys`: the VMs of its axis. `silent`: VMs whose agent should have reported and has not. `below`: distance of
    each application below its objective (NaN: unknown). `seasons`: usual values at its hour of the week.
    """

    ended_at_s: int
    window_s: int
    keys: Ints
    zone_of: Ints
    planned: Flags
    values: Values
    silent: Flags
    below: dict[str, float] = field(default_factory=dict)
    seasons: Seasons = _no_season


@dataclass(slots=True)
class EvaluationState:
    """State of a mesh between windows: the axis of VM keys, baselines, rule states."""

    keys: Ints
    ended_at_s: int | None = None
    baselines: dict[Series, Baseline] = field(default_factory=dict)
    rule_states: dict[str, RuleState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Detection:
    """A cause with its firing rules: rule ids with their number of paths, highest severity.

    `windows_ago`: age of the first breach in windows, at most 16. `application`: the one below its objective, if the
    rule is about performance. `spikes`: only rules about spikes fire.
    """

    cause: Cause
    rules: dict[str, int]
    severity: Severity
    windows_ago: int
    application: str | None = None
    spikes: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of evaluating a window; `alone`: firing paths that too few VMs see for their rules."""

    detections: list[Detection]
    firing: int
    alone: int


def step(state: EvaluationState, rules: Sequence[Rule], window: Window) -> Evaluation:
    """Evaluate a window and update `state`. Windows come in order; a missed one counts as missing data."""
    _rearrange(state, window.keys)
    gap = 1
    if state.ended_at_s is not None:
        gap = max(1, round((window.ended_at_s - state.ended_at_s) / window.window_s))
    state.ended_at_s = window.ended_at_s
    ids = {rule.id for rule in rules}
    state.rule_states = {id: rule_state for id, rule_state in state.rule_states.items() if id.split("/")[0] in ids}
    on_paths = [rule for rule in rules if rule.condition.kind in PER_PATH]
    views = [_paths(state, rule, window, gap) for rule in on_paths]
    signed = _signed(state, window)
    _learn(state, on_paths, window)
    detections = _silent(state, [rule for rule in rules if rule.condition.kind is Kind.SILENT], window, views, gap)
    grouped, alone = _grouped(views, signed, window, state)
    detections += grouped
    detections += _applications(state, [rule for rule in rules if rule.condition.kind is Kind.PERFORMANCE], window, gap)
    firing = sum(int(np.count_nonzero(view.rule_state.firing)) for view in views)
    return Evaluation(detections, firing, alone)


def amend(state: EvaluationState, rules: Sequence[Rule], window: Window) -> None:
    """Apply a late window at its place in time; it counts from the next `step` on."""
    if state.ended_at_s is None or not np.array_equal(state.keys, window.keys):
        return
    age = round((state.ended_at_s - window.ended_at_s) / window.window_s)
    for rule in rules:
        condition, rule_state = rule.condition, state.rule_states.get(rule.id)
        if condition.kind not in PER_PATH or rule_state is None or age < 0:
            continue
        baseline = state.baselines.get((condition.metric, condition.statistic))
        if condition.kind is Kind.BASELINE and baseline is None:
            continue
        breaches = breaches_of(condition, window.values, baseline, _season(rule, window))
        in_scope = window.planned if rule.scope is None else window.planned & rule.scope
        rule_state.amend(breaches.breach & in_scope, breaches.known & in_scope, age)


@dataclass(slots=True)
class _RuleView:
    """A path rule in this window."""

    rule: Rule
    rule_state: RuleState
    firing: Flags
    bad: Flags
    known: Flags

    @property
    def is_spike(self) -> bool:
        """Return whether the rule is about spikes."""
        return self.rule.condition.kind is Kind.SPIKE


def _rearrange(state: EvaluationState, keys: Ints) -> None:
    """Rearrange the state to the axis of this window."""
    if np.array_equal(state.keys, keys):
        return
    positions, size = positions_of(state.keys, keys), state.keys.size
    state.baselines = {series: one.rearranged(positions) for series, one in state.baselines.items()}
    state.rule_states = {
        id: one.rearranged(positions) if one.hits.shape[0] == size else one for id, one in state.rule_states.items()
    }
    state.keys = keys.copy()


def _rule_state(state: EvaluationState, id: str, shape: tuple[int, ...]) -> RuleState:
    rule_state = state.rule_states.get(id)
    if rule_state is None or rule_state.hits.shape != shape:
        rule_state = state.rule_states[id] = RuleState.new(shape)
    return rule_state


def _baseline(state: EvaluationState, series: Series, shape: tuple[int, ...]) -> Baseline:
    baseline = state.baselines.get(series)
    if baseline is None:
        baseline = state.baselines[series] = Baseline.new(shape)
    return baseline


def _paths(state: EvaluationState, rule: Rule, window: Window, gap: int) -> _RuleView:
    shape = (window.keys.size,) * 2
    condition = rule.condition
    baseline = None
    if condition.kind is Kind.BASELINE:
        baseline = _baseline(state, (condition.metric, condition.statistic), shape)
    breaches = breaches_of(condition, window.values, baseline, _season(rule, window))
    in_scope = window.planned if rule.scope is None else window.planned & rule.scope
    known = breaches.known & in_scope
    breach, bad = breaches.breach & known, breaches.bad & known
    rule_state = _rule_state(state, rule.id, shape)
    rule_state.step(breach, known, rule.m_of_n(window.window_s), gap)
    if not in_scope.all():
        outside = rule_state.firing & ~in_scope
        if outside.any():
            rule_state.clear(outside)
    return _RuleView(rule, rule_state, rule_state.firing.copy(), bad, known)


def _season(rule: Rule, window: Window) -> Season | None:
    condition = rule.condition
    return window.seasons(condition.metric, condition.statistic) if condition.kind is Kind.BASELINE else None


def _signed(state: EvaluationState, window: Window) -> Floats | None:
    """Return signed deviations of one-way delays, by the first statistic with a baseline."""
    for metric, statistic in state.baselines:
        if metric is Metric.ONE_WAY_DELAY:
            values = window.values(metric, statistic)
            return state.baselines[metric, statistic].deviations(values, SHORT)
    return None


def _learn(state: EvaluationState, rules: Sequence[Rule], window: Window) -> None:
    learnt = dict.fromkeys(
        (rule.condition.metric, rule.condition.statistic) for rule in rules if rule.condition.kind is Kind.BASELINE
    )
    for series in learnt:
        state.baselines[series].learn(magnitude(*series, window.values), floor=least_spread(series[0]))


def _silent(
    state: EvaluationState, rules: Sequence[Rule], window: Window, views: Sequence[_RuleView], gap: int
) -> list[Detection]:
    """Return silent agents, or zones of them, as causes. Rules firing on their paths are consequences: removed."""
    detections: list[Detection] = []
    for rule in rules:
        in_scope: Flags = np.ones(window.keys.size, np.bool_)
        if rule.scope is not None:
            in_scope = np.asarray(rule.scope.any(axis=1), np.bool_)
        rule_state = _rule_state(state, rule.id, (window.keys.size,))
        rule_state.step(window.silent & in_scope, in_scope, rule.m_of_n(window.window_s), gap)
        silent = rule_state.firing
        if not silent.any():
            continue
        for culprit, members in _silent_culprits(silent, window.zone_of):
            inside = root_cause.explains(culprit, window.zone_of) & window.planned
            cells = np.zeros(0, np.int64)
            for view in views:
                follows = view.firing & inside
                if follows.any():
                    cells = np.union1d(cells, np.flatnonzero(follows))
                    view.firing &= ~inside
                view.bad &= ~inside
                view.known &= ~inside
            best = Hypothesis(culprit, float(members), members, members)
            ago = int(np.bitwise_count(rule_state.hits[silent]).max())
            detections.append(Detection(Cause((best,), cells), {rule.id: max(1, cells.size)}, rule.severity, ago))
    return detections


def _silent_culprits(silent_mask: Flags, zone_of: Ints) -> list[tuple[Culprit, int]]:
    if silent_mask.size > 3 and silent_mask.mean() >= _ZONE_SHARE and np.unique(zone_of[silent_mask]).size > 1:
        return [(Culprit(Suspect.MESH, 0), int(silent_mask.sum()))]
    members, silent = (np.bincount(one, minlength=int(zone_of.max()) + 1) for one in (zone_of, zone_of[silent_mask]))
    zones = (silent > 1) & (silent >= _ZONE_SHARE * members)
    culprits = [(Culprit(Suspect.ZONE, at), int(silent[at])) for at in np.flatnonzero(zones).tolist()]
    return culprits + [(Culprit(Suspect.AGENT, at), 1) for at in np.flatnonzero(silent_mask & ~zones[zone_of]).tolist()]


def _grouped(
    views: Sequence[_RuleView], signed: Floats | None, window: Window, state: EvaluationState
) -> tuple[list[Detection], int]:
    """Return causes of firing paths: of direction-aware rules first, then of what those leave unexplained.

    Rules about spikes come last: rare spikes all over a mesh would otherwise hide a lasting rise of a few paths.
    """
    shape = (window.keys.size,) * 2
    lost = window.values(Metric.LOSS, Statistic.MEAN) >= _LOST
    explained: list[Cause] = []
    for chosen in (
        [view for view in views if view.rule.condition.directed and not view.is_spike],
        [view for view in views if not view.rule.condition.directed],
        [view for view in views if view.is_spike],
    ):
        if not any(view.firing.any() for view in chosen):
            continue
        firing, bad, known = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        for view in chosen:
            firing |= view.firing
            if view.firing.any():
                bad |= view.bad
                known |= view.known
        for at, cause in enumerate(explained):
            inside = root_cause.explains(cause.culprit, window.zone_of)
            follows = firing & (inside | inside.T)
            if follows.any():
                explained[at] = Cause(cause.hypotheses, np.union1d(cause.cells, np.flatnonzero(follows)))
                firing &= ~follows
        clock = all(view.rule.condition.metric is Metric.CLOCK_ERROR for view in chosen if view.firing.any())
        evidence = PathEvidence(
            firing, bad, known, signed if chosen[0].rule.condition.directed else None, lost, window.zone_of
        )
        explained += [_of_clock(cause) if clock else cause for cause in root_cause.causes(evidence)]
    detections: list[Detection] = []
    alone = 0
    for cause in explained:
        rules = _firing_rules(views, cause)
        if not rules:
            alone += cause.cells.size
            continue
        severity = max((view.rule.severity for view in views if view.rule.id in rules), key=SEVERITIES.index)
        ago = max(_seen_for(view.rule_state, cause.cells) for view in views if view.rule.id in rules)
        spikes = all(view.is_spike for view in views if view.rule.id in rules)
        detections.append(Detection(cause, rules, severity, ago, spikes=spikes))
    return detections, alone


def _of_clock(cause: Cause) -> Cause:
    """Return the cause with the clock as culprit, where the firing metric is the clock error of a VM."""
    best = cause.hypotheses[0]
    if best.culprit.suspect not in (Suspect.VM, Suspect.EGRESS, Suspect.INGRESS):
        return cause
    clock = Hypothesis(Culprit(Suspect.CLOCK, best.culprit.at), best.score, best.bad, best.known)
    return Cause((clock, *cause.hypotheses[1:]), cause.cells)


def _firing_rules(views: Sequence[_RuleView], cause: Cause) -> dict[str, int]:
    """Return the rules that fire on paths of a cause and are seen by enough VMs, with their number of paths."""
    counts = {}
    for view in views:
        cells = cause.cells[view.firing.reshape(-1)[cause.cells]]
        fewest = max(1, view.rule.sources_min)
        # There are at most as many VMs as paths, so causes of one path need no count.
        if cells.size >= fewest and (fewest == 1 or sources(cells, view.firing.shape[0]) >= fewest):
            counts[view.rule.id] = int(cells.size)
    return counts


def _seen_for(rule_state: RuleState, cells: Ints) -> int:
    """Return the number of windows since most of these paths were first in breach."""
    hits = rule_state.hits.reshape(-1)[cells]
    hits = hits[hits > 0]
    return int(np.median(np.ceil(np.log2(hits.astype(np.float64) + 1)))) if hits.size else 1


def _applications(state: EvaluationState, rules: Sequence[Rule], window: Window, gap: int) -> list[Detection]:
    detections = []
    names = sorted(window.below)
    below = np.array([window.below[name] for name in names], np.float64)
    for rule in rules:
        for at, name in enumerate(names):
            rule_state = _rule_state(state, f"{rule.id}/{name}", (1,))
            known = np.isfinite(below[at : at + 1])
            breach: Flags = below[at : at + 1] > rule.condition.above
            rule_state.step(breach & known, known, rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                # Identified by name, not by its position in this window.
                best = Hypothesis(Culprit(Suspect.APPLICATION, 0), 1.0, 1, 1)
                ago = _seen_for(rule_state, np.zeros(1, np.int64))
                cause = Cause((best,), np.zeros(0, np.int64))
                detections.append(Detection(cause, {rule.id: 1}, rule.severity, ago, name))
    return detections
