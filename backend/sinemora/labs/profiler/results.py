"""Results of a profile: measurements as CSV, all data as JSON, a plot, a text summary."""

import json
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.applications.curves.core.variable import WAITS_CLOSED_LOOP, WAITS_SYNCHRONOUS
from sinemora.labs.profiler import machine, plot, variance
from sinemora.labs.profiler.interference import QUIET_BELOW
from sinemora.labs.profiler.profile import Profile
from sinemora.labs.profiler.sweep import Condition, Run


def write(profile: Profile, folder: Path) -> list[Path]:
    """Write measurements as CSV (the input of curves), all data as JSON, and a plot; return their paths."""
    swept = steady(profile)
    described = describe(profile)
    about = [f"# {line}" for line in source(profile)]
    rows = [f"{run.added_us:g},{run.value:.10g}" for run in sorted(swept, key=lambda run: run.added_us)]
    paths = [folder / name for name in ("measurements.csv", "profile.json", "curve.svg")]
    column = "rate" if profile.recipe.metric == "rate" else "duration"
    paths[0].write_text("\n".join([*about, f"added_us,{column}", *rows]) + "\n", "utf-8")
    paths[1].write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", "utf-8")
    paths[2].write_text(plot.svg(profile.fit, title(profile)), "utf-8")
    return paths


def steady(profile: Profile) -> list[Run]:
    """Return the runs of the curve: those of the sweep without variance."""
    return [run for run in profile.runs if run.phase == "sweep" and not run.magnitude_us]


def title(profile: Profile) -> str:
    """Return a one-line title for plots and names."""
    return f"{profile.recipe.name}, load {profile.load}"


def source(profile: Profile) -> list[str]:
    """Return a description of the origin of the measurements, by line."""
    about = machine.description()
    steady_runs = steady(profile)
    latencies = len({run.added_us for run in steady_runs})
    lines = [
        f"{profile.recipe.name}: {shlex.join(_portable(profile.recipe.command))}, load {profile.load}{_hosts(profile)}",
        f"{len(steady_runs)} runs in random order at {latencies} latencies, measured on {datetime.now(UTC):%Y-%m-%d}",
        f"{about['processor']}, {about['cores']} cores, {about['memory']}, Linux {about['kernel']}, {about['system']}"
        + (", virtual machine" if about["hypervisor"] else ""),
    ]
    if reported := latency_us([run for run in steady_runs if run.added_us == 0]):
        lines.append(
            "Request latency without added latency: " + ", ".join(f"{k} {v:.0f} µs" for k, v in reported.items())
        )
    if effects := variance.factors(profile):
        assert profile.variation is not None
        shares = ", ".join(
            f"{one.value:.3f} at {one.condition.added_us:g} ± {one.condition.magnitude_us:g} µs" for one in effects
        )
        lines.append(f"Variance ({profile.variation.name}), relative to none: {shares}; waits {_waits(profile):.1f}")
    return lines + machine.versions(profile.recipe.versions)


def describe(profile: Profile) -> dict[str, Any]:
    """Return all data of a profile, for JSON."""
    fitted = profile.fit
    threshold = fitted.threshold
    at_us = [float(us) for us in fitted.samples.added_us]
    band = fitted.at(at_us)
    return {
        "recipe": profile.recipe.name,
        "metric": profile.recipe.metric,
        "unit": profile.recipe.unit,
        "server": None if profile.recipe.server is None else shlex.join(_portable(profile.recipe.server)),
        "command": shlex.join(_portable(profile.recipe.command)),
        "machine": machine.description(),
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "load": profile.load,
        "loads_tried": {
            str(load): [run.value for run in profile.runs if run.phase == "load" and run.load == load]
            for load in sorted({run.load for run in profile.runs if run.phase == "load"})
        },
        "clients": profile.clients,
        "delayed": profile.delayed,
        "points": [_point(profile, at) for at in profile.means if not at.magnitude_us],
        "variance": _variance(profile),
        "curve": {
            "family": fitted.chosen,
            "formula": fitted.candidates[0].formula,
            "reason": fitted.reason,
            "noise": fitted.noise,
            "threshold_us": [threshold.low_us, threshold.at_us, threshold.high_us],
            "added_us": at_us,
            "performance": band.performance.tolist(),
            "low": band.low.tolist(),
            "high": band.high.tolist(),
            "warnings": [f"{warning.code}: {warning.message}" for warning in fitted.warnings],
        },
    }


def _point(profile: Profile, at: Condition) -> dict[str, Any]:
    runs = [run for run in profile.runs if run.phase == "sweep" and run.condition == at]
    point: dict[str, Any] = {
        "added_us": at.added_us,
        "achieved_us": _median(run.achieved_us for run in runs),
        "others": _median(run.others for run in runs),
        "mean": profile.means[at].value,
        "half_width": profile.means[at].half_width,
        "runs": [run.value for run in runs],
        "latency_us": latency_us(runs),
    }
    if any(run.clients for run in runs):
        point["clients"] = [
            {
                "mean": float(np.mean([run.clients[number]["value"] for run in runs if run.clients])),
                "latency_us": _medians([run.clients[number]["latency_us"] for run in runs if run.clients]),
            }
            for number in range(profile.clients)
        ]
    return point


