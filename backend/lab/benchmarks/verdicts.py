"""Verdicts on applied moves in simulated worlds.

In most worlds nothing improved, and a verdict that holds is false: the move was chosen at a bad moment that ended by
itself (`regression`), the network and demand changed for all (`drift`), or the application does not follow its curve
(`wrong_curve`). In the others the moves gained what was promised (`gain`).
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from lab.benchmarks.figures import report
from sinemora.applications.curves.core.library import published
from sinemora.recommendations.core.verdict import (
    Interval,
    MetricHistory,
    Missing,
    MoveVerdict,
    by_delays,
    by_metric,
    decide,
)

WORLDS = 150
"""Worlds of each kind and judge."""
_CURVES = ("memcached-server", "strads-lasso", "tensorflow-mnist", "dns")
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_MOVED_AT_S = 7 * _DAY_S + 1234
_SETTLED_S = 120
_LOOK_BACK_S = 1800
_WEATHER = ((5.0, 1.0), (30.0, 3.0), (120.0, 5.0))
"""Memory of weather in minutes, and its standard deviation in points of performance."""

Floats = npt.NDArray[np.float64]


class World(StrEnum):
    """Cause of the change after the moves of a world."""

    REGRESSION = "regression"
    DRIFT = "drift"
    WRONG_CURVE = "wrong_curve"
    GAIN = "gain"


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """A week and an hour by minute: round trips of the old and new paths (µs), metrics of the moved and of others."""

    at_s: npt.NDArray[np.int64]
    old_us: Floats
    new_us: Floats
    moved: Floats
    control: Floats
    curve: str

    def performance(self, round_trip_us: Floats) -> Floats:
        """Return the performance by the curve of the application, mean over its links."""
        return np.asarray(published(self.curve).curve(round_trip_us).mean(axis=0))

    def promise(self) -> Interval:
        """Return the gain that the look-back promises, with the error of weather and of a curve."""
        seen = (self.at_s >= _MOVED_AT_S - _LOOK_BACK_S) & (self.at_s < _MOVED_AT_S)
        gain = (self.performance(self.new_us) - self.performance(self.old_us))[seen]
        half = float(np.hypot(2 * gain.std() / np.sqrt(5), 0.2 * abs(gain.mean())))
        return Interval(float(gain.mean()), float(gain.mean()) - half, float(gain.mean()) + half)


def course(world: World, rng: np.random.Generator) -> Course:
    """Simulate a world. Weather and demand remember minutes to hours; demand also has a day."""
    at_s = np.arange(0, _MOVED_AT_S + 2 * _HOUR_S, _MINUTE_S)
    links, curve = int(rng.integers(2, 6)), _CURVES[int(rng.integers(len(_CURVES)))]
    after = at_s >= _MOVED_AT_S
    far, near = rng.uniform(250, 500, (links, 1)), rng.uniform(30, 100, (links, 1))
    weather = np.exp(_wandering(rng, 2 * links, at_s.size, rng.uniform(10, 120), rng.uniform(0.02, 0.1)))
    old, new = (near, near * rng.uniform(0.95, 1.05, (links, 1))) if world is World.REGRESSION else (far, near)
    old_us, new_us = old * weather[:links], new * weather[links:]
    if world is World.REGRESSION:
        # A bad spell of some hours, in which the move was chosen; it ends while the tasks move.
        spell = (at_s >= _MOVED_AT_S - rng.uniform(1, 30) * _HOUR_S) & (at_s < _MOVED_AT_S + rng.uniform(-60, 120))
        old_us = old_us * np.where(spell, rng.uniform(3, 8), 1.0)
    if world is World.DRIFT:
        # The provider mends the network, and demand changes, for all.
        old_us = np.where(after, near * weather[:links], old_us)
    places = np.where(after, new_us, old_us)
    follows = np.log(np.maximum(published(curve).curve(places).mean(axis=0), 0.01))
    if world is World.WRONG_CURVE:
        follows = np.zeros(at_s.size)
    others = 2
    day = 0.2 * np.sin(2 * np.pi * at_s / _DAY_S + rng.uniform(0, 7))
    shift = rng.uniform(0.1, 0.6) * after if world is World.DRIFT or rng.random() < 0.3 else 0.0
    demand = day + shift + _wandering(rng, 1, at_s.size, 180, 0.05)[0]
    noise = _wandering(rng, 1 + others, at_s.size, rng.uniform(2, 60), rng.uniform(0.01, 0.06))
    return Course(at_s, old_us, new_us, (follows + demand + noise[0])[None], demand + noise[1:], curve)


def judged(seen: Course, by: str) -> MoveVerdict:
    """Return the verdict of the product."""
    since_s = _MOVED_AT_S + _SETTLED_S
    moved, stayed = seen.performance(seen.new_us), seen.performance(seen.old_us)
    observed: Interval | Missing
    if by == "metric":
        before = (seen.at_s >= _MOVED_AT_S - _LOOK_BACK_S) & (seen.at_s < _MOVED_AT_S)
        history = MetricHistory(seen.at_s, seen.moved, seen.control, seen.at_s, seen.old_us.mean(axis=0))
        observed = by_metric(history, _MOVED_AT_S, since_s, float(stayed[before].mean()))
    else:
        observed = by_delays(seen.at_s, moved, stayed, _MOVED_AT_S, since_s)
    return _verdict(observed, seen.promise())


def daily(rng: np.random.Generator, gain: float) -> MoveVerdict:
    """Return the verdict by metric on an application with a daily course of ± 10 % that no other has."""
    at_s = np.arange(0, _MOVED_AT_S + 2 * _HOUR_S, _MINUTE_S)
    day = 0.1 * np.sin(2 * np.pi * at_s / _DAY_S + rng.uniform(0, 7))
    noise = _wandering(rng, 3, at_s.size, rng.uniform(2, 60), rng.uniform(0.005, 0.02))
    demand = _wandering(rng, 1, at_s.size, 180, 0.05)[0]
    moved = demand + day + noise[0] + np.log1p(gain) * (at_s >= _MOVED_AT_S)
    path = 300 * np.exp(_wandering(rng, 1, at_s.size, 30, 0.02)[0])
    history = MetricHistory(at_s, moved[None], demand + noise[1:], at_s, path)
    return _verdict(by_metric(history, _MOVED_AT_S, _MOVED_AT_S + _SETTLED_S, 0.8), Interval(0.04, 0.016, 0.072))


def weather(rng: np.random.Generator, memory_min: float, points: float) -> MoveVerdict:
    """Return the verdict by delays where both placements wander about one performance: the true gain is 0."""
    at_s = np.arange(0, _MOVED_AT_S + 2 * _HOUR_S, _MINUTE_S)
    moved, stayed = 0.8 + _wandering(rng, 2, at_s.size, memory_min, points / 100)
    observed = by_delays(at_s, moved, stayed, _MOVED_AT_S, _MOVED_AT_S + _SETTLED_S)
    return _verdict(observed, Interval(0.05, 0.02, 0.09))


def _verdict(observed: Interval | Missing, promise: Interval) -> MoveVerdict:
    return MoveVerdict.CANNOT_TELL if isinstance(observed, Missing) else decide(observed, promise).verdict


def main(seed: int, worlds: int = WORLDS) -> None:
    """Print the share of false and of true verdicts that hold, under a daily course, and under weather that lasts."""
    rng = np.random.default_rng(seed)
    counts: dict[tuple[World, str], Counter[MoveVerdict]] = {}
    for world in World:
        for by in ("metric", "delays"):
            # By delays a wrong curve goes unnoticed; the product says so.
            if (world, by) != (World.WRONG_CURVE, "delays"):
                counts[world, by] = Counter(judged(course(world, rng), by) for _ in range(worlds))
    for kind, is_gain in (("false", False), ("true", True)):
        of_kind = {f"{world}_{by}": count for (world, by), count in counts.items() if (world is World.GAIN) == is_gain}
        report(f"recommendations_{kind}_held_percent", _held([*of_kind.values()]), worlds=worlds, verdicts=of_kind)
    courses = {gain: Counter(daily(rng, gain) for _ in range(worlds)) for gain in (0.0, 0.05, -0.05)}
    unsure = sum(count[MoveVerdict.CANNOT_TELL] for count in courses.values())
    false = _held([courses[0.0], courses[-0.05]])
    percent = 100 * unsure / (3 * worlds)
    report("recommendations_verdict_cannot_tell_daily_percent", percent, verdicts=courses, false_held_percent=false)
    lasting = {memory: Counter(weather(rng, memory, points) for _ in range(worlds)) for memory, points in _WEATHER}
    worst = max(_held([count]) for count in lasting.values())
    report("recommendations_verdict_false_held_percent", worst, verdicts=lasting)


def _held(counts: list[Counter[MoveVerdict]]) -> float:
    return 100 * sum(count[MoveVerdict.HELD] for count in counts) / sum(count.total() for count in counts)


def _wandering(rng: np.random.Generator, rows: int, minutes: int, memory_min: float, spread: float) -> Floats:
    """Return autoregressive courses of first order, shape (rows, minutes), with a stationary `spread`."""
    keep = np.exp(-1 / memory_min)
    steps = rng.standard_normal((rows, minutes)) * spread * np.sqrt(1 - keep**2)
    steps[:, 0] = spread * rng.standard_normal(rows)
    return np.asarray(lfilter([1.0], [1.0, -keep], steps, axis=1))
