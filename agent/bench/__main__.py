"""Prints the agent's figures, a JSON object a line: `make bench-agent`, or `make bench-agent ONLY=clock`.

A group of figures is a module beside this one with a function `run()`.
"""

import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from lab import LabError, note  # noqa: E402

GROUPS = ("clock", "cpu", "loss", "packets", "footprint", "delaybox")


def main() -> int:
    """Run the groups asked for, all by default; the exit code says whether each could be measured."""
    here = [group for group in GROUPS if (HERE / f"{group}.py").exists()]
    wanted = os.environ.get("ONLY", "").replace(",", " ").split() or here
    if unknown := set(wanted) - set(here):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(here)}")
    failed = 0
    for group in wanted:
        note(f"── {group}")
        try:
            importlib.import_module(group).run()
        except LabError as error:
            note(f"{group} could not be measured: {error}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
