"""From traffic to applications, from advice to change: one JSON object a figure. `SEED=` selects worlds.

`ONLY=` one group: next-vm (places of new VMs against brute force), plans (read by the tools that carry them out).
"""

import os
from collections.abc import Callable

from lab.benchmarks.figures import finish, selected
from lab.benchmarks.recommending import next_vm, plans


def main(seed: int) -> None:
    """Print the figures of the groups of `ONLY`, all by default."""
    groups: dict[str, Callable[[], None]] = {"next-vm": lambda: next_vm.main(seed), "plans": lambda: plans.main(seed)}
    for name in selected(groups):
        groups[name]()
    finish()


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or 2))
