"""Fairness in a window: Jain's index of the shares of VMs, applications, or the flows of each path."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinemora.alerts.evaluation.baseline import Flags
from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.evaluation.rule import Among, Rule
from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.measurements.aggregate.fairness import Shares, jain_index, vm_shares
from sinemora.measurements.aggregate.matrix import Metric, Statistic, positions_of

SUSPECTS = {
    Among.VMS: Suspect.VM_SHARES,
    Among.APPLICATIONS: Suspect.APPLICATION_SHARES,
    Among.FLOWS: Suspect.FLOW_SHARES,
}


@dataclass(frozen=True, slots=True)
class Uneven:
    """Members with their shares in a window, NaN where unknown.

    `shares`: by position of a VM, name of an application, or source port of the path `ends` (positions of its VMs).
    """

    among: Among
    index: float
    shares: dict[int | str, float]
    ends: tuple[int, int] | None = None


def indices(rule: Rule, window: EvaluationWindow, counted: Flags) -> npt.NDArray[np.float64]:
    """Return the index of a window, NaN below two members with a share: shape (1,); of flows by path [source][target].

    `counted`: paths that rules count.
    """
    size = window.keys.size
    if rule.condition.among is not Among.FLOWS:
        known = [share for share in _members(rule, window, counted).values() if np.isfinite(share)]
        index = jain_index(known) if len(known) > 1 else None
        return np.array([np.nan if index is None else index])
    by_path = np.full((size, size), np.nan)
    if window.flows is not None:
        flows = window.flows()
        at, other = (positions_of(window.keys, keys) for keys in (flows.clients, flows.targets))
        inside = (at >= 0) & (other >= 0)
        by_path[at[inside], other[inside]] = by_path[other[inside], at[inside]] = flows.indices()[inside]
    by_path[~in_scope(rule, counted)] = np.nan
    return by_path


def uneven(rule: Rule, window: EvaluationWindow, cells: npt.NDArray[np.int64]) -> Uneven | None:
    """Return the members that a rule compares in a window; of flows those of the least even path of `cells` (flat)."""
    among = rule.condition.among
    index = indices(rule, window, window.planned)
    if among is not Among.FLOWS:
        return Uneven(among, float(index[0]), _members(rule, window, window.planned)) if np.isfinite(index[0]) else None
    known = cells[np.isfinite(index.flat[cells])]
    if not known.size or window.flows is None:
        return None
    worst = int(known[np.argmin(index.flat[known])])
    ends, flows = divmod(worst, window.keys.size), window.flows()
    keys = {int(window.keys[end]) for end in ends}
    pair = next(
        at
        for at, pair in enumerate(zip(flows.clients.tolist(), flows.targets.tolist(), strict=True))
        if set(pair) == keys
    )
    return Uneven(among, float(index.flat[worst]), dict(enumerate(flows.of(pair).tolist())), (ends[0], ends[1]))


def _members(rule: Rule, window: EvaluationWindow, counted: Flags) -> dict[int | str, float]:
    """Return the shares of VMs by position, by their paths in the scope of the rule, or of applications by name."""
    if rule.condition.among is Among.APPLICATIONS:
        return {name: share for name, share in window.performances.items()}
    trips = np.where(in_scope(rule, counted), window.values(Metric.ROUND_TRIP, Statistic.P50), np.nan)
    shares: Shares = vm_shares(trips)
    return {at: float(share) for at, share in enumerate(shares)}


def in_scope(rule: Rule, counted: Flags) -> Flags:
    """Return the mask of paths that a rule compares, in both directions of a pair."""
    scope: Flags = counted if rule.scope is None else counted & rule.scope
    return scope | scope.T
