"""What comes of a profile: measurements, everything as JSON, a picture, and words."""

import json
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.profiler import machine, picture
from sinemora.profiler.profile import Profile
from sinemora.profiler.quiet import QUIET_BELOW
from sinemora.profiler.sweep import Run


def write(profile: Profile, folder: Path) -> list[Path]:
    """Write the measurements as CSV (as curves take them), everything as JSON, and a picture."""
    swept = [run for run in profile.runs if run.phase == "sweep"]
    described = describe(profile)
    about = [f"# {line}" for line in source(profile)]
    rows = [f"{run.added_us:g},{run.value:.10g}" for run in sorted(swept, key=lambda run: run.added_us)]
    paths = [folder / name for name in ("measurements.csv", "profile.json", "curve.svg")]
    column = "rate" if profile.recipe.metric == "rate" else "duration"
    paths[0].write_text("\n".join([*about, f"added_us,{column}", *rows]) + "\n", "utf-8")
    paths[1].write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", "utf-8")
    paths[2].write_text(picture.svg(profile.fit, title(profile)), "utf-8")
    return paths


def title(profile: Profile) -> str:
    """Return one line for pictures and names."""
    return f"{profile.recipe.name}, load {profile.load}"


def source(profile: Profile) -> list[str]:
    """Where the numbers are from, in words."""
    about = machine.description()
    many = sum(run.phase == "sweep" for run in profile.runs)
    lines = [
        f"{profile.recipe.name}: {shlex.join(_words(profile.recipe.command))}, load {profile.load}",
        f"{many} runs in random order at {len(profile.means)} latencies, measured on {datetime.now(UTC):%Y-%m-%d}",
        f"{about['processor']}, {about['cores']} cores, {about['memory']}, Linux {about['kernel']}, {about['system']}"
        + (", virtual machine" if about["hypervisor"] else ""),
    ]
    return lines + machine.versions(profile.recipe.versions)


def describe(profile: Profile) -> dict[str, Any]:
    """Everything of a profile, for JSON."""
    found = profile.fit
    threshold = found.threshold
    at_us = [float(us) for us in found.samples.added_us]
    band = found.at(at_us)
    return {
        "recipe": profile.recipe.name,
        "metric": profile.recipe.metric,
        "unit": profile.recipe.unit,
        "server": None if profile.recipe.server is None else shlex.join(_words(profile.recipe.server)),
        "command": shlex.join(_words(profile.recipe.command)),
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
            "family": found.chosen,
            "formula": found.candidates[0].formula,
            "reason": found.reason,
            "noise": found.noise,
            "threshold_us": [threshold.low_us, threshold.at_us, threshold.high_us],
            "added_us": at_us,
            "performance": band.performance.tolist(),
            "low": band.low.tolist(),
            "high": band.high.tolist(),
            "warnings": [f"{one.code}: {one.message}" for one in found.warnings],
        },
    }


def summary(profile: Profile) -> str:
    """What came out, for people."""
    found = profile.fit
    band = found.at(list(profile.means))
    lines = [f"{'added µs':>9} {profile.recipe.unit:>14} {'runs':>5} {'performance':>12}  band"]
    for (us, mean), p, low, high in zip(profile.means.items(), band.performance, band.low, band.high, strict=True):
        lines.append(f"{us:9.0f} {mean.value:14,.5g} {mean.count:5} {p:12.3f}  {low:.3f} … {high:.3f}")
    lines.append(f"{found.candidates[0].words}: {found.candidates[0].formula}")
    lines.append(found.reason)
    lines += [f"Careful: {text}" for text in (*_disturbed(profile), *(one.message for one in found.warnings))]
    return "\n".join(lines)


def _disturbed(profile: Profile) -> list[str]:
    beside = [run.others for run in profile.runs if run.others is not None and run.others > QUIET_BELOW]
    if not beside:
        return []
    many, used = len(beside), float(np.median(beside))
    return [
        f"other work used {used:.1f} processors during {many} of {len(profile.runs)} runs; measure on a quiet machine"
    ]


def _is(run: Run, added_us: float) -> bool:
    return run.phase == "sweep" and run.added_us == added_us


def _median(values: Any) -> float | None:
    found = sorted(value for value in values if value is not None)
    return float(found[len(found) // 2]) if found else None


def _words(words: Sequence[str]) -> list[str]:
    """Return a command without the paths of this machine."""
    rest = (
        ("python" if word == sys.executable else word.rsplit("/", 1)[-1]) if _ours(word) else word for word in words[1:]
    )
    return [words[0].rsplit("/", 1)[-1], *rest]


def _ours(word: str) -> bool:
    return word == sys.executable or word.startswith(str(Path(__file__).parent))
