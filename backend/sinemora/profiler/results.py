"""Results of a profile: measurements as CSV, all data as JSON, a plot, a text summary."""

import json
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.profiler import machine, plot
from sinemora.profiler.interference import QUIET_BELOW
from sinemora.profiler.profile import Profile
from sinemora.profiler.sweep import Run


def write(profile: Profile, folder: Path) -> list[Path]:
    """Write measurements as CSV (the input of curves), all data as JSON, and a plot; return their paths."""
    swept = [run for run in profile.runs if run.phase == "sweep"]
    described = describe(profile)
    about = [f"# {line}" for line in source(profile)]
    rows = [f"{run.added_us:g},{run.value:.10g}" for run in sorted(swept, key=lambda run: run.added_us)]
    paths = [folder / name for name in ("measurements.csv", "profile.json", "curve.svg")]
    column = "rate" if profile.recipe.metric == "rate" else "duration"
    paths[0].write_text("\n".join([*about, f"added_us,{column}", *rows]) + "\n", "utf-8")
    paths[1].write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", "utf-8")
    paths[2].write_text(plot.svg(profile.fit, title(profile)), "utf-8")
    return paths


def title(profile: Profile) -> str:
    """Return a one-line title for plots and names."""
    return f"{profile.recipe.name}, load {profile.load}"


def source(profile: Profile) -> list[str]:
    """Return a description of the origin of the measurements, by line."""
    about = machine.description()
    count = sum(run.phase == "sweep" for run in profile.runs)
    lines = [
        f"{profile.recipe.name}: {shlex.join(_portable(profile.recipe.command))}, load {profile.load}",
        f"{count} runs in random order at {len(profile.means)} latencies, measured on {datetime.now(UTC):%Y-%m-%d}",
        f"{about['processor']}, {about['cores']} cores, {about['memory']}, Linux {about['kernel']}, {about['system']}"
        + (", virtual machine" if about["hypervisor"] else ""),
    ]
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
        "points": [
            {
                "added_us": us,
                "achieved_us": _median(run.achieved_us for run in profile.runs if _is(run, us)),
                "others": _median(run.others for run in profile.runs if _is(run, us)),
                "mean": mean.value,
                "half_width": mean.half_width,
                "runs": [run.value for run in profile.runs if _is(run, us)],
            }
            for us, mean in profile.means.items()
        ],
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


def summary(profile: Profile) -> str:
    """Return a text summary."""
    fitted = profile.fit
    band = fitted.at(list(profile.means))
    lines = [f"{'added µs':>9} {profile.recipe.unit:>14} {'runs':>5} {'performance':>12}  band"]
    for (us, mean), p, low, high in zip(profile.means.items(), band.performance, band.low, band.high, strict=True):
        lines.append(f"{us:9.0f} {mean.value:14,.5g} {mean.count:5} {p:12.3f}  {low:.3f} … {high:.3f}")
    lines.append(f"{fitted.candidates[0].words}: {fitted.candidates[0].formula}")
    lines.append(fitted.reason)
    lines += [f"Warning: {text}" for text in (*_disturbed(profile), *(warning.message for warning in fitted.warnings))]
    return "\n".join(lines)


def _disturbed(profile: Profile) -> list[str]:
    disturbed = [run.others for run in profile.runs if run.others is not None and run.others > QUIET_BELOW]
    if not disturbed:
        return []
    count, used = len(disturbed), float(np.median(disturbed))
    return [
        f"other work used {used:.1f} processors during {count} of {len(profile.runs)} runs; measure on a quiet machine"
    ]


def _is(run: Run, added_us: float) -> bool:
    return run.phase == "sweep" and run.added_us == added_us


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
