"""Generate models and operations of the client before hatchling builds the package from a checkout."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CLIENT = Path(__file__).parent


class GeneratedCode(BuildHookInterface[Any]):
    """Writes what is not in git. A source distribution has no contract, but the files written from it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files (called by hatchling)."""
        sys.path.insert(0, str(_CLIENT))
        from generator.files import CONTRACT, write_client

        if CONTRACT.exists():
            write_client()
