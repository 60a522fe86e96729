"""Options beyond moving tasks: swap roles, re-create a VM elsewhere, or rent additional VMs.

A new VM is assumed to resemble one measured in its zone or group. Each of those represents it once, with all its round
trips, so that a good or a bad VM stays one. Their differences give the uncertainty.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Flags, Indices, Links, reached
from sinemora.recommendations.core.gains import expected_gain
from sinemora.recommendations.core.holdout import UNFORESEEN, Estimate, Gain, GainForecast, performance_series
from sinemora.recommendations.core.instance import ELSEWHERE, Deployment, Instance, PerformanceSeries, Trips

DRAWS = 400
SWAPS_MOST = 60
"""Maximum number of tasks of a graph with swaps of all pairs; larger ones have none. Stars swap the root."""
VMS_MOST = 50
"""Maximum number of VMs that are re-created: those whose tasks lose most."""
HOSTS_MOST = 20
"""Maximum number of hosts near which VMs are re-created: those with most measured VMs."""
LIKE_MOST = 30
"""Maximum number of measured VMs of a place that represent a new one."""

Peer = tuple[int, float]
"""Machine that a task talks to, and its share of the task's weight."""
Report = Callable[[float, str], None]
"""Takes the share of the work that is done (0 … 1) and its step; raises to stop."""


@dataclass(frozen=True, slots=True)
class Option:
    """Change of VMs for one application and its gain; `draws`: number of VMs that represent new ones.

    Prices are per hour: permanent, and once for VMs that are returned.
    """

    kind: str
    tasks: tuple[int, ...]
    zone: str | None
    host: str | None
    count: int
    gain: Gain
    draws: int
    price_change_per_hour: float | None
    price_once: float | None


def options(
    instance: Instance, place: int, extra_most: int, price: float, report: Report = lambda share, step: None
) -> list[Option]:
    """Return all options of an application, the best first; a gain pays if it exceeds `price`."""
    options = [
        *_swaps(instance, place, price, report),
        *_recreations(instance, place, price, report),
        *_over_allocations(instance, place, extra_most, price, report),
    ]
    return sorted(options, key=lambda option: -option.gain.gain.mean)


def untried(instance: Instance, place: int) -> list[str]:
    """Return in words what `options` leaves out of a large application."""
    application = instance.applications[place]
    vms = np.unique(application.at[application.at >= 0]).size
    hosts = len({machine.host for machine in instance.machines if machine.host is not None})
    running = int((application.at >= 0).sum())
    words = []
    if vms > VMS_MOST:
        words.append(f"Of {vms} VMs, only the {VMS_MOST} whose tasks lose most performance were tried elsewhere.")
    if hosts > HOSTS_MOST:
        words.append(f"Of {hosts} hosts, only the {HOSTS_MOST} with most VMs were tried.")
    if application.root is None and running > SWAPS_MOST:
        words.append(f"Swaps were not tried: the graph has more than {SWAPS_MOST} running tasks.")
    return words


def _swaps(instance: Instance, place: int, price: float, report: Report) -> Iterator[Option]:
    """Yield the best swap of two tasks by the training windows, with its gain on hold-out windows."""
    application = instance.applications[place]
    free = [t for t, need in enumerate(application.tasks) if application.at[t] >= 0 and not need.pinned]
    firsts = (
        free
        if application.root is None and len(free) <= SWAPS_MOST
        else [application.root if application.root is not None else -1]
    )
    best: tuple[float, Indices, tuple[int, int]] | None = None
    here = _mean(instance.training, application, application.at)
    for number, a in enumerate(firsts):
        for other, b in enumerate(free):
            report(0.3 * (number + other / len(free)) / len(firsts), "swapping tasks")
            if (
                a not in free
                or a == b
                or application.at[a] == application.at[b]
                or application.tasks[a].takes != application.tasks[b].takes
            ):
                continue
            at = application.at.copy()
            at[a], at[b] = application.at[b], application.at[a]
            value = _mean(instance.training, application, at)
            if value > here and (best is None or value > best[0]):
                best = (value, at, (a, b))
    if best is None:
        return
    before = tuple(other.at for other in instance.applications)
    after = tuple(best[1] if at == place else other.at for at, other in enumerate(instance.applications))
    gained = expected_gain(instance, before, after, [place], price)
    if gained is not None:
        yield Option("swap", best[2], None, None, 0, gained, 0, 0.0, 0.0)


