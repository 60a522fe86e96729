"""Generate the code that is not in git: the module of the agent's reports, and models and operations of the client.

Set-up and `make replace` run this file in a checkout; hatchling runs it before it builds or installs the package.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BACKEND = Path(__file__).parent
_PROTO = _BACKEND.parent / "agent" / "wire" / "proto"


class GeneratedCode(BuildHookInterface[Any]):
    """Writes the files. A source distribution has no contracts, but the files written from them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files (called by hatchling)."""
        if _PROTO.exists():
            generate()


def generate() -> None:
    """Write all generated files of the backend."""
    sys.path.insert(0, str(_BACKEND / "client"))
    from grpc_tools import protoc

    from generator.files import write, write_client

    with tempfile.TemporaryDirectory() as folder:
        failed = protoc.main(["", f"-I{_PROTO}", "agent.proto", f"--python_out={folder}", f"--pyi_out={folder}"])
        if failed:
            sys.exit(failed)
        files = {path.name: path.read_text("utf-8") for path in Path(folder).iterdir()}
    write(_BACKEND / "sinemora" / "measurements" / "ingest", files)
    write_client()


if __name__ == "__main__":
    generate()