def latency_us(runs: Sequence[Run]) -> dict[str, float] | None:
    """Return the request latency of runs: the median over the runs of each statistic, µs; None if unknown."""
    return _medians([run.latency_us for run in runs])


def _medians(reported: Sequence[dict[str, float] | None]) -> dict[str, float] | None:
    known = [one for one in reported if one]
    return {name: float(np.median([one[name] for one in known])) for name in known[0]} if known else None


def _variance(profile: Profile) -> dict[str, Any] | None:
    if (kind := profile.variation) is None:
        return None
    points = [
        _point(profile, one.condition)
        | {
            "magnitude_us": one.condition.magnitude_us,
            "factor": one.value,
            "low": one.low,
            "high": one.high,
            "model_rounds": one.rounds,
            "model_requests": one.requests,
        }
        for one in variance.factors(profile)
    ]
    return {"shape": kind.name, "waits": _waits(profile), "points": points}


def _waits(profile: Profile) -> float:
    nearest = variance.waits(profile)
    assert nearest is not None
    return nearest


def _hosts(profile: Profile) -> str:
    if profile.clients == 1:
        return ""
    where = {"server": "the server", "one-client": "the first client", "clients": "every client"}[profile.delayed]
    return f" on each of {profile.clients} clients, latency at {where}"


def summary(profile: Profile) -> str:
    """Return a text summary."""
    fitted = profile.fit
    means = {at.added_us: mean for at, mean in profile.means.items() if not at.magnitude_us}
    band = fitted.at(list(means))
    reported = {us: latency_us([run for run in steady(profile) if run.added_us == us]) or {} for us in means}
    shown = [name for name in ("mean", "p50", "p99") if name in reported[0.0]][-2:]
    heads = "".join(f"{f'{name} µs':>12}" for name in shown)
    lines = [f"{'added µs':>9} {profile.recipe.unit:>14} {'runs':>5} {'performance':>12}  {'band':<15}{heads}"]
    for (us, mean), p, low, high in zip(means.items(), band.performance, band.low, band.high, strict=True):
        cells = "".join(f"{reported[us][name]:12,.0f}" for name in shown)
        interval = f"{low:.3f} … {high:.3f}"
        lines.append(f"{us:9.0f} {mean.value:14,.5g} {mean.count:5} {p:12.3f}  {interval:<15}{cells}".rstrip())
    lines += _of_variance(profile)
    lines.append(f"{fitted.candidates[0].words}: {fitted.candidates[0].formula}")
    lines.append(fitted.reason)
    lines += [f"Warning: {text}" for text in (*_disturbed(profile), *(warning.message for warning in fitted.warnings))]
    return "\n".join(lines)


def _of_variance(profile: Profile) -> list[str]:
    if not (effects := variance.factors(profile)):
        return []
    assert profile.variation is not None
    heads = f"{'median µs':>9} {'± µs each way':>14} {'runs':>5} {'relative':>12}  {'95 %':<15}"
    lines = [f"{heads}{'rounds':>8}{'requests':>10}"]
    for one in effects:
        interval = "" if one.low is None else f"{one.low:.3f} … {one.high:.3f}"
        us, magnitude_us = one.condition
        lines.append(
            f"{us:9.0f} {magnitude_us:14.5g} {one.runs:5} {one.value:12.3f}  {interval:<15}{one.rounds:8.3f}"
            f"{one.requests:10.3f}"
        )
    return [
        *lines,
        f"Variance ({profile.variation.name}): relative to the same median without variance; nearest waits"
        f" {_waits(profile):.1f} (model: {WAITS_SYNCHRONOUS} for rounds, {WAITS_CLOSED_LOOP} for requests)",
    ]


def _disturbed(profile: Profile) -> list[str]:
    disturbed = [run.others for run in profile.runs if run.others is not None and run.others > QUIET_BELOW]
    if not disturbed:
        return []
    count, used = len(disturbed), float(np.median(disturbed))
    return [
        f"other work used {used:.1f} processors during {count} of {len(profile.runs)} runs; measure on a quiet machine"
    ]


def _median(values: Any) -> float | None:
    known = sorted(value for value in values if value is not None)
    return float(known[len(known) // 2]) if known else None


def _portable(words: Sequence[str]) -> list[str]:
    """Return a command without the paths of this machine."""
    arguments = (
        ("python" if word == sys.executable else word.rsplit("/", 1)[-1]) if _is_local(word) else word
        for word in words[1:]
    )
    return [words[0].rsplit("/", 1)[-1], *arguments]


def _is_local(word: str) -> bool:
    return word == sys.executable or word.startswith(str(Path(__file__).parent))
