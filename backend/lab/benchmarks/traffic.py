"""From traffic to applications, from advice to change: one JSON object a figure. `SEED=` selects worlds.

`ONLY=` one group: next-vm (places of new VMs against brute force), plans (read by the tools that carry them out),
ports (agents on links by hash; root), agent (cost of counting connections), applications (found and followed).
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from lab.benchmarks.recommending import next_vm, plans

AGENT_BENCH = Path(__file__).resolve().parents[3] / "agent" / "bench"


def of_agents(module: str) -> Any:
    """Return a module of the agents' laboratory, whose modules import one another by their names."""
    if str(AGENT_BENCH) not in sys.path:
        sys.path.insert(0, str(AGENT_BENCH))
    return importlib.import_module(module)


def main(seed: int) -> None:
    """Print the figures of the groups of `ONLY`, all by default."""
    figures.run(
        {
            "next-vm": lambda: next_vm.main(seed),
            "plans": lambda: plans.main(seed),
            "ports": lambda: of_agents("ports").run(),
            "agent": lambda: of_agents("services").run(),
            "applications": lambda: of_agents("traffic_found").run(),
        }
    )


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or 2))
