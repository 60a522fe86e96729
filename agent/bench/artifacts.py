"""Print the figures of artifacts, a JSON object a line: `make bench-artifacts`; some groups: `ONLY=rounds,sources`.

A group is a module in `spreading` with a function `run(cloud, seed)`. Every group has a product and agents of its own.
"""

import importlib
import os

from lab.benchmarks import figures

from laboratory import LabError
from spreading.cloud import cloud

GROUPS = ("rounds", "sources", "corrupt", "disturbance", "moves")


def measure(group: str) -> None:
    """Run a group."""
    with cloud() as running:
        importlib.import_module(f"spreading.{group}").run(running, int(os.environ.get("SEED") or "1"))


if __name__ == "__main__":
    figures.run(GROUPS, measure, LabError)
