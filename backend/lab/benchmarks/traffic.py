"""From traffic to applications, from advice to change: one JSON object a figure. `SEED=` selects worlds.

`ONLY=` one group: next-vm (places of new VMs against brute force), plans (read by the tools that carry them out),
ports (agents on links by hash; root).
"""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from lab.benchmarks.figures import finish, selected
from lab.benchmarks.recommending import next_vm, plans

AGENT_BENCH = Path(__file__).resolve().parents[3] / "agent" / "bench"


def main(seed: int) -> None:
    """Print the figures of the groups of `ONLY`, all by default."""
    groups: dict[str, Callable[[], None]] = {
        "next-vm": lambda: next_vm.main(seed),
        "plans": lambda: plans.main(seed),
        "ports": ports,
    }
    for name in selected(groups):
        groups[name]()
    finish()


def ports() -> None:
    """Measure agents in networks with one link and with two by hash."""
    sys.path.insert(0, str(AGENT_BENCH))
    importlib.import_module("ports").run()


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or 2))
