"""The files of the client that are generated, and where they are written."""

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from generator import models, operations
from generator.references import inlined

BACKEND = Path(__file__).parents[2]
CLIENT = BACKEND / "client" / "sinemora_client"
CONTRACT = BACKEND / "openapi.json"


def files_of(contract: Path = CONTRACT) -> dict[str, str]:
    """Return the generated files by their path inside the client."""
    document = inlined(json.loads(contract.read_text("utf-8")))
    schemas = document["components"]["schemas"]
    called = operations.callable_by_keys(document)
    wanted = {name for one in called for name in operations.models_of(one)}
    by_tag = {tag: list(group) for tag, group in groupby(called, key=lambda one: one.tag)}
    files = {
        f"operations/{operations.module_name(tag)}.py": operations.module_of(tag, of_tag, schemas)
        for tag, of_tag in by_tag.items()
    }
    files["operations/__init__.py"] = operations.package_of(list(by_tag))
    files["models.py"] = models.module_of(schemas, models.reachable(schemas, wanted))
    return files


def write_client(client: Path = CLIENT) -> None:
    """Write the generated files into the package, and delete the modules of tags that the contract no longer has."""
    files = files_of()
    write(client, files)
    for path in client.glob("operations/*.py"):
        if str(path.relative_to(client)) not in files:
            path.unlink()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files that differ, each at once: a process may import them at this moment."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and path.read_text("utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(text, "utf-8")
        fresh.replace(path)
