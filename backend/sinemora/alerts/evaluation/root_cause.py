"""Root cause of firing paths: egress or ingress of a VM, the VM, a pair of zones, a zone, one path, a clock.

Every suspect explains a set of paths. If it is at fault, most of these paths look bad; if not, few do. The score of a
suspect is the log-likelihood ratio of its paths with it at fault and without (Bernoulli, with the two shares below).
Bad paths in its set raise the score, good paths lower it. The best suspect is chosen with its paths, then the next one
for the remaining paths: each is one cause.

A few paths that are far worse than the others are explained before them: a sick VM in a pair of zones that is a little
slower would otherwise be a part of that pair's incident, because more paths of the pair are bad.

A clock differs from a path by the sign: when the clock of a VM steps, one-way delays in one direction grow by as much
as those in the other direction shrink.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sinemora.alerts.evaluation.baseline import Flags, Floats, Ints

_BAD, _GOOD = 0.8, 0.02
_FOR, _AGAINST = float(np.log(_BAD / _GOOD)), float(np.log((1 - _GOOD) / (1 - _BAD)))
_SIGN = 2.5
_CLOCK_SHARE = 0.6
_CLOCK_BALANCE = 0.5
_PATHS_MAX = 200
CAUSES_MAX = 64
# Ratio of neighbouring strengths that separates paths far worse than others; largest number of their culprits (more of
# them are one uneven event).
_GAP, _SHARP_MAX = 3.0, 3


class Suspect(StrEnum):
    """Kind of suspect. `agent`: the VM, or the agent on it, is down. `host`: the machine of a VM has no time for it.
    `bucket`: the token bucket of a VM.

    `vm_shares`, `application_shares`, `flow_shares`: members of a mesh, or flows of its paths, share it unevenly.
    """

    EGRESS = "egress"
    INGRESS = "ingress"
    VM = "vm"
    ZONE_PAIR = "zone_pair"
    ZONE = "zone"
    PATH = "path"
    PAIR = "pair"
    CLOCK = "clock"
    AGENT = "agent"
    HOST = "host"
    MESH = "mesh"
    APPLICATION = "application"
    BUCKET = "bucket"
    VM_SHARES = "vm_shares"
    APPLICATION_SHARES = "application_shares"
    FLOW_SHARES = "flow_shares"


OF_VM = (Suspect.EGRESS, Suspect.INGRESS, Suspect.VM, Suspect.CLOCK, Suspect.AGENT, Suspect.HOST)
OF_PAIR = (Suspect.PATH, Suspect.PAIR)
OF_ZONES = (Suspect.ZONE, Suspect.ZONE_PAIR)
OF_SHARES = (Suspect.VM_SHARES, Suspect.APPLICATION_SHARES, Suspect.FLOW_SHARES)
WITHOUT_PLACE = (Suspect.MESH, Suspect.APPLICATION, *OF_SHARES)
"""Suspects that are no VM, path or zone."""
# Of two suspects that explain the same paths, the simpler one wins.
_COMPLEXITY = {
    Suspect.PATH: 0.0,
    Suspect.PAIR: 0.3,
    Suspect.EGRESS: 0.5,
    Suspect.INGRESS: 0.5,
    Suspect.ZONE_PAIR: 0.7,
    Suspect.VM: 0.9,
    Suspect.CLOCK: 0.9,
    Suspect.ZONE: 1.2,
    Suspect.MESH: 2.0,
}


@dataclass(frozen=True, slots=True)
class Culprit:
    """A suspect by position: VM or zone `at`; `other` is the target's of a path or pair of zones, else -1."""

    suspect: Suspect
    at: int
    other: int = -1


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A culprit with its evidence: of `known` paths in its set, `bad` look bad."""

    culprit: Culprit
    score: float
    bad: int
    known: int


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a set of firing paths (flat indices), best hypothesis first; `sharp`: far worse than other paths.

    `scattered`: many paths all over the mesh, which have no common place.
    """

    hypotheses: tuple[Hypothesis, ...]
    cells: Ints
    sharp: bool = False
    scattered: bool = False

    @property
    def culprit(self) -> Culprit:
        return self.hypotheses[0].culprit


@dataclass(frozen=True, slots=True)
class PathEvidence:
    """State of all paths [source][target] in a window: firing, bad, and known (with data).

    `signed`: signed deviations of one-way delays, NaN where unknown, None without a baseline. `lost`: nothing
    arrives. `zone_of`: the zone of each VM, ascending.
    """

    firing: Flags
    bad: Flags
    known: Flags
    signed: Floats | None
    lost: Flags
    zone_of: Ints


