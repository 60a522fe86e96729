"""Evaluate a window of a mesh under all its rules, for all paths at once. Deterministic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sinemora.alerts.evaluation import groups, root_cause
from sinemora.alerts.evaluation.baseline import SHORT, Baseline, Counts, Flags, Floats, Ints, rearranged
from sinemora.alerts.evaluation.breach import History, Seasons, Values, breaches_of, least_spread, magnitude, rise_of
from sinemora.alerts.evaluation.loss_counts import LossCounts
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, PathEvidence, Suspect
from sinemora.alerts.evaluation.rule import PER_PATH, SEVERITIES, Condition, Kind, Rule, Severity, Symptom, sources
from sinemora.alerts.evaluation.rule_state import RuleState
from sinemora.alerts.evaluation.settling import Learning, aged, learning, rested, settled
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of
from sinemora.measurements.token_buckets.tokens import Bucket, Forecast

# From this share of silent VMs, the suspect is their zone (or the mesh).
_ZONE_SHARE = 0.6
_LOST = 0.99
# A cause is current if this share of its paths has data in the window; a window is late if fewer of all paths have.
_CURRENT_SHARE = 0.5
_LOSS_LEAST = np.float32(0.1)

Series = tuple[Metric, Statistic]
BucketForecast = tuple[Bucket, Forecast]
PacketCounts = Callable[[], tuple[Floats, Floats]]
"""Packets sent and lost in a window, by path [source][target]; NaN where unknown."""


def _no_season(*_: object) -> None:
    """Return None: earlier weeks are unknown."""


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a mesh.

    `keys`: the VMs of its axis. `silent`: VMs whose agent should have reported and has not. `below`: distance of
    each application below its objective (NaN: unknown). `seasons`: usual values at its hour of the week. `packets`:
    packets sent and lost; None if unknown. `active`: paths whose turn this window is, in a mesh that rotates with
    `period` windows; None: all. A path counts only the windows that are its turn. `settling`: windows with data that
    a path needs before rules count it. `buckets`: token buckets by VM key, with the tokens left by recent traffic.
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
    packets: PacketCounts | None = None
    active: Flags | None = None
    period: int = 1
    settling: int = 0
    buckets: Mapping[int, BucketForecast] = field(default_factory=dict)


@dataclass(slots=True)
class EvaluationState:
    """State of a mesh between windows: the axis of VM keys, baselines, rule states.

    `rises`: baselines of the largest delay above the median, for spikes. `loss_counts`: packets by the time, in
    seconds, over which rules count them. `ages`: windows with data of each path (`settling.py`).
    """

    keys: Ints
    ended_at_s: int | None = None
    baselines: dict[Series, Baseline] = field(default_factory=dict)
    rule_states: dict[str, RuleState] = field(default_factory=dict)
    rises: dict[Metric, Baseline] = field(default_factory=dict)
    loss_counts: dict[int, LossCounts] = field(default_factory=dict)
    ages: Counts = field(default_factory=lambda: np.zeros((0, 0), np.uint16))

    def settled(self, window: Window) -> Flags:
        """Return the mask of paths that rules count in a window."""
        return np.ones(window.planned.shape, np.bool_) if not window.settling else settled(self.ages, window.settling)

    def of(self, at: int) -> "EvaluationState":
        """Return the baselines of one of several stacked meshes, in the same memory, with no other state."""
        return EvaluationState(self.keys, baselines={series: one.of(at) for series, one in self.baselines.items()})

    def history(self, condition: Condition, window: Window) -> History:
        """Return the earlier windows that a condition compares this one with; of no path if none are known."""
        series = (condition.metric, condition.statistic)
        baseline = condition.kind is Kind.BASELINE
        return History(
            self.baselines.get(series) if baseline else None,
            window.seasons(*series) if baseline else None,
            self.rises.get(condition.metric),
            self.loss_counts.get(condition.over_s),
            window.zone_of,
        )


@dataclass(frozen=True, slots=True)
class Detection:
    """A cause with its firing rules: rule ids with their number of paths, highest severity.

    `windows_ago`: age of the first breach in windows, at most 16. `application`: the one below its objective, if the
    rule is about performance. `spikes`: only rules about spikes fire. `sharp`: critical, or far worse than other paths.
    `symptoms`: those of its rules. `current`: most of its paths have data in this window, or it needs none.
    """

    cause: Cause
    rules: dict[str, int]
    severity: Severity
    windows_ago: int
    application: str | None = None
    spikes: bool = False
    sharp: bool = False
    symptoms: frozenset[Symptom] = frozenset()
    current: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of evaluating a window; `alone`: firing paths that too few VMs see for their rules."""

    detections: list[Detection]
    firing: int
    alone: int
    learning: Learning = field(default_factory=Learning)


