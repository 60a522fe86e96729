"""Generate the code that is not in git: the module of the agent's reports, and models and operations of the client.

Set-up and `make replace` run this file in a checkout; hatchling runs it before it builds or installs the package. A
wheel also contains the migrations, and the front end and the native module if they were built
(`make release` builds them; SINEMORA_NATIVE names the module, SINEMORA_WHEEL_TAG what it runs on).
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BACKEND = Path(__file__).parent
_ROOT = _BACKEND.parent
_PROTO = _ROOT / "agent" / "wire" / "proto"


class GeneratedCode(BuildHookInterface[Any]):
    """Writes the files. A source distribution has no contracts, but the files written from them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files (called by hatchling)."""
        if not _PROTO.exists():
            return
        generate()
        if self.target_name != "wheel" or version == "editable":
            return
        beside = {"migrations": _ROOT / "migrations", "frontend": _ROOT / "frontend" / "dist"}
        inside = {str(path): f"sinemora/bundled/{name}" for name, path in beside.items() if path.is_dir()}
        if native := os.environ.get("SINEMORA_NATIVE"):
            inside[native] = "sinemora_native.abi3.so"
            build_data["tag"] = os.environ["SINEMORA_WHEEL_TAG"]
            build_data["pure_python"] = False
        build_data["force_include"].update(inside)


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