def causes(evidence: PathEvidence, notified: Flags | None = None) -> list[Cause]:
    """Return the causes of the firing paths, the one that explains most first; every firing path is in exactly one.

    `notified`: paths of which a rule notifies by themselves; None: all. Others have a cause only together.
    """
    size = evidence.zone_of.size
    bad, known, firing = evidence.bad | evidence.firing, evidence.known | evidence.firing, evidence.firing.copy()
    explained_causes: list[Cause] = []
    clocks = _Clocks(evidence.signed, known) if evidence.signed is not None else None
    while firing.any() and len(explained_causes) < CAUSES_MAX:
        # Paths explained by a clock step carry no other information, so they are set aside first.
        ranked = _ranked(firing, bad, known, clocks, evidence.zone_of)
        chosen = next((one for one in ranked if (_cells(one.culprit, evidence.zone_of) & firing).any()), None)
        if chosen is None or chosen.score < _FOR:
            break
        inside = _cells(chosen.culprit, evidence.zone_of)
        cells = np.flatnonzero(inside & firing)
        others = [hypothesis for hypothesis in ranked if hypothesis.culprit != chosen.culprit][:3]
        explained_causes.append(Cause((_or_agent(chosen, cells, evidence.lost), *others), cells))
        if clocks is not None:
            clocks.explain(inside)
        explained = inside & bad
        bad &= ~explained
        known &= ~explained
        firing &= ~inside
    left = np.flatnonzero(firing if notified is None else firing & notified)
    if notified is not None and left.size > _PATHS_MAX:
        whole = Hypothesis(Culprit(Suspect.MESH, 0), _FOR, left.size, int(np.count_nonzero(known)))
        return [*explained_causes, Cause((whole,), left, scattered=True)]
    for at in left.tolist():
        alone = Hypothesis(Culprit(Suspect.PATH, at // size, at % size), _FOR, 1, 1)
        explained_causes.append(Cause((alone,), np.array([at])))
    return explained_causes


def sharp_causes(evidence: PathEvidence, sharp: Flags) -> list[Cause]:
    """Return the causes of paths that are far worse than the other firing ones; none if they have no few causes.

    Each has all firing paths in its set, also those that are less bad.
    """
    found = causes(PathEvidence(sharp, sharp, evidence.known, evidence.signed, evidence.lost, evidence.zone_of))
    found = [cause for cause in found if cause.culprit.suspect is not Suspect.MESH]
    if len(found) > _SHARP_MAX:
        return []
    return [
        Cause(cause.hypotheses, np.flatnonzero(explains(cause.culprit, evidence.zone_of) & evidence.firing), sharp=True)
        for cause in found
    ]


def standing_out(firing: Flags, strengths: Sequence[Floats]) -> Flags:
    """Return the firing paths that are far worse than the others: beyond a gap in the order of a strength.

    A strength (ns of delay, or a ratio) is positive where it is known. Paths with one cause differ by less.
    """
    result = np.zeros(firing.shape, np.bool_)
    for strength in strengths:
        known = firing & (strength > 0)
        ordered = np.sort(strength[known])
        if ordered.size < 4:
            continue
        # Two paths at least on either side: one alone may be noise.
        steps = ordered[2:-1] / ordered[1:-2]
        at = int(np.argmax(steps))
        if steps[at] >= _GAP:
            result |= known & (strength >= ordered[at + 2])
    return result


def explains(culprit: Culprit, zone_of: Ints) -> Flags:
    """Return the mask of paths that a culprit would affect."""
    return _cells(culprit, zone_of)


def following(cause: Cause, firing: Flags, zone_of: Ints) -> Ints:
    """Return the firing paths (flat indices) that a cause explains, in either direction."""
    if cause.scattered or cause.culprit.suspect in OF_PAIR:
        sources, targets = np.divmod(cause.cells, zone_of.size)
        paths = np.union1d(cause.cells, targets * zone_of.size + sources)
        found: Ints = paths[firing.reshape(-1)[paths]]
        return found
    inside = _cells(cause.culprit, zone_of)
    return np.flatnonzero(firing & (inside | inside.T))


def _ranked(firing: Flags, bad: Flags, known: Flags, clocks: "_Clocks | None", zone_of: Ints) -> list[Hypothesis]:
    """Return the best hypotheses of each kind, by score."""
    size, zones = zone_of.size, int(zone_of.max()) + 1
    good = known & ~bad
    rows, columns = (_sums(bad, axis) for axis in (1, 0))
    good_rows, good_columns = (_sums(good, axis) for axis in (1, 0))
    blocks, good_blocks = _blocks(bad, zone_of, zones), _blocks(good, zone_of, zones)
    members = np.bincount(zone_of, minlength=zones)
    cross = blocks.sum(axis=1) + blocks.sum(axis=0) - np.diagonal(blocks)
    good_cross = good_blocks.sum(axis=1) + good_blocks.sum(axis=0) - np.diagonal(good_blocks)
    several = np.outer(members, members) > 1
    np.fill_diagonal(several, zones > 1)  # a mesh within one zone is the mesh
    hypotheses: list[Hypothesis] = []
    hypotheses += _best(Suspect.EGRESS, rows, good_rows, size > 2)
    hypotheses += _best(Suspect.INGRESS, columns, good_columns, size > 2)
    hypotheses += _best(Suspect.VM, rows + columns, good_rows + good_columns, size > 2)
    hypotheses += _best(Suspect.ZONE_PAIR, blocks, good_blocks, several)
    hypotheses += _best(Suspect.ZONE, cross, good_cross, (members > 1) & (zones > 1))
    hypotheses += _best(Suspect.MESH, rows.sum(keepdims=True), good_rows.sum(keepdims=True), size > 3)
    hypotheses += _paths(firing)
    if clocks is not None:
        hypotheses += clocks.ranked()
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)


def _best(suspect: Suspect, bad: Ints, good: Ints, allowed: Flags | bool, most: int = 2) -> list[Hypothesis]:
    score = bad * _FOR - good * _AGAINST - _COMPLEXITY[suspect]
    score = np.where((bad > 1) & allowed, score, -np.inf)
    flat = score.reshape(-1)
    order = np.argsort(-flat, kind="stable")[:most] if flat.size <= 4096 else _top(flat, most)
    width = score.shape[-1]
    hypotheses = []
    for at in order[np.isfinite(flat[order])].tolist():
        culprit = Culprit(suspect, *divmod(at, width)) if score.ndim == 2 else Culprit(suspect, at)
        wrong, right = int(bad.reshape(-1)[at]), int(good.reshape(-1)[at])
        hypotheses.append(Hypothesis(culprit, float(flat[at]), wrong, wrong + right))
    return hypotheses


def _top(scores: npt.NDArray[np.floating], most: int) -> Ints:
    at = np.argpartition(-scores, most)[:most]
    indices: Ints = at[np.argsort(-scores[at], kind="stable")]
    return indices


def _paths(firing: Flags) -> list[Hypothesis]:
    """Return single paths, and pairs that fire in both directions; none if many fire (another kind explains more)."""
    if np.count_nonzero(firing) > _PATHS_MAX:
        return []
    hypotheses = []
    for source, target in zip(*(part.tolist() for part in np.nonzero(firing)), strict=True):
        hypotheses.append(Hypothesis(Culprit(Suspect.PATH, source, target), _FOR, 1, 1))
        if source < target and firing[target, source]:
            score = 2 * _FOR - _COMPLEXITY[Suspect.PAIR]
            hypotheses.append(Hypothesis(Culprit(Suspect.PAIR, source, target), score, 2, 2))
    return hypotheses


def _or_agent(chosen: Hypothesis, cells: Ints, lost: Flags) -> Hypothesis:
    """Return the agent as culprit instead of the VM, if nothing arrives from it and at it."""
    if chosen.culprit.suspect is Suspect.VM and lost.reshape(-1)[cells].mean() > 0.9:
        return Hypothesis(Culprit(Suspect.AGENT, chosen.culprit.at), chosen.score, chosen.bad, chosen.known)
    return chosen


def _cells(culprit: Culprit, zone_of: Ints) -> Flags:
    size = zone_of.size
    mask = np.zeros((size, size), np.bool_)
    at, other = culprit.at, culprit.other
    match culprit.suspect:
        case Suspect.EGRESS:
            mask[at, :] = True
        case Suspect.INGRESS:
            mask[:, at] = True
        case Suspect.VM | Suspect.CLOCK | Suspect.AGENT | Suspect.HOST:
            mask[at, :] = mask[:, at] = True
        case Suspect.ZONE_PAIR:
            mask[np.ix_(zone_of == at, zone_of == other)] = True
        case Suspect.ZONE:
            mask[zone_of == at, :] = mask[:, zone_of == at] = True
        case Suspect.PATH:
            mask[at, other] = True
        case Suspect.PAIR:
            mask[at, other] = mask[other, at] = True
        case Suspect.MESH:
            mask[...] = True
        case _:
            pass  # an application determines its paths; an empty bucket and shares of a mesh show on no single one
    return mask


def _sums(flags: Flags, axis: int) -> Ints:
    counts: Ints = np.add.reduce(flags, axis=axis, dtype=np.int32).astype(np.int64)
    return counts


def _blocks(flags: Flags, zone_of: Ints, zones: int) -> Ints:
    """Return sums by pair of zones; VMs of a zone are consecutive."""
    starts = np.searchsorted(zone_of, np.arange(zones))
    by_row = np.add.reduceat(flags.astype(np.int32), starts, axis=0)
    sums: Ints = np.add.reduceat(by_row, starts, axis=1).astype(np.int64)
    return sums


class _Clocks:
    """Evidence for clock steps: one direction of a VM up, the other down by about as much."""

    def __init__(self, signed: Floats, known: Flags) -> None:
        valid = np.isfinite(signed) & known
        self._signed = np.where(valid, np.clip(signed, -50, 50), np.nan)
        self._up, self._down = signed > _SIGN, signed < -_SIGN
        self._known = valid

    def explain(self, cells: Flags) -> None:
        """Exclude explained paths."""
        self._known &= ~cells
        self._up &= ~cells
        self._down &= ~cells

    def ranked(self) -> list[Hypothesis]:
        """Return the best clock hypotheses."""
        rows, columns = (_sums(self._known, axis) for axis in (1, 0))
        known = rows + columns
        scores: list[tuple[float, int, int]] = []
        for out, into in ((self._up, self._down), (self._down, self._up)):
            some_rows, some_columns = _sums(out, 1), _sums(into, 0)
            bad = some_rows + some_columns
            share = np.minimum(some_rows / np.maximum(rows, 1), some_columns / np.maximum(columns, 1))
            fits = (share >= _CLOCK_SHARE) & (rows > 1) & (columns > 1)
            for at in np.flatnonzero(fits).tolist():
                if self._balanced(at):
                    score = bad[at] * _FOR - (known[at] - bad[at]) * _AGAINST - _COMPLEXITY[Suspect.CLOCK]
                    scores.append((float(score), at, int(bad[at])))
        return [
            Hypothesis(Culprit(Suspect.CLOCK, at), score, bad, int(known[at]))
            for score, at, bad in sorted(scores, reverse=True)[:2]
        ]

    def _balanced(self, at: int) -> bool:
        """Return whether one direction gained about as much as the other lost."""
        known = self._known
        out, into = (
            float(np.median(part[valid])) if valid.any() else 0.0
            for part, valid in (
                (self._signed[at], known[at]),
                (self._signed[:, at], known[:, at]),
            )
        )
        return abs(out + into) <= _CLOCK_BALANCE * max(abs(out), abs(into))


def name(culprit: Culprit, vms: Sequence[str], zones: Sequence[str]) -> str:
    """Return the display name of a culprit."""
    at, other = culprit.at, culprit.other
    match culprit.suspect:
        case Suspect.EGRESS:
            return f"paths from {vms[at]}"
        case Suspect.INGRESS:
            return f"paths to {vms[at]}"
        case Suspect.VM:
            return f"VM {vms[at]}"
        case Suspect.CLOCK:
            return f"clock of {vms[at]}"
        case Suspect.HOST:
            return f"host of VM {vms[at]}"
        case Suspect.AGENT:
            return f"VM {vms[at]} or its agent is down"
        case Suspect.ZONE_PAIR:
            return f"zone {zones[at]} to zone {zones[other]}" if at != other else f"within zone {zones[at]}"
        case Suspect.ZONE:
            return f"zone {zones[at]}"
        case Suspect.PATH:
            return f"path {vms[at]} to {vms[other]}"
        case Suspect.PAIR:
            return f"paths between {vms[at]} and {vms[other]}"
        case Suspect.MESH:
            return "the whole mesh"
        case Suspect.APPLICATION:
            return "an application"
        case Suspect.BUCKET:
            return f"token bucket of {vms[at]}"
        case Suspect.VM_SHARES:
            return "shares of the VMs"
        case Suspect.APPLICATION_SHARES:
            return "shares of the applications"
        case Suspect.FLOW_SHARES:
            return "shares of the flows of a path"
