"""Where the next VMs of an application should be, how many to rent for a trial, and which of those that came to keep.

A new VM resembles those measured in its zone or near the VMs of its host; which of them it will be like is drawn, with
weights drawn too (the Bayesian bootstrap of D. B. Rubin, Annals of Statistics 9(1), 1981), so that few VMs give a wide
interval. Of more VMs than are needed, the best are kept after an hour (T. Zou et al., ClouDiA, VLDB 2012).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from sinemora.applications.curves.core.band import DRAWS
from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Flags
from sinemora.measurements.aggregate import estimates
from sinemora.measurements.aggregate.estimates import Estimates
from sinemora.recommendations.core.holdout import Estimate, estimate_mean
from sinemora.recommendations.core.instance import Deployment, Instance, PerformanceSeries, impute
from sinemora.recommendations.what_if.options import Peer, at_each, locations, mean_known, price_of, sample

TRIALS = 1_024
"""Number of trials that are drawn for each place."""
IDLE_MOST = 100
"""Maximum number of idle VMs that are returned."""
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Kept:
    """Number of VMs to rent, and their mean performance: `first` of as many as are needed, `then` of the best."""

    rented: int
    first: float
    then: Estimate


@dataclass(frozen=True, slots=True)
class Place:
    """Zone, or the neighbourhood of a host in it, for new VMs.

    `like` is the number of measured VMs that stand for a new one; of `estimated` of them the path is an estimate.
    `price_per_hour` is that of a VM, `trial_price` that of the VMs that are returned after an hour; None if unknown.
    """

    zone: str
    host: str | None
    kept: Kept
    like: int
    estimated: int
    price_per_hour: float | None
    trial_price: float | None


@dataclass(frozen=True, slots=True)
class Idle:
    """VM without a task, with the performance that a task would have on it; None where no path is known."""

    machine: int
    performance: Estimate | None


@dataclass(frozen=True, slots=True, eq=False)
class _Everywhere:
    """Performance of the task on every machine; NaN where unknown.

    `chosen`, shape (machines,), is by what a trial sees; `windows` (windows, machines) and `draws` (DRAWS, windows,
    machines) are by other windows. `estimated` flags machines with an estimated path.
    """

    chosen: Floats
    windows: Floats
    draws: Floats
    estimated: Flags


def peers_of(application: Deployment, task: int) -> list[Peer]:
    """Return the machines that a task talks to, with shares of its weight; empty while one of them has no VM here."""
    links = application.links
    ends = [(links.targets, links.sources == task), (links.sources, links.targets == task)]
    others = np.concatenate([application.at[end[mine]] for end, mine in ends])
    weights = np.concatenate([links.weights[mine] for _, mine in ends])
    if not others.size or (others < 0).any():
        return []
    return list(zip(others.tolist(), (weights / weights.sum()).tolist(), strict=True))


def usual_task(application: Deployment) -> int:
    """Return the task that a new one most likely resembles: the first of least weight that is not the root."""
    links, size = application.links, len(application.tasks)
    weights = np.bincount(links.sources, links.weights, size) + np.bincount(links.targets, links.weights, size)
    if application.root is not None:
        weights[application.root] = np.inf
    return int(np.argmin(weights))


def advise(
    instance: Instance, application: Deployment, task: int, count: int, trial_most: int, price: float | None
) -> tuple[list[Place], list[Idle]]:
    """Return where `count` VMs for tasks like `task` may be rented, and the VMs without a task, the best first.

    One more VM is rented for the trial, up to `trial_most`, while it adds to all tasks what a move of the application
    must gain. `price` of a VM per hour replaces those of the VMs there.
    """
    taken = {at for one in instance.applications for at in one.at.tolist()}
    free = [at for at in range(len(instance.machines)) if at not in taken]
    peers = peers_of(application, task)
    if not peers:
        return [], [Idle(at, None) for at in free[:IDLE_MOST]]
    everywhere = _everywhere(instance, application, peers)
    machines = {machine for machine, _ in peers}
    cost = application.move_cost / count
    found = []
    for zone, host, like in locations(instance, None):
        # Beside a peer there is no path: no new VM is like the peer's own.
        known = sample([at for at in like if np.isfinite(everywhere.chosen[at]) and at not in machines])
        if known and (application.allowed is None or application.allowed[like[0]]):
            kept = _kept(everywhere, known, count, trial_most, cost)
            hourly = price_of(instance, known) if price is None else price
            trial = None if hourly is None else hourly * (kept.rented - count)
            estimated = int(everywhere.estimated[known].sum())
            found.append(Place(zone, host, kept, len(known), estimated, hourly, trial))
    found.sort(key=lambda place: (cost * (place.kept.rented - count) - place.kept.then.mean, place.price_per_hour or 0))
    return found, _ranked(instance, everywhere, free)


def untried(instance: Instance, application: Deployment, task: int, found: list[Place]) -> list[str]:
    """Return in words what is not known of the places for tasks like `task`."""
    if not peers_of(application, task):
        return [f"Tasks that {application.tasks[task].name} talks to have no VM in this mesh: place them first."]
    zones = sorted({machine.zone for machine in instance.machines} - {place.zone for place in found})
    if not zones:
        return []
    return [f"No place in {', '.join(zones)}: no path to it is known, or the application must not run there."]


def _ranked(instance: Instance, everywhere: _Everywhere, free: list[int]) -> list[Idle]:
    blocks = instance.holdout_blocks if len(instance.holdout) else instance.training_blocks
    found = [
        Idle(at, estimate_mean(PerformanceSeries(everywhere.windows[:, at], everywhere.draws[:, :, at]), blocks))
        for at in free
    ]
    return sorted(found, key=lambda one: 1.0 if one.performance is None else -one.performance.mean)[:IDLE_MOST]


def _kept(everywhere: _Everywhere, known: list[int], count: int, trial_most: int, cost: float) -> Kept:
    """Return what the best `count` of the rented VMs give, and how many are rented at that cost of each more."""
    rng = np.random.default_rng(7)
    chosen, windows = everywhere.chosen[known], mean_known(everywhere.windows[:, known])
    draws = mean_known(everywhere.draws[:, :, known])
    weights = np.cumsum(rng.dirichlet(np.ones(len(known)), TRIALS), axis=1)
    like = (rng.random((TRIALS, count + trial_most, 1)) > weights[:, None, :-1]).sum(axis=2)
    curve = np.arange(TRIALS)[:, None] % DRAWS
    first, best = 0.0, None
    for rented in range(count, count + trial_most + 1):
        came = like[:, :rented]
        order = np.argsort(-chosen[came], axis=1, kind="stable")[:, :count]
        kept = np.take_along_axis(came, order, axis=1)
        mean = float(windows[kept].mean())
        if best is None:
            first = mean
        elif mean - best.then.mean < cost:
            break
        ends = np.quantile(draws[curve, kept].mean(axis=1), [0.025, 0.975]) if len(known) > 1 else (0.0, 1.0)
        best = Kept(rented, first, Estimate(mean, min(float(ends[0]), mean), max(float(ends[1]), mean), len(windows)))
    assert best is not None
    return best


def _everywhere(instance: Instance, application: Deployment, peers: list[Peer]) -> _Everywhere:
    trial = instance.training
    later = instance.holdout if len(instance.holdout) else trial
    curve, band = application.sensitivity.curve, application.sensitivity.band
    never: Flags = np.asarray(~(np.isfinite(trial).any(axis=0) | np.isfinite(later).any(axis=0)))
    np.fill_diagonal(never, False)
    wanted = np.zeros_like(never)
    machines = [machine for machine, _ in peers]
    wanted[machines] = never[machines]
    guess = _estimates(instance, wanted)
    filled = guess.known & wanted
    trial, later = (np.where(filled, guess.values_ns, trips).astype(np.float32) for trips in (trial, later))
    chosen, windows = (at_each(curve, trips, application, peers) for trips in (trial, later))
    draws = at_each(band.draws, later, application, peers)
    estimated: Flags = np.asarray(filled.any(axis=0))
    if estimated.any():
        # An estimate errs by its own interval, each draw of the curve by another quantile of it.
        spread = np.where(filled, np.log(guess.high_ns / guess.low_ns) / (2 * _Z), 0.0)[machines]
        usual = mean_known(np.moveaxis(later[:, machines].astype(np.float64), 0, 1))
        errors = scipy.special.ndtri(np.random.default_rng(7).permutation(np.arange(DRAWS) + 0.5) / DRAWS)
        drawn = np.zeros((1, *wanted.shape))
        for draw, error in enumerate(errors):
            drawn[0, machines] = usual * np.exp(error * spread)
            by_draws = at_each(band.draws, drawn, application, peers)
            draws[draw][:, estimated] = by_draws[draw][:, estimated]
    trained = mean_known(chosen)
    return _Everywhere(np.where(np.isfinite(trained), trained, mean_known(windows)), windows, draws, estimated)


def _estimates(instance: Instance, wanted: Flags) -> Estimates:
    if not wanted.any():
        return estimates.nothing(len(wanted))
    medians = impute(np.concatenate([instance.training, instance.holdout]), instance.zones)
    measured = np.where(medians.known, medians.round_trips_ns, np.nan)
    return estimates.estimate(measured, instance.zones.astype(np.int64), wanted)
