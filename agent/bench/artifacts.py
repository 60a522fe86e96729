"""Print the figures of artifacts, a JSON object a line: `make bench-artifacts`; some groups: `ONLY=rounds,sources`.

A group is a module in `spreading` with a function `run(cloud, seed)`. Every group has a product and agents of its own.
"""

import importlib
import os
import sys

from lab.benchmarks import figures

from laboratory import LabError
from spreading.cloud import cloud

GROUPS = ("rounds", "sources", "corrupt", "disturbance", "moves")


def main() -> int:
    """Run the groups of `ONLY`, all by default. Return 1 if one could not be measured."""
    failed = 0
    for group in figures.selected(GROUPS):
        figures.comment(f"── {group}")
        try:
            with cloud() as running:
                importlib.import_module(f"spreading.{group}").run(running, int(os.environ.get("SEED") or "1"))
        except LabError as error:
            figures.comment(f"{group} could not be measured: {error}")
            failed += 1
    figures.finish()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