@dataclass(frozen=True, slots=True)
class Observed:
    """Result of the path rules in one window of a mesh, from which causes are found.

    `gap`: windows since the last one. `views`: path rules. `signed`: deviations of one-way delays.
    """

    gap: int
    views: "list[_RuleView]"
    signed: Floats | None
    learnt: Learning

    def firing(self) -> Flags:
        """Return whether any rule fires: one flag for each stacked mesh, else one in all."""
        axes = (-2, -1)
        shape = self.views[0].firing.shape[:-2] if self.views else ()
        found = [view.firing.any(axis=axes) for view in self.views] or [np.zeros(shape, np.bool_)]
        fires: Flags = np.logical_or.reduce(found)
        return fires

    def of(self, at: int) -> "Observed":
        """Return the result of one of several stacked meshes."""
        signed = None if self.signed is None else self.signed[at]
        return Observed(self.gap, [view.of(at) for view in self.views], signed, self.learnt)


def step(state: EvaluationState, rules: Sequence[Rule], window: Window) -> Evaluation:
    """Evaluate a window and update `state`. Windows come in order; a missed one counts as missing data."""
    return conclude(state, rules, window, observe(state, rules, window))


def observe(state: EvaluationState, rules: Sequence[Rule], window: Window) -> Observed:
    """Apply the path rules to a window and learn from it: the part of `step` that judges each path by itself.

    Meshes with the same axis and zones can be stacked: then `planned`, the values and the state have a leading axis.
    """
    _rearrange(state, window.keys)
    gap = 1
    if state.ended_at_s is not None:
        gap = max(1, round((window.ended_at_s - state.ended_at_s) / window.window_s))
    state.ended_at_s = window.ended_at_s
    ids = {rule.id for rule in rules}
    state.rule_states = {id: rule_state for id, rule_state in state.rule_states.items() if id.split("/")[0] in ids}
    on_paths = [rule for rule in rules if rule.condition.kind in PER_PATH]
    _prepare(state, on_paths, window)
    _rest(state, window, gap)
    counted = state.settled(window)
    _count(state, window)
    views = [_paths(state, rule, window, gap, counted) for rule in on_paths]
    signed = _signed(state, window)
    _learn(state, on_paths, window)
    learnt = learning(window.planned, counted, state.ages, _short_baseline(state))
    _age(state, window)
    return Observed(gap, views, signed, learnt)


def conclude(state: EvaluationState, rules: Sequence[Rule], window: Window, observed: Observed) -> Evaluation:
    """Return the causes of what was observed in a window of one mesh. Rules fire that judge no path by itself."""
    views, gap = observed.views, observed.gap
    detections = _silent(state, [rule for rule in rules if rule.condition.kind is Kind.SILENT], window, views, gap)
    grouped, alone = _grouped(views, observed.signed, window, state)
    detections += grouped
    if not observed.learnt.settles:
        on_performance = [rule for rule in rules if rule.condition.kind is Kind.PERFORMANCE]
        detections += _applications(state, on_performance, window, gap)
    detections += _buckets(state, [rule for rule in rules if rule.condition.kind is Kind.TOKENS], window, gap)
    firing = sum(int(np.count_nonzero(view.rule_state.firing)) for view in views)
    return Evaluation(detections, firing, alone, observed.learnt)


def amend(state: EvaluationState, rules: Sequence[Rule], window: Window) -> None:
    """Apply a late window at its place in time; it counts from the next `step` on."""
    if state.ended_at_s is None or not np.array_equal(state.keys, window.keys):
        return
    age = round((state.ended_at_s - window.ended_at_s) / window.window_s)
    if age >= 0:
        _count(state, window)
    for rule in rules:
        condition, rule_state = rule.condition, state.rule_states.get(rule.id)
        if condition.kind not in PER_PATH or rule_state is None or age < 0:
            continue
        if condition.kind is Kind.LOSS:
            continue  # judged from the counts, which the late window is added to
        history = state.history(condition, window)
        if condition.kind is Kind.BASELINE and history.baseline is None:
            continue
        breaches = breaches_of(condition, window.values, history)
        in_scope = window.planned if rule.scope is None else window.planned & rule.scope
        if window.active is not None and age > 0:
            continue  # the bits of a path are its turns, not the last windows: the late one has no place among them
        in_scope = in_scope & state.settled(window)
        rule_state.amend(breaches.breach & in_scope, breaches.known & in_scope, age)


