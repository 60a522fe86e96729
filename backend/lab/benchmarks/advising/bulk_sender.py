"""Figures of the bulk sender, which need agents and a laboratory: `agent/bench/bulk_sender.py`."""

import importlib
import os
import sys
from pathlib import Path

from lab.benchmarks.figures import comment

_BENCH = Path(__file__).resolve().parents[4] / "agent" / "bench"


def main(seed: int) -> None:
    """Print the figures. Without root there are none."""
    if os.geteuid() != 0:
        comment("Token buckets need root for network namespaces: not measured.")
        return
    sys.path.insert(0, str(_BENCH))
    importlib.import_module("bulk_sender").run(seed)
