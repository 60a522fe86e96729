"""Groups of paths of a mesh that rotates: one VM's paths out, its paths in, the paths from one zone to another.

With turns, a path is seen in few windows, and a fault of a VM shows on other paths in each window. So M of N is also
counted for groups: a window of a group is a breach if most of its measured paths are in breach. When a group fires, its
paths in breach in this window fire. No value is estimated: only measured paths count.
"""

import numpy as np

from sinemora.alerts.evaluation.baseline import Flags, Ints
from sinemora.alerts.evaluation.m_of_n import MOfN, RuleState
from sinemora.alerts.evaluation.rule import Rule

SUFFIX = "groups"
"""Name of the state of a rule's groups, behind the rule's id and a slash."""
_MOST = 0.6


def size_of(zone_of: Ints) -> int:
    """Return the number of groups: each VM out and in, and each ordered pair of zones."""
    return 2 * zone_of.size + (int(zone_of.max()) + 1) ** 2


def step(state: RuleState, rule: Rule, m_of_n: MOfN, breach: Flags, known: Flags, zone_of: Ints) -> Flags:
    """Apply a window to the groups of a rule. Return the paths in breach that belong to a firing group.

    `breach` and `known` [source][target]: of the paths measured in this window. A group needs at least two of them, or
    as many as VMs must see the breach.
    """
    fewest = max(2, rule.sources_min)
    bad, seen = _counts(breach, zone_of), _counts(known, zone_of)
    enough = seen >= fewest
    # Windows in which too few of its paths had a turn are no windows of a group.
    state.step(enough & (bad >= _MOST * seen) & (bad >= fewest), enough, m_of_n, active=enough)
    firing = state.firing
    size = zone_of.size
    zones = int(zone_of.max()) + 1
    between = firing[2 * size :].reshape(zones, zones)[np.ix_(zone_of, zone_of)]
    inside: Flags = firing[:size, None] | firing[None, size : 2 * size] | between
    return inside & breach


def _counts(paths: Flags, zone_of: Ints) -> Ints:
    """Return the number of paths by group."""
    starts = np.flatnonzero(np.diff(zone_of, prepend=-1))
    between = np.add.reduceat(np.add.reduceat(paths.astype(np.int64), starts, axis=0), starts, axis=1)
    zones = int(zone_of.max()) + 1
    whole = np.zeros((zones, zones), np.int64)
    whole[np.ix_(zone_of[starts], zone_of[starts])] = between
    return np.concatenate([paths.sum(axis=1), paths.sum(axis=0), whole.reshape(-1)]).astype(np.int64)
