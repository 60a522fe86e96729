"""Evaluate a window of a mesh under all its rules, for all paths at once. Deterministic."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sinemora.alerts.evaluation import groups
from sinemora.alerts.evaluation.baseline import SHORT, Baseline, Flags, Floats, Ints, rearranged
from sinemora.alerts.evaluation.breach import breaches_of, least_spread, magnitude, rise_of
from sinemora.alerts.evaluation.detections import Evaluation, conclude, silent_agents
from sinemora.alerts.evaluation.loss_counts import LossCounts
from sinemora.alerts.evaluation.recurring import Recurring
from sinemora.alerts.evaluation.rule import PER_PATH, Kind, Rule
from sinemora.alerts.evaluation.settling import aged, learning, rested
from sinemora.alerts.evaluation.window import CURRENT_SHARE, EvaluationState, EvaluationWindow, Observed, RuleView
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of


def step(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> Evaluation:
    """Evaluate a window and update `state`. Windows come in order; a missed one counts as missing data."""
    return conclude(state, rules, window, observe(state, rules, window))


def observe(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> Observed:
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
    state.recurring = {id: one for id, one in state.recurring.items() if id in ids}
    on_paths = [rule for rule in rules if rule.condition.kind in PER_PATH]
    _prepare(state, on_paths, window)
    _rest(state, window, gap)
    counted = state.settled(window)
    _count(state, window)
    shared: dict[tuple[Metric, Statistic], dict[str, Floats]] = {}
    views = [_paths(state, rule, window, gap, counted, shared) for rule in on_paths]
    signed = _signed(state, window)
    _learn(state, on_paths, window)
    learnt = learning(window.planned, counted, state.ages, _short_baseline(state))
    _age(state, window)
    return Observed(gap, views, signed, learnt)


def amend(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> bool:
    """Apply a late window at its place in time; it counts from the next `step` on.

    `window` has the paths that came late, and no others. Return whether any of them may have been in breach: then the
    windows around it have to be stepped again, since rules that look at few windows have forgotten its place.
    """
    if state.ended_at_s is None or not np.array_equal(state.keys, window.keys):
        return True
    age = round((state.ended_at_s - window.ended_at_s) / window.window_s)
    if age < 0:
        return True
    _count(state, window)
    breached = False
    for rule in rules:
        condition, rule_state = rule.condition, state.rule_states.get(rule.id)
        if condition.kind not in PER_PATH or rule_state is None:
            continue
        if condition.kind is Kind.LOSS or condition.recurs:
            continue  # judged from counts, not from single windows
        history = state.history(condition, window)
        if condition.kind is Kind.BASELINE and history.baseline is None:
            continue
        breaches = breaches_of(condition, window.values, history)
        in_scope = window.planned if rule.scope is None else window.planned & rule.scope
        breached |= bool((breaches.breach & breaches.known & in_scope).any())
        if window.active is not None and age > 0:
            continue  # the bits of a path are its turns, not the last windows: the late one has no place among them
        in_scope = in_scope & state.settled(window)
        rule_state.amend(breaches.breach & in_scope, breaches.known & in_scope, age)
    return breached


def silence(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> Evaluation:
    """Apply the rules on silent agents alone, while no windows come. The place of the last window stays."""
    _rearrange(state, window.keys)
    return Evaluation(silent_agents(state, rules, window), 0, 0)


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
    state.recurring = {id: one.rearranged(positions) for id, one in state.recurring.items()}
    if state.ages.shape[0] == size:
        state.ages = rearranged(state.ages, positions)
    state.keys = keys.copy()


def _prepare(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> None:
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


def _count(state: EvaluationState, window: EvaluationWindow) -> None:
    """Add the packets of a window to those of earlier ones, except those of paths that still settle."""
    if window.packets is None or not state.loss_counts:
        return
    sent, lost = window.packets()
    if window.settling:
        counted = state.settled(window)
        sent, lost = (np.where(counted, one, np.float32(np.nan)) for one in (sent, lost))
    for over_s, counts in state.loss_counts.items():
        counts.add(sent, lost, window.ended_at_s, over_s)


def _rest(state: EvaluationState, window: EvaluationWindow, gap: int) -> None:
    """Make paths younger by the windows that were missed since the last one."""
    if window.settling:
        state.ages = rested(state.ages, window.settling, (gap - 1) // window.period)


def _age(state: EvaluationState, window: EvaluationWindow) -> None:
    """Count this window for the age of each path. A window that lost every packet has data."""
    if window.settling:
        state.ages = aged(state.ages, np.isfinite(window.values(Metric.LOSS, Statistic.MEAN)), window.active)


def _short_baseline(state: EvaluationState) -> Baseline | None:
    """Return the baseline of one-way delays, by its first statistic."""
    known = (one for (metric, _), one in state.baselines.items() if metric is Metric.ONE_WAY_DELAY)
    return next(known, None)


def _paths(
    state: EvaluationState,
    rule: Rule,
    window: EvaluationWindow,
    gap: int,
    counted: Flags,
    shared: dict[tuple[Metric, Statistic], dict[str, Floats]],
) -> RuleView:
    condition = rule.condition
    breaches = breaches_of(condition, window.values, state.history(condition, window, shared))
    in_scope = window.planned if rule.scope is None else window.planned & rule.scope
    known = breaches.known & in_scope & counted
    breach, bad = breaches.breach & known, breaches.bad & known
    if condition.recurs:
        breach, bad = _recurring(state, rule, window, breach, known)
    rule_state = state.rule_state(rule.id, window.planned.shape)
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
        of_groups = state.rule_state(f"{rule.id}/{groups.SUFFIX}", (groups.size_of(window.zone_of),))
        firing |= groups.step(of_groups, rule, rule.m_of_n(window.window_s), breach, known, window.zone_of)
    return RuleView(rule, rule_state, firing, bad, known)


def _recurring(
    state: EvaluationState, rule: Rule, window: EvaluationWindow, breach: Flags, known: Flags
) -> tuple[Flags, Flags]:
    """Return the paths that are in breach too often, and those that soon may be."""
    recurring = state.recurring.get(rule.id)
    if recurring is None or recurring.score.shape != breach.shape:
        recurring = state.recurring[rule.id] = Recurring.new(breach.shape)
    often, hint = recurring.step(breach, known, rule.condition.over_s, window.window_s * window.period)
    return often & known, hint & known


def _late(known: Flags, expected: Flags) -> Flags:
    """Return the expected paths without data, if they are most: their windows are late, or reports are not received.

    Then the last windows with data are evidence: else nearly all that is known would be what fires. A few paths without
    data are those of agents that are gone, whose earlier windows say nothing about now.
    """
    axes = (-2, -1)
    missing = expected & ~known
    most = missing.sum(axis=axes) > (1 - CURRENT_SHARE) * expected.sum(axis=axes)
    late: Flags = missing & np.asarray(most)[..., None, None]
    return late


def _signed(state: EvaluationState, window: EvaluationWindow) -> Floats | None:
    """Return signed deviations of one-way delays, by the first statistic with a baseline."""
    for metric, statistic in state.baselines:
        if metric is Metric.ONE_WAY_DELAY:
            values = window.values(metric, statistic)
            return state.baselines[metric, statistic].deviations(values, SHORT)
    return None


def _learn(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow) -> None:
    learnt = dict.fromkeys(
        (rule.condition.metric, rule.condition.statistic) for rule in rules if rule.condition.kind is Kind.BASELINE
    )
    for series in learnt:
        state.baselines[series].learn(magnitude(*series, window.values), floor=least_spread(series[0]))
    for condition in {
        rule.condition.metric: rule.condition for rule in rules if rule.condition.kind is Kind.SPIKE
    }.values():
        state.rises[condition.metric].learn(rise_of(condition, window.values))