def _recreations(instance: Instance, place: int, price: float, report: Report) -> Iterator[Option]:
    """Yield each VM of the application re-created in each other zone or group of VMs on one host."""
    application = instance.applications[place]
    machines = _worst(instance, application)[:VMS_MOST]
    for number, machine in enumerate(machines):
        tasks = tuple(np.flatnonzero(application.at == machine).tolist())
        if any(application.tasks[task].pinned for task in tasks) or _hosts_others(instance, place, machine):
            continue
        # The links of other tasks stay as they are.
        links = application.links
        touched = np.isin(links.sources, tasks) | np.isin(links.targets, tasks)
        rest = _part(instance, application, application.at, ~touched)
        moved = _part(instance, application, application.at, touched)
        if moved is None:
            continue
        before = _sum(rest, moved)
        taken = {int(at) for at in application.at if at >= 0 and at != machine}
        for zone, host, like in locations(instance, machine):
            if application.allowed is not None and not application.allowed[like[0]]:
                continue
            others = sample([u for u in like if u not in taken])
            outcomes = []
            for stand_in in others:
                report(0.3 + 0.5 * number / len(machines), f"re-creating VM {number + 1} of {len(machines)}")
                at = np.where(application.at == machine, stand_in, application.at)
                outcome = _part(instance, application, at, touched)
                outcomes += [] if outcome is None else [_sum(rest, outcome)]
            gained = _predict(before, outcomes, price) if outcomes else None
            if gained is not None:
                change = price_of(instance, others) if price_of(instance, [machine]) is not None else None
                if change is not None:
                    change -= price_of(instance, [machine]) or 0.0
                yield Option("recreate", tasks, zone, host, 1, gained, len(outcomes), change, None)


def _worst(instance: Instance, application: Deployment) -> list[int]:
    """Return the VMs of an application, first those whose tasks lose most on the training windows."""
    links, at = application.links, application.at
    performance = reached(links, at, instance.training, application.sensitivity).performance
    known = np.isfinite(performance)
    losses = np.where(known, 1 - performance, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1) * links.weights
    lost = dict.fromkeys(np.unique(at[at >= 0]).tolist(), 0.0)
    for end in (links.sources, links.targets):
        for machine, loss in zip(at[end].tolist(), losses.tolist(), strict=True):
            if machine >= 0:
                lost[machine] += loss
    return sorted(lost, key=lambda machine: (-lost[machine], machine))


