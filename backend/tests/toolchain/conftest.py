"""The scripts of `infra` are run as files: their folders are the path."""

import sys
from pathlib import Path

INFRA = Path(__file__).resolve().parents[3] / "infra"
sys.path += [str(INFRA / folder) for folder in ("toolchain", "test", "packages", "supply_chain")]
