"""Print the agent's figures, a JSON object a line: `make bench-agent`, or `make bench-agent ONLY=clock`.

A group of figures is a module in this folder with a function `run()`.
"""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lab.benchmarks import figures  # noqa: E402

from laboratory import LabError  # noqa: E402

GROUPS = (
    "clock",
    "cpu",
    "loss",
    "packets",
    "footprint",
    "delaybox",
    "outage",
    "stock_loss",
    "amplification",
    "egress_guard",
    "static",
)


def main() -> int:
    """Run the groups of `ONLY`, all by default. Return 1 if one could not be measured or a figure missed its bar."""
    present = [group for group in GROUPS if (HERE / f"{group}.py").exists()]
    failed = 0
    for group in figures.selected(present):
        figures.comment(f"── {group}")
        try:
            importlib.import_module(group).run()
        except LabError as error:
            figures.comment(f"{group} could not be measured: {error}")
            failed += 1
    figures.finish()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
