"""Corrects one-way delays of a mesh by what its loops of clocks show. Pure: numpy only.

Every pair estimates the offset of its two clocks as if both ways between them were equally long; half the difference
of the ways goes into the estimate. The clocks themselves must agree around every loop of VMs, so offsets of n VMs fix
n - 1 numbers out of up to n (n - 1) / 2 estimates, and what is left over belongs to the ways. This is least squares on
the graph of pairs, with Huber's weights (1964), so that a few very unequal ways do not spoil the others.

What no loop shows is an inequality that belongs to a VM (its way out is slower than its way in towards everybody): it
looks exactly like a clock that is off. The bound stated is therefore not derived from the fit. It is what remains
possible while no packet arrives before it left: delays may not be negative along any chain of VMs, so the error of a
pair is at most its shortest chain of corrected delays (difference constraints, solved by shortest paths).

Signs: an offset is the client's clock minus the target's, as everywhere (outbound = t4 - t3 + offset). A correction is
the offset of the fit minus that of the agent: it is added to the delay from client to target and taken from the one
back.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Residuals beyond this many deviations count by their size, not its square.
_HUBER = 1.5
_ROUNDS = 15
# Of a pair, the least share of its own residual that the others decide about; below it a correction is arbitrary.
_DECIDED_MIN = 0.3
_NOISE_NS = 100.0
_DEVIATIONS = 3.0
# Chains are looked for through so many VMs; fewer make the bound wider, never wrong.
_HUBS_MAX = 400
_ALL_TRIANGLES_UP_TO = 48
_TRIANGLES_SAMPLED = 20_000


@dataclass(frozen=True, slots=True)
class OffsetEstimates:
    """Estimates of m pairs among `vms` VMs, all shape (m,); `clients` and `targets` are positions, delays in ns.

    `error_ns` is one standard deviation without asymmetry, `bound_ns` what the agent states. `fixed` pairs have
    hardware clocks at both ends: they are not corrected, but help to correct others.
    """

    vms: int
    clients: Ints
    targets: Ints
    offset_ns: Floats
    error_ns: Floats
    bound_ns: Floats
    outbound_min_ns: Floats
    inbound_min_ns: Floats
    fixed: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SymmetryCorrections:
    """Corrections of the delays of m pairs, ns.

    Where `decided`, `shift_ns` is to be added to the outbound delay and taken from the inbound one, and the error left
    is at most `bound_ns`; `deviation_ns` is what it probably is, if ways differ by chance and not by VM. Elsewhere the
    shift is 0. `loops_ns` are sums of offsets around triangles of VMs, which clocks cancel in.
    """

    decided: npt.NDArray[np.bool_]
    shift_ns: Floats
    bound_ns: Floats
    deviation_ns: Floats
    loops_ns: Floats


def correct(pairs: OffsetEstimates) -> SymmetryCorrections:
    """Return corrections of all pairs of a mesh, from one window."""
    size = pairs.clients.size
    fit, decided_share, deviation = np.zeros(size), np.zeros(size), np.zeros(size)
    component = _components(pairs)
    for label in np.unique(component[pairs.clients]) if size else []:
        own = component[pairs.clients] == label
        fit[own], decided_share[own], deviation[own] = _solve(pairs, own)
    # No way is shorter than nothing.
    shift = np.clip(fit - pairs.offset_ns, -pairs.outbound_min_ns, np.maximum(pairs.inbound_min_ns, 0.0))
    decided = (decided_share >= _DECIDED_MIN) & ~pairs.fixed
    shift = np.where(decided, shift, 0.0)
    bound = np.where(decided, np.minimum(_bounds(pairs, fit), pairs.bound_ns + np.abs(shift)), pairs.bound_ns)
    return SymmetryCorrections(decided, shift, bound, np.where(decided, deviation, 0.0), _loops(pairs))


def _components(pairs: OffsetEstimates) -> Ints:
    """Return a label for each VM, equal for those that pairs connect."""
    label = np.arange(pairs.vms, dtype=np.int64)
    while True:
        lower = np.minimum(label[pairs.clients], label[pairs.targets])
        joined = label.copy()
        np.minimum.at(joined, pairs.clients, lower)
        np.minimum.at(joined, pairs.targets, lower)
        joined = joined[joined]
        if np.array_equal(joined, label):
            return label
        label = joined


def _solve(pairs: OffsetEstimates, own: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Return the fitted offsets of the pairs of a component, the share that others decide, and the fit's deviations."""
    vms, ends = np.unique(np.concatenate((pairs.clients[own], pairs.targets[own])), return_inverse=True)
    clients, targets = np.split(ends.reshape(-1), 2)
    offsets, errors = pairs.offset_ns[own], pairs.error_ns[own]
    scale = 0.0
    robust = np.ones(offsets.size)
    fit, leverage, resistance = offsets, np.ones(offsets.size), np.ones(offsets.size)
    for _ in range(_ROUNDS):
        weights = robust / (np.where(pairs.fixed[own], 0.0, scale**2) + errors**2 + _NOISE_NS**2)
        before = fit
        fit, resistance = _least_squares(vms.size, clients, targets, offsets, weights)
        leverage = weights * resistance
        residual = offsets - fit
        free = 1.0 - leverage > 1e-6
        if not free.any():
            break
        # A fit that bends towards a pair leaves less of its residual: put that back.
        scale = max(_NOISE_NS, 1.4826 * float(np.median(np.abs(residual[free]) / np.sqrt(1.0 - leverage[free]))))
        robust = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(residual), 1.0))
        if np.abs(fit - before).max() < 1.0:
            break
    # What is decided by others does not depend on how far off a pair is: the plain graph says it.
    _, plain = _least_squares(vms.size, clients, targets, offsets, np.ones(offsets.size))
    return fit, 1.0 - plain, np.sqrt(resistance)


