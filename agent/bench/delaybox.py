"""Delays that delaybox injects and achieves: by its own times, and by probes through it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from lab.benchmarks import figures

from laboratory import LabError, tool

PROGRAM = Path(__file__).resolve().parents[1] / "target" / "release" / "delaybox"
PROBES = 4_000
# Outbound and inbound of each run: every distribution once, from tens of microseconds to a millisecond.
RUNS = (
    ("constant:50us", "constant:500us"),
    ("uniform:100us,300us", "normal:200us,20us"),
    ("pareto:200us,20us", "pareto-normal:1ms,50us"),
)
LOSS_PERCENT = 5.0


def run() -> None:
    """Measure every figure."""
    worst_own = worst_seen = 0.0
    for outbound, inbound in RUNS:
        report = _verify(f"delay={outbound}", f"delay={inbound}")
        for verdict in report["directions"]:
            own, seen = (_off_us(verdict, column) for column in ("achieved_ns", "seen_ns"))
            worst_own, worst_seen = max(worst_own, own["p50"]), max(worst_seen, own["p50"], abs(seen["p50"]))
            figures.report("delaybox_late_us", own["p50"], late=own, delay=verdict["delay"], seen_outside=seen)
    figures.report("delaybox_median_error_us", round(worst_own, 2))
    figures.report("delaybox_median_error_seen_us", round(worst_seen, 2))
    _loss()


def _loss() -> None:
    """Check that lost packets are counted exactly and are as many as random draws allow."""
    verdicts = _verify(f"loss={LOSS_PERCENT}%", f"loss={LOSS_PERCENT}%")["directions"]
    share = LOSS_PERCENT / 100
    deviation = (PROBES * share * (1 - share)) ** 0.5
    sigmas = [abs(verdict["lost_in_box"] - PROBES * share) / deviation for verdict in verdicts]
    uncounted = sum(abs(verdict["not_arrived"] - verdict["lost_in_box"]) for verdict in verdicts)
    figures.report("delaybox_loss_error_sigmas", round(max(sigmas), 2))
    figures.report("delaybox_uncounted_losses", uncounted)


def _verify(outbound: str, inbound: str) -> dict[str, Any]:
    words = [str(PROGRAM), "verify", "--json", "--probes", str(PROBES), "--outbound", outbound, "--inbound", inbound]
    if not PROGRAM.exists():
        raise LabError(f"{PROGRAM} is not built.\nWhat to do: make setup")
    if os.geteuid() != 0:
        words = [tool("unshare"), "--user", "--map-root-user", "--net", *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(done.stderr.strip())
    figures.comment(f"   {outbound} | {inbound}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _off_us(verdict: dict[str, Any], column: str) -> dict[str, float]:
    """Return the excess over the injected delay (packets in order), µs, at quantiles."""
    injected, achieved = verdict["planned_ns"], verdict[column]
    return {name: round((achieved[name] - injected[name]) / 1e3, 2) for name in ("p01", "p10", "p50", "p90", "p99")}