@dataclass(slots=True)
class _RuleView:
    """A path rule in this window. `bad` and `known` of a path without data are those of its last window with data."""

    rule: Rule
    rule_state: RuleState
    firing: Flags
    bad: Flags
    known: Flags

    @property
    def is_spike(self) -> bool:
        """Return whether the rule is about spikes."""
        return self.rule.condition.kind is Kind.SPIKE

    def of(self, at: int) -> "_RuleView":
        """Return the view of one of several stacked meshes."""
        return _RuleView(self.rule, self.rule_state.of(at), self.firing[at], self.bad[at], self.known[at])


def _rearrange(state: EvaluationState, keys: Ints) -> None:
    """Rearrange the state to the axis of this window."""
    if np.array_equal(state.keys, keys):
        return
    positions, size = positions_of(state.keys, keys), state.keys.size
    state.baselines = {series: one.rearranged(positions) for series, one in state.baselines.items()}
    state.rule_states = {
        id: one.rearranged(positions) if one.hits.shape[0] == size else one
        for id, one in state.rule_states.items()
        if not id.endswith(f"/{groups.SUFFIX}")
    }
    state.rises = {metric: one.rearranged(positions) for metric, one in state.rises.items()}
    state.loss_counts = {over_s: one.rearranged(positions) for over_s, one in state.loss_counts.items()}
    if state.ages.shape[0] == size:
        state.ages = rearranged(state.ages, positions)
    state.keys = keys.copy()


def _prepare(state: EvaluationState, rules: Sequence[Rule], window: Window) -> None:
    """Create what rules remember of earlier windows, and drop what no rule needs."""
    shape = window.planned.shape
    if state.ages.shape != shape:
        state.ages = np.zeros(shape, np.uint16)
    for condition in (rule.condition for rule in rules):
        series = (condition.metric, condition.statistic)
        if condition.kind is Kind.BASELINE and series not in state.baselines:
            state.baselines[series] = Baseline.new(shape)
        elif condition.kind is Kind.SPIKE and condition.metric not in state.rises:
            state.rises[condition.metric] = Baseline.new(shape)
        elif condition.kind is Kind.LOSS and condition.over_s not in state.loss_counts:
            state.loss_counts[condition.over_s] = LossCounts.new(*shape)
    metrics = {rule.condition.metric for rule in rules if rule.condition.kind is Kind.SPIKE}
    spans = {rule.condition.over_s for rule in rules if rule.condition.kind is Kind.LOSS}
    state.rises = {metric: one for metric, one in state.rises.items() if metric in metrics}
    state.loss_counts = {over_s: one for over_s, one in state.loss_counts.items() if over_s in spans}


def _count(state: EvaluationState, window: Window) -> None:
    """Add the packets of a window to those of earlier ones, except those of paths that still settle."""
    if window.packets is None or not state.loss_counts:
        return
    sent, lost = window.packets()
    if window.settling:
        counted = state.settled(window)
        sent, lost = (np.where(counted, one, np.float32(np.nan)) for one in (sent, lost))
    for over_s, counts in state.loss_counts.items():
        counts.add(sent, lost, window.ended_at_s, over_s)


def _rule_state(state: EvaluationState, id: str, shape: tuple[int, ...]) -> RuleState:
    rule_state = state.rule_states.get(id)
    if rule_state is None or rule_state.hits.shape != shape:
        rule_state = state.rule_states[id] = RuleState.new(shape)
    return rule_state


