"""One evaluation: a window of a mesh under all its rules, for all paths at once. The same input, the same outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sinemora.alerts.evaluation import root_cause
from sinemora.alerts.evaluation.baseline import SHORT, Baseline, Flags, Floats, Ints
from sinemora.alerts.evaluation.breach import Season, Seasons, Values, judge, least_spread, magnitude
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, Picture, Suspect
from sinemora.alerts.evaluation.rule import PER_PATH, SEVERITIES, Kind, Rule, Severity, sources
from sinemora.alerts.evaluation.rule_state import RuleState
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of

# Of a zone's VMs (or a mesh's), silent together: it is the zone.
_ZONE_SHARE = 0.6
_GONE = 0.99

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
class State:
    """What evaluation remembers of a mesh between windows: an axis of VM keys, baselines, and where rules stand."""

    keys: Ints
    ended_at_s: int | None = None
    baselines: dict[Series, Baseline] = field(default_factory=dict)
    rule_states: dict[str, RuleState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A cause that rules speak of: paths (flat), the rules (ids) with how many of them each has, how much it matters.

    `windows_ago`: how long it has been seen, at most 16. `application`: the one that is below its objective, if that
    is what it is about.
    """

    cause: Cause
    rules: dict[str, int]
    severity: Severity
    windows_ago: int
    application: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation found; `alone` paths fire and are seen by too few VMs for their rules."""

    found: list[Found]
    firing: int
    alone: int


def step(state: State, rules: Sequence[Rule], window: Window) -> Outcome:
    """Evaluate a window; `state` takes it in. Windows come in order; one that was missed is seen as nothing."""
    _follow(state, window.keys)
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
    found = _silent(state, [rule for rule in rules if rule.condition.kind is Kind.SILENT], window, views, gap)
    grouped, alone = _grouped(views, signed, window, state)
    found += grouped
    found += _applications(state, [rule for rule in rules if rule.condition.kind is Kind.PERFORMANCE], window, gap)
    firing = sum(int(np.count_nonzero(view.rule_state.firing)) for view in views)
    return Outcome(found, firing, alone)


def amend(state: State, rules: Sequence[Rule], window: Window) -> None:
    """Let a window that came late take its place: what it says counts from the next `step` on."""
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
        judged = judge(condition, window.values, baseline, _season(rule, window))
        looked = window.planned if rule.scope is None else window.planned & rule.scope
        rule_state.amend(judged.breach & looked, judged.known & looked, age)


@dataclass(slots=True)
class _View:
    """A rule on paths in this window."""

    rule: Rule
    rule_state: RuleState
    firing: Flags
    bad: Flags
    known: Flags


def _follow(state: State, keys: Ints) -> None:
    """Bring the state to the axis of this window."""
    if np.array_equal(state.keys, keys):
        return
    positions, size = positions_of(state.keys, keys), state.keys.size
    state.baselines = {series: one.rearranged(positions) for series, one in state.baselines.items()}
    state.rule_states = {
        id: one.rearranged(positions) if one.hits.shape[0] == size else one for id, one in state.rule_states.items()
    }
    state.keys = keys.copy()


def _rule_state(state: State, id: str, shape: tuple[int, ...]) -> RuleState:
    found = state.rule_states.get(id)
    if found is None or found.hits.shape != shape:
        found = state.rule_states[id] = RuleState.new(shape)
    return found


def _baseline(state: State, series: Series, shape: tuple[int, ...]) -> Baseline:
    found = state.baselines.get(series)
    if found is None:
        found = state.baselines[series] = Baseline.new(shape)
    return found


def _paths(state: State, rule: Rule, window: Window, gap: int) -> _View:
    shape = (window.keys.size,) * 2
    condition = rule.condition
    baseline = None
    if condition.kind is Kind.BASELINE:
        baseline = _baseline(state, (condition.metric, condition.statistic), shape)
    judged = judge(condition, window.values, baseline, _season(rule, window))
    looked = window.planned if rule.scope is None else window.planned & rule.scope
    known = judged.known & looked
    breach, bad = judged.breach & known, judged.bad & known
    rule_state = _rule_state(state, rule.id, shape)
    rule_state.step(breach, known, rule.m_of_n(window.window_s), gap)
    if not looked.all():
        away = rule_state.firing & ~looked
        if away.any():
            rule_state.clear(away)
    return _View(rule, rule_state, rule_state.firing.copy(), bad, known)


def _season(rule: Rule, window: Window) -> Season | None:
    condition = rule.condition
    return window.seasons(condition.metric, condition.statistic) if condition.kind is Kind.BASELINE else None


def _signed(state: State, window: Window) -> Floats | None:
    """Deviations of one-way delays with their sign, by whatever statistic has a baseline."""
    for metric, statistic in state.baselines:
        if metric is Metric.ONE_WAY_DELAY:
            values = window.values(metric, statistic)
            return state.baselines[metric, statistic].deviations(values, SHORT)
    return None


def _learn(state: State, rules: Sequence[Rule], window: Window) -> None:
    wanted = dict.fromkeys(
        (rule.condition.metric, rule.condition.statistic) for rule in rules if rule.condition.kind is Kind.BASELINE
    )
    for series in wanted:
        state.baselines[series].learn(magnitude(*series, window.values), floor=least_spread(series[0]))


def _silent(state: State, rules: Sequence[Rule], window: Window, views: Sequence[_View], gap: int) -> list[Found]:
    """Return silent agents, or zones of them, as causes. What fires on their paths is a consequence, left out."""
    found: list[Found] = []
    for rule in rules:
        looked: Flags = np.ones(window.keys.size, np.bool_)
        if rule.scope is not None:
            looked = np.asarray(rule.scope.any(axis=1), np.bool_)
        rule_state = _rule_state(state, rule.id, (window.keys.size,))
        rule_state.step(window.silent & looked, looked, rule.m_of_n(window.window_s), gap)
        gone = rule_state.firing
        if not gone.any():
            continue
        for culprit, members in _silent_culprits(gone, window.zone_of):
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
            ago = int(np.bitwise_count(rule_state.hits[gone]).max())
            found.append(Found(Cause((best,), cells), {rule.id: max(1, cells.size)}, rule.severity, ago))
    return found


def _silent_culprits(gone: Flags, zone_of: Ints) -> list[tuple[Culprit, int]]:
    if gone.size > 3 and gone.mean() >= _ZONE_SHARE and np.unique(zone_of[gone]).size > 1:
        return [(Culprit(Suspect.MESH, 0), int(gone.sum()))]
    members, silent = (np.bincount(one, minlength=int(zone_of.max()) + 1) for one in (zone_of, zone_of[gone]))
    zones = (silent > 1) & (silent >= _ZONE_SHARE * members)
    found = [(Culprit(Suspect.ZONE, at), int(silent[at])) for at in np.flatnonzero(zones).tolist()]
    return found + [(Culprit(Suspect.AGENT, at), 1) for at in np.flatnonzero(gone & ~zones[zone_of]).tolist()]


def _grouped(views: Sequence[_View], signed: Floats | None, window: Window, state: State) -> tuple[list[Found], int]:
    """Causes of what fires on paths: those that see directions apart first, then what they leave unexplained."""
    shape = (window.keys.size,) * 2
    gone = window.values(Metric.LOSS, Statistic.MEAN) >= _GONE
    explained: list[Cause] = []
    for chosen in (
        [view for view in views if view.rule.condition.directed],
        [view for view in views if not view.rule.condition.directed],
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
        picture = Picture(
            firing, bad, known, signed if chosen[0].rule.condition.directed else None, gone, window.zone_of
        )
        explained += [_of_clock(cause) if clock else cause for cause in root_cause.causes(picture)]
    found: list[Found] = []
    alone = 0
    for cause in explained:
        rules = _firing_rules(views, cause)
        if not rules:
            alone += cause.cells.size
            continue
        severity = max((view.rule.severity for view in views if view.rule.id in rules), key=SEVERITIES.index)
        ago = max(_seen_for(view.rule_state, cause.cells) for view in views if view.rule.id in rules)
        found.append(Found(cause, rules, severity, ago))
    return found, alone


def _of_clock(cause: Cause) -> Cause:
    """Return the cause with the clock as culprit, where the firing metric is the clock error of a VM."""
    best = cause.hypotheses[0]
    if best.culprit.suspect not in (Suspect.VM, Suspect.EGRESS, Suspect.INGRESS):
        return cause
    clock = Hypothesis(Culprit(Suspect.CLOCK, best.culprit.at), best.score, best.bad, best.known)
    return Cause((clock, *cause.hypotheses[1:]), cause.cells)


def _firing_rules(views: Sequence[_View], cause: Cause) -> dict[str, int]:
    """Return the rules that fire on paths of a cause and are seen by enough VMs, with the number of paths each."""
    found = {}
    for view in views:
        own = cause.cells[view.firing.reshape(-1)[cause.cells]]
        fewest = max(1, view.rule.sources_min)
        # No more VMs than paths: most causes are of one path, which is told without counting them.
        if own.size >= fewest and (fewest == 1 or sources(own, view.firing.shape[0]) >= fewest):
            found[view.rule.id] = int(own.size)
    return found


def _seen_for(rule_state: RuleState, cells: Ints) -> int:
    """Windows since most of these paths were first in breach."""
    hits = rule_state.hits.reshape(-1)[cells]
    hits = hits[hits > 0]
    return int(np.median(np.ceil(np.log2(hits.astype(np.float64) + 1)))) if hits.size else 1


def _applications(state: State, rules: Sequence[Rule], window: Window, gap: int) -> list[Found]:
    found = []
    names = sorted(window.below)
    below = np.array([window.below[name] for name in names], np.float64)
    for rule in rules:
        for at, name in enumerate(names):
            rule_state = _rule_state(state, f"{rule.id}/{name}", (1,))
            known = np.isfinite(below[at : at + 1])
            breach: Flags = below[at : at + 1] > rule.condition.above
            rule_state.step(breach & known, known, rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                # Which one it is its name says, not its place among those of this window.
                best = Hypothesis(Culprit(Suspect.APPLICATION, 0), 1.0, 1, 1)
                ago = _seen_for(rule_state, np.zeros(1, np.int64))
                cause = Cause((best,), np.zeros(0, np.int64))
                found.append(Found(cause, {rule.id: 1}, rule.severity, ago, name))
    return found
