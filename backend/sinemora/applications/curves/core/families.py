"""Families of functions a fit chooses from. Every member is 1 at 0 µs, never rises and stays above 0.

A member is a point z of a space with the same prior for all families: independent standard normal numbers. Each family
maps z to its parameters, so that likely curves are near the origin and every z is valid. Latency is in units of the
largest measured one (u = 0 … 1), performance relative to the baseline.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from sinemora.applications.curves.core.curve import Floats

Parameters = dict[str, Floats]

FLOOR = 1e-3
"""Lower bound of performance."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family with `dimensions` numbers z per member, named by `parameters`.

    `curve` evaluates members: z (m, dimensions), u (n,) → performance (m, n).
    """

    name: str
    words: str
    dimensions: int
    parameters: Callable[[Floats], Parameters]
    curve: Callable[[Floats, Floats], Floats]
    has_threshold: bool = True

    def at(self, z: Floats, u: Floats) -> Floats:
        """Return the members' performance (m, n) at latencies u (n,), never below `FLOOR`."""
        return np.maximum(self.curve(z, u), FLOOR)


def threshold_of(z: Floats) -> Floats:
    """Return the end of the flat part: around 5 % of the sweep, rarely below 0.5 % or above 50 %.

    The published thresholds lie at 2 to 20 % of their sweeps.
    """
    t = 0.05 * np.exp(1.1 * z)
    return np.asarray(t / (1 + t))


def step_of(z: Floats) -> Floats:
    """Return the loss at the threshold: around 1.5 %; the published functions lose 0.3 to 5 %."""
    return np.asarray(0.3 / (1 + np.exp(3.0 - 1.2 * z)))


