"""Writes the typed part of the client from the contract: `python -m lab.client_code`; compares it with `--check`."""

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path

from lab.client_code import models, operations

BACKEND = Path(__file__).parents[2]
CLIENT = BACKEND / "client" / "sinemora_client"
CONTRACT = BACKEND / "openapi.json"


def files_of(contract: Path = CONTRACT) -> dict[str, str]:
    """Return the generated files by their path inside the client."""
    document = json.loads(contract.read_text("utf-8"))
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


def stale() -> list[str]:
    """Return the paths of the generated files that differ from the contract, or that it no longer has."""
    expected = files_of()
    present = {str(path.relative_to(CLIENT)) for path in CLIENT.glob("operations/*.py")} | {"models.py"}
    changed = {path for path, text in expected.items() if path not in present or (CLIENT / path).read_text() != text}
    return sorted(changed | (present - expected.keys()))


def main() -> int:
    """Write the files, or compare them with `--check`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 when a file is stale")
    if parser.parse_args().check:
        if found := stale():
            sys.stderr.write(f"stale: {', '.join(found)}: run `make gen`\n")
        return 1 if found else 0
    for path, text in files_of().items():
        (CLIENT / path).parent.mkdir(parents=True, exist_ok=True)
        (CLIENT / path).write_text(text, "utf-8")
    for path in stale():
        (CLIENT / path).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
