"""Figures of packet treatment: findings on real queues of Linux that prefer small packets or a class, or nothing.

Preferred are small packets by a token bucket that drops, and DSCP 46 by two classes of HTB: strict priority, and
weights of 70 and 30. Equal are a queue that counts packets for sizes, and token buckets that drop or queue for classes.
"""

import os
from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from lab.benchmarks.advising.row import classes, from_sender, one_queue, receiving
from lab.benchmarks.figures import comment, report
from sinemora.advisors.shaping import burst
from sinemora.advisors.shaping.core.treatment import Verdict
from sinemora.advisors.shaping.schemas import PacketTreatmentRead, TreatmentCreate
from sinemora.advisors.shaping.service import treatment_of
from sinemora.labs.shaping_lab.namespaces import RECEIVER, Row, row

RUNS = 8
"""Paths of each kind, of random rates."""
PACKETS = 2_000
SIZES, CLASSES = ((64, 0), (1400, 0)), ((1400, 0), (1400, 46))
"""Payload and DSCP of the packets, as the command sends them."""
_FULL = 1400 + burst.OVERHEAD

Kind = tuple[str, bool, Callable[[Row, float], None], bool]
"""Name, by class instead of by size, queue of a path at a rate (bytes/s), and whether it prefers packets."""
KINDS: tuple[Kind, ...] = (
    ("bucket that drops, sizes", False, lambda path, rate: _bucket(path, rate, 2), True),
    ("strict priority", True, lambda path, rate: classes(path, rate, 46, None), True),
    ("weights 70 and 30", True, lambda path, rate: classes(path, rate, 46, 0.7), True),
    ("queue of packets, sizes", False, lambda path, rate: one_queue(path, rate, 50), False),
    ("bucket that drops, classes", True, lambda path, rate: _bucket(path, rate, 2), False),
    ("bucket that queues, classes", True, lambda path, rate: _bucket(path, rate, 100), False),
    ("queue of packets, classes", True, lambda path, rate: one_queue(path, rate, 50), False),
    ("no queue, classes", True, lambda path, _rate: path.shape(), False),
)


def main(seed: int) -> None:
    """Print the figures. Without root there are none."""
    if os.geteuid() != 0:
        comment("Queues need root for network namespaces: not measured.")
        return
    with row() as path, receiving(path):
        figures(path, np.random.default_rng(seed))


def figures(path: Row, rng: np.random.Generator) -> None:
    """Print false findings on paths of equal treatment, and the share of preferences that are found."""
    found, of, wrong, shares = 0, 0, [], []
    for name, is_class, shape, prefers in KINDS:
        for _ in range(RUNS):
            rate = float(np.exp(rng.uniform(np.log(0.5e6), np.log(2e6))))
            shape(path, rate)
            verdict = treatment(path, rate, is_class=is_class)
            differs = verdict.verdict is Verdict.DIFFERENT
            if prefers:
                of, found = of + 1, found + differs
                if name == "weights 70 and 30" and verdict.share is not None:
                    shares.append(verdict.share)
            if differs is not prefers:
                wrong.append({"path": name, "rate": round(rate), "verdict": verdict.verdict.value})
    path.shape()
    equal = sum(not prefers for *_, prefers in KINDS) * RUNS
    false = [one for one in wrong if one["verdict"] == Verdict.DIFFERENT.value]
    report("treatment_false_findings", len(false), paths=equal, found=false[:10])
    report("treatment_recall", found / of, paths=of, missed=[one for one in wrong if one not in false][:10])
    if shares:
        report("treatment_share_error_percent", 100 * float(np.max(np.abs(np.array(shares) - 0.7))), runs=len(shares))


def treatment(path: Row, rate: float, *, is_class: bool) -> PacketTreatmentRead:
    """Return the finding of one burst at three times a rate (bytes/s) over a path."""
    kinds = CLASSES if is_class else SIZES
    arrivals = from_sender(path, lambda: burst.send_mixed(RECEIVER, PACKETS, kinds, 3 * rate))
    read = treatment_of(TreatmentCreate.model_validate(asdict(arrivals)))
    return read.by_class if is_class else read.by_size


def _bucket(path: Row, rate: float, queue: int) -> None:
    """Shape the path with a token bucket of ten packets and a queue of some."""
    limits = ("burst", str(10 * _FULL), "limit", str(queue * _FULL))
    path.shape("tbf", "rate", f"{round(8 * rate)}bit", *limits)