def _least_squares(vms: int, clients: Ints, targets: Ints, offsets: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the offsets of the fit, and the resistance between the ends of each pair (the variance of its fit)."""
    laplacian = np.zeros((vms, vms))
    np.add.at(laplacian, (clients, clients), weights)
    np.add.at(laplacian, (targets, targets), weights)
    np.add.at(laplacian, (clients, targets), -weights)
    np.add.at(laplacian, (targets, clients), -weights)
    moment = np.zeros(vms)
    np.add.at(moment, clients, weights * offsets)
    np.add.at(moment, targets, -weights * offsets)
    inverse = np.zeros((vms, vms))
    inverse[1:, 1:] = np.linalg.inv(laplacian[1:, 1:])  # the clock of the first VM is 0
    clock = inverse @ moment
    resistance = inverse[clients, clients] + inverse[targets, targets] - 2.0 * inverse[clients, targets]
    return clock[clients] - clock[targets], resistance


def _bounds(pairs: OffsetEstimates, fit: Floats) -> Floats:
    """Return by how much delays with the fitted clocks may err while no delay of any chain is negative."""
    slack = _DEVIATIONS * pairs.error_ns + _NOISE_NS
    shift = fit - pairs.offset_ns
    longest = np.full((pairs.vms, pairs.vms), np.inf)
    np.fill_diagonal(longest, 0.0)
    np.minimum.at(longest, (pairs.clients, pairs.targets), np.maximum(pairs.outbound_min_ns + shift, 0.0) + slack)
    np.minimum.at(longest, (pairs.targets, pairs.clients), np.maximum(pairs.inbound_min_ns - shift, 0.0) + slack)
    used = np.unique(np.concatenate((pairs.clients, pairs.targets)))
    for hub in used[:_HUBS_MAX]:
        np.minimum(longest, longest[:, hub, None] + longest[None, hub, :], out=longest)
    # A delay that had to be clipped is off by as much more.
    clipped = np.maximum(0.0, np.maximum(-(pairs.outbound_min_ns + shift), shift - pairs.inbound_min_ns))
    forth, back = longest[pairs.clients, pairs.targets], longest[pairs.targets, pairs.clients]
    bounds: Floats = np.maximum(forth, back) + clipped
    return bounds


def _loops(pairs: OffsetEstimates) -> Floats:
    """Return sums of offsets around triangles: all of a small mesh, some of a large one, always the same ones."""
    if pairs.clients.size < 3:
        return np.zeros(0)
    offset = np.full((pairs.vms, pairs.vms), np.nan)
    offset[pairs.clients, pairs.targets] = pairs.offset_ns
    offset[pairs.targets, pairs.clients] = -pairs.offset_ns
    used = np.unique(np.concatenate((pairs.clients, pairs.targets)))
    if used.size <= _ALL_TRIANGLES_UP_TO:
        one, two, three = (used[part] for part in np.nonzero(np.ones((used.size,) * 3, bool)))
    else:
        one, two, three = used[np.random.default_rng(0).integers(0, used.size, (3, _TRIANGLES_SAMPLED))]
    ordered = (one < two) & (two < three)
    one, two, three = one[ordered], two[ordered], three[ordered]
    sums = offset[one, two] + offset[two, three] + offset[three, one]
    known: Floats = sums[~np.isnan(sums)]
    return known