def _beyond(t: Floats, u: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the distance past each threshold (m, n), 0 before it, and whether it is past."""
    past = u[None, :] - t[:, None]
    return np.maximum(past, 0), past >= 0


def _hyperbolic_parameters(z: Floats) -> Parameters:
    return {"threshold": threshold_of(z[:, 0]), "step": step_of(z[:, 1]), "slowdown": 0.8 * np.exp(1.6 * z[:, 2])}


def _hyperbolic(z: Floats, u: Floats) -> Floats:
    # Synchronous rounds: time grows in proportion to the latency of each round.
    p = _hyperbolic_parameters(z)
    d, past = _beyond(p["threshold"], u)
    return np.where(past, (1 - p["step"][:, None]) / (1 + p["slowdown"][:, None] * d), 1.0)


def _sigmoid_parameters(z: Floats) -> Parameters:
    return {
        "middle": 1.1 * scipy.special.ndtr(z[:, 0]),
        "drop": scipy.special.expit(1.5 * z[:, 1]),
        "width": 0.02 * np.exp(1.5 * z[:, 2]),
    }


def _sigmoid(z: Floats, u: Floats) -> Floats:
    # A deadline that most requests pass at about one latency: a timeout, a buffer that runs dry.
    p = _sigmoid_parameters(z)
    middle, width = p["middle"][:, None], p["width"][:, None]
    at_once = scipy.special.expit(-middle / width)
    fallen = (scipy.special.expit((u[None, :] - middle) / width) - at_once) / (1 - at_once)
    return np.asarray(1 - p["drop"][:, None] * fallen)


def _two_speeds_parameters(z: Floats) -> Parameters:
    fast = 0.02 + 0.04 * np.exp(1.2 * z[:, 1])
    return {"share": scipy.special.expit(1.2 * z[:, 0]), "fast": fast, "slow": fast + np.exp(1.2 * z[:, 2])}


def _two_speeds(z: Floats, u: Floats) -> Floats:
    # Two kinds of requests in one rate: one waits for the network, the other hardly.
    p = _two_speeds_parameters(z)
    fast, slow = (np.exp(-u[None, :] / p[name][:, None]) for name in ("fast", "slow"))
    return np.asarray(p["share"][:, None] * fast + (1 - p["share"][:, None]) * slow)


def _power_parameters(z: Floats) -> Parameters:
    return {"drop": scipy.special.expit(1.5 * z[:, 0]), "power": 0.7 * np.exp(0.6 * z[:, 1])}


def _power(z: Floats, u: Floats) -> Floats:
    # Below a power of 1 the first microseconds cost most: work that is never idle, and waits for each of them.
    p = _power_parameters(z)
    return np.asarray(1 - p["drop"][:, None] * u[None, :] ** p["power"][:, None])


def _two_stage_parameters(z: Floats) -> Parameters:
    return {
        "threshold": threshold_of(z[:, 0]),
        "drop": 1 / (1 + np.exp(1.5 - 1.2 * z[:, 1])),
        "fall": 0.1 * np.exp(1.0 * z[:, 2]),
        "rest": 0.1 * np.exp(1.0 * z[:, 3]),
        "slowdown": 0.8 * np.exp(1.4 * z[:, 4]),
    }


def _two_stage(z: Floats, u: Floats) -> Floats:
    # One bottleneck saturates over a short range, performance stays level, then falls as in a closed loop (DNS).
    p = _two_stage_parameters(z)
    d, _ = _beyond(p["threshold"], u)
    first = 1 - p["drop"][:, None] * np.minimum(d / p["fall"][:, None], 1)
    later, _ = _beyond(p["threshold"] + p["fall"] + p["rest"], u)
    return np.asarray(first / (1 + p["slowdown"][:, None] * later))


def _closed_loop_parameters(z: Floats) -> Parameters:
    return {
        "saturated": 0.3 * np.exp(1.2 * z[:, 0]),
        "idle": 0.15 * np.exp(1.2 * z[:, 1]),
        "sharpness": 1 + 2 * np.exp(0.7 * z[:, 2]),
    }


def _closed_loop(z: Floats, u: Floats) -> Floats:
    # N outstanding requests: throughput is N / response time. The response time is that of the saturated server or of
    # the network, whichever is longer, with a smooth transition.
    p = _closed_loop_parameters(z)
    m, idle, saturated = p["sharpness"][:, None], p["idle"][:, None], p["saturated"][:, None]
    base = np.logaddexp(0, m * np.log(idle / saturated))
    return np.exp((base - np.logaddexp(0, m * np.log((idle + u[None, :]) / saturated))) / m)


def _linear_parameters(z: Floats) -> Parameters:
    drop = 1 / (1 + np.exp(1.0 - 1.5 * z[:, 2]))
    return {"threshold": threshold_of(z[:, 0]), "step": step_of(z[:, 1]), "drop": drop}


def _linear(z: Floats, u: Floats) -> Floats:
    p = _linear_parameters(z)
    d, past = _beyond(p["threshold"], u)
    fallen = p["drop"][:, None] * d / (1 - p["threshold"][:, None])
    return np.where(past, (1 - p["step"][:, None]) * (1 - fallen), 1.0)


def _cubic_parameters(z: Floats) -> Parameters:
    drop = 1 / (1 + np.exp(-0.5 - 1.5 * z[:, 2]))
    bend = {"bend": -0.8 + 1.2 * z[:, 3], "belly": np.exp(2 * (z[:, 4] - 1))}
    return {"threshold": threshold_of(z[:, 0]), "step": step_of(z[:, 1]), "drop": drop} | bend


def _cubic(z: Floats, u: Floats) -> Floats:
    # A cubic falls on all of [0, 1] just when its slope is −((1 + b v)² + g v (1 − v)) with g ≥ 0, up to scale
    # (Lukács' theorem on polynomials that keep their sign on an interval): no cubic is lost, none rises.
    p = _cubic_parameters(z)
    d, past = _beyond(p["threshold"], u)
    v = d / (1 - p["threshold"][:, None])
    b, g = p["bend"][:, None], p["belly"][:, None]
    fallen = v * (1 + v * (b + g / 2 + v * (b * b - g) / 3)) / (1 + b + b * b / 3 + g / 6)
    return np.where(past, (1 - p["step"][:, None]) * (1 - p["drop"][:, None] * fallen), 1.0)


def _exponential_parameters(z: Floats) -> Parameters:
    # A late start and a low baseline look alike in an exponential fall, so the start is near 0 unless samples say more.
    start = np.minimum(0.004 * np.exp(1.6 * z[:, 0]), 0.9)
    return {"threshold": start, "scale": 0.2 * np.exp(1.6 * z[:, 1]), "power": np.exp(0.35 * z[:, 2])}


def _exponential(z: Floats, u: Floats) -> Floats:
    # Work that is lost once a deadline passes: the share that is in time falls by the same factor for each latency.
    p = _exponential_parameters(z)
    d, _ = _beyond(p["threshold"], u)
    return np.exp(-((d / p["scale"][:, None]) ** p["power"][:, None]))


HYPERBOLIC = Family("hyperbolic", "flat, then 1/(1+ax)", 3, _hyperbolic_parameters, _hyperbolic)
EXPONENTIAL = Family("exponential", "flat, then exp(−(x/a)ᵇ)", 3, _exponential_parameters, _exponential, False)
CLOSED_LOOP = Family("closed-loop", "closed loop of requests", 3, _closed_loop_parameters, _closed_loop, False)
TWO_STAGE = Family("two-stage", "flat, a fall, level, then 1/(1+ax)", 5, _two_stage_parameters, _two_stage)
LINEAR = Family("linear", "flat, then a line", 3, _linear_parameters, _linear)
SIGMOID = Family("sigmoid", "one fall around a latency", 3, _sigmoid_parameters, _sigmoid, False)
TWO_SPEEDS = Family("two-speeds", "two kinds of requests", 3, _two_speeds_parameters, _two_speeds, False)
POWER = Family("power", "a fall by a power of latency", 2, _power_parameters, _power, False)
CUBIC = Family("cubic", "flat, then a falling cubic", 5, _cubic_parameters, _cubic)


def piecewise(knots: Floats) -> Family:
    """Return the family of free falls between `knots` (ascending, 0 to 1), linear on a logarithmic scale.

    It covers shapes without a formula. Each fall is around 3 % and may be near 0, so plateaus are possible.
    """
    widths = np.diff(knots)

    def parameters(z: Floats) -> Parameters:
        return {"falls": 0.4 * np.sqrt(widths) * np.exp(1.5 * z - 0.5)}

    def curve(z: Floats, u: Floats) -> Floats:
        share = np.clip((u[:, None] - knots[None, :-1]) / widths, 0, 1)
        return np.asarray(np.exp(-parameters(z)["falls"] @ share.T))

    return Family("piecewise", "free falls between knots", widths.size, parameters, curve, False)


def steps(count: int) -> Family:
    """Return the family of `count` steps. A member is the latencies of its steps, then the share that each loses."""

    def parameters(z: Floats) -> Parameters:
        return {"at": z[:, :count], "drop": z[:, count:]}

    def curve(z: Floats, u: Floats) -> Floats:
        past = u[None, None, :] >= z[:, :count, None]
        return np.asarray(np.prod(1 - z[:, count:, None] * past, axis=1))

    return Family("steps", "up to three steps", 2 * count, parameters, curve, False)
