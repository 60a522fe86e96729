"""Window of a mesh, state between windows, and what path rules observe in a window."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sinemora.alerts.evaluation.baseline import Baseline, Counts, Flags, Floats, Ints
from sinemora.alerts.evaluation.breach import BreachHistory, Seasons, Values
from sinemora.alerts.evaluation.host import HostEvidence
from sinemora.alerts.evaluation.loss_counts import LossCounts
from sinemora.alerts.evaluation.m_of_n import RuleState
from sinemora.alerts.evaluation.recurring import Recurring
from sinemora.alerts.evaluation.rule import Condition, Kind, Rule
from sinemora.alerts.evaluation.settling import Learning, settled
from sinemora.measurements.aggregate.fairness import FlowShares
from sinemora.measurements.aggregate.matrix import Metric, Statistic
from sinemora.measurements.token_buckets.tokens import Bucket, TokenForecast

CURRENT_SHARE = 0.5
"""A cause is current if this share of its paths has data in the window; the windows of a mesh are late below it."""

Series = tuple[Metric, Statistic]
BucketForecast = tuple[Bucket, TokenForecast]
PacketCounts = Callable[[], tuple[Floats, Floats]]
"""Packets sent and lost in a window, by path [source][target]; NaN where unknown."""


def _no_season(*_: object) -> None:
    """Return None: earlier weeks are unknown."""


@dataclass(frozen=True, slots=True)
class EvaluationWindow:
    """One window of a mesh.

    `keys`: the VMs of its axis. `silent`: VMs whose agent should have reported and has not. `below`: distance of each
    application below its objective (NaN: unknown). `seasons`: usual values at its hour of the week. `packets`: packets
    sent and lost; None if unknown. `active`: paths whose turn this window is, in a mesh that rotates with `period`
    windows; None: all. A path counts only the windows that are its turn. `settling`: windows with data that a path
    needs before rules count it. `buckets`: token buckets by VM key, with the tokens left by recent traffic.
    `burn_rates`: use of the budget of each contract over some seconds, as a multiple of even use (NaN: unknown).
    `performances`: predicted performance of each application (NaN: unknown). `flows`: shares of the flows of paths with
    several; None if unknown. `hosts`: waits on each member in the last minute; None if unknown.
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
    performances: Mapping[str, float] = field(default_factory=dict)
    burn_rates: Callable[[int], Mapping[str, float]] = lambda _: {}
    flows: Callable[[], FlowShares] | None = None
    hosts: Callable[[], Sequence[HostEvidence | None]] | None = None


@dataclass(slots=True)
class EvaluationState:
    """State of a mesh between windows: the axis of VM keys, baselines, rule states.

    `rises`: baselines of the largest delay above the median, for spikes. `loss_counts`: packets by the time, in
    seconds, over which rules count them. `ages`: windows with data of each path (`settling.py`). `recurring`: tests of
    breaches that recur, by rule.
    """

    keys: Ints
    ended_at_s: int | None = None
    baselines: dict[Series, Baseline] = field(default_factory=dict)
    rule_states: dict[str, RuleState] = field(default_factory=dict)
    rises: dict[Metric, Baseline] = field(default_factory=dict)
    loss_counts: dict[int, LossCounts] = field(default_factory=dict)
    ages: Counts = field(default_factory=lambda: np.zeros((0, 0), np.uint16))
    recurring: dict[str, Recurring] = field(default_factory=dict)

    def settled(self, window: EvaluationWindow) -> Flags:
        """Return the mask of paths that rules count in a window."""
        return np.ones(window.planned.shape, np.bool_) if not window.settling else settled(self.ages, window.settling)

    def of(self, at: int) -> "EvaluationState":
        """Return baselines and ages of one of several stacked meshes, in the same memory, with no other state."""
        baselines = {series: one.of(at) for series, one in self.baselines.items()}
        return EvaluationState(self.keys, baselines=baselines, ages=self.ages[at])

    def history(
        self, condition: Condition, window: EvaluationWindow, shared: dict[Series, dict[str, Floats]] | None = None
    ) -> BreachHistory:
        """Return the earlier windows that a condition compares this one with; of no path if none are known.

        `shared`: deviations of this window that other conditions have computed, by series.
        """
        series = (condition.metric, condition.statistic)
        baseline = condition.kind is Kind.BASELINE
        return BreachHistory(
            self.baselines.get(series) if baseline else None,
            window.seasons(*series) if baseline else None,
            self.rises.get(condition.metric),
            self.loss_counts.get(condition.over_s),
            window.zone_of,
            {} if shared is None else shared.setdefault(series, {}),
        )

    def rule_state(self, id: str, shape: tuple[int, ...]) -> RuleState:
        """Return the state of a rule, or of what it applies to; an empty one if there is none of this shape."""
        rule_state = self.rule_states.get(id)
        if rule_state is None or rule_state.hits.shape != shape:
            rule_state = self.rule_states[id] = RuleState.new(shape)
        return rule_state


@dataclass(slots=True)
class RuleView:
    """A path rule in this window. `bad` and `known` of a path without data are those of its last window with data."""

    rule: Rule
    rule_state: RuleState
    firing: Flags
    bad: Flags
    known: Flags

    @property
    def is_spike(self) -> bool:
        """Return whether the rule is about spikes, or single windows that recur."""
        return self.rule.condition.kind is Kind.SPIKE or self.rule.condition.recurs

    def of(self, at: int) -> "RuleView":
        """Return the view of one of several stacked meshes."""
        return RuleView(self.rule, self.rule_state.of(at), self.firing[at], self.bad[at], self.known[at])


@dataclass(frozen=True, slots=True)
class Observed:
    """Result of the path rules in one window of a mesh, from which causes are found.

    `gap`: windows since the last one. `views`: path rules. `signed`: deviations of one-way delays.
    """

    gap: int
    views: "list[RuleView]"
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