def _rest(state: EvaluationState, window: Window, gap: int) -> None:
    """Make paths younger by the windows that were missed since the last one."""
    if window.settling:
        state.ages = rested(state.ages, window.settling, (gap - 1) // window.period)


def _age(state: EvaluationState, window: Window) -> None:
    """Count this window for the age of each path. A window that lost every packet has data."""
    if window.settling:
        state.ages = aged(state.ages, np.isfinite(window.values(Metric.LOSS, Statistic.MEAN)), window.active)


def _short_baseline(state: EvaluationState) -> Baseline | None:
    """Return the baseline of one-way delays, by its first statistic."""
    known = (one for (metric, _), one in state.baselines.items() if metric is Metric.ONE_WAY_DELAY)
    return next(known, None)


def _paths(state: EvaluationState, rule: Rule, window: Window, gap: int, counted: Flags) -> _RuleView:
    condition = rule.condition
    breaches = breaches_of(condition, window.values, state.history(condition, window))
    in_scope = window.planned if rule.scope is None else window.planned & rule.scope
    known = breaches.known & in_scope & counted
    breach, bad = breaches.breach & known, breaches.bad & known
    rule_state = _rule_state(state, rule.id, window.planned.shape)
    m_of_n = rule.m_of_n(window.window_s * window.period)
    if window.active is not None:  # a turn later is later than most times to keep firing
        m_of_n = replace(m_of_n, keep=rule.keep_firing_s // (window.window_s * window.period))
    rule_state.step(breach, known, m_of_n, gap, window.active)
    if not in_scope.all():
        outside = rule_state.firing & ~in_scope
        if outside.any():
            rule_state.clear(outside)
    firing = rule_state.firing.copy()
    if window.active is None:
        held, held_bad = rule_state.held(_late(known, in_scope & counted))
        known, bad = known | held, bad | held_bad
    else:
        # A path whose last turn was good may be well for long before M of N have left its few windows.
        firing &= (rule_state.hits & 1).astype(np.bool_)
        of_groups = _rule_state(state, f"{rule.id}/{groups.SUFFIX}", (groups.size_of(window.zone_of),))
        firing |= groups.step(of_groups, rule, rule.m_of_n(window.window_s), breach, known, window.zone_of)
    return _RuleView(rule, rule_state, firing, bad, known)


def _late(known: Flags, expected: Flags) -> Flags:
    """Return the expected paths without data, if they are most: their windows are late, or reports are not received.

    Then the last windows with data are evidence: else nearly all that is known would be what fires. A few paths without
    data are those of agents that are gone, whose earlier windows say nothing about now.
    """
    axes = (-2, -1)
    missing = expected & ~known
    most = missing.sum(axis=axes) > (1 - _CURRENT_SHARE) * expected.sum(axis=axes)
    late: Flags = missing & np.asarray(most)[..., None, None]
    return late


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
    for condition in {
        rule.condition.metric: rule.condition for rule in rules if rule.condition.kind is Kind.SPIKE
    }.values():
        state.rises[condition.metric].learn(rise_of(condition, window.values))


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
            sharp = rule.severity is Severity.CRITICAL
            count = max(1, cells.size)
            cause, symptoms = Cause((best,), cells), frozenset((Symptom.SILENCE,))
            detections.append(Detection(cause, {rule.id: count}, rule.severity, ago, sharp=sharp, symptoms=symptoms))
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
                explained[at] = replace(cause, cells=np.union1d(cause.cells, np.flatnonzero(follows)))
                firing &= ~follows
        for cause in _sharp(chosen, PathEvidence(firing, bad, known, signed, lost, window.zone_of), window, state):
            explained.append(cause)
            inside = root_cause.explains(cause.culprit, window.zone_of)
            for mask in (firing, bad, known):
                mask &= ~inside
        clock = all(view.rule.condition.metric is Metric.CLOCK_ERROR for view in chosen if view.firing.any())
        evidence = PathEvidence(
            firing, bad, known, signed if chosen[0].rule.condition.directed else None, lost, window.zone_of
        )
        explained += [_of_clock(cause) if clock else cause for cause in root_cause.causes(evidence)]
    detections: list[Detection] = []
    alone = 0
    data = _has_data(views, window).reshape(-1) if explained else np.zeros(0, np.bool_)
    for cause in explained:
        rules = _firing_rules(views, cause)
        if not rules:
            alone += cause.cells.size
            continue
        severity = max((view.rule.severity for view in views if view.rule.id in rules), key=SEVERITIES.index)
        ago = max(_seen_for(view.rule_state, cause.cells) for view in views if view.rule.id in rules)
        spikes = all(view.is_spike for view in views if view.rule.id in rules)
        sharp = cause.sharp or severity is Severity.CRITICAL
        symptoms = frozenset(view.rule.condition.symptom for view in views if view.rule.id in rules)
        current = window.active is not None or bool(data[cause.cells].mean() >= _CURRENT_SHARE)
        detections.append(
            Detection(cause, rules, severity, ago, spikes=spikes, sharp=sharp, symptoms=symptoms, current=current)
        )
    return detections, alone


def _has_data(views: Sequence[_RuleView], window: Window) -> Flags:
    """Return the paths with data in a window: of their loss, or of a series that a firing rule compares."""
    series = {(Metric.LOSS, Statistic.MEAN)}
    for condition in (view.rule.condition for view in views if view.firing.any()):
        series.add((condition.metric, Statistic.P50 if condition.kind is Kind.SPIKE else condition.statistic))
    data: Flags = np.logical_or.reduce([np.isfinite(window.values(*each)) for each in series])
    return data


def _sharp(views: Sequence[_RuleView], evidence: PathEvidence, window: Window, state: EvaluationState) -> list[Cause]:
    """Return the causes of paths far worse than others: under critical rules, or by much more delay or loss."""
    if not views[0].rule.condition.directed or views[0].is_spike:
        return []
    critical = np.zeros(evidence.firing.shape, np.bool_)
    for view in views:
        if view.rule.severity is Severity.CRITICAL:
            critical |= view.firing & evidence.firing
    # Paths with heavy loss stand out among slow ones; one lost packet of ten is chance.
    strengths = [np.fmax(window.values(Metric.LOSS, Statistic.MEAN), _LOSS_LEAST)]
    for (metric, statistic), baseline in state.baselines.items():
        if metric is Metric.ONE_WAY_DELAY and statistic is Statistic.P50:
            strengths.append(np.nan_to_num(window.values(metric, statistic) - baseline.level[SHORT]))
    # Paths that have recovered and still fire differ by noise alone.
    sharp = critical | root_cause.standing_out(evidence.firing & evidence.bad, strengths)
    if not sharp.any() or not (evidence.firing & ~sharp).any():
        return []
    return root_cause.sharp_causes(evidence, sharp)


def _of_clock(cause: Cause) -> Cause:
    """Return the cause with the clock as culprit, where the firing metric is the clock error of a VM."""
    best = cause.hypotheses[0]
    if best.culprit.suspect not in (Suspect.VM, Suspect.EGRESS, Suspect.INGRESS):
        return cause
    clock = Hypothesis(Culprit(Suspect.CLOCK, best.culprit.at), best.score, best.bad, best.known)
    return replace(cause, hypotheses=(clock, *cause.hypotheses[1:]))


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
                symptoms = frozenset((Symptom.PERFORMANCE,))
                detections.append(Detection(cause, {rule.id: 1}, rule.severity, ago, name, symptoms=symptoms))
    return detections


def _buckets(state: EvaluationState, rules: Sequence[Rule], window: Window, gap: int) -> list[Detection]:
    """Return the token buckets that will be empty within the time of a rule, or are; one for each VM."""
    detections = []
    for at, key in enumerate(window.keys.tolist()):
        if key not in window.buckets:
            continue
        empty_in_s = window.buckets[key][1].empty_in_s
        firing: dict[Rule, RuleState] = {}
        for rule in rules:
            in_scope = rule.scope is None or bool(rule.scope[at].any() or rule.scope[:, at].any())
            breach = in_scope and empty_in_s is not None and empty_in_s <= rule.condition.within_s
            rule_state = _rule_state(state, f"{rule.id}/{key}", (1,))
            rule_state.step(np.array([breach]), np.array([in_scope]), rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                firing[rule] = rule_state
        if firing:
            cause = Cause((Hypothesis(Culprit(Suspect.BUCKET, at), 1.0, 1, 1),), np.zeros(0, np.int64))
            severity = max((rule.severity for rule in firing), key=SEVERITIES.index)
            ago = max(_seen_for(rule_state, np.zeros(1, np.int64)) for rule_state in firing.values())
            symptoms = frozenset((Symptom.TOKENS,))
            detections.append(Detection(cause, {rule.id: 1 for rule in firing}, severity, ago, symptoms=symptoms))
    return detections
