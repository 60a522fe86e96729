"""Benchmark of meshes that rotate: faults among 1,000 VMs with a tenth of a full mesh's packets, and estimates.

Detection is the number of windows from the start of a fault of a VM or of zones until an incident about it. A fault of
one path alone waits for the turns of that path; its time follows from the plan.
"""

import os

import numpy as np

from lab.benchmarks import estimating
from lab.benchmarks.figures import comment, finish, report
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect, explains
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.fleet.meshes.strategies.detection import detections_of
from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind
from sinemora.fleet.meshes.strategies.turns import Words, active, turns_of
from sinemora.measurements.aggregate.matrix import Metric, Statistic

VMS, ZONES, PERIOD = 1_000, 8, 10
LASTS = 2 * PERIOD
# Of the default rules those about loss: they need no baseline.
RULES = [rule for rule in defaults() if rule.id in ("loss", "path-loss")]
FAULTS = (Suspect.EGRESS, Suspect.INGRESS, Suspect.VM, Suspect.ZONE_PAIR, Suspect.ZONE)
EACH = int(os.environ.get("EACH") or 4)


def main() -> None:
    """Run the benchmark."""
    zone_of = np.sort(np.random.default_rng(1).integers(0, ZONES, VMS))
    planned = ~np.eye(VMS, dtype=bool)
    words = _turns(StrategyKind.SPARSE, zone_of, planned)
    share = float(np.bitwise_count(words).sum()) / PERIOD / planned.sum()
    detection(zone_of, planned, words, share)
    estimating.run()
    finish()


def _turns(kind: StrategyKind, zone_of: np.ndarray, planned: np.ndarray) -> Words:
    return turns_of(Strategy(kind, PERIOD, 8), zone_of, planned, np.zeros(VMS, bool), None, 1)


def detection(zone_of: np.ndarray, planned: np.ndarray, words: Words, share: float) -> None:
    """Play faults window by window through the rules and the search for causes."""
    rng = np.random.default_rng(7)
    taken: list[int] = []
    right = 0
    for suspect in FAULTS:
        for _ in range(EACH):
            culprit = _culprit(suspect, rng)
            windows, found = _play(culprit, zone_of, planned, words, rng)
            taken.append(windows)
            right += found == culprit
            comment(f"{culprit}: {windows} windows, {found}")
    report(
        "agent_sparse_detection_windows_p90",
        float(np.quantile(taken, 0.9, method="inverted_cdf")),
        packets_share=round(share, 4),
        faults=len(taken),
        right_percent=round(100 * right / len(taken), 1),
    )
    of_path = detections_of(words, PERIOD, zone_of, planned).path
    report("agent_sparse_detection_windows_path_p90", float(of_path.p90_windows or 0), worst=of_path.worst_windows)


def _culprit(suspect: Suspect, rng: np.random.Generator) -> Culprit:
    most = ZONES if suspect in (Suspect.ZONE, Suspect.ZONE_PAIR) else VMS
    one, other = (int(at) for at in rng.choice(most, 2, replace=False))
    return Culprit(suspect, one, other if suspect is Suspect.ZONE_PAIR else -1)


def _play(
    culprit: Culprit, zone_of: np.ndarray, planned: np.ndarray, words: Words, rng: np.random.Generator
) -> tuple[int, Culprit | None]:
    """Return the windows until an incident, and its culprit; `LASTS` without one."""
    state = EvaluationState(np.arange(VMS))
    bad = explains(culprit, zone_of)
    start = int(rng.integers(PERIOD))
    for number in range(LASTS):
        turn = active(words, PERIOD, (start + number) * 10, 10)
        # 8 exchanges per second; a fault loses 30 %, and every path 0.03 % (UCAM-CL-TR-937, table 4.4).
        loss = np.full(turn.shape, np.nan, np.float32)
        loss[turn] = rng.binomial(80, np.where(bad[turn], 0.3, 0.0003)) / 80
        silent = np.zeros(VMS, bool)

        def values(metric: Metric, statistic: Statistic, loss: np.ndarray = loss) -> np.ndarray:
            return loss if metric is Metric.LOSS else np.where(np.isnan(loss), np.nan, 1e5).astype(np.float32)

        window = EvaluationWindow(
            (start + number + 1) * 10, 10, state.keys, zone_of, planned, values, silent, active=turn, period=PERIOD
        )
        for found in step(state, RULES, window).detections:
            return number + 1, found.cause.culprit
    return LASTS, None


if __name__ == "__main__":
    main()
