"""Print the agent's figures, a JSON object a line: `make bench-agent`, or `make bench-agent ONLY=clock`.

A group of figures is a module in this folder with a function `run()`.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from lab.benchmarks import figures

from laboratory import LabError

GROUPS = (
    "clock",
    "cpu",
    "loss",
    "footprint",
    "host",
    "field",
    "clone",
)


if __name__ == "__main__":
    figures.run({name: importlib.import_module(name).run for name in GROUPS}, (LabError,))
