"""Figure of the control group: violations of its promises in random histories, see `group_histories`."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from lab.benchmarks.advising.group_histories import History
from lab.benchmarks.advising.group_world import Faults
from lab.benchmarks.figures import report

HISTORIES = 10_000
STEPS = 40


@dataclass(frozen=True)
class Found:
    """Violations of all histories, how often the barrier was reached meanwhile, and see `History.late_elsewhere`."""

    violations: list[str]
    barriers: int
    late_elsewhere: int


async def histories(randoms: Sequence[Random], faults: Faults, steps: int) -> Found:
    """Run a history of `steps` events for each generator."""
    violations, barriers, late_elsewhere = [], 0, 0
    for random in randoms:
        history = History(random, faults)
        await history.run(steps)
        violations += history.violations
        barriers += history.barriers
        late_elsewhere += history.late_elsewhere
    return Found(violations, barriers, late_elsewhere)


def main(seed: int) -> None:
    """Print the figure, with the number of histories and how often a barrier was reached in them."""
    randoms = [Random(f"{seed} {at}") for at in range(HISTORIES)]
    found = asyncio.run(histories(randoms, Faults(), STEPS))
    detail: dict[str, object] = {
        "histories": HISTORIES,
        "barriers": found.barriers,
        "by_kind": Counter(found.violations),
    }
    report("control_group_violations", len(found.violations), **detail, late_in_another_mesh=found.late_elsewhere)