def sample(machines: list[int]) -> list[int]:
    """Return at most `LIKE_MOST` of the machines, spread evenly over their order."""
    if len(machines) <= LIKE_MOST:
        return machines
    return [machines[at * len(machines) // LIKE_MOST] for at in range(LIKE_MOST)]


def _part(instance: Instance, application: Deployment, at: Indices, of: Flags) -> PerformanceSeries | None:
    """Return what some links add to the performance of their application; None where that is nothing."""
    links = application.links
    inside = (at[links.sources] != ELSEWHERE) & (at[links.targets] != ELSEWHERE)
    share = float(links.weights[of & inside].sum() / max(links.weights[inside].sum(), 1e-12))
    if share == 0.0:
        return None
    some = Links(links.sources[of], links.targets[of], links.weights[of])
    series = performance_series(some, at, instance.holdout, application.sensitivity)
    return PerformanceSeries(share * series.performance, share * series.draws)


def _sum(rest: PerformanceSeries | None, part: PerformanceSeries) -> PerformanceSeries:
    if rest is None:
        return part
    return PerformanceSeries(rest.performance + part.performance, rest.draws + part.draws)


def _over_allocations(instance: Instance, place: int, most: int, price: float, report: Report) -> Iterator[Option]:
    """Yield k more VMs in a zone for the tasks of a star; the best stay, the others are returned after an hour."""
    application = instance.applications[place]
    if application.root is None or application.at[application.root] < 0:
        return
    root = int(application.at[application.root])
    tasks = [
        t
        for t, need in enumerate(application.tasks)
        if t != application.root and application.at[t] >= 0 and not need.pinned
    ]
    fixed = [t for t in range(len(application.tasks)) if t != application.root and t not in tasks]
    if not tasks:
        return
    peers, sensitivity = [(root, 1.0)], application.sensitivity
    chosen, judged = (
        mean_known(at_each(sensitivity.curve, trips, application, peers))
        for trips in (instance.training, instance.holdout)
    )
    if not np.isfinite(judged[application.at[tasks]]).all():
        return
    here = application.at[tasks]
    staying = application.at[[t for t in fixed if application.at[t] >= 0]]
    by_curve = mean_known(at_each(sensitivity.band.draws, instance.holdout, application, peers))
    now = np.concatenate([here, staying])
    before, before_by = float(judged[now].mean()), by_curve[:, now].mean(axis=1)
    rng = np.random.default_rng(7)
    found = list(locations(instance, None))
    for number, (zone, host, like) in enumerate(found):
        known = [u for u in like if u != root and np.isfinite(chosen[u]) and np.isfinite(judged[u])]
        if host is not None or len(known) < 2 or (application.allowed is not None and not application.allowed[like[0]]):
            continue
        for count in range(1, most + 1):
            mean, after = 0.0, np.empty(DRAWS)
            curve_of = np.arange(DRAWS) % len(by_curve)
            for draw in range(DRAWS):
                if draw % 20 == 0:
                    report(0.8 + 0.2 * (number + (count - 1) / most) / len(found), f"more VMs in {zone}")
                places = np.concatenate([here, rng.choice(known, count)])
                kept = places[np.argsort(-chosen[places], kind="stable")[: len(tasks)]]
                then = np.concatenate([kept, staying])
                mean += float(judged[then].mean()) / DRAWS
                after[draw] = by_curve[curve_of[draw], then].mean()
            gains = after - before_by[curve_of]
            ends = [np.quantile(values, [0.025, 0.975]).tolist() for values in (before_by, after, gains)]
            windows = len(instance.holdout)
            paid = UNFORESEEN / 2 + (1 - UNFORESEEN) * float((gains > price).mean())
            gained = Gain(
                _estimate(before, ends[0], 0.0, windows),
                _estimate(mean, ends[1], 0.0, windows),
                _estimate(mean - before, ends[2], -1.0, windows),
                paid,
                windows,
            )
            hour = price_of(instance, known)
            once = None if hour is None else hour * count
            yield Option("over_allocate", tuple(tasks), zone, None, count, gained, len(known), 0.0, once)


def _predict(before: PerformanceSeries, outcomes: list[PerformanceSeries], price: float) -> Gain | None:
    """Predict the gain of a new VM from its outcome like each of some VMs, by Student's t and the band of the curve."""
    known = np.isfinite(before.performance)
    for outcome in outcomes:
        known &= np.isfinite(outcome.performance)
    if not known.any():
        return None
    here = float(before.performance[known].mean())
    mean = float(np.mean([outcome.performance[known].mean() for outcome in outcomes]))
    # By each draw of the curve: shapes (draws,) and (draws, VMs).
    before_by = before.draws[:, known].mean(axis=1)
    after_by = np.stack([outcome.draws[:, known].mean(axis=1) for outcome in outcomes], axis=1)
    sides = (
        (here, before_by, np.zeros_like(before_by)),
        (mean, after_by.mean(axis=1), _error(after_by)),
        (mean - here, after_by.mean(axis=1) - before_by, _error(after_by)),
    )
    forecasts = [GainForecast(means, errors, max(len(outcomes) - 1.0, 1.0)) for _, means, errors in sides]
    windows = int(known.sum())
    start, after, gain = (
        _estimate(value, forecast.interval(), least, windows)
        for (value, _, _), forecast, least in zip(sides, forecasts, (0.0, 0.0, -1.0), strict=True)
    )
    return Gain(start, after, gain, forecasts[2].probability(price), windows)


def _error(outcomes: Floats) -> Floats:
    """Return the error of one more VM by each draw; one VM gives no variance."""
    draws = outcomes.shape[1]
    if draws == 1:
        return np.full(len(outcomes), np.inf)
    return np.asarray(np.maximum(outcomes.std(axis=1, ddof=1) * np.sqrt(1 + 1 / draws), 1e-4))


def _estimate(mean: float, ends: tuple[float, float], least: float, windows: int) -> Estimate:
    return Estimate(mean, max(min(ends[0], mean), least), min(max(ends[1], mean), 1.0), windows)


def locations(instance: Instance, machine: int | None) -> Iterator[tuple[str, str | None, list[int]]]:
    """Yield zones and named hosts other than those of a machine: (zone, host, machines)."""
    zones: dict[object, list[int]] = {}
    hosts: dict[str, list[int]] = {}
    for at, vm in enumerate(instance.machines):
        if at != machine:
            zones.setdefault(vm.zone_id, []).append(at)
            if vm.host is not None:
                hosts.setdefault(vm.host, []).append(at)
    own = None if machine is None else instance.machines[machine]
    for like in zones.values():
        if own is None or instance.machines[like[0]].zone_id != own.zone_id:
            yield instance.machines[like[0]].zone, None, like
    for host, like in sorted(hosts.items(), key=lambda one: -len(one[1]))[:HOSTS_MOST]:
        if own is None or host != own.host:
            yield instance.machines[like[0]].zone, host, like


def _hosts_others(instance: Instance, place: int, machine: int) -> bool:
    return any(
        at != place and (application.at == machine).any() for at, application in enumerate(instance.applications)
    )


def at_each(of: Callable[[Floats], Floats], trips: Trips, application: Deployment, peers: Iterable[Peer]) -> Floats:
    """Return the performance of a task with these peers on every machine, by window; NaN where unknown.

    `of` makes performance of added latency, the curve or draws of its band. Shape (…, windows, machines).
    """
    total: Floats | float = 0.0
    for machine, share in peers:
        rows = trips[:, machine, :].astype(np.float64)
        rows[:, machine] = 0.0
        values = of(application.sensitivity.added_us(np.nan_to_num(rows)))
        total = total + share * np.where(np.isfinite(rows), values, np.nan)
    return np.asarray(total)


def mean_known(values: Floats) -> Floats:
    """Return the mean over windows, the last axis but one; NaN where none is known."""
    known = np.isfinite(values)
    counted = known.sum(axis=-2)
    sums = np.where(known, values, 0.0).sum(axis=-2)
    return np.where(counted > 0, sums / np.maximum(counted, 1), np.nan)


def _mean(trips: Trips, application: Deployment, at: Indices) -> float:
    performance = reached(application.links, at, trips, application.sensitivity).performance
    known = np.isfinite(performance).any(axis=0)
    if not known.all():
        return -np.inf
    return float(np.average(np.nanmean(performance, axis=0), weights=application.links.weights))


def price_of(instance: Instance, machines: list[int]) -> float | None:
    """Return the mean price of machines per hour, of those that have one; None without."""
    prices = [price for machine in machines if (price := instance.machines[machine].price_per_hour) is not None]
    return float(np.mean(prices)) if prices else None
